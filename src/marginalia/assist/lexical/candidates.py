"""What could be said instead of a word: lemmas that WordNet and lists of plainer words link to it.

A candidate has all links that lead to it, each through one sense of the word; which of them are to be trusted
in a sentence is the ranker's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from marginalia.assist.words import Sense, Synset, is_offensive, plainer_phrases, wordnet

KINDS = (
    "synonym",
    "plainer",
    "similar",
    "adverb",
    "broader",
    "near-similar",
    "narrower",
    "much-broader",
    "gloss",
)
"""Kinds of links, the closest first."""

_MOST_SENSES = 8
_GLOSS_WORD = re.compile(r"[a-z]{3,}")
_IN_ALL_GLOSSES = """the and for with that which from into one who whose having been being some any other
more than used not its are was were has have had can may make made cause become especially usually something
someone somebody state quality act way manner person thing part kind group causing very"""
_NOT_IN_GLOSSES = frozenset(_IN_ALL_GLOSSES.split())


@dataclass(frozen=True)
class Link:
    """A way from a word to a candidate, through a sense of the word: `rank` is the place of that sense (0
    first), `share` how much of the word's use it has; `back` is the place of the meaning among the senses of
    the candidate."""

    kind: str
    rank: int
    share: float
    back: int


@dataclass(frozen=True)
class Candidate:
    """A lemma that may stand for a word, and what links it to that."""

    lemma: str
    pos: str
    links: tuple[Link, ...]

    @property
    def best(self) -> Link:
        """The closest link: by kind, then by sense."""
        return min(self.links, key=lambda link: (KINDS.index(link.kind), link.rank, link.back))


@lru_cache(maxsize=20_000)
def candidates(lemma: str, pos: str) -> tuple[Candidate, ...]:
    """What may stand for a lemma with a part of speech of WordNet (n v a r), in alphabetical order; no vulgar
    or insulting words."""
    links: dict[str, dict[Link, None]] = {}
    for other, link in (*_links(lemma, pos), *_plainer(lemma, pos), *_through_adjective(lemma, pos)):
        if other != lemma:
            links.setdefault(other, {})[link] = None
    return tuple(
        Candidate(other, pos, tuple(found))
        for other, found in sorted(links.items())
        if not is_offensive(other)
    )


def _links(lemma: str, pos: str) -> Iterator[tuple[str, Link]]:
    words, senses = wordnet(), wordnet().senses(lemma, pos)[:_MOST_SENSES]
    for sense, share in zip(senses, shares(senses), strict=True):
        for kind, synset in _around(sense.synset):
            for other, back in zip(synset.lemmas, synset.ranks, strict=True):
                yield other, Link(kind, sense.rank, share, back)
        for word in dict.fromkeys(_GLOSS_WORD.findall(sense.synset.gloss)):
            if word not in _NOT_IN_GLOSSES and words.senses(word, pos):
                yield word, Link("gloss", sense.rank, share, 0)


def shares(senses: tuple[Sense, ...]) -> list[float]:
    """How much of a lemma's use each of its senses has, by counts of tagged text, each one more."""
    total = sum(sense.count + 1 for sense in senses)
    return [(sense.count + 1) / total for sense in senses]


def _around(synset: Synset) -> Iterator[tuple[str, Synset]]:
    words = wordnet()
    yield "synonym", synset
    for number in synset.similar:
        yield "similar", words.synset(number)
        for second in words.synset(number).similar:
            yield "near-similar", words.synset(second)
    for number in synset.hypernyms:
        yield "broader", words.synset(number)
        for second in words.synset(number).hypernyms:
            yield "much-broader", words.synset(second)
    for number in words.narrower(synset.number):
        yield "narrower", words.synset(number)


def _plainer(lemma: str, pos: str) -> Iterator[tuple[str, Link]]:
    for phrase in plainer_phrases().get((lemma, pos), ()):
        yield phrase, Link("plainer", 0, 1.0, 0)


def _through_adjective(lemma: str, pos: str) -> Iterator[tuple[str, Link]]:
    """Of an adverb: adverbs of what may stand for its adjective (gradually: gradual, slow, slowly)."""
    if pos != "r":
        return
    for adjective, kind in wordnet().derived(lemma, "r"):
        for candidate in candidates(adjective, "a") if kind == "a" else ():
            adverb = adverb_of(candidate.lemma)
            if adverb is not None:
                yield adverb, Link("adverb", candidate.best.rank, candidate.best.share, candidate.best.back)


@lru_cache(maxsize=20_000)
def adverb_of(adjective: str) -> str | None:
    """The adverb in -ly of an adjective, if WordNet has one."""
    if adjective.endswith("y") and not adjective.endswith(("ay", "ey", "oy", "uy")):
        adverb = adjective[:-1] + "ily"
    elif adjective.endswith("le"):
        adverb = adjective[:-1] + "y"
    else:
        adverb = adjective + ("ally" if adjective.endswith("ic") else "ly")
    return adverb if wordnet().senses(adverb, "r") else None
