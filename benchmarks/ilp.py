"""Inductive logic programming: trains learned from per CPU second; `python -m benchmarks.ilp` prints the table.

The alternatives are the times of Aleph at 10,000 trains as they were measured on a machine like this one with a bias
made for each rule, and, where SWI-Prolog and Aleph are there (ASSAY_ALEPH), Aleph itself with the same bias as ours.
"""

import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from assay.base import AssayError, Codes, Settings
from assay.metrics import relations_in
from assay.models import MODELS, Examples, one_hot
from assay.tasks import TASKS
from benchmarks.timing import Result

ALEPH = {"theory_x": 107.0, "numerical": 26.0}
"""Seconds of Aleph for 10,000 trains."""
NARROW = {
    "theory_x": {"counts": 0, "triples": False, "objects": 2, "comparisons": False},
    "numerical": {"counts": 0, "triples": False, "objects": 1, "others": False},
}
"""A bias that leaves out what a rule does not need."""


def run() -> list[Result]:
    found = []
    for rule, seconds in ALEPH.items():
        ours = _learned("ilp", rule, 10_000)
        what = f"{rule} from 10,000 trains"
        found.append(Result(what, "trains", 10_000 / ours["cpu"], 10_000 / seconds, "Aleph's stated seconds"))
    return found


def drawn(task: Any, split: str, size: int, seed: int = 0) -> Codes:
    """Return the concepts of some trains, without drawing pictures."""
    held = next(one for one in task.splits() if one.name == split)
    found: Codes = task.source_for(replace(held, size=size), seed).codes(np.arange(size))
    return found


def _learned(name: str, rule: str, size: int, noise: float = 0.0, seed: int = 0, **settings: Any) -> dict[str, Any]:
    """Return what a learner finds, and how long it takes."""
    task = TASKS["trains"](image=False, rule=rule)
    known, codes, test = task.knowledge, drawn(task, "train", size, seed), drawn(task, "test", 2000, seed)
    labels = known.labels_of(codes)
    wrong = np.random.default_rng(seed).permutation(size)[: round(noise * size)]
    labels[wrong] = 1 - labels[wrong]
    model = MODELS[name](known, None, Settings({"seconds": 120.0, **settings}), seed=seed)
    cpu, wall = time.process_time(), time.monotonic()
    model.learn(Examples(known, codes, one_hot(codes, known.space), labels))
    cpu, wall = time.process_time() - cpu, time.monotonic() - wall
    said = model.labels_from_concepts(one_hot(test, known.space))[0].argmax(axis=1)
    (found,) = relations_in(model.state(), known)
    accuracy = float((said == known.labels_of(test)[:, 0]).mean())
    return {"cpu": cpu, "wall": wall, "accuracy": accuracy, "relation": found.relation, **model.learned["east"].notes}


def table(seeds: range, seconds: float, others: bool) -> str:
    """Return what each learner finds of the rules of trains."""
    lines = [
        "| learner | rule | trains | wrong labels | CPU s (ours) or wall s | test accuracy | relation to the rule |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    rows: list[tuple[str, str, int, float, dict[str, Any]]] = [
        ("ilp", rule, size, noise, {})
        for rule, size, noise in (
            ("theory_x", 1000, 0.0), ("theory_x", 10_000, 0.0), ("numerical", 1000, 0.0), ("numerical", 10_000, 0.0),
            ("theory_x", 1000, 0.1), ("complex", 1000, 0.0), ("theory_x", 100, 0.0), ("theory_x", 1000, 0.3),
        )
    ]  # fmt: skip
    if others:
        rows += [("aleph", rule, size, 0.0, NARROW[rule]) for rule in NARROW for size in (1000, 10_000)]
        rows += [("aleph", rule, 1000, 0.0, {}) for rule in NARROW]
    for name, rule, size, noise, settings in rows:
        for seed in seeds if name == "ilp" else range(1):
            try:
                found = _learned(name, rule, size, noise, seed, seconds=seconds, **settings)
            except AssayError as error:
                lines.append(f"| {name} | {rule} | {size:,} | | | | {error} |")
                continue
            took = found["cpu"] if name == "ilp" else found["wall"]
            which = f"{name}{' (narrow bias)' if settings else ''}"
            lines.append(
                f"| {which} | {rule} | {size:,} | {noise:.0%} | {took:.1f} | {found['accuracy']:.3f} "
                f"| {found['relation']} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(range(int(sys.argv[1]) if len(sys.argv) > 1 else 1), 120.0, "aleph" in sys.argv))
