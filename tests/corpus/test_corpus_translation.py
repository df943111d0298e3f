"""Labels of blocks in another scheme, by a table in the core: as `convert` has them, sentence by sentence."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia import _core
from marginalia.corpus import SCHEMES, convert, validate
from marginalia.corpus.translation import Translation, by_appearance, scheme_labels
from marginalia.errors import DataError

NAMES = list(SCHEMES)
PAIRS = list(itertools.product(NAMES, NAMES))


def alphabet(name: str, types: list[str]) -> list[str]:
    """All labels of a scheme; the type "" stands for bare prefixes."""
    labels = [f"{p}-{type_}" if type_ else p for p in sorted(SCHEMES[name].prefixes) for type_ in types]
    return labels + (["O"] if SCHEMES[name].outside else [])


def sentences_of(labels: list[str]) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(st.sampled_from(labels), max_size=7), max_size=6)


def flat(sentences: list[list[str]], labels: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of labels, and where sentences begin."""
    ids = [labels.index(label) for sentence in sentences for label in sentence]
    starts = np.cumsum([0, *map(len, sentences)])
    return np.array(ids, np.int32), starts.astype(np.uint32)


def converted(sentences: list[list[str]], source: str, target: str) -> tuple[list[str], str | None]:
    """All labels in another scheme, or why there are none."""
    try:
        return [label for one in sentences for label in convert(one, source, target)], None
    except DataError as error:
        return [], str(error)


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(data=st.data())
def test_translated_as_converted(source: str, target: str, data: st.DataObject) -> None:
    types = data.draw(st.sampled_from([["X"], ["X", "Y-1"], [""], ["", "X"]]))
    labels = data.draw(st.permutations(alphabet(source, types)))
    sentences = data.draw(sentences_of(labels))
    ids, starts = flat(sentences, labels)
    translation = Translation(labels, source, target)
    expected, why = converted(sentences, source, target)
    if why is None:
        assert [translation.names[i] for i in translation(ids, starts)] == expected
        return
    with pytest.raises(DataError) as caught:
        translation(ids, starts)
    assert str(caught.value) == why


@given(st.data())
def test_given_names_keep_their_numbers(data: st.DataObject) -> None:
    labels, names = alphabet("IOB1", ["X", "Y"]), data.draw(st.permutations(alphabet("IOBES", ["X", "Y"])))
    sentences = data.draw(sentences_of(labels))
    ids, starts = flat(sentences, labels)
    translation = Translation(labels, "IOB1", "IOBES", names)
    assert translation.names == names
    expected = [names.index(label) for one in sentences for label in convert(one, "IOB1", "IOBES")]
    assert translation(ids, starts).tolist() == expected


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_illegal_as_validated(name: str, data: st.DataObject) -> None:
    labels = alphabet(name, ["", "X", "Y-1"])
    sentences = data.draw(sentences_of(labels))
    ids, starts = flat(sentences, labels)
    expected = [
        first + problem.position
        for first, sentence in zip(starts.tolist(), sentences, strict=False)
        for problem in validate(sentence, name)
    ]
    assert scheme_labels(labels, name).illegal(ids, starts).tolist() == expected


@given(st.lists(st.integers(0, 9)))
def test_numbers_by_first_appearance(ids: list[int]) -> None:
    assert by_appearance(np.array(ids, np.int32), 10) == list(dict.fromkeys(ids))


def test_labels_that_a_scheme_does_not_have_are_refused() -> None:
    translation = Translation(["B-X", "_"], "IOB2", "IOBES")
    ids, starts = np.array([0, 1], np.int32), np.array([0, 2], np.uint32)
    with pytest.raises(DataError, match=r"^found label '_' at token 2, expected a label of IOB2$"):
        translation(ids, starts)
    with pytest.raises(DataError, match=r"^token 1 is in no span, but BMES has no label for that$"):
        Translation(["O"], "IOB2", "BMES")(np.array([0], np.int32), np.array([0, 1], np.uint32))


@pytest.mark.parametrize(
    ("ids", "starts"),
    [([0], [0]), ([0], [0, 2]), ([0], [1, 1]), ([0, 0], [0, 2, 1, 2]), ([2], [0, 1]), ([-1], [0, 1])],
)
def test_what_does_not_fit_is_refused(ids: list[int], starts: list[int]) -> None:
    labels = scheme_labels(["B-X", "O"], "IOB2")
    with pytest.raises(ValueError, match="schemes: "):
        labels.illegal(np.array(ids, np.int32), np.array(starts, np.uint32))
    with pytest.raises(ValueError, match="schemes: "):
        labels.translated(np.array(ids, np.int32), np.array(starts, np.uint32), np.zeros(18, np.int32))


def test_parts_that_do_not_fit_each_other_are_refused() -> None:
    bytes_, types = np.zeros(1, np.uint8), np.zeros(1, np.uint32)
    with pytest.raises(ValueError, match="the parts do not fit each other"):
        _core.SchemeLabels(types, np.array([1], np.uint8), bytes_, np.zeros(8, np.uint8))
    with pytest.raises(ValueError, match="the table does not fit the labels"):
        _core.SchemeLabels(types, bytes_, bytes_, np.zeros(8, np.uint8)).translated(
            np.zeros(0, np.int32), types, np.zeros(8, np.int32)
        )
