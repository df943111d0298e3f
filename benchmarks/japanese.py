"""Japanese reading assistance on SNOW T15: easier words, rules, and what is wrong about length.

    python benchmarks/japanese.py [--data DIR] [--sentences N] [--json-out FILE]

Every tenth sentence of SNOW T15 is held out by `tools/make_easier.py`: only these are used. An offer of an
easier word is right if its words are in the simplified sentence. Rules are counted: how many paraphrases
pass the checks, and of how many families.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

import marginalia as mg
from marginalia.assist import paraphrase
from marginalia.assist.checks import check, is_vetoed
from marginalia.assist.paraphrase.engine import Paraphrase, RuleSet
from marginalia.assist.paraphrase.words import WordRule
from marginalia.assist.trees import Tree, trees_of

HELD_OUT = 10
FAMILY = "easier-words"
Pair = tuple[list[Tree], list[Tree]]


def held_out(data: Path) -> Iterator[tuple[str, str]]:
    """Sentences with their simplified forms."""
    with open(data / "simplification" / "snow_t15.tsv", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            number, original, simple, *_ = line.rstrip("\n").split("\t")
            if int(number) % HELD_OUT == 0:
                yield original, simple


def parsed(pairs: list[tuple[str, str]]) -> list[Pair]:
    """The trees of both sides of each pair."""
    pipeline = cast(mg.Pipeline, mg.load("ja"))
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    documents = zip(texts, pipeline.parse_all(texts), strict=True)
    trees = {text: trees_of(document.sentences, "ja") for text, document in documents}
    return [(trees[original], trees[simple]) for original, simple in pairs]


def easier_words(rules: RuleSet, pairs: list[Pair]) -> dict[str, Any]:
    """Offers of easier words, the most usual one of each place, that stand in the reference."""
    offers = right = 0
    for original, simple in pairs:
        lemmas = {node.lemma for tree in simple for node in tree.nodes}
        for rule in (one for tree in original for one in first_offers(rules, tree)):
            offers += 1
            right += lemmas.issuperset(rule.words)
    return {"pairs": len(pairs), "offers": offers, "right": right, "precision": right / max(1, offers)}


def first_offers(rules: RuleSet, tree: Tree) -> list[WordRule]:
    """The first rule of easier words at each place: lists have the most usual word first."""
    found: dict[int, WordRule] = {}
    for rule, bound, _ in rules.once(tree, FAMILY):
        nodes = bound["W"]
        if isinstance(rule, WordRule) and isinstance(nodes, tuple):
            found.setdefault(nodes[0].index, rule)
    return list(found.values())


def structural(rules: RuleSet, pairs: list[Pair]) -> dict[str, Any]:
    """Paraphrases by rules of trees that pass the checks, and families they are of."""
    passed: Counter[str] = Counter()
    vetoed = sentences = 0
    for tree in (tree for original, _ in pairs for tree in original):
        sentences += 1
        for rule, _, made in rules.once(tree):
            if isinstance(rule, WordRule):
                continue
            if is_vetoed(check(tree, Paraphrase(tuple(made.trees), ()))):
                vetoed += 1
            else:
                passed[rule.family] += 1
    number = sum(passed.values())
    per_hundred = 100 * number / max(1, sentences)
    return {
        "sentences": sentences,
        "passed": number,
        "per hundred": per_hundred,
        "vetoed": vetoed,
        "families": dict(passed.most_common()),
    }


def lengths(pairs: list[tuple[str, str]]) -> dict[str, float]:
    """How often the original is longer than what is simpler, of the pairs that differ."""
    changed = [(original, simple) for original, simple in pairs if original != simple]
    longer = sum(len(original) > len(simple) for original, simple in changed)
    shorter = sum(len(original) < len(simple) for original, simple in changed)
    return {
        "changed": len(changed),
        "original longer": longer / len(changed),
        "original shorter": shorter / len(changed),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("MARGINALIA_DATA", "../shared/data"))
    )
    parser.add_argument("--sentences", type=int, default=5000, help="of those that are held out")
    parser.add_argument("--json-out", type=Path)
    options = parser.parse_args()
    texts = list(islice(held_out(options.data), options.sentences))
    rules, pairs = paraphrase.load("ja"), parsed(texts)
    report = {
        "length": lengths(texts),
        "easier words": easier_words(rules, pairs),
        "structural": structural(rules, pairs),
    }
    text = json.dumps(report, ensure_ascii=False, indent=2)
    print(text)
    if options.json_out:
        options.json_out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
