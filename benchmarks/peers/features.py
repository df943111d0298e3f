"""Feature strings for python-crfsuite: what its users write, written to be quick."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

Columns = list[tuple[str, ...]]
Extract = Callable[[Columns], list[list[str]]]

MACRO = re.compile(r"%x\[(-?\d+),(\d+)\]")


def extractor(features: str) -> Extract:
    """`pos`, `words` or a CRF++ template file."""
    ready = {"pos": pos, "words": words}
    return ready[features] if features in ready else from_template(features)


def from_template(path: str) -> Extract:
    """One generated comprehension of f-strings for the whole template: as fast as writing it out by hand.

    Positions outside the sentence give `_B-1`, `_B+1`…, as in CRF++. The `B` line needs nothing: CRFsuite
    always has label bigrams.
    """
    with open(path, encoding="utf-8") as file:
        templates = [line.strip() for line in file if line.startswith("U")]
    places = sorted(
        {(int(column), int(offset)) for line in templates for offset, column in MACRO.findall(line)}
    )
    pad = max(abs(offset) for _, offset in places)
    names = {place: f"v{number}" for number, place in enumerate(places)}
    strings = ", ".join(_f_string(line, names) for line in templates)
    shifted = ", ".join(f"c[{column}][{pad + offset}:{pad + offset}+n]" for column, offset in places)
    inner = eval(f"lambda c, n: [[{strings}] for {', '.join(names.values())}, in zip({shifted})]")
    before = [f"_B-{distance}" for distance in range(pad, 0, -1)]
    after = [f"_B+{distance}" for distance in range(1, pad + 1)]

    def extract(columns: Columns) -> list[list[str]]:
        return inner([[*before, *column, *after] for column in columns], len(columns[0]))

    return extract


def _f_string(template: str, names: dict[tuple[int, int], str]) -> str:
    escaped = template.replace("\\", "\\\\").replace('"', '\\"').replace("{", "{{").replace("}", "}}")
    return 'f"' + MACRO.sub(lambda m: "{" + names[int(m[2]), int(m[1])] + "}", escaped) + '"'


def pos(columns: Columns) -> list[list[str]]:
    """Ratnaparkhi's features for all words: word, ±1, ±2, affixes up to 4, digit, upper case, hyphen."""
    words = columns[0]
    padded = ["_B-2", "_B-1", *words, "_B+1", "_B+2"]
    neighbours = zip(padded, padded[1:], padded[3:], padded[4:], strict=False)
    return [
        [f"-2={a}", f"-1={b}", f"+1={c}", f"+2={d}", *_of_word(word)]
        for word, (a, b, c, d) in zip(words, neighbours, strict=True)
    ]


@cache
def _of_word(word: str) -> tuple[str, ...]:
    sizes = range(1, min(4, len(word)) + 1)
    flags = [
        name
        for name, test in (("digit", str.isdigit), ("upper", str.isupper), ("hyphen", "-".__eq__))
        if any(map(test, word))
    ]
    return (f"0={word}", *(f"p{n}={word[:n]}" for n in sizes), *(f"s{n}={word[-n:]}" for n in sizes), *flags)


def words(columns: Columns) -> list[list[str]]:
    """What somebody who knows CRFsuite writes for names, slots and tags: of the word its form, lower case,
    shape, affixes and classes, of two neighbours on each side form, shape and class, pairs of words, and all
    other columns of three tokens with their pairs. Written before our recipes were chosen; it stays."""
    tokens = columns[0]
    own, around = [_spelling(word) for word in tokens], [_neighbour(word) for word in tokens]
    lower = ["_B", *(word.lower() for word in tokens), "_E"]
    found = []
    for i in range(len(tokens)):
        features = ["bias", *own[i]]
        for offset in (-2, -1, 1, 2):
            j = i + offset
            seen = around[j] if 0 <= j < len(tokens) else ("_B",) if j < 0 else ("_E",)
            features += [f"{offset}:{one}" for one in seen]
        features += [f"-1|0={lower[i]}|{lower[i + 1]}", f"0|+1={lower[i + 1]}|{lower[i + 2]}"]
        for number, column in enumerate(columns[1:], 1):
            before = column[i - 1] if i else "_B"
            after = column[i + 1] if i + 1 < len(tokens) else "_E"
            features += [f"c{number}={column[i]}", f"-1:c{number}={before}", f"+1:c{number}={after}"]
            features += [f"c{number}:-1|0={before}|{column[i]}", f"c{number}:0|+1={column[i]}|{after}"]
        found.append(features)
    return found


@cache
def _shape(word: str) -> str:
    short = ["X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word]
    return "".join(c for i, c in enumerate(short) if i == 0 or c != short[i - 1])


@cache
def _spelling(word: str) -> tuple[str, ...]:
    low, sizes = word.lower(), range(1, min(4, len(word)) + 1)
    tests = {
        "title": word.istitle(),
        "upper": word.isupper(),
        "digits": word.isdigit(),
        "hyphen": "-" in word,
    }
    tests |= {"has-digit": any(map(str.isdigit, word)), "has-upper": word != low}
    affixes = [*(f"p{n}={low[:n]}" for n in sizes), *(f"s{n}={low[-n:]}" for n in sizes)]
    return (f"w={word}", f"l={low}", f"shape={_shape(word)}", *affixes, *(k for k, v in tests.items() if v))


@cache
def _neighbour(word: str) -> tuple[str, ...]:
    flags = [name for name, on in (("title", word.istitle()), ("upper", word.isupper())) if on]
    return (f"l={word.lower()}", f"shape={_shape(word)}", *flags)
