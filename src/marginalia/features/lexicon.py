"""A treebank's own lexicon as soft evidence: which tags a word form was seen with (docs/ud.md).

In use a form has the class of all tags that it had in training. While training, each occurrence is left out
of its own evidence: a form that was seen once is unknown there, as new forms will be in use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

UNKNOWN = "_"
_MOST = 3  # tags of a class
_LEAST = 0.05  # share of a form's occurrences that a tag must have


class TagLexicon:
    """Word forms with the class of their tags, most frequent first; unknown forms are looked up in lower
    case."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        self.classes = dict(classes)

    @classmethod
    def of(cls, counts: Mapping[str, Counter[str]]) -> TagLexicon:
        """The lexicon of counted forms."""
        return cls({form: class_of(own) for form, own in counts.items()})

    def column(self, forms: Iterable[str]) -> list[str]:
        """The class of each form."""
        get = self.classes.get
        return [get(form) or get(form.lower(), UNKNOWN) for form in forms]


def count_tags(forms: Iterable[str], tags: Iterable[str]) -> dict[str, Counter[str]]:
    """How often each form had each tag."""
    counts: dict[str, Counter[str]] = {}
    for form, tag in zip(forms, tags, strict=True):
        counts.setdefault(form, Counter())[tag] += 1
    return counts


def held_out_column(
    counts: Mapping[str, Counter[str]], forms: Sequence[str], tags: Sequence[str]
) -> list[str]:
    """The class of each form of training data, its own occurrence left out."""
    made: dict[tuple[str, str], str] = {}
    column = []
    for form, tag in zip(forms, tags, strict=True):
        if (found := made.get((form, tag))) is None:
            found = made[form, tag] = _without(counts, form, tag)
        column.append(found)
    return column


def _without(counts: Mapping[str, Counter[str]], form: str, tag: str) -> str:
    own = counts[form] - Counter({tag: 1})
    lower = form.lower()
    if not own and lower != form:
        own = counts.get(lower, own)
    return class_of(own)


def class_of(counts: Counter[str]) -> str:
    """The most frequent tags; ties by name."""
    total = sum(counts.values())
    if not total:
        return UNKNOWN
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ",".join(tag for tag, n in ranked[:_MOST] if n >= _LEAST * total)
