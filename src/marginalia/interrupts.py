"""Ctrl-C and SIGTERM where work would be lost by them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Gives a function that tells whether Ctrl-C was pressed (or SIGTERM came, if it counts); the second one
    interrupts at once."""
    pressed = threading.Event()

    def press(number: int, frame: object) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    counted = [signal.SIGINT, *([signal.SIGTERM] if _is_interrupt(signal.SIGTERM) else [])]
    before = [signal.signal(number, press) for number in counted]
    try:
        yield pressed.is_set
    finally:
        for number, handler in zip(counted, before, strict=True):
            signal.signal(number, handler)


def _is_interrupt(number: int) -> bool:
    """Whether a signal is handled here, by `terminable` or by `stopping` in it."""
    handler = signal.getsignal(number)
    return callable(handler) and handler.__module__ in (__name__, signal.default_int_handler.__module__)


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM counts as Ctrl-C, unless somebody handles or ignores it already."""
    free = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if threading.current_thread() is not threading.main_thread() or not free:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C counts at the end: what is written meanwhile is written whole."""
    with stopping() as pressed:
        yield
    if pressed():
        raise KeyboardInterrupt
