"""Documents: CoNLL-U there and back, trees and offsets, located errors, damaged files."""

from __future__ import annotations

import gzip
import io
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_corpus_conllu import treebanks
from test_corpus_fuzz import damaged

import marginalia as mg
from marginalia.corpus import EmptyNode, MultiwordToken
from marginalia.corpus.spacing import decode_spaces, encode_spaces, writes_spaces
from marginalia.errors import DataError

SAMPLE = """\
# newdoc id = one
# sent_id = a
# text = Vámonos al mar, ya.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tGloss=go
1\tVamos\tir\tVERB\tV\tMood=Imp|Number=Plur\t0\troot\t0:root\t_
2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t1:obj\t_
2.1\tnada\t_\t_\t_\t_\t_\t_\t1:obj\tKept=Yes
3-4\tal\t_\t_\t_\tTypo=Yes\t_\t_\t_\t_
3\ta\ta\tADP\tR\t_\t5\tcase\t5:case\t_
4\tel\tel\tDET\tD\tDefinite=Def\t5\tdet\t5:det\t_
5\tmar\tmar\tNOUN\tN\t_\t1\tobl\t1:obl:a\tSpaceAfter=No
6\t,\t,\tPUNCT\t,\t_\t7\tpunct\t7:punct\t_
7\tya\tya\tADV\tR\t_\t1\tadvmod\t1:advmod\tSpaceAfter=No
8\t.\t.\tPUNCT\t.\t_\t1\tpunct\t1:punct\t_

# newpar
1\tBien\tbien\tADV\tR\t_\t0\troot\t_\tSpaceAfter=No
2\t!\t!\tPUNCT\t!\t_\t1\tpunct\t_\t_

"""


def read(text: str, **options: Any) -> mg.Document:
    return mg.read_conllu(io.BytesIO(text.encode()), **options)


def row(id_: object, form: str = "x", head: object = "_", misc: str = "_") -> str:
    return f"{id_}\t{form}\t_\t_\t_\t_\t{head}\t_\t_\t{misc}\n"


def test_a_document_has_all_of_its_file() -> None:
    document = read(SAMPLE)
    first, second = document
    assert document.to_conllu() == SAMPLE
    assert document.text == "Vámonos al mar, ya.\n\nBien!"
    assert (len(document), len(document.words), repr(document)) == (
        2,
        10,
        "<Document: 2 sentences, 10 words>",
    )
    assert (first.sent_id, first.newdoc, first.newpar) == ("a", "one", None)
    assert (second.sent_id, second.newdoc, second.newpar, second.line) == (None, None, "", 17)
    assert [token.form for token in first.tokens] == ["Vámonos", "al", "mar", ",", "ya", "."]
    assert first.multiword[0].misc_value("Gloss") == "go"
    assert first.multiword[1].features == {"Typo": "Yes"}
    assert [word.form for word in first.multiword[1].words] == ["a", "el"]
    assert first.empty == [EmptyNode(2, 1, "nada", deps="1:obj", misc="Kept=Yes")]
    assert [(s.start, s.end, s.text) for s in document] == [(0, 19, "Vámonos al mar, ya."), (21, 26, "Bien!")]


def test_words_know_their_tree_and_their_characters() -> None:
    document = read(SAMPLE)
    go, us, at, the, sea = document.words[:5]
    assert document.sentences[0].root is go
    assert go.head_word is None
    assert at.head_word is sea
    assert [word.form for word in go.children] == ["nos", "mar", "ya", "."]
    assert [word.form for word in sea.subtree] == ["a", "el", "mar"]
    assert go.features == {"Mood": "Imp", "Number": "Plur"}
    assert [(w.start, w.end) for w in (go, us, at, the, sea)] == [(0, 7), (0, 7), (8, 10), (8, 10), (11, 14)]
    assert [document.text[w.start : w.end] for w in document.sentences[1]] == ["Bien", "!"]
    alone = mg.Word(1, "alone")
    assert (alone.head_word, alone.children, alone.subtree) == (None, [], [alone])
    assert pickle.loads(pickle.dumps(document)).to_conllu() == SAMPLE


