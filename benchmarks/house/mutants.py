"""Which random small faults a user could see: those that change what some probe gives.

Faults are drawn and planted by `benchmarks.planted`. Which lines each probe reaches is noted once, under `out/house`.
What is judged is kept after each fault, so that a run that was stopped goes on. What runs while modules are imported,
and what numba compiles, cannot be planted, and what worker processes run is not planted.
`benchmarks/records/house/mutants-of-0e228029.json` is the first draw, of the commit in its name, as far as it is
judged: copied to `mutants.json` in a clone of that commit, `mutants` goes on with it.
"""

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.house.forks import RECORDS, Probe, Stage, Texts, import_all
from benchmarks.house.seen import sha
from benchmarks.mutants import Mutant
from benchmarks.mutations import Mutation
from benchmarks.planted import Fault, Functions, draw, functions_of, judge_by_tests, new_tests, note, plant
from benchmarks.reach import ROOT, SOURCES

LISTED = RECORDS / "mutants.json"
REACH = ROOT / "out" / "house" / "reach.json"
MOST_SECONDS = 60.0
"""Probes of about so many seconds are tried for each fault, the quickest first."""


@dataclass(frozen=True)
class Noted:
    """Which lines of which files a probe reaches, and how many seconds it takes."""

    seconds: float
    lines: dict[str, list[int]]


def traced(work: Callable[[], Texts]) -> Callable[[], Texts]:
    """Return work that gives, as JSON, what it gave, and the lines that it reaches, by file."""

    def trace() -> Texts:
        from coverage import Coverage

        coverage = Coverage(data_file=None, source=[str(SOURCES)], config_file=False)
        coverage.start()
        try:
            texts = work()
        finally:
            coverage.stop()
        data = coverage.get_data()
        lines = {str(Path(file).relative_to(SOURCES)): data.lines(file) or () for file in data.measured_files()}
        reached = {file: sorted(numbers) for file, numbers in lines.items()}
        return {"texts": json.dumps(texts), "lines": json.dumps(reached)}

    return trace


def note_reach(stage: Stage, probes: Sequence[Probe], known: Texts) -> dict[str, Noted]:
    """Return which lines each probe reaches, as noted before or now; none for one that differs from its record."""
    REACH.parent.mkdir(parents=True, exist_ok=True)
    noted = json.loads(REACH.read_text(encoding="utf-8")) if REACH.exists() else {}
    for probe in [probe for probe in probes if probe.name not in noted]:
        began = time.monotonic()
        told = stage.run(Probe(probe.name, traced(probe.work), probe.needs), seconds=200)
        seconds = round(time.monotonic() - began, 3)
        other = differing(probe.name, json.loads(told["texts"]), known) if "texts" in told else [json.dumps(told)[:200]]
        print(
            f"{seconds:5.1f} s  {probe.name}", *(f"LEFT OUT, as it differs: {part}" for part in other[:3]), flush=True
        )
        noted[probe.name] = {"seconds": seconds, "lines": {} if other else json.loads(told["lines"])}
        REACH.write_text(json.dumps(noted), encoding="utf-8")
    return {name: Noted(**found) for name, found in noted.items()}


def judge(count: int, seed: int, first: int) -> None:
    """Draw faults, and keep which of them are visible, and by which probe."""
    from benchmarks.house.probes import all_probes

    functions: Any = import_all()
    rows = _kept(count, seed)
    known = json.loads((RECORDS / "sums.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="house-") as place:
        stage, probes = Stage.build(Path(place))[0], {probe.name: probe for probe in all_probes()}
        reach = note_reach(stage, list(probes.values()), known)
        for row in [row for row in rows if "outcome" not in row][: first or None]:
            row |= see(_fault(row), stage, probes, reach, functions, known)
            print(f"{row['outcome']:9} {row['by'][:24]:24} {_fault(row)}", flush=True)
            _keep(rows)
    print(Counter(row.get("outcome", "not judged") for row in rows))


def see(
    fault: Fault, stage: Stage, probes: dict[str, Probe], reach: dict[str, Noted], functions: Functions, known: Texts
) -> dict[str, Any]:
    """Return whether a fault changes what some probe gives, and the first probe that shows it."""
    code, line = fault.code(), fault.mutation.line
    near = [name for name, noted in reach.items() if line in noted.lines.get(fault.file, []) and name in probes]
    tried, spent = 0, 0.0
    for name in sorted(near, key=lambda name: reach[name].seconds):
        if spent > MOST_SECONDS:
            break
        limit = 10 + 4 * reach[name].seconds
        texts = stage.run(probes[name], lambda: plant(code, functions), limit)
        tried, spent = tried + 1, spent + reach[name].seconds
        parts = differing(name, texts, known)
        if parts:
            return {"outcome": "visible", "by": name, "part": parts[0][:80], "reached by": len(near)}
    return {"outcome": "invisible" if near else "unreached", "by": "", "tried": tried, "reached by": len(near)}


def differing(name: str, texts: Texts, known: Texts) -> list[str]:
    """Return the parts of a probe's texts that are not as recorded."""
    begin = f"{name} | "
    recorded = {key.removeprefix(begin): value for key, value in known.items() if key.startswith(begin)}
    return [part for part in {**recorded, **texts} if part not in texts or sha(texts[part]) != recorded.get(part)]


def check(count: int, seed: int, first: int) -> None:
    """Keep for each visible fault whether the tests of its folder that reach it catch it."""
    rows = _kept(count, seed)
    visible = [row for row in rows if row.get("outcome") == "visible" and "tests" not in row]
    visible = sorted(visible, key=lambda row: row["file"])[: first or None]
    functions = functions_of(sorted({row["file"] for row in visible}))
    for folder in sorted({str(Path(row["file"]).parent) for row in visible}):
        tests = Mutant(f"{folder}/x.py".removeprefix("./"), "", "x").tests
        reach = note(tests, ROOT / "out" / "reach" / f"{folder.replace('/', '.').strip('.') or 'assay'}.json")
        fresh = new_tests(tests, reach)
        for row in [row for row in visible if str(Path(row["file"]).parent) == folder]:
            row["tests"] = judge_by_tests(_fault(row), reach, fresh, functions)
            print(f"{row['tests']:12} {row['file']}:{row['line']} {row['old'][:50]} -> {row['new'][:50]}", flush=True)
            _keep(rows)
    print(Counter(row["tests"] for row in rows if "tests" in row))


def _kept(count: int, seed: int) -> list[dict[str, Any]]:
    """Return the faults of a draw as they are kept, or drawn now."""
    if LISTED.exists():
        kept = json.loads(LISTED.read_text(encoding="utf-8"))
        if (kept["count"], kept["seed"]) == (count, seed):
            return list(kept["mutants"])
    return [
        {"draw": [count, seed], "file": fault.file, **asdict(fault.mutation)} for fault in draw("", "", count, seed)
    ]


def _keep(rows: Sequence[dict[str, Any]]) -> None:
    count, seed = rows[0]["draw"]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    LISTED.write_text(f'{{"count": {count}, "seed": {seed}, "mutants": [\n{lines}\n]}}\n', encoding="utf-8")


def _fault(row: dict[str, Any]) -> Fault:
    fields = ("line", "function", "old", "new", "site", "variant")
    return Fault(row["file"], Mutation(**{field: row[field] for field in fields}))
