"""What an exported program knows of a model: numbers as base64 text, everything else as plain data."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.schemes import legal_transitions
from marginalia.corpus.settings import DataSettings
from marginalia.decode.model import TrainedModel
from marginalia.decode.segments import NO_LABEL, SegmentSettings, inside_labels
from marginalia.decode.settings import SearchSettings
from marginalia.errors import ModelError
from marginalia.features.compiling import is_label_bigram
from marginalia.features.program import Value
from marginalia.kinds import kind_of
from marginalia.model import SavedModel
from marginalia.model.constants import ChainSettings
from marginalia.model.rules_part import has_rules
from marginalia.model.word_tables import word_tables_of

_PLAIN = ("column", "first", "prefix", "suffix", "width", "nfkc")  # functions that need no Unicode tables


def export_data(tagger: TrainedModel) -> dict[str, Any]:
    """All that a program needs to know of a model; a ModelError for what no program can do."""
    saved = tagger.saved
    _check(saved)
    return _interface(tagger) | _program(saved) | _weights(saved) | _STRUCTURES[saved.structure](saved)


def _check(saved: SavedModel) -> None:
    if saved.structure not in _STRUCTURES:
        why = kind_of(saved.structure).refusals.get("export", "there is no program for it")
        raise ModelError(f"a model of the structure '{saved.structure}' cannot be exported: {why}.")
    if "vote_steps" in saved.arrays:
        raise ModelError(
            "a voted model cannot be exported: shrink it first, which leaves the mean of its versions."
        )
    if saved.settings_as(SearchSettings).beam_width:
        raise ModelError("a model that searches by beam cannot be exported: train it with search=exact.")
    if has_rules(saved):
        raise ModelError("a model of rules cannot be exported: programs have none.")
    if saved.program.explicit:
        raise ModelError("a model of explicit attributes cannot be exported: what makes them is not in it.")
    if saved.global_features:
        raise ModelError("a model with global features cannot be exported: programs have none.")
    if saved.program.of_documents:
        raise ModelError("a model whose templates look at whole documents cannot be exported.")
    if saved.settings_as(DataSettings).whole_documents:
        raise ModelError("a model of whole documents (unit=document) cannot be exported.")


def _interface(tagger: TrainedModel) -> dict[str, Any]:
    """Names of columns and labels; both schemes are None if labels need not be spelled anew."""
    saved = tagger.saved
    schemes = (saved.encoding, saved.scheme)
    other = None not in schemes and schemes[0] != schemes[1]
    return {
        "labels": list(saved.labels),
        "encoding": saved.encoding if other else None,
        "scheme": saved.scheme if other else None,
        "columns": list(saved.columns) if saved.format == "conll" else [*tagger.feature_columns, saved.label],
        "label": saved.label,
        "needed": list(tagger.feature_columns),
        "tabs": saved.options.get("separator") == "\t",
        "filler": "O" if "O" in tagger.labels else "_",
    }


def _program(saved: SavedModel) -> dict[str, Any]:
    program = saved.program
    attributes = [[a.function, a.argument, a.column] for a in program.attributes]
    functions = {a.function for a in program.attributes}
    plain = functions <= {*_PLAIN}
    ranges, lowers, widths = _core.unicode_tables()
    return {
        "attributes": attributes,
        "templates": [
            [t.scope, [_piece(piece) for piece in t.pieces]]
            for t in program.templates
            if not is_label_bigram(t)
        ],
        "ranges": _text(ranges[:0] if plain else ranges),
        "lowers": _text(lowers[:0] if plain else lowers),
        "widths": _text(widths if "width" in functions else widths[:0]),
        "lists": {name: _text(saved.arrays[f"list.{name}"]) for name in program.lists},
        "words": {
            name: {
                "entries": _text(table.entries),
                "texts": "\n".join(table.texts),
                "any_case": table.any_case,
            }
            for name, table in word_tables_of(saved).items()
        },
    }


def _piece(piece: str | Value) -> str | list[Any]:
    if isinstance(piece, str):
        return piece
    fields = [piece.attribute, piece.offset, piece.absolute, list(piece.before), list(piece.after)]
    return [*fields, piece.anchor] if piece.anchor else fields


def _weights(saved: SavedModel) -> dict[str, Any]:
    """The table of features without its empty slots."""
    arrays = saved.arrays
    used = arrays["keys"] != 0
    highest = int(saved.outputs().max(initial=0))
    outputs = saved.outputs().astype(
        np.uint8 if highest < 1 << 8 else np.uint16 if highest < 1 << 16 else np.uint32
    )
    extra = arrays.get("scale", arrays.get("codebook", np.zeros(0, np.float32)))
    return {
        "short_keys": saved.is_shrunk,
        "keys": _text(arrays["keys"][used]),
        "row_end": _text(saved.row_ends()[used].astype(np.uint32)),
        "edges": _text(np.flatnonzero(saved.edges()[used]).astype(np.uint32)),
        "output_bytes": outputs.itemsize,
        "outputs": _text(outputs),
        "weight_bits": 8 * arrays["weights"].itemsize,
        "weights": _text(arrays["weights"]),
        "codebook": _text(extra),
    }


def _chain(saved: SavedModel) -> dict[str, Any]:
    """Scores of labels at the ends and of their neighbours, -inf for what is not legal."""
    size, order = len(saved.labels), saved.settings_as(ChainSettings).order
    scheme = saved.encoding if saved.settings_as(ChainSettings).legal else None
    start, transition, end = legal_transitions(saved.labels, scheme)
    masks = np.concatenate([start, end, transition.reshape(-1)])
    constants = np.zeros(masks.size + ((size + 1) * size * size if order == 2 else 0), np.float32)
    constants[saved.arrays["constant_at"]] = saved.arrays["constants"]
    constants[: masks.size][masks == 0] = -np.inf
    trigrams = constants[masks.size :]
    at = np.flatnonzero(trigrams)
    return {
        "structure": "chain",
        "order": order,
        "local": saved.settings_as(SearchSettings).stepwise,
        "start": _text(constants[:size]),
        "end": _text(constants[size : 2 * size]),
        "transition": _text(constants[2 * size : masks.size]),
        "trigram_at": _text(at.astype(np.uint32)),
        "trigram": _text(trigrams[at]),
    }


def _segments(saved: SavedModel) -> dict[str, Any]:
    """The constants of a segment model by types, which are known by the labels that begin them."""
    size = len(saved.labels)
    inside = inside_labels(saved.labels, saved.encoding)
    begin = [label for label in range(size) if inside[label] != label]
    constants = np.zeros(2 * size + size * size, np.float32)
    constants[saved.arrays["constant_at"]] = saved.arrays["constants"]
    return {
        "structure": "segments",
        "most": saved.settings_as(SegmentSettings).max_length,
        "begin_label": begin,
        "inside_label": [inside[label] if inside[label] != NO_LABEL else None for label in begin],
        "start": _text(constants[:size][begin]),
        "end": _text(constants[size : 2 * size][begin]),
        "transition": _text(constants[2 * size :].reshape(size, size)[np.ix_(begin, begin)]),
    }


_STRUCTURES = {"chain": _chain, "segments": _segments}


def _text(array: npt.NDArray[Any]) -> str:
    """Little endian, as base64."""
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return base64.b64encode(plain.tobytes()).decode()
