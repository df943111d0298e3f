"""Rules as text made rules of trees: both sides are parsed, and what they leave open is completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from marginalia.assist.paraphrase.lexer import Place
from marginalia.assist.paraphrase.patterns import Arc, Condition, Constraint, NodePattern, PatternText
from marginalia.assist.paraphrase.rule_files import RuleSource
from marginalia.assist.paraphrase.targets import Form, Target
from marginalia.assist.paraphrase.templates import KINDS, Item, Side, TemplateReader, write_sentence
from marginalia.assist.trees import Node, Tree
from marginalia.errors import DataError

if TYPE_CHECKING:
    from marginalia.decode.pipeline.pipeline import Pipeline

_SUBTYPES = ("pass", "relcl", "prt", "poss")
_CONTENT = {"NOUN": "NOUN|PROPN", "VERB": "VERB|AUX", "ADJ": "ADJ", "ADV": "ADV"}
_TENSED = ("be", "have", "do")
_READINGS = 4


@dataclass
class _Read:
    """A parsed side: the item of each word that stands in a pattern, and the head of each of these words."""

    side: Side
    tree: Tree
    items: dict[int, Item]  # by index of the word
    heads: dict[int, int | None]
    names: dict[int, str]

    def daughters(self, index: int) -> list[int]:
        return [one for one, head in self.heads.items() if head == index]

    @property
    def root(self) -> int:
        return next(one for one, head in self.heads.items() if head is None)


class Simplified:
    """Rules as text of one file; `compiled` makes trees of all of them with one call of the parser."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._rules: list[tuple[RuleSource, list[list[Side]], list[Side]]] = []

    def add(self, rule: RuleSource) -> None:
        """Read both sides of a rule."""
        left = [TemplateReader(rule.left, rule.place).sides() for _ in range(1 if rule.fill else _READINGS)]
        if len(left[0]) > 1:
            raise rule.place.error(
                rule.left, rule.left.find("||"), "found '||' on the left, expected it right"
            )
        names = {item.name for item in left[0][0].items if item.name}
        if unknown := [name for name in rule.fill if name not in names]:
            raise rule.place.error(rule.left, 0, f"found fill {unknown[0]}, expected a variable of the rule")
        right = TemplateReader(rule.right, rule.right_place, names).sides()
        for number, (side,) in enumerate(left):
            write_sentence(side, self.language, rule.fill, number)
        for side in right:
            write_sentence(side, self.language, rule.fill)
        self._rules.append((rule, left, right))

    def compiled(self, pipeline: Pipeline) -> list[tuple[RuleSource, PatternText, tuple[Target, ...]]]:
        """All rules with their sides as trees."""
        sides = [side for _, left, right in self._rules for one in (*left, right) for side in one]
        documents = pipeline.parse_all([side.text for side in sides])
        trees: dict[int, Tree | None] = {}
        for side, document in zip(sides, documents, strict=True):
            one = document.sentences[0] if len(document.sentences) == 1 else None
            trees[id(side)] = None if one is None else Tree.of(one, self.language)
        return [(rule, *_compiled(left, right, trees)) for rule, left, right in self._rules]


def template_trees(rule: RuleSource, language: str, pipeline: Pipeline) -> list[Tree]:
    """The sentences that are parsed for a rule, with its variables in the place of their words."""
    reader = Simplified(language)
    reader.add(rule)
    _, left, right = reader._rules[0]
    trees = []
    for side in (left[0][0], *right):
        tree = Tree.of(pipeline.parse(side.text).sentences[0], language)
        start = 0
        for node in tree:
            item = next((one for one in side.items if one.span[0] <= start < one.span[1]), None)
            start += len(node.form) + len(node.space_after)
            node.form += f" = {item.name}" if item is not None and item.name else ""
        trees.append(tree)
    return trees


def _compiled(
    left: Sequence[list[Side]], right: list[Side], trees: Mapping[int, Tree | None]
) -> tuple[PatternText, tuple[Target, ...]]:
    """Both sides as trees. The left one has as many alternatives as the parser reads it in ways, with other
    words for its variables: it will read texts in as many ways."""
    readings: list[_Read] = []
    for number, (side,) in enumerate(left):
        try:
            readings.append(_read(side, trees[id(side)]))
            _name(readings[-1])
        except DataError:
            if number + 1 == len(left) and not readings:
                raise
    source = readings[0]
    results = [_read(side, trees[id(side)]) for side in right]
    used: set[str] = set()
    for result in results:
        _name_again(result, source, used)
    completion = _Completion(source, results)
    targets = tuple(_target(result, result.root, completion) for result in results)
    names = set(source.names.values())
    patterns = [_pattern(one) for one in readings if set(one.names.values()) == names]
    alternatives = dict.fromkeys(node for one in patterns for node in one.alternatives)
    return replace(patterns[0], alternatives=tuple(alternatives)), targets


