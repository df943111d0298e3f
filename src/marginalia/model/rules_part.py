"""Rules in a model: which features, and labels of neighbours, make up each one (docs/rules.md).

Their confidences are weights like any others: a rule is a feature whose name is made of those of its atoms.
`rule.keys` has the key of each rule, `rule.atoms` those of its atoms, which end at `rule.end`; `rule.support`
how many samples of the training data had them all, `rule.gain` by how much it made the loss smaller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from marginalia.features.compiling import has_label_bigram
from marginalia.model.constants import ChainSettings
from marginalia.model.provenance import Arrays
from marginalia.model.saved import SavedModel

PREFIX = "rule."
ALWAYS = "(always)"  # the rule without atoms
AND = " & "  # between the atoms of a name
CANNOT_CHANGE = "a model of rules has learned from all its data at once: train it again on old and new data."


def has_rules(saved: SavedModel) -> bool:
    """Whether the scores of a model are those of rules."""
    return PREFIX + "keys" in saved.arrays


def neighbours_in(saved: SavedModel) -> int:
    """Of how many neighbours the rules of a model may ask for labels."""
    if "order" not in saved.settings or not has_label_bigram(saved.program):  # items have no order
        return 0
    return int(saved.settings.get("neighbours") or saved.settings_as(ChainSettings).order)


def is_wide(saved: SavedModel) -> bool:
    """Whether rules ask for labels of more neighbours than the order of the chain, so that its outputs have
    no states: they can be found by beam, but neither summed up nor sought under constraints."""
    return has_rules(saved) and neighbours_in(saved) > saved.settings_as(ChainSettings).order


def rule_arrays(
    arrays: Arrays,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
    """Keys, ends and atoms."""
    return arrays[PREFIX + "keys"], arrays[PREFIX + "end"], arrays[PREFIX + "atoms"]


def supports(saved: SavedModel) -> dict[int, int]:
    """By the key of a rule: how many samples of the training data had all its atoms."""
    keys, support = saved.arrays[PREFIX + "keys"], saved.arrays[PREFIX + "support"]
    return dict(zip(keys.tolist(), support.tolist(), strict=True))


def canonical(name: str) -> str:
    """The name of a rule with its atoms in the order in which a model names them."""
    return AND.join(sorted(name.split(AND)))


def label_form(distances: Iterable[int], labels: Iterable[str]) -> re.Pattern[str]:
    """What the names of atoms look like that are labels of neighbours."""
    places = "|".join(re.escape(str(distance)) for distance in distances)
    return re.compile(rf"label\[(?:{places})\]=(?:{'|'.join(map(re.escape, labels))})" if places else "(?!)")


def with_new_rules(arrays: Arrays, names: dict[int, str], key_of: Callable[[str], int]) -> Arrays:
    """The arrays of rules with those that a person has added, by key; nobody has counted their samples."""
    keys, ends, atoms = rule_arrays(arrays)
    known, more_ends, more_atoms = set(keys.tolist()), ends.tolist(), atoms.tolist()
    new = {key: name for key, name in names.items() if key not in known}
    for name in new.values():
        more_atoms += [key_of(atom) for atom in name.split(AND)]
        more_ends.append(len(more_atoms))
    made: Arrays = {
        PREFIX + "keys": np.append(keys, np.array(list(new), np.uint64)),
        PREFIX + "end": np.array(more_ends, np.uint32),
        PREFIX + "atoms": np.array(more_atoms, np.uint64),
        PREFIX + "support": np.append(arrays[PREFIX + "support"], np.zeros(len(new), np.uint32)),
    }
    if PREFIX + "gain" in arrays:
        made[PREFIX + "gain"] = np.append(arrays[PREFIX + "gain"], np.zeros(len(new)))
    return made
