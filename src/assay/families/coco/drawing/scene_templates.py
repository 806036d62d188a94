"""What the embedded scenes are made of: object classes with their sizes, and places with what is found there.

What the scenes follow are approximate figures of COCO (train2017), not recomputed here: in which share of its images a
class occurs, and how many objects of the class such an image has. Classes other than people are found more often here
than there, so that a few thousand scenes hold every way to keep or miss a rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

WIDTH, HEIGHT = 640, 480
EYE = 1.6
"""How high the camera is above the ground, in metres."""
MOST = 8
"""The most objects of one class in a scene."""
CROWDED = 13
"""The most objects in a scene."""

TABLE_TOP = 0.655
"""Where a table begins, as a share of the picture's height."""

SceneKind = Literal["street", "rail", "field", "park", "beach", "room", "table"]
SCENE_KINDS: tuple[SceneKind, ...] = ("street", "rail", "field", "park", "beach", "room", "table")
OUTDOORS = SCENE_KINDS[:5]


@dataclass(frozen=True)
class ObjectKind:
    """A class of objects.

    `metres`    how high one is, outdoors; small things are drawn larger than life there
    `aspect`    width over height; `front` the same where it is seen from the front, if it can be
    `fill`      the share of its box that it fills
    `depth`     how far it stands from the horizon, as shares of the way to the lower edge: farthest and nearest
    `indoors`   its height on the floor of a room, as a share of the picture; `table` the same on a table, 0 for never
    `images`    the share of COCO's images that show one; `objects` how many such an image shows
    """

    metres: float
    aspect: float
    fill: float
    depth: tuple[float, float]
    indoors: float
    images: float
    objects: float
    front: float | None = None
    table: float = 0.0


OBJECT_KINDS: Mapping[str, ObjectKind] = {
    "traffic_light": ObjectKind(4.0, 0.20, 0.45, (0.20, 0.50), 0.50, 0.035, 3.1),
    "bicycle": ObjectKind(1.15, 1.60, 0.35, (0.28, 0.90), 0.34, 0.027, 2.2),
    "bus": ObjectKind(3.1, 2.60, 0.90, (0.16, 0.38), 0.36, 0.033, 1.5, front=0.92),
    "train": ObjectKind(3.4, 2.60, 0.85, (0.16, 0.36), 0.36, 0.030, 1.3, front=0.78),
    "bottle": ObjectKind(0.55, 0.32, 0.85, (0.55, 0.95), 0.20, 0.072, 2.9, table=0.29),
    "cup": ObjectKind(0.34, 1.05, 0.75, (0.60, 0.95), 0.12, 0.078, 2.2, table=0.13),
    "pizza": ObjectKind(0.28, 2.40, 0.75, (0.60, 0.95), 0.09, 0.027, 1.8, table=0.12),
    "cow": ObjectKind(1.4, 1.50, 0.62, (0.20, 0.70), 0.42, 0.017, 4.1),
    "elephant": ObjectKind(2.7, 1.45, 0.68, (0.16, 0.44), 0.50, 0.018, 2.6),
    "sheep": ObjectKind(0.95, 1.25, 0.62, (0.28, 0.90), 0.30, 0.013, 6.2),
    "person": ObjectKind(1.7, 0.44, 0.52, (0.16, 0.90), 0.60, 0.542, 4.1),
    "dog": ObjectKind(0.7, 1.40, 0.50, (0.40, 0.95), 0.24, 0.037, 1.3),
    "car": ObjectKind(1.5, 2.60, 0.72, (0.20, 0.62), 0.30, 0.104, 3.6, front=1.40),
    "bowl": ObjectKind(0.30, 1.85, 0.75, (0.60, 0.95), 0.10, 0.060, 2.0, table=0.12),
    "truck": ObjectKind(3.0, 2.05, 0.80, (0.16, 0.40), 0.36, 0.052, 1.6),
    "couch": ObjectKind(0.95, 2.05, 0.88, (0.35, 0.80), 0.36, 0.037, 1.3),
    "chair": ObjectKind(1.0, 0.62, 0.55, (0.35, 0.90), 0.40, 0.108, 3.0),
    "motorcycle": ObjectKind(1.2, 1.62, 0.55, (0.28, 0.90), 0.34, 0.030, 2.5),
    "surfboard": ObjectKind(2.0, 0.42, 0.55, (0.28, 0.75), 0.55, 0.029, 1.8),
}
NAMES = tuple(OBJECT_KINDS)


