"""The words of a gradient proof. Formulas come in as slots; nothing here decides what is true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symres.calculus.folding import Folded
from symres.calculus.reverse import Backward, tensors
from symres.derivation.conditions import Conditions
from symres.kernel.terms import Add, Entry, Mul, Pow, Size, Tensor, Term, walk
from symres.language.formula import Formula, Relation, Text, adjoint, definition
from symres.language.program import Definition, Program

Notation = tuple[tuple[Formula, Text], ...]


def listed(items: Sequence[Formula], stem: str) -> tuple[str, dict[str, Formula]]:
    """Formulas as an enumeration: ``{a1}, {a2} and {a3}`` with its slots."""
    slots = {f"{stem}{place}": item for place, item in enumerate(items, start=1)}
    names = [f"{{{name}}}" for name in slots]
    words = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1] if names else ""
    return words, slots


class Words:
    """The sentences about one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.variables = {tensor: definition.vars for tensor, definition in program.definitions.items()}

    def entry(self, tensor: Tensor) -> Entry:
        """The entry of a named value at the indices of its definition."""
        return Entry(tensor, self.variables[tensor])

    def chain(self, backward: Backward, tensor: Tensor) -> Text:
        """Where a value is used, and how it comes in there."""
        made = backward.adjoints[tensor]
        own = Entry(tensor, made.vars)
        users = list(dict.fromkeys(source for source, _ in backward.paths[tensor]))
        formulas: list[Formula] = [self.entry(user) for user in users if user is not None]
        formulas += [Entry(Tensor(name), ()) for name in self.program.outputs] if None in users else []
        if users == [None] and tensor.name in self.program.outputs:
            return Text("{t} is the output", {"t": own})
        if not formulas:
            return Text("{t} reaches the output along no path", {"t": own})
        words, slots = listed(formulas, "u")
        return Text(f"the chain rule: {{t}} enters {words}{self._manner(users, tensor)}", {"t": own, **slots})

    def _manner(self, users: Sequence[Tensor | None], tensor: Tensor) -> str:
        """In a few words, how a value enters where it is used once."""
        if len(users) != 1:
            return ""
        body = self._body(users[0])
        manner = next((words for test, words in _MANNERS if test(body, tensor)), "")
        return f"{manner}"

    def _body(self, user: Tensor | None) -> Term:
        if user is not None:
            return self.program.definitions[user].body
        return next(iter(self.program.outputs.values())).body

    def zero(self, lemmas: Sequence[str]) -> Text:
        """A sum that vanishes."""
        by = f", by {' and '.join(lemmas)}" if lemmas else ""
        return Text(f"centred values sum to zero{by}")

    def fold(self, folded: Folded) -> Text:
        """By which names an expression became shorter."""
        used = {each.name: each for each in folded.trail if each.name is not None}
        relations: list[Formula] = [
            Relation((Entry(name, each.vars), self._written(each.name, each.body)), ("=",))
            for name, each in used.items()
        ]
        words, slots = listed(relations, "r")
        reasons = ["without the sum that vanishes"] if folded.vanishing else []
        reasons += [f"in terms of {words}"] if relations else []
        return Text(", ".join(reasons) or "collecting the common factors", slots)

    def _written(self, name: Tensor | None, body: Term) -> Term:
        found = self.program.definitions.get(name) if name is not None else None
        return found.body if found is not None else body

    def substitute(self, statistics: Iterable[Tensor]) -> Text:
        """Which adjoints are put in."""
        formulas: list[Formula] = [adjoint(tensor)(*self.variables[tensor]) for tensor in statistics]
        words, slots = listed(formulas, "a")
        return Text(f"substituting {words}", slots)

    def conclude(self, definitions: Sequence[Definition]) -> Text:
        """The claim, in its own names."""
        formulas: list[Formula] = [definition(Entry(d.tensor, d.vars), d.body) for d in definitions]
        words, slots = listed(formulas, "w")
        return Text(f"with {words}" if formulas else "the same in the form of the claim", slots)

    def opening(self, backward: Backward, where: Sequence[Definition] = ()) -> Text:
        """The first sentence of the statement, with a short definition in it if there is one."""
        outputs: list[Formula] = [Entry(Tensor(name), ()) for name in self.program.outputs]
        seeds: list[Formula] = [Entry(Tensor(tensor.name), ()) for tensor in backward.upstream.values()]
        names_, slots = listed(outputs, "y")
        gradients, more = listed(seeds, "g")
        loss = Entry(Tensor("loss"), ())
        names, last = listed(self._sizes(), "n")
        every = "every size" if len(last) == 1 else "all sizes"
        scope = f"For {every} {names}: " if last else ""
        with_, own = listed([definition(Entry(d.tensor, d.vars), d.body) for d in where], "w")
        then = f"Then, with {with_}," if where else "Then"
        plural = "gradients" if len(seeds) > 1 else "gradient"
        words = f"{scope}let {{l}} be a differentiable function of {names_} with the {plural} {gradients}. {then}"
        return Text(words[:1].upper() + words[1:], {"l": loss, **slots, **more, **last, **own})

    def scope(self) -> Text:
        """The first words of an identity."""
        names, slots = listed(self._sizes(), "n")
        return Text(f"For {'every size' if len(slots) == 1 else 'all sizes'} {names},", slots)

    def _sizes(self) -> list[Formula]:
        dims = [dim for tensor in self.program.inputs.values() for dim in tensor.dims]
        return [
            Size(name) for name in sorted({node.name for dim in dims for node in walk(dim) if isinstance(node, Size)})
        ]

    def assumptions(self) -> tuple[Text, ...]:
        """What is assumed of the inputs."""
        conditions = Conditions(self.program)
        found = [Text(f"{{e}} is {_SIGNS[tensor.kind]}", {"e": tensor}) for tensor in conditions.declared()]
        for terms, one, more in (
            (conditions.roots(), "is positive", "are positive"),
            (conditions.divisors(), "is not 0", "are not 0"),
            (
                conditions.kinks(),
                "is nowhere 0, where ReLU has no derivative",
                "are nowhere 0, where ReLU has no derivative",
            ),
        ):
            if terms:
                words, slots = listed(terms, "t")
                found.append(Text(f"{words} {one if len(terms) == 1 else more}", slots))
        return (*found, *(Text(sentence) for sentence in self.program.assumptions))

    def notation(self, backward: Backward) -> Notation:
        """What the upstream gradient is."""
        found: list[tuple[Formula, Text]] = []
        for name, tensor in backward.upstream.items():
            variables = self.program.outputs[name].vars
            output = Entry(Tensor(name, tensor.dims), variables)
            found.append((Entry(tensor, variables), Text("the gradient arriving at {y}", {"y": output})))
        return tuple(found)


def _is_one_of(args: Sequence[Term], tensor: Tensor) -> bool:
    """Whether the tensor is one of the parts, and in none of the others."""
    own = [arg for arg in args if isinstance(arg, Entry) and arg.tensor == tensor]
    return len(own) == 1 and not any(tensor in tensors(arg) for arg in args if arg is not own[0])


def _is_factor(body: Term, tensor: Tensor) -> bool:
    return isinstance(body, Mul) and _is_one_of(body.args, tensor)


def _is_summand(body: Term, tensor: Tensor) -> bool:
    return isinstance(body, Add) and _is_one_of(body.args, tensor)


def _is_in_power(body: Term, tensor: Tensor) -> bool:
    return isinstance(body, Pow) and tensor in tensors(body)


_SIGNS = {"positive": "positive", "nonnegative": "not negative"}
_MANNERS = (
    (_is_factor, " as a factor"),
    (_is_summand, " as a summand"),
    (_is_in_power, " in a power"),
)
