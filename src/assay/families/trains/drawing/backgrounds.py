"""What trains stand in: a studio, or a desert seen from above, at eye level, or through a fisheye lens."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from assay.base import Array, rng_for
from assay.render import AreaLight, Camera, Ground, Material, Sky, Sun, Texture, linear_rgb

FOV = 49.134
"""The horizontal angle of a lens of 35 mm on a sensor of 32 mm."""
FISHEYE = 98.03
"""That of an equisolid lens of 15 mm on a sensor of 24.89 mm."""
TILE, TEXELS = 24.0, 768


@dataclass(frozen=True)
class Surroundings:
    """All of a scene but the train."""

    camera: Camera
    lights: tuple[AreaLight | Sun, ...]
    sky: Sky
    ground: Ground
    exposure: float


@cache
def surroundings(background: str) -> Surroundings:
    """Return the stage of a background."""
    if background == "base":
        return _studio()
    camera = {
        "desert": Camera((0.0, 11.0, 4.0), (0.0, 0.0, 0.0), FOV),
        "desert_sky": Camera((0.0, 11.0, 3.0), (0.0, 0.0, 1.1), FOV),
        "fisheye": Camera((0.0, 7.0, 3.0), (0.0, 0.0, 0.5), FISHEYE, projection="fisheye"),
    }[background]
    return _desert(camera)


def _studio() -> Surroundings:
    middle = (0.0, 0.0, 0.0)
    lights = (AreaLight((6.5, 6.5, 6.0), middle, 3.0, 760.0), AreaLight((-6.5, 4.0, 5.5), middle, 4.0, 420.0))
    ground = Ground(Material(linear_rgb(176, 178, 182), roughness=0.9))
    return Surroundings(
        Camera((0.0, 11.0, 4.0), middle, FOV), lights, Sky((0.42,) * 3, (0.42,) * 3, (0.3,) * 3), ground, 1.0
    )


def _desert(camera: Camera) -> Surroundings:
    sun = Sun((-0.55, 0.6, 0.75), 3.0, angle=1.0, color=(1.0, 0.95, 0.86))
    sky = Sky(zenith=(0.11, 0.27, 0.62), horizon=(0.55, 0.68, 0.82), below=(0.4, 0.31, 0.2))
    sand = Material(roughness=1.0, texture=Texture(_sand(), (-TILE / 2, -TILE / 2), (TILE, TILE)))
    return Surroundings(camera, (sun,), sky, Ground(sand), 1.0)


@cache
def _sand() -> Array:
    """Return a square of sand that repeats: soft patches, and ripples that the wind has drawn."""
    rng = rng_for(0, "trains", "sand")
    patches: Array = np.sum([_noise(rng, waves) / waves**0.6 for waves in (3, 6, 12, 24, 96, 300)], axis=0)
    rows, columns = np.mgrid[0:TEXELS, 0:TEXELS] * (2 * np.pi / TEXELS)
    bend = _noise(rng, 5)
    ripples = np.sin(34 * rows + 6 * columns + 2.2 * bend) * (0.6 + 0.4 * np.tanh(_noise(rng, 4)))
    light = 1.0 + 0.075 * patches / patches.std() + 0.04 * ripples
    colour: Array = np.clip(np.array([206, 164, 112]) * light[:, :, None], 0, 255).astype(np.uint8)
    return colour


def _noise(rng: np.random.Generator, waves: int) -> Array:
    """Return smooth noise of about so many waves across, periodic, of standard deviation 1."""
    white = np.fft.rfft2(rng.standard_normal((TEXELS, TEXELS)))
    high = np.fft.fftfreq(TEXELS, 1 / TEXELS)[:, None]
    wide = np.fft.rfftfreq(TEXELS, 1 / TEXELS)[None, :]
    gains = np.exp(-((np.hypot(high, wide) / waves) ** 2))
    noise = np.fft.irfft2(white * gains, s=(TEXELS, TEXELS))
    smooth: Array = (noise - noise.mean()) / noise.std()
    return smooth
