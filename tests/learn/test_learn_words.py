"""Words from segmented text, from training to use: everything that a model of labels can do."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.cli import main
from marginalia.corpus import write_jsonl
from marginalia.errors import SettingsError
from marginalia.learn import make_recipe

WORDS = (
    *("中国", "人民", "银行", "中国人民银行", "的", "在", "北京", "大学", "北京大学", "学生", "生活", "活动"),
    *("我", "爱", "是", "经济", "发展", "济南", "１２", "12", "日"),
)
TEXT = "我爱北京大学"


def tag_of(word: str) -> str:
    return {"爱": "v", "是": "v", "我": "r", "的": "u", "在": "p"}.get(word, "n")


def sentences(seed: int, count: int) -> list[list[str]]:
    rng = random.Random(seed)
    return [rng.choices(WORDS, k=rng.randint(2, 8)) for _ in range(count)]


def write(path: Path, of: list[list[str]], *, tags: bool = False) -> Path:
    lines = ["  ".join(f"{w}/{tag_of(w)}" if tags else w for w in words) for words in of]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words")
    write(path / "train.txt", sentences(1, 80))
    write(path / "tagged.txt", sentences(1, 80), tags=True)
    write(path / "test.txt", sentences(2, 20))
    return path


@pytest.fixture(scope="module")
def model(folder: Path) -> mg.Model:
    return mg.train(folder / "train.txt", format="segmented", structure="words", passes=4)


def words_of(tagged: mg.Tagged) -> list[str]:
    found: list[str] = []
    for token, label in zip(tagged.tokens, tagged.labels, strict=True):
        if label[0] in "BS":
            found.append("")
        found[-1] += token
    return found


def test_words_are_found(model: mg.Model) -> None:
    assert words_of(model.tag(list(TEXT))) == ["我", "爱", "北京大学"]
    first, second = model.nbest(list(TEXT), 2)
    assert words_of(first) == ["我", "爱", "北京大学"]
    assert first.score > second.score
    assert model.saved.structure == "words"


def test_joint_tags(folder: Path) -> None:
    options = {"tag_separator": "/"}
    model = mg.train(
        folder / "tagged.txt",
        format="segmented",
        options=options,
        structure="words",
        features="words-tags",
        passes=4,
    )
    assert model.tag(list(TEXT)).labels == ("S-r", "S-v", "B-n", "M-n", "M-n", "E-n")
    said = str(model.explain(list(TEXT)).to_text())
    assert "the segment before" in said or "what follows" in said


@pytest.mark.parametrize(
    "settings_",
    [
        {"learner": "margin"},
        {"learner": "pa", "update": "early"},
        {"learner": "arow"},
        {"l1": 1e-4},
        {"l2": 1e-4},
        {"l1_cumulative": 1e-4},
        {"dropout": "input:0.1"},
        {"dropout": "hide-features:0.9"},
        {"shuffle_average": 2},
        {"average": "vote"},
        {"boost": 2},
        {"cutoff": 2, "word_beam": 0},
    ],
    ids=str,
)
def test_learners_and_regularisers(folder: Path, settings_: dict[str, object]) -> None:
    model = mg.train(folder / "train.txt", format="segmented", structure="words", passes=4, **settings_)
    assert words_of(model.tag(list(TEXT))) == ["我", "爱", "北京大学"]


def test_likelihood_is_refused(folder: Path) -> None:
    with pytest.raises(SettingsError, match="crf needs expected features, which the structure words"):
        mg.train(folder / "train.txt", format="segmented", structure="words", learner="crf")


def test_other_structures_refuse_templates_of_neighbours(folder: Path, tmp_path: Path) -> None:
    templates = tmp_path / "templates.txt"
    templates.write_text("token[p..q]/token[b..e]\n", encoding="utf-8")
    for structure in ("chain", "segments"):
        with pytest.raises(SettingsError, match="choose --structure words"):
            mg.train(folder / "train.txt", format="segmented", structure=structure, features=str(templates))


def test_constraints_and_dictionaries(model: mg.Model) -> None:
    """What a user says wins, also where the beam would never have looked."""
    given = model.with_dictionary({"爱北京": "word"})
    assert words_of(given.tag(list(TEXT))) == ["我", "爱北京", "大学"]
    fixed = model.tag(list(TEXT), constraints=["3=S"])
    assert "北" in words_of(fixed)
    for tagged in model.nbest(list(TEXT), 3, constraints=["3=S"]):
        assert tagged.labels[2] == "S"


@pytest.mark.parametrize("structure", ["words", "segments", "chain"])
def test_words_of_a_dictionary_win_however_long_they_are(folder: Path, structure: str) -> None:
    """Longer than any word that the model can give by itself (`max-length`)."""
    length = {} if structure == "chain" else {"max_length": 3}
    model = mg.train(folder / "train.txt", format="segmented", structure=structure, passes=2, **length)
    word = "北京大学" * 5
    tagged = model.with_dictionary({word: ""}).tag(list(f"我爱{word}的"), confidence=False)
    assert (words_of(tagged)[-2:], tagged.broken) == ([word, "的"], ())
    assert model.with_dictionary({word: ""}).to_bytes() == model.to_bytes()


def test_a_soft_dictionary_is_a_list_of_words(folder: Path) -> None:
    """Phrases alone, in training and in use: others can take their place."""
    known = dict.fromkeys(WORDS, "")
    how = {"task": "segmentation", "passes": 4, "dictionary_dropout": 0.3}
    model = mg.train(folder / "train.txt", dictionary=known, **how)
    found = [words_of(model.with_dictionary(words, mode="soft").tag(list("天地玄黄"))) for words in (
        {"天地": "", "玄黄": ""}, {"天": "", "地玄": "", "黄": ""})]  # fmt: skip
    assert found == [["天地", "玄黄"], ["天", "地玄", "黄"]]


@settings(max_examples=60, deadline=None)
@given(
    text=st.text("我爱北京大学生的", min_size=1, max_size=12),
    phrases=st.lists(st.text("我爱北京大学生的", min_size=1, max_size=12), min_size=1, max_size=4),
)
def test_a_hard_dictionary_always_wins(model: mg.Model, text: str, phrases: list[str]) -> None:
    """Its longest matches, further left first, are words."""
    taken: list[tuple[int, int]] = []
    for size in range(len(text), 0, -1):
        for start in range(len(text) - size + 1):
            apart = all(start + size <= a or b <= start for a, b in taken)
            if text[start : start + size] in phrases and apart:
                taken.append((start, start + size))
    tagged = model.with_dictionary(dict.fromkeys(phrases, "")).tag(list(text))
    assert {(a, b) for a, b, _ in tagged.spans} >= set(taken)


def test_corrections_and_more_training(model: mg.Model, folder: Path) -> None:
    right = ["S", "B", "M", "E", "B", "E"]
    fixed = model.fix(list(TEXT), right)
    assert list(fixed.tag(list(TEXT)).labels) == right
    more = model.partial_fit(folder / "test.txt")
    assert words_of(more.tag(list("我是学生"))) == ["我", "是", "学生"]


def test_partly_segmented_text(tmp_path: Path) -> None:
    """KyTea's way: some boundaries are known."""
    path = tmp_path / "partly.txt"
    lines = []
    for words in sentences(3, 80):
        for word in words:
            labels = ["S"] if len(word) == 1 else ["B", *"M" * (len(word) - 2), "E"]
            hidden = len(word) == 2 and word[0] in "北学生"
            lines += [f"{c} {'_' if hidden else label}" for c, label in zip(word, labels, strict=True)]
        lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = mg.train(path, columns="word label", structure="words", partial=True, passes=4)
    assert words_of(model.tag(list("我爱中国"))) == ["我", "爱", "中国"]


