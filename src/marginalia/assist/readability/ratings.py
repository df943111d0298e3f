"""Teachers' answers to questions, as lines of JSON that are only ever added to, and what they say of pairs.

An answer has the question's sentences with it, so that a file of answers is all that training needs. A line
that was not finished when a process was killed is dropped, by readers and by the next writer.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

from ...corpus.streams import Source, encodable, name_of, open_source
from ...errors import DataError

STEPS = 5  # of the scale: 1 is the hardest, 5 the easiest
LEAST_DIFFERENCE, LEAST_AGREEMENT = 0.5, 0.9  # of pairs that are counted: |D| and Agr of the paper


@dataclass(frozen=True)
class Answer:
    """How easy a rater finds each sentence of a question: 1 (hard) to 5 (easy), or None."""

    question: str
    rater: str
    sentences: tuple[str, ...]
    degrees: tuple[int | None, ...]
    language: str = "en"
    level: str = ""
    comment: str = ""

    def __post_init__(self) -> None:
        if len(self.degrees) != len(self.sentences) or len(self.sentences) < 2:
            raise DataError(
                f"found {len(self.degrees)} degrees for {len(self.sentences)} sentences of question "
                f"{self.question!r}, expected one for each of two or more"
            )
        for degree in self.degrees:
            if degree is not None and (isinstance(degree, bool) or degree not in range(1, STEPS + 1)):
                raise DataError(f"found the degree {degree!r}, expected 1 (hard) to {STEPS} (easy), or none")
        texts = (self.question, self.rater, self.level, self.comment, *self.sentences)
        if not all(isinstance(text, str) and encodable(text) for text in texts):
            raise DataError("found something that is no text in an answer, expected Unicode text")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as a line of the file has them."""
        return asdict(self) | {"sentences": list(self.sentences), "degrees": list(self.degrees)}


_KEYS = tuple(Answer.__dataclass_fields__)


class RatingsFile:
    """Answers in a file; each `add` is on disk when it returns. Threads may share it, processes may not."""

    def __init__(self, path: str) -> None:
        self.path, self._lock = path, threading.Lock()
        self.answers = read_answers(path) if os.path.exists(path) else []

    def add(self, answer: Answer) -> None:
        """Add an answer behind all others; a rater's later answer to a question replaces the earlier one."""
        line = json.dumps(answer.to_dict(), ensure_ascii=False) + "\n"
        with self._lock:
            self._append(line.encode())
            self.answers.append(answer)

    def _append(self, line: bytes) -> None:
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise DataError(f"cannot write: {error.strerror or error}", file=self.path) from error
        with os.fdopen(descriptor, "r+b", buffering=0) as stream:
            _drop_unfinished(stream)
            _write_all(stream, line)
            os.fsync(stream.fileno())


def _write_all(stream: Any, data: bytes) -> None:
    while data:
        data = data[stream.write(data) :]


def _drop_unfinished(stream: Any) -> None:
    """Cuts off what stands behind the last line end: a line whose writer was killed."""
    end = stream.seek(0, os.SEEK_END)
    tail = b""
    while end > len(tail) and b"\n" not in tail:
        size = min(end - len(tail), 4096)
        stream.seek(end - len(tail) - size)
        tail = stream.read(size) + tail
    unfinished = len(tail) - (tail.rfind(b"\n") + 1)
    if unfinished:
        stream.truncate(end - unfinished)
        os.fsync(stream.fileno())


def read_answers(source: Source) -> list[Answer]:
    """All answers of a file, an unfinished last line left out; errors name the line."""
    file, answers = name_of(source), []
    with open_source(source) as stream:
        for number, raw in enumerate(stream, 1):
            if raw.endswith(b"\n") and raw.strip():
                answers.append(_answer(_decoded(raw, file, number), file, number))
    return answers


def _decoded(raw: bytes, file: str, line: int) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        message = f"found byte 0x{raw[error.start]:02X}, expected UTF-8 text"
        raise DataError(message, file=file, line=line) from None


def _answer(line: str, file: str, number: int) -> Answer:
    try:
        data = json.loads(line)
    except ValueError as error:
        column = getattr(error, "colno", None)
        raise DataError(
            "found no JSON, expected an answer: an object", file=file, line=number, column=column
        ) from None
    if not isinstance(data, dict) or not {"question", "rater", "sentences", "degrees"} <= set(data):
        message = "expected an object with question, rater, sentences and degrees"
        raise DataError(message, file=file, line=number)
    if unknown := sorted(set(data) - set(_KEYS)):
        message = f"found the key '{unknown[0]}', expected one of {', '.join(_KEYS)}"
        raise DataError(message, file=file, line=number)
    for key in ("sentences", "degrees"):
        if not isinstance(data[key], list):
            raise DataError(f"found {data[key]!r} as {key}, expected a list", file=file, line=number)
        data[key] = tuple(data[key])
    try:
        return Answer(**data)
    except DataError as error:
        raise DataError(error.message, file=file, line=number) from None


