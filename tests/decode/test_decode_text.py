"""Raw text in, tokens and spans with their places out; results as plain data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.kinds.reader import Reading
from marginalia.kinds.sentences import SENTENCES

STORED = Path(__file__).parents[1] / "model" / "stored"
MODEL = mg.load(STORED / "chain-calibrated.mg")
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


@given(TEXTS, st.sampled_from(["words", "whitespace", "characters", "fields"]))
def test_places_are_those_of_the_text(text: str, tokenizer: str) -> None:
    found = MODEL.tag_text(text, tokenizer=tokenizer)
    assert all(text[one.start : one.end] == one.text for one in (*found.tokens, *found.spans))
    assert [token.start for token in found.tokens] == sorted(token.start for token in found.tokens)
    assert not any("\n" in span.text for span in found.spans)
    assert json.loads(json.dumps(found.to_json())) == found.to_dict()


def test_labels_are_those_of_the_tokens_of_each_line() -> None:
    found = MODEL.tag_text("2 cups flour, sifted\r\n\n1 egg", confidence=True)
    lines = [["2", "cups", "flour", ",", "sifted"], ["1", "egg"]]
    tagged = MODEL.tag_all(lines, confidence=True)
    assert [(token.text, token.label, token.confidence) for token in found.tokens] == [
        (word, label, p)
        for one in tagged
        for word, label, p in zip(one.tokens, one.labels, one.label_confidence or (), strict=True)
    ]
    assert [span.label for span in found.spans] == [span.label for one in tagged for span in one.spans]
    assert [span.confidence for span in found.spans] == [
        p for one in tagged for p in one.span_confidence or ()
    ]


def test_the_tokenizer_of_training_is_kept(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"text": "500g flour", "spans": [[3, 4, "UNIT"]]}\n' * 3)
    model = mg.train(tmp_path / "t.jsonl", options={"tokenizer": "fields"})
    model.save(tmp_path / "m.mg")
    loaded = mg.load(tmp_path / "m.mg")
    assert [token.text for token in loaded.tag_text("500g flour").tokens] == ["500", "g", "flour"]
    assert [token.text for token in loaded.tag_text("500g", tokenizer="words").tokens] == ["500g"]


def test_plain_text_is_cut_as_the_training_text_was(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"text": "a cup, sifted", "spans": [[2, 5, "UNIT"]]}\n')
    model, text = mg.train(tmp_path / "t.jsonl"), "a cup, sifted"
    _, options = SENTENCES.format_and_options(model.saved, Reading("plain"))
    assert options == {"tokenizer": "words"}
    words = [token.text for token in model.tag_text(text).tokens]
    assert words == SENTENCES.text_input(model, text)["word"] == ["a", "cup", ",", "sifted"]


def test_what_is_no_text_is_told() -> None:
    with pytest.raises(mg.DataError, match="tag_text takes raw text"):
        MODEL.tag("a string")
    with pytest.raises(mg.DataError, match="found list, expected a text; tag takes tokens"):
        MODEL.tag_text(["a"])  # type: ignore[arg-type]
    with pytest.raises(mg.DataError, match="NUL"):
        MODEL.tag_text("a\0")
    two = mg.train([({"word": ["a"], "pos": ["X"]}, ["B-NP"])], task="chunking")
    with pytest.raises(mg.DataError, match="this model needs the columns word, pos: call tag"):
        two.tag_text("a")
    with pytest.raises(mg.DataError, match="a text has no attributes"):
        mg.load(STORED / "chain-attributes.mg").tag_text("a")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (
            MODEL.tag(["1", "egg"]),
            {"tokens": ["1", "egg"], "labels": ["B-QTY", "B-NAME"], "scheme": "IOB2"},
        ),
        (mg.load(STORED / "single.mg").classify("1 pint"), {"label": "B-QTY"}),
        (
            mg.load(STORED / "trees.mg").parse({"word": ["a", "b"], "pos": ["X", "Y"]}),
            {"tokens": ["a", "b"], "heads": [0, 1]},
        ),
    ],
)
def test_results_are_plain_data(result: Any, expected: dict[str, Any]) -> None:
    found = result.to_dict()
    assert {name: found[name] for name in expected} == expected
    assert json.loads(json.dumps(result.to_json())) == found


def test_only_public_names_are_listed() -> None:
    assert set(dir(mg)) == {*mg.__all__, "__version__", "assist"}
