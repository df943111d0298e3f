"""Words of two analyses of one text, matched by the characters that they stand for.

Texts are compared without white space. Words outside of multiword tokens match if they stand for the same
characters. Where either side has a multiword token, words of all tokens that overlap are matched by the
longest common subsequence of their forms in lower case. These are the rules of the shared task CoNLL 2018.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia.errors import DataError

Indices = npt.NDArray[np.int64]
COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel")
_SHOWN = 20


class Treebank(NamedTuple):
    """Sentences to be scored: words in columns, one value for each word of all sentences.

    `lengths` are the words of each sentence. `tokens` are what stands in the text, with the number of words
    that a multiword token stands for, or 0 for a token that is a word. `heads` count from 1 in the sentence,
    0 is the root, None is not known. `file` and `lines` (of the first word of each sentence) are for errors.
    """

    lengths: Sequence[int]
    tokens: Sequence[tuple[str, int]]
    columns: Mapping[str, Sequence[str]]
    heads: Sequence[int | None]
    file: str | None = None
    lines: Sequence[int] = ()

    def line_of(self, sentence: int) -> int | None:
        """Where a sentence is in its file, if that is known."""
        return self.lines[sentence] if sentence < len(self.lines) else None


@dataclass(frozen=True, eq=False)
class TextSpans:
    """Which characters of the text, without white space, tokens, words and sentences stand for."""

    text: str
    tokens: list[tuple[int, int]]
    words: list[tuple[int, int]]
    sentences: list[tuple[int, int]]
    multiword: list[bool]
    first_words: list[int] = field(repr=False)

    def sentence_at(self, character: int) -> int:
        """The sentence that a character is in."""
        starts = [start for start, _ in self.sentences]
        return max(0, int(np.searchsorted(starts, character, side="right")) - 1)


def text_spans(treebank: Treebank) -> TextSpans:
    """The characters of each part."""
    parts: list[str] = []
    tokens: list[tuple[int, int]] = []
    words: list[tuple[int, int]] = []
    multiword: list[bool] = []
    at = 0
    for form, count in treebank.tokens:
        part = _without_spaces(form)
        if not part:
            raise DataError(
                f"found the token {form!r}, expected one with more than white space", file=treebank.file
            )
        parts.append(part)
        span = at, at + len(part)
        tokens.append(span)
        words += [span] * max(count, 1)
        multiword += [count > 0] * max(count, 1)
        at += len(part)
    first_words = [0, *accumulate(treebank.lengths)]
    if len(words) != first_words[-1]:
        raise DataError(f"found tokens of {len(words)} words, expected {first_words[-1]}", file=treebank.file)
    sentences = [(words[a][0], words[b - 1][1]) for a, b in pairwise(first_words)]
    return TextSpans("".join(parts), tokens, words, sentences, multiword, first_words)


def _without_spaces(form: str) -> str:
    if form.isascii() and " " not in form:
        return form
    return "".join(sign for sign in form if unicodedata.category(sign) != "Zs")


def check_texts(gold: TextSpans, predicted: TextSpans, of_gold: Treebank, of_predicted: Treebank) -> None:
    """An error with the first place where the texts differ."""
    ours, theirs = gold.text, predicted.text
    if ours == theirs:
        return
    at = _first_difference(ours, theirs)
    found, expected = (repr(text[at : at + _SHOWN]) if text[at:] else "its end" for text in (theirs, ours))
    number = gold.sentence_at(at) + 1
    line = of_gold.line_of(number - 1)
    where = f"sentence {number}" + (f", line {line}" if line else "")
    raise DataError(
        f"the texts differ: behind {ours[max(0, at - _SHOWN) : at]!r} (character {at + 1} but for blanks) "
        f"found {found}, expected {expected} as in the gold file ({where})",
        file=of_predicted.file,
        line=of_predicted.line_of(predicted.sentence_at(at)),
    )


def _first_difference(one: str, other: str) -> int:
    """By halves: slices are compared fast, characters are not."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def aligned_words(gold: TextSpans, predicted: TextSpans, forms: Sequence[Sequence[str]]) -> Indices:
    """Pairs of words that match, as an array [pairs, 2]; both columns go up."""
    pairs = list(_pairs(gold, predicted, *forms))
    return np.array(pairs, np.int64).reshape(-1, 2)


def _pairs(
    gold: TextSpans, predicted: TextSpans, gold_forms: Sequence[str], predicted_forms: Sequence[str]
) -> Iterator[tuple[int, int]]:
    g = p = 0
    while g < len(gold.words) and p < len(predicted.words):
        if gold.multiword[g] or predicted.multiword[p]:
            from_g, from_p, g, p = _overlapping(gold, predicted, g, p)
            ours = [form.lower() for form in gold_forms[from_g:g]]
            theirs = [form.lower() for form in predicted_forms[from_p:p]]
            yield from ((from_g + i, from_p + k) for i, k in common_subsequence(ours, theirs))
        elif gold.words[g] == predicted.words[p]:
            yield g, p
            g, p = g + 1, p + 1
        elif gold.words[g][0] <= predicted.words[p][0]:
            g += 1
        else:
            p += 1


def _overlapping(gold: TextSpans, predicted: TextSpans, g: int, p: int) -> tuple[int, int, int, int]:
    """The words of all tokens that overlap, directly or not, with the multiword token at g or p."""
    if gold.multiword[g]:
        end = gold.words[g][1]
        p += not predicted.multiword[p] and predicted.words[p][0] < gold.words[g][0]
    else:
        end = predicted.words[p][1]
        g += not gold.multiword[g] and gold.words[g][0] < predicted.words[p][0]
    from_g, from_p = g, p
    while _inside(gold, g, end) or _inside(predicted, p, end):
        left = p >= len(predicted.words) or (
            g < len(gold.words) and gold.words[g][0] <= predicted.words[p][0]
        )
        side, at = (gold, g) if left else (predicted, p)
        if side.multiword[at]:
            end = max(end, side.words[at][1])
        g, p = g + left, p + (not left)
    return from_g, from_p, g, p


def _inside(side: TextSpans, at: int, end: int) -> bool:
    """Whether a word begins before the end, if it is of a multiword token, or ends by it."""
    if at >= len(side.words):
        return False
    return side.words[at][0] < end if side.multiword[at] else side.words[at][1] <= end


def common_subsequence(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of a longest common subsequence; what is equal at the front is taken."""
    rows, width = len(ours), len(theirs)
    best = [[0] * (width + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for k in reversed(range(width)):
            same = ours[i] == theirs[k]
            best[i][k] = max(best[i + 1][k], best[i][k + 1], best[i + 1][k + 1] + 1 if same else 0)
    i = k = 0
    while i < rows and k < width:
        if ours[i] == theirs[k]:
            yield i, k
            i, k = i + 1, k + 1
        elif best[i][k] == best[i + 1][k]:
            i += 1
        else:
            k += 1
