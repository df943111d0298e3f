"""Chains of auxiliaries: `would have been seen` read as features, and built from them.

A `VerbGroup` says what a chain says: modal, tense, perfect, progressive, voice, polarity. Read it off the
words, change what a paraphrase changes, and build the words again; do-support, the place of the negation and
the form of each auxiliary follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .inflection import MODALS, REMOTE, features_of_tag, inflect

_NEGATIONS = {"not", "n't", "n’t", "never"}
_LEMMAS = {
    "am": "be", "is": "be", "are": "be", "was": "be", "were": "be", "be": "be", "been": "be", "being": "be",
    "'m": "be", "'re": "be", "’m": "be", "’re": "be",
    "ca": "can", "wo": "will", "sha": "shall", "'ll": "will",
    "’ll": "will", "have": "have", "has": "have", "had": "have", "having": "have", "'ve": "have",
    "’ve": "have",
    "do": "do", "does": "do", "did": "do", "got": "get", "gets": "get", "get": "get", "getting": "get",
}  # fmt: skip


@dataclass(frozen=True)
class Word:
    """One word of a chain: what a node of a tree needs to be made of it."""

    form: str
    lemma: str
    xpos: str
    upos: str = "AUX"
    feats: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class VerbGroup:
    """What a verb with its auxiliaries says, apart from its subject.

    `form` is `Fin`, `Inf` (bare), `Ger` (seeing), `Part` (seen) or `Imp`; `tense` is `Pres` or `Past` and
    matters to finite groups without a modal. `passive` is its
    auxiliary, `be` or `get`, or empty.
    """

    lemma: str
    form: str = "Fin"
    tense: str = "Pres"
    modal: str = ""
    perfect: bool = False
    progressive: bool = False
    passive: str = ""
    negation: str = ""  # not, n't or never
    emphatic: bool = False  # do-support without a negation: did see

    @property
    def voice(self) -> str:
        """`Pass` or `Act`, as the feature Voice has it."""
        return "Pass" if self.passive else "Act"

    def in_past(self) -> VerbGroup:
        """The same, said of a past moment: sees, saw; will see, would see; has seen, had seen."""
        return replace(self, tense="Past", modal=REMOTE.get(self.modal, self.modal))


def _chain(group: VerbGroup) -> list[tuple[str, str]]:
    """Lemmas and tags of all words but the finite one's agreement: each says the form of the next."""
    chain: list[str] = []
    endings: list[str] = []  # what word i asks of word i + 1
    if group.modal:
        chain.append(group.modal)
        endings.append("VB")
    for holds, lemma, ending in (
        (group.perfect, "have", "VBN"),
        (group.progressive, "be", "VBG"),
        (bool(group.passive), group.passive, "VBN"),
    ):
        if holds:
            chain.append(lemma)
            endings.append(ending)
    chain.append(group.lemma)
    if _needs_do(group, chain):
        chain.insert(0, "do")
        endings.insert(0, "VB")
    return list(zip(chain, [_first_tag(group), *endings], strict=True))


def _needs_do(group: VerbGroup, chain: Sequence[str]) -> bool:
    alone = len(chain) == 1 and not (group.lemma == "be" and group.form == "Fin")
    denied = group.negation in ("not", "n't", "n’t")
    return group.form in ("Fin", "Imp") and alone and (denied or group.emphatic)


def _first_tag(group: VerbGroup) -> str:
    if group.form == "Fin":
        return "MD" if group.modal else "VBD" if group.tense == "Past" else "VBZ"
    return {"Inf": "VB", "Imp": "VB", "Ger": "VBG", "Part": "VBN"}[group.form]


def build(group: VerbGroup, *, person: int = 3, plural: bool = False) -> list[Word]:
    """The words of a group with its negation, agreeing with a subject of this person and number.

    >>> " ".join(word.form for word in build(VerbGroup("see", modal="would", perfect=True, passive="be")))
    'would have been seen'
    """
    words: list[Word] = []
    chain = _chain(group)
    for place, (lemma, tag) in enumerate(chain):
        if tag == "VBZ" and (plural or person != 3):
            tag = "VBP"
        last = place == len(chain) - 1
        words.append(_word(lemma, tag, "VERB" if last and group.lemma != "be" else "AUX", person, plural))
    return _negated(words, group)


def _word(lemma: str, tag: str, upos: str, person: int, plural: bool) -> Word:
    feats = features_of_tag(tag, person=person, plural=plural)
    return Word(
        inflect(lemma, tag, person=person, plural=plural), lemma, tag, upos, tuple(sorted(feats.items()))
    )


_IRREGULAR_CONTRACTIONS = {"will": "wo", "can": "ca", "shall": "sha"}


def _negated(words: list[Word], group: VerbGroup) -> list[Word]:
    if not group.negation:
        return words
    negation = Word(group.negation, "never" if group.negation == "never" else "not", "RB", "PART")
    if group.form not in ("Fin", "Imp"):
        return [negation, *words]  # not seeing, not to have seen
    after_first = len(words) > 1 or (group.lemma == "be" and group.form == "Fin")
    if not after_first:  # never saw
        return [negation, *words]
    first = words[0]
    if group.negation in ("n't", "n’t"):
        if first.form in ("am", "may", "might"):
            negation = replace(negation, form="not")
        first = replace(first, form=_IRREGULAR_CONTRACTIONS.get(first.form, first.form))
    return [first, negation, *words[1:]]


def _lemma_of(form: str, xpos: str, lemma: str) -> str:
    low = form.lower()
    if low in ("'s", "’s", "'d", "’d") and lemma:
        return lemma.lower()
    return _LEMMAS.get(low, lemma.lower() or low)


def read(words: Sequence[Word]) -> VerbGroup:
    """The group that a chain of words says, of which the verb is the last; adverbs are passed over.

    Lemmas tell had ('d) from would ('d), so words need them; `build` gives back the words that were read.
    """
    negation = next((word.form.lower() for word in words if word.form.lower() in _NEGATIONS), "")
    chain = [word for word in words if word.upos in ("AUX", "VERB")]
    if not chain:
        raise ValueError("a verb group has at least a verb")
    lemmas = [_lemma_of(word.form, word.xpos, word.lemma) for word in chain]
    group = VerbGroup(lemmas[-1], negation=negation, form=_form_of(chain[0], lemmas[0]))
    if chain[0].xpos == "VBD":
        group = replace(group, tense="Past")
    return _read_auxiliaries(group, chain, lemmas)


def _form_of(first: Word, lemma: str) -> str:
    feats = dict(first.feats)
    if feats.get("Mood") == "Imp":
        return "Imp"
    if first.xpos == "MD" or lemma in MODALS:
        return "Fin"
    return {"VB": "Inf", "VBG": "Ger", "VBN": "Part"}.get(first.xpos, "Fin")


def _read_auxiliaries(group: VerbGroup, chain: Sequence[Word], lemmas: Sequence[str]) -> VerbGroup:
    for place, lemma in enumerate(lemmas[:-1]):
        asked = chain[place + 1].xpos
        if lemma in MODALS:
            group = replace(group, modal=lemma)
        elif lemma == "have" and asked in ("VBN", "VBD"):
            group = replace(group, perfect=True)
        elif lemma in ("be", "get") and asked == "VBG":
            group = replace(group, progressive=True)
        elif lemma in ("be", "get"):
            group = replace(group, passive=lemma)
        elif lemma == "do":
            group = replace(group, emphatic=not group.negation or group.negation == "never")
    return group
