"""Simpler words for hard ones of a sentence, and the same as rules that compose with others.

A candidate is offered under conditions: the word is hard for the reader or on a list of plainer words; the
candidate is more frequent, and linked through a sense that the word mostly has; the ranker prefers it to all
others, and by enough; it is not built into an expression that would fall apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeGuard

from marginalia.assist.english import inflect
from marginalia.assist.hard_words import CONTENT, FREQUENT
from marginalia.assist.paraphrase.generation import generation_of
from marginalia.assist.paraphrase.lexer import Place as RulePlace
from marginalia.assist.paraphrase.matching import Bound
from marginalia.assist.paraphrase.rule_files import RuleSource
from marginalia.assist.paraphrase.words import WordRule
from marginalia.assist.profile import Profile
from marginalia.assist.records import Plain
from marginalia.assist.trees import Node, Tree
from marginalia.assist.words import PARTS_OF_SPEECH, wordnet
from marginalia.assist.words.contexts import contexts
from marginalia.assist.words.familiarity import zipf
from marginalia.errors import SettingsError

from .candidates import Link
from .evidence import Choice, Token, choices
from .ranker import Ranked, Ranker, shipped_ranker

FAMILY = "plainer-word"
WHY = "A word that more readers know."
LEAST_GAIN = 0.3  # on the Zipf scale; a word on a list of plainer words needs none
LEAST_FREQUENT = 3.5
LEAST_PROBABLE = {"plainer": 0.1, "synonym": 0.4, "similar": 0.5, "broader": 0.6}
LEAST_SHARE = 0.5  # of the word's use, of the sense that a similar word is like
LAST_SENSE = 3  # of a synonym or similar word: meanings that it hardly ever has are not understood
MOST_GENERAL = 1_000  # meanings below a more general word; one with more of them says too little
LATER_SENSE = 0.65  # what a synonym of a later sense needs
EXPRESSION = 3.0  # neighbours that are seen together so much more often than by chance (a log) stay together
_MOST = 2  # offers for a word
_SAME = {
    "plainer": "a list of plainer words has it",
    "synonym": "the same meaning",
    "similar": "nearly the same meaning",
    "broader": "a more general word",
}
_QUANTITIES = frozenset(
    {"much", "many", "more", "some", "few", "enough", "several", "all"}
)  # after no article
_AUXILIARIES = frozenset({"be", "have", "do"})  # without a meaning of their own
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True)
class LexicalOffer(Plain):
    """A simpler word for that from character `start` to `end` of a sentence; `text` is the sentence with it,
    `score` how probable the ranker finds it, 0 to 1."""

    start: int
    end: int
    word: str
    replacement: str
    text: str
    score: float
    reason: str


def lexical_offers(tree: Tree, profile: Profile | None = None) -> list[LexicalOffer]:
    """What could be said instead of hard words of an English sentence, in the order of the sentence, the
    likeliest first. The tree stays as it is."""
    offers = []
    for rule, bound in LexicalRules(profile or Profile()).matches(tree):
        (node,) = bound["W"]  # type: ignore[misc]
        transfer = rule.apply(tree, bound)
        if transfer is None:
            continue
        changed = transfer.trees[0]
        generation_of("en")(changed, tree, transfer.changed)
        start = sum(len(before.form + before.space_after) for before in tree.nodes[: node.index])
        end = start + len(node.form)
        offers.append(LexicalOffer(start, end, node.form, rule.form, changed.text, rule.score, rule.why))
    return offers


@dataclass(frozen=True)
class LexicalRule(WordRule):
    """A rule made for one word of one sentence: `form` is what the ranker looked at, `score` what it said."""

    form: str = ""
    score: float = 0.0


class LexicalRules:
    """All lexical rules for a reader: they are found by the words of a tree, however many there are. `sure`
    is the share of the usual probabilities that a candidate must have; another `ranker` may judge."""

    def __init__(self, profile: Profile, *, sure: float = 1.0, ranker: Ranker | None = None) -> None:
        if not 0 <= sure <= 1:
            raise SettingsError(f"sure: found {sure}, expected 0 to 1")
        self._conditions = Conditions(profile.level, sure, ranker or shipped_ranker())
        self._known = frozenset(term.casefold() for term in (*profile.known, *profile.protected))

    def matches(self, tree: Tree) -> Iterator[tuple[LexicalRule, Bound]]:
        """Rules that fire in a tree, each with its word."""
        if tree.language != "en":
            return
        tokens = tuple(Token(node.form, node.lemma, node.upos, node.xpos) for node in tree.nodes)
        for node in tree.nodes:
            if self._is_open(node):
                for offer in _offered(tokens, node.index, self._conditions):
                    yield _rule(node, offer), {"W": (node,)}

    def _is_open(self, node: Node) -> bool:
        """Whether a word may be replaced: a content word that is no name, and not fixed in an expression."""
        names = (node.form.casefold(), node.lemma.casefold())
        fixed = node.is_a("fixed") or node.is_a("flat") or any(child.is_a("fixed") for child in node.children)
        return node.upos in CONTENT and node.form.isalpha() and not fixed and self._known.isdisjoint(names)


@dataclass(frozen=True, eq=False)
class Conditions:
    """What offers must meet."""

    level: str
    sure: float
    ranker: Ranker


@lru_cache(maxsize=2_000)
def _offered(tokens: tuple[Token, ...], number: int, conditions: Conditions) -> tuple[Ranked, ...]:
    """The best choices for a word that meet all conditions."""
    token = tokens[number]
    frequency = max(zipf(token.form, "en"), zipf(token.lemma, "en"))
    listed = choices(tokens, number)
    hard = frequency < FREQUENT[conditions.level][0]
    if not hard and not any(_links(choice, "plainer") for choice in listed):
        return ()
    meant = [choice for choice in _confirmed(listed) if _means(choice, PARTS_OF_SPEECH.get(token.upos))]
    kept = {id(choice) for choice in meant}
    fitting = (
        one
        for one in conditions.ranker.ranked(listed)
        if id(one.choice) in kept
        and _fits(one, frequency, hard, conditions.sure)
        and not _breaks(tokens, number, one.choice)
    )
    return tuple(one for _, one in zip(range(_MOST), fitting, strict=False))


def _confirmed(listed: Sequence[Choice]) -> Iterator[Choice]:
    """The choices without those that only the list of plainer words has, if WordNet confirms others of it:
    the list has wordings for all meanings of a word."""
    confirmed = any(_links(choice, "plainer") and _is_related(choice) for choice in listed)
    return (choice for choice in listed if not confirmed or _is_related(choice))


def _is_related(choice: Choice) -> bool:
    return any(link.kind in ("synonym", "similar", "broader") for link in choice.candidate.links)


def _means(choice: Choice, pos: str | None) -> bool:
    """Whether a choice, in what it mostly means, says what the word says: read as the tagger read it, and
    neither an empty nor a far too general word."""
    link, lemma = choice.candidate.best, choice.candidate.lemma
    if choice.reading.pos != pos or (pos == "v" and lemma in _AUXILIARIES):
        return False
    if _links(choice, "plainer"):
        return True
    if link.kind == "broader":
        return _is_near(lemma, choice.reading.pos, link.back)
    return link.back <= LAST_SENSE and (link.kind != "similar" or link.share >= LEAST_SHARE)


@lru_cache(maxsize=20_000)
def _is_near(lemma: str, pos: str, rank: int) -> bool:
    """Whether a more general word is not too general; a noun without a plural is none of which there are
    kinds to count (police)."""
    if pos == "n" and inflect(lemma, "NNS") == lemma:
        return False
    senses = (sense for sense in wordnet().senses(lemma, pos) if sense.rank == rank)
    return all(wordnet().below(sense.synset.number) < MOST_GENERAL for sense in senses)


def _fits(one: Ranked, frequency: float, hard: bool, sure: float) -> bool:
    choice, link = one.choice, one.choice.candidate.best
    least = LEAST_PROBABLE.get(link.kind)
    if least is None or (link.rank and link.kind != "synonym"):
        return False
    own = zipf(choice.form, "en")
    if link.kind != "plainer" and (not hard or own < LEAST_FREQUENT or own < frequency + LEAST_GAIN):
        return False
    return one.probability >= sure * (LATER_SENSE if link.rank else least)


def _links(choice: Choice, kind: str) -> list[Link]:
    return [link for link in choice.candidate.links if link.kind == kind]


def _breaks(tokens: Sequence[Token], number: int, choice: Choice) -> bool:
    """Whether a word makes an expression with a neighbour that the candidate was never seen with, or a
    quantity would stand behind an article."""
    left, right = _neighbour(tokens, number - 1), _neighbour(tokens, number + 1)
    if left is not None and left.upos == "DET" and choice.form in _QUANTITIES:
        return True
    word, first, last = tokens[number].form.lower(), choice.form.split()[0], choice.form.split()[-1]
    if _is_bound(left) and _parts(left.form.lower(), word, left.form.lower(), first):
        return True
    return _is_bound(right) and _parts(word, right.form.lower(), last, right.form.lower())


def _neighbour(tokens: Sequence[Token], number: int) -> Token | None:
    return tokens[number] if 0 <= number < len(tokens) else None


def _is_bound(token: Token | None) -> TypeGuard[Token]:
    """Whether a word makes expressions: content words do, and prepositions."""
    return token is not None and (token.upos in CONTENT or token.upos == "ADP")


def _parts(left: str, right: str, new_left: str, new_right: str) -> bool:
    known = contexts()
    return known.follows(left, right)[0] >= EXPRESSION and not known.follows(new_left, new_right)[1]


def _rule(node: Node, offer: Ranked) -> LexicalRule:
    lemma, words = node.lemma.lower(), offer.choice.candidate.lemma
    name, place = f"word:{lemma}/{words.replace(' ', '-')}", RulePlace("WordNet", 1, 1)
    return LexicalRule(
        name,
        FAMILY,
        reason_of(node.form, offer.choice),
        RuleSource(name, "words", lemma, words, place, place),
        (lemma,),
        (node.upos,),
        tuple(words.split()),
        offer.choice.form,
        offer.probability,
    )


def reason_of(word: str, choice: Choice) -> str:
    """Why a choice is offered, in a sentence."""
    link = choice.candidate.best
    old, new = zipf(word, "en"), zipf(choice.form, "en")
    reason = f"'{choice.form}' for '{word}': {_SAME[link.kind]}"
    if link.kind == "synonym":
        reason += f" in WordNet's {_ORDINALS[link.rank]} sense"
    return f"{reason}, {'more' if new >= old else 'less'} frequent ({new:.1f} against {old:.1f})."
