"""The attribute kernels against Python's unicodedata and re."""

from __future__ import annotations

import re
import sys
import time
import unicodedata
from pathlib import Path

import naive_attributes as naive
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from marginalia import _core

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "core" / "base"
TABLES = FOLDER / "unicode_tables.inc"
SIMPLE = ["column", "lower", "width", "nfkc", "shape", "collapsed-shape", "char-class"]
texts = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("aZé0-.,/ 語ア三\u0301")), max_size=12
)


def same_unicode() -> bool:
    return f"Unicode {unicodedata.unidata_version};" in TABLES.read_text(encoding="utf-8").splitlines()[0]


def code_points() -> list[str]:
    """All code points; with another version of Unicode those that have not changed since an old one."""
    everything = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF]
    if same_unicode():
        return everything
    old = unicodedata.ucd_3_2_0
    return [c for c in everything if old.category(c) == unicodedata.category(c) != "Cn"]


@pytest.fixture(scope="module")
def all_code_points() -> list[str]:
    return code_points()


@pytest.mark.parametrize("function", ["lower", "shape", "width"])
def test_every_code_point(function, all_code_points):
    text = "".join(all_code_points)
    assert _core.evaluate_attribute(function, "", text) == naive.evaluate(function, "", text)


@pytest.mark.parametrize("name", naive.CLASSES)
def test_every_code_point_is_in_its_classes(name, all_code_points):
    sides = {True: [], False: []}
    for c in all_code_points:
        sides[bool(naive.CLASSES[name](c))].append(c)
    assert _core.evaluate_attribute("test", rf"^\{name}*$", "".join(sides[True])) == "true"
    assert _core.evaluate_attribute("test", rf"\{name}", "".join(sides[False])) == "false"


def test_every_code_point_has_its_char_class(all_code_points):
    evaluate = _core.evaluate_attribute
    some = [c for c in all_code_points if unicodedata.category(c) not in ("Cn", "Co") or ord(c) % 101 == 0]
    assert [c for c in some if evaluate("char-class", "", c) != naive.char_class(c)] == []


def test_every_code_point_has_its_normal_form(all_code_points):
    for char in all_code_points:
        for text in (char, f"e{char}\u0323\u0301"):
            expected = unicodedata.normalize("NFKC", text)
            assert _core.evaluate_attribute("nfkc", "", text) == expected, ascii(text)


# Letters that compose with each other, marks of several classes, Hangul letters and syllables.
COMPOSING = "aeoAO\u0301\u0302\u0323\u0327\u0345\u0338=<≠\u1100\u1161\u11a8가각かハ\u3099ﾞ㌀ﬁ①Ⅳ\u0b47\u0b3e"


@given(st.text(st.sampled_from(COMPOSING), max_size=12))
def test_normal_forms_of_any_order_of_marks(text):
    assert _core.evaluate_attribute("nfkc", "", text) == unicodedata.normalize("NFKC", text)


def test_the_tables_are_what_the_tool_writes(monkeypatch):
    if not same_unicode():
        pytest.skip("the tables are of another version of Unicode")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import make_unicode_tables

    for name, text in make_unicode_tables.FILES.items():
        assert text() == (FOLDER / name).read_text(encoding="utf-8"), name


@given(texts)
@example("")
def test_functions_of_any_text(text):
    calls = [(function, "") for function in SIMPLE]
    calls += [(affix, str(n)) for affix in ("prefix", "suffix") for n in (1, 2, 5)]
    calls += [("has", flag) for flag in naive.HAS] + [("is", name) for name in naive.IS]
    for function, argument in calls:
        assert _core.evaluate_attribute(function, argument, text) == naive.evaluate(function, argument, text)