def _error(side: Side, item: Item, message: str) -> DataError:
    place = side.tokens.place if side.tokens is not None else Place()
    text = side.tokens.text if side.tokens is not None else ""
    return place.error(text, item.start, f"{message}; use fill or tree")


def _read(side: Side, tree: Tree | None) -> _Read:
    """Find the words of each item, and the tree of those that stand in the pattern."""
    if tree is None:
        raise _error(side, side.items[0], f"the parser reads '{side.text}' as several sentences")
    owner: dict[int, Item] = {}
    position = 0
    for node in tree:
        start, end = position, position + len(node.form)
        position = end + len(node.space_after)
        for item in side.items:
            if item.span[0] <= start and end <= item.span[1]:
                owner[node.index] = item
            elif start < item.span[1] and item.span[0] < end:
                raise _error(
                    side, item, f"the parser reads '{node.form}' across '{item.text}' in '{side.text}'"
                )
    stands: dict[int, int] = {}  # for each word, the one that stands for it
    for item in side.items:
        words = [index for index, one in owner.items() if one is item]
        if item.name:
            tops = [i for i in words if (h := tree.nodes[i].head) is None or owner.get(h.index) is not item]
            if len(tops) != 1:
                raise _error(
                    side, item, f"the parser reads '{item.words}' in '{side.text}' in several pieces"
                )
            stands.update((index, tops[0]) for index in words)
        else:
            stands.update((index, index) for index in words)
    items = {index: owner[index] for index in sorted(set(stands.values()))}
    heads = {index: _head_of(tree.nodes[index], stands) for index in items}
    if list(heads.values()).count(None) != 1:
        raise _error(side, side.items[0], f"the parser reads '{side.text}' in several pieces")
    return _Read(side, tree, items, heads, {})


def _head_of(node: Node, stands: Mapping[int, int]) -> int | None:
    """The word of the pattern that a word hangs on; words between that are of no item are left out."""
    own = stands[node.index]
    for above in node.ancestors():
        if above.index in stands and stands[above.index] != own:
            return stands[above.index]
    return None


def _name(read: _Read) -> None:
    """Variables keep their names; words get ones that show them."""
    used = {item.name for item in read.side.items if item.name}
    for index, item in read.items.items():
        if item.name:
            read.names[index] = item.name
            continue
        lemma = read.tree.nodes[index].lemma
        base = lemma.capitalize() if lemma.isascii() and lemma.isalpha() else "W"
        name, number = base if base not in KINDS and base != "W" else f"{base}1", 1
        while name in used:
            number += 1
            name = f"{base}{number}"
        used.add(name)
        read.names[index] = name


def _name_again(read: _Read, source: _Read, used: set[str]) -> None:
    """Names of the left side for the words of the right one that are kept; others stay without."""
    for index, item in read.items.items():
        if item.name:
            read.names[index] = item.name
            continue
        node = read.tree.nodes[index]
        for other, name in source.names.items():
            twin = source.tree.nodes[other]
            same = node.lemma.lower() == twin.lemma.lower() or node.form.lower() == twin.form.lower()
            if same and name not in used and not source.items[other].name:
                read.names[index] = name
                used.add(name)
                break


def relation_of(node: Node) -> str:
    main, colon, subtype = node.relation.partition(":")
    return node.relation if colon and subtype in _SUBTYPES else main


def _pattern(read: _Read) -> PatternText:
    conditions: list[Condition] = []

    def made(index: int) -> NodePattern:
        item, node = read.items[index], read.tree.nodes[index]
        arcs = []
        for one in read.daughters(index):
            below, daughter = read.tree.nodes[one], made(one)
            count = read.items[one].count
            if count == "*":
                daughter = replace(daughter, arcs=())
            else:
                order = "before" if one < index else "after"
                conditions.append(Condition(order, (daughter.name, read.names[index])))
            arcs.append(Arc((relation_of(below),), daughter, count))
        return _node(item, node, read.names[index], arcs)

    if read.items[read.root].count != "one":
        item = read.items[read.root]
        raise _error(read.side, item, f"found '{item.text}{item.count}', which is what all else hangs on")
    top = made(read.root)
    condition = conditions[0] if len(conditions) == 1 else Condition("and", parts=tuple(conditions))
    return PatternText((top,), condition if conditions else None)


def _kind(item: Item) -> str:
    return item.name.rstrip("0123456789")


