"""Where labelled data come from and how they are read: one record, made once from what a user gives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from marginalia.corpus import crfsuite
from marginalia.corpus.batches import Layout, read_batches
from marginalia.corpus.blocks import Block, column_names, read_blocks
from marginalia.corpus.candidates import candidate_layout, pack_dictionaries
from marginalia.corpus.formats import CANDIDATES, format_of
from marginalia.corpus.item_objects import pack_item_pairs
from marginalia.corpus.items import guess_item_layout
from marginalia.corpus.pairs import pack_pairs
from marginalia.corpus.records import Sentence
from marginalia.corpus.streams import Source, name_of
from marginalia.errors import DataError, SettingsError

Path = str | os.PathLike[str]
Pair = tuple[Sequence[Any], Sequence[Any]]
Data = Path | Sequence[Path] | Iterable[Sentence] | Iterable[Pair]


@dataclass(frozen=True, eq=False)
class DataSource:
    """Labelled data, and how they are read.

    `data` are files, sentence records or (tokens, labels) pairs. `columns`, `label`, `format` and `options`
    of the reader may be left to the data; `layout` is what follows from all of them. `whole_documents`:
    documents are labelled at once, and blocks end where they end; `to_document_ends`: blocks end so, but
    sentences are labelled one by one; `partial`: labels may leave open what is right; `stream`: files are to
    be read again in every pass; `items`: examples are whole items with one class each. `held` are blocks in
    memory: then nothing is read, the layout is as given. `scheme`: what spans of records are spelled in.
    """

    data: Data
    columns: str | Sequence[str] | None = None
    label: str | None = None
    format: str | None = None
    options: Mapping[str, Any] | None = None
    whole_documents: bool = False
    partial: bool = False
    stream: bool = False
    items: bool = False
    held: tuple[Block, ...] | None = None
    to_document_ends: bool = False
    scheme: str = "IOB2"

    @classmethod
    def of_file(cls, path: Path, layout: Layout, held: Iterable[Block] | None = None) -> DataSource:
        """A file of a known layout; `held` are its blocks, if they were read."""
        return cls(
            [path],
            layout.columns,
            layout.label,
            layout.format,
            layout.options,
            layout.whole_documents,
            layout.partial,
            items=layout.items,
            to_document_ends=layout.to_document_ends,
            scheme=layout.scheme,
            held=None if held is None else tuple(held),
        )

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The files; none if the data are given in Python."""
        data: Any = self.data
        if isinstance(data, (str, os.PathLike)):
            return (data,)
        if isinstance(data, Sequence) and all(isinstance(path, (str, os.PathLike)) for path in data):
            return tuple(data)
        return ()

    @property
    def name(self) -> str | None:
        """The first file, for error messages."""
        return os.fspath(self.paths[0]) if self.paths else None

    @cached_property
    def layout(self) -> Layout:
        """Format, columns and label: as given, else as the first lines of the first file show."""
        options = dict(self.options or {})
        if self.held is not None:
            columns = tuple(self.columns or ())
            return Layout(
                self.format or "",
                columns,
                self.label or "",
                options,
                self.whole_documents,
                self.partial,
                self.items,
                self.to_document_ends,
            )
        if self.format == CANDIDATES:
            return candidate_layout(self.partial, self.label)
        if not self.paths:
            return self._packed[0]
        guess = guess_item_layout if self.items else guess_layout
        layout = guess(self.paths[0], self.format, self.columns, self.label, options)
        if self.whole_documents and layout.format not in ("conll", "conllu", "jsonl"):
            raise SettingsError(f"unit=document: {layout.format} files do not tell documents apart.")
        return replace(
            layout,
            whole_documents=self.whole_documents,
            partial=self.partial,
            to_document_ends=self.to_document_ends,
            scheme=self.scheme,
        )

    def blocks(self) -> Iterator[Block]:
        """All blocks, each with a column of labels; files are read again at each call."""
        if self.held is not None:
            yield from self.held
        elif self.paths:
            yield from self._read()
        else:
            yield from self._packed[1]

    def loaded(self) -> DataSource:
        """These data with all blocks in memory, unless they are to be streamed."""
        if self.held is not None or (self.stream and self.paths):
            return self
        layout = self.layout
        return replace(
            self,
            columns=layout.columns,
            label=layout.label,
            format=layout.format,
            options=layout.options,
            held=tuple(self.blocks()),
        )

    def like(self, data: Data) -> DataSource:
        """Other data with the columns and the label of these, never streamed. Their format may be another one
        if none was given."""
        layout = self.layout
        options = layout.options if self.items else self.options
        return replace(
            self,
            data=data,
            columns=layout.columns,
            label=layout.label,
            options=options,
            stream=False,
            held=None,
        )

    def units(self, block: Block) -> Block:
        """What is labelled at once, as the sentences of a block: its sentences, or whole documents."""
        return block.by_document() if self.whole_documents else block

    @cached_property
    def _packed(self) -> tuple[Layout, tuple[Block, ...]]:
        data: Any = self.data
        if self.format == CANDIDATES:
            return pack_dictionaries(data, self.partial)
        if self.items:
            return pack_item_pairs(data, self.label, self.columns, self.partial)
        whole = self.whole_documents or self.to_document_ends
        return pack_pairs(data, self.label, whole, self.partial)

    def _read(self) -> Iterator[Block]:
        for path in self.paths:
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


def guess_layout(
    source: Source,
    format: str | None,
    columns: str | Sequence[str] | None,
    label: str | None,
    options: dict[str, Any],
) -> Layout:
    """The layout of a training file from what the user gave and what its first lines show."""
    chosen_format = format_of(name_of(source), format, labelled=True)
    name = chosen_format.name
    if unknown := [option for option in options if option not in chosen_format.options]:
        known = ", ".join(chosen_format.options) or "none"
        raise SettingsError(f"found the option '{unknown[0]}', but {name} files take: {known}.")
    if name == "conll":
        named = column_names(columns)
        if not named:
            first = next(read_blocks(source, block_bytes=1 << 16, **options), None)
            named = first.columns if first is not None else ()
        if not named:
            raise DataError("found no sentences, expected at least one", file=name_of(source))
    elif name == "conllu":
        named = tuple(
            columns.split() if isinstance(columns, str) else columns or ("word", "lemma", "upos", "xpos")
        )
        label = label or "upos"
        named = named if label in named else (*named, label)
    else:
        named = crfsuite.COLUMNS if name == "crfsuite" else ("word", "label")
        label = label or "label"
    chosen = label or (named[-1] if named else "")
    if named and chosen not in named:
        raise SettingsError(f"label: found '{chosen}', expected one of the columns {' '.join(named)}.")
    return Layout(name, named, chosen, options)
