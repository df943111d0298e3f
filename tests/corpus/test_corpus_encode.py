"""Label columns as numbers: what is illegal is located or repaired."""

from __future__ import annotations

import io
import itertools
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus import SCHEMES, Block, Sentence, encode_labels, pack, read_blocks, repair, validate
from marginalia.corpus.answers import LabelWriter
from marginalia.corpus.batches import Layout
from marginalia.errors import DataError, SettingsError


def block_of(text: str) -> Block:
    (block,) = read_blocks(io.BytesIO(text.encode()), "word label", block_bytes=None)
    return block


def test_without_a_scheme_every_label_goes() -> None:
    encoded = encode_labels(block_of("a NN\nb VB\n\nc NN\n"))
    assert (encoded.labels, encoded.ids.tolist(), encoded.repaired) == (["NN", "VB"], [0, 1, 0], 0)


def test_the_first_illegal_label_is_located_and_the_others_counted() -> None:
    block = block_of("a O\nb B-X\n\nここ I-X\nd O\ne I-Y\n")
    with pytest.raises(DataError) as caught:
        encode_labels(block, scheme="IOB2")
    expected = "<stream>:4:4: I-X cannot start a sentence in IOB2; 1 more illegal labels follow"
    assert str(caught.value) == expected
    encoded = encode_labels(block, scheme="IOB2", mend=True)
    assert [encoded.labels[i] for i in encoded.ids] == ["O", "B-X", "B-X", "O", "B-Y"]
    assert encoded.repaired == 2


def test_the_first_of_several_problems_in_a_later_sentence() -> None:
    with pytest.raises(DataError, match=r"^<stream>:3:3: I-X cannot follow O in IOB2$"):
        encode_labels(block_of("a B-X\nb O\nc I-X\n"), scheme="IOB2")


def test_foreign_labels_cannot_be_repaired() -> None:
    with pytest.raises(DataError, match=r"^<stream>:2:3: found label 'NN', expected a label of IOB2$"):
        encode_labels(block_of("a O\nb NN\n"), scheme="IOB2", mend=True)


def test_packed_sentences_are_named_by_line_and_token() -> None:
    sentences = [
        Sentence({"label": ["O"]}, line=1),
        Sentence({"label": []}),
        Sentence({"label": ["O", "I-X"]}, line=9),
    ]
    with pytest.raises(DataError, match=r"^f:9: I-X cannot follow O in IOB2 \(token 2\)$"):
        encode_labels(pack(sentences, file="f"), scheme="IOB2")


@given(st.data(), st.sampled_from(list(SCHEMES)))
def test_it_finds_what_validate_finds(data: st.DataObject, name: str) -> None:
    scheme = SCHEMES[name]
    labels = [f"{p}-{t}" for p, t in itertools.product(sorted(scheme.prefixes), "XY")] + [
        "O"
    ] * scheme.outside
    sequences = data.draw(st.lists(st.lists(st.sampled_from(labels), max_size=5), max_size=4))
    block = pack([Sentence({"label": sequence}) for sequence in sequences], "label")
    problems = [problem for sequence in sequences for problem in validate(sequence, name)]
    encoded = encode_labels(block, scheme=name, mend=True)
    mended = [label for sequence in sequences for label in repair(sequence, name)[0]]
    assert [encoded.labels[i] for i in encoded.ids] == mended
    if problems:
        with pytest.raises(DataError) as caught:
            encode_labels(block, scheme=name)
        assert problems[0].why in caught.value.message
        assert (f"{len(problems) - 1} more" in caught.value.message) == (len(problems) > 1)


@pytest.mark.parametrize("label", ["a\tb", "a\nb", "a\rb", "a\0b"])
@pytest.mark.parametrize("scheme", [None, "IOB2"])
def test_labels_that_break_columns_are_refused(label: str, scheme: str | None) -> None:
    block = pack([Sentence({"word": ["x", "y"], "label": ["O", f"B-{label}"]})])
    with pytest.raises(DataError, match="without tabs and line breaks"):
        encode_labels(block, scheme=scheme)


def test_labels_with_blanks_do_not_go_into_columns_with_blanks_between_them() -> None:
    for options, refused in (({}, True), ({"separator": "\t"}, False)):
        layout = Layout("conll", ("word", "label"), "label", options)
        with pytest.raises(SettingsError, match="--separator tab") if refused else nullcontext():
            LabelWriter(io.BytesIO(), layout, ["New York"], None)