def test_confidence_is_calibrated(model: mg.Model, folder: Path) -> None:
    calibrated = mg.calibrate(model, folder / "test.txt")
    tagged = calibrated.tag(list(TEXT), confidence=True)
    assert tagged.span_confidence is not None
    assert all(0.0 <= p <= 1.0 for p in tagged.span_confidence)
    assert 0.0 < tagged.confidence <= 1.0


def test_files_and_verbs(
    model: mg.Model, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "zh.mg"
    model.save(path)
    assert words_of(mg.load(path).tag(list(TEXT))) == ["我", "爱", "北京大学"]
    small, raw = tmp_path / "small.mg", tmp_path / "raw.txt"
    raw.write_text(TEXT + "\n", encoding="utf-8")
    assert main(["shrink", str(path), "-o", str(small), "--bits", "8"]) == 0
    assert words_of(mg.load(small).tag(list(TEXT))) == ["我", "爱", "北京大学"]
    assert small.stat().st_size < path.stat().st_size
    assert main(["eval", str(path), str(folder / "test.txt")]) == 0
    assert main(["tag", str(path), str(raw), "--format", "segmented"]) == 0
    assert "我 爱 北京大学" in capsys.readouterr().out.replace("  ", " ")
    assert main(["export", str(path), "--to", "python", "-o", str(tmp_path / "zh.py")]) == 1
    assert "structure 'words' cannot be exported" in capsys.readouterr().err


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1, max_size=30)
)
def test_segmentations_spell_the_input(model: mg.Model, text: str) -> None:
    """Combining marks and emoji included."""
    assert "".join(words_of(model.tag(list(text)))) == text


