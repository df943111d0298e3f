"""What can be counted or measured in a tree: sizes, depths, distances, kinds of words, familiarity.

Each measure is a function of an `Outline`, entered in `MEASURES` by the name that declarations use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from .syllables import syllables

if TYPE_CHECKING:
    from ..trees import Node, Tree
    from ..words import Familiarity

CONTENT = frozenset({"NOUN", "VERB", "ADJ", "ADV"})
_CLAUSES = frozenset({"csubj", "ccomp", "xcomp", "advcl", "acl", "parataxis"})
_SUBORDINATE = frozenset({"csubj", "ccomp", "advcl", "acl"})
_NOMINAL_ENDINGS = (
    "tion",
    "sion",
    "ment",
    "ness",
    "ity",
    "ance",
    "ence",
    "ism",
    "ship",
    "hood",
    "ure",
    "cy",
    "al",
)


def base(relation: str) -> str:
    """A relation without its subtype."""
    return relation.partition(":")[0]


class Outline:
    """A tree with what several measures need of it, each made when first asked for."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.words = [node for node in tree.nodes if node.upos not in ("PUNCT", "SYM")]
        self.relations = {node.index: base(node.relation) for node in tree.nodes}

    def with_relation(self, *names: str) -> list[Node]:
        """Nodes with one of these relations, whatever the subtype."""
        return [node for node in self.tree.nodes if self.relations[node.index] in names]

    @cached_property
    def depths(self) -> list[int]:
        """How many words stand above each word."""
        depths = [-1] * len(self.tree.nodes)
        stack = [(self.tree.root, 0)]
        while stack:
            node, depth = stack.pop()
            depths[node.index] = depth
            stack += [(child, depth + 1) for child in node.children]
        return depths

    @cached_property
    def sizes(self) -> list[int]:
        """Words in the subtree of each word, without punctuation."""
        sizes = [int(node.upos != "PUNCT") for node in self.tree.nodes]
        for node in sorted(self.tree.nodes, key=lambda node: -self.depths[node.index]):
            if node.head is not None:
                sizes[node.head.index] += sizes[node.index]
        return sizes

    @cached_property
    def distances(self) -> list[int]:
        """Words from each word to its head, without punctuation and the root."""
        return [abs(node.index - node.head.index) for node in self.words if node.head is not None]

    @cached_property
    def content(self) -> list[Node]:
        """Nouns, verbs, adjectives and adverbs; names are none."""
        return [node for node in self.words if node.upos in CONTENT]

    @cached_property
    def zipfs(self) -> list[float]:
        """Frequencies of the content words on the Zipf scale: of the form or the lemma, what is more."""
        from ..words import familiarity

        language = self.tree.language
        return [
            max(familiarity(node.form, language).zipf, familiarity(node.lemma, language).zipf)
            for node in self.content
            if any(character.isalpha() for character in node.form)
        ]

    @cached_property
    def lengths(self) -> list[int]:
        """Characters of each word that has a letter or a digit."""
        return [len(node.form) for node in self.words if any(map(str.isalnum, node.form))]

    @cached_property
    def syllables(self) -> list[int]:
        """Syllables of each word with a letter."""
        return [syllables(node.form) for node in self.words if any(map(str.isalpha, node.form))]

    def chain(self, names: Iterable[str]) -> int:
        """The longest line of nodes from the root down that have one of these relations, others between."""
        wanted = frozenset(names)
        longest = [0] * len(self.tree.nodes)
        for node in sorted(self.tree.nodes, key=lambda node: self.depths[node.index]):
            above = longest[node.head.index] if node.head is not None else 0
            longest[node.index] = above + (self.relations[node.index] in wanted)
        return max(longest, default=0)

    @cached_property
    def known(self) -> list[Familiarity]:
        """What is known of each content word, looked up by its lemma."""
        from ..words import familiarity

        return [familiarity(node.lemma, self.tree.language) for node in self.content]

    @cached_property
    def kanji(self) -> list[int]:
        """School grades of all words with kanji: 1 to 6, 7 secondary school, 8 outside of school."""
        from ..words import kanji_grade

        grades = (kanji_grade(node.form) for node in self.words)
        return [grade for grade in grades if grade is not None]


