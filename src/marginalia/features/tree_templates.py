r"""Templates over the configurations of a parser (`--structure trees`), a template a line, `#` a comment.

    s0.word                   the word on top of the stack; s1, s2… are below it
    q0.word/q1.word           the first two words of the queue: what is still to be read
    s0.left.pos               of the leftmost child so far; left2 is the next one, right and right2 likewise
    s0.left.right.pos         the children of children
    s0.head.pos               of the head, as far as the system knows it early (arc-eager)
    s0.left.label             the label of the arc to the leftmost child
    suffix(3)(s0.word)        functions of columns are those of docs/features.md
    cluster(*,6)(s0.word)     one template for each table of clusters; lexicon(*)(s0.word): each lexicon
    distance(s0,q0)           how far apart: 1, 2, 3, 4, 5-6, 7-10, 11+
    valency(s0,left)          how many children on this side: 0 … 6+
    labels(s0,left)           the set of their labels

Where there is no such token the value is `_none`. If an attribute is absent there is no feature.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from marginalia.errors import SettingsError
from marginalia.features.declarations import declare, template_lines
from marginalia.features.program import Attribute, ProgramBuilder, TemplateProgram, Value, WordFile
from marginalia.features.reading import Columns, Line, nearest, text_of_file
from marginalia.features.templates import Scanner

TREE_SETS = {
    "trees": ("trees",),
    "trees-supertags": ("trees", "trees-supertags"),
    "trees-small": ("trees-small",),
    "huang-sagae": ("huang-sagae",),
}
"""The ready-made sets for trees, and the texts that each is made of."""

STEPS = ("left", "left2", "right", "right2", "head")
_BASE = re.compile(r"[sq][0-9]")
_PLACE = re.compile(r"[sq][0-9](?:\.(?:left2?|right2?|head)(?![\w-]))*")
_PAIR = re.compile(r"(distance|valency|labels)\s*\(\s*([\w.]+)\s*,\s*([\w.]+)\s*\)")
_COLUMN = re.compile(r"[^\W\d][\w.-]*")
_LABEL = "label"


class _Missing(Exception):
    """A column that the data do not have."""


class TreeScanner(Scanner):
    """Reads the values of one line: (name, attribute or None, place) of each variant."""

    def __init__(
        self, line: Line, columns: Columns, lists: Collection[str], files: Mapping[str, WordFile], skip: bool
    ) -> None:
        super().__init__(line, lists, (), files)
        self._known, self._skip = columns, skip

    def values(self) -> list[list[tuple[str, Attribute | None, str]]]:
        """All values up to the end of the line or a comment."""
        found = [self._value()]
        while self._take("/"):
            found.append(self._value())
        if not self._ended():
            raise self._unexpected("'/', a comment or the end of the line")
        return found

    def _value(self) -> list[tuple[str, Attribute | None, str]]:
        rest, start = self._rest(), self.at
        if pair := _PAIR.match(rest):
            self.at += pair.end()
            place = self._pair(pair[1], pair[2], pair[3], start)
            return [(place, None, place)]
        if _BASE.match(rest):
            place, column = self._place_and_column()
            if column is None:
                return [(f"{place}.{_LABEL}", None, f"{place}.{_LABEL}")]
            return [(f"{place}.{column}", Attribute("column", "", column), place)]
        return self._function(start)

    def _function(self, start: int) -> list[tuple[str, Attribute | None, str]]:
        name = self._read(_COLUMN, "a place such as s0 or q0, or a function")[0]
        if name not in self.forms or name == "first":
            known = [*self.forms, "distance", "valency", "labels"]
            raise self.line.error(start, f"there is no place or function '{name}'. {nearest(name, known)}")
        arguments = self._argument(name) if self.forms[name].count("(") == 2 else ("",)
        self._expect("(")
        at = self.at
        place, column = self._place_and_column()
        if column is None:
            raise self.line.error(at, "functions are of columns, not of labels.")
        self._expect(")")
        found: list[tuple[str, Attribute | None, str]] = []
        for argument in arguments:
            quoted = f'"{argument}"' if '"' in self.forms[name] else argument
            called = f"{name}({quoted})" if argument else name
            found.append((f"{called}({place}.{column})", Attribute(name, argument, column), place))
        return found

    def _place_and_column(self) -> tuple[str, str | None]:
        """A place and the column of its value; None: the label of its arc."""
        place = self._read(_PLACE, "a place such as s0, q1 or s0.left")[0]
        self._expect(".")
        at = self.at
        name = self._read(_COLUMN, "a column, a step such as left, or label")[0]
        if name == _LABEL:
            return place, None
        found = self._known.find(name)
        if found is None and self._skip:
            raise _Missing
        return place, self._known.named(name, self.line, at)

    def _pair(self, function: str, first: str, second: str, start: int) -> str:
        for one in (first, second) if function == "distance" else (first,):
            if not _PLACE.fullmatch(one):
                raise self.line.error(
                    start, f"found '{one}' in {function}, expected a place such as s0 or q0."
                )
        if function != "distance" and second not in ("left", "right"):
            raise self.line.error(start, f"found '{second}' in {function}, expected left or right.")
        return f"{function}({first},{second})"


def parse_tree_templates(
    text: str,
    columns: Columns,
    *,
    file: str = "<templates>",
    folder: Path | None = None,
    onto: TemplateProgram | None = None,
    skip_missing: bool = False,
) -> TemplateProgram:
    """Compile templates over configurations; the rest as `parse_templates`."""
    builder = ProgramBuilder(onto)
    declare(text, file, folder or Path(), builder)
    given: dict[str, Line] = {}
    left_out = []
    for line in template_lines(text, file, builder):
        try:
            variants = TreeScanner(line, columns, builder.lists, builder.word_files, skip_missing).values()
        except _Missing:
            left_out.append(line.text.strip())
            continue
        for values in _products(variants):
            name = "/".join(value[0] for value in values)
            if name in given:
                raise line.error(0, f"'{name}' is already given by line {given[name].number}.")
            given[name] = line
            builder.add("tree", _pieces(name, values, builder))
    return builder.build(tuple(left_out))


def _products(
    variants: Sequence[Sequence[tuple[str, Attribute | None, str]]],
) -> Iterator[tuple[tuple[str, Attribute | None, str], ...]]:
    import itertools

    return itertools.product(*variants)


def _pieces(
    name: str, values: Sequence[tuple[str, Attribute | None, str]], builder: ProgramBuilder
) -> Iterator[str | Value]:
    yield f"{name}="
    for number, (_, attribute, place) in enumerate(values):
        if number:
            yield "/"
        yield builder.placed(attribute, place)


def _aliases(columns: Sequence[str]) -> dict[str, str]:
    """What sets call words and tags: a column of tags stands for others that the data do not have."""
    tags = [name for name in ("xpos", "upos", "pos", "tag") if name in columns]
    return {"word": columns[0], **{name: tags[0] for name in ("xpos", "upos", "pos") if tags}}


def load_tree_features(
    name_or_path: str, columns: Sequence[str], label: str, onto: TemplateProgram
) -> TemplateProgram:
    """The program of a ready-made set or of a template file, for data with these columns."""
    known = Columns(columns, label, _aliases(columns))
    if name_or_path in TREE_SETS:
        from marginalia.features.sets import text_of_set

        text = "".join(text_of_set(name) for name in TREE_SETS[name_or_path])
        file = f"set '{name_or_path}'"
        program = parse_tree_templates(text, known, file=file, onto=onto, skip_missing=True)
        if not program.attributes:
            raise SettingsError(
                f"the feature set '{name_or_path}' uses no column of the data: {', '.join(columns)}."
            )
        return program
    path = Path(name_or_path)
    if not path.is_file():
        raise SettingsError(
            f"features: '{path}' is neither a ready-made set for trees nor a template file. "
            f"{nearest(str(path), TREE_SETS)}"
        )
    text = text_of_file(path)
    program = parse_tree_templates(text, known, file=str(path), folder=path.parent, onto=onto)
    if not program.templates:
        raise SettingsError(f"{path}: there is no template in this file.")
    return program
