"""Ctrl-C where work would be lost by it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Gives a function that tells whether Ctrl-C was pressed; a second Ctrl-C interrupts at once."""
    pressed = threading.Event()

    def press(number: int, frame: object) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C counts at the end: what is written meanwhile is written whole."""
    with stopping() as pressed:
        yield
    if pressed():
        raise KeyboardInterrupt
