"""Dictionaries in use, for all structures: soft ones are the features of lists with the same phrases, hard
ones give the best of all outputs that have the spans."""

from __future__ import annotations

import io
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_dictionary import longest_phrases

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
    with pytest.raises(
        mg.DataError, match=r"d\.tsv:1:6: found no label, expected phrase, tab and one of: X, Y"
    ):
        tagger.with_dictionary(tmp_path / "d.tsv")


def test_models_of_attributes_have_no_words() -> None:
    model = mg.train([([["a=1"], ["b=1"]], ["X", "Y"])] * 3, passes=1)
    with pytest.raises(mg.SettingsError, match="explicit attributes, and has no words"):
        model.with_dictionary({"a": "X"})


class TestHard:
    @given(
        st.dictionaries(
            st.lists(st.sampled_from(["x1", "y2", "o3"]), min_size=1, max_size=3).map(" ".join),
            st.one_of(
                st.sets(st.sampled_from(["X", "Y"]), min_size=1).map(list), st.sampled_from(["X", "Y", "O"])
            ),
            min_size=1,
            max_size=5,
        ),
        st.lists(st.sampled_from(["x1", "y2", "o3", "X1"]), min_size=1, max_size=4),
        st.booleans(),
    )
    def test_it_is_the_best_of_all_outputs_that_have_the_spans(
        self, tagger: mg.Tagger, names: dict[str, Any], words: list[str], ignore: bool
    ) -> None:
        sentence = tokens(*words)
        found = tagger.with_dictionary(names, ignore_case=ignore).tag(sentence)
        phrases = {tuple(p.split()): [some] if isinstance(some, str) else some for p, some in names.items()}
        required = longest_phrases(words, phrases, ignore)

        def fits(output: mg.Tagged) -> bool:
            return all(
                set(output.labels[b:e]) == {"O"}
                if some == ("O",)
                else any(mg.Span(b, e, label) in output.spans for label in some)
                for b, e, some in required
            )

        best = next(output for output in tagger.iter_nbest(sentence) if fits(output))
        assert fits(found)
        assert found.broken == ()
        assert score(tagger, sentence, found) == pytest.approx(score(tagger, sentence, best), abs=1e-4)

    def test_alternatives_have_the_spans_too(self, tagger: mg.Tagger) -> None:
        hard = tagger.with_dictionary({"o1 o2": "Y"})
        listed = hard.nbest(tokens("o1", "o2", "x3"), 4)
        assert len(listed) == 3  # the last token may be X, Y or O
        assert all(mg.Span(0, 2, "Y") in output.spans for output in listed)
        assert listed[0].labels == hard.tag(tokens("o1", "o2", "x3")).labels

    def test_with_constraints(self, tagger: mg.Tagger) -> None:
        hard = tagger.with_dictionary({"o1 o2": "Y"})
        found = hard.tag(tokens("o1", "o2", "o3"), constraints="3=X")
        assert set(found.spans) == {mg.Span(0, 2, "Y"), mg.Span(2, 3, "X")}

    def test_what_cannot_be_is_told(self, tagger: mg.Tagger) -> None:
        """Two constraints that contradict each other: the fewest are broken, and nothing is raised."""
        hard = tagger.with_dictionary({"o1": "Y"})
        found = hard.tag(tokens("o1", "o2"), constraints="1=X")
        assert found.broken in [("1=X",), ("1=Y",)]
        never_long = mg.train([(["a", "b"], ["B-X", "O"])] * 3, passes=1)
        found = never_long.with_dictionary({"a b": "X"}).tag(["a", "b"])
        assert found.broken == ("1-2=X",)  # the model has no label for a second token

    def test_explained_by_its_phrase(self, tagger: mg.Tagger) -> None:
        hard = tagger.with_dictionary({"O1 o2": ["Y", "X"]}, ignore_case=True)
        reasons = hard.explain(tokens("o1", "o2"), "O O").reasons
        said = [(r.words, r.start, r.end) for r in reasons if r.kind == "constraint"]
        assert said == [("the dictionary has 'o1 o2' as X or Y", 0, 2)]

    def test_order_does_not_matter(self, tagger: mg.Tagger, toys: Toys, tmp_path: Path) -> None:
        lines = ["x1 x2\tY\n", "x2\tX\n", "x2\tY\n", "y1\tO\n", "o1 o2 o3\tX\n", "o2\tY\n"]
        sentences = [columns for columns, _ in toys(30, seed=3)]
        made = []
        for name, listed in (("a", lines), ("b", lines[::-1])):
            (tmp_path / name).write_text("".join(listed))
            made.append(tagger.with_dictionary(tmp_path / name).tag_all(sentences))
        parts = [mg.Dictionary({lines[i].split("\t")[0]: lines[i].split("\t")[1].strip()}) for i in range(6)]
        made += [tagger.with_dictionary(*p).tag_all(sentences, threads=2) for p in (parts, parts[::-1])]
        assert all(each == made[0] for each in made)
        assert made[0] != tagger.tag_all(sentences)

    def test_both_at_once_and_neither(self, tagger: mg.Tagger, toys: Toys) -> None:
        sentences = [columns for columns, _ in toys(10, seed=4)]
        soft = tagger.with_dictionary({"o1": "X"}, mode="soft")
        both = soft.with_dictionary({"o2": "Y"})
        other = tagger.with_dictionary({"o2": "Y"}).with_dictionary({"o1": "X"}, mode="soft")
        assert both.tag_all(sentences) == other.tag_all(sentences)
        assert both.with_dictionary().to_bytes() == soft.to_bytes()
        neither = both.with_dictionary(mode="soft").with_dictionary()
        assert neither.to_bytes() == tagger.to_bytes()
        assert neither.tag_all(sentences) == tagger.tag_all(sentences)
        assert pickle.loads(pickle.dumps(both)).tag_all(sentences) == both.tag_all(sentences)
        table = io.StringIO()
        both.export_weights(table)
        edited = both.with_weights(io.StringIO(table.getvalue()))
        assert edited.tag_all(sentences) == both.tag_all(sentences)


