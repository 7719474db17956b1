"""Powers and functions of polynomials, brought to a canonical form.

The kernel knows a handful of laws, each an identity of real functions wherever both sides are defined:

* ``(a b)^q = a^q b^q`` for a factor ``a >= 0`` or an integer ``q``; ``(a^2)^(1/2) = |a|``;
* ``exp(a + b) = exp a · exp b``, ``exp(q log a) = a^q``, ``log(a b) = log a + log b`` for positive factors;
* a 0/1 factor M inside a function: ``f(M a + b) = M f(a + b) + (1 - M) f(b)``;
* ``step(c a) = step(a)`` for ``c > 0``, ``step(-a) = 1 - step(a)`` off the kink ``a = 0``;
* parity of the functions in ``ODD`` and ``EVEN``; ``max_i(a + b_i) = a + max_i b_i``, ``max_i(c b_i) = c max_i b_i``.

Every other function is unknown: equal only at equal arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd, lcm

from symres.errors import Undefined
from symres.kernel.brackets import bind, choice
from symres.kernel.monomials import Atom, Bound, Mono, Poly
from symres.kernel.normal import (
    ZERO_POLY,
    from_factors,
    merge,
    mono_term,
    number,
    plus,
    poly_term,
    raise_to,
    rename_poly,
    scale,
    times,
)
from symres.kernel.terms import Entry, Fun, Maximum, Num, Term, Var

ODD = frozenset({"erf", "sin", "arctan"})
EVEN = frozenset({"cos"})
INFINITY = "infinity"
_FACTOR_LIMIT = 10_000
Factors = dict[Atom, Fraction]


# ---------------------------------------------------------------- powers


def power_of(poly: Poly, exponent: Fraction) -> Poly:
    """``poly ** exponent``.

    Raises:
        Undefined: for a negative power of zero.
    """
    if not poly:
        if exponent < 0:
            raise Undefined("a division by an expression that is identically zero")
        return ZERO_POLY
    if exponent.denominator == 1 and exponent >= 0:
        return raise_to(poly, exponent.numerator)
    flag = _open_flag(poly)
    if flag is not None:
        return _split(flag, poly, lambda part: power_of(part, exponent))
    chosen = _open_choice(poly)
    if chosen is not None:
        return _pick(*chosen, lambda part: power_of(part, exponent))
    content, core = extract_content(poly, strict=False)
    outside = _factors_power(content, exponent)
    ((first, mono),) = list(core.monomials())[:1]
    if len(core.terms) == 1:
        return times(outside, _mono_power(first, mono, exponent))
    whole = exponent.denominator == 1
    if whole and _leads_negative(core):
        core, outside = scale(core, -1), scale(outside, -1 if exponent.numerator % 2 else 1)
    return times(outside, from_factors({_power_atom(core): exponent}))


def _power_atom(base: Poly) -> Atom:
    return Atom("P", "", (base,), poly_term(base), sign="+" if is_positive(base) else "")


def _mono_power(coefficient: Fraction, mono: Mono, exponent: Fraction) -> Poly:
    """A power of one monomial, piece by piece as far as signs allow."""
    whole = exponent.denominator == 1
    sign = 1
    if coefficient < 0:
        if not whole:
            return from_factors({_power_atom(Poly({mono.key(): (coefficient, mono)})): exponent})
        sign = -1 if exponent.numerator % 2 else 1
    results = [scale(rational_power(abs(coefficient), exponent), sign)]
    unknown: list[tuple[frozenset[Var], Factors]] = []
    for bound, factors in mono.pieces():
        known = all(_atom_sign(atom, e) for atom, e in factors.items()) if bound else False
        if bound:
            piece = Mono(bound, factors)
            base = Poly({piece.key(): (Fraction(1), piece)})
            if whole or known:
                results.append(from_factors({_power_atom(base): exponent}))
            else:
                unknown.append((bound, factors))
            continue
        ((atom, e),) = factors.items()
        if whole or _atom_sign(atom, Fraction(1)) or e.denominator % 2 == 0:
            results.append(from_factors({atom: e * exponent}))
        elif e.denominator == 1 and e % 2 == 0 and (e * exponent).denominator == 1:
            results.append(_absolute_power(atom, e * exponent))
        else:
            unknown.append((bound, factors))
    if unknown:
        joint = Mono(
            frozenset().union(*(bound for bound, _ in unknown)), {a: e for _, fs in unknown for a, e in fs.items()}
        )
        base = Poly({joint.key(): (Fraction(1), joint)})
        results.append(from_factors({_power_atom(base): exponent}))
    product = results[0]
    for result in results[1:]:
        product = times(product, result)
    return product


def _absolute_power(atom: Atom, exponent: Fraction) -> Poly:
    value = from_factors({atom: exponent})
    if exponent.numerator % 2 == 0:
        return value
    base = from_factors({atom: Fraction(1)})
    return times(value, plus([scale(step_of(base), 2), number(-1)]))


def rational_power(value: Fraction, exponent: Fraction) -> Poly:
    """A power of a positive rational number: a rational number times proper fractional powers of primes."""
    if exponent.denominator == 1:
        return number(value**exponent.numerator)
    coefficient, factors = Fraction(1), {}
    for prime, count in _prime_powers(value).items():
        total = exponent * count
        whole = total.numerator // total.denominator
        coefficient *= Fraction(prime) ** whole
        if total != whole:
            factors[Atom("R", str(prime), (), Num(prime), sign="+")] = total - whole
    return from_factors(factors, coefficient)


def _prime_powers(value: Fraction) -> dict[int, int]:
    powers: dict[int, int] = {}
    for number_, sign in ((value.numerator, 1), (value.denominator, -1)):
        rest, prime = number_, 2
        while prime * prime <= rest and prime < _FACTOR_LIMIT:
            while rest % prime == 0:
                powers[prime] = powers.get(prime, 0) + sign
                rest //= prime
            prime += 1 if prime == 2 else 2
        if rest > 1:  # a prime, or a number too large to take apart; either way it stands for itself
            powers[rest] = powers.get(rest, 0) + sign
    return powers


def _factors_power(content: tuple[Fraction, Factors], exponent: Fraction) -> Poly:
    coefficient, factors = content
    return times(
        rational_power(coefficient, exponent), from_factors({atom: e * exponent for atom, e in factors.items()})
    )


# ---------------------------------------------------------------- signs and content


def _atom_sign(atom: Atom, exponent: Fraction) -> str:
    """``+`` when the power is known to be > 0, ``0`` when >= 0, else the empty string."""
    if exponent.denominator == 1 and exponent % 2 == 0 and not atom.sign:
        return "0"
    if atom.sign:
        return atom.sign
    # A root or a fractional power exists only for a nonnegative base.
    return "+" if exponent.denominator % 2 == 0 else ""


def is_positive(poly: Poly) -> bool:
    """Whether every monomial is visibly >= 0 and one of them visibly > 0."""
    strict = False
    for coefficient, mono in poly.monomials():
        signs = [_atom_sign(atom, e) for atom, e in mono.factors.items()]
        if coefficient < 0 or not all(signs):
            return False
        strict = strict or all(sign == "+" for sign in signs)
    return strict


def extract_content(poly: Poly, *, strict: bool) -> tuple[tuple[Fraction, Factors], Poly]:
    """The largest common factor of known sign: a positive rational, and powers of atoms that are > 0 (>= 0 unless strict).

    Only atoms with no bound variable can be common. The rest has coprime integer coefficients.
    """
    numerators = gcd(*(abs(c.numerator) for c, _ in poly.monomials()))
    denominators = lcm(*(c.denominator for c, _ in poly.monomials()))
    rational = Fraction(numerators, denominators)
    common: Factors = {}
    monos = [mono for _, mono in poly.monomials()]
    candidates = {atom for mono in monos for atom in mono.factors if atom.free.isdisjoint(mono.bound)}
    for atom in candidates:
        least = min((mono.factors.get(atom, Fraction(0)) for mono in monos), default=Fraction(0))
        if any(atom in mono.factors and not atom.free.isdisjoint(mono.bound) for mono in monos):
            continue
        sign = _atom_sign(atom, least)
        if least and not atom.flag and (sign == "+" or sign and not strict and atom.sign):
            common[atom] = least
    if not common and rational == 1:
        return (rational, common), poly
    inverse = {atom: -e for atom, e in common.items()}
    parts = [from_factors(merge(mono.factors, inverse), c / rational, mono.bound) for c, mono in poly.monomials()]
    return (rational, common), plus(parts)


def _leads_negative(poly: Poly) -> bool:
    """Whether the sign should be turned, by a rule that does not depend on the names of free variables."""
    names = dict.fromkeys(poly.free, "*")
    ranked = [((len(mono.factors), mono.key(names)), coefficient) for coefficient, mono in poly.monomials()]
    leading = max(rank for rank, _ in ranked)
    total = sum(coefficient for rank, coefficient in ranked if rank == leading)
    if total:
        return total < 0
    return False


# ---------------------------------------------------------------- 0/1 factors inside functions


def _open_flag(poly: Poly) -> Atom | None:
    """A 0/1 atom over free variables only, or None."""
    found: Atom | None = None
    for _, mono in poly.monomials():
        for atom in mono.factors:
            if atom.flag and atom.free.isdisjoint(mono.bound) and (found is None or atom.ident < found.ident):
                found = atom
    return found


def _split(flag: Atom, poly: Poly, function: Callable[[Poly], Poly]) -> Poly:
    """``M f(M=1) + (1 - M) f(M=0)``."""
    one, zero = _set_flag(poly, flag, 1), _set_flag(poly, flag, 0)
    mark = from_factors({flag: Fraction(1)})
    high = function(one)
    return plus([times(mark, high), times(plus([number(1), scale(mark, -1)]), function(zero))])


def _set_flag(poly: Poly, flag: Atom, value: int) -> Poly:
    parts = [ZERO_POLY]
    for coefficient, mono in poly.monomials():
        if flag not in mono.factors:
            parts.append(Poly({mono.key(): (coefficient, mono)}))
        elif value:
            rest = Mono(mono.bound, {atom: e for atom, e in mono.factors.items() if atom != flag})
            parts.append(Poly({rest.key(): (coefficient, rest)}))
    return plus(parts)


# ---------------------------------------------------------------- chosen entries inside functions


def _open_choice(poly: Poly) -> tuple[Poly, Atom, Var] | None:
    """``(b, [c = e], c)`` for a polynomial ``Σ_c [c = e] b(c)``: all its sums over an index equal to e, opened."""
    found = next((one for _, mono in poly.monomials() if (one := choice(mono)) is not None), None)
    if found is None:
        return None
    bracket, var, picked = found
    parts = [ZERO_POLY]
    for coefficient, mono in poly.monomials():
        own = choice(mono)
        if own is not None and own[2].key() == picked.key():
            factors = {atom: e for atom, e in mono.factors.items() if atom is not own[0]}
            opened = Poly({"": (coefficient, Mono(mono.bound - {own[1]}, factors))})
            parts.append(rename_poly(opened, {own[1]: var}) if own[1] is not var else plus([opened]))
        else:
            parts.append(Poly({mono.key(): (coefficient, mono)}))
    keyed = [Poly({mono.key(): (c, mono)}) for part in parts for c, mono in part.monomials()]
    return plus(keyed or [ZERO_POLY]), bracket, var


def _pick(poly: Poly, bracket: Atom, var: Var, function: Callable[[Poly], Poly]) -> Poly:
    """``Σ_c [c = e] f(b(c))``: exactly one c is chosen, so a function of the chosen entry is the chosen function value."""
    fresh = var.fresh()
    mark = rename_poly(from_factors({bracket: Fraction(1)}), {var: fresh})
    return bind(times(mark, function(rename_poly(poly, {var: fresh}))), frozenset((fresh,)))


# ---------------------------------------------------------------- functions


def apply_function(name: str, args: list[Poly]) -> Poly:
    """A function of polynomials by its laws, or an atom."""
    if len(args) == 1:
        (argument,) = args
        flag = _open_flag(argument)
        if flag is not None:
            return _split(flag, argument, lambda part: apply_function(name, [part]))
        chosen = _open_choice(argument)
        if chosen is not None:
            return _pick(*chosen, lambda part: apply_function(name, [part]))
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
    if argument and _leads_negative(argument):
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
    parts = [scale(_log_atom(number(prime)), count) for prime, count in _prime_powers(coefficient).items()]
    parts += [scale(_log_of_atom(atom), e) for atom, e in factors.items()]
    if core.constant() != 1:
        parts.append(_log_core(core))
    return plus(parts or [ZERO_POLY])


def _log_core(core: Poly) -> Poly:
    if len(core.terms) == 1:
        ((coefficient, mono),) = core.monomials()
        pieces = mono.pieces()
        positive = [all(_atom_sign(a, e) == "+" for a, e in factors.items()) for _, factors in pieces]
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
    if _leads_negative(core):
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
    return _function_atom("eq0", (scale(core, -1) if _leads_negative(core) else core,), sign="0", flag=True)


def _mentions_maximum(term: Term) -> bool:
    from symres.kernel.terms import walk

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
