"""Count which Japanese morphemes stand side by side: python tools/make_morphemes.py TRAIN.conllu snow_t15.tsv

TRAIN is the training part of UD Japanese GSD (CC BY-SA 4.0); of SNOW T15 (CC BY 4.0) the part is read that
`tools/make_easier.py` learns from. A line of the list is a kind of morpheme and those seen behind it.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

from make_easier import parsed, rows

from marginalia.assist.checks.japanese import END, MORPHEMES, START, kinds_of
from marginalia.assist.trees import Node, Tree
from marginalia.assist.words.packed import SHIPPED, write_packed
from marginalia.corpus.document_reader import iterate_conllu

LEAST = 5  # pairs that are rarer may be errors of the parser
USUAL = 20  # kinds that are rarer are not judged


def sentences(treebank: str, simplified: str) -> Iterator[Sequence[Node]]:
    """The words of each sentence of both sources."""
    for sentence in iterate_conllu(treebank):
        yield Tree.of(sentence, "ja").nodes
    for pair in parsed(rows(simplified, held_out=False)):
        for units in pair:
            yield [node for unit in units for node in unit.nodes]


def lines(found: Iterable[Sequence[Node]]) -> Iterator[str]:
    """The lines of the list."""
    pairs: Counter[tuple[str, str]] = Counter()
    for nodes in found:
        ends: list[Node | None] = [None, *nodes, None]
        for one, two in pairwise(ends):
            pairs.update(product(kinds_of(one, START), kinds_of(two, END)))
    usual: Counter[str] = Counter()
    followers = defaultdict(list)
    for (left, right), number in pairs.items():
        usual[left] += number
        if number >= LEAST:
            followers[left].append(right)
    for left in sorted(followers):
        if usual[left] >= USUAL:
            yield "\t".join((left, *sorted(followers[left])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebank")
    parser.add_argument("simplified")
    options = parser.parse_args()
    found = list(lines(sentences(options.treebank, options.simplified)))
    write_packed(str(SHIPPED / "ja" / "morphemes.words"), MORPHEMES, found)
    print(f"{len(found)} kinds of morphemes")


if __name__ == "__main__":
    main()
