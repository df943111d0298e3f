"""Checks on the ingredient-line corpus that ships with the package.

The files are read in plain Python, so that a fault in the library's own
reader cannot hide a fault in the data.  The rules checked here are those of
``GUIDELINE.md`` next to the data.
"""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "src" / "marginalia" / "data" / "ingredients"
SPLITS = ("train", "dev", "test")
TYPES = ("QTY", "UNIT", "SIZE", "NAME", "PREP", "COMMENT")
TAGS = {"O"} | {f"{bio}-{kind}" for bio in "BI" for kind in TYPES}

FRACTIONS = "½¼¾⅓⅔⅛"
PUNCTUATION = {",", ";", ":", "(", ")", "[", "]", "*", "!", "?", "/", "+", "--"}
# The only words that may stand outside every span.
OUTSIDE_WORDS = {"of", "or", "and", "plus", "x", "from", "each", "with", "in", "into", "the", "&"}
MEASURES = {
    "cup", "cups", "tsp", "tsp.", "tbsp", "tbsp.", "tablespoon", "tablespoons", "teaspoon",
    "teaspoons", "g", "kg", "ml", "dl", "l", "oz", "oz.", "ounce", "ounces", "lb", "lb.", "lbs",
    "pound", "pounds", "quart", "pint", "c.", "qt.", "pt.",
}  # fmt: skip
COUNT_WORDS = {
    "clove", "stick", "stalk", "sprig", "sprigs", "bunch", "bunches", "handful", "handfuls", "can",
    "cans", "tin", "tins", "jar", "bag", "bags", "packet", "package", "slice", "rashers", "knob",
    "splash", "dash", "bottle", "carton", "loaf", "block", "tub", "bulb", "bulbs", "spears",
}  # fmt: skip


def read(split):
    """Return the lines of one split, each a list of (token, tag) pairs."""
    text = (DATA / f"{split}.txt").read_bytes().decode("utf-8")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not text.startswith("\n")
    assert "\n\n\n" not in text
    assert "\r" not in text
    lines = []
    for block in text[:-1].split("\n\n"):
        rows = [row.split("\t") for row in block.split("\n")]
        assert all(len(row) == 2 and row[0] and row[0] == row[0].strip() for row in rows), block
        lines.append([(token, tag) for token, tag in rows])
    return lines


CORPUS = {split: read(split) for split in SPLITS}
ALL_LINES = [line for split in SPLITS for line in CORPUS[split]]


def text_of(line):
    return " ".join(token for token, _ in line)


def spans(line):
    """Return (type, start, end, tokens) for every span of a line."""
    found = []
    for i, (token, tag) in enumerate(line):
        if tag.startswith("B-"):
            found.append([tag[2:], i, i + 1, [token]])
        elif tag.startswith("I-"):
            found[-1][2] = i + 1
            found[-1][3].append(token)
    return [tuple(span) for span in found]


def normalised(line):
    """The line with case, punctuation and the values of numbers taken away."""
    text = re.sub(rf"[0-9{FRACTIONS}][0-9{FRACTIONS}/.,–-]*", "#", text_of(line).lower())
    return re.sub(r"\W+", " ", text.replace("#", " num ")).strip()


def complain(offenders):
    found = sorted(set(offenders))
    assert not found, "\n".join(found)


# Size and make-up.


def test_counts():
    total = len(ALL_LINES)
    assert total >= 800
    share = {split: len(CORPUS[split]) / total for split in SPLITS}
    assert 0.70 <= share["train"] <= 0.80
    assert 0.08 <= share["dev"] <= 0.15
    assert 0.10 <= share["test"] <= 0.20


@pytest.mark.parametrize("split", SPLITS)
def test_every_type_occurs_in_every_split(split):
    seen = Counter(kind for line in CORPUS[split] for kind, *_ in spans(line))
    assert set(seen) == set(TYPES)
    assert min(seen.values()) >= 10, seen


