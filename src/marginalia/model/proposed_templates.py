"""Templates from rules: which combinations of attributes carry the gain of a model (docs/templates.md)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from marginalia.errors import ModelError
from marginalia.features.compiling import has_label_bigram
from marginalia.features.program import Template, TemplateProgram, Value
from marginalia.features.templates import TemplateTerm
from marginalia.model.rules_part import (
    ALWAYS,
    AND,
    LABEL,
    PREFIX,
    RuleAtoms,
    has_rules,
    label_form,
    neighbours_in,
)
from marginalia.model.saved import SavedModel

_BIGRAM = "edge:"


class Proposal(NamedTuple):
    """A template as it is written, the share of the gain that rules of this form have, and whether it is in
    the set that the rules were learned from."""

    template: str
    share: float
    given: bool = False


class Proposals(NamedTuple):
    """Templates of a set, new ones, and what no template can say; each with the highest share first."""

    given: list[Proposal]
    new: list[Proposal]
    unwritten: list[Proposal]


class _Form(NamedTuple):
    """What a rule asks for, without values: templates by number, and how far away labels are."""

    templates: tuple[int, ...]
    labels: tuple[int, ...]


def proposed_templates(saved: SavedModel) -> Proposals:
    """What the rules of a model say about templates; the shares of all forms add up to 1."""
    _check(saved)
    forms, texts = _Forms(saved), _Texts(saved.program)
    gains: dict[str, float] = dict.fromkeys(texts.given, 0.0)
    unwritten: dict[str, float] = defaultdict(float)
    for atoms, gain in _gains(saved):
        form = forms.of(atoms)
        text = texts.of(form)
        if text is None:
            unwritten[texts.shown(form)] += gain
        else:
            gains[text] = gains.get(text, 0.0) + gain
    total = sum(gains.values()) + sum(unwritten.values()) or 1.0
    ranked = sorted(
        (Proposal(text, gain / total, text in texts.given) for text, gain in gains.items()), key=_rank
    )
    return Proposals(
        [one for one in ranked if one.given],
        [one for one in ranked if not one.given],
        sorted((Proposal(text, gain / total) for text, gain in unwritten.items()), key=_rank),
    )


def _rank(proposal: Proposal) -> tuple[float, str]:
    return -proposal.share, proposal.template


def _check(saved: SavedModel) -> None:
    if not has_rules(saved):
        raise ModelError(f"expected a model of rules, found one of the learner {saved.learner}.")
    if saved.program.explicit:
        raise ModelError("the rules are of explicit attributes: there are no templates to combine.")
    if "names" not in saved.arrays:
        raise ModelError("the names of rules are not in the model (shrunk, or trained with names=off).")
    if PREFIX + "gain" not in saved.arrays:
        raise ModelError("the model does not keep the gain of its rules: train it again.")


def _gains(saved: SavedModel) -> Iterator[tuple[list[str], float]]:
    """The atoms of rules with what these took from the loss."""
    atoms, row_of = (
        RuleAtoms(saved),
        {key: row for row, key in enumerate(saved.arrays["keys"].tolist()) if key},
    )
    rules = saved.arrays[PREFIX + "keys"].tolist(), saved.arrays[PREFIX + "gain"].tolist()
    for key, gain in zip(*rules, strict=True):
        if key in row_of and (found := atoms.of(row_of[key])) != [ALWAYS]:
            yield found, max(gain, 0.0)


class _Forms:
    """Names of rules as forms."""

    def __init__(self, saved: SavedModel) -> None:
        templates = saved.program.templates
        self._templates = [(i, _pattern(t)) for i, t in enumerate(templates) if t.scope in ("node", "item")]
        count = neighbours_in(saved)
        sign = 1 if saved.settings.get("direction") == "right-to-left" else -1
        self._label = label_form([sign * k for k in range(1, count + 1)], saved.labels)

    def of(self, atoms: Sequence[str]) -> _Form:
        """The form of a rule."""
        templates, labels = [], []
        for atom in atoms:
            if self._label.fullmatch(atom):
                labels.append(int(LABEL.match(atom)[1]))  # type: ignore[index]
            elif (number := self._template(atom)) is not None:
                templates.append(number)
        return _Form(tuple(sorted(templates)), tuple(sorted(labels, key=abs)))

    def _template(self, atom: str) -> int | None:
        return next((i for i, form in self._templates if form.fullmatch(atom)), None)


def _pattern(template: Template) -> re.Pattern[str]:
    pieces = (re.escape(piece) if isinstance(piece, str) else ".*" for piece in template.pieces)
    return re.compile("".join(pieces), re.DOTALL)


class _Texts:
    """Forms as lines of a template file."""

    def __init__(self, program: TemplateProgram) -> None:
        self._program = program
        written = (
            self.of(_Form((i,), ())) for i, t in enumerate(program.templates) if t.scope in ("node", "item")
        )
        self.given = dict.fromkeys(text for text in written if text is not None)
        if has_label_bigram(program):
            self.given[_BIGRAM] = None
        for template in program.templates:
            if template.scope == "edge" and (values := self._values(template, 0)):
                self.given[f"{_BIGRAM} {'/'.join(values)}"] = None

    def of(self, form: _Form) -> str | None:
        """The line; None if no template says it."""
        if len(form.labels) > 1 or any(abs(distance) > 1 for distance in form.labels):
            return None
        # The label after a token and its own are the two of an edge at the token after it.
        shift = -form.labels[0] if form.labels and form.labels[0] > 0 else 0
        values = []
        for number in form.templates:
            found = self._values(self._program.templates[number], shift)
            if found is None:
                return None
            values += found
        if len(set(values)) < len(values) or sum(map(_is_bag, values)) > 1:
            return None
        if form.labels:
            return f"{_BIGRAM} {'/'.join(values)}".strip()
        return "/".join(values) or "node:"

    def shown(self, form: _Form) -> str:
        """A form that is no template."""
        heads = [_head(self._program.templates[number]) for number in form.templates]
        return AND.join([*heads, *(f"label[{distance}]" for distance in form.labels)])

    def _values(self, template: Template, shift: int) -> list[str] | None:
        """The values that a template joins, as they are written; None if they have absolute places."""
        if template.scope == "item":
            return [_head(template)]
        values = [piece for piece in template.pieces if isinstance(piece, Value)]
        return None if any(value.absolute for value in values) else [self._value(v, shift) for v in values]

    def _value(self, value: Value, shift: int) -> str:
        attribute = self._program.attributes[value.attribute]
        argument = attribute.argument
        if attribute.function == "lexicon":  # a line is a template for each of its labels
            argument = ",".join(argument.split(",")[:2])
        place = ("", value.offset + shift)
        term = TemplateTerm(attribute.function, (argument,), attribute.column, 0, (place,))
        return next(term.variants(attribute.column)).name


def _head(template: Template) -> str:
    first = template.pieces[0] if template.pieces else ""
    return first.removesuffix("=") if isinstance(first, str) else ""


def _is_bag(value: str) -> bool:
    return re.match(r"(lower-)?(words|ngrams|chars)\(", value) is not None


def needed_tables(saved: SavedModel) -> Sequence[str]:
    """The options that templates of a model need beside them."""
    program = saved.program
    lists = [f"--list {name}=FILE" for name in program.lists if name not in program.dictionary]
    files = [
        f"--{'lexicon' if file.labels else 'clusters'} {name}=FILE"
        for name, file in program.word_files.items()
    ]
    return [*lists, *files, *(["--dictionary FILE"] if program.dictionary else [])]
