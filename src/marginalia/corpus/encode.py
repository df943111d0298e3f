"""The labels of a block as numbers, checked against their scheme or repaired."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from .blocks import Block
from .schemes import may_follow, repair, scheme_named, validate

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
    """Tokens whose label may not stand there. Only neighbours that occur are looked at, never all pairs."""
    edge = len(labels)
    bounds = np.unique(block.table.sentence_starts).astype(np.intp)  # empty sentences have no edges
    before = np.insert(ids.astype(np.int64), 0, edge)[:-1]
    before[bounds[:-1]] = edge
    after = np.append(ids.astype(np.int64), edge)[1:]
    after[bounds[1:] - 1] = edge
    legal = _legal_steps(before, ids, labels, scheme)
    last = bounds[1:] - 1
    legal[last] &= _legal_steps(ids[last], after[last], labels, scheme)
    return np.flatnonzero(~legal)


def _legal_steps(
    left: npt.NDArray[Any], right: npt.NDArray[Any], labels: list[str], scheme: str
) -> npt.NDArray[np.bool_]:
    names, size = [*labels, ""], len(labels) + 1
    codes, places = np.unique(left.astype(np.int64) * size + right, return_inverse=True)
    legal = [may_follow(names[code // size], names[code % size], scheme) for code in codes.tolist()]
    return np.array(legal, bool)[places.reshape(-1)]


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
