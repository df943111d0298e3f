"""Columns of characters: one value for each, whatever the text is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from marginalia.features.characters import COLUMNS, character_columns, lexicon_columns
from marginalia.features.lexicon import UNKNOWN, TagLexicon, count_tags, held_out_column


@given(st.text(max_size=60), st.booleans())
def test_every_character_has_all_columns(text: str, breaks: bool) -> None:
    columns = character_columns(text, breaks)
    assert len(columns) == len(COLUMNS)
    assert all(len(column) == len(text) for column in columns)
    for column in columns:
        assert all(value and "\n" not in value and "\0" not in value for value in column)
        "".join(column).encode()


def test_a_chunk_is_known_to_its_characters_and_its_neighbours_to_its_first() -> None:
    chars, chunk, place, before, after = character_columns("Hi, you\nx", breaks=True)
    assert "".join(chars) == "Hi,␣you⏎x"
    assert chunk[:4] == ["Hi,", "Hi,", "Hi,", "_"]
    assert place[:3] == ["0", "1", "2e"]
    assert (before[0], after[0]) == ("_B", "you")
    assert (before[4], after[4]) == ("Hi,", "x")
    assert before[1] == after[1] == "_"
    assert character_columns("a\nb")[0][1] == "␣"


def test_long_chunks_have_no_name() -> None:
    columns = character_columns("x" * 30 + " y")
    assert columns[1][:30] == ["_"] * 30
    assert columns[3][31] == "xxxx…xxxx"


def test_in_training_each_occurrence_is_left_out_of_its_own_evidence() -> None:
    forms, tags = ["a", "a", "b", "The", "the"], ["X", "Y", "X", "D", "D"]
    counts = count_tags(forms, tags)
    assert held_out_column(counts, forms, tags) == ["Y", "X", UNKNOWN, "D", UNKNOWN]
    lexicon = TagLexicon.of(counts)
    assert lexicon.column(["a", "b", "c", "THE"]) == ["X,Y", "X", UNKNOWN, "D"]


@given(st.text(alphabet="abc", max_size=12), st.sets(st.text(alphabet="abc", min_size=2, max_size=4)))
def test_known_tokens_are_found_at_every_place(text: str, lexicon: set[str]) -> None:
    places = [(i, j) for i in range(len(text)) for j in range(i + 2, len(text) + 1) if text[i:j] in lexicon]

    def longest(chosen: list[tuple[int, int]]) -> str:
        return str(max((j - i for i, j in chosen), default=0))

    ahead, behind, across = lexicon_columns(text, lexicon)
    for t in range(len(text)):
        assert ahead[t] == longest([p for p in places if p[0] == t])
        assert behind[t] == longest([p for p in places if p[1] == t])
        assert across[t] == longest([p for p in places if p[0] < t < p[1]])