def test_changes_are_written() -> None:
    document = read(SAMPLE)
    document.words[4].deprel = "obj"
    document.sentences[0].set_comment("sent_id", "b\n c")
    document.sentences[1].set_comment("note", "new")
    expected = SAMPLE.replace("\t1\tobl\t", "\t1\tobj\t").replace("sent_id = a", "sent_id = b c")
    assert document.to_conllu() == expected.replace("# newpar\n", "# newpar\n# note = new\n")
    document.words[0].form = "a\tb"
    with pytest.raises(DataError, match=r"^5: fields \('1', 'a\\tb'.* cannot be written to CoNLL-U$"):
        document.to_conllu()


@given(treebanks())
def test_bytes_survive(text: str) -> None:
    fixed = with_heads(text)
    document = read(fixed, strict=False)
    assert document.to_conllu() == fixed
    streamed = mg.iterate_conllu(io.BytesIO(fixed.encode()), strict=False)
    assert list(streamed) == document.sentences
    assert pieces_are_forms(document)


def with_heads(text: str) -> str:
    """The same file with numbers as heads."""
    lines = [line.split("\t") for line in text.split("\n")]
    for number, fields in enumerate(lines):
        if len(fields) == 10:
            fields[6] = ("_", "0", "3", "777")[number % 4]
    return "\n".join("\t".join(fields) for fields in lines)


def pieces_are_forms(document: mg.Document) -> bool:
    for sentence in document:
        assert document.text[sentence.start : sentence.end] == sentence.text
        for token in sentence.tokens:
            piece = document.text[token.start : token.end]
            assert "".join(piece.split()) == "".join(token.form.split())
    return True


def test_made_sentences_are_written_and_placed() -> None:
    words = [mg.Word(1, "de", head=0), mg.Word(2, "el", head=1), mg.Word(3, "a", head=1)]
    sentence = mg.ParsedSentence(words, [MultiwordToken(1, 2, "del")], [EmptyNode(0, 1), EmptyNode(2, 1)])
    document = mg.Document.made([sentence])
    assert document.text == "del a"
    ids = [line.split("\t")[0] for line in document.to_conllu().splitlines()]
    assert ids == ["0.1", "1-2", "1", "2", "2.1", "3", ""]


TEXTS = st.lists(
    st.tuples(
        st.text("aé漢กb.-<\u0301", min_size=1, max_size=4),
        st.sampled_from(["", " ", "\n", "\u00a0 ", "\t|"[:1]]),
    ),
    min_size=1,
    max_size=12,
)


@given(TEXTS, st.integers(1, 4), st.sampled_from(["", " ", "\n"]), st.booleans(), st.booleans())
def test_marked_spaces_bring_the_text_back(
    parts: list[tuple[str, str]], size: int, before: str, with_text: bool, paragraphs: bool
) -> None:
    text, sentences = before, []
    for begin in range(0, len(parts), size):
        words = []
        for i, (form, gap) in enumerate(parts[begin : begin + size], 1):
            words.append(mg.Word(i, form, head=i - 1, start=len(text), end=len(text) + len(form)))
            text += form + gap
        if paragraphs and text.endswith(words[-1].form):
            text += "\n"  # paragraphs are never written without anything between them
        start, end = words[0].start, words[-1].end
        sentence = mg.ParsedSentence(words, text=text[start:end], start=start)
        if with_text:
            sentence.set_comment("text", sentence.text)
        if paragraphs:
            sentence.comments.insert(0, "# newpar")
        sentences.append(sentence)
    document = mg.Document(sentences, text)
    document.mark_spaces(ranges=True)
    again = read(document.to_conllu())
    assert again.text == text
    assert again.sentences == document.sentences
    assert again.words[-1].misc_value("TokenRange") == f"{document.words[-1].start}:{document.words[-1].end}"


@given(st.text(" \t\n\r|\\ sx"))
def test_escapes_come_back(text: str) -> None:
    assert decode_spaces(encode_spaces(text)) == text
    assert not set(encode_spaces(text)) & set(" \t\n\r|")


