"""Make the list of plainer phrases: python tools/make_plainer.py FOLDER

FOLDER is the unpacked npm package retext-simplify (`npm pack retext-simplify`). A line of the list is a
phrase, its part of speech (n v a r; empty for phrases of several words that stand as they are) and plainer
ones. A word gets each part of speech which WordNet knows of it and of what replaces it.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from marginalia.assist.words.packed import SHIPPED, write_packed
from marginalia.assist.words.wordnet import wordnet

ENTRY = re.compile(r"^  (?:'([^']+)'|(\w+)): \{(.*?)^  \}", re.MULTILINE | re.DOTALL)
WORD = re.compile(r"[a-z]+(?:[ -][a-z]+)*")
REMARKS = {"remove"}  # advice, not a wording


def entries_of(source: str) -> list[tuple[str, list[str]]]:
    """Phrases with what replaces them, as the package lists them."""
    found = []
    for quoted, bare, body in ENTRY.findall(source):
        replacements = re.findall(r"'([^']+)'", body)
        usable = [each for each in replacements if WORD.fullmatch(each) and each not in REMARKS]
        if usable and WORD.fullmatch(quoted or bare):
            found.append((quoted or bare, usable))
    return found


def parts_of_speech(word: str, plainer: str) -> list[str]:
    """Those that both can have; of a phrase those of its first word ("find out") or last ("right now")."""
    words = wordnet()
    parts = plainer.split(" ")
    return [
        pos
        for pos in "nvar"
        if words.senses(word, pos)
        and (words.senses(plainer, pos) or words.senses(parts[0 if pos == "v" else -1], pos))
    ]


def lines_of(source: str) -> list[str]:
    """The lines of the list, in order."""
    lines = []
    for phrase, replacements in entries_of(source):
        if " " in phrase:
            lines.append("\t".join([phrase, "", *replacements]))
            continue
        for pos in "nvar":
            fitting = [each for each in replacements if pos in parts_of_speech(phrase, each)]
            if fitting:
                lines.append("\t".join([phrase, pos, *fitting]))
    return sorted(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    source = (parser.parse_args().folder / "lib" / "patterns.js").read_text(encoding="utf-8")
    target = SHIPPED / "en" / "plainer.words"
    write_packed(str(target), "plainer", lines_of(source))
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
