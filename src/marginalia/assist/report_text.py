"""An analysis as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from marginalia.assist.records import BANDS, Analysis, Offer, SentenceReport

_NAMES = {"en": "English", "ja": "Japanese"}
_NO_CONTROL = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if code not in (9, 10)}


def report_text(analysis: Analysis) -> Iterator[str]:
    """The lines of a report: the whole text, then hard sentences with their reasons and offers, by place."""
    yield headline(analysis)
    for number, sentence in enumerate(analysis.sentences, 1):
        if sentence.band > 1:
            yield ""
            yield from sentence_lines(sentence, number)
    words = {word.lemma for one in analysis.sentences for word in one.words if word.band > 1}
    if words:
        yield ""
        yield shown(f"Hard words: {', '.join(sorted(words))}")


def headline(analysis: Analysis) -> str:
    """One line about a text."""
    hard, count = len(analysis.hard), len(analysis.sentences)
    return shown(
        f"{analysis.name}: {_NAMES[analysis.language]}, for {analysis.level} readers: difficulty "
        f"{analysis.difficulty:.0f} of 100; {hard} of {count} sentences hard."
    )


def sentence_lines(sentence: SentenceReport, number: int) -> Iterator[str]:
    """A sentence, why it is hard, and what is offered."""
    yield shown(
        f"{number}  {BANDS[sentence.band]} ({sentence.difficulty:.0f})  {' '.join(sentence.text.split())}"
    )
    for reason in sentence.reasons:
        where = f" ({' … '.join(reason.words)})" if reason.words else ""
        yield shown(f"     - {reason.text}{where}")
    for word in sentence.words:
        if word.band > 1:
            yield shown(f"     - {word.form}: {word.reason}")
    for rank, offer in enumerate(sentence.offers or (), 1):
        yield from offer_lines(offer, rank)


def offer_lines(offer: Offer, rank: int) -> Iterator[str]:
    """An offer with its reason."""
    yield shown(f"  {rank}. {offer.text}")
    yield shown(f"     {offer.reason} [{', '.join(dict.fromkeys(step.rule for step in offer.steps))}]")


def shown(text: str) -> str:
    """A text that a terminal shows as it is: without signs that would control it."""
    return text.translate(_NO_CONTROL)
