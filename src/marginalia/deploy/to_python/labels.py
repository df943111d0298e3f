"""Labels that spell spans, from one scheme (IOB2, IOBES…) to another."""

from __future__ import annotations

from collections.abc import Sequence

# By scheme: the prefixes of a span of one token, of the first, an inner and the last token of a longer one,
# and of the first or the last token beside another span of the same type, where that is another prefix.
SCHEMES = {
    "IOB2": ("B", "B", "I", "I", "", ""),
    "IOBES": ("S", "B", "I", "E", "", ""),
    "BILOU": ("U", "B", "I", "L", "", ""),
    "BMES": ("S", "B", "M", "E", "", ""),
    "IOE2": ("E", "I", "I", "E", "", ""),
    "IOB1": ("I", "I", "I", "I", "B", ""),
    "IOE1": ("I", "I", "I", "I", "", "E"),
}

Span = tuple[int, int, str]


def spans_of(labels: Sequence[str], scheme: str) -> list[Span]:
    """The spans that labels spell; an illegal label starts a new one."""
    _, first, inside, last, twin_first, twin_last = SCHEMES[scheme]
    closing, opening = {inside, first, twin_first}, {inside, last, twin_last}
    spans: list[Span] = []
    start, left, left_type = 0, "", ""
    for at, label in enumerate([*labels, ""]):
        prefix, _, type_ = label.partition("-")
        spoken = left not in ("", "O") and prefix not in ("", "O") and left_type == type_
        if not (spoken and left in closing and prefix in opening):
            if left not in ("", "O"):
                spans.append((start, at, left_type))
            start = at
        left, left_type = prefix, type_
    return spans


def labels_of(spans: Sequence[Span], length: int, scheme: str) -> list[str]:
    """Labels for so many tokens."""
    single, first, inside, last, twin_first, twin_last = SCHEMES[scheme]
    labels = ["O"] * length
    for number, (start, end, type_) in enumerate(spans):
        size = end - start
        prefixes = [first, *[inside] * (size - 2), last] if size > 1 else [single]
        if twin_first and number and spans[number - 1][1:] == (start, type_):
            prefixes[0] = twin_first
        if twin_last and number + 1 < len(spans) and spans[number + 1][::2] == (end, type_):
            prefixes[-1] = twin_last
        labels[start:end] = [f"{prefix}-{type_}" if type_ else prefix for prefix in prefixes]
    return labels
