"""Compile the paraphrase rules that ship, so that loading them needs no parser: compiled.tsv of a language.

python tools/compile_rules.py [en] [ja]
"""

from __future__ import annotations

import sys

import marginalia as mg
from marginalia.assist.paraphrase.loading import COMPILED, SHIPPED, compile_text, rule_paths
from marginalia.assist.paraphrase.rule_files import read_rule_file


def main(languages: list[str]) -> None:
    """Write the compiled file of each language."""
    for language in languages:
        files = [read_rule_file(path) for path in rule_paths(language)]
        if not files:
            continue
        text = compile_text(files, mg.load(language))
        (SHIPPED / language / COMPILED).write_text(text, encoding="utf-8")
        print(f"{language}: {text.count(chr(10)) - 1} rules of {len(files)} files")


if __name__ == "__main__":
    main(sys.argv[1:] or ["en", "ja"])
