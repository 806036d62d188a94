"""The embedded stand-in for COCO: scenes by number, each with its objects placed so that all of them can be seen.

Everything about a scene follows from its number by hashing, so that thousands are laid out at once, in columns, and
any one of them is the same whichever others are. The columns are those of an annotation file that was read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from assay.base import GOLDEN, Array, fractions, mix_words
from assay.families.coco.album import Album
from assay.families.coco.drawing.scene_templates import (
    CROWDED,
    EYE,
    HEIGHT,
    MOST,
    NAMES,
    OBJECT_KINDS,
    OUTDOORS,
    SCENE_KINDS,
    SCENE_TEMPLATES,
    TABLE_TOP,
    WIDTH,
)

TRIES = 14
SPARE = MOST + 1
HIDDEN = 0.6
"""Scenes where more than this share of an object's box is hidden are not used."""
FARTHER = 0.5
"""How high things are that stand farther away, where it is crowded."""
TEST_SHARE = 0.25
LIGHTS = 6
_METRES, _ASPECT, _FILL, _INDOORS, _TABLE = (
    np.array([getattr(kind, name) for kind in OBJECT_KINDS.values()])
    for name in ("metres", "aspect", "fill", "indoors", "table")
)
_FRONT = np.array([kind.front or kind.aspect for kind in OBJECT_KINDS.values()])
_DEPTH = np.array([kind.depth for kind in OBJECT_KINDS.values()])
_CHANCES = np.array([[place.chances.get(name, 0.0) for name in NAMES] for place in SCENE_TEMPLATES])
_NUMBERS = np.array(
    [[place.objects.get(name, OBJECT_KINDS[name].objects) for name in NAMES] for place in SCENE_TEMPLATES]
)
_WEIGHTS = np.array([place.weight for place in SCENE_TEMPLATES])
_BY_SIZE = np.argsort(-(_METRES**2) * _ASPECT, kind="stable")
_KIND_OF_TEMPLATE = np.array([SCENE_KINDS.index(place.look) for place in SCENE_TEMPLATES])


def hash_uniform(numbers: Array, *salts: Array | int) -> Array:
    """Return numbers from 0 to 1, a function of the scenes' numbers and of what they are for."""
    words = mix_words(np.atleast_1d(numbers).astype(np.uint64) + np.uint64(0x5CE7E5))
    for salt in salts:
        words = mix_words(words ^ (np.atleast_1d(salt).astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN))
    return fractions(words)


@dataclass(frozen=True)
class Scenes:
    """Scenes in columns: for each scene its place, look, horizon and lights; for each object slot what stands where.

    `classes` is -1 where a slot is empty; `x`, `y` say where a foot stands, `heights` how high the object is, `looks`
    hold hue, tone and pose, all in pixels or numbers from 0 to 1.
    """

    numbers: Array
    views: Array
    horizons: Array
    classes: Array
    x: Array
    y: Array
    heights: Array
    left: Array
    looks: Array
    hidden: Array

    def content(self, row: int, counted: Sequence[bool]) -> dict[str, Any]:
        """Return one scene as plain data: its objects, whether each counts, and spare places for more of them."""
        number = self.numbers[row]
        kinds = [NAMES[kind] for kind in self.classes[row].tolist() if kind >= 0]
        spots = np.round(np.stack([self.x[row], self.y[row], self.heights[row]], axis=1), 1).tolist()
        looks, left = np.round(self.looks[row], 3).tolist(), self.left[row].tolist()
        objects = [[name, *spots[i], int(left[i]), *looks[i], int(counted[i])] for i, name in enumerate(kinds)]
        spare = np.round(hash_uniform(number, 900, np.arange(SPARE)[:, None], np.arange(6)), 3).tolist()
        lights = np.round(hash_uniform(number, 901, np.arange(LIGHTS)), 3).tolist()
        view = SCENE_KINDS[self.views[row]]
        horizon = round(float(self.horizons[row]), 3)
        return {"scene": view, "horizon": horizon, "lights": lights, "objects": objects, "spare": spare}

    def select(self, rows: Array) -> "Scenes":
        """Return some of the scenes."""
        return Scenes(**{column.name: getattr(self, column.name)[rows] for column in fields(self)})


def counts_of(numbers: Array) -> tuple[Array, Array]:
    """Return the place of each scene and how many objects of each class it has."""
    ends = np.cumsum(_WEIGHTS) / _WEIGHTS.sum()
    places = np.searchsorted(ends, hash_uniform(numbers, 0), side="right")
    every = np.arange(len(NAMES))
    there = hash_uniform(numbers[:, None], 1, every) < _CHANCES[places]
    draws = hash_uniform(numbers[:, None], 2, every)
    more = np.floor(np.log(np.maximum(draws, 1e-12)) / np.log(1 - 1 / _NUMBERS[places]))
    counts = np.where(there, 1 + np.minimum(more, MOST - 1), 0).astype(np.int64)
    while (crowded := counts.sum(axis=1) > CROWDED).any():
        rows = np.flatnonzero(crowded)
        counts[rows, counts[rows].argmax(axis=1)] -= 1
    return places, counts


