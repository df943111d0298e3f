r"""Our template language: a template a line, `#` begins a comment.

    word[0]                    the word
    word[-1]/word[0]           two words joined
    lower(word)[-2..2]         one template for each offset
    prefix(1..4)(word)[0]      one template for each length
    edge: pos[0]               seen with the labels of two tokens; `both:` makes it a node feature as well
    edge:                      the plain label bigram; `node:` alone is the plain label
    list people = people.txt   a list of phrases, one a line, beside the template file: list(people)(word)[0]
    clusters wsj = brown.txt   word clusters, a word with its path a line: cluster(wsj,4|6|all)(word)[0]
    lexicon words = words.lex  labels that a model gave to words in much text: lexicon(words)(word)[0]
    list(*)(word)[0]           one template for each list there is; so cluster(*,4)(word)[0] and lexicon(*)

For segments (`--structure segments`), offsets are counted from a place in the segment:

    word[b]  word[b-1]         its first token, and the one before it
    word[e]  pos[e+1]/pos[e+2] its last token, and those behind it
    word[i]                    each token between first and last; `_none` if there is none
    word[j]/word[j+1]          each token of it (here: each two neighbours, both inside the segment)
    word[b..e]                 all of it, with blanks between; list(people)(word)[b..e] is 1 if it is a phrase
    length                     1, 2, 3, 4 or 5+; length(8) tells lengths up to 8 apart

For words (`--structure words`), also from the segment before, its *previous* one:

    word[p..q]                 all of it (its last token is `b-1`); `_B-1` if there is none
    word[p]  word[p+1]         its first token, and the one behind that
    previous-length            as length
    before: word[b..e]         a feature for the type of the segment before, not for its own

Templates with plain offsets are then seen at every token of a segment, apart for its first token and the
others; a template has either kind, and not both `i` and `j`. `node:` alone is the type of a segment. With
`i` or `j` and both ends (or `length`, or `b..e`) in one template, the first eight tokens count.

A value is `column[offset]`, `function(column)[offset]` or `function(argument)(column)[offset]`; functions
do not nest. `token` stands for the first column, whatever its name. Ranges of several values in a line are
combined in all ways. A feature is named after its template, as in `word[-1]/word[0]=the/dog` or
`edge:pos[0]=NN`. Before the sentence every value is `_B-1`, `_B-2`…, after it `_B+1`, `_B+2`…, counted
outwards. If a value is absent there is no feature.

Functions (of Unicode code points; upper, lower, letter, digit, mark as in the general categories Lu and Lt,
Ll, other L, Nd, M):

    lower(c)            lower case, code point by code point
    width(c)            in usual widths: full-width letters, digits and signs as ASCII
    nfkc(c)             Unicode's normalisation form KC, which also joins marks, opens ligatures …
    prefix(n)(c)        the first n code points, 1 to 99; absent if there are fewer
    suffix(n)(c)        the last n code points
    lower-prefix(n)(c)  the same in lower case, and lower-suffix(n)(c)
    shape(c)            upper X, lower x, other letters c, digit d, marks skipped, the rest as it is:
                        Animal-42 is Xxxxxx-dd
    collapsed-shape(c)  the same with equal neighbours written once: Xx-d
    has(flag)(c)        1 if the text contains a digit | upper | hyphen (- U+2010 U+2011), else absent
    is(class)(c)        1 if the text is of a word-form class (below), else absent
    char-class(c)       of the first code point: han hiragana katakana hangul latin greek cyrillic; cjk-digit
                        (一 to 兆); letter of another script; digit, punct, space, other; absent if empty
    test("regex")(c)    true or false: does the expression match somewhere?
    match("regex")(c)   the leftmost part that matches, else empty; lower-match("regex")(c): in lower case
    list(name)(c)       B or I inside the longest matches of a list's phrases, ignoring case; absent outside
    cluster(name,n)(c)  the first n bits (or all) of the path of a word's cluster; absent for unknown words
    lexicon(name)(c)    a template for each label of the lexicon, 1 if the word has it (docs/lexicon.md)
    first               1 at the first token of the sentence, absent elsewhere: first[0]

Functions of the whole document (docs/documents.md): sentence-form, sentence-number, document-first,
document-case, elsewhere-before(n), elsewhere-after(n), elsewhere-list(name), first-use-before,
first-use-after, run-before, run-after, run-place.

Word-form classes, after Bikel et al. 1999 (docs/features.md); a word may be of several.

Regular expressions are Wapiti's: `.` any code point, `\d` digit, `\a` letter or mark, `\w` letter, mark or
digit, `\l` lower, `\u` upper, `\p` punctuation or symbol, `\s` space, in upper case the complements; `x*`
any number of x, as few as possible; `x?` x if possible; `^` at the beginning and `$` at the end anchor; `\`
before others quotes them.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from marginalia.features.clusters import cluster_arguments
from marginalia.features.declarations import declare, template_lines
from marginalia.features.documents import DOCUMENT_FORMS, MOST_NEIGHBOURS, RANKED
from marginalia.features.lexicons import lexicon_arguments
from marginalia.features.program import (
    OF_PREVIOUS,
    Attribute,
    ProgramBuilder,
    TemplateProgram,
    Value,
    WordFile,
)
from marginalia.features.reading import Columns, Line, check_argument, nearest

FORMS = {
    "lower": "lower(word)[0]",
    "width": "width(word)[0]",
    "nfkc": "nfkc(word)[0]",
    "prefix": "prefix(3)(word)[0]",
    "suffix": "suffix(3)(word)[0]",
    "lower-prefix": "lower-prefix(3)(word)[0]",
    "lower-suffix": "lower-suffix(3)(word)[0]",
    "shape": "shape(word)[0]",
    "collapsed-shape": "collapsed-shape(word)[0]",
    "has": "has(digit)(word)[0]",
    "is": "is(all-caps)(word)[0]",
    "char-class": "char-class(word)[0]",
    "test": 'test("^\\d")(word)[0]',
    "match": 'match("^\\d*")(word)[0]',
    "lower-match": 'lower-match("\\a*$")(word)[0]',
    "list": "list(name)(word)[0]",
    "cluster": "cluster(name,4)(word)[0]",
    "lexicon": "lexicon(name)(word)[0]",
    "first": "first[0]",
    **DOCUMENT_FORMS,
}
"""Every function, by an example of its use."""

FARTHEST = 100
MOST_VARIANTS = 10_000

NAME = re.compile(r"[^\W\d][\w.-]*")
_WORD = re.compile(r"[^\s()\"#]+")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_RANGE = re.compile(r"([+-]?\d{1,9})(?:\.\.([+-]?\d{1,9}))?")
_ANCHOR = re.compile(r"([beijp])\s*([+-]\d{1,9})?(?:\s*\.\.\s*([beijpq])\s*([+-]\d{1,9})?)?(?=\s*\])")
_WHOLES = {"b..e": "whole", "p..q": "previous"}
_LENGTH = re.compile(r"((?:previous-)?length)\s*(?:\(\s*(\d{1,9})\s*\))?(?=\s*(?:/|#|$))")
_DEFAULT_LENGTH = 5
_MOST_LENGTH = 1000
_ALSO_COLUMNS = ("lexicon",)  # names of functions that columns of pipelines have, too
_SCOPE = re.compile(r"\s*(node|edge|both|before)\s*:")


class _Variant(NamedTuple):
    """One value of a template."""

    name: str
    attribute: Attribute
    anchor: str
    offset: int


@dataclass(frozen=True)
class TemplateTerm:
    """A value as written: all its arguments and places, (anchor, offset)."""

    function: str
    arguments: tuple[str, ...]
    column: str
    column_at: int
    places: tuple[tuple[str, int], ...]

    @property
    def anchor(self) -> str:
        """What its offsets are counted from; none: the token."""
        return self.places[0][0]

    def variants(self, column: str) -> Iterator[_Variant]:
        """Every value that the ranges stand for."""
        for argument, place in itertools.product(self.arguments, self.places):
            yield _Variant(self._name(argument, *place), Attribute(self.function, argument, column), *place)

    def attribute(self, argument: str) -> Attribute:
        """The attribute that it is, with one of its arguments."""
        return Attribute(self.function, argument, self.column)

    def _name(self, argument: str, anchor: str, offset: int) -> str:
        if anchor in ("length", "previous-length"):
            return anchor if offset == _DEFAULT_LENGTH else f"{anchor}({offset})"
        if anchor in ("whole", "previous"):
            return f"{self.called(argument)}[{'b..e' if anchor == 'whole' else 'p..q'}]"
        counted = f"{anchor}{offset:+}" if anchor and offset else anchor or str(offset)
        return f"{self.called(argument)}[{counted}]"

    def called(self, argument: str) -> str:
        """How it is written with one of its arguments."""
        if self.function in ("column", "first"):
            return self.column or self.function
        if '"' in FORMS.get(self.function, ""):
            argument = f'"{argument}"'
        return (
            f"{self.function}({argument})({self.column})" if argument else f"{self.function}({self.column})"
        )


class Scanner:
    """Reads the terms of one line from left to right."""

    forms = FORMS

    def __init__(
        self,
        line: Line,
        lists: Collection[str],
        columns: Collection[str] = (),
        word_files: Mapping[str, WordFile] = MappingProxyType({}),
    ) -> None:
        self.line, self.lists, self.columns, self.word_files, self.at = line, lists, columns, word_files, 0

    def scope(self) -> str:
        """The scope that the line begins with."""
        found = _SCOPE.match(self.line.text)
        self.at = found.end() if found else 0
        return found[1] if found else "node"

    def terms(self) -> list[TemplateTerm]:
        """All terms up to the end of the line or a comment."""
        if self._ended():
            return []
        terms = [self._term()]
        while self._take("/"):
            terms.append(self._term())
        if not self._ended():
            raise self._unexpected("'/', a comment or the end of the line")
        return terms

    def _ended(self) -> bool:
        return not self._rest() or self._rest().startswith("#")

    def _rest(self) -> str:
        text = self.line.text
        while self.at < len(text) and text[self.at].isspace():
            self.at += 1
        return text[self.at :]

    def _unexpected(self, expected: str) -> Exception:
        found = self._rest()
        shown = f"'{found.split()[0]}'" if found else "the end of the line"
        return self.line.error(self.at, f"found {shown}, expected {expected}.")

    def _take(self, text: str) -> bool:
        taken = self._rest().startswith(text)
        self.at += len(text) * taken
        return taken

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise self._unexpected(f"'{text}'")

    def _read(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        self._rest()
        found = pattern.match(self.line.text, self.at)
        if not found:
            raise self._unexpected(expected)
        self.at = found.end()
        return found

    def _term(self) -> TemplateTerm:
        self._rest()
        start = self.at
        if found := _LENGTH.match(self.line.text, self.at):
            self.at = found.end()
            return TemplateTerm("length", ("",), "", start, ((found[1], self._longest(found)),))
        name = self._read(NAME, "a column or a function")[0]
        if self._rest().startswith("("):
            function, arguments, column, column_at = self._call(name, start)
        elif name == "first":
            function, arguments, column, column_at = name, ("",), "", start
        elif name in self.forms and name not in _ALSO_COLUMNS:
            raise self.line.error(start, f"the function {name} needs a column: {self.forms[name]}.")
        else:
            function, arguments, column, column_at = "column", ("",), name, start
        self._expect("[")
        places = self._places()
        self._expect("]")
        return TemplateTerm(function, arguments, column, column_at, places)

    def _longest(self, found: re.Match[str]) -> int:
        longest = int(found[2] or _DEFAULT_LENGTH)
        if not 1 <= longest <= _MOST_LENGTH:
            raise self.line.error(
                found.start(2), f"found {longest}, expected a length from 1 to {_MOST_LENGTH}."
            )
        return longest

    def _places(self) -> tuple[tuple[str, int], ...]:
        """Offsets from the token, or an anchor of a segment with them."""
        self._rest()
        found = _ANCHOR.match(self.line.text, self.at)
        if not found:
            expected = "an offset such as 0, -1 or -2..2, or a place of a segment such as b, e+1, i or b..e"
            return tuple(("", offset) for offset in self._range(expected))
        if whole := _WHOLES.get(found[0].replace(" ", "")):
            self.at = found.end()
            return ((whole, 0),)
        first = int(found[2] or 0)
        last = int(found[4] or 0) if found[3] else first
        if found[3] not in (None, found[1]) or first > last or max(-first, last) > FARTHEST:
            raise self.line.error(
                found.start(),
                f"found {found[0]}, expected b..e, p..q or offsets from one place, "
                f"from {-FARTHEST} to {FARTHEST}, the lower first.",
            )
        self.at = found.end()
        return tuple((found[1], offset) for offset in range(first, last + 1))

    def _call(self, name: str, start: int) -> tuple[str, tuple[str, ...], str, int]:
        if name not in self.forms:
            raise self.line.error(start, f"there is no function '{name}'. {nearest(name, self.forms)}")
        if name == "first":
            raise self.line.error(start, "the function first takes no column: first[0].")
        takes_argument = self.forms[name].count("(") == 2
        arguments = self._argument(name) if takes_argument else ("",)
        if not self._take("("):
            raise self._unexpected(f"a column, as in {self.forms[name]}")
        self._rest()
        column_at = self.at
        column = self._read(NAME, "a column")[0]
        if self._rest().startswith("("):
            raise self.line.error(
                column_at, f"functions do not nest: expected a column, as in {self.forms[name]}."
            )
        self._expect(")")
        return name, arguments, column, column_at

    def _argument(self, name: str) -> tuple[str, ...]:
        self._expect("(")
        self._rest()
        start = self.at
        arguments: tuple[str, ...]
        if name.endswith(("prefix", "suffix")) or name in RANKED:
            what = "number" if name in RANKED else "length"
            arguments = tuple(map(str, self._range(f"a {what} such as 3 or 1..4")))
        elif name == "cluster":
            arguments, self.at = cluster_arguments(self.line, self.at, self.word_files)
        elif name == "lexicon":
            arguments, self.at = lexicon_arguments(self.line, self.at, self.word_files)
        elif '"' in self.forms[name]:
            arguments = (
                self._read(QUOTED, f"an expression in quotation marks, as in {self.forms[name]}")[0][1:-1],
            )
        else:
            arguments = (self._read(_WORD, f"an argument, as in {self.forms[name]}")[0],)
        for argument in arguments:
            self._check(name, argument, start)
        self._expect(")")
        return arguments

    def _check(self, name: str, argument: str, start: int) -> None:
        if name in ("cluster", "lexicon"):  # they are checked as they are read
            return
        if name in RANKED:
            if not 1 <= int(argument) <= MOST_NEIGHBOURS:
                expected = f"a number from 1 to {MOST_NEIGHBOURS}"
                raise self.line.error(start, f"found {argument}, expected {expected}.")
        elif not name.endswith("list"):
            check_argument(name, argument, self.line, start)
        elif argument not in self.lists:
            message = f"no line 'list {argument} = file' declares this list. {nearest(argument, self.lists)}"
            raise self.line.error(start, message)

    def _range(self, expected: str) -> tuple[int, ...]:
        found = self._read(_RANGE, expected)
        first, last = int(found[1]), int(found[2] or found[1])
        if first > last or first < -FARTHEST or last > FARTHEST:
            raise self.line.error(
                found.start(),
                f"found {found[0]}, expected numbers from {-FARTHEST} to {FARTHEST}, the lower first.",
            )
        return tuple(range(first, last + 1))


class Compiler:
    """Turns lines into templates; knows what earlier lines gave."""

    def __init__(self, columns: Columns, builder: ProgramBuilder) -> None:
        self.columns, self.builder = columns, builder
        self._given: dict[str, Line] = {}

    def add(self, line: Line, scope: str, terms: list[TemplateTerm]) -> None:
        """The templates of a line."""
        scopes = ("node", "edge") if scope == "both" else (scope,)
        if scope == "before" or any(term.anchor for term in terms):
            scopes = self._segment_scope(line, scope, terms)
        variants = [list(term.variants(self._column(term, line))) for term in terms]
        if math.prod(map(len, variants)) > MOST_VARIANTS:
            raise line.error(0, f"the ranges give more than {MOST_VARIANTS} templates, expected fewer.")
        for values in itertools.product(*variants):
            for each in scopes:
                self._add(line, each, values)

    def _segment_scope(self, line: Line, scope: str, terms: list[TemplateTerm]) -> tuple[str]:
        anchors = {term.anchor for term in terms}
        if scope not in ("node", "before"):
            raise line.error(0, f"a template of segments cannot be '{scope}:'; 'edge:' stands alone.")
        if "" in anchors:
            raise line.error(
                0, "the template joins places of segments and offsets of tokens; expected either."
            )
        if anchors >= {"i", "j"}:
            raise line.error(0, "the template has both i and j; expected one of them.")
        if (scope == "before" or anchors & OF_PREVIOUS) and anchors & {"i", "j"}:
            raise line.error(0, "the template looks at two segments and inside one; expected either.")
        if scope == "before" and (not anchors or anchors & OF_PREVIOUS):
            raise line.error(
                0, "'before:' is for what follows a segment: expected places such as b, e or b..e."
            )
        return ("before" if scope == "before" else "segment",)

    def _column(self, term: TemplateTerm, line: Line) -> str:
        return self.columns.named(term.column, line, term.column_at) if term.column else ""

    def _add(self, line: Line, scope: str, values: tuple[_Variant, ...]) -> None:
        head = "/".join(value.name for value in values)
        marked = f"{scope}:{head}" if scope in ("edge", "before") or not values else head
        if marked in self._given:
            raise line.error(0, f"'{marked}' is already given by line {self._given[marked].number}.")
        self._given[marked] = line
        self.builder.add(scope, self._pieces(marked, values))

    def _pieces(self, name: str, values: tuple[_Variant, ...]) -> Iterator[str | Value]:
        yield f"{name}=" if values else name
        for number, value in enumerate(values):
            if number:
                yield "/"
            yield self.builder.value(value.attribute, value.offset, value.anchor)


def parse_templates(
    text: str,
    columns: Columns,
    *,
    file: str = "<templates>",
    folder: Path | None = None,
    onto: TemplateProgram | None = None,
    skip_missing: bool = False,
) -> TemplateProgram:
    """Compile templates in our language.

    `file` names the text in errors, `folder` is where its phrase lists are sought. The templates are added
    to those of `onto`. With `skip_missing`, lines whose columns the data lack go to `left_out` instead of
    being errors.
    """
    builder = ProgramBuilder(onto)
    declare(text, file, folder or Path(), builder)
    compiler, left_out = Compiler(columns, builder), []
    for line in template_lines(text, file, builder):
        scanner = Scanner(line, builder.lists, word_files=builder.word_files)
        scope, terms = scanner.scope(), scanner.terms()
        if skip_missing and any(term.column and not columns.find(term.column) for term in terms):
            left_out.append(line.text.strip())
            continue
        compiler.add(line, scope, terms)
    return builder.build(tuple(left_out))
