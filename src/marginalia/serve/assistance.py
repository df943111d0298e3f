"""Reading assistance as an application: what the page asks, answered from records of `assist`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

from marginalia.assist.analysing import analyse_source
from marginalia.assist.assistant import Assistant, assistant, families
from marginalia.assist.decisions import FORMAT, Decisions
from marginalia.assist.difference import difference
from marginalia.assist.furigana import ruby
from marginalia.assist.languages import LANGUAGES, language_of
from marginalia.assist.profile import LEVELS, Profile, profile_of, read_profile
from marginalia.assist.records import BANDS, SentenceReport
from marginalia.assist.sources import PlainText
from marginalia.assist.versions import version_of, versions
from marginalia.assist.vocabulary import vocabulary
from marginalia.errors import DataError
from marginalia.serve.app import Answer
from marginalia.serve.questions import Questions

MOST_CHARACTERS = 100_000
"""Of a text that the page may send: what is longer takes many seconds, and is for the command line."""


class AssistAnswers:
    """Answers to what the page posts, by path.

    The page is for a reader, who may change on it; if `fixed`, it begins with this reader even where the
    browser remembers another one. Answers to the questionnaire go to the file `ratings`."""

    def __init__(self, profile: Profile, ratings: str, fixed: bool = False) -> None:
        self._profile, self._fixed = profile, fixed
        self._questions = Questions(ratings)

    @cached_property
    def answers(self) -> dict[str, Answer]:
        """Functions of what was posted."""
        own: dict[str, Callable[[dict[str, Any]], Any]] = {
            "start": self.start,
            "families": self.families,
            "analyse": self.analyse,
            "offers": self.offers,
            "difference": self.difference,
            "vocabulary": self.vocabulary,
            "profile": self.profile,
            "decisions": self.decisions,
            "question": self._questions.question,
            "answer": self._questions.answer,
        }
        return {f"/api/{name}": answer for name, answer in own.items()}

    def warm_up(self) -> threading.Thread:
        """Load what the first text will need, while nobody waits."""
        language = self._profile.language or "en"
        texts = {"en": "The text was read by nobody.", "ja": "まだ誰にも読まれていない文章である。"}
        asked = {"text": texts[language], "index": 0, "profile": self._profile.to_dict()}

        def work() -> None:
            self.analyse(asked)
            self.offers(asked)

        thread = threading.Thread(target=work, name="marginalia-warm-up", daemon=True)
        thread.start()
        return thread

    def start(self, asked: dict[str, Any]) -> Any:
        """What the page needs to know first."""
        return {
            "version": version_of("marginalia"),
            "levels": list(LEVELS),
            "bands": list(BANDS),
            "profile": self._profile.to_dict(),
            "fixed": self._fixed,
            "decisions_format": FORMAT,
        }

    def families(self, asked: dict[str, Any]) -> Any:
        """Families of rules, which a reader may switch off, with what they are for."""
        language = asked.get("language")
        if language not in LANGUAGES:
            raise DataError(f"language: found {language!r}, expected {' or '.join(LANGUAGES)}")
        return {"families": [{"name": name, "why": why} for name, why in families(language).items()]}

    def analyse(self, asked: dict[str, Any]) -> Any:
        """A text by blocks and sentences, with what is between them, so that all of it can be shown."""
        source, helper = self._text(asked)
        helper.read(block.text for block in source.blocks)
        ends = [0, *(end for _, end in source.spans)]
        blocks = []
        for number, (block, (start, _)) in enumerate(zip(source.blocks, source.spans, strict=True)):
            shown, after = _shown(helper, block.text, number)
            before = source.text[ends[number] : start]
            blocks.append(
                {"kind": block.kind, "text": block.text, "before": before, "after": after, "sentences": shown}
            )
        return {
            "language": helper.language,
            "blocks": blocks,
            "after": source.text[ends[-1] :],
            "versions": versions(helper.language, helper.profile),
        }

    def offers(self, asked: dict[str, Any]) -> Any:
        """Offers for one sentence of a block."""
        source, helper = self._text(asked)
        sentences = [parsed for _, parsed in helper.parsed(source.text)]
        index = asked.get("index")
        if type(index) is not int or not 0 <= index < len(sentences):
            raise DataError(f"index: found {index!r}, expected that of one of {len(sentences)} sentences")
        return {"offers": [offer.to_dict() for offer in helper.offers(sentences[index])]}

    def difference(self, asked: dict[str, Any]) -> Any:
        """What is different between two wordings of a sentence."""
        before, after = _str(asked, "before"), _str(asked, "after")
        return {"segments": [segment.to_dict() for segment in difference(before, after)]}

    def vocabulary(self, asked: dict[str, Any]) -> Any:
        """The hard words of a text."""
        source, helper = self._text(asked)
        return vocabulary(analyse_source(source, helper.profile)).to_dict()

    def profile(self, asked: dict[str, Any]) -> Any:
        """A profile as a file, or of one."""
        if "toml" in asked:
            return {"profile": self._own(read_profile(_str(asked, "toml"), "the profile")).to_dict()}
        return {"toml": self._reader(asked).to_toml()}

    def decisions(self, asked: dict[str, Any]) -> Any:
        """Saved decisions, checked."""
        return {"decisions": Decisions.from_dict(asked.get("decisions")).to_dict()}

    def _reader(self, asked: dict[str, Any]) -> Profile:
        values = asked.get("profile")
        if not isinstance(values, dict):
            raise DataError(f"profile: found {type(values).__name__}, expected an object")
        return self._own(profile_of(values))

    def _own(self, profile: Profile) -> Profile:
        """A page names no files: the model of readability stays the one that the page was started with."""
        return replace(profile, reader=self._profile.reader)

    def _text(self, asked: dict[str, Any]) -> tuple[PlainText, Assistant]:
        text, profile = _str(asked, "text"), self._reader(asked)
        if len(text) > MOST_CHARACTERS:
            raise DataError(
                f"found {len(text):,} characters, expected at most {MOST_CHARACTERS:,}: longer texts "
                "are for the command line, marginalia assist FILE"
            )
        if not any(map(str.isalnum, text)):
            raise DataError("found no words, expected a text")
        return PlainText(text), assistant(profile.language or language_of(text), profile)


def _str(asked: dict[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str):
        raise DataError(f"{name}: found {type(value).__name__}, expected a text")
    return value


def _shown(helper: Assistant, text: str, block: int) -> tuple[list[dict[str, Any]], str]:
    """The sentences of a block, each with what is before it and its parts; and what is behind the last."""
    shown, done = [], 0
    for report, _ in helper.reports(text, block):
        shown.append({**report.to_dict(), "before": text[done : report.start], "parts": _parts(report)})
        done = report.end
    return shown, text[done:]


def _parts(report: SentenceReport) -> list[dict[str, Any]]:
    """The text of a sentence, cut at its words: each part with the number of its word, and how it is read."""
    parts: list[dict[str, Any]] = []
    done = 0
    for number, word in enumerate(report.words):
        if word.start < done:
            continue
        if word.start > done:
            parts.append({"text": report.text[done : word.start]})
        part = {"text": report.text[word.start : word.end], "word": number}
        parts.append(part | ({"ruby": ruby(word.form, word.reading)} if word.reading else {}))
        done = word.end
    return parts + ([{"text": report.text[done:]}] if done < len(report.text) else [])
