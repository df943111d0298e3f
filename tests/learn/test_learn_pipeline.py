"""Pipelines from a small treebank: trained, saved, used, re-trained, made small, damaged."""

from __future__ import annotations

import contextlib
import io
import pickle
import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from invented_treebank import treebank
from marginalia.corpus.document_reader import read_conllu
from marginalia.corpus.edit_scripts import edit_script, kept_stretch
from marginalia.decode.pipeline import Pipeline
from marginalia.decode.pipeline.explaining import explain_word
from marginalia.decode.pipeline.multiword import MultiwordSplitter, dropped_letters, split_by, split_scripts
from marginalia.decode.pipeline.parts import DROPPED
from marginalia.kinds.pipelines import copies, evaluate_pipeline
from marginalia.learn.pipeline import PipelineTraining, examples, train_pipeline
from marginalia.learn.pipeline.examples import frequent_labels, split_examples
from marginalia.learn.pipeline.folds import fold_bounds
from marginalia.learn.pipeline.plan import PRESETS, compaction, recipe_for, split_settings, tag_stages

QUICK = {"tags.passes": 3, "tags.shuffle-average": 1, "tokens.passes": 4, "parser.passes": 4}
TRAIN, DEV = treebank(150), treebank(40, seed=2)


def document(text: str) -> mg.Document:
    return read_conllu(io.BytesIO(text.encode()))


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return train_pipeline(document(TRAIN), document(DEV), settings=QUICK)


def test_raw_text_becomes_what_the_treebank_has(pipeline: Pipeline) -> None:
    report = evaluate_pipeline(pipeline, document(DEV))
    least = {
        "Tokens": 99,
        "Sentences": 95,
        "Words": 99,
        "UPOS": 97,
        "XPOS": 95,
        "UFeats": 95,
        "Lemmas": 97,
        "LAS": 85,
    }
    assert {name: report[name].f1 for name in least if report[name].f1 < least[name]} == {}
    assert pipeline.columns == ("lemma", "upos", "xpos", "feats", "head", "deprel")


def test_words_and_sentences_know_their_place(pipeline: Pipeline) -> None:
    text = "The dog doesn't see Anna!  It\nmoved.\n\n \nDr. Bert liked   the\ttrees.\n"
    parsed = pipeline.parse(text)
    assert parsed.text == text
    for sentence in parsed.sentences:
        assert sentence.text == text[sentence.start : sentence.end]
        for token in sentence.tokens:
            assert text[token.start : token.end] == token.form
        assert sum(word.head == 0 for word in sentence.words) == 1
    assert [w.form for w in parsed.words if 4 < w.start < 14] == ["does", "n't"]
    again = document(parsed.to_conllu())
    assert again.text == text
    assert again.to_conllu() == parsed.to_conllu()


@pytest.mark.parametrize(
    "text", ["", " \n\n ", "x", "\u200b", "a" * 9000, "ab " * 3000, "…\u0301 🎉\u3000あ", "\x07 b"]
)
def test_any_text_gets_trees(pipeline: Pipeline, text: str) -> None:
    parsed = pipeline.parse(text)
    covered = {
        i for token in (t for s in parsed.sentences for t in s.tokens) for i in range(token.start, token.end)
    }
    assert {i for i, char in enumerate(text) if not char.isspace()} == {
        i for i in covered if not text[i].isspace()
    }
    for sentence in document(
        parsed.to_conllu()
    ).sentences:  # the reader checks that heads are those of a tree
        assert sum(word.head == 0 for word in sentence.words) == 1


def test_many_texts_on_threads_are_as_one_by_one(pipeline: Pipeline) -> None:
    texts = [document(treebank(3, seed=seed)).text for seed in range(30)]
    together = pipeline.parse_all(texts, threads=2)
    assert [d.to_conllu() for d in together] == [pipeline.parse(text).to_conllu() for text in texts]


def test_parts_of_a_long_text_go_on_in_numbers_and_offsets(pipeline: Pipeline) -> None:
    text = "\n\n".join(document(treebank(6, seed=seed)).text for seed in range(8))
    parts = list(pipeline.parse_parts(io.BytesIO(text.encode()), threads=2, part=200))
    assert len(parts) > 2
    assert "".join(part.text for part in parts) == text
    assert [part.start for part in parts] == [text.index(part.text) for part in parts]
    whole = pipeline.parse(text)
    assert [w.fields()[:8] for part in parts for w in part.words] == [w.fields()[:8] for w in whole.words]
    assert [s.sent_id for part in parts for s in part.sentences] == [s.sent_id for s in whole.sentences]
    assert sum(s.newdoc is not None for part in parts for s in part.sentences) == 1


