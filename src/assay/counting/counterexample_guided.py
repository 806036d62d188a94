"""Every world in the support, when there are too many to list: guess from some, prove, and learn from what refutes.

Readings that are optimal on a sample of worlds are listed, and each is proved on all worlds by the decision diagram of
the rule beside the rule as read. A world that refutes one joins the sample. The sample uses every entry that any
possible world uses, so that readings optimal on it are at least as many as those optimal on all worlds.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from assay.base import Array, Codes, SeededPermutation, TooLarge
from assay.counting.problem import Cell, Problem, ReadingClass, Supervised, cells, deciding_concepts
from assay.counting.readings import ConceptMappings
from assay.counting.solver import OutOfTime, check_time
from assay.logic import (
    TRUE,
    Compare,
    Const,
    Diagram,
    Formula,
    If,
    Knowledge,
    Var,
    compile_part,
    conjunction,
    ground_formula,
    substitute,
)

FEW = 20_000
SAMPLE = 400
MOST_READINGS = 2_000


def all_worlds(knowledge: Knowledge) -> Codes | None:
    """Return every possible world, or None if they are too many to list."""
    diagram = knowledge.diagram_within(TRUE)
    ranking = diagram.among(_inside(diagram))
    return ranking.worlds(np.arange(ranking.total)) if ranking.total <= FEW else None


def _inside(diagram: Diagram) -> Array:
    """Return which outcomes are those of possible worlds."""
    return np.array([bool(outcome[-1]) for outcome in diagram.outcomes])


def prove_on_all(
    knowledge: Knowledge,
    family: ReadingClass,
    supervised: Supervised,
    seconds: float,
    used: frozenset[int] | None = None,
) -> tuple[ConceptMappings, bool]:
    """Return the used concepts' readings that are optimal on a sample, and whether all are proved on all worlds."""
    deadline = time.monotonic() + seconds
    support, used = sample_worlds(knowledge, family, SAMPLE), deciding_concepts(knowledge) if used is None else used
    while True:
        problem = Problem(knowledge, family, support, used=used).supervise(supervised)
        readings = ConceptMappings(problem, deadline - time.monotonic())
        if readings.total == 1 or readings.total > MOST_READINGS:
            return readings, readings.total == 1  # the right reading needs no proof
        try:
            refuting = [
                world for reading in readings if (world := counterexample(problem, reading, deadline)) is not None
            ]
        except (OutOfTime, TooLarge):
            return readings, False
        if not refuting:
            return readings, True
        support = np.unique(np.concatenate([support, *refuting]), axis=0)


def sample_worlds(knowledge: Knowledge, family: ReadingClass, size: int) -> Codes:
    """Return possible worlds, as many of each label as there are or as fit, that use every entry there is."""
    diagram = knowledge.diagram_within(TRUE)
    possible = np.flatnonzero(_inside(diagram)).tolist()
    each = max(1, size // len(possible))
    worlds = []
    for place in possible:
        ranking = diagram.among(np.arange(len(diagram.outcomes)) == place)
        count = min(each, ranking.total)
        worlds.append(ranking.worlds(SeededPermutation(ranking.total, 0, "support", place).deal(np.arange(count))))
    for cell in {(cell.owner, cell.columns): cell for cell in cells(knowledge.space, family)}.values():
        worlds += _unmet(diagram, cell, np.concatenate(worlds))
    return np.unique(np.concatenate(worlds), axis=0)


def _unmet(diagram: Diagram, cell: Cell, worlds: Codes) -> list[Codes]:
    """Return a possible world for each of a cell's entries that the given worlds do not use."""
    met = set(map(tuple, worlds[:, cell.columns].tolist()))
    additions = []
    for codes in product(*(range(diagram.space.sizes[column]) for column in cell.columns)):
        if codes in met:
            continue
        fixed = dict(zip(cell.columns, codes, strict=True))
        layers = [
            np.repeat(layer[:, [fixed[place]]], layer.shape[1], axis=1) if place in fixed else layer
            for place, layer in zip(diagram.order, diagram.layers, strict=True)
        ]  # whatever these concepts are, the diagram goes on as if they were as given
        ranking = replace(diagram, layers=tuple(layers)).among(_inside(diagram))
        if ranking.total:
            world = ranking.worlds(np.zeros(1, dtype=np.int64))
            world[0, list(fixed)] = list(fixed.values())
            additions.append(world)
    return additions


def counterexample(problem: Problem, reading: Sequence[int], deadline: float = float("inf")) -> Codes | None:
    """Return a world whose labels a reading changes, or None if there is none."""
    check_time(deadline)
    knowledge = problem.knowledge
    space = knowledge.space
    meanings = {name: _read(problem, place, reading) for place, name in enumerate(space.names)}
    plain = [ground_formula(label.formula, space) for label in knowledge.labels]
    read = [substitute(formula, meanings) for formula in plain]
    diagram = compile_part([*plain, *read, ground_formula(knowledge.possible, space)], space)
    count = len(plain)
    wrong = np.array([bool(o[-1]) and o[:count] != o[count : 2 * count] for o in diagram.outcomes])
    ranking = diagram.among(wrong)
    return ranking.worlds(np.zeros(1, dtype=np.int64)) if ranking.total else None


def _read(problem: Problem, place: int, reading: Sequence[int]) -> Formula:
    """Return the value that a reading gives for a concept, as a formula over the true concepts."""
    space, cell = problem.knowledge.space, problem.every_cell[place]
    answer: Formula = Var(space.names[place])
    for entry, code in zip(problem.entries, reading, strict=True):
        if entry.owner == cell.owner and code != entry.right:
            columns = zip(cell.columns, entry.truth, strict=True)
            tests = [Compare("==", Var(space.names[column]), Const(value)) for column, value in columns]
            answer = If(conjunction(*tests), Const(entry.values[code]), answer)
    return answer
