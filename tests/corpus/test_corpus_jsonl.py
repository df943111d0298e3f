"""JSON lines: shapes kept, spans aligned, everything that does not fit named."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus import Misaligned, MisalignedError, Sentence, Span, read_jsonl, write_jsonl
from marginalia.corpus.tokenizers import TOKENIZERS
from marginalia.errors import DataError, SettingsError


def read(*records: Any, **options: Any) -> list[Sentence]:
    return list(read_jsonl(io.StringIO("\n".join(map(json.dumps, records))), **options))


def written(sentences: list[Sentence]) -> list[Any]:
    target = io.BytesIO()
    write_jsonl(sentences, target)
    return [json.loads(line) for line in target.getvalue().decode().split("\n") if line]


SHAPES: list[dict[str, Any]] = [
    {"id": 7, "text": "Ann met Bob.", "spans": [[0, 3, "PER"], [8, 11, "PER"]], "more": {"a": None}},
    {"text": "😀 Ann", "spans": [{"start": 2, "end": 5, "label": "PER", "id": "e1"}]},
    {"text": "nothing here", "spans": []},
    {"spans": [[0, 2, "PER"]], "tokens": ["Ann", "Lee", "slept"]},
    {"tokens": ["Ann", "slept"], "tags": ["B-PER", "O"], "x": "\ud800"},
    {"tokens": [], "spans": []},
]


@pytest.mark.parametrize("record", SHAPES)
def test_every_shape_comes_back(record: dict[str, Any]) -> None:
    (again,) = written(read(record))
    assert again == record
    assert list(again) == list(record)


def test_spans_are_token_spans() -> None:
    ann, smile, _, tokens, tags, _ = read(*SHAPES)
    assert ann.tokens == ["Ann", "met", "Bob", "."]
    assert ann.spans == [Span(0, 1, "PER"), Span(2, 3, "PER")]
    assert (smile.spans, smile.offsets) == ([Span(1, 2, "PER")], [(0, 1), (2, 5)])
    assert tokens.spans == [Span(0, 2, "PER")]
    assert (tags.columns["label"], tags.line) == (["B-PER", "O"], 5)


def test_predictions_are_written_in_the_shape_of_the_input() -> None:
    sentences = read({"text": "a bc d", "n": 1}, SHAPES[1], {"tokens": ["a", "b"]}, SHAPES[4])
    sentences[0].spans = [Span(1, 3, "X")]
    sentences[1].spans = [Span(0, 1, "Y"), Span(1, 2, "PER")]
    sentences[2].spans = [Span(1, 2, "X")]
    sentences[3].columns["label"] = ["O", "B-Z"]
    assert written(sentences) == [
        {"text": "a bc d", "n": 1, "spans": [[2, 6, "X"]]},
        {"text": "😀 Ann", "spans": [{"start": 0, "end": 1, "label": "Y"}, SHAPES[1]["spans"][0]]},
        {"tokens": ["a", "b"], "spans": [[1, 2, "X"]]},
        {"tokens": ["Ann", "slept"], "tags": ["O", "B-Z"], "x": "\ud800"},
    ]


def test_sentences_of_other_formats() -> None:
    tagged = Sentence({"word": ["a"], "label": ["O"]})
    spanned = Sentence({"word": ["a"]}, text=" a", offsets=[(1, 2)], spans=[Span(0, 1, "X")])
    assert written([tagged, spanned]) == [
        {"tokens": ["a"], "tags": ["O"]},
        {"text": " a", "spans": [[1, 2, "X"]]},
    ]


CROOKED = [
    {"text": "Annie met Bob", "spans": [[0, 3, "A"], [6, 9, "B"], [7, 13, "C"], [6, 9, "D"]]},
    {"text": "x  y", "spans": [[1, 2, "E"]]},
    {"tokens": ["a", "b", "c"], "spans": [[0, 2, "F"], [1, 3, "G"]]},
]
PROBLEMS = [
    Misaligned(1, 0, 3, "A", "does not align with tokens", (0, 5)),
    Misaligned(1, 6, 9, "D", "overlaps an earlier span", None),
    Misaligned(1, 7, 13, "C", "does not align with tokens", (6, 13)),
    Misaligned(2, 1, 2, "E", "does not align with tokens", None),
    Misaligned(3, 1, 3, "G", "overlaps an earlier span", None),
]


def test_all_misaligned_spans_are_raised_together() -> None:
    with pytest.raises(MisalignedError) as caught:
        read(*CROOKED)
    assert caught.value.misaligned == PROBLEMS
    assert str(caught.value).startswith(
        "<stream>:1: found 5 spans that do not fit the tokens:\n"
        "  line 1: span [0, 3, 'A'] does not align with tokens; the nearest token boundaries are [0, 5]\n"
        "  line 1: span [6, 9, 'D'] overlaps an earlier span\n"
    )


@pytest.mark.parametrize(
    ("how", "spans"),
    [
        ("drop", [[Span(1, 2, "B")], [], [Span(0, 2, "F")]]),
        ("expand", [[Span(0, 1, "A"), Span(1, 2, "B")], [], [Span(0, 2, "F")]]),
    ],
)
def test_misaligned_spans_can_be_dropped_or_expanded(how: str, spans: list[list[Span]]) -> None:
    problems: list[Misaligned] = []
    assert [s.spans for s in read(*CROOKED, misaligned=how, problems=problems)] == spans
    assert problems == PROBLEMS


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.data())
@pytest.mark.parametrize("tokenizer", list(TOKENIZERS))
def test_spans_on_token_boundaries_always_survive(tokenizer: str, text: str, data: st.DataObject) -> None:
    offsets = TOKENIZERS[tokenizer](text)
    spans = []
    cuts = sorted(data.draw(st.sets(st.integers(0, len(offsets)), max_size=4)))
    for first, last in zip(cuts[::2], cuts[1::2], strict=False):
        spans.append([offsets[first][0], offsets[last - 1][1], "X"])
    record = {"text": text, "spans": spans}
    (sentence,) = read(record, tokenizer=tokenizer)
    assert len(sentence.spans) == len(spans)
    assert written([sentence]) == [record]


def test_tokenizers() -> None:
    cut = {
        name: [text[a:b] for a, b in f(text)]
        for text in ["it's 5€, हिन्दी!"]
        for name, f in TOKENIZERS.items()
    }
    assert cut["whitespace"] == ["it's", "5€,", "हिन्दी!"]
    assert cut["words"] == ["it", "'", "s", "5", "€", ",", "हिन्दी", "!"]
    assert cut["characters"][:5] == ["i", "t", "'", "s", "5"]
    with pytest.raises(SettingsError, match="found tokenizer 'x', expected one of whitespace"):
        read({"text": "a"}, tokenizer="x")
    with pytest.raises(SettingsError, match="found misaligned='x', expected error, drop or expand"):
        read({"text": "a"}, misaligned="x")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"', "2:13: not JSON: Expecting ',' delimiter"),
        ('{"text" "a"}', "2:9: not JSON: Expecting ':' delimiter"),
        ("[" * 100_000, "2:1: not JSON: "),
        ("[1]", "2:1: found a JSON list, expected an object"),
        ("{}", '2: found no valid "text" or "tokens", expected one of them'),
        ('{"text": "\\ud800"}', '2: found no valid "text" or "tokens", expected one of them'),
        (
            '{"tokens": ["a", ""]}',
            '2: found something else in "tokens", expected a list of non-empty strings',
        ),
        ('{"tokens": ["a"], "tags": []}', "2: found 0 tags, expected 1, one per token"),
        ('{"text": "a", "spans": 1}', '2: found something else in "spans", expected a list'),
        (
            '{"text": "a", "spans": [[0, true, "X"]]}',
            "2: found span [0, True, 'X'], expected [start, end, label]",
        ),
        (
            '{"text": "a", "spans": [{"start": 0}]}',
            "2: found span {'start': 0}, expected [start, end, label]",
        ),
        (
            '{"text": "a", "spans": [[0, 2, "X"]]}',
            "2: found span [0, 2, 'X'], expected 0 <= start < end <= 1",
        ),
        (
            '{"text": "a", "spans": [[1, 1, "X"]]}',
            "2: found span [1, 1, 'X'], expected 0 <= start < end <= 1",
        ),
    ],
)
def test_errors_are_located(line: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_jsonl(io.StringIO("\ufeff\n" + line)))
    assert str(caught.value).startswith(f"<stream>:{message}")


def test_numbers_too_long_are_no_crash() -> None:
    with pytest.raises(DataError, match=r"^<stream>:1(:1: not JSON|: found span)"):
        list(read_jsonl(io.StringIO('{"text": "a", "spans": [[0, ' + "9" * 5000 + ', "X"]]}')))


def test_training_data_without_any_labels_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('\n{"tokens": ["Ada"], "labels": ["B-PER"]}\n{"tokens": ["Rome"], "labels": ["B-LOC"]}\n')
    with pytest.raises(DataError, match=r'data\.jsonl:2: found "spans" or "tags" in no line'):
        mg.train(path)
    path.write_text('{"tokens": ["nobody"]}\n{"tokens": ["Ada"], "tags": ["B-PER"]}\n')
    assert set(mg.train(path).labels) == {"O", "B-PER"}
