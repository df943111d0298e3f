"""Learn to rank words that stand for others: python tools/make_lexical_ranker.py ../shared/data

Learned from OneStopEnglish (CC BY-SA 4.0): in each pair of aligned sentences, a content word that only the
harder one has, and its candidates; right are those that only the easier one has, beside a word that the
harder one has in the same place.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import marginalia as mg
from marginalia.assist.hard_words import CONTENT
from marginalia.assist.lexical.evidence import Choice, Token, choices
from marginalia.assist.lexical.ranker import Ranker, read_ranker
from marginalia.assist.words.familiarity import zipf
from marginalia.assist.words.packed import SHIPPED

TARGET = SHIPPED / "en" / "lexical.weights"
HEAD = (
    "# Weights of candidates for words, learned from OneStopEnglish (Vajjala and Lucic 2018), CC BY-SA 4.0\n"
)
HARDER_FIRST = {"ADV-ELE": True, "ADV-INT": True, "ELE-INT": False}
MOST_FREQUENT = 5.5  # more frequent words are not made easier
SETTINGS = {"partial": True, "l2": 3.0}
FOLDS = 5
Example = tuple[list[Choice], list[bool]]


def pairs(folder: Path) -> Iterator[tuple[str, str]]:
    """Aligned sentences, the harder one first."""
    for name, harder_first in HARDER_FIRST.items():
        text = (folder / f"{name}.txt").read_text(encoding="utf-8", errors="replace")
        for block in text.split("*******"):
            both = [line.strip() for line in block.splitlines() if line.strip()]
            if len(both) == 2 and both[0] != both[1]:
                yield (both[0], both[1]) if harder_first else (both[1], both[0])


def examples(folder: Path) -> Iterator[Example]:
    """Words with their candidates, and which of them are right."""
    found = list(dict.fromkeys(pairs(folder)))
    parse = mg.load("en").parse_all
    for hard, easy in zip(parse([one for one, _ in found]), parse([one for _, one in found]), strict=True):
        old, new, beside = words_of(hard), words_of(easy), neighbours_of(easy)
        for sentence in hard.sentences:
            tokens = [Token(word.form, word.lemma, word.upos, word.xpos) for word in sentence.words]
            for number, token in enumerate(tokens):
                if is_gone(token, new):
                    listed = choices(tokens, number)
                    around = neighbours(tokens, number)
                    right = [
                        each.form in new and each.form not in old and not around.isdisjoint(beside[each.form])
                        for each in listed
                    ]
                    if any(right) and not all(right):
                        yield listed, right


def words_of(document: Any) -> set[str]:
    """Forms and lemmas, and two words in a row."""
    forms = [word.form.lower() for sentence in document.sentences for word in sentence.words]
    lemmas = {word.lemma.lower() for sentence in document.sentences for word in sentence.words}
    return {*forms, *lemmas, *map(" ".join, pairwise(forms))}


def neighbours_of(document: Any) -> dict[str, set[tuple[str, str]]]:
    """What stands on the left and on the right of each form, and of each two in a row."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for sentence in document.sentences:
        forms = [".", *(word.form.lower() for word in sentence.words), "."]
        for size in (1, 2):
            for start in range(1, len(forms) - size):
                sides = {("left", forms[start - 1]), ("right", forms[start + size])}
                found[" ".join(forms[start : start + size])] |= sides
    return found


def neighbours(tokens: list[Token], number: int) -> set[tuple[str, str]]:
    """The same of one word."""
    forms = [".", *(token.form.lower() for token in tokens), "."]
    return {("left", forms[number]), ("right", forms[number + 2])}


def is_gone(token: Token, new: set[str]) -> bool:
    """Whether a word that might be hard is not in the easier sentence."""
    low = token.form.lower()
    gone = low not in new and token.lemma.lower() not in new
    return token.upos in CONTENT and gone and zipf(low, "en") < MOST_FREQUENT


def learned(data: list[Example], target: Path) -> Ranker:
    """A ranker of examples, by way of its file."""
    items = [
        {
            "candidates": [
                {"features": choice.features, "right": fits}
                for choice, fits in zip(listed, right, strict=True)
            ]
        }
        for listed, right in data
    ]
    model = mg.train(items, structure="candidates", learner="crf", **SETTINGS)
    model.export_weights(str(target))
    target.write_text(HEAD + target.read_text(encoding="utf-8"), encoding="utf-8")
    return read_ranker(str(target))


def accuracy(ranker: Ranker, data: list[Example]) -> float:
    """How often the first choice is right."""
    hits = 0
    for listed, right in data:
        best = ranker.ranked(listed)[0].choice
        hits += right[next(i for i, choice in enumerate(listed) if choice is best)]
    return hits / len(data)


def main(data: Path) -> None:
    """Learn, and say what cross-validation gives."""
    found = list(examples(data / "simplification" / "onestopenglish" / "Sentence-Aligned"))
    random.Random(1).shuffle(found)
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        for fold in range(FOLDS):
            others = [one for i, one in enumerate(found) if i % FOLDS != fold]
            ranker = learned(others, Path(folder) / "fold.weights")
            scores.append(accuracy(ranker, found[fold::FOLDS]))
    learned(found, TARGET)
    print(f"{len(found)} words; first choice right in {100 * sum(scores) / FOLDS:.1f} % ({FOLDS} folds)")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
