"""Pipelines whose parts can be corrected: what learn adds, loaded when first needed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from marginalia.decode.pipeline import Pipeline

if TYPE_CHECKING:
    from marginalia.corpus.document import Document, ParsedSentence
    from marginalia.learn.pipeline.correcting import PipelineReport
    from marginalia.model.corrections import Correction


class PipelineModel(Pipeline):
    """A `Pipeline` whose parts can be corrected. It never changes: corrections give new ones.

    `correction_report` says what the correction did that made this one, until it is saved.
    """

    correction_report: PipelineReport | None = None

    @classmethod
    def of(cls, trained: Pipeline) -> PipelineModel:
        """A correctable pipeline that shares all parts of another one."""
        model = cls.__new__(cls)
        vars(model).update(vars(trained))
        return model

    def fix(
        self,
        sentence: ParsedSentence,
        *,
        parts: Sequence[str] = (),
        margin: float = 1.0,
        check: Document | str | os.PathLike[str] | None = None,
        threads: int = 1,
    ) -> PipelineModel:
        """The pipeline with weights changed, as little as possible, so that it gives a sentence with these
        words the tags and the tree that it has, and so to those of earlier corrections. `parts`: of which
        (default: all for which the sentence has any); the rest as of `Model.fix`."""
        return self.fix_all([sentence], parts=parts, margin=margin, check=check, threads=threads)

    def fix_all(
        self,
        sentences: Iterable[ParsedSentence] | str | os.PathLike[str],
        *,
        parts: Sequence[str] = (),
        margin: float = 1.0,
        check: Document | str | os.PathLike[str] | None = None,
        threads: int = 1,
    ) -> PipelineModel:
        """Correct many sentences, or those of a file of CoNLL-U, at once: one correction."""
        from marginalia.corpus.document_reader import read_conllu
        from marginalia.learn.pipeline.correcting import correct_pipeline

        given = read_conllu(sentences) if isinstance(sentences, (str, os.PathLike)) else sentences
        trusted = read_conllu(check) if isinstance(check, (str, os.PathLike)) else check
        bundle, report = correct_pipeline(self, list(given), parts, margin, trusted, threads)
        model = PipelineModel(bundle)
        model.correction_report = report
        return model

    @property
    def corrections(self) -> list[dict[str, Correction]]:
        """What the pipeline was taught after its training, by part, and can be undone (docs/fix.md)."""
        from marginalia.learn.pipeline.correcting import pipeline_corrections

        return pipeline_corrections(self.bundle)

    def undo(self) -> PipelineModel:
        """The pipeline before its last correction, bit for bit."""
        from marginalia.learn.pipeline.correcting import undo_correction

        return PipelineModel(undo_correction(self.bundle))
