"""How probable are answers of which a beam holds a share? See docs/trees.md.

Search ends with few outputs that mostly agree: an arc that all of them have is not certain, and no
temperature changes its share of 1. So shares are evidence: their log-odds, scaled and moved to fit held-out
data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
_LEAST = 1e-3  # shares nearer to 0 or 1 are all alike


class ShareMap(NamedTuple):
    """Probabilities of shares: 1 / (1 + exp(-(slope * log-odds + offset))), which rise with them."""

    slope: float
    offset: float

    def __call__(self, shares: Numbers) -> Numbers:
        """The probabilities."""
        return 1.0 / (1.0 + np.exp(-(self.slope * log_odds(shares) + self.offset)))


def log_odds(shares: Numbers) -> Numbers:
    """Those of shares, within bounds."""
    bounded = np.clip(shares, _LEAST, 1.0 - _LEAST)
    return np.log(bounded / (1.0 - bounded))


def share_map_of(calibration: dict[str, Any]) -> ShareMap | None:
    """The map that was fitted; none for models of older versions, whose shares are taken as they are."""
    if "slope" not in calibration:
        return None
    return ShareMap(float(calibration["slope"]), float(calibration["offset"]))


def beam_shares(same: npt.NDArray[np.bool_], scores: Numbers, temperature: float) -> tuple[Numbers, float]:
    """Of outputs (rows) that agree with one or do not, part by part: the share of each part, and of the whole
    output, if they weigh exp(score / temperature)."""
    weights = np.exp((scores - scores.max()) / temperature)
    weights /= weights.sum()
    return np.minimum(weights @ same, 1.0), min(float(weights[same.all(axis=1)].sum()), 1.0)
