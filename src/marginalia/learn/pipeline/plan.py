"""Which parts a pipeline gets for a treebank, and how each is trained unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from marginalia.config import suggestion
from marginalia.corpus.document import Document
from marginalia.decode.pipeline.parts import (
    EMPTY,
    LEMMAS,
    MULTIWORD,
    PARSER,
    SUPERTAG,
    SUPERTAGS,
    TAG_COLUMNS,
    TAGS,
    TOKENS,
)
from marginalia.errors import SettingsError
from marginalia.features.program import TemplateProgram
from marginalia.features.tree_templates import load_tree_features
from marginalia.learn.recipe import Recipe, make_recipe
from marginalia.model.shrinking import BITS

MOST_JOINT = 160  # labels of parts of speech and other tags that are learned as one
_MOST_EDGES = 640  # labels that are learned with transitions
UNSPACED = "tokens without spaces"  # the recipe of tokens where known ones tell more than blanks


@dataclass(frozen=True)
class PartRecipe:
    """How a part is trained. `light` settings are those of models that jack-knifing makes, one a fold. Of its
    weights at most `keep` stay, the strongest, in `bits` bits each: small treebanks lose none, large ones
    give no larger files."""

    features: str
    learner: str = "perceptron"
    structure: str = "chain"
    settings: dict[str, Any] = field(default_factory=dict)
    light: dict[str, Any] = field(default_factory=dict)
    bits: int = 8
    keep: int = 500_000


# Labels of characters and words as they are, and no pass too few.
_LABELS = {"scheme": "none", "patience": 0}
RECIPES: dict[str, PartRecipe] = {
    TOKENS: PartRecipe("ud-characters", "arow", settings={"passes": 8, "r": 10.0, **_LABELS}, keep=250_000),
    UNSPACED: PartRecipe(
        "ud-unspaced",
        "arow",
        settings={"passes": 12, "r": 10.0, "dropout": "values:0.1", **_LABELS},
        keep=250_000,
    ),
    MULTIWORD: PartRecipe("ud-multiword", "arow", settings={"passes": 6, **_LABELS}),
    TAGS: PartRecipe(
        "ud-tags",
        settings={"passes": 14, "cutoff": 2, "dropout": "values:0.1", "shuffle-average": 4, **_LABELS},
        light={"passes": 5, "shuffle-average": 1},
        keep=2_300_000,
    ),
    f"{TAGS}-2": PartRecipe(
        "ud-features",
        "arow",
        settings={"passes": 6, "r": 10.0, **_LABELS},
        light={"passes": 4},
        keep=1_000_000,
    ),
    LEMMAS: PartRecipe("ud-lemmas", "arow", settings={"passes": 6, "r": 10.0, **_LABELS}),
    SUPERTAGS: PartRecipe(
        "ud-supertags", "arow", settings={"passes": 5, "r": 10.0, "cutoff": 2, **_LABELS}, keep=1_000_000
    ),
    PARSER: PartRecipe(
        "trees-supertags",
        structure="trees",
        settings={"passes": 8, "cutoff": 2, "dropout": "values:0.05", "patience": 0},
        keep=3_000_000,
    ),
}
PRESETS: dict[str, dict[str, Any]] = {
    "fast": {
        "tags.shuffle-average": 1,
        "tags.passes": 5,
        "parser.features": "trees",
        "parser.tree-beam": 1,
    },
    "balanced": {},
    "best": {
        "tags.passes": 20,
        "tags.keep": 0,
        "supertags.keep": 0,
        "parser.tree-beam": 32,
        "parser.passes": 14,
        "parser.keep": 0,
    },
}
"""Settings of parts by the name of what is wanted; those that are given besides win."""
_KEPT = ("bits", "keep", "learn-on")  # settings of parts that are none of their recipes
LEARN_ON = ("predicted", "gold", "both")
"""Which tags a parser may learn on."""
PARTS = (TOKENS, MULTIWORD, TAGS, LEMMAS, PARSER)
"""What `--part` may name."""


def part_recipe(name: str) -> PartRecipe:
    """That of a part; parts of tags behind the first share one."""
    return RECIPES[f"{TAGS}-2" if name.startswith(f"{TAGS}-") else name]


def recipe_for(
    name: str,
    seed: int,
    given: Mapping[str, Mapping[str, Any]],
    *,
    light: bool = False,
    labels: int = 0,
    unspaced: bool = False,
) -> Recipe:
    """The recipe of a part with the settings that a user gave for it; with very many `labels` it has no
    transitions. That of tokens is another one for `unspaced` text."""
    own = RECIPES[UNSPACED] if unspaced else part_recipe(name)
    settings = {"names": False} | own.settings | dict(given.get(name, {})) | (own.light if light else {})
    settings = {key: value for key, value in settings.items() if key not in _KEPT}
    learner = str(settings.pop("learner", own.learner))
    usual = f"{own.features}-many" if name.startswith(TAGS) and labels > _MOST_EDGES else own.features
    features = str(settings.pop("features", usual))
    if learner != own.learner:
        settings.pop("r", None)
    return make_recipe(
        structure=own.structure, features=features, learner=learner, seed=seed, settings=settings
    )


def compaction(name: str, given: Mapping[str, Mapping[str, Any]]) -> tuple[int, int]:
    """In how many bits a part's weights are kept, and at most how many of them; 0: all."""
    own, chosen = part_recipe(name), given.get(name, {})
    try:
        bits, keep = int(chosen.get("bits", own.bits)), int(chosen.get("keep", own.keep))
    except ValueError:
        bits, keep = 0, 0
    if bits not in BITS or keep < 0:
        raise SettingsError(
            f"settings {name}.bits and {name}.keep: expected {', '.join(map(str, BITS))}, and the largest "
            "number of weights, or 0 for all of them."
        )
    return bits, keep