def stance(kinds: Array, views: Array, horizons: Array, depths: Array) -> tuple[Array, Array]:
    """Return where objects stand (their foot) and how high they are, from how near they are: 0 for far, 1 for near."""
    outdoors = np.isin(views, [SCENE_KINDS.index(look) for look in OUTDOORS])
    shares = _DEPTH[kinds, 0] + (_DEPTH[kinds, 1] - _DEPTH[kinds, 0]) * depths
    ground = horizons * HEIGHT + shares * (1 - horizons) * HEIGHT
    high = _METRES[kinds] / EYE * (ground - horizons * HEIGHT)
    in_room = views == SCENE_KINDS.index("room")
    on_table = ~outdoors & ~in_room & (_TABLE[kinds] > 0)
    where, tops = [outdoors, in_room, on_table], HEIGHT * _INDOORS[kinds]
    feet = [ground, HEIGHT * (0.62 + 0.36 * depths), HEIGHT * (0.74 + 0.23 * depths)]
    tall = [high, tops * (0.75 + 0.5 * depths), HEIGHT * _TABLE[kinds] * (0.8 + 0.4 * depths)]
    behind = HEIGHT * (0.76 + 0.03 * depths), tops * (0.8 + 0.2 * depths)
    return np.select(where, feet, behind[0]), np.select(where, tall, behind[1])


def lay_out(numbers: Array) -> Scenes:
    """Return the scenes of these numbers, each object placed where it hides, and is hidden, least."""
    numbers = np.asarray(numbers, dtype=np.int64)
    places, counts = counts_of(numbers)
    views, horizons = _KIND_OF_TEMPLATE[places], 0.38 + 0.14 * hash_uniform(numbers, 3)
    slots = max(1, int(counts.sum(axis=1).max(initial=1)))
    classes = np.full((len(numbers), slots), -1, dtype=np.int64)
    sorted_counts = counts[:, _BY_SIZE]  # large things first: small ones find room before them
    rows, ranks = np.nonzero(sorted_counts)
    times = sorted_counts[rows, ranks]
    owners, repeated = np.repeat(rows, times), np.repeat(_BY_SIZE[ranks], times)
    firsts = np.searchsorted(owners, np.arange(len(numbers)))
    classes[owners, np.arange(len(owners)) - firsts[owners]] = repeated
    looks = hash_uniform(numbers[:, None, None], 4, np.arange(slots)[:, None], np.arange(3))
    left = hash_uniform(numbers[:, None], 5, np.arange(slots)) < 0.5
    aspects = np.where(looks[:, :, 2] > 0.72, _FRONT[classes], _ASPECT[classes])
    boxes = np.zeros((len(numbers), slots, 4))
    hidden = np.zeros((len(numbers), slots))
    for slot in range(slots):
        _place(slot, numbers, classes[:, slot], (views, horizons), aspects[:, slot], boxes, hidden)
    x, y = (boxes[:, :, 0] + boxes[:, :, 2]) / 2, boxes[:, :, 3]
    return Scenes(numbers, views, horizons, classes, x, y, y - boxes[:, :, 1], left, looks, hidden)


def _place(
    slot: int, numbers: Array, kinds: Array, scene: tuple[Array, Array], aspects: Array, boxes: Array, hidden: Array
) -> None:
    """Try some places for the objects of one slot, and keep in `boxes` and `hidden` the one where least is hidden."""
    best = np.full(len(numbers), np.inf)
    for attempt in range(TRIES):
        across, depths = (hash_uniform(numbers, 6, slot, attempt, axis) for axis in (0, 1))
        feet, tall = stance(kinds, *scene, depths)
        if attempt >= TRIES / 2:  # where it is crowded, farther away, and as much smaller as that makes them
            feet, tall = _farther(feet, scene), FARTHER * tall
        wide = tall * aspects
        middle = wide * 0.4 + across * (WIDTH - 0.8 * wide)
        box = np.stack([middle - wide / 2, feet - tall, middle + wide / 2, feet], axis=1)
        covers, covered = _overlaps(box, boxes[:, :slot])
        worst = np.maximum((hidden[:, :slot] + covers).max(axis=1, initial=0.0), covered.sum(axis=1))
        better = (worst < best) & (kinds >= 0)
        best[better] = worst[better]
        boxes[better, slot] = box[better]
        hidden[better, slot] = covered.sum(axis=1)[better]
    covers, _ = _overlaps(boxes[:, slot], boxes[:, :slot])
    hidden[:, :slot] += covers


def _farther(feet: Array, scene: tuple[Array, Array]) -> Array:
    """Return feet nearer to the horizon outdoors; indoors things differ in size instead."""
    views, horizons = scene
    outdoors = np.isin(views, [SCENE_KINDS.index(look) for look in OUTDOORS])
    line = horizons * HEIGHT
    return np.where(outdoors, line + FARTHER * (feet - line), feet)


