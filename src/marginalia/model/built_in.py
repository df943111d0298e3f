"""The models that come with the package, each a file beside a note of where it comes from."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "data" / "models"


@dataclass(frozen=True)
class BuiltInModel:
    """A model that comes with the package: its name, its file, and what the bundle says of itself."""

    name: str
    path: Path
    size: int
    about: dict[str, Any]


def built_in_names() -> list[str]:
    """The names that `load` takes."""
    return sorted(path.stem for path in FOLDER.glob("*.mg"))


def built_in_models() -> list[BuiltInModel]:
    """All of them, with size, licence and scores."""
    paths = [FOLDER / f"{name}.mg" for name in built_in_names()]
    return [BuiltInModel(path.stem, path, path.stat().st_size, _about(path)) for path in paths]


def model_path(name: str | os.PathLike[str]) -> str:
    """Where a model is: the file of this path if there is one, else the built-in model of this name, else the
    path as it is."""
    path = os.fspath(name)
    if not os.path.isfile(path) and path in built_in_names():
        return str(FOLDER / f"{path}.mg")
    return path


def _about(path: Path) -> dict[str, Any]:
    """What the bundle says of itself, without its arrays."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        described: dict[str, Any] = json.loads(json.loads(file.read(size))["__metadata__"]["model"])["bundle"]
    return described