def test_no_duplicates_and_no_overlap_between_splits():
    seen = Counter(text_of(line).casefold() for line in ALL_LINES)
    complain(text for text, count in seen.items() if count > 1)


def test_no_line_differs_from_another_only_in_its_numbers():
    seen = Counter(normalised(line) for line in ALL_LINES)
    complain(text for text, count in seen.items() if count > 1)


# Tags.


def test_only_known_tags():
    complain(f"{tag}: {text_of(line)}" for line in ALL_LINES for _, tag in line if tag not in TAGS)


def test_iob2():
    offenders = []
    for line in ALL_LINES:
        previous = "O"
        for _, tag in line:
            if tag.startswith("I-") and previous[2:] != tag[2:]:
                offenders.append(f"{previous} {tag}: {text_of(line)}")
            previous = tag
    complain(offenders)


def test_every_line_names_an_ingredient():
    complain(text_of(line) for line in ALL_LINES if all(kind != "NAME" for kind, *_ in spans(line)))


def test_spans_of_one_type_do_not_touch():
    complain(
        text_of(line)
        for line in ALL_LINES
        for left, right in pairwise(spans(line))
        if left[0] == right[0] and left[2] == right[1]
    )


# Tokens.


def test_parentheses_balance():
    for line in ALL_LINES:
        depth = 0
        for token, _ in line:
            depth += (token == "(") - (token == ")")
            assert depth in (0, 1), text_of(line)
        assert depth == 0, text_of(line)


def test_punctuation_is_split_off():
    offenders = []
    for line in ALL_LINES:
        for i, (token, _) in enumerate(line):
            following = line[i + 1][0] if i + 1 < len(line) else ""
            if token in PUNCTUATION:
                continue
            bad = (
                re.search(r"[();:*!?\[\]\s]", token)
                or re.search(r"(?<![0-9]),|,(?![0-9])", token)
                or re.search(r"(?<![0-9])/|/(?![0-9])", token)
                # "28-" "oz": a hyphenated measure cut in two; "3- to 4-pound" is fine.
                or (token[0].isdigit() and token.endswith("-") and following != "to")
                # "500g" must be "500" "g".
                or re.fullmatch(rf"[0-9{FRACTIONS}.,/]+[A-Za-z]+\.?", token)
                # A full stop alone ends the line; otherwise an abbreviation has lost it.
                or (token == "." and following)
            )
            if bad:
                offenders.append(f"{token!r}: {text_of(line)}")
    complain(offenders)


# Consistency of the labels.


def test_punctuation_is_outside():
    complain(
        f"{token} {tag}: {text_of(line)}"
        for line in ALL_LINES
        for token, tag in line
        if token in PUNCTUATION | {"."} and tag != "O"
    )


def test_only_function_words_are_outside():
    complain(
        f"{token}: {text_of(line)}"
        for line in ALL_LINES
        for token, tag in line
        if tag == "O" and token not in PUNCTUATION | {".", "-"} and token.lower() not in OUTSIDE_WORDS
    )


def number_is_explained(kind, words):
    text = " ".join(words).lower()
    if kind == "QTY":
        return True
    if kind == "SIZE":
        return re.search(r"(inch|inches|cm|oz\.?|ounces?|pound|lb\.?|g|kg|ml|liter|teaspoons|count)\b", text)
    if kind == "PREP":
        return re.search(r"(inch|\"|\bcm\b|\bmm\b|hours?\b|minutes\b|pieces\b|triangles\b|into 4$)", text)
    if kind == "NAME":
        return re.search(r"[0-9]%|'00'", text)
    if kind == "COMMENT":
        return re.search(r"[0-9]%|°c|degrees|inches", text)
    return False


