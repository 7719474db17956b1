"""Closed forms of the adjoints of a reverse sweep: one readable line each, and the gradients put together from them.

The adjoints of *statistics* (a mean, a variance, a root of it: values that are broadcast to where they are used) are
put into the gradients, so that what remains is written with the adjoints of whole arrays, as people publish it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from symres.calculus.folding import Folded, Folding
from symres.calculus.reverse import Backward, tensors
from symres.kernel.normal import normal_form
from symres.kernel.terms import Entry, Tensor, Term
from symres.language.formula import adjoint
from symres.language.program import Definition, unfold


class ClosedForms:
    """What each adjoint of a sweep is, and how the gradients read.

    Args:
        backward: the sweep.
        outputs: the outputs that have a name of their own: a gradient may be written with them, as softmax's is.
    """

    def __init__(self, backward: Backward, outputs: Iterable[Definition] = ()) -> None:
        self.backward = backward
        self.program = backward.program
        named = {**self.program.definitions, **{each.tensor: each for each in outputs}}
        self.folding = Folding(named, [definition.body for definition in backward.adjoints.values()])
        self._folded: dict[Term, Folded] = {}

    def fold(self, term: Term) -> Folded:
        """A term in its closed form over the named values."""
        if term not in self._folded:
            self._folded[term] = self.folding.fold(term)
        return self._folded[term]

    def line(self, tensor: Tensor) -> Term:
        """The adjoint of a tensor by the adjoints of what uses it, folded, at the variables of its definition."""
        return self.fold(self.backward.adjoints[tensor].body).term

    def is_plain(self, tensor: Tensor) -> bool:
        """Whether the line is the chain rule's own sum, rearranged at most."""
        raw = self.backward.adjoints[tensor].body
        return normal_form(raw).key() == normal_form(self.line(tensor)).key()

    @cached_property
    def statistics(self) -> frozenset[Tensor]:
        """The named values that are broadcast wherever they are used, or used by such values only."""
        users = self._users()
        found: set[Tensor] = set()
        for tensor in reversed(self.program.definitions):
            ranks = [rank for user, rank in users.get(tensor, ()) if user not in found]
            if all(rank > len(tensor.dims) for rank in ranks) and users.get(tensor):
                found.add(tensor)
        return frozenset(found)

    def _users(self) -> dict[Tensor, list[tuple[Tensor | None, int]]]:
        users: dict[Tensor, list[tuple[Tensor | None, int]]] = {}
        for tensor, definition in self.program.definitions.items():
            for used in tensors(definition.body):
                users.setdefault(used, []).append((tensor, len(tensor.dims)))
        for value in self.program.outputs.values():
            for used in tensors(value.body):
                users.setdefault(used, []).append((None, len(value.vars)))
        return users

    @cached_property
    def inlined(self) -> Mapping[Tensor, Definition]:
        """The adjoints that are put in where they occur, by their tensors: of statistics, and those that are an entry."""
        found = {}
        for tensor, definition in self.backward.adjoints.items():
            if tensor in self.program.definitions and (
                tensor in self.statistics or isinstance(self.line(tensor), Entry)
            ):
                found[adjoint(tensor)] = replace(definition, body=self.line(tensor))
        return found

    @cached_property
    def merged(self) -> Mapping[Tensor, Definition]:
        """The adjoints that are used once only, where it is shorter to put them in."""
        found: dict[Tensor, Definition] = {}
        for tensor in reversed(self.backward.adjoints):
            own = adjoint(tensor)
            if tensor not in self.program.definitions or own in self.inlined:
                continue
            put_in = {**self.inlined, **found}
            rest = {
                each: unfold(self.line(each), put_in) for each in self.backward.adjoints if adjoint(each) not in put_in
            }
            users = [each for each, term in rest.items() if own in tensors(term)]
            if len(users) != 1:
                continue
            definition = replace(self.backward.adjoints[tensor], body=self.line(tensor))
            apart = self.fold(rest[users[0]]).weight[1] + self.fold(rest[tensor]).weight[1]
            if self.fold(unfold(rest[users[0]], {**self.inlined, own: definition})).weight[1] < apart:
                found[own] = definition
        return found

    def substituted(self, tensor: Tensor) -> Term:
        """The line of a tensor with all adjoints put in that do not remain, nothing else changed."""
        return unfold(self.line(tensor), {**self.inlined, **self.merged})

    def gradient(self, tensor: Tensor) -> Folded:
        """The closed form of an adjoint, in the adjoints that remain."""
        return self.fold(self.substituted(tensor))

    def remaining(self, terms: Iterable[Term]) -> list[Tensor]:
        """The tensors whose adjoints the terms are written with, and those that these are, in the sweep's order."""
        needed: set[Tensor] = set()
        waiting = list(terms)
        while waiting:
            new = {self._original[tensor] for tensor in tensors(waiting.pop()) & self._original.keys()} - needed
            needed |= new
            waiting.extend(self.gradient(tensor).term for tensor in new)
        return [tensor for tensor in self.backward.adjoints if tensor in needed]

    @cached_property
    def _original(self) -> Mapping[Tensor, Tensor]:
        return {adjoint(tensor): tensor for tensor in self.backward.adjoints}
