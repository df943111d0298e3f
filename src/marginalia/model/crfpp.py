"""CRF++'s text models (`crf_learn -t`): a header, labels, templates, features by number, weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia.errors import ModelError
from marginalia.model.constants import MOST_LABELS

MAGIC = b"version:"


class CrfppModel(NamedTuple):
    """What the file holds; the weights of feature f are those from `features[f]` on."""

    columns: int
    labels: list[str]
    templates: str
    features: dict[str, int]
    weights: npt.NDArray[np.float64]


class _Lines:
    """The lines of the file, with their numbers for errors."""

    def __init__(self, text: str) -> None:
        self._lines, self.number = iter(text.split("\n")), 0

    def section(self) -> Iterator[str]:
        """The lines up to the next blank one."""
        for line in self._lines:
            self.number += 1
            line = line.removesuffix("\r")
            if not line:
                return
            yield line

    def error(self, message: str) -> ModelError:
        return ModelError(f"line {self.number} of the CRF++ model: {message}.")


def read_crfpp_model(data: bytes) -> CrfppModel:
    """The parts of a text model; a ModelError says what is wrong with it."""
    try:
        lines = _Lines(data.decode())
    except UnicodeDecodeError as error:
        raise ModelError(f"the CRF++ model is not UTF-8 text: {error}.") from None
    header = _header(lines)
    labels = list(lines.section())
    if not labels or len(set(labels)) < len(labels):
        raise lines.error(f"found {len(labels)} labels, expected distinct ones before a blank line")
    if len(labels) > MOST_LABELS:
        raise lines.error(f"found {len(labels)} labels, expected at most {MOST_LABELS}")
    templates = "\n".join(lines.section())
    features = dict(_feature(line, lines) for line in lines.section())
    weights = np.array([_number(line, lines) for line in lines.section()])
    _check(features, weights, len(labels), int(header["maxid"]))
    # The cost factor multiplies all scores.
    return CrfppModel(int(header["xsize"]), labels, templates, features, weights * header["cost-factor"])


def _header(lines: _Lines) -> dict[str, float]:
    header: dict[str, float] = {}
    for line in lines.section():
        name, colon, value = line.partition(":")
        if not colon:
            raise lines.error(f"found {line!r}, expected NAME: NUMBER")
        header[name] = _number(value, lines)
    missing = [name for name in ("version", "cost-factor", "maxid", "xsize") if name not in header]
    if missing:
        raise lines.error(f"the header ends without {' and '.join(missing)}")
    if int(header["version"]) // 100 != 1:
        raise lines.error(f"found version {header['version']:g}, expected 100")
    if not 1 <= header["xsize"] <= 1000:
        raise lines.error(f"found {header['xsize']:g} columns, expected at least one")
    return header


def _number(text: str, lines: _Lines) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise lines.error(f"found {text.strip()!r}, expected a number")
    return number


def _feature(line: str, lines: _Lines) -> tuple[str, int]:
    number, blank, name = line.partition(" ")
    if not blank or not number.isdigit() or name[:1] not in ("U", "B"):
        raise lines.error(f"found {line!r}, expected the number and the name of a feature")
    return name, int(number)


def _check(features: dict[str, int], weights: npt.NDArray[np.float64], labels: int, maxid: int) -> None:
    if len(weights) != maxid:
        raise ModelError(f"the CRF++ model is truncated: found {len(weights)} weights, expected {maxid}.")
    free = 0  # behind the weights of the features so far
    for name, first in sorted(features.items(), key=lambda feature: feature[1]):
        if first < free:
            raise ModelError(f"the CRF++ model is damaged: the weights of {name!r} are also another's.")
        free = first + (labels if name[0] == "U" else labels * labels)
        if free > maxid:
            raise ModelError(f"the CRF++ model is damaged: the weights of {name!r} lie outside of the file.")
