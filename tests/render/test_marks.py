"""Marks change pictures as their codes say, differ by code, and leave what is in the middle."""

import numpy as np
import pytest

from assay.render import MARK_NAMES, Box, ObjectBox, Picture, mark_area, mark_image, mark_picture
from assay.seeds import rng_for


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
