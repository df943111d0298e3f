"""How examples are read, whatever their outputs are: files, texts, the columns that templates look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from marginalia.corpus.batches import Layout
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import DataSource
from marginalia.decode.model import TrainedModel
from marginalia.errors import SettingsError
from marginalia.features.program import TemplateProgram
from marginalia.model import SavedModel


class Reading(NamedTuple):
    """What a user says of how a file is laid out; None: as the model's training data."""

    format: str | None = None
    columns: str | None = None
    label: str | None = None
    options: Mapping[str, Any] = MappingProxyType({})  # of the format's reader
    file: str = ""  # its suffix may tell the format


class TablesOfWords(NamedTuple):
    """Lists of phrases by name (files), the templates that look at them, and the labels of a dictionary; the
    same of word clusters, with how words are looked up in them, and of lexicons."""

    lists: Mapping[str, str]
    list_templates: str
    labels: Sequence[str]
    clusters: Mapping[str, str]
    cluster_templates: str
    cluster_case: str
    lexicons: Mapping[str, str]
    lexicon_templates: str


class ExampleReader(ABC):
    """What an example is, and how it is read."""

    noun: ClassVar[str]  # what an example is called: sentence, item …
    part_noun: ClassVar[str] = "token"  # what its parts are called, nothing if it has none
    items: ClassVar[bool] = False  # whether it is a whole item (corpus/items.py), not a sentence
    formats: ClassVar[Mapping[str, tuple[str, ...]]]  # of files, with the options that their readers take
    named_columns: ClassVar[tuple[str, ...]]  # formats whose columns users can name

    def source_format(self, name: str | None) -> str | None:
        """The format of data whose user said this of it, or nothing."""
        return name

    def format_and_options(self, saved: SavedModel, given: Reading) -> tuple[str, dict[str, Any]]:
        """The format of data for a model and what its reader takes: as the training data, but for what is
        given."""
        return self.source_format(given.format) or saved.format, {**saved.options, **given.options}

    def source_with(self, source: DataSource) -> DataSource:
        """Training data with the columns that such examples have, where users name none."""
        return source

    @abstractmethod
    def format_name(self, path: str, name: str | None) -> str:
        """The format of labelled files that is called `name`, else by suffix."""

    @abstractmethod
    def layout(self, saved: SavedModel, given: Reading, *, labelled: bool = True) -> Layout:
        """How to read (labelled) data for a model: as its training data, but for what is given."""

    def input_layout(self, saved: SavedModel, given: Reading) -> Layout:
        """How to read data that a model shall give outputs for."""
        return self.layout(saved, given, labelled=False)

    @abstractmethod
    def keeping(self, layout: Layout, column: str, given: Reading) -> Layout:
        """The layout of input with a column of labels that are to be kept."""

    @abstractmethod
    def text_input(
        self, model: TrainedModel, text: str, tokenizer: str | None = None
    ) -> Mapping[str, Sequence[str]]:
        """The columns of an example that is given as a text."""

    @abstractmethod
    def load_features(self, name: str, source: DataSource, tables: TablesOfWords) -> TemplateProgram:
        """The templates of a set or a file, for the columns of training data."""

    def check_chosen(self, chosen: Mapping[str, object]) -> None:  # noqa: B027
        """An error for what was chosen of task, lists, clusters, lexicons, dictionary and is not for such
        examples."""

    def check_data(self, data: DataSettings) -> DataSettings:
        """The settings of the data as they are meant; an error for those that make no sense."""
        return data


def scheme_of_records(saved: SavedModel) -> str:
    """What spans of labelled records are spelled in for a model: its own scheme, but open labels in IOB2."""
    open_labels = saved.settings_as(DataSettings).partial
    return "IOB2" if open_labels or saved.scheme is None else saved.scheme


def check_explicit(saved: SavedModel, format: str) -> None:
    """Item files are for models of explicit attributes, and those for nothing else."""
    if saved.program.explicit and format != "crfsuite":
        raise SettingsError(
            f"--format: found {format}, but the model was trained on explicit attributes: expected crfsuite."
        )
    if not saved.program.explicit and format == "crfsuite":
        raise SettingsError(
            "--format: found crfsuite, but the model has templates, which read columns of text."
        )
