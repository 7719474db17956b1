"""Functions of polynomials, brought to a canonical form.

The kernel knows a handful of laws, each an identity of real functions wherever both sides are defined:

* ``exp(a + b) = exp a · exp b``, ``exp(q log a) = a^q``, ``log(a b) = log a + log b`` for positive factors;
* ``step(c a) = step(a)`` for ``c > 0``, ``step(-a) = 1 - step(a)`` off the kink ``a = 0``;
* parity of the functions in ``ODD`` and ``EVEN``; ``max_i(a + b_i) = a + max_i b_i``, ``max_i(c b_i) = c max_i b_i``;
* those of :mod:`symres.kernel.content` for 0/1 factors and chosen entries in the argument.

Every other function is unknown: equal only at equal arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from symres.errors import Undefined
from symres.kernel.content import (
    atom_sign,
    extract_content,
    is_positive,
    leads_negative,
    open_choice,
    open_flag,
    pick,
    split,
)
from symres.kernel.monomials import Atom, Bound, Mono, Poly
from symres.kernel.normal import ZERO_POLY, from_factors, mono_term, number, plus, poly_term, scale, times
from symres.kernel.powers import power_of, prime_powers
from symres.kernel.terms import Entry, Fun, Maximum, Term, Var, walk

ODD = frozenset({"erf", "sin", "arctan"})
EVEN = frozenset({"cos"})
INFINITY = "infinity"


def apply_function(name: str, args: list[Poly]) -> Poly:
    """A function of polynomials by its laws, or an atom."""
    if len(args) == 1:
        (argument,) = args
        flag = open_flag(argument)
        if flag is not None:
            return split(flag, argument, lambda part: apply_function(name, [part]))
        chosen = open_choice(argument)
        if chosen is not None:
            return pick(*chosen, lambda part: apply_function(name, [part]))
        if name in _LAWS:
            return _LAWS[name](argument)
        if name in ODD or name in EVEN:
            return _with_parity(name, argument)
    return _function_atom(name, tuple(args))


def _function_atom(name: str, args: tuple[Poly, ...], sign: str = "", flag: bool = False) -> Poly:
    term = Fun(name, *(poly_term(arg) for arg in args))
    return from_factors({Atom("F", name, args, term, sign=sign, flag=flag): Fraction(1)})


def _with_parity(name: str, argument: Poly) -> Poly:
    if not argument and name in ODD:
        return ZERO_POLY
    if argument and leads_negative(argument):
        return scale(_function_atom(name, (scale(argument, -1),)), -1 if name in ODD else 1)
    return _function_atom(name, (argument,))


def _exp(argument: Poly) -> Poly:
    result = number(1)
    for coefficient, mono in argument.monomials():
        if _is_infinite(mono):
            if coefficient < 0 and len(mono.factors) == 1:
                return ZERO_POLY
            raise Undefined("exp of plus infinity")
        only = next(iter(mono.factors)) if len(mono.factors) == 1 and not mono.bound else None
        if only is not None and only.kind == "L" and mono.factors[only] == 1:
            base = only.parts[0]
            assert isinstance(base, Poly)
            result = times(result, power_of(base, coefficient))
        else:
            inner = Poly({mono.key(): (Fraction(1), mono)})
            atom = Atom("E", "", (inner,), Fun("exp", mono_term(mono)), sign="+")
            result = times(result, from_factors({atom: coefficient}))
    return result


def _is_infinite(mono: Mono) -> bool:
    return any(isinstance(atom.term, Entry) and atom.term.tensor.name == INFINITY for atom in mono.factors)


def _log(argument: Poly) -> Poly:
    if not argument:
        raise Undefined("the logarithm of zero")
    (coefficient, factors), core = extract_content(argument, strict=True)
    parts = [scale(_log_atom(number(prime)), count) for prime, count in prime_powers(coefficient).items()]
    parts += [scale(_log_of_atom(atom), e) for atom, e in factors.items()]
    if core.constant() != 1:
        parts.append(_log_core(core))
    return plus(parts or [ZERO_POLY])


def _log_core(core: Poly) -> Poly:
    if len(core.terms) == 1:
        ((coefficient, mono),) = core.monomials()
        pieces = mono.pieces()
        positive = [all(atom_sign(a, e) == "+" for a, e in factors.items()) for _, factors in pieces]
        if coefficient == 1 and len(pieces) > 1 and all(positive):
            logs = []
            for bound, factors in pieces:
                piece = Mono(bound, factors)
                logs.append(_log(Poly({piece.key(): (Fraction(1), piece)})))
            return plus(logs)
    return _log_atom(core)


def _log_of_atom(atom: Atom) -> Poly:
    if atom.kind == "E":
        inner = atom.parts[0]
        assert isinstance(inner, Poly)
        return inner
    if atom.kind == "P":
        base = atom.parts[0]
        assert isinstance(base, Poly)
        return _log_atom(base)
    return _log_atom(from_factors({atom: Fraction(1)}))


def _log_atom(argument: Poly) -> Poly:
    return from_factors({Atom("L", "", (argument,), Fun("log", poly_term(argument))): Fraction(1)})


def step_of(argument: Poly) -> Poly:
    """``step(argument)``: 1 where it is > 0, else 0; for an argument with 0/1 factors each case by itself."""
    return apply_function("step", [argument])


def _step(argument: Poly) -> Poly:
    if not argument:
        return ZERO_POLY
    _, core = extract_content(argument, strict=True)
    if is_positive(core):
        return number(1)
    if is_positive(scale(core, -1)):
        return ZERO_POLY
    if len(core.terms) == 1:
        # An odd power has the sign of its base, an even one none.
        ((coefficient, mono),) = core.monomials()
        if not mono.bound and len(mono.factors) == 1:
            ((atom, e),) = mono.factors.items()
            if e.denominator == 1 and e % 2 == 1 and e != 1:
                core = from_factors({atom: Fraction(1)}, 1 if coefficient > 0 else -1)
    if leads_negative(core):
        return plus([number(1), scale(_function_atom("step", (scale(core, -1),), sign="0", flag=True), -1)])
    return _function_atom("step", (core,), sign="0", flag=True)


def _eq0(argument: Poly) -> Poly:
    if not argument:
        return number(1)
    if argument.constant() is not None:
        return ZERO_POLY
    _, core = extract_content(argument, strict=True)
    if is_positive(core) or is_positive(scale(core, -1)):
        return ZERO_POLY
    if not _mentions_maximum(poly_term(core)):
        # Off the kinks: an expression that is not identically zero is zero only on a set of measure zero.
        return ZERO_POLY
    return _function_atom("eq0", (scale(core, -1) if leads_negative(core) else core,), sign="0", flag=True)


def _mentions_maximum(term: Term) -> bool:
    return any(isinstance(node, Maximum) for node in walk(term))


_LAWS: dict[str, Callable[[Poly], Poly]] = {"exp": _exp, "log": _log, "step": _step, "eq0": _eq0}


def maximum_of(var: Var, body: Poly) -> Poly:
    """``max_var body``, with what does not depend on the index pulled out."""
    outside, inside = [ZERO_POLY], [ZERO_POLY]
    for coefficient, mono in body.monomials():
        # An infinity stays with the mask it belongs to: outside alone it would have no value.
        (inside if var in mono.free or _is_infinite(mono) else outside).append(Poly({mono.key(): (coefficient, mono)}))
    varying = plus(inside)
    if not varying:
        return plus(outside)
    (rational, factors), core = extract_content(varying, strict=True)
    kept = {atom: e for atom, e in factors.items() if var not in atom.free}
    core = times(core, from_factors({atom: e for atom, e in factors.items() if var in atom.free}))
    atom = Atom("M", "", (Bound((var,), core),), Maximum(var, poly_term(core)), sign="+" if is_positive(core) else "")
    return plus([*outside, times(from_factors(kept, rational), from_factors({atom: Fraction(1)}))])
