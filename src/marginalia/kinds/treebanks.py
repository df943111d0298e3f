"""Documents as they are scored: two CoNLL-U files with trees, or a document that was parsed and its gold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from marginalia.corpus.document_reader import iterate_conllu
from marginalia.evaluate.conll18 import score_treebank
from marginalia.evaluate.word_alignment import COLUMNS, Treebank

if TYPE_CHECKING:
    from marginalia.corpus.document import ParsedSentence
    from marginalia.evaluate.conll18_report import TreebankReport


def evaluate_treebanks(
    gold: str, predicted: str, *, bootstrap: int = 0, places: dict[str, str] | None = None
) -> TreebankReport:
    """The table of CoNLL 2018 for two files, which may be found at other `places` than users know."""
    read = [treebank_of(iterate_conllu((places or {}).get(name, name)), name) for name in (gold, predicted)]
    return score_treebank(*read, bootstrap=bootstrap)


def treebank_of(sentences: Iterable[ParsedSentence], file: str | None = None) -> Treebank:
    """The columns of sentences, for `score_treebank`."""
    lengths: list[int] = []
    tokens: list[tuple[str, int]] = []
    columns: dict[str, list[str]] = {name: [] for name in COLUMNS}
    heads: list[int | None] = []
    lines: list[int] = []
    for sentence in sentences:
        lengths.append(len(sentence))
        lines.append(sentence.line)
        tokens += _tokens(sentence)
        heads += [word.head for word in sentence.words]
        for name, values in columns.items():
            values += [getattr(word, name) for word in sentence.words]
    return Treebank(lengths, tokens, columns, heads, file, lines)


def _tokens(sentence: ParsedSentence) -> list[tuple[str, int]]:
    sizes = {id(token): token.last - token.first + 1 for token in sentence.multiword}
    return [(token.form, sizes.get(id(token), 0)) for token in sentence.tokens]
