"""Rules proposed from pairs of sentences, tried on all of them and ranked, for a person to accept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from marginalia.assist.paraphrase.engine import RuleSet, text_of
from marginalia.assist.paraphrase.loading import rules_of
from marginalia.assist.paraphrase.proposing import propose
from marginalia.assist.paraphrase.rule_files import read_rules
from marginalia.assist.trees import Tree, trees_of
from marginalia.corpus.streams import read_numbered
from marginalia.errors import DataError

if TYPE_CHECKING:
    from marginalia.decode.pipeline.pipeline import Pipeline

WHY = "(say here why that is easier)"
_MOST_WORDS = 40  # of a sentence: longer ones differ in too much
_EXAMPLES = 3


@dataclass(frozen=True)
class Candidate:
    """A rule that somebody may accept. `pairs` are those it was made of; it `fires` in so many sentences, and
    gives what was expected in so many (`right`)."""

    rule: str
    pairs: tuple[tuple[str, str], ...]
    fires: int
    right: int

    def to_dict(self) -> dict[str, object]:
        """The candidate as plain values."""
        return {**vars(self), "pairs": [list(pair) for pair in self.pairs]}

    def to_text(self, name: str) -> str:
        """The candidate as a family of a file of rules."""
        heading = (
            f"# of {len(self.pairs)} pairs; it fires in {self.fires} sentences and is right in {self.right}"
        )
        examples = "".join(f"+ {before} -> {after}\n" for before, after in self.pairs[:_EXAMPLES])
        return f"{heading}\nfamily {name}\nwhy {WHY}\ntree {name}: {self.rule}\n{examples}"


def read_pairs(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Pairs of sentences, two columns with a tab between them; what stands there twice counts once."""
    pairs: dict[tuple[str, str], None] = {}
    for number, line in read_numbered(os.fspath(path), "pairs"):
        if not line.strip():
            continue
        columns = line.rstrip("\r\n").split("\t")
        if len(columns) != 2 or not all(column.strip() for column in columns):
            message = f"found {len(columns)} columns, expected a sentence, a tab and its paraphrase"
            raise DataError(message, file=os.fspath(path), line=number)
        pairs[columns[0].strip(), columns[1].strip()] = None
    return list(pairs)


def learn(
    pairs: Sequence[tuple[str, str]], pipeline: Pipeline, language: str, least: int = 1
) -> list[Candidate]:
    """Candidates that at least so many pairs propose, the best first: those right in most sentences, and
    wrong in fewest. Pairs that differ in too much, or not at all, propose nothing."""
    documents = pipeline.parse_all([text for pair in pairs for text in pair])
    trees = [trees_of(document.sentences, language) for document in documents]
    sides = list(zip(pairs, trees[::2], trees[1::2], strict=True))
    proposed: dict[str, list[tuple[str, str]]] = {}
    for pair, before, after in sides:
        if len(before) == 1 and after and len(before[0]) <= _MOST_WORDS and before[0].text != text_of(after):
            proposed.setdefault(_proposal(before[0], after), []).append(pair)
    kept = {rule: of for rule, of in proposed.items() if rule and len(of) >= least}
    counts = _tried(list(kept), sides, language)
    found = [Candidate(rule, tuple(of), *counts[rule]) for rule, of in kept.items()]
    useful = [one for one in found if one.right]
    return sorted(useful, key=lambda one: (-one.right, one.fires - one.right, -len(one.pairs), one.rule))


def _proposal(before: Tree, after: Sequence[Tree]) -> str:
    try:
        return propose(before, after)
    except DataError:
        return ""


def _tried(
    rules: Sequence[str],
    sides: Sequence[tuple[tuple[str, str], list[Tree], list[Tree]]],
    language: str,
) -> dict[str, tuple[int, int]]:
    """In how many sentences each rule fires, and in how many it gives what stands beside them."""
    text = f"language {language}\nfamily learned\nwhy {WHY}\n"
    file = read_rules(text + "".join(f"tree r{number}: {rule}\n" for number, rule in enumerate(rules)))
    ready = RuleSet(rules_of([file]), [])
    fires, right = [0] * len(rules), [0] * len(rules)
    for (_, after), trees, _ in sides:
        given: dict[int, set[str]] = {}
        for place, tree in enumerate(trees):
            for rule, _, made in ready.once(tree):
                result = text_of([*trees[:place], *made.trees, *trees[place + 1 :]])
                given.setdefault(int(rule.name[1:]), set()).add(result)
        for number, texts in given.items():
            fires[number] += 1
            right[number] += after in texts
    return {rule: (fires[number], right[number]) for number, rule in enumerate(rules)}
