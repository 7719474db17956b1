"""For test suites: a hand-written backward pass must be proved, or the test fails with the report.

>>> from symres.testing import assert_gradient_proved
>>> assert_gradient_proved(forward, backward, shapes="x: N D, gamma: D, beta: D")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symres.verify import Verdict, verify


def assert_gradient_proved(
    forward: Callable[..., Any] | type | str,
    backward: Callable[..., Any] | str | None = None,
    *,
    shapes: str | Mapping[str, str] | None = None,
    grads: Sequence[str] | str | None = None,
    set: Mapping[str, Any] | None = None,
    timeout: float = 60.0,
) -> Verdict:
    """Assert that every gradient of a backward function is proved; the arguments are those of :func:`symres.verify`.

    Raises:
        AssertionError: if a gradient is refuted or undecided; its message is the report.
    """
    verdict = verify(forward, backward, shapes=shapes, grads=grads, set=set, timeout=timeout)
    if verdict.verdict != "proved":
        raise AssertionError(verdict.report())
    return verdict
