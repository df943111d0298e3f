"""Checks after transfer: each judges a paraphrase by itself, and passes, repairs, lowers or forbids it."""

from __future__ import annotations

from .api import check
from .check import (
    Check,
    CheckResult,
    Finding,
    Transfer,
    is_vetoed,
    lowered,
    penalty_of,
    repaired,
    run,
    vetoed,
)
from .reading import well_formed
from .registry import checks_of

__all__ = [
    "Check",
    "CheckResult",
    "Finding",
    "Transfer",
    "check",
    "checks_of",
    "is_vetoed",
    "lowered",
    "penalty_of",
    "repaired",
    "run",
    "vetoed",
    "well_formed",
]
