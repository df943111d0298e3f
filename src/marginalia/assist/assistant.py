"""One reader's assistant in one language: what is hard in a sentence, and what could be said instead."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from marginalia.assist.hard_words import band_of as word_band
from marginalia.assist.hard_words import word_reports
from marginalia.assist.offering import WORDS, Judge, ranked_offers
from marginalia.assist.parses import cleaned, parses
from marginalia.assist.profile import Profile
from marginalia.assist.records import Offer, Reason, SentenceReport
from marginalia.assist.trees import Tree
from marginalia.assist.words import familiarity
from marginalia.corpus.raw_text import paragraph_spans
from marginalia.errors import SettingsError

if TYPE_CHECKING:
    from marginalia.assist.composing import Words
    from marginalia.assist.paraphrase import RuleSet
    from marginalia.corpus.document import ParsedSentence

LIMITS = (50.0, 75.0, 90.0)  # difficulties from which on sentences are fair, hard and very hard
LONGEST = 150  # words of a sentence that is looked into
MOST_AT_ONCE = 10_000  # characters of a paragraph that are parsed at once
_END = re.compile(r"[.!?][\"'”’)]*\s+|[。！？][」』）]*")
KINDS = ("lexical", "structural")
_WORD = "word:"  # how names of rules begin that put one word for another
_WEIGHTIEST = 5  # reasons of a sentence


class Assistant:
    """What works for a reader in a language. It never changes, and may be used from many threads at once."""

    def __init__(self, language: str, profile: Profile) -> None:
        self.language, self.profile = language, profile
        self.parses = parses(language)
        self.judge = Judge(language, profile)

    @cached_property
    def rules(self) -> RuleSet:
        """The rules that are on for the reader."""
        return rules_of(self.language, self.profile)

    @cached_property
    def words(self) -> Words | None:
        """Simpler words for the reader; None where the language has none, or they are off."""
        if self.language != "en" or {"lexical", WORDS} & set(self.profile.off):
            return None
        from marginalia.assist.composing import Words
        from marginalia.assist.lexical import LexicalRules
        from marginalia.assist.paraphrase import RuleSet

        rules = RuleSet([], [], [], frozenset(self.profile.protected), more=LexicalRules(self.profile))
        return Words(rules, frozenset(self.profile.off), self._is_hard)

    def _is_hard(self, word: str) -> bool:
        return word_band(familiarity(word, self.language), self.profile.level) > 1

    def read(self, texts: Iterable[str]) -> None:
        """Parse texts at once, which is quicker than one by one; what is parsed is kept for a while."""
        self.parses.parse([part for text in texts for _, part in _paragraphs(text)])

    def parsed(self, text: str) -> Iterator[tuple[int, ParsedSentence]]:
        """The sentences of a text, each with the place that its characters are counted from."""
        parts = _paragraphs(text)
        found = self.parses.parse([part for _, part in parts])
        for (start, _), sentences in zip(parts, found, strict=True):
            yield from ((start, sentence) for sentence in sentences)

    def reports(self, text: str, block: int = 0) -> Iterator[tuple[SentenceReport, ParsedSentence]]:
        """The sentences of a block, each with how it was parsed."""
        for place, sentence in self.parsed(text):
            yield self.report(sentence, text, block, place), sentence

    def report(self, sentence: ParsedSentence, text: str, block: int, place: int) -> SentenceReport:
        """How hard a sentence is, and why; `text` is that of the block, in which the parsed text begins at
        `place`."""
        start, end = place + sentence.start, place + sentence.end
        difficulty, reasons = self._difficulty(sentence)
        return SentenceReport(
            block,
            start,
            end,
            text[start:end],
            difficulty,
            band_of(difficulty),
            reasons[:_WEIGHTIEST],
            word_reports(sentence, self.language, self.profile),
        )

    def offers(self, sentence: ParsedSentence) -> tuple[Offer, ...]:
        """What could be said instead of a sentence, the best first."""
        if not 0 < len(sentence.words) <= LONGEST:
            return ()
        tree = Tree.of(sentence, self.language)
        return ranked_offers(tree, self.judge, self.rules, self.words, self.profile, self.parses.parse)

    def _difficulty(self, sentence: ParsedSentence) -> tuple[float, tuple[Reason, ...]]:
        if not any(map(str.isalnum, sentence.text)) or not sentence.words:
            return 0.0, ()
        if len(sentence.words) > LONGEST:
            why = f"The sentence has {len(sentence.words)} words, more than can be looked into."
            return 100.0, (Reason("too-long", why, 1.0),)
        return self.judge.difficulty(Tree.of(sentence, self.language))


def _paragraphs(text: str) -> list[tuple[int, str]]:
    """The paragraphs of a text with their places; long ones are cut, so that no sentence takes all memory."""
    clean = cleaned(text)
    spans = [span for long in paragraph_spans(clean) for span in _cut(clean, *long)]
    return [(start, clean[start:end]) for start, end in spans]


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Pieces of a paragraph: cut behind a sentence, or else at a blank, or else anywhere."""
    while end - start > MOST_AT_ONCE:
        limit = start + MOST_AT_ONCE
        ends = [match.end() for match in _END.finditer(text, start, limit)]
        blank = text.rfind(" ", start, limit) + 1
        cut = ends[-1] if ends else blank or limit
        yield start, cut
        start = cut
    yield start, end


