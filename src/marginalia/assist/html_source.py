"""Pages of HTML: their text in blocks, without scripts and styles, and the page with edited text."""

from __future__ import annotations

import codecs
import re
from html import escape, unescape
from html.parser import HTMLParser
from itertools import accumulate

from marginalia.assist.pieces import Piece, changes_of
from marginalia.assist.sources import Block, Edits, replaced
from marginalia.errors import DataError

_KINDS = {
    **{f"h{n}": f"h{n}" for n in range(1, 7)},
    "li": "li",
    "dt": "li",
    "dd": "li",
    "td": "td",
    "th": "td",
}
_BREAKING = set(
    re.findall(
        r"\w+",
        "address article aside blockquote body caption dd details dialog div dl dt fieldset figcaption "
        "figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main nav ol p pre section "
        "summary table tbody td tfoot th thead tr ul",
    )
)
_SILENT = {"script", "style", "template", "head", "noscript", "svg", "math", "textarea", "select"}
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_RUNS = re.compile(r"\s+|\S+")
_DEEPEST = 256  # open tags that are remembered
_NO_TAG, _NO_REFERENCE = "\0", "\ud800"  # "<" and "&" that begin nothing; no page has these characters
_BARE = re.compile(r"&(?=#)(?!#(?:[0-9]+|[xX][0-9a-fA-F]+)(?:[^0-9a-fA-F]|$))")


class HtmlText:
    """A page; edits change text between its tags, and never a tag."""

    def __init__(self, data: bytes, name: str = "<html>") -> None:
        self.name = name
        self._page, self._encoding = _decoded(data, name)
        reader = _Reader(self._page)
        self.blocks = [block for block, _ in reader.found]
        self._pieces = [pieces for _, pieces in reader.found]
        self._ends = reader.ends

    def edited(self, edits: Edits) -> bytes:
        """The page with edits, in the encoding that it had."""
        changes = []
        for number, own in edits.items():
            for change in changes_of(self._pieces[number], own):
                at = change.piece.at
                start, end = at + change.start, at + change.end
                if change.piece.whole:
                    start, end = at, self._ends[at]
                changes.append((start, end, escape(change.text, quote=False)))
        return replaced(self._page, changes).encode(self._encoding, "xmlcharrefreplace")


class _Reader(HTMLParser):
    """Collects blocks with the places of their text in the page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[tuple[Block, list[Piece]]] = []
        self.ends: dict[int, int] = {}  # where pieces that are whole end in the page
        self._page, self._last_comment = page, page.rfind("-->")
        self._lines = [0, *accumulate(len(line) + 1 for line in page.split("\n"))]
        self._kinds: list[str] = []
        self._silent: list[str] = []
        self._texts: list[str] = []
        self._pieces: list[Piece] = []
        self._length = 0
        tags = page.rfind(">") + 1
        self.rawdata = _BARE.sub(_NO_REFERENCE, page[:tags] + page[tags:].replace("<", _NO_TAG))
        self.close()
        self._end_block()

    def parse_comment(self, i: int, report: int = 1) -> int:
        """Where a comment ends; one without an end is the rest of the page, and nothing is sought twice."""
        found = i + 2 <= self._last_comment
        return self._page.index("-->", i + 2) + 3 if found else len(self._page)

    def parse_html_declaration(self, i: int) -> int:
        """Where a declaration ends."""
        return self._page.index(">", i) + 1

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """A new block, what has no text to read, or a line break."""
        if tag == "body":
            self._silent.clear()
        elif tag in _SILENT and len(self._silent) < _DEEPEST:
            self._silent.append(tag)
        self.handle_startendtag(tag, attrs)
        if tag in _KINDS or (tag in ("ul", "ol", "dl", "table") and len(self._kinds) < _DEEPEST):
            self._kinds.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        """A tag that holds nothing."""
        if tag in _BREAKING:
            self._end_block()
        elif tag == "br":
            self._add(" ", self._at(), 0)

    def handle_endtag(self, tag: str) -> None:
        """The end of a block, or of what has no text to read."""
        if tag in _BREAKING:
            self._end_block()
        for open_tags in (self._silent, self._kinds):
            if tag in open_tags:
                del open_tags[len(open_tags) - 1 - open_tags[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        """Text: runs of white space are one blank each."""
        at = self._at()
        for run in _RUNS.finditer(data):
            white = run[0].isspace()
            self._add(" " if white else run[0], at + run.start(), len(run[0]), white)

    def handle_entityref(self, name: str) -> None:
        """A character by its name."""
        self._reference(f"&{name}")

    def handle_charref(self, name: str) -> None:
        """A character by its number."""
        self._reference(f"&#{name}")

    def _reference(self, written: str) -> None:
        at = self._at()
        if self._page.startswith(";", at + len(written)):
            written += ";"
        text = unescape(written)
        self._add(" " if text.isspace() else text, at, len(written), True)

    def _at(self) -> int:
        line, offset = self.getpos()
        return self._lines[line - 1] + offset

    def _add(self, text: str, at: int, length: int, whole: bool = False) -> None:
        """More text of the block, which has `length` characters of the page, none if it cannot be edited."""
        text = text.replace(_NO_TAG, "<").replace(_NO_REFERENCE, "&")
        if self._silent or (text == " " and (not self._texts or self._texts[-1] == " ")):
            return
        if length:
            self._pieces.append(Piece(self._length, self._length + len(text), at, whole))
            if whole:
                self.ends[at] = at + length
        self._texts.append(text)
        self._length += len(text)

    def _end_block(self) -> None:
        text = "".join(self._texts).rstrip()
        if text:
            self.found.append(
                (Block(_KINDS.get(self._kinds[-1], "p") if self._kinds else "p", text), self._pieces)
            )
        self._texts, self._pieces, self._length = [], [], 0


def _decoded(data: bytes, name: str) -> tuple[str, str]:
    """The page and its encoding: UTF-8, or what the page says."""
    said = _CHARSET.search(data[:4096])
    encodings = ["utf-8", said[1].decode("ascii") if said else "utf-8"]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = ["utf-16"]
    for encoding in encodings:
        try:
            page = data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
        if "\0" not in page:
            return page, encoding
    raise DataError(f"found bytes that are no text in {' or '.join(dict.fromkeys(encodings))}", file=name)
