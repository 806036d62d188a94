"""Aleph as a model: the user's own copy, run by SWI-Prolog in a process that is killed when its time is up.

Aleph is free for academic use and is not part of this package: the wheel of `python-rdm` has Aleph 5, or a setting says
where it is.
"""

import importlib.util
import os
import shutil
import tempfile
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from assay.base import Array, ConfigError, MissingExtra, write_new
from assay.models.symbolic.base import SymbolicConfig
from assay.models.symbolic.examples import LabelExamples
from assay.models.symbolic.ilp.external import best_of, find_clauses, problem_of, run_for
from assay.models.symbolic.ilp.learner import ClauseModel, IlpConfig, InducedClauses
from assay.models.symbolic.ilp.search import Clock
from assay.prolog import aleph_files

PATH = "ASSAY_ALEPH"
INSTALL = "apt-get install swi-prolog"
WHEEL = "pip install --no-deps python-rdm"
SHARE = 0.93
"""The share of the time limit that Aleph runs for; the rest is for writing and reading files."""

SHIM = r"""
:- use_module(library(broadcast)).
:- use_module(library(time)).
:- style_check(-singleton), style_check(-discontiguous).
:- redefine_system_predicate(false).
:- dynamic(false/0), dynamic(example/3).
aleph_random(X) :- X is random_float.
gc :- garbage_collect.
depth_bound_call(Goal, Limit) :- call_with_depth_limit(Goal, Limit, R), R \= depth_limit_exceeded.
assert_static(Clause) :- assertz(Clause).
system(_) :- fail.
exists(File) :- exists_file(File).
aleph_reconsult(File) :- consult(File).
aleph_consult(File) :- open(File, read, In), repeat, read(In, Term),
    ( Term == end_of_file -> close(In), ! ; assertz(Term), fail ).
aleph_background_predicate(Goal) :- predicate_property(Goal, P), ( P = interpreted ; P = built_in ), !.
"""
"""What Aleph 5 expects of the SWI-Prolog of its time."""

DRIVER = r"""
:- set_stream(user_output, buffer(line)).
:- consult('shim.pl').
:- consult('engine.pl').
assay_keep :- open('program.part', write, Out),
    forall('$aleph_global'(theory, theory(_, _, Clause, _, _)),
           ( copy_term(Clause, C), numbervars(C, 0, _), write_term(Out, C, [numbervars(true), quoted(true)]),
             write(Out, '.\n') )),
    close(Out), rename_file('program.part', 'program.txt').
:- listen(start(sat(_)), assay_keep).
:- read_all(train), induce, assay_keep, halt(0).
:- halt(0).
"""
"""Learns, and writes down the clauses so far each time that Aleph takes up another example."""


class AlephConfig(IlpConfig):
    """How Aleph is run."""

    aleph: str | None = None
    """Where `aleph.pl` (Aleph 5) is; by default in `python-rdm`, or where ASSAY_ALEPH says."""
    noise: int = Field(0, ge=0)
    """How many negative examples a clause may cover."""
    search: Literal["heuristic", "bfs"] = "heuristic"
    """Whether the best clause is refined next, or the shortest, as Aleph does by itself."""
    nodes: int = Field(5_000, ge=1)
    """How many clauses are tried for one example."""


class Aleph(ClauseModel):
    """Aleph 5 in SWI-Prolog, with the same bias as the others."""

    name = "aleph"
    Config: ClassVar[type[SymbolicConfig]] = AlephConfig
    config: AlephConfig

    @classmethod
    def ready(cls, config: AlephConfig) -> None:
        """Refuse if SWI-Prolog or Aleph is missing."""
        aleph_file(config.aleph)

    def induce(self, examples: LabelExamples, positive: Array, head: str, seconds: float) -> InducedClauses:
        """Write the examples down, run Aleph for its time, and read back what it has learned by then."""
        clock = Clock.of(SHARE * seconds)
        engine = aleph_file(self.config.aleph)
        with tempfile.TemporaryDirectory(prefix="assay-aleph-") as path:
            folder = Path(path)
            self._write(folder, examples, positive, head)
            write_new(folder / "engine.pl", engine.read_bytes())
            command = ["swipl", "--no-pce", "-f", "none", "-F", "none", "-q", "-g", "true", "-t", "halt(4)"]
            ran = run_for([*command, "-s", "run.pl"], folder, clock.left)
            program = folder / "program.txt"
            text = program.read_text(encoding="utf-8") if program.exists() else ""
        done, tried = find_clauses(text, head), find_clauses(ran.output, head)
        clauses = best_of([done, [*done, *tried[-1:]]], head, self.bias, examples, positive)
        return InducedClauses(clauses, {"finished": ran.finished, "engine_seconds": round(ran.seconds, 3)})

    def _write(self, folder: Path, examples: LabelExamples, positive: Array, head: str) -> None:
        problem, how = problem_of(self.bias, head, examples, positive), self.config
        for ending, text in aleph_files(problem, how.noise, how.nodes, how.search).items():
            write_new(folder / f"train{ending}", text.encode())
        write_new(folder / "shim.pl", SHIM.encode())
        write_new(folder / "run.pl", DRIVER.encode())


def aleph_file(setting: str | None) -> Path:
    """Return where Aleph is: as a setting or the environment says, or in the package that has it."""
    if shutil.which("swipl") is None:
        raise MissingExtra(f"the model 'aleph' needs SWI-Prolog: {INSTALL}")
    named = setting or os.environ.get(PATH)
    if named:
        path = Path(named)
        if not path.is_file():
            raise ConfigError(f"aleph: no file {named!r}; give the path of aleph.pl (Aleph 5), or: {WHEEL}")
    else:
        spec = importlib.util.find_spec("rdm")
        places = list(spec.submodule_search_locations or []) if spec else []
        candidates = [Path(place) / "wrappers" / "aleph" / "aleph.pl" for place in places]
        path = next((candidate for candidate in candidates if candidate.is_file()), Path())
        if not path.name:
            raise MissingExtra(f"the model 'aleph' needs Aleph 5: {WHEEL} (or set aleph=PATH or {PATH})")
    if ":- module(" in path.read_text(encoding="utf-8", errors="replace"):
        raise ConfigError(f"aleph: {str(path)!r} is Aleph as a module, which is run in another way; take: {WHEEL}")
    return path
