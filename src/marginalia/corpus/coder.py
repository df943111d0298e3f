"""Labels as numbers: checked against their scheme or repaired, in the scheme to train in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from marginalia.corpus.blocks import Block
from marginalia.corpus.formats import CUT_TEXT
from marginalia.corpus.open_labels import Allowed, OpenBlock, OpenLabels
from marginalia.corpus.partial import ANY, certain_pairs, is_open
from marginalia.corpus.schemes import (
    detect_from_pairs,
    labels_for,
    repairs_always,
    scheme_named,
    validate,
)
from marginalia.corpus.source import DataSource
from marginalia.corpus.streams import breaks_columns
from marginalia.corpus.translation import Translation, by_appearance, scheme_labels
from marginalia.errors import DataError, SettingsError

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
    for number, label in enumerate(labels):
        if breaks_columns(label):
            message = f"found label {label!r}, expected one without tabs and line breaks"
            raise block.error(message, int(np.argmax(ids == number)), column)
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


@dataclass(frozen=True)
class LabelSet:
    """Labels with the scheme that users see and the one that the labels are spelled in."""

    labels: tuple[str, ...]
    scheme: str | None
    encoding: str | None


@dataclass(frozen=True)
class LabelReader:
    """How a column of labels is read: its scheme, the scheme to train in, repairs, and open labels."""

    column: str
    scheme: str | None
    encoding: str | None
    repair: bool = False
    open: OpenLabels | None = None

    def complete(self, block: Block) -> EncodedLabels:
        """The labels of a block that are all complete, in the scheme to train in."""
        found = encode_labels(block, self.column, self.scheme, mend=self.repair)
        return found if self.encoding == self.scheme else self._translated(found, block)

    def allowed(self, block: Block) -> OpenBlock | None:
        """What tokens may be, if some labels of a block are open."""
        return None if self.open is None else self.open.read(block, self.column, mend=self.repair)

    def _translated(self, found: EncodedLabels, block: Block) -> EncodedLabels:
        translation = Translation(found.labels, str(self.scheme), str(self.encoding))
        ids = translation(found.ids, block.table.sentence_starts)
        seen = by_appearance(ids, len(translation.names))
        numbers = np.zeros(len(translation.names), np.int32)
        numbers[seen] = np.arange(len(seen))
        return EncodedLabels([translation.names[number] for number in seen], numbers[ids], found.repaired)


@dataclass(frozen=True)
class LabelCoder:
    """All labels of training data, by number, and what one reading of the data told of them.

    `sets` are those that open labels stand for; `lengths` says how many spans have how many tokens, if labels
    are spelled in IOB2; `repaired` labels were not as their scheme has them.
    """

    reader: LabelReader
    labels: tuple[str, ...]
    sets: tuple[frozenset[str], ...] = ()
    lengths: Mapping[int, int] = field(default_factory=dict)
    repaired: int = 0

    @property
    def scheme(self) -> str | None:
        """The scheme of the data."""
        return self.reader.scheme

    @property
    def encoding(self) -> str | None:
        """The scheme to train in."""
        return self.reader.encoding

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each label."""
        return {label: number for number, label in enumerate(self.labels)}

    @cached_property
    def masks(self) -> npt.NDArray[np.uint8]:
        """[sets][labels], flat: the labels that numbers below 0 stand for, -1 for the first set."""
        return _set_masks(self.sets, self.numbers)

    def encode(self, block: Block) -> Ids:
        """The numbers of a block's labels; where several may be right, -1 - k stands for set k."""
        found = self.reader.allowed(block)
        if found is not None:
            return _numbered_sets(found.allowed, self.numbers, {one: k for k, one in enumerate(self.sets)})
        return number_labels(self.reader.complete(block), dict(self.numbers))


def number_labels(encoded: EncodedLabels, numbers: dict[str, int]) -> Ids:
    """The numbers of a block's labels; new ones get the next numbers, in place."""
    for name in encoded.labels:
        numbers.setdefault(name, len(numbers))
    table = np.array([numbers[name] for name in encoded.labels], np.int32)
    return table[encoded.ids] if len(encoded.labels) else encoded.ids


