"""The engine `embedded`: a small ray tracer in compiled code that needs no display and always gives the same bytes."""

from dataclasses import dataclass

import numpy as np

from assay.base import Array
from assay.render.engines.antialiasing import sample_edges, smooth_edges
from assay.render.engines.direct_lighting import add_direct_light
from assay.render.engines.gbuffer import GBuffer, build_gbuffer
from assay.render.engines.indirect_lighting import indirect_light
from assay.render.engines.packed_scene import PackedScene, pack_scene
from assay.render.engines.passes import shot_from_passes
from assay.render.engines.rasterizer import rasterize
from assay.render.engines.reflections import fill_diffuse, fill_sky, reflected_light, sum_light
from assay.render.engines.shadows import light_visibility
from assay.render.scene import Scene, Shot


@dataclass(frozen=True)
class SampleCounts:
    """How many samples of each kind a picture gets."""

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


SAMPLE_COUNTS = {
    "draft": SampleCounts(shadow=2, cell=6, gather=3, mirror=3, places=4),
    "standard": SampleCounts(shadow=2, cell=4, gather=4, mirror=8, places=8),
    "high": SampleCounts(shadow=5, cell=3, gather=6, mirror=24, places=16),
}


def trace_scene(scene: Scene, quality: str) -> Shot:
    """Return the scene's picture with what each pixel shows."""
    world = pack_scene(scene)
    owner, tri, depth = rasterize(world, scene.width, scene.height)
    light = _light(world, build_gbuffer(world, owner, tri, depth), SAMPLE_COUNTS[quality])
    return shot_from_passes(scene, light, owner, depth)


def trace_labels(scene: Scene) -> Shot:
    """Return what each pixel shows, and no image."""
    owner, _, depth = rasterize(pack_scene(scene), scene.width, scene.height)
    return shot_from_passes(scene, np.zeros((0, 0, 3)), owner, depth)


def _light(world: PackedScene, points: GBuffer, effort: SampleCounts) -> Array:
    """Return the linear light of each pixel."""
    diffuse, specular, radiance, base, rest = (np.zeros_like(points.at) for _ in range(5))
    add_direct_light(world, points, light_visibility(world, points, effort.shadow), diffuse, specular)
    mean = (points.colour * diffuse).mean(axis=(0, 1))
    fill_diffuse(world, points, diffuse, diffuse, mean, True, radiance)
    indirect = indirect_light(world, points, radiance, mean, effort.cell, effort.gather)
    fill_diffuse(world, points, diffuse, indirect, mean, False, radiance)
    reflected = reflected_light(world, points, radiance, mean, indirect, effort.mirror)
    sum_light(world, points, diffuse, indirect, specular, reflected, base, rest)
    light: Array = points.colour * base + rest
    fill_sky(world, points.owner, light)
    smooth_edges(world, points, base, rest, radiance, mean, sample_edges(world, points, effort.places), light)
    return light
