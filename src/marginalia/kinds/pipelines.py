"""Pipelines scored on treebanks, by the table of CoNLL 2018."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from marginalia.corpus.document import Document, ParsedSentence
from marginalia.evaluate.conll18 import score_treebank
from marginalia.kinds.treebanks import treebank_of

if TYPE_CHECKING:
    from marginalia.decode.pipeline import Pipeline
    from marginalia.evaluate.conll18_report import TreebankReport


def evaluate_pipeline(
    pipeline: Pipeline,
    gold: Document,
    given: Sequence[str] = (),
    threads: int = 1,
    *,
    bootstrap: int = 0,
    file: str | None = None,
) -> TreebankReport:
    """How good a pipeline is on a treebank: from its raw text, or with what is `given` of it."""
    expected = treebank_of(gold.sentences, file)
    report = score_treebank(
        expected, treebank_of(_predicted(pipeline, gold, given, threads)), bootstrap=bootstrap
    )
    return without_columns(report, (*pipeline.columns, *given_columns(given)))


def _predicted(
    pipeline: Pipeline, gold: Document, given: Sequence[str], threads: int
) -> list[ParsedSentence]:
    if given:
        return list(pipeline.annotate(copies(gold.sentences), given, threads))
    return [sentence for part in pipeline.parse_long(gold.text, threads) for sentence in part.sentences]


def copies(sentences: Sequence[ParsedSentence]) -> list[ParsedSentence]:
    """Sentences that may be changed while these stay as they are."""
    return [
        replace(
            sentence,
            words=[replace(word) for word in sentence.words],
            multiword=[replace(token) for token in sentence.multiword],
        )
        for sentence in sentences
    ]


def given_columns(given: Sequence[str]) -> tuple[str, ...]:
    """The columns that are given with the words."""
    names = {"tags": ("upos", "xpos", "feats"), "lemmas": ("lemma",), "trees": ("head", "deprel")}
    return tuple(column for name in given for column in names.get(name, ()))


_NEEDS = {
    "UPOS": ("upos",),
    "XPOS": ("xpos",),
    "UFeats": ("feats",),
    "AllTags": ("upos", "xpos", "feats"),
    "Lemmas": ("lemma",),
    "UAS": ("head",),
    "LAS": ("head", "deprel"),
    "CLAS": ("head", "deprel"),
    "MLAS": ("head", "deprel", "upos", "feats"),
    "BLEX": ("head", "deprel", "lemma"),
}


def without_columns(report: TreebankReport, columns: Sequence[str]) -> TreebankReport:
    """The report without what the pipeline does not predict."""
    absent = {name for name, needs in _NEEDS.items() if not set(needs) <= set(columns)}
    scores = {name: None if name in absent else score for name, score in report.scores.items()}
    return replace(
        report, scores=scores, without_punctuation=None if "LAS" in absent else report.without_punctuation
    )
