"""Whole sentences made easier: SARI, BLEU and added words on ASSET, of the best offers of reading assistance.

For each sentence the best offer is applied (rules and simpler words, checked and ranked), or none. *Added* is
the share of words of the output that the original has not which one of the ten references has. SARI alone can
be gamed, so all three count. Settings are chosen on the valid part, --test scores the test part.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import harness

LEARN_SHARE = (
    4  # the ranker of bold learns from every so many-th sentence of the valid part, from the second on
)
BRACKETS = re.compile(r"\s*\([^()]*\)")


def read(data: Path, part: str) -> tuple[list[str], list[list[str]]]:
    """Original sentences, and the references of each."""
    folder = data / "simplification" / "asset" / "dataset"

    def lines(name: str) -> list[str]:
        return harness.need(folder / f"asset.{part}.{name}").read_text(encoding="utf-8").splitlines()

    references = [lines(f"simp.{number}") for number in range(10)]
    return lines("orig"), [list(own) for own in zip(*references, strict=True)]


def added(originals: list[str], outputs: list[str], references: list[list[str]]) -> float:
    """The share of added words that are in a reference."""
    from marginalia.evaluate.simplification import tokens_13a

    new = right = 0
    for original, output, own in zip(originals, outputs, references, strict=True):
        words = set(tokens_13a(output)) - set(tokens_13a(original))
        new += len(words)
        right += len(words & {word for text in own for word in tokens_13a(text)})
    return right / new if new else 0.0


def words_only(sentences: list[str], options) -> list[str]:
    """Each hard word by the likeliest simpler one that passes the checks."""
    return replaced(sentences, options.level, 1.0, None)


def replaced(sentences: list[str], level: str, sure: float, ranker) -> list[str]:
    """The same, as sure as wanted, by any ranker."""
    import marginalia as mg
    from marginalia.assist.checks import check
    from marginalia.assist.lexical import LexicalRules
    from marginalia.assist.paraphrase import Budget, RuleSet
    from marginalia.assist.profile import Profile
    from marginalia.assist.trees import Tree

    rules = RuleSet([], [], more=LexicalRules(Profile(level=level), sure=sure, ranker=ranker))

    def easier(tree: Tree) -> str:
        done: set[str] = set()
        while True:
            found = rules.paraphrases(tree, Budget(steps=1, results=60), check)
            one = next((each for each in found if each.steps[0].bindings["W"] not in done), None)
            if one is None:
                return tree.text
            new = {node.form for node in one.trees[0].nodes} - {node.form for node in tree.nodes}
            done |= {one.steps[0].bindings["W"], *new}
            tree = one.trees[0]

    documents = mg.load("en").parse_all(sentences)
    return [" ".join(easier(Tree.of(sentence)) for sentence in document.sentences) for document in documents]


def best_offers(sentences: list[str], options, off: tuple[str, ...] = ()) -> list[str]:
    """The best offer of the loop for each sentence, if there is one."""
    from marginalia.assist.assistant import Assistant
    from marginalia.assist.profile import Profile

    helper = Assistant("en", Profile(level=options.level, picky=options.picky, offers=1, off=off))
    helper.read(sentences)

    def easier(text: str) -> Iterator[str]:
        for place, sentence in helper.parsed(text):
            offers = helper.offers(sentence)
            yield offers[0].text if offers else text[place + sentence.start : place + sentence.end]

    return [" ".join(easier(text)) for text in sentences]


def bold(sentences: list[str], options) -> list[str]:
    """More than a reader is offered: the best offer by rules, then words as a ranker replaces them that has
    learned from the valid part, and no brackets. Nothing of it ships."""
    ruled = best_offers(sentences, options, ("lexical",))
    return [
        BRACKETS.sub("", text) for text in replaced(ruled, "beginner", options.sure, learned(options.data))
    ]


def learned(data: Path):
    """A ranker of words of some sentences of the valid part: right is what a reference adds, or to keep the
    word."""
    import tempfile

    import marginalia as mg
    from marginalia.assist.lexical import read_ranker
    from marginalia.assist.lexical.evidence import Token, choices
    from marginalia.assist.lexical.ranker import KEEP

    items = []
    originals, references = (part[1::LEARN_SHARE] for part in read(data, "valid"))
    documents = mg.load("en").parse_all(originals)
    for original, own, document in zip(originals, references, documents, strict=True):
        new = words_of(own) - words_of([original])
        for sentence in document.sentences:
            tokens = [Token(word.form, word.lemma, word.upos, word.xpos) for word in sentence.words]
            for number, token in enumerate(tokens):
                if is_hard(token):
                    listed = [(each.features, each.form in new) for each in choices(tokens, number)]
                    listed.append(({KEEP: 1.0}, not any(right for _, right in listed)))
                    items.append({"candidates": [{"features": f, "right": right} for f, right in listed]})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "ranker.weights")
        mg.train(items, structure="candidates", learner="crf", partial=True, l2=3.0).export_weights(path)
        return read_ranker(path)


def is_hard(token) -> bool:
    """Whether a word may be replaced for a beginner."""
    from marginalia.assist.hard_words import CONTENT, FREQUENT
    from marginalia.assist.words.familiarity import zipf

    return token.upos in CONTENT and token.form.isalpha() and zipf(token.form, "en") < FREQUENT["beginner"][0]


def words_of(texts: list[str]) -> set[str]:
    """Tokens of texts, and two in a row."""
    from itertools import pairwise

    from marginalia.evaluate.simplification import tokens_13a

    listed = [tokens_13a(text) for text in texts]
    return {word for tokens in listed for word in (*tokens, *map(" ".join, pairwise(tokens)))}


SYSTEMS: dict[str, Callable] = {
    "as they are": lambda sentences, options: sentences,
    "simpler words": words_only,
    "best offers": best_offers,
    "bold": bold,
}


def rows_of(options) -> Iterator[dict]:
    from marginalia.evaluate import bleu, sari

    part = "test" if options.test else "valid"
    originals, references = read(options.data, part)
    originals, references = originals[:: options.share], references[:: options.share]
    for name in options.only or SYSTEMS:
        outputs = SYSTEMS[name](originals, options)
        found = sari(originals, outputs, references)
        changed = sum(a != b for a, b in zip(originals, outputs, strict=True)) / len(outputs)
        yield {
            "outputs": name,
            "SARI": round(found.score, 2),
            "add": round(found.add, 2),
            "keep": round(found.keep, 2),
            "delete": round(found.delete, 2),
            "BLEU": round(bleu(outputs, references), 2),
            "added": round(added(originals, outputs, references), 3),
            "changed": round(changed, 3),
        }
        print(name, file=sys.stderr, flush=True)
        if options.keep:
            Path(options.keep, f"{part}.{name.replace(' ', '-')}").write_text(
                os.linesep.join(outputs) + os.linesep
            )


def main() -> None:
    options = harness.parser(__doc__.partition("\n")[0])
    options.add_argument("--test", action="store_true", help="score the test part instead of the valid part")
    options.add_argument("--share", type=int, default=1, help="every so many-th sentence")
    options.add_argument("--level", default="intermediate", help="of the reader")
    options.add_argument("--picky", type=float, default=0.1, help="how much easier an offer must be")
    options.add_argument("--sure", type=float, default=0.25, help="of bold: share of the usual probabilities")
    options.add_argument("--keep", type=Path, metavar="DIR", help="where outputs go")
    harness.add_only(options, SYSTEMS, "kinds of outputs")
    options = options.parse_args()
    rows = list(rows_of(options))
    harness.print_table(f"ASSET, {'test' if options.test else 'valid'} part", rows)
    harness.write_json(options.json_out, {"simplification": rows})


if __name__ == "__main__":
    main()
