"""Models that can be corrected and trained further: what learning adds to models in use, loaded when first
needed.

`decode/` knows nothing of `learn/`. What users hold in their hands knows both: each kind of output has a
class that is a `TrainableModel` and the kind's own class.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from marginalia.corpus.blocks import ATTRIBUTES
from marginalia.corpus.records import Sentence
from marginalia.corpus.source import DataSource
from marginalia.decode.alternative import labels_for_target
from marginalia.decode.classifier import Classifier
from marginalia.decode.constraints import Names, token_constraints
from marginalia.decode.inputs import Input
from marginalia.decode.model import TrainedModel
from marginalia.decode.parser import Parser
from marginalia.decode.reranker import Reranker
from marginalia.decode.tagger import Tagger
from marginalia.errors import DataError
from marginalia.model import SavedModel
from marginalia.model.corrections import Correction, correction_of, undone

if TYPE_CHECKING:
    from marginalia.corpus.source import Data
    from marginalia.learn import CorrectionReport, Progress

P = ParamSpec("P")
Own = TypeVar("Own", bound="TrainableModel")


class TrainableModel(TrainedModel):
    """A trained model that can be corrected and trained further.

    It never changes: corrections and further training give new models. `correction_report` says what the
    correction did that made this one, until it is saved (the file keeps what `corrections` tell).
    """

    correction_report: CorrectionReport | None = None

    @classmethod
    def of(cls: type[Own], trained: TrainedModel) -> Own:
        """A trainable model that shares all parts of a trained one."""
        model = cls.__new__(cls)
        vars(model).update(vars(trained))
        return model

    def fix_all(
        self: Own,
        data: Data,
        *,
        margin: float = 1.0,
        check: Data | None = None,
        threads: int = 1,
        columns: str | Sequence[str] | None = None,
        label: str | None = None,
        format: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Own:
        """Correct many examples at once, given as for `train`: one correction, after which all of them are
        right."""
        from marginalia.learn import source_for

        examples = source_for(self.saved, DataSource(data, columns, label, format, options))
        return self._fixed(examples, margin, check, threads)

    def _fix(
        self: Own, given: Input, labels: Sequence[Any], margin: float, check: Data | None, threads: int
    ) -> Own:
        """Correct one example, which must then have these labels."""
        record, column = self._record(given), self.saved.label
        if len(labels) != len(record) or not labels:
            raise DataError(
                f"found {len(labels)} labels, expected {len(record) or 'some'}, one for each token"
            )
        for one in labels:
            if not isinstance(one, str):
                raise DataError(
                    f"found the label {one!r}, expected a string: a correction says what is right"
                )
        columns = {name: record.columns[name] for name in self.feature_columns} | {column: list(labels)}
        examples = DataSource([replace(record, columns=columns)], label=column)
        return self._fixed(examples, margin, check, threads)

    def _fixed(self: Own, examples: DataSource, margin: float, check: Data | None, threads: int) -> Own:
        from marginalia.learn import fixed, source_for

        self._check_dictionary(examples)
        checked = None if check is None else source_for(self.saved, DataSource(check))
        saved, correction_report = fixed(self, examples, margin=margin, check=checked, threads=threads)
        model = self._later(saved)
        model.correction_report = correction_report
        return model

    def _check_dictionary(self, examples: DataSource) -> None:
        """An error if a hard dictionary in use requires other labels than examples have: no weights help."""
        if self._hard is None:
            return
        names = Names(self.labels, self.saved.scheme)
        for block in examples.blocks():
            right = block.column(examples.layout.label)
            starts = pairwise(block.table.sentence_starts.tolist())
            for (first, last), constraints in zip(starts, self._hard.constraints(block), strict=True):
                for constraint in constraints:
                    if not names.holds(constraint, right[first:last]):
                        raise DataError(
                            f"found {' '.join(right[first:last])}, but the hard dictionary in use requires "
                            f"{constraint} for '{constraint.phrase}': correct the model without it "
                            "(with_dictionary())"
                        )

    def _later(self: Own, saved: SavedModel) -> Own:
        """A later state of this model, with the same dictionaries in use."""
        lists = {name: a for name, a in self._dictionaries.base.arrays.items() if name.startswith("list.")}
        base = replace(saved, arrays=saved.arrays | lists)
        return self.with_parts(replace(self._dictionaries, base=base))

    @property
    def corrections(self) -> tuple[Correction, ...]:
        """What the model was taught after its training, and can be undone (docs/fix.md)."""
        return tuple(correction_of(self.saved, number) for number in range(len(self.saved.corrections)))

    def undo(self: Own) -> Own:
        """The model before its last correction, bit for bit."""
        return self._later(undone(self.saved))

    def partial_fit(
        self: Own,
        data: Data,
        *,
        passes: int = 1,
        threads: int = 1,
        sample_weights: Sequence[float] | None = None,
        on_progress: Callable[[Progress], object] | None = None,
        columns: str | Sequence[str] | None = None,
        label: str | None = None,
        format: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Own:
        """The model after `passes` more passes of its own learner, over a batch of examples, given as for
        `train`. A model that was trained with `state=on` goes on exactly where it stopped, any other one
        from its weights. The log of corrections ends there: they are part of the weights now.
        """
        from marginalia.learn import continued

        run = continued(
            self.saved,
            DataSource(data, columns, label, format, options),
            passes=passes,
            threads=threads,
            sample_weights=sample_weights,
        )
        return self._later(run.finish(on_progress).saved)


class Model(TrainableModel, Tagger):
    """A `Tagger` that can be corrected and trained further."""

    def fix(
        self,
        sentence: Input,
        labels: Sequence[str] | str,
        *,
        margin: float = 1.0,
        check: Data | None = None,
        threads: int = 1,
    ) -> Model:
        """The model with weights changed, as little as possible, so that it labels a sentence as it should,
        and the sentences of all earlier corrections too; labels and features may be new.

        `labels`: one for each token; or a text, of labels or of targets such as "3=B-NP" or "3-5=NP" (tokens
        count from 1), which stand for the best output that has them. `margin`: by how much it must then beat
        all other outputs, in typical weights. `check`: labelled data; `correction_report` of the result says
        which of their sentences are labelled otherwise now.
        """
        given = list(self.target_labels(sentence, labels) if isinstance(labels, str) else labels)
        return self._fix(sentence, given, margin, check, threads)

    def target_labels(self, sentence: Input, target: str) -> tuple[str, ...]:
        """The labels of the best output that has the target: "3=B-NP" or "3-5=NP", several with blanks
        between them, as in `explain`; or all labels, which are given back as they are."""
        return tuple(labels_for_target(self.saved, self.decoder, self._shown, self._block(sentence), target))


class ClassModel(TrainableModel, Classifier):
    """A `Classifier` that can be corrected and trained further."""

    def fix(
        self, item: Any, label: str, *, margin: float = 1.0, check: Data | None = None, threads: int = 1
    ) -> ClassModel:
        """The model with weights changed, as little as possible, so that an item gets the class that it
        should, and the items of all earlier corrections too; the rest as of `Model.fix`."""
        return self.fix_all([(item, label)], margin=margin, check=check, threads=threads)

    def target_labels(self, item: Any, target: str) -> tuple[str]:
        """The class of the best output that has the target: "1=A|B", as in `explain`; or a class."""
        if target in self.labels or not token_constraints(target):
            return (target,)
        return (labels_for_target(self.saved, self.decoder, self._shown, self._block(item), target)[0],)


class RerankModel(TrainableModel, Reranker):
    """A `Reranker` that can be corrected and trained further."""

    def fix(
        self, item: Any, number: int, *, margin: float = 1.0, check: Data | None = None, threads: int = 1
    ) -> RerankModel:
        """The model with weights changed, as little as possible, so that it chooses the candidate with this
        number (from 1 on) of an item, and those of earlier corrections too; the rest as of `Model.fix`."""
        block = self._block(item)
        columns: dict[str, list[Any]] = {ATTRIBUTES: block.table.attributes(0, block.table.tokens)}
        columns[self.saved.label] = self.marked(block.table.tokens, number)
        examples = DataSource([Sentence(columns)], label=self.saved.label)
        return self._fixed(examples, margin, check, threads)

    def target_labels(self, item: Any, target: str) -> tuple[str, ...]:
        """Labels of candidates, of which the one with this number is the best."""
        return tuple(self.marked(self._block(item).table.tokens, target))


class ParseModel(TrainableModel, Parser):
    """A `Parser` that can be corrected and trained further."""

    def fix(
        self, sentence: Sentence, *, margin: float = 1.0, check: Data | None = None, threads: int = 1
    ) -> ParseModel:
        """The model with weights changed, as little as possible, so that it gives the tree that a sentence
        has in its columns of heads and labels, and those of all earlier corrections too; the rest as of
        `Model.fix`."""
        return self.fix_all([sentence], margin=margin, check=check, threads=threads)


_CLASSES: dict[str, type[TrainableModel]] = {
    made.kind: made for made in (Model, ClassModel, RerankModel, ParseModel)
}


def trainable(make: Callable[P, TrainedModel]) -> Callable[P, Model | ClassModel]:
    """A function that makes models, with a result that can be corrected and trained further.

    Its class is the one for the kind of output. Whoever knows which it is, and wants type checkers to know,
    asks the class: `Model.load`, `ClassModel.load`.
    """

    @functools.wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> Model | ClassModel:
        trained: Any = make(*args, **kwargs)
        if trained.kind == "pipeline":  # most models are none
            from marginalia.trainable_pipeline import PipelineModel

            return cast("Model | ClassModel", PipelineModel.of(trained))
        return cast("Model | ClassModel", _CLASSES[trained.kind].of(trained))

    return made
