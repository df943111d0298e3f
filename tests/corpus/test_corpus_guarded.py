"""Input that is out to do harm: lines without an end, bombs."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import marginalia as mg
from marginalia.assist.paraphrase.learning import read_pairs
from marginalia.assist.paraphrase.rule_files import read_rule_file
from marginalia.assist.profile import load_profile
from marginalia.corpus import guarded as guard
from marginalia.corpus import read_blocks, read_conllu, read_crfsuite, read_jsonl, read_plain, read_segmented
from marginalia.corpus.phrases import read_entries
from marginalia.corpus.streams import open_source, read_lines
from marginalia.decode.constraints import read_constraints
from marginalia.features.global_features import read_words
from marginalia.learn.samples import read_sample_weights

SENTENCES = [(["a"], ["X"]), (["b"], ["Y"])]
READERS: list[Callable[[Any], Iterable[object]]] = [
    read_blocks,
    read_conllu,
    read_crfsuite,
    read_jsonl,
    read_plain,
    read_segmented,
    read_lines,
]


@pytest.mark.parametrize("read", READERS)
def test_a_line_without_an_end_is_named(
    read: Callable[[Any], Iterable[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MOST_LINE", 1 << 20)
    with pytest.raises(
        mg.DataError, match=r"<stream>:1: found a line of more than 1 MiB, expected line breaks"
    ):
        list(read(io.BytesIO(b"a" * (3 << 19))))


def test_lines_are_counted_across_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST_LINE", 500_000)
    (tmp_path / "t.txt").write_bytes(b"a b\n" * 100_000 + b"x" * 500_001 + b"\nb\n")
    with pytest.raises(mg.DataError, match=r"t\.txt:100001: found a line"):
        list(read_lines(tmp_path / "t.txt"))
    (tmp_path / "t.txt").write_bytes(b"a b\n" * 100_000 + b"x" * 500_000)
    assert sum(1 for _ in read_lines(tmp_path / "t.txt")) == 100_001


def test_a_long_line_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    find = guard._Guarded._check_line
    monkeypatch.setattr(guard._Guarded, "_check_line", lambda self, c: (looked.append(len(c)), find(self, c)))
    text = b"a" * (1 << 20) + b"\n\n"
    blocks = list(read_blocks(io.BytesIO(text), block_bytes=1 << 16))
    assert [block.table.tokens for block in blocks] == [1]
    assert sum(looked) == len(text)


@pytest.mark.parametrize(
    "read", [*READERS, lambda path: list(read_entries(path)), lambda path: [read_constraints(path)]]
)
def test_bombs_do_not_go_off(
    read: Callable[[Any], Iterable[object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "_FREE", 1 << 16)
    bomb = tmp_path / "bomb.gz"
    with gzip.open(bomb, "wb") as file:
        file.write(b"\n" * 3_000_000)
    with pytest.raises(
        mg.DataError, match=r"bomb\.gz: found more than 250 times as many bytes as are packed"
    ):
        list(read(bomb))


def test_text_that_packs_well_is_no_bomb(tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"the same line again\n" * 100_000)
    assert sum(1 for _ in read_lines(path)) == 100_000


def test_streams_of_others_stay_open() -> None:
    stream = io.BytesIO(b"a\nb")
    with open_source(stream) as guarded:
        assert guarded.read() == b"a\nb"
    assert not stream.closed


@pytest.mark.parametrize(
    ("read", "error"),
    [
        (lambda path: mg.train(SENTENCES, lists={"a": str(path)}), mg.SettingsError),
        (lambda path: mg.train(SENTENCES, learner="pa", costs=str(path)), mg.DataError),
        (lambda path: read_sample_weights(str(path)), mg.DataError),
        (lambda path: mg.train(SENTENCES, features=str(path)), mg.SettingsError),
        (read_words, mg.DataError),
        (read_rule_file, mg.DataError),
        (read_pairs, mg.DataError),
    ],
)
def test_small_files_are_guarded_too(
    read: Callable[[Path], object], error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MOST_LINE", 1 << 20)
    (tmp_path / "endless").write_bytes(b"a" * (3 << 19))
    with pytest.raises(error, match=r"found a line of more than 1 MiB"):
        read(tmp_path / "endless")


def test_large_settings_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "profile.toml").write_bytes(b"#" * (5 << 20))
    with pytest.raises(mg.SettingsError, match=r"profile\.toml: found more than 4 MiB, expected a smaller"):
        load_profile(tmp_path / "profile.toml")
