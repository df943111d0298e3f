"""The boosting re-ranker on made-up lists of candidates, as large as those of Collins 2002.

Items have 20 candidates that share most of their features: each is the item's own features with some left out
and some of all others put in; the frequencies of features fall as 1 / rank. A hidden weight of each feature
and the base score say which candidate loses least. Times are CPU times: of the pairs with both indices, and
of all rounds.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import harness
import marginalia as mg
from marginalia import _core


def made_up(items: int, features: int, seed: int, candidates: int = 20, own: int = 25) -> mg.CandidateArrays:
    """The arrays of random items."""
    rng = np.random.default_rng(seed)
    cumulative = np.cumsum(1.0 / np.arange(1, features + 1))

    def drawn(count: int) -> np.ndarray:
        return np.searchsorted(cumulative, rng.random(count) * cumulative[-1])

    hidden = np.random.default_rng(0).normal(0.0, 1.0, features)
    lengths, ends, numbers = np.full(items, candidates, np.uint32), [], []
    scores, losses, total = [], [], 0
    for _ in range(items):
        common = drawn(own)
        for _ in range(candidates):
            kept = common[rng.random(own) < 0.7]
            names = np.unique(np.append(kept, drawn(5)))
            numbers.append(names)
            total += len(names)
            ends.append(total)
            quality = float(hidden[names].sum()) / 3.0
            scores.append(quality / 2.0 + float(rng.normal(0.0, 1.0)))
            losses.append(-quality)
    return mg.CandidateArrays(
        lengths,
        np.array(ends, np.uint64),
        np.concatenate(numbers).astype(np.uint32),
        [f"f{n}" for n in range(features)],
        scores=np.array(scores),
        losses=np.array(losses) - min(losses),
    )


def cpu(work: Any) -> tuple[Any, float]:
    """What it gives, and its CPU seconds."""
    started = time.process_time()
    return work(), time.process_time() - started


def measured(items: int, features: int, rounds: int) -> dict[str, Any]:
    """One run of the kernel, from arrays on."""
    arrays = made_up(items, features, 1)
    index, examples = _core.FeatureIndex(False), _core.ExampleRows()
    block = arrays.block()
    _, extraction = cpu(lambda: examples.add_growing(_core.FeatureExtractor.of_items(5), block.table, index))
    labels = (np.array(block.column("right")) != "best").astype(np.int32)
    examples.set_gold(labels, 2)
    batch = _core.CandidateExamples(_core.CandidateShape(1.0), examples, np.zeros(0, np.float32))
    base, pairs = _core.base_row(index), _core.CandidatePairs()
    none = _core.WeightTable(len(index) + 1, 0).current

    def prepared() -> _core.RankBoost:
        pairs.add(batch, base, np.zeros(0), none)
        boost = _core.RankBoost(pairs, len(index) + 1, base, 0.001)
        boost.find_base_weight()
        return boost

    boost, preparing = cpu(prepared)
    before = boost.loss
    made, boosting = cpu(lambda: boost.run(rounds))
    return {
        "items": items,
        "pairs": len(pairs),
        "features": len(index),
        "rounds": made,
        "different": len(set(boost.chosen.tolist())),
        "extract s": extraction,
        "pairs s": preparing,
        "rounds s": boosting,
        "rounds/s": made / max(boosting, 1e-9),
        "loss before": before,
        "loss": boost.loss,
    }


def main() -> None:
    """Several sizes."""
    options = harness.parser(__doc__.partition("\n")[0])
    options.add_argument("--rounds", type=int, default=100_000)
    options.add_argument("--items", type=int, nargs="*", default=[2000, 10_000])
    options.add_argument("--features", type=int, default=50_000)
    args = options.parse_args()
    rows = [measured(items, args.features, args.rounds) for items in args.items]
    harness.print_table(f"boosting re-ranker, {args.rounds:,} rounds", rows)
    harness.write_json(args.json_out, {"rerank_boost": rows})


if __name__ == "__main__":
    main()
