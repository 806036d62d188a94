"""Commands that are killed at random moments: does the same command finish what they began, and is anything left?"""

import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.cli.main import main
from assay.seeds import rng_for

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
COMMANDS = {
    "make": "make mnlogic -n 1500 --workers 2 -o OUT --set k=3",
    "annotate": "annotate data -o OUT --set missing=0.3 --set label_noise=0.1",
    "export": "export data --to prolog -o OUT",
    "import": "import table -o OUT",
    "pairs": "pairs OUT -n 60",
    "push": "push data OUT",
    "train": "train cbm data -o OUT --epochs 3 --set device=cpu",
    "report": "report mine.parquet --data data -o OUT",
    "view --bundle": "view data mine.parquet --bundle OUT --samples 20",
    "run": "run study.yaml -o OUT --workers 2 --no-trial",
}
STUDY = """\
tasks: [{task: mnlogic, pixels: true, k: 3, splits: {valid: 16, test: 16, hard: 8}}]
models: [rules, tree]
seeds: [0, 1]
n: 32
"""
PATIENCE = 4.0
"""Seconds that processes may take to end after the command that started them."""
OVER = ("is not an empty folder", "holds a finished run")
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


def start(words: Sequence[str], log: Path) -> int:
    """Start a command in a fork with a session of its own; return its process."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(file, stream)
    sys.argv = ["assay", *words]
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
        sys.stderr.flush()
        os._exit(code)
    os._exit(70)


def finish(words: Sequence[str], log: Path) -> int:
    """Run a command to its end and return its exit status."""
    return os.waitstatus_to_exitcode(os.waitpid(start(words, log), 0)[1])


def kill_often(verb: str, kills: int, place: Path, deadline: float) -> list[Killed]:
    """Kill a command by each signal, at moments drawn over its time, as long as there is time."""
    words = COMMANDS[verb].split()
    first, seconds = _reference(words, place, "reference")
    second, _ = _reference(words, place, "again")
    steady = {name for name in first if first[name] == second.get(name)}  # not those that tell times
    found = []
    for number in SIGNALS:
        counted = Killed(verb, number.name)
        for trial in range(kills):
            if time.monotonic() > deadline:
                break
            moment = float(rng_for(0, "kill", verb, number.name, trial).uniform(0.02, 1.0)) * seconds
            _kill(words, place, number, moment, counted)
            _compare(words, place, {name: first[name] for name in steady}, set(first), counted)
        found.append(counted)
    return found


def _reference(words: Sequence[str], place: Path, name: str) -> tuple[dict[str, bytes], float]:
    _prepare(words, place / name)
    began = time.monotonic()
    if finish([word.replace("OUT", name) for word in words], place / "log") != 0:
        raise RuntimeError(f"{' '.join(words)} fails by itself: {(place / 'log').read_text()}")
    return _files(place / name), time.monotonic() - began


def _prepare(words: Sequence[str], folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if words[0] == "pairs":
        shutil.copytree(folder.parent / "data", folder)


def _kill(words: Sequence[str], place: Path, number: signal.Signals, moment: float, counted: Killed) -> None:
    """Start afresh, kill after a while, and count what is left running and what was printed."""
    _prepare(words, place / "out")
    child = start([word.replace("OUT", "out") for word in words], place / "log")
    time.sleep(moment)
    os.kill(child, number)
    os.waitpid(child, 0)
    counted.kills += 1
    deadline = time.monotonic() + PATIENCE
    while (left := _session(child)) and time.monotonic() < deadline:
        time.sleep(0.05)
    counted.orphans += bool(left)
    for process in left:
        os.kill(process, signal.SIGKILL)
    counted.tracebacks += "Traceback" in (place / "log").read_text(errors="replace")


def _compare(words: Sequence[str], place: Path, expected: dict[str, bytes], names: set[str], counted: Killed) -> None:
    """Give the command again and compare what there is with what an undisturbed run leaves."""
    status = finish([word.replace("OUT", "out") for word in words], place / "log")
    said = (place / "log").read_text(errors="replace")
    counted.lost += status != 0 and not any(text in said for text in OVER)
    found = _files(place / "out")
    counted.different += any(found.get(name) != data for name, data in expected.items())
    hidden = [path for path in place.glob(".*") if path.name.endswith((".half", ".tmp"))]
    counted.leftovers += bool(hidden) or bool(found.keys() - names)
    counted.tracebacks += "Traceback" in said


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
