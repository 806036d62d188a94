"""External ILP systems: their input, how they are run and stopped, and how their output is read."""

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.base import Array, AssayError, open_new, start_program
from assay.logic import evaluate
from assay.models.symbolic.examples import LabelExamples
from assay.models.symbolic.ilp.clauses import IlpClause, clauses_of, program_formula
from assay.prolog import WORLD, Bias, IlpProblem, facts_text


@dataclass(frozen=True)
class ProcessResult:
    """The result of running a program: whether it finished, its output, and how long it took."""

    finished: bool
    output: str
    seconds: float


def run_for(
    command: Sequence[str], folder: Path, seconds: float, environment: Mapping[str, str] | None = None
) -> ProcessResult:
    """Run a program in a folder; when the time is up, it and all that it started are killed, and what it wrote kept."""
    log, start = folder / "output.txt", time.monotonic()
    with open_new(log) as file:
        how = {"stdin": subprocess.DEVNULL, "stdout": file, "stderr": subprocess.STDOUT, "cwd": folder}
        with start_program(command, **how, env={**os.environ, **(environment or {})}) as process:
            try:
                process.wait(max(seconds, 0.01))
                finished = True
            except subprocess.TimeoutExpired:
                finished = False
    return ProcessResult(finished, log.read_text(encoding="utf-8", errors="replace"), time.monotonic() - start)


def problem_of(bias: Bias, head: str, examples: LabelExamples, positive: Array) -> IlpProblem:
    """Return what another program is to learn: a predicate that holds where `positive` does."""
    with_it, without = ([f"{WORLD}{number}" for number in np.flatnonzero(which)] for which in (positive, ~positive))
    return IlpProblem(bias, head, facts_text(bias.vocabulary, examples.codes), with_it, without)


def read_clauses(lines: Sequence[str], head: str, bias: Bias) -> list[IlpClause]:
    """Return clauses that another program wrote, as ours; those that say more than the bias declares are left out."""
    clauses = []
    for line in lines:
        try:
            clauses += clauses_of(line, head, bias)
        except AssayError:
            continue
    return clauses


def best_of(
    programs: Sequence[Sequence[str]], head: str, bias: Bias, examples: LabelExamples, positive: Array
) -> tuple[IlpClause, ...]:
    """Return the program with the fewest errors by our own count, the last of several; none may be the best."""
    best: tuple[IlpClause, ...] = ()
    fewest = int(positive.sum())
    for program in programs:
        clauses = tuple(dict.fromkeys(read_clauses(program, head, bias)))
        if not clauses:
            continue
        holds = np.asarray(evaluate(program_formula(clauses), bias.space, examples.codes), dtype=bool)
        wrong = int((holds != positive).sum())
        if wrong <= fewest:
            best, fewest = clauses, wrong
    return best


def find_clauses(text: str, head: str) -> list[str]:
    """Return the clauses of a predicate in a text, one a line each, broken lines joined.

    >>> find_clauses("junk\\neast(A) :-\\n   has_car(A,B), big(B).\\n[done]", "east")
    ['east(A) :- has_car(A,B), big(B).']
    """
    matches = re.findall(rf"(?<![\w'])({re.escape(head)}\([A-Z]\w*\)(?:\s*:-[^.]*)?\.)", text)
    return [" ".join(match.split()) for match in matches]
