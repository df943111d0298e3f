"""Sentences and spans; readers and writers of the usual formats; label schemes."""

from .blocks import Block, pack, read_blocks
from .conll import read_conll, write_conll
from .conllu import read_conllu, write_conllu
from .encode import Encoded, encode_labels
from .formats import FORMATS, Format, format_of
from .jsonl import Misaligned, MisalignedError, read_jsonl, write_jsonl
from .plain import read_plain, read_segmented, write_plain, write_segmented
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

__all__ = [
    "FORMATS",
    "SCHEMES",
    "Block",
    "Encoded",
    "Format",
    "Misaligned",
    "MisalignedError",
    "Problem",
    "Scheme",
    "Sentence",
    "Span",
    "convert",
    "detect",
    "encode_labels",
    "format_of",
    "labels_of",
    "legal_transitions",
    "pack",
    "read_blocks",
    "read_conll",
    "read_conllu",
    "read_jsonl",
    "read_plain",
    "read_segmented",
    "repair",
    "spans_of",
    "validate",
    "write_conll",
    "write_conllu",
    "write_jsonl",
    "write_plain",
    "write_segmented",
]
