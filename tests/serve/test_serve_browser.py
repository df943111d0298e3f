"""The page in a real browser: a text is opened, changed and saved, a question answered."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is missing: pip install '.[assist]'")

import uvicorn

from marginalia.assist.decisions import Decisions
from marginalia.assist.profile import Profile
from marginalia.assist.readability import read_answers
from marginalia.serve.app import application
from marginalia.serve.assistance import AssistAnswers

TEXT = "<b>We</b> slept.\n\nIt was a Honda that John sold."


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server on a port of its own, in a thread."""
    answers = AssistAnswers(Profile(picky=0.0), str(tmp_path / "ratings.jsonl"), fixed=True).answers
    config = uvicorn.Config(application(answers), log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is missing: pip install '.[browser]'"
    )
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if browser is None:
        pytest.skip("chromium is missing: apt-get install chromium")
    with sync_api.sync_playwright() as tool:
        try:
            found = tool.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        except sync_api.Error as error:
            pytest.skip(f"{browser} does not start here: {error}")
        yield found
        found.close()


def downloaded(page: Any, kind: str) -> str:
    page.locator("#download summary").click()
    with page.expect_download() as waiting:
        page.locator(f'[data-download="{kind}"]').click()
    text: str = Path(waiting.value.path()).read_text(encoding="utf-8")
    return text


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
def test_the_page_works_in_a_browser(address: str, chromium: Any, tmp_path: Path, width: int) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 800})
    page.set_default_timeout(60_000)
    asked: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: problems.append(dialog.message))
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    page.locator("#source").fill(TEXT)
    page.locator("#entry-form .main").click()
    page.wait_for_selector("#text .s")
    assert "<b>We</b>" in (page.locator("#text").text_content() or "")

    page.locator("#text .s").last.focus()  # all of it by keyboard
    page.keyboard.press("Enter")
    offer = page.locator(".offer").filter(has_text="John sold a Honda").first
    offer.locator("summary").click()
    assert offer.locator("code").first.text_content() == "it-that"
    new = offer.get_attribute("aria-label")
    offer.locator("button.main").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#text .s.changed")
    result = downloaded(page, "text")
    assert result.endswith(new)
    saved = Decisions.from_dict(json.loads(downloaded(page, "json")))
    assert (saved.text, saved.result, len(saved.decisions)) == (TEXT, result, 1)
    assert "<script" not in downloaded(page, "html")
    if width < 600:
        page.keyboard.press("Escape")
    page.locator('[data-layout="beside"]').click()
    assert page.locator("#text del").count() >= 1
    assert page.locator("#text ins").count() <= page.locator("#text del").count() + 1
    page.locator("#undo").click()
    page.wait_for_selector("#text .s.changed", state="detached")
    page.locator('[data-layout="plain"]').click()
    assert "It was a Honda that John sold." in (page.locator("#text").text_content() or "")

    page.locator("#open-profile").click()
    page.locator("#p-protected").fill("Honda")
    page.locator("dialog button.main").click()
    page.wait_for_selector("dialog", state="hidden")

    page.locator('[data-view="questions"]').click()
    scales = page.locator("#view-questions .scale")
    scales.first.wait_for()
    for number in range(scales.count()):
        scales.nth(number).locator("input").nth(number % 5).check()
    page.locator("#view-questions button.main").click()
    page.get_by_text("Answered: 1 of").wait_for()
    assert len(read_answers(str(tmp_path / "ratings.jsonl"))) == 1

    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert problems == []
    assert [url for url in asked if not url.startswith((address, "blob:"))] == []
