"""A derivation that would never end, or would fill the memory, is a clear message."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from symres.cli.limits import limited
from symres.errors import BudgetExceeded


def test_the_time_is_limited() -> None:
    before = time.monotonic()
    with pytest.raises(BudgetExceeded, match=r"longer than 0\.05 s\nAllow more with --timeout"), limited(0.05, 4096):
        time.sleep(30)
    assert time.monotonic() - before < 20


def test_what_ends_in_time_is_left_alone() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    with limited(0.05, 4096):
        pass
    time.sleep(0.1)
    assert signal.getsignal(signal.SIGALRM) is handler


def test_the_memory_is_limited() -> None:
    # In a process of its own: the limit is on all the memory of a process, that of the test run included.
    code = "from symres.cli.limits import limited\nwith limited(60, 100):\n    block = bytearray(10**9)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "BudgetExceeded: the derivation needs more than 100 MB of memory" in done.stderr


def test_in_another_thread_there_is_no_alarm_to_set() -> None:
    results = []

    def work() -> None:
        with limited(0.01, 4096):
            time.sleep(0.05)
            results.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == ["done"]
