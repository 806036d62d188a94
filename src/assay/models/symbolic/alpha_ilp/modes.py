"""Mode declarations: how each literal of the declared bias may enter a clause.

An argument is `+`, an object that the clause has already, or `-`, one that enters with the literal. Constants are
part of the literals. All of it is generated from the space: the literals are those that every ILP learner is given.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal as Choice

import numpy as np

from assay.base import Array
from assay.prolog import Bias, Literal, Vocabulary, literals_by_terms

MOST_ATOMS = 4096
"""Literals with more ground atoms are left out: three of many objects."""
Sign = Choice["+", "-"]
SIGNS: tuple[Sign, Sign] = ("+", "-")
Test = Callable[[Array, Array], bool]


@dataclass(frozen=True)
class Mode:
    """One way in which a literal enters a clause, and how often it may."""

    number: int
    literal: Literal
    signs: tuple[Sign, ...]
    recall: int

    def text(self, vocabulary: Vocabulary) -> str:
        """Return it as a declaration: `modeb(2,roof_none(-car))`."""
        arguments = [f"{s}{vocabulary.kinds[g]}" for s, g in zip(self.signs, self.literal.groups, strict=True)]
        return f"modeb({self.recall},{self.literal.name}({','.join(arguments) or '+world'}))"


@dataclass(frozen=True)
class Modes:
    """The literals of a bias that are used, the ways in which they enter, and which do not go together."""

    bias: Bias

    @cached_property
    def literals(self) -> tuple[Literal, ...]:
        """The literals that have few enough ground atoms."""
        sizes = {group: len(slots) for group, slots in self.bias.space.groups.items()}
        return tuple(
            literal
            for literal in self.bias.literals
            if int(np.prod([sizes[g] for g in literal.groups], initial=1)) <= MOST_ATOMS
        )

    @cached_property
    def declarations(self) -> tuple[Mode, ...]:
        """All modes: each literal with known and with new objects."""
        modes = []
        for number, literal in enumerate(self.literals):
            often = self.bias.language.objects if literal.arity == 1 else 1
            for signs in product(SIGNS, repeat=literal.arity):
                if signs.count("-") > self.bias.language.objects or (literal.symmetric and signs == ("-", "+")):
                    continue
                modes.append(Mode(number, literal, signs, often))
        return tuple(modes)

    def texts(self) -> list[str]:
        """Return all declarations."""
        return [mode.text(self.bias.vocabulary) for mode in self.declarations]

    @cached_property
    def idle(self) -> Array:
        """Which two literals on one object can never hold together, or say no more than one of them alone."""
        return alike_pairs(self.literals, lambda a, b: not (a & b).any() or not (a & ~b).any() or not (b & ~a).any())


def clashing_pairs(literals: Sequence[Literal]) -> Array:
    """Return which two literals on the same attribute of one object can never hold together."""
    return alike_pairs(literals, lambda a, b: not (a & b).any())


def alike_pairs(literals: Sequence[Literal], test: Test) -> Array:
    """Return for which two literals on the same single term a test of their truth tables holds."""
    pairs = np.zeros((len(literals), len(literals)), dtype=bool)
    single = [members for (terms, _), members in literals_by_terms(literals).items() if len(terms) == 1]
    for members in single:
        tables = {number: literals[number].table() for number in members}
        for left, right in product(members, repeat=2):
            pairs[left, right] = test(tables[left], tables[right])
    return pairs
