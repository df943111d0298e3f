"""The ready-made sets have the templates of the papers; names and files are told apart."""

from __future__ import annotations

import re

import pytest
from naive_extractor import expand

from marginalia.errors import SettingsError
from marginalia.features.compiling import compile_extractor, compile_word_extractor
from marginalia.features.documents import FIRST_COLUMNS
from marginalia.features.loading import file_kind, load_features
from marginalia.features.sets import SETS, load_set, text_of_set, with_lists

COLUMNS = ("word", "pos", "chunk", "ner")


def heads(program, scope="node"):
    """What stands before the values of each template."""
    return [
        t.pieces[0].removesuffix("=").removeprefix("edge:") for t in program.templates if t.scope == scope
    ]


def window(form, first=-2, last=2):
    return [f"{form}[{offset}]" for offset in range(first, last + 1)]


def ngrams(form, n, first, last):
    return ["/".join(window(form, start, start + n - 1)) for start in range(first, last - n + 2)]


OF_PIPELINES = [name for name in SETS if name.startswith("ud-")]  # their columns are those of pipelines


@pytest.mark.parametrize("name", [name for name in SETS if name not in OF_PIPELINES])
def test_every_set_compiles_whole(name):
    columns = (*COLUMNS, *FIRST_COLUMNS)
    program = load_set(name, columns, "ner")
    assert program.left_out == ()
    assert text_of_set(name).startswith("# ")
    if any(t.scope == "segment" for t in program.templates):
        bare = name in ("segments", "words")  # Iwakura's and Zhang and Clark's tables have no transitions
        assert bool(heads(program, "edge")) == (not bare)
        compile_word_extractor(program, columns, {})
        return
    assert "" in heads(program, "edge"), "the plain label bigram"
    compile_extractor(program, columns, {})
    if not program.of_documents:
        assert expand(program, {column: ["A", "b"] for column in COLUMNS})


def test_pos_begins_with_ratnaparkhis():
    affixes = [f"{affix}({n})(word)[0]" for affix in ("lower-prefix", "lower-suffix") for n in range(1, 5)]
    flags = [f"has({flag})(word)[0]" for flag in ("digit", "upper", "hyphen")]
    program = load_features("pos", ("word", "pos"), "pos")
    ratnaparkhi = window("word") + affixes + flags
    assert heads(program)[: len(ratnaparkhi)] == ratnaparkhi
    assert heads(program, "edge")[0] == ""


def test_collins_np_is_figure_3():
    words = window("word") + ngrams("word", 2, -2, 2)
    tags = window("pos") + ngrams("pos", 2, -2, 2) + ngrams("pos", 3, -2, 2)
    assert heads(load_set("collins-np", ("word", "pos", "chunk"), "chunk")) == words + tags


def test_characters_is_table_1():
    program = load_set("characters", ("字", "tag"), "tag")
    assert heads(program) == window("width(token)", -1, 1) + ngrams("width(token)", 2, -2, 2)
    assert program.columns == ("字",)


KAZAMA_FORMS = [
    *("word", "lower(word)", "pos", "chunk"),
    *(f"{affix}({n})(word)" for affix in ("prefix", "suffix") for n in range(1, 5)),
    *(f"is(digits-{kind})(word)" for kind in ("letters", "dash", "slash", "comma", "period")),
    *(f"is({kind})(word)" for kind in ("two-digits", "four-digits", "number")),
    *(f"is({kind})(word)" for kind in ("initial-cap", "all-caps", "lower-case", "cap-period")),
]


def kazama(forms, bigrams):
    return {head for form in forms for head in window(form)} | {
        head for form in bigrams for head in ngrams(form, 2, -2, 1)
    }


@pytest.mark.parametrize("scope", ["node", "edge"])
def test_ner_is_table_1(scope):
    plain = heads(load_set("ner", COLUMNS, "ner"), scope)
    plain[0] = plain[0].removeprefix("node:")
    assert len(plain) == len(set(plain))
    assert set(plain) == {""} | kazama(KAZAMA_FORMS, ["lower(word)", "pos", "chunk"])


@pytest.mark.parametrize("scope", ["node", "edge"])
def test_ner_with_lists(scope):
    without = load_features("ner", COLUMNS, "ner")
    program = load_features("ner", COLUMNS, "ner", {"people": "p.txt", "places": "q.txt"})
    lists = ["list(people)(token)", "list(places)(token)"]
    assert set(heads(program, scope)) - set(heads(without, scope)) == kazama(lists, lists)
    assert program.lists == {"people": "p.txt", "places": "q.txt"}


def test_lists_are_matched_with_the_named_column():
    program = with_lists(load_set("ner", COLUMNS, "ner"), {"people": "p.txt"}, "pos")
    assert [a.column for a in program.attributes if a.function == "list"] == ["pos"]


def test_a_set_leaves_out_what_the_data_lack():
    program = load_features("ner", ("word", "ner"), "ner")
    assert program.columns == ("word",)
    assert program.left_out[:2] == ("both: pos[-2..2]", "both: chunk[-2..2]")
    assert len(program.left_out) == 8


