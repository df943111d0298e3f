"""Paraphrase rules of English: how fast the engine is, and what it makes of newspaper sentences.

`speed`: sentences a second on trees that are there already (EWT dev as it is annotated), in one process, CPU
time: all matches of all rules, and all that one application of each rule makes; and matching again without
the index. `quality` draws sentences of Reuters-21578 by a seed, parses them, and writes ids and paraphrases
that passed all checks to a file, for people to mark; it counts outputs for a hundred sentences, how many of
them are structural, and from how many families. A sentence counts for one simpler word, and no more. The
sentences are not ours: keep the file to yourself.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import marginalia as mg
from marginalia.assist.checks.api import check
from marginalia.assist.lexical import LexicalRules
from marginalia.assist.paraphrase import Budget, RuleSet, load
from marginalia.assist.profile import Profile
from marginalia.assist.trees import Tree, trees_of
from marginalia.corpus.document_reader import read_conllu
from reuters_text import untokenised

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
_USUAL = re.compile(r"^[A-Z\"].*[a-z].*[.?!\"]$")


def sentences_a_second(work: Callable[[Tree], Iterable[object]], trees: list[Tree], repeat: int) -> float:
    """CPU time of the quickest of some rounds."""
    rounds = []
    for _ in range(repeat):
        start = time.process_time()
        for tree in trees:
            for _ in work(tree):
                pass
        rounds.append(time.process_time() - start)
    return len(trees) / min(rounds)


def speed(args: argparse.Namespace) -> None:
    """Sentences a second with the index and without."""
    rules = load("en")
    trees = trees_of(read_conllu(args.data / "ud-english-ewt" / "dev.conllu", strict=False).sentences)
    index = rules._index

    def without_index(tree: Tree) -> Iterable[object]:
        return [bound for rule in rules.rules for bound in rule.pattern.all_bound(tree)]

    words = sum(len(tree) for tree in trees) / len(trees)
    matching = sentences_a_second(index.matches, trees, args.repeat)
    applying = sentences_a_second(rules.once, trees, args.repeat)
    naive = sentences_a_second(without_index, trees, 1)
    print(f"{len(rules.rules)} structural rules, {len(rules.word_rules)} rules of words")
    print(f"{len(trees)} sentences of {words:.1f} words (EWT dev)")
    print(f"matching:              {matching:8.0f} sentences/s")
    print(f"matching, transfer:    {applying:8.0f} sentences/s")
    print(f"matching, no index:    {naive:8.0f} sentences/s (index: {matching / naive:.1f} times as fast)")


def drawn(source: Path, number: int, seed: int) -> list[tuple[str, str]]:
    """Sentences with a capital, a stop and at least five words, by a seed."""
    usual = [one for one in untokenised(source) if _USUAL.match(one[1]) and 5 <= one[1].count(" ") < 60]
    return random.Random(seed).sample(usual, number)


def outputs(rules: RuleSet, tree: Tree, steps: int, checked: bool) -> list[dict]:
    """What comes of a sentence, with the rules that made it; of those of words alone only the first."""
    found = rules.paraphrases(tree, Budget(steps=steps), check if checked else None)
    structural = {rule.name for rule in rules.rules}
    words = [one for one in found if all(step.rule not in structural for step in one.steps)]
    return [
        {
            "text": one.text,
            "rules": [step.rule for step in one.steps],
            "families": [step.family for step in one.steps],
            "structural": any(step.rule in structural for step in one.steps),
        }
        for one in found
        if one in words[:1] or one not in words
    ]


def quality(args: argparse.Namespace) -> None:
    """Outputs for a hundred sentences of newspaper text, written to a file."""
    sample = drawn(args.data / "reuters" / "reuters21578.jsonl.gz", args.sentences, args.seed)
    rules, pipeline = load("en"), mg.load("en")
    rules.more = None if args.no_words else LexicalRules(Profile())
    documents = pipeline.parse_all([text for _, text in sample])
    rows, families, rules_used = [], Counter[str](), Counter[str]()
    for (name, _), document in zip(sample, documents, strict=True):
        for tree in trees_of(document.sentences):
            for one in outputs(rules, tree, args.steps, not args.unchecked):
                rows.append({"id": name, "before": tree.text, **one})
                families.update(one["families"])
                rules_used.update(one["rules"])
    with args.output.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    structural = sum(row["structural"] for row in rows)
    print(f"{len(sample)} sentences, seed {args.seed}, {args.steps} steps: {len(rows)} outputs")
    print(f"{100 * len(rows) / len(sample):.1f} outputs for a hundred sentences")
    print(f"{structural} structural ({100 * structural / max(len(rows), 1):.1f} %)")
    print(f"{len(families)} families, {len(rules_used)} rules; the most frequent families:")
    print(", ".join(f"{name} {count}" for name, count in families.most_common(25)))


def main() -> None:
    """Arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora")
    verbs = parser.add_subparsers(required=True)
    fast = verbs.add_parser("speed", help="sentences a second")
    fast.add_argument("--repeat", type=int, default=3)
    fast.set_defaults(run=speed)
    good = verbs.add_parser("quality", help="what comes of newspaper sentences")
    good.add_argument("--sentences", type=int, default=1220)
    good.add_argument("--seed", type=int, default=1)
    good.add_argument("--steps", type=int, default=1, help="rules one after the other (default: 1)")
    good.add_argument("--no-words", action="store_true", help="without simpler words for hard ones")
    good.add_argument("--unchecked", action="store_true", help="without the checks after transfer")
    good.add_argument("--output", type=Path, required=True, help="JSONL to write, outside of the checkout")
    good.set_defaults(run=quality)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
