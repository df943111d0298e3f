"""The questionnaire as the page asks it: a question at a time, for the readers that a rater knows."""

from __future__ import annotations

import re
import threading
from typing import Any

from marginalia.assist.assistant import assistant
from marginalia.assist.languages import LANGUAGES
from marginalia.assist.profile import LEVELS, Profile
from marginalia.assist.readability import Questionnaire
from marginalia.assist.readability.questionnaire import Score, shipped_questions
from marginalia.assist.trees import Tree
from marginalia.errors import DataError

_RATER = re.compile(r"[0-9a-f]{16}")
_MOST_COMMENT = 2_000
STEPS = ("very hard", "hard", "so-so", "easy", "very easy")


class Questions:
    """Questionnaires by language and level, whose answers all go to one file; one request at a time."""

    def __init__(self, path: str) -> None:
        self._path, self._lock = path, threading.Lock()
        self._open: dict[tuple[str, str], Questionnaire] = {}

    def question(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What to ask a rater next; a new rater gets an id."""
        with self._lock:
            return self._next(asked)

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Keep an answer, which is on disk before the next question is sent."""
        degrees, comment = asked.get("degrees"), asked.get("comment", "")
        if not isinstance(degrees, list) or not isinstance(comment, str) or len(comment) > _MOST_COMMENT:
            raise DataError(
                f"expected degrees as a list, and a comment of at most {_MOST_COMMENT:,} characters"
            )
        with self._lock:
            form, rater = self._form(asked), _rater(asked)
            form.answer(rater, str(asked.get("question")), degrees, comment)
            return self._next(asked)

    def _next(self, asked: dict[str, Any]) -> dict[str, Any]:
        form, rater = self._form(asked), _rater(asked)
        found = form.next(rater)
        return {
            "rater": rater,
            "steps": list(STEPS),
            "answered": len(form.answered(rater)),
            "total": len(form.questions),
            "question": found and {"id": found.question.id, "sentences": list(found.sentences)},
        }

    def _form(self, asked: dict[str, Any]) -> Questionnaire:
        language, level = asked.get("language"), asked.get("level")
        if language not in LANGUAGES or level not in LEVELS:
            raise DataError(f"found {language!r} and {level!r}, expected a language and a level of readers")
        if (language, level) not in self._open:
            form = Questionnaire(self._path, language=language, level=level, score=score_of(language))
            self._open[language, level] = form
        return self._open[language, level]


def _rater(asked: dict[str, Any]) -> str:
    rater = asked.get("rater")
    if isinstance(rater, str) and _RATER.fullmatch(rater):
        return rater
    return Questionnaire.new_rater()


def score_of(language: str) -> Score:
    """How much easier one sentence is than another, by the model that ships. Questions are parsed at once."""
    helper = assistant(language, Profile(language=language))
    helper.read(text for question in shipped_questions(language) for text in question.sentences)
    seen = {}

    def evidence(text: str) -> Any:
        if text not in seen:
            trees = [Tree.of(one, language) for _, one in helper.parsed(text) if one.words]
            seen[text] = helper.judge.evidence(trees)
        return seen[text]

    return lambda left, right: helper.judge.model.score(evidence(left), evidence(right))
