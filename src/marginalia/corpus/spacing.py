"""Where the tokens of CoNLL-U stand in the text: by `# text`, by marks in MISC, or by the script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from ..errors import DataError
from .conllu import comment_value, get_key, set_key
from .document import Document, ParsedSentence
from .words import Token

_SPACE_AFTER, _SPACES_AFTER, _SPACES_BEFORE = "SpaceAfter", "SpacesAfter", "SpacesBefore"
_IN_TOKEN, _RANGE = "SpacesInToken", "TokenRange"
_PARAGRAPH = "\n\n"
_ESCAPES = {" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r", "|": r"\p", "\\": r"\\"}
_SIGNS = {escape[1]: sign for sign, escape in _ESCAPES.items()}
# Thai, Lao, Tibetan, Myanmar, Khmer; kana, Han and their signs, also of the planes above the first.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


def writes_spaces(forms: Iterable[str]) -> bool | None:
    """Whether a language puts blanks between words, by the script of its words; None if none has letters.

    A third of words in scripts without blanks decides: names and terms of other scripts stand among them.
    """
    words = unspaced = 0
    for form in forms:
        if _UNSPACED.search(form):
            words, unspaced = words + 1, unspaced + 1
        elif any(map(str.isalpha, form)):
            words += 1
    return 3 * unspaced < words if words else None


def encode_spaces(text: str) -> str:
    """White space as MISC has it: a blank is `\\s`, a line feed `\\n`, a bar `\\p`."""
    return "".join(_ESCAPES.get(sign, sign) for sign in text)


def decode_spaces(value: str) -> str:
    """The inverse of `encode_spaces`."""
    return re.sub(r"\\(.)", lambda match: _SIGNS.get(match[1], match[0]), value)


class Placing:
    """Gives one sentence after the other its text and its tokens their offsets; keeps no sentence."""

    def __init__(self, spaces: bool | None = None, keep_text: bool = True) -> None:
        self.spaces = spaces
        self.keep_text = keep_text
        self._parts: list[str] = []
        self._at = 0
        self._gap: str | None = None  # white space behind the last sentence, if its last token says so
        self._blank = " "  # the same, if it does not
        self._begun = False

    def text(self) -> str:
        """The text of all sentences placed so far, with white space that the last one is known to have."""
        return "".join(self._parts) + (self._gap or "")

    def place(self, sentence: ParsedSentence, strict: bool = True) -> ParsedSentence:
        """The same sentence with text and offsets; if `strict`, `# text` must agree with the forms."""
        tokens = sentence.tokens
        spaced = self._spaced(tokens)
        self._append(self._before(sentence, tokens[0]))
        text, ends = _placed(sentence, tokens, spaced, strict)
        sentence.start, sentence.text = self._at, text
        for token, (start, end) in zip(tokens, ends, strict=True):
            token.start, token.end = self._at + start, self._at + end
        for multiword in sentence.multiword:
            for word in multiword.words:
                word.start, word.end = multiword.start, multiword.end
        self._append(text)
        self._gap, self._blank = _marked_gap(tokens[-1].misc), " " if spaced else ""
        self._begun = True
        return sentence

    def _spaced(self, tokens: list[Token]) -> bool:
        if self.spaces is not None:
            return self.spaces
        by_script = writes_spaces(token.form for token in tokens)
        return bool(self._blank) if by_script is None else by_script

    def _before(self, sentence: ParsedSentence, first: Token) -> str:
        if not self._begun:
            return _white(get_key(first.misc, _SPACES_BEFORE, ""))
        return gap_between(self._gap, sentence, self._blank)

    def _append(self, text: str) -> None:
        self._at += len(text)
        if self.keep_text:
            self._parts.append(text)


def gap_between(marked: str | None, next_: ParsedSentence, blank: str) -> str:
    """White space between two sentences: as marked, but paragraphs are always apart."""
    if marked:
        return marked
    if next_.newpar is not None or next_.newdoc is not None:
        return _PARAGRAPH
    return blank if marked is None else ""


def _marked_gap(misc: str) -> str | None:
    """White space behind a token by its marks; None if it has none."""
    if "Space" not in misc:
        return None
    if value := get_key(misc, _SPACES_AFTER, ""):
        return _white(value)
    return "" if get_key(misc, _SPACE_AFTER) == "No" else None


def _white(value: str) -> str:
    text = decode_spaces(value)
    return text if text.isspace() else ""


def _placed(
    sentence: ParsedSentence, tokens: list[Token], spaced: bool, strict: bool
) -> tuple[str, list[tuple[int, int]]]:
    """The sentence's text, and start and end of each token in it."""
    given = comment_value(sentence.comments, "text")
    exact = any("Spaces" in token.misc for token in tokens)
    if given is not None and not exact and (places := list(_found(tokens, given))):
        return given, places
    text, places = _joined(tokens, spaced or given is not None)
    if strict and given is not None and _squeezed(given) != _squeezed(text):
        raise _disagreement(sentence, given, text)
    return text, places


