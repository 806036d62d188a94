"""Writing the embedded scenes as COCO would come: images, and annotation files with boxes, areas and masks.

The folder goes back in with `assay make cocologic --coco FOLDER`, and into any other program that reads COCO.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import Array, write_atomically, write_folder
from assay.families.coco.drawing.scene import draw_scene
from assay.families.coco.drawing.scene_templates import CROWDED, HEIGHT, NAMES, WIDTH
from assay.families.coco.synthetic import SyntheticAlbum, synthetic_album
from assay.render import encode_png

PARTS = {"train2017": 0, "val2017": 1}


def write_coco(folder: Path, scenes: int = 2000) -> dict[str, int]:
    """Write the first scenes to a folder in COCO's form; return how many images each part has."""
    sizes = {}
    with write_folder(folder) as half:
        synthetic = synthetic_album(scenes)
        for part, number in PARTS.items():
            rows = np.flatnonzero(synthetic.album.parts == number).tolist()
            write_atomically(half / "annotations" / f"instances_{part}.json", _part(synthetic, rows, half / part))
            sizes[part] = len(rows)
    return sizes


def _part(synthetic: SyntheticAlbum, rows: list[int], folder: Path) -> bytes:
    """Write the images of one part and return its annotations."""
    images, annotations = list[dict[str, Any]](), list[dict[str, Any]]()
    for row in rows:
        number, file = int(synthetic.scenes.numbers[row]), synthetic.album.files[row]
        picture = draw_scene(synthetic.scenes.content(row, [True] * CROWDED), (WIDTH, HEIGHT))
        write_atomically(folder / file, encode_png(picture.image))
        images.append({"id": number, "file_name": file, "width": WIDTH, "height": HEIGHT})
        instances = np.zeros((0, 0)) if picture.instances is None else picture.instances
        for place, thing in enumerate(picture.things, start=1):
            mask, box = instances == place, thing.box
            annotations.append(
                {
                    "id": number * 100 + place,
                    "image_id": number,
                    "category_id": NAMES.index(thing.name) + 1,
                    "bbox": [box.left, box.top, box.right - box.left, box.bottom - box.top],
                    "area": int(mask.sum()),
                    "segmentation": {"size": [HEIGHT, WIDTH], "counts": list(_runs(mask))},
                    "iscrowd": 0,
                }
            )
    categories = [{"id": place, "name": name.replace("_", " ")} for place, name in enumerate(NAMES, start=1)]
    return json.dumps({"images": images, "annotations": annotations, "categories": categories}).encode()


def _runs(mask: Array) -> Iterator[int]:
    """Yield how many pixels are off, then on, then off, ..., column by column."""
    flat = mask.T.ravel()
    if flat[0]:
        yield 0
    edges = np.flatnonzero(np.diff(flat)) + 1
    yield from np.diff([0, *edges.tolist(), len(flat)]).tolist()
