"""Running people's code: a time limit, its output kept apart, its exceptions reported with the line they come from."""

from __future__ import annotations

import contextlib
import ctypes
import io
import signal
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from symres.errors import BudgetExceeded, SymresError, Unsupported
from symres.trace.signals import NeedsConcreteSizes, OutOfTime, Refine
from symres.trace.source import is_library, place_of

_AGAIN = 0.2


class CodeRaised(Unsupported):
    """The user's code raised an exception: there is no value to speak of."""


class RaisedOnSymbols(CodeRaised, NeedsConcreteSizes):
    """An exception of a kind that may come from a symbolic size or array where a number was expected."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Stop the block after some seconds; ``None`` is no limit.

    In the main thread an alarm signal stops it, elsewhere an exception set for the thread, between two instructions.

    Raises:
        BudgetExceeded: when the time is used up.
    """
    if seconds is None:
        yield
        return
    stop = _alarm if hasattr(signal, "setitimer") and _in_main_thread() else _timer
    try:
        with stop(seconds):
            yield
    except OutOfTime:
        raise BudgetExceeded(f"the code ran longer than {seconds:g} s", remedy="Allow more with --timeout.") from None


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    previous = signal.signal(signal.SIGALRM, stop)
    # Again and again: a bare ``except`` may have caught the first.
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, previous)


@contextmanager
def _timer(seconds: float) -> Iterator[None]:
    thread = ctypes.c_ulong(threading.get_ident())
    throw = ctypes.pythonapi.PyThreadState_SetAsyncExc
    timer = threading.Timer(seconds, lambda: throw(thread, ctypes.py_object(OutOfTime)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _is_ours(error: Exception) -> bool:
    """Whether the error arose in symres, and is not of a kind that a stand-in raises where NumPy does."""
    frames = traceback.extract_tb(error.__traceback__)
    own = bool(frames) and is_library(frames[-1].filename) and "symres" in Path(frames[-1].filename).parts
    return own and not isinstance(error, (ValueError, TypeError, IndexError, AttributeError, AssertionError))


@contextmanager
def running(name: str, files: Iterable[str], printed: list[str]) -> Iterator[None]:
    """Run the user's function ``name``: what it prints is appended to ``printed``, what it raises gets its place.

    Raises:
        Unsupported: from below, with the place in the user's source added.
        CodeRaised: for an exception of the code itself.
    """
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            yield
    except SymresError as error:
        error.place = error.place or place_of(error, files)
        raise
    except Refine:
        raise
    except SystemExit as error:
        raise CodeRaised(f"{name} ends the program", place=place_of(error, files)) from error
    except Exception as error:
        said = f": {error}" if str(error) else ""
        if _is_ours(error):
            raise Unsupported(
                f"{name} does something that symres does not foresee ({type(error).__name__}{said})",
                place=place_of(error, files),
            ) from error
        kind = RaisedOnSymbols if isinstance(error, (TypeError, AttributeError, KeyError)) else CodeRaised
        raise kind(f"{name} raised {type(error).__name__}{said}", place=place_of(error, files)) from error
    finally:
        if text := output.getvalue().strip():
            printed.append(f"{name} printed {text.splitlines()[0]!r}" + (" …" if "\n" in text else ""))
