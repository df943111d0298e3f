"""Decisions: a round trip, the result, and what is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from marginalia.assist.decisions import FORMAT, Decisions
from marginalia.assist.profile import Profile
from marginalia.errors import MarginaliaError

TEXT = "  One was seen. Two came.\n\n\nThree 🐝 left.  \n"


def saved() -> dict[str, Any]:
    return {
        "format": FORMAT,
        "versions": {"marginalia": "0.1.0"},
        "language": "en",
        "profile": Profile(known=("bee",)).to_dict(),
        "text": TEXT,
        "decisions": [
            {"block": 0, "start": 0, "end": 13, "before": "One was seen.", "after": "We saw one.",
             "steps": [{"before": "One was seen.", "after": "We saw one.", "offer": {"gain": 0.5}}]},
            {"block": 1, "start": 0, "end": 13, "before": "Three 🐝 left.", "after": "3 went.",
             "steps": [{"before": "Three 🐝 left.", "after": "3 went.", "offer": None}]},
        ],
    }  # fmt: skip


def test_decisions_survive_their_file() -> None:
    decisions = Decisions.from_dict(saved())
    assert decisions.result == "  We saw one. Two came.\n\n\n3 went.  \n"
    written = json.loads(json.dumps(decisions.to_dict()))
    assert Decisions.from_dict(written) == decisions
    assert written["result"] == decisions.result
    assert {name: written[name] for name in saved()} == saved()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "x", "no decisions"),
        (("text",), "Other text.", "of another text"),
        (("text",), 1, "damaged"),
        (("decisions",), 5, "damaged"),
        (("decisions", 0, "start"), -1, "another text"),
        (("decisions", 0, "start"), "0", "whole numbers"),
        (("decisions", 0, "block"), 9, "another text"),
        (("decisions", 0, "steps"), [{}], "damaged"),
        (("decisions", 0, "steps", 0, "offer"), [], "object or null"),
        (("profile", "level"), "none", "'level'"),
        (("versions",), [], "damaged"),
    ],
)
def test_damaged_decisions_are_refused(path: tuple[Any, ...], value: object, message: str) -> None:
    values = copy.deepcopy(saved())
    place: Any = values
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(MarginaliaError, match=message):
        Decisions.from_dict(values)


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(MarginaliaError, match="no decisions"):
        Decisions.from_dict([])
