"""How one sentence differs from another in words: what each side adds, and what it says in place of what.

Each side of a pair has numbers of its own: words and phrases that the other side does without (`added`), or
says otherwise (`instead`), and how rare and how long its own words are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from ..words.familiarity import zipf
from .evidence import Evidence, SeenWord
from .syllables import syllables

Changes = dict[str, float]
_LONGEST = 6  # phrases, in sequences of parts of speech
_MOST = 8  # of what is counted in steps
_COMMONEST = 7.0  # the frequency that rarity is counted from, on the Zipf scale


def changes(left: Evidence, right: Evidence) -> tuple[Changes, Changes]:
    """What each of two sentences has that the other has not, by name."""
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    a, b = ([word.form.lower() for word in one.words] for one in (left, right))
    for kind, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind != "equal":
            own, other = left.words[i:j], right.words[k:m]
            _add(first, own, other, (i == 0, j == len(left.words)), left.language)
            _add(second, other, own, (k == 0, m == len(right.words)), left.language)
    _mark_pure(first, second)
    first_words, second_words = _own_words(left, right)
    return dict(first) | first_words, dict(second) | second_words


_Phrase = Sequence[SeenWord]


def _add(
    side: Counter[str], phrase: _Phrase, instead: _Phrase, ends: tuple[bool, bool], language: str
) -> None:
    """Count a phrase that a side has in place of another one, or of nothing; `ends` are those of its sentence
    that it stands at."""
    if phrase:
        side.update(_phrase("instead" if instead else "added", phrase, *ends))
        side.update(_comparison(phrase, instead, language))


def _phrase(kind: str, phrase: _Phrase, begins: bool, ends: bool) -> Counter[str]:
    """A phrase of one side: its parts of speech, one by one and in a row, its size and place."""
    found = Counter(f"{kind} {word.pos}" for word in phrase)
    found[f"{kind} phrase {' '.join(word.pos for word in phrase[:_LONGEST])}"] += 1
    found[f"{kind} words {min(len(phrase), _MOST)}"] += 1
    if begins:
        found[f"{kind} first"] += 1
    if ends:
        found[f"{kind} last"] += 1
    return found


def _comparison(phrase: _Phrase, instead: _Phrase, language: str) -> Counter[str]:
    """How much rarer and longer a phrase is than the one that stands in its place."""
    own, other = ([word for word in words if word.has_meaning] for words in (phrase, instead))
    found: Counter[str] = Counter()
    if own and other:
        found.update(_steps("rarer", 2 * (_rarest(own, language) - _rarest(other, language))))
        found.update(_steps("more words", len(phrase) - len(instead)))
        letters = sum(len(word.form) for word in phrase) - sum(len(word.form) for word in instead)
        found.update(_steps("more letters", letters / 3))
    elif own:
        found[f"added rarity {round(2 * _rarest(own, language))}"] += 1
    return found


def _steps(name: str, difference: float) -> Counter[str]:
    return Counter([f"{name} {min(round(difference), _MOST)}"] if difference > 0 else ())


def _rarest(words: _Phrase, language: str) -> float:
    return max(_COMMONEST - zipf(word.lemma, language) for word in words)


def _mark_pure(left: Counter[str], right: Counter[str]) -> None:
    """Where all that differs is that one side says more, its features are there a second time."""
    pure = all(name.startswith("added") for name in (*left, *right)) and bool(left) != bool(right)
    for side in (left, right) if pure else ():
        side.update({f"only {name}": number for name, number in side.items()})


def _own_words(left: Evidence, right: Evidence) -> tuple[Changes, Changes]:
    words = [Counter(word.lemma for word in one.words if word.has_meaning) for one in (left, right)]
    own = (words[0] - words[1], words[1] - words[0])
    first, second = (_of_words(list(one.elements()), left.language) for one in own)
    return first, second


def _of_words(words: list[str], language: str) -> Changes:
    """How rare and how long the words are that one side has alone; numbers near 1."""
    if not words:
        return {"own nothing": 1.0}
    rarity = [_COMMONEST - zipf(word, language) for word in words]
    lengths = [len(word) for word in words]
    found = Counter(f"own rarity {int(2 * one)}" for one in rarity)
    found.update(f"own length {min(one, 14)}" for one in lengths)
    endings = {f"own ending {word[-size:]}": 1.0 for word in words for size in (3, 4, 5)}
    return {
        **{name: float(number) for name, number in found.items()},
        **endings,
        "own number": len(words) / 5,
        "own mean rarity": sum(rarity) / len(words) / 2,
        "own most rarity": max(rarity) / 2,
        "own total rarity": sum(rarity) / 10,
        "own mean length": sum(lengths) / len(words) / 3,
        "own most length": max(lengths) / 3,
        "own mean syllables": sum(map(syllables, words)) / len(words),
    }


_KINDS = {
    "ADJ": "an adjective", "ADP": "a preposition", "ADV": "an adverb", "AUX": "an auxiliary",
    "CCONJ": "a conjunction", "DET": "an article or determiner", "INTJ": "an interjection", "NOUN": "a noun",
    "NUM": "a number", "PART": "a particle", "PRON": "a pronoun", "PROPN": "a name", "PUNCT": "punctuation",
    "SCONJ": "a subordinating conjunction", "SYM": "a sign", "VERB": "a verb", "X": "something else",
}  # fmt: skip
_OWN = {
    "nothing": "It has no words of its own.",
    "number": "It has words that the other does without.",
    "mean rarity": "Its own words are rare, on average.",
    "most rarity": "One of its own words is rare.",
    "total rarity": "Its own words are rare, taken together.",
    "mean length": "Its own words are long, on average.",
    "most length": "One of its own words is long.",
    "mean syllables": "Its own words have many syllables.",
}


_STARTS = ("added ", "instead ", "only ", "own ", "rarer ", "more ")


def is_change(name: str) -> bool:
    """Whether a name is one of `changes`."""
    return name.startswith(_STARTS)


def why_change(name: str) -> str:
    """What a name of `changes` means, for a teacher."""
    kind, _, rest = name.removeprefix("only ").partition(" ")
    if kind == "own":
        return _OWN.get(rest) or _why_own(rest)
    if kind in ("rarer", "more"):
        what, _, steps = name.rpartition(" ")
        than = "than what the other says"
        return {
            "rarer": f"A word is rarer {than}, by {int(steps) / 2:g} steps of ten times each.",
            "more words": f"A phrase is longer {than}, by {steps} words.",
            "more letters": f"A phrase is longer {than}, by {3 * int(steps)} letters or so.",
        }[what]
    start = "Words are added" if kind == "added" else "Something is said otherwise"
    what, _, detail = rest.partition(" ")
    if what in ("first", "last"):
        return f"{start} at the {'beginning' if what == 'first' else 'end'}."
    if what == "words":
        return f"{start}, in {detail} words."
    if what == "rarity":
        return f"{start}, the rarest {int(detail) / 2:g} steps below the most common words."
    return f"{start}: {', '.join(_KINDS.get(one, one) for one in (detail or what).split())}."


def _why_own(rest: str) -> str:
    what, _, detail = rest.partition(" ")
    if what == "rarity":
        return f"It has a word of its own {int(detail) / 2:g} steps below the most common words."
    return f"It has a word of its own {f'of {detail} letters' if what == 'length' else f'in “-{detail}”'}."
