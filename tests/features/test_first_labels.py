"""The columns of a first model's labels are what a naive twin says; templates over them can be taken out."""

from __future__ import annotations

import naive_first_labels
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus.blocks import pack
from marginalia.features.documents import FIRST_COLUMNS
from marginalia.features.first_labels import with_first_labels, without_first_labels
from marginalia.features.reading import Columns
from marginalia.features.templates import parse_templates

WORDS = st.sampled_from(["Ann", "ann", "Lee", "LEE", "of", "Éa"])
LABELS = st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"])
SENTENCE = st.lists(st.tuples(WORDS, LABELS), min_size=1, max_size=5)
DOCUMENTS = st.lists(st.lists(SENTENCE, min_size=1, max_size=4), min_size=1, max_size=3)


@given(DOCUMENTS)
def test_columns_are_those_of_the_naive_twin(documents: list[list[list[tuple[str, str]]]]) -> None:
    records, labels, expected = [], [], []
    for number, document in enumerate(documents):
        pairs = [([word for word, _ in s], [label for _, label in s]) for s in document]
        for words, given_labels in pairs:
            records.append(mg.Sentence({"word": words}, document=number))
            labels += given_labels
        expected += [row for rows in naive_first_labels.columns(pairs) for row in rows]
    wide = with_first_labels(pack(records, ["word"]), labels, "IOB2", "word")
    assert wide.columns == ("word", *FIRST_COLUMNS)
    assert list(zip(*map(wide.column, FIRST_COLUMNS), strict=True)) == expected
    assert [len(s) for s in wide.sentences()] == [len(record) for record in records]


def test_labels_that_spell_no_spans_are_their_own_types() -> None:
    records = [mg.Sentence({"word": ["Ann", "runs"]}), mg.Sentence({"word": ["Ann"]})]
    wide = with_first_labels(pack(records, ["word"]), ["NNP", "VBZ", "NN"], None, "word")
    assert wide.column("first-elsewhere") == ["NN", "_", "NNP"]
    assert wide.column("first-same") == ["_", "_", "_"]


@pytest.mark.parametrize("kept", ["word[0]/lower(word)[1]", "node:", "edge:", "word[b]/length"])
def test_without_first_labels_the_program_is_that_of_the_other_lines(kept: str) -> None:
    columns = Columns(("word", *FIRST_COLUMNS), "label")
    lines = ["suffix(2)(word)[1]/first-label[0]", kept, "first-same[0]", "shape(word)[-1]"]
    if "b]" in kept:
        lines = [line.replace("[0]", "[b]").replace("[1]", "[e]").replace("[-1]", "[b-1]") for line in lines]
    program = parse_templates("\n".join(lines), columns)
    assert program.has_first_labels
    assert program.of_documents
    assert program.columns == ("word",)
    expected = parse_templates("\n".join([lines[1], lines[3]]), columns)
    assert without_first_labels(program) == expected
