"""Multiword tokens: which tokens of the text stand for several words, and for which.

A split is one edit script a word (corpus/edit_scripts.py), with blanks between them: `k;0;3;0; =n't` makes
`do` and `n't` of `don't`. A chain without transitions chooses one of those seen, or none, for each token; a
form that was always split in one way in training is split so. What no word keeps of a token must be letters
that the same split left out of a token in training: `-n't` is not cut off where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from marginalia.corpus.edit_scripts import WHOLE, apply_script, edit_script, kept_stretch
from marginalia.decode.pipeline.parts import MULTIWORD, LabelPart
from marginalia.errors import ModelError
from marginalia.model import SavedModel

UNSPLIT = "-"


class MultiwordSplitter(LabelPart):
    """Splits tokens into words. `known` has the words of forms that are split in one way only, `dropped` by
    label the letters that it may leave out; files of former versions have none, and leave out any."""

    def __init__(
        self, saved: SavedModel, known: Sequence[str] = (), dropped: Sequence[str] | None = None
    ) -> None:
        super().__init__(MULTIWORD, saved)
        rows = [line.split("\t") for line in (*known, *(dropped or ()))]
        if any(len(row) != 2 for row in rows):
            raise ModelError("the part 'multiword' has a damaged table.")
        self._known = {form: tuple(words.split(" ")) for form, words in rows[: len(known)]}
        self._dropped = (
            None if dropped is None else {(label, letters) for label, letters in rows[len(known) :]}
        )

    def words(self, forms: list[str], lengths: Sequence[int]) -> list[tuple[str, ...]]:
        """The words of each token of sentences; one, itself, of most."""
        found = []
        for form, label in zip(forms, self.labels({"word": forms}, lengths), strict=True):
            known = self._known.get(form)
            found.append(known or self._split(form, label) or (form,))
        return found

    def _split(self, form: str, label: str) -> tuple[str, ...] | None:
        words = split_by(form, label)
        if words is None or self._dropped is None:
            return words
        return words if (label, dropped_letters(form, label)) in self._dropped else None


def split_scripts(form: str, words: Sequence[str]) -> list[str]:
    """The labels by which a form is split into words: in one, all words are made of the form (a compound is
    cut); in each other one a single word is, and the others are as they are. None if words have blanks."""
    if any(" " in word for word in words):
        return []
    labels = [" ".join(edit_script(form, word) for word in words)]
    for pivot, own in enumerate(words):
        scripts = [edit_script(form, own) if i == pivot else WHOLE + word for i, word in enumerate(words)]
        labels.append(" ".join(scripts))
    return [label for label in dict.fromkeys(labels) if split_by(form, label) == tuple(words)]


def split_by(form: str, label: str) -> tuple[str, ...] | None:
    """The words that a label makes of a form; None if it leaves it whole or does not fit."""
    if label == UNSPLIT:
        return None
    words = tuple(apply_script(form, script) for script in label.split(" "))
    return None if any(not word for word in words) else words  # type: ignore[return-value]


def dropped_letters(form: str, label: str) -> str:
    """What of a form none of the words keeps that a label makes of it, in lower case; a blank stands for each
    stretch that is kept."""
    kept = sorted(kept_stretch(form, script) for script in label.split(" "))
    left, at = "", 0
    for first, last in kept:
        if first < last:
            left += form[at:first] + ("" if first < at else " ")
            at = max(at, last)
    return (left + form[at:]).lower()
