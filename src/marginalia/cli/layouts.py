"""The layout of a model's input and output: that of its training data, but for what the user says."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from marginalia.cli.reading import READER_OPTIONS, check_layout, given_options, reader_arguments
from marginalia.errors import SettingsError

if TYPE_CHECKING:
    from marginalia.corpus.batches import Layout
    from marginalia.model import SavedModel


def model_layout(saved: SavedModel, args: argparse.Namespace, *, labelled: bool = True) -> Layout:
    """How to read (labelled) data for a model: as its training data, with what the user overrides."""
    from marginalia.corpus.batches import Layout
    from marginalia.corpus.formats import format_of
    from marginalia.corpus.settings import DataSettings
    from marginalia.decode.structures import STRUCTURES

    if STRUCTURES[saved.structure].items:
        return _item_layout(saved, args, labelled)
    format = format_of("", args.format or saved.format, labelled=labelled).name
    _check_attributes(saved, format)
    given = given_options(vars(args))
    check_layout(format, args.columns, given)
    taken = [option.name for option in READER_OPTIONS if format in option.formats]
    kept = {name: saved.options[name] for name in taken if name in saved.options}
    options = {**kept, **reader_arguments(given)}
    columns, label = _columns(saved, format, args.columns, args.label)
    data = saved.settings_as(DataSettings)
    return Layout(format, columns, label, options, data.whole_documents, data.partial and labelled)


def input_layout(saved: SavedModel, args: argparse.Namespace) -> Layout:
    """How to read text to be labelled: gold labels and tags are neither needed nor looked at."""
    layout = model_layout(saved, args, labelled=False)
    options = dict(layout.options)
    if layout.format == "segmented" and args.tag_separator is None:
        options.pop("tag_separator", None)
    if layout.format == "jsonl" and not layout.items and args.misaligned is None:
        options["misaligned"] = "drop"
    return replace(layout, options=options)


def _item_layout(saved: SavedModel, args: argparse.Namespace, labelled: bool) -> Layout:
    """The same for items: their fields have names in every format."""
    from marginalia.corpus.batches import Layout
    from marginalia.corpus.items import ITEM_FORMATS, item_format, known_suffix

    format = args.format or known_suffix(_file_of(args)) or saved.format
    item_format("", format)
    _check_attributes(saved, format)
    given = reader_arguments(given_options(vars(args)))
    check_layout(format, None, given)
    options = {k: v for k, v in saved.options.items() if format == saved.format and k in ITEM_FORMATS[format]}
    if args.columns is not None:
        options["header"] = False
    columns, label = tuple((args.columns or "").split()) or saved.columns, args.label or saved.label
    partial = bool(saved.settings.get("partial")) and labelled
    return Layout(format, columns, label, {**options, **given}, partial=partial, items=True)


def _file_of(args: argparse.Namespace) -> str:
    """The file that a verb reads."""
    named = (getattr(args, name, None) for name in ("input", "test", "data", "gold"))
    return next((str(path) for path in named if isinstance(path, str)), "")


def output_layout(layout: Layout, saved: SavedModel) -> Layout:
    """How to write what was read: words get their tags even if they were read without."""
    if layout.format != "segmented" or saved.format != "segmented":
        return layout
    kept = {name: value for name, value in saved.options.items() if name == "tag_separator"}
    return replace(layout, options={**kept, **layout.options})


def _columns(
    saved: SavedModel, format: str, columns: str | None, label: str | None
) -> tuple[tuple[str, ...], str]:
    if format == "conll":
        return _named(saved, tuple(columns.split()) if columns else None, label)
    if format == "conllu":
        chosen = _conllu_label(label or saved.label)
        needed = tuple(columns.split()) if columns else _conllu_features(saved)
        return tuple(dict.fromkeys([*needed, chosen])), chosen
    if label not in (None, "label"):
        raise SettingsError(f"--label: found '{label}', but in {format} files labels are called 'label'.")
    return ("attributes" if format == "crfsuite" else "word", "label"), "label"


def _check_attributes(saved: SavedModel, format: str) -> None:
    """Item files are for models of explicit attributes, and those for nothing else."""
    if saved.program.explicit and format != "crfsuite":
        raise SettingsError(
            f"--format: found {format}, but the model was trained on explicit attributes: expected crfsuite."
        )
    if not saved.program.explicit and format == "crfsuite":
        raise SettingsError(
            "--format: found crfsuite, but the model has templates, which read columns of text."
        )


def _named(
    saved: SavedModel, columns: tuple[str, ...] | None, label: str | None
) -> tuple[tuple[str, ...], str]:
    chosen = label or saved.label
    names = columns or saved.columns if saved.format in ("conll", "conllu") else columns or ("word", "label")
    if saved.format == "conllu" and columns is None:
        names = (*_features(saved), chosen)
    if label is not None and chosen not in names:
        raise SettingsError(f"--label: found '{chosen}', expected one of the columns {' '.join(names)}.")
    missing = [name for name in _features(saved) if name not in names]
    if missing:
        needed = " ".join(missing)
        raise SettingsError(f"--columns: found {' '.join(names)}, but the model also needs {needed}.")
    return names, chosen


def _features(saved: SavedModel) -> tuple[str, ...]:
    return saved.program.columns or saved.columns[:1]


def _conllu_features(saved: SavedModel) -> tuple[str, ...]:
    from marginalia.corpus.conllu import FIELDS

    known = {"word", *FIELDS}
    # A model's first column has its words, whatever it is called.
    needed = ["word" if name == saved.columns[0] and name not in known else name for name in _features(saved)]
    missing = [name for name in needed if name not in known and not name.startswith("misc.")]
    if missing:
        raise SettingsError(f"the model needs the column '{missing[0]}', which CoNLL-U files do not have.")
    return tuple(needed)


def _conllu_label(label: str) -> str:
    from marginalia.corpus.conllu import FIELDS

    if label in FIELDS[1:] or label.startswith("misc."):
        return label
    raise SettingsError(
        f"a CoNLL-U file has no column '{label}': say where labels are with --label "
        f"({', '.join(FIELDS[2:5])}, misc.KEY…)."
    )
