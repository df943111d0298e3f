"""`marginalia inspect`: what is in a model file."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import UsageError, Verbs, natural, verb_parser
from marginalia.cli.output import check_output, opened_target
from marginalia.cli.progress import Notes
from marginalia.cli.reading import must_exist, seekable
from marginalia.cli.text import BOLD, GREEN, RED, Paint, boosted, count, size
from marginalia.config import suggestion
from marginalia.errors import ModelError, SettingsError

if TYPE_CHECKING:
    from marginalia.model import SavedModel
    from marginalia.model.inspection import Counts, Inspection, Weighted

_DESCRIPTION = """\
Show what is in a model file: labels, settings, sizes, the course of its training, the features that
speak most for and against each label, and the strongest label transitions. Or write all weights
as a table (kind, feature, labels, weight), and make a model of one that was edited."""

_EXAMPLES = """\
  marginalia inspect model.mg --label B-NP --top 50
  marginalia inspect rules.mg --conflicts --min-support 5 --dev dev.txt
  marginalia inspect model.mg --export weights.tsv
  marginalia inspect model.mg --import weights.tsv -o edited.mg
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "inspect", "show what a model has learned", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("--top", metavar="N", type=natural, default=20, help="how many of each (default: 20)")
    parser.add_argument(
        "--label", metavar="NAME", help="only this label, or action of a parser (default: all)"
    )
    parser.add_argument("--find", metavar="TEXT", help="only features with this in their name (default: all)")
    parser.add_argument(
        "--min-support",
        metavar="N",
        type=natural,
        default=0,
        help="of rules: only those that N samples of the training data had (default: all)",
    )
    parser.add_argument(
        "--dev",
        metavar="FILE",
        help="of rules: labelled data, laid out as those of training; how often each is right there",
    )
    parser.add_argument(
        "--conflicts",
        action="store_true",
        help="of rules: pairs that hold together and say different things, instead of the strongest",
    )
    parser.add_argument("--part", metavar="NAME", help="of a pipeline: this part, as a model of its own")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR=1)")
    table = parser.add_argument_group("weights as a table, instead of all that")
    table.add_argument("--export", metavar="FILE", help="write all weights to a table (-: standard output)")
    table.add_argument(
        "--import",
        metavar="FILE",
        dest="table",
        help="read all weights from such a table (-: standard input)",
    )
    table.add_argument("-o", "--output", metavar="FILE", help="with --import: the model file to write")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `marginalia inspect`; its exit code."""
    from marginalia.cli.inspect_pipeline import bundle_of, print_parts, saved_part
    from marginalia.kinds import load
    from marginalia.model.built_in import model_path
    from marginalia.model.inspection import Inspection
    from marginalia.model.outputs import output_names

    if args.export is not None or args.table is not None or args.output is not None:
        return _exchange(args)
    args.model = model_path(args.model)
    model = load(args.model)  # which checks all that is shown
    if (bundle := bundle_of(model)) is not None and args.part is None:
        print_parts(bundle, args)
        return 0
    saved: SavedModel = model.saved if args.part is None else saved_part(bundle, args)
    names = output_names(saved)
    if args.label is not None and args.label not in names:
        raise SettingsError(f"--label: unknown label '{args.label}'. {suggestion(args.label, names)}")
    if args.find is not None and "names" not in saved.arrays:
        raise ModelError(
            f"{args.model}: --find: the names of features are not in the model "
            "(shrunk, or trained with names=off)."
        )
    if args.find is not None and args.conflicts:
        raise UsageError("expected --find or --conflicts, not both.")
    inspection = Inspection(saved, args.min_support, _counts(saved, args) if args.dev else None)
    size_of_file = os.path.getsize(args.model)
    found = inspect(inspection, size_of_file, args.top, args.label, args.find, conflicts=args.conflicts)
    if args.json:
        print(json.dumps({"model": args.model} | found, ensure_ascii=False))
    else:
        print(args.model)
        print("\n".join(_lines(found, Paint(sys.stdout, not args.no_color))))
    return 0


def _counts(saved: SavedModel, args: argparse.Namespace) -> Counts:
    """How often rules hold in the data of --dev."""
    from marginalia.kinds import kind_of, load
    from marginalia.kinds.labelled import labelled_batches
    from marginalia.kinds.reader import Reading
    from marginalia.kinds.rule_counts import count_rules
    from marginalia.model.rules_part import has_rules

    if not has_rules(saved) or args.part is not None:
        raise ModelError("--dev is for a model of rules: features of others are neither right nor wrong.")
    must_exist([args.dev])
    model = load(args.model)
    layout = kind_of(saved.structure).reader.layout(saved, Reading(None, None, None, {}, args.dev))
    with seekable([args.dev]) as [path]:
        return count_rules(
            model, (batch.block for batch in labelled_batches(path, layout, model)), layout.label
        )


def _exchange(args: argparse.Namespace) -> int:
    """Weights to a table, or from one."""
    from marginalia.kinds import load

    if (args.table is None) != (args.output is None) or (args.table is None) == (args.export is None):
        raise UsageError("expected --export FILE, or --import FILE with -o FILE.")
    if args.export is not None:
        check_output(args.export, args)
        tagger = _single(load(args.model), args)
        with opened_target(args.export) as target:
            tagger.export_weights(target)
        return 0
    must_exist([args.table])
    check_output(args.output, args, model=True, may_replace=args.model)
    before = _single(load(args.model), args)
    tagger = before.with_weights(args.table)
    tagger.save(args.output)
    changed = tagger.saved.edits != before.saved.edits
    what = _edit(tagger.saved.edits[-1]) if changed else "no weight changed"
    Notes(sys.stderr).say(f"{args.output}: {what}")
    if changed and (ended := len(before.saved.corrections)):
        Notes(sys.stderr).say(
            f"{args.output}: the log of {count(ended, 'correction')} ends here: nothing keeps them right "
            "or can undo them"
        )
    return 0


def _single(model: Any, args: argparse.Namespace) -> Any:
    """The model, if it is not a pipeline of several."""
    from marginalia.cli.inspect_pipeline import bundle_of

    if bundle_of(model) is not None:
        raise ModelError(f"{args.model}: a pipeline has no table of weights: its parts are packed models.")
    return model


def inspect(
    inspection: Inspection,
    file_size: int,
    top: int,
    label: str | None = None,
    find: str | None = None,
    *,
    conflicts: bool = False,
) -> dict[str, Any]:
    """All that is shown, ready for JSON."""
    from marginalia.model.file import version_of
    from marginalia.model.global_part import global_weights
    from marginalia.model.word_tables import clusters_in, lexicons_in

    saved = inspection.saved
    found: dict[str, Any] = {"format_version": version_of(saved), "size": file_size} | inspection.sizes()
    found |= {"arrays": inspection.array_sizes(), "has_names": inspection.has_names}
    program = saved.program
    found |= {name: value for name, value in saved.metadata().items() if name != "program"}
    found |= {"templates": len(program.templates), "explicit": program.explicit, "lists": list(program.lists)}
    found |= {"clusters": clusters_in(saved), "lexicons": lexicons_in(saved)}
    found["left_out"] = list(program.left_out)
    if find is not None:
        return found | {"found": _plain(inspection.find(find, top, label))}
    if conflicts:
        return found | {"conflicts": [_plain(pair) for pair in inspection.conflicts(top, label)]}
    chosen = inspection.outputs if label is None else (label,)
    found["strongest"] = _strongest(inspection, chosen, top)
    found["transitions"] = _transitions(inspection, top, label)
    if saved.global_features:
        found["global_weights"] = [
            {"feature": name, "labels": [], "weight": round(weight, 6)}
            for name, weight in global_weights(saved.arrays)[:top]
        ]
    return found


def _strongest(inspection: Inspection, labels: Iterable[str], top: int) -> dict[str, Any]:
    return {
        label: {
            "positive": _plain(inspection.strongest(label, top)),
            "negative": _plain(inspection.strongest(label, top, positive=False)),
        }
        for label in labels
    }


def _transitions(inspection: Inspection, top: int, label: str | None) -> dict[str, Any]:
    return {kind: _plain(weights) for kind, weights in inspection.transitions(top, label).items()}


def _plain(weights: Iterable[Weighted]) -> list[dict[str, Any]]:
    return [
        {"feature": w.feature, "labels": list(w.labels), "weight": round(w.weight, 6)}
        | ({} if w.support is None else {"support": w.support, "atoms": list(w.atoms)})
        | ({} if w.held is None else {"dev": {"samples": w.held, "right": w.right}})
        for w in weights
    ]


def _lines(found: dict[str, Any], paint: Paint) -> Iterator[str]:
    yield from _facts(found)
    yield from _history(found["history"])
    yield from _diagnostics(found["diagnostics"])
    if not found["has_names"]:
        yield ""
        yield "the features' names were not kept (names=off, or shrunk); they are shown as numbers"
    if "found" in found:
        yield from ("", paint("features found, strongest first", BOLD))
        yield from _weights(found["found"], paint)
        return
    if "conflicts" in found:
        yield from ("", paint("rules that hold together and say different things, strongest first", BOLD))
        yield from [] if found["conflicts"] else ["  none"]
        for number, pair in enumerate(found["conflicts"]):
            yield from ([""] if number else [])
            yield from _weights(pair, paint)
        return
    for label, sides in found["strongest"].items():
        for side, words in (("positive", "speaks for"), ("negative", "speaks against")):
            if sides[side]:
                yield from ("", paint(f"{words} {label}", BOLD))
                yield from _weights(sides[side], paint)
    if found.get("global_weights"):
        yield from ("", paint("global features, strongest first", BOLD))
        yield from _weights(found["global_weights"], paint)
    for kind, weights in found["transitions"].items():
        yield from ("", paint(f"{kind} weights", BOLD))
        yield from _weights([w | {"feature": ""} for w in weights], paint)


def _facts(found: dict[str, Any]) -> Iterator[str]:
    arrays = ", ".join(f"{name} {size(n)}" for name, n in found["arrays"].items() if n)
    sizes = f"{count(found['features'], 'feature')}, {count(found['weights'], 'weight')}"
    from marginalia.kinds import kind_of

    scheme = found["scheme"] or "none (plain tags)"
    if found["encoding"] != found["scheme"]:
        scheme += f", trained as {found['encoding']}"
    facts = {
        "kind": f"{found['structure']}, {found['learner']}, format version {found['format_version']}",
        "size": f"{size(found['size'])}: {sizes}",
        "arrays": arrays,
        "columns": f"{' '.join(found['columns'])} ({found['format']}), label {found['label']}",
        "scheme": scheme if kind_of(found["structure"]).schemes else "",
        "labels": f"{len(found['labels'])}: {' '.join(found['labels'])}",
        "features": "explicit attributes" if found["explicit"] else count(found["templates"], "template"),
        "lists": " ".join(found["lists"]),
        "global": _global(found["global_features"]) if "global_features" in found else "",
        "re-ranker": _reranker(found.get("global_features", {}).get("reranker", {})),
        "clusters": "; ".join(_clusters(name, facts) for name, facts in found["clusters"].items()),
        "lexicons": "; ".join(_lexicon(name, facts) for name, facts in found["lexicons"].items()),
        "left out": "; ".join(found["left_out"]),
        "settings": " ".join(f"{name}={_spelled(value)}" for name, value in found["settings"].items()),
        "seed": str(found["seed"]),
        "data": f"fingerprint {found['fingerprint']}",
        "scores": _calibrated(found["calibration"]),
        "edited": "; ".join(_edit(record) for record in found["edits"]),
        "corrected": count(len(found["corrections"]), "correction") if found["corrections"] else "",
    }
    yield from (f"  {name:9} {text}" for name, text in facts.items() if text)


def _global(told: dict[str, Any]) -> str:
    names = " ".join([*told["families"], *told["functions"]])
    whose = f" of a base model ({told['base'].get('learner', '')})" if told.get("base") else ""
    return f"{names}; of column {told['column']}, {told['hypotheses']:,} hypotheses{whose}"


def _reranker(told: dict[str, Any]) -> str:
    """The learner that chose among the base model's outputs, what its training came to, and its settings."""
    if not told:
        return ""
    best = [record for record in told["history"] if record["best"]] or told["history"]
    course = f" ({_course(best[-1]).strip()})" if best else ""
    settings = " ".join(f"{name}={_spelled(value)}" for name, value in told["settings"].items())
    return f"{told['learner']}, {count(len(told['history']), 'pass')}{course}; {settings}"