def test_given_tokens_and_tags_stay_with_all_that_is_beside_them(pipeline: Pipeline) -> None:
    text = (
        "# sent_id = x\n# note = kept\n1\tThe\t_\tDET\tDT\t_\t_\t_\t2:det\tA=1\n"
        "2\tdog\t_\tVERB\tVB\t_\t_\t_\t_\t_\n"
        "2.1\tnode\t_\t_\t_\t_\t_\t_\t2:dep\t_\n3\tsees\t_\tX\t_\tF=1\t_\t_\t_\t_\n\n"
    )
    kept = list(pipeline.annotate(document(text).sentences, ("tokens", "tags")))
    rows = [line.split("\t") for line in kept[0].to_conllu().splitlines() if line and line[0] != "#"]
    assert [row[3] for row in rows] == ["DET", "VERB", "_", "X"]
    assert rows[3][5] == "F=1"
    assert rows[0][8:] == ["2:det", "A=1"]
    assert rows[2][0] == "2.1"
    assert kept[0].comments == ["# sent_id = x", "# note = kept"]
    assert all(row[6].isdigit() for row in rows if "." not in row[0])
    predicted = list(pipeline.annotate(document(text).sentences, ("tokens",)))
    assert [word.upos for word in predicted[0].words][:2] == ["DET", "NOUN"]
    with pytest.raises(mg.SettingsError, match="'words'"):
        list(pipeline.annotate([], ("words",)))


def test_the_k_best_trees_are_trees_with_falling_scores(pipeline: Pipeline) -> None:
    parsed = pipeline.parse("The dog saw the cats. Anna liked the house.")
    ranked = parsed.nbest(3)
    assert 1 < len(ranked) <= 3
    heads = [tuple(w.head for w in d.words) for d in ranked]
    assert heads[0] == tuple(w.head for w in parsed.words)
    for first, second in pairwise(ranked):
        for a, b in zip(first.sentences, second.sentences, strict=True):
            assert float(a.comment("score") or 0) >= float(b.comment("score") or 0)
    with pytest.raises(mg.SettingsError, match="k: found 0"):
        parsed.nbest(0)


def test_a_word_is_explained_by_the_parts(pipeline: Pipeline) -> None:
    explained = pipeline.parse("The dog saw the cats.").explain(1)
    tags = explained["tags"]
    assert tags.chosen.labels[1] == "NOUN NN"
    assert tags.other.labels[1] != "NOUN NN"
    assert tags.reasons
    assert explained["parser"].reasons
    assert str(explained["parser"]).startswith("word 2: nsubj of 3, not ")
    assert str(tags) == tags.to_text()
    assert list(explained) == ["tags", "tags-2", "lemmas", "parser"]


def test_a_part_is_asked_for_another_tag_or_arc(pipeline: Pipeline) -> None:
    parsed = pipeline.parse("The dog saw the cats.")
    word = parsed.words[1]
    assert len(parsed.sentences) == 1
    for part in pipeline.annotator.tags:
        labels = part.tagger.labels
        columns = pipeline.annotator.tagged(parsed.words, [len(parsed.words)], given=False)
        sentence = {name: columns[name] for name in part.tagger.feature_columns}
        own = part.tagger.tag(sentence).labels
        for number, label in enumerate(own):
            why = parsed.explain(number, part.name)[part.name]
            others = (one for one in part.tagger.iter_nbest(sentence) if one.labels[number] != label)
            assert why.other.score == pytest.approx(next(others).score)  # exact: the best of all others
        for label in {*labels} - {own[1]}:
            assert parsed.explain(1, part.name, label)[part.name].other.labels[1] == label
    assert parsed.explain(1, "tags", "VERB")["tags"].other.labels[1].startswith("VERB ")
    assert parsed.explain(1, "lemmas")["lemmas"].chosen.labels == ("k;0;0;0;",)
    arc = parsed.explain(word, "parser", "3:det")["parser"]
    assert (arc.other_heads[1], arc.other_labels[1]) == (3, "det")
    assert parsed.explain(word, "parser", ":root")["parser"].other_labels[1] == "root"
    for asked, message in (
        (("tags", "NOUN"), "what the word has"),
        (("tags", "NOUNS"), "no label of this part"),
        (("parser", "x:obj"), "expected a head and a relation"),
        (("tokens", None), "expected one of tags, tags-2, lemmas, parser"),
        ((None, "NOUN"), "say of which part"),
    ):
        with pytest.raises(mg.MarginaliaError, match=message):
            parsed.explain(word, *asked)


