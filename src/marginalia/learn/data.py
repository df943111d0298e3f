"""Training data: blocks of sentences, their labels as numbers, their features as rows."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.batches import Layout, in_groups, read_batches
from marginalia.corpus.blocks import ATTRIBUTES, Block, is_attributes, pack
from marginalia.corpus.encode import encode_labels
from marginalia.corpus.partial import ANY, certain_pairs, has_regions, is_open, span_labels, spelled
from marginalia.corpus.records import Sentence
from marginalia.corpus.schemes import detect_from_pairs, labels_for, scheme_named
from marginalia.corpus.translation import Translation, by_appearance
from marginalia.decode.inputs import items_of
from marginalia.decode.structures import Extraction, StructureInTraining
from marginalia.errors import DataError, SettingsError
from marginalia.learn.partial import Allowed, OpenLabels
from marginalia.learn.provenance import Origins
from marginalia.learn.warm import WarmStart
from marginalia.model import SavedModel

Ids = npt.NDArray[np.int32]
Paths = str | os.PathLike[str]
Pair = tuple[Sequence[Any], Sequence[Any]]
Data = Paths | Sequence[Paths] | Iterable[Sentence] | Iterable[Pair]


class Corpus:
    """Blocks that can be walked more than once: from files (read anew if `stream`) or from records."""

    def __init__(
        self,
        layout: Layout,
        paths: Sequence[Paths] = (),
        blocks: list[Block] | None = None,
        stream: bool = False,
    ) -> None:
        self.layout, self._paths, self._stream = layout, paths, stream
        self._blocks = blocks

    def blocks(self) -> Iterator[Block]:
        """All blocks, each with a column of labels."""
        if self._blocks is not None:
            yield from self._blocks
            return
        read = self._read()
        if self._stream:
            yield from read
            return
        self._blocks = []
        for block in read:
            self._blocks.append(block)
            yield block

    @property
    def name(self) -> str | None:
        """The first file, for error messages."""
        return os.fspath(self._paths[0]) if self._paths else None

    def forget(self) -> None:
        """Lets go of what was kept in memory; only files can be walked again."""
        self._blocks = None

    def _read(self) -> Iterator[Block]:
        for path in self._paths:
            for batch in read_batches(path, self.layout, need=(self.layout.label,)):
                if not batch.block.table.tokens:
                    continue  # blank lines and comments
                if self.layout.label not in batch.block.columns:
                    found = " ".join(batch.block.columns)
                    raise DataError(
                        f"found columns {found}, but no label column '{self.layout.label}'",
                        file=batch.block.file,
                    )
                yield batch.block


def corpus_of_records(
    data: Iterable[Any], label: str | None, whole_documents: bool = False, partial: bool = False
) -> Corpus:
    """A corpus of sentence records or of (tokens, labels) pairs; blocks may have to end as documents do.

    With `partial`, labels may be open.
    """
    records = [_record(item, label, number) for number, item in enumerate(data)]
    _check_counts(records, label or "label")
    records = _with_attributes(_with_labels(records, label or "label", partial), label or "label")
    if not records:
        raise DataError("found no sentences, expected at least one")
    columns = tuple(records[0].columns)
    chosen = label or columns[-1]
    if chosen not in columns or chosen == ATTRIBUTES:
        raise DataError(f"found columns {' '.join(columns)}, but no label column '{label or 'label'}'")
    records = [_spelled(record, chosen, partial) for record in records]
    explicit = any(is_attributes(record.columns.get(ATTRIBUTES, ())) for record in records)
    layout = Layout("crfsuite" if explicit else "conll", columns, chosen, partial=partial)
    return Corpus(
        layout, blocks=[pack(part, columns) for part in in_groups(iter(records), 2000, whole_documents)]
    )


def _record(item: Any, label: str | None, number: int) -> Sentence:
    if isinstance(item, Sentence):
        return item
    if isinstance(item, str) or not isinstance(item, Sequence) or len(item) != 2:
        raise DataError(f"found {type(item).__name__}, expected a Sentence or a pair of tokens and labels")
    tokens, labels = item
    if items := items_of(tokens):
        return Sentence({ATTRIBUTES: items, label or "label": list(labels)}, document=number)
    given = dict(tokens) if isinstance(tokens, Mapping) else {"word": tokens}
    given[label or "label"] = labels
    if any(isinstance(values, str) for values in given.values()):
        raise DataError("found a string in a pair, expected a list of tokens and a list of labels")
    return Sentence({name: list(values) for name, values in given.items()}, document=number)


def _spelled(record: Sentence, label: str, partial: bool) -> Sentence:
    """The record with labels as they would stand in a file."""
    labels: Sequence[Any] = record.columns.get(label, [])
    if partial:
        return replace(record, columns=record.columns | {label: [spelled(one) for one in labels]})
    for one in labels:
        if one is None or isinstance(one, (set, frozenset, list, tuple)):
            raise DataError(
                f"found the label {one!r}, expected a string: others are for training with partial=on"
            )
    return record


def _check_counts(records: Sequence[Sentence], label: str) -> None:
    for number, record in enumerate(records, 1):
        found = len(record.columns.get(label, record))
        if found != len(record):
            raise DataError(
                f"example {number}: found {found} labels, expected {len(record)}, one for each token",
                line=record.line or None,
            )


def _with_attributes(records: list[Sentence], label: str) -> list[Sentence]:
    """If sequences are attributes of tokens, those without tokens are too."""
    if not any(is_attributes(record.columns.get(ATTRIBUTES, ())) for record in records):
        return records
    empty: dict[str, list[Any]] = {ATTRIBUTES: [], label: []}
    return [record if len(record) else replace(record, columns=empty) for record in records]


def _with_labels(records: list[Sentence], label: str, partial: bool) -> list[Sentence]:
    """Copies with a column of labels, if the sentences have spans and no such column."""
    if not any((record.spans or has_regions(record)) and label not in record.columns for record in records):
        return records
    return [
        record
        if label in record.columns
        else replace(record, columns=record.columns | {label: span_labels(record, partial=partial)})
        for record in records
    ]


def repairs_always(scheme: str | None) -> bool:
    """Where B and E are optional, an odd one leaves no doubt about the spans."""
    return scheme in ("IOB1", "IOE1")


class LabelCoder:
    """Numbers the labels of block after block, in the scheme to train in. Some may be `known` before."""

    def __init__(
        self,
        corpus: Corpus,
        settings: Mapping[str, Any],
        start: SavedModel | None = None,
        known: Sequence[str] = (),
    ) -> None:
        partial = bool(settings.get("partial"))
        wanted = settings["scheme"]
        self.scheme = _scheme_of(corpus, wanted, partial, known) if start is None else start.scheme
        optional = repairs_always(self.scheme)
        self._label, self._repair = corpus.layout.label, bool(settings["repair"]) or optional
        encode = settings["encode"]
        if encode == "auto":
            encode = "IOBES" if optional else "same"
        same = encode == "same" or self.scheme is None
        self.encoding = self.scheme if same else scheme_named(encode).name
        self.numbers: dict[str, int] = {}
        if start is not None:  # as its model has them; new labels are added
            self.encoding = start.encoding
            self.numbers = {label: i for i, label in enumerate(start.labels)}
        for label in _checked(known, self.scheme, self.encoding):
            self.numbers.setdefault(label, len(self.numbers))
        self.lengths: Counter[int] = Counter()  # of spans in tokens, if labels are spelled in IOB2
        self.unseen: list[str] = []  # labels of held-out data only, numbered after all others
        self.repaired = 0
        self._open: OpenLabels | None = None
        if partial:
            names = [*self._labels_before(start), *known, *_label_names(corpus)]
            self._open = OpenLabels(names, self.scheme, self.encoding)
            if names and not self._open.known:
                raise DataError("found no label that is known, expected some", file=corpus.name)

    def _labels_before(self, start: SavedModel | None) -> list[str]:
        """The labels of a model to begin with, in the scheme of the data as far as types go."""
        if start is None:
            return []
        types = dict.fromkeys(label.partition("-")[2] for label in start.labels if label != "O")
        if self.scheme is None:
            return list(start.labels)
        return [f"{ANY}-{type_}" if type_ else scheme_named(self.scheme).single for type_ in types]

    @property
    def labels(self) -> list[str]:
        """All labels so far, in the order of their numbers."""
        return list(self.numbers)

    @property
    def sets(self) -> npt.NDArray[np.uint8]:
        """[sets][labels], flat: the labels that numbers below 0 stand for, -1 for the first set."""
        return np.zeros(0, np.uint8) if self._open is None else self._open.masks(self.numbers)

    def encode(self, block: Block, *, grow: bool) -> Ids:
        """The numbers of a block's labels. New ones join `labels` if `grow`, else `unseen`.

        Where several labels may be right, -1 - k stands for set k of `sets`.
        """
        allowed = None if self._open is None else self._open.allowed(block, self._label, mend=self._repair)
        if self._open is not None and allowed is not None:
            if grow:
                self._see(allowed)
            return self._open.numbered(allowed, self.numbers)
        names, ids, repaired = encode_labels(block, self._label, self.scheme, mend=self._repair)
        self.repaired += repaired if grow else 0
        if self.encoding != self.scheme:
            names, ids = self._translated(names, ids, block)
        if grow:
            if self.encoding == "IOB2" and names:
                self.lengths += _lengths(np.array([name[0] == "I" for name in names])[ids])
            for name in names:
                self.numbers.setdefault(name, len(self.numbers))
        else:
            self.unseen += [name for name in names if name not in self.numbers and name not in self.unseen]
        known = {**self.numbers, **{name: i for i, name in enumerate(self.unseen, len(self.numbers))}}
        table = np.array([known[name] for name in names], np.int32)
        return table[ids] if len(names) else ids

    def _see(self, allowed: list[Allowed]) -> None:
        """Number what is certain, and take lengths of spans that are."""
        for label in (label for sentence in allowed for one in sentence if len(one) == 1 for label in one):
            self.numbers.setdefault(label, len(self.numbers))
        if self.encoding == "IOB2":
            inside = [all(name[0] == "I" for name in one) for sentence in allowed for one in sentence]
            self.lengths += _lengths(np.array(inside, bool))

    def close(self) -> None:
        """Adds labels that open ones may stand for, or one without which some length had no legal output."""
        for label in [] if self._open is None else self._open.labels:
            self.numbers.setdefault(label, len(self.numbers))
        if self._open is not None:
            self.repaired += self._open.repaired
        if self.encoding is None:
            return
        rules = scheme_named(self.encoding)
        types = [label.partition("-")[2] for label in self.numbers if label != "O"]
        singles = {f"{rules.single}-{type_}" if type_ else rules.single for type_ in types}
        if "O" in self.numbers or singles & self.numbers.keys():
            return
        self.numbers["O" if rules.outside else min(singles)] = len(self.numbers)

    def _translated(self, names: list[str], ids: Ids, block: Block) -> tuple[list[str], Ids]:
        translation = Translation(names, str(self.scheme), str(self.encoding))
        found = translation(ids, block.table.sentence_starts)
        seen = by_appearance(found, len(translation.names))
        numbers = np.zeros(len(translation.names), np.int32)
        numbers[seen] = np.arange(len(seen))
        return [translation.names[number] for number in seen], numbers[found]


def _lengths(inside: npt.NDArray[np.bool_]) -> Counter[int]:
    """How many spans have which length; a token inside belongs to the one that began before it."""
    begins = np.append(np.flatnonzero(~inside), len(inside))
    lengths, counts = np.unique(np.diff(begins), return_counts=True)
    return Counter(dict(zip(lengths.tolist(), counts.tolist(), strict=True)))


def _label_names(corpus: Corpus) -> list[str]:
    """All labels as they are written, by first appearance."""
    column = corpus.layout.label
    names = (name for block in corpus.blocks() for name in block.table.distinct(block.index(column))[0])
    return list(dict.fromkeys(names))


def _scheme_of(corpus: Corpus, wanted: str, partial: bool, known: Sequence[str]) -> str | None:
    if wanted != "auto":
        return None if wanted == "none" else scheme_named(wanted).name
    pairs: Counter[tuple[str, str]] = Counter({(label, label): 0 for label in known})
    for block in corpus.blocks():
        names, ids = block.table.distinct(block.index(corpus.layout.label))
        pairs.update(_neighbours([*names, ""], ids, block.table.sentence_starts))
    if not partial:
        return detect_from_pairs(pairs)
    certain = certain_pairs(pairs)
    typed = any(is_open(label) and "-" in label for pair in pairs for label in pair)
    return detect_from_pairs(certain) or ("IOB2" if typed and not certain else None)


def _checked(known: Sequence[str], scheme: str | None, encoding: str | None) -> list[str]:
    """Labels that are known beforehand, in the scheme to train in, with others of their types."""
    for label in known:
        if not isinstance(label, str) or not (scheme is None or scheme_named(scheme).spells(label)):
            raise SettingsError(f"labels: found {label!r}, expected a label{f' of {scheme}' * bool(scheme)}.")
    return labels_for(known, encoding)


def _neighbours(names: list[str], ids: Ids, starts: npt.NDArray[np.uint32]) -> dict[tuple[str, str], int]:
    """How often each label follows another; the last name stands for the edges of sentences."""
    edge = len(names) - 1
    bounds = np.unique(starts).astype(np.intp)
    if not len(ids):
        return {}
    padded = np.insert(ids.astype(np.int64), bounds, edge)
    codes, counts = np.unique(padded[:-1] * len(names) + padded[1:], return_counts=True)
    return {
        (names[code // len(names)], names[code % len(names)]): count
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
    }


def unit_of(settings: Mapping[str, Any]) -> Callable[[Block], Block]:
    """What makes a block's sentences the units that are labelled at once."""
    return Block.by_document if settings["unit"] == "document" else lambda block: block


