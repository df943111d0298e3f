"""Lists of candidates, as examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from marginalia.corpus.batches import Layout
from marginalia.corpus.candidates import candidate_layout
from marginalia.corpus.formats import CANDIDATES
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import DataSource
from marginalia.decode.model import TrainedModel
from marginalia.errors import SettingsError
from marginalia.features.program import EXPLICIT, TemplateProgram
from marginalia.kinds.reader import ExampleReader, Reading, TablesOfWords
from marginalia.model import SavedModel

_SET = {
    "scheme": ("auto", "none"),
    "encode": ("auto", "same"),
    "unit": ("sentence",),
    "class-weights": ("none",),
}
_OF_TOKENS = "it is for labels of tokens, but this model chooses candidates"
_OPTIONS = {
    "tag": ("min-confidence", "constrain", "constraints", "given", "dictionary"),
    "eval": (
        "mode",
        "scheme",
        "known",
        "bootstrap",
        "compare",
        "errors",
        "constrain",
        "constraints",
        "dictionary",
    ),
    "explain": ("constrain", "constraints", "dictionary"),
}

NOT_FOR_LISTS = MappingProxyType(
    {f"{verb} --{option}": _OF_TOKENS for verb, options in _OPTIONS.items() for option in options}
)
"""Options of verbs that make no sense for candidates, with the reason."""


class ListReader(ExampleReader):
    """Reads items with candidates: JSON lines, always of the same form."""

    noun = "item"
    part_noun = "candidate"
    formats = MappingProxyType({CANDIDATES: ()})
    named_columns = ()

    def source_format(self, name: str | None) -> str:
        """There is but one; as JSON lines they may be called so."""
        return self.format_name("", name)

    def format_name(self, path: str, name: str | None) -> str:
        """There is but one."""
        if name not in (None, "jsonl", CANDIDATES):
            raise SettingsError(f"found format {name!r}, but candidates are read from jsonl.")
        return CANDIDATES

    def layout(self, saved: SavedModel, given: Reading, *, labelled: bool = True) -> Layout:
        """As all such files."""
        self.format_name(given.file, given.format)
        return candidate_layout(saved.settings_as(DataSettings).partial and labelled, given.label)

    def keeping(self, layout: Layout, column: str, given: Reading) -> Layout:
        """There are no labels to keep."""
        raise SettingsError(f"--given: {_OF_TOKENS}.")

    def text_input(
        self, model: TrainedModel, text: str, tokenizer: str | None = None
    ) -> dict[str, list[str]]:
        """A text is no list of candidates."""
        raise SettingsError("candidates are not a text: give an item with --input FILE.")

    def load_features(self, name: str, source: DataSource, tables: TablesOfWords) -> TemplateProgram:
        """Those of the data."""
        return EXPLICIT

    def check_chosen(self, chosen: Mapping[str, object]) -> None:
        """All of them are for tokens."""
        if any(chosen.values()):
            raise SettingsError(
                "tasks, lists, clusters, lexicons and dictionaries are for tokens, which candidates have not."
            )

    def check_data(self, data: DataSettings) -> DataSettings:
        """Candidates have no labels that could spell anything."""
        for name, values in _SET.items():
            if (found := getattr(data, name.replace("-", "_"))) not in values:
                raise SettingsError(
                    f"setting '{name}': found {found}, but candidates have no labels or documents."
                )
        return replace(data, scheme="none")


LISTS = ListReader()
