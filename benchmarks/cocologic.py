"""COCOLogic-V2: drawn scenes, photographs and labels per CPU second.

Nobody publishes a generator to compare with. Scenes are set against decoding a photograph of COCO's size with Pillow,
photographs against the same without scaling in the decoder, labels against one loop over images in plain Python.
"""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image

from assay.families.coco.drawing.scene import draw_scene
from assay.families.coco.drawing.scene_templates import HEIGHT, NAMES, WIDTH
from assay.families.coco.task import CocoLogic
from assay.render import read_photograph
from assay.tasks import TASKS
from assay.worlds import CONTENT
from benchmarks.timing import Result, rate

SIZE = (224, 224)
SOME = 100


def run() -> list[Result]:
    task = TASKS["cocologic"]()
    worlds = task.source_for(task.splits()[0], 0).worlds(np.arange(SOME))
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.jpg" for number in range(SOME)]
        for path, world in zip(paths, worlds, strict=True):
            Image.fromarray(draw_scene(world.style[CONTENT], (WIDTH, HEIGHT)).image).save(path, quality=92)
        drawn = rate(lambda: len([task.render(world) for world in worlds]))
        read = rate(lambda: len([read_photograph(path, SIZE) for path in paths]))
        plain = rate(lambda: len([_plain(path) for path in paths]))
    return [
        Result("drawn scene, 224 x 224", "scenes", drawn, plain, "decode and resize a photograph"),
        Result("photograph, 224 x 224", "images", read, plain, "decode and resize a photograph"),
        _labels(task),
        _choice(task),
    ]


def _plain(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        small = image.convert("RGB").resize((224, 168), Image.Resampling.BILINEAR)
    whole = np.full((224, 224, 3), 114, dtype=np.uint8)
    whole[28:196] = np.asarray(small)
    return whole


def _labels(task: CocoLogic) -> Result:
    """Count objects and label all images, from the same columns."""
    album = task.album

    def ours() -> int:
        return len(task.knowledge.labels_of(album.counts(NAMES, task.config.annotation_filter)))

    def theirs() -> int:
        images = [Counter() for _ in album.files]
        for owner, kind in zip(album.owners.tolist(), album.classes.tolist(), strict=True):
            images[owner][NAMES[kind]] += 1
        return len([_by_hand(counts) for counts in images])

    return Result("count and label by ten rules", "images", rate(ours), rate(theirs), "a loop in plain Python")


def _by_hand(c: Counter[str]) -> tuple[bool, ...]:
    modes = sum(c[x] > 0 for x in ("bicycle", "motorcycle", "car", "bus"))
    return (
        c["traffic_light"] > 0 and c["bicycle"] + c["bus"] + c["train"] > 0,
        sum(c[x] > 0 for x in ("bottle", "cup", "pizza")) == 2,
        max(c["cow"], c["elephant"], c["sheep"]) > 1 and c["person"] == 0,
        (c["dog"] > 0) != (c["car"] > 0),
        c["bowl"] == 3 or c["cup"] == 3,
        c["car"] > c["truck"] > 0,
        c["couch"] + c["chair"] > 0 and c["person"] == 0,
        modes == 1,
        c["person"] > 0 and (c["bicycle"] > 0) != (c["car"] > 0),
        c["person"] == c["surfboard"] > 0,
    )


def _choice(task: CocoLogic) -> Result:
    """Choose a training set by the three steps; asked for: one second for 25,000 images, standing known."""
    split = task.splits()[0]
    chosen = rate(lambda: len(task.source_for(split, 0).rows))
    return Result("choose 2,000 images in three steps", "images", chosen, 25_000.0, "target: 25,000 in a second")
