"""What a transfer leaves on the surface is mended: articles, case, capitals, commas, the full stop."""

from __future__ import annotations

from itertools import pairwise

from ..joining import joint
from ..trees import Node, Tree
from ..words.wordnet import wordnet
from .articles import article_before
from .pronouns import in_case, is_accusative, is_nominative, person_of

_OBJECTS = ("obj", "iobj", "obl", "nmod")
_COMMAS = {",", ";", ":", "-", "--", "–", "—"}
_ENDS = {".", "!", "?", "…", "..."}
_FULL = {"am", "are", "is", "has", "have", "had", "will", "would"}  # of which 'm, 're, 's … are short
_OPENING = {"(", "[", "“", "‘", '"', "``"}
_CLOSING = {")", "]", "”", "’", '"', "''"}


def mend(tree: Tree) -> None:
    """Make a changed tree a well-written sentence: nothing is changed where nothing is wrong."""
    mend_cases(tree)
    mend_punctuation(tree)
    mend_commas(tree)
    mend_articles(tree)
    mend_capitals(tree)


def mend_articles(tree: Tree) -> None:
    """A before a consonant's sound, an before a vowel's."""
    for node, following in zip(tree.nodes, tree.nodes[1:], strict=False):
        low = node.form.lower()
        if low in ("a", "an") and node.upos == "DET" and following.form[:1].isalnum():
            form = article_before(following.form)
            if form != low:
                node.form = form.capitalize() if node.form[0].isupper() else form


def mend_cases(tree: Tree) -> None:
    """Pronouns in the case of their place: I that is an object now becomes me, him as a subject he."""
    for node in tree.nodes:
        if node.upos != "PRON":
            continue
        relation = _relation(node)
        if node.feats.get("Case") == "Nom" and relation.startswith("nsubj"):
            node.form = in_case(node.form, "Nom")
        elif is_nominative(node.form) and person_of(node.form) and _is_object(node, relation):
            node.form = in_case(node.form, "Acc")
        elif is_accusative(node.form) and relation.startswith("nsubj") and _has_finite(node):
            node.form = in_case(node.form, "Nom")


def _relation(node: Node) -> str:
    while node.relation == "conj" and node.head is not None:
        node = node.head
    return node.relation


def _is_object(node: Node, relation: str) -> bool:
    if relation.partition(":")[0] not in _OBJECTS or relation == "nmod:poss":
        return False
    return relation in ("obj", "iobj") or any(child.relation == "case" for child in node.children)


_FINITE = {"VBD", "VBZ", "VBP", "MD"}


def _has_finite(node: Node) -> bool:
    """Whether a subject has a finite verb: `him being late` has none."""
    while node.relation == "conj" and node.head is not None:
        node = node.head
    clause = node.head
    if clause is None:
        return False
    words = [clause, *(child for child in clause.children if child.relation.startswith(("aux", "cop")))]
    return any(word.xpos in _FINITE for word in words)


def mend_capitals(tree: Tree) -> None:
    """A capital for the first word; none for a word that was first and is not any more."""
    start = next((node for node in tree.nodes if node.upos != "PUNCT"), None)
    for node in tree.nodes:
        if node is not start and node.origin == 0 and _may_be_small(node) and not _after_stop(tree, node):
            node.form = node.form[:1].lower() + node.form[1:]
    if start is not None and start.form[:1].islower() and not any(c.isupper() for c in start.form):
        node = start
        node.form = node.form[:1].upper() + node.form[1:]


def _may_be_small(node: Node) -> bool:
    form = node.form
    if form == "I" or form.startswith(("I'", "I’")) or node.upos == "PROPN":
        return False
    if node.upos == "PRON":
        return True
    if node.lemma[:1].isupper() or (node.upos == "ADJ" and node.xpos == "NNP"):
        return False
    return form[:1].isupper() and (len(form) == 1 or form[1:].islower()) and is_known(node)


def is_known(node: Node) -> bool:
    """Whether a word is one of the dictionary, or no noun, verb or adjective; else it may be a name."""
    if node.upos not in ("NOUN", "VERB", "ADJ"):
        return True
    parts = [node.form, node.lemma, *node.form.split("-")]
    return any(wordnet().senses(part.lower(), pos) for part in parts for pos in "nvar")


def _after_stop(tree: Tree, node: Node) -> bool:
    """After a full stop or an opening quote, where capitals stay."""
    return node.index > 0 and tree.nodes[node.index - 1].form in _ENDS | {'"', "“", ":", "``"}


def mend_punctuation(tree: Tree) -> None:
    """No comma at the beginning, before another mark or after a bracket, and no empty brackets."""
    while (node := _wrong_mark(tree)) is not None:
        tree.delete(node)
    last = tree.nodes[-1]
    if last.form in _COMMAS and last.relation == "punct" and last.origin is not None:
        last.form = last.lemma = last.xpos = "."  # a clause that was followed by one is a sentence now
    for node, following in pairwise(tree.nodes):
        if node.form.lower() == "can" and following.form == "not" and None in (node.origin, following.origin):
            node.space_after = ""
        elif not node.space_after and following.form in _FULL and node.form[-1:].isalpha():
            node.space_after = " "
    for owner, node in pairwise(tree.nodes):
        _mend_genitive(owner, node)