def test_given_tags_are_those_that_arcs_are_explained_by(pipeline: Pipeline) -> None:
    rows = "1\tThe\t_\tVERB\tVB\t" + "_\t" * 4 + "_\n2\tdog\t_\tVERB\tVB\t" + "_\t" * 4 + "_\n\n"
    [kept] = pipeline.annotate(document(rows).sentences, ("tokens", "tags"))
    reasons = {
        one.feature for one in explain_word(pipeline.annotator, kept.words[0], "parser")["parser"].reasons
    }
    assert any("=VERB" in feature for feature in reasons)
    assert not any("=DET" in feature for feature in reasons)


def test_what_is_no_text_word_or_sentence_is_refused(pipeline: Pipeline) -> None:
    wrong: Any = "One."
    with pytest.raises(mg.SettingsError, match="found str, expected several texts"):
        pipeline.parse_all(wrong)
    with pytest.raises(mg.SettingsError, match="found str, expected a sentence"):
        list(pipeline.annotate(wrong))
    for word in (99, -1, wrong):
        with pytest.raises(mg.SettingsError, match="expected one of the"):
            pipeline.parse("The dog saw the cats.").explain(word)
    texts: Any = ["One.", "Two."]
    with pytest.raises(mg.SettingsError, match="found list, expected a text; parse_all"):
        pipeline.parse(texts)


def test_a_file_and_a_pickle_are_the_same_pipeline(pipeline: Pipeline, tmp_path: Path) -> None:
    pipeline.save(tmp_path / "p.mg")
    loaded: Any = mg.load(tmp_path / "p.mg")
    assert isinstance(loaded, Pipeline)
    assert loaded.to_bytes() == pipeline.to_bytes()
    assert pickle.loads(pickle.dumps(pipeline)).to_bytes() == pipeline.to_bytes()
    with pytest.raises(mg.ModelError, match="pipeline of several models"):
        mg.Tagger.load(tmp_path / "p.mg")


def test_training_is_deterministic_whatever_the_threads() -> None:
    one = train_pipeline(document(treebank(40)), settings=QUICK)
    two = train_pipeline(document(treebank(40)), settings=QUICK, threads=2)
    assert one.to_bytes() == two.to_bytes()


def test_damaged_files_are_refused(pipeline: Pipeline) -> None:
    data, rng = pipeline.to_bytes(), random.Random(1)
    for end in [0, 7, 8, 100, *(rng.randrange(len(data)) for _ in range(20))]:
        with pytest.raises(mg.ModelError):
            Pipeline.from_bytes(data[:end])
    for _ in range(60):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        with contextlib.suppress(mg.ModelError):
            assert Pipeline.from_bytes(bytes(damaged)).to_bytes() == data


def test_one_part_is_trained_anew_and_the_others_stay(pipeline: Pipeline) -> None:
    newer = train_pipeline(
        document(TRAIN),
        document(DEV),
        parts=["parser"],
        start=pipeline,
        settings=QUICK | {"parser.passes": 1},
    )
    assert list(newer.bundle.parts) == list(pipeline.bundle.parts)
    for name, part in pipeline.bundle.parts.items():
        same = part.metadata() == newer.bundle.parts[name].metadata()
        assert same == (name != "parser"), name


def test_columns_that_a_treebank_lacks_are_not_predicted() -> None:
    bare = document(treebank(60, text=False, lemmas=False))
    for word in bare.words:
        word.xpos = word.feats = "_"
    made = train_pipeline(bare, settings=QUICK)
    assert made.columns == ("upos", "head", "deprel")
    report = evaluate_pipeline(made, document(DEV), ("tokens",))
    assert report.scores["XPOS"] is None
    assert report.scores["Lemmas"] is None
    assert report["UPOS"].f1 > 80
    assert {word.lemma for word in made.parse("The dog sees the cat.").words} == {"_"}


def test_heads_without_relations_are_predicted_alone() -> None:
    bare = document(treebank(60))
    for word in bare.words:
        word.deprel = "_"
    made = train_pipeline(bare, settings=QUICK)
    assert made.columns == ("lemma", "upos", "xpos", "feats", "head")
    report = evaluate_pipeline(made, document(DEV), ("tokens",))
    assert report["UAS"].f1 > 80
    assert report.scores["LAS"] is None


