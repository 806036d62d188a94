"""The optimal readings of a problem: how many, what they get right, examples of them, and what to label next.

Readings of whole worlds (`per-world`) may read each world of the support as any world with the same labels, so that
their number is a product over worlds. Only supervision of whole concepts helps there: an entry of one world says
nothing about another's.
"""

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from assay.base import Array, Codes, TooLarge, distinct_rows, rng_for
from assay.counting.problem import Problem, ReadingEntry, Supervised, deciding_concepts, entry_of
from assay.counting.solver import EquivalentValues, OutOfTime, Part, Solver
from assay.logic import Knowledge

PLANNING = 10.0
"""Seconds for a plan."""
MOST_LISTED = 5_000
SAMPLED = 500
MOST_WORLDS = 2**18
"""How many worlds of the used concepts may be listed, to count under supervision."""


@dataclass(frozen=True)
class LabellingStep:
    """A step of a labelling plan: what to supervise, in words, and how many readings are left."""

    supervised: str
    left: int
    entries: tuple[ReadingEntry, ...] = ()
    """What that is as entries of a reading."""


class ConceptMappings:
    """The optimal readings of a problem: their number, samples of them, and plans to rule out all but the right one."""

    def __init__(self, problem: Problem, seconds: float = float("inf")) -> None:
        self.problem = problem
        self.solver = Solver(problem.space, seconds)
        self.part = self.solver.part(problem.constraints())

    @cached_property
    def total(self) -> int:
        """The number of optimal readings, the right one among them."""
        return self.solver.total(self.part)

    def confusion(self, number: int) -> list[int]:
        """Return, for each value, how many optimal readings give it for an entry."""
        alike = self.solver.interchange.alike(self.part, number)
        codes = range(self.solver.space.sizes[number])
        return [self._ways(self.part, 0, number, code, alike) for code in codes]

    def identifiability(self) -> list[tuple[ReadingEntry, float]]:
        """Return, for each entry, the share of optimal readings that read it right."""
        shares = []
        for number, entry in enumerate(self.problem.entries):
            alike = self.solver.interchange.alike(self.part, number)
            shares.append((entry, self._ways(self.part, 0, number, entry.right, alike) / self.total))
        return shares

    def _ways(self, part: Part, mask: int, number: int, code: int, alike: EquivalentValues) -> int:
        """Return how many readings of a part give a value for an entry; `mask` has the entries known before."""
        solver = self.solver
        if code in alike.codes:
            code = alike.codes[0]
            if len(alike.codes) == solver.space.sizes[number]:
                return solver.count(part) * solver.free(solver.mask(part) | mask) // len(alike.codes)
        rest = solver.assign(part, number, code)
        return solver.count(rest) * solver.free(solver.mask(rest) | mask | 1 << number)

    def sample(self, rng: np.random.Generator, count: int) -> list[tuple[int, ...]]:
        """Return optimal readings drawn uniformly, as codes."""
        return [self.of_rank(_below(self.total, rng)) for _ in range(count)]

    def of_rank(self, rank: int) -> tuple[int, ...]:
        """Return the optimal reading of a rank, 0 to `total` - 1.

        Entries are read in the order in which they were counted. Of values that are alike the first is taken, as in
        counting, and exchanged for the one that is meant.
        """
        if not 0 <= rank < self.total:
            raise ValueError(f"ranks run from 0 to {self.total - 1}")
        solver, part, mask, reading = self.solver, self.part, 0, list(self.problem.truth)
        meant = [list(range(size)) for size in solver.space.sizes]
        while part:
            component = min(solver.components(part), key=lambda some: solver.mask(some) & -solver.mask(some))
            place = solver.choice(component)
            alike = solver.interchange.alike(component, place)
            for answer in range(solver.space.sizes[place]):
                code = meant[place].index(answer)
                ways = self._ways(part, mask, place, code, alike)
                if rank < ways:
                    break
                rank -= ways
            reading[place] = answer
            if code in alike.codes:
                first = alike.codes[0]
                for entry in alike.entries:
                    meant[entry][first], meant[entry][code] = meant[entry][code], meant[entry][first]
                code = first
            part, mask = solver.assign(part, place, code), mask | 1 << place
        for place, size in enumerate(solver.space.sizes):
            if not mask >> place & 1:
                rank, reading[place] = divmod(rank, size)
        return tuple(reading)

    def text(self, reading: tuple[int, ...]) -> str:
        """Return what a reading gets wrong, in words."""
        wrong = [
            f"{entry.text} as {entry.values[code]}"
            for entry, code in zip(self.problem.entries, reading, strict=True)
            if code != entry.right
        ]
        return "reads " + ", ".join(wrong) if wrong else "reads everything right"

    def closest(self, count: int = 3) -> list[tuple[int, ...]]:
        """Return the shortcuts that get the fewest entries wrong; of very many, those of a sample."""
        offered = list(self) if self.total <= MOST_LISTED else self.sample(rng_for(0, "closest"), SAMPLED)
        truth = self.problem.truth
        wrong = {r: sum(a != b for a, b in zip(r, truth, strict=True)) for r in offered if r != truth}
        return sorted(wrong, key=lambda reading: (wrong[reading], reading))[:count]

    def plan(self, seconds: float = PLANNING) -> list[LabellingStep]:
        """Return what to supervise, one entry after the other, each removing as many readings as possible.

        Of entries that remove as many, the first is taken. A plan that its budget cuts short ends with more than one
        reading left.
        """
        return self._greedy([(entry.text, (number,)) for number, entry in enumerate(self.problem.entries)], seconds)

    def plan_frequent(self, seconds: float = PLANNING) -> list[LabellingStep]:
        """Return a plan that, of entries that remove as many readings, takes the one that most training worlds show.

        Such an entry is tied by labels to more others, so that a learner that knows it learns more about these.
        """
        problem, space = self.problem, self.problem.knowledge.space
        counts = Counter[int]()
        for codes in problem.support.tolist():
            used = (entry_of(space, cell, codes) for cell in problem.cells)
            counts.update({problem.numbers[entry.owner, entry.truth] for entry in used})
        order = sorted(range(len(problem.entries)), key=lambda number: -counts[number])
        return self._greedy([(problem.entries[number].text, (number,)) for number in order], seconds)

    def plan_examples(self, seconds: float = PLANNING) -> list[LabellingStep]:
        """Return which worlds to annotate fully, one by one, each removing as many readings as possible."""
        problem, space = self.problem, self.problem.knowledge.space
        options = []
        for codes in problem.support.tolist():
            used = [entry_of(space, cell, codes) for cell in problem.cells]
            numbers = tuple(dict.fromkeys(problem.numbers[entry.owner, entry.truth] for entry in used))
            options.append((" ".join(f"{n}={v}" for n, v in space.decode(codes).items()), numbers))
        return self._greedy(options, seconds)

    def _greedy(self, options: list[tuple[str, tuple[int, ...]]], seconds: float) -> list[LabellingStep]:
        part, mask, left, steps = self.part, 0, self.total, list[LabellingStep]()
        self.solver.deadline = time.monotonic() + seconds
        try:
            while left > 1:
                tried = [(self._after(part, mask, numbers), text, numbers) for text, numbers in options]
                before = left
                (part, mask, left), text, numbers = min(tried, key=lambda option: option[0][2])
                if left == before:
                    break  # what is left cannot be told apart by showing any of these
                steps.append(LabellingStep(text, left, tuple(self.problem.entries[number] for number in numbers)))
        except OutOfTime:
            return steps
        finally:
            self.solver.deadline = math.inf
        return steps

    def _after(self, part: Part, mask: int, numbers: tuple[int, ...]) -> tuple[Part, int, int]:
        """Return what is left of a part after supervision: the part, the supervised entries, the number of readings."""
        for number in numbers:
            part = self.solver.assign(part, number, self.problem.truth[number])
            mask |= 1 << number
        return part, mask, self.solver.count(part) * self.solver.free(self.solver.mask(part) | mask)

    def least_to_show(self, most: int = 4) -> tuple[ReadingEntry, ...] | None:
        """Return the fewest entries to supervise that leave only the right reading; None if more than `most`."""
        for size in range(most + 1):
            for chosen in combinations(range(len(self.problem.entries)), size):
                if self._after(self.part, 0, chosen)[2] == 1:
                    return tuple(self.problem.entries[number] for number in chosen)
        return None

    def add_worlds(self, worlds: Codes) -> "ConceptMappings":
        """Return the readings that fit further worlds too; what was counted before is not counted again."""
        support = np.unique(np.concatenate([self.problem.support, worlds]), axis=0)
        problem = replace(self.problem, support=support)
        readings = ConceptMappings(problem)
        if problem.entries == self.problem.entries:
            readings.solver = self.solver
            readings.part = self.solver.part(problem.constraints())
        return readings

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return self.enumerate_readings()

    def enumerate_readings(self) -> Iterator[tuple[int, ...]]:
        """Yield every optimal reading in the order of its codes."""
        stack: list[tuple[Part, tuple[int, ...]]] = [(self.part, ())]
        while stack:
            part, reading = stack.pop()
            place = len(reading)
            if place == len(self.problem.entries):
                yield reading
                continue
            for code in reversed(range(self.solver.space.sizes[place])):
                rest = self.solver.assign(part, place, code)
                if self.solver.count(rest):
                    stack.append((rest, (*reading, code)))


