"""Which way to count: the caller's options, checked, and resolved against the gold labels."""

from __future__ import annotations

from dataclasses import dataclass

from marginalia.errors import SettingsError
from marginalia.evaluate.conlleval import tally_conlleval
from marginalia.evaluate.encode import LabelColumns
from marginalia.evaluate.labels import labels_in_use, looks_like_chunks
from marginalia.evaluate.strict import choose_scheme, tally_strict
from marginalia.evaluate.tally import Tally, tally_tags

MODES = ("conlleval", "strict")


@dataclass(frozen=True)
class ScoringRules:
    """The way of counting in force: `mode` is "conlleval", "strict" or "tags"; strict has a scheme."""

    mode: str
    scheme: str | None = None

    def tally(self, encoded: LabelColumns) -> Tally:
        """Count the two columns of `encoded`, gold first."""
        if self.mode == "tags":
            return tally_tags(encoded)
        if self.scheme is None:
            return tally_conlleval(encoded)
        return tally_strict(encoded, self.scheme)


def resolve(encoded: LabelColumns, mode: str, scheme: str | None, spans: bool | None) -> ScoringRules:
    """Check the options; decide from the gold column what was left open."""
    if mode not in MODES:
        raise SettingsError(f"mode: {mode!r} is not one of {', '.join(MODES)}")
    if spans is None:
        spans = looks_like_chunks(labels_in_use(encoded, 0))
    if not spans:
        return ScoringRules("tags")
    return ScoringRules(mode, choose_scheme(encoded, scheme) if mode == "strict" else None)
