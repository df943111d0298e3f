"""Files of candidates: what is read, what is written back, and what is wrong with others."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus.candidate_answers import CandidateAnswer, CandidateWriter
from marginalia.corpus.candidates import losses_of, read_candidates
from marginalia.errors import DataError

GOOD = {
    "candidates": [
        {"score": 1.5, "features": {"a": 2}, "loss": 0},
        {"score": 0, "features": ["b"], "loss": 1},
    ]
}


def read(tmp_path: Path, *lines: Any, labelled: bool = True) -> Any:
    path = tmp_path / "c.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return list(read_candidates(str(path), labelled=labelled))


def test_features_scores_and_losses(tmp_path: Path) -> None:
    [batch] = read(
        tmp_path, GOOD, {"candidates": [{"features": ["a", "a"], "right": True, "output": {"x": 1}}]}
    )
    block = batch.block
    assert block.columns == ("attributes", "output", "score", "loss", "right")
    assert block.table.attributes(0, 3) == [{"base score": 1.5, "a": 2.0}, {"b": 1.0}, {"a": 2.0}]
    assert block.column("right") == ["best", "other", "best"]
    assert losses_of(block).tolist() == [0.0, 1.0, 0.0]
    assert block.column("output") == ["candidate 1", "candidate 2", '{"x": 1}']
    assert block.table.sentence_starts.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{", "found no JSON"),
        ("[1]", "found list, expected an object"),
        ({"id": 1}, "found no 'candidates', expected a list"),
        ({"candidates": {}}, "found dict as 'candidates'"),
        ({"candidates": []}, "found an empty list of candidates"),
        ({"candidates": [3]}, "candidate 1: found int, expected an object"),
        ({"candidates": [{"score": "x", "loss": 0}]}, "candidate 1: found 'x' as 'score'"),
        ('{"candidates": [{"score": NaN, "loss": 0}]}', "candidate 1: found nan as 'score'"),
        ('{"candidates": [{"loss": 0}, {"loss": Infinity}]}', "candidate 2: found inf as 'loss'"),
        ({"candidates": [{"loss": 10**400}]}, "as 'loss', expected a number of at most 3.4e.38 in size"),
        ({"candidates": [{"score": 1, "loss": 0}, {"loss": 0}]}, "candidate 2: found no 'score'"),
        ({"candidates": [{"loss": 1}, {"score": 1}]}, "candidate 1: found no 'score'"),
        ({"candidates": [{"loss": 1}, {}]}, "candidate 2: found no 'loss'"),
        ({"candidates": [{}, {}]}, "found no candidate that is right"),
        ({"candidates": [{"right": "yes"}]}, "candidate 1: found 'yes' as 'right'"),
        ({"candidates": [{"right": True, "loss": 2}, {"loss": 1}]}, "candidate 2: found a smaller loss"),
        ({"candidates": [{"features": 3, "loss": 0}]}, "found int as features"),
        ({"candidates": [{"features": {"a": "b"}, "loss": 0}]}, "found 'b' as the value of 'a'"),
        ({"candidates": [{"features": {"a": None}, "loss": 0}]}, "found None as the value of 'a'"),
        ({"candidates": [{"features": [1], "loss": 0}]}, "found 1 in a list of features"),
        ({"candidates": [{"features": {"base score": 1}, "loss": 0}]}, "which is the name of the score"),
    ],
)
def test_what_is_wrong(tmp_path: Path, line: Any, what: str) -> None:
    with pytest.raises(DataError, match=what.replace("[", r"\[")) as error:
        read(tmp_path, GOOD, line)
    assert error.value.line == 2
    assert "c.jsonl" in str(error.value)


def test_input_needs_no_losses(tmp_path: Path) -> None:
    [batch] = read(tmp_path, {"candidates": [{}, {"features": ["a"]}]}, labelled=False)
    assert batch.block.columns == ("attributes", "output")


def test_all_that_was_read_is_written_back(tmp_path: Path) -> None:
    items = [
        {"id": 7, "candidates": [{"output": "ü", "mine": [1]}, {"output": "b"}, {"output": "c"}], "z": None},
        {"candidates": [{"features": {"a": 1}}]},
    ]
    [batch] = read(tmp_path, items[0], "", items[1], "", labelled=False)
    out = io.BytesIO()
    ids, scores = np.array([1, 0, 1, 0], np.int32), np.array([0.5, 1.0, 0.75, 2.0])
    CandidateWriter(out).write(batch, CandidateAnswer(ids, scores, np.array([0.2, 0.5, 0.3, 1.0])))
    lines = out.getvalue().decode().split("\n")
    first = json.loads(lines[0])
    assert [one["output"] for one in first["candidates"]] == ["b", "c", "ü"]
    assert [one["rank"] for one in first["candidates"]] == [1, 2, 3]
    assert first["candidates"][2] == {
        "output": "ü", "mine": [1], "rank": 3, "model_score": 0.5, "probability": 0.2
    }  # fmt: skip
    assert {name: value for name, value in first.items() if name != "candidates"} == {"id": 7, "z": None}
    assert lines[1] == ""
    assert json.loads(lines[2])["candidates"][0]["model_score"] == 2.0


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
CANDIDATE = st.dictionaries(
    st.sampled_from(["score", "features", "loss", "right", "output", "x"]), JSON, max_size=5
)


@given(
    item=JSON | st.fixed_dictionaries({"candidates": JSON | st.lists(CANDIDATE | JSON, max_size=4)}),
    labelled=st.booleans(),
)
def test_anything_is_read_or_refused_with_its_line(item: Any, labelled: bool) -> None:
    text, line = io.BytesIO((json.dumps(item) + "\n").encode()), 1
    try:
        found = [batch.block.table.sentences for batch in read_candidates(text, labelled=labelled)]
    except DataError as error:
        found, line = [1], error.line
    assert (found, line) == ([1], 1)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(DataError):
        list(read_candidates(io.BytesIO(text.encode("utf-8", "surrogatepass")), labelled=True))
