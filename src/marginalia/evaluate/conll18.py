"""Scores of dependency trees and all that comes before them, as in the shared task CoNLL 2018."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia.errors import DataError
from marginalia.evaluate.conll18_report import MetricScore, TreebankReport, WithoutPunctuation
from marginalia.evaluate.encode import Counts
from marginalia.evaluate.sampling import bootstrap_interval
from marginalia.evaluate.tally import percent, precision_recall_f1
from marginalia.evaluate.word_alignment import (
    Indices,
    TextSpans,
    Treebank,
    aligned_words,
    check_texts,
    text_spans,
)

Flags = npt.NDArray[np.bool_]

FUNCTIONAL = frozenset(("aux", "cop", "mark", "det", "clf", "case", "cc"))
CONTENT = frozenset(
    ("nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl",
     "advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound",
     "list", "parataxis", "orphan", "goeswith", "reparandum", "root", "dep")
)  # fmt: skip
UNIVERSAL_FEATURES = frozenset(
    ("PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number", "Case",
     "Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident", "Polarity", "Person",
     "Polite")
)  # fmt: skip
_ROOT, _NOT_ALIGNED, _NO_HEAD = -1, -2, -3  # instead of the index of a head


@dataclass(frozen=True, eq=False)
class _Side:
    """One analysis as arrays over words: ids of column values (shared by both sides), heads, sentences."""

    spans: TextSpans
    ids: dict[str, Indices]
    heads: Indices
    sentence: Indices
    children: list[list[int]]  # functional ones

    def __len__(self) -> int:
        return len(self.heads)


class _Pairs(NamedTuple):
    """Aligned words, and for each predicted word the gold one or `_NOT_ALIGNED`."""

    gold: Indices
    predicted: Indices
    to_gold: Indices


class _Numbers(dict[object, int]):
    """Ids of values, the next one for a new value."""

    def __missing__(self, key: object) -> int:
        self[key] = len(self)
        return self[key]

    def of(self, values: Iterable[object]) -> Indices:
        """The ids of values."""
        return np.fromiter((self[value] for value in values), np.int64)


def score_treebank(
    gold: Treebank, predicted: Treebank, *, bootstrap: int = 0, seed: int = 1
) -> TreebankReport:
    """Compare an analysis of a text with the right one; with `bootstrap`, 95 % intervals by that many rounds.

    The two may cut the text in different ways, but it must be the same: a `DataError` says where it is not.
    """
    spans = text_spans(gold), text_spans(predicted)
    check_texts(*spans, gold, predicted)
    _check_heads(gold)
    pairs = _aligned(*spans, gold, predicted)
    numbers = {name: _Numbers() for name in ("lemma", "upos", "xpos", "feats", "deprel")}
    sides = tuple(
        _side(treebank, span, numbers) for treebank, span in zip((gold, predicted), spans, strict=True)
    )
    return _Scoring(gold, sides[0], sides[1], pairs, numbers, bootstrap, seed).report()


def _check_heads(gold: Treebank) -> None:
    """Gold heads are all known, or none is."""
    unknown = [i for i, head in enumerate(gold.heads) if head is None]
    if unknown and len(unknown) < len(gold.heads):
        sentence = int(np.searchsorted(np.cumsum(gold.lengths), unknown[0], side="right"))
        message = "found a word without a head, expected a head for each gold word"
        raise DataError(message, file=gold.file, line=gold.line_of(sentence))


def _aligned(gold: TextSpans, predicted: TextSpans, of_gold: Treebank, of_predicted: Treebank) -> _Pairs:
    found = aligned_words(gold, predicted, (of_gold.columns["form"], of_predicted.columns["form"]))
    to_gold = np.full(len(predicted.words), _NOT_ALIGNED)
    to_gold[found[:, 1]] = found[:, 0]
    return _Pairs(found[:, 0], found[:, 1], to_gold)


def _side(treebank: Treebank, spans: TextSpans, numbers: dict[str, _Numbers]) -> _Side:
    columns = dict(treebank.columns)
    columns["feats"] = [universal(feats) for feats in columns["feats"]]
    columns["deprel"] = [deprel.partition(":")[0] for deprel in columns["deprel"]]
    ids = {name: numbers[name].of(columns[name]) for name in numbers}
    lengths = np.asarray(treebank.lengths, np.int64)
    first = np.repeat(np.asarray(spans.first_words[:-1], np.int64), lengths)
    given = np.array([_NO_HEAD if head is None else head for head in treebank.heads], np.int64)
    inside = (given > 0) & (given <= np.repeat(lengths, lengths))
    heads = np.where(inside, first + given - 1, np.where(given == 0, _ROOT, _NO_HEAD))
    children: list[list[int]] = [[] for _ in heads]
    for word, (head, deprel) in enumerate(zip(heads.tolist(), columns["deprel"], strict=True)):
        if head >= 0 and deprel in FUNCTIONAL:
            children[head].append(word)
    return _Side(spans, ids, heads, np.repeat(np.arange(len(lengths)), lengths), children)


def universal(feats: str) -> str:
    """The universal ones of a FEATS field, in order."""
    return "|".join(sorted(one for one in feats.split("|") if one.partition("=")[0] in UNIVERSAL_FEATURES))


@dataclass(frozen=True, eq=False)
class _Scoring:
    """Counts for each metric: words of both sides that it looks at, aligned pairs, right ones."""

    treebank: Treebank
    gold: _Side
    predicted: _Side
    pairs: _Pairs
    numbers: dict[str, _Numbers]
    bootstrap: int
    seed: int

    def report(self) -> TreebankReport:
        """All scores."""
        has, right = self._has(), self._right()
        scores: dict[str, MetricScore | None] = {
            "Tokens": self._spans(self.gold.spans.tokens, self.predicted.spans.tokens),
            "Sentences": self._spans(self.gold.spans.sentences, self.predicted.spans.sentences),
            "Words": self._score(None),
        }
        content = self._content(self.gold), self._content(self.predicted)
        for name, needs in _NEEDS.items():
            masks = content if name in ("CLAS", "MLAS", "BLEX") else None
            scores[name] = self._score(right[name], masks) if needs <= has else None
        return TreebankReport(
            scores,
            self._without_punctuation(right) if {"heads", "upos"} <= has else None,
            len(self.treebank.lengths),
            len(self.gold),
        )

    def _has(self) -> set[str]:
        """The columns that the gold file has."""
        columns = {name for name in self.numbers if any(one != "_" for one in self.treebank.columns[name])}
        return columns | ({"heads"} if any(head is not None for head in self.treebank.heads) else set())

    def _right(self) -> dict[str, Flags]:
        """For each metric which pairs are right."""
        same = {name: self._same(name) for name in self.numbers}
        lemma = same["lemma"] | (self.gold.ids["lemma"][self.pairs.gold] == self.numbers["lemma"]["_"])
        theirs = self.predicted.heads[self.pairs.predicted]
        heads = np.where(theirs >= 0, self.pairs.to_gold[np.maximum(theirs, 0)], theirs)
        attached = heads == self.gold.heads[self.pairs.gold]
        labelled = attached & same["deprel"]
        tagged = same["upos"] & same["feats"]
        return {
            "UPOS": same["upos"],
            "XPOS": same["xpos"],
            "UFeats": same["feats"],
            "AllTags": tagged & same["xpos"],
            "Lemmas": lemma,
            "UAS": attached,
            "LAS": labelled,
            "CLAS": labelled,
            "MLAS": labelled & tagged & self._same_function_words(),
            "BLEX": labelled & lemma,
        }

    def _same(self, name: str) -> Flags:
        ours, theirs = self.gold.ids[name], self.predicted.ids[name]
        flags: Flags = ours[self.pairs.gold] == theirs[self.pairs.predicted]
        return flags

    def _same_function_words(self) -> Flags:
        """Whether pairs have the same function words, with the same relations, tags and features."""
        pairs = zip(self.pairs.gold.tolist(), self.pairs.predicted.tolist(), strict=True)
        to_gold = self.pairs.to_gold.tolist()
        ours, theirs = _described(self.gold), _described(self.predicted)
        found = (
            [(child, *ours(child)) for child in self.gold.children[g]]
            == [(to_gold[child], *theirs(child)) for child in self.predicted.children[p]]
            for g, p in pairs
        )
        return np.fromiter(found, np.bool_)

    def _content(self, side: _Side) -> Flags:
        ids = [self.numbers["deprel"][name] for name in CONTENT]
        return np.isin(side.ids["deprel"], ids)

    def _spans(self, gold: Sequence[tuple[int, int]], predicted: Sequence[tuple[int, int]]) -> MetricScore:
        correct = len(set(gold) & set(predicted))
        return MetricScore(
            *precision_recall_f1(len(gold), len(predicted), correct), None, len(gold), len(predicted), correct
        )

    def _score(self, right: Flags | None, masks: tuple[Flags, Flags] | None = None) -> MetricScore:
        """The score of words, or of those that masks of both sides let through."""
        ours = masks[0] if masks else np.ones(len(self.gold), np.bool_)
        theirs = masks[1] if masks else np.ones(len(self.predicted), np.bool_)
        seen = ours[self.pairs.gold]
        correct = seen if right is None else seen & right
        counts = self._by_sentence(ours, theirs, correct)
        gold, predicted, hits = counts.sum(axis=0).tolist()
        accuracy = None if right is None else percent(hits, int(seen.sum()))
        interval = (
            bootstrap_interval(counts, rounds=self.bootstrap, seed=self.seed) if self.bootstrap else None
        )
        return MetricScore(
            *precision_recall_f1(gold, predicted, hits), accuracy, gold, predicted, hits, interval
        )

    def _by_sentence(self, ours: Flags, theirs: Flags, correct: Flags) -> Counts:
        """Gold, predicted and right words by gold sentences; a predicted word is where it begins."""
        size = len(self.treebank.lengths)
        starts = np.array([start for start, _ in self.gold.spans.sentences], np.int64)
        begins = np.array([start for start, _ in self.predicted.spans.words], np.int64)
        of_predicted = np.searchsorted(starts, begins, side="right") - 1
        sentences = (
            self.gold.sentence[ours],
            of_predicted[theirs],
            self.gold.sentence[self.pairs.gold[correct]],
        )
        return np.stack([np.bincount(one, minlength=size) for one in sentences], axis=1).astype(np.int64)

    def _without_punctuation(self, right: dict[str, Flags]) -> WithoutPunctuation:
        """Attachment of words that are no punctuation by the gold tags, and sentences that are all right."""
        ours = self.gold.ids["upos"] != self.numbers["upos"]["PUNCT"]
        theirs = np.ones(len(self.predicted), np.bool_)
        theirs[self.pairs.predicted[~ours[self.pairs.gold]]] = False
        uas, las = (self._score(right[name], (ours, theirs)) for name in ("UAS", "LAS"))
        complete = [self._complete(right[name], ours) for name in ("UAS", "LAS")]
        return WithoutPunctuation(uas, las, *complete)

    def _complete(self, right: Flags, ours: Flags) -> float:
        """The percentage of sentences that are found and have all their words right."""
        wrong = ours.copy()
        wrong[self.pairs.gold[right]] = False
        there = set(self.predicted.spans.sentences)
        bad = set(self.gold.sentence[wrong].tolist())
        spans = enumerate(self.gold.spans.sentences)
        return percent(sum(i not in bad and span in there for i, span in spans), len(self.treebank.lengths))


_NEEDS = {
    "UPOS": {"upos"},
    "XPOS": {"xpos"},
    "UFeats": {"feats"},
    "AllTags": {"upos"},
    "Lemmas": {"lemma"},
    "UAS": {"heads"},
    "LAS": {"heads", "deprel"},
    "CLAS": {"heads", "deprel"},
    "MLAS": {"heads", "deprel", "upos"},
    "BLEX": {"heads", "deprel", "lemma"},
}


def _described(side: _Side) -> Callable[[int], tuple[int, int, int]]:
    columns = [side.ids[name].tolist() for name in ("deprel", "upos", "feats")]
    return lambda word: (columns[0][word], columns[1][word], columns[2][word])
