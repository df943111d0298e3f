"""Cross-decoding: no model sees what it decodes; folds are kept, and a stopped run gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus.source import DataSource
from marginalia.learn import cross_decoding
from marginalia.learn.cross_decoding import FoldProgress, Stopped, cross_decode, split

Pairs = list[tuple[list[str], list[str]]]


def sentences(count: int) -> Pairs:
    """Each has a word of its own, whose label nothing else tells."""
    found = []
    for i in range(count):
        found.append(([f"w{i}", "the", "x"], ["B-A" if i * 7 % 3 else "B-C", "O", "O"]))
    return found


def trained(data: Any, **settings: Any) -> Any:
    return mg.train(data, features="fields", passes=20, seed=3, **settings)


def source_of(data: Any) -> DataSource:
    return DataSource(data, label="label")


def records(sizes: list[int]) -> list[mg.Sentence]:
    """Documents with so many sentences each."""
    found = []
    for document, size in enumerate(sizes):
        for s in range(size):
            columns = {"word": [f"d{document}s{s}", "a"], "label": ["B-A", "O"]}
            found.append(mg.Sentence(columns, document=document))
    return found


@given(st.lists(st.integers(1, 5), min_size=2, max_size=20), st.integers(2, 5))
def test_parts_are_stretches_of_whole_documents(sizes: list[int], folds: int) -> None:
    data = records(sizes)
    parts = split(source_of(data), min(folds, len(sizes)), whole_documents=True)
    words = [list(s.columns["word"]) for part in parts for block in part.blocks for s in block.sentences()]
    assert words == [s.columns["word"] for s in data]
    assert all(part.blocks[0].table.tokens for part in parts)
    seen = [{s.document for s in part.blocks[0].sentences()} for part in parts]
    assert sum(map(len, seen)) == len(set.union(*seen))


def test_data_without_documents_are_cut_between_sentences() -> None:
    parts = split(source_of(sentences(11)), 5, whole_documents=False)
    assert [part.blocks[0].table.sentences for part in parts] == [2, 2, 3, 2, 2]


@pytest.mark.parametrize(
    ("data", "whole", "message"),
    [
        (sentences(4), False, "found 4 sentences, expected at least 5"),
        (records([3, 3, 3]), True, "found 3 documents, expected at least 5"),
    ],
)
def test_too_little_data_is_an_error(data: Any, whole: bool, message: str) -> None:
    with pytest.raises(mg.DataError, match=message):
        split(source_of(data), 5, whole_documents=whole)


def test_no_model_sees_what_it_decodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = sentences(20)
    seen: list[set[str]] = []
    prepare = cross_decoding.prepare

    def spied(source: DataSource, *args: Any, **options: Any) -> Any:
        seen.append({word for block in source.blocks() for word in block.column("word")})
        return prepare(source, *args, **options)

    monkeypatch.setattr(cross_decoding, "prepare", spied)
    base = trained(data)
    found = cross_decode(source_of(data), base, k=3, cache=tmp_path / "cache")
    everything = {word for tokens, _ in data for word in tokens}
    for words, one in zip(seen, found, strict=True):
        own = {word for word in one.block.column("word") if word.startswith("w")}
        assert own
        assert words == everything - own
    assert [one.ids.shape for one in found] == [(3, 12)] * 5
    # Only its own sentence tells the label of a word: the base model knows it, that of a fold does not.
    gold = [label for _, labels in data for label in labels]
    known = [label for tokens, _ in data for label in base.tag(tokens).labels]
    decoded = [base.saved.labels[y] for one in found for y in one.ids[0]]
    assert differing(known, gold) < differing(decoded, gold)


def differing(labels: Sequence[str], others: Sequence[str]) -> int:
    return sum(one != other for one, other in zip(labels, others, strict=True))


def test_a_fold_is_what_a_model_of_the_others_says(tmp_path: Path) -> None:
    data = [(tokens, labels) for tokens, labels in sentences(15)]
    base = trained(data)
    found = cross_decode(source_of(data), base, k=4, folds=3, cache=tmp_path / "cache")
    for fold in range(3):
        own = data[5 * fold : 5 * fold + 5]
        model = trained([pair for pair in data if pair not in own])
        for s, (tokens, _) in enumerate(own):
            nbest = model.nbest(tokens, 4)
            ids = found[fold].ids[:, 3 * s : 3 * s + 3]
            names = [tuple(base.saved.labels[i] for i in row) for row in ids]
            assert names == [one.labels for one in nbest]
            assert found[fold].scores[:, s].tolist() == [one.score for one in nbest]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_stopped_run_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    data, stopped = sentences(20), []
    base = trained(data)
    whole = cross_decode(source_of(data), base, k=3, cache=tmp_path / "whole", threads=2)

    def watch(progress: FoldProgress) -> None:
        stopped.append(progress.fold == 2)

    with pytest.raises(Stopped):
        cross_decode(
            source_of(data), base, k=3, cache=tmp_path / "cut", on_progress=watch, stop=lambda: stopped[-1]
        )
    assert len(list((tmp_path / "cut").iterdir())) == 2
    reported: list[FoldProgress] = []
    again = cross_decode(source_of(data), base, k=3, cache=tmp_path / "cut", on_progress=reported.append)
    assert [one.fold for one in reported if one.done is None] == [0, 1]
    assert bytes_of(tmp_path / "cut") == bytes_of(tmp_path / "whole")
    for one, other in zip(whole, again, strict=True):
        assert (one.ids == other.ids).all()


def test_what_is_kept_of_something_else_or_damaged_is_made_again(tmp_path: Path) -> None:
    data, cache = sentences(20), tmp_path / "cache"
    base = trained(data)
    cross_decode(source_of(data), base, k=3, cache=cache)
    before = bytes_of(cache)
    damaged = cache / "fold-1.hypotheses"
    damaged.write_bytes(before["fold-1.hypotheses"][:-1] + b"?")
    (cache / "fold-2.hypotheses").write_bytes(b"")
    made: list[FoldProgress] = []
    cross_decode(source_of(data), base, k=3, cache=cache, on_progress=made.append)
    assert {one.fold for one in made if one.done is not None} == {0, 1}
    assert bytes_of(cache) == before
    other = replace(base.saved, seed=4)
    cross_decode(source_of(data), type(base)(other), k=3, cache=cache)
    assert bytes_of(cache) != before
