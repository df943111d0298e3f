"""Sentences and spans; documents with trees; readers and writers of the usual formats; label schemes.

The names below are loaded when first used: tagging a column file needs no other reader.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .blocks import Block, pack, read_blocks
    from .candidates import CandidateArrays
    from .coder import EncodedLabels, encode_labels
    from .conll import read_conll, write_conll
    from .conllu import read_conllu_columns, write_conllu_columns
    from .conllu_text import read_conllu_text, write_conllu_text
    from .crfsuite import read_crfsuite, write_crfsuite
    from .document import Document, ParsedSentence
    from .document_reader import iterate_conllu, read_conllu
    from .formats import FORMATS, Format, format_of
    from .jsonl import Misaligned, MisalignedError, read_jsonl, write_jsonl
    from .kytea import read_kytea, write_kytea
    from .plain import read_plain, write_plain
    from .records import Sentence, Span
    from .schemes import (
        SCHEMES,
        Problem,
        Scheme,
        convert,
        detect,
        labels_of,
        legal_transitions,
        repair,
        spans_of,
        validate,
    )
    from .segmented import read_segmented, write_segmented
    from .words import EmptyNode, MultiwordToken, Word

_HOMES = {
    "blocks": "Block pack read_blocks",
    "candidates": "CandidateArrays",
    "coder": "EncodedLabels encode_labels",
    "conll": "read_conll write_conll",
    "conllu": "read_conllu_columns write_conllu_columns",
    "conllu_text": "read_conllu_text write_conllu_text",
    "crfsuite": "read_crfsuite write_crfsuite",
    "document": "Document ParsedSentence",
    "document_reader": "iterate_conllu read_conllu",
    "formats": "FORMATS Format format_of",
    "jsonl": "Misaligned MisalignedError read_jsonl write_jsonl",
    "kytea": "read_kytea write_kytea",
    "plain": "read_plain write_plain",
    "records": "Sentence Span",
    "schemes": "SCHEMES Problem Scheme convert detect labels_of legal_transitions repair spans_of validate",
    "segmented": "read_segmented write_segmented",
    "words": "EmptyNode MultiwordToken Word",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "FORMATS",
    "SCHEMES",
    "Block",
    "CandidateArrays",
    "Document",
    "EmptyNode",
    "EncodedLabels",
    "Format",
    "Misaligned",
    "MisalignedError",
    "MultiwordToken",
    "ParsedSentence",
    "Problem",
    "Scheme",
    "Sentence",
    "Span",
    "Word",
    "convert",
    "detect",
    "encode_labels",
    "format_of",
    "iterate_conllu",
    "labels_of",
    "legal_transitions",
    "pack",
    "read_blocks",
    "read_conll",
    "read_conllu",
    "read_conllu_columns",
    "read_conllu_text",
    "read_crfsuite",
    "read_jsonl",
    "read_kytea",
    "read_plain",
    "read_segmented",
    "repair",
    "spans_of",
    "validate",
    "write_conll",
    "write_conllu_columns",
    "write_conllu_text",
    "write_crfsuite",
    "write_jsonl",
    "write_kytea",
    "write_plain",
    "write_segmented",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'marginalia.corpus' has no attribute '{name}'")
    value = getattr(import_module(f"marginalia.corpus.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