Measure = Callable[[Outline], float]


def _mean(values: list[int] | list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _with(**wanted: str) -> Measure:
    """How many words have one of the values (separated by blanks) of `upos`, `relation` or a feature."""

    def number(o: Outline) -> float:
        return sum(
            all(_value(o, node, key) in values.split() for key, values in wanted.items()) for node in o.words
        )

    return number


def _value(o: Outline, node: Node, key: str) -> str:
    if key == "relation":
        return o.relations[node.index]
    return node.upos if key == "upos" else node.feats.get(key, "")


def _commas(*signs: str) -> Measure:
    return lambda o: sum(node.form in signs for node in o.tree.nodes)


def _before_root(o: Outline) -> float:
    return sum(node.index < o.tree.root.index for node in o.words)


def _subject_length(o: Outline) -> float:
    return max((o.sizes[node.index] for node in o.with_relation("nsubj", "csubj")), default=0)


def _subject_gap(o: Outline) -> float:
    """Words between the end of a subject and its verb."""
    gaps = [
        node.head.index - max(one.index for one in node.subtree()) - 1
        for node in o.with_relation("nsubj", "csubj")
        if node.head is not None and node.head.index > node.index
    ]
    return max(gaps, default=0)


def _noun_phrase(o: Outline) -> float:
    return max((o.sizes[node.index] for node in o.words if node.upos in ("NOUN", "PROPN", "PRON")), default=0)


def _longest_run(o: Outline, fits: Callable[[Node], bool]) -> int:
    longest = run = 0
    for node in o.tree.nodes:
        run = run + 1 if fits(node) else 0
        longest = max(longest, run)
    return longest


def _noun_stack(o: Outline) -> float:
    return _longest_run(o, lambda node: node.upos in ("NOUN", "PROPN"))


def _most_of(*names: str) -> Measure:
    """The most children with these relations that a word has."""
    return lambda o: max(
        (sum(o.relations[child.index] in names for child in node.children) for node in o.tree.nodes),
        default=0,
    )


def _embedding(o: Outline) -> float:
    """Clauses that interrupt another one: words of the clause above stand on both sides."""
    found = 0
    for node in o.with_relation("acl", "advcl", "parataxis", "ccomp"):
        inside = node.subtree()
        first, last, head = inside[0].index, inside[-1].index, node.head
        if head is not None and len(inside) > 2:
            above = [one for one in head.subtree() if one.upos != "PUNCT"] if head.head is None else o.words
            found += any(one.index < first for one in above) and any(one.index > last for one in above)
    return found


def _nominalisations(o: Outline) -> float:
    return sum(
        node.upos == "NOUN" and len(node.lemma) > 6 and node.lemma.lower().endswith(_NOMINAL_ENDINGS)
        for node in o.words
    )


def _rarer_than(limit: float) -> Measure:
    return lambda o: sum(zipf < limit for zipf in o.zipfs)


def _rarest(place: int) -> Measure:
    """How far below 7 the frequency of the rarest (second rarest, …) content word is."""
    return lambda o: 7 - sorted(o.zipfs)[place] if len(o.zipfs) > place else 0.0


def _kanji_from(grade: int) -> Measure:
    return lambda o: sum(one >= grade for one in o.kanji)


def _share_of_kanji(o: Outline) -> float:
    text = "".join(node.form for node in o.words)
    return sum("\u3400" <= character <= "\u9fff" for character in text) / max(1, len(text))


def _katakana(o: Outline) -> float:
    return sum(all("\u30a0" <= character <= "\u30ff" for character in node.form) for node in o.words)


def _jlpt_from(level: int) -> Measure:
    """Words of this level of the JLPT or a harder one (5 is the easiest, 1 the hardest, 0 none)."""
    return lambda o: sum(int((one.level or "N0")[1]) <= level for one in o.known)


def _repeated(o: Outline) -> float:
    lemmas = [node.lemma for node in o.content]
    return len(lemmas) - len(set(lemmas))


MEASURES: dict[str, Measure] = {
    "words": lambda o: len(o.words),
    "characters": lambda o: sum(o.lengths),
    "syllables": lambda o: sum(o.syllables),
    "mean-word-length": lambda o: _mean(o.lengths),
    "mean-syllables": lambda o: _mean(o.syllables),
    "longest-word": lambda o: max(o.lengths, default=0),
    "long-words": lambda o: sum(length >= 8 for length in o.lengths),
    "very-long-words": lambda o: sum(length >= 11 for length in o.lengths),
    "polysyllables": lambda o: sum(number >= 3 for number in o.syllables),
    "most-syllables": lambda o: max(o.syllables, default=0),
    "commas": _commas(",", "、", "，"),
    "dashes": _commas("-", "–", "—", "--"),
    "colons": _commas(":", ";", "：", "；"),
    "brackets": _commas("(", "（", "「", "『", "["),
    "quotes": _commas('"', "“", "”", "``", "''", "‘", "'"),
    "numbers": _with(upos="NUM"),
    "names": _with(upos="PROPN"),
    "pronouns": _with(upos="PRON"),
    "adjectives": _with(upos="ADJ"),
    "adverbs": _with(upos="ADV"),
    "nouns": _with(upos="NOUN"),
    "verbs": _with(upos="VERB"),
    "auxiliaries": _with(upos="AUX"),
    "prepositions": _with(upos="ADP"),
    "determiners": _with(upos="DET"),
    "finite-verbs": _with(VerbForm="Fin"),
    "participles": _with(VerbForm="Part Ger"),
    "infinitives": _with(VerbForm="Inf"),
    "content-words": lambda o: len(o.content),
    "content-share": lambda o: len(o.content) / max(1, len(o.words)),
    "repeated-words": _repeated,
    "tree-depth": lambda o: max(o.depths, default=0),
    "mean-distance": lambda o: _mean(o.distances),
    "longest-distance": lambda o: max(o.distances, default=0),
    "total-distance": lambda o: sum(o.distances),
    "words-before-verb": _before_root,
    "subject-length": _subject_length,
    "subject-gap": _subject_gap,
    "noun-phrase": _noun_phrase,
    "noun-stack": _noun_stack,
    "adjectives-of-noun": _most_of("amod"),
    "modifiers-of-verb": _most_of("obl", "advmod", "advcl"),
    "modifiers-of-noun": _most_of("nmod", "amod", "acl", "appos", "compound"),
    "clauses": _with(relation=" ".join(sorted(_CLAUSES))),
    "subordinate-clauses": _with(relation=" ".join(sorted(_SUBORDINATE))),
    "clause-depth": lambda o: o.chain(_CLAUSES),
    "relative-clauses": lambda o: sum(node.relation.startswith("acl") for node in o.words),
    "interrupting-clauses": _embedding,
    "noun-phrase-depth": lambda o: o.chain(("nmod",)),
    "prepositional-phrases": _with(relation="obl nmod"),
    "coordinations": _with(relation="conj"),
    "longest-coordination": _most_of("conj"),
    "appositions": _with(relation="appos"),
    "nominalisations": _nominalisations,
    "rare-words-5": _rarer_than(5.0),
    "rare-words-4.5": _rarer_than(4.5),
    "rare-words-4": _rarer_than(4.0),
    "rare-words-3.5": _rarer_than(3.5),
    "rare-words-3": _rarer_than(3.0),
    "rarest-word": _rarest(0),
    "second-rarest-word": _rarest(1),
    "third-rarest-word": _rarest(2),
    "mean-rarity": lambda o: _mean([7 - zipf for zipf in o.zipfs]),
    "kanji-words": lambda o: len(o.kanji),
    "kanji-share": _share_of_kanji,
    "hardest-kanji": lambda o: max(o.kanji, default=0),
    "kanji-grade-4": _kanji_from(4),
    "kanji-grade-6": _kanji_from(6),
    "kanji-secondary": _kanji_from(7),
    "kanji-outside": _kanji_from(8),
    "katakana-words": _katakana,
    "jlpt-n3": _jlpt_from(3),
    "jlpt-n2": _jlpt_from(2),
    "jlpt-n1": _jlpt_from(1),
    "jlpt-none": _jlpt_from(0),
    "total-rarity": lambda o: sum(7 - zipf for zipf in o.zipfs),
}
