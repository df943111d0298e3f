"""One bundle per kind of output: the class that a user holds, how outputs are read, written and scored, and
which verbs there are. Kinds are loaded when they are needed, and load scoring when they score."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from marginalia.decode.model import structure_of
from marginalia.decode.structures import STRUCTURES
from marginalia.errors import ModelError
from marginalia.kinds.kind import OutputKind
from marginalia.model import SavedModel, file
from marginalia.model.built_in import model_path

__all__ = ["OutputKind", "kind_of", "load", "model_of"]


def kind_of(structure: str) -> OutputKind[Any]:
    """The kind of output of a structure. The module of a kind has its name, and the kind as `KIND`."""
    kind: OutputKind[Any] = import_module(f"marginalia.kinds.{STRUCTURES[structure].kind}").KIND
    return kind


def model_of(saved: SavedModel) -> Any:
    """A saved model in use, of the class for its kind of output."""
    structure_of(saved)
    return kind_of(saved.structure).model(saved)


def load(path: str | os.PathLike[str], *, map: bool = False) -> Any:
    """The model of a file, or the built-in one of this name; a ModelError says why if it cannot be one. Of a
    bundle it is a `Pipeline`. What happens to the file afterwards does not matter to the model, unless it was
    asked to `map` the file: then its weights are paged in as they are used, by all processes together, and
    nobody may write to or truncate the file meanwhile (to replace it by renaming another one is fine)."""
    found = model_path(path)
    opened = file.open_file(found, map=map)
    try:
        if opened.is_bundle:
            from marginalia.decode.pipeline import Pipeline  # most models are none
            from marginalia.model.bundle import Bundle

            return Pipeline(Bundle.of(opened))
        return model_of(file.saved_model(opened))
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
