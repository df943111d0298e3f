"""Forms of English words: lemma and Penn tag, or lemma and UD features, to a form.

Regular and most irregular words come from lemminflect; what it gets wrong, or gives in a form that newspapers
do not use, is overridden here. The verbs be, have, do and the modals are ours entirely.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ...errors import needs_extra

_BE = {"VB": "be", "VBG": "being", "VBN": "been", "VBZ": "is"}
_HAVE = {"VB": "have", "VBP": "have", "VBZ": "has", "VBD": "had", "VBG": "having", "VBN": "had"}
_DO = {"VB": "do", "VBP": "do", "VBZ": "does", "VBD": "did", "VBG": "doing", "VBN": "done"}
MODALS = ("will", "would", "can", "could", "may", "might", "shall", "should", "must", "ought")
REMOTE = {"will": "would", "can": "could", "may": "might", "shall": "should"}  # as after "said that"


def _table(text: str) -> dict[str, tuple[str, ...]]:
    rows = (line.split() for line in text.strip().splitlines())
    return {row[0]: tuple(row[1:]) for row in rows}


_PAST = _table(  # lemma, past, past participle; for what lemminflect has not, or not first
    """
    bear bore borne
    bid bid bid
    broadcast broadcast broadcast
    forecast forecast forecast
    get got got
    bus bused bused
    program programmed programmed
    spell spelled spelled
    sew sewed sewn
    wed wed wed
    fit fit fit
    dream dreamed dreamed
    prove proved proven
    recast recast recast
    overcast overcast overcast
    typecast typecast typecast
    input input input
    output output output
    mimic mimicked mimicked
    frolic frolicked frolicked
    traffic trafficked trafficked
    sneak sneaked sneaked
    strive strove striven
    forego forewent foregone
    forgo forwent forgone
    retell retold retold
    resell resold resold
    rebuild rebuilt rebuilt
    remake remade remade
    outsell outsold outsold
    outdo outdid outdone
    overrun overran overrun
    overtake overtook overtaken
    override overrode overridden
    oversee oversaw overseen
    withhold withheld withheld
    swell swelled swollen
    """
)
_PRESENT_PARTICIPLES = {
    "mimic": "mimicking", "frolic": "frolicking", "traffic": "trafficking", "program": "programming",
    "singe": "singeing",
}  # fmt: skip
_PLURALS = {
    "mother-in-law": "mothers-in-law", "father-in-law": "fathers-in-law", "son-in-law": "sons-in-law",
    "daughter-in-law": "daughters-in-law", "brother-in-law": "brothers-in-law",
    "sister-in-law": "sisters-in-law", "passer-by": "passers-by", "runner-up": "runners-up", "ox": "oxen",
    "person": "people", "ft": "ft", "aircraft": "aircraft", "spacecraft": "spacecraft", "staff": "staff",
    "this": "these", "that": "those", "regards": "regards", "a": "some", "km": "km", "kg": "kg", "cm": "cm",
    "mm": "mm", "congratulation": "congratulations", "offspring": "offspring", "yen": "yen",
}  # fmt: skip
_INVARIANT = {
    "fish", "sheep", "deer", "salmon", "trout", "moose", "series", "species", "offspring", "shrimp", "bison",
    "hertz", "data", "media", "police", "cattle", "people", "elk", "chassis", "headquarters", "crossroads",
}  # fmt: skip
_DEGREES = {
    "good": ("better", "best"), "well": ("better", "best"), "bad": ("worse", "worst"),
    "badly": ("worse", "worst"), "ill": ("worse", "worst"), "far": ("further", "furthest"),
    "little": ("less", "least"), "few": ("fewer", "fewest"), "much": ("more", "most"),
    "many": ("more", "most"), "more": ("more", "most"), "most": ("more", "most"), "less": ("less", "least"),
    "least": ("less", "least"), "early": ("earlier", "earliest"), "late": ("later", "latest"),
}  # fmt: skip
_SHORT_ADVERBS = {
    "fast",
    "hard",
    "soon",
    "long",
    "high",
    "low",
    "near",
    "close",
    "deep",
    "loud",
    "slow",
    "quick",
}
_SHORT_ADJECTIVES = {
    "quiet",
    "simple",
    "narrow",
    "shallow",
    "clever",
    "gentle",
    "humble",
    "noble",
    "able",
    "yellow",
}
_LONG_ADJECTIVES = {
    "likely", "fun", "real", "wrong", "right", "dead", "tired", "bored", "pleased", "worn", "torn", "known",
    "alive", "afraid", "alone", "aware", "scared", "shared", "used", "loved", "male", "elderly", "daily",
    "weekly", "monthly", "yearly", "deadly", "orderly", "unlikely", "costly", "timely", "lovely",
    "ugly", "friendly",
}  # fmt: skip
_VOWEL_GROUP = re.compile(r"[aeiouy]+")


@lru_cache(maxsize=1)
def _lemminflect() -> Any:
    with needs_extra("Forms of English words"):
        import lemminflect
    return lemminflect


@lru_cache(maxsize=65536)
def _looked_up(lemma: str, tag: str) -> str:
    """The first form that lemminflect knows, or makes by rule; the lemma if there is none."""
    forms = _lemminflect().getInflection(lemma, tag)
    return str(forms[0]) if forms else lemma


@lru_cache(maxsize=65536)
def lemmas_of(form: str, upos: str) -> tuple[str, ...]:
    """The lemmas that a form may have as a word of a class, the likeliest first; none if it is not known."""
    return tuple(_lemminflect().getAllLemmas(form, upos=upos).get(upos, ()))


def inflect(lemma: str, tag: str, *, person: int = 3, plural: bool = False) -> str:
    """The form of a lemma with a Penn tag; person and number matter to be, which has more forms than tags.

    >>> inflect("be", "VBD", plural=True)
    'were'
    """
    low = lemma.lower()
    if low in MODALS or tag == "MD":
        return lemma
    if tag.startswith("VB"):
        return _verb(low, tag, person, plural)
    if tag in ("NNS", "NNPS"):
        return _plural(lemma)
    if tag in ("JJR", "RBR", "JJS", "RBS"):
        return degree(low, superlative=tag.endswith("S"), adverb=tag.startswith("RB"))
    return lemma


def lemma_of(form: str, tag: str, lemma: str) -> str:
    """The lemma of a verb's form: the given one, unless its form is another and that of one we know is this.

    >>> lemma_of("known", "VBN", "known")
    'know'
    """
    low = form.lower()
    if not tag.startswith("VB") or lemma in ("be", "have", "do"):
        return lemma
    known = [str(each) for each in _lemminflect().getLemma(low, "VERB")]
    fits = (each for each in known if low in [inflect(each, one) for one in (tag, "VBD", "VBN")])
    return lemma if lemma in known else next(fits, lemma)


def _verb(lemma: str, tag: str, person: int, plural: bool) -> str:
    if lemma == "be":
        return _of_be(tag, person, plural)
    own = {"have": _HAVE, "do": _DO}.get(lemma)
    if own:
        return own[tag]
    if tag == "VBG" and lemma in _PRESENT_PARTICIPLES:
        return _PRESENT_PARTICIPLES[lemma]
    if tag in ("VBD", "VBN"):
        return _past(lemma, tag)
    return _looked_up(lemma, tag) if tag in ("VBZ", "VBG") else lemma


def _of_be(tag: str, person: int, plural: bool) -> str:
    many = plural or person == 2
    if tag == "VBP":
        return "am" if person == 1 and not many else "are"
    if tag == "VBD":
        return "were" if many else "was"
    return _BE[tag]


def _past(lemma: str, tag: str) -> str:
    if lemma in _PAST:
        return _PAST[lemma][tag == "VBN"]
    return _looked_up(lemma, tag)


def _plural(lemma: str) -> str:
    if lemma.lower() in _INVARIANT:
        return lemma
    if lemma.lower() in _PLURALS:
        return _PLURALS[lemma.lower()]
    if not lemma.isalpha() and not re.fullmatch(r"[A-Za-z]+(-[A-Za-z]+)+", lemma):
        return lemma  # 1990s, a.m., %
    if lemma.isupper() and len(lemma) > 1:
        return lemma + "s"  # MPs, CDs
    plural = _looked_up(lemma, "NNS")
    unchanged = plural == lemma and lemma.lower() not in _INVARIANT and not lemma.endswith("s")
    return _with_s(lemma) if unchanged else plural


def _with_s(lemma: str) -> str:
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ies"
    return lemma + ("es" if re.search(r"(s|x|z|ch|sh)$", lemma) else "s")


def syllables(word: str) -> int:
    """About how many syllables a word has: groups of vowels, a silent e at the end not counted."""
    groups = _VOWEL_GROUP.findall(word.lower())
    silent = word.endswith("e") and not word.endswith(("le", "ee")) and len(groups) > 1
    return max(1, len(groups) - silent)


def degree(lemma: str, *, superlative: bool = False, adverb: bool = False) -> str:
    """The comparative or superlative: a form with -er or -est, or two words with more or most."""
    if lemma in _DEGREES:
        return _DEGREES[lemma][superlative]
    if not _takes_ending(lemma, adverb):
        return f"{'most' if superlative else 'more'} {lemma}"
    return _looked_up(lemma, "JJS" if superlative else "JJR")


def _takes_ending(lemma: str, adverb: bool) -> bool:
    if adverb:
        return lemma in _SHORT_ADVERBS
    if lemma in _LONG_ADJECTIVES or lemma.endswith(("ful", "less", "ing", "ous")):
        return False
    length = syllables(lemma)
    return length == 1 or lemma in _SHORT_ADJECTIVES or (length == 2 and lemma.endswith("y"))


_BY_FORM = {"Inf": "VB", "Ger": "VBG"}


def tag_of(upos: str, feats: Mapping[str, str]) -> str:
    """The Penn tag of a word class with UD features."""
    if upos in ("VERB", "AUX"):
        return _verb_tag(feats)
    plural = feats.get("Number") in ("Plur", "Ptan")
    if upos == "NOUN":
        return "NNS" if plural else "NN"
    if upos == "PROPN":
        return "NNPS" if plural else "NNP"
    ending = {"Cmp": "R", "Sup": "S"}.get(feats.get("Degree", ""), "")
    return {"ADJ": "JJ", "ADV": "RB"}.get(upos, "") + ending if upos in ("ADJ", "ADV") else ""


def _verb_tag(feats: Mapping[str, str]) -> str:
    form = feats.get("VerbForm", "Fin")
    if form == "Part":
        return "VBN" if feats.get("Tense") == "Past" else "VBG"
    if form in _BY_FORM:
        return _BY_FORM[form]
    if feats.get("Mood") in ("Imp", "Sub"):
        return "VB"
    if feats.get("Tense") == "Past":
        return "VBD"
    singular = feats.get("Number", "Sing") == "Sing" and feats.get("Person", "3") == "3"
    return "VBZ" if singular else "VBP"


def form_of(lemma: str, upos: str, feats: Mapping[str, str]) -> str:
    """The form that a lemma takes with UD features, as EWT writes them: `make`, `Tense=Past` is `made`."""
    if upos in ("NOUN", "PROPN") and feats.get("Number") == "Ptan":
        return lemma
    tag = tag_of(upos, feats)
    if not tag:
        return lemma
    person, plural = int(feats.get("Person", "3")), feats.get("Number") == "Plur"
    if feats.get("Mood") == "Sub" and feats.get("Tense") == "Past" and lemma == "be":
        return "were"
    return inflect(lemma, tag, person=person, plural=plural)


def features_of_tag(tag: str, *, person: int = 3, plural: bool = False) -> dict[str, str]:
    """The UD features of a verb with a Penn tag, as EWT writes them."""
    if tag == "VB":
        return {"VerbForm": "Inf"}
    if tag == "VBG":
        return {"Tense": "Pres", "VerbForm": "Part"}
    if tag == "VBN":
        return {"Tense": "Past", "VerbForm": "Part"}
    if tag == "MD":
        return {"VerbForm": "Fin"}
    number = {"Number": "Plur" if plural else "Sing", "Person": str(person)}
    return {"Mood": "Ind", **number, "Tense": "Past" if tag == "VBD" else "Pres", "VerbForm": "Fin"}
