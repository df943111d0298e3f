"""Guards of the server: who may ask, how much, and what every answer carries."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from marginalia.errors import DataError

pytest.importorskip("starlette", reason="starlette is missing: pip install '.[assist]'")
pytest.importorskip("httpx", reason="httpx is missing: pip install '.[test]'")

from starlette.testclient import TestClient

from marginalia.serve.app import STATIC, application
from marginalia.serve.guards import HEADERS, host_name
from marginalia.serve.running import run

HOST = "http://127.0.0.1:8010"


def echo(asked: dict[str, Any]) -> Any:
    return asked


def refuse(asked: dict[str, Any]) -> Any:
    raise DataError("found half \ud800 of a pair")


def fail(asked: dict[str, Any]) -> Any:
    raise RuntimeError("secret of the machine")


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = application({"/echo": echo, "/refuse": refuse, "/fail": fail}, most_bytes=1000)
    return TestClient(app, base_url=HOST, raise_server_exceptions=False)


def test_the_page_and_its_files_have_safe_headers(client: TestClient) -> None:
    for path in ("/", "/static/main.js", "/static/style.css", "/nothing", "/static/../app.py"):
        response = client.get(path)
        assert {name: response.headers[name] for name in HEADERS} == HEADERS
        assert response.status_code == (404 if path in ("/nothing", "/static/../app.py") else 200)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": HOST}, 200),
        ({"origin": HOST, "sec-fetch-site": "same-origin"}, 200),
        ({"host": "localhost:8010", "origin": "http://localhost:8010"}, 200),
        ({"host": "[::1]:8010"}, 200),
        ({"host": "evil.example:8010"}, 403),  # a name that was rebound to this machine
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"host": ""}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),  # another server on this machine
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "text/plain"}, 403),  # what a form of another page can send without asking first
        ({"content-type": "application/json; charset=utf-8"}, 200),
    ],
)
def test_only_this_page_may_post(client: TestClient, headers: dict[str, str], status: int) -> None:
    response = client.post(
        "/echo", content='{"a": 1}', headers={"content-type": "application/json"} | headers
    )
    assert response.status_code == status
    assert response.json() == {"a": 1} if status == 200 else "expected" in response.json()["error"]


def test_hosts_of_pages_are_checked_too(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 403


def test_large_bodies_are_refused(client: TestClient) -> None:
    kind = {"content-type": "application/json"}
    whole = json.dumps({"a": "x" * 2000})
    assert client.post("/echo", content=whole, headers=kind).status_code == 413
    parts = (part.encode() for part in [whole[:900], whole[900:]])  # chunked: no length is stated
    assert client.post("/echo", content=parts, headers=kind).status_code == 413
    assert client.post("/echo", content="{}", headers=kind | {"content-length": "-1"}).status_code == 413


@pytest.mark.parametrize("body", ["", "{", "[1]", "1", '"a"', "[" * 900, b"\xff\xfe", "NaN"])
def test_what_is_no_object_is_refused(client: TestClient, body: Any) -> None:
    response = client.post("/echo", content=body, headers={"content-type": "application/json"})
    assert (response.status_code, list(response.json())) == (400, ["error"])


def test_problems_are_told_and_faults_are_not(client: TestClient) -> None:
    assert client.post("/refuse", json={}).json() == {"error": "found half \\ud800 of a pair"}
    response = client.post("/fail", json={})
    assert (response.status_code, "secret" in response.text) == (500, False)
    assert client.get("/echo").status_code == 405


def test_half_of_a_pair_can_be_answered(client: TestClient) -> None:
    response = client.post(
        "/echo", content='{"a": "\\ud800<b>"}', headers={"content-type": "application/json"}
    )
    assert response.json() == {"a": "\ud800<b>"}


@pytest.mark.parametrize(
    ("host", "name"),
    [("a:1", "a"), ("a", "a"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("a:b", "a:b"), (":1", ":1")],
)
def test_names_of_hosts(host: str, name: str) -> None:
    assert host_name(host) == name


def test_a_port_that_is_taken() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(DataError, match="cannot listen on port"),
    ):
        run(application({}), taken.getsockname()[1], print)


def test_static_files_name_no_other_place() -> None:
    """No file makes a browser ask anybody else, or needs what the policy forbids."""
    for path in STATIC.iterdir():
        text = Path(path).read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in [word[:2] for word in text.replace('"', " ").split() if path.suffix == ".html"]
        for forbidden in (
            "http:",
            "https:",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "eval(",
            " style=",
            "onclick=",
        ):
            assert forbidden not in text, (path.name, forbidden)