def _node(item: Item, node: Node, name: str, arcs: Sequence[Arc]) -> NodePattern:
    if item.name:
        kind = KINDS[_kind(item)]
        return NodePattern(
            name, (*([kind] if kind else []), *item.classes), (), item.constraints, tuple(arcs)
        )
    classes = (_CONTENT[node.upos],) if node.upos in _CONTENT else ()
    if item.exact:
        return NodePattern(name, (), (), (Constraint("form", "=", (item.text,)),), tuple(arcs))
    lemmas = dict.fromkeys([node.lemma, *(word for word in item.alternatives)])
    return NodePattern(name, classes if not item.alternatives else (), tuple(lemmas), (), tuple(arcs))


class _Completion:
    """Forms that a rule need not say: tense of auxiliaries that are gone or new, agreement with subjects."""

    def __init__(self, source: _Read, results: Sequence[_Read]) -> None:
        self._source = source
        kept = {name for result in results for name in result.names.values()}
        self._heads = {
            source.names[i]: source.names.get(h) if h is not None else None for i, h in source.heads.items()
        }
        self._index = {name: index for index, name in source.names.items()}
        self._gone = {
            self._heads[name]: name
            for index, name in source.names.items()
            if name not in kept
            and source.tree.nodes[index].lemma in _TENSED
            and self._heads[name] is not None
        }
        verbs = [n for i, n in source.names.items() if source.tree.nodes[i].upos == "VERB"]
        self._verb = next((n for n in verbs if n == source.names[source.root]), verbs[0] if verbs else None)

    def forms(self, read: _Read, index: int) -> list[Form]:
        """More forms of a word of the right side."""
        if read.tree.language != "en":
            return []
        item, node = read.items[index], read.tree.nodes[index]
        name = read.names.get(index, "")
        subject = self._subject(read, index)
        agree = [Form("agree", subject)] if subject else []
        tensed = [d for d in read.daughters(index) if self._is_tensed(read, d)]
        if not name and node.lemma in _TENSED and node.upos in ("AUX", "VERB") and not item.exact:
            head = read.heads[index]
            subject = self._subject(read, index if head is None else head) or subject
            agree = [Form("agree", subject)] if subject else []
            origin = next(iter(self._gone.values()), None) or self._verb
            return [Form("tense", origin), *agree] if origin else agree
        if name and node.upos == "VERB" and not tensed and self._gone.get(name):
            return [Form("tense", self._gone[name]), *agree]
        if name and node.upos == "VERB" and subject and subject != self._left_subject(name):
            return agree
        return []

    def _is_tensed(self, read: _Read, index: int) -> bool:
        return read.tree.nodes[index].lemma in _TENSED and read.tree.nodes[index].is_a("function")

    def _subject(self, read: _Read, index: int) -> str | None:
        for one in read.daughters(index):
            if read.tree.nodes[one].is_a("nsubj"):
                return read.names.get(one)
        return None

    def _left_subject(self, name: str) -> str | None:
        return self._subject(self._source, self._index[name]) if name in self._index else None


def _target(read: _Read, index: int, completion: _Completion) -> Target:
    item, node = read.items[index], read.tree.nodes[index]
    name = read.names.get(index, "")
    forms = list(item.forms)
    if _kind(item) == "S":
        forms.append(Form("whole"))
    given = {form.kind for form in forms}
    for form in completion.forms(read, index):
        if form.kind not in given and not (form.kind == "tense" and "feature" in given):
            forms.append(form)
    arcs: list[tuple[str, Target] | None] = []
    for one in sorted([*read.daughters(index), index]):
        below = read.tree.nodes[one]
        arcs.append(None if one == index else (relation_of(below), _target(read, one, completion)))
    if name:
        return Target(name, "", "", tuple(forms), tuple(arcs) if len(arcs) > 1 else ())
    return _new_word(node, item, forms, arcs)


def _new_word(node: Node, item: Item, forms: list[Form], arcs: list[tuple[str, Target] | None]) -> Target:
    """A word of the right side only: as the parser reads it, in the form in which it is written."""
    tensed = any(form.kind in ("tense", "agree") or form.kind == "feature" for form in forms)
    made = [Form("feature", key, (value,)) for key, value in node.feats.items()]
    if node.xpos != "_":
        made.insert(0, Form("feature", "xpos", (node.xpos,)))
    if not tensed and node.form != node.lemma and item.text != node.lemma:
        form = item.text if item.text.lower() == node.form.lower() else node.form
        made.append(Form("form", "form", (form,)))
    return Target("", node.upos, node.lemma, (*made, *forms), tuple(arcs) if len(arcs) > 1 else ())
