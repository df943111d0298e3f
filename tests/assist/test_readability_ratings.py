"""Answers survive a kill at any moment; D, agreement, precision and recall are those of a plain twin."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.assist.readability import (
    Answer,
    Question,
    Questionnaire,
    RatingsFile,
    rated_pairs,
    read_answers,
)
from marginalia.assist.readability.ratings import curve, threshold_for, trial, verdict_of
from marginalia.errors import DataError

QUESTIONS = [
    Question("q1", "passive", ("It was done.", "We did it.", "Somebody did it.")),
    Question("q2", "negation", ("He is not ill.", "He is well.")),
    Question("q3", "question", ("Is he ill?", "Tell me if he is ill.")),
]
WRITER = """
import sys
from marginalia.assist.readability import Answer, RatingsFile
ratings = RatingsFile(sys.argv[1])
number = len(ratings.answers)
while True:
    ratings.add(Answer(f"q{number}", "r", ("a" * 3000, "b"), (1, 5), comment="\\u00e4" * 500))
    print(number, flush=True)
    number += 1
"""


def answer(rater: str, *degrees: int | None, question: str = "q") -> Answer:
    return Answer(question, rater, tuple(f"s{i}" for i in range(len(degrees))), degrees)


def test_what_was_added_survives_a_kill_at_any_moment(tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    reported = -1
    for wait in (0.003, 0.011, 0.02):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        reported = int(child.stdout.readline())
        time.sleep(wait)
        os.kill(child.pid, signal.SIGKILL)
        lines = child.stdout.read().split()
        child.wait()
        reported = int(lines[-1]) if lines else reported
        assert [one.question for one in read_answers(str(path))][: reported + 1] == [
            f"q{i}" for i in range(reported + 1)
        ]


@given(st.data())
def test_a_file_cut_anywhere_loses_the_last_line_only(data: st.DataObject) -> None:
    lines = [json.dumps(answer("r", 1, 5, question=f"qü{i}").to_dict(), ensure_ascii=False) for i in range(3)]
    whole = "".join(line + "\n" for line in lines).encode()
    cut = data.draw(st.integers(0, len(whole)))
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        path.write_bytes(whole[:cut])
        kept = whole[:cut].count(b"\n")
        ratings = RatingsFile(str(path))
        assert [one.question for one in ratings.answers] == [f"qü{i}" for i in range(kept)]
        ratings.add(answer("r", 2, 3, question="new"))
        assert [one.question for one in read_answers(str(path))] == [f"qü{i}" for i in range(kept)] + ["new"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"r\.jsonl:1:\d+: found no JSON"),
        ("[]", r"r\.jsonl:1: expected an object with question, rater"),
        (
            '{"question": "q", "rater": "r", "sentences": ["a", "b"], "degrees": [1]}',
            r":1: found 1 degrees for 2",
        ),
        (
            '{"question": "q", "rater": "r", "sentences": ["a", "b"], "degrees": [1, 6]}',
            r":1: found the degree 6",
        ),
        ('{"question": "q", "rater": "r", "sentences": ["a", "b"], "degrees": [1, true]}', r"degree True"),
        ('{"question": "q", "rater": "r", "sentences": "ab", "degrees": [1, 2]}', r"found 'ab' as sentences"),
        (
            '{"question": "q", "rater": "r", "sentences": ["a", "b"], "degrees": [1, 2], "x": 1}',
            r"the key 'x'",
        ),
    ],
)
def test_lines_that_are_no_answers_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DataError, match=message):
        read_answers(str(path))


def naive_pairs(answers: list[Answer]) -> dict[tuple[str, str], tuple[float, int, float]]:
    """D, number of raters and agreement of each pair, straight from section 3.2 and 3.3 of the paper."""
    found = {}
    latest = {one.rater: one for one in answers}
    size = max(len(one.sentences) for one in answers)
    for i in range(size):
        for j in range(i + 1, size):
            raters = [one for one in latest.values() if None not in (one.degrees[i], one.degrees[j])]
            if raters:
                differences = [(one.degrees[i] - 1) / 4 - (one.degrees[j] - 1) / 4 for one in raters]
                d = sum(differences) / len(raters)
                agreed = len([x for x in differences if (x > 0 if d > 0 else x < 0)])
                opposed = len([x for x in differences if (x < 0 if d > 0 else x > 0)])
                found[f"s{i}", f"s{j}"] = (d, len(raters), (agreed - opposed) / len(raters))
    return found


DEGREES = st.lists(st.none() | st.integers(1, 5), min_size=3, max_size=3)


@given(st.lists(st.tuples(st.sampled_from("abcd"), DEGREES), min_size=1, max_size=8))
def test_differences_and_agreement_are_those_of_the_paper(given_: list[tuple[str, list[int | None]]]) -> None:
    answers = [answer(rater, *degrees) for rater, degrees in given_]
    found = {
        (one.left, one.right): (one.difference, one.raters, one.agreement) for one in rated_pairs(answers)
    }
    expected = naive_pairs(answers)
    assert found.keys() == expected.keys()
    for pair, values in expected.items():
        assert found[pair] == pytest.approx(values)


def test_a_pair_counts_with_two_raters_who_agree_and_differ_enough() -> None:
    (pair,) = rated_pairs([answer("a", 1, 5), answer("b", 2, 4)])
    assert (pair.difference, pair.raters, pair.agreement) == (-0.75, 2, 1.0)
    assert pair.verdict == "right"
    assert pair.counts()
    assert not pair.counts(least=0.8)
    assert not rated_pairs([answer("a", 1, 5)])[0].counts()  # one rater alone
    assert not rated_pairs([answer("a", 1, 5), answer("b", 3, 3)])[0].counts()  # they do not agree
    assert rated_pairs([answer("a", 1, 2), answer("b", 1, 2)])[0].verdict == "comparable"


SCORED = st.lists(
    st.tuples(st.sampled_from([-1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 0.9]), st.sampled_from(["left", "right"])),
    min_size=1,
    max_size=12,
)


@given(SCORED, st.sampled_from([0.0, 0.2, 0.3, 0.5, 1.0]))
def test_precision_and_recall_are_those_of_the_paper(
    scored: list[tuple[float, str]], threshold: float
) -> None:
    def said(score: float) -> str:
        if score >= threshold and score > 0:
            return "left"
        return "right" if score <= -threshold and score < 0 else "comparable"

    outputs = [(said(score), right) for score, right in scored]
    right = sum(output == y for output, y in outputs)
    decided = sum(output != "comparable" for output, _ in outputs)
    result = trial(scored, threshold)
    assert result.recall == right / len(scored)
    assert result.precision == (right / decided if decided else 0.0)
    for point in curve(scored):
        again = trial(scored, point.threshold)
        if point.threshold > 0:
            assert (point.precision, point.recall) == pytest.approx((again.precision, again.recall))


def test_the_threshold_of_a_precision_is_the_one_with_the_most_recall() -> None:
    scored = [(0.9, "left"), (0.8, "left"), (0.6, "right"), (0.5, "left"), (-0.4, "right"), (0.1, "right")]
    assert threshold_for(scored, 1.0) == 0.8
    assert threshold_for(scored, 0.8) == 0.4
    assert threshold_for([(0.5, "right")], 0.5) == 1.0
    assert verdict_of(0.0, 0.0) == "comparable"
    assert verdict_of(-0.3, 0.3) == "right"


def test_a_rater_goes_on_where_they_stopped(tmp_path: Path) -> None:
    path = str(tmp_path / "r.jsonl")
    first = Questionnaire(path, QUESTIONS)
    seen = []
    while (asked := first.next("anna")) and len(seen) < 2:
        first.answer("anna", asked.question.id, [3] * len(asked.sentences), "a comment")
        seen.append(asked.question.id)
    again = Questionnaire(path, QUESTIONS)
    asked = again.next("anna")
    assert asked is not None
    assert {asked.question.id, *seen} == {"q1", "q2", "q3"}
    assert (asked.answered, asked.total) == (2, 3)
    again.answer("anna", asked.question.id, [1] * len(asked.sentences))
    assert again.next("anna") is None
    assert Questionnaire(path, QUESTIONS).next("bert") is not None


def test_degrees_belong_to_the_sentences_as_they_were_shown(tmp_path: Path) -> None:
    orders = set()
    for number in range(12):
        questions = Questionnaire(str(tmp_path / "r.jsonl"), QUESTIONS[:1])
        asked = questions.next(f"rater{number}")
        assert asked is not None
        orders.add(asked.order)
        easy = asked.sentences.index("We did it.")
        kept = questions.answer(f"rater{number}", "q1", [5 if i == easy else 1 for i in range(3)])
        assert kept.degrees == (1, 5, 1)
    assert len(orders) > 1


def test_the_question_is_asked_next_where_the_model_is_least_sure(tmp_path: Path) -> None:
    sure = {"It was done.": 0.0, "We did it.": 2.0, "Somebody did it.": 1.0, "He is not ill.": 0.0,
            "He is well.": 0.3, "Is he ill?": 0.0, "Tell me if he is ill.": -0.9}  # fmt: skip
    questions = Questionnaire(
        str(tmp_path / "r.jsonl"), QUESTIONS, score=lambda a, b: max(-1.0, min(1.0, sure[a] - sure[b]))
    )
    order = []
    while asked := questions.next("r"):
        order.append(asked.question.id)
        questions.answer("r", asked.question.id, [None] * len(asked.sentences))
    assert order == ["q2", "q3", "q1"]


def test_questions_with_fewer_answers_come_first(tmp_path: Path) -> None:
    questions = Questionnaire(str(tmp_path / "r.jsonl"), QUESTIONS)
    for number in range(3):
        asked = questions.next(f"r{number}")
        assert asked is not None
        questions.answer(f"r{number}", asked.question.id, [3] * len(asked.sentences))
    assert {one.question for one in questions.answers} == {"q1", "q2", "q3"}


def test_wrong_answers_are_refused(tmp_path: Path) -> None:
    questions = Questionnaire(str(tmp_path / "r.jsonl"), QUESTIONS)
    with pytest.raises(DataError, match="found the question 'q9'"):
        questions.answer("r", "q9", [1, 2])
    with pytest.raises(DataError, match="found 3 degrees, expected 2"):
        questions.answer("r", "q2", [1, 2, 3])
    assert not (tmp_path / "r.jsonl").exists()


@pytest.mark.parametrize("language", ["en"])
def test_about_fifty_questions_ship(language: str, tmp_path: Path) -> None:
    from marginalia.assist.readability import feature_set

    questions = Questionnaire(str(tmp_path / "r.jsonl"), language=language).questions
    assert len({one.feature for one in questions}) >= 50
    assert all(3 <= len(one.sentences) <= 4 for one in questions)
    assert {one.feature for one in questions} <= feature_set(language).features.keys()
