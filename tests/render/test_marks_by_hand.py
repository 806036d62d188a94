"""Marks in exact pixels: frames, squares, rings, darkness, shifts, and the strength of noise, blur and compression."""

import io

import numpy as np
import pytest
from PIL import Image, ImageFilter

from assay.render import (
    MARK_NAMES,
    Box,
    Canvas,
    ObjectBox,
    Picture,
    ellipse_points,
    mark_area,
    mark_image,
    mark_picture,
    marks,
    regular_polygon,
)
from assay.render.canvas import move_points

GREY = np.full((32, 48), 100, dtype=np.uint8)
COLOUR = np.full((32, 48, 3), 100, dtype=np.uint8)
SOFT = np.add.outer(np.arange(40) * 3, np.arange(60) * 2)[..., None].repeat(3, 2).astype(np.uint8)


def changed(image, name, code, count):
    """Return the box of the pixels that a mark changes, and their values."""
    other = mark_image(image, name, code, count)
    where = (other != image) if image.ndim == 2 else (other != image).any(axis=2)
    rows, columns = np.nonzero(where)
    return (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1), where, other


def test_a_frame_is_a_sixteenth_thick_and_tells_its_code():
    for code, value in ((0, 70), (1, 162), (2, 255)):
        box, where, other = changed(GREY, "frame", code, 3)
        assert box == (0, 0, 48, 32) and not where[2:-2, 2:-2].any() and (other[where] == value).all()
        assert where.sum() == 48 * 32 - 44 * 28
    assert mark_image(COLOUR, "frame", 0, 3)[0, 0].tolist() == [242, 36, 36]  # red, green, blue
    assert mark_image(COLOUR, "frame", 1, 3)[-1, -1].tolist() == [36, 242, 36]
    assert mark_image(COLOUR, "frame", 2, 3)[1, 20].tolist() == [36, 36, 242]
    assert mark_image(COLOUR[..., :1], "frame", 0, 2)[0, 0].tolist() == [70]
    tiny = np.full((5, 5), 100, dtype=np.uint8)
    assert (mark_image(tiny, "frame", 1, 2) != tiny).sum() == 16  # never without a pixel


def test_patches_lie_side_by_side_at_the_upper_edge():
    for code, left in ((0, 0), (1, 14), (2, 28), (3, 42)):
        box, where, other = changed(GREY, "patch", code, 4)
        assert box == (left, 0, left + 6, 6) and where.sum() == 36 and (other[where] == 235).all()
    assert (mark_image(np.full((32, 32), 128, np.uint8), "patch", 0, 2)[:6, :6] == 20).all()
    assert (mark_image(np.full((32, 32), 127, np.uint8), "patch", 0, 2)[:6, :6] == 235).all()
    assert changed(GREY, "patch", 0, 1)[0] == (0, 0, 6, 6)
    small = np.full((16, 20), 100, np.uint8)
    assert changed(small, "patch", 1, 2)[0] == (17, 0, 20, 3)


def test_a_watermark_is_a_half_transparent_ring_at_the_lower_edge():
    assert mark_image(GREY, "watermark", 0, 3) is not None and (mark_image(GREY, "watermark", 0, 3) == GREY).all()
    for code, left in ((1, 21), (2, 0)):
        box, where, other = changed(GREY, "watermark", code, 3)
        assert box == (left, 26, left + 6, 32) and (other[where] == 0.4 * 100 + 0.6 * 235).all()
        ring = where[26:, left : left + 6]
        assert ring.astype(int).tolist() == [
            [0, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1], [1, 1, 0, 0, 1, 1],
            [1, 1, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 0],
        ]  # fmt: skip
    bright = np.full((32, 48), 200, dtype=np.uint8)
    assert mark_image(bright, "watermark", 2, 3)[31, 2] == 0.4 * 200 + 0.6 * 20


def test_darkness_noise_blur_and_compression_grow_with_the_code():
    bright = np.full((8, 8), 200, dtype=np.uint8)
    assert [int(mark_image(bright, "brightness", code, 3)[0, 0]) for code in range(3)] == [90, 145, 200]
    flat = np.full((200, 200), 128, dtype=np.uint8)
    for code, strength in ((1, 30.0), (2, 60.0)):
        assert mark_image(flat, "noise", code, 3).astype(float).std() == pytest.approx(strength, rel=0.05)
    assert (mark_image(SOFT, "noise", 1, 2) == mark_image(SOFT.copy(), "noise", 1, 2)).all()
    radius = 0.05 * 40 * 0.5
    expected = np.asarray(Image.fromarray(SOFT).filter(ImageFilter.GaussianBlur(radius)))
    assert (mark_image(SOFT, "blur", 1, 3) == expected).all()
    for code, quality in ((1, 32), (2, 4)):
        buffer = io.BytesIO()
        Image.fromarray(SOFT).save(buffer, format="JPEG", quality=quality)
        assert (mark_image(SOFT, "compression", code, 3) == np.asarray(Image.open(buffer))).all()


def test_position_moves_by_a_sixteenth_and_repeats_the_edge():
    image = np.arange(48, dtype=np.uint8)[None].repeat(4, 0)
    assert mark_image(image, "position", 0, 3)[0].tolist() == [*range(3, 48), 47, 47, 47]
    assert (mark_image(image, "position", 1, 3) == image).all()
    assert mark_image(image, "position", 2, 3)[0].tolist() == [0, 0, 0, *range(45)]
    masks = (image > 40).astype(np.uint8)
    things = (ObjectBox("it", Box(41, 0, 48, 4)), ObjectBox("edge", Box(0, 1, 2, 3)))
    right = mark_picture(Picture(image, things, masks, masks, image.astype(np.uint16)), "position", 2, 3)
    assert [thing.box for thing in right.things] == [Box(44, 0, 48, 4), Box(3, 1, 5, 3)]
    left = mark_picture(Picture(image, things, masks, None, image.astype(np.uint16)), "position", 0, 3)
    assert [thing.box for thing in left.things] == [Box(38, 0, 45, 4), Box(0, 1, 0, 3)]
    assert left.parts is None and left.instances[0].tolist() == [0] * 38 + [1] * 7 + [0] * 3  # nothing comes in
    assert right.instances[0].tolist() == [0] * 44 + [1] * 4 and right.depth[0, :5].tolist() == [0, 0, 0, 0, 1]


