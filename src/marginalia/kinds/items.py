"""Whole items, as examples: fields with names, or attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from marginalia.corpus.batches import Layout
from marginalia.corpus.items import ITEM_FORMATS, item_format, known_suffix
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import DataSource
from marginalia.decode.model import TrainedModel
from marginalia.errors import SettingsError
from marginalia.features.program import TemplateProgram
from marginalia.kinds.reader import ExampleReader, Reading, TablesOfWords, check_explicit
from marginalia.model import SavedModel

_NO_SPANS = {"scheme": ("auto", "none"), "encode": ("auto", "same"), "unit": ("sentence",)}
_OF_TOKENS = "it is for labels of tokens, but this model gives classes of items"
_OF_PHRASES = "dictionaries have labels of phrases, but this model gives classes of whole items"

NOT_FOR_ITEMS = MappingProxyType(
    {f"eval --{option}": _OF_TOKENS for option in ("mode", "scheme", "known", "bootstrap", "compare")}
    | {f"{verb} --dictionary": _OF_PHRASES for verb in ("tag", "eval", "explain")}
)
"""Options of verbs that make no sense where examples have no tokens, with the reason."""


class ItemReader(ExampleReader):
    """Reads items."""

    noun = "item"
    part_noun = ""
    items = True
    formats = MappingProxyType(ITEM_FORMATS)
    named_columns = ("csv", "tsv", "jsonl")

    def format_name(self, path: str, name: str | None) -> str:
        """By suffix: .csv, .tsv; all others are JSONL."""
        return item_format(path, name)

    def layout(self, saved: SavedModel, given: Reading, *, labelled: bool = True) -> Layout:
        """As the training data, but for what is given; fields have names in every format."""
        format = item_format("", given.format or known_suffix(given.file) or saved.format)
        check_explicit(saved, format)
        taken = ITEM_FORMATS[format]
        options = {k: v for k, v in saved.options.items() if format == saved.format and k in taken}
        if given.columns is not None:
            options["header"] = False
        columns, label = tuple((given.columns or "").split()) or saved.columns, given.label or saved.label
        partial = saved.settings_as(DataSettings).partial and labelled
        return Layout(format, columns, label, {**options, **given.options}, partial=partial, items=True)

    def keeping(self, layout: Layout, column: str, given: Reading) -> Layout:
        """With a field of classes."""
        return replace(layout, options={**layout.options, "given": column})

    def text_input(
        self, model: TrainedModel, text: str, tokenizer: str | None = None
    ) -> dict[str, list[str]]:
        """The item that is a text, for models that read nothing else."""
        columns = model.feature_columns
        if len(columns) > 1:
            raise SettingsError(f"the model reads {', '.join(columns)}: give an item with --input FILE.")
        return {columns[0]: [text]}

    def load_features(self, name: str, source: DataSource, tables: TablesOfWords) -> TemplateProgram:
        """Over whole fields; the usual set looks at some values of each."""
        from marginalia.features.item_sets import load_item_features

        layout, first = source.layout, next(iter(source.blocks()))
        values = {column: first.column(column) for column in first.columns if column != layout.label}
        return load_item_features(name, layout.columns, layout.label, values)

    def check_chosen(self, chosen: Mapping[str, object]) -> None:
        """All of them are for tokens."""
        if any(chosen.values()):
            raise SettingsError(
                "tasks, lists, clusters, lexicons and dictionaries are for tokens, which items have not."
            )

    def check_data(self, data: DataSettings) -> DataSettings:
        """Classes of items spell no spans."""
        for name, values in _NO_SPANS.items():
            if (found := getattr(data, name)) not in values:
                raise SettingsError(
                    f"setting '{name}': found {found}, but an item has one class, which spells no spans."
                )
        return replace(data, scheme="none")


ITEMS = ItemReader()
