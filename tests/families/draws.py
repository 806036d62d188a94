"""What tasks draw, in a few numbers each: their settings, splits, first worlds, and how these look.

What differs changes a dataset, and so its task's version. `python -m tests.families.draws` measures all anew and writes
each family's `draws.json`; raise the versions too.
"""

import importlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.render import Picture
from assay.tasks import TASKS, Task
from assay.worlds import Source, Split, World
from tests.families.looks import measure_scene, measure_stage, write_measured

HERE, FILE = Path(__file__).parent, "draws.json"
PLACES = np.arange(24)
STYLED = 3
"""How many of the worlds of a split are styled, and how many pictures are looked at."""
Cases = Mapping[str, tuple[str, dict[str, Any]]]
"""By name: a task and its settings."""


def leaves(data: Any) -> Iterator[float]:
    """Yield all that is in plain data as numbers; words count by their letters."""
    if isinstance(data, Mapping):
        for key in data:
            yield from leaves(key)
            yield from leaves(data[key])
    elif isinstance(data, str):
        yield from map(ord, data)
    elif isinstance(data, (list, tuple, np.ndarray)):
        for part in data:
            yield from leaves(part)
    else:
        yield -1.0 if data is None else float(data)


def summary(data: Any) -> list[float]:
    """Return how many numbers plain data has, their sum, and their sum when each counts by its place."""
    numbers = np.array([*leaves(data)], dtype=np.float64)
    weights = 1 + np.arange(len(numbers)) % 97
    return [len(numbers), *(round(float(total), 3) for total in (numbers.sum(), numbers @ weights))]


def measure_split(split: Split) -> list[Any]:
    """Return what a split is, in plain data."""
    facts = [split.name, split.size, *split.share, split.balance, split.pool, split.stage, split.one_sided]
    return [*facts, " ".join(split.disjoint_from), len(split.stages), str(split.quota)]


def measure_look(picture: Picture, blocks: int = 5) -> list[float]:
    """Return how bright the parts of a picture are, and sums of all else in it."""
    image = picture.image.astype(float)
    rows, columns = (np.array_split(np.arange(size), max(1, min(size, blocks))) for size in image.shape[:2])
    colours = [image[np.ix_(row, column)].mean(axis=(0, 1)) for row in rows for column in columns] if image.size else []
    maps = [(number.shape[0], number.mean()) for number in (picture.instances, picture.parts) if number is not None]
    boxes = [(thing.name, thing.box.left, thing.box.top, thing.box.right, thing.box.bottom) for thing in picture.things]
    return [round(float(number), 2) for number in (*np.ravel(colours), *leaves(maps), *summary(boxes))]


def measure_worlds(task: Task, source: Source, others: Iterable[Source]) -> dict[str, Any]:
    """Return the first concepts of a split, how many of them other splits may hold, and the first styles."""
    codes = source.codes(PLACES)
    styles = [dict(world.style) for world in source.worlds(PLACES[:STYLED])]
    labels = 0 if task.knowledge.stochastic else task.knowledge.labels_of(codes)
    inside = [int(other.contains(codes).sum()) for other in others]
    return {"codes": summary(codes), "labels": summary(labels), "inside": inside, "styles": summary(styles)}


def measure_world(world: World | None) -> list[float]:
    """Return the sums of a world, or none where there is no such world."""
    return [] if world is None else summary([world.codes, dict(world.style)])


def measure_changes(task: Task, world: World) -> list[Any]:
    """Return what becomes of a world if one of a dozen concepts is changed to its first, middle or last value."""
    every = max(1, len(task.space) // 12)
    return [
        measure_world(task.change_world(world, {concept.name: concept.values[place]}))
        for concept in task.space.concepts[::every][:12]
        for place in sorted({0, len(concept.values) // 2, len(concept.values) - 1})
    ]


def measure_case(case: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what a task draws under settings; scenes in three dimensions are measured, all else is looked at."""
    name, settings = case
    task = TASKS[name](**settings)
    splits = task.splits()
    sources = [task.worlds_in(split, 0) for split in splits]
    facts = {
        "splits": [measure_split(split) for split in splits],
        "where": summary([str(split.where) for split in splits]),
        "space": summary([[concept.name, *concept.values] for concept in task.space.concepts]),
        "layout": summary(task.layout.to_dict()),
        "settings": summary(task.config.model_dump()),
        "bounds": summary([[key, str(info.metadata)] for key, info in task.Config.model_fields.items()]),
    }
    for split, source in zip(splits, sources, strict=True):
        facts[f"worlds of {split.name}"] = measure_worlds(task, source, sources)
    worlds = sources[0].worlds(PLACES[:STYLED])
    facts["changes"] = measure_changes(task, worlds[0])
    for name, change in task.interventions.items():
        facts[f"intervention {name}"] = [measure_world(change(world)) for world in worlds]
    facts["choices"] = summary([dict(task.style_choices), [dict(one) for one in task.planted], task.backbones()])
    facts["ingredients"] = summary([task.ingredients(world) for world in worlds])
    if task.knowledge.subconcepts:
        facts["subconcepts"] = summary(task.subconcepts_of(worlds))
    if "depth" in task.columns:
        scenes = [task.scene(world) for world in worlds]
        facts["looks"] = [[*summary(measure_scene(scene)), *measure_stage(scene)] for scene in scenes]
    else:
        pictures = task.render_all(worlds)
        facts["looks"] = [measure_look(picture) for picture in pictures]
        facts["texts"] = summary([picture.text for picture in pictures])
    return facts


def flatten(data: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value of plain data with its path."""
    if isinstance(data, Mapping):
        for key in data:
            yield from flatten(data[key], f"{path}/{key}")
    elif isinstance(data, (list, tuple)):
        for place, part in enumerate(data):
            yield from flatten(part, f"{path}/{place}")
    else:
        yield path, data


def require_draws(family: str, name: str, case: tuple[str, dict[str, Any]]) -> None:
    """Fail where a task draws otherwise than when it was measured."""
    known = dict(flatten(json.loads((HERE / family / FILE).read_text(encoding="utf-8"))[name]))
    found = dict(flatten(measure_case(case)))
    assert list(found) == list(known)
    other = {}
    for path, value in found.items():
        loose = any(word in path for word in ("/looks/", "/styles/", "/changes/", "/intervention "))
        same = value == (pytest.approx(known[path], rel=1e-5, abs=0.05) if loose else known[path])
        if not same:
            other[path] = (value, known[path])
    assert not other, (
        f"{family}: {name} draws otherwise; if it should, raise the version: python -m tests.families.draws"
    )


def main() -> None:
    """Measure everything and write it down."""
    for path in sorted(HERE.glob("*/test_draws.py")):
        cases: Cases = importlib.import_module(f"tests.families.{path.parent.name}.test_draws").CASES
        write_measured(path.parent / FILE, {name: measure_case(case) for name, case in cases.items()})


if __name__ == "__main__":
    main()
