"""Counts of readings by every family and method on small rules, and what is asked of the readings."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from assay.arrays import Codes
from assay.concepts import bits, digits
from assay.counting import cells, count_readings, count_with
from assay.counting.concept_permutations import count_block, count_idle_readings, count_maps
from assay.counting.counterexample_guided import all_worlds, counterexample, prove_on_all, sample_worlds
from assay.counting.interchangeable_values import Interchange
from assay.counting.problem import Problem
from assay.counting.reading_classes import READING_CLASSES, entry_of, most_readings
from assay.counting.readings import Readings
from assay.counting.symmetries import Symmetries, count_distinct_values, truth_table
from assay.errors import AssayError
from assay.logic import Knowledge
from assay.seeds import rng_for
from tests.counting.random_tasks import flat_space, random_task, slot_space
from tests.counting.rules import EVENODD, addition, both_ways, cle4evr, conjunction, kandinsky, xor
from tests.pins import Cases, digest, refusal
from tests.rules import RULES

MOST = 10**15
FAMILIES = ("per-concept", "shared", "per-object")


def some(knowledge: Knowledge, count: int) -> Codes:
    """Return some worlds."""
    worlds = all_worlds(knowledge)
    return worlds[rng_for(0, "some", len(worlds)).permutation(len(worlds))[:count]]


def known() -> dict[str, tuple[Knowledge, Codes | None]]:
    """Return rules with the worlds that training shows; None for all."""
    mixed, shelf = RULES["mixed"](), RULES["shelf"]()
    implied = Knowledge.of(bits([*"abc"]), {"y": "a and b or c", "z": "not a"})
    return {
        "xor": (xor(3), None), "shared xor": (xor(3, shared=True), None), "and": (conjunction(3), None),
        "sum": (addition(4), None), "evenodd": (addition(), both_ways(EVENODD)), "part of sum": (addition(5), some(addition(5), 9)),
        "implied": (implied, None), "part of implied": (implied, some(implied, 5)), "mixed": (mixed, some(mixed, 10)),
        "shelf": (shelf, some(shelf, 8)), "objects": (cle4evr(2, 2, 2), None), "figures": (kandinsky(1), some(kandinsky(1), 12)),
        "product": (Knowledge.of(digits(["a", "b"], (1, 2, 3)), {"y": "a * b", "far": "a > b"}), None),
    }  # fmt: skip


def big(number: int | None) -> Any:
    """Return a count as text where it is long."""
    return None if number is None else (number if abs(number) < MOST else str(number))


def counted(name: str, _: Path) -> dict[str, Any]:
    """Count by every family."""
    knowledge, support = known()[name]
    found: dict[str, Any] = {}
    for family in READING_CLASSES:
        try:
            one = count_readings(knowledge, family, support)
        except AssayError as error:
            found[family] = f"{type(error).__name__}: {error}"
            continue
        found[family] = [one.worlds, big(one.low), big(one.high), one.method, repr(one), digest(one._repr_html_()),
                         digest(one.identifiability())]  # fmt: skip
    concept = knowledge.space.names[0]
    first = knowledge.space.concepts[0].values[0]
    for supervised in ({concept: None}, {concept: [first]}):
        one = count_readings(knowledge, "shared", support, supervised)
        found[f"with {supervised}"] = [big(one.total), one.supervised, one.identifiability()]
    return found


def asked(name: str, _: Path) -> dict[str, Any]:
    """Ask the readings of a rule everything."""
    knowledge, support = known()[name]
    worlds = all_worlds(knowledge) if support is None else support
    found: dict[str, Any] = {}
    for family in FAMILIES:
        try:
            problem = Problem(knowledge, family, np.unique(worlds, axis=0))
            readings = Readings(problem)
        except AssayError as error:
            found[family] = f"{type(error).__name__}: {error}"
            continue
        drawn = readings.sample(rng_for(0, "drawn", name), 4)
        plans = {"plan": readings.plan(), "frequent": readings.plan_frequent(), "examples": readings.plan_examples()}
        shown = readings.least_to_show(2) if readings.total < 5000 else ()
        found[family] = {
            "total": big(readings.total), "entries": digest([entry.text for entry in problem.entries]),
            "truth": problem.truth, "confusion": [[big(n) for n in readings.confusion(0)]],
            "shares": digest([[entry.text, share] for entry, share in readings.identifiability()]),
            "drawn": [readings.text(one) for one in drawn], "ranked": [readings.of_rank(n) for n in range(min(3, readings.total))],
            "closest": [readings.text(one) for one in readings.closest(3)],
            "plans": {key: [[one.supervised, big(one.left), len(one.entries)] for one in plan] for key, plan in plans.items()},
            "least": None if shown is None else [entry.text for entry in shown],
            "first": [one for one, _ in zip(readings.enumerate_readings(), range(4), strict=False)],
            "more": big(readings.add_worlds(worlds[:1]).total), "rule": digest(problem.as_knowledge().to_dict()),
        }  # fmt: skip
    return found


def parts(_: Path) -> dict[str, Any]:
    """Count maps, blocks, symmetries and counterexamples."""
    found: dict[str, Any] = {"maps": [count_maps(t, s, one) for t in (2, 3) for s in (1, 2, 3) for one in (True, False)],
                             "idle": [count_idle_readings([2, 3, 4], one) for one in (True, False)]}  # fmt: skip
    for name in ("xor", "and", "sum", "implied", "objects", "product"):
        knowledge, _ = known()[name]
        table = truth_table(knowledge)
        symmetries = Symmetries(table, float("inf"))
        shared = Problem(knowledge, "shared", some(knowledge, 4))
        wrong = [code - 1 if code else 1 for code in shared.truth]
        against = counterexample(shared, wrong)
        proved, sure = prove_on_all(knowledge, "shared", {}, 20.0)
        limited = some(knowledge, 5)
        found[name] = {
            "table": table, "distinct": [count_distinct_values(table, axis) for axis in range(table.ndim - 1)],
            "order": [symmetries.order(), symmetries.maps, symmetries.sizes],
            "blocks": [[big(count_block(knowledge, only, one, 20.0)[0]) for one in (True, False)] for only in (None, limited)],
            "against": against, "proved": [big(proved.total), sure], "sampled": sample_worlds(knowledge, "shared", 4),
            "most": {family: big(most_readings(knowledge.space, family)) for family in FAMILIES},
            "cells": [[cell.owner, cell.columns, cell.concept] for cell in cells(knowledge.space, "shared")],
            "entry": entry_of(knowledge.space, cells(knowledge.space, "shared")[0], [1]).text,
        }  # fmt: skip
        readings = Readings(shared)
        interchange = Interchange(readings.solver.terms)
        found[name]["alike"] = [interchange.alike(readings.part, place).codes for place in range(len(shared.entries))]
    return found


def drawn(_: Path) -> dict[str, Any]:
    """Count for random rules."""
    found = {}
    for seed in range(24):
        family = ("per-concept", "shared", "per-object")[seed % 3]
        task = random_task(seed, slot_space if family == "per-object" else flat_space, family, partial=True)
        one = count_readings(task.knowledge, family, task.codes)
        found[str(seed)] = [big(one.total), digest(one.identifiability())]
    return found


def refused(_: Path) -> dict[str, Any]:
    """Count what cannot be counted."""
    rule, shelf = addition(4), RULES["shelf"]()
    none = np.zeros((0, 2), dtype=np.int64)
    wide = Knowledge.of(bits([f"x{n}" for n in range(40)]), {"y": "x0 and x1"})
    asks: dict[str, Callable[[], Any]] = {
        "family": lambda: count_readings(rule, "q"), "no world": lambda: count_readings(rule, "shared", none),
        "no world, free": lambda: count_readings(rule, "free", none),
        "supervised": lambda: count_readings(rule, "block", None, {"a": None}),
        "a stranger": lambda: count_readings(rule, "shared", None, {"q": None}),
        "a value": lambda: count_readings(rule, "shared", None, {"a": [77]}),
        "free, wide": lambda: count_readings(wide, "free"), "block, wide": lambda: count_readings(wide, "block"),
        "objects": lambda: count_readings(rule, "per-object"), "rank": lambda: Readings(Problem(rule, "shared", some(rule, 3))).of_rank(10**9),
        "cells": lambda: cells(shelf.space, "free"), "counter": lambda: count_with("q", Problem(rule, "shared", some(rule, 3))),
    }  # fmt: skip
    found: dict[str, Any] = {name: refusal(ask) for name, ask in asks.items()}
    wide_count = count_readings(wide, "shared", None, None, 5.0)
    return {**found, "wide": [wide_count.worlds, str(wide_count.low), str(wide_count.high), wide_count.method]}


NAMES = tuple(known())
EACH: dict[str, Callable[[Path], Any]] = {f"counts of {name}": partial(counted, name) for name in NAMES}
CASES: Cases = {
    **EACH, **{f"readings of {name}": partial(asked, name) for name in NAMES if name not in ("figures", "evenodd")},
    "parts": parts, "refused": refused, "random rules": drawn,
}  # fmt: skip
