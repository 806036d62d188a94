"""Five ways of counting agree: residuals, a SAT solver, a model counter, the decision diagram, and trying every one."""

import pytest
from pysat.solvers import Cadical153

from assay.counting import count_with
from assay.counting.backends import Estimate
from assay.counting.problem import Problem
from assay.counting.readings import Readings
from assay.errors import ConfigError
from assay.logic import to_cnf
from tests.counting import brute
from tests.counting.random_tasks import flat_space, random_task, slot_space

TASKS = 200
FAMILIES = ["per-concept", "shared"]


def problem(seed):
    family = FAMILIES[seed % 2]
    task = random_task(seed, flat_space, family, partial=seed % 3 > 0)
    expected = brute.readings(task.space, task.labels.__getitem__, task.support, family)
    return Problem(task.knowledge, family, task.codes), len(expected)


def enumerated(cnf, names):
    """Count the assignments of the named concepts that clauses allow, forbidding each once found."""
    shown = sorted({abs(literal) for literal, (name, _) in cnf.meanings.items() if name in names})
    found = 0
    with Cadical153(bootstrap_with=[list(clause) for clause in cnf.clauses]) as solver:
        while solver.solve():
            found += 1
            model = set(solver.get_model())
            solver.add_clause([-variable if variable in model else variable for variable in shown])
    return found


@pytest.mark.parametrize("ten", range(0, TASKS, 10))
def test_residuals_clauses_and_diagram_agree(ten):
    for seed in range(ten, ten + 10):
        made, expected = problem(seed)
        knowledge = made.as_knowledge()
        assert Readings(made).total == expected
        assert knowledge.diagram.counts.get((True,), 0) == expected
        cnf = to_cnf(knowledge, given={"optimal": True})
        assert enumerated(cnf, knowledge.space.names) == expected


@pytest.mark.parametrize("ten", range(0, TASKS, 10))
def test_a_model_counter_agrees(ten):
    pytest.importorskip("pyganak")
    for seed in range(ten, ten + 10):
        made, expected = problem(seed)
        assert count_with("ganak", made).count == expected


def test_rules_about_absent_objects_are_refused_as_clauses():
    tasks = [random_task(seed, slot_space, "per-object") for seed in range(20)]
    absent = [task for task in tasks if task.space.concepts[0].optional]
    refused = 0
    for task in absent:
        try:
            made = Problem(task.knowledge, "per-object", task.codes).as_knowledge()
        except ConfigError as error:
            assert "may be absent" in str(error)
            refused += 1
        else:
            expected = brute.readings(task.space, task.labels.__getitem__, task.support, "per-object")
            assert made.diagram.counts.get((True,), 0) == len(expected)
    assert refused


def test_an_estimate_is_within_a_factor_of_the_truth():
    assert Estimate(180, 0.8, 0.2).bounds == (100, 324) and Estimate(7).bounds == (7, 7)