def parser_tags(given: Mapping[str, Mapping[str, Any]]) -> str:
    """Which tags the parser learns on: those that the pipeline predicts, the treebank's, or both."""
    chosen = str(given.get(PARSER, {}).get("learn-on", LEARN_ON[0]))
    if chosen not in LEARN_ON:
        raise SettingsError(
            f"setting '{PARSER}.learn-on': found '{chosen}', expected one of {', '.join(LEARN_ON)}."
        )
    return chosen


def wants_supertags(given: Mapping[str, Mapping[str, Any]], labels: Sequence[str]) -> bool:
    """Whether there is a part of supertags for the parser: if its templates look at them, all arcs are known,
    and there are not too many labels for a chain."""
    features = recipe_for(PARSER, 1, given).features
    program = load_tree_features(features, ("word", *TAG_COLUMNS, SUPERTAG), "", TemplateProgram((), ()))
    return SUPERTAG in program.columns and EMPTY not in labels and len(set(labels)) <= _MOST_EDGES


def tag_stages(columns: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Which columns of tags are learned together, one after the other: parts of speech with the other tags if
    there are few pairs of them; features before tags that say more than they do."""
    there = [name for name in TAG_COLUMNS if any(value != EMPTY for value in columns[name])]
    if not there:
        return []
    if {"upos", "xpos"} <= set(there):
        pairs = set(zip(columns["upos"], columns["xpos"], strict=True))
        if len(pairs) <= MOST_JOINT:
            return [("upos", "xpos"), *[(name,) for name in there if name == "feats"]]
    order = [name for name in ("upos", "feats", "xpos") if name in there]
    return [(name,) for name in order]


def has_lemmas(document: Document) -> bool:
    """Whether a treebank has lemmas."""
    return any(word.lemma != EMPTY for word in document.words)


def has_trees(document: Document) -> bool:
    """Whether a treebank has heads."""
    return any(word.head is not None for word in document.words)


def split_settings(given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Settings `part.name` by part, with those of the `preset`; an error for those of no part."""
    found: dict[str, dict[str, Any]] = {}
    for full, value in {**_preset(given.get("preset", "balanced")), **given}.items():
        if full == "preset":
            continue
        part, dot, name = full.partition(".")
        if not dot or part not in (*PARTS, f"{TAGS}-2", f"{TAGS}-3", SUPERTAGS):
            hint = suggestion(part, PARTS)
            raise SettingsError(
                f"setting '{full}': a pipeline's settings are those of a part, such as tags.passes, and "
                f"preset. {hint}"
            )
        found.setdefault(part, {})[name] = value
    return found


def _preset(name: Any) -> dict[str, Any]:
    if name not in PRESETS:
        raise SettingsError(f"setting 'preset': found {name!r}, expected one of {', '.join(PRESETS)}.")
    return PRESETS[name]
