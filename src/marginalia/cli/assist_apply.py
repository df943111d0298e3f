"""`marginalia assist --apply`: hard sentences changed by offers, the best ones or those that are chosen."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from marginalia.cli.arguments import OK, UsageError
from marginalia.cli.output import check_output, opened_target
from marginalia.cli.reading import STDIN, must_exist
from marginalia.cli.text import BOLD, DIM, GREEN, RED, Paint, count

if TYPE_CHECKING:
    from marginalia.assist.difference import Segment
    from marginalia.assist.profile import Profile
    from marginalia.assist.records import Offer, SentenceReport
    from marginalia.assist.sources import Edit, SourceText

_KEYS = "1-9 takes an offer, Enter keeps the sentence, e lets you write it, q ends: "


class Done(Exception):
    """Whoever is asked has decided enough."""


def apply(args: argparse.Namespace, profile: Profile) -> int:
    """Write one text with its hard sentences changed."""
    from marginalia.assist.sources import read_sources

    if args.apply == "ask" and STDIN in args.input:
        raise UsageError("--apply ask reads your answers from standard input: name the text by its file.")
    must_exist([path for path in args.input if not os.path.isdir(path)])
    check_output(args.output, args)
    sources = list(read_sources(args.input))
    if len(sources) != 1:
        raise UsageError(f"--apply changes one text: found {len(sources)}.")
    decided = list(_decided(sources[0], profile, args.apply == "ask"))
    edits: dict[int, list[Edit]] = {}
    for block, own in decided:
        edits.setdefault(block, []).extend(own)
    with opened_target(args.output) as stream:
        stream.write(sources[0].edited(edits))
    where = "" if args.output == "-" else f" {args.output} has the result."
    print(f"{count(len(decided), 'sentence')} changed.{where}", file=sys.stderr)
    return OK


def _decided(source: SourceText, profile: Profile, ask: bool) -> Iterator[tuple[int, list[Edit]]]:
    """The edits of each sentence that is changed, with its block; Ctrl-C and the end of input end it."""
    from marginalia.assist.analysing import assistant_for
    from marginalia.assist.difference import difference, edits_of

    helper = assistant_for(source, profile)
    helper.read(block.text for block in source.blocks)
    try:
        for number, block in enumerate(source.blocks):
            for report, parsed in helper.reports(block.text, number):
                offers = helper.offers(parsed) if report.band > 1 else ()
                new = _asked(report, offers) if ask and offers else offers[0].text if offers else None
                if new is not None and new != report.text:
                    yield number, edits_of(difference(report.text, new), report.start)
    except (Done, EOFError):
        return
    except KeyboardInterrupt:
        if not ask:
            raise
        print(file=sys.stderr)


def _asked(report: SentenceReport, offers: tuple[Offer, ...]) -> str | None:
    """What somebody at the terminal wants a sentence to be; None as it is."""
    paint = Paint(sys.stderr)
    print("\n" + "\n".join(_question(report, offers, paint)), file=sys.stderr)
    while True:
        print(_KEYS, end="", file=sys.stderr, flush=True)
        answer = input().strip().lower()
        if answer in ("", "n"):
            return None
        if answer == "q":
            raise Done
        if answer == "e":
            print("Your wording: ", end="", file=sys.stderr, flush=True)
            return input().strip() or None
        if answer.isdecimal() and 1 <= int(answer) <= len(offers):
            return offers[int(answer) - 1].text
        print(f"found '{answer}', expected 1 to {len(offers)}, Enter, e or q", file=sys.stderr)


def _question(report: SentenceReport, offers: tuple[Offer, ...], paint: Paint) -> Iterator[str]:
    from marginalia.assist.records import BANDS
    from marginalia.assist.report_text import shown

    yield paint(shown(" ".join(report.text.split())), BOLD)
    why = "; ".join(reason.text for reason in report.reasons)
    yield paint(shown(f"{BANDS[report.band]} ({report.difficulty:.0f} of 100): {why}"), DIM)
    for number, offer in enumerate(offers, 1):
        yield f"  {number}. {''.join(_marked(segment, paint) for segment in offer.segments)}"
        yield paint(shown(f"     {offer.reason}"), DIM)


def _marked(segment: Segment, paint: Paint) -> str:
    from marginalia.assist.report_text import shown

    before, after = shown(segment.before), shown(segment.after)
    if segment.same or not paint.on:
        return after
    return (paint(before, RED) if before else "") + (paint(after, GREEN) if after else "")
