"""What is drawn looks as it did when it was measured; what should look otherwise raises the version."""

import pytest

from assay.families.trains.drawing import blocks, engine, loads
from assay.render.scene import Material
from assay.tasks import TASKS
from tests.families.looks import measure_model, require_look, scene_looks

PLAIN = Material()
LOOKS = {
    **{f"load {kind}": lambda kind=kind: measure_model(loads.load(kind)) for kind in loads.LOADS},
    **{f"block {kind}": lambda kind=kind: measure_model([(blocks.load(kind), PLAIN)]) for kind in blocks.LOADS},
    "engine": lambda: measure_model([part[-2:] for part in engine.engine()]),
    "block engine": lambda: measure_model([part[-2:] for part in blocks.engine()]),
    **scene_looks(TASKS["trains"](), "scenes"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_it_looks_as_it_did(name):
    require_look("trains", name, LOOKS[name](), 2e-3)
