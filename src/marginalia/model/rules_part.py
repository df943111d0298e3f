"""Rules in a model: which features, and labels of neighbours, make up each one (docs/rules.md).

Their confidences are weights like any others: a rule is a feature whose name is made of those of its atoms.
`rule.keys` has the key of each rule, `rule.atoms` those of its atoms, which end at `rule.end`; `rule.support`
how many samples of the training data had them all, `rule.gain` by how much it made the loss smaller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from marginalia.features.compiling import has_label_bigram
from marginalia.model.constants import ChainSettings
from marginalia.model.provenance import Arrays
from marginalia.model.saved import SavedModel

PREFIX = "rule."
ALWAYS = "(always)"  # the rule without atoms
AND = " & "  # between the atoms of a name
LABEL = re.compile(r"label\[(-?\d+)\]=")  # how the name of a neighbour's label begins
_MOST_ATOMS = 64  # as kMostAtoms in core/search/rule_trie.hpp
_OWN_AND = re.compile(r"(?:^|(?<= ))(?=\\*&)")  # such a sign within an atom, which a backslash marks
_MARK = re.compile(r"(?:^|(?<= ))\\(?=\\*&)")
CANNOT_CHANGE = "a model of rules has learned from all its data at once: train it again on old and new data."


def has_rules(saved: SavedModel) -> bool:
    """Whether the scores of a model are those of rules."""
    return PREFIX + "keys" in saved.arrays


def neighbours_in(saved: SavedModel) -> int:
    """Of how many neighbours the rules of a model may ask for labels; items have none, and no order."""
    if not has_label_bigram(saved.program):
        return 0
    return int(saved.settings.get("neighbours") or saved.settings.get("order", 0))


def is_wide(saved: SavedModel) -> bool:
    """Whether rules ask for labels of more neighbours than the order of the chain, so that its outputs have
    no states: they can be found by beam, but neither summed up nor sought under constraints."""
    return has_rules(saved) and neighbours_in(saved) > saved.settings_as(ChainSettings).order


def rule_arrays(
    arrays: Arrays,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
    """Keys, ends and atoms."""
    return arrays[PREFIX + "keys"], arrays[PREFIX + "end"], arrays[PREFIX + "atoms"]


def known_rules(saved: SavedModel) -> dict[int, bool]:
    """The keys of a model's rules, of those that were deleted, too; none of them is of an edge."""
    return dict.fromkeys(saved.arrays[PREFIX + "keys"].tolist(), False) if has_rules(saved) else {}


def supports(saved: SavedModel) -> dict[int, int]:
    """By the key of a rule: how many samples of the training data had all its atoms."""
    keys, support = saved.arrays[PREFIX + "keys"], saved.arrays[PREFIX + "support"]
    return dict(zip(keys.tolist(), support.tolist(), strict=True))


def atoms_in(name: str) -> list[str]:
    """The atoms of a rule by its name, in a table or of several atoms."""
    return [_MARK.sub("", atom) for atom in name.split(AND)]


def joined(atoms: Iterable[str]) -> str:
    """The name of a rule in a table, and that of several atoms in a model."""
    return AND.join(sorted(_OWN_AND.sub(r"\\", atom) for atom in atoms))


def atoms_refused(atoms: Sequence[str]) -> str | None:
    """What is wrong with atoms that are to be a rule, if anything is."""
    if len(set(atoms)) < len(atoms):
        return "found an atom twice, expected different ones"
    places = [place[1] for atom in atoms if (place := LABEL.match(atom))]
    if len(set(places)) < len(places):
        return "found two labels of one neighbour, expected one"
    if len(atoms) > _MOST_ATOMS:
        return f"found {len(atoms)} atoms, expected no more than {_MOST_ATOMS}"
    return None


class RuleAtoms:
    """The names of the atoms of a model's rules. A single atom is named as it is, whatever signs it has."""

    def __init__(self, saved: SavedModel) -> None:
        keys, ends, _ = rule_arrays(saved.arrays)
        sizes = np.diff(ends.astype(np.int64), prepend=0)
        self._saved, self._alone = saved, set(keys[sizes == 1].tolist())

    def of(self, row: int) -> list[str]:
        """The atoms of the rule of a weight row."""
        name = self._saved.feature_name(row)
        return [name] if int(self._saved.arrays["keys"][row]) in self._alone else atoms_in(name)


def label_form(distances: Iterable[int], labels: Iterable[str]) -> re.Pattern[str]:
    """What the names of atoms look like that are labels of neighbours."""
    places = "|".join(re.escape(str(distance)) for distance in distances)
    return re.compile(rf"label\[(?:{places})\]=(?:{'|'.join(map(re.escape, labels))})" if places else "(?!)")


def with_new_rules(
    arrays: Arrays, rules: Mapping[int, Sequence[str]], key_of: Callable[[str], int]
) -> Arrays:
    """The arrays of rules with those that a person has added, by key; nobody has counted their samples."""
    keys, ends, atoms = rule_arrays(arrays)
    known, more_ends, more_atoms = set(keys.tolist()), ends.tolist(), atoms.tolist()
    new = {key: rule for key, rule in rules.items() if key not in known}
    for rule in new.values():
        more_atoms += [key_of(atom) for atom in rule]
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
