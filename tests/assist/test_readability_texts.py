"""Whole texts: what holds them together, regression, models of answers, and the verb."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.assist.parses import parses
from marginalia.assist.readability import Answer, compare, load_model, score, shipped_model
from marginalia.assist.readability.answers import train_from_answers
from marginalia.assist.readability.features import SHIPPED
from marginalia.assist.readability.questionnaire import shipped_questions
from marginalia.assist.readability.regression import Ridge, fit_ridge
from marginalia.assist.readability.scoring import japanese_counts
from marginalia.assist.readability.text_model import TextModel
from marginalia.assist.readability.texts import signals
from marginalia.assist.trees import trees_of
from marginalia.cli import main
from marginalia.errors import DataError, SettingsError

HARD = "The committee, whose deliberations had been protracted, resolved to defer promulgation of the law."
EASY = "The group talked for a long time. It will wait."


@cache
def answers() -> tuple[Answer, ...]:
    """Three raters for whom the first sentence of each question is the hardest."""
    return tuple(
        Answer(one.id, rater, one.sentences, tuple([1] + [4] * (len(one.sentences) - 1)), level="beginner")
        for one in shipped_questions("en")[:20]
        for rater in ("a", "b", "c")
    )


def ratings(path: Path) -> str:
    lines = [json.dumps(one.to_dict(), ensure_ascii=False) + "\n" for one in answers()]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def test_signals_of_a_small_text_counted_by_hand() -> None:
    text = "Anna bought a house. The house was old. Therefore it was cheap. We laughed. They went home."
    (sentences,) = parses("en").parse([text])
    found = signals(trees_of(sentences))
    assert len(sentences) == 5
    assert found["entity overlap"] == pytest.approx(1 / 4)  # house, house
    assert found["connectives"] == pytest.approx(1 / 5)  # therefore
    assert found["pronouns without a near antecedent"] == pytest.approx(1 / 2)  # not it (house), but they


def test_counts_of_jreadability_by_hand() -> None:
    (sentences,) = parses("ja").parse(["学生は本を読んだ。"])
    counts = japanese_counts(trees_of(sentences, "ja"))
    assert (counts.sentences, counts.words) == (1, 6)  # 学生 は 本 を 読ん だ
    assert (counts.sino_japanese, counts.native, counts.verbs, counts.particles) == (2, 1, 1, 2)


TEXTS = st.lists(
    st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3)), min_size=3, max_size=12, unique=True
)


@given(TEXTS, st.floats(0.1, 10))
def test_ridge_is_the_solution_of_the_normal_equations(
    rows: list[tuple[float, float, float]], strength: float
) -> None:
    texts = [{"a": a, "b": b} for a, b, _ in rows]
    targets = [y for _, _, y in rows]
    model = fit_ridge(texts, targets, strength)
    x = np.array([[one["a"], one["b"]] for one in texts])
    known = x.std(0) > 1e-9
    z = (x - x.mean(0))[:, known] / x.std(0)[known]
    y = np.array(targets) - np.mean(targets)
    w = np.linalg.inv(z.T @ z + strength * np.eye(z.shape[1])) @ z.T @ y
    assert [model.predict(one) for one in texts] == pytest.approx(list(z @ w + np.mean(targets)), abs=1e-6)


def test_more_features_than_texts_give_the_same_as_the_other_way_round() -> None:
    rng = np.random.default_rng(1)
    texts = [{f"f{i}": float(rng.normal()) for i in range(6)} for _ in range(5)]
    wide = fit_ridge(texts, range(5), 2.0)
    x = np.array([[one[f"f{i}"] for i in range(6)] for one in texts])
    z = (x - x.mean(0)) / x.std(0)
    w = np.linalg.solve(z.T @ z + 2.0 * np.eye(6), z.T @ (np.arange(5) - 2.0))
    assert [wide.terms[f"f{i}"][2] for i in range(6)] == pytest.approx(list(w))
    again = Ridge.of_lines(wide.lines(), wide.intercept)
    assert again.predict(texts[0]) == pytest.approx(wide.predict(texts[0]), rel=1e-4)
    with pytest.raises(ValueError, match="out of bounds"):
        Ridge.of_lines(["a\t0\t0\t1"], 0.0)
    with pytest.raises(DataError, match="found 0 texts with 1 numbers"):
        fit_ridge([], [1.0], 1.0)


def test_a_model_of_texts_scores_either_way_round() -> None:
    model = TextModel(Ridge({"a": (0.0, 1.0, 10.0)}, 50.0), 20.0)
    assert model.difficulty({"a": 9.0}) == 100.0
    assert model.score({}, {"a": 1.0}) == -model.score({"a": 1.0}, {}) > 0
    assert TextModel.of(model.about(), model.ridge.lines()) == model


def test_texts_and_paraphrases_are_scored() -> None:
    hard, easy = score(HARD * 5), score(EASY)
    assert hard.difficulty > easy.difficulty
    assert hard.hardest[0].reasons
    assert easy.grade < 6 < hard.grade
    assert set(hard.formulas) >= {"flesch", "flesch-kincaid", "smog"}
    assert compare(EASY, HARD).verdict == "left"
    there, back = compare(f"{HARD} " * 4, f"{EASY} " * 4), compare(f"{EASY} " * 4, f"{HARD} " * 4)
    assert there.score == -back.score < 0
    with pytest.raises(DataError, match="found no words"):
        score("!!!", language="en")
    with pytest.raises(SettingsError, match="found language 'de'"):
        score(EASY, language="de")


def test_models_that_ship_are_small_and_english_knows_whole_texts() -> None:
    for language in ("en", "ja"):
        assert (SHIPPED / language / "readability.mg").stat().st_size <= 300_000
        assert set(shipped_model(language).levels) == {"beginner", "intermediate", "advanced"}
    assert shipped_model("en").texts is not None


def test_the_japanese_model_knows_that_shorter_is_not_easier() -> None:
    assert compare("彼は多忙だ。", "彼はとても忙しいです。").score < 0
    found = score("学生は難解な書籍を読破した。")
    assert set(found.formulas) == {"jreadability", "kanji grade"}


def test_answers_become_a_model_with_its_evaluation() -> None:
    model, found = train_from_answers(answers(), level="beginner")
    assert (found.answers, found.raters, found.agreement) == (60, 3, 1.0)
    assert found.counted == found.pairs > 20
    assert found.accuracy > 0.5
    assert found.precision >= found.accuracy or found.recall == 0
    assert len(found.ask_next) == 5
    assert list(model.levels) == ["beginner"]
    assert model.about["evaluation"]["folds"] == 10
    with pytest.raises(DataError, match=r"found 0 questions .* for advanced readers"):
        train_from_answers(answers(), level="advanced")
    with pytest.raises(DataError, match="expected answers of one language"):
        train_from_answers([])


def test_the_verb_scores_compares_and_trains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hard, easy, model = (str(tmp_path / name) for name in ("hard.txt", "easy.txt", "reader.mg"))
    Path(hard).write_text(HARD)
    Path(easy).write_text(EASY)
    assert main(["readability", hard, easy, "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["texts"]
    assert first["difficulty"] > second["difficulty"]
    assert main(["readability", hard, "--at-most", "1"]) == 1
    assert "hard.txt: difficulty" in capsys.readouterr().out
    assert main(["readability", "--compare", hard, easy]) == 0
    assert "easy.txt is easier (score -" in capsys.readouterr().out
    assert main(["readability", "--train", ratings(tmp_path / "r.jsonl"), "-o", model, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counted"] > 20
    assert main(["readability", easy, "--reader", model, "--level", "beginner"]) == 0
    assert load_model(model).language == "en"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--train", "RATINGS"], 2, "--train needs -o MODEL"),
        (["-o", "x.mg", "HARD"], 2, "--output goes with --train"),
        (["HARD", "--compare", "HARD", "HARD"], 2, "with --train or --compare"),
        (["--at-most", "101", "HARD"], 2, "expected a number from 0 to 100"),
        (["missing.txt"], 1, "missing.txt: cannot read: there is no such file"),
        (["HARD", "--reader", "HARD"], 1, "h.txt"),
        (["HARD", "--lang", "ja", "--reader", "EN"], 1, "the model is of the language 'en'"),
        (["--train", "HARD", "-o", "OUT"], 1, "h.txt:1"),
    ],
)
def test_what_cannot_be_done_is_told(
    words: list[str], code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "h.txt").write_text(HARD + "\n")
    files = {"HARD": tmp_path / "h.txt", "OUT": tmp_path / "o.mg", "EN": SHIPPED / "en" / "readability.mg"}
    files["RATINGS"] = Path(ratings(tmp_path / "r.jsonl"))
    try:
        found = main(["readability", *(str(files.get(word, word)) for word in words)])
    except SystemExit as error:
        found = int(str(error.code))
    assert found == code
    assert message in capsys.readouterr().err
