"""Verbs that are derived, units that are aligned, words that are easier; rules read from a packed list."""

from __future__ import annotations

from pathlib import Path

import pytest

from marginalia.assist.japanese.derivation import potential, verb_of
from marginalia.assist.japanese.easier import is_easier, replaced, units_of
from marginalia.assist.paraphrase.rule_files import PACKED, read_rule_file
from marginalia.assist.trees import Node
from marginalia.assist.words.packed import write_packed
from marginalia.errors import DataError

RULES = "language ja\nfamily easier\nwhy Easier.\nwords easier from easier.words\n"


def nodes(*words: str) -> list[Node]:
    """Words as `form/lemma/UPOS/xpos`; what is missing is as before, or of a noun."""
    made = []
    for word in words:
        form, lemma, upos, xpos, *_ = [*word.split("/"), "", "", ""]
        made.append(Node(form, lemma or form, upos or "NOUN", xpos or "名詞-普通名詞-一般"))
    return made


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("話す", "話せる"),
        ("泳ぐ", "泳げる"),
        ("買う", "買える"),
        ("待つ", "待てる"),
        ("食べる", "食べられる"),
        ("来る", "来られる"),
        ("する", "できる"),
        ("本", None),
    ],
)
def test_potential_verbs(verb: str, expected: str | None) -> None:
    assert potential(verb) == expected


@pytest.mark.parametrize(
    ("noun", "verb"), [("話し", "話す"), ("待ち", "待つ"), ("帰り", "帰る"), ("本", None)]
)
def test_verbs_of_nouns(noun: str, verb: str | None) -> None:
    assert verb_of(noun) == verb


def test_a_noun_with_suru_is_one_unit_and_is_aligned_with_a_verb() -> None:
    noun = "到着//VERB/名詞-普通名詞-サ変可能"
    before = units_of(nodes("駅", "に//ADP/助詞-格助詞", noun, "し/する/AUX/動詞-非自立可能"))
    after = units_of(nodes("駅", "に//ADP/助詞-格助詞", "着い/着く/VERB/動詞-一般"))
    assert [unit.key for unit in before] == ["駅:NOUN", "に:ADP", "到着:VERB する"]
    assert [(unit.key, words) for unit, words in replaced(before, after)] == [("到着:VERB する", ("着く",))]


def test_words_of_another_kind_are_not_aligned() -> None:
    before, after = units_of(nodes("走り/走る/VERB/動詞-一般")), units_of(nodes("足"))
    assert list(replaced(before, after)) == []


@pytest.mark.parametrize(
    ("old", "new", "easier"),
    [
        (("友人",), ("友達",), True),
        (("友達",), ("友人",), False),
        (("うれしい",), ("嬉しい",), False),  # a matter of spelling
        (("三",), ("３",), False),
        (("いける",), ("なる",), False),
    ],
)
def test_which_words_are_easier(old: tuple[str, ...], new: tuple[str, ...], easier: bool) -> None:
    assert is_easier(old, new) is easier


def test_rules_of_words_are_read_from_a_packed_list(tmp_path: Path) -> None:
    write_packed(
        str(tmp_path / "easier.words"), PACKED, ["到着:VERB する\t着く\t3\t4", "友人:NOUN\t友達\t2\t2"]
    )
    (tmp_path / "my.rules").write_text(RULES, encoding="utf-8")
    (family,) = read_rule_file(tmp_path / "my.rules").families
    assert [(rule.name, rule.left, rule.right) for rule in family.rules] == [
        ("easier", "到着:VERB する", "着く"),
        ("easier", "友人:NOUN", "友達"),
    ]


def test_a_list_of_another_kind_is_refused(tmp_path: Path) -> None:
    write_packed(str(tmp_path / "easier.words"), "plainer", ["a\tb"])
    (tmp_path / "my.rules").write_text(RULES, encoding="utf-8")
    with pytest.raises(DataError, match="found a list of kind plainer, expected easier"):
        read_rule_file(tmp_path / "my.rules")
