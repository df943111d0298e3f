"""Running an application on this machine, until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from marginalia.errors import DataError, needs_extra

if TYPE_CHECKING:
    from starlette.types import ASGIApp

ADDRESS = "127.0.0.1"


def run(app: ASGIApp, port: int, ready: Callable[[str], None]) -> None:
    """Serve on 127.0.0.1; `ready` is called with the address once the port is ours; port 0 is any."""
    with needs_extra("the server"):
        import uvicorn
    listening = _listening(port)
    with listening:
        ready(f"http://{ADDRESS}:{listening.getsockname()[1]}/")
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            limit_concurrency=64,
            timeout_graceful_shutdown=2,
        )
        uvicorn.Server(config).run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((ADDRESS, port))
        made.listen(64)
    except OSError as error:
        made.close()
        raise DataError(f"cannot listen on port {port}: {error.strerror or error}") from error
    return made
