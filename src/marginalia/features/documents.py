"""Attributes that look at the whole sentence or document of a token: their names, and who uses them."""

from __future__ import annotations

import re

DOCUMENT_FORMS = {
    "sentence-form": "sentence-form(word)[0]",
    "sentence-number": "sentence-number(word)[0]",
    "document-first": "document-first(word)[0]",
    "document-case": "document-case(word)[0]",
    "elsewhere-before": "elsewhere-before(1)(word)[0]",
    "elsewhere-after": "elsewhere-after(1)(word)[0]",
    "elsewhere-list": "elsewhere-list(name)(word)[0]",
    "first-use-before": "first-use-before(word)[0]",
    "first-use-after": "first-use-after(word)[0]",
    "run-before": "run-before(word)[0]",
    "run-after": "run-after(word)[0]",
    "run-place": "run-place(word)[0]",
}
"""Every function of documents, by an example of its use."""

RANKED = ("elsewhere-before", "elsewhere-after")
"""Those whose argument is a number: of the most frequent neighbour, the next one …"""

MOST_NEIGHBOURS = 9

FIRST_COLUMNS = ("first-label", "first-elsewhere", "first-agreement", "first-same", "first-longer")
"""Columns that a first model adds to the data (features/first_labels.py)."""


def looks_at_documents(text: str) -> bool:
    """Whether templates, as they are written, look at more than a sentence."""
    used = re.compile(rf"(?<![\w-])(?:{'|'.join(DOCUMENT_FORMS)})\s*\(")
    return looks_at_first_labels(text) or any(used.search(line) for line in _code(text))


def looks_at_first_labels(text: str) -> bool:
    """Whether templates, as they are written, look at columns of a first model."""
    used = re.compile(rf"(?<![\w-])(?:{'|'.join(FIRST_COLUMNS)})(?![\w-])")
    return any(used.search(line) for line in _code(text))


def _code(text: str) -> list[str]:
    return [line.split("#")[0] for line in text.splitlines()]
