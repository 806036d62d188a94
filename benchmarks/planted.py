"""`python -m benchmarks.planted FOLDER`: plant random small faults in a folder, and see which of them its tests miss.

Faults are drawn by `benchmarks.mutations`, at most two a function. A fault is tried by those tests of its folder that
reach its line (`benchmarks.reach`, noted once and kept), in a fork of a process that has imported the package already,
which takes a second or two. A survivor is a place to look: some change nothing that a user could see. Tests written
after the notes were made are tried too, if they name the module or the function; `--again FILE` tries the survivors of
an earlier draw, `--list FILE` faults that somebody wrote, as `benchmarks.mutants` takes them. Functions that numba
compiles, and what stands outside of functions, are left out.
"""

import argparse
import ast
import gc
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import TypeAlias

from benchmarks.mutants import Mutant, read_list
from benchmarks.mutations import Mutation, apply, mutations
from benchmarks.reach import ROOT, SOURCES, Reach

CAUGHT, SURVIVED, UNREACHED, ENDLESS, UNFIT = "caught", "survived", "unreached", "endless", "does not fit"
OUTCOMES = {0: SURVIVED, 1: CAUGHT, 2: CAUGHT}
"""What the exit codes of pytest mean here."""
FUNCTION_LIMIT = 2
"""At most so many faults of a function are drawn."""
TESTS, SECONDS = 60, 60.0
"""At most so many tests of a fault are run, and tests of about so many seconds."""
WRITTEN = -1
"""The site of a fault that somebody wrote: it is a text of the file, not a node of its syntax tree."""
Functions: TypeAlias = dict[tuple[str, str, int], list[FunctionType]]


@dataclass(frozen=True)
class Fault:
    """A fault of a file."""

    file: str
    mutation: Mutation

    def code(self) -> CodeType:
        """Return the compiled module with the fault."""
        path = SOURCES / self.file
        text, m = path.read_text(encoding="utf-8"), self.mutation
        changed = Mutant(self.file, m.old, m.new).apply(text) if m.site == WRITTEN else apply(text, m)
        return compile(changed, str(path), "exec")

    def __str__(self) -> str:
        m = self.mutation
        return f"{self.file}:{m.line} {m.function}: {m.old[:100]} -> {m.new[:100]}"


@dataclass(frozen=True)
class NewTest:
    """A test that was written after the notes were made."""

    name: str
    file_text: str
    text: str

    def may_reach(self, fault: Fault) -> bool:
        """Return whether its file names the module, or it names the function."""
        module = "assay." + fault.file.removesuffix(".py").replace("/", ".")
        names = [part.lstrip("_") for part in fault.mutation.function.split(".") if len(part) > 3]
        return module in self.file_text or any(name in self.text for name in names)


def draw(folder: str, part: str, number: int, seed: int) -> list[Fault]:
    """Return so many faults of a folder, drawn at random."""
    files = sorted((SOURCES / folder).glob("*.py") if folder == "." else (SOURCES / folder).rglob("*.py"))
    named = {str(path.relative_to(SOURCES)): path.read_text(encoding="utf-8") for path in files}
    readable = {file: text for file, text in named.items() if part in file and "from numba" not in text}
    faults = [Fault(file, mutation) for file, text in readable.items() for mutation in mutations(text)]
    random.Random(seed).shuffle(faults)
    counts, drawn = Counter[tuple[str, str]](), list[Fault]()
    for fault in faults:
        key = (fault.file, fault.mutation.function)
        counts[key] += 1
        if counts[key] <= FUNCTION_LIMIT and len(drawn) < number:
            drawn.append(fault)
    return drawn


def written_faults(path: Path, folder: str) -> list[Fault]:
    """Return the faults of a list that are in functions of a folder."""
    faults = []
    for mutant in read_list(path):
        text = (SOURCES / mutant.file).read_text(encoding="utf-8")
        line = first_difference(text, mutant.apply(text))
        function = function_at(ast.parse(text), line)
        if function and "from numba" not in text and Path(mutant.file).is_relative_to(folder):
            faults.append(Fault(mutant.file, Mutation(line, function, mutant.old, mutant.new, WRITTEN, 0)))
    return faults


def first_difference(text: str, other: str) -> int:
    """Return the number of the first line that differs.

    >>> first_difference("a\\nb\\nc", "a\\nd\\nc")
    2
    """
    lines = zip(text.splitlines(), other.splitlines(), strict=False)
    return next((number for number, (line, new) in enumerate(lines, 1) if line != new), len(other.splitlines()))


def function_at(tree: ast.AST, line: int) -> str:
    """Return the qualified name of the function that a line is in.

    >>> function_at(ast.parse("class A:\\n  def f(self):\\n    return 1"), 3)
    'A.f'
    """
    name, inside = list[str](), False
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in ast.walk(tree):  # the outer ones first
        if isinstance(node, definitions) and node.lineno <= line <= (node.end_lineno or node.lineno):
            name.append(node.name)
            inside |= not isinstance(node, ast.ClassDef)
    return ".".join(name) if inside else ""


