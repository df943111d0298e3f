"""Rule files made ready: rules as trees are read, rules as text come from the compiled file or the parser."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from marginalia.assist.paraphrase.lexer import Place, Tokens
from marginalia.assist.paraphrase.patterns import Condition, NodePattern, PatternReader, PatternText
from marginalia.assist.paraphrase.rule_files import RuleFile, RuleSource, read_rule_file
from marginalia.assist.paraphrase.rules import Rule
from marginalia.assist.paraphrase.simplified import Simplified
from marginalia.assist.paraphrase.targets import Target, read_targets
from marginalia.errors import DataError

if TYPE_CHECKING:
    from marginalia.decode.pipeline.pipeline import Pipeline

SHIPPED = Path(__file__).resolve().parent.parent.parent / "data" / "assist"
COMPILED = "compiled.tsv"
"""Rules as text that ship, as trees: a line each of a hash of the text, the name, the left and right side."""


def rule_paths(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The files of a language that ships (`en`), of a folder, or those that are named."""
    if not isinstance(source, (str, os.PathLike)):
        return [path for one in source for path in rule_paths(one)]
    folder = SHIPPED / os.fspath(source) if os.fspath(source) in ("en", "ja") else Path(source)
    if folder.is_dir():
        return sorted(folder.glob("*.rules"))
    if not folder.exists():
        raise DataError(
            "found no such file, expected a file of rules, a folder of them, en or ja", file=str(folder)
        )
    return [folder]


def load_files(
    paths: Iterable[str | os.PathLike[str]], pipeline: Callable[[str], Pipeline] | None = None
) -> tuple[list[RuleFile], list[Rule]]:
    """The rules of files; `pipeline` gives the parser of a language where one is needed."""
    files = [read_rule_file(path) for path in paths]
    return files, rules_of(files, pipeline)


def rules_of(files: Sequence[RuleFile], pipeline: Callable[[str], Pipeline] | None = None) -> list[Rule]:
    """All rules but those of words, compiled, in their order."""
    sides = dict[int, tuple[PatternText, tuple[Target, ...]]]()
    for language in sorted({file.language for file in files}):
        own = [file for file in files if file.language == language]
        sides.update(_sides(own, language, pipeline or _built_in))
    rules = []
    for file in files:
        for family in file.families:
            for source in family.rules:
                if source.layer != "words":
                    left, right = sides[id(source)]
                    right = tuple(_looked_up(target, file, source) for target in right)
                    left = _numbered(_with_conditions(left, source))
                    rules.append(Rule(source.name, family.name, family.why, source, left, right, file.lists))
    _check_lists(rules)
    return rules


def _built_in(language: str) -> Pipeline:
    from marginalia.kinds import load

    pipeline: Pipeline = load(language)
    return pipeline


def _sides(
    files: Sequence[RuleFile], language: str, pipeline: Callable[[str], Pipeline]
) -> dict[int, tuple[PatternText, tuple[Target, ...]]]:
    known, waiting = compiled_rules(language), Simplified(language)
    sides: dict[int, tuple[PatternText, tuple[Target, ...]]] = {}
    missing = False
    for source in (rule for file in files for family in file.families for rule in family.rules):
        if source.layer == "tree":
            sides[id(source)] = _tree_sides(source)
        elif source.layer == "rule":
            if (texts := known.get(hashed(source))) is not None:
                sides[id(source)] = _read_sides(texts[0], texts[1])
            else:
                waiting.add(source)
                missing = True
    if missing:
        for source, left, right in waiting.compiled(pipeline(language)):
            sides[id(source)] = (left, right)
    return sides


def hashed(source: RuleSource) -> str:
    """The key of a rule in the compiled file."""
    return hashlib.sha256(source.key.encode()).hexdigest()[:16]


