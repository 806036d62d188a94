"""Writing CLE4EVR as rsbench and CLEVR have it: images, a scene file for each, and one file of all scenes of a split.

`images/SPLIT/CLEVR_SPLIT_000000.png`, `scenes/SPLIT/CLEVR_SPLIT_000000.json`, `CLEVR_SPLIT_scenes.json`. A scene holds
the objects with their places in space and in the picture, the directions of the camera, which objects lie on which side
of which, the concepts one-hot (colour, shape, material, size; -1 for objects that are not there), and the label.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import DataError, write_atomically
from assay.dataset import Dataset, SplitData, task_of
from assay.families.clevr.placement import CameraView
from assay.families.clevr.scene import ClevrObject
from assay.families.clevr.task import Clevr
from assay.logic import ABSENT
from assay.render import ObjectBox
from assay.worlds import World

ROWS = 64
"""How many rows are read at a time."""
PREFIX = "CLEVR"
VERSION = "1.0"
SIDE = 0.2
"""How far an object must be to one side of another to count as there."""


def write_clevr(dataset: Dataset, splits: Sequence[str], folder: Path) -> dict[str, int]:
    """Write splits of a CLE4EVR dataset; return how many examples of each."""
    task = task_of(dataset)
    if not isinstance(task, Clevr):
        raise DataError(f"{str(dataset.folder)!r} is of task {dataset.name!r}; only CLE4EVR can be written as CLEVR")
    return {name: _write_split(task, dataset[name], folder) for name in splits}


def _write_split(task: Clevr, data: SplitData, folder: Path) -> int:
    scenes = []
    for piece in data.pieces(ROWS):
        for row, image in enumerate(piece.pngs):
            scene = scene_of_row(task, piece, row)
            name = Path(scene["image_filename"])
            write_atomically(folder / "images" / data.name / name, image)
            write_atomically(folder / "scenes" / data.name / name.with_suffix(".json"), _json(scene))
            scenes.append(scene)
    about = {"split": data.name, "version": VERSION, "license": "", "date": ""}
    write_atomically(folder / f"{PREFIX}_{data.name}_scenes.json", _json({"info": about, "scenes": scenes}))
    return len(scenes)


def _json(data: Any) -> bytes:
    return (json.dumps(data, indent=1) + "\n").encode()


def scene_of_row(task: Clevr, data: SplitData, row: int) -> dict[str, Any]:
    """Return the scene of an example in CLEVR's keys."""
    world, number = data.world(row), int(data.index[row])
    view, solids = task.view(world), task.objects_of(world)
    return {
        "split": data.name,
        "image_index": number,
        "image_filename": f"{PREFIX}_{data.name}_{number:06d}.png",
        "objects": [_object(view, solid, thing) for solid, thing in zip(solids, data.things[row], strict=True)],
        "directions": directions(view),
        "relationships": relationships(view, solids),
        "concepts": one_hot(task, world),
        "label": int(data.labels[row, 0]),
    }


def _object(view: CameraView, solid: ClevrObject, thing: ObjectBox) -> dict[str, Any]:
    x, y, turn = solid.spot
    middle = [x, y, solid.middle]
    return {
        "shape": solid.shape,
        "size": solid.size,
        "material": solid.material,
        "color": solid.colour,
        "3d_coords": _rounded(middle),
        "rotation": turn,
        "pixel_coords": _rounded(view.project(np.array(middle))),
        "x": thing.box.left,
        "y": thing.box.top,
        "width": thing.box.right - thing.box.left,
        "height": thing.box.bottom - thing.box.top,
    }


def directions(view: CameraView) -> dict[str, list[float]]:
    """Return where left, right, front, behind, above and below are, along the floor, as the camera sees it."""
    right, behind = view.axes[0], view.axes[2] * (1, 1, 0)
    ways = {"right": right, "behind": behind / np.linalg.norm(behind), "above": np.array([0.0, 0.0, 1.0])}
    opposite = {"right": "left", "behind": "front", "above": "below"}
    return {
        name: _rounded(way * sign)
        for direction, way in ways.items()
        for name, sign in ((direction, 1), (opposite[direction], -1))
    }


def relationships(view: CameraView, solids: Sequence[ClevrObject]) -> dict[str, list[list[int]]]:
    """Return for each side and each object which others lie on that side of it."""
    spots = np.array([[*solid.spot[:2], 0.0] for solid in solids])
    ways = directions(view)
    related = {}
    for name in ("right", "behind", "front", "left"):
        along = spots @ np.array(ways[name])
        related[name] = [np.flatnonzero(along > own + SIDE).tolist() for own in along]
    return related


def one_hot(task: Clevr, world: World) -> list[list[list[int]]]:
    """Return for each object and each attribute a list with one 1; all -1 where the object is not there."""
    encoded = []
    for slot in task.slots:
        concepts = [task.space.concept(name) for name in slot.concepts]
        actual = [world[concept.name] for concept in concepts]
        options = [[value for value in concept.values if value != ABSENT] for concept in concepts]
        encoded.append(
            [
                [-1 if value == ABSENT else int(value == option) for option in some]
                for value, some in zip(actual, options, strict=True)
            ]
        )
    return encoded


def _rounded(numbers: Any) -> list[float]:
    return [round(float(number), 6) + 0.0 for number in numbers]
