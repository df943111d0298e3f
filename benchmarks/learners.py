"""CoNLL-2000 with one feature set for all learners and regularisers: F1, CPU seconds, non-zero weights."""

from __future__ import annotations

from harness import HERE, need, parser, print_table, write_json
from systems import use_ours
from table import Job, Model, run

# Chosen on the last tenth of the training file, with the rest to train on.
MODELS = (
    Model("perceptron, last weights", settings={"average": "none"}),
    Model("perceptron, averaged"),
    Model("perceptron, voted", settings={"average": "vote"}),
    Model("perceptron, l2", settings={"l2": 1e-6}),
    Model("perceptron, l1", settings={"l1": 1e-5}),
    Model("perceptron, cumulative l1", settings={"l1-cumulative": 1e-5}),
    Model("perceptron, input dropout", settings={"dropout": "input:0.03"}),
    Model("perceptron, value dropout", settings={"dropout": "values:0.15", "passes": 14}),
    Model("perceptron, feature dropout", settings={"dropout": "hide-features:0.05"}),
    Model("perceptron, shuffled 5 (eq. 7)", settings={"shuffle-average": 5, "shuffle-mean": "all"}),
    Model("perceptron, shuffled 5 (eq. 8)", settings={"shuffle-average": 5}),
    Model("perceptron, BPM start", settings={"bpm-init": 10}),
    Model("perceptron, cut-off 5", settings={"cutoff": 5}),
    Model("perceptron, mixing, 2 threads", settings={"parallel": "mix"}, threads=2),
    Model("margin", "margin", {"C": 10, "passes": 10}),
    Model("margin, cumulative l1", "margin", {"C": 10, "passes": 10, "l1-cumulative": 1e-5}),
    Model("margin, shuffled 5", "margin", {"C": 10, "passes": 10, "shuffle-average": 5}),
    Model(
        "margin, cumulative l1, shuffled 5",
        "margin",
        {"C": 10, "passes": 10, "l1-cumulative": 1e-5, "shuffle-average": 5},
    ),
    Model("passive-aggressive I", "pa", {"C": 0.1}),
    Model("passive-aggressive II", "pa", {"C": 0.1, "variant": "II"}),
    Model("AROW", "arow", {"r": 1.0}),
    Model("AROW, value dropout", "arow", {"r": 1.0, "dropout": "values:0.1", "passes": 14}),
    Model("AROW, shuffled 5", "arow", {"r": 1.0, "shuffle-average": 5}),
    Model("maximum entropy", "maxent"),
    Model("CRF, L-BFGS, l2", "crf"),
    Model("CRF, OWL-QN, l1", "crf", {"l1": 0.5, "l2": 0.0}),
    Model("CRF, SGD, cumulative l1", "crf", {"algorithm": "sgd", "l1": 0.5, "l2": 0.0}),
)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="rows whose names contain one")
    options = options.parse_args()
    corpus = options.data / "conll2000"
    need(corpus / "train.txt")
    if not use_ours(options):
        return
    job = Job(
        corpus / "train.txt",
        corpus / "test.txt",
        HERE / "templates" / "chunking.crfpp",
        ["--columns", "word pos chunk"],
    )
    chosen = [m for m in MODELS if not options.only or any(text in m.name for text in options.only)]
    rows = [run(job, model, options.repeat) for model in chosen]
    print_table("CoNLL-2000, CRF++ template: learners and regularisers", rows)
    write_json(options.json_out, {"learners": rows})


if __name__ == "__main__":
    main()
