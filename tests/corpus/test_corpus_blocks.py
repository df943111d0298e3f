"""Reading column files in blocks: boundaries, streams, memory, and the names of what went wrong."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus import Sentence, pack, read_blocks, read_conll, write_conll
from marginalia.errors import DataError

MIXED = (
    "\ufeff# O\n\n# head line of a file\na B-X\nb I-X\n\n# a lonely comment\n\n"
    "-DOCSTART-\n\n# = = =\nc O\n \t\nd O\r\n\r\ne O\r\n"
    "-DOCSTART- O\nf B-Y\n\n# a trailing comment"
).encode()


@given(st.integers(1, len(MIXED) + 1))
def test_small_blocks_give_the_same_sentences_and_bytes(block_bytes: int) -> None:
    whole = list(read_conll(io.BytesIO(MIXED)))
    blocks = list(read_blocks(io.BytesIO(MIXED), block_bytes=block_bytes))
    assert [sentence for block in blocks for sentence in block.sentences()] == whole
    rendered = b"".join(block.render(["O"], np.zeros(block.table.tokens, np.int32), " ") for block in blocks)
    one = b"".join(
        b.render(["O"], np.zeros(b.table.tokens, np.int32), " ") for b in read_blocks(io.BytesIO(MIXED))
    )
    assert rendered == one


def test_records_of_the_mixed_file() -> None:
    sentences = list(read_conll(io.BytesIO(MIXED)))
    assert [s.tokens for s in sentences] == [["#"], ["a", "b"], ["c"], ["d"], ["e"], ["f"]]
    assert [s.document for s in sentences] == [0, 0, 1, 1, 1, 2]
    assert [s.line for s in sentences] == [1, 4, 12, 14, 16, 18]
    assert [s.comments for s in sentences] == [[], ["# head line of a file"], ["# = = ="], [], [], []]


@pytest.mark.parametrize("block_bytes", [1, 7, 1 << 20])
def test_errors_in_later_blocks_name_the_line_of_the_file(block_bytes: int) -> None:
    data = b"a x\n\nb x\n\nc x y\n"
    with pytest.raises(DataError, match=r"^<stream>:5:5: found 3 columns, expected 2$") as caught:
        list(read_blocks(io.BytesIO(data), block_bytes=block_bytes))
    assert (caught.value.line, caught.value.column) == (5, 5)


def test_the_number_of_columns_holds_for_the_whole_file() -> None:
    with pytest.raises(DataError, match=":3:4: found 2 columns, expected 3"):
        list(read_blocks(io.BytesIO(b"a b c\n\nd e\n"), block_bytes=1))
    with pytest.raises(DataError, match=":1:4: found 2 columns, expected 3"):
        list(read_blocks(io.BytesIO(b"a b\n"), "word pos label"))


def test_names_of_columns() -> None:
    for count, names in [(1, ("word",)), (2, ("word", "label")), (4, ("word", "c1", "c2", "label"))]:
        (block,) = read_blocks(io.BytesIO(b" x" * count))
        assert block.columns == names
    (block,) = read_blocks(io.BytesIO(b"a b"), ["word", "pos"])
    assert (block.column("pos"), block.index("word")) == (["b"], 0)
    with pytest.raises(DataError, match="found no column 'ne', expected one of word, pos"):
        block.column("ne")
    with pytest.raises(DataError, match="found a column name twice"):
        list(read_blocks(io.BytesIO(b"a b"), "word word"))


def test_one_very_long_sentence_is_one_block() -> None:
    data = b"token O\n" * 100_000
    (block,) = read_blocks(io.BytesIO(data), block_bytes=1 << 12)
    assert (block.table.tokens, block.table.sentences) == (100_000, 1)


class Endless(io.RawIOBase):
    """A stream of `size` bytes that never holds them."""

    def __init__(self, size: int) -> None:
        self.left = size

    def read(self, size: int = -1) -> bytes:
        size = min(size, self.left)
        self.left -= size
        return (b"some NN\n\n" * (size // 9 + 1))[:size]


def test_memory_stays_flat() -> None:
    tracemalloc.start()
    try:
        tokens = sum(block.table.tokens for block in read_blocks(Endless(9 * 1_000_000), block_bytes=9 << 12))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert tokens == 1_000_000
    assert peak < 1_000_000


def test_standard_input_gzip_paths_and_text_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "x.txt.gz"
    packed.write_bytes(gzip.compress(MIXED))
    plain = tmp_path / "x.txt"
    plain.write_bytes(MIXED)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MIXED)))
    whole = list(read_conll(io.BytesIO(MIXED)))
    for source in ("-", packed, str(plain), io.StringIO(MIXED.decode())):
        assert list(read_conll(source)) == whole
    with plain.open() as stream:
        assert list(read_conll(stream)) == whole


def test_a_real_pipe() -> None:
    program = "from marginalia.corpus import *; write_conll(read_conll('-'), '-')"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", program], input=b"a b\r\n\r\n", capture_output=True, env=env, check=True
    )
    assert run.stdout == b"a b\n\n"


def test_unreadable_sources_are_named(tmp_path: Path) -> None:
    missing, folder, broken = tmp_path / "none.txt", tmp_path, tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(MIXED * 100)[:-20])
    for source in (missing, folder, broken):
        with pytest.raises(DataError, match="cannot read or write: ") as caught:
            list(read_conll(source))
        assert caught.value.file == str(source)
    broken.write_bytes(b"no gzip")
    with pytest.raises(DataError, match="Not a gzipped file"):
        list(read_conll(broken))


def test_pack_and_its_errors() -> None:
    sentences = [Sentence({"word": ["a"], "label": ["O"]}, line=3), Sentence({"word": ["b"], "label": ["O"]})]
    block = pack(sentences, "label word", file="f")
    assert (block.column("word"), block.columns) == (["a", "b"], ("label", "word"))
    assert str(block.error("bad", 0, "label")) == "f:3: bad (token 1)"
    assert pack([]).table.tokens == 0
    with pytest.raises(DataError, match="f:3: found no complete column 'pos': 0 values for 1 tokens"):
        pack(sentences, "word pos", file="f")
    with pytest.raises(DataError, match="surrogates not allowed"):
        pack([Sentence({"word": ["\ud800"]})])


WORD = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r\t "), min_size=1, max_size=4
)
SENTENCES = st.lists(
    st.tuples(st.lists(WORD.filter(lambda w: w != "-DOCSTART-"), min_size=1, max_size=4), st.integers(0, 2)),
    max_size=5,
)


@given(SENTENCES, st.sampled_from([" ", "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_written_sentences_are_read_again(
    drawn: list[tuple[list[str], int]], separator: str, newline: str
) -> None:
    sentences, document = [], 0
    for words, step in drawn:
        document += step
        columns = {"word": words, "label": ["O"] * len(words)}
        sentences.append(Sentence(columns, comments=["# a b c"] * step, document=document))
    target = io.BytesIO()
    write_conll(sentences, target, separator=separator, newline=newline)
    text = target.getvalue()
    if text.startswith(b"\xef\xbb\xbf"):  # then it would be taken for a byte order mark
        return
    assert [replace(s, line=0) for s in read_conll(io.BytesIO(text), "word label")] == sentences


@pytest.mark.parametrize("word", ["", "a b", "a\tb", "a\n", "-DOCSTART-", {"A"}])
def test_fields_that_would_break_the_file_are_refused(word: Any) -> None:
    with pytest.raises(DataError, match="cannot be written to a column file") as caught:
        write_conll([Sentence({"word": [word]}, line=7)], io.BytesIO())
    assert caught.value.line == 7


def test_writing_chosen_columns() -> None:
    sentence = Sentence({"word": ["a"], "pos": ["N"], "label": ["O"]}, line=2)
    target = io.StringIO()
    write_conll([sentence], target, columns="label word")
    assert target.getvalue() == "O a\n\n"
    with pytest.raises(DataError, match="found no column 'ne' in a sentence"):
        write_conll([sentence], target, columns="word ne")


def test_the_ends_of_files() -> None:
    assert len(list(read_blocks(io.BytesIO(b"a\n\n"), block_bytes=1))) == 1
    assert list(read_blocks(io.BytesIO(b""))) == []
    (empty,) = read_blocks(io.BytesIO(b""), block_bytes=None)
    assert (empty.table.tokens, empty.columns) == (0, ())
    (comments,) = read_blocks(io.BytesIO(b"# O\n\n# O\n"), block_bytes=1)
    assert comments.render([], np.zeros(0, np.int32)) == b"# O\n\n# O\n"
