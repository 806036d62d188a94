"""Differentiable forward reasoning, for all examples at once: from concepts to values of atoms, clauses and rules.

A ground atom says something of one, two or three slots, or of the world. Its value is exact for concepts that are
independent of one another; where both arguments are one slot, that slot has one value. That an object is there is an
atom of its own, on which all of a slot's attributes have a say, and what is said of it holds given that it is there.

A clause holds as much as some choice of objects makes its body hold: a soft "or" over choices of the product of its
atoms. A rule is a weighted choice of clauses, a program a soft "or" of rules. Bodies are sparse lists of atom numbers,
a row for each choice that can hold at all; values are gathered by them. No head occurs in a body, so that one step of
reasoning is all there is.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal as Choice

import numpy as np
import torch
from torch import Tensor, nn

from assay.base import Array
from assay.logic import ABSENT, NUMBER, ConceptSpace, Slot
from assay.prolog import AttributeTerm, CountLiteral, Literal, literals_by_terms

FALSE, TRUE = 0, 1
LEAST = 1e-6
SoftOr = Choice["noisy", "max"]
GAMMA = 0.01
NEARLY = 1 - 1e-6
CELLS = 1 << 20
"""How many values are held at once."""


# -- atoms -------------------------------------------------------------------------------------------------------------


class GroundAtoms:
    """The ground atoms of some literals, by number: false, true, an atom for each object, then those of literals."""

    def __init__(self, space: ConceptSpace, literals: Sequence[Literal]) -> None:
        self.space = space
        self.literals = tuple(literals)
        self.slots = [slot for slots in space.groups.values() for slot in slots]
        self._there = {slot.name: 2 + place for place, slot in enumerate(self.slots)}
        self.shapes = [tuple(len(space.groups[group]) for group in literal.groups) for literal in self.literals]
        sizes = [int(np.prod(shape, initial=1)) for shape in self.shapes]
        self.offsets = 2 + len(self.slots) + np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def presence(self, group: str) -> Array:
        """Return the atoms for the presence of a group's objects; true where they are always present."""
        slots = self.space.groups[group]
        return np.array([self._there[slot.name] if self._optional(slot) else TRUE for slot in slots], dtype=np.int64)

    def atoms(self, number: int, slots: Array) -> Array:
        """Return the atoms of a literal for rows of slots, a column an argument; false or true where always so."""
        strides = np.cumprod((1, *self.shapes[number][:0:-1]))[::-1] if slots.shape[1] else np.zeros(0)
        place = (slots * strides[: slots.shape[1]]).sum(axis=1).astype(np.int64)
        return np.asarray(self.atom_numbers[self.offsets[number] + place])

    @cached_property
    def atom_numbers(self) -> Array:
        """The number of each atom, those that hold always or never (the order of objects) being true and false."""
        numbers = np.arange(len(self), dtype=np.int64)
        for number, literal in enumerate(self.literals):
            if literal.terms and all(self._is_place(term, literal) for term in literal.terms):
                values = literal.table()[tuple(slice(-1) for _ in literal.terms)]
                picked = [
                    values[tuple(at[t.argument] for t in literal.terms)] for at in np.ndindex(self.shapes[number])
                ]
                numbers[self.offsets[number] : self.offsets[number + 1]] = np.where(picked, TRUE, FALSE)
        return numbers

    @cached_property
    def clashing(self) -> Array:
        """Which two literals can never hold of one object together."""
        return alike_pairs(self.literals, lambda a, b: not (a & b).any())

    def _is_place(self, term: AttributeTerm, literal: Literal) -> bool:
        return bool(literal.groups) and not self._own(term, self.space.groups[literal.groups[term.argument]][0])

    def _own(self, term: AttributeTerm, slot: Slot) -> bool:
        return term.attribute != NUMBER or NUMBER in slot.attributes

    def _optional(self, slot: Slot) -> bool:
        return self.space.concept(slot.concepts[0]).optional

    # -- values ----------------------------------------------------------------------------------------------------

    def values(self, concepts: Sequence[Tensor]) -> Tensor:
        """Return the truth of each atom (atoms x examples), given the probabilities of concepts (examples x values)."""
        rows = len(concepts[0])
        there = self._presence(concepts)
        truths: list[Tensor | None] = [None] * len(self.literals)
        for (terms, groups), numbers in literals_by_terms(self.literals).items():
            tables = torch.from_numpy(np.stack([self.literals[n].table() for n in numbers])).to(concepts[0])
            tabled = self._tabled(tables, terms, groups, concepts)
            for place, number in enumerate(numbers):
                truths[number] = tabled[place]
        for number, literal in enumerate(self.literals):
            if isinstance(literal, CountLiteral):
                truths[number] = self._counted(literal, there, concepts)[None]
        always = concepts[0].new_ones(1, rows)
        return torch.cat([always * 0, always, *there.values(), *(truth for truth in truths if truth is not None)])

    def _presence(self, concepts: Sequence[Tensor]) -> dict[str, Tensor]:
        """Return how likely it is that each slot holds an object: its attributes are witnesses of the same fact."""
        presence = {}
        for slot in self.slots:
            if not self._optional(slot):
                presence[slot.name] = concepts[0].new_ones(1, len(concepts[0]))
                continue
            gone = torch.stack([self._gone(name, concepts) for name in slot.concepts]).clamp(LEAST, 1 - LEAST)
            odds = (torch.log1p(-gone) - torch.log(gone)).sum(dim=0)
            presence[slot.name] = torch.sigmoid(odds)[None]
        return presence

    def _gone(self, name: str, concepts: Sequence[Tensor]) -> Tensor:
        return concepts[self.space.place(name)][:, self.space.concept(name).values.index(ABSENT)]

    def _tabled(
        self, tables: Tensor, terms: tuple[AttributeTerm, ...], groups: tuple[str, ...], concepts: Sequence[Tensor]
    ) -> Tensor:
        """Return the values of literals of the same terms: literals x choices of slots x examples."""
        slots = [self.space.groups[group] for group in groups]
        expected = []
        for place in np.ndindex(tuple(len(members) for members in slots)):
            chosen = [members[at] for members, at in zip(slots, place, strict=True)]
            expected.append(self._expected(tables, self._distributions(terms, chosen, concepts)))
        return torch.stack(expected, dim=1)

    def _distributions(
        self, terms: Sequence[AttributeTerm], chosen: Sequence[Slot], concepts: Sequence[Tensor]
    ) -> Iterator[tuple[str, Tensor]]:
        for term in terms:
            slot = chosen[term.argument] if chosen else None
            if slot is not None and not self._own(term, slot):
                place = self.space.groups[slot.group].index(slot)
                position = torch.eye(len(term.values) + 1).to(concepts[0])[place]
                yield f"{slot.name} number", position.expand(len(concepts[0]), -1)
            else:
                name = term.attribute if slot is None else slot.concept(term.attribute)
                yield name, self._given_there(name, term, concepts)

    def _given_there(self, name: str, term: AttributeTerm, concepts: Sequence[Tensor]) -> Tensor:
        """Return the probabilities of a term's values, given that its object is there; the last place is empty."""
        concept = self.space.concept(name)
        places = {(type(value), value): place for place, value in enumerate(term.values)}
        turned = torch.zeros(len(concept.values), len(places) + 1)
        for code, value in enumerate(concept.values):
            if (type(value), value) in places:
                turned[code, places[type(value), value]] = 1
        values = concepts[self.space.place(name)] @ turned.to(concepts[0])
        if concept.optional:
            values = values / (1 - self._gone(name, concepts)[:, None]).clamp_min(LEAST)
        return values

    def _expected(self, tables: Tensor, terms: Iterator[tuple[str, Tensor]]) -> Tensor:
        """Return the chance that each table holds (tables x examples); terms on one concept have one value."""
        names: list[str] = []
        distributions: list[Tensor] = []
        for name, distribution in terms:
            if name in names:
                at = names.index(name) + 1
                tables = torch.diagonal(tables, dim1=at, dim2=len(names) + 1)  # the shared axis becomes the last
                tables = tables.movedim(-1, at)
            else:
                names.append(name)
                distributions.append(distribution)
        expected = tables[..., None]
        for distribution in reversed(distributions):
            expected = (expected * distribution.T).sum(dim=-2)
        return expected

    def _counted(self, literal: CountLiteral, there: dict[str, Tensor], concepts: Sequence[Tensor]) -> Tensor:
        """Return the chance that so many objects have a value, all objects being independent."""
        slots = self.space.groups[literal.group]
        number = [there[slot.name][0] for slot in slots]
        if literal.counted is not None:
            term, value = literal.counted.terms[0], literal.counted.value
            at = term.values.index(value)
            has_value = [self._given_there(slot.concept(term.attribute), term, concepts)[:, at] for slot in slots]
            number = [likely * other for likely, other in zip(number, has_value, strict=True)]
        chances = [torch.ones_like(number[0])] + [torch.zeros_like(number[0])] * len(slots)
        for likely in number:
            chances = [
                chances[k] * (1 - likely) + (chances[k - 1] * likely if k else torch.zeros_like(likely))
                for k in range(len(chances))
            ]
        least = int(literal.value)
        return chances[least] if literal.way == "==" else torch.stack(chances[least:]).sum(dim=0)


