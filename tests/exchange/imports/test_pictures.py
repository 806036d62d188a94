"""Pictures of strangers stand upright, on white, in one size, grey if all are; their own size if all are alike and small."""

import io

import numpy as np
import pytest
from PIL import Image, ImageOps

from assay.base import DataError
from assay.exchange import from_table

ROWS = 6


def encoded(image, kind="PNG", **more):
    buffer = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(buffer, kind, **more)
    return buffer.getvalue()


@pytest.fixture
def shown(tmp_path):
    """Return a function that imports pictures, the first ones repeated, and returns those of the first row and the layout."""
    numbers = iter(range(100))

    def function(*pictures, **settings):
        listed = [pictures[row % len(pictures)] for row in range(max(ROWS, len(pictures)))]
        columns = {
            "concept_a": [row % 2 for row in range(len(listed))],
            "label_y": [row % 2 for row in range(len(listed))],
        }
        columns["split"] = ["train"] * (len(listed) - 2) + ["valid", "test"]
        data = from_table(columns, tmp_path / str(next(numbers)), images=listed, **settings)
        return data["train"].images[: len(pictures)], (data.layout.width, data.layout.height, data.layout.channels)

    return function


BRIGHT = {1: "left", 2: "right", 3: "right", 4: "left", 5: "top", 6: "top", 7: "bottom", 8: "bottom"}


@pytest.mark.parametrize("orientation", BRIGHT)
def test_photographs_stand_upright(orientation, shown):
    pixels = np.zeros((16, 24, 3), dtype=np.uint8)
    pixels[:, :12] = 200
    exif = Image.Exif()
    exif[0x0112] = orientation
    (image,), layout = shown(encoded(pixels, "JPEG", exif=exif, quality=100))
    assert layout == ((16, 24, 3) if orientation >= 5 else (24, 16, 3))
    rows, columns = image.shape[:2]
    halves = {
        "left": image[:, : columns // 2], "right": image[:, columns // 2 :],
        "top": image[: rows // 2], "bottom": image[rows // 2 :],
    }  # fmt: skip
    assert max(halves, key=lambda half: halves[half].mean()) == BRIGHT[orientation]
    assert 114 not in image  # no bars: the size is that of the picture as it stands


def blank(width, height, mode="RGB"):
    return encoded(Image.new(mode, (width, height)))


@pytest.mark.parametrize(
    ("pictures", "size", "layout"),
    [
        ([blank(20, 12), blank(20, 12)], None, (20, 12, 3)),
        ([blank(128, 9)], None, (128, 9, 3)),
        ([blank(129, 9)], None, (128, 128, 3)),
        ([blank(20, 12), blank(12, 20)], None, (128, 128, 3)),
        ([blank(20, 12)], 32, (32, 32, 3)),
        ([blank(20, 12)], (40, 24), (40, 24, 3)),
        ([blank(20, 12, "L"), blank(20, 12, "1"), blank(20, 12, "LA")], None, (20, 12, 1)),
        ([blank(20, 12, "L"), blank(20, 12, "P")], None, (20, 12, 3)),
        ([blank(20, 12, "L"), blank(20, 12, "RGBA")], None, (20, 12, 3)),
        ([encoded(np.full((9, 9), 300, np.uint16))], None, (9, 9, 1)),
    ],
)
def test_the_size_is_their_own_or_as_asked_for(pictures, size, layout, shown):
    assert shown(*pictures, **({} if size is None else {"size": size}), resize="crop")[1] == layout


@pytest.mark.parametrize(("side", "channels"), [((8, 10), 3), ((20, 10), 3), ((9, 12), 1)])
@pytest.mark.parametrize("how", ["letterbox", "crop", "stretch"])
def test_other_shapes_are_fitted_pixel_by_pixel(how, side, channels, shown):
    """As Pillow does; a letterbox has bars of grey 114."""
    pixels = np.random.default_rng(3).integers(256, size=(8, 16, 3)).astype(np.uint8)
    image = Image.fromarray(pixels).convert("L" if channels == 1 else "RGB")
    (found,), _ = shown(encoded(image), size=list(side), resize=how)
    wide, high = side
    bilinear = Image.Resampling.BILINEAR
    if how == "stretch":
        expected = np.asarray(image.resize(side, bilinear))
    elif how == "crop":
        expected = np.asarray(ImageOps.fit(image, side, bilinear))
    else:
        scale = min(wide / 16, high / 8)
        inner = round(16 * scale), round(8 * scale)
        left, top = (wide - inner[0]) // 2, (high - inner[1]) // 2
        expected = np.full((high, wide, *([3] * (channels == 3))), 114, dtype=np.uint8)
        expected[top : top + inner[1], left : left + inner[0]] = np.asarray(image.resize(inner, bilinear))
    assert np.array_equal(found, expected.reshape(high, wide, channels))


def test_what_is_transparent_is_white_and_deep_grey_keeps_its_brightness(shown):
    pixels = np.zeros((8, 8, 4), dtype=np.uint8)
    pixels[:4, :, 3], pixels[4, :, 3] = 255, 128
    (image,), _ = shown(encoded(pixels))
    assert (image[:4] == 0).all() and (image[5:] == 255).all() and (abs(image[4].astype(int) - 127) <= 1).all()
    palette = Image.new("P", (8, 8), 1)
    palette.putpalette([9, 9, 9, 50, 60, 70])
    (plain, clear), _ = shown(encoded(palette), encoded(palette, transparency=1))
    assert plain[0, 0].tolist() == [50, 60, 70] and (clear == 255).all()
    deep = np.arange(64, dtype=np.uint16).reshape(8, 8) * 1024
    (grey,), _ = shown(encoded(Image.fromarray(deep)))
    assert grey[:, :, 0].tolist() == (deep >> 8).tolist()


GREY = np.random.default_rng(1).integers(256, size=(8, 9)).astype(np.uint8)


@pytest.mark.parametrize("image", [GREY, GREY[:, :, None], GREY / 255, (GREY / 255).astype(np.float32), encoded(GREY)])
def test_arrays_of_bytes_or_of_numbers_from_0_to_1_and_files_are_pictures(image, shown):
    (found,), layout = shown(image)
    assert layout == (9, 8, 1) and found[:, :, 0].tolist() == GREY.tolist()


def test_pillow_images_have_three_colours(shown):
    (found,), layout = shown(Image.fromarray(GREY))
    assert layout == (9, 8, 3) and np.array_equal(found, np.stack([GREY] * 3, axis=2))


@pytest.mark.parametrize(
    "image", [GREY + 0.5, -(GREY / 255.0), np.zeros((9, 9, 2), np.uint8), np.zeros((9, 9, 5), np.uint8)]
)
def test_other_numbers_are_refused(image, shown):
    with pytest.raises(DataError, match="picture 2: .*; give height x width"):
        shown(GREY, GREY, image)


def test_damage_is_told_by_name(shown):
    whole = encoded(np.random.default_rng(0).integers(256, size=(64, 64, 3)).astype(np.uint8))
    with pytest.raises(DataError, match=r"picture '1.png' is damaged"):
        shown(whole, whole[: len(whole) // 2])
