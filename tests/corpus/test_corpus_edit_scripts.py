"""Edit scripts make what they were made for, and nothing that is not a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus.edit_scripts import UNCHANGED, apply_script, edit_script, is_script

TEXTS = st.text(min_size=1, max_size=12)
WORDS = st.text(alphabet="abcdeABCİßñ;='", min_size=1, max_size=10)


@given(TEXTS, TEXTS)
def test_a_script_makes_the_lemma_of_its_form(form: str, lemma: str) -> None:
    assert apply_script(form, edit_script(form, lemma)) == lemma


@given(WORDS, WORDS, WORDS)
def test_scripts_apply_to_other_forms_or_say_that_they_do_not(form: str, lemma: str, other: str) -> None:
    script = edit_script(form, lemma)
    assert is_script(script)
    made = apply_script(other, script)
    assert made is None or isinstance(made, str)


def test_scripts_are_shared_by_words_that_change_alike() -> None:
    assert edit_script("dogs", "dog") == edit_script("trees", "tree") == "k;0;1;0;"
    assert edit_script("stories", "story") == edit_script("bodies", "body")
    assert edit_script("gesehen", "sehen") == edit_script("gelesen", "lesen")
    assert edit_script("The", "the") == edit_script("Of", "of") == "l;0;0;0;"
    assert edit_script("NASA", "Nasa") == edit_script("ROMA", "Roma") == "t;0;0;0;"
    assert edit_script("word", "word") == UNCHANGED
    assert edit_script("are", "be") == "=be"
    assert apply_script("a", "k;0;3;0;y") is None


def test_what_is_no_script_is_told_apart() -> None:
    assert not any(map(is_script, ("", "k", "k;1;2", "x;0;0;0;", "k;a;0;0;", "k;-1;0;0;")))