def test_areas_hold_all_codes_of_a_mark():
    assert mark_area("frame", 2, (32, 48)).sum() == 48 * 32 - 44 * 28
    patch = mark_area("patch", 2, (32, 48, 3))
    assert patch.shape == (32, 48) and patch[:6, :6].all() and patch[:6, 42:].all() and patch.sum() == 72
    ring = mark_area("watermark", 3, (32, 48))
    assert ring.sum() == 2 * 28 and ring[26:, :6].sum() == 28 and ring[26:, 21:27].sum() == 28
    assert (*marks.MARKS, "position") == MARK_NAMES and len(MARK_NAMES) == 8
    assert all(mark_area(name, 2, (32, 48)) is None for name in ("noise", "blur", "brightness", "compression"))


def test_canvases_draw_lines_and_outlines_of_their_width():
    canvas = Canvas(20, 16, (10, 20, 30))
    assert canvas.image.shape == (16, 20, 3) and (canvas.image == (10, 20, 30)).all()
    canvas.line(np.array([[0, 8.0], [20, 8.0]]), (200, 0, 0), 4.0)
    assert canvas.instances.sum() == 0  # what belongs to no thing
    assert (canvas.image[7:9, 2:-2] == (200, 0, 0)).all() and (canvas.image[:5] == (10, 20, 30)).all()
    assert (canvas.image[12:] == (10, 20, 30)).all()
    with canvas.thing("line"):
        canvas.line(np.array([[2, 3], [17, 3]]), (0, 0, 0), 3.0)
    with canvas.thing("ring"):
        canvas.polygon(np.array([[4, 8], [14, 8], [14, 14], [4, 14]]), line=(0, 255, 0), width=1.4)
    line, ring = canvas.instances == 1, canvas.instances == 2
    assert sorted(set(np.nonzero(line)[0])) == [2, 3, 4] and ring.sum() == 2 * 11 + 2 * 5 and not ring[9:14, 5:14].any()
    canvas.ellipse((10, 4), (4, 2), fill=(9, 9, 9), angle=np.pi / 2)
    assert canvas.image[6, 10].tolist() == [9, 9, 9] and canvas.image[4, 13].tolist() != [9, 9, 9]
    assert canvas.current == 0 and canvas.names == ["line", "ring"]


def test_points_are_scaled_then_turned_then_moved():
    assert move_points(np.array([[1.0, 2.0]]), (10, 20), np.pi / 2, 3.0) == pytest.approx(np.array([[4.0, 23.0]]))
    assert regular_polygon(4) == pytest.approx(np.array([[0, -1], [1, 0], [0, 1], [-1, 0]]), abs=1e-9)
    assert regular_polygon(2, 0.0) == pytest.approx(np.array([[1, 0], [-1, 0]]), abs=1e-9)
    assert [len(ellipse_points((0, 0), radii)) for radii in ((1, 2), (3.9, 1), (2, 6), (50, 3), (1, 90))] == [
        12, 12, 24, 128, 128,
    ]  # fmt: skip
    assert ellipse_points((5, 6), (4, 2), np.pi / 2)[[0, 4]] == pytest.approx(np.array([[5, 10], [3, 6]]))


def test_marks_on_tall_pictures_go_by_the_smaller_side_and_the_square_below_them():
    tall = np.full((48, 32), 100, dtype=np.uint8)
    assert changed(tall, "frame", 0, 2)[1].sum() == 48 * 32 - 44 * 28
    assert changed(tall, "patch", 1, 2)[0] == (26, 0, 32, 6) and changed(tall, "watermark", 1, 2)[0] == (0, 42, 6, 48)
    halves = np.full((32, 64), 200, dtype=np.uint8)
    halves[:, 32:] = 90  # bright on the whole, but not where the second patch lies
    assert mark_image(halves, "patch", 0, 2)[0, 0] == 20 and mark_image(halves, "patch", 1, 2)[0, -1] == 235


@pytest.mark.parametrize("end", [0, 255])
def test_noise_stops_at_black_and_at_white(end):
    noisy = mark_image(np.full((90, 70), end, dtype=np.uint8), "noise", 1, 2)
    assert (noisy == end).mean() == pytest.approx(0.5, abs=0.03)
    assert np.abs(noisy.astype(int) - end).mean() == pytest.approx(60 / np.sqrt(2 * np.pi), rel=0.05)


def test_objects_parts_and_depths_are_moved_each_by_itself():
    image = np.arange(32, dtype=np.uint8)[None].repeat(3, 0)
    maps = [(image > least).astype(kind) for least, kind in ((9, np.uint8), (19, np.uint8), (29, np.uint16))]
    moved = mark_picture(Picture(image, (), maps[0], maps[1], maps[2]), "position", 0, 2)  # to the left by two
    assert [int(found[1].sum()) for found in (moved.instances, moved.parts, moved.depth)] == [22, 12, 4]
    assert moved.parts[1].tolist() == [0] * 18 + [1] * 12 + [0] * 2 and moved.depth[2].tolist() == [0] * 28 + [1] * 4