def alike_pairs(literals: Sequence[Literal], test: Callable[[Array, Array], bool]) -> Array:
    """Return for which two literals on the same single term a test of their truth tables holds."""
    pairs = np.zeros((len(literals), len(literals)), dtype=bool)
    single = [members for (terms, _), members in literals_by_terms(literals).items() if len(terms) == 1]
    for members in single:
        tables = {number: literals[number].table() for number in members}
        for left, right in product(members, repeat=2):
            pairs[left, right] = test(tables[left], tables[right])
    return pairs


# -- clauses and rules -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GroundBodies:
    """Ground bodies of several clauses: atom numbers (rows x longest body, filled up with true), and whose rows."""

    atoms: Tensor
    clause: Tensor
    clauses: int

    @classmethod
    def of(cls, rows: Sequence[Array]) -> "GroundBodies":
        """Return the bodies of clauses, each given as an array of choices x atoms."""
        longest = max((body.shape[1] for body in rows), default=0)
        ends = np.cumsum([0, *(len(body) for body in rows)])
        atoms = np.full((ends[-1], longest), TRUE, dtype=np.int64)
        for body, first in zip(rows, ends, strict=False):
            atoms[first : first + len(body), : body.shape[1]] = body
        clause = np.repeat(np.arange(len(rows)), np.diff(ends))
        return cls(torch.from_numpy(atoms), torch.from_numpy(clause), len(rows))