def score(tagger: mg.Tagger, sentence: dict[str, list[str]], output: mg.Tagged) -> float:
    block = pack([mg.Sentence(sentence)], tagger.feature_columns)
    return tagger.decoder.score(block, 0, tagger._shown.model_ids(output.labels))


def test_another_column(toys: Toys, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("word[0]\ntag[0]\nedge:\n")
    model = mg.train(toys(20), passes=1, features=str(tmp_path / "t.txt"))
    hard = model.with_dictionary({"T1 T2": "Y"}, column="tag")
    found = hard.tag({"word": ["a", "b", "c"], "tag": ["T1", "T2", "T1"]})
    assert mg.Span(0, 2, "Y") in found.spans


def test_plain_tags() -> None:
    data = [(["a", "b", "c"], ["N", "V", "N"])] * 4
    model = mg.train(data, passes=2, task="pos", scheme="none")
    hard = model.with_dictionary({"a b": "V", "c": ["N", "V"]})
    assert hard.tag(["a", "b", "c"]).labels == ("V", "V", "N")
    with pytest.raises(mg.DataError, match="found the label 'B-V', which the model does not give"):
        model.with_dictionary({"a": "B-V"})
    with pytest.raises(mg.DataError, match="found no label, expected phrase, tab and one of: N, V"):
        model.with_dictionary({"a": ""})


def test_words_of_characters(tmp_path: Path) -> None:
    """Phrases of a model of characters are cut into characters, and need no labels."""
    (tmp_path / "t.txt").write_text("\u6211 \u7231 \u5317\u4eac\n\u5317\u4eac \u7231 \u6211\n" * 3)
    model = mg.train(tmp_path / "t.txt", task="segmentation", passes=2)
    (tmp_path / "words.tsv").write_text("\u4eac\u7231\n")
    text = list("\u6211\u5317\u4eac\u7231")
    assert mg.Span(2, 4, "") in model.with_dictionary(tmp_path / "words.tsv").tag(text).spans
    assert mg.Span(2, 4, "") not in model.tag(text).spans
    with pytest.raises(mg.DataError, match=r"found the label 'LOC', which the model does not give"):
        model.with_dictionary({"\u4eac": "LOC"})


def test_documents_are_labelled_at_once_but_phrases_end_with_sentences(tmp_path: Path) -> None:
    text = "a B-X\nb O\n\nc O\na B-X\n\n-DOCSTART- O\n\nb B-X\nc I-X\n\n"
    (tmp_path / "t.txt").write_text(text * 3)
    model = mg.train(tmp_path / "t.txt", columns="word label", unit="document", passes=2)
    hard = model.with_dictionary({"b c": "X", "c a": "X"})
    sentences = [
        mg.Sentence({"word": ["a", "b"]}, document=0),
        mg.Sentence({"word": ["c", "a"]}, document=0),
        mg.Sentence({"word": ["b", "c"]}, document=1),
    ]
    found = [tagged.spans for tagged in hard.tag_all(sentences)]
    assert mg.Span(0, 2, "X") in found[1]
    assert mg.Span(0, 2, "X") in found[2]
    assert mg.Span(1, 2, "X") not in found[0]


def test_o_or_labels_but_not_both(tagger: mg.Tagger) -> None:
    with pytest.raises(mg.DataError, match="found 'a' as O and as something else"):
        tagger.with_dictionary({"a": ["X", "O"]})
    tagger.with_dictionary({"a": "X", "A": "O"})
    with pytest.raises(mg.DataError, match="found 'a' as O and as something else"):
        tagger.with_dictionary({"a": "X", "A": "O"}, ignore_case=True)


class TestReloading:
    def test_a_tagger_follows_its_files(self, tagger: mg.Tagger, tmp_path: Path) -> None:
        path, sentence = tmp_path / "d.tsv", tokens("o1", "o2")
        path.write_text("o1\tX\n")
        first = tagger.with_dictionary(path)
        assert first.reloaded() is first
        mg.Dictionary({"o1": "Y"}).save(path)
        second = first.reloaded()
        assert [model.tag(sentence).spans[0].label for model in (first, second)] == ["X", "Y"]
        path.write_text("o1\tX\tY\n")
        with pytest.raises(mg.DataError, match=r"d\.tsv:1:5: found a second tab"):
            second.reloaded()
        assert second.tag(sentence).spans[0].label == "Y"
        path.write_text("o1\tZ\n")
        with pytest.raises(mg.DataError, match=r"d\.tsv:1:4: found the label 'Z'"):
            second.reloaded()

    def test_soft_ones_too(self, tagger: mg.Tagger, tmp_path: Path) -> None:
        path = tmp_path / "d.tsv"
        path.write_text("o1\tX\n")
        first = tagger.with_dictionary(path, mode="soft")
        mg.Dictionary(NAMES).save(path)
        assert first.reloaded().to_bytes() == tagger.to_bytes()

    def test_while_others_tag(self, tagger: mg.Tagger, tmp_path: Path) -> None:
        """Each answer is that of one dictionary or the other, never of half a file or of both."""
        path, sentence = tmp_path / "d.tsv", tokens("o1", "o2", "o3")
        versions = [mg.Dictionary(dict.fromkeys(sentence["word"], label)) for label in "XY"]
        versions[0].save(path)
        model, done = tagger.with_dictionary(path), threading.Event()
        expected = {tagger.with_dictionary(version).tag(sentence).labels for version in versions}
        seen: set[tuple[str, ...]] = set()
        failed: list[BaseException] = []

        def serve() -> None:
            own = model
            try:
                while not done.is_set():
                    own = own.reloaded()
                    seen.add(own.tag(sentence).labels)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=serve) for _ in range(3)]
        for thread in threads:
            thread.start()
        for turn in range(60):
            versions[turn % 2].save(path)
        done.set()
        for thread in threads:
            thread.join()
        assert failed == []
        assert seen <= expected
        assert (
            model.reloaded().tag(sentence).labels == tagger.with_dictionary(versions[1]).tag(sentence).labels
        )