def _clusters(name: str, facts: dict[str, Any]) -> str:
    case = "; any case" if facts["any_case"] else ""
    return f"{name} ({count(facts['words'], 'word')}, {count(facts['clusters'], 'cluster')}{case})"


def _lexicon(name: str, facts: dict[str, Any]) -> str:
    return f"{name} ({count(facts['words'], 'word')}, {count(len(facts['labels']), 'label')})"


def _calibrated(calibration: dict[str, Any]) -> str:
    return f"calibrated, temperature {calibration['temperature']:.4g}" if calibration else ""


def _edit(record: dict[str, Any]) -> str:
    return ", ".join(f"{record.get(name, 0)} {name}" for name in ("changed", "added", "removed"))


def _history(history: list[dict[str, Any]]) -> Iterator[str]:
    yield "  training  " + (f"{len(history)} passes" if len(history) != 1 else "1 pass")
    for record in history:
        best = " *" if record["best"] else ""
        dev = "" if record.get("dev") is None else f"  dev {record['dev']:6.2f}{best}"
        yield f"    {record['number']:3}  {_course(record)}{dev}"


def _diagnostics(found: dict[str, Any]) -> Iterator[str]:
    for name, value in found.items():
        shown = f"{value:,.4g}" if isinstance(value, float) else _spelled(value)
        yield f"    {name.replace('_', ' ')}: {shown}"


