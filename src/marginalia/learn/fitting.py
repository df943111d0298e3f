"""Which structures, learners and regularisers go together.

A structure has tiers of the contract, learners and regularisers need some of them (docs/architecture.md).
"""

from __future__ import annotations

from marginalia import _core
from marginalia.corpus.settings import DataSettings
from marginalia.decode.structures import STRUCTURES
from marginalia.errors import SettingsError
from marginalia.learn.learners import LEARNERS
from marginalia.learn.online import PENALTIES
from marginalia.learn.run import LearnerSettings

# What may be asked for besides a learner, and the tier that it needs.
OPTIONS = {"dropout": "dropout", "partial=on": "partial", **dict.fromkeys(PENALTIES, "penalties")}


def check_fit(structure: str, learner: str, data: DataSettings, settings: LearnerSettings) -> None:
    """An error, with the reason, if the structure does not have what the learner and its settings need."""
    if lack := lacking(structure, LEARNERS[learner].needs):
        learners = [name for name, other in LEARNERS.items() if not lacking(structure, other.needs)]
        structures = [name for name in STRUCTURES if not lacking(name, LEARNERS[learner].needs)]
        raise SettingsError(
            f"learner {learner} needs {lack}, which the structure {structure} does not have: choose another "
            f"learner ({', '.join(learners)}) or structure={' or '.join(structures)}."
        )
    if LEARNERS[learner].has_globals and STRUCTURES[structure].global_tiers is None:
        able = [name for name, other in STRUCTURES.items() if other.global_tiers is not None]
        raise SettingsError(
            f"learner {learner} needs outputs that label tokens, and the exact k best of them, which the "
            f"structure {structure} does not have: choose structure={' or '.join(able)}."
        )
    for option in [*(["partial=on"] if data.partial else []), *settings.regularisers]:
        if lack := lacking(structure, frozenset({OPTIONS[option]}), LEARNERS[learner].has_globals):
            which = f"the structure {structure}"
            if LEARNERS[learner].has_globals:
                which += " with global features"
            raise SettingsError(f"{option} needs {lack}, which {which} does not have: leave it out.")


def lacking(structure: str, needs: frozenset[str], has_globals: bool = False) -> str | None:
    """The first thing that is needed and that the structure, maybe with global features, does not have."""
    has = STRUCTURES[structure].tiers
    if has_globals:
        has = STRUCTURES[structure].global_tiers or frozenset()
    return next((what for tier, what in _core.tiers().items() if tier in needs - has), None)
