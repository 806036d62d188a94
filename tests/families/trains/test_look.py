"""What is drawn looks as it did when it was measured; what should look otherwise raises the version."""

import pytest

from assay.families.trains.drawing import blocks, engine, loads
from assay.families.trains.drawing.appearance import TrainAppearance
from assay.families.trains.drawing.scene import positions, train_scene
from assay.render import Material
from assay.tasks import TASKS
from tests.families.looks import measure_model, measure_scene, measure_stage, require_look, scene_looks

PLAIN = Material()
KEYS = ("colour", "length", "wall", "roof", "axles", "loads", "load")
TRAIN = [
    dict(zip(KEYS, car, strict=True))
    for car in (
        ("red", "short", "solid", "none", 2, 1, "box"),
        ("blue", "long", "braced", "foundation", 3, 3, "golden_vase"),
        ("grey", "short", "braced", "solid", 2, 3, "barrel"),
        ("yellow", "long", "solid", "braced", 2, 2, "diamond"),
        ("green", "short", "solid", "peaked", 2, 2, "metal_pot"),
        ("red", "long", "braced", "peaked", 3, 0, "none"),
    )
]


def train(visualization, background, cars):
    """Return the measures of a train whose cars have all values of all attributes."""
    scene = train_scene(TRAIN[:cars], 25.0, TrainAppearance(visualization, background, 4, 160, 90))
    things = [number for numbers in measure_scene(scene).values() for number in numbers]
    middles = [round(number, 3) for middle in positions(scene).values() for number in middle]
    return [*things, *measure_stage(scene), *middles]


LOOKS = {
    **{f"load {kind}": lambda kind=kind: measure_model(loads.load(kind)) for kind in loads.LOADS},
    **{f"block {kind}": lambda kind=kind: measure_model([(blocks.load(kind), PLAIN)]) for kind in blocks.LOADS},
    "engine": lambda: measure_model([part[-2:] for part in engine.engine()]),
    "block engine": lambda: measure_model([part[-2:] for part in blocks.engine()]),
    **scene_looks(TASKS["trains"](), "scenes"),
    "train of six": lambda: train("trains", "desert", 6),
    "train of two": lambda: train("trains", "fisheye", 2),
    "blocks of six": lambda: train("blocks", "desert_sky", 6),
    "blocks of four": lambda: train("blocks", "base", 4),
}


@pytest.mark.parametrize("name", LOOKS)
def test_it_looks_as_it_did(name):
    require_look("trains", name, LOOKS[name](), 2e-3)
