"""What is drawn looks as it did when it was measured; what should look otherwise raises the version."""

import pytest

from assay.families.coco.drawing.brush import Appearance, Brush
from assay.families.coco.drawing.scene import DRAWINGS, draw_scene
from assay.families.coco.scene_templates import CROWDED
from assay.families.coco.synthetic import synthetic_album
from assay.render.canvas import Canvas
from tests.families.looks import measure_picture, require_look

POSES = (0.1, 0.5, 0.9)


def drawn(name, pose):
    canvas = Canvas(240, 120)
    DRAWINGS[name](Brush(canvas, 120, 110, 90), Appearance(0.3, 0.4, pose))
    return measure_picture(canvas.image)


def scene(row):
    album = synthetic_album(60)
    return measure_picture(draw_scene(album.scenes.content(row, [True] * CROWDED), (320, 240)).image)


LOOKS = {
    **{f"{name} {pose}": lambda name=name, pose=pose: drawn(name, pose) for name in DRAWINGS for pose in POSES},
    **{f"scene {row}": lambda row=row: scene(row) for row in range(12)},
}


@pytest.mark.parametrize("name", LOOKS)
def test_it_looks_as_it_did(name):
    require_look("coco", name, LOOKS[name](), 1.0)