class RatedPair(NamedTuple):
    """Two sentences of a question and what raters say: D in [-1, 1], positive where the left one is easier,
    how many said so, and their agreement."""

    question: str
    left: str
    right: str
    level: str
    language: str
    difference: float
    raters: int
    agreement: float

    @property
    def verdict(self) -> str:
        """The answer: `left` or `right` is easier by enough, else `comparable`."""
        if abs(self.difference) < LEAST_DIFFERENCE:
            return "comparable"
        return "left" if self.difference > 0 else "right"

    def counts(self, least: float = LEAST_DIFFERENCE, agreement: float = LEAST_AGREEMENT) -> bool:
        """Whether the pair is one to evaluate with: raters agree, there are two or more, and D is large."""
        return self.raters > 1 and abs(self.difference) >= least and self.agreement >= agreement


def degree_of_readability(degree: int) -> float:
    """dor: the lowest degree of the scale is 0, the highest 1."""
    return (degree - 1) / (STEPS - 1)


def rated_pairs(answers: Iterable[Answer]) -> list[RatedPair]:
    """All pairs of sentences that somebody compared, in the order of their questions."""
    last: dict[tuple[str, str, str], dict[str, Answer]] = {}
    for answer in answers:
        key = (answer.language, answer.level, answer.question)
        last.setdefault(key, {})[answer.rater] = answer
    pairs = []
    for (language, level, question), by_rater in last.items():
        rated: dict[tuple[str, str], list[float]] = {}
        for answer in by_rater.values():
            for i, j in combinations(range(len(answer.sentences)), 2):
                a, b = answer.degrees[i], answer.degrees[j]
                if a is not None and b is not None:
                    between = degree_of_readability(a) - degree_of_readability(b)
                    rated.setdefault((answer.sentences[i], answer.sentences[j]), []).append(between)
        for (left, right), differences in rated.items():
            pairs.append(_pair(question, left, right, level, language, differences))
    return pairs


def _pair(
    question: str, left: str, right: str, level: str, language: str, differences: Sequence[float]
) -> RatedPair:
    mean = sum(differences) / len(differences)
    sign = 1 if mean > 0 else -1
    for_it = sum(one * sign > 0 for one in differences)
    against = sum(one * sign < 0 for one in differences)
    agreement = (for_it - against) / len(differences)
    return RatedPair(question, left, right, level, language, mean, len(differences), agreement)


@dataclass(frozen=True)
class Trial:
    """Precision and recall of verdicts as in the paper's section 3.3, over pairs that count."""

    pairs: int
    decided: int
    correct: int

    @property
    def precision(self) -> float:
        """Correct verdicts of those that are left or right."""
        return self.correct / self.decided if self.decided else 0.0

    @property
    def recall(self) -> float:
        """Correct verdicts of all pairs that count."""
        return self.correct / self.pairs if self.pairs else 0.0

    def to_dict(self) -> dict[str, float]:
        """Counts and shares."""
        return asdict(self) | {"precision": self.precision, "recall": self.recall}


def verdict_of(score: float, threshold: float) -> str:
    """`left` (is easier), `right` or `comparable`."""
    if abs(score) < threshold or score == 0:
        return "comparable"
    return "left" if score > 0 else "right"


def trial(scored: Iterable[tuple[float, str]], threshold: float) -> Trial:
    """Scores of pairs with their right verdicts, judged at a threshold."""
    pairs = decided = correct = 0
    for score, right in scored:
        verdict = verdict_of(score, threshold)
        pairs += 1
        decided += verdict != "comparable"
        correct += verdict == right
    return Trial(pairs, decided, correct)


class CurvePoint(NamedTuple):
    """A threshold with what it gives."""

    threshold: float
    precision: float
    recall: float


def curve(scored: Sequence[tuple[float, str]], points: int = 0) -> list[CurvePoint]:
    """Precision and recall at every threshold that changes a verdict, or at so many of them, lowest first."""
    found = []
    correct = 0
    ordered = sorted(scored, key=lambda one: -abs(one[0]))
    for number, (score, right) in enumerate(ordered, 1):
        correct += verdict_of(score, 0.0) == right
        if number == len(ordered) or abs(ordered[number][0]) < abs(score):
            found.append(CurvePoint(abs(score), correct / number, correct / len(ordered)))
    found.reverse()
    if points and len(found) > points:
        found = [found[round(i * (len(found) - 1) / (points - 1))] for i in range(points)]
    return found


def threshold_for(scored: Sequence[tuple[float, str]], precision: float) -> float:
    """The lowest threshold with this precision, so with the most recall; 1.0 if none has it."""
    return min((point.threshold for point in curve(scored) if point.precision >= precision), default=1.0)