def test_tasks_choose_the_structure_that_goes_with_the_learner(folder: Path) -> None:
    recipe = make_recipe("segmentation")
    assert (recipe.structure, recipe.features) == ("words", "words")
    recipe = make_recipe("segmentation-tags", learner="crf")
    assert (recipe.structure, recipe.features) == ("chain", "characters")
    assert make_recipe("segmentation", structure="segments").features == "segments-rich"
    model = mg.train(folder / "tagged.txt", task="segmentation-tags", passes=2)
    assert (model.saved.structure, model.saved.options) == ("words", {"tag_separator": "/"})
    assert set(model.tag(list(TEXT)).labels) <= {f"{p}-{t}" for p in "BMES" for t in "nvrup"}


def test_words_without_tags_need_fewer_states() -> None:
    def beam(task: str, **more: object) -> object:
        return make_recipe(task, **more).settings.structure.to_json().get("word-beam")

    assert beam("segmentation") == 4
    assert beam("segmentation", settings={"word-beam": 6}) == 6
    assert beam("segmentation", structure="chain") is None
    assert beam("segmentation-tags") == 8


def test_spans_of_json_lines_are_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A task reads what the suffix tells of; blanks of the text are in no word, and offsets count them."""
    train, text, model = tmp_path / "train.jsonl", tmp_path / "text.jsonl", tmp_path / "m.mg"
    line = '{"text": "我爱 北京大学", "spans": [[0, 1, "r"], [1, 2, "v"], [3, 7, "n"]]}\n'
    train.write_text(line * 4, encoding="utf-8")
    text.write_text('{"text": "我 爱北京大学"}\n', encoding="utf-8")
    how = ["--task", "segmentation-tags", "--quiet"]
    assert main(["train", str(train), "-o", str(model), *how]) == 0
    capsys.readouterr()
    assert main(["tag", str(model), str(text)]) == 0
    assert '"spans": [[0, 1, "r"], [2, 3, "v"], [3, 7, "n"]]' in capsys.readouterr().out
    text.write_text("我爱北京大学\n", encoding="utf-8")
    assert main(["tag", str(model), str(text), "--format", "segmented"]) == 0
    assert capsys.readouterr().out == "我/r 爱/v 北京大学/n\n"


def as_treebank(words: list[str]) -> str:
    rows = [f"{i}\t{w}\t_\t{tag_of(w)}\t_\t_\t_\t_\t_\tSpaceAfter=No\n" for i, w in enumerate(words, 1)]
    return f"# text = {''.join(words)}\n{''.join(rows)}\n"


@pytest.mark.parametrize("task", ["segmentation", "segmentation-tags"])
def test_words_of_a_treebank_teach_as_those_of_a_text(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], task: str
) -> None:
    """The same weights, and `tag` gives a treebank back: of one, and of any text."""
    treebank, model, text = tmp_path / "train.conllu", tmp_path / "m.mg", tmp_path / "text.txt"
    treebank.write_text("".join(map(as_treebank, sentences(1, 80))), encoding="utf-8")
    same = mg.train(folder / ("tagged.txt" if "tags" in task else "train.txt"), task=task, passes=2)
    how = ["--task", task, "--quiet", "--set", "passes=2"]
    assert main(["train", str(treebank), "-o", str(model), *how]) == 0
    learned = mg.load(model)
    for name, array in same.saved.arrays.items():
        assert (learned.saved.arrays[name] == array).all()
    treebank.write_text("# sent_id = 1\n" + as_treebank(["我爱", "北京大学"]), encoding="utf-8")
    capsys.readouterr()
    assert main(["tag", str(model), str(treebank)]) == 0
    said = capsys.readouterr().out
    rows = [line.split("\t") for line in said.splitlines() if "\t" in line]
    assert said.startswith("# sent_id = 1\n# text = 我爱北京大学\n1\t我\t")
    assert [row[1] for row in rows] == ["我", "爱", "北京大学"]
    assert [row[3] for row in rows] == (["r", "v", "n"] if "tags" in task else ["_"] * 3)
    assert [row[9] for row in rows] == ["SpaceAfter=No", "SpaceAfter=No", "_"]
    text.write_text("我爱\t北京大学\r\n", encoding="utf-8", newline="")
    assert main(["tag", str(model), str(text), "--format", "plain", "--to", "conllu", "--nbest", "2"]) == 0
    found = mg.read_conllu(io.StringIO(capsys.readouterr().out))
    assert [sentence.text for sentence in found] == ["我爱\t北京大学"] * 2
    assert [word.form for word in found.sentences[0]] == ["我", "爱", "北京大学"]
    assert [sentence.comment("rank") for sentence in found] == ["1", "2"]


def test_models_read_other_formats_as_text_that_they_cut(folder: Path, tmp_path: Path) -> None:
    """A model of tagged text goes on with a treebank or JSON lines as with its own format, in Python."""
    model = mg.train(folder / "tagged.txt", task="segmentation-tags", passes=2)
    some, treebank, lines = sentences(5, 20), tmp_path / "more.conllu", tmp_path / "more.jsonl"
    treebank.write_text("".join(map(as_treebank, some)), encoding="utf-8")
    write_jsonl(mg.read_segmented(write(tmp_path / "more.txt", some, tags=True), "/"), lines)
    for go_on in (mg.Model.partial_fit, mg.calibrate):
        first, second = (go_on(model, path).saved for path in (tmp_path / "more.txt", treebank))
        assert first.arrays.keys() == second.arrays.keys()
        assert all((first.arrays[name] == second.arrays[name]).all() for name in first.arrays)
    assert mg.calibrate(model, lines).to_bytes() == mg.calibrate(model, treebank).to_bytes()


def test_words_of_raw_text_have_its_offsets(
    model: mg.Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Raw text keeps white space, over which words go unless blanks are given; lines stay side by side."""
    path, text = tmp_path / "m.mg", tmp_path / "text.txt"
    model.save(path)
    text.write_text("我爱\t北京大 学\r\n\n北京\n", encoding="utf-8", newline="")
    raw = [str(path), str(text), "--format", "plain"]

    def tagged(*how: str) -> list[str]:
        assert main(["tag", *how]) == 0
        return capsys.readouterr().out.splitlines()

    first, second, third = map(json.loads, tagged(*raw, "--to", "jsonl"))
    assert first == {"text": "我爱\t北京大 学", "spans": [[0, 1, ""], [1, 2, ""], [3, 8, ""]]}
    assert (second["spans"], third["spans"]) == ([], [[0, 2, ""]])
    (cut, *_) = map(json.loads, tagged(*raw, "--to", "jsonl", "--given", "blanks"))
    assert all(" " not in cut["text"][start:end] for start, end, _ in cut["spans"])
    assert tagged(*raw, "--to", "segmented") == ["我 爱 北京大学", "", "北京"]
    assert tagged(str(path), str(text)) == ["我 爱 北京大学", "", "北京"]
    spans = [json.loads(line)["spans"] for line in tagged(str(path), str(text), "--to", "jsonl")]
    assert spans == [[[0, 1, ""], [1, 2, ""], [2, 6, ""]], [], [[0, 2, ""]]]
    assert len(tagged(str(path), str(text), "--to", "jsonl", "--nbest", "2")) == 3
    assert tagged(*raw, "--to", "kytea") == ["我|爱|北-京-大-学", "", "北-京"]
    assert main(["tag", str(path), str(text), "--format", "conll", "--to", "jsonl"]) == 1
    assert "--to is for text that a model cuts into words by characters" in capsys.readouterr().err


