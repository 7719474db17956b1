"""Reading a certificate strictly: every rule of the format is checked, nothing is repaired, no text is evaluated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Set
from typing import Any, NoReturn

from symres.judge import noderows as noderows  # enters the nodes
from symres.judge.faults import Refused
from symres.judge.functions import KNOWN
from symres.judge.syntax import Certificate, Claim, Declared, Defined, Equal, General, Gradient, Node, Var
from symres.judge.termreader import TermReader

FORMAT, VERSION = "symres-certificate", 1
LARGEST_FILE = 16_000_000
FIELDS = frozenset(
    ("format", "version", "symres", "id", "kind", "title", "sizes", "tensors", "functions", "definitions", "claims")
)
KINDS = ("real", "positive", "nonnegative", "bool", "int")
LONGEST_NAME = 200


def canonical(document: Mapping[str, Any]) -> str:
    """The hash of a certificate: SHA-256 of its JSON with sorted keys, no blanks, ASCII only, without the hash."""
    rest = {key: value for key, value in document.items() if key != "hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def parse(text: str) -> Any:
    """The JSON value of a text.

    Raises:
        Refused: if it is no JSON, too long, nested too deeply, has a key twice or a number that is no integer.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise Refused("certificate", f"the key {key!r} occurs twice")
            found[key] = value
        return found

    def no_number(literal: str) -> NoReturn:
        raise Refused("certificate", f"{literal[:20]} is not an integer; numbers are strings such as '1/2'")

    def small(literal: str) -> int:
        if len(literal) > 6:
            raise Refused("certificate", f"the number {literal[:6]}… is too large")
        return int(literal)

    if len(text) > LARGEST_FILE:
        raise Refused("certificate", f"it is longer than {LARGEST_FILE} characters")
    try:
        return json.loads(
            text, object_pairs_hook=unique, parse_float=no_number, parse_constant=no_number, parse_int=small
        )
    except RecursionError:
        raise Refused("certificate", "it is nested too deeply") from None
    except ValueError as error:
        raise Refused("certificate", f"it is not JSON: {error}") from None


def read(text: str) -> Certificate:
    """The certificate in a text, its hash compared.

    Raises:
        Refused: with the place and the rule that is broken.
    """
    document = parse(text)
    fields("certificate", document, FIELDS | {"hash"})
    if string("hash", document["hash"]) != canonical(document):
        raise Refused("hash", "it is not the hash of this certificate")
    return build(document)


def build(document: Any) -> Certificate:
    """The certificate in a parsed document, whatever its hash.

    Raises:
        Refused: with the place and the rule that is broken.
    """
    try:
        return _build(document)
    except RecursionError:
        raise Refused("certificate", "it is nested too deeply") from None


def _build(document: Any) -> Certificate:
    fields("certificate", document, FIELDS, optional={"hash"})
    if document["format"] != FORMAT:
        raise Refused("format", f"it is not {FORMAT!r}")
    if type(document["version"]) is not int or document["version"] != VERSION:
        raise Refused("version", f"this judge reads version {VERSION} only")
    for key in ("symres", "kind", "title", "id"):
        string(key, document[key])
    reader = TermReader()
    for k, size in enumerate(array("sizes", document["sizes"])):
        reader.declare(f"sizes[{k}]", name(f"sizes[{k}]", size), reader.sizes, None)
    for key, value in mapping("tensors", document["tensors"]).items():
        place = f"tensors.{key}"
        reader.declare(place, name(place, key), reader.tensors, _tensor(reader, place, key, value))
    for key, value in mapping("functions", document["functions"]).items():
        place = f"functions.{key}"
        reader.declare(place, name(place, key), reader.functions, _function(reader, place, key, value))
    for k, value in enumerate(array("definitions", document["definitions"])):
        place = f"definitions[{k}]"
        made = _definition(reader, place, value)
        if made.name in reader.tensors:
            raise Refused(f"{place}.name", f"{made.name!r} is a tensor already")
        reader.declare(f"{place}.name", made.name, reader.definitions, made)
    claims = tuple(_claim(reader, f"claims[{k}]", value) for k, value in enumerate(array("claims", document["claims"])))
    return Certificate(
        id=document["id"],
        title=document["title"],
        hash=canonical(document),
        sizes=tuple(reader.sizes),
        tensors=reader.tensors,
        functions=reader.functions,
        definitions=reader.definitions,
        claims=claims,
        digits=reader.digits,
    )


def _tensor(reader: TermReader, place: str, key: str, value: Any) -> Declared:
    fields(place, value, {"dims", "kind", "bound"})
    dims = tuple(
        reader.extent(f"{place}.dims[{k}]", dim) for k, dim in enumerate(array(f"{place}.dims", value["dims"]))
    )
    kind = string(f"{place}.kind", value["kind"])
    if kind not in KINDS:
        raise Refused(f"{place}.kind", f"{kind!r} is none of {', '.join(KINDS)}")
    if (value["bound"] is not None) is not (kind == "int"):
        raise Refused(f"{place}.bound", "a bound belongs to integers, and to nothing else")
    bound = reader.extent(f"{place}.bound", value["bound"]) if kind == "int" else None
    return Declared(key, dims, kind, bound)


