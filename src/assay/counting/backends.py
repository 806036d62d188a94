"""Other people's counters on the same problem, as independent checks: each reads our DIMACS with its projection line.

`ganak` (pip: pyganak) is exact. `approxmc` gives an estimate with a guarantee; its sound version, pyapproxmc 4.1.24,
may not share an environment with pyganak, so it is called in one of its own: set ASSAY_APPROXMC to that environment's
Python. Each counter is tried on a formula with two models before it is trusted.
"""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from assay.base import MissingExtra, RunFailed, UnknownName, import_extra, start_program, suggestion
from assay.counting.problem import Problem
from assay.logic import CNF, to_cnf

TWO_MODELS = CNF(2, ((1, 2), (-1, -2)), {1: ("a", True), 2: ("b", True)})

APPROXMC = """
import sys
from pyapproxmc import Counter
lines = sys.stdin.read().splitlines()
epsilon, delta = float(sys.argv[1]), float(sys.argv[2])
shown = next([int(x) for x in line.split()[3:-1]] for line in lines if line.startswith("c p show"))
counter = Counter(seed=1, epsilon=epsilon, delta=delta)
for line in lines:
    if line and line[0] not in "cp":
        counter.add_clause([int(x) for x in line.split()[:-1]])
cells, hashes = counter.count(shown)
print(cells * 2**hashes)
"""


@dataclass(frozen=True)
class Estimate:
    """A count that is within a factor 1 + `epsilon` of the truth with probability 1 - `delta`; exact if both are 0."""

    count: int
    epsilon: float = 0.0
    delta: float = 0.0

    @property
    def bounds(self) -> tuple[int, int]:
        """The range that holds the truth, or holds it with the stated probability."""
        return int(self.count / (1 + self.epsilon)), int(self.count * (1 + self.epsilon))


def count_with(name: str, problem: Problem | CNF) -> Estimate:
    """Return the number of optimal readings, or of the models of clauses, as another counter finds it."""
    if name not in BACKENDS:
        raise UnknownName(f"no counter named {name!r}{suggestion(name, BACKENDS)}")
    engine = BACKENDS[name]
    trial = engine(TWO_MODELS)
    if not trial.bounds[0] <= 2 <= trial.bounds[1]:
        raise RunFailed(f"{name} counts {trial.count} models of a formula that has 2; this version cannot be trusted")
    return engine(problem if isinstance(problem, CNF) else encode_problem(problem))


def encode_problem(problem: Problem) -> CNF:
    """Return the problem as clauses whose projected models are the optimal readings."""
    cnf = to_cnf(problem.as_knowledge(), given={"optimal": True})
    entries = {literal: meaning for literal, meaning in cnf.meanings.items() if meaning[0] != "optimal"}
    return CNF(cnf.variables, cnf.clauses, entries)


def _ganak(cnf: CNF) -> Estimate:
    counter = import_extra("pyganak", "counting with ganak").Counter()
    counter.new_vars(cnf.variables)
    counter.add_clauses([list(clause) for clause in cnf.clauses])
    counter.set_sampling_set(sorted({abs(literal) for literal in cnf.meanings}))
    return Estimate(int(counter.count()))


def _approxmc(cnf: CNF) -> Estimate:
    python, epsilon, delta = os.environ.get("ASSAY_APPROXMC"), 0.8, 0.2
    if not python:
        raise MissingExtra("approxmc needs an environment with pyapproxmc==4.1.24; set ASSAY_APPROXMC to its Python")
    command = [python, "-c", APPROXMC, str(epsilon), str(delta)]
    try:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with start_program(command, **pipes, text=True) as process:
            output, _ = process.communicate(cnf.to_dimacs())
        return Estimate(int(output.split()[-1]), epsilon, delta)
    except (OSError, ValueError, IndexError) as error:
        raise RunFailed(f"approxmc at {python!r} failed: {type(error).__name__}") from None


BACKENDS: dict[str, Callable[[CNF], Estimate]] = {"ganak": _ganak, "approxmc": _approxmc}
