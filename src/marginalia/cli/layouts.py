"""The layout of a model's input: that of its training data, but for what the command line says."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from marginalia.cli.reading import check_layout, given_options, reader_arguments
from marginalia.errors import SettingsError

if TYPE_CHECKING:
    from marginalia.corpus.batches import Layout
    from marginalia.kinds.reader import ExampleReader, Reading
    from marginalia.model import SavedModel


def model_layout(saved: SavedModel, args: argparse.Namespace, file: str) -> Layout:
    """How to read labelled data for a model."""
    from marginalia.kinds import kind_of

    reader = kind_of(saved.structure).reader
    return _checked(reader, reader.layout(saved, _reading(args, file)), args)


def input_layout(saved: SavedModel, args: argparse.Namespace, file: str) -> Layout:
    """How to read data that a model shall give outputs for."""
    from marginalia.kinds import kind_of

    reader = kind_of(saved.structure).reader
    return _checked(reader, reader.input_layout(saved, _reading(args, file)), args)


def kept_layout(saved: SavedModel, args: argparse.Namespace, layout: Layout) -> Layout:
    """How to read input so that labels of --given, if there are any, can be kept."""
    from marginalia.kinds import kind_of

    if args.given is None:
        return layout
    return kind_of(saved.structure).reader.keeping(layout, args.given, _reading(args, args.input))


def written_layout(saved: SavedModel, args: argparse.Namespace, layout: Layout) -> Layout:
    """How to write what was read: in the same format unless `--to` names another one."""
    from dataclasses import replace

    from marginalia.corpus.formats import TREEBANK_TEXT
    from marginalia.kinds.sentences import cuts_text

    if args.to is None:
        return layout
    if layout.items or not cuts_text(saved) or layout.format in ("conll", "crfsuite"):
        raise SettingsError(
            f"--to is for text that a model cuts into words by characters, not for {layout.format} files."
        )
    return replace(layout, format=TREEBANK_TEXT if args.to == "conllu" else args.to)


def _reading(args: argparse.Namespace, file: str) -> Reading:
    from marginalia.kinds.reader import Reading

    options = reader_arguments(given_options(vars(args)))
    return Reading(args.format, args.columns, args.label, options, file)


def _checked(reader: ExampleReader, layout: Layout, args: argparse.Namespace) -> Layout:
    check_layout(reader, layout.format, args.columns, given_options(vars(args)))
    return layout