def test_numbers_are_quantities_or_explained():
    offenders = []
    for line in ALL_LINES:
        kinds = {i: (kind, words) for kind, a, b, words in spans(line) for i in range(a, b)}
        for i, (token, _) in enumerate(line):
            if re.search(rf"[0-9{FRACTIONS}]", token):
                kind, words = kinds.get(i, ("O", []))
                if not number_is_explained(kind, words):
                    offenders.append(f"{token} {kind}: {text_of(line)}")
    complain(offenders)


def test_hyphenated_measures_are_sizes():
    # "14-oz" and "2-inch" are never quantities; in "cut into 2-inch cubes" they are PREP.
    complain(
        f"{token} {tag}: {text_of(line)}"
        for line in ALL_LINES
        for token, tag in line
        if re.match(r"[0-9].*-(inch|oz|ounce|lb|pound|liter|ml)\b", token) and tag[2:] not in ("SIZE", "PREP")
    )


def test_measures_are_units():
    # In a SIZE ("15 oz" of a can) or PREP span they keep that span's label.
    complain(
        f"{token} {tag}: {text_of(line)}"
        for line in ALL_LINES
        for token, tag in line
        if token.lower() in MEASURES and tag[2:] not in ("UNIT", "SIZE", "PREP")
    )


def test_count_words_are_units_on_either_side_of_the_name():
    # "2 cloves garlic", "2 garlic cloves"; in a COMMENT or PREP ("if you can") they are prose.
    complain(
        f"{token} {tag}: {text_of(line)}"
        for line in ALL_LINES
        for token, tag in line
        if token.lower() in COUNT_WORDS and tag[2:] not in ("UNIT", "COMMENT", "PREP")
    )


def test_name_before_slash_or_conjunction_is_not_joined_to_the_next():
    # Alternatives are separate names; "hundreds and thousands" is one.
    complain(
        text_of(line)
        for line in ALL_LINES
        for kind, _, _, words in spans(line)
        if kind == "NAME"
        and {word.lower() for word in words} & {"or", "and", "&", "/"}
        and words != ["hundreds", "and", "thousands"]
    )


def test_two_preparations_joined_by_and_are_one_span():
    complain(
        text_of(line)
        for line in ALL_LINES
        for left, right in pairwise(spans(line))
        if left[0] == right[0] == "PREP"
        and right[1] - left[2] == 1
        and line[left[2]][0].lower() in ("and", "or", "&")
    )


def test_spans_do_not_begin_or_end_with_a_loose_function_word():
    complain(
        f"{' '.join(words)}: {text_of(line)}"
        for line in ALL_LINES
        for kind, _, _, words in spans(line)
        if (kind != "COMMENT" and words[0].lower() in ("of", "or", "and", "plus", "&", "from"))
        or words[-1].lower() in ("or", "and", "plus", "with", "the", "&")
    )


@pytest.mark.parametrize(
    ("word", "kinds"),
    [
        ("optional", {"COMMENT"}),
        ("divided", {"COMMENT"}),
        ("taste", {"COMMENT"}),
        ("finely", {"PREP"}),
        ("beaten", {"PREP"}),
        ("thawed", {"PREP"}),
        ("melted", {"PREP"}),
        ("drained", {"PREP"}),
        ("undrained", {"PREP"}),
        ("room", {"PREP"}),
        ("lukewarm", {"PREP"}),
        ("pitted", {"PREP"}),
        ("unsalted", {"NAME"}),
        ("smoked", {"NAME"}),
        ("medium", {"SIZE"}),
        ("jumbo", {"SIZE"}),
        ("large", {"SIZE", "PREP"}),  # "cut into large chunks"
        ("bone", {"PREP", "NAME"}),  # "bone in", "ham bone"
        ("boneless", {"NAME", "PREP"}),  # before the name, after it
    ],
)
def test_words_with_a_fixed_reading(word, kinds):
    seen = [tag[2:] for line in ALL_LINES for token, tag in line if token.lower() == word]
    assert seen, word
    assert set(seen) <= kinds, Counter(seen)
