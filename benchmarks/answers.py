"""CoNLL-2000: what each kind of answer costs, how much of it is done outside of Python, and two threads.

One process labels the training file from file to file with a model of the same data, and as lists of tokens
(`tag_all`): labels, labels shown in another scheme, confidences, k best outputs, constrained outputs,
explanations. `native` is the share of CPU time spent in calls of the core that release the interpreter's
lock: what threads can share. Explanations are words, which Python makes, so they are shared by processes; as
objects they are sent back, as text they are made where they are found, as the command does it. `wall, 1`
and `wall, 2` are wall seconds on one and on two threads or processes: they need a quiet machine.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from harness import HERE, median_of, need, parser, print_table, write_json
from systems import OURS, use_ours

COLUMNS = "word pos chunk"
MODELS = {
    "chain": ["--task", "chunking"],
    "chain, trained in IOBES": ["--task", "chunking", "--set", "encode=IOBES"],
    "segments": ["--structure", "segments", "--features", "segments"],
}
RELEASING = (
    "best",
    "confidences",
    "constrain",
    "ranked",
    "ranked_constrained",
    "differing_features",
    "scores",
)


class Timed:
    """A native model whose calls without the lock are timed."""

    def __init__(self, model) -> None:
        self._model, self.seconds = model, 0.0

    def __getattr__(self, name: str):
        called = getattr(self._model, name)
        return self._timed(called) if name in RELEASING else called

    def _timed(self, called):
        def call(*arguments):
            start = time.thread_time()
            found = called(*arguments)
            self.seconds += time.thread_time() - start
            return found

        return call


def answers(tagger, path: str) -> dict:
    """What is asked, as functions of the number of threads."""
    from marginalia.cli.constraints import ConstrainedTagging
    from marginalia.cli.tag import Wanted, tag
    from marginalia.corpus.batches import Batch, Layout, read_batches
    from marginalia.decode.constraints import Constraints
    from marginalia.decode.explaining_batches import ExplainingTask, explain_in_order
    from marginalia.decode.explanation import Explanation

    layout = Layout("conll", tuple(COLUMNS.split()), "chunk")
    batches = list(read_batches(path, layout, block_bytes=1 << 18))
    sentences = [
        {"word": one.columns["word"], "pos": one.columns["pos"]}
        for batch in batches
        for one in batch.block.sentences()
    ]
    some = [Batch(batch.block) for batch in read_batches(path, layout, block_bytes=1 << 15)][:24]
    task = ExplainingTask(shown=partial(Explanation.to_text, top=20))
    constrained = ConstrainedTagging(Constraints.of("at most 3 NP"), None)

    def file(**more):
        return lambda threads: tag(tagger, path, layout, io.BytesIO(), threads, **more)

    return {
        "file to file": file(),
        "lists (tag_all)": lambda threads: tagger.tag_all(sentences, threads),
        "--confidence": file(wanted=Wanted(confidence=True)),
        "--nbest 5": file(wanted=Wanted(nbest=5)),
        "--nbest 3 --confidence": file(wanted=Wanted(nbest=3, confidence=True)),
        "--constrain": file(constrained=constrained),
        "explanations, objects (part)": lambda threads: list(tagger.explain_batches(some, None, threads)),
        "explanations, text (part)": lambda threads: list(explain_in_order(tagger, some, task, threads)),
    }


def measured(model: str, path: str, repeat: int) -> list[dict]:
    """Rows of one model; a child process, so that the harness stays small."""
    import marginalia

    tagger = marginalia.load(model)
    native = tagger.decoder._model
    rows = []
    for name, ask in answers(tagger, path).items():
        runs = []
        for _ in range(repeat):
            tagger.decoder._model = timed = Timed(native)
            start = time.process_time()
            ask(1)
            runs.append((time.process_time() - start, timed.seconds))
        tagger.decoder._model = native
        cpu, inside = min(runs)
        walls = [min(wall(ask, threads) for _ in range(repeat)) for threads in (1, 2)]
        row = {"what": name, "CPU s": cpu, "native": inside / cpu}
        rows.append(row | {"wall, 1": walls[0], "wall, 2": walls[1], "ratio": walls[0] / walls[1]})
    return rows


def wall(ask, threads: int) -> float:
    start = time.perf_counter()
    ask(threads)
    return time.perf_counter() - start


def main() -> None:
    options = parser(__doc__).parse_args()
    corpus = options.data / "conll2000"
    train = need(corpus / "train.txt")
    if not use_ours(options):
        return
    rows: list[dict] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, chosen in MODELS.items():
            model, sure = folder / "m.mg", folder / "sure.mg"
            command = [*OURS, "train", train, "-o", model, "--columns", COLUMNS, "-q", "--set", "passes=3"]
            median_of([*command, *chosen], 1)
            median_of([*OURS, "calibrate", model, corpus / "test.txt", "-o", sure], 1)
            child = [sys.executable, HERE / "answers.py", "child", sure, train, str(options.repeat)]
            found = json.loads(subprocess.run(child, check=True, capture_output=True, text=True).stdout)
            rows += [{"system": f"{what}: {row.pop('what')}", **row} for row in found]
    print_table("CoNLL-2000, training file: kinds of answers", rows)
    write_json(options.json_out, {"answers": rows})


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(measured(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        main()
