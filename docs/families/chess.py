"""Draws the pictures of the chess page: boards in three dimensions, diagrams, broken rules, cameras."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from assay.families.chess.positions import class_indices
from assay.families.chess.scene import scene_of
from assay.render import shoot
from assay.tasks import TASKS, Task
from assay.worlds import World

HERE = Path(__file__).parents[1] / "images"
HEIGHT, GAP, COLOURS = 200, 8, 56
STRIPS: dict[str, list[tuple[str, str, int, dict[str, Any]]]] = {
    "boards": [("chess", "train", 0, {}), ("chess", "train", 3, {}), ("chess", "ood", 1, {})],
    "sane": [("chess-sane", "train", place, {}) for place in (0, 1, 2)],
    "knobs": [
        ("chess", "test", 2, {"jitter": 3}),
        ("chess", "test", 2, {"coordinates": False}),
        ("chess", "test", 2, {"room": False}),
    ],
    "flat": [("chess-flat", "train", place, {}) for place in (0, 1, 2)],
}
PIECES = class_indices(["8/8/8/8/8/1pnbrqk1/1PNBRQK1/8"])[0].tolist()


def world_of(task: Task, split: str, place: int) -> World:
    source = task.source_for(next(held for held in task.splits() if held.name == split), 0)
    return source.worlds(np.array([place]))[0]


def picture(name: str, split: str, place: int, settings: dict[str, Any]) -> Image.Image:
    task = TASKS[name](**settings)
    image = Image.fromarray(task.render(world_of(task, split, place)).image)
    return image.resize((HEIGHT, HEIGHT), Image.Resampling.LANCZOS)


def pieces() -> Image.Image:
    """Return all pieces side by side, larger than in any dataset."""
    style = world_of(TASKS["chess"](), "train", 0).style
    whole = Image.fromarray(shoot(scene_of(PIECES, style, 1024)).image)
    return whole.crop((180, 300, 1000, 800)).resize((459, 280), Image.Resampling.LANCZOS)


def save(image: Image.Image, name: str) -> None:
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(HERE / f"chess-{name}.png", optimize=True)


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for name, shown in STRIPS.items():
        strip = Image.new("RGB", (len(shown) * (HEIGHT + GAP) - GAP, HEIGHT), "white")
        for place, one in enumerate(shown):
            strip.paste(picture(*one), (place * (HEIGHT + GAP), 0))
        save(strip, name)
    save(pieces(), "pieces")


if __name__ == "__main__":
    main()
