"""Certificates of derivations: see :mod:`symres.language.certificate`, where every floor above the language has them."""

from __future__ import annotations

from symres.language.certificate import EqualClaim, GradientClaim, Recurrence, certificate

__all__ = ["EqualClaim", "GradientClaim", "Recurrence", "certificate"]
