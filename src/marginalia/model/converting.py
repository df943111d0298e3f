"""Models of other programs as ours: the same features, the same weights, the same outputs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.blocks import column_names, guess_names
from marginalia.corpus.crfsuite import COLUMNS, LABEL
from marginalia.corpus.schemes import detect_from_pairs, scheme_named
from marginalia.errors import ModelError, SettingsError
from marginalia.features.compiling import is_label_bigram
from marginalia.features.crfpp import parse_crfpp
from marginalia.features.program import EXPLICIT, TemplateProgram
from marginalia.features.reading import Columns
from marginalia.model import crfpp, crfsuite
from marginalia.model.constants import constant_count, constant_place
from marginalia.model.freezing import Cells, Features, built_arrays
from marginalia.model.provenance import Arrays
from marginalia.model.saved import SavedModel

# What the other programs do: label bigrams, and any label after any other.
_SETTINGS = {"order": 1, "legal": False, "unit": "sentence"}


def convert(
    path: str | os.PathLike[str], *, scheme: str = "auto", columns: str | Sequence[str] | None = None
) -> SavedModel:
    """The model of CRFsuite or CRF++ (as text) in a file, as one of ours.

    `scheme` is that of its labels: auto finds it by the transitions that the model likes, none means plain
    tags. `columns` names the columns of the data of a CRF++ model, with or without that of the labels.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ModelError(f"{path}: cannot read the model: {error.strerror}.") from error
    try:
        return _converted(data, scheme, column_names(columns))
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def _converted(data: bytes, scheme: str, columns: tuple[str, ...]) -> SavedModel:
    if data.startswith(crfsuite.MAGIC):
        if columns:
            raise SettingsError("columns are for models of CRF++; those of CRFsuite have attributes.")
        return _from_crfsuite(data, scheme)
    if data.startswith(crfpp.MAGIC):
        return _from_crfpp(data, scheme, columns)
    if data[:4] == (100).to_bytes(4, "little"):
        raise ModelError(
            "this may be a binary model of CRF++: convert its text form, which crf_learn writes with -t."
        )
    raise ModelError("not a model of CRFsuite, nor a text model of CRF++.")


def _from_crfsuite(data: bytes, scheme: str) -> SavedModel:
    model = crfsuite.read_crfsuite_model(data)
    size = len(model.labels)
    edges = np.zeros(len(model.attributes), np.uint8)
    states, moves = model.states, model.transitions
    cells = Cells(states["source"] + 1, states["target"], states["weight"])
    pairs = moves["source"].astype(np.int64) * size + moves["target"]
    transitions = np.zeros(size * size)
    np.add.at(transitions, pairs, moves["weight"])
    arrays = _arrays(model.attributes, edges, cells, transitions, size)
    return _saved(data, model.labels, EXPLICIT, COLUMNS, LABEL, "crfsuite", scheme, transitions, arrays, {})


def _from_crfpp(data: bytes, scheme: str, columns: tuple[str, ...]) -> SavedModel:
    model = crfpp.read_crfpp_model(data)
    names = columns or guess_names(model.columns + 1)
    if len(names) == model.columns:
        names = (*names, "label")
    if len(names) != model.columns + 1:
        raise SettingsError(
            f"columns: found {len(names)} names, expected {model.columns}, and one more for the label."
        )
    try:
        program = parse_crfpp(model.templates, Columns(names, names[-1]), file="the model's templates")
    except SettingsError as error:
        raise ModelError(f"the CRF++ model is damaged: {error}") from None
    bigrams = {"".join(map(str, t.pieces)) for t in program.templates if is_label_bigram(t)}
    size = len(model.labels)
    transitions = np.zeros(size * size)
    for name in bigrams & model.features.keys():
        transitions += model.weights[model.features[name] :][: size * size]
    observed = [name for name in model.features if name not in bigrams]
    edges = np.array([name[0] == "B" for name in observed], np.uint8)
    cells = _cells_of(model, observed, size)
    arrays = _arrays([name.encode() for name in observed], edges, cells, transitions, size)
    options = {"comments": None}
    return _saved(
        data, model.labels, program, names, names[-1], "conll", scheme, transitions, arrays, options
    )


def _cells_of(model: crfpp.CrfppModel, names: Sequence[str], size: int) -> Cells:
    widths = np.array([size if name[0] == "U" else size * size for name in names], np.int64)
    firsts = np.array([model.features[name] for name in names], np.int64)
    rows = np.repeat(np.arange(1, len(names) + 1), widths)
    outputs = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
    return Cells(rows, outputs, model.weights[np.repeat(firsts, widths) + outputs])


def _arrays(
    names: Sequence[bytes],
    edges: npt.NDArray[np.uint8],
    cells: Cells,
    transitions: npt.NDArray[np.float64],
    size: int,
) -> Arrays:
    """The arrays of a model file, of these cells and of transitions by pair of labels."""
    moves = np.flatnonzero(transitions)
    at = constant_place("transition", (0, 0), size)
    constants = Cells(np.zeros(len(moves)), at + moves, transitions[moves])
    rows, outputs, weights = (np.concatenate(both) for both in zip(constants, cells, strict=True))
    order = np.lexsort((outputs, rows))
    sorted_cells = Cells(rows[order], outputs[order], weights[order])
    ends = np.cumsum([len(name) for name in names], dtype=np.uint64)
    try:
        features = Features(_core.feature_keys(b"".join(names), ends, edges), edges, names)
        return built_arrays(features, sorted_cells, size, constant_count(size, 1))
    except ValueError as error:
        raise ModelError(f"the model cannot be converted: {error}.") from error


def _saved(
    data: bytes,
    labels: Sequence[str],
    program: TemplateProgram,
    columns: tuple[str, ...],
    label: str,
    format: str,
    scheme: str,
    transitions: npt.NDArray[np.float64],
    arrays: Arrays,
    options: dict[str, Any],
) -> SavedModel:
    if not labels or len(set(labels)) < len(labels):
        raise ModelError("the model is damaged: it has no labels, or one of them twice.")
    chosen = _scheme(labels, scheme, transitions)
    return SavedModel(
        labels=tuple(labels),
        program=program,
        columns=columns,
        label=label,
        scheme=chosen,
        encoding=chosen,
        structure="chain",
        learner="crf",
        settings=dict(_SETTINGS),
        seed=0,
        format=format,
        options=options,
        fingerprint=hashlib.blake2b(data, digest_size=16).hexdigest(),
        arrays=arrays,
    )


def _scheme(labels: Sequence[str], wanted: str, transitions: npt.NDArray[np.float64]) -> str | None:
    if wanted.lower() == "none":
        return None
    if wanted.lower() != "auto":
        chosen = scheme_named(wanted)
        if odd := [label for label in labels if not chosen.spells(label)]:
            raise SettingsError(f"scheme: found {chosen.name}, which has no label '{odd[0]}'.")
        return chosen.name
    liked = np.flatnonzero(transitions.reshape(len(labels), -1) > 0)
    pairs = {(labels[i // len(labels)], labels[i % len(labels)]): 1 for i in liked.tolist()}
    return detect_from_pairs({("", label): 0 for label in labels} | pairs)
