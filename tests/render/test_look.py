"""The embedded engine draws the same pictures as before, pixel by pixel; what should differ raises tasks' versions.

Tasks are pinned as drafts (`tests/dataset/test_make.py`); here are the default quality and the highest one.
`python -m tests.render.test_look` draws them anew. Another processor may round a few pixels otherwise.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from assay.render import AreaLight, Camera, Ground, Material, Scene, Sky, Sun, Texture, shoot
from tests.render.test_engines import one, room

PICTURES = Path(__file__).parent / "pictures"
NOISE = Texture(np.random.default_rng(0).integers(0, 256, (64, 64, 3)).astype(np.uint8), (0.3, 0.1), (1.5, 0.8))


def mirrors() -> Scene:
    """Metal and gloss over a fine texture that runs to the horizon, a part of it in the shade of a wide lamp."""
    things = (
        one("ball", (-1.3, 0.4, 1), Material((0.95, 0.9, 0.8), 1.0, 0.05), "mirror"),
        one("ball", (1.2, -0.2, 0.6), Material((0.2, 0.5, 0.9), 0.0, 0.1), "gloss", scale=0.6),
        one("box", (0, 2.2, 0), Material((0.8, 0.3, 0.2), 0.6, 0.4), "box", turn=25, tilt=10, scale=0.5),
        one("square", (0.2, -1.4, 0.5), Material(texture=NOISE), "sheet", turn=20, tilt=60, scale=0.7),
    )
    lamp = AreaLight((2.0, -2.0, 3.0), (0.0, 0.0, 0.5), 1.6, 120.0, (1.0, 0.9, 0.8))
    return Scene(
        96, 72, Camera((0.5, -6, 1.4), (0, 0, 0.7), 45.0), things, (lamp, Sun((1, 1, 1.5), 0.8, 5.0)),
        Sky((0.1, 0.2, 0.5), (0.6, 0.6, 0.5), (0.1, 0.1, 0.1)), Ground(Material(texture=NOISE, roughness=0.3)),
    )  # fmt: skip


def fisheye() -> Scene:
    scene = room()
    return replace(scene, camera=replace(scene.camera, fov=120.0, projection="fisheye"))


CASES = {
    "room-standard": (room, "standard", 0.002),
    "mirrors-standard": (mirrors, "standard", 0.002),
    "fisheye-standard": (fisheye, "standard", 0.002),
    "mirrors-high": (lambda: replace(mirrors(), width=48, height=36), "high", 0.04),  # many rays add up rounding
}
"""The scene, its quality, and the share of pixels that may differ."""


@pytest.mark.parametrize("name", CASES)
def test_pictures_are_the_same_as_before(name: str) -> None:
    make, quality, share = CASES[name]
    drawn = shoot(make(), quality=quality).image.astype(int)
    known = np.asarray(Image.open(PICTURES / f"{name}.png")).astype(int)
    apart = np.abs(drawn - known).max(axis=2)
    assert (apart > 1).mean() < share, f"{(apart > 1).sum()} pixels differ, by up to {apart.max()}"


def main() -> None:
    """Draw the pictures anew."""
    for name, (make, quality, _) in CASES.items():
        Image.fromarray(shoot(make(), quality=quality).image).save(PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
