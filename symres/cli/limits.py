"""Limits of time and memory on one derivation, so that a run that would never end is a message and not a hang."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from symres.errors import BudgetExceeded


@contextmanager
def limited(seconds: float, megabytes: int) -> Iterator[None]:
    """Run the block within a time and, where the system can hold it, an amount of memory.

    Raises:
        BudgetExceeded: when one of them is used up.
    """
    try:
        with _time(seconds), _memory(megabytes):
            yield
    except MemoryError:
        raise BudgetExceeded(
            f"the derivation needs more than {megabytes} MB of memory", remedy="Allow more with --memory."
        ) from None


@contextmanager
def _time(seconds: float) -> Iterator[None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise BudgetExceeded(f"the derivation took longer than {seconds:g} s", remedy="Allow more with --timeout.")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@contextmanager
def _memory(megabytes: int) -> Iterator[None]:
    try:
        import resource
    except ImportError:  # not on Windows
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = megabytes * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
