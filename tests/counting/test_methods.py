"""Five ways of counting agree: residuals, a SAT solver, a model counter, the decision diagram, and trying every one."""

import stat
import sys

import pytest
from pysat.solvers import Cadical153

from assay.base import ConfigError, MissingExtra, RunFailed, UnknownName
from assay.counting import count_shortcuts, count_with
from assay.logic import Knowledge, digits, parse_dimacs, to_cnf
from tests.counting import brute
from tests.counting.random_tasks import every_reading, flat_space, random_task, slot_space

TASKS = 120
FAMILIES = ["per-concept", "shared"]


def problem(seed):
    family = FAMILIES[seed % 2]
    task = random_task(seed, flat_space, family, partial=seed % 3 > 0)
    expected = brute.readings(task.space, task.labels.__getitem__, task.support, family)
    return every_reading(task.knowledge, family, task.codes), len(expected)


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
        knowledge = made.problem.as_knowledge()
        assert made.total == expected
        assert knowledge.diagram.counts.get((True,), 0) == expected
        cnf = to_cnf(knowledge, given={"optimal": True})
        assert enumerated(cnf, knowledge.space.names) == expected


@pytest.mark.parametrize("ten", range(0, TASKS, 10))
def test_a_model_counter_agrees(ten):
    pytest.importorskip("pyganak")
    for seed in range(ten, ten + 10):
        made, expected = problem(seed)
        assert count_with("ganak", made.problem).count == expected


def test_rules_about_absent_objects_are_refused_as_clauses():
    tasks = [random_task(seed, slot_space, "per-object") for seed in range(20)]
    absent = [task for task in tasks if task.space.concepts[0].optional]
    refused = 0
    for task in absent:
        try:
            made = every_reading(task.knowledge, "per-object", task.codes).problem.as_knowledge()
        except ConfigError as error:
            assert "may be absent" in str(error)
            refused += 1
        else:
            expected = brute.readings(task.space, task.labels.__getitem__, task.support, "per-object")
            assert made.diagram.counts.get((True,), 0) == len(expected)
    assert refused


@pytest.fixture
def sums():
    return count_shortcuts(Knowledge.of(digits(["a", "b"], (0, 1, 2)), {"sum": "a + b"})).readings.problem


def counter_of(folder, monkeypatch, output):
    """Set up a program in the place of approxmc, which answers with a line for each call."""
    program = folder / "python"
    program.write_text(f"#!{sys.executable}\nimport sys\ntext = sys.stdin.read()\n{output}\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("ASSAY_APPROXMC", str(program))


def test_an_estimate_of_another_counter_is_taken_if_it_counts_two(sums, tmp_path, monkeypatch):
    small = "'p cnf 2 2' in text"
    counter_of(tmp_path, monkeypatch, f"print('noise'); print(2 if {small} else 18)")
    assert count_with("approxmc", sums).bounds == (10, 32)
    for wrong in (6, 1):
        counter_of(tmp_path, monkeypatch, f"print({wrong} if {small} else 18)")
        with pytest.raises(RunFailed, match=f"approxmc counts {wrong} models of a formula that has 2"):
            count_with("approxmc", sums)
    counter_of(tmp_path, monkeypatch, "")
    with pytest.raises(RunFailed, match="failed: IndexError"):
        count_with("approxmc", sums)
    monkeypatch.delenv("ASSAY_APPROXMC")
    with pytest.raises(MissingExtra, match="set ASSAY_APPROXMC"):
        count_with("approxmc", sums)
    with pytest.raises(UnknownName, match="did you mean 'ganak'"):
        count_with("gank", sums)


def test_a_problem_as_clauses_shows_its_entries():
    count = count_shortcuts(Knowledge.of(digits(["a", "b"], (0, 1, 2)), {"sum": "a + b"}))
    cnf = parse_dimacs(count.to_dimacs())
    assert (
        len({name for name, _ in cnf.meanings.values()}) == 3 and len(cnf.meanings) == 9
    )  # three entries of three values
