"""A perceptron over a chain as its pseudo-code says: dictionaries, enumeration, copies of all weights.

Its features are those of TEMPLATES, its weights have the names that `learn_world.weights_of` gives. All
weights are whole numbers or halves of them, so that floats are exact and ties are ties.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from hypothesis import strategies as st

TEMPLATES = "word[0]\nedge:\n"
Words = Sequence[str]
Output = tuple[int, ...]
Weights = Mapping[Hashable, float]
Pairs = list[tuple[list[str], list[str]]]


def features_of(words: Words, y: Output, labels: int) -> Counter[Hashable]:
    """Words with their labels, the first and the last label, and label pairs."""
    found: Counter[Hashable] = Counter()
    for t, (word, label) in enumerate(zip(words, y, strict=True)):
        found[(False, f"word[0]={word}"), label] += 1
        if t == 0:
            found["constant", label] += 1
        else:
            found["constant", 2 * labels + y[t - 1] * labels + label] += 1
        if t == len(words) - 1:
            found["constant", labels + label] += 1
    return found


def score(w: Weights, words: Words, y: Output, labels: int) -> float:
    return sum(w.get(f, 0.0) * count for f, count in features_of(words, y, labels).items())


def best(w: Weights, words: Words, labels: int) -> Output:
    """Ties go to the lowest last label, then to the lowest one before it, and so on."""
    outputs = itertools.product(range(labels), repeat=len(words))
    return min(outputs, key=lambda y: (-score(w, words, y, labels), y[::-1]))


def learned(w: Weights, words: Words, gold: Output, labels: int) -> dict[Hashable, float]:
    """The weights after one more example."""
    found = Counter(w)
    if (z := best(w, words, labels)) != gold:
        found.update(features_of(words, gold, labels))
        found.subtract(features_of(words, z, labels))
    return {f: value for f, value in found.items() if value}


def numbered(pairs: Pairs, labels: Sequence[str]) -> list[tuple[Words, Output]]:
    """The gold labels as numbers."""
    return [(words, tuple(labels.index(label) for label in y)) for words, y in pairs]


def versions(
    pairs: Pairs, labels: Sequence[str], passes: int, start: Weights | None = None
) -> Iterator[dict[Hashable, float]]:
    """The weights after each example of each pass, up to the first pass without a mistake."""
    w, examples = dict(start or {}), numbered(pairs, labels)
    for _ in range(passes):
        mistakes = 0
        for words, gold in examples:
            mistakes += best(w, words, len(labels)) != gold
            w = learned(w, words, gold, len(labels))
            yield w
        if not mistakes:
            return


def mean(all_weights: Iterable[Weights]) -> dict[Hashable, float]:
    listed = list(all_weights)
    total: Counter[Hashable] = Counter()
    for w in listed:
        total.update(w)
    return {f: value / len(listed) for f, value in total.items()}


def voted(candidates: Sequence[Output], voters: Iterable[Weights], words: Words, labels: int) -> Output:
    """The candidate that most voters score highest; all ties go to the earlier candidate."""
    votes: Counter[int] = Counter()
    for w in voters:
        scores = [score(w, words, y, labels) for y in candidates]
        votes[scores.index(max(scores))] += 1
    return candidates[max(range(len(candidates)), key=lambda k: (votes[k], -k))]


WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3)


@st.composite
def problems(draw: st.DrawFn, labels: str = "XYZ", most: int = 6) -> Pairs:
    """Sentences of a few words whose labels often contradict each other."""
    sentences = draw(st.lists(WORDS, min_size=1, max_size=most))
    return [(words, [draw(st.sampled_from(labels)) for _ in words]) for words in sentences]
