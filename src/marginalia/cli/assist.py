"""`marginalia assist`: what is hard to read in texts, and what could be said instead."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from marginalia.cli.arguments import (
    FAILED,
    OK,
    UsageError,
    Verbs,
    added_to,
    percentage,
    verb_parser,
    whole_number,
)
from marginalia.cli.output import check_output, opened_target
from marginalia.cli.reading import must_exist

if TYPE_CHECKING:
    from marginalia.assist.profile import Profile
    from marginalia.assist.records import Analysis
    from marginalia.assist.sources import SourceText

_PORT = 8010
_RATINGS = "ratings.jsonl"
_DESCRIPTION = """\
Find what is hard in a text for a kind of reader, say why, and offer something easier. Nothing leaves this
machine. INPUT is .txt, .html, .docx, a folder of them, or - for standard input. With --apply the text is
written with the best offers, or with those that you choose; all else in the file stays as it is. With
--serve the same is a page of this machine, with a questionnaire for teachers."""

_EXAMPLES = """\
  marginalia assist story.txt
  marginalia assist story.txt --level beginner --html report.html
  marginalia assist letter.docx --apply ask -o easier.docx
  marginalia assist docs/ --max-difficulty 80 --level reader.toml
  cat story.txt | marginalia assist - --json
  marginalia assist --serve --port 8010
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "assist", "what is hard to read, and what is easier", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("input", metavar="INPUT", nargs="*", help="texts and folders; - is standard input")
    parser.add_argument(
        "--level",
        metavar="LEVEL",
        default="intermediate",
        help="who reads: beginner, intermediate, advanced, or the file of a profile (default: intermediate)",
    )
    parser.add_argument("--lang", choices=("en", "ja"), help="the language (default: by the script)")
    parser.add_argument("--json", action="store_true", help="one JSON object for each text, a line each")
    parser.add_argument("--html", metavar="FILE", help="write the report as a page that needs no other file")
    parser.add_argument("--no-offers", action="store_true", help="say what is hard only, which is quicker")
    parser.add_argument(
        "--apply",
        choices=("best", "ask"),
        help="change hard sentences: by the best offer of each, or as you choose here",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="of --apply: the changed text, in its format")
    parser.add_argument(
        "--max-difficulty",
        metavar="N",
        type=percentage,
        help="exit code 1 if a text is more difficult than N of 100 on average",
    )
    page = parser.add_argument_group("the page")
    page.add_argument("--serve", action="store_true", help="serve a page on 127.0.0.1, until Ctrl-C")
    page.add_argument(
        "--port", metavar="N", type=whole_number(0, 65535), help=f"its port; 0 is any (default: {_PORT})"
    )
    page.add_argument(
        "--ratings",
        metavar="FILE",
        help=f"where answers to the questionnaire go (default: {_RATINGS} in this folder)",
    )
    parser.set_defaults(run=run, take=added_to("input"))


def run(args: argparse.Namespace) -> int:
    """The verb."""
    _check(args)
    profile = _profile(args)
    if args.serve:
        return _serve(args, profile)
    if args.apply:
        from marginalia.cli.assist_apply import apply

        return apply(args, profile)
    return _report(args, profile)


def _check(args: argparse.Namespace) -> None:
    if args.serve:
        for name in ("html", "apply", "output", "max_difficulty", "json", "no_offers"):
            if getattr(args, name) not in (None, False):
                raise UsageError(f"--{name.replace('_', '-')} does not go with --serve.")
        if args.input:
            raise UsageError("INPUT does not go with --serve: texts are opened on the page.")
        return
    for name in ("port", "ratings"):
        if getattr(args, name) is not None:
            raise UsageError(f"--{name} needs --serve.")
    if not args.input:
        raise UsageError("found no INPUT, expected texts (- is standard input) or --serve.")
    if (args.apply is None) != (args.output is None):
        raise UsageError("--apply and -o FILE go together: changed text never replaces what it was made of.")
    if args.apply and (args.json or args.html or args.no_offers or args.max_difficulty is not None):
        raise UsageError(
            "--apply writes a text: it does not go with --json, --html, --no-offers, --max-difficulty."
        )
    if args.json and args.html == "-":
        raise UsageError("--json and --html - would both be on standard output.")


def _profile(args: argparse.Namespace) -> Profile:
    from marginalia.assist.assistant import check_off
    from marginalia.assist.profile import level_or_profile, profile_of

    profile = level_or_profile(args.level)
    check_off(profile)
    return profile_of({**profile.to_dict(), "language": args.lang}) if args.lang else profile


def _report(args: argparse.Namespace, profile: Profile) -> int:
    if args.html:
        check_output(args.html, args)
    analyses = []
    for analysis in _analyses(args, profile):
        _show(analysis, args)
        analyses.append(analysis)
    if args.html:
        from marginalia.assist.report_html import report_html

        with opened_target(args.html) as stream:
            stream.write(report_html(analyses).encode())
    return _code(analyses, args.max_difficulty)


def _analyses(args: argparse.Namespace, profile: Profile) -> Iterator[Analysis]:
    from marginalia.assist.analysing import analyse_source

    must_exist([path for path in args.input if not os.path.isdir(path)])
    for source in _sources(args):
        yield analyse_source(source, profile, offers=not args.no_offers)


def _sources(args: argparse.Namespace) -> Iterator[SourceText]:
    from marginalia.assist.sources import read_sources

    return read_sources(args.input)


def _show(analysis: Analysis, args: argparse.Namespace) -> None:
    if args.json:
        print(json.dumps(analysis.to_dict()))  # ASCII: what is no text (half of a surrogate pair) is escaped
    elif not args.html:
        from marginalia.assist.report_text import report_text

        print("\n".join(report_text(analysis)) + "\n")
    elif args.html != "-":
        from marginalia.assist.report_text import headline

        print(headline(analysis))


def _code(analyses: list[Analysis], most: float | None) -> int:
    over = [one for one in analyses if most is not None and one.difficulty > most]
    for one in over:
        print(f"{one.name}: difficulty {one.difficulty:.1f}, expected at most {most:g}", file=sys.stderr)
    return FAILED if over else OK


def _serve(args: argparse.Namespace, profile: Profile) -> int:
    from marginalia.errors import needs_extra

    ratings = args.ratings or _RATINGS
    check_output(ratings, stdout=False)
    with needs_extra("the page"):
        from marginalia.serve.app import application
        from marginalia.serve.assistance import AssistAnswers
        from marginalia.serve.running import run as serve
    answers = AssistAnswers(profile, ratings, fixed=args.level != "intermediate")

    def ready(address: str) -> None:
        print(f"Reading assistance: {address} (Ctrl-C ends it)", flush=True)
        answers.warm_up()

    serve(application(answers.answers), _PORT if args.port is None else args.port, ready)
    return OK
