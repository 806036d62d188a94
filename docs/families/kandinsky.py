"""Draws what the settings of the Kandinsky patterns change, for their page."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from assay.tasks import TASKS, Task

IMAGES = Path(__file__).parents[1] / "images"
GAP, SCALE = 6, 2
EVERYTHING = {
    "shapes": ["square", "circle", "triangle", "diamond", "pentagon", "hexagon", "star", "cross"],
    "colours": ["red", "yellow", "blue", "green", "orange", "purple", "cyan", "pink", "brown"],
    "pattern": "any(x.colour == 'red' for x in objects)",
}
KNOBS: dict[str, tuple[str, dict[str, Any]]] = {
    "or": ("kand-logic", {}),
    "and": ("kand-logic-and", {}),
    "pairs": ("kand-logic-pairs", {}),
    "objects": ("kand-logic", {"view": "objects"}),
    "many": ("kand-logic", {"figures": 2, "objects": 8, "side": 96, "background": "grey", **EVERYTHING}),
    "sizes": ("kand-logic", {"smallest": 0.14, "largest": 0.26, "background": "black"}),
}


def two_of_each_label(task: Task) -> list[np.ndarray]:
    """Return two pictures of which the rule is true, then two of which it is false."""
    source = task.source_for(task.splits()[0], 0)
    worlds = source.worlds(np.arange(40))
    labels = task.knowledge.labels_of(np.array([world.codes for world in worlds]))[:, 0]
    chosen = [*np.flatnonzero(labels)[:2], *np.flatnonzero(labels == 0)[:2]]
    return [task.render(worlds[place]).image for place in chosen]


def sheet(images: list[np.ndarray]) -> Image.Image:
    """Return four pictures in two columns on light grey: true ones on the left, false ones on the right."""
    height, width = images[0].shape[:2]
    whole = np.full((2 * height + GAP, 2 * width + GAP, 3), 210, dtype=np.uint8)
    for place, image in enumerate(images):
        left, top = (place // 2) * (width + GAP), (place % 2) * (height + GAP)
        whole[top : top + height, left : left + width] = image
    size = whole.shape[1] * SCALE, whole.shape[0] * SCALE
    return Image.fromarray(whole).resize(size, Image.Resampling.NEAREST)


def masked(task: Task) -> list[np.ndarray]:
    """Return two pictures, each with what its masks and boxes say, one colour for each object."""
    made = []
    for world in task.source_for(task.splits()[0], 0).worlds(np.arange(2)):
        picture = task.render(world)
        assert picture.instances is not None
        palette = np.array([(20, 20, 20), *((50 + 22 * i, 60 + 80 * (i % 3), 235 - 22 * i) for i in range(9))])
        shown = palette[picture.instances].astype(np.uint8)
        for thing in picture.things:
            box = thing.box
            shown[box.top : box.bottom, [box.left, box.right - 1]] = 255
            shown[[box.top, box.bottom - 1], box.left : box.right] = 255
        made += [picture.image, shown]
    return [made[0], made[2], made[1], made[3]]


def main() -> None:
    """Draw all of them."""
    for name, (task, settings) in KNOBS.items():
        sheet(two_of_each_label(TASKS[task](**settings))).save(IMAGES / f"kandinsky-{name}.png", optimize=True)
    sheet(masked(TASKS["kand-logic"]())).save(IMAGES / "kandinsky-masks.png", optimize=True)


if __name__ == "__main__":
    main()