@given(st.lists(st.text("AB=|", max_size=4), max_size=30), st.integers(1, 5))
def test_rare_labels_are_learned_as_frequent_ones(labels: list[str], most: int) -> None:
    learned, counts = frequent_labels(labels, most), Counter(labels)
    kept = {label for label, _ in counts.most_common(most)}
    for old, new in zip(labels, learned, strict=True):
        assert new in kept
        assert new == old or old not in kept
        shared = max(size for size in range(5) if any(one[:size] == old[:size] for one in kept))
        assert new[:shared] == old[:shared]


def test_forms_with_rare_scripts_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples, "_MOST_LABELS", 3)
    rows = [(form, form[::-1] + str(i)) for i, form in enumerate("abcdefgh")] + [
        (f"z{i}", "z") for i in range(9)
    ]
    lines = (f"1\t{form}\t{lemma}\tX\t_\t_\t_\t_\t_\t_\n\n" for form, lemma in rows)
    made = train_pipeline(document("".join(lines)), parts=["tokens", "tags", "lemmas"], settings=QUICK)
    assert len(made.bundle.parts["lemmas"].labels) == 3
    assert [(form, made.parse(form).words[0].lemma) for form, _ in rows] == rows


def test_an_added_model_labels_words_in_misc(pipeline: Pipeline) -> None:
    sentences = [
        mg.Sentence(
            {"word": [w.form for w in s], "label": ["B-PER" if w.upos == "PROPN" else "O" for w in s]}
        )
        for s in document(TRAIN)
    ]
    entities: Any = mg.train(sentences, label="label", passes=3)
    training = PipelineTraining(
        document(TRAIN), parts=["lemmas"], start=pipeline.bundle, add={"entities": entities.saved}
    )
    parsed = Pipeline(training.finish()).parse("Anna saw the dog.")
    assert [w.misc_value("entities") for w in parsed.words] == ["B-PER", None, None, None, None]
    with pytest.raises(mg.SettingsError, match="that no part has"):
        PipelineTraining(document(TRAIN), add={"tags": entities.saved})


def test_stopping_keeps_the_parts_that_are_done() -> None:
    training = PipelineTraining(document(treebank(40)), settings=QUICK)
    for record in training:
        if record.part == "tags":
            break
    parts = training.bundle().parts
    assert list(parts)[:2] == ["tokens", "multiword"]
    assert "parser" not in parts
    assert Pipeline(training.bundle()).parse("The dog sees the cat.").sentences


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"passes": 3}, "those of a part"), ({"taggs.passes": 3}, "'tags'"), ({"tags.pases": 3}, "'passes'"),
     ({"tags.bits": 7}, "bits"), ({"preset": "slow"}, "expected one of fast, balanced, best")],
)  # fmt: skip
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError, match=message):
        train_pipeline(document(treebank(20)), settings=settings)


def test_a_preset_is_settings_that_others_override() -> None:
    fast = split_settings({"preset": "fast", "tags.passes": 3})
    assert fast["parser"]["tree-beam"] == 1
    assert fast["tags"]["passes"] == 3
    assert split_settings({"preset": "balanced"}) == split_settings({}) == {}
    for name, chosen in PRESETS.items():
        for part, own in split_settings({"preset": name}).items():
            assert recipe_for(part, 1, {part: own})
            assert compaction(part, {part: own})
        assert all(full.count(".") == 1 for full in chosen)


def test_multiword_tokens_of_all_kinds_have_labels_that_do_not_grow_with_them() -> None:
    rng = random.Random(3)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(3, 6))) for _ in range(3000)]
    rows = []
    for one, two in pairwise(words):
        tail = f"1\t{one}" + "\t_" * 8 + f"\n2\t{two}" + "\t_" * 8
        rows.append(f"1-2\t{one}{two}" + "\t_" * 8 + f"\n{tail}\n\n")
    data, known, dropped = split_examples(document("".join(rows)))
    labels = {label for one in data for label in one.columns["label"]}
    assert len(labels) < 100
    assert len(known) > 2900
    assert {line.split("\t")[0] for line in dropped} == labels - {"-"}
    assert split_by("oldhouse", edit_script("oldhouse", "old") + " " + edit_script("oldhouse", "house")) == (
        "old", "house",
    )  # fmt: skip