def test_json_lines_are_cut_as_the_model_cuts_text(
    model: mg.Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also by a model that was trained on segmented text; the suffix tells the format."""
    path, text = tmp_path / "m.mg", tmp_path / "text.jsonl"
    model.save(path)
    text.write_text('{"text": "我爱北京大学", "id": 7}\n{"text": ""}\n', encoding="utf-8")
    assert main(["tag", str(path), str(text)]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"text": "我爱北京大学", "id": 7, "spans": [[0, 1, ""], [1, 2, ""], [2, 6, ""]]}
    assert second["spans"] == []


def test_files_of_any_characters_are_cut_and_nothing_else(
    model: mg.Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Combining marks, emoji, joiners, and signs that some take for ends of lines."""
    rng, signs = (
        random.Random(4),
        "a\u0301\u0327中国\u200d\ufe0f👩👨🏽\x85\u2028\u3000\xa0\x0b/|-_#\ue000\U0010fffd",
    )
    lines = ["".join(rng.choices(signs, k=rng.randint(1, 20))) for _ in range(60)]
    path, text = tmp_path / "m.mg", tmp_path / "text.txt"
    model.save(path)
    text.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="")
    assert main(["tag", str(path), str(text)]) == 0
    assert capsys.readouterr().out.replace(" ", "").split("\n")[:-1] == lines
