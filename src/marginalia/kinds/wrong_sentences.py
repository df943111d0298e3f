"""Sentences that a model labels otherwise than somebody did, and how much it prefers its own labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from marginalia.corpus.blocks import Block
from marginalia.corpus.schemes import convert, detect, validate
from marginalia.decode.model import TrainedModel

_HYPOTHESES = 10  # among which the right labels are looked for


class WrongToken(NamedTuple):
    """A token, from 1, with the label that it should have and that which the model gives it."""

    number: int
    word: str
    gold: str
    predicted: str


@dataclass(frozen=True)
class WrongSentence:
    """Sentence `number`, from 0, of a block. `difference` is by how much the model scores its own labels
    higher than the right ones; `at_least`: they are not among its ten best, and it is that to the tenth."""

    number: int
    tokens: tuple[WrongToken, ...]
    difference: float
    at_least: bool

    @property
    def sureness(self) -> tuple[bool, float]:
        """What sorts wrong sentences, the surest first."""
        return not self.at_least, -self.difference


def wrong_sentences(model: TrainedModel, block: Block, gold: list[str]) -> Iterator[WrongSentence]:
    """Those of a block; `gold` has the right labels of its tokens."""
    names, decoder = model.labels, model.decoder
    words = block.readable(block.columns[0])
    numbers = {name: number for number, name in enumerate(names)}
    right = np.array([numbers.get(label, -1) for label in gold], np.int32)
    ranked = decoder.ranked(block, _HYPOTHESES)
    for s, (first, last) in enumerate(pairwise(block.table.sentence_starts.tolist())):
        ids, scores = ranked.ids[:, first:last], ranked.scores[:, s]
        wrong = np.flatnonzero(ids[0] != right[first:last]).tolist()
        if wrong:
            same = np.flatnonzero((ids == right[first:last]).all(axis=1)).tolist()
            lowest = scores[same[0]] if same else np.nanmin(scores)
            tokens = (WrongToken(t + 1, words[first + t], gold[first + t], names[ids[0, t]]) for t in wrong)
            yield WrongSentence(s, tuple(tokens), float(scores[0] - lowest), not same)


@dataclass(frozen=True)
class Mistake:
    """A wrong sentence of a file, with the line where it begins and the first reasons for it."""

    line: int | None
    text: str
    wrong: WrongSentence
    reasons: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "line": self.line,
            "text": self.text,
            "tokens": [token._asdict() for token in self.wrong.tokens],
            "difference": self.wrong.difference,
            "at_least": self.wrong.at_least,
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True)
class Mistakes:
    """The surest mistakes of a model, and in how many sentences there are any."""

    listed: tuple[Mistake, ...]
    count: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"count": self.count, "sentences": [one.to_json() for one in self.listed]}

    def to_text(self, file: str) -> str:
        """For people; `file` is what users call it."""
        lines = [f"wrong sentences: {self.count}; those that the model is surest of:"]
        for one in self.listed:
            least = "at least " if one.wrong.at_least else ""
            place = file if one.line is None else f"{file}:{one.line}"
            lines.append(f"  {place}: {one.text} (difference {least}{one.wrong.difference:.1f})")
            lines += [f"    {t.number} {t.word}: {t.predicted}, not {t.gold}" for t in one.wrong.tokens]
            lines += [f"      {reason}" for reason in one.reasons]
        return "".join(f"{line}\n" for line in lines)


def find_mistakes(model: Any, blocks: Iterable[Block], label: str, most: int) -> Mistakes:
    """The `most` surest mistakes of a model with the reasons for them."""
    found: list[tuple[WrongSentence, Block, list[str]]] = []
    count = 0
    for block in blocks:
        gold = _in_scheme(block, label, model.saved.scheme)
        wrong = list(wrong_sentences(model, block, gold))
        count += len(wrong)
        found = sorted([*found, *((one, block, gold) for one in wrong)], key=lambda one: one[0].sureness)
        del found[most:]
    return Mistakes(tuple(_explained(model, *one) for one in found), count)


def _in_scheme(block: Block, label: str, scheme: str | None) -> list[str]:
    """The labels of a block, spelled as the model spells them."""
    labels, starts = block.column(label), block.table.sentence_starts.tolist()
    sentences = [labels[first:last] for first, last in pairwise(starts)]
    if scheme is None or not any(validate(one, scheme) for one in sentences):
        return labels
    own = detect(sentences)
    return labels if own is None else [name for one in sentences for name in convert(one, own, scheme)]


_REASONS = 3


def _explained(model: Any, wrong: WrongSentence, block: Block, gold: list[str]) -> Mistake:
    from marginalia.errors import MarginaliaError

    first, last = block.table.sentence_starts[wrong.number : wrong.number + 2].tolist()
    sentence = next(one for number, one in enumerate(block.sentences()) if number == wrong.number)
    try:
        reasons = model.explain(sentence, gold[first:last]).reasons
    except MarginaliaError:  # the model cannot give these labels at all
        reasons = ()
    words = block.readable(block.columns[0])[first:last]
    shown = (
        f"{one.difference:+.2f} at {' '.join(words[one.start : one.end])}: {one.words}"
        for one in reasons[:_REASONS]
    )
    return Mistake(block.line_of(wrong.number), " ".join(words), wrong, tuple(shown))
