"""Settings of features."""

from __future__ import annotations

from dataclasses import dataclass

from marginalia.config import Settings, setting

AS_WRITTEN, ANY_CASE = "as-written", "any"


@dataclass(frozen=True, kw_only=True)
class FeatureSettings(Settings):
    """Which features there are, and what the model keeps of them."""

    cutoff: int = setting(0, "Keep only features seen at least so many times in training.", 0, 2**31)
    cluster_case: str = setting(
        AS_WRITTEN,
        "any: look a word that clusters do not have as written up in lower case, "
        "as its most frequent spelling.",
        choices=(AS_WRITTEN, ANY_CASE),
    )
    dictionary_dropout: float = setting(
        0.5,
        "Hide this share of a dictionary's phrases in training, lest the model relies on it alone.",
        0.0,
        1.0,
    )
    stages: int = setting(
        1,
        "2: train a first model, too, and let templates look at what its labels say (docs/stages.md).",
        1,
        2,
    )
    names: bool = setting(True, "Keep the features' names in the model, for inspect; off makes it smaller.")
