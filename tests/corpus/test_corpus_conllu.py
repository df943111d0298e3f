"""CoNLL-U: byte for byte there and back, with located errors."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus import Sentence, read_conllu_columns, write_conllu_columns
from marginalia.corpus.conllu import get_key, set_key
from marginalia.errors import DataError

ROW = "{}\t{}\t_\tX\tY\t_\t0\troot\t_\t{}"
SAMPLE = "\n".join(
    [
        "# newdoc id = one",
        "# text = vámonos al mar",
        "1-2\tvámonos" + "\t_" * 8,
        ROW.format(1, "vamos", "NE=B-X|SpaceAfter=No"),
        ROW.format(2, "nos", "_"),
        "2.1\tnada" + "\t_" * 8,
        ROW.format(3, "al mar", "Gloss=to sea"),
        "",
        "",
        "# newdoc",
        ROW.format(1, "日本", "_"),
        "",
    ]
)


def read(text: str, keys: tuple[str, ...] = ()) -> list[Sentence]:
    return list(read_conllu_columns(io.BytesIO(text.encode()), keys))


def written(sentences: list[Sentence]) -> str:
    target = io.BytesIO()
    write_conllu_columns(sentences, target)
    return target.getvalue().decode()


def test_words_comments_and_documents() -> None:
    first, second = read(SAMPLE, ("NE",))
    assert first.tokens == first.columns["form"] == ["vamos", "nos", "al mar"]
    assert (first.text, first.line, first.document) == ("vámonos al mar", 4, 1)
    assert first.columns["misc.NE"] == ["B-X", "O", "O"]
    assert (second.comments, second.line, second.document) == (["# newdoc"], 11, 2)


FIELD = st.text(
    st.characters(exclude_categories=["Cs", "Zl", "Zp"], exclude_characters="\0\n\r\t"),
    min_size=1,
    max_size=4,
)


@st.composite
def treebanks(draw: st.DrawFn) -> str:
    newline, lines = draw(st.sampled_from(["\n", "\r\n"])), draw(st.sampled_from([[], [""]]))
    for _ in range(draw(st.integers(0, 3))):
        lines = lines + draw(st.lists(st.sampled_from(["# text = x", "#", "# newdoc"]), max_size=2))
        for i in range(draw(st.integers(1, 4))):
            empty = draw(st.integers(0, 2))
            ids = (
                [f"{i}.{k + 1}" for k in range(empty)]
                + [f"{i + 1}-{i + 1}"] * draw(st.integers(0, 1))
                + [str(i + 1)]
            )
            lines = lines + ["\t".join([id_, *(draw(FIELD) for _ in range(9))]) for id_ in ids]
        lines = lines + [""] * draw(st.integers(1, 2))
    if not any(line for line in lines):
        return ""
    return draw(st.sampled_from(["", "\ufeff"])) + newline.join(lines) + draw(st.sampled_from(["", newline]))


@given(treebanks())
def test_bytes_survive(text: str) -> None:
    assert written(read(text)) == text
    assert written(read(text, ("NE", "Gloss"))) == text


@given(treebanks())
def test_a_replaced_column_changes_nothing_else(text: str) -> None:
    sentences = read(text)
    for sentence in sentences:
        sentence.columns["xpos"] = ["NEW"] * len(sentence)
    changed = written(sentences)
    again = read(changed)
    assert all(value == "NEW" for sentence in again for value in sentence.columns["xpos"])
    for new, old in zip(again, read(text), strict=True):
        new.columns["xpos"] = old.columns["xpos"]
    assert written(again) == text


def test_a_key_of_misc_can_be_replaced() -> None:
    sentences = read(SAMPLE, ("NE",))
    sentences[0].columns["misc.NE"] = ["O", "B-Y", "I-Y"]
    expected = SAMPLE.replace("NE=B-X|Space", "Space").replace("root\t_\t_\n2.1", "root\t_\tNE=B-Y\n2.1")
    assert written(sentences) == expected.replace("Gloss=to sea", "Gloss=to sea|NE=I-Y")


@given(st.sampled_from(["_", "A=1", "NE=B", "A=1|NE=B|C", "NEx=1"]), st.sampled_from(["O", "B", "I-x"]))
def test_keys_are_set_and_read(misc: str, value: str) -> None:
    changed = set_key(misc, "NE", value)
    assert get_key(changed, "NE") == value
    assert set_key(changed, "NE", get_key(misc, "NE")).count("=") == misc.count("=")


def test_sentences_of_other_formats_get_ids() -> None:
    sentence = Sentence({"word": ["a", "b"], "upos": ["N", "V"], "misc.NE": ["B-X", "O"]}, comments=["# c"])
    expected = "# c\n1\ta\t_\tN\t_\t_\t_\t_\t_\tNE=B-X\n2\tb\t_\tV\t_\t_\t_\t_\t_\t_\n\n"
    assert written([sentence]) == expected


GOOD = ROW.format(1, "a", "_")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\tb", "1:6: found 3 columns, expected 10"),
        (f"{GOOD}\tx", f"1:{len(GOOD) + 2}: found 11 columns, expected 10"),
        (ROW.format(1, "", "_"), "1:3: found an empty form field, expected _ or a value"),
        (f"{GOOD}\n{GOOD}", "2:1: found id '1', expected 2, 2-N or 1.1"),
        (f"{GOOD}\n{ROW.format('2-1', 'x', '_')}", "2:1: found id '2-1', expected 2, 2-N or 1.1"),
        (f"{GOOD}\n{ROW.format('1.2', 'x', '_')}", "2:1: found id '1.2', expected 2, 2-N or 1.1"),
        (ROW.format("x", "x", "_"), "1:1: found id 'x', expected 1, 1-N or 0.1"),
        (f"{GOOD}\n# late", "2:1: found a comment inside a sentence, expected it before the first word"),
        ("# c\n\n", "2:1: found a blank line, expected words after the comments"),
        ("# c\n", "1:1: found comments without a sentence, expected words after them"),
        (
            f"{ROW.format('1-2', 'ab', '_')}\n{GOOD}\n\n",
            "3:1: found the sentence's end, expected word 2 of a multiword token",
        ),
        (
            f"{ROW.format('1-2', 'ab', '_')}\n{GOOD}",
            "2:1: found the sentence's end, expected word 2 of a multiword token",
        ),
        ("\ufeffé\0", "1:2: found a NUL byte, expected UTF-8 text"),
    ],
)
def test_errors_are_located(text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(text)
    assert str(caught.value) == f"<stream>:{message}"


def test_bytes_that_are_not_utf8_are_located() -> None:
    with pytest.raises(DataError, match=r"^<stream>:2:3: found byte 0xFF, expected UTF-8 text$"):
        list(read_conllu_columns(io.BytesIO(b"# x\n\xc3\xa9 \xff\n")))


@pytest.mark.parametrize("value", ["", "a\tb", "a\n"])
def test_values_that_would_break_the_file_are_refused(value: str) -> None:
    sentences = read(GOOD)
    sentences[0].columns["xpos"] = [value]
    with pytest.raises(DataError, match="cannot be written to CoNLL-U"):
        written(sentences)
