"""Draws the pictures of docs/families/robots.md: the parts, and what each setting does."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from assay.families.robots.parts import FEET, HANDS
from assay.families.robots.task import Robots
from assay.worlds import World

IMAGES = Path(__file__).parents[1] / "images"
SIDE, GAP = 96, 6
BASE = {
    "head": "round", "body": "square", "knees": True, "elbows": True, "antennae": True, "ears": "triangle",
    "mouth": "open", "hand": "edgy_square", "foot": "pointy_square",
}  # fmt: skip
KNOBS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "size": [{"size": size} for size in (8, 16, 32, 64, 120, 224)],
    "dot_size": [{"size": 64, "dot_size": size} for size in (0.0, 0.1, 0.2, 0.5, 0.8, 1.2)],
    "visible": [{"size": 64, "visible": {"knees": share}} for share in (0.0, 0.25, 0.5, 0.75, 1.0)],
    "contrast": [{"size": 64, "contrast": contrast} for contrast in (0.1, 0.3, 0.5, 0.7, 1.0)],
    "blur": [{"size": 64, "blur": blur} for blur in (0.0, 0.1, 0.2, 0.4, 0.8)],
    "toe": [{"size": 224, "toe": toe} for toe in (0.0, 0.12, 0.2, 0.35, 0.5)],
}


def robot(task: Robots, colours: tuple[int, int] = (1, 5), **parts: Any) -> np.ndarray:
    """Return a picture of the base robot with some parts changed."""
    codes = task.space.encode([{**BASE, **parts}])[0].tolist()
    return task.render(World(task.space, tuple(codes), {"colours": list(colours)})).image


def row(images: Sequence[np.ndarray]) -> Image.Image:
    """Return pictures side by side at one height, small ones with their pixels to be seen."""
    strip = Image.new("RGB", (len(images) * (SIDE + GAP) - GAP, SIDE), "white")
    for place, image in enumerate(images):
        small = image.shape[0] < SIDE
        how = Image.Resampling.NEAREST if small else Image.Resampling.LANCZOS
        strip.paste(Image.fromarray(image).convert("RGB").resize((SIDE, SIDE), how), (place * (SIDE + GAP), 0))
    return strip


def stacked(rows: Sequence[Image.Image]) -> Image.Image:
    """Return rows below each other."""
    sheet = Image.new("RGB", (max(one.width for one in rows), len(rows) * (SIDE + GAP) - GAP), "white")
    for place, one in enumerate(rows):
        sheet.paste(one, (0, place * (SIDE + GAP)))
    return sheet


def sampled(count: int, **settings: Any) -> list[np.ndarray]:
    """Return pictures of the first robots of a training split."""
    task = Robots(**settings)
    worlds = task.source_for(task.splits()[0], 0).worlds(np.arange(count))
    return [picture.image for picture in task.render_all(worlds)]


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    large = Robots(size=224, concepts="all")
    feet = [robot(large, foot=foot) for foot in FEET]
    sheets = {
        "feet": stacked([row(feet[:5]), row(feet[5:])]),
        "hands": row([robot(large, hand=hand) for hand in HANDS]),
        "samples": stacked([row(some) for some in np.split(np.array(sampled(12, size=64)), 2)]),
        "paper": row(sampled(6, preset="paper")),
    }
    for knob, settings in KNOBS.items():
        tasks = [Robots(concepts="all", **one) for one in settings]
        with_, without = ([robot(t, **part) for t in tasks] for part in _pair(knob))
        sheets[knob] = stacked([row(with_), row(without)])
    for name, sheet in sheets.items():
        sheet.save(IMAGES / f"robots-{name}.png", optimize=True)


def _pair(knob: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the two robots that a knob makes harder to tell apart."""
    if knob == "toe":
        return {"foot": "pointy_square"}, {"foot": "flat_square"}
    return {"knees": True}, {"knees": False}


if __name__ == "__main__":
    main()
