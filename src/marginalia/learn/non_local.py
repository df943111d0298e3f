"""The learner `nonlocal`: the margin perceptron over the n best outputs of a structure with global features
(Kazama and Torisawa 2007; docs/nonlocal.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from marginalia import _core
from marginalia.config import setting
from marginalia.errors import SettingsError
from marginalia.learn.online import OnlineSettings, checked


@dataclass(frozen=True, kw_only=True)
class NonLocalSettings(OnlineSettings):
    """Settings of the margin perceptron with non-local features."""

    passes: int = setting(30, "Passes over the training data, at most.", 1, 100_000)
    n: int = setting(100, "Among how many of the best outputs by local features it learns.", 2, 10_000)
    hypotheses: int = setting(
        100, "Among how many the model looks for the best when it is used, and on dev data.", 1, 1_000_000
    )
    C: float = setting(100.0, "By how much the right output must beat others, by all features.", 0.0, 1e12)
    local_C: float = setting(500.0, "The same by local features alone; -1: as C.", -1.0, 1e12)
    local_updates: bool = setting(
        True, "Whether the local model is taught by itself where all features are right; off: algorithm 4.1."
    )
    bpm_init: int = setting(
        10,
        "Begin with the mean of so many models, each trained for one pass on another order of the data.",
        0,
        1000,
    )
    tolerance: float = setting(
        1e-4,
        "Stop when the training error changed by less than this share in each of three passes.",
        0.0,
        1.0,
    )
    document_memory: int = setting(
        2048, "How many MiB the search in one document may take; longer documents are refused.", 1, 1 << 20
    )

    @property
    def options(self) -> _core.NonLocalOptions:
        """For the core."""
        return _core.NonLocalOptions(self.n, self.hypotheses, self.C, self.local_C, self.local_updates)


def resolve_non_local(settings: NonLocalSettings) -> NonLocalSettings:
    """With the local margin; what does not go with global features is refused."""
    if settings.average == "vote":
        raise SettingsError("learner nonlocal keeps one set of weights and does not go with average=vote.")
    if settings.provenance:
        raise SettingsError(
            "learner nonlocal does not go with provenance=on: train with margin to cite examples."
        )
    if settings.boost:
        raise SettingsError("learner nonlocal does not go with boost: its outputs are not searched exactly.")
    settings = checked(settings)
    return replace(settings, local_C=settings.C if settings.local_C < 0 else settings.local_C)
