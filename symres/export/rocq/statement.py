"""What a symres certificate (JSON) states, as terms: the one source of every Coq file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symres.errors import CertificateError
from symres.kernel.terms import Tensor, Term, Var
from symres.language.certificate import EqualClaim, GradientClaim, Recurrence
from symres.language.json_terms import Reader
from symres.language.program import Definition


@dataclass(frozen=True)
class Statement:
    """A certificate's definitions and recurrences, in order, and its claims.

    ``inputs`` are the tensors that nothing defines, by name.
    """

    id: str
    kind: str
    title: str
    inputs: Mapping[str, Tensor]
    parts: tuple[Definition | Recurrence, ...]
    claims: tuple[EqualClaim | GradientClaim, ...]

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """The parts that are no recurrences."""
        return tuple(part for part in self.parts if isinstance(part, Definition))

    @property
    def recurrences(self) -> tuple[Recurrence, ...]:
        """The recurrences along the depth."""
        return tuple(part for part in self.parts if isinstance(part, Recurrence))

    @property
    def gradients(self) -> tuple[GradientClaim, ...]:
        """The claims about gradients."""
        return tuple(claim for claim in self.claims if isinstance(claim, GradientClaim))

    @property
    def equalities(self) -> tuple[EqualClaim, ...]:
        """The claims that two terms are equal."""
        return tuple(claim for claim in self.claims if isinstance(claim, EqualClaim))


def read(document: Mapping[str, Any]) -> Statement:
    """The statement of a certificate.

    Raises:
        CertificateError: if the document is not one, or speaks of names that it does not define.
    """
    try:
        return _Reading(document).statement()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CertificateError(f"this is no certificate of symres: {error!r}") from error


class _Reading:
    def __init__(self, document: Mapping[str, Any]) -> None:
        if document["format"] != "symres-certificate" or document["version"] != 1:
            raise CertificateError("this is no certificate of symres, version 1")
        self.document = document
        self.tensors: dict[str, Tensor] = {}
        plain = Reader({})
        functions = {
            name: tuple(plain.term(dim) for dim in described["out"])
            for name, described in document["functions"].items()
            if "out" in described
        }
        self.reader = Reader(self.tensors, functions)
        for name, described in document["tensors"].items():
            bound = described["bound"]
            dims = tuple(plain.term(dim) for dim in described["dims"])
            self.tensors[name] = Tensor(name, dims, described["kind"], None if bound is None else plain.term(bound))
        self.inputs = dict(self.tensors)

    def statement(self) -> Statement:
        parts: list[Definition | Recurrence] = []
        for part in self.document["definitions"]:
            found = part.get("recurrence")
            parts.append(self._definition(part) if found is None else self._recurrence(found))
        claims = tuple(map(self._claim, self.document["claims"]))
        document = self.document
        return Statement(
            str(document["id"]),
            str(document["kind"]),
            str(document["title"]),
            self.inputs,
            tuple(parts),
            claims,
        )

    def _named(self, part: Mapping[str, Any]) -> tuple[Tensor, dict[str, Var]]:
        scope = self.reader.variables(part["vars"])
        tensor = Tensor(part["name"], tuple(var.dim for var in scope.values()))
        return self.tensors.setdefault(part["name"], tensor), scope

    def _definition(self, part: Mapping[str, Any]) -> Definition:
        tensor, scope = self._named(part)
        variables = tuple(scope.values())
        return Definition(tensor, tuple((var.dim,) for var in variables), variables, self._term(part["body"], scope))

    def _recurrence(self, part: Mapping[str, Any]) -> Recurrence:
        tensor, scope = self._named(part)
        base, step = self._term(part["base"], scope), self._term(part["step"], scope)
        return Recurrence(tensor, tuple(scope.values()), base, step)

    def _claim(self, claim: Mapping[str, Any]) -> EqualClaim | GradientClaim:
        scope = self.reader.variables(claim["vars"])
        variables, label = tuple(scope.values()), str(claim["label"])
        if claim["kind"] == "equal":
            return EqualClaim(label, variables, self._term(claim["left"], scope), self._term(claim["right"], scope))
        gradient = self._term(claim["gradient"], scope)
        outputs, upstream = tuple(claim["outputs"]), tuple(claim["upstream"])
        return GradientClaim(label, outputs, upstream, str(claim["wrt"]), variables, gradient)

    def _term(self, value: list[Any], scope: Mapping[str, Var]) -> Term:
        return self.reader.term(value, scope)


def terms_of(part: Definition | Recurrence) -> tuple[Term, ...]:
    """The terms that a definition is made of."""
    return (part.body,) if isinstance(part, Definition) else (part.base, part.step)
