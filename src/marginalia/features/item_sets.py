"""Templates of items by name: ready-made sets, made for the columns of the data, or files.

`bag`, the default, looks at a sample of the data. A column of texts gives words and pairs of words in lower
case (character n-grams if the language writes no blanks), one of numbers is counted in a power of ten that
brings it near 1, one of few values gives each value, one of many single words gives character n-grams. A
column that numbers the items (`id`, `…_id`) is left out. `bag-chars` adds character n-grams to texts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from marginalia.errors import SettingsError
from marginalia.features.item_templates import parse_item_templates, quoted
from marginalia.features.program import TemplateProgram
from marginalia.features.reading import Columns, nearest, text_of_file
from marginalia.features.templates import NAME

ITEM_SETS = ("bag", "bag-chars")
"""The names of the ready-made sets for items."""

_IDENTIFIER = re.compile(r"(?:.*[_-])?(?:id|uuid)", re.IGNORECASE)
_FEW = 10  # distinct numbers that may be categories as well
_LONG = 15.0  # characters between blanks: no language with blanks has so many
_CHARACTERS = "lower-chars(2..4)({column})"

Sample = Mapping[str, Sequence[str]]


def load_item_features(
    name_or_path: str, columns: Sequence[str], label: str, sample: Sample
) -> TemplateProgram:
    """The program of a ready-made set or of a template file; `sample` has some values of each column."""
    known = Columns(columns, label)
    if name_or_path in ITEM_SETS:
        text = "\n".join(templates_for(sample, name_or_path))
        return parse_item_templates(text, known, file=f"set '{name_or_path}'")
    path = Path(name_or_path)
    if not path.is_file():
        raise SettingsError(
            f"features: '{path}' is neither a ready-made set for items nor a template file. "
            f"{nearest(str(path), ITEM_SETS)}"
        )
    text = text_of_file(path)
    return parse_item_templates(text, known, file=str(path))


def templates_for(sample: Sample, name: str = "bag") -> list[str]:
    """The lines of a ready-made set for data of which this is a sample."""
    found = ["bias"] if "bias" not in sample else []
    for column, values in sample.items():
        present = [value for value in values if value.strip()]
        if present and not _IDENTIFIER.fullmatch(column):
            named = column if NAME.fullmatch(column) else quoted(column)
            found += (line.format(column=named) for line in _lines(present, name == "bag-chars"))
    return found


def _lines(values: Sequence[str], characters: bool) -> Iterator[str]:
    """The templates of a column with these values, none of them blank."""
    distinct, numbers = len(set(values)), _numbers(values)
    if numbers is not None:
        yield f"number({_unit(numbers):g})({{column}})"
        if distinct <= _FEW:
            yield "{column}"
        return
    words = sum(len(value.split()) for value in values)
    length = sum(map(len, values)) / words
    if words / len(values) > 2 or length > _LONG:
        yield "chars(1..3)({column})" if length > _LONG else "lower-ngrams(1..2)({column})"
        if characters and length <= _LONG:
            yield _CHARACTERS
        return
    yield "{column}"
    if 2 * distinct > len(values) > _FEW or characters:
        yield _CHARACTERS


def _numbers(values: Sequence[str]) -> list[float] | None:
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return None
    if any("_" in value for value in values):
        return None
    # "nan" among numbers is no word: extraction names the line that has it.
    return [number for number in numbers if math.isfinite(number)] or None


def _unit(numbers: Sequence[float]) -> float:
    """The power of ten that brings the largest number to between 0.1 and 1, as far as one needs it."""
    largest = max(map(abs, numbers))
    return 10.0 ** max(-30, min(30, math.ceil(math.log10(largest)))) if largest else 1.0
