"""Conjugation and connectivity of Japanese: hand-written goldens, and the tokens of a treebank."""

from __future__ import annotations

from pathlib import Path

import pytest

from marginalia.assist.japanese.classes import class_of, verb_class
from marginalia.assist.japanese.conjugation import FORMS, conjugate, forms_of, voices
from marginalia.assist.japanese.connections import connects, dictionary_form, required_form
from marginalia.assist.japanese.generation import generate
from marginalia.assist.japanese.lemmas import better_lemma
from marginalia.assist.japanese.politeness import is_polite, make_polite
from marginalia.assist.trees import Node, Tree
from marginalia.corpus.document_reader import iterate_conllu

ORDER = """irrealis passive classical volitional continuative euphonic terminal attributive
hypothetical imperative stem adverbial"""
TABLE = """
書く 五段: 書か 書か 書か 書こう 書き 書い 書く 書く 書け 書け 書き 書き
泳ぐ 五段: 泳が 泳が 泳が 泳ごう 泳ぎ 泳い 泳ぐ 泳ぐ 泳げ 泳げ 泳ぎ 泳ぎ
話す 五段: 話さ 話さ 話さ 話そう 話し 話し 話す 話す 話せ 話せ 話し 話し
待つ 五段: 待た 待た 待た 待とう 待ち 待っ 待つ 待つ 待て 待て 待ち 待ち
死ぬ 五段: 死な 死な 死な 死のう 死に 死ん 死ぬ 死ぬ 死ね 死ね 死に 死に
飛ぶ 五段: 飛ば 飛ば 飛ば 飛ぼう 飛び 飛ん 飛ぶ 飛ぶ 飛べ 飛べ 飛び 飛び
読む 五段: 読ま 読ま 読ま 読もう 読み 読ん 読む 読む 読め 読め 読み 読み
取る 五段: 取ら 取ら 取ら 取ろう 取り 取っ 取る 取る 取れ 取れ 取り 取り
買う 五段: 買わ 買わ 買わ 買おう 買い 買っ 買う 買う 買え 買え 買い 買い
行く 五段: 行か 行か 行か 行こう 行き 行っ 行く 行く 行け 行け 行き 行き
問う 五段: 問わ 問わ 問わ 問おう 問い 問う 問う 問う 問え 問え 問い 問い
なさる 五段: なさら なさら なさら なさろう なさい なさっ なさる なさる なされ なさい なさい なさり
食べる 一段: 食べ 食べ 食べ 食べよう 食べ 食べ 食べる 食べる 食べれ 食べろ 食べ 食べ
くれる 一段: くれ くれ くれ くれよう くれ くれ くれる くれる くれれ くれ くれ くれ
する サ変: し さ せ しよう し し する する すれ しろ し し
愛する サ変: 愛し 愛さ 愛せ 愛しよう 愛し 愛し 愛する 愛する 愛すれ 愛しろ 愛し 愛し
論ずる ザ変: 論じ 論ぜ 論ぜ 論じよう 論じ 論じ 論ずる 論ずる 論ずれ 論じろ 論じ 論じ
くる カ変: こ こ こ こよう き き くる くる くれ こい き き
来る カ変: 来 来 来 来よう 来 来 来る 来る 来れ 来い 来 来
高い 形容詞: 高く - 高から 高かろう 高く 高かっ 高い 高い 高けれ 高かれ 高 高く
いい 形容詞: よく - よから よかろう よく よかっ いい いい よけれ よかれ よさ よく
ない 形容詞: なく - なから なかろう なく なかっ ない ない なけれ なかれ なさ なく
だ だ: - - - だろう で だっ だ な なら - - に
です です: - - - でしょう でし でし です です - - - -
ます ます: ませ - ませ ましょう まし まし ます ます ますれ ませ - -
ぬ ぬ: - - - - ず ず ぬ ぬ ね - - ず
"""
ROWS = [line.split(": ") for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize(("word", "forms"), ROWS, ids=[row[0] for row in ROWS])
def test_the_table(word: str, forms: str) -> None:
    lemma, conjugation = word.split()
    made = [conjugate(lemma, conjugation, form) or "-" for form in FORMS]
    order = ORDER.split()
    assert sorted(order) == sorted(FORMS)
    assert dict(zip(FORMS, made, strict=True)) == dict(zip(order, forms.split(), strict=True))
    for form, surface in zip(order, forms.split(), strict=True):
        assert surface == "-" or form in forms_of(lemma, conjugation, surface)


CLASSES = """五段: 書く 走る 切る 帰る 知る しゃべる 滑る にぎる 作る ある なる 分かる
一段: 食べる 起きる 見る 出る 名乗り出る 似る 信じる できる 落ちる いる
サ変: する 対する 愛する
ザ変: 論ずる 通ずる
カ変: 来る くる"""


@pytest.mark.parametrize("line", CLASSES.splitlines())
def test_classes_of_verbs(line: str) -> None:
    conjugation, verbs = line.split(": ")
    assert {verb: verb_class(verb) for verb in verbs.split()} == dict.fromkeys(verbs.split(), conjugation)


def test_what_does_not_conjugate() -> None:
    assert class_of("本", "名詞-普通名詞-一般") is None
    assert class_of("は", "助詞-係助詞") is None
    assert [voices(one, "五段") for one in ("読む", "泳ぐ", "行く", "買う")] == [True, True, False, False]


def _tree(*words: str) -> Tree:
    """A tree of `form/lemma/xpos` words that hang on the first."""
    nodes = []
    for i, word in enumerate(words):
        form, lemma, xpos = word.split("/")
        nodes.append(Node(form, lemma, "PUNCT" if "補助" in xpos else "X", xpos, space_after="", origin=i))
    for node in nodes[1:]:
        node.head = nodes[0]
    return Tree(nodes, "ja")


V, A, STOP = "動詞-一般", "助動詞", "。/。/補助記号-句点"


def test_spelling_of_the_text_is_kept() -> None:
    assert dictionary_form(Node("見", "みる", xpos="動詞-非自立可能")) == "見る"
    assert dictionary_form(Node("頂い", "いただく", xpos="動詞-非自立可能")) == "頂く"
    assert dictionary_form(Node("出来", "できる", xpos="動詞-非自立可能")) == "出来る"
    assert dictionary_form(Node("し", "する", xpos="動詞-非自立可能")) == "する"


@pytest.mark.parametrize(
    ("kind", "right", "form"),
    [
        ("動詞", Node("ない", "ない", xpos=A), "irrealis"),
        ("動詞", Node("れる", "れる", xpos=A), "passive"),
        ("動詞", Node("ず", "ぬ", xpos=A), "classical"),
        ("動詞", Node("ます", "ます", xpos=A), "continuative"),
        ("動詞", Node("て", "て", xpos="助詞-接続助詞"), "euphonic"),
        ("動詞", Node("た", "た", xpos=A), "euphonic"),
        ("動詞", Node("ば", "ば", xpos="助詞-接続助詞"), "hypothetical"),
        ("形容詞", Node("さ", "さ", xpos="接尾辞-名詞的-一般"), "stem"),
        ("形容詞", Node("た", "た", xpos=A), "euphonic"),
        ("だ", Node("の", "の", xpos="助詞-準体助詞"), "attributive"),
    ],
)
def test_required_forms(kind: str, right: Node, form: str) -> None:
    made = required_form(kind, right)
    lemma, conjugation = {"動詞": ("書く", "五段"), "形容詞": ("高い", "形容詞"), "だ": ("だ", "だ")}[kind]
    assert made is not None
    assert conjugate(lemma, conjugation, made) == conjugate(lemma, conjugation, form)


def test_forms_follow_new_neighbours() -> None:
    tree = _tree(f"読ま/読む/{V}", f"れ/れる/{A}", f"た/た/{A}", STOP)
    tree.delete(tree.nodes[1])
    generate(tree)
    assert tree.text == "読んだ。"
    tree = _tree(f"書か/書く/{V}", f"れ/れる/{A}", f"た/た/{A}", STOP)
    tree.replace(tree.nodes[0], Node("食べる", "食べる", "VERB", V, space_after=""))
    generate(tree)
    assert tree.text == "食べられた。"


def test_words_whose_neighbours_stay_are_not_touched() -> None:
    tree = _tree(f"書け/書く/{V}", f"ない/ない/{A}", STOP)
    generate(tree, tree.copy())
    assert tree.text == "書けない。"


@pytest.mark.parametrize(
    ("words", "polite"),
    [
        ([f"読む/読む/{V}"], "読みます。"),
        ([f"読ん/読む/{V}", f"だ/た/{A}"], "読みました。"),
        ([f"読ま/読む/{V}", f"ない/ない/{A}"], "読みません。"),
        (["高い/高い/形容詞-一般"], "高いです。"),
        (["高かっ/高い/形容詞-一般", f"た/た/{A}"], "高かったです。"),
        (["本/本/名詞-普通名詞-一般", f"だ/だ/{A}"], "本です。"),
        (["本/本/名詞-普通名詞-一般", f"だっ/だ/{A}", f"た/た/{A}"], "本でした。"),
        (["本/本/名詞-普通名詞-一般"], "本です。"),
        ([f"読もう/読む/{V}"], "読もう。"),
    ],
)
def test_polite_endings(words: list[str], polite: str) -> None:
    tree = _tree(*words, STOP)
    assert not is_polite(tree)
    make_polite(tree)
    assert tree.text == polite
    assert is_polite(tree) or polite == "読もう。"


@pytest.mark.data
def test_the_treebank_connects(data_dir: Path) -> None:
    """Forms of GSD's dev part, which was not counted: known neighbours connect, and forms are made again."""
    known = fitting = 0
    for sentence in iterate_conllu(data_dir / "ud-japanese-gsd" / "dev.conllu"):
        nodes = Tree.of(sentence, "ja").nodes
        for left, right in zip(nodes, [*nodes[1:], None], strict=True):
            found = connects(left, right)
            known += found is not None
            fitting += found is True
    assert known > 2400
    assert fitting > 0.99 * known


@pytest.mark.parametrize(
    ("form", "wrong", "right"),
    [
        ("洗い", "洗く", "洗う"),
        ("高く", "高く", "高い"),
        ("おっしゃい", "おっしゃく", "おっしゃる"),
        ("行っ", "行う", "行く"),
        ("読ん", "読む", "読む"),
        ("ググっ", "ググる", "ググる"),
    ],
)
def test_lemmas_that_do_not_exist(form: str, wrong: str, right: str) -> None:
    node = Node(form, wrong, xpos="形容詞-一般" if right.endswith("い") else V)
    assert better_lemma(node) == right
