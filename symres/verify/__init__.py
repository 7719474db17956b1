"""Proves or refutes a backward function written by hand."""

from symres.verify.check import verify
from symres.verify.verdict import Diagnosis, GradientVerdict, Verdict, Witness

__all__ = ["Diagnosis", "GradientVerdict", "Verdict", "Witness", "verify"]
