"""Dictionaries of users in a model's use: `soft`, as features that it was trained with, or `hard`, as what
must be in its output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marginalia import _core
from marginalia.config import suggestion
from marginalia.corpus.blocks import Block
from marginalia.corpus.schemes import UNTYPED
from marginalia.decode.constraints import At, Names
from marginalia.errors import SettingsError
from marginalia.model import SavedModel

if TYPE_CHECKING:  # most models are used without: start-up time is part of every short run
    from marginalia.features.dictionary import Dictionary

MODES = ("hard", "soft")


class ResolvedDictionaries(NamedTuple):
    """Dictionaries, and how phrases are compared with text."""

    dictionaries: tuple[Dictionary, ...]
    tokenizer: str
    column: str = ""
    ignore_case: bool = True

    def reloaded(self) -> ResolvedDictionaries:
        """With what is in their files now; itself if that is the same."""
        newer = tuple(dictionary.reloaded() for dictionary in self.dictionaries)
        same = all(a is b for a, b in zip(newer, self.dictionaries, strict=True))
        return self if same else self._replace(dictionaries=newer)

    @property
    def united(self) -> Dictionary:
        """All phrases."""
        from marginalia.features.dictionary import united

        return self.dictionaries[0] if len(self.dictionaries) == 1 else united(self.dictionaries)


@dataclass(frozen=True)
class ModelDictionaries:
    """The dictionaries of a model, which is `base` without them."""

    base: SavedModel
    soft: ResolvedDictionaries | None = None
    hard: ResolvedDictionaries | None = None

    def reloaded(self) -> ModelDictionaries:
        """With what is in their files now; itself if that is the same."""
        soft, hard = (one and one.reloaded() for one in (self.soft, self.hard))
        return self if soft is self.soft and hard is self.hard else replace(self, soft=soft, hard=hard)

    def model(self) -> SavedModel:
        """The model with the phrases of the soft dictionaries as its own."""
        return self.base if self.soft is None else with_soft(self.base, self.soft)

    def model_in_use(self) -> SavedModel:
        """The same, with segments that may be as long as phrases of the hard dictionaries."""
        return self.model() if self.hard is None else with_lengths(self.model(), self.hard)


def resolve_dictionaries(
    saved: SavedModel,
    columns: Sequence[str],
    dictionaries: Sequence[Dictionary],
    mode: str,
    column: str | None,
    ignore_case: bool,
    tokenizer: str | None,
) -> ResolvedDictionaries | None:
    """Dictionaries for a model that reads these columns; None if there are none. What makes no sense is an
    error."""
    from marginalia.corpus.tokenizers import tokenizer_of

    if mode not in MODES:
        raise SettingsError(f"dictionary: found the mode '{mode}', expected hard or soft.")
    if saved.program.explicit:
        raise SettingsError(
            "dictionary: the model was trained on explicit attributes, and has no words to find phrases in."
        )
    if any(template.scope == "item" for template in saved.program.templates):
        raise SettingsError("dictionary: the model reads whole items, which have no tokens to find.")
    if column is not None and (column not in columns or mode == "soft"):
        found = f"dictionary: found the column '{column}'"
        if mode == "soft":
            raise SettingsError(f"{found}, but a soft dictionary is sought where it was in training.")
        raise SettingsError(f"{found}. {suggestion(column, columns)}")
    if not dictionaries:
        return None
    cut = tokenizer or tokenizer_of(saved.format, saved.options)
    return ResolvedDictionaries(tuple(dictionaries), cut, column or columns[0], ignore_case or mode == "soft")


def with_soft(saved: SavedModel, soft: ResolvedDictionaries) -> SavedModel:
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
        if (label or UNTYPED) not in program.lists:
            raise dictionary.place_of(label).error(
                f"found the label '{label}', for which the model has no list. "
                f"{suggestion(label, list(program.lists))}"
            )
    lists = dictionary.lists(soft.tokenizer)
    nothing = _core.PhraseSet([])
    names = dict.fromkeys([*program.dictionary, *lists])
    states = {f"list.{name}": lists.get(name, nothing).states for name in names}
    return replace(saved, arrays=saved.arrays | states)


def with_lengths(saved: SavedModel, hard: ResolvedDictionaries) -> SavedModel:
    """The model with segments as long as the longest phrase, if they have a greatest length: else such a
    phrase could not be one."""
    from marginalia.decode.segments import MOST_TOKENS

    most = saved.settings.get("max-length")
    longest = max(dictionary.most_tokens(hard.tokenizer) for dictionary in hard.dictionaries)
    if not isinstance(most, int) or longest <= most:
        return saved
    return replace(saved, settings=saved.settings | {"max-length": min(longest, MOST_TOKENS)})


class HardDictionary:
    """Constraints on outputs by the phrases in a text. It may be used from many threads at once."""

    def __init__(self, hard: ResolvedDictionaries, labels: Sequence[str], scheme: str | None) -> None:
        dictionary = hard.united
        _check_labels(dictionary, Names(labels, scheme))
        self._column = hard.column
        self._finder = dictionary.finder(hard.tokenizer, hard.ignore_case)
        if scheme and (phrase := self._finder.also_outside) is not None:
            raise dictionary.place_of("O").error(f"found '{phrase}' as O and as something else")

    def constraints(self, block: Block) -> list[list[At]]:
        """By sentence of a block: phrases with what they must be."""
        starts = block.table.sentence_starts
        found: list[list[At]] = [[] for _ in range(block.table.sentences)]
        if not block.table.tokens:  # such a block may have no columns
            return found
        column = block.index(self._column)
        matches = self._finder.longest(block.table, column)
        sentences = np.searchsorted(starts, [begin for begin, _, _ in matches], "right") - 1
        for s, (begin, end, labels) in zip(sentences.tolist(), matches, strict=True):
            phrase = " ".join(block.table.column_slice(column, begin, end))
            names = tuple(label or UNTYPED for label in labels)
            first = int(starts[s])
            found[s].append(At(begin - first + 1, end - first, names, phrase=phrase))
        return found


def _check_labels(dictionary: Dictionary, names: Names) -> None:
    """An error, where it stands, for a label that the model cannot give."""
    types = sorted(name for name, type_ in names.types.items() if type_)
    known = [*names.types, *(["O"] if "O" in names.labels else [])] if names.scheme else list(names.labels)
    for label in dictionary.labels:
        if (label or UNTYPED) in known:
            continue
        place = dictionary.place_of(label)
        if label:
            problem = f"found the label '{label}', which the model does not give."
            raise place.error(f"{problem} {suggestion(label, known)}")
        more = ", ".join(types if names.scheme else known)
        raise place.error(f"found no label, expected phrase, tab and one of: {more}")
