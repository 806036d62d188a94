"""`python -m benchmarks.faults docs/reliability.md`: kill, fuzz and damage, and write what happened as a page.

Everything is drawn by a seed. `--quick` tries a little of each; `--kills N` says how often each command is killed by
each signal (20); the kills end after ten minutes however many there were, so that the whole takes fifteen.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.attempts import Outcome, attempt
from benchmarks.fuzz import formulas, flips, kinds, prediction_files, prepare, programs, yaml_files
from benchmarks.kills import COMMANDS, Killed, kill_often

KILLING = 600.0
"""Seconds for all kills."""
INTRODUCTION = """\
# Reliability

What happens when a command is killed, when a file is damaged, and when input is nonsense or means harm. This page is
written by `python -m benchmarks.faults docs/reliability.md`; everything is drawn by a seed, so that it can be repeated.

Every command that writes a folder writes it under another name beside its place and renames it when all is there, or
goes on where it was stopped. Files appear whole or not at all. Workers and programs that a command started end with it,
however it ends. Give the same command again after a crash: it finishes, with the same bytes.
"""


def main() -> None:
    """Run the attempts and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, nargs="?")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kills", type=int, default=20)
    chosen = parser.parse_args()
    page = chosen.page.resolve() if chosen.page else None
    scale = 20 if chosen.quick else 1
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        place = Path(name)
        os.chdir(place)
        os.environ["ASSAY_CACHE"] = str(place / "cache")
        prepare(place)
        killed = _kills(place, 1 if chosen.quick else chosen.kills)
        fuzzed = _fuzzed(place, scale)
        os.chdir("/")
    text = written(killed, fuzzed, time.monotonic() - began)
    if page is None:
        print(text)
    else:
        page.write_text(text)


def _kills(place: Path, kills: int) -> list[Killed]:
    deadline = time.monotonic() + KILLING
    found = []
    for number, verb in enumerate(COMMANDS):
        left = (deadline - time.monotonic()) / (len(COMMANDS) - number)
        found += kill_often(verb, kills, place, time.monotonic() + left)
        print(*found[-3:], sep="\n", flush=True)
    return found


def _fuzzed(place: Path, scale: int) -> dict[str, list[tuple[str, Outcome]]]:
    works = {
        "formulas": formulas(1000 // scale),
        "YAML files of studies": yaml_files(500 // scale, place),
        "prediction files": prediction_files(200 // scale, place),
    }
    found = {what: _outcomes(((what, work) for work in some)) for what, some in works.items()}
    for kind in kinds(place):
        what = f"bit flips: {kind.name}"
        found[what] = _outcomes((what, work) for work in flips(kind, 200 // scale, place))
    found["Prolog programs"] = _outcomes(programs(1000 // scale))
    return found


def _outcomes(works: Iterable[tuple[str, object]]) -> list[tuple[str, Outcome]]:
    found = [(name, attempt(work)) for name, work in works]  # type: ignore[arg-type]
    for name, outcome in found:
        if outcome.ending in ("traceback", "silent", "died"):
            print(name, outcome, flush=True)
    print(name, len(found), flush=True)
    return found


def written(killed: list[Killed], fuzzed: dict[str, list[tuple[str, Outcome]]], seconds: float) -> str:
    """Return the page."""
    rows = [
        f"| `{k.verb}` | {k.signal} | {k.kills} | {k.lost} | {k.different} | {k.orphans} | {k.leftovers} | {k.tracebacks} |"
        for k in killed
    ]
    kills = "\n".join(
        [
            "| command | signal | kills | lost | different | orphans | leftovers | tracebacks |",
            "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
            *rows,
        ]
    )
    lines = [_line(what, [outcome for _, outcome in found]) for what, found in fuzzed.items()]
    inputs = "\n".join(
        [
            "| input | tried | refused in one line | accepted | accepted though damaged | tracebacks | "
            "worst CPU s | worst MB |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *lines,
        ]
    )
    return f"""{INTRODUCTION}
## Kills

Each command was started, killed after a random part of its time, and given again. *Lost*: it did not finish then;
*different*: a file has other bytes than after an undisturbed run (files that tell times left out); *orphans*: processes
that still ran four seconds after it; *leftovers*: temporary files, or files that an undisturbed run does not leave.

{kills}

## Damaged and hostile input

*Accepted* input is right as it is: a formula that still means something and reads back as itself, a bit that says
nothing (such as one of a dataset's summary), predictions in another order. *Accepted though damaged*: what was read is
not what was written, without a word. The memory is that by which the process grew.

{inputs}

Measured in {seconds / 60:.0f} minutes on {os.cpu_count()} processors.
"""


def _line(what: str, found: list[Outcome]) -> str:
    counts = {ending: sum(outcome.ending == ending for outcome in found) for ending in ("refused", "accepted", "silent")}
    broken = len(found) - sum(counts.values())
    seconds, megabytes = max(o.seconds for o in found), max(o.megabytes for o in found)
    return (
        f"| {what} | {len(found):,} | {counts['refused']:,} | {counts['accepted']:,} | {counts['silent']} | {broken} "
        f"| {seconds:.1f} | {megabytes:.0f} |"
    )


if __name__ == "__main__":
    main()
