"""The labels of a block as numbers, checked against their scheme or repaired."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from .blocks import Block
from .schemes import scheme_named, validate
from .translation import Translation, by_appearance, scheme_labels

Ids = npt.NDArray[np.int32]


class EncodedLabels(NamedTuple):
    """Distinct labels by first appearance, one id per token, and how many labels were repaired."""

    labels: list[str]
    ids: Ids
    repaired: int


def encode_labels(
    block: Block, column: str = "label", scheme: str | None = None, *, mend: bool = False
) -> EncodedLabels:
    """Encode a label column; with a scheme, every sentence must follow it.

    The first illegal label is raised as a `DataError` with its place and the number of further ones;
    with `mend`, illegal sentences are repaired instead (see `schemes.repair`).
    """
    labels, ids = block.table.distinct(block.index(column))
    if scheme is None:
        return EncodedLabels(labels, ids, 0)
    for number, label in enumerate(labels):
        if not scheme_named(scheme).spells(label):
            message = f"found label {label!r}, expected a label of {scheme_named(scheme).name}"
            raise block.error(message, int(np.argmax(ids == number)), column)
    illegal = scheme_labels(labels, scheme).illegal(ids, block.table.sentence_starts)
    if not illegal.size:
        return EncodedLabels(labels, ids, 0)
    if not mend:
        _refuse(block, column, illegal, scheme)
    return _mend(block, labels, ids, scheme)


def _sentence_around(block: Block, token: int) -> tuple[int, int]:
    starts = block.table.sentence_starts
    sentence = int(np.searchsorted(starts, token, "right")) - 1
    return int(starts[sentence]), int(starts[sentence + 1])


def _refuse(block: Block, column: str, illegal: npt.NDArray[np.uint32], scheme: str) -> NoReturn:
    token = int(illegal[0])
    first, last = _sentence_around(block, token)
    labels = block.table.column_slice(block.index(column), first, last)
    why = validate(labels, scheme)[0].why
    more = f"; {illegal.size - 1} more illegal labels follow" if illegal.size > 1 else ""
    raise block.error(why + more, token, column)


def _mend(block: Block, labels: list[str], ids: Ids, scheme: str) -> EncodedLabels:
    translation = Translation(labels, scheme, scheme, labels)
    mended = translation(ids, block.table.sentence_starts)
    new = [number for number in by_appearance(mended, len(translation.names)) if number >= len(labels)]
    numbers = np.arange(len(translation.names), dtype=np.int32)
    numbers[new] = np.arange(len(labels), len(labels) + len(new))
    names = [*labels, *(translation.names[number] for number in new)]
    return EncodedLabels(names, numbers[mended], int(np.count_nonzero(mended != ids)))
