"""PNG files hold the pixels that went in, as any reader sees them."""

import io

import numpy as np
import pytest
from PIL import Image

from assay.data.dataset import decode
from assay.render.picture import Box, Layout
from assay.render.png import encode_png
from assay.seeds import rng_for


@pytest.mark.parametrize("shape", [(1, 1), (28, 56), (1, 64), (300, 200), (28, 28, 1), (5, 7, 3), (120, 360, 3)])
@pytest.mark.parametrize("high", [2, 256])
def test_pixels_come_back(shape: tuple[int, ...], high: int) -> None:
    image = rng_for(0, "png", shape, high).integers(high, size=shape).astype(np.uint8)
    with Image.open(io.BytesIO(encode_png(image))) as opened:
        opened.verify()  # the checksums
    with Image.open(io.BytesIO(encode_png(image))) as opened:
        assert (np.asarray(opened).ravel() == image.ravel()).all() and opened.size == (shape[1], shape[0])
    back = decode(encode_png(image))
    assert back.ndim == 3 and (back == image.reshape(back.shape)).all()


def test_strided_pixels_come_back() -> None:
    image = np.arange(200, dtype=np.uint8).reshape(10, 20)[::2, ::-3]
    assert (decode(encode_png(image))[:, :, 0] == image).all()


@pytest.mark.parametrize("image", [np.zeros((2, 2)), np.zeros((2, 2, 4), np.uint8), np.zeros((2, 2, 2), np.uint8)])
def test_other_arrays_are_no_pictures(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match="1 or 3 channels"):
        encode_png(image)


def test_layout_is_read_back_and_cuts() -> None:
    layout = Layout(56, 28, 1, {"a": Box(0, 0, 28, 28), "b": Box(28, 0, 56, 28)})
    assert Layout.from_dict(layout.to_dict()) == layout
    assert (layout.regions["b"].crop(np.arange(56)[None, :].repeat(28, 0)) == np.arange(28, 56)).all()
