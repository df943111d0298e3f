"""The compiled form of a feature template file: plain data that the native core runs.

A program has *attributes*, functions from the string of a token to a string or to nothing, and *templates*,
which join literal text and attribute values of nearby tokens. The concatenation is the feature's name, and
**a feature is its name**: two templates that give the same string in the same scope give the same feature
(so templates of CRF++ that share an identifier make a bag of words). A template with an absent value gives
no feature.

A `node` feature is seen with the label of the current token, an `edge` feature with the labels of the
previous and the current token, a `segment` feature with the type of a segment, a `before` feature of a
segment with the type of the one before, an `item` feature with the class of a whole item
(features/item_templates.py: bags and numbers are among its attributes), a `tree` feature with an action of a
parser (features/tree_templates.py). An edge
template of literals only is the plain label bigram, a node template of literals only the plain label.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from marginalia.corpus.json_text import parse_json
from marginalia.errors import ModelError
from marginalia.features.documents import DOCUMENT_FORMS, FIRST_COLUMNS

VERSION = 3  # of templates of items; 2: explicit attributes; a program without either is of version 1
CLUSTERS_VERSION = 4  # of templates that look at word clusters or whole documents
TREES_VERSION = 5  # of templates over the configurations of a parser
WORDS_VERSION = 6  # of templates that look at lexicons, or over a segment and the one before


class WordFile(NamedTuple):
    """A file of word clusters, or, if it has labels, of a lexicon; `any_case`: a word that it does not have
    as written is sought in any case."""

    path: str
    any_case: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attribute:
    """A function of one column.

    `first` ("1" at the first token of the sentence, else nothing; column and argument are empty) and `list`
    (argument: the list's name; IOB2 of the longest matches from left to right, lower-cased: "B", "I" or
    nothing) need the whole sentence; all others are functions of one string, by `_core.evaluate_attribute`,
    or, for `cluster` (argument: the clusters' name, a comma, how many bits or `all`) and `lexicon` (its name,
    what is asked, maybe a label), by a table of words.
    """

    function: str
    argument: str
    column: str


@dataclass(frozen=True)
class Value:
    """The value of an attribute at another token: at the current position plus `offset`; or, if absolute,
    at `offset` counted from the sentence's start (0 is the first token) or, negative, from its end (-1 is
    the last).

    `before[k]` is used instead when that position lies k + 1 tokens before the sentence, `after[k]` when it
    lies k + 1 tokens behind it; the last entry serves all farther ones. Neither is ever empty.

    In segment templates `anchor` says what the offset is counted from: the segment's first token (`b`), its
    last (`e`), each token between them (`i`), each token of it (`j`); `whole` is the values of all its tokens
    in a row, and `length` the number of its tokens, up to `offset`, without an attribute.

    In tree templates `anchor` is a place of a configuration (`s0.left`), without an attribute (-1) what
    stands there beside tokens (`s0.left.label`, `distance(s0,q0)`).
    """

    attribute: int
    offset: int
    absolute: bool
    before: tuple[str, ...]
    after: tuple[str, ...]
    anchor: str = ""


OF_PREVIOUS = frozenset({"p", "previous", "previous-length"})
"""Places in the segment before."""
ANCHORS = ("b", "e", "i", "j", "whole", "length", *sorted(OF_PREVIOUS))
LENGTHS = ("length", "previous-length")


@dataclass(frozen=True)
class Template:
    """What is joined into a feature's name. Scope: "node", "edge", "segment", "before", "item" or "tree"."""

    scope: str
    pieces: tuple[str | Value, ...]

    @property
    def of_neighbours(self) -> bool:
        """Whether its features are those of a segment and the one before."""
        values = (piece for piece in self.pieces if isinstance(piece, Value))
        return self.scope == "before" or any(value.anchor in OF_PREVIOUS for value in values)


