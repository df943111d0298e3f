"""A training run, set up step by step: each part is complete before the next is made of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from marginalia import _core
from marginalia.corpus.batches import Layout
from marginalia.corpus.blocks import ATTRIBUTES, guess_names
from marginalia.corpus.coder import LabelCoder, LabelSet
from marginalia.corpus.formats import EXPLICIT_FORMATS
from marginalia.corpus.source import Data, DataSource
from marginalia.corpus.tokenizers import tokenizer_of
from marginalia.decode.global_training import WholeExtraction, WholeTraining
from marginalia.decode.structures import STRUCTURES, TrainingStructure
from marginalia.decode.threads import check_threads
from marginalia.errors import DataError, SettingsError
from marginalia.features.clusters import load_word_tables
from marginalia.features.compiling import edge_templates, load_phrases
from marginalia.features.documents import looks_at_documents, looks_at_first_labels
from marginalia.features.loading import text_of_features
from marginalia.features.program import EXPLICIT, TemplateProgram
from marginalia.kinds import kind_of
from marginalia.kinds.reader import TablesOfWords
from marginalia.learn.costs import costs_of
from marginalia.learn.data import DevSet, MakeExtraction, ReadData, TrainingSet, read_data
from marginalia.learn.learners import LEARNERS
from marginalia.learn.non_local import NonLocalSettings
from marginalia.learn.recipe import Recipe, check_start
from marginalia.learn.regularisers import RegulariserSettings
from marginalia.learn.rules import RuleSettings, RuleTraining
from marginalia.learn.run import RunContext
from marginalia.learn.samples import SampleWeights, class_weights_of
from marginalia.learn.training import Training, TrainingParts
from marginalia.learn.tuning import TunedTraining, recipes_of
from marginalia.learn.warm import WarmStart
from marginalia.model import SavedModel, phrases_of
from marginalia.model.global_part import GlobalPart, global_column
from marginalia.model.word_tables import word_tables_of

if TYPE_CHECKING:
    from marginalia.learn.stages import Staged


def prepare(
    source: DataSource,
    dev: Data | None,
    recipe: Recipe,
    *,
    threads: int = 1,
    start: SavedModel | None = None,
    sample_weights: Sequence[float] | None = None,
    labels: Sequence[str] | LabelSet = (),
    features: PreparedFeatures | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> Training:
    """A training run with its data read and its features extracted, about to begin. `labels` are known
    beforehand, or are those of another model, in its order. `features`, if they are not made from the recipe.
    If the recipe has several values of a setting, a run that tries them all. `say` hears what takes time
    before it begins."""
    check_threads(threads)
    more: dict[str, Any] = {"threads": threads, "start": start, "sample_weights": sample_weights, "say": say}
    more |= {"labels": labels, "features": features}
    recipes = recipes_of(recipe, dev is not None)
    if len(recipes) > 1:
        source = training_source(source, recipe, start).loaded()
        return TunedTraining(recipe, recipes, lambda one: prepare(source, dev, one, **more))
    source = training_source(source, recipe, start)
    labels = labels or kind_of(recipe.structure).known_labels
    held_out, started = None if dev is None else source.like(dev), time.perf_counter()
    warm, first = None if start is None else WarmStart(start), None
    if features is None and recipe.settings.features.stages > 1:
        staged = _staged(source, held_out, recipe, threads, start, say)
        source, held_out, features, first = staged.source, staged.dev, staged.features, staged.first
    if features is None:
        features = features_of(recipe, source) if start is None else PreparedFeatures.of(start)
    for data in (source, held_out):
        _check_attributes(features.program, data)
    read = read_data(source, recipe, features.for_training(recipe, source.layout), warm, labels)
    recipe, notes = _fitted(recipe, features.program, read.coder)
    structure = _structure_of(recipe, features.program, read, global_part(recipe, source.layout))
    if isinstance(structure, WholeTraining):
        for data in filter(None, (source, held_out)):
            structure.check(map(data.units, data.blocks()))
    if start is not None:
        STRUCTURES[recipe.structure].resume(structure, start)
    examples = TrainingSet(source, read, structure)
    samples = SampleWeights(
        sample_weights, class_weights_of(recipe.settings.data, read.coder.labels), examples.units
    )
    context = _context_of(recipe, read, structure, max(threads, 1))
    run = LEARNERS[recipe.learner].run(context, recipe.settings.learner)
    kind = kind_of(recipe.structure)
    extraction = features.extraction(recipe, source.layout)(examples.index)
    dev_set = None if held_out is None else DevSet(kind, held_out, extraction, read.coder)
    passes = 0 if warm is None else warm.start(run, structure.row_width, recipe)
    return Training(
        TrainingParts(
            recipe=recipe,
            layout=source.layout,
            program=features.program,
            phrases=features.phrases,
            global_part=global_part(recipe, source.layout),
            word_tables=features.word_tables,
            coder=read.coder,
            examples=examples,
            samples=samples,
            context=context,
            run=run,
            dev=dev_set,
            start=start,
            first=first,
            passes_before=passes,
            notes=[
                *notes,
                *_unused(source.layout, features.program),
                *_notes_of(recipe, features.program, read.coder, context.threads, start),
            ],
        ),
        started,
    )


def training_source(source: DataSource, recipe: Recipe, start: SavedModel | None) -> DataSource:
    """The source, read as the recipe says, and with the columns and the label of a model to begin with."""
    data, reader = recipe.settings.data, kind_of(recipe.structure).reader
    if start is None:
        of_documents = looks_at_documents(text_of_features(recipe.features))
    else:
        check_start(recipe, start)
        of_documents = start.program.of_documents
        source = replace(source, columns=source.columns or start.columns, label=source.label or start.label)
    return replace(
        reader.source_with(source),
        format=reader.source_format(source.format),
        whole_documents=data.whole_documents,
        to_document_ends=of_documents or recipe.settings.features.stages > 1,  # no document is cut
        partial=data.partial,
        stream=data.stream,
        items=reader.items,
    )


@dataclass(frozen=True, eq=False)
class PreparedFeatures:
    """Templates with the phrases that they look for, and tables of words (clusters, lexicons)."""

    program: TemplateProgram
    phrases: dict[str, _core.PhraseSet]
    word_tables: dict[str, _core.WordTable]

    @classmethod
    def of(cls, start: SavedModel) -> PreparedFeatures:
        """Those of a model to begin with."""
        return cls(start.program, phrases_of(start), word_tables_of(start))

    def extraction(self, recipe: Recipe, layout: Layout) -> MakeExtraction:
        """How features are taken from data of a layout."""
        kind = STRUCTURES[recipe.structure]
        compiled = kind.compile(self.program, layout.columns, self.phrases, self.word_tables)
        options, part = recipe.settings.options, global_part(recipe, layout)
        if part is None:
            return lambda index: kind.extraction(compiled, index, options)
        return lambda index: WholeExtraction(kind.extraction(compiled, index, options), part, layout.columns)

    def for_training(self, recipe: Recipe, layout: Layout) -> MakeExtraction:
        """How training takes features from data: it may not see all phrases of a dictionary."""
        hidden = recipe.settings.features.dictionary_dropout
        lists = {name: self.phrases[name] for name in self.program.dictionary}
        thinned = {name: phrases.thinned(hidden, recipe.seed) for name, phrases in lists.items()}
        return replace(self, phrases=self.phrases | thinned).extraction(recipe, layout)


def _staged(
    source: DataSource,
    dev: DataSource | None,
    recipe: Recipe,
    threads: int,
    start: SavedModel | None,
    say: Callable[[str], object],
) -> Staged:
    from marginalia.learn.stages import first_stage  # which trains models itself

    if start is not None:
        raise SettingsError("stages=2 does not go with a model to begin with.")
    return first_stage(source, dev, recipe, threads, say)


def features_of(recipe: Recipe, source: DataSource) -> PreparedFeatures:
    """Those that a recipe names, for the columns of a source, with the files read that they look at."""
    layout, structure = source.layout, STRUCTURES[recipe.structure]
    if layout.format in EXPLICIT_FORMATS:
        program = _explicit(recipe)
    else:
        labels = recipe.dictionary.list_names if recipe.dictionary is not None else ()
        tables = TablesOfWords(
            recipe.lists,
            structure.list_templates,
            labels,
            recipe.clusters,
            structure.cluster_templates,
            recipe.settings.features.cluster_case,
            recipe.lexicons,
            structure.lexicon_templates,
        )
        program = kind_of(recipe.structure).reader.load_features(recipe.features, source, tables)
    phrases = load_phrases(program)
    if recipe.dictionary is not None:
        phrases |= recipe.dictionary.lists(tokenizer_of(layout.format, layout.options))
    return PreparedFeatures(program, phrases, load_word_tables(program))


def global_part(recipe: Recipe, layout: Layout) -> GlobalPart | None:
    """The global features of a run, which look at the words of the first column; None if it has none."""
    learner = recipe.settings.learner
    if recipe.global_features is None or not isinstance(learner, NonLocalSettings):
        return None
    if layout.format == "crfsuite":
        raise SettingsError("global features look at words, which data with explicit attributes do not have.")
    column = global_column(layout.columns, layout.label)
    return GlobalPart(recipe.global_features, column, learner.hypotheses, memory=learner.document_memory)


def _structure_of(
    recipe: Recipe, program: TemplateProgram, read: ReadData, part: GlobalPart | None
) -> TrainingStructure:
    made = STRUCTURES[recipe.structure].training
    coder, learner = read.coder, recipe.settings.learner
    options, costs = recipe.settings.options, costs_of(learner, coder.labels)
    if part is None or not isinstance(learner, NonLocalSettings):
        plain = made(coder.labels, coder.encoding, options, program, read.extraction, costs)
        if isinstance(learner, RuleSettings):
            return RuleTraining(plain, read.index, coder.labels, learner)
        return plain
    extraction: Any = read.extraction
    base: Any = made(coder.labels, coder.encoding, options, program, extraction.base, costs)
    token_bytes = STRUCTURES[recipe.structure].token_bytes(len(coder.labels), recipe.settings.structure)
    return WholeTraining(base, read.index, part, coder.labels, coder.encoding, learner.options, token_bytes)


def _explicit(recipe: Recipe) -> TemplateProgram:
    """The features are those of the data; others that were asked for are refused."""
    tables = recipe.lists or recipe.clusters or recipe.lexicons or recipe.dictionary
    if recipe.own_features and (recipe.features != ATTRIBUTES or tables):
        raise SettingsError(
            f"features: found '{recipe.features}', but the data have explicit attributes, which are "
            "the features: choose no task, features, lists, clusters, lexicons or dictionary."
        )
    return EXPLICIT


def _check_attributes(program: TemplateProgram, source: DataSource | None) -> None:
    """Data and features are both of explicit attributes, or both of columns."""
    if source is None or program.explicit == (source.layout.format in EXPLICIT_FORMATS):
        return
    found, expected = "columns of text", "explicit attributes"
    if not program.explicit:
        found, expected = expected, found
    raise DataError(f"found data with {found}, expected {expected}, as the features need", file=source.name)


def _fitted(recipe: Recipe, program: TemplateProgram, coder: LabelCoder) -> tuple[Recipe, list[str]]:
    """The recipe with settings that the data decide, and what users should know of it."""
    own, notes = STRUCTURES[recipe.structure].fit_settings(recipe.settings.structure, coder.lengths)
    left_out = [
        f"left out for want of {'stages=2' if looks_at_first_labels(line) else 'columns'}: {line}"
        for line in program.left_out
    ]
    return replace(recipe, settings=replace(recipe.settings, structure=own)), [*left_out, *notes]


def _context_of(recipe: Recipe, read: ReadData, structure: TrainingStructure, threads: int) -> RunContext:
    return RunContext(
        structure,
        read.index,
        list(read.coder.labels),
        recipe.settings.learner,
        recipe.seed,
        threads,
        read.units,
        read.fingerprint,
        recipe.settings.data.partial,
    )


def _unused(layout: Layout, program: TemplateProgram) -> Iterator[str]:
    """Columns that nobody named, and so no template knows."""
    nameless = guess_names(len(layout.columns))[1:-1]
    numbers = [
        str(number)
        for number, name in enumerate(layout.columns, 1)
        if name in nameless and name not in program.columns
    ]
    if numbers:
        many = f"columns {', '.join(numbers)} are" if len(numbers) > 1 else f"column {numbers[0]} is"
        yield f'{many} not used: name all columns with --columns (such as "word pos chunk")'


def _notes_of(
    recipe: Recipe, program: TemplateProgram, coder: LabelCoder, threads: int, start: SavedModel | None
) -> Iterator[str]:
    learner = recipe.settings.learner
    if recipe.preset is not None:
        own = f"{recipe.learner}, {recipe.structure}, features {recipe.features}"
        set_ = [f"{name}={value}" for name, value in recipe.chosen.items()]
        yield f"preset {recipe.preset}: {', '.join([own, *set_])}"
    if isinstance(learner, RegulariserSettings) and learner.parallel == "mix" and threads == 1:
        yield "parallel=mix needs --threads of at least 2: there is one model"
    if start is not None and isinstance(learner, RegulariserSettings) and learner.bpm_init:
        yield f"bpm-init={learner.bpm_init} has no effect: training begins with the weights of a model"
    if isinstance(learner, RuleSettings) and (edges := edge_templates(program)):
        yield f"rules combine features and labels themselves: not used are {', '.join(edges)}"
    if coder.repaired:
        yield f"repaired {coder.repaired} labels that {coder.scheme} does not allow"
    if start is not None and (added := coder.labels[len(start.labels) :]):
        yield f"labels that the model did not know: {', '.join(added)}"
