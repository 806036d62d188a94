"""The parts of cars, engines and loads, probed: each batten, cross, hub, hoop and window is where it belongs."""

from itertools import pairwise, product

import pytest

from assay.families.trains.drawing import blocks, cars, engine, loads, materials, roofs, scene
from tests.families.probes import bare_solids, extent, require_matter

BOTH = (-1, 1)


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """Solids in place of meshes; what is cached is called by `__wrapped__`, so that no solid stays for other tests."""
    bare_solids(monkeypatch, blocks, cars, engine, loads, roofs, scene)


def test_edges_of_a_box_are_planed_off():
    made = materials.bevelled_box(2.0, 4.0, 6.0, 0.5)
    assert extent(made) == [-1, -2, 0, 1, 2, 6]
    full = [(a * 0.7, b * 1.7, 3.0) for a, b in product(BOTH, BOTH)]  # where |x| + |y| is below 2.5
    full += [(a * 0.7, 0.0, z) for a, z in product(BOTH, (0.3, 5.7))] + [
        (0.0, b * 1.7, z) for b, z in product(BOTH, (0.3, 5.7))
    ]
    empty = [(a * 0.8, b * 1.8, 3.0) for a, b in product(BOTH, BOTH)]
    empty += [(a * 0.8, 0.0, z) for a, z in product(BOTH, (0.2, 5.8))] + [
        (0.0, b * 1.8, z) for b, z in product(BOTH, (0.2, 5.8))
    ]
    require_matter(made, full, empty)


# -- cars --------------------------------------------------------------------------------------------------------------


def test_boards_have_a_batten_between_fields():
    require_matter(
        cars._boards(3.0, 3),
        [(x, y, 0.3) for x, y in product((-0.5, 0.5), (-0.08, 0.08))] + [(1.45, 0, 0.3), (-1.45, 0, 0.3), (0, 0, 0.58)],
        [(x, 0.08, 0.3) for x in (-1.45, -1.0, 0.0, 1.0, 1.45)] + [(0.5, 0.08, 0.58), (0, 0, 0.61), (1.52, 0, 0.3)],
    )


def test_every_field_of_a_frame_has_a_cross_of_two_beams():
    fields = (-1.0, 0.0, 1.0)
    require_matter(
        cars._crosses(3.1, 3),
        [(x + off, 0.0, z) for x in fields for off in (-0.25, 0.25) for z in (0.425, 0.175)]
        + [(x, 0.0, 0.3) for x in fields]
        + [(x, 0.05, 0.3) for x in (-1.5, -0.5, 0.5, 1.5)]  # posts
        + [(x + 0.25, 0.05, z) for x in fields for z in (0.05, 0.55)],  # rails
        [(x + off, 0.0, 0.3) for x in fields for off in (-0.25, 0.25)]
        + [(x, 0.0, z) for x in fields for z in (0.15, 0.45)]
        + [(x + 0.25, 0.05, z) for x in fields for z in (0.425, 0.175)],  # beams are thinner than posts
    )
    assert extent(cars._crosses(3.1, 3)) == pytest.approx([-1.55, -0.06, 0, 1.55, 0.06, 0.6], abs=1e-4)


def test_a_tyre_has_a_flange_inside_and_a_disc_with_a_hub_within_it():
    turned = [(1, 0), (0, 1), (-1, 0)]
    for side in BOTH:
        require_matter(
            cars.tyre_pair(),
            [(0.36 * a, side * 0.8, 0.36 * b) for a, b in turned]
            + [(0.435 * a, side * 0.75, 0.435 * b) for a, b in turned]
            + [(0.2, side * 0.75, 0.0), (0.0, side * 0.6, 0.0), (0.04, side * 0.6, 0.0)],
            [
                (0.2, side * 0.8, 0.0),
                (0.435, side * 0.8, 0.0),
                (0.36, side * 0.89, 0.0),
                (0.1, side * 0.6, 0.0),
                (0.36, side * 0.7, 0.0),
                (0.0, side * 0.71, 0.0),
            ],
        )
        require_matter(
            cars.disc_pair(),
            [(0.3, side * 0.8, 0.0), (0.0, side * 0.8, -0.3), (0.0, side * 0.9, 0.0), (0.08, side * 0.88, 0.0)],
            [(0.34, side * 0.8, 0.0), (0.2, side * 0.84, 0.0), (0.0, side * 0.93, 0.0), (0.12, side * 0.88, 0.0)],
        )


