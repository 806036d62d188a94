"""Pictures of strangers stand upright, on white, in one size, grey if all are; their own size if all are alike and small."""

import io

import numpy as np
import pytest
from PIL import Image, ImageOps

from assay.data.decoding import decode
from assay.data.imports.pictures import LARGEST, PictureFit, fit_for
from assay.errors import DataError
from assay.render import Layout


def encoded(image, kind="PNG", **more):
    buffer = io.BytesIO()
    (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(buffer, kind, **more)
    return buffer.getvalue()


def photograph(orientation):
    """Return a JPEG of 24 x 16 whose left half is bright, with an EXIF orientation."""
    image = np.zeros((16, 24, 3), dtype=np.uint8)
    image[:, :12] = 200
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(image, "JPEG", exif=exif, quality=100)


BRIGHT = {1: "left", 2: "right", 3: "right", 4: "left", 5: "top", 6: "top", 7: "bottom", 8: "bottom"}


@pytest.mark.parametrize("orientation", BRIGHT)
def test_photographs_stand_upright(orientation):
    data = photograph(orientation)
    fit = fit_for([data], ["x"], None, "letterbox")
    assert (fit.layout.width, fit.layout.height) == ((16, 24) if orientation >= 5 else (24, 16))
    image = decode(fit.encode(data, "x"))[:, :, 0].astype(int)
    rows, columns = image.shape
    halves = {
        "left": image[:, : columns // 2], "right": image[:, columns // 2 :],
        "top": image[: rows // 2], "bottom": image[rows // 2 :],
    }  # fmt: skip
    assert max(halves, key=lambda half: halves[half].mean()) == BRIGHT[orientation]
    assert 114 not in image  # no bars: the size is that of the picture as it stands


def sized(*sizes, grey=False):
    shapes = [(height, width) if grey else (height, width, 3) for width, height in sizes]
    return [encoded(np.zeros(shape, dtype=np.uint8)) for shape in shapes]


@pytest.mark.parametrize(
    ("pictures", "size", "layout"),
    [
        (sized((20, 12), (20, 12)), None, (20, 12, 3)),
        (sized((LARGEST, 9)), None, (LARGEST, 9, 3)),
        (sized((LARGEST + 1, 9)), None, (LARGEST, LARGEST, 3)),
        (sized((20, 12), (12, 20)), None, (LARGEST, LARGEST, 3)),
        (sized((20, 12)), 32, (32, 32, 3)),
        (sized((20, 12)), (40, 24), (40, 24, 3)),
        (sized((20, 12), grey=True), None, (20, 12, 1)),
        (sized((20, 12), grey=True) + sized((20, 12)), None, (20, 12, 3)),
    ],
)
def test_the_size_is_their_own_or_as_asked_for(pictures, size, layout):
    fit = fit_for(pictures, [str(n) for n in range(len(pictures))], size, "crop")
    assert (fit.layout.width, fit.layout.height, fit.layout.channels, fit.resize) == (*layout, "crop")


def test_what_is_transparent_is_white():
    pixels = np.zeros((8, 8, 4), dtype=np.uint8)
    pixels[:4, :, 3], pixels[4, :, 3] = 255, 128
    image = decode(PictureFit(Layout(8, 8, 3), "letterbox").encode(encoded(pixels), "x"))
    assert (image[:4] == 0).all() and (image[5:] == 255).all() and (abs(image[4].astype(int) - 127) <= 1).all()


def test_deep_grey_keeps_its_brightness():
    deep = (np.arange(64, dtype=np.uint16).reshape(8, 8)) * 1024
    image = decode(PictureFit(Layout(8, 8, 1), "letterbox").encode(encoded(Image.fromarray(deep)), "x"))
    assert image.reshape(8, 8).tolist() == (deep >> 8).tolist()
    assert fit_for([encoded(Image.fromarray(deep))], ["x"], None, "letterbox").layout.channels == 1


def test_policies_for_other_shapes():
    image = np.zeros((10, 20, 3), dtype=np.uint8)
    image[:, 10:] = 255
    fitted = {how: decode(PictureFit(Layout(10, 10, 3), how).encode(encoded(image), "x")) for how in ("letterbox", "crop", "stretch")}  # type: ignore[arg-type]  # fmt: skip
    assert (fitted["letterbox"][[0, 1, 8, 9]] == 114).all() and (fitted["letterbox"][2:8] != 114).any()
    assert (fitted["crop"][:, 0] == 0).all() and (fitted["crop"][:, 9] == 255).all()
    assert (fitted["stretch"][:, :4] < 20).all() and (fitted["stretch"][:, 6:] > 235).all()


def test_damage_is_told_by_name():
    data = encoded(np.random.default_rng(0).integers(256, size=(64, 64, 3)).astype(np.uint8))
    with pytest.raises(DataError, match="picture 'mine' is damaged"):
        PictureFit(Layout(8, 8, 3), "crop").encode(data[: len(data) // 2], "mine")


@pytest.mark.parametrize(("side", "channels"), [((8, 10), 3), ((10, 5), 3), ((5, 12), 1)])
def test_other_shapes_are_fitted_pixel_by_pixel(side, channels):
    pixels = np.random.default_rng(3).integers(256, size=(6, 12, 3)).astype(np.uint8)
    image = Image.fromarray(pixels).convert("L" if channels == 1 else "RGB")
    wide, high = side
    bilinear = Image.Resampling.BILINEAR

    def fitted(how):
        found = decode(PictureFit(Layout(wide, high, channels), how).encode(encoded(pixels), "x"))
        assert found.shape == (high, wide, channels)
        return found

    def plain(other):
        array = np.asarray(other)
        return array if channels == 3 else array[:, :, None]

    assert np.array_equal(fitted("stretch"), plain(image.resize(side, bilinear)))
    assert np.array_equal(fitted("crop"), plain(ImageOps.fit(image, side, bilinear)))
    scale = min(wide / 12, high / 6)
    inner = round(12 * scale), round(6 * scale)
    left, top = (wide - inner[0]) // 2, (high - inner[1]) // 2
    expected = np.full((high, wide, channels), 114, dtype=np.uint8)
    expected[top : top + inner[1], left : left + inner[0]] = plain(image.resize(inner, bilinear))
    assert np.array_equal(fitted("letterbox"), expected)


def test_pictures_of_the_right_size_stay_as_they_are_in_every_mode():
    grey = np.array([[0, 90, 180], [255, 7, 60]], dtype=np.uint8)
    clear = np.array([[255, 0, 128], [255, 255, 0]], dtype=np.uint8)
    both = Image.merge("LA", (Image.fromarray(grey), Image.fromarray(clear)))
    for how in ("letterbox", "crop", "stretch"):
        shown = decode(PictureFit(Layout(3, 2, 1), how).encode(encoded(both), "x"))[:, :, 0].astype(int)
        mixed = (grey.astype(int) * clear + 255 * (255 - clear.astype(int))) / 255
        assert np.abs(shown - mixed).max() <= 1 and shown[0, 0] == 0 and shown[0, 1] == 255 == shown[1, 2]
        colour = decode(PictureFit(Layout(3, 2, 3), how).encode(encoded(grey), "x"))
        assert np.array_equal(colour, np.repeat(grey[:, :, None], 3, axis=2))
        bits = decode(PictureFit(Layout(3, 2, 1), how).encode(encoded(Image.fromarray(grey > 100)), "x"))
        assert bits[:, :, 0].tolist() == [[0, 0, 255], [255, 0, 0]]