@dataclass(frozen=True)
class SceneTemplate:
    """A place: how it looks, how often it is drawn, how likely each class is found there, and how many of some."""

    look: SceneKind
    weight: float
    chances: Mapping[str, float]
    objects: Mapping[str, float] = field(default_factory=dict)


SCENE_TEMPLATES: tuple[SceneTemplate, ...] = (
    SceneTemplate("street", 12, {"car": 0.9, "person": 0.55, "truck": 0.3, "traffic_light": 0.3, "bus": 0.15,
                                 "bicycle": 0.12, "motorcycle": 0.12, "dog": 0.04}),
    SceneTemplate("street", 5, {"bicycle": 0.9, "person": 0.75, "car": 0.4, "traffic_light": 0.16, "dog": 0.06,
                                "bus": 0.08, "motorcycle": 0.1, "chair": 0.05}),
    SceneTemplate("street", 5, {"motorcycle": 1.0, "person": 0.75, "car": 0.45, "bicycle": 0.1, "truck": 0.12,
                                "bus": 0.08}),
    SceneTemplate("street", 5, {"bus": 1.0, "person": 0.55, "car": 0.5, "traffic_light": 0.3, "bicycle": 0.1,
                                "truck": 0.12, "motorcycle": 0.08}),
    SceneTemplate("street", 5, {"truck": 1.0, "car": 0.5, "person": 0.45, "traffic_light": 0.14, "dog": 0.03}),
    SceneTemplate("street", 3, {"traffic_light": 1.0, "car": 0.5, "person": 0.4, "bicycle": 0.1, "bus": 0.1}),
    SceneTemplate("rail", 5, {"train": 1.0, "person": 0.3, "traffic_light": 0.2, "car": 0.08, "truck": 0.03,
                              "bicycle": 0.05}),
    SceneTemplate("field", 3.5, {"cow": 1.0, "person": 0.3, "dog": 0.05, "car": 0.05, "sheep": 0.04, "truck": 0.03}),
    SceneTemplate("field", 3.5, {"elephant": 1.0, "person": 0.38, "car": 0.05, "truck": 0.03}),
    SceneTemplate("field", 4.5, {"sheep": 1.0, "person": 0.28, "dog": 0.12, "cow": 0.04, "car": 0.04}, {"sheep": 5.0}),
    SceneTemplate("park", 3, {"dog": 1.0, "person": 0.55, "car": 0.16, "bicycle": 0.06, "chair": 0.08}),
    SceneTemplate("room", 2, {"dog": 1.0, "couch": 0.4, "chair": 0.3, "person": 0.3, "cup": 0.06, "bottle": 0.06}),
    SceneTemplate("room", 9, {"couch": 0.6, "chair": 0.7, "person": 0.45, "cup": 0.12, "bottle": 0.12, "bowl": 0.06,
                              "dog": 0.06}),
    SceneTemplate("table", 11, {"cup": 0.55, "bottle": 0.5, "bowl": 0.45, "chair": 0.4, "person": 0.5,
                                "pizza": 0.08, "couch": 0.05}),
    SceneTemplate("table", 5, {"pizza": 1.0, "cup": 0.35, "bottle": 0.3, "bowl": 0.1, "person": 0.4, "chair": 0.3}),
    SceneTemplate("table", 4, {"bowl": 0.75, "bottle": 0.45, "cup": 0.4, "person": 0.25, "chair": 0.2}),
    SceneTemplate("beach", 6, {"surfboard": 1.0, "person": 0.92, "dog": 0.03, "car": 0.03}, {"person": 2.0}),
    SceneTemplate("beach", 4, {"person": 0.95, "dog": 0.12, "chair": 0.1, "surfboard": 0.06, "bicycle": 0.05}),
    SceneTemplate("park", 12, {"person": 1.0, "chair": 0.1, "car": 0.1, "bottle": 0.06, "cup": 0.04, "dog": 0.02}),
    SceneTemplate("room", 3, {"person": 1.0, "chair": 0.3, "bottle": 0.1, "cup": 0.1}),
    SceneTemplate("field", 4, {"person": 0.4}),
)  # fmt: skip
