"""Write a model as one program without dependencies: a Python file, or a JavaScript module.

The parts of the programs are real files, in `to_python/` and `to_javascript/`; they are joined, and the
model's data put behind them.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

from marginalia.decode.model import TrainedModel
from marginalia.deploy.export_data import export_data
from marginalia.errors import SettingsError
from marginalia.kinds import load

_HERE = Path(__file__).parent
_PARTS = ("text", "features", "{structure}", "labels", "main")
_LONG = 100  # characters of base64 in a line

_ABOUT = """\
A sequence labeller that needs nothing but this file; Marginalia wrote it.

    {usage}

Columns: {columns}. Labels: {labels}.
"""


def export(model: TrainedModel | str | os.PathLike[str], to: str = "python") -> str:
    """The text of a program (`python` or `javascript`) that labels as the model does.

    It offers `tag(columns)`: a mapping from column names to lists of values in, a list of labels out.
    """
    if to not in LANGUAGES:
        raise SettingsError(f"to: found {to!r}, expected {' or '.join(LANGUAGES)}.")
    tagger = model if isinstance(model, TrainedModel) else load(model)
    return LANGUAGES[to](export_data(tagger))


def _python(data: dict[str, Any]) -> str:
    imports: set[str] = set()
    bodies = [_python_part(text, imports) for text in _parts("to_python", ".py", data["structure"])]
    needed = ", ".join(f"{name!a}: [...]" for name in data["needed"])
    about = _about(
        data, f"from FILE import tag; tag({{{needed}}})   or   python FILE.py input.txt > output.txt"
    )
    model = data["structure"].capitalize()
    fields = "\n".join(f"    {name!a}: {_python_value(value)}," for name, value in data.items())
    return "\n".join(
        [
            f'"""{about}"""\n\nfrom __future__ import annotations\n',
            *sorted(imports, key=lambda line: (line.startswith("from"), line)),
            *bodies,
            f"\nDATA: dict[str, Any] = {{\n{fields}\n}}\n",
            f"_tagger = Tagger(DATA, {model}(DATA))\n\n",
            "def tag(columns: Mapping[str, Sequence[str]] | Sequence[str]) -> list[str]:",
            '    """A label for each token: of columns by name, or of tokens if there is but one column."""',
            "    return _tagger.tag(columns)\n\n",
            'if __name__ == "__main__":\n    sys.exit(main(_tagger, sys.argv[1:]))\n',
        ]
    )


def _python_part(text: str, imports: set[str]) -> str:
    """A part without its docstring and imports; those of the standard library are collected."""
    lines, nodes = text.splitlines(), ast.parse(text).body
    head = [node for node in nodes if isinstance(node, ast.Expr | ast.Import | ast.ImportFrom)]
    for node in head:
        outside = isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.level == 0)
        if outside and "__future__" not in lines[node.lineno - 1]:
            imports.add("\n".join(lines[node.lineno - 1 : node.end_lineno]))
    comment = "".join(
        f"# {line}".rstrip() + "\n" for line in (ast.get_docstring(ast.parse(text)) or "").splitlines()
    )
    body = "\n".join(lines[max(node.end_lineno or 0 for node in head) :]).strip("\n")
    return f"\n\n{comment}\n{body}"


def _python_value(value: Any) -> str:
    if isinstance(value, str) and len(value) > _LONG and _is_base64(value):
        return '"""\n' + "\n".join(wrap(value, _LONG)) + '\n"""'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!a}: {_python_value(item)}" for key, item in value.items()) + "}"
    return ascii(value)


def _javascript(data: dict[str, Any]) -> str:
    bodies = [_javascript_part(text) for text in _parts("to_javascript", ".mjs", data["structure"])]
    needed = ", ".join(f"{json.dumps(name)}: [...]" for name in data["needed"])
    about = _about(data, f'import {{ tag }} from "./FILE.mjs"; tag({{{needed}}})')
    model = data["structure"].capitalize()
    fields = "\n".join(f"  {json.dumps(name)}: {_javascript_value(value)}," for name, value in data.items())
    comment = "\n".join(f"// {line}".rstrip() for line in about.splitlines())
    return "\n".join(
        [
            comment,
            *bodies,
            f"\nconst DATA = {{\n{fields}\n}};\n",
            f"const tagger = new Tagger(DATA, new {model}(DATA));\n",
            "// A label for each token: of columns by name, or of tokens if there is but one column.",
            "export function tag(columns) {\n  return tagger.tag(columns);\n}\n",
        ]
    )


def _javascript_part(text: str) -> str:
    """A part without imports and exports."""
    text = re.sub(r"^import [^;]*;\n+", "", text, flags=re.MULTILINE)
    return "\n" + re.sub(r"^export (?=const|function|class)", "", text, flags=re.MULTILINE).strip("\n")


def _javascript_value(value: Any) -> str:
    if isinstance(value, str) and len(value) > _LONG and _is_base64(value):
        return "`\n" + "\n".join(wrap(value, _LONG)) + "\n`"
    if isinstance(value, Mapping):
        # In brackets, because a plain "__proto__": would be no key.
        return "{" + ", ".join(f"[{json.dumps(k)}]: {_javascript_value(v)}" for k, v in value.items()) + "}"
    return json.dumps(value)


def _about(data: Mapping[str, Any], usage: str) -> str:
    columns, labels = (" ".join(data[name]) for name in ("needed", "labels"))
    text = _ABOUT.format(usage=usage, columns=columns, labels=labels)
    # It stands in a docstring and in comments: no name may end them.
    plain = "".join(char if char == "\n" or " " <= char <= "~" else "?" for char in text)
    return plain.replace("\\", "/").replace('"""', "'''")


def _parts(folder: str, suffix: str, structure: str) -> Iterator[str]:
    for name in _PARTS:
        path = _HERE / folder / (name.format(structure=structure) + suffix)
        yield path.read_text(encoding="utf-8")


def _is_base64(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9+/]+=*", text) is not None


LANGUAGES: dict[str, Callable[[dict[str, Any]], str]] = {"python": _python, "javascript": _javascript}
