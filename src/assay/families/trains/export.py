"""Writing trains in V-LoL's files: images, depth maps, and one scene file with masks, boxes and places of every part.

Each split is a dataset of its own, in the folder that V-LoL's loaders look for. Boxes are those of the masks, places
those of the objects as they stand, and depth is absolute: three things that the released files have wrong.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import Array, DataError, write_atomically
from assay.dataset import Dataset, SplitData, task_of
from assay.families.trains.drawing.appearance import FARTHEST
from assay.families.trains.drawing.scene import positions
from assay.families.trains.source import cars_of, michalski_text
from assay.families.trains.task import MichalskiTrains
from assay.logic import Value
from assay.render import Box

ROWS = 64
"""How many rows are read at a time."""
STYLES = {"trains": "Trains", "blocks": "SimpleObjects"}
DISTRIBUTIONS = {"michalski": "MichalskiTrains", "uniform": "RandomTrains"}
SCENES = {"base": "base_scene", "desert": "desert_scene", "desert_sky": "sky_scene", "fisheye": "fisheye_scene"}
RULES = {"theory_x": "theoryx"}
ENGINE = {"locomotive": "loco", "rail": "rail"}


def write_vlol(dataset: Dataset, splits: Sequence[str], folder: Path) -> dict[str, int]:
    """Write splits of a dataset of trains; return how many trains each has."""
    task = task_of(dataset)
    if not isinstance(task, MichalskiTrains) or not task.config.image:
        raise DataError(f"{str(dataset.folder)!r} holds no pictures of trains, and V-LoL's files hold nothing else")
    return {name: _write(dataset[name], task, folder / name) for name in splits}


def _write(data: SplitData, task: MichalskiTrains, folder: Path) -> int:
    settings = _settings(task, data.name)
    name = "{visualization}_{classification_rule}_{train_description}_{base_scene}_len_{min_cars}-{max_cars}"
    inside = folder / name.format(**settings)
    scenes = list[dict[str, Any]]()
    for some in data.pieces(ROWS):
        depths = some.files(column="depth")
        for row, scene in enumerate(_scenes(some, task, settings, len(scenes))):
            write_atomically(inside / "images" / scene["image_filename"], some.pngs[row])
            write_atomically(inside / "depths" / scene["depth_map_filename"], depths[row])
            scenes.append(scene)
    info = {"version": "0.1", "license": None, "source": data.fingerprint, "depth_farthest": FARTHEST}
    content = json.dumps({"info": info, "scenes": scenes})
    write_atomically(inside / "all_scenes" / "all_scenes.json", content.encode())
    return len(data)


def _settings(task: MichalskiTrains, split: str) -> dict[str, Any]:
    """Return what all scenes of a split have in common, in V-LoL's words."""
    trains, rule = task.trains_of(split), task.config.rule
    return {
        "base_scene": SCENES[task.config.background],
        "train_description": DISTRIBUTIONS[trains.distribution],
        "classification_rule": RULES.get(rule, rule if rule.isidentifier() else "custom"),
        "visualization": STYLES[task.config.visualization],
        "min_cars": trains.least,
        "max_cars": trains.most,
    }


def _scenes(
    data: SplitData, task: MichalskiTrains, settings: Mapping[str, Any], start: int
) -> Iterator[dict[str, Any]]:
    """Give the scene of each row."""
    for row in range(len(data)):
        world, number = data.world(row), start + row
        train, east, angle = cars_of(world.codes), bool(data.labels[row, 0]), world.style["angle"]
        cars = [{**car, "load": car["load"] if car["loads"] else "box"} for car in train]  # their reader wants a shape
        file = f"{number}_m_train"
        yield {
            **settings,
            "image_index": number,
            "image_filename": f"{file}.png",
            "blender_filename": f"{file}.blend",
            "depth_map_filename": f"{file}.png",
            "angle": angle,
            "train": f"{'east' if east else 'west'} {angle} {michalski_text(cars)}",
            "car_masks": _masks(data, row, train, positions(task.scene(world))),
        }


def _masks(
    data: SplitData, row: int, train: Sequence[Mapping[str, Value]], at: Mapping[str, Sequence[float]]
) -> dict[str, Any]:
    """Return masks, boxes and places of the rail, the engine, and every car with its parts."""
    masks: dict[str, dict[str, Any]] = {}
    for number, thing in enumerate(data.things[row], start=1):
        pixels = (data.parts if "/" in thing.name else data.instances)[row] == number
        masks[thing.name] = {
            "mask": mask(pixels),
            "b_box": _corner_and_size(thing.box),
            "world_cord": list(at[thing.name]),
        }
    entries: dict[str, Any] = {theirs: masks[ours] for ours, theirs in ENGINE.items()}
    for number, car in enumerate(train, start=1):
        entries[f"car_{number}"] = {**masks[f"car{number}"], **_parts(car, number, masks)}
    return entries


def _parts(car: Mapping[str, Value], number: int, masks: Mapping[str, Any]) -> dict[str, Any]:
    labels: dict[str, Any] = {
        "roof": _roof(car["roof"]),
        "wall": f"{car['wall']}_wall",
        "wheels": f"{car['axles']}_wheels",
        "color": car["colour"],
        "length": car["length"],
    }
    parts = {name: {"label": label, **masks.get(f"car{number}/{name}", {})} for name, label in labels.items()}
    loads = range(int(car["loads"]) if car["load"] != "none" else 0)
    payload = {f"payload_{k}": {"label": car["load"], **masks[f"car{number}/payload{k + 1}"]} for k in loads}
    return {**parts, **payload}


def _roof(kind: Value) -> str:
    return "none" if kind == "none" else "roof_foundation" if kind == "foundation" else f"{kind}_roof"


def _corner_and_size(box: Box) -> list[int]:
    return [box.left, box.top, box.right - box.left, box.bottom - box.top]


def mask(pixels: Array) -> dict[str, Any]:
    """Return a mask as COCO's compressed run lengths, column by column.

    >>> mask(np.array([[0, 1, 1], [0, 1, 0]], dtype=bool))
    {'size': [2, 3], 'counts': '231'}
    """
    flat = np.concatenate([[False], pixels.T.ravel(), [False]])
    ends = np.flatnonzero(flat[1:] != flat[:-1])
    runs = np.diff(np.concatenate([[0], ends, [pixels.size]]))
    return {"size": list(pixels.shape), "counts": _compressed(runs[: -1 if runs[-1] == 0 else None].tolist())}


def _compressed(runs: Sequence[int]) -> str:
    """Return run lengths as text: from the third on as differences to the last but one, five bits a letter."""
    letters = []
    for place, run in enumerate(runs):
        rest = run - runs[place - 2] if place > 2 else run
        while True:
            low, rest = rest & 31, rest >> 5
            done = rest == (-1 if low & 16 else 0)
            letters.append(chr(48 + (low if done else low | 32)))
            if done:
                break
    return "".join(letters)
