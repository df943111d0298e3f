"""The command line: one thin file per verb, and the only room that prints.

Exit codes: 0 all went well, 1 an error of the data, the settings or the model, 2 a wrong command line,
70 a defect of ours, 130 interrupted by Ctrl-C or SIGTERM, 141 the reader of our output went away.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from marginalia import __version__
from marginalia.cli.arguments import BROKEN_PIPE, DEFECT, FAILED, INTERRUPTED, USAGE, UsageError, formatted
from marginalia.cli.progress import Notes
from marginalia.cli.standard_streams import let_go, usable_streams
from marginalia.errors import Interrupted, MarginaliaError
from marginalia.interrupts import terminable

VERBS = (
    "train",
    "tag",
    "parse",
    "eval",
    "rerank",
    "calibrate",
    "explain",
    "fix",
    "inspect",
    "shrink",
    "export",
    "convert",
    "casing",
    "lexicon",
    "clusters",
    "templates",
    "models",
    "assist",
    "paraphrase",
    "readability",
    "check",
    "doctor",
    "demo",
)

_EPILOG = """\
examples:
  marginalia demo                                    see it work in a few seconds
  marginalia train train.txt -o model.mg --task ner --dev dev.txt
  marginalia tag model.mg < input.txt > output.txt
  marginalia parse en --text "Raw text to words, tags and trees."
  marginalia VERB --help                             all options of a verb
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the result is the exit code."""
    # numpy's BLAS, which we never use, would start a thread per core: a third of the import time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Modules make many objects that stay: looking for garbage among them takes time,
    # and so does a last look at all of them when the process ends.
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)
    words = list(sys.argv[1:] if argv is None else argv)
    debug = _taken(words, "--debug")
    with usable_streams(), terminable():
        return _guarded(words, debug)


def _taken(words: list[str], flag: str) -> bool:
    """Whether a flag that all verbs have is there, wherever; it is taken out."""
    end = words.index("--") if "--" in words else len(words)
    found = flag in words[:end]
    if found:
        words.remove(flag)
    return found


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    """Parsed arguments; unlike argparse alone, files may also stand behind options."""
    # Only the verb that is named gets loaded: start-up time is part of every short run.
    parser = build_parser(words[:1] if words and words[0] in VERBS else VERBS)
    arguments, late = parser.parse_known_args(words)
    for word in late:
        if (word.startswith("-") and word != "-") or not arguments.take(arguments, word):
            parser.error(f"unrecognized arguments: {' '.join(late)}")
    return arguments


def build_parser(names: Sequence[str] = VERBS) -> argparse.ArgumentParser:
    """The parser of some verbs; each result has a `run`."""
    parser = argparse.ArgumentParser(
        prog="marginalia",
        description="Learn structure in text with linear models: tag, chunk, segment, and know why.",
        epilog=_EPILOG,
        formatter_class=formatted,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"marginalia {__version__}")
    parser.add_argument("--debug", action="store_true", help="show tracebacks of defects (with any verb)")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name in names:
        import_module(f"marginalia.cli.{name}").add_parser(verbs)
    return parser


def _guarded(words: Sequence[str], debug: bool) -> int:
    """The verb's exit code; what goes wrong becomes a message and a code."""
    try:
        if any("\0" in word for word in words):
            raise UsageError("found a NUL byte in the command line.")
        arguments = parse_arguments(words)  # which loads the verb: Ctrl-C may come then, too
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE
    except Interrupted as error:
        return _ended(f"interrupted; what was done until then is in {error.kept}", INTERRUPTED)
    except KeyboardInterrupt:
        return _ended("interrupted", INTERRUPTED)
    except BrokenPipeError:
        let_go(sys.stdout)
        return BROKEN_PIPE
    except MarginaliaError as error:
        return _ended(f"error: {error}", USAGE if isinstance(error, UsageError) else FAILED)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _ended(f"error: {place}{error.strerror or error}", FAILED)
    except MemoryError:
        return _ended("error: there is not enough memory.", FAILED)
    except RecursionError:
        if debug:
            raise
        return _ended("error: what was given is nested too deeply.", FAILED)
    except Exception as error:
        if debug:
            raise
        return _ended(_DEFECT.format(type(error).__name__, str(error) or "no message", __version__), DEFECT)


_DEFECT = """\
error: {}: {}
This is a defect of marginalia {}, not of yours. Please report it with the command line, the traceback that it
prints with --debug added, and, if you can, an input that shows it."""


def _ended(message: str, code: int) -> int:
    let_go(sys.stdout)
    Notes(sys.stderr).say(f"marginalia: {message}")
    return code
