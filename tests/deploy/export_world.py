"""Random models with every kind of template, and random sentences with odd characters."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import marginalia as mg
from marginalia.corpus import Span, labels_of
from marginalia.corpus.schemes import SCHEMES

# Letters of several cases and scripts, digits, marks, signs, spaces that are no separators, code points
# beyond 16 bits, some that newer Unicode versions assign, and noncharacters.
CHARACTERS = (
    "aZéÀßſKİıΣςЖяǅǄ٣२5½Ⅳ-‐‑/,.!€\u0301\u20dd\u00a0\u3000\u2028汉〇一ひカﾊ한々\U0001d400\U0001e900\U0001f600"
    "\U00010450\u1c89\ua7da\u0378\ufffe\U0010ffff\u200d\x01\x85$^*?\\\"'"
)
WORDS = ["the", "The", "IBM", "U.S.", "42", "1999", "3/4", "x-1", "New", "York", "A.", "", "naïve"]

IS = ("two-digits", "four-digits", "digits-letters", "digits-dash", "digits-slash", "digits-comma")
IS += ("digits-period", "number", "initial-cap", "all-caps", "lower-case", "cap-period")
NODE = [
    "word[-2..2]",
    "word[-1]/word[0]",
    "tag[0]/word[1]",
    "lower(word)[-1..1]",
    "width(word)[0]",
    "nfkc(word)[-1..0]",
    "prefix(1..3)(word)[0]",
    "suffix(1..3)(word)[-1]",
    "lower-prefix(2)(word)[0]",
    "lower-suffix(2)(word)[1]",
    "shape(word)[0]",
    "collapsed-shape(word)[-1..1]",
    "has(digit)(word)[0]",
    "has(upper)(word)[1]/tag[0]",
    "has(hyphen)(word)[0]",
    *(f"is({name})(word)[0]" for name in IS),
    "char-class(word)[0]/char-class(word)[1]",
    r'test("^\u")(word)[0]',
    r'match("\a*$")(word)[0]',
    r'lower-match("^.?\L*\p?")(word)[0]/tag[-1]',
    r'match("\W\w*\s?\S")(word)[0]',
    r'test("\d\D")(word)[-1]',
    "list(places)(word)[0]",
    "list(places)(word)[-1]/word[0]",
    "first[0]",
    "first[-2]/word[0]",
    "node:",
]
EDGE = [
    "edge:",
    "edge: word[0]",
    "edge: tag[-1]/tag[0]",
    "both: shape(word)[2]",
    "edge: list(places)(word)[0]",
]
SEGMENT = [
    "length",
    "length/word[b]",
    "length/tag[i]",
    "word[b]",
    "word[b-2..b-1]",
    "shape(word)[e]",
    "word[e+1]",
    "word[i]",
    "lower(word)[j]/lower(word)[j+1]",
    "tag[j-1]/tag[j+1]",
    "word[b]/word[e]",
    "word[b]/tag[i]",
    "word[e]/tag[i]",
    "tag[e]/word[j]/word[j+1]",
    "tag[b]/tag[j]/tag[j+2]",
    "tag[b]/tag[e]/tag[i]",
    "word[b..e]",
    "suffix(2)(word)[b..e]/tag[b]",
    "list(places)(word)[b..e]",
    "first[b]",
    *NODE[:6],
    "list(places)(word)[0]",
]
CRFPP = "U00:%x[-2,0]\nU01:%x[0,0]\nU02:%x[0,0]/%x[1,1]\nU%x[3,1]\nB\n{more}"
WAPITI = (
    "u:x%x[0,0]\nU:%X[-5,0]\n*:%x[@1,1]/%x[@-1,0]\nb:%x[@2,0]\nu:%x[@0,0]%x[0,1]\n"
    'u:%t[0,0,"^\\u"]%m[1,0,"\\a*$"]\n*:%M[-1,0,"\\p\\w?"]\n{more}'
)


def random_word(rng: random.Random) -> str:
    """Any text without the separators of column files."""
    if rng.random() < 0.6:
        return rng.choice(WORDS)
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.randint(1, 5)))


def random_sentence(rng: random.Random) -> dict[str, list[str]]:
    """Columns of a sentence, most often a short one."""
    length = rng.choice([1, 1, 2, 3, 4, 5, 7, 12])
    words = [random_word(rng) for _ in range(length)]
    return {"word": words, "tag": [rng.choice("ABC") for _ in words]}


def random_labels(rng: random.Random, length: int, scheme: str | None) -> list[str]:
    """Plain tags, or labels that spell spans."""
    if scheme is None:
        return [rng.choice(["x", "y", "B-z"]) for _ in range(length)]
    spans, at = [], 0
    while at < length:
        size = rng.randint(1, min(4, length - at))
        if scheme == "BMES" or rng.random() < 0.7:
            spans.append(
                Span(at, at + size, rng.choice(["P", "Q-1", ""]) if scheme != "IOB2" else rng.choice("PQ"))
            )
        at += size
    return labels_of(spans, length, scheme)


def random_templates(rng: random.Random, structure: str, folder: Path) -> str:
    """The path of a template file."""
    (folder / "places.txt").write_text("new york\nNew York u.s.\nthe\nÀé 42\nibm the new\n", encoding="utf-8")
    pools = {"segments": SEGMENT, "chain": [*NODE, *EDGE]}
    lines = rng.sample(pools[structure], rng.randint(2, 9))
    text = "list places = places.txt\n" + "\n".join(dict.fromkeys([*lines, rng.choice(["edge:", "tag[2]"])]))
    kind = rng.random()
    if structure == "chain" and kind < 0.3:
        text = (CRFPP if kind < 0.12 else WAPITI).format(more=rng.choice(["", "B03:%x[0,1]\n", "b\n"]))
    path = folder / "templates.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def random_tagger(rng: random.Random, folder: Path) -> mg.Tagger:
    """A small model of any kind that can be exported. Its weights are small whole numbers as often as not, so
    that there are ties."""
    structure = rng.choice(["chain", "chain", "segments"])
    scheme = rng.choice([None, *SCHEMES])
    data = []
    for _ in range(rng.randint(3, 12)):
        columns = random_sentence(rng)
        data.append((columns, random_labels(rng, len(columns["word"]), scheme)))
    settings: dict[str, Any] = {"passes": rng.randint(1, 3), "names": False, "repair": True}
    if scheme is not None and structure == "chain" and rng.random() < 0.5 and scheme != "BMES":
        settings["encode"] = rng.choice(["IOBES", "IOB2"])
    settings["scheme"] = scheme or "none"
    learners = {"perceptron": {"average": "none"}, "crf": {}, "margin": {"C": 1.0}}
    if structure == "chain":
        settings |= {"order": rng.choice([1, 2]), "legal": rng.random() < 0.8}
        learners["maxent"] = {}
    else:
        settings["max-length"] = rng.choice([1, 2, 3, 10])
    learner = rng.choice(list(learners))
    features = random_templates(rng, structure, folder)
    tagger = mg.train(
        data, learner=learner, structure=structure, features=features, **settings, **learners[learner]
    )
    bits = rng.choice([None, None, 32, 16, 8])
    return tagger if bits is None else mg.shrink(tagger, bits=bits).model


def random_case(seed: int, folder: Path) -> tuple[mg.Tagger, list[dict[str, list[str]]]]:
    """A model, and sentences for it."""
    rng = random.Random(seed)
    tagger = random_tagger(rng, folder)
    return tagger, [random_sentence(rng) for _ in range(25)]


def labels_by(tagger: mg.Tagger, sentences: list[dict[str, list[str]]]) -> list[list[str]]:
    """What the model itself says."""
    return [list(tagged.labels) for tagged in tagger.tag_all(sentences)]