def _mend_genitive(owner: Node, node: Node) -> None:
    """The house's roof, but the houses' roofs; one of the text stays as it was, unless it lacks its s."""
    if node.form in ("'", "’") and node.xpos == "POS" and not owner.form.endswith("s"):
        node.form += "s"
    plural = owner.feats.get("Number") == "Plur" and owner.form.endswith("s")
    if node.form in ("'s", "’s") and node.relation == "case" and node.origin is None and plural:
        node.form = node.form[0]


def mend_commas(tree: Tree) -> None:
    """A comma behind a clause that a rule put, or put a conjunction, before the clause that it belongs to."""
    for clause in [node for node in tree.nodes if node.relation == "advcl"]:
        words = clause.subtree()
        last, head = words[-1], clause.head
        if head is None or not any(_opens(child) for child in clause.children):
            continue
        following = tree.nodes[last.index + 1] if last.index + 1 < len(tree) else None
        if following is None or following.index > head.index or not _leads(words[0], head):
            continue
        if following.upos != "PUNCT" and last.upos != "PUNCT" and _is_new(words[0], last, following):
            comma = Node(",", ",", "PUNCT", ",")
            tree.insert(comma, clause, "punct", after=last)
            last.space_after, comma.space_after = "", " "


def _opens(word: Node) -> bool:
    """Whether a word is a conjunction, or stands for one: when, where."""
    return word.is_a("mark") or (word.is_a("advmod") and word.xpos == "WRB")


def _leads(first: Node, head: Node) -> bool:
    """Whether a clause stands before all of the one that it belongs to, but conjunctions."""
    before = [child for child in (*head.children, head) if child.index < first.index]
    return all(child.is_a("cc") or child.is_a("mark") or child.upos == "PUNCT" for child in before)


def _is_new(first: Node, last: Node, following: Node) -> bool:
    """Whether a clause begins, or is followed, by other words than in the text."""
    return first.origin is None or last.origin is None or following.origin != last.origin + 1


def _wrong_mark(tree: Tree) -> Node | None:
    nodes = tree.nodes
    for i, node in enumerate(nodes):
        if node.upos != "PUNCT" or node.children or node.head is None:
            continue
        before, after = (nodes[i - 1] if i else None), (nodes[i + 1] if i + 1 < len(nodes) else None)
        if _is_wrong(node, before, after):
            return node
    return None


def _is_wrong(node: Node, before: Node | None, after: Node | None) -> bool:
    if node.form in _COMMAS and _parts_subject(before, after):
        return True
    made = before is None or node.origin is None or before.origin is None or before.origin != node.origin - 1
    followed = after is None or node.origin is None or after.origin != node.origin + 1
    if not (made or followed):
        return False  # as it was written
    if node.form in _COMMAS:
        nothing_before = before is None or before.form in _OPENING - {'"'}
        return (nothing_before or _after_new_link(node, before)) or (
            after is not None and after.upos == "PUNCT" and after.form in _COMMAS | _ENDS
        )
    if node.form in _OPENING - {'"'}:
        return after is not None and after.form in _CLOSING
    if node.form in _CLOSING - {'"', "’"}:
        return before is not None and before.form in _OPENING
    return node.form in _ENDS and after is not None and after.form in _ENDS


def _parts_subject(before: Node | None, after: Node | None) -> bool:
    """Whether a comma stands alone between a subject and its verb: The car, was sold."""
    if before is None or after is None:
        return False
    subject = next((one for one in (before, *before.ancestors()) if one.relation.startswith("nsubj")), None)
    if subject is None or subject.head is None:
        return False
    words = [one for one in subject.subtree() if one.index <= before.index]
    if any(one.form in _COMMAS for one in words) or all(_follows(*pair) for pair in pairwise(words)):
        return False  # it has a partner, or the text has it so
    of_verb = after.head is subject.head and after.relation.startswith(("aux", "cop"))
    return after is subject.head or of_verb


def _follows(left: Node, right: Node) -> bool:
    return left.origin is not None and right.origin == left.origin + 1


def _after_new_link(node: Node, before: Node | None) -> bool:
    """Whether a comma of the text stands behind a conjunction that a rule put there: But, it rained."""
    return before is not None and before.index == 0 and before.origin is None is not node.origin


def end_with_stop(tree: Tree, stop: str = ".") -> None:
    """Put a full stop at the end of a sentence that was split off, in the place of a comma that is there."""
    while tree.nodes[-1].form in _COMMAS and tree.nodes[-1].head is not None:
        tree.delete(tree.nodes[-1])
    last = tree.nodes[-1]
    if last.form in _ENDS or (last.form in _CLOSING and len(tree) > 1 and tree.nodes[-2].form in _ENDS):
        return
    tree.insert(Node(stop, stop, "PUNCT", "."), tree.root, "punct", after=last)
    last.space_after = joint(last, tree.nodes[-1], False)
