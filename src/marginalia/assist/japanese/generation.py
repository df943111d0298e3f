"""Forms of changed Japanese trees: each word gets the form that its new neighbour requires.

`generate` changes only words that a rule made or whose neighbour is another one now. A form that connects
to what follows stays; else the required one of the table of connections is taken. た, て, たり, れる and せる
follow the word before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from marginalia.assist.japanese.classes import class_of, verb_class
from marginalia.assist.japanese.conjugation import conjugate, forms_of, voices
from marginalia.assist.japanese.connections import (
    connects,
    dictionary_form,
    kind_of,
    required_form,
    word_class,
)
from marginalia.assist.japanese.derivation import derive
from marginalia.assist.japanese.lemmas import known_lemmas
from marginalia.assist.japanese.politeness import is_polite, make_polite

if TYPE_CHECKING:
    from marginalia.assist.trees import Node, Tree

_VOICED = {"て": "で", "た": "だ", "たら": "だら", "たろう": "だろう", "たり": "だり", "てる": "でる"}
_PLAIN = {voiced: plain for plain, voiced in _VOICED.items()}
_USUAL = 0.25  # of the most frequent form: a form before a new neighbour must be that usual to stay
_XPOS = {
    "VERB": "動詞-一般",
    "ADJ": "形容詞-一般",
    "NOUN": "名詞-普通名詞-一般",
    "ADV": "副詞",
    "CCONJ": "接続詞",
    "PRON": "代名詞",
    "DET": "連体詞",
    "ADP": "助詞-格助詞",
    "SCONJ": "助詞-接続助詞",
    "AUX": "助動詞",
    "PART": "助詞-終助詞",
    "PUNCT": "補助記号-読点",
}
# Function words that rules write: part of speech and tag, by their form.
_WORDS = {
    word: (upos, xpos)
    for upos, xpos, words in (
        ("ADP", "助詞-格助詞", "が を に へ と で から より の"),
        ("ADP", "助詞-係助詞", "は も しか こそ"),
        ("ADP", "助詞-副助詞", "だけ まで など ばかり ほど ぐらい くらい か"),
        ("SCONJ", "助詞-接続助詞", "て ば ながら けれど けれども けど のに ので し"),
        ("AUX", "助動詞", "だ です ます た ない たい らしい れる られる せる させる だろう でしょう"),
        ("AUX", "助動詞", "でし だっ まし ませ ん なら なかっ たら"),
        ("AUX", "形状詞-助動詞語幹", "よう そう"),
        (
            "VERB",
            "動詞-非自立可能",
            "いる ある する できる なる いく くる くれる もらう い あり でき いけ しれ",
        ),
        ("PART", "助詞-終助詞", "ね よ"),
        ("PUNCT", "補助記号-読点", "、"),
        ("PUNCT", "補助記号-句点", "。"),
    )
    for word in words.split()
}
_LEMMAS = {
    "です": "だ", "でし": "だ", "だっ": "だ", "なら": "だ", "だろう": "だ", "でしょう": "だ",
    "たら": "た", "まし": "ます", "ませ": "ます", "ん": "ぬ", "なかっ": "ない", "い": "いる", "あり": "ある",
    "でき": "できる", "いけ": "いける", "しれ": "しれる",
}  # fmt: skip
_AFTER_LONG = {"れる": "られる", "せる": "させる"}
_AFTER_SHORT = {long: short for short, long in _AFTER_LONG.items()}


def generate(tree: Tree, before: Tree | None = None, changed: Sequence[Node] = ()) -> None:
    """Mend the forms of a tree that a rule has changed, and its politeness if `before` was polite.

    `changed` are words that got another lemma: they keep the form that they had.
    """
    last = None if before is None else before.nodes[-1].origin
    for node in changed:
        _keep_ending(node, before)
    for node in tree.nodes:
        complete(node)
    mend_topics(tree)
    left: Node | None = None
    for i, node in enumerate(tree.nodes):
        right = tree.nodes[i + 1] if i + 1 < len(tree.nodes) else None
        if not neighbours_still(left, node, last):
            follow(left, node)
        if node.origin is None or not neighbours_still(node, right, last):
            inflect(node, right, left)
        left = node
    if before is not None and is_polite(before) and not is_polite(tree):
        make_polite(tree)


def mend_topics(tree: Tree) -> None:
    """A clause that is the topic itself has no topic: 彼が読むのは本だけだ, not 彼は読むのは."""
    for clause in tree.nodes:
        if clause.is_a("csubj") and any(child.form == "は" for child in clause.children):
            for subject in clause.daughters("nsubj"):
                for particle in subject.children:
                    if particle.form == "は" and particle.relation == "case":
                        particle.form = particle.lemma = "が"
                        particle.xpos = "助詞-格助詞"


def _keep_ending(node: Node, before: Tree | None) -> None:
    """Let a word that got another lemma end as it did before; a noun with する may have become a verb."""
    old = next((one for one in before.nodes if one.origin == node.origin), None) if before else None
    derive(node)
    if old is None or old.lemma == node.lemma:
        return
    if node.upos == "VERB" and verb_class(node.lemma) is not None:
        node.xpos = _XPOS["VERB"]
    node.feats["Ending"] = f"{old.lemma} {old.xpos} {old.form}"
    node.form, node.origin = node.lemma, None


def complete(node: Node) -> Node:
    """Give a word that a rule made what the parser would: its tag, and the lemma of its form."""
    if node.xpos == "_":
        node.upos, node.xpos = _WORDS.get(node.lemma) or _guessed(node)
        node.lemma = _LEMMAS.get(node.form, node.lemma)
    return node


def _guessed(node: Node) -> tuple[str, str]:
    lemma = node.lemma
    if node.upos in ("X", "VERB", "AUX") and lemma in known_lemmas() and not lemma.endswith("い"):
        return "VERB", _XPOS["VERB"]
    if node.upos in ("X", "ADJ") and lemma.endswith("い") and lemma in known_lemmas():
        return "ADJ", _XPOS["ADJ"]
    if node.upos in ("VERB", "X") and len(lemma) > 1 and lemma[-1] in "うくぐすつぬぶむる":
        return "VERB", _XPOS["VERB"]
    return (node.upos, _XPOS[node.upos]) if node.upos in _XPOS else ("NOUN", _XPOS["NOUN"])


def neighbours_still(left: Node | None, right: Node | None, last: int | None) -> bool:
    """Whether two words stood side by side in the sentence that was read, or ended it."""
    if left is None:
        return right is None or right.origin == 0
    if left.origin is None:
        return False
    return left.origin == last if right is None else right.origin == left.origin + 1


def inflect(node: Node, right: Node | None, left: Node | None = None) -> None:
    """Give a word the form that what follows requires, unless the one it has will do."""
    conjugation = word_class(node)
    if "Ending" in node.feats:
        _ended(node, node.feats.pop("Ending"))
    if conjugation in (None, "た") or (node.origin is not None and node.form == "なら"):
        return
    if connects(node, right, _USUAL):
        return
    form = required_form(kind_of(conjugation), right)
    if form is None:
        return
    if conjugation == "だ" and form == "attributive" and _is_noun(left) and _is_noun(right):
        node.form = "である"
        return
    node.form = conjugate(dictionary_form(node), conjugation, form) or node.form


def _ended(node: Node, ending: str) -> None:
    """Give a word the form of the one in whose place it stands, where only that form will do: 買おう."""
    lemma, xpos, form = ending.split(" ")
    old, new = class_of(lemma, xpos), word_class(node)
    if old is None or new is None:
        return
    forms = forms_of(lemma, old, form)
    if "volitional" in forms or forms == ("imperative",):
        node.form = conjugate(node.lemma, new, forms[-1]) or node.form


def follow(left: Node | None, node: Node) -> None:
    """た or だ, て or で, れる or られる, せる or させる: by the word before."""
    conjugation = None if left is None else word_class(left)
    if left is None or conjugation is None:
        return
    if node.lemma in ("て", "た", "たり", "てる") and node.xpos.startswith(
        ("助動詞", "助詞-接続", "助詞-副")
    ):
        table = _VOICED if voices(left.lemma, conjugation) else _PLAIN
        node.form = table.get(node.form, node.form)
    elif node.lemma in _AFTER_SHORT or node.lemma in _AFTER_LONG:
        table = _AFTER_LONG if conjugation in ("一段", "カ変") else _AFTER_SHORT
        if conjugation in ("一段", "カ変", "五段", "サ変"):
            _rename(node, table.get(node.lemma, node.lemma))


def _rename(node: Node, lemma: str) -> None:
    if node.form.startswith(node.lemma[:-1]):
        node.form = lemma[:-1] + node.form[len(node.lemma) - 1 :]
    else:
        node.form = lemma
    node.lemma = lemma


def _is_noun(node: Node | None) -> bool:
    return node is not None and node.xpos.startswith(("名詞", "代名詞"))
