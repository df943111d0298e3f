"""Paraphrase rules of English: how fast the engine is, and what it makes of newspaper sentences.

`speed`: sentences a second on trees that are there already (EWT dev as it is annotated), in one process, CPU
time: all matches of all rules, and all that one application of each rule makes; and matching again without
the index. `quality` draws sentences of Reuters-21578 by a seed, parses them, and writes ids, paraphrases
and what checks did to them to a file, for people to mark; of those that passed it counts outputs for a
hundred sentences, how many of them are structural, and from how many families. A sentence counts for one
simpler word, and no more. `sample` draws the outputs to mark, `verdicts` tells the tables of what was marked
(paraphrase/GUIDE.md). The sentences are not ours: keep both files to yourself.
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
from marginalia.assist.checks import CheckResult, check
from marginalia.assist.checks.check import LOWERED, PASSED, REPAIRED, VETOED
from marginalia.assist.lexical import LexicalRules
from marginalia.assist.paraphrase import Budget, Paraphrase, RuleSet, load
from marginalia.assist.profile import Profile
from marginalia.assist.trees import Tree, trees_of
from marginalia.corpus.document_reader import read_conllu
from reuters_text import untokenised

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
VERDICTS = Path(__file__).resolve().parent / "paraphrase" / "verdicts.jsonl"
_TOUCHED = (REPAIRED, LOWERED, VETOED)
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


def outputs(rules: RuleSet, tree: Tree, steps: int) -> list[dict]:
    """What comes of a sentence, with the rules that made it and what checks did to it; of outputs by words
    alone only the first that checks let pass, and the first of all if they did not."""
    structural = {rule.name for rule in rules.rules}
    rows: list[dict] = []

    def recorded(before: Tree, new: Paraphrase) -> list[CheckResult]:
        made = new.text
        results = check(before, new)
        rows.append(row_of(new, results, made, structural))
        return results

    rules.paraphrases(tree, Budget(steps=steps), recorded)
    words = [row for row in rows if not row["structural"]]
    first = words[:1] + [row for row in words if row["checks"] != VETOED][:1]
    return [row for row in rows if row["structural"] or row in first]


def row_of(new: Paraphrase, results: list[CheckResult], made: str, structural: set[str]) -> dict:
    """An output as a line of the file. `checks` is the most that a check did to it."""
    actions = {result.action: result.name for result in results}
    action = next(each for each in (VETOED, LOWERED, REPAIRED, PASSED) if each in actions)
    return {
        "text": new.text,
        "before_checks": made,
        "rules": [step.rule for step in new.steps],
        "families": [step.family for step in new.steps],
        "structural": any(step.rule in structural for step in new.steps),
        "checks": action,
        "check": "" if action == PASSED else actions[action],
    }


def quality(args: argparse.Namespace) -> None:
    """Outputs for a hundred sentences of newspaper text, written to a file."""
    sample = drawn(args.data / "reuters" / "reuters21578.jsonl.gz", args.sentences, args.seed)
    rules, pipeline = load("en"), mg.load("en")
    rules.more = None if args.no_words else LexicalRules(Profile())
    documents = pipeline.parse_all([text for _, text in sample])
    rows = []
    for (name, _), document in zip(sample, documents, strict=True):
        for tree in trees_of(document.sentences):
            rows += [{"id": name, "before": tree.text, **one} for one in outputs(rules, tree, args.steps)]
    with args.output.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    kept = [row for row in rows if row["checks"] != VETOED]
    print(f"{args.sentences} sentences, seed {args.seed}, {args.steps} steps: {len(kept)} outputs")
    print(f"{100 * len(kept) / args.sentences:.1f} outputs for a hundred sentences")
    tell_kinds(kept)
    actions = Counter(row["checks"] for row in rows)
    print("what checks did: " + ", ".join(f"{name} {count}" for name, count in actions.most_common()))


def tell_kinds(rows: list[dict]) -> None:
    """How many outputs are structural, and of which families."""
    families = Counter(family for row in rows for family in row["families"])
    structural = [row for row in rows if row["structural"]]
    kinds = Counter(family for row in structural for family in row["families"])
    print(f"{len(structural)} structural ({100 * len(structural) / max(len(rows), 1):.1f} %)")
    print(f"{len(families)} families, {len(kinds)} of them in structural outputs; the most frequent:")
    print(", ".join(f"{name} {count}" for name, count in families.most_common(25)))


def sample(args: argparse.Namespace) -> None:
    """Outputs to mark: some drawn by a seed, and all that checks repaired, lowered or forbade."""
    rows = [json.loads(line) for line in args.outputs.read_text(encoding="utf-8").splitlines()]
    drawn = random.Random(args.seed).sample([row for row in rows if row["checks"] != VETOED], args.number)
    passed = [row["checks"] == PASSED for row in rows].count(True)
    weight = round(passed / max(1, [row["checks"] == PASSED for row in drawn].count(True)), 3)
    others = [row for row in rows if row["checks"] != PASSED and row not in drawn]
    with args.output.open("w", encoding="utf-8") as file:
        for row in drawn + others:
            of = {"drawn": row in drawn, "weight": weight if row["checks"] == PASSED else 1}
            file.write(json.dumps({**row, **of}, ensure_ascii=False) + "\n")


def verdicts(args: argparse.Namespace) -> None:
    """Tables of the verdicts: shares that are right, and types of errors before and after checks."""
    rows = [json.loads(line) for line in args.verdicts.read_text(encoding="utf-8").splitlines()]
    tell_shares(rows)
    tell_types(rows)
    drawn = [row for row in rows if row["drawn"]]
    print("\n| family | marked | right | errors |\n|---|---:|---:|---|")
    for family in sorted({row["family"] for row in drawn}):
        print(family_row(family, [row for row in drawn if row["family"] == family]))


def tell_shares(rows: list[dict]) -> None:
    """The share of right ones among those drawn, and among all that checks did something to."""
    drawn = [row for row in rows if row["drawn"]]
    parts = {
        "drawn": drawn,
        "drawn, structural": [row for row in drawn if row["structural"]],
        "drawn, by words alone": [row for row in drawn if not row["structural"]],
    }
    parts |= {f"all {name}": [row for row in rows if row["checks"] == name] for name in _TOUCHED}
    print("| outputs | marked | right | 95 % |\n|---|---:|---:|---:|")
    for name, part in parts.items():
        print(share_row(name, part))


def tell_types(rows: list[dict]) -> None:
    """Types of errors in a hundred outputs: before checks, after them, and of those not lowered either."""
    kept = [row for row in rows if row["checks"] != VETOED]
    best = [row for row in kept if row["checks"] != LOWERED]
    columns = per_hundred(rows, "type_before"), per_hundred(kept, "type"), per_hundred(best, "type")
    print("\n| type of error | before checks | after | after, not lowered |\n|---|---:|---:|---:|")
    for name, _ in (columns[0] | columns[1]).most_common():
        print(f"| {name} | " + " | ".join(f"{column[name]:.1f}" for column in columns) + " |")


def per_hundred(rows: list[dict], key: str) -> Counter[str]:
    """Errors of each type in a hundred outputs, each verdict for as many as it stands for."""
    every = sum(row["weight"] for row in rows)
    found = Counter[str]()
    for row in rows:
        if kind := row.get(key, row["type"]):
            found["all"] += 100 * row["weight"] / every
            found[kind] += 100 * row["weight"] / every
    return found


def share_row(name: str, rows: list[dict]) -> str:
    """A line of the table: the share of right ones, with Wilson's interval."""
    n, right = len(rows), sum(row["verdict"] == "ok" for row in rows)
    if not n:
        return f"| {name} | 0 | | |"
    share, z = right / n, 1.96
    middle = share + z * z / (2 * n)
    around = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    low, high = ((middle + sign * around) / (1 + z * z / n) for sign in (-1, 1))
    return f"| {name} | {n} | {100 * share:.1f} % | {100 * low:.1f}–{100 * high:.1f} |"


def family_row(family: str, rows: list[dict]) -> str:
    """A line of the table: how many of a family are right, and what is wrong with the others."""
    errors = Counter(row["type"] for row in rows if row["type"])
    told = ", ".join(f"{name} {count}" for name, count in errors.most_common())
    return f"| {family} | {len(rows)} | {sum(row['verdict'] == 'ok' for row in rows)} | {told} |"


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
    good.add_argument("--output", type=Path, required=True, help="JSONL to write, outside of the checkout")
    good.set_defaults(run=quality)
    some = verbs.add_parser("sample", help="outputs to mark")
    some.add_argument("outputs", type=Path, help="the file that quality has written")
    some.add_argument("--number", type=int, default=200, help="outputs that checks did not forbid")
    some.add_argument("--seed", type=int, default=1)
    some.add_argument("--output", type=Path, required=True, help="JSONL to write, outside of the checkout")
    some.set_defaults(run=sample)
    marked = verbs.add_parser("verdicts", help="tables of the verdicts")
    marked.add_argument("verdicts", type=Path, nargs="?", default=VERDICTS)
    marked.set_defaults(run=verdicts)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
