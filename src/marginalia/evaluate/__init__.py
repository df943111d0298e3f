"""How good is a labelling, and is one better than another: scores, tables, intervals and significance tests.

Columns of labels go one way: `encode` (strings to ids) -> `conlleval` / `strict` / `tally` (ids to counts)
-> `scoring` (counts to a `Report`) -> `significance` (two labellings to a `Comparison`). Nothing here reads
files or prints.
"""

from marginalia.evaluate.classes import ClassReport, score_classes
from marginalia.evaluate.conll18 import score_treebank
from marginalia.evaluate.conll18_report import MetricScore, TreebankReport
from marginalia.evaluate.ranking import RankingReport, reciprocal_ranks, score_ranking
from marginalia.evaluate.reliability import Reliability, reliability, right_spans
from marginalia.evaluate.report import Confused, Report, TypeScore
from marginalia.evaluate.sampling import bootstrap_interval
from marginalia.evaluate.scoring import evaluate, score_ids, sentence_counts
from marginalia.evaluate.significance import (
    Comparison,
    McNemar,
    Randomisation,
    approximate_randomisation,
    compare,
    mcnemar,
)
from marginalia.evaluate.simplification import Sari, bleu, sari
from marginalia.evaluate.trees import LabelConfusion, TreeReport, score_trees
from marginalia.evaluate.word_alignment import Treebank

__all__ = [
    "ClassReport",
    "Comparison",
    "Confused",
    "LabelConfusion",
    "McNemar",
    "MetricScore",
    "Randomisation",
    "RankingReport",
    "Reliability",
    "Report",
    "Sari",
    "TreeReport",
    "Treebank",
    "TreebankReport",
    "TypeScore",
    "approximate_randomisation",
    "bleu",
    "bootstrap_interval",
    "compare",
    "evaluate",
    "mcnemar",
    "reciprocal_ranks",
    "reliability",
    "right_spans",
    "sari",
    "score_classes",
    "score_ids",
    "score_ranking",
    "score_treebank",
    "score_trees",
    "sentence_counts",
]
