"""Sentences with trees, as examples: tokens with their columns, heads and labels among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from marginalia.corpus.batches import Layout
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import DataSource
from marginalia.corpus.tree_answers import HEAD
from marginalia.errors import SettingsError
from marginalia.features.program import TemplateProgram
from marginalia.kinds.reader import Reading, TablesOfWords
from marginalia.kinds.sentences import SentenceReader
from marginalia.model import SavedModel

_COLUMNS = ("word", "lemma", "upos", "xpos", "feats", HEAD, "deprel")
_LABEL = "deprel"
_NO_SPANS = {"scheme": ("auto", "none"), "encode": ("auto", "same"), "unit": ("sentence",)}
_OF_TOKENS = "it is for labels of tokens, but this model gives trees"
_OF_PHRASES = "dictionaries have labels of phrases, but this model gives trees"

NOT_FOR_TREES = MappingProxyType(
    {
        f"eval --{option}": _OF_TOKENS
        for option in ("mode", "scheme", "known", "bootstrap", "compare", "errors")
    }
    | {
        f"explain --{option}": "it is for labels of tokens, but heads of words are explained one by one"
        for option in ("all", "html", "cite", "training", "constrain", "constraints", "hypotheses")
    }
    | {f"{verb} --dictionary": _OF_PHRASES for verb in ("tag", "eval", "explain")}
    | {
        "export": "exported programs know no trees",
        "fix --labels": "corrected trees are sentences of a CoNLL-U file: --input FILE (and --sentence N)",
    }
)
"""Options of verbs that make no sense for trees, with the reason."""


class TreebankReader(SentenceReader):
    """Reads sentences with trees."""

    formats = MappingProxyType({name: SentenceReader.formats[name] for name in ("conllu", "conll")})

    def source_with(self, source: DataSource) -> DataSource:
        """Treebanks have their columns."""
        if source.format == "conll" or source.held is not None or not source.paths:
            return replace(source, label=source.label or _LABEL)
        return replace(source, columns=source.columns or _COLUMNS, label=source.label or _LABEL)

    def layout(self, saved: SavedModel, given: Reading, *, labelled: bool = True) -> Layout:
        """As the training data, with heads if there are to be labels."""
        found = super().layout(saved, given, labelled=labelled)
        if found.format != "conllu" or not labelled or HEAD in found.columns:
            return found
        return replace(found, columns=(*found.columns, HEAD))

    def load_features(self, name: str, source: DataSource, tables: TablesOfWords) -> TemplateProgram:
        """Over configurations; lists, clusters and lexicons are looked at by templates that name them."""
        from marginalia.features.clusters import word_files
        from marginalia.features.tree_templates import load_tree_features

        layout = source.layout
        columns = tuple(column for column in layout.columns if column != HEAD)
        files = word_files(tables.clusters, tables.lexicons, tables.cluster_case)
        onto = TemplateProgram((), (), lists=dict(tables.lists), word_files=files)
        return load_tree_features(name, columns, layout.label, onto)

    def check_chosen(self, chosen: Mapping[str, object]) -> None:
        """Dictionaries have labels of phrases."""
        if chosen.get("dictionary"):
            raise SettingsError("dictionaries are for labels of tokens: trees have none.")

    def check_data(self, data: DataSettings) -> DataSettings:
        """Labels of arcs spell no spans."""
        for name, values in _NO_SPANS.items():
            if (found := getattr(data, name)) not in values:
                raise SettingsError(
                    f"setting '{name}': found {found}, but labels of trees spell no spans of sentences."
                )
        if data.partial:
            raise SettingsError(
                "setting 'partial': heads and labels of trees that are not known are written _, always."
            )
        return replace(data, scheme="none")


TREEBANKS = TreebankReader()
