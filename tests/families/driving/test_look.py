"""What is drawn looks as it did when it was measured; what should look otherwise raises the version."""

import pytest

from assay.families.driving.drawing import cars, obstacles, people, signals, town
from assay.render import Material
from assay.tasks import TASKS
from tests.families.looks import measure_model, require_look, scene_looks

PLAIN = Material()
MODELS = {
    **{f"car {kind}": lambda kind=kind: cars.car(kind) for kind in cars.KINDS},
    **{f"rider {kind}": lambda kind=kind: people.rider(kind) for kind in people.BIKES},
    **{f"obstacle {kind}": lambda kind=kind: obstacles.obstacle(kind) for kind in (*obstacles.LOW, *obstacles.LARGE)},
    **{f"sign {name}": lambda name=name: signals.sign(name) for name in ("stop", *signals.SIGNS[1:])},
    **{f"building {kind}": lambda kind=kind: town.building(kind) for kind in town.KINDS},
    "walker": people.walker, "gantry": signals.gantry, "bonnet": cars.bonnet, "beacons": cars.beacons,
}  # fmt: skip
LOOKS = {
    **{name: lambda make=make: measure_model((piece.mesh, PLAIN) for piece in make()) for name, make in MODELS.items()},
    **scene_looks(TASKS["sdd-oia"](), "scenes", range(6)),
}


@pytest.mark.parametrize("name", LOOKS)
def test_it_looks_as_it_did(name):
    require_look("driving", name, LOOKS[name](), 2e-3)
