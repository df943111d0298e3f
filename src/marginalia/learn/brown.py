"""Brown clusters: paths of words in the tree of merges (core/learn/brown.hpp)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from marginalia import _core
from marginalia.corpus.neighbours import Neighbours
from marginalia.decode.threads import check_threads

_LONGEST = 255  # bits of a path that files of clusters have


class ClusteredWord(NamedTuple):
    """A word with the path of its cluster, and how often it was seen."""

    path: str
    word: str
    seen: int


def brown_clusters(
    text: Neighbours,
    clusters: int,
    threads: int = 1,
    on_progress: Callable[[int], bool] = lambda taken: True,
) -> list[ClusteredWord]:
    """The words in order of their paths, the most frequent of each cluster first.

    `on_progress` hears how many words have been taken in, and may say that no more shall be: the rest is left
    out then.
    """
    check_threads(threads)
    run = _core.BrownClustering(text.counts, text.left, text.right, text.times, clusters, threads)
    steps = max(1, min(100, 20_000_000 // (clusters * clusters)))  # some hundredths of a second
    while run.advance(steps):
        if run.taken < len(text.words) and not on_progress(run.taken):
            run.take_no_more()
    merges = [(kept, gone) for kept, gone in run.merges.tolist()]
    paths = dict(_paths(merges, run.taken, min(clusters, run.taken)))
    found = [ClusteredWord(paths[i], text.words[i], int(text.counts[i])) for i in range(run.taken)]
    return sorted(found, key=lambda entry: (entry.path, -entry.seen, entry.word))


def _paths(merges: list[tuple[int, int]], words: int, clusters: int) -> Iterator[tuple[int, str]]:
    """The path of each word: 0 towards the cluster with the more frequent first word, 1 to the other."""
    parent = list(range(words))
    for kept, gone in merges[: words - clusters]:
        parent[gone] = kept
    paths = {0: ""} if words else {}
    for kept, gone in reversed(merges[words - clusters :]):
        paths[gone] = paths[kept] + "1"
        paths[kept] += "0"
    for word in range(words):
        root = word
        while parent[root] != root:
            root = parent[root]
        parent[word] = root
        yield word, paths[root][:_LONGEST] or "0"