def test_the_label_column_counts_as_missing():
    assert "pos[-2..2]" in load_features("chunking", ("word", "pos"), "pos").left_out


def test_word_is_the_first_column_if_none_has_the_name():
    assert load_features("pos", ("form", "upos"), "upos").columns == ("form",)
    assert load_features("pos", ("lemma", "word", "upos"), "upos").columns == ("word",)


def test_a_set_without_any_usable_column_is_refused():
    with pytest.raises(SettingsError, match="the feature set 'pos' uses no column of the data: pos"):
        load_features("pos", ("pos",), "pos")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("U00:%x[0,0]\nB\n", "crfpp"),
        ("# c\n\nB\nU%x[0,0]", "crfpp"),
        ("B01", "crfpp"),
        ("\ufeffU00:%x[0,0]", "crfpp"),
        ("u00:%x[0,0]\nb", "wapiti"),
        ("*", "wapiti"),
        ("U00:%x[0,0]\nU01:%X[0,0]", "wapiti"),
        ("U00:%x[@1,0]", "wapiti"),
        ('U00:%x[0,0]\n*:%t[0,0,"a"]', "wapiti"),
        ("word[0]\nboth: word[1]\nupos[0]\nUpper[0]\nB[0]\nu1[0]", "marginalia"),
        ("", "marginalia"),
    ],
)
def test_the_kind_of_a_file(text, kind):
    assert file_kind(text) == kind


@pytest.mark.parametrize(
    ("text", "scope", "name"),
    [
        ("U:%x[-1,0]", "node", "U:_B-1"),
        ("u:%x[-1,0]", "node", "u:_x-1"),
        ("edge: word[-1]", "edge", "edge:word[-1]=_B-1"),
    ],
)
def test_files_of_each_kind(tmp_path, text, scope, name):
    path = tmp_path / "templates"
    path.write_text(text, encoding="utf-8")
    program = load_features(str(path), ("word", "tag"), "tag")
    assert expand(program, {"word": ["dog"]}) == [[(scope, name)]]


def test_lists_stand_beside_their_template_file(tmp_path):
    path = tmp_path / "templates"
    path.write_text("list a = names.txt\nlist(a)(word)[0]", encoding="utf-8")
    assert load_features(str(path), ("word", "tag"), "tag").lists == {"a": str(tmp_path / "names.txt")}


def test_a_missing_column_in_a_file_is_an_error(tmp_path):
    path = tmp_path / "templates"
    path.write_text("word[0]\npos[0]", encoding="utf-8")
    with pytest.raises(SettingsError, match=re.escape(f"{path}:2:1: the data have no column 'pos'.")):
        load_features(str(path), ("word", "tag"), "tag")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"# nothing\n", "there is no template in this file"), (b"\xff", "cannot be read as UTF-8")],
)
def test_useless_files(tmp_path, content, message):
    path = tmp_path / "templates"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=message):
        load_features(str(path), ("word", "tag"), "tag")


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(
        SettingsError, match=r"'chunks' is neither a ready-made set nor .* Did you mean 'chunking'"
    ):
        load_features("chunks", ("word", "tag"), "tag")


def test_no_columns():
    with pytest.raises(SettingsError, match="at least one column"):
        load_features("pos", (), "tag")


@pytest.mark.parametrize(
    "name", ["pos", "chunking", "ner-rich", "ner-best", "segments-rich", "iwakura-pos", "iwakura-chunking"]
)
def test_sets_look_at_the_clusters_and_lexicons_that_are_declared(name, tmp_path):
    (tmp_path / "paths.txt").write_text("0101\tdog\t3\n0110\tcat\t2\n", encoding="utf-8")
    (tmp_path / "words.lex").write_text("dog\tNN\t12\tVB\t10\ncat\tNN\t30\n", encoding="utf-8")
    tables = {"clusters": {"paths": str(tmp_path / "paths.txt")}}
    tables["lexicons"] = {"words": str(tmp_path / "words.lex")}
    plain, declared = load_set(name, COLUMNS, "ner"), load_features(name, COLUMNS, "ner", **tables)
    assert not {a.function for a in plain.attributes} & {"cluster", "lexicon"}
    before = {(t.scope, t.pieces[0]) for t in plain.templates if t.pieces}
    own = [t for t in declared.templates if t.pieces and (t.scope, t.pieces[0]) not in before]
    assert len(own) == len(declared.templates) - len(plain.templates)
    for function, asked in (("cluster", "paths,all"), ("lexicon", "words,candidate,NN")):
        assert function in {a.function for a in declared.attributes}
        assert asked in {a.argument for a in declared.attributes if a.function == function}
    if not name.startswith("iwakura"):  # rules combine atoms themselves
        beside = {"column", "collapsed-shape", "lower", "lower-suffix"}
        mixed = [
            functions
            for t in own
            if (
                functions := {
                    declared.attributes[p.attribute].function for p in t.pieces if not isinstance(p, str)
                }
            )
            & {"cluster", "lexicon"}
            and functions & beside
        ]
        assert mixed
