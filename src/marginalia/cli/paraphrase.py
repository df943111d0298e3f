"""`marginalia paraphrase`: rules of paraphrasing checked, tried, explained, and proposed from examples."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import OK, UsageError, Verbs, verb_parser
from marginalia.cli.paraphrase_counts import count_texts, use_counts
from marginalia.cli.reading import must_exist

if TYPE_CHECKING:
    from marginalia.assist.paraphrase import RuleSet
    from marginalia.decode.pipeline.pipeline import Pipeline

FAILED = 1
LANGUAGES = ("en", "ja")
_DESCRIPTION = """\
Rules say where a sentence has one thing and may say another instead. A file of rules is plain text
(docs/paraphrase-rules.md); the examples beside each rule are its tests. The rules that ship for a
language are named en and ja."""

_EXAMPLES = """\
  marginalia paraphrase --check my.rules
  marginalia paraphrase --try my.rules --text "It was a Honda that John sold."
  marginalia paraphrase --explain by-passive --rules my.rules
  marginalia paraphrase --try en --text "The cat was chased by the dog."
  marginalia paraphrase --new "I know the reason why he left." "I know why he left."
  marginalia paraphrase --learn pairs.tsv --least 3 > candidates.rules
  marginalia paraphrase --count story.txt -o my.counts
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "paraphrase", "check and try rules of paraphrasing", _DESCRIPTION, _EXAMPLES)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", metavar="RULES", nargs="+", help="test files of rules by their examples")
    what.add_argument(
        "--try", metavar="RULES", nargs="+", dest="try_", help="paraphrase --text by these rules"
    )
    what.add_argument("--explain", metavar="RULE", help="show a rule of --rules as text, trees and operators")
    what.add_argument(
        "--new",
        metavar=("BEFORE", "AFTER"),
        nargs=2,
        help="propose a rule from a sentence and its paraphrase",
    )
    what.add_argument("--learn", metavar="PAIRS", help="propose rules from pairs: sentence, tab, paraphrase")
    what.add_argument(
        "--count", metavar="TEXT", nargs="+", help="count what verbs of English texts stand with"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where the counts of --count go")
    parser.add_argument("--text", metavar="TEXT", help="of --try; - is standard input")
    parser.add_argument(
        "--with-counts", metavar="COUNTS", nargs="+", help="check results of --try, with counts of your own"
    )
    parser.add_argument(
        "--rules", metavar="RULES", nargs="+", default=["en"], help="of --explain (default: en)"
    )
    parser.add_argument(
        "--language", choices=LANGUAGES, default="en", help="of --new and --learn (default: en)"
    )
    parser.add_argument(
        "--least",
        type=int,
        default=1,
        metavar="N",
        help="pairs that must propose a rule of --learn (default: 1)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """The verb."""
    if args.check:
        return check(args)
    if args.new or args.learn:
        return propose_rules(args)
    if args.count:
        return count_texts(args)
    return explain(args) if args.explain else try_rules(args)


def _pipelines() -> Any:
    """What gives the parser of a language, each loaded once."""
    from functools import cache

    import marginalia as mg

    return cache(mg.load)


def _rules(paths: list[str], pipelines: Any) -> RuleSet:
    from marginalia.assist.paraphrase import load

    must_exist([path for path in paths if path not in LANGUAGES])
    return load(paths, pipeline=pipelines)


def check(args: argparse.Namespace) -> int:
    """`--check`."""
    from marginalia.assist.paraphrase.checking import check_examples

    pipelines = _pipelines()
    rules = _rules(args.check, pipelines)
    results = [r for file in rules.files for r in check_examples(rules, pipelines(file.language), file)]
    wrong = [result for result in results if not result.passed]
    if args.json:
        rows = [
            {"file": r.example.place.file, "line": r.example.place.line, "family": r.family, "rule": r.rule,
             "before": r.example.before, "expected": r.example.after, "found": r.given, "passed": r.passed}
            for r in results
        ]  # fmt: skip
        print(json.dumps({"examples": rows, "wrong": len(wrong)}, ensure_ascii=False))
        return FAILED if wrong else OK
    for result in wrong:
        print(result.message)
        for tree in result.trees:
            print(_indented(tree.to_tree_text()))
    families = {result.family for result in results}
    counted = len(rules.rules) + len(rules.word_rules)
    print(f"{counted} rules of {len(families)} families, {len(results)} examples: {len(wrong)} wrong")
    return FAILED if wrong else OK


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def explain(args: argparse.Namespace) -> int:
    """`--explain`."""
    from marginalia.assist.paraphrase.explaining import explained

    pipelines = _pipelines()
    rules = _rules(args.rules, pipelines)
    languages = {family.name: file.language for file in rules.files for family in file.families}
    named = [rule for rule in rules.rules if args.explain in (rule.name, rule.family)]
    if not named:
        known = ", ".join(sorted(rule.name for rule in rules.rules)) or "none are there"
        raise UsageError(f"--explain: found '{args.explain}', expected a rule or a family of {known}.")
    for rule in named:
        language = languages[rule.family]
        print(explained(rule, language, pipelines(language) if rule.source.layer == "rule" else None))
    return OK


def try_rules(args: argparse.Namespace) -> int:
    """`--try`."""
    from marginalia.assist.checks import check as check_paraphrase
    from marginalia.assist.trees import Tree

    if args.text is None:
        raise UsageError("--try needs --text TEXT (- is standard input).")
    text = sys.stdin.read() if args.text == "-" else args.text
    pipelines = _pipelines()
    rules = _rules(args.try_, pipelines)
    language = rules.files[0].language if rules.files else "en"
    pipeline: Pipeline = pipelines(language)
    judge = check_paraphrase if args.with_counts else None
    use_counts(args.with_counts or ())
    found = [
        (sentence.text, rules.paraphrases(Tree.of(sentence, language), check=judge))
        for sentence in pipeline.parse(text).sentences
    ]
    if args.json:
        rows = [{"text": text, "paraphrases": [one.to_dict() for one in given]} for text, given in found]
        print(json.dumps({"sentences": rows}, ensure_ascii=False))
        return OK
    for before, given in found:
        print(before)
        for one in given or ():
            print(f"  {one.text}")
            print(f"      {' + '.join(step.rule for step in one.steps)}: {one.steps[-1].why}")
            for result in one.steps[-1].checks:
                if result.reason:
                    print(f"      {result.name}, {result.action}: {result.reason}")
        if not given:
            print("  no rule fires")
    return OK


def propose_rules(args: argparse.Namespace) -> int:
    """`--new` and `--learn`: a file of rules for a person to accept."""
    from marginalia.assist.paraphrase.learning import learn, read_pairs

    if args.least < 1:
        raise UsageError(f"--least: found {args.least}, expected 1 or more.")
    if args.learn:
        must_exist([args.learn])
    pairs = read_pairs(args.learn) if args.learn else [(args.new[0], args.new[1])]
    candidates = learn(pairs, _pipelines()(args.language), args.language, args.least)
    if args.json:
        print(json.dumps({"candidates": [one.to_dict() for one in candidates]}, ensure_ascii=False))
    elif candidates:
        print(f"language {args.language}")
        for number, one in enumerate(candidates, 1):
            print(f"\n{one.to_text(f'learned-{number}' if args.learn else 'new')}", end="")
    else:
        print("no rule found: the sentences differ in too much for one rule, or not at all", file=sys.stderr)
    return OK if candidates else FAILED