@dataclass(frozen=True)
class TemplateProgram:
    """A compiled template file.

    `lists` gives the files of the phrase lists by name; those in `dictionary` are the labels of a dictionary,
    whose phrases may be others when the model is used. `word_files` are clusters and lexicons. `left_out`
    holds the lines of a ready-made set that were left out because the data lack their columns. `ends`: the
    plain label bigram comes with weights for the labels at the sentence's ends (ours does, that of CRF++ and
    Wapiti does not). `explicit`: the features are the attributes that come with the data, and the only
    template there may be is the plain label bigram.
    """

    attributes: tuple[Attribute, ...]
    templates: tuple[Template, ...]
    lists: dict[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    ends: bool = True
    explicit: bool = False
    dictionary: tuple[str, ...] = ()
    word_files: dict[str, WordFile] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that the program reads, in the order of their first use."""
        read = dict.fromkeys(a.column for a in self.attributes if a.column)
        return tuple(column for column in read if column not in FIRST_COLUMNS)

    @property
    def has_first_labels(self) -> bool:
        """Whether templates look at what the labels of a first model say."""
        return any(attribute.column in FIRST_COLUMNS for attribute in self.attributes)

    @property
    def of_documents(self) -> bool:
        """Whether features of a token depend on the rest of its document."""
        return self._of_whole_documents or self.has_first_labels

    @property
    def _of_whole_documents(self) -> bool:
        return any(attribute.function in DOCUMENT_FORMS for attribute in self.attributes)

    @property
    def of_items(self) -> bool:
        """Whether the templates are of whole items."""
        return any(template.scope == "item" for template in self.templates)

    @property
    def of_trees(self) -> bool:
        """Whether the templates are of a parser's configurations."""
        return any(template.scope == "tree" for template in self.templates)

    @property
    def of_neighbours(self) -> bool:
        """Whether there are features of a segment and the one before."""
        return any(template.of_neighbours for template in self.templates)

    def to_json(self) -> str:
        """The program as compact text, for a model's metadata."""
        version: dict[str, Any] = {"version": VERSION if self.of_items else 1}
        clusters = {name: file[:2] for name, file in self.word_files.items() if not file.labels}
        lexicons = {name: file for name, file in self.word_files.items() if file.labels}
        if clusters or self._of_whole_documents:
            version = {"version": CLUSTERS_VERSION}
        if self.of_trees:
            version = {"version": TREES_VERSION}
        if lexicons or self.of_neighbours:
            version = {"version": WORDS_VERSION}
        if self.explicit:
            version = {"version": 2, "explicit": True}
        return json.dumps(
            {
                **version,
                "attributes": [[a.function, a.argument, a.column] for a in self.attributes],
                "templates": [[t.scope, [_piece_to_json(p) for p in t.pieces]] for t in self.templates],
                "lists": self.lists,
                "left_out": self.left_out,
                "ends": self.ends,
                **({"dictionary": self.dictionary} if self.dictionary else {}),
                **({"clusters": clusters} if clusters else {}),
                **({"lexicons": lexicons} if lexicons else {}),
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> TemplateProgram:
        """The program of `to_json`; a ModelError if the text is damaged or of a newer version."""
        try:
            data = parse_json(text)
            expected = (2,) if data.get("explicit") else (1, VERSION)
            if data.get("clusters") or any(row[0] in DOCUMENT_FORMS for row in data["attributes"]):
                expected = (CLUSTERS_VERSION,)
            if any(row[0] == "tree" for row in data["templates"]):
                expected = (TREES_VERSION,)
            if data.get("lexicons") or _of_neighbours(data["templates"]):
                expected = (WORDS_VERSION,)
            if data["version"] not in expected:
                raise ModelError(
                    f"the template program has version {data['version']}, expected {expected[0]}"
                )
            attributes = tuple(Attribute(*map(str, row)) for row in data["attributes"])
            templates = tuple(
                Template(str(scope), tuple(_piece_from_json(p) for p in pieces))
                for scope, pieces in data["templates"]
            )
            lists = {str(name): str(path) for name, path in data["lists"].items()}
            left_out = tuple(map(str, data["left_out"]))
            explicit = bool(data.get("explicit", False))
            dictionary = tuple(map(str, data.get("dictionary", ())))
            word_files = {
                str(name): WordFile(str(path), bool(any_case), tuple(map(str, labels)))
                for name, (path, any_case, labels) in _word_files(data)
            }
            ends = bool(data["ends"])
            program = cls(attributes, templates, lists, left_out, ends, explicit, dictionary, word_files)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ModelError(f"the template program is damaged: {error!r}") from error
        program._check()
        return program

    def _check(self) -> None:
        if unknown := set(self.dictionary) - self.lists.keys():
            raise ModelError(f"the template program is damaged: no list '{min(unknown)}'")
        for function, of_labels in (("cluster", False), ("lexicon", True)):
            named = {a.argument.partition(",")[0] for a in self.attributes if a.function == function}
            known = {name for name, file in self.word_files.items() if bool(file.labels) == of_labels}
            if unknown := named - known:
                what = "lexicon" if of_labels else "clusters"
                raise ModelError(f"the template program is damaged: no {what} '{min(unknown)}'")
        if self.explicit and any(not isinstance(p, str) for t in self.templates for p in t.pieces):
            raise ModelError("the template program is damaged: templates beside explicit attributes")
        for template in self.templates:
            if template.scope not in ("node", "edge", "segment", "before", "item", "tree"):
                raise ModelError(f"the template program is damaged: scope '{template.scope}'")
            if template.scope == "tree":  # places are checked by the core
                self._check_places(template)
                continue
            for value in template.pieces:
                if isinstance(value, str):
                    continue
                if (value.anchor in ANCHORS) != (template.scope in ("segment", "before")):
                    raise ModelError(f"the template program is damaged: anchor '{value.anchor}'")
                if value.anchor in LENGTHS:
                    continue
                if not 0 <= value.attribute < len(self.attributes):
                    raise ModelError(f"the template program is damaged: attribute {value.attribute}")
                if not value.before or not value.after:
                    raise ModelError("the template program is damaged: a value without boundaries")

    def _check_places(self, template: Template) -> None:
        for value in template.pieces:
            if isinstance(value, str):
                continue
            if not value.anchor or not -1 <= value.attribute < len(self.attributes):
                raise ModelError(f"the template program is damaged: place '{value.anchor}'")


EXPLICIT = TemplateProgram((), (Template("edge", ()),), ends=False, explicit=True)
"""The attributes that come with the data, and the plain label bigram: what CRFsuite learns."""


def _of_neighbours(templates: list[Any]) -> bool:
    anchors = (piece[5] for _, pieces in templates for piece in pieces if len(piece) == 6)
    return any(scope == "before" for scope, _ in templates) or not OF_PREVIOUS.isdisjoint(
        str(anchor) for anchor in anchors
    )


def _word_files(data: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Clusters and lexicons of a program as JSON has it."""
    for name, (path, any_case) in data.get("clusters", {}).items():
        yield name, [path, any_case, ()]
    for name, (path, any_case, labels) in data.get("lexicons", {}).items():
        if not labels or name in data.get("clusters", {}):
            raise ValueError(f"the lexicon '{name}'")
        yield name, [path, any_case, labels]


def _piece_to_json(piece: str | Value) -> str | list[Any]:
    if isinstance(piece, str):
        return piece
    fields = [piece.attribute, piece.offset, piece.absolute, piece.before, piece.after]
    return [*fields, piece.anchor] if piece.anchor else fields


def _piece_from_json(piece: str | list[Any]) -> str | Value:
    if isinstance(piece, str):
        return piece
    attribute, offset, absolute, before, after, *anchor = piece
    ends = tuple(map(str, before)), tuple(map(str, after))
    return Value(int(attribute), int(offset), bool(absolute), *ends, *map(str, anchor))


def boundaries(prefix: str, distance: int) -> tuple[str, ...]:
    """The values outside the sentence, up to a distance: `_B-` gives `_B-1`, `_B-2`…"""
    return tuple(f"{prefix}{k}" for k in range(1, max(distance, 1) + 1))


class ProgramBuilder:
    """Collects templates and numbers their attributes; begins with what another program has."""

    def __init__(self, program: TemplateProgram | None = None) -> None:
        self._program = program or TemplateProgram((), ())
        self._attributes = {a: i for i, a in enumerate(self._program.attributes)}
        self._templates = list(self._program.templates)
        self.lists = dict(self._program.lists)
        self.word_files = dict(self._program.word_files)

    def value(self, attribute: Attribute, offset: int, anchor: str = "") -> Value:
        """An attribute at an offset from the current token, or from an anchor in a segment; `_B-1`, `_B+1`…
        outside, as in CRF++."""
        outside = boundaries("_B-", -offset), boundaries("_B+", offset)
        if anchor in LENGTHS:
            return Value(-1, offset, False, *outside, anchor)
        return replace(self.value_with(attribute, offset, False, *outside), anchor=anchor)

    def value_with(
        self,
        attribute: Attribute,
        offset: int,
        absolute: bool,
        before: tuple[str, ...],
        after: tuple[str, ...],
    ) -> Value:
        """An attribute at an offset, with the values it has outside the sentence."""
        number = self._attributes.setdefault(attribute, len(self._attributes))
        return Value(number, offset, absolute, before, after)

    def placed(self, attribute: Attribute | None, place: str) -> Value:
        """What stands at a place of a parser's configuration: an attribute of its token, or other things."""
        number = -1 if attribute is None else self._attributes.setdefault(attribute, len(self._attributes))
        return Value(number, 0, False, (), (), place)

    def add(self, scope: str, pieces: Iterator[str | Value]) -> None:
        """A template; empty literals are dropped."""
        self._templates.append(Template(scope, tuple(piece for piece in pieces if piece != "")))

    def build(self, left_out: tuple[str, ...] = ()) -> TemplateProgram:
        """The program collected so far."""
        return replace(
            self._program,
            attributes=tuple(self._attributes),
            templates=tuple(self._templates),
            lists=dict(self.lists),
            word_files=dict(self.word_files),
            left_out=self._program.left_out + left_out,
        )
