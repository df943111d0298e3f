"""Examples of rules as tests: what must be given is given, and what must not fire does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from marginalia.assist.paraphrase.engine import RuleSet, text_of
from marginalia.assist.paraphrase.rule_files import Example, Family, RuleFile
from marginalia.assist.trees import Tree, trees_of

if TYPE_CHECKING:
    from marginalia.decode.pipeline.pipeline import Pipeline


@dataclass(frozen=True)
class ExampleResult:
    """An example and what came of it: `given` are the texts that the rules of the family give."""

    family: str
    rule: str  # that it stands below; "" if it is above all of them
    example: Example
    given: tuple[str, ...]
    trees: tuple[Tree, ...]

    @property
    def passed(self) -> bool:
        """Whether it is as it must be."""
        return not self.given if self.example.after is None else self.example.after in self.given

    @property
    def message(self) -> str:
        """What is wrong, with its place."""
        place, given = self.example.place, "; ".join(self.given) or "nothing"
        expected = "nothing" if self.example.after is None else self.example.after
        what = self.rule or f"the family {self.family}"
        where = f"{place.file}:{place.line}: {what}: {self.example.before}"
        return f"{where}\n  found:    {given}\n  expected: {expected}"


def check_examples(rules: RuleSet, pipeline: Pipeline, file: RuleFile | None = None) -> list[ExampleResult]:
    """All examples of rules (of one file), parsed in one batch."""
    listed = list(_examples(rules.files if file is None else [file]))
    documents = pipeline.parse_all([example.before for _, _, example, _ in listed])
    results = []
    for (family, rule, example, language), document in zip(listed, documents, strict=True):
        trees = trees_of(document.sentences, language)
        results.append(
            ExampleResult(family.name, rule, example, _given(rules, family.name, trees), tuple(trees))
        )
    return results


def _examples(files: Sequence[RuleFile]) -> Iterator[tuple[Family, str, Example, str]]:
    for file in files:
        for family in file.families:
            yield from ((family, "", example, file.language) for example in family.examples)
            for source in family.rules:
                yield from ((family, source.name, example, file.language) for example in source.examples)


def _given(rules: RuleSet, family: str, trees: Sequence[Tree]) -> tuple[str, ...]:
    """What one application of a rule of a family makes of a text."""
    texts: dict[str, None] = {}
    for place, tree in enumerate(trees):
        for _, _, made in rules.once(tree, family):
            texts[text_of([*trees[:place], *made.trees, *trees[place + 1 :]])] = None
    return tuple(texts)