def new_tests(tests: Sequence[Path], reach: Reach) -> list[NewTest]:
    """Return the tests of these files that the notes do not know."""
    found = []
    for path in tests:
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            name = f"{path.relative_to(ROOT)}::{getattr(node, 'name', '')}"
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and name not in reach.seconds:
                found.append(NewTest(name, text, ast.get_source_segment(text, node) or ""))
    return found


def functions_of(files: Sequence[str]) -> Functions:
    """Import these modules, and return all functions of the package by file, name and line."""
    for file in files:
        importlib.import_module("assay." + file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    found: Functions = {}
    gc.unfreeze()  # what an earlier call froze would not be listed
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename.startswith(str(SOURCES)):
            found.setdefault(_key(thing.__code__), []).append(thing)
    gc.freeze()
    return found


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def try_out(fault: Fault, tests: Sequence[str], seconds: float, functions: Functions) -> str:
    """Plant the fault in a fork, run the tests there, and return what became of it."""
    code, began = fault.code(), time.monotonic()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _run_in_fork(code, tests, functions)
    status = None
    while status is None and time.monotonic() - began < 30 + 4 * seconds:
        done, ended = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(ended) if done else None
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if status is None:
        os.waitpid(child, 0)
        return ENDLESS
    return OUTCOMES.get(status, UNFIT)


def plant(code: CodeType, functions: Functions) -> bool:
    """Put the code of a fault into the functions that are there; return whether that changes any."""
    planted = False
    for new in _codes(code):
        for function in functions.get(_key(new), []):
            planted |= function.__code__ != new
            function.__code__ = new
    return planted


def _run_in_fork(code: CodeType, tests: Sequence[str], functions: Functions) -> None:
    """Put the code of the fault into the functions that are there, run the tests, and end the process."""
    try:
        os.setpgid(0, 0)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        planted = plant(code, functions)
        import pytest

        options = ["-x", "-q", "-n0", "-p", "no:cacheprovider", "--tb=no", "-m", "not slow"]
        ignored = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        os._exit(int(pytest.main([*options, *ignored, *tests])) if planted else 99)
    except BaseException:
        traceback.print_exc()
        os._exit(99)


def note(tests: Sequence[Path], path: Path) -> Reach:
    """Return which tests reach which lines: as noted before, or noted now."""
    if not path.exists():
        names = [str(test.relative_to(ROOT)) for test in tests]
        subprocess.run([sys.executable, "-m", "benchmarks.reach", str(path), *names], cwd=ROOT, check=False)
    return Reach.load(path)


def main() -> None:
    """Draw faults, try each, and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="a folder of src/assay, such as logic or models/core; . for its own modules")
    parser.add_argument("-n", "--number", type=int, default=60)
    parser.add_argument("--part", default="", help="only files whose path has this part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--notes", type=Path, default=ROOT / "out" / "reach", help="where the notes are kept")
    parser.add_argument("--again", type=Path, help="the output of an earlier draw, whose survivors are tried again")
    parser.add_argument("--list", type=Path, help="faults that somebody wrote, instead of drawn ones")
    parser.add_argument("-o", "--output", type=Path, help="a file for all outcomes, a line of JSON each")
    chosen = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    tests = Mutant(f"{chosen.folder}/x.py".removeprefix("./"), "", "x").tests
    reach = note(tests, chosen.notes / f"{chosen.folder.replace('/', '.').strip('.') or 'assay'}.json")
    if chosen.again:
        faults = survivors(chosen.again)
    elif chosen.list:
        faults = written_faults(chosen.list, chosen.folder)
    else:
        faults = draw(chosen.folder, chosen.part, chosen.number, chosen.seed)
    functions, fresh = functions_of(sorted({fault.file for fault in faults})), new_tests(tests, reach)
    counts = Counter[str]()
    for fault in faults:
        outcome = judge_by_tests(fault, reach, fresh, functions)
        counts[outcome] += 1
        print(f"{outcome:12} {fault}", flush=True)
        if chosen.output:
            with chosen.output.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"outcome": outcome, "file": fault.file, **asdict(fault.mutation)}) + "\n")
    print(", ".join(f"{number} {outcome}" for outcome, number in counts.most_common()), f"of {len(faults)}")


def judge_by_tests(fault: Fault, reach: Reach, fresh: Sequence[NewTest], functions: Functions) -> str:
    """Return what becomes of a fault when the tests that reach its line are run."""
    known = reach.tests(fault.file, fault.mutation.line)
    chosen, seconds = list[str](), 0.0
    for test in [*(new.name for new in fresh if new.may_reach(fault)), *known]:
        if len(chosen) < TESTS and seconds < SECONDS:
            chosen.append(test)
            seconds += reach.seconds.get(test, 0.1)
    return try_out(fault, chosen, seconds, functions) if chosen else UNREACHED


def survivors(path: Path) -> list[Fault]:
    """Return the faults of an earlier draw that were not caught."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    missed = [row for row in rows if row.pop("outcome") not in (CAUGHT, UNFIT)]
    return [Fault(row.pop("file"), Mutation(**row)) for row in missed]


if __name__ == "__main__":
    main()