def _course(record: dict[str, Any]) -> str:
    """The training error, or what learners without one minimise."""
    boost = boosted(record.get("round"), record.get("confidence"), record.get("bound"))
    if record["error"] is not None:
        return f"error {record['error']:6.3f}%{boost}"
    return "" if record.get("loss") is None else f"loss {record['loss']:,.1f}{boost}"


def _weights(weights: list[dict[str, Any]], paint: Paint) -> Iterator[str]:
    for item in weights:
        number = paint(f"{item['weight']:+10.4f}", GREEN if item["weight"] > 0 else RED)
        labels = " ".join(item["labels"])
        yield f"  {number}  {labels}  {_rule(item) if 'support' in item else item['feature']}".rstrip()


def _rule(item: dict[str, Any]) -> str:
    """A rule as a sentence, with how many samples of the training data it had."""
    from marginalia.model.rules_part import ALWAYS

    told = count(item["support"], "sample") if item["support"] else "added by hand"
    if dev := item.get("dev"):
        share = f", {dev['right'] / dev['samples']:.1%}" if dev["samples"] else ""
        told += f"; dev: right for {dev['right']:,} of {dev['samples']:,}{share}"
    condition = "always" if item["atoms"] == [ALWAYS] else f"if {' and '.join(item['atoms'])}"
    return f"{condition}  ({told})"


def _spelled(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
