"""Trains: symbolic ones sampled and labelled, and pictures, against the released generator's way and its measured cost.

The released generator draws trains by Prolog, one file each, and labels them by a query each; its pictures are Cycles
scenes of 512 samples. Restated here: trains drawn one by one in Python, anew until the label is the one wanted.
"""

import tempfile
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from assay.base import Settings
from assay.dataset import Recipe, make
from assay.families.trains.source import ATTRIBUTES, michalski
from assay.families.trains.task import MichalskiTrains
from benchmarks.timing import Result, rate

BATCH = 20_000
CYCLES = {32: 1 / 11.0, 512: 1 / 135.0}
"""Pictures per CPU second by Cycles on a train at 480 x 270: 32 samples as measured, 512 as that scales."""


def run() -> list[Result]:
    results = []
    for rule in RULES:
        theirs = rate(partial(_one_by_one, rule), least=1.0)
        results.append(Result(f"trains drawn and labelled, {rule}", "trains", _symbols(rule), theirs, "one by one"))
    pictures = _made(16)
    for samples, theirs in CYCLES.items():
        said = f"Cycles, {samples} samples, as {'measured' if samples == 32 else 'it scales'}"
        results.append(Result("a dataset at 480 x 270 (x 1,000)", "rows", 1000 * pictures, 1000 * theirs, said))
    return results


def _symbols(rule: str) -> float:
    task = MichalskiTrains(image=False, rule=rule)
    source, done = task.source_for(task.splits()[0], 0), [0]

    def work() -> int:
        done[0] += BATCH
        codes = source.codes(np.arange(done[0], done[0] + BATCH))
        return len(task.knowledge.labels_of(codes))

    return rate(work, least=1.0)


def _made(train: int) -> float:
    """Return how many rows a dataset with masks, boxes, depth and PNG files gets per CPU second."""

    def work() -> int:
        with tempfile.TemporaryDirectory() as folder:
            sizes = (("train", train), ("valid", 0), ("test", 0), ("hard", 0))
            make(Recipe("trains", Settings({}), sizes=sizes), Path(folder) / "data")
            return train

    return rate(work, least=4.0)


def _one_by_one(rule: str, count: int = 40) -> int:
    random, cars = Random(0), list(michalski())
    kinds, chances = [dict(zip(ATTRIBUTES, car, strict=True)) for car, _ in cars], [float(p) for _, p in cars]
    for number in range(count):
        while True:
            train = random.choices(kinds, chances, k=random.randint(2, 4))
            if RULES[rule](train) == (number % 2 == 0):
                break
    return count


def _theory_x(train: list[dict[str, Any]]) -> bool:
    if any(car["length"] == "short" and car["roof"] != "none" for car in train):
        return True
    loads = [car["load"] for car in train]
    return any(a == "golden_vase" and b == "barrel" for i, a in enumerate(loads) for b in loads[i + 1 :])


def _numerical(train: list[dict[str, Any]]) -> bool:
    return any(car["loads"] == number == car["axles"] for number, car in enumerate(train, start=1))


def _complex(train: list[dict[str, Any]]) -> bool:
    if len({car["colour"] for car in train}) > 2:
        return True
    numbered = list(enumerate(train, start=1))
    if any(car["loads"] > number and car["axles"] > number for number, car in numbered):
        return True
    shorts = [(number, car) for number, car in numbered if car["length"] == "short"]
    longs = [car for car in train if car["length"] == "long"]
    return any(a["colour"] == b["colour"] and b["axles"] > number for number, a in shorts for b in longs)


RULES = {"theory_x": _theory_x, "numerical": _numerical, "complex": _complex}