def test_axles_are_spread_between_the_ends_of_a_car():
    (tyres, rubber), (discs, light) = cars.wheels.__wrapped__(3, "short")
    assert rubber is materials.RUBBER and light is materials.DISC
    places = (-0.614375, 0.0, 0.614375)  # half of 2.14875, less a radius and 0.05
    require_matter(tyres, [(x, 0.8, 0.91 + 0.36) for x in places], [(x + 0.5, 0.6, 0.91) for x in places])
    require_matter(discs, [(x, -0.88, 0.91) for x in places], [(0.3, -0.88, 0.91), (0.614, -0.88, 1.05)])
    (tyres, _), (discs, _) = cars.wheels_at("two", [-1.0, 2.0])
    require_matter(tyres, [(x, -0.8, 0.91 - 0.36) for x in (-1, 2)], [(0, -0.8, 0.91 - 0.36)])
    require_matter(discs, [(x, 0.88, 0.91) for x in (-1, 2)], [(0, 0.88, 0.91)])


def test_a_floor_has_a_beam_below_and_a_stand_above():
    require_matter(
        cars.floor.__wrapped__("long"),  # 3.20121 long
        [(0, 0, 1.0), (1.4, 0.2, 1.0), (1.5, 0.7, 1.3), (-1.5, -0.7, 1.3), (0, 0, 1.6), (1.35, 0.6, 1.6)],
        [(0, 0.4, 1.0), (1.5, 0, 1.0), (0, 0, 0.94), (0, 0.7, 1.6), (1.5, 0, 1.6), (0, 0, 1.67), (1.62, 0, 1.3)],
    )
    require_matter(
        cars.coupling.__wrapped__(),
        [(0.3, 0, 1.2), (-0.3, 0.07, 1.2), (0, 0, 1.12), (0, 0, 1.3), (0, 0.08, 1.3)],
        [(0.3, 0, 1.12), (0.3, 0, 1.3), (0.3, 0.1, 1.2), (0.37, 0, 1.2), (0, 0.12, 1.2), (0, 0, 1.08), (0, 0, 1.34)],
    )


@pytest.mark.parametrize(
    ("length", "battens", "half"), [("short", [0.0], 1.074375), ("long", [-0.533535, 0.533535], 1.600605)]
)
def test_walls_stand_around_a_car(length, battens, half):
    ends = [(a * (half - 0.06), y, 1.8) for a in BOTH for y in (-0.5, 0.0, 0.5)]
    require_matter(
        cars.walls.__wrapped__("solid", length),
        [(x, b * 0.85, 1.8) for x in battens for b in BOTH] + ends + [(0.3, b * 0.77, 1.8) for b in BOTH],
        [(x + 0.25, b * 0.85, 1.8) for x in battens for b in BOTH]
        + [(0, 0, 1.8), (0, 0.77, 1.45), (0, 0.77, 2.12), (half + 0.02, 0, 1.8)],  # no batten at the ends
    )
    step = (2 * half - 0.1) / (len(battens) + 1)
    posts = [-half + 0.05 + place * step for place in range(len(battens) + 2)]
    require_matter(
        cars.walls.__wrapped__("braced", length),
        [(x, b * 0.77, 1.8) for x in posts for b in BOTH]
        + [((one + other) / 2, 0.77, 1.8) for one, other in pairwise(posts)]
        + [(a * (half - 0.06), 0.0, 1.8) for a in BOTH],
        [(x + 0.25 * step, b * 0.77, 1.8) for x in posts[:-1] for b in BOTH]
        + [(a * (half - 0.06), y, 1.8) for a in BOTH for y in (-0.4, 0.4)],
    )


