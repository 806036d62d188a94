"""Primitives lie apart from one another, whole inside their figure, and look like their shapes."""

import numpy as np
import pytest

from assay.families.kandinsky.shapes import (
    BACKGROUNDS,
    COLOURS,
    SHAPES,
    cutout,
    most_that_fit,
    scatter_spots,
    sprite_at,
)
from assay.seeds import rng_for

CASES = [(3, 64, (5.8, 11.5)), (16, 64, (5.8, 11.5)), (1, 16, (3.0, 8.0)), (9, 33, (3.0, 6.0)), (4, 300, (27.0, 54.0))]


def spots(count, side, radii, draws=60):
    return [scatter_spots(rng_for(0, "spots", number), count, side, radii) for number in range(draws)]


@pytest.mark.parametrize(("count", "side", "radii"), CASES)
def test_no_two_circles_touch_and_none_leaves_the_figure(count, side, radii):
    for found in spots(count, side, radii):
        x, y, radius = np.array(found).T
        assert len(found) == count
        assert (np.array([x, y]) - radius >= 1).all() and (np.array([x, y]) + radius <= side - 1).all()
        assert (radius >= round(2 * radii[0]) / 2).all() and (radius <= round(2 * radii[1]) / 2).all()
        apart = np.hypot(x[:, None] - x, y[:, None] - y) - radius[:, None] - radius
        assert (apart[~np.eye(count, dtype=bool)] >= 2).all()


@pytest.mark.parametrize(("count", "side", "radii"), CASES)
def test_they_are_ordered_by_distance_from_the_corner(count, side, radii):
    for found in spots(count, side, radii):
        distances = [np.hypot(x, y) for x, y, _ in found]
        assert distances == sorted(distances)


def test_places_and_sizes_vary_over_their_whole_range():
    found = np.array(spots(3, 64, (5.8, 11.5), 400)).reshape(-1, 3)
    assert set(np.unique(found[:, 2])) == set(np.arange(6, 12, 0.5))
    assert found[:, :2].min() < 8 and found[:, :2].max() > 56
    assert abs(found[:, :2].mean() - 32) < 1.5


def test_the_most_that_fit_do_fit():
    for side, smallest in ((64, 5.8), (64, 3.0), (40, 4.5), (17, 3.0)):
        most = most_that_fit(side, smallest)
        assert most and all(len(found) == most for found in spots(most, side, (smallest, smallest), 5))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("spot", [(20.0, 20.0, 10.0), (20.5, 19.5, 7.5), (60.0, 60.5, 50.0)])
def test_a_sprite_stays_in_its_circle_and_covers_its_area(shape, spot):
    made, left, top = sprite_at(shape, "red", "white", spot)
    x, y, radius = spot
    rows, columns = np.nonzero(made.mask)
    assert np.hypot(columns + left + 0.5 - x, rows + top + 0.5 - y).max() <= radius + 0.5
    points = SHAPES[shape] * radius
    ahead = np.roll(points, -1, axis=0)
    area = abs((points[:, 0] * ahead[:, 1] - points[:, 1] * ahead[:, 0]).sum()) / 2
    assert abs(made.mask.sum() - area) < 5 * radius  # the library draws shapes a quarter of a pixel larger
    assert (made.box.left, made.box.right) == (columns.min(), columns.max() + 1)


@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("colour", COLOURS)
def test_added_to_the_background_it_has_its_colour(colour, background):
    made, _, _ = sprite_at("square", colour, background, (16.0, 16.0, 10.0))
    image = np.full(made.tint.shape, BACKGROUNDS[background], dtype=np.uint8) + made.tint
    middle = tuple(size // 2 for size in made.mask.shape)
    assert np.abs(image[middle].astype(int) - COLOURS[colour]).max() <= 1
    edge = image[0].astype(int)
    ends = np.sort([BACKGROUNDS[background], COLOURS[colour]], axis=0)
    assert (edge >= ends[0] - 1).all() and (edge <= ends[1] + 1).all()


def test_all_shapes_and_colours_differ_to_the_eye():
    masks = [cutout(shape, "red", "white", (30.0, 30.0, 9.0), 28).mask for shape in SHAPES]
    for place, mask in enumerate(masks):
        assert all((mask != other).sum() > 30 for other in masks[:place])
    colours = np.array([*COLOURS.values(), *BACKGROUNDS.values()])
    apart = np.abs(colours[:, None] - colours[None]).sum(axis=2)
    assert apart[~np.eye(len(colours), dtype=bool)].min() > 80


def test_a_cutout_fills_its_square():
    for radius in (3.0, 6.5, 11.0, 40.0):
        made = cutout("circle", "blue", "white", (50.0, 50.5, radius), 28)
        assert made.mask.shape == (28, 28) and made.tint.shape == (28, 28, 3)
        assert 300 < made.mask.sum() < 28 * 28
