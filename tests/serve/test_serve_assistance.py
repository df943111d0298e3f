"""What the page is answered: texts that can be put together again, offers, words, profiles, questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="starlette is missing: pip install '.[assist]'")
pytest.importorskip("httpx", reason="httpx is missing: pip install '.[test]'")

from starlette.testclient import TestClient

from marginalia.assist.profile import Profile
from marginalia.assist.readability import read_answers
from marginalia.serve.app import application
from marginalia.serve.assistance import MOST_CHARACTERS, AssistAnswers

TEXT = "  <b>It was</b> a Honda\nthat John sold.  We slept.\n\n \n It was not \x00 until 9 that he came.\n"


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    return tmp_path / "ratings.jsonl"


@pytest.fixture
def client(ratings: Path) -> TestClient:
    answers = AssistAnswers(Profile(level="beginner"), str(ratings), fixed=True)
    return TestClient(application(answers.answers), base_url="http://127.0.0.1:8010")


def ask(client: TestClient, name: str, status: int = 200, **asked: Any) -> Any:
    body = json.dumps(asked)
    response = client.post(f"/api/{name}", content=body, headers={"content-type": "application/json"})
    assert response.status_code == status, response.text
    return response.json()


def reader(**values: Any) -> dict[str, Any]:
    return {**Profile(picky=0.0).to_dict(), **values}


def together(found: dict[str, Any]) -> str:
    blocks = [
        block["before"]
        + "".join(
            one["before"] + "".join(part["text"] for part in one["parts"]) for one in block["sentences"]
        )
        + block["after"]
        for block in found["blocks"]
    ]
    return "".join(blocks) + found["after"]


@pytest.mark.parametrize(
    "text", [TEXT, TEXT.strip(), "x", "A " * 6_000 + "b.\n\n\n\nC", "1 \ud83d \udc1d 🐝 x\r\n\r\ny"]
)
def test_a_text_can_be_put_together_again(client: TestClient, text: str) -> None:
    found = ask(client, "analyse", text=text, profile=reader(language="en"))
    assert together(found) == text
    for block in found["blocks"]:
        for one in block["sentences"]:
            assert block["text"][one["start"] : one["end"]] == one["text"]
            numbers = [part["word"] for part in one["parts"] if "word" in part]
            assert numbers == sorted(set(numbers))


def test_the_page_begins_with_the_reader_that_was_named(client: TestClient) -> None:
    start = ask(client, "start")
    assert (start["profile"]["level"], start["fixed"]) == ("beginner", True)
    names = [one["name"] for one in ask(client, "families", language="en")["families"]]
    assert names == sorted(set(names))
    assert "expected en or ja" in ask(client, "families", 400, language="xx")["error"]


def test_offers_for_a_sentence_of_a_text(client: TestClient) -> None:
    text = "We slept. It was a Honda that John sold."
    found = ask(client, "offers", text=text, index=1, profile=reader())["offers"]
    assert "John sold a Honda." in [offer["text"] for offer in found]
    assert ask(client, "offers", text=text, index=0, profile=reader(off=["structural", "lexical"])) == {
        "offers": []
    }
    for index in (2, -1, True, None):
        assert "one of 2" in ask(client, "offers", 400, text=text, index=index, profile=reader())["error"]


def test_words_and_profiles(client: TestClient) -> None:
    words = ask(client, "vocabulary", text="They ascertain it.", profile=reader())
    assert [(one["lemma"], one["ahead"]) for one in words["entries"]] == [("ascertain", "They ")]
    toml = ask(client, "profile", profile=reader(known=["bee"]))["toml"]
    assert ask(client, "profile", toml=toml)["profile"]["known"] == ["bee"]
    assert "unknown key 'x'" in ask(client, "profile", 400, toml="x = 1")["error"]


def test_a_page_names_no_files(client: TestClient) -> None:
    profile = reader(reader="/etc/passwd")
    assert ask(client, "analyse", text="We slept.", profile=profile)["blocks"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"text": "x" * (MOST_CHARACTERS + 1), "profile": {}},
            "100,001 characters, expected at most 100,000",
        ),
        ({"text": "…", "profile": {}}, "no words"),
        ({"text": 5, "profile": {}}, "text: found int"),
        ({"text": "x"}, "profile: found NoneType"),
        ({"text": "x", "profile": {"level": 1}}, "'level'"),
        ({"text": "привет", "profile": {}}, "neither Latin nor Japanese"),
    ],
)
def test_what_cannot_be_answered_is_told(client: TestClient, asked: dict[str, Any], message: str) -> None:
    assert message in ask(client, "analyse", 400, **asked)["error"]


def test_the_questionnaire_goes_on_where_a_rater_stopped(client: TestClient, ratings: Path) -> None:
    who = {"language": "en", "level": "beginner"}
    first = ask(client, "question", **who)
    rater, question = first["rater"], first["question"]
    assert (first["answered"], len(first["steps"])) == (0, 5)
    assert ask(client, "question", **who, rater=rater)["question"] == question
    degrees = list(range(1, len(question["sentences"]) + 1))
    given = {**who, "rater": rater, "question": question["id"]}
    second = ask(client, "answer", **given, degrees=degrees, comment="<b>")
    assert (second["answered"], second["rater"]) == (1, rater)
    assert second["question"] != question
    (kept,) = read_answers(str(ratings))
    shown = dict(zip(question["sentences"], degrees, strict=True))
    assert (dict(zip(kept.sentences, kept.degrees, strict=True)), kept.comment) == (shown, "<b>")
    ask(client, "answer", 400, **given, degrees=[9] * len(degrees))
    ask(client, "answer", 400, **given, degrees=degrees, comment="x" * 3_000)
    ask(client, "question", 400, language="en", level="none")
    again = TestClient(
        application(AssistAnswers(Profile(), str(ratings)).answers), base_url="http://127.0.0.1:8010"
    )
    assert ask(again, "question", **who, rater=rater)["answered"] == 1
