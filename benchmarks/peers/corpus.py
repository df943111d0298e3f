"""Files to rows and back, for the peers. A sentence is its raw lines; blank lines separate sentences."""

from __future__ import annotations

from collections.abc import Iterator

XPOS = 4


def sentences(path: str) -> Iterator[list[str]]:
    lines: list[str] = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if line:
                lines.append(line)
            elif lines:
                yield lines
                lines = []
    if lines:
        yield lines


def is_conllu(path: str) -> bool:
    return str(path).endswith(".conllu")


def columns_and_labels(lines: list[str], conllu: bool) -> tuple[list[tuple[str, ...]], list[str]]:
    """Columns of the observed tokens, and the label of each: the last column, or XPOS in CoNLL-U."""
    if conllu:
        rows = [fields for fields in (line.split("\t") for line in lines) if fields[0].isdigit()]
        return [tuple(row[1] for row in rows)], [row[XPOS] for row in rows]
    columns = list(zip(*(line.split() for line in lines), strict=True))
    return columns[:-1], list(columns[-1])


def with_labels(lines: list[str], labels: list[str], conllu: bool) -> list[str]:
    """The lines with the predictions: appended as one more column (as CRF++ does), or in XPOS."""
    if not conllu:
        return [f"{line} {label}" for line, label in zip(lines, labels, strict=True)]
    out, rest = [], iter(labels)
    for line in lines:
        fields = line.split("\t")
        if fields[0].isdigit():
            fields[XPOS] = next(rest)
            line = "\t".join(fields)
        out.append(line)
    return out
