"""Questions to teachers: a sentence and paraphrases of it, each to be rated on a scale of five steps.

Raters are anonymous ids. Each sees the sentences of a question in an order of their own, may stop at any time
and goes on where they stopped. With a model, those questions come first where it is least sure.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ...corpus.streams import Source, name_of, read_lines
from ...errors import DataError, SettingsError
from .features import LANGUAGES, SHIPPED
from .ratings import STEPS, Answer, RatingsFile

Score = Callable[[str, str], float]
"""How much easier the first of two sentences is, in [-1, 1]."""


@dataclass(frozen=True)
class Question:
    """Sentences that say the same: the first one has the feature that the others do without."""

    id: str
    feature: str
    sentences: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as a line of a file has them."""
        return {"id": self.id, "feature": self.feature, "sentences": list(self.sentences)}


@dataclass(frozen=True)
class Asked:
    """A question as a rater sees it, its sentences shuffled; `order` has their numbers in the question."""

    question: Question
    sentences: tuple[str, ...]
    order: tuple[int, ...]
    answered: int
    total: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the feature that the question is about stays hidden."""
        return {
            "question": self.question.id,
            "sentences": list(self.sentences),
            "steps": STEPS,
            "answered": self.answered,
            "total": self.total,
        }


class Questionnaire:
    """Questions, and the file of answers to them."""

    def __init__(
        self,
        path: str,
        questions: Sequence[Question] | None = None,
        *,
        language: str = "en",
        level: str = "",
        score: Score | None = None,
        seed: int = 0,
    ) -> None:
        self.questions = list(shipped_questions(language) if questions is None else questions)
        self.language, self.level, self.seed = language, level, seed
        self._by_id = {question.id: question for question in self.questions}
        self._ratings = RatingsFile(path)
        self._doubt = {} if score is None else {one.id: sureness(one, score) for one in self.questions}

    @staticmethod
    def new_rater() -> str:
        """An id for a new rater that says nothing about them."""
        return secrets.token_hex(8)

    @property
    def answers(self) -> list[Answer]:
        """All answers that were given so far, by all raters."""
        return self._ratings.answers

    def answered(self, rater: str) -> set[str]:
        """Ids of the questions that a rater has answered for this level of readers."""
        return {
            one.question for one in self.answers if one.rater == rater and one.level == self.level
        } & self._by_id.keys()

    def next(self, rater: str) -> Asked | None:
        """What to ask a rater next; None when all was answered.

        The model's least sure questions first, else those with the fewest answers; the rest is chance, the
        same for a rater every time.
        """
        done = self.answered(rater)
        times = Counter(one.question for one in self.answers if one.level == self.level)
        waiting = [one for one in self.questions if one.id not in done]
        if not waiting:
            return None
        first = min(
            waiting,
            key=lambda one: (self._doubt.get(one.id, 0.0), times[one.id], self._chance(rater, one.id)),
        )
        order = self._order(rater, first)
        shown = tuple(first.sentences[number] for number in order)
        return Asked(first, shown, order, len(done), len(self.questions))

    def answer(self, rater: str, question: str, degrees: Sequence[int | None], comment: str = "") -> Answer:
        """Keep a rater's degrees (1 hard to 5 easy) of the sentences, in the order that `next` showed."""
        if question not in self._by_id:
            raise DataError(f"found the question {question!r}, expected one of this questionnaire")
        asked = self._by_id[question]
        order = self._order(rater, asked)
        if len(degrees) != len(order):
            raise DataError(f"found {len(degrees)} degrees, expected {len(order)}: one for each sentence")
        own: list[int | None] = [None] * len(order)
        for place, number in enumerate(order):
            own[number] = degrees[place]
        kept = Answer(question, rater, asked.sentences, tuple(own), self.language, self.level, comment)
        self._ratings.add(kept)
        return kept

    def _order(self, rater: str, question: Question) -> tuple[int, ...]:
        numbers = range(len(question.sentences))
        return tuple(sorted(numbers, key=lambda number: self._chance(rater, f"{question.id}/{number}")))

    def _chance(self, rater: str, what: str) -> bytes:
        return hashlib.sha256(f"{self.seed}/{rater}/{what}".encode()).digest()


def sureness(question: Question, score: Score) -> float:
    """How sure a model is of the pair of a question that it is least sure of: |score| of it."""
    return min(abs(score(a, b)) for a, b in combinations(question.sentences, 2))


def read_questions(source: Source) -> list[Question]:
    """Questions of a file of JSON lines; errors name the line."""
    file, questions = name_of(source), []
    seen: set[str] = set()
    for number, line in read_lines(source):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except ValueError:
            raise DataError("found no JSON, expected a question: an object", file=file, line=number) from None
        question = _question(data, file, number)
        if question.id in seen:
            raise DataError(f"found the id {question.id!r} a second time", file=file, line=number)
        seen.add(question.id)
        questions.append(question)
    return questions


def _question(data: Any, file: str, line: int) -> Question:
    if not isinstance(data, dict) or set(data) != {"id", "feature", "sentences"}:
        raise DataError("expected an object with id, feature and sentences", file=file, line=line)
    sentences = data["sentences"]
    if (
        not isinstance(sentences, list)
        or len(sentences) < 2
        or len(set(map(str, sentences))) < len(sentences)
    ):
        raise DataError("expected two or more different sentences", file=file, line=line)
    if not _texts([data["id"], data["feature"], *sentences]):
        raise DataError("expected texts that are not empty", file=file, line=line)
    return Question(data["id"], data["feature"], tuple(sentences))


def _texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) and value.strip() for value in values)


def shipped_questions(language: str) -> list[Question]:
    """The questions that ship for a language."""
    if language not in LANGUAGES:
        raise SettingsError(f"found language {language!r}, expected one of {', '.join(LANGUAGES)}")
    return read_questions(str(SHIPPED / language / "questions.jsonl"))
