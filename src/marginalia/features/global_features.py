"""Declared sets of global features: text files, one family a line (docs/global-features.md)."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marginalia import _core
from marginalia.corpus.schemes import scheme_named, split_label
from marginalia.corpus.streams import encodable, read_numbered
from marginalia.errors import DataError, SettingsError
from marginalia.features.reading import Line, lines, nearest, text_of_file

GLOBAL_SETS = ("nonlocal", "nonlocal-rich", "collins-reranking", "words-reranking")
"""The names of the ready-made sets."""
FAMILIES: tuple[str, ...] = tuple(_core.global_families())
_WITH_LENGTH = FAMILIES[:6]  # of strings that occur more than once; as kGroupFamilies of the core
_LOWERCASE = re.compile(r"lowercase\s*=\s*(.*)")
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True)
class GlobalFeatures:
    """What is declared: families of features, words that are more often in lower case than not, functions of
    users by name (`module:function`)."""

    families: tuple[str, ...]
    lowercase: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    def native(self, labels: Sequence[str], encoding: str | None) -> _core.GlobalSet:
        """The set for the core; functions are imported, and get spans of the types that labels have."""
        types = mention_types(labels, encoding)
        functions = [_called(name, types) for name in self.functions]
        return _core.GlobalSet(list(self.families), list(self.lowercase), functions)


def load_global_features(
    name_or_path: str, functions: Sequence[str] = (), lowercase: str | None = None
) -> GlobalFeatures:
    """The features of a ready-made set or of a file; `lowercase` is the file of a word list, in place of the
    one that the file may name."""
    for name in functions:
        _function(name)
    if name_or_path in GLOBAL_SETS:
        found = parse_global_features(text_of_global_set(name_or_path), f"set '{name_or_path}'", Path())
    else:
        path = Path(name_or_path)
        if not path.is_file():
            raise SettingsError(
                f"global features: '{path}' is neither a ready-made set nor a file. "
                f"{nearest(str(path), GLOBAL_SETS)}"
            )
        text = text_of_file(path)
        found = parse_global_features(text, str(path), path.parent)
    words = found.lowercase if lowercase is None else read_words(Path(lowercase))
    return GlobalFeatures(found.families, words, tuple(functions))


def text_of_global_set(name: str) -> str:
    """The text of a ready-made set; the first line says what it is for."""
    from importlib import resources

    folder = resources.files("marginalia.features") / "global_sets"
    return (folder / f"{name}.txt").read_text(encoding="utf-8")


def parse_global_features(text: str, file: str, folder: Path) -> GlobalFeatures:
    """The families of a file, one a line, and `lowercase = FILE`, whose name is relative to the folder."""
    families: dict[str, Line] = {}
    lowercase: tuple[str, ...] = ()
    for line in lines(text, file):
        said = line.text.partition("#")[0].strip()
        if not said:
            continue
        if (found := _LOWERCASE.fullmatch(said)) is not None:
            lowercase = read_words(folder / found[1])
            continue
        _check_family(said, line)
        if said in families:
            raise line.error(0, f"found '{said}', which is in line {families[said].number} already.")
        families[said] = line
    if not families:
        raise SettingsError(f"{file}: there is no family of global features in this file.")
    return GlobalFeatures(tuple(families), lowercase)


def _check_family(said: str, line: Line) -> None:
    name, slash, variant = said.partition("/")
    if name not in FAMILIES:
        raise line.error(0, f"there is no family '{name}' of global features. {nearest(name, FAMILIES)}")
    if slash and variant != "length":
        raise line.error(len(name), f"found '/{variant}', expected nothing or /length.")
    if slash and name not in _WITH_LENGTH:
        raise line.error(len(name), f"{name} has no variant with lengths; {', '.join(_WITH_LENGTH)} have.")


def read_words(path: Path) -> tuple[str, ...]:
    """The words of a list, one a line, in lower case; what `marginalia casing` writes."""
    found = (word.strip().lower() for _, word in read_numbered(str(path), "list of words in lower case"))
    return tuple(dict.fromkeys(filter(None, found)))


def mention_types(labels: Sequence[str], encoding: str | None) -> list[str]:
    """The types of mentions that labels can spell, by name; plain tags are types of mentions of one token."""
    if encoding is None:
        return sorted(label for label in labels if label != "O")
    return sorted({split_label(label)[1] for label in labels if label != "O"})


def mention_labels(labels: Sequence[str], encoding: str | None) -> _core.MentionLabels:
    """How labels spell mentions, for the core."""
    import numpy as np

    types = mention_types(labels, encoding)
    outside = 2**32 - 1
    parts = [("", label) if encoding is None else split_label(label) for label in labels]
    type_of = [outside if label == "O" else types.index(p[1]) for label, p in zip(labels, parts, strict=True)]
    joined = np.zeros((len(labels), len(labels)), np.uint8)
    if encoding is not None:
        rules = scheme_named(encoding)
        for i, left in enumerate(parts):
            for j, right in enumerate(parts):
                inside = type_of[i] == type_of[j] != outside
                joined[i, j] = inside and rules.joined(left[0], right[0], True)
    return _core.MentionLabels(types, np.array(type_of, np.uint32), joined.ravel())


def _function(name: str) -> Callable[..., Iterable[str]]:
    """The function that a name stands for; an error that says what is wrong if there is none."""
    if not isinstance(name, str) or not _FUNCTION.fullmatch(name):
        given = f"'{name}'" if isinstance(name, str) else type(name).__name__
        raise SettingsError(f"global function: found {given}, expected its name, module:function.")
    module, _, attribute = name.partition(":")
    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        raise SettingsError(
            f"global function '{name}': the module {module} cannot be imported ({error}). It must be where "
            "Python finds modules, in training and wherever the model is used: set PYTHONPATH, or install it."
        ) from error
    except Exception as error:  # of the user's code
        what = f"the module {module} failed with {type(error).__name__}: {error}"
        raise SettingsError(f"global function '{name}': {what}") from error
    if not hasattr(imported, attribute):
        raise SettingsError(f"global function '{name}': the module has no {attribute}.")
    found: Callable[..., Iterable[str]] = getattr(imported, attribute)
    if not callable(found):
        raise SettingsError(f"global function '{name}': this is not a function.")
    return found


def _called(name: str, types: Sequence[str]) -> Callable[[list[str], list[Any]], list[str]]:
    """The function as the core calls it: spans come with the numbers of types."""
    function = _function(name)
    prefix = name.partition(":")[2]

    def features(tokens: list[str], mentions: list[tuple[int, int, int]]) -> list[str]:
        spans = [(begin, end, types[type_]) for begin, end, type_ in mentions]
        try:
            found = list(function(tokens, spans))
        except Exception as error:
            what = f"failed with {type(error).__name__}: {error}"
            raise DataError(f"global function '{name}' {what}; expected names of features") from error
        for feature in found:
            if not isinstance(feature, str) or not encodable(feature):
                raise DataError(f"global function '{name}' gave {feature!r}, expected names of features")
        return [f"{prefix}:{feature}" for feature in found]

    return features
