"""Brown clustering against a naive implementation: every merge is the best one, computed anew."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia import _core
from marginalia.corpus.neighbours import NeighbourCounts, Neighbours
from marginalia.learn.brown import brown_clusters

UNIT = 1 << 20
TEXTS = st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=6), min_size=1, max_size=8)


def neighbours(text: list[list[str]], least: int = 1) -> Neighbours:
    counts = NeighbourCounts()
    for sentence in text:
        counts.add(sentence)
    return counts.neighbours(least)


def f(n: int) -> int:
    """x log x in units of the core. It is never half way between two: no such logarithm is rational."""
    return round(n * math.log(n) * UNIT) if n > 1 else 0


def gain(a: int, b: int, clusters: dict[int, list[int]], text: Neighbours) -> int:
    """The change of Q = sum f(c) - sum D log n by a merge, from counts of pairs, in units of the core."""
    of = {word: cluster for cluster, words in clusters.items() for word in words}
    counts = {cluster: sum(int(text.counts[w]) for w in words) for cluster, words in clusters.items()}
    pairs = list(zip(text.left.tolist(), text.right.tolist(), text.times.tolist(), strict=True))
    seen = Counter[tuple[int, int]]()
    for left, right, times in pairs:
        if left in of and right in of:
            seen[of[left], of[right]] += times
    merged = Counter[tuple[int, int]]()
    for (left, right), times in seen.items():
        merged[a if left == b else left, a if right == b else right] += times
    whole = sum(map(f, merged.values())) - sum(map(f, seen.values()))
    degree = Counter[int]()
    for (left, right), times in seen.items():
        degree[left] += times
        degree[right] += times
    u, v = max(a, b), min(a, b)
    lost = (degree[u] + degree[v]) * math.log(counts[a] + counts[b])
    kept = degree[u] * math.log(counts[u]) + degree[v] * math.log(counts[v])
    return whole - round((lost - kept) * UNIT)


def naive_merges(text: Neighbours, k: int) -> list[tuple[int, int]]:
    """The best of all merges, each time; of equally good ones that of the lowest words."""
    clusters: dict[int, list[int]] = {}
    merges = []

    def merge_best() -> None:
        choices = [(gain(a, b, clusters, text), a, b) for a, b in itertools.combinations(sorted(clusters), 2)]
        _, a, b = max(choices, key=lambda choice: (choice[0], -choice[1], -choice[2]))
        clusters[a] += clusters.pop(b)
        merges.append((a, b))

    for word in range(len(text.words)):
        clusters[word] = [word]
        if len(clusters) > k:
            merge_best()
    while len(clusters) > 1:
        merge_best()
    return merges


@settings(max_examples=60)
@given(TEXTS, st.integers(1, 5), st.integers(1, 2))
def test_every_merge_is_the_best(text: list[list[str]], k: int, threads: int) -> None:
    counted = neighbours(text)
    run = _core.BrownClustering(counted.counts, counted.left, counted.right, counted.times, k, threads)
    while run.advance(3):
        pass
    assert [tuple(merge) for merge in run.merges.tolist()] == naive_merges(counted, k)


@settings(max_examples=30)
@given(TEXTS)
def test_what_is_lost_is_mutual_information(text: list[list[str]]) -> None:
    """When all words are there, Q is the average mutual information up to constants, if n counts pairs."""
    counted = neighbours(text)
    total = int(counted.times.sum())
    clusters = {word: [word] for word in range(len(counted.words))}

    def information(of: dict[int, int]) -> float:
        seen, sides = Counter[tuple[int, int]](), Counter[int]()
        for left, right, times in zip(
            counted.left.tolist(), counted.right.tolist(), counted.times.tolist(), strict=True
        ):
            seen[of[left], of[right]] += times
        for word, count in enumerate(counted.counts.tolist()):
            sides[of[word]] += count
        return sum(c * math.log(c * total / (sides[a] * sides[b])) for (a, b), c in seen.items())

    before = {word: word for word in clusters}
    for a, b in itertools.combinations(clusters, 2):
        after = information({word: a if word == b else word for word in clusters})
        assert gain(a, b, clusters, counted) / UNIT == pytest.approx(after - information(before), abs=1e-4)


def large_text(words: int, seed: int) -> Neighbours:
    random = np.random.default_rng(seed)
    ids = np.minimum(random.zipf(1.3, 12_000), words)
    return neighbours([[f"w{i}" for i in row] for row in ids.reshape(-1, 10).tolist()])


def test_threads_do_not_show() -> None:
    """With so many clusters that threads share the work."""
    text = large_text(900, 3)
    found = [brown_clusters(text, 250, threads) for threads in (1, 2, 3)]
    assert found[0] == found[1] == found[2]
    assert len({entry.path for entry in found[0]}) == 250
    assert len({entry.word for entry in found[0]}) == len(text.words)


def test_words_that_are_used_alike_meet() -> None:
    text = [[a, verb, b] for a in "ABCD" for b in ("x", "y", "z") for verb in ("sees", "eats")] * 2
    paths = {entry.word: entry.path for entry in brown_clusters(neighbours(text), 3)}
    assert len(set(paths.values())) == 3
    for alike in ("ABCD", "xyz", ("sees", "eats")):
        assert len({paths[word] for word in alike}) == 1


def test_no_path_is_the_beginning_of_another() -> None:
    paths = sorted({entry.path for entry in brown_clusters(large_text(200, 1), 40)})
    assert len(paths) == 40
    assert not any(b.startswith(a) for a, b in itertools.pairwise(paths))


def test_stopped_early() -> None:
    text = large_text(300, 2)
    found = brown_clusters(text, 30, on_progress=lambda taken: False)
    assert {entry.word for entry in found} < set(text.words)
    assert len(found) > 0


@pytest.mark.parametrize("words", [1, 2])
def test_few_words(words: int) -> None:
    found = brown_clusters(neighbours([["a", "b"][:words]]), 5)
    assert [(e.path, e.word) for e in found] == [("0", "a"), ("1", "b")][:words]


def test_rare_words_are_left_out() -> None:
    text = neighbours([["a", "b", "a", "c", "a"], ["b"]], least=2)
    assert (text.words, text.counts.tolist()) == (["a", "b"], [3, 2])
    assert list(zip(text.left.tolist(), text.right.tolist(), text.times.tolist(), strict=True)) == [
        (0, 1, 1),
        (1, 0, 1),
    ]


@given(TEXTS)
def test_neighbours_are_those_of_a_plain_count(text: list[list[str]]) -> None:
    counted = neighbours(text)
    words = Counter(word for sentence in text for word in sentence)
    pairs = Counter(pair for sentence in text for pair in itertools.pairwise(sentence))
    assert dict(zip(counted.words, counted.counts.tolist(), strict=True)) == words
    numbers = zip(counted.left.tolist(), counted.right.tolist(), counted.times.tolist(), strict=True)
    assert {(counted.words[a], counted.words[b]): n for a, b, n in numbers} == pairs


def test_arrays_that_do_not_fit() -> None:
    counts, one = np.array([2, 1], np.uint64), np.array([1], np.uint64)
    zero, two = np.array([0], np.uint32), np.array([2], np.uint32)
    with pytest.raises(ValueError, match="unknown words"):
        _core.BrownClustering(counts, zero, two, one, 2, 1)
    with pytest.raises(ValueError, match="must fall"):
        _core.BrownClustering(counts[::-1].copy(), zero, zero, one, 2, 1)
    with pytest.raises(ValueError, match="at least one"):
        _core.BrownClustering(counts, zero, zero, one, 0, 1)
    with pytest.raises(ValueError, match="disagree"):
        _core.BrownClustering(counts, zero, np.zeros(0, np.uint32), one, 2, 1)
