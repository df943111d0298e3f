"""Files of any format as batches of sentences in native tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from marginalia.corpus import crfsuite
from marginalia.corpus.blocks import Block, pack, read_blocks
from marginalia.corpus.formats import CANDIDATES, format_of
from marginalia.corpus.partial import span_labels
from marginalia.corpus.records import Sentence, Span
from marginalia.corpus.schemes import labels_of
from marginalia.corpus.segmented import read_segmented_blocks
from marginalia.corpus.streams import Source, is_piped, name_of
from marginalia.errors import DataError

_SENTENCES = 2000  # per batch, where sentences are records
_LABEL_KEYS = {"spans", "tags", "unknown"}  # of JSON lines


@dataclass(frozen=True)
class Layout:
    """How the data are laid out: format, names of the columns, which one is the label, reader options."""

    format: str
    columns: tuple[str, ...] = ()
    label: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    whole_documents: bool = False  # documents are labelled at once: batches end where they end
    partial: bool = False  # may labels leave open what is right?
    items: bool = False  # are the examples whole items, with one class each (corpus/items.py)?
    to_document_ends: bool = False  # the same for sentences that are labelled one by one
    scheme: str = "IOB2"  # that labels of records with spans are spelled in

    @property
    def ends_with_documents(self) -> bool:
        """Whether no document may be cut."""
        return self.whole_documents or self.to_document_ends


@dataclass(frozen=True)
class Batch:
    """Some sentences as a block; as records too, if no native reader made the block."""

    block: Block
    sentences: list[Sentence] | None = None


def read_batches(
    source: Source,
    layout: Layout,
    *,
    need: Sequence[str] = (),
    block_bytes: int = 1 << 20,
    at_once: bool = False,
) -> Iterator[Batch]:
    """The sentences of a file. The label column may be missing unless it is among those in `need`. `at_once`:
    from a pipe, each comes as soon as it is there, which takes longer in all."""
    at_once = at_once and is_piped(source)
    if layout.items:
        from .items import read_items

        yield from read_items(source, layout, labelled=bool(need), at_once=at_once)
        return
    if layout.format == CANDIDATES:
        from .candidates import read_candidates

        yield from read_candidates(source, labelled=bool(need), partial=layout.partial, at_once=at_once)
        return
    if layout.format == "conll":
        options: dict[str, Any] = {"block_bytes": block_bytes, "whole_documents": layout.ends_with_documents}
        with nullcontext() if need else _hinting():
            for block in read_blocks(source, **options, **layout.options):
                if block.table.tokens or not need:
                    yield Batch(_named(block, layout))
        return
    if layout.format == "crfsuite":
        yield from _items(source, bool(need), block_bytes)
        return
    if layout.format == "segmented":
        yield from map(Batch, read_segmented_blocks(source, **layout.options, block_bytes=block_bytes))
        return
    wanted = tuple(dict.fromkeys([*layout.columns, *need]))
    sentences = _records(source, layout, wanted, bool(need))
    size = 1 if at_once or (layout.ends_with_documents and is_piped(source)) else _SENTENCES
    for listed in in_groups(sentences, size, layout.ends_with_documents):
        present = tuple(name for name in wanted if name in listed[0].columns or name in need)
        yield Batch(pack(listed, present, name_of(source)), listed)


def numbered(batches: Iterable[Batch]) -> Iterator[tuple[int, Batch]]:
    """Batches with the number of sentences before each."""
    before = 0
    for batch in batches:
        yield before, batch
        before += batch.block.table.sentences


def _items(source: Source, labelled: bool, block_bytes: int) -> Iterator[Batch]:
    for block in crfsuite.read_item_blocks(source, block_bytes=block_bytes):
        if labelled:
            crfsuite.check_labels(block)
        if block.table.tokens or not labelled:
            yield Batch(block)


def in_groups(sentences: Iterator[Sentence], size: int, whole_documents: bool) -> Iterator[list[Sentence]]:
    """Lists of so many sentences, or up to the end of the document in which that number is reached."""
    listed = list(islice(sentences, size))
    while listed:
        following: list[Sentence] = []
        for sentence in sentences if whole_documents else ():
            if sentence.document != listed[-1].document:
                following = [sentence]
                break
            listed.append(sentence)
        yield listed
        listed = following + list(islice(sentences, size - len(following)))


def _named(block: Block, layout: Layout) -> Block:
    """The block with the layout's names; one column less than those means that the label is not there."""
    found, names = block.table.columns, layout.columns
    without = tuple(name for name in names if name != layout.label)
    if not block.table.tokens:  # nothing but blank lines and comments, to be written back
        return replace(block, columns=without)
    if found in (len(names), len(without)):
        return replace(block, columns=names if found == len(names) else without)
    message = f"found {found} columns, expected {len(names)} ({' '.join(names)})"
    if len(without) < len(names):
        message += f", or {len(without)} without '{layout.label}'"
    raise DataError(message, file=block.file, line=block.line)


@contextmanager
def _hinting() -> Iterator[None]:
    """What to do if text that is no columns was given to a model of columns."""
    try:
        yield
    except DataError as error:
        if "columns, expected" not in error.message:
            raise
        message = f"{error.message} (raw text, a sentence a line, is read with --format plain)"
        raise DataError(message, file=error.file, line=error.line, column=error.column) from None


def _records(source: Source, layout: Layout, wanted: tuple[str, ...], labelled: bool) -> Iterator[Sentence]:
    options = dict(layout.options)
    if layout.format == "conllu":
        options["keys"] = [name.removeprefix("misc.") for name in wanted if name.startswith("misc.")]
    sentences = format_of("", layout.format).read(source, **options)
    if labelled and layout.format == "jsonl":
        sentences = _labelled_somewhere(sentences, name_of(source))
    for number, sentence in enumerate(sentences):
        if layout.format not in ("conllu", "jsonl"):  # no marks of documents: each sentence is one
            sentence.document = number
        if layout.label == "label" and "label" not in sentence.columns and layout.format == "jsonl":
            sentence.columns["label"] = (
                span_labels(sentence, name_of(source), layout.partial, layout.scheme)
                if labelled
                else labels_of(sentence.spans, len(sentence), "IOB2")
            )
        yield sentence


def _labelled_somewhere(sentences: Iterable[Sentence], file: str) -> Iterator[Sentence]:
    """The sentences of JSON lines; an error at the end if not one has a key of labels: all would be `O`."""
    first, labelled = None, False
    for sentence in sentences:
        first = first or sentence
        labelled = labelled or not _LABEL_KEYS.isdisjoint(sentence.origin)
        yield sentence
    if first is not None and not labelled:
        message = 'found "spans" or "tags" in no line, expected labels; text without any has "spans": []'
        raise DataError(message, file=file, line=first.line)


def span_text(sentence: Sentence, span: Span) -> str:
    """The words of a span, as in the text if there is one."""
    if sentence.text is not None and sentence.offsets is not None:
        return sentence.text[sentence.offsets[span.start][0] : sentence.offsets[span.end - 1][1]]
    return " ".join(sentence.tokens[span.start : span.end])
