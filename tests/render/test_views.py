"""Small scenes with what others lack, in pixels, objects, parts and depths as they were before.

`python -m tests.render.test_views` draws them anew. Another processor may round a few pixels otherwise.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from assay.render import AreaLight, Camera, Ground, Material, Scene, Sky, Sun, Texture, picture_of
from tests.render.test_engines import DARK, one
from tests.render.test_look import NOISE, mirrors

PICTURES = Path(__file__).parent / "pictures"
SIZE = (60, 44)
BOARD = Texture(np.array([[[250, 40, 40], [30, 30, 200]], [[240, 220, 40], [20, 160, 60]]], np.uint8), (0, 0), (1, 0.5))


def above() -> Scene:
    """Straight down on lamps behind and before things, rough and smooth, one of them lit from within."""
    things = (
        one("cup", (-0.9, 0.5, 0), Material((0.8, 0.7, 0.3), 0.9, 0.35), "cup", "body", scale=(0.6, 0.8, 0.5)),
        one("ball", (0.9, 0.6, 0.5), Material((0.2, 0.7, 0.4), 0.0, 0.05), "ball", scale=0.5),
        one("box", (0.3, -0.9, 0.2), Material((0.9, 0.2, 0.1), roughness=0.9, emission=0.6), "box", turn=35, scale=0.3),
        one("square", (0.2, 0.1, 1.2), Material(texture=BOARD), "sheet", "top", turn=15, scale=(0.4, 0.3, 1)),
    )
    lamps = (AreaLight((1.5, 1.0, 2.6), (0, 0, 0), 0.8, 60.0), AreaLight((-2, -2, 1.5), (0, 0, 0.3), 0.3, 25.0))
    camera = Camera((0.1, 0, 5.5), (0.1, 0, 0), 38.0)
    return Scene(*SIZE, camera, things, lamps, DARK, Ground(Material((0.6, 0.6, 0.7), roughness=0.7), -0.1), 1.4)


def floating() -> Scene:
    """No ground: metal of three roughnesses under a sky of three colours, a narrow sun, and a tilted camera."""
    things = (
        one("ball", (-1.1, 0, 0.3), Material((0.9, 0.9, 0.9), 1.0, 0.02), "chrome", scale=0.7),
        one("ball", (0.6, 0.9, 0.5), Material((0.9, 0.6, 0.3), 1.0, 0.25), "copper", scale=(0.6, 0.6, 0.9)),
        one("box", (0.7, -0.9, -0.6), Material((0.5, 0.6, 0.9), 0.5, 0.6), "block", turn=20, tilt=35, scale=0.4),
    )
    camera = Camera((0.4, -5, 1.2), (0.0, 0, 0.2), 42.0, up=(0.25, 0, 1))
    return Scene(
        *SIZE, camera, things, (Sun((-1, -1.5, 1), 2.0, 0.5),), Sky((0.1, 0.3, 0.8), (0.7, 0.6, 0.5), (0.2, 0.1, 0.05))
    )


def near() -> Scene:
    """Things beside and behind the eye, a wall of fine texture that runs away, and a wide sun."""
    things = (
        one(
            "square", (1.0, 2.0, 1.0), Material(texture=NOISE, roughness=0.8), "wall", turn=80, tilt=90, scale=(4, 1, 1)
        ),
        one("box", (-0.8, -2.4, 0), Material((0.3, 0.8, 0.3)), "pillar", scale=(0.2, 0.2, 1.0)),
        one("cup", (0.1, 0.6, 0), Material((0.7, 0.3, 0.8), 0.2, 0.5), "cup", scale=0.35),
    )
    ground = Ground(Material(texture=BOARD, roughness=0.5))
    return Scene(
        *SIZE, Camera((-0.4, -3, 0.9), (0.2, 0, 0.5), 75.0), things, (Sun((1, -1, 1), 1.5, 12.0),), ground=ground
    )


VIEWS = {
    "above-high": (above, "high"),
    "floating-standard": (floating, "standard"),
    "near-draft": (near, "draft"),
    "near-fisheye": (lambda: replace(near(), camera=replace(near().camera, projection="fisheye", fov=150.0)), "draft"),
    "mirrors-high": (lambda: replace(mirrors(), width=48, height=36), "high"),
}
FARTHEST = 12.0


def maps_of(picture):
    """Return objects, parts and depth as an image, depth in 255ths of the farthest."""
    parts = np.zeros_like(picture.instances) if picture.parts is None else picture.parts
    return np.stack([picture.instances, parts, np.rint(picture.depth / 257)], axis=2).astype(np.uint8)


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_the_same_as_before(name):
    make, quality = VIEWS[name]
    picture = picture_of(make(), FARTHEST, quality=quality)
    known, maps = (np.asarray(Image.open(PICTURES / f"{name}{end}.png")).astype(int) for end in ("", "-maps"))
    apart = np.abs(picture.image.astype(int) - known).max(axis=2)
    grain = 0.04 if quality == "high" else 0.002  # many rays add up rounding where metal mirrors lamps
    assert (apart > 1).mean() < grain and apart.mean() < 5 * grain, f"by {apart.mean():.3f}, up to {apart.max()}"
    other = np.abs(maps_of(picture).astype(int) - maps)
    assert (other[..., :2] > 0).sum() <= 2 and (other[..., 2] > 0).sum() <= 8


def main() -> None:
    """Draw the pictures anew."""
    for name, (make, quality) in VIEWS.items():
        picture = picture_of(make(), FARTHEST, quality=quality)
        Image.fromarray(picture.image).save(PICTURES / f"{name}.png")
        Image.fromarray(maps_of(picture)).save(PICTURES / f"{name}-maps.png")


if __name__ == "__main__":
    main()