def band_of(difficulty: float) -> int:
    """The number of a difficulty's band in `BANDS`."""
    return sum(difficulty >= limit for limit in LIMITS)


_LOADING = threading.RLock()  # what is needed by two threads at once is loaded once


def assistant(language: str, profile: Profile) -> Assistant:
    """That of a reader; the same reader has the same one."""
    with _LOADING:
        return _assistant(language, profile)


@lru_cache(maxsize=16)
def _assistant(language: str, profile: Profile) -> Assistant:
    check_off(profile)
    return Assistant(language, profile)


def shipped_rules(language: str) -> RuleSet:
    """All rules that ship for a language."""
    with _LOADING:
        return _shipped_rules(language)


@lru_cache(maxsize=2)
def _shipped_rules(language: str) -> RuleSet:
    from marginalia.assist.paraphrase import load

    return load(language)


def rules_of(language: str, profile: Profile) -> RuleSet:
    """The rules of a language without those that a reader does not want, and with protected terms."""
    from marginalia.assist.paraphrase import RuleSet

    every, protected = shipped_rules(language), frozenset(profile.protected)
    if not (profile.off or protected):
        return every
    rules = [] if "structural" in profile.off else every.rules
    words = [] if "lexical" in profile.off else every.word_rules
    off = frozenset(profile.off) & _names((*rules, *words))
    return RuleSet(rules, words, every.files, protected, off)


def families(language: str) -> dict[str, str]:
    """The families of rules of a language, each with the sentence that says what it is for."""
    every: Sequence[Any] = (*shipped_rules(language).rules, *shipped_rules(language).word_rules)
    more = {WORDS: "A word that more readers know."} if language == "en" else {}
    return dict(sorted(({rule.family: rule.why for rule in every} | more).items()))


def check_off(profile: Profile) -> None:
    """A SettingsError if a profile switches off what is no rule, family or kind of offers of any language."""
    from marginalia.assist.languages import LANGUAGES

    off = {name for name in profile.off if not name.startswith(_WORD)} - {*KINDS, WORDS}
    for language in LANGUAGES if off else ():
        rules = shipped_rules(language)
        off -= _names((*rules.rules, *rules.word_rules))
    if off:
        expected = f"{' or '.join(KINDS)}, or the name of a rule or a family of rules"
        raise SettingsError(f"off: found '{min(off)}', expected {expected}.")


def _names(rules: Sequence[Any]) -> frozenset[str]:
    return frozenset(name for rule in rules for name in (rule.name, rule.family))