def _numbered_sets(
    allowed: list[Allowed], numbers: Mapping[str, int], sets: Mapping[frozenset[str], int]
) -> Ids:
    """Label numbers, -1 - k for set k."""
    known = {one: -1 - k for one, k in sets.items()}
    known |= {frozenset([label]): number for label, number in numbers.items()}
    return np.array([known[one] for sentence in allowed for one in sentence], np.int32)


def _set_masks(sets: Sequence[frozenset[str]], numbers: Mapping[str, int]) -> npt.NDArray[np.uint8]:
    """[sets][labels], flat: 1 for each label of a set."""
    masks = np.zeros((len(sets), len(numbers)), np.uint8)
    for k, one in enumerate(sets):
        masks[k, [numbers[label] for label in one]] = 1
    return masks.reshape(-1)


class LabelNumbering:
    """Numbers the labels of block after block, in the order in which they appear, to make a coder of them."""

    def __init__(self, reader: LabelReader, known: Sequence[str] = ()) -> None:
        self._reader = reader
        self._numbers = {label: number for number, label in enumerate(dict.fromkeys(known))}
        self._sets: dict[frozenset[str], int] = {}
        self._lengths: Counter[int] = Counter()
        self._repaired = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels so far, in the order of their numbers."""
        return tuple(self._numbers)

    def add(self, block: Block) -> Ids:
        """The numbers of a block's labels; new ones get the next numbers. -1 - k stands for set k."""
        found = self._reader.allowed(block)
        if found is not None:
            self._repaired += found.repaired
            self._see(found.allowed)
            return _numbered_sets(found.allowed, self._numbers, self._sets)
        complete = self._reader.complete(block)
        self._repaired += complete.repaired
        if self._reader.encoding == "IOB2" and complete.labels:
            inside = np.array([name[0] == "I" for name in complete.labels])
            self._lengths += _lengths(inside[complete.ids])
        return number_labels(complete, self._numbers)

    def _see(self, allowed: list[Allowed]) -> None:
        """Number what is certain and what sets there are, and take lengths of spans that are certain."""
        for one in (one for sentence in allowed for one in sentence):
            if len(one) > 1:
                self._sets.setdefault(one, len(self._sets))
            for label in one if len(one) == 1 else ():
                self._numbers.setdefault(label, len(self._numbers))
        if self._reader.encoding == "IOB2":
            inside = [all(name[0] == "I" for name in one) for sentence in allowed for one in sentence]
            self._lengths += _lengths(np.array(inside, bool))

    def coder(self) -> LabelCoder:
        """All labels: also those that open ones may stand for, and one without which some length had no legal
        output."""
        could_be = self._reader.open.labels if self._reader.open is not None and self._sets else []
        labels = tuple(dict.fromkeys([*self._numbers, *could_be]))
        labels = (*labels, *_missing(labels, self._reader.encoding))
        return LabelCoder(self._reader, labels, tuple(self._sets), self._lengths, self._repaired)


def _missing(labels: Sequence[str], encoding: str | None) -> list[str]:
    if encoding is None:
        return []
    rules = scheme_named(encoding)
    types = [label.partition("-")[2] for label in labels if label != "O"]
    singles = {f"{rules.single}-{type_}" if type_ else rules.single for type_ in types}
    return [] if "O" in labels or singles & {*labels} else ["O" if rules.outside else min(singles)]


def start_numbering(
    source: DataSource,
    *,
    scheme: str = "auto",
    encode: str = "auto",
    repair: bool = False,
    start: LabelSet | None = None,
    known: Sequence[str] = (),
) -> LabelNumbering:
    """A numbering of a source's labels: of none yet, or of those of a model to begin with; and of those that
    are known beforehand. `scheme` and `encode` are settings."""
    if start is None:
        found = _scheme_of(source, scheme, known)
        encoding = _encoding(found, encode)
    else:
        found, encoding = start.scheme, start.encoding
    before = _checked(known, found, encoding) if known else []
    reader = LabelReader(
        source.layout.label,
        found,
        encoding,
        repair or repairs_always(found),
        _open_labels(source, found, encoding, start, known) if source.partial else None,
    )
    return LabelNumbering(reader, [*(start.labels if start is not None else ()), *before])


