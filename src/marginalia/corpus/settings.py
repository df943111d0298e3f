"""Settings of the data: their labels, and what of them is read and kept."""

from __future__ import annotations

from dataclasses import dataclass

from marginalia.config import Settings, setting
from marginalia.corpus.schemes import SCHEMES


@dataclass(frozen=True, kw_only=True)
class DataSettings(Settings):
    """How the data are read, what is labelled at once, how much examples count, and what is kept of them."""

    scheme: str = setting(
        "auto",
        "Label scheme of the data; auto detects it, none means plain tags.",
        choices=("auto", "none", *SCHEMES),
    )
    encode: str = setting(
        "auto",
        "Scheme to train in; tagging translates back. auto: IOBES if the data have IOB1 or IOE1, else same.",
        choices=("auto", "same", *SCHEMES),
    )
    repair: bool = setting(
        False, "Repair labels that the scheme does not allow (they are counted) instead of refusing."
    )
    partial: bool = setting(
        False,
        "Labels may leave open what is right: any (_), one of several, or known by type or by prefix only.",
    )
    unit: str = setting(
        "sentence",
        "What is labelled at once: a sentence, or a document with its sentences joined.",
        choices=("sentence", "document"),
    )
    class_weights: str = setting(
        "none",
        "How much labels count: LABEL:WEIGHT, several with commas; NP stands for B-NP, I-NP and so on. An "
        "example counts as much as its tokens do in the mean.",
    )
    state: bool = setting(
        False, "Keep in the model all that learning needs to go on exactly where it stopped; makes it larger."
    )
    diagnostics: bool = setting(
        False, "Measure the margin on the training data at the end (inspect shows it)."
    )
    stream: bool = setting(
        False, "Read the training file again in every pass instead of keeping it in memory."
    )

    @property
    def whole_documents(self) -> bool:
        """Whether documents are labelled at once, not sentences."""
        return self.unit == "document"
