"""Which rules can fire in a tree: found by what they need, so that cost follows those that can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from marginalia.assist.paraphrase.matching import Bound, Groups
from marginalia.assist.paraphrase.narrowing import narrowed
from marginalia.assist.paraphrase.node_tests import Lexicons, node_test
from marginalia.assist.paraphrase.patterns import NodePattern, PatternText
from marginalia.assist.paraphrase.rules import Rule
from marginalia.assist.paraphrase.shares import share_of
from marginalia.assist.paraphrase.words import WordRule
from marginalia.assist.relations import ANY, RELATIONS
from marginalia.assist.trees import Tree

Need = frozenset[str]  # one of these must be in the tree


class RuleIndex:
    """Rules by the rarest thing each needs; what else they need is checked before they are matched."""

    def __init__(self, rules: Sequence[Rule], word_rules: Sequence[WordRule]) -> None:
        self._by_key: dict[str, list[tuple[int, Rule, list[Need]]]] = {}
        self._always: list[tuple[int, Rule, list[Need]]] = []
        self._words: dict[str, list[WordRule]] = {}
        for number, rule in enumerate(rules):
            needs = needs_of(rule.left, rule.lexicons)
            entry = (number, rule, needs[1:])
            if not needs:
                self._always.append(entry)
            for key in needs[0] if needs else ():
                self._by_key.setdefault(key, []).append(entry)
        for word_rule in word_rules:
            self._words.setdefault(word_rule.lemmas[0], []).append(word_rule)

    def candidates(self, tree: Tree) -> list[Rule]:
        """Rules that may fire, in their order."""
        there = keys_of(tree)
        found: dict[int, Rule] = {}
        for entries in (self._always, *(self._by_key[key] for key in there & self._by_key.keys())):
            for number, rule, needs in entries:
                for need in needs:
                    if need.isdisjoint(there):
                        break
                else:
                    found[number] = rule
        return [found[number] for number in sorted(found)]

    def matches(self, tree: Tree) -> Iterator[tuple[Rule | WordRule, Bound]]:
        """All matches of all rules: structural ones first."""
        groups = Groups(tree)
        for rule in self.candidates(tree):
            for bound in rule.pattern.all_bound(tree, groups):
                yield rule, bound
        for node in tree.nodes if self._words else ():
            for key in dict.fromkeys((node.lemma.lower(), node.form.lower())):
                for word_rule in self._words.get(key, ()):
                    if (nodes := word_rule.match(tree, node.index)) is not None:
                        yield word_rule, {"W": tuple(nodes)}


def keys_of(tree: Tree) -> set[str]:
    """All that a tree has to offer: lemmas, kinds of relations, parts of speech."""
    found: set[str] = set()
    for node in tree.nodes:
        found.add("/" + node.lemma.lower())
        found.add(":" + node.upos)
        found |= RELATIONS.kinds(node.relation)
    return found


def needs_of(pattern: PatternText, lexicons: Lexicons) -> list[Need]:
    """What must be in a tree for a pattern to match, the rarest first: lemmas, relations, parts of speech."""
    alternatives = [list(_needs(node, lexicons)) for node in narrowed(pattern).alternatives]
    if len(alternatives) > 1:  # one of the best of each
        best = [min(needs, key=_rank, default=frozenset()) for needs in alternatives]
        return [frozenset[str]().union(*best)] if all(best) else []
    return sorted(set(alternatives[0]), key=_rank)


def _rank(need: Need) -> tuple[float, list[str]]:
    return sum(map(share_of, need)), sorted(need)


def _needs(node: NodePattern, lexicons: Lexicons) -> Iterator[Need]:
    test = node_test(node, lexicons)
    if test.lemmas is not None:
        yield frozenset(f"/{lemma}" for lemma in test.lemmas)
    elif test.upos is not None:
        yield frozenset(f":{upos}" for upos in test.upos)
    for arc in node.arcs:
        if arc.count in ("one", "+"):
            names = frozenset(name.removeprefix("=") for name in arc.relations)
            if ANY not in names:
                yield names
            yield from _needs(arc.node, lexicons)