# -- roofs -------------------------------------------------------------------------------------------------------------


def test_posts_carry_a_frame_on_which_a_plate_slats_or_a_gable_lie():
    require_matter(
        roofs._foundation(2.0),
        [(a * 0.935, b * 0.765, z) for a, b in product(BOTH, BOTH) for z in (1.52, 2.3, 3.0)]
        + [(x, b * 0.755, 3.2) for x in (-0.5, 0.0, 0.5) for b in BOTH]
        + [(a * 0.925, y, 3.2) for y in (-0.5, 0.0, 0.5) for a in BOTH],
        [(a * 0.85, b * 0.765, 2.0) for a, b in product(BOTH, BOTH)] + [(0, 0, 3.2), (0, 0.755, 3.05), (0.8, 0, 3.2)],
    )
    assert extent(roofs._plate(2.0)) == pytest.approx([-1.08, -0.91, 3.21, 1.08, 0.91, 3.41])
    assert extent(roofs._gable(2.0)) == pytest.approx([-1.08, -0.93, 3.22, 1.08, 0.93, 3.94])
    require_matter(
        roofs._gable(2.0),
        [(x, 0.0, 3.9) for x in (-1.0, 1.0)] + [(0, b * 0.9, 3.25) for b in BOTH],
        [(0, b * 0.5, 3.8) for b in BOTH],
    )


@pytest.mark.parametrize(("length", "count"), [(2.0, 5), (2.5, 5), (2.51, 7), (3.2, 7)])
def test_slats_lie_evenly_from_end_to_end(length, count):
    step = (length - 0.16) / (count - 1)
    places = [step * place - (length - 0.16) / 2 for place in range(count)]
    require_matter(
        roofs._slats(length),
        [(x, y, 3.4) for x in places for y in (-0.8, 0.0, 0.8)],
        [(x + step / 2, 0.0, 3.4) for x in places],
    )
    assert extent(roofs._slats(length)) == pytest.approx([-length / 2, -0.83, 3.23, length / 2, 0.83, 3.59], abs=1e-4)


# -- loads -------------------------------------------------------------------------------------------------------------


def test_a_crate_has_battens_along_all_twelve_edges():
    (core, oak), (bars, walnut) = loads._box()
    assert oak is materials.OAK and walnut is materials.WALNUT
    assert extent(core) == pytest.approx([-0.38, -0.38, 0.02, 0.38, 0.38, 0.82])
    edges = [(a * 0.36, b * 0.36, 0.42) for a, b in product(BOTH, BOTH)]
    edges += [(0.0, a * 0.36, 0.42 + b * 0.36) for a, b in product(BOTH, BOTH)]
    edges += [(a * 0.36, 0.0, 0.42 + b * 0.36) for a, b in product(BOTH, BOTH)]
    require_matter(bars, edges, [(0, 0, 0.42), (0, 0.36, 0.42), (0.36, 0, 0.42), (0, 0, 0.06), (0, 0, 0.78)])
    assert extent(bars) == pytest.approx([-0.42, -0.42, 0, 0.42, 0.42, 0.84])


def test_a_barrel_bulges_within_four_hoops():
    (staves, _), (hoops, steel) = loads._barrel()
    assert steel is materials.STEEL and extent(staves)[2::3] == pytest.approx([0, 1.02])
    require_matter(
        staves,
        [(0.38, 0, 0.51), (0.27, 0, 0.02), (0.27, 0, 1.0), (0.35, 0, 0.2)],
        [(0.42, 0, 0.51), (0.33, 0, 0.02), (0.33, 0, 1.0)],
    )
    radii = {z: 0.418 - 0.11 * (2 * (z + 0.03) / 1.02 - 1) ** 2 for z in (0.1, 0.3, 0.66, 0.86)}
    require_matter(
        hoops,
        [(radius - 0.025, 0, z + 0.04) for z, radius in radii.items()],
        [(radius - 0.025, 0, z + 0.1) for z, radius in radii.items()]
        + [(radius - 0.06, 0, z + 0.04) for z, radius in radii.items()]
        + [(radius + 0.01, 0, z + 0.04) for z, radius in radii.items()],
    )


