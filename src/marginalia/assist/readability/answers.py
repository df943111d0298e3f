"""Models from teachers' answers, evaluated as in section 3.3 of the paper, and what to ask next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import DataError
from ..parses import parses
from ..profile import LEVELS
from ..records import Plain
from ..trees import trees_of
from .evidence import Evidence, evidence
from .model import ReadabilityModel
from .questionnaire import Question, shipped_questions, sureness
from .ratings import Answer, CurvePoint, RatedPair, curve, rated_pairs, trial
from .training import FOLDS, PRECISION, JudgedPair, Trained, train_model

_POINTS = 20  # of the curve that is shown
_NEXT = 5


@dataclass(frozen=True)
class Evaluation(Plain):
    """What a model makes of pairs that it has not seen: `pairs` were compared, `counted` of them by two
    raters or more who agree that one is easier by enough. Precision and recall are those of verdicts at θ,
    accuracy that of a θ of 0; the curve has them for other θ."""

    answers: int
    raters: int
    pairs: int
    counted: int
    agreement: float
    threshold: float
    precision: float
    recall: float
    accuracy: float
    curve: tuple[CurvePoint, ...]
    ask_next: tuple[str, ...]


def evidence_of(texts: Sequence[str], language: str) -> dict[str, Evidence]:
    """What models see of texts, each parsed once."""
    names = list(dict.fromkeys(texts))
    parsed = parses(language).parse(names)
    return {text: evidence(trees_of(one, language)) for text, one in zip(names, parsed, strict=True)}


def train_from_answers(
    answers: Sequence[Answer],
    *,
    language: str = "",
    level: str = "",
    learner: str = "arow",
    settings: Mapping[str, Any] | None = None,
    precision: float = PRECISION,
    seed: int = 1,
) -> tuple[ReadabilityModel, Evaluation]:
    """A model of what raters said, and its ten-fold evaluation. With a level, of answers for such readers
    alone; else one model is shared by all."""
    language = language or _language_of(answers)
    own = [one for one in answers if one.language == language and level in ("", one.level)]
    pairs = [pair for pair in rated_pairs(own) if pair.difference]
    groups = {pair.question for pair in pairs}
    if len(groups) < 2:
        for_level = f" for {level} readers" if level else ""
        raise DataError(
            f"found {len(groups)} questions with a difference in answers{for_level}, expected 2 or more"
        )
    seen = evidence_of([text for pair in pairs for text in (pair.left, pair.right)], language)
    levels = {name: list(seen.values()) for name in ([level] if level else LEVELS)}
    trained = train_model(
        [_judged(pair, seen) for pair in pairs],
        language,
        levels,
        learner=learner,
        settings=settings,
        precision=precision,
        seed=seed,
        about={"data": "ratings", "readers": level or "all"},
    )
    return _evaluated(trained, own, pairs)


def _language_of(answers: Sequence[Answer]) -> str:
    languages = sorted({one.language for one in answers})
    if len(languages) != 1:
        found = ", ".join(languages) or "no answers"
        raise DataError(f"found {found}, expected answers of one language, or the name of one")
    return languages[0]


def _judged(pair: RatedPair, seen: Mapping[str, Evidence]) -> JudgedPair:
    left, right = seen[pair.left], seen[pair.right]
    easier, harder = (left, right) if pair.difference > 0 else (right, left)
    return JudgedPair(easier, harder, pair.question, abs(pair.difference), pair.counts())


def _evaluated(
    trained: Trained, answers: Sequence[Answer], pairs: Sequence[RatedPair]
) -> tuple[ReadabilityModel, Evaluation]:
    counted = [pair for pair in pairs if pair.counts()]
    scored = trained.scored if counted else []
    at_threshold, at_zero = (trial(scored, theta) for theta in (trained.model.threshold, 0.0))
    found = Evaluation(
        answers=len(answers),
        raters=len({one.rater for one in answers}),
        pairs=len(pairs),
        counted=len(counted),
        agreement=sum(pair.agreement for pair in pairs) / len(pairs),
        threshold=trained.model.threshold,
        precision=at_threshold.precision,
        recall=at_threshold.recall,
        accuracy=at_zero.recall,
        curve=tuple(curve(scored, _POINTS)),
        ask_next=least_sure(trained.model, shipped_questions(trained.model.language)),
    )
    kept = {name: value for name, value in found.to_dict().items() if name != "curve"}
    kept["folds"] = FOLDS
    return replace(trained.model, about={**trained.model.about, "evaluation": kept}), found


def least_sure(model: ReadabilityModel, questions: Sequence[Question], most: int = _NEXT) -> tuple[str, ...]:
    """The ids of the questions whose answers the model knows least."""
    seen = evidence_of([text for one in questions for text in one.sentences], model.language)
    sure = {one.id: sureness(one, lambda a, b: model.score(seen[a], seen[b])) for one in questions}
    return tuple(sorted(sure, key=lambda name: (sure[name], name))[:most])
