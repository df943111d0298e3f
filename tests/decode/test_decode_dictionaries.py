"""Dictionaries in use: soft ones are the features of lists with the same phrases, for all structures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia import _core
from marginalia.corpus import pack
from marginalia.decode.structures import STRUCTURES
from marginalia.model import phrases_of

Toys = Callable[..., Any]

VARIANTS: dict[str, dict[str, Any]] = {
    "order 1": {},
    "order 2": {"order": 2},
    "another encoding": {"encode": "IOBES"},
    "segments": {"structure": "segments"},
}
NAMES = {"x1": "X", "x2 x3": "X", "y1 y2": "Y", "y5": "Y", "any1": ["X", "Y"]}


@pytest.fixture(scope="module", params=list(VARIANTS))
def tagger(request: pytest.FixtureRequest, toys: Toys) -> mg.Tagger:
    return mg.train(toys(40), dictionary=NAMES, passes=3, **VARIANTS[request.param])


def tokens(*words: str) -> dict[str, list[str]]:
    return {"word": list(words), "tag": ["T0"] * len(words)}


def names_of(tagger: mg.Tagger, columns: dict[str, list[str]], lists: dict[str, _core.PhraseSet]) -> Any:
    """The features of a sentence, with these lists of phrases."""
    block = pack([mg.Sentence(columns)], tagger.feature_columns)
    compiled = STRUCTURES[tagger.saved.structure].compile(tagger.saved.program, block.columns, lists)
    if tagger.saved.structure == "chain":
        return compiled.names(block.table)
    length = len(columns["word"])
    return [sorted(compiled.names(block.table, 0, b, e)) for b in range(length) for e in range(b, length)]


class TestSoft:
    def test_it_is_a_list_for_each_label(self, tagger: mg.Tagger) -> None:
        assert tagger.saved.program.dictionary == ("X", "Y")
        for text in ("list(X)", "list(Y)"):
            assert any(text in (name or "") for name in tagger.saved.feature_names() or ())

    @given(
        st.dictionaries(
            st.lists(st.sampled_from(["x1", "X1", "y2", "o3", "new"]), min_size=1, max_size=3).map(" ".join),
            st.sets(st.sampled_from(["X", "Y"]), min_size=1).map(list),
            min_size=1,
        ),
        st.lists(st.sampled_from(["x1", "y2", "Y2", "o3", "new", "x2"]), min_size=1, max_size=6),
    )
    def test_other_phrases_are_other_matches(
        self, tagger: mg.Tagger, names: dict[str, list[str]], words: list[str]
    ) -> None:
        """As if the model had lists of these phrases: the same features, and so the same scores."""
        other = tagger.with_dictionary(names, mode="soft")
        by_label = {
            label: _core.PhraseSet([phrase.split() for phrase, some in names.items() if label in some])
            for label in ("X", "Y")
        }
        columns = tokens(*words)
        assert names_of(other, columns, phrases_of(other.saved)) == names_of(tagger, columns, by_label)
        block = pack([mg.Sentence(columns)], other.feature_columns)
        for ids, score in other.decoder.k_best(block, 0, 3):
            terms = other.decoder.terms(block, 0, ids.tolist())
            assert sum(term.value for term in terms) == pytest.approx(score, abs=1e-4)

    def test_new_phrases_act_at_once(self, tagger: mg.Tagger) -> None:
        """No word of the sentence was ever seen; which phrases it has is all that is known of it."""
        sentence = tokens("o1", "Brand", "New", "o2")
        as_x = tagger.with_dictionary({"brand new": "X"}, mode="soft")
        as_y = tagger.with_dictionary({"brand new": "Y"}, mode="soft")
        margins = []
        for model in (as_x, as_y):
            block = pack([mg.Sentence(sentence)], model.feature_columns)
            ids = [model._shown.model_ids(["O", f"B-{t}", f"I-{t}", "O"]) for t in "XY"]
            margins.append(model.decoder.score(block, 0, ids[0]) - model.decoder.score(block, 0, ids[1]))
        assert margins[0] > margins[1]

    def test_labels_without_phrases_have_none(self, tagger: mg.Tagger) -> None:
        other = tagger.with_dictionary({"zzz": "Y"}, mode="soft")
        assert len(phrases_of(other.saved)["X"].states) == 0
        assert len(phrases_of(tagger.saved)["X"].states) > 0

    def test_order_does_not_matter(self, tagger: mg.Tagger, tmp_path: Path) -> None:
        lines = [
            f"{p}\t{label}\n"
            for p, some in NAMES.items()
            for label in ([some] if isinstance(some, str) else some)
        ]
        made = []
        for name, listed in (("a", lines), ("b", lines[::-1])):
            (tmp_path / name).write_text("".join(listed))
            made.append(tagger.with_dictionary(tmp_path / name, mode="soft").to_bytes())
        halves = [mg.Dictionary({p: NAMES[p]}) for p in NAMES]
        made.append(tagger.with_dictionary(*halves, mode="soft").to_bytes())
        made.append(tagger.with_dictionary(*halves[::-1], mode="soft").to_bytes())
        assert set(made) == {tagger.to_bytes()}

    def test_it_is_saved_with_the_model(self, tagger: mg.Tagger, toys: Toys, tmp_path: Path) -> None:
        other = tagger.with_dictionary({"o1": "X"}, mode="soft")
        other.save(tmp_path / "m.mg")
        again = mg.load(tmp_path / "m.mg")
        sentences = [columns for columns, _ in toys(10, seed=5)]
        assert again.tag_all(sentences) == other.tag_all(sentences)
        back = again.with_dictionary(NAMES, mode="soft")
        assert back.to_bytes() == tagger.to_bytes()


def test_words_for_matches(toys: Toys) -> None:
    model = mg.train(toys(40), dictionary=NAMES, passes=3, dictionary_dropout=0.0)
    reasons = model.explain(tokens("o1", "x2", "x3"), "2=O").reasons
    said = {r.words for r in reasons if r.kind == "dictionary" and r.feature == "list(X)(token)[0]=B"}
    assert said == {"the word begins 'x2 x3', which the dictionary has as X"}


def test_models_without_dictionaries_say_how(toys: Toys) -> None:
    model = mg.train(toys(5), passes=1)
    with pytest.raises(mg.SettingsError, match=r"trained without one.*train it with --dictionary FILE"):
        model.with_dictionary(NAMES, mode="soft")


def test_lists_can_be_other_ones_too(toys: Toys, tmp_path: Path) -> None:
    (tmp_path / "xs.txt").write_text("x1\n")
    model = mg.train(toys(5), passes=1, lists={"places": str(tmp_path / "xs.txt")}, dictionary={"y1": "Y"})
    other = model.with_dictionary({"x7": "places"}, mode="soft")
    found = phrases_of(other.saved)
    assert found["places"].states.tolist() == _core.PhraseSet([["x7"]]).states.tolist()
    assert found["Y"].states.tolist() == []
    only = model.with_dictionary({"y2": "Y"}, mode="soft")
    assert phrases_of(only.saved)["places"].states.tolist() == _core.PhraseSet([["x1"]]).states.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "sotf"}, "found the mode 'sotf', expected hard or soft"),
        ({"mode": "soft", "column": "word"}, "sought where it was in training"),
        ({"column": "wrod"}, "found the column 'wrod'. Did you mean 'word'"),
    ],
)
def test_what_makes_no_sense(tagger: mg.Tagger, options: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError, match=message):
        tagger.with_dictionary(NAMES, **options)


def test_unknown_labels_are_told_where_they_stand(tagger: mg.Tagger, tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("a\tX\nb\tZZ\n")
    with pytest.raises(
        mg.DataError, match=r"d\.tsv:2:3: found the label 'ZZ', which the model does not give"
    ):
        tagger.with_dictionary(tmp_path / "d.tsv")
    with pytest.raises(
        mg.DataError, match=r"d\.tsv:2:3: found the label 'ZZ', for which the model has no list"
    ):
        tagger.with_dictionary(tmp_path / "d.tsv", mode="soft")
    (tmp_path / "d.tsv").write_text("a b X\n")
    with pytest.raises(mg.DataError, match=r"d\.tsv:1:6: found no label behind a tab, which the model needs"):
        tagger.with_dictionary(tmp_path / "d.tsv")


def test_models_of_attributes_have_no_words() -> None:
    model = mg.train([([["a=1"], ["b=1"]], ["X", "Y"])] * 3, passes=1)
    with pytest.raises(mg.SettingsError, match="explicit attributes, and has no words"):
        model.with_dictionary({"a": "X"})
