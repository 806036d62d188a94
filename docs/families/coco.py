"""Draws the object classes, the scenes and what changes in them, for the page of COCOLogic-V2."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from assay.base import rng_for
from assay.families.coco.drawing.brush import Appearance, Brush
from assay.families.coco.drawing.scene import DRAWINGS
from assay.families.coco.drawing.scene_templates import OBJECT_KINDS, SCENE_KINDS
from assay.render import Canvas
from assay.tasks import TASKS
from assay.worlds import CONTENT, World

IMAGES = Path(__file__).parents[1] / "images"
GAP = 6


def save(image: Image.Image, name: str) -> None:
    """Write a picture with few colours, which keeps it small."""
    image.quantize(96, dither=Image.Dither.NONE).save(IMAGES / f"cocologic-{name}.png", optimize=True)


def grid(images: list[np.ndarray], columns: int) -> Image.Image:
    height, width = images[0].shape[:2]
    rows = -(-len(images) // columns)
    whole = np.full((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, 3), 255, dtype=np.uint8)
    for place, image in enumerate(images):
        top, left = place // columns * (height + GAP), place % columns * (width + GAP)
        whole[top : top + height, left : left + width] = image
    return Image.fromarray(whole)


def classes() -> Image.Image:
    """Draw each class four times."""
    cells = []
    for place, (name, draw) in enumerate(DRAWINGS.items()):
        canvas = Canvas(232, 66, (226, 232, 226))
        rng = rng_for(0, "classes", place)
        for number in range(4):
            tall = min(56.0, 52 / OBJECT_KINDS[name].aspect)
            draw(
                Brush(canvas, 30 + 57 * number, 60, tall, bool(number % 2)),
                Appearance(*rng.random(2), (number + 0.5) / 4),
            )
        cells.append(canvas.image)
    return grid(cells, 3)


def scenes() -> Image.Image:
    """Draw one scene of each look, and another."""
    task = TASKS["cocologic"](width=192, height=144)
    source = task.source_for(task.splits()[0], 0)
    worlds = source.worlds(np.arange(200))
    firsts = [next(w for w in worlds if w.style[CONTENT]["scene"] == kind and sum(w.codes) > 3) for kind in SCENE_KINDS]
    return grid([task.render(world).image for world in [*firsts, worlds[1]]], 4)


def steps() -> Image.Image:
    """Draw a scene that fulfils `surf_trip`, then the same scene at each side of the boundary."""
    task = TASKS["cocologic"](width=192, height=144, rules=["surf_trip"])
    source = task.source_for(task.splits()[0], 0)
    start = next(w for w in source.worlds(np.arange(2000)) if w["person"] == w["surfboard"] == 2)
    changes = [{"person": 2}, {"person": 3}, {"person": 1}, {"person": 0}]
    return grid([task.render(_changed(task, start, change)).image for change in changes], 4)


def _changed(task: object, world: World, change: dict[str, int]) -> World:
    made = task.change_world(world, change)  # type: ignore[attr-defined]
    assert made is not None
    return made


def boxes() -> Image.Image:
    """Draw scenes with the boxes of what counts, all objects and large ones only."""
    shown = []
    for settings in ({}, {"least_area": 0.01}):
        task = TASKS["cocologic"](width=256, height=192, scenes=2000, **settings)
        number = next(n for n in range(2000) if sum(task.codes[n]) > 6 and task.source.scenes.views[n] == 0)
        picture = task.render(World(task.space, tuple(task.codes[number].tolist()), task.style_of(number)))
        image = Image.fromarray(picture.image)
        for thing in picture.things:
            box = thing.box
            ImageDraw.Draw(image).rectangle((box.left, box.top, box.right - 1, box.bottom - 1), outline=(255, 40, 40))
        shown.append(np.asarray(image))
    return grid(shown, 2)


def main() -> None:
    for draw in (classes, scenes, steps, boxes):
        save(draw(), draw.__name__)


if __name__ == "__main__":
    main()