def clause_values(values: Tensor, bodies: GroundBodies, way: SoftOr = "noisy") -> Tensor:
    """Return how much each clause holds (clauses x examples), given the values of atoms (atoms x examples)."""
    truths = values.new_ones(len(bodies.atoms), values.shape[1])
    for column in bodies.atoms.unbind(dim=1):
        truths = truths * values.index_select(0, column)
    return _some_of(truths, bodies.clause, bodies.clauses, way)


def _some_of(truths: Tensor, owner: Tensor, size: int, way: SoftOr) -> Tensor:
    """Return the soft "or" of the rows of each owner, of each example by itself; nothing is false."""
    empty = truths.new_zeros(size, truths.shape[1])
    if way == "noisy":
        return 1 - torch.exp(empty.index_add(0, owner, torch.log1p(-truths.clamp(max=NEARLY))))
    rows = owner[:, None].expand_as(truths)
    top = empty.scatter_reduce(0, rows, truths.detach(), "amax")  # of each example: others in the batch have no say
    weights = torch.exp((truths - top[owner]) / GAMMA)
    below = empty.index_add(0, owner, weights)
    return empty.index_add(0, owner, weights * truths) / below.clamp_min(1e-9)


class Rules(nn.Module):
    """Several rules, each a weighted choice among the same clauses; the weights are all that is learned."""

    def __init__(self, logits: Tensor, way: SoftOr = "noisy") -> None:
        super().__init__()
        self.logits = nn.Parameter(logits)
        self.way: SoftOr = way

    @property
    def weights(self) -> Tensor:
        """The share of each clause in each rule (rules x clauses)."""
        return torch.softmax(self.logits, dim=1)

    def forward(self, truths: Tensor) -> Tensor:
        """Return how true the label is in each example, given how much each clause holds (clauses x examples)."""
        return program_value(self.weights, truths, self.way)


def program_value(weights: Tensor, truths: Tensor, way: SoftOr) -> Tensor:
    """Return the soft "or" of rules for each example, given the shares of clauses."""
    rule_values = weights @ truths
    return _some_of(rule_values, torch.zeros(len(rule_values), dtype=torch.int64), 1, way)[0]
