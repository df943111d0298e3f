"""How well sentences are simplified, against references: SARI (Xu et al. 2016), BLEU (Papineni et al. 2002).

Both are of whole files: counts are summed over sentences first, as in figures that are published on ASSET; so
is the part of deletion an F1, where the paper has a precision. Text is lower case and cut into tokens as the
NIST's script does (13a), so that figures compare with published ones.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import DataError

ORDER = 4
Ngrams = Counter[tuple[str, ...]]

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_SYMBOLS = re.compile(r"([{-~\[-` -&(-+:-@/])")
_STOP_AFTER = re.compile(r"([^0-9])([.,])")
_STOP_BEFORE = re.compile(r"([.,])([^0-9])")
_DASH = re.compile(r"([0-9])(-)")


@dataclass(frozen=True)
class Sari:
    """SARI and its three parts, 0 to 100: F1 of what is added, kept and deleted."""

    add: float
    keep: float
    delete: float

    @property
    def score(self) -> float:
        """Their mean."""
        return (self.add + self.keep + self.delete) / 3


def tokens_13a(text: str) -> list[str]:
    """Lower-case tokens as mteval-v13a cuts them."""
    text = text.lower()
    for name, sign in _ENTITIES:
        text = text.replace(name, sign)
    text = _SYMBOLS.sub(r" \1 ", f" {text} ")
    text = _STOP_AFTER.sub(r"\1 \2 ", text)
    text = _STOP_BEFORE.sub(r" \1 \2", text)
    return _DASH.sub(r"\1 \2 ", text).split()


def sari(originals: Sequence[str], outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Sari:
    """SARI of outputs; `references` has the references of each sentence."""
    _check(outputs, references, originals)
    counts = [_Counts() for _ in range(ORDER)]
    for original, output, own in zip(originals, outputs, references, strict=True):
        tokens = [tokens_13a(text) for text in (original, output, *own)]
        for n, count in enumerate(counts, 1):
            before, after, *refs = (ngrams(each, n) for each in tokens)
            count.see(before, after, refs)
    parts = [sum(values) / ORDER for values in zip(*(count.parts() for count in counts), strict=True)]
    return Sari(*(100 * part for part in parts))


def ngrams(tokens: Sequence[str], n: int) -> Ngrams:
    """How often each n tokens stand in a row."""
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


class _Counts:
    """What was added (once a sentence), kept and deleted (as often as it is there) of n-grams of one length:
    by the output, by the references, and by both. A reference counts 1 / their number."""

    def __init__(self) -> None:
        self.add, self.keep, self.delete = [0.0] * 3, [0.0] * 3, [0.0] * 3

    def see(self, before: Ngrams, after: Ngrams, references: Sequence[Ngrams]) -> None:
        number = len(references)
        wanted: Ngrams = sum(references, Counter())
        times = Counter({gram: count * number for gram, count in before.items()})
        now = Counter({gram: count * number for gram, count in after.items()})
        new, right = after.keys() - before.keys(), wanted.keys() - before.keys()
        _sum(self.add, len(new), len(right), len(new & right))
        kept, to_keep = now & times, wanted & times
        _sum(self.keep, kept.total(), to_keep.total(), (kept & to_keep).total())
        gone, to_go = times - now, times - wanted
        _sum(self.delete, gone.total(), to_go.total(), (gone & to_go).total())

    def parts(self) -> tuple[float, float, float]:
        return _f1(*self.add), _f1(*self.keep), _f1(*self.delete)


def _sum(totals: list[float], *more: float) -> None:
    for place, value in enumerate(more):
        totals[place] += value


def _f1(output: float, references: float, both: float) -> float:
    return 2 * both / (output + references) if output + references else 0.0


def bleu(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """BLEU of outputs, 0 to 100, of n-grams up to four; `references` has the references of each sentence."""
    _check(outputs, references)
    right, made = [0] * ORDER, [0] * ORDER
    length = closest = 0
    for output, own in zip(outputs, references, strict=True):
        tokens, refs = tokens_13a(output), [tokens_13a(text) for text in own]
        length += len(tokens)
        closest += min((len(ref) for ref in refs), key=lambda size: (abs(size - len(tokens)), size))
        for n in range(ORDER):
            found, most = ngrams(tokens, n + 1), Counter[tuple[str, ...]]()
            for ref in refs:
                most |= ngrams(ref, n + 1)
            right[n] += (found & most).total()
            made[n] += found.total()
    if not all(right):
        return 0.0
    brevity = min(0.0, 1 - closest / length)
    return 100 * math.exp(brevity + sum(math.log(r / m) for r, m in zip(right, made, strict=True)) / ORDER)


def _check(
    outputs: Sequence[str], references: Sequence[Sequence[str]], originals: Sequence[str] | None = None
) -> None:
    for what, other in (("lists of references", references), ("original sentences", originals)):
        if other is not None and len(other) != len(outputs):
            raise DataError(f"found {len(outputs)} outputs and {len(other)} {what}, expected as many")
    for number, own in enumerate(references, 1):
        if not own:
            raise DataError(f"found no reference of sentence {number}, expected at least one")
