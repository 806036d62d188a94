"""Where puzzles come from: matrices listed by their rules, and candidates that do not give the answer away.

`fair` candidates (I-RAVEN) are all combinations of two values, a right and a wrong one, of some attributes. The pair of
values is drawn so that either is as often the right one: two matrices of the rule that end in different values. So all
candidates are equally probable to whoever does not see the matrix. `near` candidates (RAVEN) each differ from the
answer in one attribute, so that the answer has in every attribute the value that most of them have.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Literal

import numpy as np

from assay.base import Array, Codes, ConfigError, Streams
from assay.families.raven.rules import CONTEXT, RULES, rows_of
from assay.logic import Concept, ConceptSpace, Evaluator, Knowledge, Value, compile_diagram, exactly, true_outcomes, var
from assay.worlds import DrawStyle, SeededSource, Split

Distractors = Literal["fair", "near"]


@dataclass(frozen=True)
class MatrixTable:
    """All matrices of nine values that follow one rule, and in their first two rows no other that is allowed."""

    matrices: Codes
    values: int

    @cached_property
    def pairs(self) -> Array:
        """How probable each pair of a right and a wrong value is, the same when they trade places."""
        counts = np.bincount(self.matrices[:, CONTEXT], minlength=self.values).astype(np.float64)
        weights = np.outer(counts, counts) * ~np.eye(self.values, dtype=bool)
        return np.asarray(weights / weights.sum())

    def draw(self, rng: np.random.Generator) -> tuple[Array, int]:
        """Draw a matrix and a wrong value for its last panel."""
        right, wrong = divmod(int(rng.choice(self.values**2, p=self.pairs.ravel())), self.values)
        found = np.flatnonzero(self.matrices[:, CONTEXT] == right)
        return self.matrices[found[rng.integers(len(found))]], wrong


def matrix_table(rule: str, allowed: Sequence[str], values: tuple[Value, ...]) -> MatrixTable:
    """List the matrices of a rule by its decision diagram."""
    names = [f"p{i + 1}" for i in range(CONTEXT + 1)]
    space, rows = ConceptSpace(tuple(Concept(name, values) for name in names)), rows_of(var(*names))
    diagram = compile_diagram([RULES[rule](rows) & exactly(1, *(RULES[name](rows[:2]) for name in allowed))], space)
    ranking = diagram.among(true_outcomes(diagram))
    matrices = ranking.worlds(np.arange(ranking.total))
    if len(np.unique(matrices[:, CONTEXT])) < 2:
        raise ConfigError(f"rules: {rule!r} over {len(values)} values leaves no choice for the last panel; give more")
    return MatrixTable(matrices, len(values))


@dataclass(frozen=True)
class PuzzlePlan:
    """What puzzles a split holds: the rules of each attribute, the combinations of them, and the candidates."""

    values: Mapping[str, tuple[Value, ...]]
    rules: Mapping[str, Sequence[str]]
    combinations: tuple[tuple[str, ...], ...]
    candidates: int
    distractors: Distractors
    tables: dict[tuple[str, str], MatrixTable] = field(repr=False, compare=False)

    def puzzle(self, rng: np.random.Generator, combination: Sequence[str], position: int) -> Array:
        """Draw a puzzle: an array of panels x attributes, the right candidate at a position."""
        drawn = [self.tables[pair].draw(rng) for pair in zip(self.rules, combination, strict=True)]
        matrix = np.stack([cells for cells, _ in drawn], axis=1)
        right, wrong = matrix[CONTEXT], np.array([value for _, value in drawn])
        others = self._fair(rng, right, wrong) if self.distractors == "fair" else self._near(rng, right)
        rng.shuffle(others)
        return np.concatenate([matrix[:CONTEXT], others[:position], [right], others[position:]])

    def _fair(self, rng: np.random.Generator, right: Array, wrong: Array) -> Array:
        """Return all other combinations of right and wrong values in as many attributes as it takes."""
        splits = self.candidates.bit_length() - 1
        attributes = rng.choice(len(right), splits, replace=False)
        others = np.repeat(right[None], self.candidates - 1, axis=0)
        for row, bits in enumerate(list(product((False, True), repeat=splits))[1:]):
            changed = attributes[list(bits)]
            others[row, changed] = wrong[changed]
        return others

    def _near(self, rng: np.random.Generator, right: Array) -> Array:
        """Return panels that differ from the right one in one attribute each."""
        sizes = [len(values) for values in self.values.values()]
        steps = [(place, step) for place, size in enumerate(sizes) for step in range(1, size)]
        others = np.repeat(right[None], self.candidates - 1, axis=0)
        for row, (place, step) in zip(others, rng.permutation(steps).tolist(), strict=False):
            row[place] = (right[place] + step) % sizes[place]
        return others

    def panels(self, codes: Codes) -> Array:
        """Return concept codes as puzzles x panels x attributes."""
        return np.asarray(codes).reshape(len(codes), len(self.rules), -1).transpose(0, 2, 1)

    def codes(self, puzzles: Array) -> Codes:
        """Return puzzles as concept codes, attribute by attribute."""
        return np.asarray(puzzles.transpose(0, 2, 1).reshape(len(puzzles), -1))

    def exchanged(self, puzzle: Array, place: int, column: int, code: int) -> Array:
        """Return a puzzle whose candidate at a place has another value: it trades places with the one most like it."""
        changed, others = puzzle.copy(), np.flatnonzero(puzzle[CONTEXT:, column] == code) + CONTEXT
        if len(others):
            nearest = others[(puzzle[others] != puzzle[place]).sum(axis=1).argmin()]
            changed[[place, nearest]] = puzzle[[nearest, place]]
        changed[place, column] = code
        return changed

    def followed(self, puzzle: Array, place: int, column: int, code: int, answer: int) -> Array | None:
        """Return a puzzle whose matrix has another value at a place: the nearest lawful one with the same answer."""
        name, before = list(self.rules)[column], puzzle[[*range(CONTEXT), CONTEXT + answer], column]
        matrices = np.concatenate([self.tables[name, rule].matrices for rule in self.rules[name]])
        found = matrices[(matrices[:, place] == code) & (matrices[:, CONTEXT] == before[CONTEXT])]
        if not len(found):
            return None
        changed = puzzle.copy()
        changed[:CONTEXT, column] = found[(found != before).sum(axis=1).argmin(), :CONTEXT]
        return changed

    def has_candidates(self, codes: Codes, answers: Array) -> Array:
        """Return whether the candidates of each puzzle are chosen as this plan does, given which one is right."""
        candidates = self.panels(codes)[:, CONTEXT:]
        differs = candidates != candidates[np.arange(len(codes)), answers][:, None]
        if self.distractors == "near":
            return np.asarray((differs.sum(axis=2) <= 1).all(axis=1))
        wrong = np.where(differs, candidates, -1).max(axis=1)[:, None]
        two_values, share = (~differs | (candidates == wrong)).all(axis=(1, 2)), differs.sum(axis=1)
        halves = ((share == 0) | (2 * share == self.candidates)).all(axis=1)
        return np.asarray(two_values & halves & ((share > 0).sum(axis=1) == self.candidates.bit_length() - 1))


class PuzzleSource(SeededSource):
    """The puzzles of one split; rules and the place of the right candidate are balanced."""

    def __init__(
        self, plan: PuzzlePlan, knowledge: Knowledge, split: Split, seed: int, *purpose: object, style: DrawStyle
    ) -> None:
        super().__init__(knowledge, split, seed, *purpose, style=style)
        self.plan = plan
        self.inside = Evaluator(knowledge.space, split.formula)

    @property
    def total(self) -> int:
        """How many matrices there are, times the places of the right candidate: a lower bound."""
        pairs = [zip(self.plan.rules, chosen, strict=True) for chosen in self.plan.combinations]
        ways = [prod(len(self.plan.tables[pair].matrices) for pair in chosen) for chosen in pairs]
        return sum(ways) * self.plan.candidates

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the puzzles at these places."""
        plan, streams = self.plan, Streams(self.seed, *self.purpose, self.split.name, "puzzle")
        rules = self._deck(len(plan.combinations), "rules").deal(np.asarray(places)).tolist()
        positions = self._deck(plan.candidates, "position").deal(np.asarray(places)).tolist()
        puzzles = [
            plan.puzzle(streams[place], plan.combinations[rule], position)
            for place, rule, position in zip(np.asarray(places).tolist(), rules, positions, strict=True)
        ]
        return plan.codes(np.stack(puzzles))

    def contains(self, codes: Codes) -> Array:
        """Return whether each puzzle may occur in this split."""
        labels = self.knowledge.labels_of(codes)[:, 0]
        lawful = self.knowledge.can_be(codes) & self.inside(codes)
        return lawful & self.plan.has_candidates(codes, np.maximum(labels - 1, 0))
