"""An explanation as a page of HTML that needs no other file, no network and no script."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from marginalia.decode.explanation import Explanation, Reason, Side
from marginalia.decode.explanation_text import rounded_rest, where
from marginalia.model.provenance import Citation

_STYLE = """\
:root { color-scheme: light dark; --for: #2a7f4f; --against: #b3402e; --line: #8884; --mark: #f5c54244; }
body { font: 16px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
.sentence { display: flex; flex-wrap: wrap; gap: .4rem; }
.token { border: 1px solid var(--line); border-radius: .4rem; padding: .2rem .5rem; text-align: center; }
.token.differs { background: var(--mark); }
.token b, .token i, .token s { display: block; font-style: normal; text-decoration: none; font-size: .8rem; }
.token i { color: var(--for); } .token s { color: var(--against); }
table { border-collapse: collapse; width: 100%; } td, th { padding: .3rem .5rem; vertical-align: top; }
th { text-align: left; font-weight: 600; } tr + tr td { border-top: 1px solid var(--line); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scale { width: 30%; min-width: 8rem; } .scale div { display: flex; }
.half { width: 50%; display: flex; } .half.left { justify-content: flex-end; }
.bar { height: .9rem; border-radius: .2rem; min-width: 1px; }
.plus { background: var(--for); } .minus { background: var(--against); }
small, .note { opacity: .75; } ul { margin: .2rem 0; padding-left: 1.2rem; }
@media (prefers-color-scheme: dark) { :root { --for: #6cc997; --against: #ef8a78; --mark: #f5c54233; } }
"""


def page_of(explanation: Explanation, top: int | None = None) -> str:
    """The whole page."""
    return "\n".join(_page(explanation, top)) + "\n"


def _page(explanation: Explanation, top: int | None) -> Iterator[str]:
    title = escape(" ".join(explanation.tokens))
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Why: {title}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>"
    yield "<h1>Why these labels?</h1>"
    yield from _sentence(explanation)
    yield from _sums(explanation)
    yield from _reasons(explanation, top)
    yield "</body>\n</html>"


def _sentence(explanation: Explanation) -> Iterator[str]:
    yield '<div class="sentence">'
    both = zip(explanation.tokens, explanation.chosen.labels, explanation.other.labels, strict=True)
    for number, (token, chosen, other) in enumerate(both, 1):
        differs = chosen != other
        label = f"<i>{escape(chosen)}</i>" + (f"<s>{escape(other)}</s>" if differs else "")
        yield f'<div class="token{" differs" * differs}"><b>{number}</b>{escape(token)}{label}</div>'
    yield "</div>"


def _sums(explanation: Explanation) -> Iterator[str]:
    yield "<h2>Two outputs</h2>\n<table>"
    for name, tagged in (("chosen", explanation.chosen), (explanation.against, explanation.other)):
        score = f'<td class="number">{tagged.score:.4f}</td>'
        yield f"<tr><th>{escape(name)}</th><td>{escape(' '.join(tagged.labels))}</td>{score}</tr>"
    kinds = ", ".join(f"{kind} {value:+.4f}" for kind, value in explanation.by_kind.items() if value)
    yield f"<tr><th>difference</th><td>{kinds}</td>"
    yield f'<td class="number"><b>{explanation.difference:+.4f}</b></td></tr>\n</table>'
    yield from (f'<p class="note">{escape(note)}</p>' for note in explanation.notes)


def _reasons(explanation: Explanation, top: int | None) -> Iterator[str]:
    shown, (left, rest) = explanation.reasons[:top], rounded_rest(explanation, top)
    most = max((abs(number) for number in [rest, *(reason.difference for reason in shown)]), default=0.0)
    yield "<h2>Reasons, largest first</h2>\n<table>"
    yield '<tr><th class="number">part</th><th class="scale">against | for</th><th>reason</th></tr>'
    for reason in shown:
        yield _row(reason.difference, most, _told(explanation, reason))
    if left or rest:
        yield _row(rest, most, f"{left} more" if left else "rounding")
    yield "</table>"


def _row(value: float, most: float, text: str) -> str:
    share = 100 * abs(value) / most if most else 0.0
    bar = f'<div class="bar {"plus" if value > 0 else "minus"}" style="width:{share:.1f}%"></div>'
    halves = ["", bar] if value > 0 else [bar, ""]
    scale = f'<div><div class="half left">{halves[0]}</div><div class="half">{halves[1]}</div></div>'
    return f'<tr><td class="number">{value:+.4f}</td><td class="scale">{scale}</td><td>{text}</td></tr>'


def _told(explanation: Explanation, reason: Reason) -> str:
    sides = [("", reason.chosen), ("against ", reason.other)]
    shown = ", ".join(f"{before}{_side(side)}" for before, side in sides if side is not None)
    text = f"<b>{escape(where(explanation, reason))}</b>: {escape(reason.words)}<br><small>{shown}</small>"
    cited = "".join(f"<li><small>{_cited(citation)}</small></li>" for citation in reason.citations)
    return text + (f"<ul>{cited}</ul>" if cited else "")


def _cited(citation: Citation) -> str:
    labels, text = escape(" → ".join(citation.labels)), citation.text
    quote = "" if text is None else f"<br>“{escape(text)}”"
    return f"{citation.part:+.4f} taught with {labels} by {escape(citation.where)}{quote}"


def _side(side: Side) -> str:
    return f"{escape(' → '.join(side.labels) or 'the whole output')} {side.weight:+.4f}"
