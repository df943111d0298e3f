"""Column files with the best outputs of each unit, against a plain twin."""

from __future__ import annotations

import io
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus import read_blocks

NAMES = ["O", "B-X", "I-X"]
PARTS = st.sampled_from(["#c\n", "-DOCSTART-\tz\n\n", "\n", " \n"])
SENTENCES = st.lists(st.sampled_from(["a\tx\n", "b\ty\n"]), min_size=1, max_size=3).map(
    lambda lines: "".join(lines) + "\n"
)
TEXTS = st.lists(st.lists(PARTS, max_size=2).map("".join) | SENTENCES, max_size=5).map("".join)


def naive(text: str, ranks: list[list[int]], scores: list[list[float]], starts: list[int]) -> str:
    """Sentences as lines with a label more, once for each rank; other lines as they are."""
    out, token, unit = "", 0, 0
    lines = re.findall("[^\n]*\n|[^\n]+", text)
    labelled = []
    for line in lines:
        body = line.rstrip("\n")
        is_token = body.startswith(("a\t", "b\t"))
        labelled.append((line, token if is_token else None))
        token += is_token
    at = 0
    while at < len(labelled):
        line, first = labelled[at]
        if first is None:
            out += line.replace("-DOCSTART-\tz", "-DOCSTART-\tz\tO")
            at += 1
            continue
        end = at
        while end < len(labelled) and labelled[end][1] is not None and labelled[end][1] < starts[unit + 1]:
            end += 1
        for r, ids in enumerate(ranks):
            if math.isnan(scores[r][unit]):
                continue
            out += f"#rank={r + 1};score={round(scores[r][unit], 4)}\n"
            for line, number in labelled[at:end]:
                out += f"{line.rstrip(chr(10))}\t{NAMES[ids[number or 0]]}\n"
            out += "\n"
        unit += 1
        at = end + (end < len(labelled) and not labelled[end][0].strip())
    return out


@given(st.data(), TEXTS, st.booleans())
def test_units_come_as_often_as_they_have_outputs(data: st.DataObject, text: str, newline: bool) -> None:
    text = "a\tx\n\n" + text + "b\ty" + "\n" * newline
    [block] = read_blocks(io.BytesIO(text.encode()), "word tag", block_bytes=None)
    table = block.table
    units, k = table.sentences, data.draw(st.integers(1, 3))
    row = st.lists(st.integers(0, 2), min_size=table.tokens, max_size=table.tokens)
    ids = np.array([data.draw(row) for _ in range(k)], np.int32)
    numbers = st.floats(-1e6, 1e6) | st.just(math.nan)
    scores = [[data.draw(numbers if r else st.floats(-1e6, 1e6)) for _ in range(units)] for r in range(k)]
    out = table.render_ranked(
        NAMES, ids, np.array(scores).reshape(k, units), None, None, table.sentence_starts, 1
    )
    assert out.decode() == naive(text, ids.tolist(), scores, table.sentence_starts.tolist())


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15))
def test_numbers_are_written_as_python_rounds_them(number: float) -> None:
    [block] = read_blocks(io.BytesIO(b"a\tx\n"), "word tag", block_bytes=None)
    ids, scores = np.zeros((1, 1), np.int32), np.array([[number]])
    starts = block.table.sentence_starts
    out = block.table.render_ranked(NAMES, ids, scores, scores, None, starts, 1).decode()
    assert out == f"#rank=1;score={round(number, 4)};probability={round(number, 4)}\na\tx\tO\n\n"


def test_a_document_is_one_unit_and_confidences_stand_before_labels() -> None:
    text = b"-DOCSTART- z\n\na x\n\nb y\n\n-DOCSTART- z\n\nc x\n"
    [block] = read_blocks(io.BytesIO(text), "word tag", block_bytes=None)
    ids = np.array([[0, 1, 0], [1, 0, 0]], np.int32)
    scores = np.array([[2.0, 1.5], [1.0, math.nan]])
    confidences = np.arange(6.0).reshape(2, 3, 1) / 10
    units = np.array([0, 2, 3], np.uint32)
    out = block.table.render_ranked(NAMES, ids, scores, None, confidences, units, 1).decode()
    assert out.split("\n") == [
        "-DOCSTART- z _ O", "",
        "#rank=1;score=2.0", "a x 0.0000 O", "", "b y 0.1000 B-X", "",
        "#rank=2;score=1.0", "a x 0.3000 B-X", "", "b y 0.4000 O", "",
        "-DOCSTART- z _ O", "",
        "#rank=1;score=1.5", "c x 0.2000 O", "", "",
    ]  # fmt: skip


def test_what_does_not_fit_is_refused() -> None:
    [block] = read_blocks(io.BytesIO(b"a\tx\n"), "word tag", block_bytes=None)
    ids, scores, starts = np.zeros((1, 1), np.int32), np.zeros((1, 1)), block.table.sentence_starts
    render = block.table.render_ranked
    for wrong in (
        (ids, np.zeros((2, 1)), None, None, starts),
        (ids, scores, np.zeros((1, 2)), None, starts),
        (ids, scores, None, np.zeros((1, 2, 1)), starts),
        (ids, np.zeros((1, 2)), None, None, starts),
        (ids, scores, None, None, np.array([0, 2], np.uint32)),
        (np.zeros((0, 1), np.int32), np.zeros((0, 1)), None, None, starts),
    ):
        with pytest.raises(ValueError, match="ranked outputs do not fit"):
            render(NAMES, *wrong, 1)
