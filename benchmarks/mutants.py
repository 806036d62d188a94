"""`python -m benchmarks.mutants LIST.json`: plant small faults one at a time, and see whether the tests notice.

The list has an object for each fault: `file` (such as `logic/cnf.py`), `old` (a text that occurs there once) and `new`.
A fault counts as caught only if a test of the same folder fails that passes without it: `tests/logic` for
`src/assay/logic`, and no other; with `--doctests`, the examples in the docstrings of its own module are tried too.
Tests that `make test` leaves out are left out here. Files of tests that name the module are run first, and the others
only if none of these fails. Sources are copied first, so that the checkout is never changed; `--check` only looks
whether each fault still fits, `--jobs` tries several faults at a time.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"
SECONDS = 240
"""How long the tests of one fault may run."""
NO_TESTS = 5
"""What pytest ends with if a file has no test that is run."""
OTHER_FOLDERS = {"families/photos": "families/coco", "families/rsbench": "families"}
"""Where the tests of a folder are, if not under the same name."""
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.+?)?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """A small fault: a text of a file, and what stands there instead."""

    file: str
    old: str
    new: str

    def apply(self, text: str) -> str:
        """Return the file with the fault."""
        if text.count(self.old) != 1 or self.old == self.new:
            raise SystemExit(f"{self.file}: {self.old!r} occurs {text.count(self.old)} times, not once")
        return text.replace(self.old, self.new)

    @property
    def tests(self) -> list[Path]:
        """The test files of its folder and the laws, those first that name its module."""
        folder = str(Path(self.file).parent)
        if folder == ".":
            files = sorted(TESTS.glob("test_*.py"))
        else:
            there = TESTS / folder if (TESTS / folder).exists() else TESTS / OTHER_FOLDERS.get(folder, folder)
            while not there.exists():
                there = there.parent
            files = [there] if there.is_file() else sorted(there.rglob("test_*.py"))
        files += [law for law in sorted((TESTS / "laws").glob("test_*.py")) if law not in files]
        return sorted(files, key=self._distance)

    @property
    def stages(self) -> list[list[Path]]:
        """The test files in the order in which they are run: those that name its module, then the others."""
        far = [all(self._distance(tests)) for tests in self.tests]
        stages = [[t for t, other in zip(self.tests, far, strict=True) if other == stage] for stage in (False, True)]
        return [stage for stage in stages if stage]

    def _distance(self, tests: Path) -> tuple[bool, ...]:
        text, stem = tests.read_text(encoding="utf-8"), Path(self.file).stem
        module = "assay." + self.file.removesuffix(".py").replace("/", ".")
        return module not in text, tests.stem != f"test_{stem}", stem not in tests.stem, stem not in text


@dataclass(frozen=True)
class Verdict:
    """What became of a fault: `caught`, `survived` or `timed out`, the test that noticed, and how long that took."""

    outcome: str
    test: str
    seconds: float


class Sources:
    """A copy of the package in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(folder / "src"),
            "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
            "OMP_NUM_THREADS": "1",
        }

    def try_out(self, mutant: Mutant, seconds: float, doctests: bool = False) -> Verdict:
        """Run the tests of a fault's folder with it, and the one that fails without it."""
        path, began = self.folder / "src" / "assay" / mutant.file, time.monotonic()
        original, times = path.read_bytes(), path.stat()
        path.write_text(mutant.apply(original.decode()), encoding="utf-8")
        stages = [[str(test.relative_to(ROOT)) for test in stage] for stage in mutant.stages]
        outcome, failed = "survived", None
        try:
            for stage in ([str(path)] if doctests else [], *stages):
                output = self._run(stage, seconds - (time.monotonic() - began)) if stage else ""
                failed = None if output is None else FAILED.search(output)
                if output is None or failed:
                    outcome = "timed out" if output is None else "caught"
                    break
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        spent = time.monotonic() - began
        if failed is None:
            return Verdict(outcome, "", spent)
        alone = self._run([failed[1].partition("[")[0]], seconds)  # of all its cases: names of cases may hold anything
        passes = alone is not None and FAILED.search(alone) is None
        return Verdict(outcome if passes else "fails anyway", failed[1], spent)

    def _run(self, tests: list[str], seconds: float) -> str | None:
        """Return what pytest prints up to the first failure, or None if it takes too long."""
        options = [
            "-x",
            "-q",
            "-n0",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow",
            "--tb=no",
            "-rfE",
            f"--rootdir={ROOT}",
        ]
        command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), *options, *tests]
        with subprocess.Popen(
            command, cwd=ROOT, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            try:
                output = process.communicate(timeout=max(seconds, 1.0))[0]
            except subprocess.TimeoutExpired:
                process.terminate()
                return None
        if process.returncode not in (0, NO_TESTS) and FAILED.search(output) is None:
            raise SystemExit(f"the tests could not be run: {output[-500:]}")
        return output


def read_list(path: Path) -> Iterator[Mutant]:
    """Give the faults of a list, each of which must fit."""
    for entry in json.loads(path.read_text(encoding="utf-8")):
        mutant = Mutant(entry["file"], entry["old"], entry["new"])
        mutant.apply((ROOT / "src" / "assay" / mutant.file).read_text(encoding="utf-8"))
        yield mutant


def main() -> None:
    """Try every fault of a list, and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("list", type=Path)
    parser.add_argument("--check", action="store_true", help="only look whether each fault still fits")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for the tests of one fault")
    parser.add_argument("--doctests", action="store_true", help="try the examples in docstrings of its module too")
    parser.add_argument("--jobs", type=int, default=1, help="how many faults are tried at a time")
    chosen = parser.parse_args()
    mutants, outcomes = list(read_list(chosen.list)), list[str]()
    if chosen.check:
        print(f"{len(mutants)} faults fit")
        return
    with ExitStack() as stack, ThreadPoolExecutor(chosen.jobs) as pool:
        free: SimpleQueue[Sources] = SimpleQueue()
        for _ in range(chosen.jobs):
            free.put(Sources(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-")))))

        def try_one(mutant: Mutant) -> Verdict:
            sources = free.get()
            try:
                return sources.try_out(mutant, chosen.seconds, chosen.doctests)
            finally:
                free.put(sources)

        for number, (mutant, verdict) in enumerate(zip(mutants, pool.map(try_one, mutants), strict=True), 1):
            outcomes.append(verdict.outcome)
            print(f"{number:3} {verdict.outcome:9} {verdict.seconds:4.0f} s  {mutant.file}: {mutant.new!r}", flush=True)
            print(f"    {verdict.test}", flush=True)
    print(", ".join(f"{outcomes.count(kind)} {kind}" for kind in dict.fromkeys(outcomes)), f"of {len(outcomes)}")


if __name__ == "__main__":
    main()
