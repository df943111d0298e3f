"""JSON from files that nobody vouches for."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str) -> Any:
    """What a text in JSON says. A ValueError if it is none, is nested too deeply, or has halves of surrogate
    pairs, which are no text."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    halves = "\\ud" in text.lower() and json.dumps(found, ensure_ascii=False)
    try:
        (halves or text).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"it has half of a surrogate pair ({error.object[error.start]!a})") from None
    return found
