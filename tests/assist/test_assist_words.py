"""Words: lists with checksums, WordNet, familiarity, plainer phrases."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.assist.words import familiarity, kanji_grade, plainer_phrases, wordnet
from marginalia.assist.words.packed import read_packed, write_packed
from marginalia.assist.words.wordnet import WordNet
from marginalia.errors import DataError, SettingsError

LINES = st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), min_size=1)


@given(lines=LINES, at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_lists_come_back_and_a_flipped_bit_is_an_error(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], at: int, bit: int
) -> None:
    path = tmp_path_factory.mktemp("lists") / "some.words"
    write_packed(str(path), "test", lines)
    assert read_packed(str(path), "test") == lines
    damaged = bytearray(path.read_bytes())
    damaged[at % len(damaged)] ^= 1 << bit
    path.write_bytes(damaged)
    with pytest.raises(DataError, match=r"some\.words"):
        read_packed(str(path), "test")


def test_what_is_wrong_with_a_list(tmp_path: Path) -> None:
    path = tmp_path / "some.words"
    write_packed(str(path), "test", ["a", "b"])
    with pytest.raises(DataError, match="found a list of kind test, expected wordnet"):
        read_packed(str(path), "wordnet")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(DataError, match="damaged or cut short"):
        read_packed(str(path), "test")
    path.write_bytes(b"marginalia-words 2 test 00\n")
    with pytest.raises(DataError, match="found version 2, expected 1"):
        read_packed(str(path), "test")
    path.write_text("hello")
    with pytest.raises(DataError, match=":1: found no list of words, expected one of kind test"):
        read_packed(str(path), "test")
    write_packed(str(path), "wordnet", ["two", "n\tdog"])
    with pytest.raises(DataError, match="not laid out as WordNet's"):
        WordNet(str(path))


def test_wordnet_has_senses_in_order_and_relations() -> None:
    words = wordnet()
    first, *_ = words.senses("purchase", "v")
    assert first.synset.lemmas == ("buy", "purchase")
    assert first.synset.gloss == "obtain by purchase"
    assert {2, 8} <= words.frames("purchase")  # somebody ----s (something)
    ranks = [sense.rank for sense in words.senses("run", "v")]
    assert ranks == sorted(ranks)
    assert len(ranks) > 30
    large = words.senses("large", "a")[0].synset
    assert "small" in words.synset(large.opposite[0]).lemmas
    apartment = words.senses("apartment", "n")[0].synset
    assert "housing" in words.synset(apartment.hypernyms[0]).lemmas
    assert ("decision", "n") in words.derived("decide", "v")
    assert "carry out" in {lemma for s in words.senses("carry out", "v") for lemma in s.synset.lemmas}
    assert words.senses("xyzzyx", "n") == ()


def test_synsets_can_be_read() -> None:
    words = wordnet()
    for number in range(0, len(words), 9):
        synset = words.synset(number)
        for other in synset.hypernyms + synset.similar + synset.opposite:
            assert words.synset(other).pos == synset.pos or synset.opposite
        assert number in {sense.synset.number for sense in words.senses(synset.lemmas[0], synset.pos)}


def test_familiarity() -> None:
    assert familiarity("the", "en").band == "very common"
    assert familiarity("Abandon", "en").zipf == familiarity("abandon", "en").zipf == 4.02
    assert familiarity("in lieu of", "en").zipf == familiarity("lieu", "en").zipf
    assert familiarity("zzzzqq", "en").to_dict() == {
        "word": "zzzzqq",
        "language": "en",
        "zipf": 0.0,
        "band": "unknown",
        "level": None,
        "kanji_grade": None,
    }
    assert familiarity("食べる", "ja").level == "N5"
    assert familiarity("改善", "ja").kanji_grade == 6
    assert [kanji_grade(word) for word in ("人", "寿司", "魑魅", "すし")] == [1, 7, 8, None]
    with pytest.raises(SettingsError, match="found language 'xx', expected one of en, ja"):
        familiarity("mot", "xx")


def test_plainer_phrases() -> None:
    phrases = plainer_phrases()
    assert phrases["commence", "v"] == ("begin", "start")
    assert phrases["in order to", ""] == ("to",)
    assert all(plainer for plainer in phrases.values())
