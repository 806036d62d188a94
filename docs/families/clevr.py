"""Draws the solids of CLE4EVR and what its settings change, for their page."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from assay.families.clevr.scene import COLOURS, MATERIALS, SHAPES, SIZES
from assay.families.clevr.task import Clevr
from assay.worlds import World

IMAGES = Path(__file__).parents[1] / "images"
GAP, WIDTH, HEIGHT = 4, 200, 150
SCENES: dict[str, dict[str, Any]] = {
    "rule": {},
    "many": {"objects": [4, 6]},
    "apart": {"objects": 5, "occlusion": False},
}
CHANGES = {"object1.colour": "yellow", "object1.shape": "star", "object1.material": "metal", "object2.size": "large"}


def sheet(images: list[np.ndarray], columns: int) -> Image.Image:
    """Return pictures in rows on light grey, with few enough colours for a small file."""
    height, width = images[0].shape[:2]
    rows = -(-len(images) // columns)
    whole = np.full((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, 3), 230, dtype=np.uint8)
    for place, image in enumerate(images):
        top, left = (place // columns) * (height + GAP), (place % columns) * (width + GAP)
        whole[top : top + height, left : left + width] = image
    picture = Image.fromarray(whole)
    return picture.quantize(palette=picture.quantize(256, Image.Quantize.FASTOCTREE, kmeans=3))


def two_of_each_label(**settings: Any) -> list[np.ndarray]:
    """Return two scenes of which the rule is true, then two of which it is false."""
    task = Clevr(width=WIDTH, height=HEIGHT, **settings)
    worlds = task.source_for(task.splits()[0], 1).worlds(np.arange(16))
    labels = task.knowledge.labels_of(np.array([world.codes for world in worlds]))[:, 0]
    chosen = [*np.flatnonzero(labels)[:2], *np.flatnonzero(labels == 0)[:2]]
    return [task.render(worlds[place]).image for place in chosen]


def alone(**values: str) -> np.ndarray:
    """Return a picture of one object in the middle."""
    task = Clevr(objects=1, rule="object1.material == 'metal'", width=160, height=120)
    appearance = {"colour": "cyan", "shape": "cube", "material": "rubber", "size": "large", **values}
    still = {key: [0.0, 0.0, 0.0] for key in ("camera", "key", "fill", "back")}
    codes = tuple(task.space.concept(f"object1.{name}").code(value) for name, value in appearance.items())
    image = task.render(World(task.space, codes, {**still, "spots": [[0.0, 0.0, 25.0]]})).image
    return image[8:104, 30:130]


def counterfactuals() -> list[np.ndarray]:
    """Return a scene, and the same scene with one concept changed, then another."""
    task = Clevr(width=WIDTH, height=HEIGHT)
    solids = ("red", "cube", "rubber", "large", "blue", "ring", "rubber", "small")
    codes = tuple(concept.code(value) for concept, value in zip(task.space.concepts, solids, strict=True))
    world = World(task.space, codes, task.source_for(task.splits()[0], 4).worlds(np.arange(1))[0].style)
    changed = [task.change_world(world, {name: value}) for name, value in CHANGES.items()]
    return [task.render(one).image for one in (world, *changed) if one is not None]


def layers() -> list[np.ndarray]:
    """Return a scene, its masks and boxes, and its depth."""
    task = Clevr(objects=5, width=WIDTH, height=HEIGHT)
    picture = task.render(task.source_for(task.splits()[0], 2).worlds(np.arange(1))[0])
    assert picture.instances is not None and picture.depth is not None
    palette = np.array([(25, 25, 25), (230, 60, 60), (70, 160, 240), (240, 200, 60), (100, 210, 110), (200, 110, 230)])
    masks = palette[picture.instances].astype(np.uint8)
    for thing in picture.things:
        box = thing.box
        masks[box.top : box.bottom, [box.left, box.right - 1]] = 255
        masks[[box.top, box.bottom - 1], box.left : box.right] = 255
    near, far = picture.depth.min(), picture.depth.max()
    grey = (255 * (far - picture.depth.astype(float)) / (far - near)).astype(np.uint8)
    return [picture.image, masks, np.repeat(grey[:, :, None], 3, axis=2)]


def main() -> None:
    """Draw all of them."""
    shapes = [alone(shape=shape, material=material) for material in MATERIALS for shape in SHAPES]
    colours = [alone(colour=colour, shape="sphere", material=material) for material in MATERIALS for colour in COLOURS]
    pictures = {
        "shapes": sheet(shapes, 10),
        "colours": sheet(colours, 10),
        "sizes": sheet([alone(size=size) for size in SIZES], 3),
        "do": sheet(counterfactuals(), 5),
        "layers": sheet(layers(), 3),
        **{name: sheet(two_of_each_label(**settings), 4) for name, settings in SCENES.items()},
    }
    for name, picture in pictures.items():
        picture.save(IMAGES / f"clevr-{name}.png", optimize=True)


if __name__ == "__main__":
    main()
