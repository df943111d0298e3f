"""Right sides of structural rules as they are written: the tree that shall stand there, in its order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from marginalia.assist.paraphrase.classes import RELATION_NAMES, UPOS
from marginalia.assist.paraphrase.lexer import Place, Tokens
from marginalia.assist.paraphrase.patterns import quoted

FORMS: dict[str, dict[str, str]] = {
    "past": {"VerbForm": "Fin", "Tense": "Past", "Mood": "Ind"},
    "present": {"VerbForm": "Fin", "Tense": "Pres", "Mood": "Ind"},
    "finite": {"VerbForm": "Fin", "Mood": "Ind"},
    "inf": {"VerbForm": "Inf", "Tense": "", "Mood": "", "Number": "", "Person": "", "Voice": ""},
    "ing": {"VerbForm": "Ger", "Tense": "", "Mood": "", "Number": "", "Person": "", "Voice": ""},
    "part": {"VerbForm": "Part", "Tense": "Past", "Mood": "", "Number": "", "Person": ""},
    "sg": {"Number": "Sing"},
    "pl": {"Number": "Plur"},
    "comparative": {"Degree": "Cmp"},
    "superlative": {"Degree": "Sup"},
}
"""Forms by their names, as features; an empty value takes a feature away."""

_NEW = re.compile(r"\b([A-Z]\w*'*):[A-Z]+/")  # a new word with a variable of its own


@dataclass(frozen=True)
class Form:
    """What becomes of a word: `feature` and `lemma`, `form` set it; `tense`, `like`, `agree` copy of another
    word (`name`); `mapped` looks the lemma of another word up in the `table` of a list; `take`, `drop`,
    `short` and `alone` change what hangs on it, `whole` keeps it together."""

    kind: str
    name: str = ""
    values: tuple[str, ...] = ()
    table: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        if self.kind == "mapped":
            return f"lemma=@{self.values[0]} of {self.name}"
        if self.kind in ("feature", "lemma", "form"):
            key = self.name or self.kind
            return self.values[0] if self.kind == "feature" and not key else f"{key}={quoted(self.values[0])}"
        relations = "|".join(self.values)
        if self.kind == "take":
            return f"take {relations} of {self.name}" if relations else f"take {self.name}"
        if self.kind == "drop":
            return f"drop {relations}"
        return {"tense": f"tense of {self.name}"}.get(self.kind, f"{self.kind} {self.name}".rstrip())


@dataclass(frozen=True)
class Target:
    """A word of the result: a variable, or a new word (`upos`, `lemma`), with its daughters.

    In `arcs` None is the place of the word itself; without it the order stays as it is.
    """

    name: str = ""
    upos: str = ""
    lemma: str = ""
    forms: tuple[Form, ...] = ()
    arcs: tuple[tuple[str, Target] | None, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether the order of the daughters is given."""
        return None in self.arcs

    def parts(self) -> Iterator[Target]:
        """The word and all below it."""
        yield self
        for arc in self.arcs:
            if arc is not None:
                yield from arc[1].parts()

    def __str__(self) -> str:
        text = self.name + (f":{self.upos}/{quoted(self.lemma)}" if self.lemma else "")
        text += f"[{', '.join(_form(form) for form in self.forms)}]" if self.forms else ""
        arcs = ", ".join("_" if arc is None else f"{arc[0]} {arc[1]}" for arc in self.arcs)
        return text + (f"({arcs})" if arcs else "")


def _form(form: Form) -> str:
    if form.kind == "feature" and form.name == "":
        return form.values[0]
    return str(form)


