"""A small made-up chunking corpus, and what the tests of the command line call it by."""

from __future__ import annotations

import random
from collections.abc import Callable
from subprocess import CompletedProcess

NOUNS = ("cat", "dog", "house", "river", "child", "letter", "garden")
VERBS = ("sees", "takes", "finds", "paints")
ADJECTIVES = ("old", "small", "green", "tired")
COLUMNS = "word pos chunk"

Run = Callable[..., tuple[int, str, str]]
Shell = Callable[..., CompletedProcess[bytes]]


def sentence(chance: random.Random) -> list[str]:
    """A made-up sentence as lines of word, part of speech and chunk label."""
    rows: list[str] = []
    for part in ("NP", "VP", "NP", *(["PP", "NP"] if chance.random() < 0.5 else [])):
        if part == "NP":
            rows.append(f"{chance.choice(('the', 'a'))} DT B-NP")
            if chance.random() < 0.5:
                rows.append(f"{chance.choice(ADJECTIVES)} JJ I-NP")
            rows.append(f"{chance.choice(NOUNS)} NN I-NP")
        else:
            rows.append(f"{chance.choice(VERBS)} VBZ B-VP" if part == "VP" else "near IN B-PP")
    return [*rows, ". . O"]


def corpus(sentences: int, seed: int) -> str:
    """Sentences with blank lines between them."""
    chance = random.Random(seed)
    return "".join("\n".join(sentence(chance)) + "\n\n" for _ in range(sentences))


def without_last_column(text: str) -> str:
    """Column text without its last column."""
    return "\n".join(line.rpartition(" ")[0] for line in text.split("\n"))