def _function(reader: TermReader, place: str, key: str, value: Any) -> General:
    if key in KNOWN or "'" in key or "." in key:
        raise Refused(place, "the name belongs to a known function or to a derivative")
    if isinstance(value, dict) and "elementwise" in value:
        fields(place, value, {"elementwise"})
        arity = value["elementwise"]
        if type(arity) is not int or not 1 <= arity <= 8:
            raise Refused(f"{place}.elementwise", "the number of arguments is an integer from 1 to 8")
        return General(key, (), ((),) * arity, elementwise=True)
    fields(place, value, {"out", "args"})

    def dims(inner: str, listed: Any) -> tuple[Node, ...]:
        return tuple(reader.extent(f"{inner}[{k}]", dim) for k, dim in enumerate(array(inner, listed)))

    out = dims(f"{place}.out", value["out"])
    listed = array(f"{place}.args", value["args"])
    return General(key, out, tuple(dims(f"{place}.args[{k}]", arg) for k, arg in enumerate(listed)))


def _variables(reader: TermReader, place: str, value: Any) -> tuple[Var, ...]:
    scope: dict[str, Var] = {}
    for k, pair in enumerate(array(place, value)):
        scope |= reader.variable(f"{place}[{k}]", pair, scope)
    return tuple(scope.values())


def _definition(reader: TermReader, place: str, value: Any) -> Defined:
    if isinstance(value, dict) and "recurrence" in value:
        fields(place, value, {"recurrence"})
        inner, place = value["recurrence"], f"{place}.recurrence"
        fields(place, inner, {"name", "vars", "base", "step"})
        key = name(f"{place}.name", inner["name"])
        variables = _variables(reader, f"{place}.vars", inner["vars"])
        if not variables:
            raise Refused(f"{place}.vars", "a recurrence runs over its first variable")
        rest = {var.name: var for var in variables[1:]}
        base = reader.term(f"{place}.base", inner["base"], rest)
        with reader.recursive(key, variables):
            step = reader.term(f"{place}.step", inner["step"], {variables[0].name: variables[0], **rest})
        return Defined(key, variables, step, base)
    fields(place, value, {"name", "vars", "body"})
    key = name(f"{place}.name", value["name"])
    variables = _variables(reader, f"{place}.vars", value["vars"])
    body = reader.term(f"{place}.body", value["body"], {var.name: var for var in variables})
    return Defined(key, variables, body, integral=reader.is_integral(body))


def _claim(reader: TermReader, place: str, value: Any) -> Claim:
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind not in ("equal", "gradient"):
        raise Refused(f"{place}.kind", "a claim is 'equal' or 'gradient'")
    inner = {"left", "right"} if kind == "equal" else {"outputs", "upstream", "wrt", "gradient"}
    fields(place, value, {"kind", "label", "vars"} | inner)
    label = string(f"{place}.label", value["label"])
    variables = _variables(reader, f"{place}.vars", value["vars"])
    scope = {var.name: var for var in variables}
    if kind == "equal":
        left, right = (reader.term(f"{place}.{side}", value[side], scope) for side in ("left", "right"))
        return Equal(label, variables, left, right)
    outputs, upstream = (
        tuple(reader.known(f"{place}.{key}[{k}]", given) for k, given in enumerate(array(f"{place}.{key}", value[key])))
        for key in ("outputs", "upstream")
    )
    wrt = reader.known(f"{place}.wrt", value["wrt"])
    if len(outputs) != len(upstream) or not outputs:
        raise Refused(f"{place}.upstream", "there is one upstream gradient for each output, and at least one output")
    for k, (output, gradient) in enumerate(zip(outputs, upstream, strict=True)):
        if output not in reader.definitions:
            raise Refused(f"{place}.outputs[{k}]", f"{output!r} is not a definition")
        if len(reader.axes(output)) != len(reader.axes(gradient)):
            raise Refused(f"{place}.upstream[{k}]", f"{gradient!r} has not as many axes as {output!r}")
    if reader.is_discrete(wrt):
        raise Refused(f"{place}.wrt", f"{wrt!r} has integer entries")
    if len(variables) != len(reader.axes(wrt)):
        raise Refused(f"{place}.vars", f"they are not the indices of {wrt!r}")
    return Gradient(
        label, outputs, upstream, wrt, variables, reader.term(f"{place}.gradient", value["gradient"], scope)
    )


# ---------------------------------------------------------------- shapes of JSON


def fields(place: str, value: Any, names: Set[str], *, optional: Set[str] = frozenset()) -> None:
    """Refuse what is not an object with these fields."""
    for missing in sorted(names - set(mapping(place, value))):
        raise Refused(place, f"the field {missing!r} is missing")
    for superfluous in sorted(set(value) - names - optional):
        raise Refused(place, f"the field {superfluous!r} is not known")


def mapping(place: str, value: Any) -> dict[str, Any]:
    """An object, or refused."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise Refused(place, "an object is expected")
    return value


def array(place: str, value: Any) -> list[Any]:
    """A list, or refused."""
    if not isinstance(value, list):
        raise Refused(place, "a list is expected")
    return value


def string(place: str, value: Any) -> str:
    """A text, or refused."""
    if not isinstance(value, str):
        raise Refused(place, "a text is expected")
    return value


def name(place: str, value: Any) -> str:
    """A name, or refused."""
    if not 0 < len(string(place, value)) <= LONGEST_NAME or not value.isprintable():
        raise Refused(place, f"a name has 1 to {LONGEST_NAME} printable characters")
    return str(value)