class TargetReader:
    """Reads right sides; `names` are the variables of the left one, `new` those of new words."""

    def __init__(self, tokens: Tokens, names: set[str], new: Collection[str] = ()) -> None:
        self.tokens, self._names, self._new = tokens, names, new

    def targets(self) -> tuple[Target, ...]:
        """The sentences of the result."""
        found = [self.target()]
        while self.tokens.sign("||"):
            found.append(self.target())
        return tuple(found)

    def target(self) -> Target:
        """A word with its daughters."""
        tokens, start = self.tokens, self.tokens.peek
        name = tokens.take().text if start.kind == "word" and start.text[:1].isupper() else ""
        upos = lemma = ""
        if tokens.sign(":"):
            upos = tokens.expect_word("a part of speech")
            if upos not in UPOS:
                raise tokens.expected(f"one of {', '.join(sorted(UPOS))}", start)
            tokens.expect_sign("/")
            lemma = tokens.expect_word("the lemma of a new word")
        if not lemma and name not in self._names:
            known = ", ".join(sorted(self._names)) or "none are there"
            raise tokens.expected(
                f"a variable of the left side ({known}) or a new word such as :ADP/to", start
            )
        forms = self.forms("]") if tokens.sign("[") else ()
        arcs = self._arcs() if tokens.sign("(") else ()
        return Target(name, upos, lemma, forms, arcs)

    def _arcs(self) -> tuple[tuple[str, Target] | None, ...]:
        arcs: list[tuple[str, Target] | None] = []
        while True:
            arcs.append(None if self.tokens.word("_") else self._arc())
            if self.tokens.expect_sign(",", ")") == ")":
                break
        if arcs.count(None) > 1:
            raise self.tokens.error("found two places '_' of a word, expected one")
        return tuple(arcs)

    def _arc(self) -> tuple[str, Target]:
        token = self.tokens.peek
        relation = self.tokens.expect_word("a relation, or _ for the word itself")
        if self.tokens.peek.text == ":" and self.tokens.touching():
            self.tokens.take()
            relation += f":{self.tokens.expect_word('a subtype, such as pass')}"
        if relation.partition(":")[0] not in RELATION_NAMES:
            raise self.tokens.expected("a relation of universal dependencies", token)
        return relation, self.target()

    def forms(self, end: str) -> tuple[Form, ...]:
        """What stands in the brackets behind a word."""
        found = [self._form()]
        while self.tokens.expect_sign(",", end) == ",":
            found.append(self._form())
        return tuple(found)

    def _form(self) -> Form:
        tokens, token = self.tokens, self.tokens.peek
        word = tokens.expect_word("a form, such as past, tense of B or agree N")
        if word in ("short", "alone", "whole"):
            return Form(word)
        if word == "tense":
            if not tokens.word("of"):
                raise tokens.expected("of")
            return Form(word, self._variable())
        if word == "agree" and tokens.peek.text in self._new:
            return Form(word, tokens.take().text)
        if word in ("agree", "like"):
            return Form(word, self._variable())
        if word == "drop":
            return Form(word, values=self._relations())
        if word == "take":
            if tokens.peek.text in self._names:
                return Form(word, self._variable())
            relations = self._relations()
            if not tokens.word("of"):
                raise tokens.expected("of")
            return Form(word, self._variable(), relations)
        if tokens.sign("="):
            if word == "lemma" and tokens.sign("@"):
                return self._mapped()
            value = tokens.expect_word("a value")
            return Form(word if word in ("lemma", "form") else "feature", word, (value,))
        if word not in FORMS:
            known = ", ".join(
                (*FORMS, "tense of", "agree", "like", "short", "alone", "whole", "take", "drop")
            )
            raise tokens.expected(f"one of {known}, or Feature=Value", token)
        return Form("feature", "", (word,))

    def _mapped(self) -> Form:
        name = self.tokens.expect_word("the name of a list of pairs")
        if not self.tokens.word("of"):
            raise self.tokens.expected("of")
        return Form("mapped", self._variable(), (name,))

    def _relations(self) -> tuple[str, ...]:
        names = [self.tokens.expect_word("a relation")]
        while self.tokens.sign("|"):
            names.append(self.tokens.expect_word("a relation"))
        return tuple(names)

    def _variable(self) -> str:
        token = self.tokens.peek
        name = self.tokens.expect_word("a variable of the left side")
        if name not in self._names:
            known = ", ".join(sorted(self._names)) or "none are there"
            raise self.tokens.expected(f"a variable of the left side ({known})", token)
        return name


def read_targets(text: str, names: set[str], place: Place | None = None) -> tuple[Target, ...]:
    """A right side of its text; a DataError names the place of what is wrong."""
    reader = TargetReader(Tokens(text, place), names, _NEW.findall(text))
    targets = reader.targets()
    reader.tokens.finish()
    return targets
