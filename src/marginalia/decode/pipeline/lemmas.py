"""Lemmas: edit scripts of forms, chosen by a classifier from form and tags; exceptions are looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat

from marginalia.corpus.edit_scripts import apply_script, is_script
from marginalia.decode.pipeline.parts import EMPTY, LEMMAS, TAG_COLUMNS, LabelPart
from marginalia.errors import ModelError
from marginalia.model import SavedModel

LEMMA_COLUMNS = ("word", *TAG_COLUMNS)
_MOST = 200_000  # answers that are kept
Key = tuple[str, ...]


class Lemmatizer(LabelPart):
    """Gives words their lemmas. What it answers depends on form and tags alone, and is kept."""

    def __init__(self, saved: SavedModel, exceptions: Sequence[str] = ()) -> None:
        super().__init__(LEMMAS, saved)
        if not all(map(is_script, saved.labels)):
            raise ModelError("the part 'lemmas' has labels that are no edit scripts.")
        rows = [line.split("\t") for line in exceptions]
        if any(len(row) != len(LEMMA_COLUMNS) + 1 for row in rows):
            raise ModelError("the part 'lemmas' has a damaged table.")
        self.exceptions = {tuple(row[:-1]): row[-1] for row in rows}
        self._kept: dict[Key, str] = {}

    def lemmas(self, columns: Mapping[str, list[str]]) -> list[str]:
        """The lemma of each word; a column of tags that there is not is empty."""
        keys = list(zip(*(columns.get(name) or repeat(EMPTY) for name in LEMMA_COLUMNS), strict=False))
        kept = self._kept
        if new := [key for key in dict.fromkeys(keys) if key not in kept]:
            answers = dict(zip(new, self.answers(new), strict=True))
            if len(kept) + len(answers) > _MOST:
                kept = self._kept = {}
            kept.update(answers)
            return [answers.get(key) or kept.get(key) or self.answers([key])[0] for key in keys]
        return [kept[key] for key in keys]

    def answers(self, keys: Sequence[Key]) -> list[str]:
        """The lemmas of different words with their tags."""
        columns = {
            name: list(values) for name, values in zip(LEMMA_COLUMNS, zip(*keys, strict=True), strict=True)
        }
        scripts = self.labels(columns, [1] * len(keys))
        exceptions = self.exceptions
        return [
            exceptions.get(key) or apply_script(key[0], script) or key[0]
            for key, script in zip(keys, scripts, strict=True)
        ]
