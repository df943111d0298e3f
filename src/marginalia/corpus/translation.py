"""Labels of whole blocks in another scheme, as numbers: `schemes.convert` as a table in the core."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .. import _core
from .schemes import convert, prefix_table, scheme_named, split_label

Ids = npt.NDArray[np.int32]
_OUTSIDE = 2**32 - 1  # kOutside of core/base/schemes.hpp


def scheme_labels(labels: Sequence[str], scheme: str) -> _core.SchemeLabels:
    """Labels of a scheme by type and prefix, for the core."""
    rules, parts = scheme_named(scheme), [split_label(label) for label in labels]
    prefixes = list(dict.fromkeys(prefix for prefix, _ in parts))
    types = {type_: number for number, type_ in enumerate(dict.fromkeys(type_ for _, type_ in parts))}
    numbers = {prefix: number for number, prefix in enumerate(prefixes)}
    edged = [*prefixes, ""]
    return _core.SchemeLabels(
        np.array([_OUTSIDE if p == "O" else types[type_] for p, type_ in parts], np.uint32),
        np.array([numbers[prefix] for prefix, _ in parts], np.uint8),
        np.array([rules.joined(a, b, True) for a in prefixes for b in prefixes], np.uint8),
        np.array([rules.legal(a, b, same) for a in edged for b in edged for same in (False, True)], np.uint8),
    )


class Translation:
    """Numbers of labels of one scheme as numbers of `names`, labels that spell the same spans in another.

    Names that are not given are added as they are needed, in the order of the labels.
    """

    def __init__(self, labels: Sequence[str], source: str, target: str, names: Sequence[str] = ()) -> None:
        self._labels, self._source, self._target = list(labels), source, target
        numbers = {name: number for number, name in enumerate(names)}
        rules, prefixes = scheme_named(target), prefix_table(target).ravel().tolist()
        targets: list[int] = []
        for label in labels:
            type_ = split_label(label)[1]
            if not scheme_named(source).spells(label) or (label == "O" and not rules.outside):
                targets += [-1] * 9  # an error, wherever it stands
            elif label == "O":
                targets += [numbers.setdefault("O", len(numbers))] * 9
            else:
                written = (f"{prefix}-{type_}" if type_ else prefix for prefix in prefixes)
                targets += [numbers.setdefault(name, len(numbers)) for name in written]
        self.names = list(numbers)
        self._targets = np.array(targets, np.int32)

    @cached_property
    def _core(self) -> _core.SchemeLabels:
        return scheme_labels(self._labels, self._source)

    def __call__(self, ids: Ids, starts: npt.NDArray[np.uint32]) -> Ids:
        """The numbers of the translated labels of sentences that begin at the tokens `starts`; a DataError
        where `convert` has one."""
        found = self._core.translated(ids, starts, self._targets)
        if len(found) and found.min() < 0:
            for first, last in pairwise(starts.tolist()):
                convert([self._labels[i] for i in ids[first:last]], self._source, self._target)
        return found


def by_appearance(ids: Ids, size: int) -> list[int]:
    """Which of the numbers below `size` there are, in the order of their first appearance."""
    first = np.full(size, len(ids), np.intp)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)  # of equal places, the last assignment counts
    return [number for number in np.argsort(first, kind="stable").tolist() if first[number] < len(ids)]
