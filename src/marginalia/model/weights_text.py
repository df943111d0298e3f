r"""A model's weights as a table that people can edit: tab-separated lines of kind, feature, labels, weight.

Kinds are `start`, `end`, `transition` and `trigram` (of labels alone), `feature` (seen with a label), `edge`
(seen with two) and `global` (of whole outputs). The labels of parsers are their actions. Labels stand with
blanks between them; `^` is what stands before a sentence. Tabs, line breaks and backslashes are written `\t`,
`\n`, `\r` and `\\`, blanks in labels `\s`, a label `^` `\^`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn, TypeVar

import numpy as np

from marginalia import _core
from marginalia.config import suggestion
from marginalia.corpus.streams import Source, name_of, read_lines
from marginalia.errors import DataError, ModelError
from marginalia.features.compiling import extracted, has_ends, has_label_bigram
from marginalia.features.program import TemplateProgram
from marginalia.model.constants import KINDS as CONSTANTS
from marginalia.model.constants import ChainSettings, constant_at, constant_count, constant_place
from marginalia.model.freezing import Cells, Features, built_arrays
from marginalia.model.global_part import PREFIX, global_names
from marginalia.model.outputs import output_names
from marginalia.model.provenance import Arrays
from marginalia.model.rules_part import (
    RuleAtoms,
    atoms_in,
    atoms_refused,
    has_rules,
    joined,
    known_rules,
    label_form,
    neighbours_in,
    with_new_rules,
)
from marginalia.model.saved import SavedModel
from marginalia.model.word_tables import tables_in

HEADER = ("kind", "feature", "labels", "weight")
_GLOBAL = "global"
_LABELS = {**CONSTANTS, "feature": 1, "edge": 2, _GLOBAL: 0}
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", "^": "^"}
_BEFORE = "^"
_KEY = re.compile(r"#([0-9a-f]{16})")

T = TypeVar("T")
Place = tuple[int, int]
"""The key of a feature (0: the constants), and an output."""


def weight_lines(saved: SavedModel) -> Iterator[str]:
    """The lines of the table, sorted by kind, feature and labels' numbers."""
    yield "\t".join(HEADER) + "\n"
    size, labels = len(saved.labels), [_label(name) for name in output_names(saved)]
    at, constants = (saved.arrays[name] for name in ("constant_at", "constants"))
    for place, weight in sorted(zip(at.tolist(), constants, strict=True)):
        kind, ids = constant_at(place, size)
        yield _line(kind, "", [_BEFORE if i == size else labels[i] for i in ids], weight)
    rows = np.flatnonzero(saved.arrays["keys"]).tolist()
    name_of = _names(saved)
    named = sorted((saved.is_edge(row), name_of(row), row) for row in rows)
    for edge, name, row in named:
        for output, weight in zip(*saved.cells(row), strict=True):
            if weight:
                ids = divmod(int(output), saved.width) if edge else (int(output),)
                yield _line("edge" if edge else "feature", name, [labels[i] for i in ids], weight)
    for name, weight in sorted(_global_weights(saved).items()):
        yield _line(_GLOBAL, name, [], weight)


def _global_weights(saved: SavedModel) -> dict[str, np.float32]:
    """Those of global features that are not zero, by name."""
    weights = saved.arrays.get(f"{PREFIX}weights", ())
    return {name: weight for name, weight in zip(global_names(saved.arrays), weights, strict=True) if weight}


def _names(saved: SavedModel) -> Callable[[int], str]:
    """What features are called in the table: by their names, or `#` and their keys if names were not kept."""
    if "names" not in saved.arrays:
        return lambda row: f"#{int(saved.arrays['keys'][row]):016x}"
    if not has_rules(saved):
        return saved.feature_name
    atoms = RuleAtoms(saved)
    return lambda row: joined(atoms.of(row))


def _line(kind: str, feature: str, labels: Sequence[str], weight: np.float32) -> str:
    # numpy writes the shortest number that is this float and no other.
    return f"{kind}\t{_escaped(feature)}\t{' '.join(labels)}\t{weight!s}\n"


def _escaped(text: str) -> str:
    return re.sub(r"[\\\t\n\r]", lambda found: _ESCAPES[found[0]], text)


def _label(label: str) -> str:
    return "\\^" if label == _BEFORE else _escaped(label).replace(" ", "\\s")


@dataclass
class _Table:
    """What was read: weights by place, the names of all features, and the atoms of rules."""

    weights: dict[Place, np.float32]
    names: dict[int, str]
    edges: dict[int, bool]
    rules: dict[int, list[str]] = field(default_factory=dict)
    global_weights: dict[str, np.float32] = field(default_factory=dict)


