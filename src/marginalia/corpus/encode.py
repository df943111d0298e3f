"""The labels of a block as numbers, checked against their scheme or repaired."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from .blocks import Block
from .schemes import legal_transitions, repair, scheme_named, validate

Ids = npt.NDArray[np.int32]


class Encoded(NamedTuple):
    """Distinct labels by first appearance, one id per token, and how many labels were repaired."""

    labels: list[str]
    ids: Ids
    repaired: int


def encode_labels(
    block: Block, column: str = "label", scheme: str | None = None, *, mend: bool = False
) -> Encoded:
    """Encode a label column; with a scheme, every sentence must follow it.

    The first illegal label is raised as a `DataError` with its place and the number of further ones;
    with `mend`, illegal sentences are repaired instead (see `schemes.repair`).
    """
    labels, ids = block.table.distinct(block.index(column))
    if scheme is None:
        return Encoded(labels, ids, 0)
    for number, label in enumerate(labels):
        if not scheme_named(scheme).spells(label):
            message = f"found label {label!r}, expected a label of {scheme_named(scheme).name}"
            raise block.error(message, int(np.argmax(ids == number)), column)
    illegal = _illegal_tokens(block, labels, ids, scheme)
    if illegal.size and not mend:
        _refuse(block, column, illegal, scheme)
    return _mend(block, labels, ids, illegal, scheme)


def _illegal_tokens(block: Block, labels: list[str], ids: Ids, scheme: str) -> npt.NDArray[np.intp]:
    start, transition, end = legal_transitions(labels, scheme)
    bounds = np.unique(block.table.sentence_starts).astype(np.intp)  # empty sentences have no edges
    legal = np.ones(len(ids), bool)
    legal[1:] = transition[ids[:-1], ids[1:]]
    legal[bounds[:-1]] = start[ids[bounds[:-1]]]
    legal[bounds[1:] - 1] &= end[ids[bounds[1:] - 1]].astype(bool)
    return np.flatnonzero(~legal)


def _sentence_around(block: Block, token: int) -> tuple[int, int]:
    starts = block.table.sentence_starts
    sentence = int(np.searchsorted(starts, token, "right")) - 1
    return int(starts[sentence]), int(starts[sentence + 1])


def _refuse(block: Block, column: str, illegal: npt.NDArray[np.intp], scheme: str) -> NoReturn:
    token = int(illegal[0])
    first, last = _sentence_around(block, token)
    labels = block.table.column_slice(block.index(column), first, last)
    why = validate(labels, scheme)[0].why
    more = f"; {illegal.size - 1} more illegal labels follow" if illegal.size > 1 else ""
    raise block.error(why + more, token, column)


def _mend(block: Block, labels: list[str], ids: Ids, illegal: npt.NDArray[np.intp], scheme: str) -> Encoded:
    numbers = {label: number for number, label in enumerate(labels)}
    mended, repaired = ids.copy(), 0
    for first, last in sorted({_sentence_around(block, int(token)) for token in illegal}):
        legal, changed = repair([labels[i] for i in ids[first:last]], scheme)
        mended[first:last] = [numbers.setdefault(label, len(numbers)) for label in legal]
        repaired += changed
    return Encoded(list(numbers), mended, repaired)
