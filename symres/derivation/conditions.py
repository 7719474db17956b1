"""Where a program is defined and differentiable: signs of its inputs, arguments of roots, divisors and logarithms, kinks.

Positivity is read off the form of an expression (squares, sums of what is not negative, exp); what cannot be read off is
stated as a condition, never assumed silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from symres.kernel.terms import Add, Entry, Fun, Iverson, Maximum, Mul, Num, Pow, Size, Sum, Tensor, Term, walk
from symres.language.program import Definition, Program

POSITIVE, NONNEGATIVE, UNKNOWN = 2, 1, 0


class Conditions:
    """What is assumed of the inputs and values of a program, in the order of its definitions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.bodies = [definition.body for definition in program.definitions.values()]
        self.bodies += [value.body for value in program.outputs.values()]
        self._signs: dict[Term, int] = {}

    def declared(self) -> Iterator[Tensor]:
        """The inputs in use that are declared positive or not negative."""
        used = {node.tensor for body in self.bodies for node in walk(body) if isinstance(node, Entry)}
        for tensor in self.program.inputs.values():
            if tensor in used and tensor.kind in ("positive", "nonnegative"):
                yield tensor

    def kinks(self) -> list[Term]:
        """The arguments of steps, which are not differentiated at 0."""
        return list(
            dict.fromkeys(node.args[0] for node in self._nodes() if isinstance(node, Fun) and node.name == "step")
        )

    def roots(self) -> list[Term]:
        """The bases of roots, and the arguments of logarithms, that are not visibly positive."""
        bases = [node.base for node in self._nodes() if isinstance(node, Pow) and node.exponent.denominator != 1]
        bases += [node.args[0] for node in self._nodes() if isinstance(node, Fun) and node.name == "log"]
        return [base for base in dict.fromkeys(bases) if self.sign(base) != POSITIVE]

    def divisors(self) -> list[Term]:
        """What is divided by and not visibly positive."""
        bases = [node.base for node in self._nodes() if isinstance(node, Pow) and node.exponent < 0]
        whole = [base for base in dict.fromkeys(bases) if self.sign(base) != POSITIVE]
        return [base for base in whole if base not in self.roots()]

    def _nodes(self) -> Iterable[Term]:
        return (node for body in self.bodies for node in walk(body))

    def sign(self, term: Term) -> int:
        """``POSITIVE`` or ``NONNEGATIVE`` where that can be read off, else ``UNKNOWN``."""
        if term not in self._signs:
            self._signs[term] = UNKNOWN
            self._signs[term] = self._sign(term)
        return self._signs[term]

    def _sign(self, term: Term) -> int:
        match term:
            case Num(value=value):
                return POSITIVE if value > 0 else NONNEGATIVE if value == 0 else UNKNOWN
            case Size():
                return POSITIVE
            case Iverson():
                return NONNEGATIVE
            case Fun(name=name):
                return {"exp": POSITIVE, "step": NONNEGATIVE, "sigmoid": POSITIVE, "abs": NONNEGATIVE}.get(
                    name, UNKNOWN
                )
            case Entry(tensor=tensor):
                return self._entry(tensor)
            case Pow(base=base, exponent=exponent):
                even = exponent.denominator == 1 and exponent % 2 == 0
                return max(self.sign(base), NONNEGATIVE if even or exponent.denominator % 2 == 0 else UNKNOWN)
            case Sum(body=body) | Maximum(body=body):
                return self.sign(body)
            case Mul(args=args):
                return self._product(args)
            case Add(args=args):
                signs = [self.sign(arg) for arg in args]
                return 0 if min(signs) == UNKNOWN else max(signs)
        return UNKNOWN

    def _product(self, args: tuple[Term, ...]) -> int:
        """Factors that occur in pairs make squares."""
        single = [arg for arg in dict.fromkeys(args) if args.count(arg) % 2]
        signs = [self.sign(arg) for arg in single]
        if len(single) < len(set(args)) or len(args) > len(single):
            signs.append(NONNEGATIVE)
        return min(signs, default=NONNEGATIVE)

    def _entry(self, tensor: Tensor) -> int:
        definition: Definition | None = self.program.definitions.get(tensor)
        if definition is not None:
            return self.sign(definition.body)
        return {"positive": POSITIVE, "nonnegative": NONNEGATIVE, "bool": NONNEGATIVE}.get(tensor.kind, UNKNOWN)
