"""`python -m benchmarks.trained`: train the zoo, or some of it, and keep the answers."""

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from benchmarks.trained.building import build
from benchmarks.trained.catalogue import MORE_FOLDER, more_setups, setups
from benchmarks.trained.kept import FOLDER, Case, kept_cases, read_case, write_case
from benchmarks.trained.measures import facts_of
from benchmarks.trained.words import expectation


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trained", description=__doc__)
    parser.add_argument("--list", action="store_true", help="list the cases and train nothing")
    parser.add_argument("--only", metavar="NAME", help="train the cases whose names begin so")
    parser.add_argument("--more", action="store_true", help="train the further runs of the study of validity")
    parser.add_argument("--judge", action="store_true", help="train nothing; count and expect anew of kept cases")
    chosen = parser.parse_args()
    if chosen.judge:
        for path in kept_cases():
            print(line(judged_again(path)))
        return
    every = more_setups() if chosen.more else setups()
    wanted = [setup for setup in every if setup.name.startswith(chosen.only or "")]
    if not wanted:
        sys.exit(f"no case whose name begins with {chosen.only!r}")
    torch.set_num_threads(1)
    for setup in wanted:
        if chosen.list:
            print(f"{setup.name:34} {setup.family:12} {setup.half:9} {setup.cause}")
            continue
        start = time.perf_counter()
        case = build(setup)
        size = write_case(case, MORE_FOLDER if chosen.more else FOLDER).stat().st_size
        print(f"{line(case)}  {size / 1024:.0f} KB  {time.perf_counter() - start:.1f} s", flush=True)


def judged_again(path: Path) -> Case:
    """Write a kept case again: counted from its arrays, and expected by the criteria, as they are now."""
    case = read_case(path)
    setup, other = case.header["setup"], bool(case.header["other_pictures"])
    facts = {**case.header["facts"], **facts_of(case)}
    expected = expectation(setup["intended"], setup.get("rule", True), other, facts)
    case = replace(case, header={**case.header, "facts": facts, **expected})
    write_case(case, path.parent)
    return case


def line(case: Case) -> str:
    """Return a case in a line: its name, what may come first, and the main counts."""
    header, facts = case.header, case.header["facts"]
    right = facts["right"][0] / facts["right"][1]
    reads = [facts["concept_right"][name] for name in facts["used"] if name in facts["concept_right"]]
    worst = min((hits / of for hits, of in reads), default=float("nan"))
    true = [word for word, holds in header["truths"].items() if holds]
    flag = "" if header["materialised"] else "NOT MATERIALISED "
    shown = f"{header['name']:30} {header['cause']:28} accept {', '.join(header['accept'])}; true {', '.join(true)}"
    return f"{flag}{shown}; labels {right:.3f}, worst concept {worst:.3f}"


if __name__ == "__main__":
    main()
