"""What stands before every route: checks of the host, the origin and the size of requests, and safe headers.

A page on the web can make a browser ask 127.0.0.1. Names that are rebound to it are known by their Host,
other pages by their Origin; neither gets an answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from marginalia.errors import needs_extra

with needs_extra("the server"):
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def problem(status: int, message: str) -> JSONResponse:
    """The answer to a request that cannot be served."""
    return JSONResponse({"error": message}, status)


class SafeHeaders:
    """Adds `HEADERS` to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, with_headers)


class LocalOnly:
    """Refuses requests that do not name a host of `hosts`, and those that a page of another origin makes."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = LOCAL_HOSTS) -> None:
        self.app, self.hosts = app, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope["method"], Headers(scope=scope)) if scope["type"] == "http" else ""
        app = problem(403, refusal) if refusal else self.app
        await app(scope, receive, send)

    def _refusal(self, method: str, headers: Headers) -> str:
        host = headers.get("host", "")
        if host_name(host) not in self.hosts:
            return f"found host {host!r}, expected {' or '.join(sorted(self.hosts))}"
        if method in ("GET", "HEAD"):
            return ""
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return f"found a request of {origin!r}, expected one of this page"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "found a request of another site, expected one of this page"
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return "found no JSON, expected content-type application/json"
        return ""


def host_name(host: str) -> str:
    """The name of a Host header without its port."""
    name, _, port = host.rpartition(":")
    return name if name and port.isdecimal() else host


class _TooLarge(Exception):
    pass


class BodyLimit:
    """Refuses bodies of more than `most` bytes, whatever their length is stated to be."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = Headers(scope=scope).get("content-length", "0") if scope["type"] == "http" else "0"
        refused = problem(413, f"found a request of more than {self.most:,} bytes")
        if not length.isdecimal() or int(length) > self.most:
            await refused(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.most:
                raise _TooLarge
            return message

        try:
            await self.app(scope, counted, send)
        except _TooLarge:  # nothing is answered before the whole body is there
            await refused(scope, receive, send)
