"""`marginalia assist`: reports, changed texts, exit codes."""

from __future__ import annotations

import io
import json
import socket
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("wordfreq", reason="wordfreq is missing: pip install '.[assist]'")

import marginalia as mg
from marginalia.cli import main

TEXT = (
    "We slept.\n\nThe committee, which had been established by the previous administration, was unable to "
    "ascertain whether the regulations were being implemented.\n"
)


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "story.txt").write_text(TEXT)
    (tmp_path / "easy.toml").write_text('level = "beginner"\npicky = 0\n')
    return tmp_path / "story.txt"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["assist", *words])
    out, err = capsys.readouterr()
    return code, out, err


def answers(monkeypatch: pytest.MonkeyPatch, *given: str | type[BaseException]) -> None:
    waiting = iter(given)

    def answer() -> str:
        one = next(waiting)
        if isinstance(one, str):
            return one
        raise one

    monkeypatch.setattr("builtins.input", answer)


def best() -> str:
    (analysis,) = [mg.assist.analyse(TEXT, profile="easy.toml")]
    offers = analysis.sentences[1].offers
    assert offers
    return offers[0].text


def test_a_report_of_several_texts(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "story.txt", "--level", "beginner")
    assert code == 0
    assert out.startswith("story.txt: English, for beginner readers: difficulty ")
    assert "ascertain" in out.splitlines()[-2]
    (story.parent / "more").mkdir()
    (story.parent / "more" / "b.html").write_text("<p>We <b>slept</b>.</p><script>not('text')</script>")
    (story.parent / "more" / "a.txt").write_text("They ate.")
    code, out, _ = run(capsys, "more", "--json", "--no-offers")
    names = [json.loads(line)["name"] for line in out.splitlines()]
    assert (code, [Path(name).name for name in names]) == (0, ["a.txt", "b.html"])


def test_standard_input_and_a_page(
    story: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(TEXT.encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    code, out, _ = run(capsys, "-", "--html", "report.html")
    assert (code, len(out.splitlines())) == (0, 1)
    page = Path("report.html").read_text()
    assert "ascertain" in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_best_offers_are_applied(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "story.txt", "--level", "easy.toml", "--apply", "best", "-o", "new.txt")
    assert (code, out, err) == (0, "", "1 sentence changed. new.txt has the result.\n")
    assert Path("new.txt").read_text() == f"We slept.\n\n{best()}\n"
    assert story.read_text() == TEXT


def test_a_document_stays_what_it_is(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docx = pytest.importorskip("docx", reason="python-docx is missing: pip install '.[assist]'")
    document = docx.Document()
    document.add_paragraph(TEXT.splitlines()[2])
    document.save("letter.docx")
    assert run(capsys, "letter.docx", "--level", "easy.toml", "--apply", "best", "-o", "new.docx")[0] == 0
    assert [one.text for one in docx.Document("new.docx").paragraphs] == [best()]
    assert zipfile.ZipFile("new.docx").namelist() == zipfile.ZipFile("letter.docx").namelist()


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (["1"], None),
        (["x", "99", "1"], None),
        ([""], TEXT),
        (["q"], TEXT),
        (["e", "It is so."], "We slept.\n\nIt is so.\n"),
        ([KeyboardInterrupt], TEXT),
        ([EOFError], TEXT),
    ],
)
def test_somebody_is_asked(
    story: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    given: list[str | type[BaseException]],
    result: str | None,
) -> None:
    answers(monkeypatch, *given)
    code, _, err = run(capsys, "story.txt", "--level", "easy.toml", "--apply", "ask", "-o", "new.txt")
    assert code == 0
    assert "  1. " in err
    expected = f"We slept.\n\n{best()}\n" if result is None else result
    assert Path("new.txt").read_text() == expected


def test_what_was_decided_before_ctrl_c_is_kept(
    story: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    story.write_text(TEXT + "\n" + TEXT)
    answers(monkeypatch, "1", KeyboardInterrupt)
    assert run(capsys, "story.txt", "--level", "easy.toml", "--apply", "ask", "-o", "new.txt")[0] == 0
    assert Path("new.txt").read_text() == f"We slept.\n\n{best()}\n\n{TEXT}"


def test_documents_can_be_checked(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "story.txt", "--no-offers", "--max-difficulty", "100")[0] == 0
    code, _, err = run(capsys, "story.txt", "--no-offers", "--max-difficulty", "0")
    assert code == 1
    assert err.startswith("story.txt: difficulty ")
    assert err.endswith(", expected at most 0\n")


def test_a_port_that_is_taken_is_told(story: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, out, err = run(capsys, "--serve", "--port", port)
    assert (code, out) == (1, "")
    assert f"cannot listen on port {port}" in err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "expected texts"),
        (["nowhere.txt"], 1, "there is no such file"),
        (["story.txt", "--level", "expert"], 1, "level: found 'expert'"),
        (["story.txt", "--level", "bad.toml"], 1, "off: found 'nothing'"),
        (["story.txt", "--apply", "best"], 2, "-o FILE go together"),
        (["story.txt", "-o", "x"], 2, "-o FILE go together"),
        (["story.txt", "--apply", "best", "-o", "story.txt"], 1, "one of the inputs"),
        (["story.txt", "--apply", "best", "--json", "-o", "x"], 2, "does not go with --json"),
        (["story.txt", "story.txt", "--apply", "best", "-o", "x"], 2, "found 2"),
        (["-", "--apply", "ask", "-o", "x"], 2, "standard input"),
        (["story.txt", "--port", "1"], 2, "needs --serve"),
        (["story.txt", "--serve"], 2, "does not go with --serve"),
        (["--serve", "--json"], 2, "--json does not go with --serve"),
        (["story.txt", "--html", "-", "--json"], 2, "both be on standard output"),
        (["story.txt", "--max-difficulty", "101"], 2, "from 0 to 100"),
    ],
)
def test_what_does_not_go_is_told(
    story: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    Path("bad.toml").write_text('off = ["nothing"]\n')
    found, _, err = run(capsys, *words)
    assert (found, message in err) == (code, True), err
