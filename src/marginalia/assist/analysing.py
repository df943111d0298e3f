"""Texts analysed: what is hard for a reader, sentence by sentence, and what could be said instead."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marginalia.assist.assistant import Assistant, assistant
from marginalia.assist.languages import language_of
from marginalia.assist.profile import LEVELS, Profile, load_profile, profile_of
from marginalia.assist.records import Analysis, Offer, SentenceReport
from marginalia.assist.sources import PlainText, SourceText
from marginalia.assist.versions import versions
from marginalia.errors import DataError, SettingsError

if TYPE_CHECKING:
    from marginalia.corpus.document import ParsedSentence

Reader = Profile | Mapping[str, Any] | str | os.PathLike[str]
"""A profile, its values, or the path of its file."""


def analyse(
    text: str,
    *,
    level: str | None = None,
    language: str | None = None,
    profile: Reader | None = None,
    offers: bool = True,
) -> Analysis:
    """What is hard in a text for a reader, and why; with `offers` also what could be said instead of its hard
    sentences. Without a `language` the script decides."""
    return analyse_source(PlainText(_text(text)), reader(level, language, profile), offers=offers)


def offers(
    sentence: str | ParsedSentence,
    *,
    level: str | None = None,
    language: str | None = None,
    profile: Reader | None = None,
) -> list[Offer]:
    """What could be said instead of a sentence, the best first; of a text, offers for each of its sentences,
    one after the other."""
    who = reader(level, language, profile)
    if not isinstance(sentence, str):
        return list(assistant(who.language or language_of(sentence.text), who).offers(sentence))
    helper = assistant(who.language or language_of(sentence), who)
    return [one for _, parsed in helper.parsed(sentence) for one in helper.offers(parsed)]


def reader(level: str | None, language: str | None, profile: Reader | None) -> Profile:
    """The profile that is meant, with another level or language if they are given."""
    if profile is None:
        found = Profile()
    elif isinstance(profile, Profile):
        found = profile_of(profile.to_dict())
    else:
        found = profile_of(profile) if isinstance(profile, Mapping) else load_profile(profile)
    if level is not None and level not in LEVELS:
        raise SettingsError(f"level: found '{level}', expected {' or '.join(LEVELS)}.")
    given = {name: value for name, value in (("level", level), ("language", language)) if value is not None}
    return profile_of({**found.to_dict(), **given}) if given else found


def analyse_source(source: SourceText, profile: Profile, *, offers: bool = False) -> Analysis:
    """The analysis of a text in blocks."""
    from marginalia.assist.readability.scoring import formulas_of

    helper = assistant_for(source, profile)
    helper.read(block.text for block in source.blocks)
    sentences: list[SentenceReport] = []
    every: list[ParsedSentence] = []
    for number, block in enumerate(source.blocks):
        for report, parsed in helper.reports(block.text, number):
            every.append(parsed)
            wanted = offers and report.band > 1
            sentences.append(replace(report, offers=helper.offers(parsed)) if wanted else report)
    blocks = tuple({"kind": block.kind, "text": block.text} for block in source.blocks)
    total = sum(one.difficulty for one in sentences) / max(1, len(sentences))
    return Analysis(
        source.name,
        helper.language,
        profile.level,
        total,
        blocks,
        tuple(sentences),
        formulas_of(every, helper.language),
        versions(helper.language, profile),
    )


def assistant_for(source: SourceText, profile: Profile) -> Assistant:
    """The assistant in the language of a text."""
    text = "\n".join(block.text for block in source.blocks)
    if not any(map(str.isalnum, text)):
        raise DataError("found no words, expected a text", file=source.name)
    return assistant(profile.language or language_of(text), profile)


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise SettingsError(f"found {type(text).__name__}, expected a text")
    return text
