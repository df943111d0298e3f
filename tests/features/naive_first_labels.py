"""What the labels of a first model say, straight from the definitions of docs/stages.md."""

from __future__ import annotations

from collections.abc import Sequence

Sentence = tuple[Sequence[str], Sequence[str]]  # words, labels in IOB2
Place = tuple[int, int]


def spans(labels: Sequence[str]) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for t, label in enumerate(labels):
        if label.startswith("B-") or (label != "O" and (not found or found[-1][1] != t)):
            found.append((t, t + 1, label[2:]))
        elif label != "O" and found[-1][2] == label[2:]:
            found[-1] = (found[-1][0], t + 1, label[2:])
        elif label != "O":
            found.append((t, t + 1, label[2:]))
    return found


def winner(types: list[str]) -> str:
    return min(set(types), key=lambda one: (-types.count(one), one)) if types else "_"


def columns(document: Sequence[Sentence]) -> list[list[tuple[str, ...]]]:
    """For each token: label, elsewhere, agreement, same, longer."""
    types: dict[Place, str] = {}
    entities: list[tuple[int, int, int, str, list[str]]] = []
    for s, (words, labels) in enumerate(document):
        types |= {(s, t): "O" for t in range(len(words))}
        for first, last, kind in spans(labels):
            types |= {(s, t): kind for t in range(first, last)}
            entities.append((s, first, last, kind, [word.lower() for word in words[first:last]]))
    found = []
    for s, (words, labels) in enumerate(document):
        rows = []
        for t, word in enumerate(words):
            others = [
                types[place]
                for place in types
                if place != (s, t) and document[place[0]][0][place[1]].lower() == word.lower()
            ]
            elsewhere, agreement = "_", "_"
            if word[:1].isupper() and others:
                elsewhere = winner(others)
                agreement = f"{elsewhere}{'!' if len(set(others)) == 1 else '~'}{min(len(others), 3)}"
            same, longer = of_span(entities, s, t)
            rows.append((labels[t], elsewhere, agreement, same, longer))
        found.append(rows)
    return found


def of_span(entities: list[tuple[int, int, int, str, list[str]]], s: int, t: int) -> tuple[str, str]:
    own = [one for one in entities if one[0] == s and one[1] <= t < one[2]]
    if not own:
        return "_", "_"
    words = own[0][4]
    same = [one[3] for one in entities if one is not own[0] and one[4] == words]
    longer = []
    for one in entities:
        places = range(len(one[4]) - len(words) + 1) if len(one[4]) > len(words) else range(0)
        longer += [one[3] for at in places if one[4][at : at + len(words)] == words]
    return winner(same), winner(longer)