def _encoding(scheme: str | None, wanted: str) -> str | None:
    if wanted == "auto":
        wanted = "IOBES" if repairs_always(scheme) else "same"
    return scheme if wanted == "same" or scheme is None else scheme_named(wanted).name


def _open_labels(
    source: DataSource,
    scheme: str | None,
    encoding: str | None,
    start: LabelSet | None,
    known: Sequence[str],
) -> OpenLabels:
    names = [*_labels_before(start), *known, *_label_names(source)]
    found = OpenLabels(names, scheme, encoding)
    if names and not found.labels:
        raise DataError("found no label that is known, expected some", file=source.name)
    return found


def _labels_before(start: LabelSet | None) -> Iterator[str]:
    """The labels of a model to begin with, in the scheme of the data as far as types go."""
    if start is None:
        return
    if start.scheme is None:
        yield from start.labels
        return
    single = scheme_named(start.scheme).single
    for type_ in dict.fromkeys(label.partition("-")[2] for label in start.labels if label != "O"):
        yield f"{ANY}-{type_}" if type_ else single


def _lengths(inside: npt.NDArray[np.bool_]) -> Counter[int]:
    """How many spans have which length; a token inside belongs to the one that began before it."""
    begins = np.append(np.flatnonzero(~inside), len(inside))
    lengths, counts = _counted(np.diff(begins))
    return Counter(dict(zip(lengths.tolist(), counts.tolist(), strict=True)))


def _counted(
    values: npt.NDArray[np.integer[Any]],
) -> tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.intp]]:
    """Distinct values and how often each occurs: as np.unique, which loads all of numpy.ma."""
    ordered = np.sort(values)
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    return ordered[first], np.diff(np.append(first, len(ordered)))


def _label_names(source: DataSource) -> list[str]:
    """All labels as they are written, by first appearance."""
    column = source.layout.label
    names = (name for block in source.blocks() for name in block.table.distinct(block.index(column))[0])
    return list(dict.fromkeys(names))


def _scheme_of(source: DataSource, wanted: str, known: Sequence[str]) -> str | None:
    if wanted != "auto":
        return None if wanted == "none" else scheme_named(wanted).name
    if source.layout.format in CUT_TEXT:  # also if no word has three characters
        return "BMES"
    pairs: Counter[tuple[str, str]] = Counter({(label, label): 0 for label in known})
    for block in source.blocks():
        names, ids = block.table.distinct(block.index(source.layout.label))
        pairs.update(_neighbours([*names, ""], ids, block.table.sentence_starts))
    if not source.partial:
        return detect_from_pairs(pairs)
    certain = certain_pairs(pairs)
    typed = any(is_open(label) and "-" in label for pair in pairs for label in pair)
    return detect_from_pairs(certain) or ("IOB2" if typed and not certain else None)


def _checked(known: Sequence[str], scheme: str | None, encoding: str | None) -> list[str]:
    """Labels that are known beforehand, in the scheme to train in, with others of their types."""
    for label in known:
        good = isinstance(label, str) and not breaks_columns(label)
        if not good or not (scheme is None or scheme_named(scheme).spells(label)):
            raise SettingsError(f"labels: found {label!r}, expected a label{f' of {scheme}' * bool(scheme)}.")
    return labels_for(known, encoding)


def _neighbours(names: list[str], ids: Ids, starts: npt.NDArray[np.uint32]) -> dict[tuple[str, str], int]:
    """How often each label follows another; the last name stands for the edges of sentences."""
    edge = len(names) - 1
    bounds = _counted(starts)[0].astype(np.intp)
    if not len(ids):
        return {}
    padded = np.insert(ids.astype(np.int64), bounds, edge)
    codes, counts = _counted(padded[:-1] * len(names) + padded[1:])
    return {
        (names[code // len(names)], names[code % len(names)]): count
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
    }
