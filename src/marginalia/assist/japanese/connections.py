"""Morpheme connectivity: which form of a word stands before which morpheme, counted in UD Japanese GSD.

`data/assist/ja/connections.tsv` has a line for each kind of word and each morpheme behind it, with how
often each form stands there; `tools/make_japanese.py` counts them. Generation takes the most frequent form,
checks ask whether a form was ever seen.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from marginalia.assist.japanese.classes import class_of
from marginalia.assist.japanese.conjugation import FORMS, conjugate, forms_of

if TYPE_CHECKING:
    from marginalia.assist.trees import Node

_VERBS = frozenset({"五段", "一段", "サ変", "ザ変", "カ変"})
# Morphemes that the table names by their lemma; other words count by their part of speech.
_CLOSED = ("助動詞", "助詞", "接尾辞", "動詞-非自立", "形容詞-非自立", "形状詞-助動詞")
_OPEN = (
    ("補助記号-読点", "、"),
    ("補助記号-句点", "。"),
    ("名詞", "名詞"),
    ("代名詞", "名詞"),
    ("接頭辞", "名詞"),
    ("動詞", "用言"),
    ("形容詞", "用言"),
    ("形状詞", "用言"),
)
# Morphemes that are too rare in the treebank, and what they connect like.
_LIKE = {
    "つつ": "ながら",
    "まい": "べし",
    "なさる": "ます",
    "なさい": "ます",
    "けれども": "が",
    "けれど": "が",
    "けど": "が",
    "のに": "の",
    "し": "が",
}
_STANDS_FOR = {"volitional": "terminal"}  # 書こう stands where 書く may
_OLD_ZURU = ("ずる", "ずれ", "ぜ")
END = "終"


def word_class(node: Node) -> str | None:
    """The conjugation of a node; です and ん have the lemmas だ and ぬ and are known by their forms."""
    found = class_of(node.lemma, node.xpos)
    if found == "だ" and node.form.startswith(("です", "でし")):
        return "です"
    if found == "ぬ" and node.form == "ん":
        return "ん"
    if found == "ザ変" and not node.form.endswith(_OLD_ZURU):
        return "一段"  # 信じ is of 信じる today
    return found


def kind_of(conjugation: str) -> str:
    """The row of the table for a conjugation: all verbs are one, each auxiliary is its own."""
    return "動詞" if conjugation in _VERBS else conjugation


def key_of(right: Node | None) -> str:
    """The column of the table for what follows: the lemma of a function word, else a part of speech."""
    if right is None:
        return END
    if right.xpos.startswith(_CLOSED):
        return right.lemma
    return next((key for tag, key in _OPEN if right.xpos.startswith(tag)), right.xpos.partition("-")[0])


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str], dict[str, int]]:
    from importlib import resources

    path = resources.files("marginalia") / "data" / "assist" / "ja" / "connections.tsv"
    table = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, key, *counts = line.split("\t")
            table[kind, key] = {form: int(n) for form, n in (count.split(":") for count in counts)}
    return table


def counts_of(kind: str, right: Node | None) -> dict[str, int] | None:
    """How often each form of a kind was seen before a morpheme; None if the two were never neighbours."""
    table, key = _table(), key_of(right)
    found = table.get((kind, key)) or table.get((kind, _LIKE.get(key, key)))
    if found is None and right is not None and right.xpos.startswith(("動詞", "形容詞")):
        found = table.get((kind, "用言"))
    return found


def required_form(kind: str, right: Node | None) -> str | None:
    """The form that what follows requires, such as irrealis before ない."""
    counts = counts_of(kind, right)
    return None if counts is None else max(counts, key=lambda form: (counts[form], -FORMS.index(form)))


def connects(left: Node, right: Node | None, least: float = 0.01) -> bool | None:
    """Whether the form of a word was seen before a morpheme; None if nothing is known of the two."""
    conjugation = word_class(left)
    if conjugation is None:
        return None
    counts = counts_of(kind_of(conjugation), right)
    forms = forms_of(dictionary_form(left), conjugation, left.form)
    if counts is None or not forms:
        return None
    enough = max(counts.values()) * least
    return any(
        counts.get(form, 0) > enough for form in {*forms, *(_STANDS_FOR.get(one, one) for one in forms)}
    )


def dictionary_form(node: Node) -> str:
    """The lemma as the text spells it: 見る for 見 of みる, 頂く for 頂い of いただく."""
    form, lemma = node.form, node.lemma
    conjugation = class_of(lemma, node.xpos)
    if conjugation == "ザ変" and not form.endswith(_OLD_ZURU):
        return lemma[:-2] + "じる"
    if conjugation is None or not form or form[0] == lemma[0] or not _is_kanji(form[0]):
        return lemma
    for name in FORMS:
        whole = conjugate(lemma, conjugation, name)
        if whole is None:
            continue
        same = _common_end(whole, form)
        kept = len(form) - same
        if all(map(_is_kanji, form[:kept])) and len(lemma) > len(whole) - same:
            return form[:kept] + lemma[len(whole) - same :]
    return lemma


def _common_end(a: str, b: str) -> int:
    same = 0
    while same < min(len(a), len(b)) and a[-1 - same] == b[-1 - same]:
        same += 1
    return same


def _is_kanji(sign: str) -> bool:
    return "一" <= sign <= "鿿" or sign == "々"
