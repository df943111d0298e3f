"""Tokens and sentences of raw text: a chain over characters.

A character is labelled S (a sentence begins with it), B (a token does), I (inside a token) or O (outside);
what a label says besides of the place in the token helps learning alone.
Whatever the labels are, each character that is not white space belongs to exactly one token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from marginalia._core import from_columns
from marginalia.corpus.blocks import Block
from marginalia.decode.pipeline.parts import TOKENS, LabelPart
from marginalia.errors import ModelError
from marginalia.features.characters import COLUMNS, LEXICON_COLUMNS, all_columns
from marginalia.model import SavedModel

SENTENCE, BEGIN, INSIDE, OUTSIDE = "S", "B", "I", "O"
LABELS = frozenset((SENTENCE, BEGIN, INSIDE, OUTSIDE))
WINDOW = 4000  # characters that are labelled at once
Spans = list[tuple[int, int]]

_TOKEN = re.compile(r"[SB]I*")
_S, _B, _I, _O = b"SBIO"
_WHITE = np.array([c for c in range(0x3001) if chr(c).isspace()], np.uint32)


class TokenFinder(LabelPart):
    """Finds the tokens and sentences of texts."""

    def __init__(self, saved: SavedModel, breaks: bool = False, known: Sequence[str] = ()) -> None:
        super().__init__(TOKENS, saved)
        if not LABELS.issuperset(label[:1] for label in saved.labels):
            raise ModelError("the part 'tokens' has labels that are none of characters.")
        self._codes = np.array([ord(label[0]) for label in saved.labels], np.uint8)
        self._breaks, self._known = breaks, frozenset(known)
        self._names = (*COLUMNS, *LEXICON_COLUMNS) if known else COLUMNS

    def sentences(self, texts: Sequence[str]) -> list[list[Spans]]:
        """Of each text its sentences, each the start and end of its tokens."""
        whole: list[list[Spans]] = [[] for _ in texts]
        waiting = [(i, 0, True) for i, text in enumerate(texts) if text]
        while waiting:
            windows = [texts[i][at : at + WINDOW] for i, at, _ in waiting]
            later = []
            for (i, at, begins), window, labels in zip(
                waiting, windows, self._labelled(windows), strict=True
            ):
                last = at + len(window) == len(texts[i])
                found, end, fresh = _cut(list(spans_of(window, labels, begins)), len(window), last)
                _extend(whole[i], found, at, begins)
                if not last:
                    later.append((i, at + end, fresh))
            waiting = later
        return whole

    def _labelled(self, windows: Sequence[str]) -> Iterator[npt.NDArray[np.uint8]]:
        """The labels of all characters, as bytes."""
        columns: dict[str, list[str]] = {name: [] for name in self._names}
        for window in windows:
            for name, part in all_columns(window, self._breaks, self._known).items():
                columns[name].extend(part)
        lengths = [len(window) for window in windows]
        block = Block(from_columns(list(columns.values()), lengths), self._names)
        codes = self._codes[self.tagger.decoder.best(block)]
        return iter(np.split(codes, np.cumsum(lengths)[:-1]))


def spans_of(text: str, labels: npt.NDArray[np.uint8], begins: bool = True) -> Iterator[Spans]:
    """The sentences that the labels of characters (bytes of S, B, I and O) say, each with its tokens.

    The first token begins a sentence; unless `begins`, which of a text that goes on is what comes first.
    """
    repaired = _repaired(text, labels).tobytes().decode("ascii")
    sentence: Spans = []
    for match in _TOKEN.finditer(repaired):
        if match[0][0] == SENTENCE and sentence:
            yield sentence
            sentence = []
        sentence.append((match.start(), match.end()))
    if sentence:
        yield sentence


def _repaired(text: str, labels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Labels by which all that is not white space is in a token, and no token begins or ends with any."""
    signs = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    white = np.isin(signs, _WHITE)
    fixed = labels.copy()
    fixed[white & (labels != _I)] = _O
    fixed[~white & (labels == _O)] = _B
    if white.any() and (white & (fixed == _I)).any():
        _close_gaps(fixed, white)
    before = np.append(np.uint8(_O), fixed[:-1])
    fixed[(fixed == _I) & (before == _O)] = _B
    return fixed


def _close_gaps(fixed: npt.NDArray[np.uint8], white: npt.NDArray[np.bool_]) -> None:
    """White space is inside a token only between two characters of it."""
    for match in re.finditer(rb"\x01+", white.astype(np.uint8).tobytes()):
        first, last = match.span()
        inner = (fixed[first:last] == _I).all() and first > 0 and last < len(fixed) and fixed[last] == _I
        if not inner:
            fixed[first:last] = _O
            if last < len(fixed) and fixed[last] == _I:
                fixed[last] = _B


def _cut(sentences: list[Spans], size: int, last: bool) -> tuple[list[Spans], int, bool]:
    """The sentences of a window that are sure to be whole, where the next window begins, and whether it does
    so with a sentence."""
    if last or not sentences:
        return sentences, size, True
    if len(sentences) > 1:
        return sentences[:-1], sentences[-1][0][0], True
    tokens = sentences[0]
    far = next((i for i, (start, _) in enumerate(tokens) if 2 * start > size), None)
    if far is None:  # one token, longer than half of the window
        return [tokens], size, False
    kept = max(far, len(tokens) - 8)  # what is near the end of the window lacks its context
    return [tokens[:kept]], tokens[kept][0], False


def _extend(whole: list[Spans], sentences: list[Spans], at: int, begins: bool) -> None:
    for number, tokens in enumerate(sentences):
        moved = [(start + at, end + at) for start, end in tokens]
        if number == 0 and not begins and whole:
            whole[-1].extend(moved)
        else:
            whole.append(moved)