@pytest.mark.parametrize(
    ("function", "argument", "value", "expected"),
    [
        ("shape", "", "Animal-42", "Xxxxxx-dd"),
        ("collapsed-shape", "", "Animal-42", "Xx-d"),
        ("shape", "", "e\u0301te\u0301", "xxx"),
        ("shape", "", "東京2020", "ccdddd"),
        ("lower", "", "ÉCOLE İI", "école ii"),
        ("width", "", "Ｗ１９９８　ｶﾞ％", "W1998 カ\u3099%"),
        ("nfkc", "", "Ｗ①ﬁｶﾞe\u0301", "W1fiガé"),
        ("prefix", "3", "日本語学", "日本語"),
        ("prefix", "3", "ab", None),
        ("suffix", "2", "ab", "ab"),
        ("char-class", "", "三月", "cjk-digit"),
        ("char-class", "", "３", "digit"),
        ("char-class", "", "Ｗ", "latin"),
        ("char-class", "", "ー", "katakana"),
        ("char-class", "", "", None),
        ("is", "two-digits", "90", "1"),
        ("is", "four-digits", "1990", "1"),
        ("is", "digits-letters", "A8956-67", "1"),
        ("is", "digits-dash", "09-96", "1"),
        ("is", "digits-slash", "11/9/89", "1"),
        ("is", "digits-comma", "23,000.00", "1"),
        ("is", "digits-period", "1.00", "1"),
        ("is", "number", "456789", "1"),
        ("is", "all-caps", "BBN", "1"),
        ("is", "cap-period", "M.", "1"),
        ("is", "initial-cap", "Sally", "1"),
        ("is", "lower-case", "can", "1"),
        ("is", "lower-case", "can't", None),
        ("test", r"^\u", "Sally", "true"),
        ("match", r"\a*$", "ab12cd", "cd"),
        ("match", r"\a*", "ab12cd", ""),
        ("match", r"\d?\d", "ab12cd", "12"),
        ("match", "x", "ab", ""),
        ("lower-match", r"^..", "ABC", "ab"),
    ],
)
def test_examples(function, argument, value, expected):
    assert _core.evaluate_attribute(function, argument, value) == expected
    assert naive.evaluate(function, argument, value) == expected


items = st.sampled_from(
    [*"ab1$ é", "b^", ".", *(rf"\{c}" for c in "adlpsuwADLPSUW"), r"\*", r"\\", r"\.", r"\?"]
)
patterns = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "^", "^^"]),
    st.lists(st.tuples(items, st.sampled_from(["", "*", "?"])).map("".join), max_size=6).map("".join),
    st.sampled_from(["", "$"]),
)


@settings(max_examples=400)
@given(patterns, st.text("abAB1 *\\.$^?é語\u0301", max_size=10))
def test_expressions_agree_with_python(pattern, text):
    expected = naive.found(pattern, text)
    assert _core.evaluate_attribute("test", pattern, text) == ("false" if expected is None else "true")
    assert _core.evaluate_attribute("match", pattern, text) == (expected or "")


def test_expressions_do_not_blow_up():
    begin = time.perf_counter()
    assert _core.evaluate_attribute("test", "a*" * 40 + "b", "a" * 400) == "false"
    assert _core.evaluate_attribute("test", "a?" * 40 + "a" * 40, "a" * 40) == "true"
    assert time.perf_counter() - begin < 1


@given(st.binary(max_size=20))
@example(b"\xc3")
@example(b"\xe3\x81")
@example(b"\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80")
def test_any_bytes_are_taken(data):
    """A byte that is not UTF-8 is one code point: exactly Python's surrogateescape."""
    text = data.decode("utf-8", "surrogateescape")

    def expected(function: str, argument: str) -> bytes | None:
        value = naive.evaluate(function, argument, text)
        return None if value is None else value.encode("utf-8", "surrogateescape")

    for function, argument in [
        ("lower", ""),
        ("shape", ""),
        ("prefix", "2"),
        ("suffix", "2"),
        ("match", r".\D$"),
    ]:
        assert _core.evaluate_attribute(function, argument, data) == expected(function, argument)


@pytest.mark.parametrize(
    ("function", "argument", "message"),
    [
        ("uper", "", "the function 'uper' is none of column lower prefix"),
        ("lower", "3", "the argument '3' is one too many"),
        ("prefix", "", "the length '' is not a whole number from 1 to 99"),
        ("suffix", "0", "the length '0' is not a whole number from 1 to 99"),
        ("suffix", "3x", "the length '3x' is not"),
        ("prefix", "99999999999999999999", "is not a whole number"),
        ("has", "digits", "has: the flag 'digits' is none of digit upper hyphen"),
        ("is", "caps", "is: the class 'caps' is none of two-digits four-digits"),
        ("test", "*a", "* or ? with nothing to repeat"),
        ("match", "a**", "* or ? with nothing to repeat"),
        ("match", "^?", "* or ? with nothing to repeat"),
        ("match", "a\\", "a backslash with nothing after it"),
    ],
)
def test_wrong_calls_are_explained(function, argument, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        _core.check_attribute(function, argument)
    with pytest.raises(ValueError, match=re.escape(message)):
        _core.evaluate_attribute(function, argument, "text")
