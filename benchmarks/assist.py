"""How quickly the page of reading assistance answers: texts of 500 words, parsing included.

A server runs as a process of its own, as `marginalia assist --serve` does. *Cold* is the first text that a
server is ever asked for, from the start of the request on, right after it listens (imports, models and rules
are loaded while it waits); *warm* are texts that it has not seen before; *offers* are those for sentences of
such texts that are hard. Wall time of requests by HTTP and CPU time of the server, quantiles over them: on a
busy machine only the latter can be compared.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import marginalia as mg
from harness import need, parser, print_table, write_json

TREEBANKS = {"en": "ud-english-ewt", "ja": "ud-japanese-gsd"}


class Page:
    """A server, and what its page would ask."""

    def __init__(self, language: str) -> None:
        command = [sys.executable, "-m", "marginalia", "assist", "--serve", "--port", "0", "--lang", language]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        address = self.process.stdout.readline().split()[2]
        self.host = address.removeprefix("http://").strip("/")
        self.profile = self.ask("start")[0]["profile"]

    def cpu(self) -> float:
        """Milliseconds of processor time that the server has had."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, name: str, **asked: Any) -> tuple[Any, float, float]:
        """The answer, and the milliseconds that it took: wall time, CPU time."""
        body = json.dumps(asked)
        started, cpu = time.perf_counter(), self.cpu()
        connection = http.client.HTTPConnection(self.host, timeout=600)
        connection.request("POST", f"/api/{name}", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        found = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(f"{name}: {found}")
        return found, 1000 * (time.perf_counter() - started), self.cpu() - cpu

    def close(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait()


def main() -> None:
    """Ask for the texts of each language."""
    options = parser(__doc__ or "")
    options.add_argument("--languages", nargs="+", choices=tuple(TREEBANKS), default=["en"])
    options.add_argument("--words", type=int, default=500)
    options.add_argument("--texts", type=int, default=20)
    options.add_argument("--offers", type=int, default=40, help="sentences whose offers are asked for")
    args = options.parse_args()
    rows = []
    for language in args.languages:
        file = need(args.data / TREEBANKS[language]) / "train.conllu"
        texts = [text for text, _ in zip(texts_of(file, args.words), range(args.texts + 1), strict=False)]
        rows += rows_of(language, texts, args.offers)
    print_table("Milliseconds", rows)
    write_json(args.json_out, {"assist": rows})


def texts_of(file: Path, words: int) -> Iterator[str]:
    """Texts of so many words or a few more, one after the other."""
    parts: list[str] = []
    count = 0
    for sentence in mg.iterate_conllu(file):
        parts.append(sentence.comment("text") or sentence.text)
        count += len(sentence.words)
        if count >= words:
            yield "\n\n".join(parts)
            parts, count = [], 0


def rows_of(language: str, texts: list[str], most: int) -> list[dict[str, Any]]:
    """A row for each kind of question."""
    page = Page(language)
    try:
        asked = [page.ask("analyse", text=texts[0], profile=page.profile)]
        page.ask("offers", text=texts[0], index=0, profile=page.profile)  # when it is answered, all is loaded
        asked += [page.ask("analyse", text=text, profile=page.profile) for text in texts[1:]]
        hard = [
            (block["text"], number)
            for found, *_ in asked
            for block in found["blocks"]
            for number, one in enumerate(block["sentences"])
            if one["band"] > 1
        ][:most]
        offers = [page.ask("offers", text=text, index=i, profile=page.profile) for text, i in hard]
    finally:
        page.close()
    times = [(wall, cpu) for _, wall, cpu in asked]
    given = sum(bool(found["offers"]) for found, *_ in offers)
    return [
        row(f"{language}: cold", times[:1]),
        row(f"{language}: warm", times[1:]),
        row(
            f"{language}: offers (for {given} of {len(offers)} hard sentences)",
            [(wall, cpu) for _, wall, cpu in offers],
        ),
    ]


def row(name: str, times: list[tuple[float, float]]) -> dict[str, Any]:
    """Quantiles of times."""
    wall, cpu = ([pair[i] for pair in times] for i in (0, 1))
    return {
        "what": name,
        "n": len(times),
        "p50": quantile(wall, 0.5),
        "p95": quantile(wall, 0.95),
        "CPU p50": quantile(cpu, 0.5),
        "CPU p95": quantile(cpu, 0.95),
    }


def quantile(times: list[float], share: float) -> float:
    """The least time that a share of all is not above."""
    ordered = sorted(times) or [float("nan")]
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))])


if __name__ == "__main__":
    main()
