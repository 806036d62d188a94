"""Commands that are killed at random moments: does the same command finish what they began, and is anything left?"""

import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

from assay.base import rng_for
from assay.cli import main

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
COMMANDS = {
    "run": "run study.yaml -o OUT --workers 1 --no-trial",
    "train": "train cbm data -o OUT --epochs 3 --set device=cpu --set backbone=mlp",
    "make": "make mnlogic -n 300 --workers 2 -o OUT --set k=3",
    "view --bundle": "view data mine.parquet --bundle OUT --samples 10",
    "report": "report mine.parquet --data data -o OUT",
    "annotate": "annotate data -o OUT --set missing=0.3 --set label_noise=0.1",
    "export": "export data --to prolog -o OUT",
    "import": "import table -o OUT",
    "pairs": "pairs OUT -n 60",
    "push": "push data OUT",
}
"""The slowest first, so that they have all the time that there is."""
INPUTS = ("data", "table", "mine.parquet", "study.yaml")
STUDY = """\
tasks: [{task: mnlogic, pixels: true, k: 3, splits: {valid: 16, test: 16, hard: 8}}]
models: [rules, tree]
seeds: [0]
n: 32
"""
LOG = "log"
SIDE_BY_SIDE = 3
IN_A_ROW = 4
"""So often a command is killed before it may finish."""
PATIENCE = 4.0
"""Seconds that processes may take to end after the command that started them."""
OVER = ("is not an empty folder",)
"""What a command says of a folder that is whole already."""


@dataclass
class Killed:
    """How a command did over some kills with a signal."""

    verb: str
    signal: str
    kills: int = 0
    lost: int = 0
    different: int = 0
    orphans: int = 0
    leftovers: int = 0
    tracebacks: int = 0

    def row(self) -> str:
        """Return the line of a table."""
        faults = (self.lost, self.different, self.orphans, self.leftovers, self.tracebacks)
        return f"| `{self.verb}` | {self.signal} | {self.kills} | {' | '.join(map(str, faults))} |"


def start(words: Sequence[str], place: Path) -> int:
    """Start a command in a fork with a session of its own, where its log is kept; return its process."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS[1:])  # a child must not go on as this process
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return child
    code = 70
    try:
        os.setsid()
        os.chdir(place)
        file = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(file, stream)
        sys.modules["__main__"] = ModuleType("__main__")  # workers would import this program once more
        sys.argv = ["assay", *words]
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
        sys.stderr.flush()
    except KeyboardInterrupt:
        code = 130
    finally:
        os._exit(code)


def finish(words: Sequence[str], place: Path) -> int:
    """Run a command to its end and return its exit status."""
    return os.waitstatus_to_exitcode(os.waitpid(start(words, place), 0)[1])


def kill_all(place: Path, kills: int, seconds: float) -> list[Killed]:
    """Kill every command by every signal, some commands side by side."""
    deadline = time.monotonic() + seconds
    with ProcessPoolExecutor(SIDE_BY_SIDE, get_context("fork")) as pool:
        waiting = {verb: pool.submit(kill_often, verb, kills, place, deadline) for verb in COMMANDS}
        return [count for future in waiting.values() for count in future.result()]


def kill_often(verb: str, kills: int, inputs: Path, deadline: float) -> list[Killed]:
    """Kill a command by each signal, at moments drawn over its time, as long as there is time."""
    place = inputs / "kills" / verb
    for name in INPUTS:
        copy = shutil.copytree if (inputs / name).is_dir() else shutil.copy
        place.mkdir(parents=True, exist_ok=True)
        copy(inputs / name, place / name)
    trials = [Trials(Killed(verb, number.name), number, place) for number in SIGNALS]
    reference = Reference.of(COMMANDS[verb].split(), place)
    while time.monotonic() < deadline and any(trial.count.kills < kills for trial in trials):
        for trial in trials:
            if trial.count.kills < kills:
                trial.go_on(reference)
    for trial in trials:
        trial.end(reference)
        print(trial.count.row(), flush=True)
    return [trial.count for trial in trials]


@dataclass(frozen=True)
class Reference:
    """What a command leaves when nobody disturbs it: all names, the files that are always the same, and its time."""

    words: Sequence[str]
    names: frozenset[str]
    steady: dict[str, bytes]
    seconds: float

    @classmethod
    def of(cls, words: Sequence[str], place: Path) -> "Reference":
        """Run a command twice."""
        runs = []
        for name in ("first", "second"):
            _clear(words, place / name)
            began = time.monotonic()
            if finish(_into(name, words), place) != 0:
                raise RuntimeError(f"{' '.join(words)} fails by itself: {(place / LOG).read_text()}")
            runs.append((_files(place / name), time.monotonic() - began))
        (first, _), (second, seconds) = runs
        steady = {name: data for name, data in first.items() if second.get(name) == data}  # not those that tell times
        return cls(words, frozenset(first), steady, seconds)


@dataclass
class Trials:
    """Kills by one signal, some in a row before the command may finish."""

    count: Killed
    signal: signal.Signals
    place: Path
    started: int = 0
    in_a_row: int = 0

    @property
    def out(self) -> str:
        """The folder that is written."""
        return f"out-{self.count.signal}"

    def go_on(self, reference: Reference) -> None:
        """Start the command, perhaps again, and kill it; let it finish after some kills, or if it was quicker."""
        if not self.in_a_row:
            _clear(reference.words, self.place / self.out)
        rng = rng_for(0, "kill", self.count.verb, self.count.signal, self.started)
        self.started += 1
        killed = self._kill(reference.words, float(rng.uniform(0.02, 0.95)) * reference.seconds)
        self.in_a_row += 1
        if not killed or self.in_a_row == IN_A_ROW:
            self.end(reference)

    def _kill(self, words: Sequence[str], moment: float) -> bool:
        """Kill the command after a while, and count what is left running and what was printed."""
        child = start(_into(self.out, words), self.place)
        time.sleep(moment)
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        os.kill(child, self.signal)
        os.waitpid(child, 0)
        self.count.kills += 1
        deadline = time.monotonic() + PATIENCE
        while (left := _session(child)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.count.orphans += bool(left)
        for process in left:
            os.kill(process, signal.SIGKILL)
        self.count.tracebacks += "Traceback" in self._log()
        return True

    def end(self, reference: Reference) -> None:
        """Give the command again and compare what there is with what an undisturbed run leaves."""
        if not self.in_a_row:
            return
        self.in_a_row = 0
        status = finish(_into(self.out, reference.words), self.place)
        said = self._log()
        self.count.lost += status != 0 and not any(text in said for text in OVER)
        files = _files(self.place / self.out)
        self.count.different += any(files.get(name) != data for name, data in reference.steady.items())
        hidden = [path for path in self.place.glob(f".*{self.out}*") if path.name.endswith((".half", ".tmp"))]
        self.count.leftovers += bool(hidden) or bool(files.keys() - reference.names)
        self.count.tracebacks += "Traceback" in said

    def _log(self) -> str:
        return (self.place / LOG).read_text(errors="replace")


def _into(folder: str, words: Sequence[str]) -> list[str]:
    return [word.replace("OUT", folder) for word in words]


def _clear(words: Sequence[str], folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if words[0] == "pairs":  # which writes into a dataset
        shutil.copytree(folder.parent / "data", folder)


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _session(leader: int) -> list[int]:
    """Return the processes of a session that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found
