"""Every learner with a regulariser: it learns, is saved and used, and always gives the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learn_world import RUNS, Toys, a_run, arrays_of, conll_file, contradictory, finished, weights_of

import marginalia as mg
from marginalia.corpus import validate
from marginalia.evaluate import evaluate
from marginalia.learn import online
from marginalia.learn.learners import LEARNERS

ONLINE = [name for name, (learner, _) in RUNS.items() if learner in ("perceptron", "margin", "pa", "arow")]
PLAIN = [n for n in ONLINE if not {"shuffle_average", "average"} & RUNS[n][1].keys()]


def accuracy(tagger: mg.Tagger, data: Any) -> float:
    predicted = [tagged.labels for tagged in tagger.tag_all([columns for columns, _ in data])]
    return evaluate([labels for _, labels in data], predicted).accuracy


def test_every_learner_is_here() -> None:
    assert {learner for learner, _ in RUNS.values()} == set(LEARNERS) - {"rank-boost", "nonlocal", "rules"}
    # for candidates; for global features (test_learn_non_local.py)


@pytest.mark.parametrize("name", RUNS)
def test_it_learns_and_is_the_same_after_loading(toys: Toys, name: str, tmp_path: Path) -> None:
    learner, settings = RUNS[name]
    tagger = mg.train(toys(60), learner=learner, passes=8, **settings)
    assert tagger.saved.learner == learner
    assert accuracy(tagger, toys(60)) > 70
    tagger.save(tmp_path / "m.mg")
    copy = mg.load(tmp_path / "m.mg")
    assert copy.to_bytes() == tagger.to_bytes()
    held_out = [columns for columns, _ in toys(20, seed=2)]
    for tagged, again in zip(tagger.tag_all(held_out), copy.tag_all(held_out, threads=2), strict=True):
        assert tagged == again
        assert validate(tagged.labels, "IOB2") == []


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize("name", RUNS)
def test_equal_runs_give_equal_bytes_on_any_number_of_threads(toys: Toys, name: str, threads: int) -> None:
    learner, settings = RUNS[name]
    data, dev = contradictory(toys), toys(8, seed=2)
    options: dict[str, Any] = {
        "learner": learner,
        "passes": 3,
        "state": True,
        "diagnostics": True,
        **settings,
    }
    expected = mg.train(data, dev, **options)
    assert mg.train(data, dev, threads=threads, **options).to_bytes() == expected.to_bytes()


STREAMED = ["crf", "crf, sgd", "maxent", "arow", "perceptron, shuffle-average", "perceptron, voted"]
STREAMED += [f"segments, {name}" for name in STREAMED if name != "maxent"]


@pytest.mark.parametrize(
    "name", [*STREAMED, "perceptron, dropout of tokens", "perceptron, dropout of values"]
)
def test_batches_of_a_stream_may_be_learned_on_any_number_of_threads(
    toys: Toys, name: str, tmp_path: Path
) -> None:
    """Streams come in batches, each of which is split; here the batches are the files."""
    learner, settings = RUNS[name]
    paths = [conll_file(tmp_path / f"{number}.txt", toys(5, seed=number)) for number in range(3)]
    options: dict[str, Any] = {
        "learner": learner,
        "passes": 3,
        "stream": True,
        "diagnostics": True,
        **settings,
    }
    one, two, five = (mg.train(paths, threads=threads, **options).to_bytes() for threads in (1, 2, 5))
    assert one == two == five


@pytest.mark.parametrize("name", ["crf", "crf, l1", "maxent", "segments, crf"])
def test_a_stream_has_the_same_likelihood(toys: Toys, name: str, tmp_path: Path) -> None:
    """Sums in another order: equal up to rounding, and as far as it goes to the optimum."""
    learner, settings = RUNS[name]
    paths = [conll_file(tmp_path / f"{number}.txt", toys(6, seed=number)) for number in range(2)]
    runs = [a_run(paths, learner=learner, stream=stream, **settings) for stream in (False, True)]
    kept, streamed = (finished(run)[-1].loss for run in runs)
    assert streamed == pytest.approx(kept, rel=1e-4)


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("name", PLAIN)
def test_mixing_is_the_same_every_time(toys: Toys, name: str, threads: int) -> None:
    learner, settings = RUNS[name]
    data, options = contradictory(toys), {"learner": learner, "passes": 3, **settings}
    one, two = (mg.train(data, parallel="mix", threads=threads, **options) for _ in range(2))
    assert one.to_bytes() == two.to_bytes()
    assert weights_of(one) != weights_of(mg.train(data, **options))
    assert accuracy(one, toys(12)) > 50


def test_mixing_on_one_thread_is_plain_training(toys: Toys) -> None:
    """And says so: who asks for a mix expects several models."""
    data = contradictory(toys)
    run = a_run(data, parallel="mix", passes=3)
    finished(run)
    assert arrays_of(run.model()) == arrays_of(mg.train(data, passes=3))
    assert run.notes == ["parallel=mix needs --threads of at least 2: there is one model"]
    assert a_run(data, parallel="mix", threads=2).notes == []


def test_more_shards_than_sentences(toys: Toys) -> None:
    tagger = mg.train(toys(3), parallel="mix", threads=8, passes=4)
    assert accuracy(tagger, toys(3)) > 50


@pytest.mark.parametrize("name", ONLINE)
def test_the_seed_matters_and_shuffling_can_be_off(toys: Toys, name: str) -> None:
    learner, settings = RUNS[name]
    data = contradictory(toys)

    def train(seed: int, **more: Any) -> dict[str, Any]:
        return arrays_of(mg.train(data, learner=learner, passes=2, seed=seed, **settings, **more))

    assert train(1) != train(2)
    if not {"shuffle_average", "bpm_init", "dropout"} & settings.keys():
        assert train(1, shuffle=False) == train(2, shuffle=False)


@pytest.mark.parametrize("penalty", ["l1", "l1_cumulative"])
def test_l1_makes_weights_zero(toys: Toys, penalty: str) -> None:
    """A rate above all that can be learned in the gaps leaves little; none at all is as if not set."""
    data = contradictory(toys, 30)
    sizes = []
    for rate in (0.0, 0.01, 0.05, 0.5):
        tagger = mg.train(data, passes=4, average="none", **{penalty: rate})
        sizes.append(len(weights_of(tagger)))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0] / 2
    assert len(weights_of(mg.train(data, passes=4, average="none"))) == sizes[0]


@pytest.mark.parametrize("learner", ["crf", "maxent"])
def test_priors_shrink_weights(toys: Toys, learner: str) -> None:
    data = toys(20)
    by_l2 = [mg.train(data, learner=learner, l2=l2, passes=60) for l2 in (0.1, 1.0, 10.0)]
    norms = [np.linalg.norm(list(weights_of(tagger).values())) for tagger in by_l2]
    assert norms == sorted(norms, reverse=True)
    by_l1 = [mg.train(data, learner=learner, l1=l1, l2=0.0, passes=60) for l1 in (0.1, 0.5, 2.0, 1e4)]
    sizes = [len(weights_of(tagger)) for tagger in by_l1]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0
    assert len(weights_of(by_l2[0])) > sizes[0] > sizes[2] > 0


def test_supported_weights_are_those_of_the_data(toys: Toys) -> None:
    """With support=gold a feature has weights for labels it was seen with (or all, if it is with most)."""
    gold, every = (mg.train(toys(20), learner="crf", support=s, passes=5, l2=0.5) for s in ("gold", "all"))
    assert weights_of(gold).keys() < weights_of(every).keys()


def test_costs_change_what_is_learned(toys: Toys, tmp_path: Path) -> None:
    """A matrix of Hamming costs is Hamming; one that fears to miss a span finds more of them."""
    (tmp_path / "hamming.txt").write_text("# each error the same\n* * 1\nO O 7\n")  # right is always free
    (tmp_path / "fear.txt").write_text("* * 1\nB-X O 30\nB-Y O 30\nI-X O 30\nI-Y O 30\n")
    data = contradictory(toys, 20)
    for learner in ("pa", "arow"):
        plain, same, fear = (
            mg.train(data, learner=learner, passes=4, costs=costs)
            for costs in ("hamming", str(tmp_path / "hamming.txt"), str(tmp_path / "fear.txt"))
        )
        assert arrays_of(same) == arrays_of(plain)
        sentences = [columns for columns, _ in toys(30, seed=2)]
        spans = [sum(len(t.spans) for t in tagger.tag_all(sentences)) for tagger in (plain, fear)]
        assert spans[1] > spans[0]


@pytest.mark.parametrize("learner", ["pa", "arow"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("B-X O\n", r"costs\.txt:1: found 2 fields, expected three: RIGHT GIVEN COST"),
        ("\n# note\nB-X O 1 1\n", r"costs\.txt:3: found 4 fields"),
        ("B-X B-Q 1\n", r"costs\.txt:1: found 'B-Q', expected \* or a label of the model \(.*B-X"),
        ("B-X O much\n", r"costs\.txt:1: found 'much', expected a cost, a number of at least 0"),
        ("B-X O -1\n", r"costs\.txt:1: found '-1'"),
        ("B-X O nan\n", r"costs\.txt:1: found 'nan'"),
        ("B-X O inf\n", r"costs\.txt:1: found 'inf'"),
        ("\udcff", r"costs\.txt:1:1: found byte 0xFF, expected UTF-8 text"),
    ],
)
def test_unfit_costs(toys: Toys, tmp_path: Path, learner: str, text: str, message: str) -> None:
    path = tmp_path / "costs.txt"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(mg.DataError, match=message):
        mg.train(toys(5), learner=learner, costs=str(path))


def test_missing_costs(toys: Toys, tmp_path: Path) -> None:
    with pytest.raises(mg.DataError, match=r"nothing: cannot read the costs: No such file"):
        mg.train(toys(5), learner="pa", costs=str(tmp_path / "nothing"))


def test_only_learners_that_compare_costs_take_them() -> None:
    with pytest.raises(mg.SettingsError, match="setting 'costs' is one of pa, arow, not of perceptron"):
        mg.train([(["a"], ["O"])], learner="perceptron", costs="hamming")


@pytest.mark.parametrize("learner", ["pa", "arow", "crf"])
def test_where_a_pass_is_cut_changes_nothing(
    toys: Toys, learner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long the core runs before Python sees Ctrl-C depends on the clock; the model must not."""
    more = {"algorithm": "sgd"} if learner == "crf" else {}
    monkeypatch.setattr(online.OnlineRun, "_adapt", lambda self, seconds: None)
    found = set()
    for size in (1, 7, 1000):
        monkeypatch.setattr(online, "_SMALLEST_SLICE", size)
        found.add(mg.train(toys(40), learner=learner, passes=3, **more).to_bytes())
    assert len(found) == 1
