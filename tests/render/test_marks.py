"""Marks change pictures as their codes say, differ by code, and leave what is in the middle."""

import numpy as np
import pytest

from assay.base import rng_for
from assay.render import MARK_NAMES, Box, ObjectBox, Picture, mark_area, mark_picture


def mark_image(image, name, code, count):
    """Return an image with a mark."""
    return mark_picture(Picture(image), name, code, count).image


def image(channels: int) -> np.ndarray:
    pixels = rng_for(0, "marks", channels).integers(0, 256, (32, 48, channels), dtype=np.uint8)
    return pixels[..., 0] if channels == 1 else pixels


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("name", MARK_NAMES)
def test_each_code_gives_another_picture_of_the_same_kind(name: str, count: int, channels: int) -> None:
    plain = image(channels)
    marked = [mark_image(plain, name, code, count) for code in range(count)]
    assert all(one.shape == plain.shape and one.dtype == np.uint8 for one in marked)
    for first in range(count):
        assert np.array_equal(marked[first], mark_image(plain, name, first, count))
        for second in range(first):
            assert not np.array_equal(marked[first], marked[second])
    assert np.array_equal(plain, image(channels))  # nothing is painted on what was given


@pytest.mark.parametrize("name", ["watermark", "frame", "patch"])
def test_small_marks_stay_at_the_edge(name: str) -> None:
    plain = image(3)
    for code in range(4):
        changed = (mark_image(plain, name, code, 4) != plain).any(axis=2)
        assert changed.mean() < 0.35 and not changed[8:-8, 8:-8].any()


def test_no_watermark_blur_noise_or_compression_at_the_first_code_and_no_dimming_at_the_last() -> None:
    plain = image(3)
    for name in ("watermark", "blur", "noise", "compression"):
        assert np.array_equal(mark_image(plain, name, 0, 3), plain)
    assert np.array_equal(mark_image(plain, "brightness", 2, 3), plain)


def test_a_patch_is_seen_on_dark_and_on_bright_paper() -> None:
    for paper in (0, 255):
        plain = np.full((32, 32), paper, dtype=np.uint8)
        assert np.abs(mark_image(plain, "patch", 0, 2).astype(int) - plain).max() > 200


def test_frames_of_grey_pictures_tell_codes_by_brightness_and_of_coloured_ones_by_colour() -> None:
    grey, colour = np.full((32, 48), 100, dtype=np.uint8), np.full((32, 48, 3), 100, dtype=np.uint8)
    assert np.all(np.diff([int(mark_image(grey, "frame", code, 3)[0, 0]) for code in range(3)]) > 80)
    assert [mark_image(colour, "frame", code, 3)[0, 0].argmax() for code in range(3)] == [0, 1, 2]
    changed = mark_image(grey, "frame", 0, 3) != grey
    assert changed.sum() == 48 * 32 - 44 * 28  # a sixteenth of the smaller side
    tiny = np.full((5, 5), 100, dtype=np.uint8)
    assert (mark_image(tiny, "frame", 1, 2) != tiny).sum() == 16  # never without a pixel


def test_patches_lie_side_by_side_at_the_upper_edge() -> None:
    plain = np.full((32, 48), 100, dtype=np.uint8)
    for code, left in enumerate((0, 14, 28, 42)):
        rows, columns = np.nonzero(mark_image(plain, "patch", code, 4) != plain)
        assert (rows.min(), rows.max(), columns.min(), columns.max()) == (0, 5, left, left + 5)
        assert len(rows) == 36


def test_darkness_noise_blur_and_compression_grow_with_the_code() -> None:
    flat = np.full((200, 200), 128, dtype=np.uint8)
    soft = np.add.outer(np.arange(40) * 3, np.arange(60) * 2)[..., None].repeat(3, 2).astype(np.uint8)
    for name, plain in (("brightness", flat), ("noise", flat), ("blur", image(3)), ("compression", soft)):
        apart = [np.abs(mark_image(plain, name, code, 4).astype(int) - plain).mean() for code in range(4)]
        assert np.all(np.diff(apart[::-1] if name == "brightness" else apart) > 0), name
    for code, strength in ((1, 30.0), (2, 60.0)):
        assert mark_image(flat, "noise", code, 3).astype(float).std() == pytest.approx(strength, rel=0.05)


def test_position_moves_by_a_sixteenth_to_either_side_and_repeats_the_edge() -> None:
    plain = np.arange(48, dtype=np.uint8)[None].repeat(4, 0)
    assert mark_image(plain, "position", 0, 3)[0].tolist() == [*range(3, 48), 47, 47, 47]
    assert (mark_image(plain, "position", 1, 3) == plain).all()
    assert mark_image(plain, "position", 2, 3)[0].tolist() == [0, 0, 0, *range(45)]
    masks = (plain > 40).astype(np.uint8)
    things = (ObjectBox("it", Box(41, 0, 48, 4)), ObjectBox("edge", Box(0, 1, 2, 3)))
    right, left = (mark_picture(Picture(plain, things, masks), "position", code, 3) for code in (2, 0))
    assert [thing.box for thing in right.things] == [Box(44, 0, 48, 4), Box(3, 1, 5, 3)]
    assert [thing.box for thing in left.things] == [Box(38, 0, 45, 4), Box(0, 1, 0, 3)]
    assert left.instances is not None and right.instances is not None
    assert left.instances[0].tolist() == [0] * 38 + [1] * 7 + [0] * 3  # nothing comes in
    assert right.instances[0].tolist() == [0] * 44 + [1] * 4


def test_masks_and_boxes_move_with_the_picture() -> None:
    masks = np.zeros((32, 48), dtype=np.uint8)
    masks[10:20, 20:30] = 1
    picture = Picture(image(3), (ObjectBox("a", Box(20, 10, 30, 20)),), masks, masks, masks.astype(np.uint16), "words")
    moved = mark_picture(picture, "position", 1, 2)
    assert moved.things[0].box == Box(23, 10, 33, 20) and moved.text == "words"
    assert moved.instances is not None and moved.parts is not None and moved.depth is not None
    for mask in (moved.instances, moved.parts, moved.depth):
        assert np.array_equal(np.flatnonzero(mask.any(axis=0)), np.arange(23, 33))
    assert np.array_equal(moved.image[:, 3:], picture.image[:, :-3])
    other = mark_picture(picture, "frame", 1, 2)
    assert other.things == picture.things and other.instances is masks
    assert mark_picture(Picture(text="only words"), "frame", 1, 2) == Picture(text="only words")


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("name", MARK_NAMES)
def test_the_area_of_a_mark_is_where_its_codes_differ_from_the_picture(name: str, channels: int) -> None:
    plain = image(channels)
    area = mark_area(name, 3, plain.shape)
    if name not in ("watermark", "frame", "patch"):
        assert area is None
        return
    changed = [mark_image(plain, name, code, 3) != plain for code in range(3)]
    seen = np.any(changed, axis=0) if channels == 1 else np.any(changed, axis=(0, 3))
    assert area is not None and area.shape == plain.shape[:2] and not (seen & ~area).any()
    assert area.sum() > 0 and seen.sum() > 0.95 * area.sum()  # a random pixel may have the mark's colour