def with_weights(saved: SavedModel, source: Source) -> SavedModel:
    """The model with the weights of a table, and no others; unchanged if they are the same.

    The table may lack weights, and have new ones: of new features too, if some template could have made
    them. What was kept to continue training or to tell where weights come from is left out then.
    """
    if "vote_steps" in saved.arrays or f"{PREFIX}vote_steps" in saved.arrays:
        raise ModelError("the versions of the model's weights vote: its weights cannot be edited.")
    if saved.is_shrunk:
        raise ModelError("the model is shrunk: its weights cannot be edited; edit it first, then shrink it.")
    table = _Reader(saved, source).read()
    new = {place: weight for place, weight in table.weights.items() if weight}
    new_global = {name: weight for name, weight in table.global_weights.items() if weight}
    local, whole = _changes(_places(saved), new), _changes(_global_weights(saved), new_global)
    counts = {what: count + whole[what] for what, count in local.items()}
    if not any(counts.values()):
        return saved
    kept = {n: a for n, a in saved.arrays.items() if n.startswith(PREFIX)} | tables_in(saved.arrays)
    if kept_names := global_names(saved.arrays):
        kept[f"{PREFIX}weights"] = np.array([new_global.get(name, 0) for name in kept_names], np.float32)
    if has_rules(saved):
        kept |= with_new_rules(saved.arrays, table.rules, lambda name: _key_of(name, False))
    edited = rebuilt(saved, new, table.names, table.edges) | kept
    return replace(saved, arrays=edited, files=[], edits=[*saved.edits, counts], corrections=[])


def _changes(old: Mapping[T, np.float32], new: Mapping[T, np.float32]) -> dict[str, int]:
    """How many weights a table changes, and in what way."""
    changed = sum(bool(place in old and old[place] != weight) for place, weight in new.items())
    return {"changed": changed, "added": len(new.keys() - old), "removed": len(old.keys() - new)}


def _places(saved: SavedModel) -> dict[Place, np.float32]:
    arrays = saved.arrays
    found: dict[Place, np.float32] = {}
    for row in np.flatnonzero(arrays["keys"]).tolist():
        key = int(arrays["keys"][row])
        found |= {
            (key, int(output)): weight for output, weight in zip(*saved.cells(row), strict=True) if weight
        }
    at, constants = arrays["constant_at"].tolist(), arrays["constants"]
    return found | {(0, place): weight for place, weight in zip(at, constants, strict=True)}


def rebuilt(
    saved: SavedModel, weights: dict[Place, np.float32], names: dict[int, str], edges: dict[int, bool]
) -> Arrays:
    """The arrays of a model with these weights, as training would make them."""
    keys = sorted({key for key, _ in weights if key})
    features = Features(
        np.array(keys, np.uint64),
        np.array([edges[key] for key in keys], np.uint8),
        [names.get(key, "").encode() for key in keys] if "names" in saved.arrays else None,
    )
    row_of = {key: row for row, key in enumerate(keys, 1)} | {0: 0}
    cells = Cells(
        np.array([row_of[key] for key, _ in weights]),
        np.array([output for _, output in weights]),
        np.array(list(weights.values()), np.float32),
    )
    size = len(saved.labels)
    constants = constant_count(size, saved.settings_as(ChainSettings).order)
    return built_arrays(features, cells, saved.width, constants)


