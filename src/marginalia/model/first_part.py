"""The first model inside of a model of two stages: what the file has of it (docs/stages.md)."""

from __future__ import annotations

import json
from dataclasses import replace

from marginalia.errors import ModelError
from marginalia.model.provenance import Arrays
from marginalia.model.saved import SavedModel
from marginalia.model.word_tables import tables_in

PREFIX = "first."
_NAMES = ("names", "name_end")


def with_first(saved: SavedModel, first: SavedModel) -> SavedModel:
    """A model with the first one that its templates look at. Both have the same lists and clusters, which are
    kept once; nobody asks for the names of the first model's features."""
    shared = tables_in(saved.arrays)
    own = {name: a for name, a in first.arrays.items() if name not in shared and name not in _NAMES}
    arrays = saved.arrays | {PREFIX + name: array for name, array in own.items()}
    described = json.loads(json.dumps(first.metadata()))  # lists for tuples, as in a file
    return replace(saved, first=described, arrays=arrays)


def first_of(saved: SavedModel) -> SavedModel:
    """The first model; a ModelError if what the file has of it is damaged."""
    return SavedModel.from_metadata(saved.first, _arrays_of(saved))


def first_arrays(arrays: Arrays) -> Arrays:
    """Those of the first model, as the file names them."""
    return {name: array for name, array in arrays.items() if name.startswith(PREFIX)}


def _arrays_of(saved: SavedModel) -> Arrays:
    own = {name.removeprefix(PREFIX): array for name, array in first_arrays(saved.arrays).items()}
    if not saved.first or not own:
        raise ModelError("the model is damaged: its first model is incomplete.")
    return own | tables_in(saved.arrays)
