"""Lemmas that no verb has, mended by the list of those that there are: 洗い is of 洗う, not of 洗く.

The parser spells lemmas by rules and is wrong at times. `data/assist/ja/lemmas.txt` lists verbs and
adjectives, the most frequent first; a lemma that is not among them gives way to one of which the token can
be a form.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from marginalia.assist.japanese.classes import class_of
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
    """Give verbs and adjectives whose lemma does not exist one that does; で and だり are of て and たり."""
    for node in tree.nodes:
        if node.xpos.startswith(("動詞", "形容詞")):
            node.lemma = better_lemma(node)
        elif node.xpos.startswith("助詞"):
            node.lemma = _VOICED.get((node.xpos, node.form), node.lemma)


def better_lemma(node: Node) -> str:
    """The lemma of a node, or the known one that its form is of."""
    if node.form == "行っ":  # of 行く and 行う
        return "行う" if any(child.relation == "obj" for child in node.children) else "行く"
    if node.lemma in known_lemmas() or node.form[:1] != node.lemma[:1]:
        return node.lemma
    same = "い" if node.xpos.startswith("形容詞") else ""
    candidates = [one for one in _lemmas_by_form().get(node.form, ()) if one.endswith("い") == bool(same)]
    return candidates[0] if candidates else node.lemma
