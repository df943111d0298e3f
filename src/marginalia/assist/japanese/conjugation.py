"""The conjugation table: a lemma and its class give every form, in the short units of UD Japanese GSD.

A form is what stands as one token: 書か (then れる, ない), 書い (then た, て), 書こう. Auxiliaries are
words with classes of their own. Names of forms, with what the school grammar calls them:

irrealis 未然形 · passive 未然形 before れる, せる · classical 未然形 before ず · volitional 意志推量形 ·
continuative 連用形 · adverbial 連用形 before verbs (静かに, 早く) · euphonic 音便形 · terminal 終止形 ·
attributive 連体形 · hypothetical 仮定形 · imperative 命令形 · stem 語幹
"""

from __future__ import annotations

from functools import lru_cache

FORMS = (
    "irrealis",
    "passive",
    "classical",
    "volitional",
    "continuative",
    "euphonic",
    "terminal",
    "attributive",
    "hypothetical",
    "imperative",
    "stem",
    "adverbial",
)

# Rows of the kana table by the last kana of the lemma: a, i, euphonic, u, e, o.
_ROWS = {
    "う": "わいっうえお",
    "く": "かきいくけこ",
    "ぐ": "がぎいぐげご",
    "す": "さししすせそ",
    "つ": "たちっつてと",
    "ぬ": "なにんぬねの",
    "ぶ": "ばびんぶべぼ",
    "む": "まみんむめも",
    "る": "らりっるれろ",
}
_AS_IN_GODAN = (0, 0, 0, 5, 1, 2, 3, 3, 4, 4, 1, 1)
# Verbs in these kana voice what follows: 読んだ, 泳いで.
_VOICING = "ぐぬぶむ"

# Forms that the classes with few members have, in the order of FORMS; "-" is none.
_IRREGULAR = {
    "サ変": ("し", "さ", "せ", "しよう", "し", "し", "する", "する", "すれ", "しろ", "し", "し"),
    "ザ変": ("じ", "ぜ", "ぜ", "じよう", "じ", "じ", "ずる", "ずる", "ずれ", "じろ", "じ", "じ"),
    "カ変": ("こ", "こ", "こ", "こよう", "き", "き", "くる", "くる", "くれ", "こい", "き", "き"),
    "来": ("来", "来", "来", "来よう", "来", "来", "来る", "来る", "来れ", "来い", "来", "来"),
    "だ": ("-", "-", "-", "だろう", "で", "だっ", "だ", "な", "なら", "-", "-", "に"),
    "です": ("-", "-", "-", "でしょう", "でし", "でし", "です", "です", "-", "-", "-", "-"),
    "ます": ("ませ", "-", "ませ", "ましょう", "まし", "まし", "ます", "ます", "ますれ", "ませ", "-", "-"),
    "た": ("-", "-", "-", "たろう", "-", "-", "た", "た", "たら", "-", "-", "-"),
    "ぬ": ("-", "-", "-", "-", "ず", "ず", "ぬ", "ぬ", "ね", "-", "-", "ず"),
    "ん": ("-", "-", "-", "-", "ず", "ず", "ん", "ん", "ね", "-", "-", "ず"),
    "べし": ("べから", "-", "べから", "-", "べく", "べかっ", "べし", "べき", "べけれ", "-", "-", "べく"),
    "ごとし": ("-", "-", "-", "-", "ごとく", "-", "ごとし", "ごとき", "-", "-", "-", "ごとく"),
    "まい": ("-", "-", "-", "-", "-", "-", "まい", "まい", "-", "-", "-", "-"),
}
# Godan verbs that leave the table: 行く has 行っ; verbs of respect have い before ます and as order.
_GO = ("行く", "いく", "ゆく", "逝く", "てく")
_RESPECTFUL = ("くださる", "下さる", "なさる", "為さる", "いらっしゃる", "おっしゃる", "仰る", "ござる")
_IRREGULAR_TE = ("問う", "請う", "乞う")


def is_adjective(word_class: str) -> bool:
    """Whether a class is that of い-adjectives, to which ない, たい and らしい belong."""
    return word_class == "形容詞"


def voices(lemma: str, word_class: str) -> bool:
    """Whether た, て and たり become だ, で and だり after the word."""
    return word_class == "五段" and lemma[-1] in _VOICING and not lemma.endswith(_GO)


@lru_cache(maxsize=20000)
def conjugate(lemma: str, word_class: str, form: str) -> str | None:
    """The form of a word, such as 書か of 書く; None if the word has no such form."""
    at = FORMS.index(form)
    if word_class == "五段":
        return _godan(lemma, form, at)
    if word_class == "一段":
        return _ichidan(lemma[:-1], form)
    if word_class == "形容詞":
        return _adjective(lemma, form)
    if word_class in ("サ変", "ザ変", "カ変"):
        return _with_irregular_end(lemma, word_class, at)
    found = _IRREGULAR[word_class][at]
    return None if found == "-" else found


def _godan(lemma: str, form: str, at: int) -> str | None:
    row = _ROWS.get(lemma[-1])
    if row is None:
        return None
    stem, made = lemma[:-1], row[_AS_IN_GODAN[at]]
    if form == "volitional":
        made += "う"
    elif form == "euphonic" and lemma.endswith(_GO):
        made = "っ"
    elif form == "euphonic" and lemma.endswith(_IRREGULAR_TE):
        made = "う"
    elif lemma.endswith(_RESPECTFUL) and form in ("continuative", "imperative", "stem"):
        made = "い"
    elif lemma in ("ある", "有る", "在る") and form == "imperative":
        made = "れ"
    return stem + made


def _ichidan(stem: str, form: str) -> str:
    ends = {
        "volitional": "よう",
        "terminal": "る",
        "attributive": "る",
        "hypothetical": "れ",
        "imperative": "" if stem.endswith("くれ") or stem == "呉れ" else "ろ",
    }
    return stem + ends.get(form, "")


def _adjective(lemma: str, form: str) -> str | None:
    stem = lemma[:-1]
    if lemma == "いい" and form not in ("terminal", "attributive"):
        stem = "よ"  # いい has no other forms; よく, よかった are of よい
    if form == "stem" and lemma in ("ない", "無い", "いい", "よい", "良い"):
        return stem + "さ"  # なさそう, よさそう
    ends = {
        "irrealis": "く",
        "classical": "から",
        "volitional": "かろう",
        "continuative": "く",
        "adverbial": "く",
        "euphonic": "かっ",
        "terminal": "い",
        "attributive": "い",
        "hypothetical": "けれ",
        "imperative": "かれ",
        "stem": "",
    }
    end = ends.get(form)
    return None if end is None else stem + end


def _with_irregular_end(lemma: str, word_class: str, at: int) -> str:
    """する, 愛する, 論ずる, くる, 来る, 持ってくる: the last syllables change, what stands before stays."""
    table = "来" if lemma.endswith("来る") else word_class
    return lemma[:-2] + _IRREGULAR[table][at]


@lru_cache(maxsize=20000)
def forms_of(lemma: str, word_class: str, surface: str) -> tuple[str, ...]:
    """Which forms of a word a token may be, such as irrealis for 書か."""
    return tuple(form for form in FORMS if conjugate(lemma, word_class, form) == surface)
