"""`python -m benchmarks.faults docs/reliability.md`: kill, fuzz and damage, and write what happened into the page.

Everything is drawn by a seed. `--quick` tries a little of each; `--kills N` says how often each command is killed by
each signal (20); the kills end after eleven minutes however many there were, so that the whole takes fifteen.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.attempts import Outcome, attempt
from benchmarks.fuzz import Work, flips, formulas, kinds, prediction_files, prepare, programs, yaml_files
from benchmarks.kills import Killed, kill_all
from benchmarks.pages import write_between
from benchmarks.strangers import rows_of_strangers

KILLING = 660.0
"""Seconds for all kills."""
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"
KILLS = """\
| command | signal | kills | lost | different | orphans | leftovers | tracebacks |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""
INPUTS = """\
| input | tried | refused in one line | accepted | accepted though damaged | tracebacks | worst CPU s | worst MB |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def main() -> None:
    """Run the attempts and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, nargs="?")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kills", type=int, default=20)
    chosen = parser.parse_args()
    page, scale = chosen.page and chosen.page.resolve(), 20 if chosen.quick else 1
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        place = Path(name)
        os.chdir(place)
        os.environ["ASSAY_CACHE"] = str(place / "cache")
        prepare(place)
        # first, while this process has no threads, which its forks would lack
        kills = kill_all(place, 1 if chosen.quick else chosen.kills, KILLING)
        inputs = fuzz_all(place, scale)
        os.chdir("/")
    text = tables(kills, inputs, time.monotonic() - began)
    if page is None:
        print(text)
    else:
        write_between([str(page)], BEGIN, END, text)


def fuzz_all(place: Path, scale: int) -> dict[str, list[Outcome]]:
    """Try every kind of damaged and hostile input; `scale` divides how often."""
    works: dict[str, Iterable[tuple[str, Work]]] = {
        "formulas": formulas(1000 // scale),
        "YAML files of studies": yaml_files(500 // scale, place),
        "prediction files": prediction_files(200 // scale, place),
        **{f"bit flips: {kind.name}": flips(kind, 200 // scale, place) for kind in kinds(place)},
        "Prolog programs": programs(1000 // scale),
        **rows_of_strangers(place),
    }
    return {what: _outcomes(what, some) for what, some in works.items()}


def _outcomes(what: str, works: Iterable[tuple[str, Work]]) -> list[Outcome]:
    outcomes = []
    for name, work in works:
        outcomes.append(attempt(work))
        if outcomes[-1].is_fault:
            print(what, repr(name)[:300], outcomes[-1], flush=True)
    print(_row(what, outcomes), flush=True)
    return outcomes


def tables(kills: list[Killed], inputs: dict[str, list[Outcome]], seconds: float) -> str:
    """Return the tables as text."""
    killed = "\n".join(count.row() for count in kills)
    tried = "\n".join(_row(what, outcomes) for what, outcomes in inputs.items())
    took = f"Measured in {seconds / 60:.0f} minutes on {os.cpu_count()} processors."
    return f"## Kills\n\n{KILLS}{killed}\n\n## Damaged and hostile input\n\n{INPUTS}{tried}\n\n{took}"


def _row(what: str, outcomes: list[Outcome]) -> str:
    endings = [outcome.ending for outcome in outcomes]
    refused, accepted, silent = (endings.count(ending) for ending in ("refused", "accepted", "silent"))
    broken = len(outcomes) - refused - accepted - silent
    seconds, megabytes = max(o.seconds for o in outcomes), max(o.megabytes for o in outcomes)
    counts = f"{len(outcomes):,} | {refused:,} | {accepted:,} | {silent} | {broken}"
    return f"| {what} | {counts} | {seconds:.1f} | {megabytes:.0f} |"


if __name__ == "__main__":
    main()
