"""The other output of an explanation: the runner-up, one that is spelled out, or the best with a wish."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from marginalia.config import suggestion
from marginalia.corpus.blocks import Block
from marginalia.corpus.records import Span
from marginalia.corpus.schemes import spans_of, split_label
from marginalia.decode.structures import StructureInUse
from marginalia.decode.tagged import UserLabels
from marginalia.errors import DataError

MOST_TRIED = 100_000
UNTYPED = "word"  # what a span is called if spans have no types
_WISH = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?=(.+)")


class Wish(NamedTuple):
    """Tokens `start` to `end` (exclusive) are to have this label, or to be a span of this type."""

    start: int
    end: int
    label: str
    is_span: bool

    def holds(self, labels: Sequence[str], scheme: str | None) -> bool:
        """Whether labels, as users see them, are as wished."""
        inside = labels[self.start : self.end]
        if not self.is_span or scheme is None or self.label == "O":
            return all(label == self.label for label in inside)
        return Span(self.start, self.end, self.label) in spans_of(labels, scheme)


class Other(NamedTuple):
    """An output, its score, and in words which one it is."""

    ids: list[int]
    score: float
    what: str


def other_output(
    decoder: StructureInUse,
    model_labels: Sequence[str],
    shown: UserLabels,
    block: Block,
    chosen: Sequence[int],
    against: str | Sequence[str] | None,
) -> Other:
    """What the chosen output is to be compared with.

    None: the best of all others. A list of labels, or a text of them: that output. A text such as `3=B-NP`
    or `3-5=NP` (tokens count from 1; several with blanks between them): the best output that has this label
    or this span.
    """
    parts = against.split() if isinstance(against, str) else list(against or ())
    length = len(chosen)
    if against is not None and not parts:
        raise DataError("against: found nothing, expected labels, or a wish such as 3=B-NP or 3-5=NP")
    wishes = _wishes(parts, length, shown) if isinstance(against, str) else []
    if parts and not wishes:
        return _given(decoder, shown, block, chosen, parts)
    what = f"best with {' '.join(parts)}" if wishes else "runner-up"
    scheme = shown.scheme
    if wishes and all(wish.holds(shown.user_labels(chosen), scheme) for wish in wishes):
        raise DataError(f"against: found {' '.join(parts)}, but that is what the model chose")
    allowed = _allowed(wishes, shown, model_labels)
    found = decoder.k_best(block, 0, None, allowed)
    for ids, score in islice(found, MOST_TRIED):
        labels = ids.tolist()
        if labels != list(chosen) and all(w.holds(shown.user_labels(labels), scheme) for w in wishes):
            return Other(labels, score, what)
    if not wishes:
        raise DataError("there is nothing to compare with: the sentence has only one legal output")
    raise DataError(f"against: there is no output with {' '.join(parts)} that the model could give")


def wished_labels(
    decoder: StructureInUse, model_labels: Sequence[str], shown: UserLabels, block: Block, text: str
) -> list[str]:
    """The labels of the best output that is as wished; if the text has labels and no wishes, those."""
    parts = text.split()
    wishes = _wishes(parts, block.table.tokens, shown, "labels")
    if not wishes:
        return parts
    found = decoder.k_best(block, 0, None, _allowed(wishes, shown, model_labels))
    for ids, _ in islice(found, MOST_TRIED):
        labels = shown.user_labels(ids.tolist())
        if all(wish.holds(labels, shown.scheme) for wish in wishes):
            return labels
    raise DataError(f"labels: there is no output with {text} that the model could give")


def _wishes(parts: Sequence[str], length: int, shown: UserLabels, what: str = "against") -> list[Wish]:
    """The wishes that all parts are; none if some part is none, or if all are labels."""
    matches = [_WISH.fullmatch(part) for part in parts]
    if not all(matches) or (len(parts) == length and all(part in shown.labels for part in parts)):
        return []
    return list(_checked([match for match in matches if match], length, shown, what))


def _checked(matches: Sequence[re.Match[str]], length: int, shown: UserLabels, what: str) -> Iterator[Wish]:
    for match in matches:
        first, last, label = int(match[1]), int(match[2] or match[1]), match[3]
        if not 1 <= first <= last <= length:
            raise DataError(f"{what}: found {match[0]}, expected tokens from 1 to {length}")
        is_span = match[2] is not None and shown.scheme is not None
        types = [split_label(name)[1] or UNTYPED if name != "O" else "O" for name in shown.labels]
        names = list(dict.fromkeys(types if is_span else shown.labels))
        if label not in names:
            kind = "type of span" if is_span else "label"
            raise DataError(f"{what}: found {match[0]}: unknown {kind} '{label}'. {suggestion(label, names)}")
        yield Wish(first - 1, last, "" if is_span and label == UNTYPED else label, is_span)


def _allowed(wishes: Sequence[Wish], shown: UserLabels, labels: Sequence[str]) -> dict[int, list[int]]:
    """The model's labels that tokens may have so that the wishes can come true."""
    found: dict[int, list[int]] = {}
    for wish in wishes:
        serving = [i for i, own in enumerate(labels) if shown.serves(own, wish.label, wish.is_span)]
        for token in range(wish.start, wish.end):
            found[token] = [i for i in serving if i in found.get(token, serving)]
    return found


def _given(
    decoder: StructureInUse, shown: UserLabels, block: Block, chosen: Sequence[int], labels: Sequence[str]
) -> Other:
    if len(labels) != len(chosen):
        raise DataError(f"against: found {len(labels)} labels, expected {len(chosen)}, one for each token")
    ids = shown.model_ids(labels)
    if ids == list(chosen):
        raise DataError("against: found the very labels that the model chose")
    score = decoder.score(block, 0, ids)
    if score == float("-inf"):
        shown.check(labels)
        raise DataError(f"against: found {' '.join(labels)}, which is no output that the model could give")
    return Other(ids, score, "given")
