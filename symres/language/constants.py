"""Named real constants: scalar tensors, so that every part of symres treats them as exact positive unknowns.

The kernel uses of pi only that it is positive; a statement proved so holds for the number pi in particular. Code and
the numeric room put the value in.
"""

from __future__ import annotations

from symres.kernel.terms import Tensor

PI = Tensor("pi", (), "positive")
"""The circle number, 3.14159…"""

INFINITY = Tensor("infinity", (), "positive")
"""The value whose negative fills attention masks: an unbounded positive number."""

VALUES: dict[Tensor, float] = {PI: 3.141592653589793, INFINITY: 1e30}
"""What the constants are in floating point.

The unbounded one is finite, so that 0 times it is 0, and large enough for exp of its negative to be 0, in single
precision too.
"""
