"""Every world in the support, when there are too many to list: guess from some, prove, and learn from what refutes.

Readings that are optimal on a sample of worlds are listed, and each is proved on all worlds by the decision diagram of
the rule beside the rule as read. A world that refutes one joins the sample.
"""

from collections.abc import Sequence

import numpy as np

from assay.arrays import Codes
from assay.counting.families import Family
from assay.counting.problem import Problem
from assay.counting.solver import Part, Solver
from assay.errors import TooLarge
from assay.logic.circuit import compile_diagram
from assay.logic.formula import TRUE, Compare, Const, Formula, If, Var, conjunction
from assay.logic.knowledge import Knowledge
from assay.logic.traverse import substituted
from assay.seeds import Deck

FEW = 20_000
SAMPLE = 400
MOST_READINGS = 2_000


def all_worlds(knowledge: Knowledge) -> Codes | None:
    """Return every possible world, or None if they are too many to list."""
    diagram = knowledge.diagram_within(TRUE)
    ranking = diagram.among(np.array([bool(outcome[-1]) for outcome in diagram.outcomes]))
    return ranking.worlds(np.arange(ranking.total)) if ranking.total <= FEW else None


def sampled_worlds(knowledge: Knowledge, size: int) -> Codes:
    """Return distinct possible worlds, as many of each label as there are or as fit."""
    diagram = knowledge.diagram_within(TRUE)
    kept = [place for place, outcome in enumerate(diagram.outcomes) if outcome[-1]]
    each = max(1, size // len(kept))
    found = []
    for place in kept:
        ranking = diagram.among(np.arange(len(diagram.outcomes)) == place)
        count = min(each, ranking.total)
        found.append(ranking.worlds(Deck(ranking.total, 0, "support", place).deal(np.arange(count))))
    return np.concatenate(found)


def prove_on_all(knowledge: Knowledge, family: Family, seconds: float) -> tuple[Problem, list[tuple[int, ...]]]:
    """Return the problem on a sample of worlds that decides, and the readings that are optimal on all worlds."""
    support = sampled_worlds(knowledge, SAMPLE)
    while True:
        problem = Problem(knowledge, family, support)
        solver = Solver(problem.space, seconds)
        part = solver.part(dict.fromkeys(problem.constraints()))
        if solver.total(part) > MOST_READINGS:
            raise TooLarge(f"more than {MOST_READINGS:,} readings fit a sample of worlds, too many to prove each")
        found = list(listed(solver, part))
        refuting = [world for reading in found if (world := refuted(problem, reading)) is not None]
        if not refuting:
            return problem, found
        support = np.unique(np.concatenate([support, *refuting]), axis=0)


def listed(solver: Solver, part: Part) -> list[tuple[int, ...]]:
    """Return every assignment that satisfies a part, as codes."""
    sizes = solver.space.sizes
    found: list[tuple[int, ...]] = []

    def extend(place: int, rest: Part, made: tuple[int, ...]) -> None:
        if not solver.count(rest):
            return
        if place == len(sizes):
            found.append(made)
            return
        for code in range(sizes[place]):
            extend(place + 1, solver.given(rest, place, code), (*made, code))

    extend(0, part, ())
    return found


def refuted(problem: Problem, reading: Sequence[int]) -> Codes | None:
    """Return a world whose labels a reading changes, or None if there is none."""
    knowledge = problem.knowledge
    meanings = {cell_name: _read(problem, place, reading) for place, cell_name in enumerate(knowledge.space.names)}
    plain = [label.formula for label in knowledge.labels]
    diagram = compile_diagram(
        [*plain, *(substituted(one, meanings) for one in plain), knowledge.possible], knowledge.space
    )
    count = len(plain)
    wrong = np.array([bool(o[-1]) and o[:count] != o[count : 2 * count] for o in diagram.outcomes])
    ranking = diagram.among(wrong)
    return ranking.worlds(np.arange(1)) if ranking.total else None


def _read(problem: Problem, place: int, reading: Sequence[int]) -> Formula:
    """Return the value that a reading gives for a concept, as a formula over the true concepts."""
    space, cell = problem.knowledge.space, problem.cells[place]
    made: Formula = Var(space.names[place])
    for entry, code in zip(problem.entries, reading, strict=True):
        if entry.owner == cell.owner and code != entry.right:
            columns = zip(cell.columns, entry.truth, strict=True)
            tests = [Compare("==", Var(space.names[column]), Const(value)) for column, value in columns]
            made = If(conjunction(*tests), Const(entry.values[code]), made)
    return made