class TrainingSet:
    """A corpus as examples: kept in memory, or extracted again in each pass if the corpus streams."""

    def __init__(
        self,
        corpus: Corpus,
        make_extraction: Callable[[_core.FeatureIndex], Extraction],
        coder: LabelCoder,
        settings: Mapping[str, Any],
        warm: WarmStart | None = None,
    ) -> None:
        self._corpus, self._coder = corpus, coder
        self._stream = bool(settings["stream"])
        self._traces, self.origins = bool(settings.get("provenance")), Origins()
        # Of features that came without their names, nobody can tell them: then there are none at all.
        self.index = _core.FeatureIndex(bool(settings["names"]) and (warm is None or warm.has_names))
        if warm is not None:
            warm.seed(self.index)
        self.extraction = make_extraction(self.index)
        self.sentences = self.tokens = self.units = 0
        self._unit = unit_of(settings)
        self._structure: StructureInTraining | None = None
        room = 0 if self._stream else sum(block.table.tokens for block in corpus.blocks())
        self._examples = self.extraction.examples(room)
        self._gold: list[Ids] = []
        self.fingerprint = self._read()
        coder.close()

    def _read(self) -> str:
        """Read all blocks once; a digest of their text."""
        digest = hashlib.blake2b(digest_size=16)
        for block in self._corpus.blocks():
            digest.update(block.table.text)
            digest.update(block.table.attribute_bytes)
            ids = self._coder.encode(block, grow=True)
            self.sentences += block.table.sentences
            self.tokens += block.table.tokens
            units = self._unit(block)
            table = units.table
            self.units += table.sentences
            if self._traces:
                self.origins.add(block, units)
            if self._stream:
                self.extraction.count(table)
            else:
                self._gold.append(ids)
                self.extraction.add(self._examples, table, grow=True)
        if not self.tokens:
            raise DataError("found no labelled sentences, expected at least one", file=self._corpus.name)
        return digest.hexdigest()

    def set_structure(self, structure: StructureInTraining) -> None:
        """Give the examples their right outputs, and the features that count their rows."""
        self._structure = structure
        if not self._stream:
            structure.set_gold(self._examples, np.concatenate(self._gold), self._coder.sets)
            self._gold = []
            self._corpus.forget()
        structure.choose_features(self.batches, [] if self._stream else [self._examples])

    def batches(self) -> Iterator[Any]:
        """The examples of one pass, in one or more parts."""
        if not self._stream:
            yield self._examples
            return
        for block in self._corpus.blocks():
            examples = self.extraction.examples()
            self.extraction.add(examples, self._unit(block).table, grow=False)
            assert self._structure is not None, "the structure comes before the first pass"
            self._structure.set_gold(examples, self._coder.encode(block, grow=False), self._coder.sets)
            yield examples
