"""Span F1 with the rules of conlleval.pl, and accuracy, over two files; streamed, in percent.

A label is the last column, or XPOS in CoNLL-U.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

XPOS = 4


def labels(path: Path) -> Iterator[str | None]:
    """Each token's label; None once between sentences."""
    conllu = path.suffix == ".conllu"
    inside = False
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t") if conllu else line.split()
            if not any(fields):
                if inside:
                    yield None
                inside = False
            elif not conllu or fields[0].isdigit():
                yield fields[XPOS] if conllu else fields[-1]
                inside = True


def pairs(gold: Path, predicted: Path) -> Iterator[tuple[str | None, str | None]]:
    """Both files in step. A final blank line may be missing on either side."""
    for place, (right, guess) in enumerate(zip_longest(labels(gold), labels(predicted))):
        if (right is None) != (guess is None):
            raise ValueError(
                f"{gold.name} and {predicted.name} differ in their sentences at item {place + 1}"
            )
        yield right, guess


def accuracy(gold: Path, predicted: Path) -> float:
    total = correct = 0
    for right, guess in pairs(gold, predicted):
        total += right is not None
        correct += right is not None and right == guess
    return 100 * correct / total if total else 0.0


def span_f1(gold: Path, predicted: Path) -> float:
    in_gold = in_predicted = correct = 0
    both = False  # a span that began on both sides at once, of one type, is still open on both
    before = ("O", ""), ("O", "")
    for labels_here in pairs(gold, predicted):
        now = tuple(_split(label) for label in labels_here)
        ends = [_ends(old, new) for old, new in zip(before, now, strict=True)]
        starts = [_starts(old, new) for old, new in zip(before, now, strict=True)]
        if both and all(ends):
            correct, both = correct + 1, False
        elif both and (any(ends) or now[0][1] != now[1][1]):
            both = False
        both = both or (all(starts) and now[0][1] == now[1][1])
        in_gold, in_predicted = in_gold + starts[0], in_predicted + starts[1]
        before = now
    correct += both
    return 200 * correct / (in_gold + in_predicted) if correct else 0.0


def _split(label: str | None) -> tuple[str, str]:
    """`B-NP` → B, NP; `I` → I, no type; a sentence boundary is outside everything."""
    prefix, _, kind = (label or "O").partition("-")
    return prefix, kind


def _ends(old: tuple[str, str], new: tuple[str, str]) -> bool:
    return old[0] != "O" and (new[0] in "BO" or old[1] != new[1])


def _starts(old: tuple[str, str], new: tuple[str, str]) -> bool:
    return new[0] != "O" and (new[0] == "B" or old[0] == "O" or old[1] != new[1])
