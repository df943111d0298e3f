"""Sentences, as examples: tokens with their columns."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

from marginalia.corpus.batches import Layout
from marginalia.corpus.formats import CUT_TEXT, FORMATS, TREEBANK_TEXT, format_of
from marginalia.corpus.schemes import split_label
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import DataSource
from marginalia.corpus.tokenizers import tokenizer_of
from marginalia.decode.model import TrainedModel
from marginalia.errors import DataError, SettingsError
from marginalia.features.program import TemplateProgram
from marginalia.kinds.reader import (
    ExampleReader,
    Reading,
    TablesOfWords,
    check_explicit,
    scheme_of_records,
)
from marginalia.model import SavedModel

_LABELLED = {
    "jsonl": ("spans", "label"),
    "crfsuite": ("label",),
    "kytea": ("label",),
    "plain": (),
    "segmented": (),
    "conllu-text": (),
}
"""What may be given as labels, in formats whose columns have no names."""
_WITH_OFFSETS = ("jsonl", "plain", "conllu-text")
"""Formats whose text may have blanks between tokens."""


class SentenceReader(ExampleReader):
    """Reads sentences."""

    noun = "sentence"
    formats = MappingProxyType({name: format.options for name, format in FORMATS.items()})
    named_columns = ("conll", "conllu")

    def format_name(self, path: str, name: str | None) -> str:
        """By suffix: .conllu, .jsonl; all others are columns."""
        return format_of(path, name, labelled=True).name

    def format_and_options(self, saved: SavedModel, given: Reading) -> tuple[str, dict[str, Any]]:
        """Models that cut text cut that of other formats, too; the suffix tells."""
        name = _format_name(saved, given)
        cut = {"tokenizer": tokenizer_of(saved.format, saved.options)} if saved.format == "jsonl" else {}
        own = {**cut, **_text_options(saved), **saved.options}
        kept = {option: own[option] for option in format_of("", name).options if option in own}
        return name, {**kept, **given.options}

    def layout(self, saved: SavedModel, given: Reading, *, labelled: bool = True) -> Layout:
        """As the training data, but for what is given."""
        name, options = self.format_and_options(saved, given)
        check_explicit(saved, format_of("", name, labelled=labelled).name)
        columns, label = _columns(saved, name, given.columns, given.label)
        data = saved.settings_as(DataSettings)
        return Layout(
            name,
            columns,
            label,
            options,
            data.whole_documents,
            data.partial and labelled,
            to_document_ends=saved.program.of_documents,
            scheme=scheme_of_records(saved),
        )

    def input_layout(self, saved: SavedModel, given: Reading) -> Layout:
        """Gold labels and tags are neither needed nor looked at."""
        layout = self.layout(saved, given, labelled=False)
        options = dict(layout.options)
        if layout.format == "segmented" and "tag_separator" not in given.options:
            options.pop("tag_separator", None)
        if "tag_column" not in given.options:
            options.pop("tag_column", None)
        if layout.format == "jsonl" and "misaligned" not in given.options:
            options["misaligned"] = "drop"
        return replace(layout, options=options)

    def keeping(self, layout: Layout, column: str, given: Reading) -> Layout:
        """With a column of labels, or the spans of JSONL records."""
        known = _LABELLED.get(layout.format, layout.columns)
        if column == "blanks" and layout.format in _WITH_OFFSETS:
            return layout
        if column == "spans" and layout.format == "jsonl":  # what is to be kept must not be dropped
            return replace(layout, options={**layout.options, "misaligned": "error", **given.options})
        if layout.format == "conllu" and column not in known:
            return replace(layout, columns=(*layout.columns, column))
        if column not in known:
            listed = f"one of {', '.join(known)}" if known else f"no --given with {layout.format} files"
            raise SettingsError(f"--given: found '{column}', expected {listed}.")
        return layout

    def text_input(
        self, model: TrainedModel, text: str, tokenizer: str | None = None
    ) -> dict[str, list[str]]:
        """The columns of a sentence; tokens are written word/pos if the model needs several."""
        from marginalia.corpus.tokenizers import tokenizer_named

        columns, saved = model.feature_columns, model.saved
        kept = tokenizer_of(saved.format, saved.options) if len(columns) == 1 else "whitespace"
        tokens = [text[start:end] for start, end in tokenizer_named(tokenizer or kept)(text)]
        if not tokens:
            raise DataError("TEXT: found no tokens, expected at least one")
        rows = [token.rsplit("/", len(columns) - 1) for token in tokens]
        for number, row in enumerate(rows, 1):
            if len(row) < len(columns) or not all(row):
                form = "/".join(columns)
                raise DataError(f"TEXT: token {number}: found '{'/'.join(row)}', expected {form}")
        return {name: [row[i] for row in rows] for i, name in enumerate(columns)}

    def load_features(self, name: str, source: DataSource, tables: TablesOfWords) -> TemplateProgram:
        """With templates that look at phrase lists, clusters and lexicons."""
        from marginalia.features.loading import load_features

        return load_features(name, source.layout.columns, source.layout.label, *tables)


SENTENCES = SentenceReader()


def cuts_text(saved: SavedModel) -> bool:
    """Whether the tokens of a model are characters."""
    return tokenizer_of(saved.format, saved.options) == "characters"


def finds_words(saved: SavedModel) -> bool:
    """Whether they spell words, so that each is in one."""
    return cuts_text(saved) and "O" not in saved.labels


def _format_name(saved: SavedModel, given: Reading) -> str:
    """As given, else as the training data; the suffix tells of a file with another text to be cut."""
    if not cuts_text(saved):
        return given.format or saved.format
    by_suffix = format_of(given.file).name
    name = given.format or (saved.format if by_suffix == "conll" else by_suffix)
    return TREEBANK_TEXT if name == "conllu" else name


def output_layout(layout: Layout, saved: SavedModel) -> Layout:
    """How to write what was read: words get their tags even if they were read without."""
    if layout.format not in CUT_TEXT:
        return layout
    return replace(layout, options={**_text_options(saved), **saved.options, **layout.options})


def _text_options(saved: SavedModel) -> dict[str, str]:
    """Options of readers and writers of text that a model cuts, where its training data do not tell them."""
    typed = any(split_label(label)[1] for label in saved.labels)
    tags = {"tag_separator": "/", "tag_column": "upos"} if typed else {}
    return {"tokenizer": "characters", **tags} if cuts_text(saved) else {}


def _columns(
    saved: SavedModel, format: str, columns: str | None, label: str | None
) -> tuple[tuple[str, ...], str]:
    if format == "conll":
        return _named(saved, tuple(columns.split()) if columns else None, label)
    if format == "conllu":
        chosen = _conllu_label(label or saved.label)
        needed = tuple(columns.split()) if columns else _conllu_features(saved)
        return tuple(dict.fromkeys([*needed, chosen])), chosen
    if label not in (None, "label"):
        raise SettingsError(f"--label: found '{label}', but in {format} files labels are called 'label'.")
    return ("attributes" if format == "crfsuite" else "word", "label"), "label"


def _named(
    saved: SavedModel, columns: tuple[str, ...] | None, label: str | None
) -> tuple[tuple[str, ...], str]:
    chosen = label or saved.label
    names = columns or saved.columns if saved.format in ("conll", "conllu") else columns or ("word", "label")
    if saved.format == "conllu" and columns is None:
        names = (*_features(saved), chosen)
    if label is not None and chosen not in names:
        raise SettingsError(f"--label: found '{chosen}', expected one of the columns {' '.join(names)}.")
    missing = [name for name in _features(saved) if name not in names]
    if missing:
        needed = " ".join(missing)
        raise SettingsError(f"--columns: found {' '.join(names)}, but the model also needs {needed}.")
    return names, chosen


def _features(saved: SavedModel) -> tuple[str, ...]:
    return saved.program.columns or saved.columns[:1]


def _conllu_features(saved: SavedModel) -> tuple[str, ...]:
    from marginalia.corpus.conllu_lines import FIELDS

    known = {"word", *FIELDS}
    # A model's first column has its words, whatever it is called.
    needed = ["word" if name == saved.columns[0] and name not in known else name for name in _features(saved)]
    missing = [name for name in needed if name not in known and not name.startswith("misc.")]
    if missing:
        raise SettingsError(f"the model needs the column '{missing[0]}', which CoNLL-U files do not have.")
    return tuple(needed)


def _conllu_label(label: str) -> str:
    from marginalia.corpus.conllu_lines import FIELDS

    if label in FIELDS[1:] or label.startswith("misc."):
        return label
    raise SettingsError(
        f"a CoNLL-U file has no column '{label}': say where labels are with --label "
        f"({', '.join(FIELDS[2:5])}, misc.KEY…)."
    )
