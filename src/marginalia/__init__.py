"""Marginalia learns structure in text with linear models: tag, chunk, segment, and know why.

The names below are loaded when first used, so that importing the package is quick and tagging never
loads training code.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marginalia import assist as assist
    from marginalia import decode as _decode
    from marginalia import kinds as _kinds
    from marginalia import learn as _learn
    from marginalia.corpus import (
        CandidateArrays,
        Document,
        ParsedSentence,
        Sentence,
        Span,
        Word,
        iterate_conllu,
        read_conll,
        read_conllu,
        read_crfsuite,
        read_jsonl,
        read_kytea,
        read_plain,
        read_segmented,
    )
    from marginalia.decode import (
        At,
        Before,
        Candidate,
        Classified,
        Classifier,
        Constraints,
        Count,
        Never,
        Only,
        Parsed,
        Parser,
        Reranker,
        Tagged,
        TaggedText,
        Tagger,
        given,
        read_constraints,
    )
    from marginalia.decode.pipeline import Pipeline
    from marginalia.deploy import Shrunk, export, shrink
    from marginalia.errors import DataError, MarginaliaError, ModelError, SettingsError
    from marginalia.features.dictionary import Dictionary
    from marginalia.learn import CorrectionReport, Labeler, Progress
    from marginalia.learn.self_training import Unlabelled
    from marginalia.trainable import ClassModel, Model, ParseModel, RerankModel, trainable
    from marginalia.trainable_pipeline import PipelineModel

    calibrate = trainable(_learn.calibrate)
    convert = trainable(_decode.convert)
    load = trainable(_kinds.load)
    train = trainable(_learn.train)

__version__ = "0.1.0"

_HOMES = {
    "corpus": (
        "CandidateArrays",
        "Document",
        "ParsedSentence",
        "Sentence",
        "Span",
        "Word",
        "iterate_conllu",
        "read_conll",
        "read_conllu",
        "read_crfsuite",
        "read_jsonl",
        "read_kytea",
        "read_plain",
        "read_segmented",
    ),
    "decode": (
        "At",
        "Before",
        "Candidate",
        "Classified",
        "Classifier",
        "Constraints",
        "Count",
        "Never",
        "Only",
        "Parsed",
        "Parser",
        "Reranker",
        "Tagged",
        "TaggedText",
        "Tagger",
        "convert",
        "given",
        "read_constraints",
    ),
    "decode.pipeline": ("Pipeline",),
    "deploy": ("Shrunk", "export", "shrink"),
    "errors": ("DataError", "MarginaliaError", "ModelError", "SettingsError"),
    "features.dictionary": ("Dictionary",),
    "kinds": ("load",),
    "learn": ("Labeler", "Progress", "CorrectionReport", "calibrate", "train"),
    "learn.self_training": ("Unlabelled",),
    "trainable": ("ClassModel", "Model", "ParseModel", "RerankModel"),
    "trainable_pipeline": ("PipelineModel",),
}
_ROOMS = ("assist",)  # rooms that users call by their names: mg.assist.analyse(text)
_MAKE_MODELS = ("calibrate", "convert", "load", "train")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "At",
    "Before",
    "Candidate",
    "CandidateArrays",
    "ClassModel",
    "Classified",
    "Classifier",
    "Constraints",
    "CorrectionReport",
    "Count",
    "DataError",
    "Dictionary",
    "Document",
    "Labeler",
    "MarginaliaError",
    "Model",
    "ModelError",
    "Never",
    "Only",
    "ParseModel",
    "Parsed",
    "ParsedSentence",
    "Parser",
    "Pipeline",
    "PipelineModel",
    "Progress",
    "RerankModel",
    "Reranker",
    "Sentence",
    "SettingsError",
    "Shrunk",
    "Span",
    "Tagged",
    "TaggedText",
    "Tagger",
    "Unlabelled",
    "Word",
    "calibrate",
    "convert",
    "export",
    "given",
    "iterate_conllu",
    "load",
    "read_conll",
    "read_conllu",
    "read_constraints",
    "read_crfsuite",
    "read_jsonl",
    "read_kytea",
    "read_plain",
    "read_segmented",
    "shrink",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"marginalia.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'marginalia' has no attribute '{name}'")
    value = getattr(import_module(f"marginalia.{_HOME_OF[name]}"), name)
    if name in _MAKE_MODELS:
        value = import_module("marginalia.trainable").trainable(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({"__version__", *_HOME_OF, *_ROOMS})
