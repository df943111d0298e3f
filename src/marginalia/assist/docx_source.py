"""Documents of word processors (.docx): their text by paragraph, and the document with edited text."""

from __future__ import annotations

import io
import re
import zipfile
from typing import IO, Any

from marginalia.assist.pieces import Piece, changes_of
from marginalia.assist.sources import Block, Edits, replaced
from marginalia.errors import DataError, needs_extra

_LARGEST = 1 << 28  # bytes that a document may unpack to
_LARGEST_XML = 1 << 26  # bytes of text that a part of it may unpack to
_CHUNK = 1 << 16
_HEADING = re.compile(r"heading\s*([1-6])", re.IGNORECASE)
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


class DocxText:
    """A document; edits change the text of its runs, and never a style."""

    def __init__(self, data: bytes, name: str = "<docx>") -> None:
        self.name, self._data = name, data
        self.blocks: list[Block] = []
        self._pieces: list[list[Piece]] = []
        for kind, elements in _paragraphs(_opened(data, name)):
            text, pieces = "", []
            for number, element in enumerate(elements):
                own = _text_of(element)
                if element.tag.endswith("}t"):
                    pieces.append(Piece(len(text), len(text) + len(own), number))
                text += own
            self.blocks.append(Block(kind, text))
            self._pieces.append(pieces)

    def edited(self, edits: Edits) -> bytes:
        """The document with edits."""
        document = _opened(self._data, self.name)
        paragraphs = _paragraphs(document)
        for number, own in edits.items():
            changes: dict[int, list[tuple[int, int, str]]] = {}
            for change in changes_of(self._pieces[number], own):
                changes.setdefault(change.piece.at, []).append((change.start, change.end, change.text))
            for at, places in changes.items():
                element = paragraphs[number][1][at]
                element.text = replaced(element.text or "", places)
                element.set(_SPACE, "preserve")
        written = io.BytesIO()
        document.save(written)
        return written.getvalue()


def _opened(data: bytes, name: str) -> Any:
    """The document, or a DataError."""
    with needs_extra("reading .docx"):
        import docx
    try:
        return docx.Document(_unpacked(data, name))
    except (DataError, MemoryError):
        raise
    except Exception as error:  # python-docx, lxml and zipfile have many errors for damaged files
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"found no sound Word document (.docx): {reason}", file=name) from None


def _unpacked(data: bytes, name: str) -> io.BytesIO:
    """The same archive without packing: what it says of its sizes may be wrong, and is not believed."""
    left, found = _LARGEST, io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as packed, zipfile.ZipFile(found, "w") as unpacked:
        for member in {member.filename: member for member in packed.infolist()}.values():
            most = min(left, _LARGEST_XML) if member.filename.endswith((".xml", ".rels")) else left
            with packed.open(member) as part, unpacked.open(member.filename, "w") as copy:
                left -= _copied(part, copy, most, name)
    found.seek(0)
    return found


def _copied(part: IO[bytes], copy: IO[bytes], most: int, name: str) -> int:
    """How many bytes were unpacked; a DataError if there are more than so many."""
    total = 0
    while chunk := part.read(_CHUNK):
        total += len(chunk)
        if total > most:
            raise DataError("found far more when unpacked than a document has, expected text", file=name)
        copy.write(chunk)
    return total


def _paragraphs(document: Any) -> list[tuple[str, list[Any]]]:
    """Paragraphs that have text, in the body and its tables: their kind, and the elements that text is in."""
    from docx.oxml.ns import qn

    found = []
    for paragraph in document.element.body.iter(qn("w:p")):
        if any(above.tag.endswith("}Fallback") for above in paragraph.iterancestors()):
            continue  # the same text box again, for older programs
        elements = [
            element
            for element in paragraph.iter(qn("w:t"), qn("w:tab"), qn("w:br"), qn("w:cr"))
            if next(element.iterancestors(qn("w:p"))) is paragraph
            and not element.getparent().tag.endswith("}tabs")
        ]
        if any((element.text or "").strip() for element in elements):
            found.append((_kind(paragraph, qn), elements))
    return found


def _kind(paragraph: Any, qn: Any) -> str:
    style = (paragraph.style or "") if isinstance(paragraph.style, str) else ""
    if heading := _HEADING.fullmatch(style.replace("-", "")):
        return f"h{heading[1]}"
    if style.lower() == "title":
        return "h1"
    if paragraph.find(f".//{qn('w:numPr')}") is not None or style.startswith("List"):
        return "li"
    return "td" if next(paragraph.iterancestors(qn("w:tc")), None) is not None else "p"


def _text_of(element: Any) -> str:
    return str(element.text or "") if element.tag.endswith("}t") else " "