def test_pots_vases_and_stones_have_their_outlines():
    ((pot, _),), ((vase, _),), ((stone, _),) = loads._metal_pot(), loads._oval_vase(), loads._diamond()
    assert extent(pot) == pytest.approx([-0.41, -0.575, 0, 0.41, 0.575, 0.92], abs=3e-3)
    require_matter(
        pot,
        [(0, b * 0.555, 0.44) for b in BOTH] + [(0, 0, 0.9), (0.35, 0, 0.3), (0.395, 0, 0.58), (0.1, 0, 0.73)],
        [(0, b * 0.5, 0.5) for b in BOTH] + [(0.395, 0, 0.3), (0.2, 0, 0.8), (0.12, 0, 0.83)],
    )
    assert extent(vase) == pytest.approx([-0.42, -0.42, 0.0036, 0.42, 0.42, 1.01], abs=2e-3)
    require_matter(
        vase,
        [(0.4, 0, 0.46), (0.25, 0, 0.12), (0.2, 0, 0.99), (0.15, 0, 0.94)],
        [(0, 0, 0.97), (0.25, 0, 0.94), (0.35, 0, 0.15)],
    )
    assert extent(stone) == pytest.approx([-0.42, -0.42, 0, 0.42, 0.42, 0.82], abs=1e-4)
    require_matter(
        stone, [(0.38, 0, 0.62), (0.26, 0, 0.8), (0.2, 0, 0.35)], [(0.32, 0, 0.8), (0.3, 0, 0.35), (0.05, 0, 0.02)]
    )


def test_corners_of_a_profile_are_cut_twice_and_its_ends_stay():
    assert loads._smooth([(0.0, 0.0), (4.0, 0.0), (4.0, 4.0)]) == [
        (0.0, 0.0), (2.25, 0.0), (3.25, 0.25), (3.75, 0.75), (4.0, 1.75), (4.0, 4.0),
    ]  # fmt: skip


# -- the engine --------------------------------------------------------------------------------------------------------

LONG = 3.41


def test_the_engine_has_a_catcher_in_front_and_four_axles():
    require_matter(
        engine._frame(LONG),
        [(1.7, 0.45 * b, 0.9) for b in BOTH] + [(1.95, 0, 1.1), (1.6, 0, 0.74), (-1.6, 0.7, 1.3), (1.6, -0.7, 1.3)],
        [(1.7, 0.6 * b, 0.9) for b in BOTH] + [(-1.8, 0, 0.9), (1.6, 0, 0.7), (0, 0, 1.0), (0, 0, 1.45), (2.02, 0, 1)],
    )
    (part, tyres, _), (_, discs, _) = engine._wheels(LONG)
    reach = LONG / 2 - 0.51
    places = [-reach, -reach / 3, reach / 3, reach]
    assert part == "wheels"
    require_matter(discs, [(x, 0.88, 0.91) for x in places], [(x + reach / 3, 0.88, 0.91) for x in places])
    require_matter(tyres, [(x, 0.8, 0.91 + 0.36) for x in places], [(0, 0.8, 0.91 + 0.36)])


