"""One name for one thing, the field's own: retired words stay out of public names and file names.

The glossary of docs/architecture.md has the words that took their place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
RETIRED = {  # and what is said instead
    "demand": "constraint",
    "demands": "constraints",
    "demanded": "constrained",
    "watch": "automaton",
    "met": "satisfied, or constrained",
    "meet": "satisfy, or constrain",
    "wish": "target",
    "wishes": "targets",
    "wished": "target",
    "claim": "marginal",
    "claims": "marginals",
    "walk": "path",
    "walks": "paths",
    "lesson": "contribution, provenance",
    "lessons": "contributions, provenance",
    "receipt": "correction report",
    "receipts": "correction report",
    "settle": "catch up (penalties), converge (learning)",
    "settling": "convergence",
    "divisor": "normaliser",
    "divisors": "normalisers",
    "several": "ensemble",
    "said": "predicted, or what it was that was said",
    "told": "reported",
    "tell": "report, update",
    "telling": "explanation text",
    "wording": "feature phrases",
    "foreign": "imported",
    "teaching": "trainable",
    "found": "what it is that was found",
}
_NO_TYPE = "return|throw|else|case|delete|new|using|if|while|for|switch"
CPP_NAMES = re.compile(
    r"^ *(?:template <[^;{}]*> *)?(?:class|struct|enum class|concept|using) (\w+)"  # types
    r"|^ *(?:(?:static|inline|constexpr|explicit|virtual|friend) )*"  # functions
    rf"(?! |(?:{_NO_TYPE})\b)[\w:<>,*& ]*[\w>*&] [*&]?(\w+)\(",
    re.MULTILINE,
)


def words_of(name: str) -> list[str]:
    """The words that a name in snake_case or CamelCase is made of."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)]


def retired(name: str) -> list[str]:
    return [word for word in words_of(name) if word in RETIRED]


def python_names(source: str) -> Iterator[str]:
    """Classes, functions, their parameters, fields and constants that do not begin with `_`."""

    def visit(body: list[ast.stmt]) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield node.name
                if not node.name.startswith("_"):
                    yield from visit(node.body)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.name
                if not node.name.startswith("_") or node.name == "__init__":
                    arguments = node.args
                    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                    yield from (one.arg for one in every)
            elif isinstance(node, ast.Assign):
                yield from (target.id for target in node.targets if isinstance(target, ast.Name))
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id

    return (name for name in visit(ast.parse(source).body) if not name.startswith("_"))


def cpp_names(source: str) -> Iterator[str]:
    """Types and functions of a header."""
    code = re.sub(r"//.*", "", source)
    return (first or second for first, second in CPP_NAMES.findall(code))


def sources(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def names_with_retired_words(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    names = cpp_names(text) if path.suffix == ".hpp" else python_names(text)
    return sorted({name for name in names if retired(name)})


PYTHON = sources("src/marginalia/**/*.py", "src/marginalia/_core.pyi")
HEADERS = sources("core/**/*.hpp", "bind/*.hpp")


@pytest.mark.parametrize("path", [*PYTHON, *HEADERS], ids=lambda path: str(path.relative_to(ROOT)))
def test_public_names_have_no_retired_words(path: Path) -> None:
    assert names_with_retired_words(path) == []


def test_file_names_have_no_retired_words() -> None:
    files = sources("src/marginalia/**/*.py", "core/**/*.?pp", "bind/*.?pp", "tests/**/*.py")
    assert [str(path.relative_to(ROOT)) for path in files if retired(path.stem)] == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (
            "class Demands:\n    claims: int\n    def meet(self, wish): ...",
            {"Demands", "claims", "meet", "wish"},
        ),
        ("SAID = 1\n_told = 2\nwell: int = 3", {"SAID"}),
        ("def tell_me(*, lessons=1): ...\ndef _wished(walks): ...", {"tell_me", "lessons"}),
        ("def mettle(teller): ...", set()),
    ],
)
def test_retired_words_in_python_are_seen(source: str, names: set[str]) -> None:
    assert {name for name in python_names(source) if retired(name)} == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("class ChainWalks {\n  double settle(std::size_t row);\n", {"ChainWalks", "settle"}),
        ("template <class T>\nstd::vector<Claim> claims_of(const T& t) {\n", {"claims_of"}),
        ("  static const Lesson* lesson(int i) { return tell(i); }\n", {"lesson"}),
        ("// demands(x)\nusing Watch = int;\n  return settle(row);\n", {"Watch"}),
    ],
)
def test_retired_words_in_headers_are_seen(source: str, names: set[str]) -> None:
    assert {name for name in cpp_names(source) if retired(name)} == names
