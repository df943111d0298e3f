"""An explanation as lines of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from unicodedata import east_asian_width

from marginalia.decode.explanation import Explanation, Reason, Side

Paint = Callable[..., str]
_FOR, _AGAINST, _BOLD, _DIM = "32", "31", "1", "2"  # as terminals know them
_DIGITS = 4


def lines_of(
    explanation: Explanation, top: int | None, paint: Paint = lambda text, *codes: text
) -> Iterator[str]:
    """The sentence with both outputs, then the reasons; printed numbers add up to the printed difference."""
    yield from _sentence(explanation, paint)
    yield ""
    for name, tagged in (("chosen", explanation.chosen), (explanation.against, explanation.other)):
        yield f"{name}: score {tagged.score:.{_DIGITS}f}"
    kinds = ", ".join(f"{kind} {value:+.{_DIGITS}f}" for kind, value in explanation.by_kind.items() if value)
    yield paint(f"difference {explanation.difference:+.{_DIGITS}f}", _BOLD) + (f": {kinds}" if kinds else "")
    yield from (f"note: {note}" for note in explanation.notes)
    yield ""
    yield from _reasons(explanation, top, paint)


def _sentence(explanation: Explanation, paint: Paint) -> Iterator[str]:
    rows = [("", "", "chosen", explanation.against)]
    both = zip(explanation.tokens, explanation.chosen.labels, explanation.other.labels, strict=True)
    rows += [(str(n), *row) for n, row in enumerate(both, 1)]
    sizes = [max(map(width, column)) for column in zip_longest(*rows)]
    for row in rows:
        cells = [text + " " * (size - width(text)) for text, size in zip(row, sizes, strict=True)]
        line = f"{'*' if row[0] and row[2] != row[3] else ' '} {'  '.join(cells)}".rstrip()
        yield paint(line, _BOLD) if line.startswith("*") else line


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _reasons(explanation: Explanation, top: int | None, paint: Paint) -> Iterator[str]:
    shown = explanation.reasons[:top]
    for reason in shown:
        told = f"{where(explanation, reason)}: {reason.words}{sides(reason)}"
        yield f"{_part(reason, paint)}  {told}"
        for citation in reason.citations:
            seen = "" if len(citation.labels) == 0 else f" with {' → '.join(citation.labels)}"
            yield paint(f"{citation.part:+14.{_DIGITS}f}  taught{seen} by {citation.where}", _DIM)
            if citation.text is not None:
                yield paint(f"{'':16}{citation.text}", _DIM)
    left, rest = rounded_rest(explanation, top)
    if left or rest:
        yield f"{_number(rest, paint)}  {f'{left} more' if left else 'rounding'}"


def rounded_rest(explanation: Explanation, top: int | None) -> tuple[int, float]:
    """How many reasons are not shown, and their sum with what rounding takes from the numbers of the others:
    so all that is printed still sums."""
    shown = sum(round(reason.difference, _DIGITS) for reason in explanation.reasons[:top])
    return explanation.rest(top)[0], round(round(explanation.difference, _DIGITS) - shown, _DIGITS)


def _part(reason: Reason, paint: Paint) -> str:
    if reason.kind == "constraint":
        return paint(f"{'forbidden':>10}", _AGAINST)
    return _number(reason.difference, paint)


def _number(value: float, paint: Paint) -> str:
    return paint(f"{value:+10.{_DIGITS}f}", _FOR if value > 0 else _AGAINST)


def where(explanation: Explanation, reason: Reason) -> str:
    """The tokens that a reason speaks of, with their numbers."""
    words = " ".join(explanation.tokens[reason.start : reason.end])
    first, last = reason.start + 1, reason.end
    return f"{first} {words}" if first == last else f"{first}-{last} {words}"


def sides(reason: Reason) -> str:
    """What each output has of a reason."""
    given = [("", reason.chosen), ("against ", reason.other)]
    shown = [f"{before}{_side(side)}" for before, side in given if side is not None]
    return f"  ({', '.join(shown)})" if shown else ""


def _side(side: Side) -> str:
    return f"{' → '.join(side.labels) or 'the whole output'} {side.weight:+.{_DIGITS}f}"