def test_spaces_follow_the_script() -> None:
    assert writes_spaces(["a", "漢字かな"]) is False
    assert writes_spaces(["ภาษา"]) is False
    assert writes_spaces(["слово", "и", "слово", "漢"]) is True
    assert writes_spaces(["한국어", "말"]) is True
    assert writes_spaces(["12", "."]) is None
    chinese = [row(1, "我"), row(2, "用", 1), row(3, "Big", 1), row(4, "Mac", 1), row(5, "。", 1), "\n"] * 2
    assert read("".join(chinese)).text == "我用Big Mac。" * 2
    assert read("".join(chinese), spaces=True).text == "我 用 Big Mac 。 我 用 Big Mac 。"
    latin = [row(1, "a"), row(2, "b", 1, "SpaceAfter=No"), row(3, "c", 1, r"SpacesAfter=\s\n"), "\n"]
    assert read("".join(latin)).text == "a bc \n"
    assert read("".join(latin), spaces=False).text == "a bc \n"


def test_streams_are_flat_and_files_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu.gz"
    read(SAMPLE).save(path)
    assert gzip.decompress(path.read_bytes()).decode() == SAMPLE
    assert [s.start for s in mg.iterate_conllu(path)] == [0, 21]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (row(1, head=2), "1:13: found head 2, expected a number from 0 to 1"),
        (row(1, head=1), "1:13: found head 1, expected another word than itself"),
        (
            row(1, head=0) + row(2, "long", head=0),
            "2:16: found a second root, expected one: word 1 has head 0, too",
        ),
        (
            row(1, head=0) + row(2, head=4) + row(3, head=2) + row(4, head=3),
            "2:13: found a cycle, expected a tree: 2 → 4 → 3 → 2",
        ),
        (
            "# text = a cat\n# sent_id = s\n" + row(1, "a") + row(2, "dog"),
            "3: found 'cat' in # text of sentence s behind 'a', expected 'dog' as by the forms",
        ),
        (
            "# text = a\n" + row(1, "a") + row(2, "b"),
            "2: found its end in # text behind 'a', expected 'b' as by the forms",
        ),
        (
            "# text = a b\n" + row(1, "a"),
            "2: found 'b' in # text behind 'a', expected its end as by the forms",
        ),
    ],
)
def test_strictness_is_located(text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(text)
    assert str(caught.value) == f"<stream>:{message}"
    assert read(text, strict=False).to_conllu() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (row(1, head="x"), "1:13: found head 'x', expected _ or a number from 0 to 1"),
        (row(1, head="01"), "1:13: found head '01', expected _ or a number from 0 to 1"),
        (row(1, head="9" * 5000), f"1:13: found head '{'9' * 20}…', expected _ or a number from 0 to 1"),
        (row("1-2") + row(1), "2:1: found the sentence's end, expected word 2 of a multiword token"),
        (row("1-2") + "# c\n", "2:1: found a comment inside a sentence, expected it before the first word"),
        (row("0.1") + "\n" + row(1), "2:1: found a blank line, expected a word"),
        (row("0.1"), "1:1: found the file's end, expected a word"),
        ("1\ta\n", "1:4: found 2 columns, expected 10"),
    ],
)
def test_what_is_no_conllu_is_located(text: str, message: str) -> None:
    for strict in (True, False):
        with pytest.raises(DataError) as caught:
            read(text, strict=strict)
        assert str(caught.value) == f"<stream>:{message}"


def test_bytes_that_are_not_utf8_are_located() -> None:
    with pytest.raises(DataError, match=r"^<stream>:2:3: found byte 0xFF, expected UTF-8 text$"):
        mg.read_conllu(io.BytesIO(b"# x\n1\t\xff\n"))


def test_long_sentences_are_no_trouble() -> None:
    words = [row(i, head=i - 1) for i in range(1, 5_001)]
    document = read("".join(words))
    assert len(document.words[0].subtree) == 5_000
    with pytest.raises(DataError, match=r"cycle, expected a tree: 1 → 5000 → 4999 → .* → …$"):
        read("".join([row(1, head=5_000), *words[1:]]))


@pytest.mark.parametrize("strict", [True, False])
def test_damage_is_an_error_or_a_document(strict: bool) -> None:
    rng, errors = random.Random(5), []
    for turn in range(1500):
        data = damaged(SAMPLE.encode(), rng) if turn % 3 else rng.randbytes(rng.randint(0, 80))
        try:
            document = mg.read_conllu(io.BytesIO(data), strict=strict)
        except DataError as error:
            errors.append(error)
            continue
        assert document.to_conllu().encode() == data or not document.sentences
        for word in document.words:
            assert word in word.subtree
    assert 400 < len(errors) < 1500
    assert all(error.line is not None for error in errors)
