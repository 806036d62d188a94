"""What is drawn looks as it did when it was measured; what should look otherwise raises the version."""

import pytest

from assay.families.coco.drawing.brush import Appearance, Brush
from assay.families.coco.drawing.scene import DRAWINGS, draw_scene
from assay.families.coco.scene_templates import CROWDED
from assay.families.coco.synthetic import synthetic_album
from assay.render import Canvas
from tests.families.looks import measure_picture, require_look

POSES = (0.1, 0.5, 0.9)


def drawn(name, pose, hue=0.3, tone=0.4, left=False):
    canvas = Canvas(240, 120)
    DRAWINGS[name](Brush(canvas, 120, 110, 90, left), Appearance(hue, tone, pose))
    return measure_picture(canvas.image)


def scene(row, size=(320, 240)):
    album = synthetic_album(60)
    return measure_picture(draw_scene(album.scenes.content(row, [True] * CROWDED), size).image)


LOOKS = {
    **{f"{name} {pose}": lambda name=name, pose=pose: drawn(name, pose) for name in DRAWINGS for pose in POSES},
    **{f"{name} to the left": lambda name=name: drawn(name, 0.7, 0.8, 0.85, True) for name in DRAWINGS},
    **{f"scene {row}": lambda row=row: scene(row) for row in range(12)},
    **{f"scene {row} in a square": lambda row=row: scene(row, (90, 90)) for row in range(12, 40)},
}


@pytest.mark.parametrize("name", LOOKS)
def test_it_looks_as_it_did(name):
    require_look("coco", name, LOOKS[name](), 0.05)
