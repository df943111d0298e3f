"""`paraphrase --count`: what the verbs of texts stand with, for the checks of `--try`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from marginalia.cli.arguments import OK, UsageError
from marginalia.cli.output import check_output
from marginalia.cli.reading import must_exist
from marginalia.cli.text import count

if TYPE_CHECKING:
    from marginalia.assist.trees import Tree


def count_texts(args: argparse.Namespace) -> int:
    """`--count`: parse English texts and write the counts of their verbs."""
    from marginalia.assist.words.valency import counted

    if args.output is None:
        raise UsageError("--count needs -o FILE, where the counts go.")
    must_exist(args.count)
    check_output(args.output, args, stdout=False)
    found = counted(_trees(args.count))
    found.write(args.output)
    if args.json:
        print(json.dumps({"verbs": len(found.uses), "uses": found.uses.total()}))
    else:
        print(f"{count(len(found.uses), 'verb')}, {count(found.uses.total(), 'use')}: {args.output}")
    return OK


def _trees(paths: Sequence[str]) -> Iterator[Tree]:
    from pathlib import Path

    from marginalia.assist.parses import cleaned, parses
    from marginalia.assist.trees import Tree

    for path in paths:
        text = cleaned(Path(path).read_text(encoding="utf-8", errors="replace"))
        for sentences in parses("en").parse([text]):
            yield from (Tree.of(sentence) for sentence in sentences if sentence.words)


def use_counts(paths: Sequence[str]) -> None:
    """Let checks know counts of files besides those that ship."""
    from marginalia.assist.words.valency import read_valency, valency

    must_exist(paths)
    for path in paths:
        valency().update(read_valency(path))
