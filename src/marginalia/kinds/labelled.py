"""Labelled files for models that label tokens (or items, as the only token of each): their words, labels as
numbers, and where each token stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from marginalia.corpus.batches import Batch, Layout, read_batches
from marginalia.corpus.blocks import Block
from marginalia.decode.model import TrainedModel
from marginalia.errors import DataError

Ids = npt.NDArray[np.int32]


class Numbering:
    """Labels by number, the same for all columns that are compared."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def labels(self) -> list[str]:
        """All labels so far."""
        return list(self._numbers)

    def of(self, names: Iterable[str]) -> Ids:
        """The numbers of some labels."""
        return np.array([self._numbers.setdefault(name, len(self._numbers)) for name in names], np.int32)


@dataclass
class Labelled:
    """A column of labels with the words beside it; sentence s has the tokens starts[s] to starts[s + 1]."""

    file: str
    words: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    parts: list[Ids] = field(default_factory=list)

    @property
    def ids(self) -> Ids:
        """The label numbers of all tokens."""
        return np.concatenate(self.parts) if self.parts else np.zeros(0, np.int32)

    def add(self, block: Block, word: int, ids: Ids) -> None:
        """The tokens of a block with the numbers of their labels."""
        before = self.starts[-1]
        self.words += block.table.column(word)
        self.lines += _lines(block)
        self.starts += [before + start for start in block.table.sentence_starts.tolist()[1:]]
        self.parts.append(ids)

    def sentences(self, labels: list[str]) -> list[list[str]]:
        """The labels as strings, by sentence."""
        names = [labels[i] for i in self.ids.tolist()]
        return [names[a:b] for a, b in zip(self.starts, self.starts[1:], strict=False)]


def read_labelled(source: str, layout: Layout, numbering: Numbering) -> Labelled:
    """A file's words (first column) and labels."""
    found = Labelled(source)
    for batch in labelled_batches(source, layout):
        found.add(batch.block, 0, gold_ids(batch, layout.label, numbering))
    return found


def labelled_batches(source: str, layout: Layout, model: TrainedModel | None = None) -> Iterator[Batch]:
    """The batches of a file that must have labels; for a model, with words under the name that it knows."""
    seen = False
    for batch in read_batches(source, layout, need=(layout.label,)):
        if layout.label not in batch.block.columns:
            columns = " ".join(batch.block.columns)
            raise DataError(f"found columns {columns}, but no label column '{layout.label}'", file=source)
        seen = seen or batch.block.table.tokens > 0
        yield batch if model is None else named(batch, model)
    if not seen:
        raise DataError("found no labelled sentences, expected at least one", file=source)


def named(batch: Batch, model: TrainedModel) -> Batch:
    """The batch with its words under the name that the model knows, if their format has fixed names."""
    word = model.saved.columns[0]
    block = batch.block
    if word in block.columns or block.columns[:1] != ("word",):
        return batch
    return replace(batch, block=replace(block, columns=(word, *block.columns[1:])))


def gold_ids(batch: Batch, label: str, numbering: Numbering) -> Ids:
    """The numbers of a batch's own labels."""
    names, ids = batch.block.table.distinct(batch.block.index(label))
    return numbering.of(names)[ids] if names else np.asarray(ids, np.int32)


def check_same_tokens(gold: Labelled, other: Labelled) -> None:
    """An error that names the first place at which two files do not have the same tokens."""
    if gold.words == other.words and gold.starts == other.starts:
        return
    ends, other_ends = set(gold.starts), set(other.starts)
    for i, (word, found) in enumerate(zip(gold.words, other.words, strict=False)):
        if word != found:
            raise _differs(gold, other, i, f"found {found!r}", f"has {word!r}")
        if (i in ends) != (i in other_ends):
            starts = ("begins a sentence", "does not begin one")
            here, there = starts if i in other_ends else starts[::-1]
            raise _differs(gold, other, i, f"{found!r} {here}", f"it {there}")
    counts = f"found {len(other.words):,} tokens in {len(other.starts) - 1:,} sentences"
    expected = f"expected {len(gold.words):,} in {len(gold.starts) - 1:,} as in {gold.file}"
    raise DataError(f"{counts}, {expected}", file=other.file)


def _differs(gold: Labelled, other: Labelled, token: int, here: str, there: str) -> DataError:
    place = f"{gold.file}:{gold.lines[token]}"
    message = f"{here}, but {place} {there}: both files must have the same tokens"
    return DataError(message, file=other.file, line=other.lines[token])


def _lines(block: Block) -> list[int]:
    if block.sentence_lines is None:
        lines: list[int] = block.table.lines.tolist()
        return lines
    starts = block.table.sentence_starts.tolist()
    bounds = zip(block.sentence_lines, starts, starts[1:], strict=False)
    return [line for line, first, last in bounds for _ in range(first, last)]
