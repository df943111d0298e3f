"""Documents: where they begin, blocks that end where they end, and blocks with their sentences joined."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus import Sentence, pack, read_blocks, write_conll
from marginalia.corpus.batches import in_groups
from marginalia.corpus.blocks import Block

# Words that begin like a mark, marks with and without fields and blank lines around them, both line ends.
MIXED = (
    b"a O\n-DOCSTART-s O\nb O\n\n-DOCSTART- O\n\nc O\r\n\r\nd O\r\n-DOCSTART-\r\ne O\n\n"
    b"# a comment\n-DOCSTART- O\n-DOCSTART-\tO\n\nf O\n-DOCSTARTS- O\n\ng O\n\n-DOCSTART- O\n"
)


def blocks_of(data: bytes, block_bytes: int | None, **options: bool) -> list[Block]:
    return list(read_blocks(io.BytesIO(data), "word label", block_bytes=block_bytes, **options))


def by_document(blocks: list[Block]) -> list[list[str]]:
    """The words of each document, as the blocks have them."""
    return [s.columns["word"] for block in blocks for s in block.by_document().sentences()]


def test_the_documents_of_the_mixed_file() -> None:
    assert by_document(blocks_of(MIXED, None)) == [
        ["a", "-DOCSTART-s", "b"],
        ["c", "d"],
        ["e"],
        ["f", "-DOCSTARTS-", "g"],
    ]


@given(st.integers(1, len(MIXED) + 1))
def test_small_blocks_end_where_documents_end(block_bytes: int) -> None:
    """The same documents, sentences and bytes, however small the pieces that are read."""
    (whole,) = blocks_of(MIXED, None)
    blocks = blocks_of(MIXED, block_bytes, whole_documents=True)
    assert by_document(blocks) == by_document([whole])
    assert [s for block in blocks for s in block.sentences()] == list(whole.sentences())
    zeros = [np.zeros(block.table.tokens, np.int32) for block in blocks]
    rendered = b"".join(block.render(["O"], ids, " ") for block, ids in zip(blocks, zeros, strict=True))
    assert rendered == whole.render(["O"], np.zeros(whole.table.tokens, np.int32), " ")


def test_small_blocks_are_small() -> None:
    """A block has about its size unless a document has more."""
    data = b"".join(b"-DOCSTART- O\n\n" + b"a O\n\n" * (3 if n != 5 else 100) for n in range(50))
    blocks = blocks_of(data, 64, whole_documents=True)
    assert len(blocks) > 20
    assert sorted(block.table.tokens for block in blocks)[-1] <= 106
    assert sum(block.table.tokens for block in blocks) == 49 * 3 + 100


SENTENCES = st.lists(
    st.tuples(st.lists(st.sampled_from(["a", "-DOCSTART-x", "#"]), min_size=1, max_size=3), st.booleans())
)


@given(SENTENCES, st.integers(1, 60))
def test_any_documents(drawn: list[tuple[list[str], bool]], block_bytes: int) -> None:
    sentences, document = [], 0
    for words, begins in drawn:
        document += begins
        sentences.append(Sentence({"word": words, "label": ["O"] * len(words)}, document=document))
    target = io.BytesIO()
    write_conll(sentences, target)
    expected: list[list[str]] = []
    for before, sentence in zip([None, *sentences], sentences, strict=False):
        if before is None or before.document != sentence.document:
            expected.append([])
        expected[-1] += sentence.columns["word"]
    assert by_document(blocks_of(target.getvalue(), block_bytes, whole_documents=True)) == expected
    assert by_document([pack(sentences, "word label")]) == expected


def test_joining_keeps_tokens_and_comments() -> None:
    sentences = [
        Sentence({"word": ["a", "b"]}, comments=["# one"], document=3),
        Sentence({"word": []}, document=3),
        Sentence({"word": ["c"]}, comments=["# two"], document=3),
        Sentence({"word": ["d"]}, comments=["# three"], document=4),
    ]
    target = io.BytesIO()
    write_conll([s for s in sentences if len(s)], target)
    (block,) = read_blocks(io.BytesIO(target.getvalue()), "word")
    joined = list(block.by_document().sentences())
    assert [(s.columns["word"], s.document) for s in joined] == [(["a", "b", "c"], 3), (["d"], 4)]
    assert [s.comments for s in joined] == [["# one", "# two"], ["# three"]]
    packed = pack(sentences, "word").by_document().table
    assert packed.sentence_starts.tolist() == [0, 3, 4]
    assert pack([]).by_document().table.sentences == 0


def test_a_document_may_come_back() -> None:
    """Numbers tell neighbours apart, nothing else: as in files that are put together."""
    sentences = [Sentence({"word": [w]}, document=d) for w, d in zip("abcd", [0, 1, 0, 0], strict=True)]
    assert by_document([pack(sentences)]) == [["a"], ["b"], ["c", "d"]]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@given(numbers=st.lists(st.integers(0, 2), max_size=12))
def test_groups_of_records(size: int, numbers: list[int]) -> None:
    sentences = [Sentence({"word": [str(i)]}, document=d) for i, d in enumerate(numbers)]
    plain = list(in_groups(iter(sentences), size, False))
    assert plain == [sentences[i : i + size] for i in range(0, len(sentences), size)]
    whole = list(in_groups(iter(sentences), size, True))
    assert [s for group in whole for s in group] == sentences
    for group, after in pairwise(whole):
        assert group[-1].document != after[0].document
        assert len(group) >= size
        assert len({s.document for s in group[size:]}) <= 1  # no longer than it must be
