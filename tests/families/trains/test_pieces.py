"""Trains piece by piece: which part of which thing each is, of what material, and where along the train it stands."""

from itertools import pairwise

import numpy as np
import pytest

from assay.families.trains.drawing import cars, materials, scene
from assay.families.trains.drawing.appearance import TrainAppearance


@pytest.mark.parametrize(
    ("count", "length", "step", "size"),
    [
        (1, "short", 1.05, 1.12),
        (2, "short", 0.894375, 0.894375 / 0.84),
        (3, "short", 0.59625, 0.59625 / 0.84),
        (2, "long", 1.05, 1.12),
        (3, "long", 0.94707, 1.12),
    ],
)
def test_loads_share_the_room_of_their_car_the_first_in_front(count, length, step, size):
    found = list(scene._toy_loads("diamond", count, 5.0, length, "car2"))
    assert [(thing, part) for _, _, _, thing, part in found] == [("car2", f"payload{n + 1}") for n in range(count)]
    for place, (_, material, matrix, _, _) in enumerate(found):
        assert material is materials.ICE
        assert matrix[:3, 3] == pytest.approx([5.0 + ((count - 1) / 2 - place) * step, 0.0, 1.44])
        assert np.diag(matrix)[:3] == pytest.approx([size] * 3)


def test_trains_are_scaled_by_the_longest_that_there_can_be():
    def scales(most):
        return [TrainAppearance("trains", "base", most, 160, 90).scale(cars) for cars in (1, 4, 5, 7)]

    assert scales(3) == scales(4) == pytest.approx([0.5, 0.5, 3 / 7, 1 / 3])
    assert scales(6) == pytest.approx([3 / 8, 3 / 8, 3 / 8, 1 / 3]) and scales(10) == [0.25] * 4


CAR = {"colour": "blue", "length": "long", "wall": "braced", "roof": "solid", "axles": 3, "loads": 2, "load": "diamond"}


def placed(pieces):
    """Each piece of a train: its thing and part, its material, and where it stands."""
    return [(thing, part, material, matrix[:3, 3].round(6).tolist()) for _, material, matrix, thing, part in pieces]


def test_a_car_is_a_hook_a_floor_walls_wheels_a_roof_and_its_loads():
    blue, half = materials.COLOURS["blue"], cars.SPACE["long"] / 2
    assert placed(scene._toy_car(CAR, 2.0, "car3")) == [
        ("car3", "floor", materials.STEEL, [round(2.0 + half, 6), 0.0, -0.2]),
        ("car3", "floor", blue, [2.0, 0.0, -0.2]),
        ("car3", "wall", blue, [2.0, 0.0, -0.2]),
        ("car3", "wheels", materials.RUBBER, [2.0, 0.0, -0.2]),
        ("car3", "wheels", materials.DISC, [2.0, 0.0, -0.2]),
        ("car3", "roof", blue, [2.0, 0.0, -0.2]),
        ("car3", "payload1", materials.ICE, [2.525, 0.0, 1.44]),
        ("car3", "payload2", materials.ICE, [1.475, 0.0, 1.44]),
    ]
    bare = [part for _, part, _, _ in placed(scene._toy_car({**CAR, "roof": "none", "load": "none"}, 2.0, "car3"))]
    assert bare == ["floor", "floor", "wall", "wheels", "wheels"]
    frame = [part for _, part, _, _ in placed(scene._toy_car({**CAR, "roof": "foundation", "loads": 0}, 2.0, "car3"))]
    assert frame == [*bare, "roof"]


def test_a_block_shows_axles_and_walls_by_black_layers_and_loads_on_its_dome():
    blue, black = materials.COLOURS["blue"], materials.BLACK
    loads_at = [round(2 * (1 - (0.3795 / 1.5) ** 2) ** 0.5 - 0.06 + 0.1, 6)] * 2
    assert placed(scene._block_car(CAR, 2.0, "car1")) == [
        ("car1", "wheels", black, [2.0, 0.0, 0.1]),
        ("car1", "roof", blue, [2.0, 0.0, 0.1]),
        ("car1", "wall", black, [2.0, 0.0, 0.1]),
        ("car1", "payload1", materials.ORANGE, [2.3795, 0.0, loads_at[0]]),
        ("car1", "payload2", materials.ORANGE, [1.6205, 0.0, loads_at[1]]),
    ]
    plain = placed(scene._block_car({**CAR, "axles": 2, "wall": "solid", "load": "none"}, 2.0, "car1"))
    assert [(part, material) for _, part, material, _ in plain] == [("wheels", blue), ("roof", blue), ("wall", blue)]


@pytest.mark.parametrize(
    ("make", "lengths", "height"),
    [(scene._toys, [3.75, 3.54121, 2.48875], -0.2), (scene._blocks, [3.6, 3.4, 2.4], 0.1)],
)
def test_cars_follow_the_engine_on_their_rails(make, lengths, height):
    found = placed(make([CAR, {**CAR, "length": "short"}]))
    assert found[0][:2] == ("rail", "") and found[0][3][0] == 0.0
    at = {thing: place for thing, part, _, place in found if part in ("body", "wall")}
    ends = np.cumsum([0.0, *lengths])
    wanted = [sum(lengths) / 2 - (one + other) / 2 for one, other in pairwise(ends)]
    assert list(at) == ["locomotive", "car1", "car2"]
    assert np.array(list(at.values())) == pytest.approx(np.array([[x, 0.0, height] for x in wanted]))
