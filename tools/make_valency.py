"""Count what English verbs stand with: python tools/make_valency.py ../shared/data

Counted are the trees of UD English EWT (training part) and those that the built-in pipeline `en` finds in
OneStopEnglish. `assist/words/valency.py` says what the lines of the list are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import marginalia as mg
from marginalia.assist.trees import Tree
from marginalia.assist.words.packed import SHIPPED
from marginalia.assist.words.valency import counted
from marginalia.corpus.document_reader import iterate_conllu

LEAST = 2


def trees(data: Path) -> Iterator[Tree]:
    """All trees that are counted."""
    for sentence in iterate_conllu(str(data / "ud-english-ewt" / "train.conllu")):
        yield Tree.of(sentence)
    folder = data / "simplification" / "onestopenglish" / "Texts-SeparatedByReadingLevel"
    files = [file for level in ("Adv", "Ele") for file in sorted((folder / f"{level}-Txt").glob("*.txt"))]
    for document in mg.load("en").parse_all(
        file.read_text(encoding="utf-8", errors="replace") for file in files
    ):
        yield from (Tree.of(sentence) for sentence in document.sentences if sentence.words)


def main(data: Path) -> None:
    """Write the list."""
    target = SHIPPED / "en" / "valency.words"
    found = counted(trees(data))
    found.write(str(target), LEAST)
    print(f"{target}: {len(list(found.lines(LEAST))):,} verbs, {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
