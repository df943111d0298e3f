"""Raw text to trees: pipelines from treebanks, scored as in CoNLL 2018, beside UDPipe 1 and spaCy."""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from pathlib import Path

import systems
from harness import HERE, CommandFailed, cost_row, failed_row, measure, need, parser, print_table, write_json

TREEBANKS = {
    "en": "ud-english-ewt",
    "ja": "ud-japanese-gsd",
    "zh": "ud-chinese-gsd",
    "cs": "ud-czech-cltt",
}
SHOWN = (
    *("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas"),
    *("UAS", "LAS", "CLAS", "MLAS", "BLEX"),
)
GIVEN = {"raw": "", "tokens": "tokens", "tags": "tokens,tags,lemmas"}
MARGINALIA = [sys.executable, "-m", "marginalia"]
UDPIPE = [sys.executable, HERE / "peers" / "udpipe_ud.py"]
SPACY = [sys.executable, HERE / "peers" / "spacy_ud.py"]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--treebanks", nargs="+", choices=TREEBANKS, default=["en"])
    options.add_argument("--part", choices=("dev", "test"), default="dev", help="what is scored")
    options.add_argument("--iterations", type=int, default=10, help="of UDPipe's parser; 0: its own number")
    options.add_argument("--steps", type=int, default=0, help="of spaCy at most; 0: while it gets better")
    options.add_argument("--set", action="append", default=[], metavar="PART.NAME=VALUE", help="ours")
    options.add_argument(
        "--share",
        type=int,
        default=1,
        metavar="N",
        help="all learn from every Nth document of the training file",
    )
    options.add_argument(
        "--models", type=Path, metavar="DIR", help="keeps models of peers, and uses them again"
    )
    options = options.parse_args()
    tables = {}
    for name in options.treebanks:
        corpus = need(options.data / TREEBANKS[name] / "train.conllu").parent
        with tempfile.TemporaryDirectory() as folder:
            for title, rows in compare(options, corpus, Path(folder)).items():
                print_table(f"{TREEBANKS[name]}, {options.part}: {title}", rows)
                tables[f"{name} {title}"] = rows
    write_json(options.json_out, tables)


def compare(options, corpus: Path, folder: Path) -> dict[str, list[dict]]:
    gold, text = corpus / f"{options.part}.conllu", folder / "raw.txt"
    raw_text(gold, text)
    training = corpus / "train.conllu"
    if options.share > 1:
        training = every_nth_document(training, options.share, folder / "train.conllu")
    tables: dict[str, list[dict]] = {"training": [], **{given: [] for given in GIVEN}}
    for system, train, parse in contestants(options, training, corpus / "dev.conllu"):
        kept = options.models if options.models and system != "marginalia" else folder
        share = f" 1-{options.share}" if options.share > 1 else ""
        model = kept / f"{corpus.name}{share} {system}.model"
        try:
            tables["training"].append(trained(system, train, model))
        except CommandFailed as failure:
            tables["training"].append(failed_row(system, failure))
            continue
        for given in GIVEN:
            source = text if given == "raw" else gold
            tables[given].append(scored(system, parse(model, source, given, folder), gold, folder))
    return tables


def trained(system: str, train: list, model: Path) -> dict:
    """Train, or find the model of an earlier run with what it cost then."""
    cost = model.with_suffix(".json")
    if cost.exists():
        return json.loads(cost.read_text())
    run = measure([*train, model])
    if run.code:
        raise CommandFailed(run)
    row = cost_row(system, run, model)
    cost.write_text(json.dumps(row))
    return row


def contestants(options, train: Path, dev: Path):
    if systems.use_ours(options):
        settings = [word for one in options.set for word in ("--set", one)]
        command = [*MARGINALIA, "train", train, "--dev", dev, "--task", "ud", "-q", *settings, "-o"]
        yield "marginalia", command, ours
    if options.skip_peer:
        return
    if importlib.util.find_spec("ufal") and importlib.util.find_spec("ufal.udpipe"):
        more = ["--iterations", options.iterations] if options.iterations else []
        yield "udpipe 1", [*UDPIPE, "train", *more, train, dev], udpipe
    else:
        print("UDPipe 1 is not installed (pip install ufal.udpipe): left out", file=sys.stderr)
    if importlib.util.find_spec("spacy"):
        yield "spacy", [*SPACY, "train", "--steps", options.steps, train, dev], spacy
    else:
        print("spaCy is not installed (pip install spacy): left out", file=sys.stderr)


def ours(model: Path, source: Path, given: str, folder: Path) -> list:
    kept = ["--given", GIVEN[given]] if GIVEN[given] else []
    return [*MARGINALIA, "parse", model, source, *kept, "-o", folder / "out.conllu"]


def udpipe(model: Path, source: Path, given: str, folder: Path) -> list:
    return [*UDPIPE, "parse", model, source, folder / "out.conllu", "--given", given]


def spacy(model: Path, source: Path, given: str, folder: Path) -> list:
    return [*SPACY, "parse", model, source, folder / "out.conllu", "--given", given]


def scored(system: str, command: list, gold: Path, folder: Path) -> dict:
    """Parse, and score what comes out."""
    run = measure(command)
    if run.code:
        return failed_row(system, CommandFailed(run))
    judged = measure([*MARGINALIA, "eval", "--gold", gold, "--pred", folder / "out.conllu", "--json"])
    if judged.code:
        return failed_row(system, CommandFailed(judged))
    report = json.loads(judged.stdout)
    scores = {name: (report["metrics"].get(name) or {}).get("f1") for name in SHOWN}
    return {"system": system, **scores, "words/s": report["words"] / run.cpu, "peak MB": run.peak_mb}


def every_nth_document(train: Path, n: int, target: Path) -> Path:
    documents = ["# newdoc" + part for part in train.read_text(encoding="utf-8").split("# newdoc")[1:]]
    target.write_text("".join(documents[::n]), encoding="utf-8")
    return target


def raw_text(gold: Path, target: Path) -> None:
    """The text of a treebank, as a reader of documents has it."""
    script = "import sys, marginalia as mg; open(sys.argv[2], 'w').write(mg.read_conllu(sys.argv[1]).text)"
    run = measure([sys.executable, "-c", script, gold, target])
    if run.code:
        raise SystemExit(run.last_words)


if __name__ == "__main__":
    main()
