"""What sentences of a document are made of: words in their tree, multiword tokens, empty nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .conllu import get_key

if TYPE_CHECKING:
    from .document import ParsedSentence


CONFIDENCE = "Confidence"  # a key of MISC
_DECIMAL = re.compile(r"\d+(\.\d+)?", re.ASCII)


def written_confidence(sure: dict[str, float]) -> str:
    """Probabilities by column as a value of MISC: `upos:0.9812,head:0.8734`."""
    return ",".join(f"{name}:{value:.4f}" for name, value in sure.items())


class _WithMisc:
    """What all rows of CoNLL-U share: features and other values by their keys."""

    __slots__ = ()
    feats: str
    misc: str

    @property
    def features(self) -> dict[str, str]:
        """FEATS as a dictionary: `{"Number": "Sing"}`."""
        return pairs_of(self.feats)

    def misc_value(self, key: str) -> str | None:
        """The value of `key=value` in MISC; None if there is none."""
        return get_key(self.misc, key, "") or None


def pairs_of(field_: str) -> dict[str, str]:
    """A field `A=1|B=2` as a dictionary; what has no `=` is a key without a value."""
    if field_ == "_":
        return {}
    return {key: value for key, _, value in (item.partition("=") for item in field_.split("|"))}


@dataclass(slots=True)
class Word(_WithMisc):
    """A syntactic word: the ten columns of CoNLL-U, and the characters of the document's text it stands for.

    Columns are as in the file, `_` where they are empty; `head` is a number, 0 for the root and None where it
    is not known. Words of a multiword token have the `start` and `end` of that token.
    """

    id: int
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: int | None = None
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"
    start: int = -1
    end: int = -1
    sentence: ParsedSentence | None = field(default=None, repr=False, compare=False)

    @property
    def head_word(self) -> Word | None:
        """The word that this one depends on; None for the root and where the head is not known."""
        words = self.sentence.words if self.sentence is not None else []
        return words[self.head - 1] if self.head and self.head <= len(words) else None

    @property
    def children(self) -> list[Word]:
        """The words that depend on this one, from left to right."""
        words = self.sentence.words if self.sentence is not None else []
        return [word for word in words if word.head == self.id]

    @property
    def confidence(self) -> dict[str, float]:
        """How probable the columns are that a pipeline was sure or not sure of, as `Confidence` in MISC says;
        `head` is the arc with its relation."""
        written = (item.partition(":") for item in (self.misc_value(CONFIDENCE) or "").split(","))
        return {name: float(value) for name, _, value in written if _DECIMAL.fullmatch(value)}

    @property
    def subtree(self) -> list[Word]:
        """This word and all that depend on it, directly or not, from left to right."""
        if self.sentence is None:
            return [self]
        children, words = self.sentence.child_ids(), self.sentence.words
        reached, waiting = {self.id}, [self.id]
        while waiting:  # a graph that is no tree ends, too
            new = [child for child in children[waiting.pop()] if child not in reached]
            reached.update(new)
            waiting += new
        return [words[id_ - 1] for id_ in sorted(reached)]

    def fields(self) -> tuple[str, ...]:
        """The ten columns."""
        head = "_" if self.head is None else str(self.head)
        return (str(self.id), self.form, self.lemma, self.upos, self.xpos, self.feats,
                head, self.deprel, self.deps, self.misc)  # fmt: skip


@dataclass(slots=True)
class MultiwordToken(_WithMisc):
    """A token of the text that stands for the words `first` to `last`, such as `vámonos` for `vamos nos`."""

    first: int
    last: int
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"
    start: int = -1
    end: int = -1
    sentence: ParsedSentence | None = field(default=None, repr=False, compare=False)

    @property
    def words(self) -> list[Word]:
        """The words that the token stands for."""
        return [] if self.sentence is None else self.sentence.words[self.first - 1 : self.last]

    def fields(self) -> tuple[str, ...]:
        """The ten columns."""
        return (f"{self.first}-{self.last}", self.form, self.lemma, self.upos, self.xpos, self.feats,
                self.head, self.deprel, self.deps, self.misc)  # fmt: skip


@dataclass(slots=True)
class EmptyNode(_WithMisc):
    """A node of the enhanced graph without a place in the text: number `index` of those behind word `after`.

    `late` says that its line stands behind that of a multiword token which begins with the next word.
    """

    after: int
    index: int
    form: str = "_"
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"
    late: bool = field(default=False, repr=False)

    def fields(self) -> tuple[str, ...]:
        """The ten columns."""
        return (f"{self.after}.{self.index}", self.form, self.lemma, self.upos, self.xpos, self.feats,
                self.head, self.deprel, self.deps, self.misc)  # fmt: skip


Row = Word | MultiwordToken | EmptyNode
Token = Word | MultiwordToken
