"""Explanations: the parts sum to the difference of the scores, for all structures, and say what is true."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus import pack, spans_of
from marginalia.decode.decoder import Term
from marginalia.decode.explaining import _paired
from marginalia.decode.explanation import KINDS
from marginalia.features.compiling import extracted

Toys = Callable[..., Any]

TEMPLATES = """
list xs = x.txt
word[-1..1]
word[-1]/word[0]
suffix(1)(word)[0]
has(digit)(word)[0]
tag[0]
list(xs)(word)[0]
first[0]
node:
"""
SEGMENTS = """
list xs = x.txt
word[b]
word[e+1]
word[b-1]/tag[b]
word[i]
word[j]
word[b..e]
list(xs)(word)[b..e]
length
tag[0]
list(xs)(word)[0]
"""
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "order 1": (TEMPLATES + "edge:\n", {}),
    "order 2": (TEMPLATES + "edge:\n", {"order": 2}),
    "edge features": (TEMPLATES + "edge:\nedge: word[0]\nedge: tag[-1]/tag[0]\n", {}),
    "edge features, order 2": (TEMPLATES + "edge:\nedge: word[0]\n", {"order": 2}),
    "no transitions": (TEMPLATES, {}),
    "another encoding": (TEMPLATES + "edge:\n", {"encode": "IOBES"}),
    "illegal allowed": (TEMPLATES + "edge:\n", {"legal": False}),
    "no names": (TEMPLATES + "edge:\n", {"names": False}),
    "voted": (TEMPLATES + "edge:\n", {"average": "vote"}),
    "crf": (TEMPLATES + "edge:\nedge: word[0]\n", {"learner": "crf"}),
    "maxent": (TEMPLATES + "edge:\n", {"learner": "maxent"}),
    "maxent, order 2": (TEMPLATES + "edge:\nedge: word[0]\n", {"learner": "maxent", "order": 2}),
    "maxent, beam": (TEMPLATES + "edge:\n", {"learner": "maxent", "search": "beam"}),
    "segments": (SEGMENTS + "edge:\n", {"structure": "segments"}),
    "segments, no names": (SEGMENTS, {"structure": "segments", "names": False}),
    "segments, crf": (SEGMENTS + "edge:\n", {"structure": "segments", "learner": "crf"}),
}


@pytest.fixture(scope="module")
def taggers(toys: Toys, tmp_path_factory: pytest.TempPathFactory) -> dict[str, mg.Tagger]:
    folder = tmp_path_factory.mktemp("templates")
    (folder / "x.txt").write_text("x1\nx2 x3\ny7\n")
    columns = {"word": ["x1", "x2", "x3"], "tag": ["T0", "T1", "T2"]}
    doubtful = [(columns, labels.split()) for labels in ("B-X B-X I-X", "B-Y I-Y I-Y", "O O O", "O B-Y I-Y")]
    made = {}
    for name, (templates, more) in VARIANTS.items():
        (folder / "t.txt").write_text(templates)
        made[name] = mg.train([*toys(25), *doubtful], features=str(folder / "t.txt"), passes=3, **more)
    return made


@pytest.fixture(params=list(VARIANTS))
def tagger(request: pytest.FixtureRequest, taggers: dict[str, mg.Tagger]) -> mg.Tagger:
    return taggers[request.param]


def with_random_weights(tagger: mg.Tagger, seed: int) -> mg.Tagger:
    rng = np.random.default_rng(seed)
    arrays = dict(tagger.saved.arrays)
    for name in ("weights", "constants"):
        arrays[name] = rng.normal(size=arrays[name].size).astype(np.float32)
    return mg.Tagger(replace(tagger.saved, arrays=arrays))


def block_of(tagger: mg.Tagger, columns: dict[str, list[str]]) -> Any:
    return pack([mg.Sentence(columns)], tagger.feature_columns)


words = st.lists(
    st.tuples(
        st.sampled_from(["x1", "x2", "x3", "y7", "o2", "any1", "new", "_B-1"]),
        st.sampled_from(["T0", "T1", "T2"]),
    ),
    min_size=1,
    max_size=7,
)


@settings(max_examples=25)
@given(words, st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", VARIANTS)
def test_reasons_sum_to_the_difference(
    taggers: dict[str, mg.Tagger], name: str, sentence: list[tuple[str, str]], seed: int
) -> None:
    tagger = with_random_weights(taggers[name], seed)
    columns = {"word": [w for w, _ in sentence], "tag": [t for _, t in sentence]}
    block, decoder = block_of(tagger, columns), tagger.decoder
    outputs = [ids.tolist() for ids, _ in decoder.k_best(block, 0, 8)]
    for ids in outputs:
        terms = decoder.terms(block, 0, ids)
        assert math.fsum(t.value for t in terms) == pytest.approx(decoder.score(block, 0, ids), abs=1e-9)
        assert all(0 <= t.first <= t.last < len(sentence) for t in terms)
    chosen = decoder.best(block).tolist()
    if len(outputs) == 1:
        with pytest.raises(mg.DataError, match="only one legal output"):
            tagger.explain(columns)
        return
    for other in outputs:
        if other == chosen:
            continue
        labels = tagger._shown.user_labels(other)
        found = tagger.explain(columns, labels)
        assert found.against == "given"
        assert found.other.labels == tuple(labels)
        assert found.chosen.labels == tagger.tag(columns).labels
        assert found.chosen.score is not None
        assert found.other.score is not None
        assert found.difference == pytest.approx(found.chosen.score - found.other.score, abs=1e-9)
        assert sum(found.by_kind.values()) == pytest.approx(found.difference, abs=1e-9)
        sizes = [abs(reason.difference) for reason in found.reasons]
        assert sizes == sorted(sizes, reverse=True)


def pairs_of(*sides: list[Term]) -> list[Any]:
    """What the two sides say of each place where they say something else."""
    found = [[(key(pair), *map(sorted_terms, pair.sides)) for pair in _paired(*sides)]]
    return sorted(found[0], key=repr)


def key(pair: Any) -> Any:
    term = (pair.sides[0] or pair.sides[1])[0]
    return term.kind, term.feature, term.template, term.texts, term.first, term.last, term.inner


def sorted_terms(terms: list[Term]) -> list[tuple[Any, ...]]:
    return sorted((term.labels, term.weight, term.times, term.place) for term in terms)


def test_differing_terms_are_those_of_all(tagger: mg.Tagger, toys: Toys) -> None:
    """The core leaves out what two outputs share, for many sentences at once."""
    records = [mg.Sentence(columns) for columns, _ in toys(8, seed=21)]
    block, decoder = pack(records, tagger.feature_columns), tagger.decoder
    starts = block.table.sentence_starts.tolist()
    outputs = [[ids for ids, _ in decoder.k_best(block, s, 4)] for s in range(len(records))]
    for one, other in ((0, 1), (0, -1), (-1, 0), (0, 0)):
        sides = [np.concatenate([listed[n] for listed in outputs]).astype(np.int32) for n in (one, other)]
        found = decoder.differing_terms(block, sides[0], sides[1])
        for s, (first, last) in enumerate(pairwise(starts)):
            expected = [decoder.terms(block, s, side[first:last].tolist()) for side in sides]
            assert pairs_of(*found[s]) == pairs_of(*expected)
        scores = [decoder.score(block, s, listed[one]) for s, listed in enumerate(outputs)]
        assert decoder.scores(block, sides[0]).tolist() == scores


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("options", [{}, {"constraints": "at most 1 X"}, {"against": "1=B-Y"}])
def test_explanations_of_all_are_those_of_each(
    tagger: mg.Tagger, toys: Toys, options: dict[str, Any], threads: int
) -> None:
    given = [columns for columns, _ in toys(30, seed=22)]
    if "against" in options:
        given = [columns for columns in given if tagger.tag(columns).labels[0] != "B-Y"]
    found = tagger.explain_all(given, threads=threads, **options)
    assert found == [tagger.explain(columns, **options) for columns in given]


def test_the_runner_up_is_the_best_other_output(tagger: mg.Tagger, toys: Toys) -> None:
    for columns, _ in toys(8, seed=5):
        first, second, *_ = tagger.nbest(columns, 3)
        chosen = tagger.tag(columns).labels
        found = tagger.explain(columns)
        assert found.against == "runner-up"
        assert found.chosen.labels == chosen
        assert found.other.labels == (second if chosen == first.labels else first).labels


def test_what_outputs_share_is_no_reason(tagger: mg.Tagger, toys: Toys) -> None:
    for columns, _ in toys(8, seed=6):
        for reason in tagger.explain(columns).reasons:
            assert reason.chosen != reason.other
            sides = [0.0 if side is None else side.weight for side in (reason.chosen, reason.other)]
            assert reason.difference == sides[0] - sides[1]
            assert reason.kind in KINDS
            assert reason.words


def test_names_are_told_even_if_they_were_not_kept(taggers: dict[str, mg.Tagger], toys: Toys) -> None:
    """What is computed from the text is what a model with names has stored."""
    columns, _ = toys(1, seed=9)[0]
    for with_names, without in (("order 1", "no names"),):
        assert taggers[with_names].explain(columns).to_json() == taggers[without].explain(columns).to_json()
    for name in ("order 1", "segments", "edge features"):
        tagger = taggers[name]
        stored = {tagger.saved.feature_name(row) for row in np.flatnonzero(tagger.saved.arrays["keys"])}
        block = block_of(tagger, columns)
        terms = tagger.decoder.terms(block, 0, tagger.decoder.best(block).tolist())
        observed = [term for term in terms if term.template is not None]
        assert observed
        for term in observed:
            assert term.feature in stored
            template = extracted(tagger.saved.program)[term.template or 0]
            assert len(term.texts) == len(template.pieces)


def test_phrase_lists_are_reasons_of_their_own_kind(taggers: dict[str, mg.Tagger]) -> None:
    for name in ("order 1", "segments"):
        kinds = set()
        for first in ("x1", "y7"):
            columns = {"word": [first, "o1"], "tag": ["T0", "T1"]}
            against = "1=O" if taggers[name].tag(columns).labels[0] != "O" else "1=B-X"
            reasons = taggers[name].explain(columns, against).reasons
            kinds |= {reason.kind for reason in reasons if "list(xs)" in reason.feature}
        assert kinds == {"dictionary"}


@pytest.mark.parametrize(
    "name", ["order 1", "order 2", "another encoding", "maxent, order 2", "segments", "crf"]
)
def test_a_wish_gives_the_best_output_that_fulfils_it(
    taggers: dict[str, mg.Tagger], name: str, toys: Toys
) -> None:
    tagger = taggers[name]
    for columns, _ in toys(6, seed=8):
        if len(columns["word"]) > 6:
            continue
        outputs = list(tagger.iter_nbest(columns))
        chosen = tagger.tag(columns).labels
        for place in range(1, len(chosen) + 1):
            for label in tagger.labels:
                fitting = [t for t in outputs if t.labels[place - 1] == label and t.labels != chosen]
                if chosen[place - 1] == label or not fitting:
                    with pytest.raises(mg.DataError, match="against"):
                        tagger.explain(columns, f"{place}={label}")
                    continue
                found = tagger.explain(columns, f"{place}={label}")
                assert found.other.score == pytest.approx(fitting[0].score)
                assert found.other.labels[place - 1] == label
        for first, last in ((1, 1), (1, 2), (2, 3)):
            target = mg.Span(first - 1, last, "X")
            fitting = [t for t in outputs if target in t.spans]
            if last <= len(chosen) and fitting and target not in tagger.tag(columns).spans:
                found = tagger.explain(columns, f"{first}-{last}=X")
                assert found.other.score == pytest.approx(fitting[0].score)
                assert target in spans_of(found.other.labels, "IOB2")
        for place, label in enumerate(chosen, 1):
            fitting = [t for t in outputs if t.labels[place - 1] != label]
            if fitting:
                found = tagger.explain(columns, f"{place}!={label}")
                assert found.other.score == pytest.approx(fitting[0].score)
                assert found.other.labels[place - 1] != label


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("", "found nothing"),
        ("O", "found 1 labels, expected 3"),
        ("O O B-Z", "label 3: found 'B-Z'"),
        ("O O I-X", "I-X cannot follow O"),
        ("0=O", "tokens from 1 to 3"),
        ("2-4=X", "tokens from 1 to 3"),
        ("3-2=X", "tokens from 1 to 3, the first one first"),
        ("1=B-Z", "against: found 1=B-Z: the model does not know 'B-Z'"),
        ("1-2=Z", "against: found 1-2=Z: the model does not know 'Z'"),
        ("1=I-X", "no output with 1=I-X"),
        ("1=B-X 1=B-Y", "no output"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    taggers: dict[str, mg.Tagger], against: str, message: str
) -> None:
    with pytest.raises(mg.DataError, match=re.escape(message)):
        taggers["order 1"].explain({"word": ["o1", "o2", "o3"], "tag": ["T0"] * 3}, against)


def test_wishes_for_names_with_blanks_and_quotes() -> None:
    spans = mg.train([(["a", "b", "c"], ["B-title page", "I-title page", "O"])] * 2, scheme="IOB2", passes=3)
    found = spans.explain(["a", "b", "c"], '2-3="title page"')
    assert list(found.other.labels) == ["O", "B-title page", "I-title page"]
    assert "title page" not in spans.explain(["a", "b", "c"], '1!="*-title page"').other.labels[0]
    tags = mg.train([(["a", "b", "c"], ['"', "X", "X"])] * 2, scheme="none", passes=3)
    assert tags.explain(["a", "b", "c"], '2="').other.labels[1] == '"'
    assert list(tags.explain(["a", "b", "c"], 'X " X').other.labels) == ["X", '"', "X"]


def test_the_chosen_output_is_no_other(taggers: dict[str, mg.Tagger]) -> None:
    columns = {"word": ["x1", "o2"], "tag": ["T0"] * 2}
    labels = taggers["order 1"].tag(columns).labels
    with pytest.raises(mg.DataError, match="chose"):
        taggers["order 1"].explain(columns, list(labels))
    with pytest.raises(mg.DataError, match="chose"):
        taggers["order 1"].explain(columns, f"1={labels[0]}")


def test_no_tokens_and_no_provenance_are_errors(taggers: dict[str, mg.Tagger]) -> None:
    with pytest.raises(mg.DataError, match="no tokens"):
        taggers["order 1"].explain({"word": [], "tag": []})
    with pytest.raises(mg.ModelError, match="provenance=on"):
        taggers["order 1"].explain({"word": ["x1"], "tag": ["T0"]}, cite=1)


WORDS = {
    "word[-1]=x1": "the word before is 'x1'",
    "word[-1]=_B-1": "there is no word before",
    "word[0]=x1": "the word is 'x1'",
    "word[1]=_B+1": "there is no word after",
    "word[-1]/word[0]=x1/x2": "the word before is 'x1' and the word is 'x2'",
    "suffix(1)(word)[0]=1": "the suffix of 1 letter of the word is '1'",
    "has(digit)(word)[0]=1": "the word has a digit",
    "tag[0]=T0": "the tag is 'T0'",
    "list(xs)(word)[0]=B": "the word begins a phrase of the list 'xs'",
    "list(xs)(word)[0]=I": "the word goes on with a phrase of the list 'xs'",
    "first[0]=1": "the token is the first of the sentence",
    "node:": "the plain label",
}
SEGMENT_WORDS = {
    "word[b]=x2": "the segment's first word is 'x2'",
    "word[e+1]=_B+1": "there is no word after the segment",
    "word[b-1]/tag[b]=x1/T1": "the word before the segment is 'x1' and the segment's first tag is 'T1'",
    "word[i]=_none": "there is no word between the segment's ends",
    "word[j]=x3": "a word of the segment is 'x3'",
    "word[b..e]=x2 x3": "the whole segment's word is 'x2 x3'",
    "list(xs)(word)[b..e]=1": "the whole segment's word is a phrase of the list 'xs'",
    "length=2": "the segment has 2 tokens",
    "length=1": "the segment has 1 token",
    "tag[0]=T1": "the tag is 'T1'",
}


@pytest.mark.parametrize(("name", "expected"), [("order 1", WORDS), ("segments", SEGMENT_WORDS)])
def test_features_in_words(taggers: dict[str, mg.Tagger], name: str, expected: dict[str, str]) -> None:
    """With weights for all, every feature of an output has its words."""
    tagger = taggers[name]
    columns = {"word": ["x1", "x2", "x3"], "tag": ["T0", "T1", "T2"]}
    said = {}
    for against in ("1-1=X 2-3=X", "1-1=Y 2-2=Y 3-3=Y", "1-2=Y", "2-3=Y", "1=O 2=O", "3=O"):
        for seed in range(6):
            model = with_random_weights(tagger, seed)
            try:
                found = model.explain(columns, against)
            except mg.DataError:
                continue  # what the model chose
            said |= {reason.feature: reason.words for reason in found.reasons}
    assert {feature: said.get(feature) for feature in expected} == expected


def test_labels_alone_in_words(taggers: dict[str, mg.Tagger]) -> None:
    columns = {"word": ["x1", "x2", "o3"], "tag": ["T0", "T1", "T2"]}
    said: set[str] = set()
    for name in ("order 2", "maxent, order 2"):
        for seed in range(5):
            said |= {r.words for r in with_random_weights(taggers[name], seed).explain(columns).reasons}
    for form in (
        r"the sentence starts with \S+, not \S+",
        r"the sentence ends with \S+, not \S+",
        r"transition \S+ → \S+, not \S+ → \S+",
        r"transition \S+ → \S+ → \S+, not \S+ → \S+ → \S+",
        r"what else could follow \S+, not \S+",
    ):
        assert any(re.fullmatch(form, text) for text in said), form


JSON_KEYS = {"tokens", "chosen", "other", "difference", "by_kind", "reasons", "rest", "notes"}
REASON_KEYS = {
    "kind",
    "words",
    "feature",
    "template",
    "start",
    "end",
    "difference",
    "chosen",
    "other",
    "citations",
}


def test_the_form_of_the_data_is_stable(tagger: mg.Tagger, toys: Toys) -> None:
    columns, _ = toys(3, seed=4)[2]
    found = tagger.explain(columns)
    data = json.loads(json.dumps(found.to_json(2)))
    assert set(data) == JSON_KEYS
    assert list(data["by_kind"]) == [
        "feature",
        "transition",
        "dictionary",
        "constraint",
        "normaliser",
        "global",
        "rule",
        "sigmoid",
    ]
    assert set(data["other"]) == {"labels", "score", "what"}
    assert all(set(reason) == REASON_KEYS for reason in data["reasons"])
    assert len(data["reasons"]) == min(2, len(found.reasons))
    assert data["rest"]["reasons"] == max(len(found.reasons) - 2, 0)
    total = sum(r["difference"] for r in data["reasons"]) + data["rest"]["difference"]
    assert total == pytest.approx(data["difference"], abs=1e-9)


def test_printed_numbers_add_up(tagger: mg.Tagger, toys: Toys) -> None:
    for columns, _ in toys(6, seed=12):
        found = tagger.explain(columns)
        for top in (0, 1, 3, None):
            text = found.to_text(top)
            numbers = [int(m.replace(".", "")) for m in re.findall(r"^ {1,9}([+-]\d+\.\d{4})  ", text, re.M)]
            (printed,) = re.findall(r"^difference ([+-]\d+\.\d{4})", text, re.M)
            assert sum(numbers) == int(printed.replace(".", ""))


def test_notes_say_what_is_explained(taggers: dict[str, mg.Tagger]) -> None:
    columns = {"word": ["x1", "o2"], "tag": ["T0"] * 2}
    assert "mean" in taggers["voted"].explain(columns).notes[0]
    assert "beam" in taggers["maxent, beam"].explain(columns).notes[0]
    assert "IOBES" in taggers["another encoding"].explain(columns).notes[0]
    assert taggers["order 1"].explain(columns).notes == ()


class Balanced(HTMLParser):
    """Fails on tags that are not closed in order; collects the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_is_whole_and_escaped(toys: Toys, tmp_path: Path) -> None:
    evil = '<script>alert("1&2")</script>'
    data = [*toys(10), ({"word": [evil, "x1"], "tag": ["<b>", "T0"]}, ["B-X", "O"])]
    found = mg.train(data, passes=3, provenance=True).explain(
        {"word": [evil, "x1"], "tag": ["<b>", "T0"]}, cite=2
    )
    page = found.quoting(lambda citation: "</small>").to_html(5)
    parser = Balanced()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    assert parser.links == []
    assert "<script" not in page
    assert "http" not in page
    assert evil in "".join(parser.text)
    assert f"{found.difference:+.4f}" in page
    assert "prefers-color-scheme: dark" in page
