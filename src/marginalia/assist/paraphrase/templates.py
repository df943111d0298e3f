"""Rules as text: their words and variables, and the sentences that the parser reads for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from marginalia.assist.paraphrase.lexer import Place, Tokens
from marginalia.assist.paraphrase.patterns import Constraint, PatternReader
from marginalia.assist.paraphrase.targets import FORMS, Form, TargetReader
from marginalia.assist.trees import UNSPACED

KINDS = {
    "N": "nominal",
    "V": "verb",
    "A": "adjective",
    "ADV": "adverb",
    "S": "predicate",
    "NUM": "number",
    "D": "determiner",
    "X": "",
}
"""What variables stand for, by their letters."""

_VARIABLE = re.compile(rf"({'|'.join(sorted(KINDS, key=len, reverse=True))})(\d*)")
_FILLERS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "N": ("the teacher", "the boat", "the letter", "the doctor", "the garden", "the river"),
        "N:pl": ("the teachers", "the boats", "the letters", "the doctors", "the gardens", "the rivers"),
        "N:name": ("Mary", "Peter", "Berlin", "Susan", "London", "Tom"),
        "N:pronoun": ("they", "he", "we", "she", "they", "he"),
        "V": ("chased", "visited", "followed", "painted", "helped", "pushed"),
        "V:inf": ("chase", "visit", "follow", "paint", "help", "push"),
        "V:ing": ("chasing", "visiting", "following", "painting", "helping", "pushing"),
        "V:present": ("chases", "visits", "follows", "paints", "helps", "pushes"),
        "A": ("good", "old", "happy", "small", "quiet", "red"),
        "ADV": ("quickly", "often", "slowly", "quietly", "soon", "badly"),
        "S": ("they slept", "she laughed", "we waited", "he worked", "you left", "it rained"),
        "NUM": ("three", "seven", "ten", "five", "eight", "nine"),
        "D": ("this", "that", "every", "each", "these", "those"),
    },
    "ja": {
        "N": ("先生", "本", "水", "学生", "町", "手紙"),
        "N:name": ("太郎", "花子", "東京", "山田", "大阪", "田中"),
        "N:pronoun": ("彼", "彼女", "私", "彼", "彼女", "私"),
        "V": ("食べる", "調べる", "捨てる", "集める", "伝える", "並べる"),
        "V:stem": ("食べ", "調べ", "捨て", "集め", "伝え", "並べ"),
        "A": ("大きい", "古い", "新しい", "高い", "赤い", "強い"),
        "ADV": ("ゆっくり", "よく", "すぐ", "少し", "とても", "もっと"),
        "S": ("雨が降る", "風が吹く", "人が歩く", "鳥が鳴く", "花が咲く", "子が泣く"),
        "NUM": ("三", "七", "十", "五", "八", "九"),
        "D": ("その", "この", "あの", "ある", "その", "この"),
    },
}
_BASE_BEFORE = frozenset(
    [
        "to",
        "will",
        "would",
        "can",
        "could",
        "may",
        "might",
        "must",
        "shall",
        "should",
        "do",
        "does",
        "did",
        "let",
    ]
)
_FORM_OF_LITERAL = {"be": "was", "have": "had", "do": "did"}
_STEM_BEFORE = re.compile(
    "ない|なか|な[いきく]|た|て|ます|まし|ませ|られ|させ|たい|たが|ながら|ず|そう|すぎ|過ぎ|始め|終わ|続け|やす|にく|れば|よう"
)


@dataclass
class Item:
    """A word or a variable of a rule; `words` is what stands for it in the sentence that is parsed."""

    name: str  # "" of a word
    text: str
    start: int  # in the text of the rule
    alternatives: tuple[str, ...] = ()
    exact: bool = False
    classes: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    count: str = "one"
    forms: tuple[Form, ...] = ()
    words: str = ""
    span: tuple[int, int] = (0, 0)  # in the sentence


@dataclass
class Side:
    """The items of one sentence, and that sentence."""

    items: list[Item]
    text: str = ""
    tokens: Tokens | None = field(default=None, repr=False)


class TemplateReader:
    """Reads one side of a rule."""

    def __init__(self, text: str, place: Place, names: set[str] | None = None) -> None:
        self.tokens = Tokens(text, place)
        self._names = names  # those of the left side, if this is the right one

    def sides(self) -> list[Side]:
        """The sentences of a side; a left one has one."""
        sides = [self._side()]
        while self.tokens.sign("||"):
            sides.append(self._side())
        self.tokens.finish()
        return sides

    def _side(self) -> Side:
        items: list[Item] = []
        while self.tokens.peek.kind != "end" and self.tokens.peek.text != "||":
            items.append(self._item())
        if not items:
            raise self.tokens.expected("words or variables")
        return Side(items, tokens=self.tokens)

    def _item(self) -> Item:
        tokens, token = self.tokens, self.tokens.peek
        if token.kind == "word" and _VARIABLE.fullmatch(token.text):
            item = self._variable()
        elif token.kind in ("word", "string"):
            tokens.take()
            item = Item("", token.text, token.start, exact=token.kind == "string")
        elif tokens.sign("("):
            item = self._alternatives(token.start)
        elif tokens.sign(",", ".", ";", ":", "!"):
            item = Item("", token.text, token.start)
        else:
            raise tokens.expected("a word, a variable or '('")
        if tokens.touching() and (count := tokens.sign("?", "*")):
            if self._names is not None:
                raise tokens.error(f"found '{count}' on the right side, expected it on the left one")
            item.count = count
        if self._names is not None and tokens.touching() and tokens.sign("("):
            item.forms += TargetReader(tokens, self._names).forms(")")
        return item

    def _variable(self) -> Item:
        token = self.tokens.peek
        if self._names is not None and token.text not in self._names:
            known = ", ".join(sorted(self._names)) or "none are there"
            raise self.tokens.expected(f"a variable of the left side ({known})")
        node = PatternReader(self.tokens).head()
        item = Item(node.name, token.text, token.start, classes=node.classes, constraints=node.constraints)
        if node.lemmas:
            item.constraints += (Constraint("lemma", "=", node.lemmas),)
        if self._names is not None:  # a class on the right is a form
            unknown = [name for name in node.classes if name not in FORMS]
            if unknown or item.constraints:
                message = f"found '{token.text}' with more than a form, expected {', '.join(FORMS)}"
                raise self.tokens.error(message, token)
            item.forms = tuple(Form("feature", "", (name,)) for name in node.classes)
        return item

    def _alternatives(self, start: int) -> Item:
        words = [self.tokens.expect_word("a word")]
        while self.tokens.expect_sign("|", ")") == "|":
            words.append(self.tokens.expect_word("a word"))
        return Item("", words[0], start, alternatives=tuple(words[1:]))


def write_sentence(side: Side, language: str, fill: Mapping[str, str], reading: int = 0) -> None:
    """Give items their words and put them together to a sentence that can be parsed. Another `reading` has
    other words for its variables."""
    fillers = _FILLERS.get(language, _FILLERS["en"])
    for number, item in enumerate(side.items):
        following = side.items[number + 1] if number + 1 < len(side.items) else None
        before = side.items[number - 1].text if number else ""
        if not item.name:
            item.words = _literal(item, before, language)
        elif item.name in fill:
            item.words = fill[item.name]
        else:
            item.words = _filler(item, before, following, fillers, reading, language)
    text = ""
    for item in side.items:
        joined = language in UNSPACED or not text or item.words in (",", ".", ";", ":", "!")
        text += ("" if joined else " ") + item.words
        item.span = (len(text) - len(item.words), len(text))
    stop = "。" if language == "ja" else "."
    text = text if text.endswith((stop, "!", "?")) else text + stop
    side.text = text[:1].upper() + text[1:]


def _literal(item: Item, before: str, language: str) -> str:
    inflected = language == "en" and not item.exact and before.lower() not in _BASE_BEFORE
    return _FORM_OF_LITERAL.get(item.text, item.text) if inflected else item.text


def _filler(
    item: Item,
    before: str,
    following: Item | None,
    fillers: Mapping[str, tuple[str, ...]],
    reading: int,
    language: str,
) -> str:
    """The words for a variable: the same ones for the same variable on both sides."""
    match = _VARIABLE.fullmatch(item.name)
    assert match is not None
    kind, number = match[1], int(match[2] or 1) - 1
    forms = [*item.classes, *(form.values[0] for form in item.forms if form.kind == "feature")]
    forms = ["name" if form == "PROPN" else "pronoun" if form == "PRON" else form for form in forms]
    if kind == "V" and language == "en" and before.lower() in _BASE_BEFORE:
        forms.append("inf")
    if kind == "V" and language == "ja" and following is not None and _STEM_BEFORE.match(following.text):
        forms.append("stem")
    keys = [f"{kind}:{form}" for form in forms if f"{kind}:{form}" in fillers]
    if kind == "N" and reading == 2 and "N:name" in fillers and not keys:
        keys = ["N:name"]
    words = fillers.get(keys[-1] if keys else kind, fillers["N"])
    return words[(number + reading) % len(words)]
