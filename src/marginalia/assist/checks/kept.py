"""Meaning-changing drops: numbers, names and negation must survive, in any language.

Numbers and names of the sentence before must be there after, and none may come that was not there; repeating
one is fine (a split sentence says its subject again). Negations may vanish in pairs (`not unlikely` is
`likely`), or be taken over by a word that excludes (`not … until` is `only … after`, `しか…ない` is `だけ`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from marginalia.assist.trees import Node, Tree
from marginalia.assist.words.wordnet import wordnet

from .check import Check, Finding, Transfer, lowered, vetoed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What turns a statement round, by lemma; and what says the same as such a word with a negation.
NEGATIONS = {
    "en": _words("not n't never no nobody nothing none nowhere neither nor without cannot"),
    "ja": _words("ない 無い ぬ ず ん まい なし かねる かない"),
}
# Behind these words a negation denies nothing: かもしれない, に違いない, にもかかわらず, にほかならない.
IDIOMS = _words("しれる 知れる 違い 相違 ちがい かかわる 関わる 拘る ほか,なる 他,なる")
EXCLUDING = {
    "en": _words(
        "only until till unless but except hardly scarcely barely rarely seldom fail lack "
        "absence instead far little few less soon doubt deny forget help too or otherwise"
    ),
    "ja": _words("しか だけ のみ ばかり まで 以外 ほど 一番"),
}
AFFIX = re.compile(r"(?:un|in|im|il|ir|dis|non-?)(?=[a-z]{3})|(?<=[a-z]{3})less$")
# What a statement is worth hangs on them: a paraphrase that loses one ranks lower. One of a group will do.
HEDGES = {
    "en": (
        _words("may might could can possibly perhaps maybe please"),
        _words("must should would please"),
        _words("probably likely"),
        _words("almost nearly about around approximately"),
        _words("all every each both"),
        _words("many several some few most least"),
    ),
    "ja": (
        _words("らしい そう よう"),
        _words("全て すべて"),
        *map(_words, ["かも", "べき", "はず 必ず", "たい", "ほとんど", "約"]),
    ),
}
LOST_HEDGE = 0.3
_NUMBER_WORDS = _words(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand "
    "million billion 一 二 三 四 五 六 七 八 九 十 百 千 万 億"
)


def numbers_of(nodes: Iterable[Node]) -> Counter[str]:
    """Numbers among words, in figures or spelled."""
    found: Counter[str] = Counter()
    for node in nodes:
        form = node.form.lower().replace(",", "").replace("，", "")
        if any(sign.isdigit() for sign in form) or (node.upos == "NUM" and form in _NUMBER_WORDS):
            found[form] += 1
    return found


def names_of(nodes: Iterable[Node]) -> Counter[str]:
    """Proper names among words, without case and the s of a genitive."""
    return Counter(node.form.lower() for node in nodes if node.upos == "PROPN")


def _numbers(transfer: Transfer) -> Iterator[Finding]:
    old, new = list(transfer.before.nodes), list(transfer.nodes)
    before, after = numbers_of(old), numbers_of(new)
    # The tagger may call a number something else now: then it is among the forms.
    for number in sorted(before.keys() - after.keys() - _forms(new)):
        yield vetoed(f"the number {number} is lost")
    for number in sorted(after.keys() - before.keys() - _forms(old)):
        yield vetoed(f"the number {number} was not there before")


def _forms(nodes: Iterable[Node]) -> set[str]:
    return {node.form.lower() for node in nodes}


def _names(transfer: Transfer) -> Iterator[Finding]:
    before, after = names_of(transfer.before.nodes), _forms(transfer.nodes)
    for name in sorted(before.keys() - after):
        yield vetoed(f"the name {name.capitalize()} is lost")


def _is_negative_affix(lemma: str) -> bool:
    """Whether a word is the opposite of what it is without its affix: unlikely, dishonest, harmless."""
    return AFFIX.search(lemma) is not None and _opposite_of_stem(lemma)


@cache
def _opposite_of_stem(lemma: str) -> bool:
    stem = AFFIX.sub("", lemma, count=1)
    words = wordnet()
    for pos in "arvn":
        for sense in words.senses(lemma, pos):
            for number in sense.synset.opposite:
                if any(other.startswith(stem[:4]) for other in words.synset(number).lemmas):
                    return True
    return False


def negations_of(nodes: Iterable[Node], language: str) -> int:
    """How many words turn a statement round; affixes count as words, and "neither … nor" as one."""
    words = list(nodes)
    found = [
        node.lemma.lower()
        for place, node in enumerate(words)
        if _is_negative(node, language) and not (language == "ja" and _is_idiom(words, place))
    ]
    return len(found) - min(found.count("neither"), found.count("nor"))


def _is_idiom(words: Sequence[Node], place: int) -> bool:
    """Whether a Japanese negation makes an idiom with the words before it or behind: かもしれません."""
    before = [node for node in words[:place] if node.lemma not in ("ます", "ある", "で", "も")]
    ends = (",".join(end) for n in (1, 2) for end in _spelled(before[-n:]))
    behind = [node.form for node in words[place + 1 : place + 3]]
    return not IDIOMS.isdisjoint(ends) or behind in (["だろう", "か"], ["でしょう", "か"])


def _spelled(words: Sequence[Node]) -> tuple[list[str], list[str]]:
    return [node.lemma for node in words], [node.form for node in words]


def _is_negative(node: Node, language: str) -> bool:
    if node.lemma.lower() in NEGATIONS[language] or node.form.lower() in NEGATIONS[language]:
        return node.upos != "SCONJ" or language != "ja"  # not ん of んだ
    has_affixes = language == "en" and node.upos in ("ADJ", "ADV", "VERB", "NOUN")
    return has_affixes and _is_negative_affix(node.lemma.lower())


def _excluding(nodes: Iterable[Node], language: str) -> Counter[str]:
    """Such words; a superlative is one, too: nobody is taller than the tallest."""
    lemmas = ("tallest" if node.feats.get("Degree") == "Sup" else node.lemma.lower() for node in nodes)
    return Counter(lemma for lemma in lemmas if lemma in EXCLUDING[language] or lemma == "tallest")


def _is_tag(tree: Tree, node: Node) -> bool:
    """Whether a word is the negation of a question that is added to a statement: "…, don't you?"."""
    behind = tree.nodes[node.index + 1 :]
    return len(behind) == 2 and behind[0].upos == "PRON" and behind[1].form == "?"


def _negation(transfer: Transfer) -> Iterator[Finding]:
    language = transfer.language
    before = negations_of((n for n in transfer.before.nodes if not _is_tag(transfer.before, n)), language)
    after = negations_of(transfer.nodes, language)
    if before == after or (before > after and (before - after) % 2 == 0):
        return
    if after > before and after % 2 == before % 2:
        yield lowered(LOST_HEDGE, "there are two more negations than before")
    elif _excluding(transfer.before.nodes, language) == _excluding(transfer.nodes, language):
        yield vetoed("a negation is lost" if before > after else "a negation was added")


def _hedges(transfer: Transfer) -> Iterator[Finding]:
    there = {node.lemma.lower() for node in transfer.nodes}
    if "only" in there:
        there.add("all")  # all he needs is rest: he only needs rest
    for node in transfer.before.nodes:
        lemma = node.lemma.lower()
        alike = next((group for group in HEDGES[transfer.language] if lemma in group), None)
        if alike is not None and _is_hedge(node) and not alike & there:
            yield lowered(LOST_HEDGE, f"'{lemma}' is lost: it claims more or less than before")


def _is_hedge(node: Node) -> bool:
    """Whether a word that may be a hedge is one: "about ten", not "about to leave" or "a book about it"."""
    if node.relation == "cc:preconj":
        return False  # both … and says what "and" says
    return node.upos == "ADV" or (node.upos != "VERB" and node.lemma.lower() not in ("about", "around"))


CHECKS = (
    Check("numbers", "Numbers are those of the sentence before.", _numbers),
    Check("names", "No name is lost.", _names),
    Check("negation", "What was denied is denied, and nothing else.", _negation),
    Check("hedges", "Words that say how sure or how much are kept.", _hedges),
)
