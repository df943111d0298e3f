"""The factory of applications: answers to what is posted, a page with its files, and guards before them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marginalia.errors import DataError, MarginaliaError, needs_extra
from marginalia.serve.guards import LOCAL_HOSTS, BodyLimit, LocalOnly, SafeHeaders, problem

with needs_extra("the server"):
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.responses import FileResponse, Response
    from starlette.routing import BaseRoute, Mount, Route
    from starlette.staticfiles import StaticFiles

if TYPE_CHECKING:
    from starlette.requests import Request

STATIC = Path(__file__).parent / "static"
MOST_BYTES = 2 << 20

Answer = Callable[[dict[str, Any]], Any]


def application(
    answers: Mapping[str, Answer],
    *,
    page: str = "index.html",
    most_bytes: int = MOST_BYTES,
    at_once: int = 2,
    hosts: Iterable[str] = LOCAL_HOSTS,
) -> Starlette:
    """An application that serves a page with its files, and `answers` to JSON that is posted to their paths;
    `at_once` of them are worked on at the same time, in threads."""
    workers = ThreadPoolExecutor(at_once, thread_name_prefix="marginalia")
    routes: list[BaseRoute] = [
        Route(path, _posted(answer, workers), methods=["POST"]) for path, answer in answers.items()
    ]

    async def first(request: Request) -> Response:
        return FileResponse(STATIC / page)

    routes += [Route("/", first, methods=["GET"]), Mount("/static", StaticFiles(directory=STATIC))]
    guards = [
        Middleware(SafeHeaders),
        Middleware(LocalOnly, hosts=hosts),
        Middleware(BodyLimit, most=most_bytes),
    ]
    handlers: Any = {HTTPException: _http_problem, MarginaliaError: _our_problem, Exception: _our_fault}
    return Starlette(routes=routes, middleware=guards, exception_handlers=handlers)


def _posted(answer: Answer, workers: ThreadPoolExecutor) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        asked = _read(await request.body())
        found = await asyncio.get_running_loop().run_in_executor(workers, answer, asked)
        # What is no text (half of a surrogate pair) is escaped, not written.
        return Response(json.dumps(found), media_type="application/json")

    return respond


def _read(body: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise DataError(f"found no JSON: {str(error)[:100]}") from None
    if not isinstance(asked, dict):
        raise DataError(f"found JSON of {type(asked).__name__}, expected an object")
    return asked


async def _http_problem(request: Request, error: HTTPException) -> Response:
    return problem(error.status_code, error.detail)


async def _our_problem(request: Request, error: MarginaliaError) -> Response:
    return problem(400, str(error).encode("utf-8", "backslashreplace").decode())


async def _our_fault(request: Request, error: Exception) -> Response:
    return problem(500, f"this should not have happened: {type(error).__name__}")
