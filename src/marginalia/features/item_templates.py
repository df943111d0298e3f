r"""Our template language for whole items (`--structure single`): a template a line, `#` begins a comment.

    words(text)                the bag of words of a column
    ngrams(1..2)(text)         words and pairs of neighbouring words: one template for each length
    lower-chars(2..4)(text)    n-grams of characters, in lower case
    channel                    the value of a column
    suffix(1..3)(word)         a function of it: any that needs neither a list, clusters nor neighbours
    number(price)              the column as a number: its weight counts so many times
    number(100)(price)         the same in hundreds
    words(text)/channel        values joined; one of them may be a bag
    bias                       1 for every item, if no column has that name
    number("unit price")       names of columns that are no words stand in quotation marks

Words are runs of letters, marks, digits and underscores; every other sign is one by itself. Character
n-grams see white space as one blank, and one at each end of the text. What occurs twice counts twice. Empty
values give no feature. Features are named after their templates: `words(text)=dog`,
`ngrams(2)(text)=the dog`, `words(text)/channel=dog/mail`, `number(price)`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from marginalia.errors import SettingsError
from marginalia.features.documents import DOCUMENT_FORMS
from marginalia.features.program import ProgramBuilder, TemplateProgram, Value
from marginalia.features.reading import Columns, Line, lines, nearest
from marginalia.features.templates import FORMS, MOST_VARIANTS, NAME, QUOTED, Scanner, TemplateTerm

BAGS = {
    "words": "words(text)",
    "ngrams": "ngrams(1..2)(text)",
    "chars": "chars(2..4)(text)",
    "lower-words": "lower-words(text)",
    "lower-ngrams": "lower-ngrams(1..2)(text)",
    "lower-chars": "lower-chars(2..4)(text)",
}
ITEM_FORMS = BAGS | {"number": "number(price)", "bias": "bias"}
"""Every function that only templates of items have, by an example of its use."""

_PLAIN = {
    name: form.removesuffix("[0]").replace("(word)", "(channel)")
    for name, form in FORMS.items()
    if name not in ("list", "cluster", "lexicon", "first", *DOCUMENT_FORMS)
}
_FORMS = _PLAIN | ITEM_FORMS
_ITEM = (("item", 0),)
_LONGEST = 99
_NUMBER = re.compile(r"\(\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*\)(?=\s*\()")


class _ItemScanner(Scanner):
    """Reads terms without places, of columns of any name: one that is no word stands in quotation marks."""

    forms = _FORMS

    def _term(self) -> TemplateTerm:
        self._rest()
        start, name = self.at, self._column("a column or a function")
        if self._rest().startswith("["):
            raise self.line.error(
                self.at, f"found an offset, but an item is one whole: write {name}, not {name}[0]."
            )
        if not self._rest().startswith("("):
            if name in _FORMS and name not in self.columns:
                raise self.line.error(start, f"the function {name} needs a column: {_FORMS[name]}.")
            return TemplateTerm("column", ("",), name, start, _ITEM)
        function, arguments = self._function(name, start)
        self._expect("(")
        self._rest()
        at, column = self.at, self._column("a column")
        if self._rest().startswith("("):
            raise self.line.error(at, f"functions do not nest: expected a column, as in {_FORMS[name]}.")
        self._expect(")")
        return TemplateTerm(function, arguments, column, at, _ITEM)

    def _column(self, expected: str) -> str:
        if self._rest().startswith('"'):
            return re.sub(r"\\(.)", r"\1", self._read(QUOTED, expected)[0][1:-1])
        return self._read(NAME, expected)[0]

    def _function(self, name: str, start: int) -> tuple[str, tuple[str, ...]]:
        """A function and its arguments, as the core knows them."""
        if name in FORMS and name not in _PLAIN:
            raise self.line.error(start, f"the function {name} is for tokens of sentences, not for items.")
        if name not in _FORMS or name == "bias":
            raise self.line.error(start, f"there is no function '{name}'. {nearest(name, _FORMS)}")
        if name.endswith("words"):
            return name.replace("words", "ngrams"), ("1",)
        if name == "number":
            return name, (self._divisor(),)
        return name, self._argument(name) if _FORMS[name].count("(") == 2 else ("",)

    def _divisor(self) -> str:
        found = _NUMBER.match(self.line.text, self.at)
        if not found:
            return ""
        if not 0 < float(found[1]) < math.inf:
            raise self.line.error(found.start(1), f"found {found[1]}, expected a number above 0.")
        self.at = found.end()
        return found[1]

    def _argument(self, name: str) -> tuple[str, ...]:
        if name not in BAGS:
            return super()._argument(name)
        self._expect("(")
        self._rest()
        start = self.at
        lengths = self._range("a length such as 2 or 1..3")
        if not 1 <= lengths[0] <= lengths[-1] <= _LONGEST:
            raise self.line.error(start, f"found {lengths[0]}, expected lengths from 1 to {_LONGEST}.")
        self._expect(")")
        return tuple(map(str, lengths))


def parse_item_templates(
    text: str, columns: Columns, *, file: str = "<templates>", folder: Path | None = None
) -> TemplateProgram:
    """Compile templates of items; `file` names the text in errors."""
    builder, given = ProgramBuilder(), dict[str, Line]()
    for line in lines(text, file):
        if not line.text.split("#")[0].strip():
            continue
        for terms in _variants(line, _terms(line, columns), columns):
            name = "/".join(_name(term, argument) for term, argument in terms) or "bias"
            if name in given:
                raise line.error(0, f"'{name}' is already given by line {given[name].number}.")
            given[name] = line
            builder.add("item", _pieces(name, terms, builder))
    if not given:
        raise SettingsError(f"{file}: there is no template in this file.")
    return builder.build()


_Terms = tuple[tuple[TemplateTerm, str], ...]


def _terms(line: Line, columns: Columns) -> list[TemplateTerm]:
    """The terms of a line; none for the bias."""
    if line.text.split("#")[0].strip() == "bias" and "bias" not in columns.names:
        return []
    terms = _ItemScanner(line, (), columns.names).terms()
    if sum(_is_bag(term) for term in terms) > 1:
        raise line.error(0, "the template joins two bags; expected one, and plain columns or numbers.")
    return terms


def _is_bag(term: TemplateTerm) -> bool:
    return term.function.endswith(("ngrams", "chars"))


def _variants(line: Line, terms: Sequence[TemplateTerm], columns: Columns) -> Iterator[_Terms]:
    found = [[(_placed(term, columns, line), argument) for argument in term.arguments] for term in terms]
    if math.prod(map(len, found)) > MOST_VARIANTS:
        raise line.error(0, f"the ranges give more than {MOST_VARIANTS} templates, expected fewer.")
    return itertools.product(*found)


def _placed(term: TemplateTerm, columns: Columns, line: Line) -> TemplateTerm:
    return replace(term, column=columns.named(term.column, line, term.column_at))


def _name(term: TemplateTerm, argument: str) -> str:
    """How it is written."""
    column = term.column if NAME.fullmatch(term.column) else quoted(term.column)
    if term.function.endswith("ngrams") and argument == "1":
        return f"{term.function.replace('ngrams', 'words')}({column})"
    return replace(term, column=column).called(argument)


def quoted(column: str) -> str:
    """A column's name as templates have it if it is no word."""
    return '"' + re.sub(r'(["\\])', r"\\\1", column) + '"'


def _pieces(name: str, terms: _Terms, builder: ProgramBuilder) -> Iterator[str | Value]:
    """The name, then `=` and the values with `/` between; a number has no text."""
    written = 0
    yield f"{name}=" if any(term.function != "number" for term, _ in terms) else name
    for term, argument in terms:
        if term.function != "number":
            if written:
                yield "/"
            written += 1
        yield builder.value(term.attribute(argument), 0)