def compiled_rules(language: str) -> Mapping[str, tuple[str, str]]:
    """Rules as text that were compiled before: left and right side by the hash of the rule."""
    path = SHIPPED / language / COMPILED
    if not path.exists():
        return {}
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    return {row[0]: (row[2], row[3]) for row in rows}


def compile_text(files: Sequence[RuleFile], pipeline: Pipeline) -> str:
    """The compiled file of rules of one language: all their rules as text, parsed anew."""
    waiting = Simplified(files[0].language)
    for source in (rule for file in files for family in file.families for rule in family.rules):
        if source.layer == "rule":
            waiting.add(source)
    rows = sorted(
        (hashed(source), source.name, str(left), " || ".join(map(str, right)))
        for source, left, right in waiting.compiled(pipeline)
    )
    heading = (
        "# Rules as text, compiled to trees by tools/compile_rules.py: hash, name, left and right side\n"
    )
    return heading + "".join("\t".join(row) + "\n" for row in dict.fromkeys(rows))


def _read_sides(left: str, right: str) -> tuple[PatternText, tuple[Target, ...]]:
    reader = PatternReader(Tokens(left))
    pattern = reader.pattern()
    return pattern, read_targets(right, reader.names)


def _tree_sides(source: RuleSource) -> tuple[PatternText, tuple[Target, ...]]:
    reader = PatternReader(Tokens(source.left, source.place))
    pattern = reader.pattern()
    reader.tokens.finish()
    return pattern, read_targets(source.right, reader.names, source.right_place)


def _with_conditions(left: PatternText, source: RuleSource) -> PatternText:
    conditions = [] if left.condition is None else [left.condition]
    for text, place in source.where:
        reader = PatternReader(Tokens(text, place))
        reader.names = {node.name for one in left.alternatives for node in nodes_of(one) if node.name}
        conditions.append(reader.condition())
        reader.tokens.finish()
    if len(conditions) < 2:
        return replace(left, condition=conditions[0] if conditions else None)
    return replace(left, condition=Condition("and", parts=tuple(conditions)))


def nodes_of(node: NodePattern) -> list[NodePattern]:
    """A node and all below it that get bound."""
    found = [node]
    for arc in node.arcs:
        if arc.count != "not":
            found += nodes_of(arc.node)
    return found


def _looked_up(target: Target, file: RuleFile, source: RuleSource) -> Target:
    """A target with the tables of the lists that it looks lemmas up in."""
    forms = []
    for form in target.forms:
        if form.kind == "mapped":
            table = file.pairs.get(form.values[0], {})
            if not table or set(table) != file.lists[form.values[0]]:
                message = f"found '@{form.values[0]}', expected a list of pairs such as 'decision: decide'"
                raise source.right_place.error(source.right, 0, message)
            form = replace(form, table=table)
        forms.append(form)
    arcs = (arc and (arc[0], _looked_up(arc[1], file, source)) for arc in target.arcs)
    return replace(target, forms=tuple(forms), arcs=tuple(arcs))


def _numbered(pattern: PatternText) -> PatternText:
    """The pattern with a name (`#1`) for each node that has none, so that a rule can dispose of it."""
    count = 0

    def named(node: NodePattern) -> NodePattern:
        nonlocal count
        count += 1
        name = node.name or f"#{count}"
        arcs = (arc if arc.count == "not" else replace(arc, node=named(arc.node)) for arc in node.arcs)
        return replace(node, name=name, arcs=tuple(arcs))

    return replace(pattern, alternatives=tuple(named(node) for node in pattern.alternatives))


def _check_lists(rules: Sequence[Rule]) -> None:
    """Compile patterns that look words up: a list that is missing is reported with its place."""
    for rule in rules:
        if "@" in rule.source.left or any("@" in text for text, _ in rule.source.where):
            try:
                rule.pattern  # noqa: B018
            except DataError as error:
                place: Place = rule.source.place
                raise DataError(
                    error.message, file=place.file, line=place.line, column=place.column
                ) from None
