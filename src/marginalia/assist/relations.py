"""The hierarchy of relations: universal dependencies with their subtypes, and classes above them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_CLASSES = {
    "core": "subject object complement",
    "subject": "nsubj csubj",
    "object": "obj iobj",
    "complement": "ccomp xcomp",
    "clausal": "csubj ccomp xcomp advcl acl",
    "nominal": "nsubj obj iobj obl vocative expl dislocated nmod appos nummod",
    "modifier": "advmod amod advcl acl nmod nummod obl det",
    "oblique": "obl advmod advcl",
    "function": "aux cop mark det clf case",
    "multiword": "fixed flat compound goeswith",
    "parallel": "conj list",
    "coordination": "conj cc",
    "appositive": "appos",
    "insertion": "parataxis discourse vocative dislocated",
    "loose": "insertion list orphan reparandum",
    "dependency": "core nominal modifier oblique function multiword coordination loose punct dep",
}
ANY = "any"  # above all others


class Hierarchy:
    """Which relation is a kind of which: `nsubj:pass` is a `nsubj`, which is a `subject`, which is `core`.

    A relation that nobody declared is a kind of `any`, and, if it has a colon, of what stands before it.
    """

    def __init__(self, classes: Mapping[str, str | Iterable[str]] | None = None) -> None:
        self._above: dict[str, set[str]] = {}
        self._known: dict[str, frozenset[str]] = {}
        for name, members in (_CLASSES if classes is None else classes).items():
            self.declare(name, members.split() if isinstance(members, str) else members)

    def declare(self, name: str, members: Iterable[str]) -> None:
        """Make `name` a class of relations, or give it more members."""
        for member in members:
            self._above.setdefault(member, set()).add(name)
        self._known.clear()

    def kinds(self, relation: str) -> frozenset[str]:
        """The relation itself and all that it is a kind of."""
        if (known := self._known.get(relation)) is None:
            reached, waiting = {ANY}, [relation]
            while waiting:
                name = waiting.pop()
                if name not in reached:
                    reached.add(name)
                    waiting += self._above.get(name, ())
                    waiting += [name.rpartition(":")[0]] if ":" in name else []
            known = self._known[relation] = frozenset(reached)
        return known

    def is_a(self, relation: str, kind: str) -> bool:
        """Whether a relation is of a kind."""
        return kind in self.kinds(relation)

    @property
    def names(self) -> frozenset[str]:
        """Every relation and class that was declared."""
        return frozenset({ANY, *self._above}.union(*self._above.values()))


RELATIONS = Hierarchy()
"""Universal dependencies, and the classes that rules and features speak of."""

for _relation in ("root", "punct", "dep", "cc"):
    RELATIONS.declare(ANY, [_relation])
