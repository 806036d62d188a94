"""Runs a probe in a fork of this process, in a copy of the folder that probes begin from."""

import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.planted import functions_of
from benchmarks.reach import ROOT, SOURCES

Texts = Mapping[str, str]
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC", "CUDA_VISIBLE_DEVICES": "",
}  # fmt: skip
SECONDS, WALL = 60.0, 6
"""How many CPU seconds a probe may take, and how many times as long by the clock."""


@dataclass(frozen=True)
class Probe:
    """A named piece of work that gives texts by part, and the parts of the stage that it needs."""

    name: str
    work: Callable[[], Texts]
    needs: tuple[str, ...] = ()


def modules() -> list[str]:
    """Return the files of the package that can be imported, but not those that run other programs' code."""
    files = [path.relative_to(SOURCES) for path in sorted(SOURCES.rglob("*.py"))]
    return [
        str(file) for file in files if "templates" not in file.parts and file.stem not in ("__main__", "blender_worker")
    ]


def import_all() -> dict[tuple[str, str, int], list[object]]:
    """Import the whole package, once, and return its functions by file, name and line."""
    os.environ.update(ENVIRONMENT)
    found = functions_of(modules())
    import torch

    torch.set_num_threads(1)
    return dict(found)  # type: ignore[arg-type]


def in_fork(work: Callable[[], object], folder: Path, seconds: float = SECONDS) -> object:
    """Do some work in a fork, in a folder; return what it returns, or a text that says how it ended."""
    sys.stdout.flush()
    sys.stderr.flush()
    result, began = folder.parent / f"{folder.name}.json", time.monotonic()
    child = os.fork()
    if child == 0:
        _be_the_child(work, folder, result, seconds)
    ended = 0
    while ended == 0 and time.monotonic() - began < WALL * seconds:
        ended, _ = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if ended == 0:
        os.waitpid(child, 0)
        return {"ended": "died, or endless"}
    text = result.read_text(encoding="utf-8") if result.exists() else '{"ended": "died, or endless"}'
    result.unlink(missing_ok=True)
    return json.loads(text)


def _be_the_child(work: Callable[[], object], folder: Path, result: Path, seconds: float) -> None:
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        os.chdir(folder)
        os.environ["ASSAY_CACHE"] = str(folder / ".cache")
        try:
            found = work()
        except BaseException as error:
            found = {"raised": f"{type(error).__name__}: {str(error).replace(str(folder), 'FOLDER')}"}
        result.write_text(json.dumps(found), encoding="utf-8")
    finally:
        os._exit(0)


@dataclass(frozen=True)
class Stage:
    """The folder that probes begin from, in a temporary place."""

    folder: Path

    @classmethod
    def build(cls, place: Path) -> tuple["Stage", Texts]:
        """Build it in a fork; return it, and what was printed meanwhile."""
        from benchmarks.house.stage import build

        (place / "stage").mkdir()
        return cls(place / "stage"), in_fork(build, place / "stage", 600)  # type: ignore[return-value]

    def run(self, probe: Probe, before: Callable[[], object] | None = None, seconds: float = SECONDS) -> Texts:
        """Run a probe in a fork, in a copy of what it needs; `before` is done in the fork first."""
        folder = Path(tempfile.mkdtemp(dir=self.folder.parent)) / "house"
        folder.mkdir()
        for name in probe.needs:
            source = self.folder / name
            if source.exists():  # else what needs it says so
                (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)

        def work() -> Texts:
            if before is not None:
                before()
            return probe.work()

        try:
            return in_fork(work, folder, seconds)  # type: ignore[return-value]
        finally:
            shutil.rmtree(folder.parent, ignore_errors=True)


def chosen(probes: Sequence[Probe], part: str) -> list[Probe]:
    """Return the probes in whose name a regular expression is found."""
    return [probe for probe in probes if re.search(part, probe.name)]


RECORDS = ROOT / "benchmarks" / "records" / "house"
