"""From render passes (linear light, instance ids, depth) to a shot: sRGB bytes, ids of objects and parts."""

from collections.abc import Sequence

import numpy as np

from assay.base import Array
from assay.render.scene import Scene, Shot


def unit_vector(vector: Sequence[float] | Array) -> Array:
    """Return a vector scaled to length 1."""
    array = np.asarray(vector, dtype=np.float64)
    whole: Array = array / np.linalg.norm(array)
    return whole


def look_axes(towards: Sequence[float] | Array, up: Sequence[float] = (0.0, 0.0, 1.0)) -> tuple[Array, Array, Array]:
    """Return the unit vectors right, up and forward of a camera or lamp that looks `towards` a direction."""
    forward = unit_vector(towards)
    if abs(float(forward @ unit_vector(up))) > 0.99999:  # straight up or down: then north is up
        up = (0.0, 1.0, 0.0)
    right = unit_vector(np.cross(forward, up))
    return right, np.cross(right, forward), forward


def shot_from_passes(scene: Scene, light: Array, owner: Array, depth: Array) -> Shot:
    """Return a shot, given each pixel's linear light, instance (the ground after the last, -1 for none) and depth."""
    things, parts = object_numbers(scene)
    return Shot(encode_srgb(light, scene.exposure), things[owner], parts[owner], depth)


def object_numbers(scene: Scene) -> tuple[Array, Array]:
    """Return the numbers of each instance's thing and part, with a 0 for the ground and one for the sky at the end."""
    things = {name: number for number, name in enumerate(scene.things, start=1)}
    parts = {name: number for number, name in enumerate(scene.parts, start=1)}
    first = [things.get(instance.thing, 0) for instance in scene.instances]
    second = [parts.get(instance.part_name, 0) for instance in scene.instances]
    return np.array([*first, 0, 0], dtype=np.int32), np.array([*second, 0, 0], dtype=np.int32)


def encode_srgb(light: Array, exposure: float) -> Array:
    """Return linear light as sRGB bytes."""
    steps = (np.clip(light * exposure, 0, 1) * (len(_CURVE) - 1) + 0.5).astype(np.int32)
    image: Array = _CURVE[steps]
    return image


def _curve() -> Array:
    light = np.arange(1 << 16) / ((1 << 16) - 1)
    bright = np.where(light <= 0.0031308, light * 12.92, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)
    return np.rint(bright * 255).astype(np.uint8)


_CURVE = _curve()
