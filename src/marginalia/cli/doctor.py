"""`marginalia doctor`: what is installed here and whether it works, to paste into a report."""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from marginalia.cli.arguments import FAILED, OK, Verbs, verb_parser
from marginalia.cli.text import size
from marginalia.errors import MarginaliaError

_DESCRIPTION = """\
Print the versions of Marginalia, Python and numpy, how the core was built, the processor's cores, the
built-in models, and which packages of each extra are installed; then learn, save, load and use a tiny
model. Paste it into a report. It names no files but those of the package, and sends nothing."""

_EXAMPLES = """\
  marginalia doctor
  marginalia doctor --json
"""

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+).*?(?:extra\s*==\s*['\"]([\w-]+)['\"])?\s*$")
_SENTENCES = "a DET B-NP\ncat NOUN I-NP\n\nit PRON B-NP\nsleeps VERB O\n\n"


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "doctor", "what is installed, and does it work", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `marginalia doctor`; its exit code: 1 if the core does not work."""
    found = diagnosis()
    if args.json:
        print(json.dumps(found, ensure_ascii=False))
    else:
        print("\n".join(_lines(found)))
    return OK if found["works"] == "yes" else FAILED


def diagnosis() -> dict[str, Any]:
    """All that `doctor` prints, as plain values."""
    import numpy as np

    from marginalia import __file__ as package
    from marginalia import __version__, _core
    from marginalia.model.built_in import built_in_models

    core = Path(_core.__file__)
    return {
        "marginalia": __version__,
        "folder": str(Path(package).parent),
        "core": {"file": core.name, "bytes": core.stat().st_size, "build": _core.build()},
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": np.__version__,
        "system": platform.platform(),
        "cores": {"machine": os.cpu_count(), "usable": _usable_cores()},
        "encoding": {"output": sys.stdout.encoding, "files": sys.getfilesystemencoding()},
        "models": {model.name: model.size for model in built_in_models()},
        "extras": extras(),
        "works": _works(),
    }


def extras() -> dict[str, dict[str, str | None]]:
    """The packages of each extra with their versions; None: not installed."""
    try:
        lines = requires("marginalia") or []
    except PackageNotFoundError:  # it runs from a folder of sources
        return {}
    found: dict[str, dict[str, str | None]] = {}
    for line in lines:
        match = _REQUIREMENT.match(line)
        if match and match[2] and match[1] != "marginalia":
            found.setdefault(match[2], {})[match[1]] = _version(match[1])
    return found


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _usable_cores() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _works() -> str:
    """Whether a model can be learned, written, read and used: yes, or what went wrong."""
    import marginalia as mg

    try:
        data = list(mg.read_conll(io.StringIO(_SENTENCES), "word pos chunk"))
        made = mg.train(data, task="chunking", passes=3)
        tagged = mg.Tagger.from_bytes(made.to_bytes()).tag_all(data)
        learned = [one.labels for one in tagged] == [tuple(one.columns["chunk"]) for one in data]
    except MarginaliaError as error:
        return f"no: {error}"
    return "yes" if learned else "no: a tiny model did not learn its two sentences"


def _lines(found: dict[str, Any]) -> Iterator[str]:
    core, cores, encoding = found["core"], found["cores"], found["encoding"]
    yield f"marginalia {found['marginalia']} in {found['folder']}"
    yield f"core       {core['file']} ({size(core['bytes'])}), {core['build']}"
    yield f"python     {found['python']}, numpy {found['numpy']}"
    yield f"system     {found['system']}"
    yield f"cores      {cores['usable']} usable of {cores['machine']}"
    yield f"encoding   output {encoding['output']}, files {encoding['files']}"
    models = ", ".join(f"{name} ({size(bytes_)})" for name, bytes_ in found["models"].items())
    yield f"models     {models or 'none are built in'}"
    for extra, packages in found["extras"].items():
        shown = ", ".join(f"{name} {there or '–'}" for name, there in packages.items())
        missing = sum(there is None for there in packages.values())
        yield f"extra      {extra}: {shown}" + (f" ({missing} missing)" if missing else "")
    yield f"works      {found['works']}"