def test_a_boiler_lies_on_a_saddle_and_has_an_open_chimney():
    ends = ((-0.45, -0.53, 0.0), (1.58, 1.63, 0.0), (0.5, 0.5, 0.04))  # of the barrel: just inside and just outside
    barrel = [(x, 0.6 * bool(y), 2.02) for x, _, y in ends]
    saddle = [(0.55, 0.3, 1.36), (1.48, 0, 1.36), (-0.39, 0, 1.36)]
    chimney = [(1.155, 0, 3.0), (1.155 + 0.29, 0, 3.34), (1.155, 0.29, 3.34)]
    beside = [(x, 16 * y, 2.02) for _, x, y in ends]
    under = [(0.55, 0.43, 1.36), (1.53, 0, 1.36), (-0.43, 0, 1.36)]
    above = [(1.155, 0, 3.3), (1.155 + 0.25, 0, 2.9), (0.8, 0, 3.34)]
    require_matter(engine._boiler(LONG), [*barrel, *saddle, *chimney], [*beside, *under, *above])


def test_a_cab_has_windows_to_the_sides_and_to_the_front_under_an_arched_roof():
    middle = -1.0512
    require_matter(
        engine._cab(LONG),
        [(middle + a * 0.5, b * 0.8, 2.4) for a, b in product(BOTH, BOTH)]
        + [(middle + a * 0.55, b * 0.7, 2.5) for a, b in product(BOTH, BOTH)]
        + [(middle, 0, 1.8), (middle, 0, 3.2), (middle + 0.75, 0, 3.1), (middle - 0.75, 0, 3.1), (middle, 0.9, 3.02)],
        [(middle, b * 0.8, 2.4) for b in BOTH]
        + [(middle + a * 0.55, 0, 2.5) for a in BOTH]
        + [(middle + 0.78, 0, 3.1), (middle, 0.9, 3.15), (middle, 0, 3.3), (middle, 0, 1.38), (middle + 0.63, 0, 1.8)],
    )
    arch = engine._arch()
    assert len(arch) == 13 and arch[0] == pytest.approx((0.93, 0)) and arch[6] == pytest.approx((0, 0.28))


def test_brass_is_three_bands_a_dome_and_a_lamp():
    bands = [1.605 - 2.1142 * part for part in (0.2, 0.55, 0.9)]
    require_matter(
        engine._brass(LONG),
        [(x + 0.045, b * 0.615, 2.02) for x in bands for b in BOTH]
        + [(bands[1], 0, 2.9), (bands[1] + 0.2, 0, 2.62), (1.65, 0, 2.12), (1.65, 0.1, 2.2), (1.58, 0, 2.12)],
        [(x + 0.2, 0.615, 2.02) for x in bands]
        + [(x + 0.045, 0.5, 2.02) for x in bands]
        + [(bands[1], 0, 2.96), (bands[1], 0.28, 2.62), (1.65, 0, 2.32), (1.55, 0, 2.12), (1.72, 0, 2.12)],
    )


# -- blocks and rails --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "half"), [("short", 1.0), ("long", 1.5)])
def test_a_block_is_cut_into_three_layers(length, half):
    for layer, low, high in (("bottom", 0.0, 0.5), ("middle", 0.5, 1.5), ("top", 1.5, 2.0)):
        assert extent(blocks.block.__wrapped__("none", length, layer)) == pytest.approx([-half, -1, low, half, 1, high])
    dome = blocks.block.__wrapped__("solid", length, "top")
    require_matter(dome, [(0, 0, 1.95), (0.6 * half, 0, 1.55)], [(0.7 * half, 0, 1.55), (0.5 * half, 0, 1.9)])
    slope = blocks.block.__wrapped__("braced", length, "middle")
    require_matter(slope, [(0.78 * half, 0, 1.0), (0, 0.78, 1.0)], [(0.84 * half, 0, 1.0), (0, 0.84, 1.0)])
    require_matter(
        blocks.block.__wrapped__("peaked", length, "bottom"),
        [(0.97 * half, 0, 0.25), (0, 0.84, 0.25)],
        [(0, 0.9, 0.25), (0.9 * half, 0.5, 0.25)],
    )


def test_creases_of_round_blocks_are_sharper(monkeypatch):
    monkeypatch.setattr(blocks, "mesh_of", lambda name, solid, crease: (name, crease))
    found = {roof: blocks.block.__wrapped__(roof, "short", "top") for roof in blocks.SHAPES}
    assert found == {
        roof: (f"block-{roof}-short-top", 20 if roof in ("foundation", "solid") else 30)
        for roof in ("none", "foundation", "solid", "braced", "peaked")
    }