def _found(tokens: list[Token], text: str) -> Iterator[tuple[int, int]]:
    """The places of tokens in a text that has nothing else but white space; empty if it is not so."""
    places, at = [], 0
    for token in tokens:
        form = token.form
        if not text.startswith(form, at):
            while at < len(text) and text[at].isspace():
                at += 1
        end = at + len(form) if text.startswith(form, at) else _loose_end(text, at, form)
        if end is None:
            return iter(())
        places.append((at, end))
        at = end
    return iter(places if not text[at:].strip() else ())


def _loose_end(text: str, at: int, form: str) -> int | None:
    """Where a form ends that the text has with other white space inside."""
    for sign in form:
        if sign.isspace():
            continue
        while at < len(text) and text[at].isspace():
            at += 1
        if text[at : at + 1] != sign:
            return None
        at += 1
    return at


def _joined(tokens: list[Token], spaced: bool) -> tuple[str, list[tuple[int, int]]]:
    """A text made of the tokens: white space as marked, else a blank if the language has them."""
    parts: list[str] = []
    places, at = [], 0
    for i, token in enumerate(tokens):
        surface = decode_spaces(get_key(token.misc, _IN_TOKEN, "")) or token.form
        gap = gap_within(token, tokens[i + 1], spaced) if i + 1 < len(tokens) else ""
        parts += [surface, gap]
        places.append((at, at + len(surface)))
        at += len(surface) + len(gap)
    return "".join(parts), places


def gap_within(token: Token, next_: Token, spaced: bool) -> str:
    """White space between two tokens of a sentence.

    Where a language has no blanks, a blank is still between two words of a script that has them.
    """
    marked = _marked_gap(token.misc)
    if marked is not None:
        return marked
    edges = token.form[-1], next_.form[0]
    latin = all(sign.isalnum() and not _UNSPACED.match(sign) for sign in edges)
    return " " if spaced or latin else ""


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _disagreement(sentence: ParsedSentence, given: str, text: str) -> DataError:
    """Where the comment with the text first differs from the forms."""
    ours, theirs = _squeezed(text), _squeezed(given)
    pairs = enumerate(zip(chain(ours, "\0"), chain(theirs, "\0"), strict=False))
    at = next(i for i, (one, other) in pairs if one != other)
    shown = [repr(part[at : at + 12]) if part[at:] else "its end" for part in (theirs, ours)]
    name = f" of sentence {sentence.sent_id}" if sentence.sent_id else ""
    return DataError(
        f"found {shown[0]} in # text{name} behind {theirs[max(0, at - 12) : at]!r}, "
        f"expected {shown[1]} as by the forms",
        line=sentence.line or None,
    )


def mark_spaces(document: Document, ranges: bool, start: int = 0) -> None:
    """Write white space, and ranges of characters if wanted, into MISC; see `Document.mark_spaces`."""
    if not document.sentences:
        return
    text, spaced = document.text, True
    if (first := document.sentences[0].tokens[0]).start:
        _set(first, _SPACES_BEFORE, encode_spaces(text[: first.start]))
    for sentence, following in zip(document, [*document.sentences[1:], None], strict=True):
        tokens = sentence.tokens
        by_script = writes_spaces(token.form for token in tokens)
        spaced = spaced if by_script is None else by_script
        for token in tokens:
            _unmark(token, text[token.start : token.end])
            if ranges:
                _set(token, _RANGE, f"{start + token.start}:{start + token.end}")
        blanks = spaced or comment_value(sentence.comments, "text") is not None
        for token, next_ in pairwise(tokens):
            _mark(token, text[token.end : next_.start], gap_within(token, next_, blanks))
        last = tokens[-1]
        if following is None:
            _mark(last, text[last.end :], "")
        else:
            expected = gap_between(None, following, " " if spaced else "")
            _mark(last, text[last.end : following.start], expected)


def _unmark(token: Token, surface: str) -> None:
    """Take marks of white space away, but for that inside the token."""
    for key in (_SPACE_AFTER, _SPACES_AFTER):
        _set(token, key, "")
    _set(token, _IN_TOKEN, encode_spaces(surface) if surface != token.form else "")


def _mark(token: Token, actual: str, expected: str) -> None:
    if actual == expected:
        return
    if not actual:
        _set(token, _SPACE_AFTER, "No")
    else:
        _set(token, _SPACES_AFTER, encode_spaces(actual))


def _set(token: Token, key: str, value: str) -> None:
    token.misc = set_key(token.misc, key, value, "")
