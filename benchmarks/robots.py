"""Robots: pictures added up from cached bands, against the released generator's rates and its way of drawing.

The stated rates are of the released generator (version 0.3.1) per CPU second: 175 robots at 32 pixels as PNG files (313
in memory), 135 at 600 pixels in memory, 7,000 texts. The other alternative restates its way with our drawing library:
every robot drawn anew from its vectors, one by one.
"""

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from assay.base import Settings
from assay.dataset import Recipe, make
from assay.families.robots.drawing import BLANK, HEIGHT, Pen, arms, head, legs
from assay.families.robots.task import COLOURS, Robots
from assay.render import Canvas
from assay.worlds import World
from benchmarks.timing import Result, rate

SMALL, LARGE, COUNT = 32, 600, 10_000


def run() -> list[Result]:
    small, worlds = _worlds(COUNT, size=SMALL)
    pictures = rate(lambda: len(small.render_all(worlds)), least=1.0)
    large, few = _worlds(50, size=LARGE)
    text, described = _worlds(COUNT, preset="text")
    return [
        Result("robots, 32 px, in memory", "pictures", pictures, 175, "stated: released generator, PNG files"),
        Result("robots, 32 px, in memory", "pictures", pictures, 1000 / 3.2, "stated: released generator, in memory"),
        Result("robots, 32 px, in memory", "pictures", pictures, rate(_anew(worlds)), "each drawn anew, PNG files"),
        Result("robots, 32 px, made", "examples", rate(_made, least=1.0), 175, "stated: released generator, PNG files"),
        Result(
            "robots, 600 px, in memory", "pictures", rate(lambda: len(large.render_all(few))), 1000 / 7.4,
            "stated: released generator, in memory",
        ),
        Result(
            "robots, sentences", "texts", rate(lambda: len(text.render_all(described))), 7000,
            "stated: released generator",
        ),
    ]  # fmt: skip


def _worlds(count: int, **settings: object) -> tuple[Robots, list[World]]:
    task = Robots(**settings)
    return task, task.source_for(task.splits()[0], 0).worlds(np.arange(count))


def _made() -> int:
    with tempfile.TemporaryDirectory() as folder:
        recipe = Recipe("robots", Settings({"size": SMALL}), train=1000)
        make(recipe, Path(folder) / "data")
        return sum(split.size for split in recipe.splits)


def _anew(worlds: list[World]):
    """Draw robots from their vectors, colour them, and write a file each."""
    task = Robots(size=SMALL)

    def work() -> int:
        with tempfile.TemporaryDirectory() as folder:
            for number, world in enumerate(worlds[:100]):
                canvas = Canvas(SMALL, SMALL, BLANK)
                pen, robot = Pen(canvas, SMALL / HEIGHT, (0, 0), 1, task.appearance), task.robot(world)
                legs(pen, robot[2], robot[8])
                arms(pen, robot[1], robot[3], robot[7])
                head(pen, robot[0], robot[4], robot[5], robot[6])
                darkness = 255 - np.vstack([COLOURS[world.style["colours"]], [[0, 0, 0]]])
                image = (255 - canvas.image / 255 @ darkness).clip(0, 255).astype(np.uint8)
                Image.fromarray(image).save(Path(folder) / f"robot_{number}.png")
            return 100

    return work