def test_a_pipeline_is_made_smaller_and_calibrated(pipeline: Pipeline) -> None:
    from marginalia.learn.pipeline.calibrating import calibrated_pipeline

    size = len(pipeline.to_bytes())
    shrunk = mg.shrink(pipeline, target=size * 9 // 10)
    assert len(shrunk.model.to_bytes()) <= size * 9 // 10
    assert shrunk.model.parse("The dog sees the cat.").words[1].upos == "NOUN"
    calibrated = calibrated_pipeline(pipeline, document(DEV))
    assert calibrated.bundle.parts["tags"].calibration["temperature"] > 0
    assert calibrated.bundle.parts["parser"].calibration["temperature"] > 0
    with pytest.raises(mg.ModelError, match="marginalia calibrate"):
        pipeline.parse("The dog sees the cat.", confidence=True)
    check_confidence(calibrated)


def check_confidence(pipeline: Pipeline) -> None:
    """Words know how probable their tags and arcs are, in MISC, too; all else is as without."""
    text = "The dog doesn't see Anna. The cats moved!"
    plain, sure = pipeline.parse(text), pipeline.parse(text, confidence=True)
    for word, other in zip(sure.words, plain.words, strict=True):
        assert list(word.confidence) == ["upos", "xpos", "feats", "head"]
        assert all(0 < value <= 1 for value in word.confidence.values())
        assert word.confidence["upos"] == word.confidence["xpos"]
        assert other.confidence == {}
        assert (word.fields()[:-1], word.start) == (other.fields()[:-1], other.start)
    part, parser = pipeline.annotator.tags[0], pipeline.annotator.parser
    columns = pipeline.annotator.tagged(sure.sentences[0].words, [len(sure.sentences[0])], given=False)
    tagged = part.tagger.tag({name: columns[name] for name in part.tagger.feature_columns}, confidence=True)
    assert tagged.label_confidence == pytest.approx(
        [w.confidence["upos"] for w in sure.sentences[0]], abs=6e-5
    )
    seen = pipeline.annotator.for_parser(columns, [len(sure.sentences[0])])
    parsed = parser.model.parse({n: seen[n] for n in parser.model.feature_columns}, confidence=True)
    assert parsed.arc_confidence == pytest.approx([w.confidence["head"] for w in sure.sentences[0]], abs=6e-5)
    assert [w.confidence for w in document(sure.to_conllu()).words] == [w.confidence for w in sure.words]
    assert [list(w.confidence) for w in sure.nbest(1)[0].words] == [["upos", "xpos", "feats"]] * len(
        sure.words
    )
    given = next(pipeline.annotate(document(DEV), ["tokens", "tags"], confidence=True))
    assert [list(w.confidence) for w in given.words] == [["head"]] * len(given)


def test_folds_are_stretches_of_like_size() -> None:
    assert fold_bounds([1] * 10, 5) == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]
    assert fold_bounds([100, 1, 1], 3) == [(0, 1), (1, 2), (2, 3)]
    assert fold_bounds([5], 5) == [(0, 1)]


def test_tags_are_learned_together_if_there_are_few_pairs() -> None:
    few = {"upos": ["A", "B"], "xpos": ["a", "b"], "feats": ["_", "F=1"]}
    assert tag_stages(few) == [("upos", "xpos"), ("feats",)]
    many = {"upos": ["A"] * 200, "xpos": [str(i) for i in range(200)], "feats": ["F=1"] * 200}
    assert tag_stages(many) == [("upos",), ("feats",), ("xpos",)]
    assert tag_stages({"upos": ["_"], "xpos": ["_"], "feats": ["_"]}) == []


def test_text_without_blanks_is_cut_by_characters_and_known_tokens() -> None:
    words, rng = ["猫", "犬", "が", "を", "見る", "走る", "本", "読む", "図書館", "で"], random.Random(3)
    text = ""
    for _ in range(80):
        chosen = [*rng.choices(words, k=rng.randrange(2, 6)), "。"]
        rows = (
            f"{i}\t{w}\t_\tX\t_\t_\t{int(i > 1)}\t{'dep' if i > 1 else 'root'}\t_\t_"
            for i, w in enumerate(chosen, 1)
        )
        text += "\n".join(rows) + "\n\n"
    made = train_pipeline(document(text), parts=["tokens", "tags"])
    assert "図書館" in made.bundle.tables["tokens"]
    assert set(made.bundle.parts["tokens"].labels) == {"S1", "S", "B1", "B", "I2", "I."}
    parsed = made.parse("猫が図書館で本を読む。犬が走る。")
    assert [[w.form for w in s] for s in parsed] == [
        ["猫", "が", "図書館", "で", "本", "を", "読む", "。"],
        ["犬", "が", "走る", "。"],
    ]


