"""Rules that count, compiled by what they count: a decision diagram of a rule over many concepts, in numpy.

A rule such as "as many queens too many as pawns are missing" is a small formula of a few *tallies*, each a sum of terms
that look at one or two concepts. While the concepts are read one by one, all that must be kept are the tallies so far,
up to where more makes no difference, and those concepts that a later term looks at again. `assay.logic.circuit`
compiles any formula, but keeps residuals as trees, one at a time; this way is for large boards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from assay.base import Array, FormulaError, TooLarge
from assay.logic import formula as f
from assay.logic.build import conjunction, disjunction, map_children, names_in
from assay.logic.circuit import Diagram, Outcome, compile_diagram, merge_nodes
from assay.logic.concepts import Concept, ConceptSpace
from assay.logic.evaluation import Evaluator
from assay.logic.formula import Formula, Not, Var, total
from assay.logic.ground import ground_formula, shape_of

SCOPE = 2
"""How many concepts a term may look at."""
LARGEST_TERM = 4096
LARGEST_TALLY = 1_000_000
"""The largest value of a tally; sums of larger numbers are compiled in the general way."""
MOST_TALLIES = 400_000
"""The most combinations of tallies that are listed."""
BUDGET = 1_000_000
SLOW_BUDGET = 50_000
"""How many nodes the general way may make here: it is slow, and other ways are left."""


class NotTallied(Exception):
    """The formula is no formula of tallies."""


@dataclass(frozen=True)
class TallyTerm:
    """A number that depends on one or two concepts: `table[code]`, or `table[code, code]`; its least value is 0."""

    places: tuple[int, ...]
    table: Array


@dataclass(frozen=True)
class Tally:
    """A sum of terms."""

    terms: tuple[TallyTerm, ...]

    @property
    def most(self) -> int:
        """The largest value that it can have."""
        return sum(int(term.table.max()) for term in self.terms)


class Skeleton:
    """A formula rewritten over its tallies."""

    def __init__(self, formula: Formula, space: ConceptSpace) -> None:
        self.space = space
        self.tallies: list[Tally] = []
        self.numbers: dict[tuple[Formula, ...], int] = {}
        shape_of(formula, space)
        try:
            self.formula = self._truth(ground_formula(formula, space))
        except FormulaError as error:  # a part that counts only where its guard holds cannot stand alone
            raise NotTallied(str(error)) from None
        if not self.tallies:
            raise NotTallied("a constant")

    def _local(self, part: Formula) -> bool:
        names = names_in(part)
        sizes = [self.space.sizes[self.space.place(name)] for name in names]
        return 1 <= len(names) <= SCOPE and prod(sizes) <= LARGEST_TERM

    def _rewritten(self, part: Formula) -> Formula:
        if self._local(part):
            return self._truth(part) if shape_of(part, self.space).kind == "bool" else self._sum((part,))
        match part:
            case f.And(parts):
                near, far = self._split(parts)
                satisfied = [self._sum(tuple(Not(part_near) for part_near in near)).eq(0)] if near else []
                return conjunction(*satisfied, *map(self._truth, far))
            case f.Or(parts):
                near, far = self._split(parts)
                return disjunction(*([self._sum(near) > 0] if near else []), *map(self._truth, far))
            case f.Count(parts):
                near, far = self._split(parts)
                return total(self._sum(near), f.Count(tuple(map(self._truth, far)))) if far else self._sum(near)
            case f.Sum(terms):
                near, far = self._split(terms)
                return total(*([self._sum(near)] if near else []), *map(self._rewritten, far))
            case f.AllDifferent() | f.AllEqual() | f.Member():
                raise NotTallied(type(part).__name__)
        return map_children(part, self._rewritten)

    def _truth(self, part: Formula) -> Formula:
        return self._sum((part,)).eq(1) if self._local(part) else self._rewritten(part)

    def _split(self, parts: Sequence[Formula]) -> tuple[tuple[Formula, ...], list[Formula]]:
        return tuple(p for p in parts if self._local(p)), [p for p in parts if not self._local(p)]

    def _sum(self, parts: tuple[Formula, ...]) -> Formula:
        """Return the sum of local parts: a tally, and the least that it is."""
        terms = [self._term(part) for part in parts]
        if parts not in self.numbers:
            self.numbers[parts] = len(self.tallies)
            self.tallies.append(Tally(tuple(term for term, _ in terms)))
        least = sum(number for _, number in terms)
        tally = Var(f"t{self.numbers[parts]}")
        return tally + least if least else tally

    def _term(self, part: Formula) -> tuple[TallyTerm, int]:
        names = names_in(part)
        if shape_of(part, self.space).kind == "symbol" or shape_of(part, self.space).optional:
            raise NotTallied(str(part))
        inner = ConceptSpace(tuple(self.space.concept(name) for name in names))
        values = Evaluator(inner, part)(inner.all_codes())
        least = int(values.min())
        if int(values.max()) - least > LARGEST_TALLY:
            raise NotTallied(str(part))
        table = (values - least).astype(np.int64).reshape(inner.sizes)
        return TallyTerm(tuple(self.space.place(name) for name in names), table), least


@dataclass(frozen=True)
class Automaton:
    """Classes of tallies that the concepts still to be read cannot distinguish, and where each step leads.

    `steps[tally, by]` is the next class for each class when a tally grows.
    """

    start: int
    steps: dict[tuple[int, int], Array]
    holds: Array

    @cached_property
    def is_settled(self) -> Array:
        """Which classes no step leaves: the formula is decided."""
        size = len(self.holds)
        stays = [step == np.arange(size) for step in self.steps.values()]
        return np.asarray(np.all(stays or [np.ones(size, dtype=bool)], axis=0))

    def after(self, classes: Array, tally: int, growth: Array) -> Array:
        """Return the classes after a tally has grown."""
        for by in np.unique(growth[growth > 0]).tolist():
            classes = np.where(growth == by, self.steps[tally, by][classes], classes)
        return classes


def _automaton(skeleton: Skeleton) -> Automaton:
    tallies = skeleton.tallies
    if max(tally.most for tally in tallies) > LARGEST_TALLY:
        raise NotTallied("a sum of large numbers")
    space = ConceptSpace(tuple(Concept(f"t{n}", tuple(range(t.most + 1))) for n, t in enumerate(tallies)))
    rule = compile_diagram([skeleton.formula], space, budget=SLOW_BUDGET)
    caps = np.zeros(len(tallies), dtype=np.int64)
    for place, layer in zip(rule.order, rule.layers, strict=True):
        same = (layer == layer[:, -1:]).all(axis=0)
        caps[place] = len(same) - int(np.argmin(same[::-1])) if not same.all() else 0  # from here on it is one
    shape = tuple((caps + 1).tolist())
    if prod(shape) > MOST_TALLIES:
        raise TooLarge(f"the rule's tallies have {prod(shape):,} combinations, more than {MOST_TALLIES:,}")
    grid = np.indices(shape, dtype=np.int32).reshape(len(shape), -1)
    truth = np.array([bool(outcome[0]) for outcome in rule.outcomes])
    labels = truth[rule.outcome_of(grid.T)].astype(np.int64)
    growths = [(n, int(by)) for n, t in enumerate(tallies) for by in _growths(t)]
    steps = {growth: _step(grid, shape, growth) for growth in growths}
    labels = _merged(labels, list(steps.values()))
    first = np.unique(labels, return_index=True)[1]
    class_steps = {growth: labels[step[first]] for growth, step in steps.items()}
    return Automaton(int(labels[0]), class_steps, truth[rule.outcome_of(grid.T[first])])


def _growths(tally: Tally) -> list[int]:
    growths = {int(by) for term in tally.terms for by in np.unique(term.table)}
    return sorted(growths - {0})


def _step(grid: Array, shape: tuple[int, ...], growth: tuple[int, int]) -> Array:
    tally, by = growth
    moved = [np.minimum(row + by, shape[tally] - 1) if n == tally else row for n, row in enumerate(grid)]
    return np.asarray(np.ravel_multi_index(moved, shape))


def _merged(labels: Array, steps: Sequence[Array]) -> Array:
    """Split classes until each step leads members of a class to one class; return the class of each state."""
    labels = np.unique(labels, return_inverse=True)[1]
    while True:
        finer = labels
        for step in steps:
            finer = np.unique(finer * (int(labels.max()) + 1) + labels[step], return_inverse=True)[1]
        if finer.max() == labels.max():
            return np.asarray(finer)
        labels = finer


class Sweep:
    """The layers of a diagram, one concept after the other."""

    def __init__(self, skeleton: Skeleton, order: tuple[int, ...], budget: int) -> None:
        self.space, self.order, self.budget = skeleton.space, order, budget
        self.automaton = _automaton(skeleton)
        self.rank = {place: layer for layer, place in enumerate(order)}
        self.terms = [(number, term) for number, tally in enumerate(skeleton.tallies) for term in tally.terms]
        self.letters = {place: self._letters(place) for place in order}
        self.needed = {place: self._last_use(place) for place in order}

    def _letters(self, place: int) -> Array:
        """Return the letter of each code of a concept: codes that every term treats alike have one letter."""
        rows = [np.moveaxis(t.table, t.places.index(place), 0) for _, t in self.terms if place in t.places]
        size = self.space.sizes[place]
        if not rows:
            return np.zeros(size, dtype=np.int64)
        table = np.concatenate([row.reshape(size, -1) for row in rows], axis=1)
        return np.unique(table, axis=0, return_inverse=True)[1].ravel()

    def _last_use(self, place: int) -> int:
        return max((self.rank[p] for _, t in self.terms if place in t.places for p in t.places), default=-1)

    def diagram(self) -> Diagram:
        """Return the diagram whose outcome is whether the formula holds."""
        classes, letters = np.array([self.automaton.start]), dict[int, Array]()
        layers, size = [], 0
        for number, place in enumerate(self.order):
            size += len(classes)
            if size > self.budget:
                raise TooLarge(f"the rule's decision diagram outgrows {self.budget:,} nodes; use simpler rules")
            grown, columns = self._read(number, place, classes, letters)
            letter_count = int(self.letters[place].max()) + 1
            keys, targets = np.unique(self._keys(grown, columns), return_index=True, return_inverse=True)[1:]
            table = targets.reshape(-1, letter_count).astype(np.int32)
            layers.append(table[:, self.letters[place]])
            classes, letters = grown[keys], {p: column[keys] for p, column in columns.items()}
        outcomes: list[Outcome] = [(bool(self.automaton.holds[number_of_class]),) for number_of_class in classes]
        return merge_nodes(self.space, self.order, layers, outcomes)

    def _read(
        self, number: int, place: int, classes: Array, letters: dict[int, Array]
    ) -> tuple[Array, dict[int, Array]]:
        """Return, for each state and letter, the class after reading one concept, and the letters still needed."""
        size = int(self.letters[place].max()) + 1
        codes_of_letters = np.unique(self.letters[place], return_index=True)[1]  # a code of each letter
        columns = {p: np.repeat(column, size) for p, column in letters.items()}
        columns[place] = np.tile(np.arange(size), len(classes))
        grown = np.repeat(classes, size)
        for tally, term in self.terms:
            if max(self.rank[p] for p in term.places) == number:
                codes = tuple(self._code(p, codes_of_letters if p == place else None)[columns[p]] for p in term.places)
                grown = self.automaton.after(grown, tally, term.table[codes])
        done = self.automaton.is_settled[grown]
        left = {p: np.where(done, 0, column) for p, column in columns.items() if self.needed[p] > number}
        return grown, left

    def _code(self, place: int, known: Array | None) -> Array:
        return np.unique(self.letters[place], return_index=True)[1] if known is None else known

    def _keys(self, classes: Array, letters: dict[int, Array]) -> Array:
        sizes = [len(self.automaton.holds), *(int(self.letters[p].max()) + 1 for p in letters)]
        if prod(sizes) >= 2**62:
            raise TooLarge("the rule ties too many concepts together; use simpler rules")
        return np.asarray(np.ravel_multi_index((classes, *letters.values()), tuple(sizes)))


def compile_tallied(
    formula: Formula, space: ConceptSpace, order: Sequence[str] | None = None, budget: int = BUDGET
) -> Diagram:
    """Compile one true-or-false formula into a diagram, by its tallies; `NotTallied` if it is no formula of tallies.

    >>> from assay.logic.concepts import bits
    >>> from assay.logic import parse
    >>> compile_tallied(parse("count(a, b, c) == 2"), bits(["a", "b", "c"])).counts[(True,)]
    3
    """
    places = tuple(range(len(space))) if order is None else tuple(space.place(name) for name in order)
    return Sweep(Skeleton(formula, space), places, budget).diagram()


def truth_diagram(formula: Formula, space: ConceptSpace, budget: int = BUDGET) -> Diagram:
    """Return the diagram of a true-or-false formula in the order of the space, by tallies where it has them.

    Parameters
    ----------
    formula
        What is true or false.
    space
        The concepts, in the order in which they are read.
    budget
        The most nodes; a diagram that would have more is refused.
    """
    try:
        return compile_tallied(formula, space, budget=budget)
    except NotTallied:
        return compile_diagram([formula], space, space.names, budget=min(budget, SLOW_BUDGET))


def true_outcomes(diagram: Diagram) -> Array:
    """Return which outcomes of a diagram of one true-or-false formula are true."""
    return np.array([bool(outcome[0]) for outcome in diagram.outcomes])
