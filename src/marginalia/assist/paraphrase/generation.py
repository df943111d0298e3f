"""What each language adds to a transfer: forms of changed words, and a surface that is as it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module

from marginalia.assist.trees import Node, Tree

Generate = Callable[[Tree, Tree, Sequence[Node]], None]
"""Of a tree that a rule has made, the tree before it, and words whose form has to be made of their lemma and
features: it changes forms and, where the language wants it, words (articles, commas, particles)."""


_NOT = ("not", "n't", "n’t")


def _english(tree: Tree, before: Tree, changed: Sequence[Node]) -> None:
    from marginalia.assist import english

    lemmas = {node.origin: node.lemma for node in before.nodes}
    for node in changed:
        if node.origin is not None and lemmas.get(node.origin) == node.lemma:  # the parser's, not the rule's
            node.lemma = english.lemma_of(node.form, node.xpos, node.lemma)
        following = tree.nodes[node.index + 1].form if node.index + 1 < len(tree) else ""
        if node.xpos != "MD" or following.lower() not in ("n't", "n’t"):  # "ca" of "can't" stays
            english.mend_features(node)
            node.xpos = english.tag_of(node.upos, node.feats)
            node.form = english.form_of(node.lemma, node.upos, node.feats)
    for node in changed:
        _support(tree, node)
    first = before.nodes[0]
    for node in tree.nodes[1:]:  # a capital that a rule gave before; that of the text is mended below
        same = node.form == first.form and node.origin == first.origin
        if same and node.lemma.islower() and not node.form[1:].isupper() and english.is_known(node):
            node.form = node.form[:1].lower() + node.form[1:]
    english.mend(tree)


def _support(tree: Tree, verb: Node) -> None:
    """Write "did not break" for "not broke": a full verb cannot be negated alone."""
    from marginalia.assist import english

    negation = next((c for c in verb.children if c.form.lower() in _NOT and c.index < verb.index), None)
    alone = not any(child.is_a("aux") or child.is_a("cop") for child in verb.children)
    if negation is None or not alone or verb.upos != "VERB" or verb.feats.get("VerbForm") != "Fin":
        return
    feats = dict(verb.feats)
    support = Node(english.form_of("do", "AUX", feats), "do", "AUX", english.tag_of("AUX", feats), feats)
    tree.insert(support, verb, "aux", before=negation)
    support.space_after = "" if negation.form.lower() != "not" else " "
    verb.feats.update({"VerbForm": "Inf"})
    for key in ("Tense", "Mood", "Number", "Person"):
        verb.feats.pop(key, None)
    verb.xpos, verb.form = "VB", english.form_of(verb.lemma, "VERB", verb.feats)


def _japanese(tree: Tree, before: Tree, changed: Sequence[Node]) -> None:
    from marginalia.assist.japanese.generation import generate

    generate(tree, before, changed)


def _lemmas(tree: Tree, before: Tree, changed: Sequence[Node]) -> None:
    """Without a generator: a changed word is its lemma."""
    for node in changed:
        node.form = node.lemma


_LANGUAGES: dict[str, tuple[str, Generate]] = {
    "en": ("marginalia.assist.english", _english),
    "ja": ("marginalia.assist.japanese.generation", _japanese),
}


@cache
def generation_of(language: str) -> Generate:
    """The generator of a language; one that writes lemmas, if there is none."""
    name, generate = _LANGUAGES.get(language, ("", _lemmas))
    if not name:
        return generate
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.startswith("marginalia.assist"):
            return _lemmas
        raise
    return generate