def test_a_split_leaves_out_only_letters_that_it_left_out_in_training() -> None:
    rows = "".join(
        f"1-2\t{stem}n't" + "\t_" * 8 + f"\n1\t{stem}" + "\t_" * 8 + "\n2\tn't" + "\t_" * 8 + "\n\n"
        for stem in ("do", "does", "ca", "wo", "is", "are")
    )
    bundle = train_pipeline(document(rows), parts=["multiword"]).bundle
    assert bundle.tables[DROPPED] == ("k;0;3;0; =n't\t n't",)
    part, forms = bundle.parts["multiword"], ["MUSTN'T", "wasn't", "wasnot", "wast", "n't"]
    former, asked = MultiwordSplitter(part), MultiwordSplitter(part, (), bundle.tables[DROPPED])
    assert former.words(forms, [5]) == [
        ("MUST", "n't"),
        ("was", "n't"),
        ("was", "n't"),
        ("w", "n't"),
        ("n't",),
    ]
    assert asked.words(forms, [5]) == [("MUST", "n't"), ("was", "n't"), ("wasnot",), ("wast",), ("n't",)]
    unmarked = replace(
        bundle, tables={name: bundle.tables[name] for name in bundle.tables if name != DROPPED}
    )
    for kept, splitter in ((bundle, asked), (unmarked, former)):  # the file says which
        again = Pipeline.from_bytes(kept.to_bytes())._multiword
        assert again is not None
        assert again.words(forms, [5]) == splitter.words(forms, [5])
    with pytest.raises(mg.ModelError, match="damaged table"):
        MultiwordSplitter(part, (), ["no tab"])


@given(
    st.text("abC", min_size=1, max_size=8),
    st.lists(st.text("abC", min_size=1, max_size=4), min_size=2, max_size=3),
)
def test_what_splits_keep_and_leave_out_is_the_whole_token(form: str, words: list[str]) -> None:
    for label in split_scripts(form, words):
        assert split_by(form, label) == tuple(words)
        kept = set().union(*(range(*kept_stretch(form, script)) for script in label.split(" ")))
        left = "".join(" " if i in kept else char for i, char in enumerate(form))
        assert dropped_letters(form, label).split() == left.lower().split()


def test_corrected_sentences_stay_right_until_they_are_taken_back() -> None:
    bits = {
        f"{part}.{name}": value
        for part in ("tags", "tags-2", "parser")
        for name, value in (("bits", 32), ("keep", 0))
    }
    settings = {**QUICK, "parser.learner": "perceptron", **bits}
    states: list[Any] = [mg.train(document(TRAIN), task="ud", **settings)]
    rng, asked = random.Random(5), []
    for sentence in document(DEV).sentences[:4]:
        words = sentence.words
        for word in rng.sample(list(words), 2):
            word.upos, word.xpos = rng.choice([("VERB", "VB"), ("X", "FW")])
            word.deprel = word.deprel if word.head == 0 else "odd"
        asked.append(sentence)
        states.append(states[-1].fix(sentence, check=document(DEV)))
        assert states[-1].correction_report.checked == 40
        found = list(states[-1].annotate(copies(asked), ("tokens",)))
        for one, gold in zip(found, asked, strict=True):
            told = [(w.upos, w.xpos, w.feats, w.head, w.deprel) for w in one.words]
            assert told == [(w.upos, w.xpos, w.feats, w.head, w.deprel) for w in gold.words]
    assert [list(one) for one in states[-1].corrections] == [["tags", "tags-2", "parser"]] * 4
    last = mg.PipelineModel.from_bytes(states[-1].to_bytes())
    for before in reversed(states[:-1]):
        last = last.undo()
        assert last.to_bytes() == before.to_bytes()
    anew = train_pipeline(document(TRAIN), parts=["tags"], start=states[2], settings=settings)
    kept = mg.PipelineModel(anew.bundle)
    assert [list(one) for one in kept.corrections] == [
        ["parser"],
        ["parser"],
    ]  # of the part that was not trained
    assert kept.undo().undo().corrections == []
    assert pickle.loads(pickle.dumps(states[1])).undo().to_bytes() == states[0].to_bytes()
