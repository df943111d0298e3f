"""Slow, plain twins of the evaluate room: what the fast code must agree with."""

from __future__ import annotations

from collections import Counter
from itertools import product

Column = list[list[str]]

SAME_LETTER = {"L": "E", "U": "S", "M": "I"}


def split(label: str) -> tuple[str, str]:
    """The (prefix, type) of a label, cut at its first hyphen; L, U and M read as E, S and I."""
    prefix, _, kind = label.partition("-")
    return SAME_LETTER.get(prefix, prefix), kind


def chunk_ends(before: str, after: str, type_changes: bool) -> bool:
    """Does conlleval see the end of a chunk between these two prefixes?"""
    if before in ("E", "S", "[", "]"):
        return True
    if before in ("B", "I") and after in ("B", "S", "O"):
        return True
    return before not in ("O", ".") and type_changes


def chunk_starts(before: str, after: str, type_changes: bool) -> bool:
    """Does conlleval see the start of a chunk between these two prefixes?"""
    if after in ("B", "S", "[", "]"):
        return True
    if before in ("E", "S", "O") and after in ("E", "I"):
        return True
    return after not in ("O", ".") and type_changes


class Conlleval:
    """The walk of conlleval, token by token: one `step` per line of its input, blank lines included."""

    def __init__(self) -> None:
        self.gold: Counter[str] = Counter()
        self.predicted: Counter[str] = Counter()
        self.correct: Counter[str] = Counter()
        self.last_gold = self.last_predicted = ("O", "")
        self.in_correct = False

    def step(self, gold_label: str, predicted_label: str) -> None:
        gold, predicted = split(gold_label), split(predicted_label)
        gold_pair = (self.last_gold[0], gold[0], self.last_gold[1] != gold[1])
        predicted_pair = (self.last_predicted[0], predicted[0], self.last_predicted[1] != predicted[1])
        gold_ends, predicted_ends = chunk_ends(*gold_pair), chunk_ends(*predicted_pair)
        gold_starts, predicted_starts = chunk_starts(*gold_pair), chunk_starts(*predicted_pair)
        if self.in_correct:
            if gold_ends and predicted_ends and self.last_gold[1] == self.last_predicted[1]:
                self.in_correct = False
                self.correct[self.last_gold[1]] += 1
            elif gold_ends != predicted_ends or gold[1] != predicted[1]:
                self.in_correct = False
        if gold_starts and predicted_starts and gold[1] == predicted[1]:
            self.in_correct = True
        self.gold[gold[1]] += gold_starts
        self.predicted[predicted[1]] += predicted_starts
        self.last_gold, self.last_predicted = gold, predicted

    def finish(self) -> None:
        if self.in_correct:
            self.correct[self.last_gold[1]] += 1


def conlleval(gold: Column, predicted: Column) -> Conlleval:
    """Counts by type, as the script gives them for a file with a blank line after each sentence."""
    walk = Conlleval()
    for gold_labels, predicted_labels in zip(gold, predicted, strict=True):
        for pair in zip([*gold_labels, "O"], [*predicted_labels, "O"], strict=True):
            walk.step(*pair)
    walk.finish()
    return walk


def strict_spans(labels: list[str], scheme: str) -> set[tuple[int, int, str]]:
    """All (first, last, type) such that the labels from first to last are a whole span of the scheme."""
    pairs = [split(label) for label in labels]
    ranges = ((i, j) for i, j in product(range(len(pairs)), repeat=2) if i <= j)
    return {(i, j, pairs[i][1]) for i, j in ranges if is_span(pairs, i, j, scheme)}


def is_span(pairs: list[tuple[str, str]], first: int, last: int, scheme: str) -> bool:
    """Whether labels first..last have one type, the right prefixes, and right neighbours."""
    kind = pairs[first][1]
    if any(other != kind for _, other in pairs[first : last + 1]):
        return False
    prefixes = "".join(prefix if len(prefix) == 1 else "?" for prefix, _ in pairs[first : last + 1])
    before = pairs[first - 1][0] if first and pairs[first - 1][1] == kind else "O"
    after = pairs[last + 1][0] if last + 1 < len(pairs) and pairs[last + 1][1] == kind else "O"
    middle = "I" * (len(prefixes) - 1)
    if scheme == "IOB2":
        return prefixes == "B" + middle and after != "I"
    if scheme == "IOB1":
        touching = prefixes == "B" + middle and before in ("B", "I")
        return (touching or (prefixes == "I" + middle and before not in ("B", "I"))) and after != "I"
    if scheme == "IOE2":
        return prefixes == middle + "E" and before != "I"
    if scheme == "IOE1":
        touching = prefixes == middle + "E" and after in ("I", "E")
        return (touching or (prefixes == middle + "I" and after not in ("I", "E"))) and before != "I"
    return prefixes == "S" or (len(prefixes) > 1 and prefixes == "B" + middle[1:] + "E")


def write_spans(length: int, spans: list[tuple[int, int, str]], scheme: str) -> list[str]:
    """Labels of a scheme for spans (first, last, type), given in order and without overlap."""
    labels = ["O"] * length
    for number, (first, last, kind) in enumerate(spans):
        prefixes = ["I"] * (last - first + 1)
        touches_left = number > 0 and spans[number - 1][1:] == (first - 1, kind)
        touches_right = number + 1 < len(spans) and spans[number + 1][::2] == (last + 1, kind)
        if scheme in ("IOB2", "IOBES") or (scheme == "IOB1" and touches_left):
            prefixes[0] = "B"
        if scheme in ("IOE2", "IOBES") or (scheme == "IOE1" and touches_right):
            prefixes[-1] = "E"
        if scheme == "IOBES" and first == last:
            prefixes[0] = "S"
        labels[first : last + 1] = [f"{prefix}-{kind}" for prefix in prefixes]
    return labels
