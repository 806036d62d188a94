"""Pictures of the drawn scenes; where a picture has another shape than 640 x 480, ground and sky go on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.families.coco.drawing import animals, household, people, vehicles
from assay.families.coco.drawing.backdrop import BACKDROPS, BackdropCanvas, table
from assay.families.coco.drawing.brush import Appearance, Brush
from assay.families.coco.scene_templates import HEIGHT, OBJECT_KINDS, WIDTH
from assay.render import Canvas, Letterbox, Picture

DRAWINGS: Mapping[str, Callable[[Brush, Appearance], None]] = {
    "traffic_light": vehicles.traffic_light,
    "bicycle": vehicles.bicycle,
    "bus": vehicles.bus,
    "train": vehicles.train,
    "bottle": household.bottle,
    "cup": household.cup,
    "pizza": household.pizza,
    "cow": animals.cow,
    "elephant": animals.elephant,
    "sheep": animals.sheep,
    "person": people.person,
    "dog": animals.dog,
    "car": vehicles.car,
    "bowl": household.bowl,
    "truck": vehicles.truck,
    "couch": household.couch,
    "chair": household.chair,
    "motorcycle": vehicles.motorcycle,
    "surfboard": household.surfboard,
}
"""The drawing of each object class: the nineteen that the rules of COCOLogic-V2 mention."""


def draw_scene(content: Mapping[str, Any], size: tuple[int, int]) -> Picture:
    """Return the picture of an embedded scene: near things hide far ones."""
    fit = Letterbox.of((WIDTH, HEIGHT), size)
    canvas = Canvas(*size)
    backdrop = BackdropCanvas(canvas, fit, content["horizon"], content["lights"])
    BACKDROPS[content["scene"]](backdrop)
    with_table = content["scene"] == "table"
    rows = sorted(content["objects"], key=lambda row: float(row[2]))
    on_table = [row for row in rows if with_table and OBJECT_KINDS[row[0]].table]
    for row in rows:
        if row not in on_table:
            _draw(row, backdrop)
    if with_table:
        table(backdrop)
    for row in on_table:
        _draw(row, backdrop)
    return Picture(canvas.image, canvas.things, canvas.instances)


def _draw(row: Sequence[Any], backdrop: BackdropCanvas) -> None:
    """Draw one object; those that do not count are drawn, but are no things."""
    name, x, y, tall, left, hue, tone, pose, counts = row
    scale, corner = backdrop.scale, backdrop.corner
    brush = Brush(backdrop.canvas, x * scale + corner[0], y * scale + corner[1], tall * scale, bool(left))
    if not counts:
        DRAWINGS[name](brush, Appearance(hue, tone, pose))
        return
    with backdrop.canvas.thing(name):
        DRAWINGS[name](brush, Appearance(hue, tone, pose))
