"""Pictures of the drawn scenes, fitted into one size as photographs are."""

from collections.abc import Mapping, Sequence
from typing import Any

from assay.families.coco.drawing.backdrop import BACKDROPS, Ground, table
from assay.families.coco.drawing.brush import Brush, Look
from assay.families.coco.drawing.objects import DRAWINGS
from assay.families.coco.scene_templates import HEIGHT, KINDS, WIDTH
from assay.families.photos.letterbox import Fit
from assay.render.canvas import Canvas
from assay.render.picture import Box, Picture, Thing


def drawn_scene(content: Mapping[str, Any], size: tuple[int, int]) -> Picture:
    """Return the picture of an embedded scene: near things hide far ones."""
    fit = Fit.of((WIDTH, HEIGHT), size)
    canvas = Canvas(fit.width, fit.height)
    ground = Ground(canvas, fit.width / WIDTH, content["horizon"], content["lights"])
    BACKDROPS[content["scene"]](ground)
    with_table = content["scene"] == "table"
    rows = sorted(content["objects"], key=lambda row: float(row[2]))
    on_table = [row for row in rows if with_table and KINDS[row[0]].table]
    for row in rows:
        if row not in on_table:
            _draw(row, ground)
    if with_table:
        table(ground)
    for row in on_table:
        _draw(row, ground)
    image, instances = fit.framed(canvas.image, size), fit.framed(canvas.instances, size, bar=0)
    things = [Thing(thing.name, _shifted(thing.box, fit)) for thing in canvas.things]
    return Picture(image, tuple(things), instances)


def _draw(row: Sequence[Any], ground: Ground) -> None:
    """Draw one object; those that do not count are drawn, but are no things."""
    name, x, y, tall, left, hue, tone, pose, counts = row
    scale = ground.scale
    brush = Brush(ground.canvas, x * scale, y * scale, tall * scale, bool(left))
    if not counts:
        DRAWINGS[name](brush, Look(hue, tone, pose))
        return
    with ground.canvas.thing(name):
        DRAWINGS[name](brush, Look(hue, tone, pose))


def _shifted(box: Box, fit: Fit) -> Box:
    if box.right == 0:
        return box
    return Box(box.left + fit.left, box.top + fit.top, box.right + fit.left, box.bottom + fit.top)