def test_loads_stand_on_the_block_under_them():
    assert blocks.height_at("solid", "short", 0.5) == pytest.approx(2 * 0.75**0.5 - 0.06)
    assert blocks.height_at("solid", "long", -0.9) == pytest.approx(2 * 0.8 - 0.06)
    assert blocks.height_at("solid", "short", 1.5) == -0.06 and blocks.height_at("solid", "short", 0.0) == 1.94
    assert {blocks.height_at(roof, "short", 0.9) for roof in ("none", "foundation", "braced", "peaked")} == {2.0}
    wanted = {
        (1, "short"): [0], (1, "long"): [0], (2, "short"): [-0.33, 0.33], (2, "long"): [-0.3795, 0.3795],
        (3, "short"): [-0.558, 0, 0.558], (3, "long"): [-0.713, 0, 0.713],
    }  # fmt: skip
    for (count, length), places in wanted.items():
        assert blocks.load_places(count, length) == pytest.approx(places)


def test_small_solids_and_the_engine_of_blocks_have_their_measures():
    wanted = {
        "box": [-0.28, -0.28, -0.01, 0.28, 0.28, 0.55],
        "golden_vase": [-0.3253, -0.3253, 0, 0.3253, 0.3253, 0.46],
        "barrel": [-0.25, -0.25, 0, 0.25, 0.25, 0.5],
        "diamond": [-0.23, -0.23, 0, 0.23, 0.23, 0.56],
        "metal_pot": [-0.22, -0.22, 0, 0.22, 0.22, 0.76],
        "oval_vase": [-0.32, -0.1, -0.01, 0.32, 0.1, 0.63],
    }
    for kind, measures in wanted.items():
        assert extent(blocks.LOADS[kind]()) == pytest.approx(measures, abs=2e-3), kind
    (part, body, walnut), (_, boiler, oak) = blocks.engine.__wrapped__()
    assert part == "body" and walnut is materials.WALNUT and oak is materials.OAK
    assert extent(body) == pytest.approx([-1.6, -1, 0, 1.6, 1, 2.35])
    require_matter(body, [(-1.5, 0.9, 1.5), (-0.4, 0, 2.3), (1.5, 0.9, 0.5)], [(-0.3, 0, 1.5), (0.5, 0, 1.0)])
    assert extent(boiler) == pytest.approx([-0.3, -0.62, 0.68, 1.6, 0.62, 2.5], abs=2e-3)
    require_matter(boiler, [(1.2, 0, 2.4), (1.0, 0.2, 2.4), (1.5, 0, 1.3)], [(0.7, 0, 2.4), (1.3, 0, 2.4)])
    assert extent(blocks.strip.__wrapped__(36)) == pytest.approx([-18, -1.25, 0, 18, 1.25, 0.1])


def test_rails_lie_on_sleepers_and_lengths_follow_one_another_backwards():
    (bars, steel), (sleepers, wood) = scene._rails.__wrapped__(5)
    assert steel is materials.STEEL and wood is materials.SLEEPER
    assert extent(bars) == pytest.approx([-2, -0.77, 0.34, 2, 0.77, 0.5])
    require_matter(bars, [(1.9, b * 0.71, 0.45) for b in BOTH], [(0, 0, 0.45), (0, 0.63, 0.45)])
    places = (-1.6, -0.8, 0.0, 0.8, 1.6)
    require_matter(sleepers, [(x, y, 0.28) for x in places for y in (-1.1, 1.1)], [(x + 0.4, 0, 0.28) for x in places])
    assert extent(sleepers) == pytest.approx([-1.75, -1.15, 0.2, 1.75, 1.15, 0.36])
    assert scene._places([4.0, 2.0, 3.0]) == [2.5, -0.5, -3.0]