def _below(total: int, rng: np.random.Generator) -> int:
    """Return a uniform number below a total of any size."""
    bits = total.bit_length()
    while True:
        number = int.from_bytes(rng.bytes(bits // 8 + 1), "little") & ((1 << bits) - 1)
        if number < total:
            return number


@dataclass(frozen=True)
class WorldReadings:
    """The readings of whole worlds that keep the labels of a support, some concepts perhaps supervised."""

    knowledge: Knowledge
    support: Codes
    supervised: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """For each supervised concept, by column, the codes on which it is read right."""

    @classmethod
    def of(cls, knowledge: Knowledge, support: Codes, supervised: Supervised) -> "WorldReadings":
        """Return the readings under supervision of concepts, on all of their values or some."""
        known: dict[int, frozenset[int]] = {}
        for name, values in supervised.items():
            concept = knowledge.space.concept(name)
            chosen = concept.values if values is None else values
            known[knowledge.space.place(name)] = frozenset(concept.code(value) for value in chosen)
        return cls(knowledge, support, known)

    @cached_property
    def used(self) -> list[int]:
        """The columns of the concepts that the rule uses."""
        return sorted(deciding_concepts(self.knowledge))

    @property
    def unused(self) -> tuple[str, ...]:
        """The concepts that the rule does not use."""
        return tuple(name for i, name in enumerate(self.knowledge.space.names) if i not in self.used)

    @cached_property
    def worlds(self) -> Codes:
        """The worlds of the support, each set of values of the used concepts once; the others have any value."""
        return np.asarray(self.support[distinct_rows(self.support[:, self.used]).first])

    @property
    def total(self) -> int:
        """The number of readings of the used concepts that keep every label."""
        return self._left(self.supervised)

    def plan(self) -> list[LabellingStep]:
        """Return which concepts to supervise, one after the other, each removing as many readings as possible."""
        space, left, steps = self.knowledge.space, self.total, list[LabellingStep]()
        chosen = dict(self.supervised)
        while left > 1:
            every = {column: frozenset(range(space.sizes[column])) for column in self.used}
            tried = {column: self._left({**chosen, column: every[column]}) for column in self.used}
            column = min(tried, key=lambda one: (tried[one], one))
            chosen[column], left = every[column], tried[column]
            steps.append(LabellingStep(space.names[column], left))
        return steps

    def _left(self, supervised: Mapping[int, frozenset[int]]) -> int:
        """Return how many readings are left under supervision; worlds differ in which of their values are known."""
        columns = [column for column in self.used if column in supervised]
        if not columns:
            return math.prod(self._by_diagram())
        known = np.stack([np.isin(self.worlds[:, column], list(supervised[column])) for column in columns], axis=1)
        left = 1
        for pattern in np.unique(known, axis=0):
            rows = (known == pattern).all(axis=1)
            left *= math.prod(self._alternatives(list(np.array(columns)[pattern]), self.worlds[rows]))
        return left

    def _by_diagram(self) -> list[int]:
        """Return for each world how many worlds of the used concepts have its labels."""
        diagram, sizes = self.knowledge.diagram, self.knowledge.space.sizes
        idle = math.prod(size for i, size in enumerate(sizes) if i not in self.used)
        ways = [count // idle for count in diagram.counts.values()]
        return [ways[outcome] for outcome in diagram.outcome_of(self.worlds).tolist()]

    def _alternatives(self, known: Sequence[int], worlds: Codes) -> list[int]:
        """Return for each world how many worlds have its labels and its values of the known concepts."""
        if self._listed is None:
            raise TooLarge(f"{self.knowledge.space.worlds:,} worlds are too many to count under supervision")
        every, outcomes = self._listed
        both = np.concatenate([every[:, known], worlds[:, known]])
        own = self.knowledge.diagram.outcome_of(worlds)
        keys = distinct_rows(both, np.concatenate([outcomes, own])[:, None]).which
        counts = np.bincount(keys[: len(every)], minlength=len(keys))
        return [int(count) for count in counts[keys[len(every) :]]]

    @cached_property
    def _listed(self) -> tuple[Codes, Array] | None:
        """Every world of the used concepts and its outcome, None if they are too many."""
        sizes = [size if i in self.used else 1 for i, size in enumerate(self.knowledge.space.sizes)]
        if math.prod(sizes) > MOST_WORLDS:
            return None
        worlds = np.stack([axis.ravel() for axis in np.indices(sizes)], axis=1)
        return worlds, self.knowledge.diagram.outcome_of(worlds)
