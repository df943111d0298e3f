"""White space between two words that a change has made neighbours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marginalia.assist.trees import Node

_OPENING = frozenset("([{“‘«‹¿¡$£€#「『（【")
_CLOSING = frozenset(",.;:!?)]}”’»›%…、。，．！？」』）】")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m)?)", re.IGNORECASE)


def joint(left: Node, right: Node, unspaced: bool) -> str:
    """What stands between two words: "" or a blank, by what they are and how they were written before."""
    if _opens(left) or _closes(right):
        return ""
    if not unspaced:
        return " "
    return " " if _latin(left.form[-1:]) and _latin(right.form[:1]) else ""


def _opens(node: Node) -> bool:
    if node.upos in ("PUNCT", "SYM") and node.glued is not None:
        return node.glued[1] and not (node.glued[0] and node.form in _CLOSING)
    return node.form in _OPENING


def _closes(node: Node) -> bool:
    if node.upos in ("PUNCT", "SYM") and node.glued is not None:
        return node.glued[0] and node.form not in _OPENING
    return node.form in _CLOSING or _CLITIC.fullmatch(node.form) is not None


def _latin(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()
