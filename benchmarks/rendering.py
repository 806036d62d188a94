"""Scenes in three dimensions: the embedded engine beside Blender's Cycles, on the families' own worlds.

Images per CPU second with masks, parts, boxes, depth and PNG encoding; and how like the pictures of CLEVR are to those
of Cycles with 128 samples, denoised. Without Blender the alternative is the rate that was measured for Cycles with 32
samples and denoising on scenes of this kind and size.
"""

import time

import numpy as np

from assay.render import Picture, encode_png
from assay.render.engines import blender
from assay.tasks import TASKS, Task
from assay.worlds import World
from benchmarks.timing import Result

FAMILIES = {"clevr": 6.4, "trains": 11.0, "sdd-oia": 18.4, "chess": 22.5}
"""CPU seconds that Cycles took for a picture, where it was measured before."""
OURS, THEIRS, ALIKE = 4, 1, 1


def run() -> list[Result]:
    results = []
    for name, stated in FAMILIES.items():
        task = TASKS[name]()
        worlds = task.source_for(task.splits()[0], 0).worlds(np.arange(OURS))
        ours = _rate(task, worlds)
        if blender.interpreter() is None:
            results.append(Result(f"{name}, pictures", "pictures", ours, 1 / stated, "stated: Cycles, 32 samples"))
            continue
        theirs = _rate_of_cycles(TASKS[name](engine="blender"), worlds[:THEIRS])
        results.append(Result(f"{name}, pictures", "pictures", ours, theirs, "Blender's Cycles, 32 samples"))
        if name == "clevr":
            alike = _likeness(task, TASKS[name](engine="blender", quality="high"), worlds[:ALIKE])
            results.append(Result("clevr, likeness to Cycles", "1000 SSIM", 1000 * alike, 960, "the least asked"))
    return results


def _rate(task: Task, worlds: list[World]) -> float:
    """Return pictures per CPU second, everything compiled and warm."""
    task.render(worlds[0])
    start = time.process_time()
    for world in worlds:
        _encoded(task.render(world))
    return len(worlds) / (time.process_time() - start)


def _rate_of_cycles(task: Task, worlds: list[World]) -> float:
    """Return pictures per CPU second of both processes, without Blender's start."""
    process = blender.running_blender()
    before, start = process.seconds, time.process_time()
    for world in worlds:
        _encoded(task.render(world))
    return len(worlds) / (time.process_time() - start + process.seconds - before)


def _encoded(picture: Picture) -> None:
    encode_png(picture.image)
    for numbers in (picture.instances, picture.parts, picture.depth):
        if numbers is not None:
            encode_png(numbers.astype(np.uint16))


def _likeness(task: Task, other: Task, worlds: list[World]) -> float:
    return float(np.mean([ssim(task.render(world).image, other.render(world).image) for world in worlds]))


def ssim(one: np.ndarray, other: np.ndarray) -> float:
    """Return the mean structural similarity of two colour pictures' brightness (Gaussian window of 11, sigma 1.5)."""
    a, b = (image.astype(float) @ [0.299, 0.587, 0.114] for image in (one, other))
    mean_a, mean_b = _blurred(a), _blurred(b)
    spread_a, spread_b = _blurred(a * a) - mean_a**2, _blurred(b * b) - mean_b**2
    joint = _blurred(a * b) - mean_a * mean_b
    small, smaller = (0.03 * 255) ** 2, (0.01 * 255) ** 2
    alike = (2 * mean_a * mean_b + smaller) * (2 * joint + small)
    return float((alike / ((mean_a**2 + mean_b**2 + smaller) * (spread_a + spread_b + small))).mean())


def _blurred(image: np.ndarray) -> np.ndarray:
    weights = np.exp(-(np.arange(-5, 6) ** 2) / (2 * 1.5**2))
    weights /= weights.sum()
    for axis in (0, 1):
        windows = np.lib.stride_tricks.sliding_window_view(image, 11, axis=axis)
        image = windows @ weights
    return image
