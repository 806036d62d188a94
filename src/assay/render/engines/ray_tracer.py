"""The embedded engine: a small ray tracer in compiled code that needs no display and always gives the same bytes."""

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.render.engines.antialiasing import looks_of, smoothed
from assay.render.engines.direct_lighting import lit
from assay.render.engines.gbuffer import Points, points_of
from assay.render.engines.indirect_lighting import around
from assay.render.engines.packed_scene import Packed, packed
from assay.render.engines.passes import shot_from
from assay.render.engines.rasterizer import seen
from assay.render.engines.reflections import backdrop, glowing, mirror, summed
from assay.render.engines.shadows import unblocked
from assay.render.scene import Scene, Shot


@dataclass(frozen=True)
class Effort:
    """How much work goes into a picture."""

    shadow: int
    """Rays to a light where its shadow has an edge, along either side of the light."""
    cell: int
    """Light from all sides is gathered at one of so many pixels along either side,"""
    gather: int
    """with so many rays, squared."""
    mirror: int
    """Rays that a metal sends out."""
    places: int
    """Looks at a pixel on an edge."""


EFFORTS = {
    "draft": Effort(shadow=2, cell=6, gather=3, mirror=3, places=4),
    "standard": Effort(shadow=2, cell=4, gather=4, mirror=8, places=8),
    "high": Effort(shadow=5, cell=3, gather=6, mirror=24, places=16),
}


def shot_of(scene: Scene, quality: str) -> Shot:
    """Return the scene's picture with what each pixel shows."""
    world = packed(scene)
    owner, tri, depth = seen(world, scene.width, scene.height)
    light = _light(world, points_of(world, owner, tri, depth), EFFORTS[quality])
    return shot_from(scene, light, owner, depth)


def labels_of(scene: Scene) -> Shot:
    """Return what each pixel shows, and no image."""
    owner, _, depth = seen(packed(scene), scene.width, scene.height)
    return shot_from(scene, np.zeros((0, 0, 3)), owner, depth)


def _light(world: Packed, points: Points, effort: Effort) -> Array:
    """Return the linear light of each pixel."""
    matt, shine, glow, base, rest = (np.zeros_like(points.at) for _ in range(5))
    lit(world, points, unblocked(world, points, effort.shadow), matt, shine)
    mean = (points.colour * matt).mean(axis=(0, 1))
    glowing(world, points, matt, matt, mean, True, glow)
    sides = around(world, points, glow, mean, effort.cell, effort.gather)
    glowing(world, points, matt, sides, mean, False, glow)
    mirrored = mirror(world, points, glow, mean, sides, effort.mirror)
    summed(world, points, matt, sides, shine, mirrored, base, rest)
    light: Array = points.colour * base + rest
    backdrop(world, points.owner, light)
    smoothed(world, points, base, rest, glow, mean, looks_of(world, points, effort.places), light)
    return light
