"""What trained models of every kind of output share: files, weights, dictionaries, temperature."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from marginalia.corpus.blocks import ATTRIBUTES, Block, pack
from marginalia.corpus.records import Sentence
from marginalia.corpus.streams import Source, Target, open_target
from marginalia.decode.confidence import temperature_of
from marginalia.decode.dictionaries import (
    HardDictionary,
    ModelDictionaries,
    ResolvedDictionaries,
    resolve_dictionaries,
)
from marginalia.decode.inputs import Input, record_of
from marginalia.decode.structures import STRUCTURES, Structure, StructureDecoder
from marginalia.errors import ModelError, SettingsError
from marginalia.model import SavedModel, file

if TYPE_CHECKING:
    from marginalia.features.dictionary import Dictionary

Own = TypeVar("Own", bound="TrainedModel")


class TrainedModel:
    """A trained model of some kind of output. It never changes and may be used from many threads at once."""

    kind: ClassVar[str]  # the kind of output that it gives, as `Structure.kind`

    def __init__(self, saved: SavedModel) -> None:
        self.saved = saved
        self.decoder = _decoder_of(saved, structure_of(saved, self.kind))
        self._dictionaries = ModelDictionaries(saved)
        self._hard: HardDictionary | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it gives, as users see them."""
        return self.saved.labels

    @cached_property
    def feature_columns(self) -> tuple[str, ...]:
        """The columns that an input must have."""
        if self.saved.program.explicit:
            return (ATTRIBUTES,)
        needed = self.saved.program.columns
        return tuple(name for name in self.saved.columns if name in needed) or self.saved.columns[:1]

    @property
    def temperature(self) -> float | None:
        """What scores are divided by to be log-probabilities; None if the model gives no probabilities."""
        return temperature_of(self.saved)

    def export_weights(self, target: Target) -> None:
        """Write all weights as a table to be edited (docs/inspect.md)."""
        from marginalia.model.weights_text import weight_lines

        with open_target(target) as write:
            for line in weight_lines(self.saved):
                write(line)

    def with_weights(self: Own, source: Source) -> Own:
        """The model with the weights of such a table."""
        from marginalia.model.weights_text import with_weights

        return self.with_parts(
            replace(self._dictionaries, base=with_weights(self._dictionaries.base, source))
        )

    def with_dictionary(
        self: Own,
        *dictionaries: Dictionary | str | os.PathLike[str] | Mapping[Any, Any],
        mode: str = "hard",
        column: str | None = None,
        ignore_case: bool = False,
        tokenizer: str | None = None,
    ) -> Own:
        """The model with dictionaries (or files, or phrases with labels) in place of others of that mode.

        `hard`: the longest phrases in a sentence get their labels, and the rest is the best output that there
        is with them. `soft`: matches are features, which the model must have been trained with. `column` is
        where a hard dictionary's phrases are sought (the first that the model needs), `tokenizer` what cuts
        them into tokens (as the training text was cut). Weights are shared; no dictionaries: as before.
        """
        from marginalia.features.dictionary import dictionary_of

        given = [dictionary_of(dictionary) for dictionary in dictionaries]
        options = (mode, column, ignore_case, tokenizer)
        new = resolve_dictionaries(self.saved, self.feature_columns, given, *options)
        own = self._dictionaries
        return self.with_parts(replace(own, soft=new) if mode == "soft" else replace(own, hard=new))

    def with_hypotheses(self: Own, hypotheses: int) -> Own:
        """The model, which has global features, looking at so many of the best outputs by local ones."""
        from marginalia.model.global_part import MOST_HYPOTHESES

        base = self._dictionaries.base
        if not base.global_features:
            raise ModelError("the model has no global features: there is only one best output by local ones.")
        if type(hypotheses) is not int or not 1 <= hypotheses <= MOST_HYPOTHESES:
            raise SettingsError(
                f"hypotheses: found {hypotheses!r}, expected a whole number from 1 to {MOST_HYPOTHESES:,}."
            )
        told = base.global_features | {"hypotheses": hypotheses}
        return self.with_parts(replace(self._dictionaries, base=replace(base, global_features=told)))

    def reloaded(self: Own) -> Own:
        """The model with its dictionaries as their files are now: itself if none has changed. A DataError for
        a file that is not good; this one can go on with what it has."""
        newer = self._dictionaries.reloaded()
        return self if newer is self._dictionaries else self.with_parts(newer)

    @property
    def dictionaries(self) -> ModelDictionaries:
        """The saved model and the dictionaries that were added to it."""
        return self._dictionaries

    @classmethod
    def with_parts(cls: type[Own], own: ModelDictionaries) -> Own:
        """The model of a saved one with dictionaries."""
        made = cls(own.model_in_use())
        made._dictionaries = own
        if own.hard is not None:
            made._hard = HardDictionary(own.hard, made.labels, made.saved.scheme)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; an old file of that name survives any failure."""
        file.save(self._kept, path)

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return file.to_bytes(self._kept)

    @property
    def _kept(self) -> SavedModel:
        """What a file has of the model: hard dictionaries are not part of it."""
        return self.saved if self._dictionaries.hard is None else self._dictionaries.model()

    @classmethod
    def load(cls: type[Own], path: str | os.PathLike[str], *, map: bool = False) -> Own:
        """The model of a file; a ModelError says why if it cannot be one, or not one of this kind. `map` is
        for files that nobody changes: see `marginalia.load`."""
        saved = file.load(path, map=map)
        try:
            return cls(saved)
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from None

    @classmethod
    def from_bytes(cls: type[Own], data: bytes) -> Own:
        """The model of `to_bytes`."""
        return cls(file.from_bytes(data))

    def __reduce__(self: Own) -> tuple[Callable[..., Own], tuple[Any, ...]]:
        own = self._dictionaries
        return _unpickled, (type(self), file.to_bytes(own.base), own.soft, own.hard)

    def _record(self, given: Input, number: int = 0) -> Sentence:
        return record_of(given, self.feature_columns, self.saved.program.explicit, number)

    def _block(self, given: Input) -> Block:
        """One input, ready for the decoder."""
        return pack([self._record(given)], self.feature_columns)


def _decoder_of(saved: SavedModel, structure: Structure) -> StructureDecoder:
    """The answers of a model; with global features over those of its structure, with a first model over what
    that one says."""
    if saved.first:
        return _staged(saved, structure)
    base = structure.decoder(saved)
    if not saved.global_features:
        return base
    from marginalia.decode.global_decoder import GlobalDecoder, proposing  # most models have none

    if structure.global_tiers is None:
        raise ModelError(f"models of the structure {saved.structure} cannot have global features.")
    token_bytes = structure.token_bytes(len(saved.labels), saved.settings_as(structure.record))
    proposer = structure.decoder(proposing(saved)) if saved.global_features.get("base") else None
    return GlobalDecoder(saved, cast(Any, base), token_bytes, cast(Any, proposer))


def _staged(saved: SavedModel, structure: Structure) -> StructureDecoder:
    from marginalia.decode.staged import StagedDecoder  # most models have one stage
    from marginalia.features.documents import FIRST_COLUMNS
    from marginalia.model.first_part import first_of

    first = first_of(saved)
    wide = replace(saved, columns=(*saved.columns, *FIRST_COLUMNS), first={})
    answers = structure_of(first, structure.kind).decoder(first)
    return cast(StructureDecoder, StagedDecoder(first, answers, structure.decoder(wide)))


def structure_of(saved: SavedModel, kind: str | None = None) -> Structure:
    """The structure of a model; an error if it is not known, or if its outputs are not of this kind."""
    structure = STRUCTURES.get(saved.structure)
    if structure is None:
        raise ModelError(
            f"the model has the structure '{saved.structure}', which this version does not know."
        )
    if kind not in (None, structure.kind):
        raise ModelError(
            f"the model has the structure '{saved.structure}', whose outputs are {structure.kind}, not "
            f"{kind}; marginalia.load gives models of every kind."
        )
    return structure


def _unpickled(
    made: type[Own], data: bytes, soft: ResolvedDictionaries | None, hard: ResolvedDictionaries | None
) -> Own:
    return made.with_parts(ModelDictionaries(file.from_bytes(data), soft, hard))
