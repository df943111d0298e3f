"""What a pattern asks of one node, compiled to a function."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from marginalia.assist.paraphrase.classes import CLASSES, UPOS
from marginalia.assist.paraphrase.patterns import NUMERIC, Constraint, NodePattern
from marginalia.assist.relations import RELATIONS
from marginalia.assist.trees import Node
from marginalia.errors import DataError

Lexicons = Mapping[str, frozenset[str]]
_Test = Callable[[Node], bool]
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class NodeTest(NamedTuple):
    """Lemmas and parts of speech that a node may have (None: any), and all else that is asked of it."""

    lemmas: frozenset[str] | None
    upos: frozenset[str] | None
    others: tuple[_Test, ...]

    def compiled(self) -> _Test:
        """A function that says whether a node is as it is asked to be."""
        lemmas, upos, others = self
        if others:
            return _both(NodeTest(lemmas, upos, ()).compiled(), others)
        if lemmas is None:
            return (lambda node: True) if upos is None else (lambda node: node.upos in upos)
        if upos is None:
            return lambda node: node.lemma.lower() in lemmas
        return lambda node: node.upos in upos and node.lemma.lower() in lemmas


def _both(first: _Test, others: tuple[_Test, ...]) -> _Test:
    if len(others) == 1:
        (other,) = others
        return lambda node: first(node) and other(node)

    def accepts(node: Node) -> bool:
        if not first(node):
            return False
        for test in others:  # noqa: SIM110 (a loop is quicker)
            if not test(node):
                return False
        return True

    return accepts


def node_test(pattern: NodePattern, lexicons: Lexicons) -> NodeTest:
    """The test of a node of a pattern, without its arcs."""
    lemmas = frozenset(word.lower() for word in pattern.lemmas) or None
    upos: frozenset[str] | None = None
    others: list[_Test] = []
    for name in pattern.classes:
        own, feats = _class(name)
        upos = own if upos is None else upos & own if own else upos
        upos = upos or None if not own else upos
        others += [_feature_test(key, value) for key, value in feats.items()]
    for constraint in pattern.constraints:
        if constraint.operator == "=" and constraint.key == "upos" and upos is None:
            upos = frozenset(constraint.values)
        elif constraint.operator == "=" and constraint.key == "lemma" and lemmas is None:
            lemmas = frozenset(word.lower() for word in constraint.values)
        else:
            others.append(_constraint_test(constraint, lexicons))
    return NodeTest(lemmas, upos, tuple(others))


def _class(name: str) -> tuple[frozenset[str], dict[str, str]]:
    """Parts of speech and features of a class, or of parts of speech with `|` between them."""
    upos: frozenset[str] = frozenset()
    feats: dict[str, str] = {}
    for part in name.split("|"):
        if part in CLASSES:
            own, feats = CLASSES[part]
        elif part in UPOS:
            own = frozenset([part])
        else:
            raise DataError(f"found the class '{part}', expected a part of speech such as NOUN, or a class")
        upos |= own
    return upos, feats


def _feature_test(key: str, value: str) -> _Test:
    if value.startswith("!"):
        return lambda node: node.feats.get(key) != value[1:]
    values = frozenset(value.split("|"))
    return lambda node: node.feats.get(key) in values


def _constraint_test(constraint: Constraint, lexicons: Lexicons) -> _Test:
    key, sign = constraint.key, constraint.operator
    if sign in ("@", "!@"):
        if key not in lexicons:
            known = ", ".join(sorted(lexicons)) or "none are there"
            raise DataError(f"found the list '{key}', expected one that is declared ({known})")
        words, within = lexicons[key], sign == "@"
        return lambda node: (node.lemma.lower() in words) is within
    if key in NUMERIC:
        return _number_test(key, sign, constraint.values)
    if key == "relation":
        return _relation_test(sign, constraint.values)
    get = getter(key)
    if sign in ("has", "lacks"):
        present = sign == "has"
        return lambda node: bool(get(node)) is present
    return _value_test(get, sign, constraint.values, folded=key in ("lemma", "form"))


def _value_test(get: Callable[[Node], str], sign: str, values: tuple[str, ...], folded: bool) -> _Test:
    positive = not sign.startswith("!")
    if "~" in sign:
        search = re.compile("|".join(f"(?:{value})" for value in values)).search
        return lambda node: (search(get(node)) is not None) is positive
    if folded and all(value == value.lower() for value in values):
        lowered = frozenset(values)
        return lambda node: (get(node).lower() in lowered) is positive
    wanted = frozenset(values)
    return lambda node: (get(node) in wanted) is positive


def _number_test(key: str, sign: str, values: tuple[str, ...]) -> _Test:
    get = _NUMBERS[key]
    if sign in ("has", "lacks"):
        return lambda node: (get(node) > 0) is (sign == "has")
    numbers = [int(value) for value in values]
    if sign in ("=", "!="):
        return lambda node: (get(node) in numbers) is (sign == "=")
    if sign not in _COMPARE:
        raise DataError(f"found {key}{sign}, expected =, !=, <, <=, > or >=")
    compare = _COMPARE[sign]
    return lambda node: compare(get(node), numbers[0])


def _relation_test(sign: str, values: tuple[str, ...]) -> _Test:
    if sign not in ("=", "!="):
        raise DataError(f"found relation{sign}, expected relation= or relation!=")
    wanted = accepted(values)
    return lambda node: (node.relation in wanted) is (sign == "=")


_NUMBERS: dict[str, Callable[[Node], int]] = {
    "size": lambda node: len(node.subtree()),
    "length": lambda node: len(node.form),
    "depth": lambda node: sum(1 for _ in node.ancestors()),
    "daughters": lambda node: len(node.children),
    "distance": lambda node: 0 if node.head is None else abs(node.index - node.head.index),
}


def _side(node: Node) -> str:
    """On which side of its head a node stands."""
    return "" if node.head is None else "left" if node.index < node.head.index else "right"


def _position(node: Node) -> str:
    """`first` for the first word of the sentence."""
    return "first" if node.index == 0 else ""


_FIELDS: dict[str, Callable[[Node], str]] = {
    "form": lambda node: node.form,
    "lemma": lambda node: node.lemma,
    "upos": lambda node: node.upos,
    "xpos": lambda node: node.xpos,
    "relation": lambda node: node.relation,
    "side": _side,
    "position": _position,
}
FIELDS = (*_FIELDS, *NUMERIC)
"""Names in constraints that are no features of FEATS."""


def getter(key: str) -> Callable[[Node], str]:
    """What gives a field or a feature of a node as text, "" if it has none."""
    if key in _NUMBERS:
        number = _NUMBERS[key]
        return lambda node: str(number(node))
    return _FIELDS.get(key) or (lambda node: node.feats.get(key, ""))


class _Relations(dict[str, bool]):
    """Which relations a pattern accepts, remembered one by one."""

    def __init__(self, wanted: tuple[str, ...]) -> None:
        self._exact = frozenset(name[1:] for name in wanted if name.startswith("="))
        self._kinds = frozenset(name for name in wanted if not name.startswith("="))

    def __missing__(self, relation: str) -> bool:
        answer = self[relation] = relation in self._exact or bool(RELATIONS.kinds(relation) & self._kinds)
        return answer

    def __contains__(self, relation: object) -> bool:
        return self[relation]  # type: ignore[index]


def accepted(wanted: tuple[str, ...]) -> dict[str, bool]:
    """Whether each relation is of one of some kinds, by its name; `=nsubj` is that relation alone."""
    return _Relations(wanted)