class _Reader:
    """Reads a table for a model, line by line; an error names the place of what is wrong."""

    def __init__(self, saved: SavedModel, source: Source) -> None:
        self._saved, self._source = saved, source
        self._numbers = {name: i for i, name in enumerate(output_names(saved))}
        rows = np.flatnonzero(saved.arrays["keys"]).tolist()
        keys = saved.arrays["keys"].tolist()
        self._known = {keys[row]: saved.is_edge(row) for row in rows} | known_rules(saved)
        self._forms = {edge: forms_of(saved.program, edge) for edge in (False, True)}
        self._global_names = set(global_names(saved.arrays))
        self._neighbour = _neighbour_form(saved) if has_rules(saved) else None
        self._table = _Table({}, {}, dict(self._known))
        self._line, self._fields = 0, [""]

    def read(self) -> _Table:
        for number, text in read_lines(self._source):
            self._line = number
            self._fields = text.rstrip("\n").removesuffix("\r").split("\t")
            if self._line == 1:
                self._fields[0] = self._fields[0].removeprefix("\ufeff")
                if tuple(self._fields) != HEADER:
                    self._refuse(0, f"found {text.strip()!r}, expected {' '.join(HEADER)} with tabs between")
            elif self._fields != [""]:
                self._take()
        if not self._line:
            raise DataError("found nothing, expected a table of weights", file=name_of(self._source))
        return self._table

    def _take(self) -> None:
        if len(self._fields) != len(HEADER):
            self._refuse(0, f"found {len(self._fields)} fields, expected {len(HEADER)} with tabs between")
        kind = self._fields[0]
        if kind not in _LABELS:
            self._refuse(0, f"unknown kind '{kind}'. {suggestion(kind, list(_LABELS))}")
        ids = self._labels(kind)
        if kind == _GLOBAL:
            self._take_global()
            return
        place = self._constant(kind, ids) if kind in CONSTANTS else self._feature(kind == "edge", ids)
        if place in self._table.weights:
            self._refuse(0, "found a second line of this weight, expected one")
        self._table.weights[place] = self._weight()

    def _take_global(self) -> None:
        name = self._plain(1, self._fields[1])
        if name not in self._global_names:
            self._refuse(1, f"found the global feature '{name}', expected one that the model has a weight of")
        if name in self._table.global_weights:
            self._refuse(0, "found a second line of this weight, expected one")
        self._table.global_weights[name] = self._weight()

    def _refuse(self, field: int, message: str) -> NoReturn:
        column = sum(len(text) + 1 for text in self._fields[:field]) + 1
        raise DataError(message, file=name_of(self._source), line=self._line, column=column)

    def _labels(self, kind: str) -> list[int]:
        given = self._fields[2].split(" ") if self._fields[2] else []
        if len(given) != _LABELS[kind]:
            self._refuse(2, f"found {len(given)} labels, expected {_LABELS[kind]} for {kind}")
        ids = []
        for place, text in enumerate(given):
            if text == _BEFORE and kind == "trigram" and place == 0:
                ids.append(len(self._numbers))
                continue
            label = self._plain(2, text)
            if label not in self._numbers:
                self._refuse(2, f"unknown label '{label}'. {suggestion(label, list(self._numbers))}")
            ids.append(self._numbers[label])
        return ids

    def _constant(self, kind: str, ids: Sequence[int]) -> Place:
        program, order = self._saved.program, self._saved.settings_as(ChainSettings).order
        if self._fields[1]:
            self._refuse(
                1, f"found '{self._fields[1]}', expected nothing: {kind} weights are of labels alone"
            )
        learned = has_ends(program) if kind in ("start", "end") else has_label_bigram(program)
        if not learned or (kind == "trigram" and order != 2):
            self._refuse(0, f"found a {kind} weight, but the model has none such")
        return 0, constant_place(kind, ids, len(self._numbers))

    def _feature(self, edge: bool, ids: Sequence[int]) -> Place:
        name = self._plain(1, self._fields[1])
        found = _KEY.fullmatch(name) if "names" not in self._saved.arrays else None
        atoms = [] if found or self._neighbour is None else atoms_in(name)
        if atoms:
            name = atoms[0] if len(atoms) == 1 else joined(atoms)
        key = int(found[1], 16) if found else _key_of(name, edge)
        if key in self._known:
            if self._known[key] != edge:
                self._refuse(0, f"found {'edge' if edge else 'feature'}, but '{name}' is the other kind")
        elif found or not self._could_be(atoms or [name], edge):
            self._refuse(1, f"found the feature '{name}', which no template of the model could give")
        elif wrong := atoms_refused(atoms):
            self._refuse(1, wrong)
        self._table.names[key], self._table.edges[key], self._table.rules[key] = name, edge, atoms
        return key, ids[0] * self._saved.width + ids[1] if edge else ids[0]

    def _could_be(self, names: Sequence[str], edge: bool) -> bool:
        """Whether templates could give features of these names, the atoms of a rule or a single one."""
        forms = self._forms[edge]
        if self._neighbour is not None:
            forms = [] if edge else [*forms, self._neighbour]
        return all(any(form.fullmatch(name) for form in forms) for name in names)

    def _weight(self) -> np.float32:
        text = self._fields[3]
        try:
            with np.errstate(over="ignore"):
                weight = np.float32(float(text))
        except ValueError:
            weight = np.float32("nan")
        if not np.isfinite(weight):
            self._refuse(3, f"found '{text}', expected a number that fits 32 bits")
        return weight

    def _plain(self, field: int, text: str) -> str:
        def meant(found: re.Match[str]) -> str:
            if found[1] not in _PLAIN:
                self._refuse(field, f"found '{found[0]}', expected \\t, \\n, \\r, \\s, \\^ or \\\\")
            return _PLAIN[found[1]]

        return re.sub(r"\\(.?)", meant, text)


def _neighbour_form(saved: SavedModel) -> re.Pattern[str]:
    """What atoms of the model's rules look like that are labels of neighbours."""
    count = neighbours_in(saved)
    sign = 1 if saved.settings.get("direction") == "right-to-left" else -1
    return label_form([sign * distance for distance in range(1, count + 1)], saved.labels)


def _key_of(name: str, edge: bool) -> int:
    text = name.encode()
    return int(_core.feature_keys(text, np.array([len(text)], np.uint64), np.array([edge], np.uint8))[0])


def forms_of(program: TemplateProgram, edge: bool) -> list[re.Pattern[str]]:
    """What the names of features look like, template by template; explicit attributes may have any."""
    if program.explicit:
        return [] if edge else [re.compile(".*", re.DOTALL)]
    templates = (t for t in extracted(program) if (t.scope == "edge") == edge)
    forms = ("".join(re.escape(p) if isinstance(p, str) else ".*" for p in t.pieces) for t in templates)
    return [re.compile(form, re.DOTALL) for form in dict.fromkeys(forms)]