def _overlaps(box: Array, others: Array) -> tuple[Array, Array]:
    """Return the share of each other box that a box hides, and of it that each other hides; near hides far."""
    width = np.minimum(box[:, None, 2], others[:, :, 2]) - np.maximum(box[:, None, 0], others[:, :, 0])
    height = np.minimum(box[:, None, 3], others[:, :, 3]) - np.maximum(box[:, None, 1], others[:, :, 1])
    shared = np.maximum(width, 0) * np.maximum(height, 0)
    near = box[:, None, 3] > others[:, :, 3]
    covers = np.where(near, shared / np.maximum(_area(others), 1e-9), 0)
    covered = np.where(near, 0, shared / np.maximum(_area(box)[:, None], 1e-9))
    return covers, covered


def _area(boxes: Array) -> Array:
    return np.asarray((boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1]))


@dataclass(frozen=True)
class SyntheticAlbum:
    """The stand-in as an album, with the scenes that it is made of."""

    album: Album
    scenes: Scenes


@lru_cache(maxsize=2)
def synthetic_album(count: int) -> SyntheticAlbum:
    """Return the album of the first scenes, a part of them for testing."""
    scenes = lay_out(np.arange(count))
    scenes = scenes.select(scenes.hidden.max(axis=1) <= HIDDEN)
    rows, slots = np.nonzero(scenes.classes >= 0)
    kinds, tall = scenes.classes[rows, slots], scenes.heights[rows, slots]
    wide = tall * np.where(scenes.looks[rows, slots, 2] > 0.72, _FRONT[kinds], _ASPECT[kinds])
    x, y = scenes.x[rows, slots], scenes.y[rows, slots]
    corners = np.stack([x - wide / 2, y - tall, x + wide / 2, y], axis=1).clip(0, [WIDTH, HEIGHT] * 2)
    behind = (scenes.views[rows] == SCENE_KINDS.index("table")) & (_TABLE[kinds] == 0)
    corners[behind, 3] = np.minimum(corners[behind, 3], TABLE_TOP * HEIGHT)
    boxes = np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1)
    visible = 1 - scenes.hidden[rows, slots].clip(0, 1)
    album = Album(
        files=tuple(f"scene-{number:06d}.png" for number in scenes.numbers.tolist()),
        sizes=np.tile([WIDTH, HEIGHT], (len(scenes.numbers), 1)).astype(np.float64),
        parts=(hash_uniform(scenes.numbers, 7) < TEST_SHARE).astype(np.int64),
        categories=NAMES,
        owners=rows,
        classes=kinds,
        boxes=boxes,
        areas=_FILL[kinds] * boxes[:, 2] * boxes[:, 3] * visible,
        crowds=np.zeros(len(rows), dtype=bool),
    )
    return SyntheticAlbum(album, scenes)


def recompose(content: Mapping[str, Any], counts: Mapping[str, int]) -> dict[str, Any] | None:
    """Return a scene with other numbers of objects: the last ones of a class go, new ones stand on spare places.

    None where there are too few spare places. Of these, each new object takes the one where it hides least.
    """
    objects, spare = list[list[Any]](), list(content["spare"])
    counted: dict[str, int] = dict.fromkeys(NAMES, 0)
    for row in content["objects"]:
        counted[row[0]] += row[-1]
        if not row[-1] or counted[row[0]] <= counts.get(row[0], counted[row[0]]):
            objects.append(row)
    lacking = [name for name, wanted in counts.items() for _ in range(wanted - counted[name])]
    if len(lacking) > len(spare):
        return None
    for name in lacking:
        offered = [_new_object(name, content, place) for place in spare]
        best = int(np.argmin([_hidden_share(row, objects) for row in offered]))
        objects.append(offered[best])
        del spare[best]
    return {**content, "objects": objects}


def _new_object(name: str, content: Mapping[str, Any], spare: list[float]) -> list[Any]:
    """Return an object on a spare place."""
    kind, view = np.array([NAMES.index(name)]), np.array([SCENE_KINDS.index(content["scene"])])
    across, depth, side, *look = spare
    feet, tall = stance(kind, view, np.array([content["horizon"]]), np.array([depth]))
    wide = float(tall[0]) * OBJECT_KINDS[name].aspect
    x = wide * 0.4 + across * (WIDTH - 0.8 * wide)
    return [name, round(x, 1), round(float(feet[0]), 1), round(float(tall[0]), 1), int(side < 0.5), *look, 1]


def _hidden_share(row: list[Any], others: list[list[Any]]) -> float:
    """Return the largest share of a box that is hidden when an object joins others."""
    boxes = np.array([_box(other) for other in others]).reshape(1, -1, 4)
    covers, covered = _overlaps(np.array([_box(row)]), boxes)
    return float(max(covers.max(initial=0.0), covered.sum()))


def _box(row: list[Any]) -> tuple[float, float, float, float]:
    name, x, y, tall, pose = row[0], row[1], row[2], row[3], row[7]
    wide = tall * (OBJECT_KINDS[name].front or OBJECT_KINDS[name].aspect if pose > 0.72 else OBJECT_KINDS[name].aspect)
    return x - wide / 2, y - tall, x + wide / 2, y
