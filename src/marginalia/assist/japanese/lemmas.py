"""Lemmas that no verb has, mended by the list of those that there are: 洗い is of 洗う, not of 洗く.

The parser spells lemmas by rules and is wrong at times. `data/assist/ja/lemmas.txt` lists verbs and
adjectives, the most frequent first; a lemma that is not among them gives way to one of which the token can
be a form.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from marginalia.assist.japanese.classes import class_of, verb_class
from marginalia.assist.japanese.conjugation import FORMS, conjugate

if TYPE_CHECKING:
    from marginalia.assist.trees import Node, Tree

_VOICED = {("助詞-接続助詞", "で"): "て", ("助詞-副助詞", "だり"): "たり"}
_VERB, _ADJECTIVE = "動詞-一般", "形容詞-一般"


@lru_cache(maxsize=1)
def known_lemmas() -> dict[str, str]:
    """Verbs and adjectives with their part of speech, the most frequent first."""
    from importlib import resources

    path = resources.files("marginalia") / "data" / "assist" / "ja" / "lemmas.txt"
    words = [line for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return {word: _ADJECTIVE if word.endswith("い") else _VERB for word in words}


@lru_cache(maxsize=1)
def _lemmas_by_form() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for lemma, xpos in known_lemmas().items():
        conjugation = class_of(lemma, xpos)
        forms = {conjugate(lemma, conjugation, form) for form in FORMS} if conjugation else set()
        for form in forms - {None}:
            found.setdefault(str(form), []).append(lemma)
    return found


def mend_lemmas(tree: Tree) -> None:
    """Give verbs and adjectives whose lemma does not exist one that does; で is of て, だ of た after ん."""
    left: Node | None = None
    for i, node in enumerate(tree.nodes):
        if node.xpos.startswith(("動詞", "形容詞")):
            node.lemma = better_lemma(node)
            following = tree.nodes[i + 1].form if i + 1 < len(tree.nodes) else ""
            if following == "ば":
                _mend_condition(node)
            elif following in ("て", "ない", "なかっ") and node.form.endswith("く"):
                _mend_adjective(node, f"{node.form[:-1]}い")
            elif node.form.endswith("い") and node.lemma not in known_lemmas():
                _mend_adjective(node, node.form)
        elif node.xpos.startswith("助詞"):
            node.lemma = _VOICED.get((node.xpos, node.form), node.lemma)
        elif (node.lemma, node.form) == ("だ", "だ") and left is not None and _voices(left):
            node.lemma = "た"
        left = node


def _voices(node: Node) -> bool:
    return node.xpos.startswith("動詞") and node.form.endswith(("ん", "い"))


def _mend_condition(node: Node) -> None:
    """Before ば, なれ is of なる, and 安けれ of 安い, not of なれる and 安けれる."""
    if node.lemma != node.form + "る":
        return
    if node.form.endswith("けれ"):
        node.lemma, node.upos, node.xpos = node.form[:-2] + "い", "ADJ", _ADJECTIVE
        return
    found = [lemma for lemma in _lemmas_by_form().get(node.form, ()) if lemma + "る" != node.lemma]
    node.lemma = next((one for one in found if verb_class(one) == "五段"), node.lemma)


def _mend_adjective(node: Node, lemma: str) -> None:
    """古く before て and ない is of 古い (a verb would be 書い, 書か), and so is what is written like it."""
    if lemma in known_lemmas():
        node.lemma, node.upos, node.xpos = lemma, "ADJ", _ADJECTIVE


def better_lemma(node: Node) -> str:
    """The lemma of a node, or the known one that its form is of."""
    if node.form == "行っ":  # of 行く and 行う
        return "行う" if any(child.relation == "obj" for child in node.children) else "行く"
    if node.lemma in known_lemmas() or node.form[:1] != node.lemma[:1]:
        return node.lemma
    same = "い" if node.xpos.startswith("形容詞") else ""
    candidates = [one for one in _lemmas_by_form().get(node.form, ()) if one.endswith("い") == bool(same)]
    return candidates[0] if candidates else node.lemma
