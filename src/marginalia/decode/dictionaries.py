"""Dictionaries of users in a model's use: `soft`, as features that it was trained with, or `hard`, as what
must be in its output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from marginalia import _core
from marginalia.config import suggestion
from marginalia.corpus.blocks import Block
from marginalia.corpus.records import Span
from marginalia.corpus.schemes import split_label
from marginalia.corpus.tokenizers import tokenizer_of
from marginalia.errors import SettingsError
from marginalia.features.dictionary import Dictionary, united
from marginalia.model import SavedModel

MODES = ("hard", "soft")


class Used(NamedTuple):
    """Dictionaries, and how phrases are compared with text."""

    dictionaries: tuple[Dictionary, ...]
    tokenizer: str
    column: str = ""
    ignore_case: bool = True

    def reloaded(self) -> Used:
        """With what is in their files now; itself if that is the same."""
        newer = tuple(dictionary.reloaded() for dictionary in self.dictionaries)
        same = all(a is b for a, b in zip(newer, self.dictionaries, strict=True))
        return self if same else self._replace(dictionaries=newer)

    @property
    def united(self) -> Dictionary:
        """All phrases."""
        return self.dictionaries[0] if len(self.dictionaries) == 1 else united(self.dictionaries)


@dataclass(frozen=True)
class InUse:
    """The dictionaries of a model, which is `base` without them."""

    base: SavedModel
    soft: Used | None = None
    hard: Used | None = None

    def reloaded(self) -> InUse:
        """With what is in their files now; itself if that is the same."""
        soft, hard = (used and used.reloaded() for used in (self.soft, self.hard))
        return self if soft is self.soft and hard is self.hard else replace(self, soft=soft, hard=hard)

    def model(self) -> SavedModel:
        """The model with the phrases of the soft dictionaries as its own."""
        return self.base if self.soft is None else with_soft(self.base, self.soft)


def used(
    saved: SavedModel,
    columns: Sequence[str],
    dictionaries: Sequence[Dictionary],
    mode: str,
    column: str | None,
    ignore_case: bool,
    tokenizer: str | None,
) -> Used | None:
    """Dictionaries for a model that reads these columns; None if there are none. What makes no sense is an
    error."""
    if mode not in MODES:
        raise SettingsError(f"dictionary: found the mode '{mode}', expected hard or soft.")
    if saved.program.explicit:
        raise SettingsError(
            "dictionary: the model was trained on explicit attributes, and has no words to find phrases in."
        )
    if column is not None and (column not in columns or mode == "soft"):
        found = f"dictionary: found the column '{column}'"
        if mode == "soft":
            raise SettingsError(f"{found}, but a soft dictionary is sought where it was in training.")
        raise SettingsError(f"{found}. {suggestion(column, columns)}")
    if not dictionaries:
        return None
    cut = tokenizer or tokenizer_of(saved.format, saved.options)
    return Used(tuple(dictionaries), cut, column or columns[0], ignore_case or mode == "soft")


def with_soft(saved: SavedModel, soft: Used) -> SavedModel:
    """The model with other phrases in the lists that it was trained to look at: those of a dictionary are all
    replaced, others if the dictionary has their name for a label."""
    program = saved.program
    if not program.lists:
        raise SettingsError(
            "dictionary: the model was trained without one, so it has no weights for matches: train it with "
            "--dictionary FILE (dictionary=… in Python), or use the dictionary as mode=hard."
        )
    dictionary = soft.united
    for label in dictionary.labels:
        if label not in program.lists:
            raise dictionary.place_of(label).error(
                f"found the label '{label}', for which the model has no list. "
                f"{suggestion(label, list(program.lists))}"
            )
    lists = dictionary.lists(soft.tokenizer)
    nothing = _core.PhraseSet([])
    names = dict.fromkeys([*program.dictionary, *lists])
    states = {f"list.{name}": lists.get(name, nothing).states for name in names}
    return replace(saved, arrays=saved.arrays | states)


class HardDictionary:
    """What must be in the outputs of a model because of the phrases in a text."""

    def __init__(self, hard: Used, labels: Sequence[str], scheme: str | None) -> None:
        dictionary = hard.united
        _check_labels(dictionary, labels, scheme)
        self._column = hard.column
        self._finder = dictionary.finder(hard.tokenizer, hard.ignore_case)

    def required(self, block: Block) -> list[tuple[Span, tuple[str, ...]]]:
        """Places in a block (tokens of the block) and the labels that one of may stand there."""
        if not block.table.tokens:
            return []
        found = self._finder.longest(block.table, block.index(self._column))
        return [(Span(begin, end, labels[0]), labels) for begin, end, labels in found]


def _check_labels(dictionary: Dictionary, labels: Sequence[str], scheme: str | None) -> None:
    """An error, where it stands, for a label that the model cannot give."""
    known = list(
        dict.fromkeys(label if label == "O" or not scheme else split_label(label)[1] for label in labels)
    )
    for label in dictionary.labels:
        if label in known:
            continue
        found = f"found the label '{label}'" if label else "found no label behind a tab"
        named = [name for name in known if name not in ("", "O")]
        if not named:
            raise dictionary.place_of(label).error(
                f"{found}, but the spans of this model have no labels: expected the phrase alone"
            )
        more = suggestion(label, known) if label else f"Expected one of: {', '.join(named)}."
        what = "the model does not give" if label else "the model needs"
        raise dictionary.place_of(label).error(f"{found}, which {what}. {more}")
