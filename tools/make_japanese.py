"""Count which form of a word stands before which morpheme, for the generation and the checks of Japanese.

    python tools/make_japanese.py ../shared/data/ud-japanese-gsd/train.conllu

writes `src/marginalia/data/assist/ja/connections.tsv`. The counts are made from UD Japanese GSD
(CC BY-SA 4.0), and so are under that licence, too.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from marginalia.assist.japanese.conjugation import FORMS, forms_of
from marginalia.assist.japanese.connections import dictionary_form, key_of, kind_of, word_class
from marginalia.assist.trees import Node, Tree
from marginalia.corpus.document_reader import iterate_conllu

TARGET = Path(__file__).parents[1] / "src/marginalia/data/assist/ja/connections.tsv"
HEAD = "# Forms of words before morphemes, counted in UD Japanese GSD (train), CC BY-SA 4.0\n"
LEAST = 2


def neighbours(trees: Iterable[Tree]) -> Iterator[tuple[Node, Node | None]]:
    """Each word with the one behind it."""
    for tree in trees:
        yield from zip(tree.nodes, [*tree.nodes[1:], None], strict=True)


def count(trees: Iterable[Tree]) -> dict[tuple[str, str], Counter[str]]:
    """How often each form of each kind of word stands before each morpheme."""
    tokens: dict[tuple[str, str], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for left, right in neighbours(trees):
        conjugation = word_class(left)
        if conjugation is not None:
            forms = forms_of(dictionary_form(left), conjugation, left.form)
            tokens[kind_of(conjugation), key_of(right)][forms] += 1
    return {pair: explained(found) for pair, found in tokens.items()}


def explained(tokens: Counter[tuple[str, ...]]) -> Counter[str]:
    """Tokens counted once each, though one may be several forms: by the form that explains most of them."""
    counts: Counter[str] = Counter()
    left = Counter({forms: n for forms, n in tokens.items() if forms})
    while left:
        votes = Counter(dict.fromkeys(FORMS, 0))
        for forms, n in left.items():
            votes.update(dict.fromkeys(forms, n))
        best = max(FORMS, key=lambda form: votes[form])
        counts[best] = votes[best]
        left = Counter({forms: n for forms, n in left.items() if best not in forms})
    return counts


def lines(counts: dict[tuple[str, str], Counter[str]]) -> Iterator[str]:
    """Rows of the table, for pairs that were seen more than once."""
    for (kind, key), forms in sorted(counts.items()):
        if max(forms.values(), default=0) >= LEAST:
            cells = (f"{form}:{n}" for form, n in sorted(forms.items(), key=lambda one: (-one[1], one[0])))
            yield "\t".join((kind, key, *cells)) + "\n"


def main(source: str) -> None:
    """Count a treebank and write the table."""
    trees = (Tree.of(sentence, "ja") for sentence in iterate_conllu(source))
    TARGET.write_text(HEAD + "".join(lines(count(trees))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
