"""Training of a pipeline, part by part: a treebank in, progress on the way, a bundle out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from marginalia.corpus.document import Document
from marginalia.corpus.records import Sentence
from marginalia.corpus.source import DataSource
from marginalia.corpus.tree_answers import HEAD
from marginalia.decode.pipeline.annotating import LEXICON, Annotator
from marginalia.decode.pipeline.lemmas import LEMMA_COLUMNS, Lemmatizer
from marginalia.decode.pipeline.parts import (
    DROPPED,
    EMPTY,
    LEMMAS,
    MULTIWORD,
    PARSER,
    SUPERTAG,
    SUPERTAGS,
    TAG_COLUMNS,
    TAGS,
    TOKENS,
    LabelPart,
    joined_label,
)
from marginalia.decode.structures import STRUCTURES
from marginalia.errors import DataError, SettingsError
from marginalia.features.lexicon import TagLexicon, count_tags, held_out_column
from marginalia.learn.pipeline import examples
from marginalia.learn.pipeline.folds import FOLDS, Stopped, jackknifed, predict
from marginalia.learn.pipeline.plan import (
    PARTS,
    compaction,
    has_lemmas,
    has_trees,
    parser_tags,
    recipe_for,
    split_settings,
    tag_stages,
    wants_supertags,
)
from marginalia.learn.preparing import prepare
from marginalia.learn.recipe import Recipe
from marginalia.learn.training import Progress, Training
from marginalia.model import SavedModel
from marginalia.model.bundle import Bundle
from marginalia.model.shrinking import compacted

DEPREL = "deprel"
Stop = Callable[[], bool]
Records = list[Sentence]


@dataclass(frozen=True)
class PartProgress:
    """How far the training of a pipeline is: the part at work, and its progress, or what it does besides."""

    part: str
    progress: Progress | None = None
    note: str = ""
    seconds: float = 0.0


class PipelineTraining:
    """A run that trains the parts of a pipeline one after the other. Iterate over it for progress; `bundle()`
    has the parts that are there at any time.

    `parts`: which to train, of those that the treebank has data for; the others are as in the bundle `start`.
    `add` are models of other tasks that label words, which become parts of these names. `settings` are those
    of parts: `{"tags.passes": 5}`.
    """

    def __init__(
        self,
        train: Document,
        dev: Document | None = None,
        *,
        parts: Sequence[str] = (),
        start: Bundle | None = None,
        add: Mapping[str, SavedModel] | None = None,
        seed: int = 1,
        threads: int = 1,
        settings: Mapping[str, Any] | None = None,
        stop: Stop = lambda: False,
    ) -> None:
        if not train.sentences:
            raise DataError("found no sentences, expected a treebank with at least one")
        if unknown := [name for name in parts if name not in PARTS]:
            raise SettingsError(f"part: found '{unknown[0]}', expected one of {', '.join(PARTS)}.")
        self._train, self._dev, self._stop = train, dev, stop
        self._seed, self._threads = seed, threads
        self._given = split_settings(settings or {})
        for name in (*PARTS, SUPERTAGS):
            compaction(name, self._given)
        self._learn_on = parser_tags(self._given)
        self._parts = tuple(parts) or PARTS
        self._made: dict[str, SavedModel] = dict(_checked_additions(add or {}))
        self._tables: dict[str, tuple[str, ...]] = {}
        self._about: dict[str, Any] = {}
        self._start = start
        self._current: tuple[str, Training] | None = None
        self._lexicon = TagLexicon({})
        self._tagged: Records = []
        self._dev_tagged: Records | None = None
        self._started = time.perf_counter()
        self._columns = examples.columns_of(train)
        self._lengths = examples.lengths_of(train.sentences)
        self._stages = tag_stages(self._columns)
        self.notes = list(self._noted())

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return time.perf_counter() - self._started

    def __iter__(self) -> Iterator[PartProgress]:
        steps = {
            TOKENS: self._train_tokens,
            MULTIWORD: self._train_multiword,
            TAGS: self._train_tags,
            LEMMAS: self._train_lemmas,
            PARSER: self._train_parser,
        }
        try:
            for name in PARTS:
                if name in self._parts and not self._stop():
                    yield from steps[name]()
        except Stopped:
            return

    def finish(self, on_progress: Callable[[PartProgress], object] | None = None) -> Bundle:
        """Trains all parts, tells of each, and gives the bundle."""
        for record in self:
            if on_progress is not None:
                on_progress(record)
        return self.bundle()

    def bundle(self) -> Bundle:
        """The parts that are there: those that were trained, one that is being trained if it has finished a
        pass, and those of the bundle to begin with."""
        made = dict(self._made)
        if self._current is not None and self._current[1].history:
            name, training = self._current
            made[name] = self._compacted(name, training)
        if PARSER not in made:
            made.pop(SUPERTAGS, None)  # an old parser has learned on old ones
        old = self._start or Bundle({})
        kept = {name: part for name, part in old.parts.items() if not self._replaced(name, made)}
        tags = sorted(name for name in {*kept, *made} if name.startswith(TAGS))
        order = [TOKENS, MULTIWORD, *tags, LEMMAS, SUPERTAGS, PARSER]
        parts = kept | made
        named = [name for name in order if name in parts] + [name for name in parts if name not in order]
        about = {"task": "ud", **old.about, **self._about}
        return Bundle({name: parts[name] for name in named}, {**old.tables, **self._tables}, about)

    def _replaced(self, name: str, made: Mapping[str, SavedModel]) -> bool:
        """Whether an old part goes: parts of tags go with the first of them, supertags with the parser."""
        owner = PARSER if name == SUPERTAGS else TAGS if name.startswith(TAGS) else name
        return name in made or owner in made

    def _noted(self) -> Iterator[str]:
        there = {column for stage in self._stages for column in stage}
        missing = [name for name in TAG_COLUMNS if name not in there]
        missing += [] if has_lemmas(self._train) else ["lemma"]
        missing += [] if has_trees(self._train) else ["head", "deprel"]
        if missing:
            yield f"the treebank has no {', '.join(missing)}: not predicted"

    # ------------------------------------------------------------------------------------------------ parts

    def _train_tokens(self) -> Iterator[PartProgress]:
        breaks = examples.has_breaks(self._train)
        counts = examples.known_tokens(self._train)
        # In training tokens that are seen once are unknown, as new ones are in use.
        seen_again = {form for form, n in counts.items() if n > 1}
        known = counts.keys() if seen_again else frozenset()
        data = list(examples.character_examples(self._train, breaks, seen_again))
        dev = None
        if self._dev is not None:
            dev = list(examples.character_examples(self._dev, breaks, known))
        if seen_again:
            self._tables[TOKENS] = tuple(sorted(known))
        yield from self._run(TOKENS, data, dev, examples.LABEL)
        self._about["breaks"] = breaks

    def _train_multiword(self) -> Iterator[PartProgress]:
        if not examples.has_splits(self._train):
            return
        data, known, dropped = examples.split_examples(self._train)
        dev = None if self._dev is None else examples.split_examples(self._dev)[0]
        yield from self._run(MULTIWORD, data, dev, examples.LABEL)
        self._tables |= {MULTIWORD: tuple(known), DROPPED: tuple(dropped)}

    def _train_tags(self) -> Iterator[PartProgress]:
        train = self._with_lexicon()
        dev = None if self._dev is None else self._dev_records()
        for number, stage in enumerate(self._stages):
            name = TAGS if not number else f"{TAGS}-{number + 1}"
            label = "+".join(stage)
            data = self._labelled(train, self._columns, stage, label, learned=True)
            held_out = None
            if dev is not None and self._dev is not None:
                held_out = self._labelled(dev, examples.columns_of(self._dev), stage, label)
            yield from self._run(name, data, held_out, label)
            if dev is not None:
                dev = predict(LabelPart(name, self._made[name]), dev, label)
            if number + 1 < len(self._stages) or self._wants_trees:
                train = []
                yield from self._jackknife(name, data, label, train)
        self._tagged, self._dev_tagged = train, dev

    @property
    def _wants_trees(self) -> bool:
        return PARSER in self._parts and has_trees(self._train)

    def _with_lexicon(self) -> Records:
        """Training sentences of words and what the lexicon says of each without its own occurrence."""
        if not self._stages:
            return examples.sentences_of({"word": self._columns["word"]}, self._lengths)
        forms = self._columns["word"]
        tags = [joined_label(row) for row in zip(*(self._columns[c] for c in self._stages[0]), strict=True)]
        counts = count_tags(forms, tags)
        self._lexicon = TagLexicon.of(counts)
        self._tables[LEXICON] = tuple(f"{form}\t{own}" for form, own in sorted(self._lexicon.classes.items()))
        columns = {"word": forms, LEXICON: held_out_column(counts, forms, tags)}
        return examples.sentences_of(columns, self._lengths)

    def _dev_records(self) -> Records:
        assert self._dev is not None
        forms = [word.form for word in self._dev.words]
        columns = {"word": forms, LEXICON: self._lexicon.column(forms)}
        return examples.sentences_of(columns, examples.lengths_of(self._dev.sentences))

    def _labelled(
        self,
        sentences: Records,
        columns: Mapping[str, Sequence[str]],
        stage: Sequence[str],
        label: str,
        learned: bool = False,
    ) -> Records:
        rows = [joined_label(row) for row in zip(*(columns[name] for name in stage), strict=True)]
        rows = examples.frequent_labels(rows) if learned else rows
        found, at = [], 0
        for sentence in sentences:
            end = at + len(sentence)
            found.append(Sentence({**sentence.columns, label: rows[at:end]}))
            at = end
        return found

    def _jackknife(
        self, name: str, data: Records, label: str, into: Records, together: int = 1
    ) -> Iterator[PartProgress]:
        recipe = self._recipe(name, data, label, light=True)
        folds = jackknifed(name, data, label, recipe, self._threads, self._stop, together)
        for number, fold in enumerate(folds, 1):
            into += fold
            yield PartProgress(name, note=f"jack-knifing: fold {number}/{FOLDS}", seconds=self.seconds)

    def _train_lemmas(self) -> Iterator[PartProgress]:
        if not has_lemmas(self._train):
            return
        types = examples.lemma_types(self._known_tags(self._columns))
        dev = None
        if self._dev is not None:
            dev = examples.lemma_examples(
                examples.lemma_types(self._known_tags(examples.columns_of(self._dev)))
            )
        yield from self._run(LEMMAS, examples.lemma_examples(types), dev, examples.LABEL)
        answers = Lemmatizer(self._made[LEMMAS]).answers(list(types))
        wrong = [
            (key, lemma) for (key, lemma), own in zip(types.items(), answers, strict=True) if own != lemma
        ]
        self._tables[LEMMAS] = tuple(sorted("\t".join((*key, lemma)) for key, lemma in wrong))

    def _known_tags(self, columns: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """The columns with those tags emptied that the pipeline does not predict."""
        there = {column for stage in self._stages for column in stage}
        none = [EMPTY] * len(columns["word"])
        return {**columns, **{name: none for name in LEMMA_COLUMNS[1:] if name not in there}}

    def _train_parser(self) -> Iterator[PartProgress]:
        if not self._wants_trees:
            return
        if not self._tagged and self._learn_on != "gold":
            yield from self._tag_by_start()
        train = self._parser_records(self._train, self._tagged, self._learn_on)
        dev = None
        if self._dev is not None and has_trees(self._dev):
            tags = "gold" if self._learn_on == "gold" else "predicted"
            dev = self._parser_records(self._dev, self._dev_tagged or self._dev_records(), tags)
        right = [label for sentence in train for label in examples.supertags_of(sentence.columns)]
        if wants_supertags(self._given, right):
            jackknifed: Records = []
            yield from self._train_supertags(train, dev, jackknifed)
            train = [replace(new, line=old.line) for new, old in zip(jackknifed, train, strict=True)]
            dev = dev and predict(LabelPart(SUPERTAGS, self._made[SUPERTAGS]), dev, SUPERTAG)
        yield from self._run(PARSER, train, dev, DEPREL)

    def _train_supertags(self, train: Records, dev: Records | None, into: Records) -> Iterator[PartProgress]:
        """Train that part, and jack-knife the parser's training data `into` a list."""
        data = examples.with_supertags(train)
        yield from self._run(SUPERTAGS, data, dev and examples.with_supertags(dev), SUPERTAG)
        together = 2 if self._learn_on == "both" else 1
        yield from self._jackknife(SUPERTAGS, data, SUPERTAG, into, together)

    def _parser_records(self, document: Document, tagged: Records, tags: str) -> Records:
        """Trees over tags that the pipeline predicts, over those of the treebank, or over both in turn."""
        predicted = [] if tags == "gold" else self._with_trees(tagged, document)
        if tags == "predicted":
            return predicted
        columns = examples.columns_of(document)
        named = {
            name: columns[name] for name in ("word", *(name for stage in self._stages for name in stage))
        }
        sentences = examples.sentences_of(named, examples.lengths_of(document.sentences))
        gold = self._with_trees(sentences, document)
        if tags == "gold":
            return gold
        return [sentence for pair in zip(predicted, gold, strict=True) for sentence in pair]

    def _tag_by_start(self) -> Iterator[PartProgress]:
        """Tags of training data for a parser that is trained alone: by jack-knifing, with the settings of
        now; dev data are tagged by the parts of the bundle to begin with."""
        train = self._with_lexicon()
        for number, stage in enumerate(self._stages):
            name = TAGS if not number else f"{TAGS}-{number + 1}"
            data = self._labelled(train, self._columns, stage, "+".join(stage), learned=True)
            train = []
            yield from self._jackknife(name, data, "+".join(stage), train)
        self._tagged = train
        del self._tables[LEXICON]
        if self._dev is not None and self._start is not None:
            columns = Annotator(self._start.with_part(PARSER, None)).tagged(
                self._dev.words, examples.lengths_of(self._dev.sentences), given=False
            )
            self._dev_tagged = examples.sentences_of(columns, examples.lengths_of(self._dev.sentences))

    def _with_trees(self, sentences: Records, document: Document) -> Records:
        found = []
        for sentence, own in zip(sentences, document.sentences, strict=True):
            columns = {name: values for name, values in sentence.columns.items() if name != LEXICON}
            heads = [EMPTY if word.head is None else str(word.head) for word in own.words]
            trees = {HEAD: heads, DEPREL: [word.deprel for word in own.words]}
            found.append(Sentence(columns | trees, line=own.line))
        return found

    def _recipe(self, name: str, data: Records, label: str, light: bool = False) -> Recipe:
        labels = len({value for sentence in data for value in sentence.columns[label]})
        unspaced = name == TOKENS and TOKENS in self._tables
        return recipe_for(name, self._seed, self._given, light=light, labels=labels, unspaced=unspaced)

    def _run(self, name: str, data: Records, dev: Records | None, label: str) -> Iterator[PartProgress]:
        """Train a part and keep it."""
        source = DataSource(data, label=label)
        training = prepare(source, dev or None, self._recipe(name, data, label), threads=self._threads)
        self._current = (name, training)
        for record in training:
            yield PartProgress(name, record, seconds=self.seconds)
            if self._stop():
                raise Stopped
        self._made[name] = self._compacted(name, training)
        self._current = None

    def _compacted(self, name: str, training: Training) -> SavedModel:
        return compacted(training.model().saved, *compaction(name, self._given))


def _checked_additions(add: Mapping[str, SavedModel]) -> Mapping[str, SavedModel]:
    for name, model in add.items():
        if name in (*PARTS, SUPERTAGS) or name.startswith(TAGS) or not name.replace("-", "").isidentifier():
            raise SettingsError(
                f"add: found the name '{name}', expected one that no part has, such as entities."
            )
        if STRUCTURES[model.structure].kind != "labels":
            raise SettingsError(f"add: the model '{name}' gives no labels to words.")
    return add
