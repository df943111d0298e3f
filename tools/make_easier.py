"""Learn easier Japanese words from SNOW T15: python tools/make_easier.py FOLDER/snow_t15.tsv

Sentences and their simplified forms are aligned word by word. A word gets an easier one that stood for it at
least twice and in three of ten of its sentences, if it is of an easier level of the JLPT or more
frequent. Every tenth sentence (by its number) is held out: `benchmarks/japanese.py` measures there.
SNOW T15 is CC BY 4.0 (T. Maruyama and K. Yamamoto, Nagaoka University of Technology).
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import cast

import marginalia as mg
from marginalia.assist.japanese.easier import Unit, is_easier, replaced, units_of
from marginalia.assist.paraphrase.rule_files import PACKED
from marginalia.assist.trees import trees_of
from marginalia.assist.words.packed import SHIPPED, write_packed

HELD_OUT = 10
LEAST, SHARE = 2, 0.3  # chosen on a ninth of the training part
BATCH = 500


def rows(path: str, held_out: bool) -> Iterator[tuple[str, str]]:
    """Sentences with their simplified forms, of the part that is held out or of the other one."""
    with open(path, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            number, original, simple, *_ = line.rstrip("\n").split("\t")
            if (int(number) % HELD_OUT == 0) is held_out:
                yield original, simple


def parsed(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[list[Unit], list[Unit]]]:
    """The units of both sentences of each pair."""
    pipeline, waiting = cast(mg.Pipeline, mg.load("ja")), iter(pairs)
    while batch := list(islice(waiting, BATCH)):
        texts = list(dict.fromkeys(text for pair in batch for text in pair))
        documents = zip(texts, pipeline.parse_all(texts), strict=True)
        units = {
            text: units_of([node for tree in trees_of(one.sentences, "ja") for node in tree.nodes])
            for text, one in documents
        }
        yield from ((units[original], units[simple]) for original, simple in batch)


def learned(pairs: Iterable[tuple[list[Unit], list[Unit]]]) -> Iterator[str]:
    """The lines of the list."""
    seen: Counter[str] = Counter()
    found: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    lemmas: dict[str, tuple[str, ...]] = {}
    for original, simple in pairs:
        seen.update(unit.key for unit in original)
        for unit, words in replaced(original, simple):
            found[unit.key][words] += 1
            lemmas[unit.key] = unit.lemmas
    for key in sorted(found):
        for words, number in sorted(found[key].items(), key=lambda one: (-one[1], one[0])):
            if number >= LEAST and number >= SHARE * seen[key] and is_easier(lemmas[key], words):
                yield "\t".join((key, " ".join(words), str(number), str(seen[key])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", help="snow_t15.tsv")
    parser.add_argument("--output", default=str(SHIPPED / "ja" / "easier.words"))
    options = parser.parse_args()
    lines = list(learned(parsed(rows(options.source, held_out=False))))
    write_packed(options.output, PACKED, lines)
    print(f"{len(lines)} pairs of words")


if __name__ == "__main__":
    main()
