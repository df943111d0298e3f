"""Settings of learners that a model in use depends on, too: how outputs are found, and who votes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from marginalia.config import Settings, setting

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, kw_only=True)
class SearchSettings(Settings):
    """How outputs are found, and what scores are normalised over: whole outputs, or each step to one."""

    search: str = setting("exact", "How outputs are found: exactly or by beam.", choices=("exact", "beam"))
    beam: int = setting(20, "Candidates of the beam.", 1, 100_000)
    normalise: str = setting(
        "outputs",
        "What probabilities are of: whole outputs, or steps.",
        choices=("outputs", "steps"),
        hidden=True,
    )

    @property
    def stepwise(self) -> bool:
        """Whether each label is a choice given those before it."""
        return self.normalise == "steps"

    @property
    def beam_width(self) -> int:
        """How many hypotheses the beam keeps; 0 if search is exact."""
        return self.beam if self.search == "beam" else 0


@dataclass(frozen=True, kw_only=True)
class RuleSearchSettings(SearchSettings):
    """Which labels rules may ask for besides features."""

    direction: str = setting(
        "right-to-left",
        "Whose labels rules may ask for: those of the tokens after (right-to-left) or before "
        "(left-to-right), as many as the order of the chain.",
        choices=("right-to-left", "left-to-right"),
    )
    neighbours: int = setting(
        0,
        "Of how many neighbours rules may ask for labels; 0: as many as the order of the chain. More than "
        "the order need search=beam, which 3 brings by itself.",
        0,
        3,
    )

    @property
    def backwards(self) -> bool:
        """Whether they are those of the tokens after."""
        return self.direction == "right-to-left"


@dataclass(frozen=True, kw_only=True)
class VoteSettings(Settings):
    """Which weights are kept, and how their versions vote."""

    average: str = setting(
        "mean",
        "Which weights to keep: the mean over all steps, the last, or all of them, which then vote.",
        choices=("mean", "none", "vote"),
    )
    vote_candidates: int = setting(
        20,
        "With average=vote: among how many of the outputs that the mean weights like best.",
        1,
        100_000,
        formerly=("candidates",),
    )


@dataclass(frozen=True)
class StructureOptions(Generic[S]):
    """What a structure in training depends on: its `own` settings, and some of features and learner.

    `cutoff`: how often features must be seen. `supported_only`: weights are those that the gold outputs
    support, and no others. `hides_input`: tokens or their values may be hidden while learning.
    """

    own: S
    search: SearchSettings = field(default_factory=SearchSettings)
    cutoff: int = 0
    supported_only: bool = False
    hides_input: bool = False
