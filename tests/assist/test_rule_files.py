"""Files of rules: every error names its file, line and column, what was found and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from marginalia.assist import paraphrase
from marginalia.assist.paraphrase.engine import RuleSet
from marginalia.assist.paraphrase.loading import rules_of
from marginalia.assist.paraphrase.rule_files import read_rules
from marginalia.assist.trees import Node, Tree
from marginalia.errors import DataError

HEAD = "language en\nfamily f\nwhy Because.\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("family f\n", "1: found no language"),
        ("language en\nlanguage ja\n", "2:10: found a second language"),
        ("language en\nrule r: a -> b\n", "2:6: found 'rule', expected a line 'family NAME' first"),
        ("language en\nfamily f\ntree r: V -> V\n", "3:6: found a rule, expected a line 'why"),
        (HEAD + "tree r V -> V\n", "4:6: found a rule without a name"),
        (HEAD + "tree r: V\n", "4:8: found no two sides"),
        (HEAD + "tree r: V -> V\ntree r: V -> V\n", "5:6: found the name 'r' of line 4 again"),
        (HEAD + "tree r: V(nsbj N) -> V\n", "4:11: found 'nsbj', expected a relation"),
        (
            HEAD + "tree r: V(nsubj N) -> V(nsubj M)\n",
            "4:31: found 'M', expected a variable of the left side",
        ),
        (HEAD + "tree r: V\n  -> V(nsubj N)\n", "5:14: found 'N', expected a variable of the left side"),
        (HEAD + "tree r: V -> V[pasd]\n", "4:16: found 'pasd', expected one of past, present"),
        (HEAD + "tree r: V -> V[agree P]\n", "4:22: found 'P', expected a variable of the left side"),
        (HEAD + "tree r: V -> V[lemma=@no of V]\n", "4:13: found '@no', expected a list of pairs"),
        (HEAD + "tree r: V -> V\nwhere W before V\n", "5:7: found 'W', expected a variable of the pattern"),
        (HEAD + "tree r: V[@no] -> V\n", "4:8: found the list 'no', expected one that is declared"),
        (HEAD + "tree r: V(@no) -> V\n", "4:6: found the macro '@no', expected one that is declared above"),
        (HEAD + "+ a -> b\n", "4:3: found an example above all rules"),
        (HEAD + "tree r: V -> V\n+ a\n", "5:3: found no '->', expected"),
        (HEAD + "wher V\n", "4:1: found 'wher', expected one of language"),
    ],
)
def test_errors_name_file_line_and_column(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "my.rules"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        paraphrase.load(path)
    assert str(error.value).startswith(f"{path}:{message}")


def sentence(*words: tuple[str, str, str, int]) -> Tree:
    """A tree of words `form, UPOS, relation, head`, heads from 1 on."""
    nodes = [Node(form, form.lower(), upos, relation=relation) for form, upos, relation, _ in words]
    for node, (_, _, _, head) in zip(nodes, words, strict=True):
        node.head = nodes[head - 1] if head else None
    for place, node in enumerate(nodes):
        node.origin = place
    return Tree(nodes)


def test_a_list_of_pairs_gives_the_lemma_and_macros_stand_among_arcs() -> None:
    text = HEAD + (
        "list verbs = answer: reply, visit: call\nmacro plain = not amod\n"
        "tree r: V/make(obj N[@verbs](det D), @plain) -> V[lemma=@verbs of N]\n"
    )
    rules = RuleSet(rules_of([read_rules(text)]), [])
    tree = sentence(("They", "PRON", "nsubj", 2), ("make", "VERB", "root", 0), ("a", "DET", "det", 4),
                    ("visit", "NOUN", "obj", 2))  # fmt: skip
    tree.nodes[1].feats.update({"VerbForm": "Inf"})
    assert [made.trees[0].text for _, _, made in rules.once(tree)] == ["They call"]


def test_a_quotation_does_not_end_in_another_sentence() -> None:
    text = HEAD + "tree r: V(conj W(cc K)) -> V || W\n"
    rules = RuleSet(rules_of([read_rules(text)]), [])
    words = [("I", "PRON", "nsubj", 2), ("came", "VERB", "root", 0), ("and", "CCONJ", "cc", 4),
             ("left", "VERB", "conj", 2)]  # fmt: skip
    assert [made.trees[1].text for _, _, made in rules.once(sentence(*words))] == ["Left"]
    quoted = [('"', "PUNCT", "punct", 3), ("I", "PRON", "nsubj", 3), ("came", "VERB", "root", 0),
              ("and", "CCONJ", "cc", 5), ("left", "VERB", "conj", 3), ('"', "PUNCT", "punct", 5)]  # fmt: skip
    assert not list(rules.once(sentence(*quoted)))
