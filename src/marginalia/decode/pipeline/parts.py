"""A part of a pipeline that labels tokens: columns in, labels out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from marginalia._core import from_columns
from marginalia.corpus.blocks import Block
from marginalia.decode.confidence import needed_temperature
from marginalia.decode.tagger import Tagger
from marginalia.errors import ModelError
from marginalia.model import SavedModel

TOKENS, MULTIWORD, LEMMAS, PARSER = "tokens", "multiword", "lemmas", "parser"
"""Names of the parts of a bundle that are not of tags."""
DROPPED = "multiword-dropped"  # the table of what splits leave out of tokens
SUPERTAGS, SUPERTAG = "supertags", "supertag"  # a part that the parser alone looks at, and its column
TAGS = "tags"  # parts of tags are tags, tags-2 …
TAG_COLUMNS = ("upos", "xpos", "feats")
EMPTY = "_"


class LabelPart:
    """A model that labels tokens, as a part of a pipeline. It may be used from many threads at once."""

    def __init__(self, name: str, saved: SavedModel) -> None:
        self.name = name
        try:
            self.tagger = Tagger(saved)
        except ModelError as error:
            raise ModelError(f"the part '{name}': {error}") from None
        self._columns = self.tagger.feature_columns
        self._labels = saved.labels

    @property
    def columns(self) -> tuple[str, ...]:
        """What it labels: the columns that its label has the values of, `upos+xpos`."""
        return tuple(self.tagger.saved.label.split("+"))

    def block(self, columns: Mapping[str, list[str]], lengths: Sequence[int]) -> Block:
        """Sentences of these lengths, ready for the decoder."""
        if missing := [name for name in self._columns if name not in columns]:
            raise ModelError(f"the part '{self.name}' needs a column {missing[0]}, which there is not.")
        table = from_columns([columns[name] for name in self._columns], list(lengths))
        return Block(table, self._columns)

    def labels(self, columns: Mapping[str, list[str]], lengths: Sequence[int]) -> list[str]:
        """The label of each token of sentences of these lengths, given by all their columns."""
        names = self._labels
        return [names[i] for i in self.tagger.decoder.best(self.block(columns, lengths)).tolist()]

    def confidence(self, columns: Mapping[str, list[str]], lengths: Sequence[int]) -> list[float]:
        """How probable the label of each token is, if a temperature is known."""
        block, temperature = self.block(columns, lengths), needed_temperature(self.tagger.saved)
        sure = self.tagger.confidence_of(block, self.tagger.decoder.best(block), temperature)
        return [float(one) for one in sure.token]

    def values(self, columns: Mapping[str, list[str]], lengths: Sequence[int]) -> dict[str, list[str]]:
        """The same by the columns that labels have the values of."""
        found, names = self.labels(columns, lengths), self.columns
        if len(names) == 1:
            return {names[0]: found}
        split = {label: label.split(" ", len(names) - 1) for label in set(found)}
        if any(len(values) != len(names) for values in split.values()):
            raise ModelError(f"the part '{self.name}' has labels that do not fit its columns.")
        return {name: [split[label][i] for label in found] for i, name in enumerate(names)}


def joined_label(values: Sequence[str]) -> str:
    """The label that has the values of columns; only the last may have blanks."""
    return " ".join(values)
