"""Structures in training with global features: examples with their documents, and the adaptor of the core
(core/search/non_local.hpp) over the structure's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.blocks import Block
from marginalia.decode.global_decoder import check_memory
from marginalia.features.global_features import mention_labels
from marginalia.model.global_part import GlobalPart


class WholeExamples:
    """Examples of a structure, the words of the documents that they are, and, if they are to be re-ranked,
    hypotheses of another model."""

    def __init__(self, local: Any, texts: _core.GlobalTexts) -> None:
        self.local, self.texts = local, texts
        self.given: _core.HypothesisLists | None = None

    @property
    def sentences(self) -> int:
        """How many examples there are."""
        count: int = self.local.sentences
        return count


class WholeExtraction:
    """How sentences become such examples."""

    def __init__(self, base: Any, part: GlobalPart, columns: Sequence[str]) -> None:
        self.base, self.index, self._column = base, base.index, list(columns).index(part.column)
        # Words are numbered before the labels are known, and need no functions.
        self._set = _core.GlobalSet(list(part.features.families), list(part.features.lowercase), [])

    def examples(self, tokens: int = 0) -> WholeExamples:
        """A batch without sentences, with room for so many tokens."""
        return WholeExamples(self.base.examples(tokens), _core.GlobalTexts(self._set))

    def add(self, examples: WholeExamples, table: _core.TokenTable, *, grow: bool) -> None:
        """Append sentences, each a document."""
        self.base.add(examples.local, table, grow=grow)
        examples.texts.add(table, self._column)

    def count(self, table: _core.TokenTable) -> None:
        """Only what must be known of all local features."""
        self.base.count(table)


class WholeBase(Protocol):
    """A structure in training that can be put under global features."""

    constants: int
    row_width: int

    def set_gold(self, examples: Any, ids: npt.NDArray[np.int32], sets: npt.NDArray[np.uint8]) -> None: ...

    def choose_features(self, batches: Callable[[], Iterator[Any]], kept: list[Any]) -> None: ...

    def whole_batch(self, examples: Any, *documents: Any) -> Any:
        """The examples with documents: set, labels, texts, index, whether it may grow, options, and given
        hypotheses."""


class WholeTraining:
    """A structure whose n best outputs are scored with global features as well."""

    grows = True

    def __init__(
        self,
        base: WholeBase,
        index: _core.FeatureIndex,
        part: GlobalPart,
        labels: Sequence[str],
        encoding: str | None,
        options: _core.NonLocalOptions,
        token_bytes: int,
    ) -> None:
        self._base, self._index, self._options = base, index, options
        self._token_bytes, self._memory = token_bytes, part.memory
        self.constants, self.row_width = base.constants, base.row_width
        self._set, self._labels = part.features.native(labels, encoding), mention_labels(labels, encoding)
        # Of examples that are kept, with what is found out about their documents in every pass.
        self._batches: WeakKeyDictionary[WholeExamples, Any] = WeakKeyDictionary()

    def set_gold(
        self, examples: WholeExamples, ids: npt.NDArray[np.int32], sets: npt.NDArray[np.uint8]
    ) -> None:
        """The right outputs."""
        self._base.set_gold(examples.local, ids, sets)

    def choose_features(
        self, batches: Callable[[], Iterator[WholeExamples]], kept: list[WholeExamples]
    ) -> None:
        """Which local features may have weights; global ones get them as they are met."""
        self._base.choose_features(
            lambda: (examples.local for examples in batches()), [examples.local for examples in kept]
        )

    def batch(self, examples: WholeExamples) -> Any:
        """The examples as whole outputs."""
        if (made := self._batches.get(examples)) is None:
            made = self._batches[examples] = self._make_batch(examples)
        return made

    def check(self, blocks: Iterable[Block]) -> None:
        """An error if the search in one of these documents may take too much memory."""
        before = 0
        for block in blocks:
            check_memory(block, self._token_bytes, self._memory, before)
            before += block.table.sentences

    def _make_batch(self, examples: WholeExamples) -> Any:
        return self._base.whole_batch(
            examples.local,
            self._set,
            self._labels,
            examples.texts,
            self._index,
            True,
            self._options,
            examples.given,
        )
