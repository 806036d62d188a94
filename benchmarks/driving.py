"""Driving: worlds with their actions against rsbench's sampler, and pictures against Blender on a scene of this kind.

The sampler's own rate was measured once (619 configurations in 7.7 CPU seconds), as was Cycles on a street of 87
instances at 469 x 387. The alternative for actions restates the sampler's: sympy's `subs` on each rule.
"""

import tempfile
from pathlib import Path

import numpy as np
import sympy

from assay.base import Settings
from assay.dataset import Recipe, make
from assay.families.driving.drawing.scene import HEIGHT, WIDTH
from assay.families.driving.rules import CONCEPTS, OBSTACLES
from assay.families.driving.task import SddOia
from benchmarks.timing import Result, rate

SAMPLER = 619 / 7.7
CYCLES = {"8 samples, denoised": 1 / 7.5, "32 samples, denoised": 1 / 18.4}
"""Pictures per CPU second."""
PICTURES, WORLDS, RESTATED = 6, 20_000, 50
KILO = WIDTH * HEIGHT / 1000


def run() -> list[Result]:
    sampled, restated = rate(_worlds), rate(_restated)
    results = [
        Result("sdd-oia, worlds and actions", "worlds", sampled, SAMPLER, "rsbench's sampler, as measured"),
        Result("sdd-oia, worlds and actions", "worlds", sampled, restated, "actions by its way, restated"),
    ]
    drawn = rate(_pictures, least=5.0)
    for how, measured in CYCLES.items():
        results.append(
            Result(
                "sdd-oia, 469 x 387, masks and depth too", "kilopixels", KILO * drawn, KILO * measured, f"Cycles, {how}"
            )
        )
    return results


def _worlds() -> int:
    task = SddOia()
    codes = task.source_for(task.splits()[0], 0).codes(np.arange(WORLDS))
    return len(task.knowledge.labels_of(codes))


def _pictures() -> int:
    with tempfile.TemporaryDirectory() as folder:
        sizes = (("train", PICTURES), ("valid", 0), ("test", 0), ("ood", 0), ("hard", 0))
        make(Recipe("sdd-oia", Settings({}), sizes=sizes), Path(folder) / "data")
    return PICTURES


def _restated() -> int:
    symbol = {name: sympy.Symbol(name) for name in CONCEPTS}
    obstacle = sympy.Or(*(symbol[name] for name in OBSTACLES))
    stop = (symbol["red_light"] & ~symbol["green_light"]) | symbol["stop_sign"] | obstacle
    rules = [(symbol["green_light"] | symbol["follow"] | ~obstacle) & ~stop, stop]
    for side in ("left", "right"):
        can = symbol[f"{side}_lane"] | symbol[f"{side}_green_light"] | symbol[f"{side}_follow"]
        rules.append(can & ~(symbol[f"no_{side}_lane"] | symbol[f"{side}_obstacle"] | symbol[f"{side}_solid_line"]))
    task = SddOia(ambulance=False)
    for row in task.source_for(task.splits()[0], 0).codes(np.arange(RESTATED)).tolist():
        given = {symbol[name]: bool(value) for name, value in zip(CONCEPTS, row, strict=True)}
        [bool(rule.subs(given)) for rule in rules]
    return RESTATED
