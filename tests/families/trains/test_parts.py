"""Cars and roofs by their measures: wheels on the rails, as many axles and slats as there should be, gaps one sees through."""

import numpy as np
import pytest

from assay.families.trains.drawing import cars, roofs

LENGTHS = ["short", "long"]


def clusters(values, gap=0.02):
    """Return how many groups of numbers there are that lie apart."""
    ordered = np.sort(np.asarray(values))
    return 1 + int((np.diff(ordered) > gap).sum())


def extent(mesh):
    return mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("axles", [2, 3])
def test_wheels_stand_on_the_rails_and_can_be_counted(axles, length):
    (tyres, _), (discs, _) = cars.wheels(axles, length)
    rim = np.abs(tyres.vertices[:, 1]) > cars.WIDTH / 2  # outside of the flange
    assert tyres.vertices[rim, 2].min() == pytest.approx(0.5, abs=1e-3)
    assert tyres.vertices[rim, 2].max() == pytest.approx(0.5 + 2 * cars.RADIUS, abs=1e-3)
    hubs = discs.vertices[np.abs(discs.vertices[:, 1]) > cars.WIDTH / 2 + 0.02]
    assert clusters(hubs[:, 0], 0.1) == axles
    low, high = extent(tyres)
    assert high[0] - low[0] < cars.body(length) and low[0] == pytest.approx(-high[0], abs=1e-6)
    assert low[1] == pytest.approx(-high[1], abs=1e-6)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_car_fills_its_share_of_the_train(length):
    low, high = extent(cars.floor(length))
    assert high[0] - low[0] == pytest.approx(cars.SPACE[length] - cars.GAP, abs=1e-6)
    assert high[2] == pytest.approx(cars.DECK + cars.STAND, abs=1e-6)
    low, high = extent(cars.walls("solid", length))
    assert (low[2], high[2]) == pytest.approx((cars.DECK, cars.DECK + cars.WALL), abs=1e-6)
    assert high[0] - low[0] == pytest.approx(cars.body(length), abs=0.1)
    assert cars.SPACE["long"] > cars.SPACE["short"]


def volume(mesh):
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("length", LENGTHS)
def test_braced_walls_are_open(length):
    assert volume(cars.walls("braced", length)) < 0.6 * volume(cars.walls("solid", length))


@pytest.mark.parametrize(("length", "slats"), [("short", 5), ("long", 7)])
def test_a_braced_roof_has_teeth(length, slats):
    mesh = roofs.roof("braced", length)
    above = mesh.vertices[mesh.vertices[:, 2] > roofs.TOP + roofs.BAR + 0.1]
    assert clusters(above[:, 0], 0.17) == slats
    assert above[:, 0].max() == pytest.approx(cars.body(length) / 2, abs=0.01)


@pytest.mark.parametrize("length", LENGTHS)
def test_roofs_differ_by_what_is_on_the_frame(length):
    tops = {kind: extent(roofs.roof(kind, length))[1][2] for kind in ("foundation", "solid", "braced", "peaked")}
    assert tops["foundation"] == pytest.approx(roofs.TOP + roofs.BAR, abs=1e-6)
    assert tops["foundation"] < tops["solid"] < tops["braced"] < tops["peaked"]
    low, high = extent(roofs.roof("foundation", length))
    assert low[2] == pytest.approx(cars.DECK, abs=1e-6) and high[0] == pytest.approx(cars.body(length) / 2, abs=1e-6)
