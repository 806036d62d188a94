"""The engine `embedded`: a small ray tracer in compiled code that needs no display and always gives the same bytes.

At edges, pixels are sampled at several places, each lit like the nearest pixel of the same surface.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from assay.base import Array
from assay.render.engines.direct_lighting import add_direct_light, light_visibility
from assay.render.engines.gbuffer import GBuffer, build_gbuffer, facing_normal, pixel_colour
from assay.render.engines.indirect_lighting import (
    fill_diffuse,
    fill_sky,
    indirect_light,
    reflected_light,
    sum_light,
    trace_light,
)
from assay.render.engines.intersection import FAR
from assay.render.engines.jit import kernel, subroutine
from assay.render.engines.packed_scene import PackedScene, pack_scene
from assay.render.engines.rasterizer import (
    NEAR,
    bounds,
    camera_ray,
    cast_rays,
    edge_functions,
    in_view,
    project_instance,
    rasterize,
)
from assay.render.engines.shading import METAL, POLISHED, sky_radiance
from assay.render.scene import Scene, Shot, shot_from_passes

REACH = 0.75
"""The radius of the pixel filter, in pixels."""


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


class EdgeSamples(NamedTuple):
    """Edge pixels (y, x), sample places (x, y from the pixel's middle), and per sample instance, triangle and depth."""

    edge: Array
    places: Array
    owner: Array
    tri: Array
    depth: Array


def sample_edges(w: PackedScene, p: GBuffer, count: int) -> EdgeSamples:
    """Return what the edge pixels of a picture show at `count` samples each."""
    marks = np.zeros(p.owner.shape, np.uint8)
    mark_edges(w, p, marks)
    edge, places = np.ascontiguousarray(np.argwhere(marks)), sample_offsets(count)
    if w.frame[13] > 0:
        whole = (edge[:, None, ::-1] + 0.5 + places[None]).reshape(-1, 2)
        owner, tri, depth = (array.reshape(-1, count) for array in cast_rays(w, whole))
        return EdgeSamples(edge, places, owner, tri, depth)
    shape = (len(edge), count)
    owner, tri, depth = np.full(shape, -1), np.full(shape, -1), np.full(shape, np.inf)
    slots = np.full(p.owner.shape, -1)
    rasterize_samples(w, edge, places, slots, owner, tri, depth, np.zeros((len(w.corners), 3)), np.zeros((3, 4)))
    return EdgeSamples(edge, places, owner, tri, depth)


@cache
def sample_offsets(count: int) -> Array:
    """Return sample places in a pixel, x and y from its middle, spread as a Blackman-Harris filter of width 1.5."""
    x = np.linspace(-REACH, REACH, 2001)
    turn = np.pi * x / REACH
    window = 0.35875 + 0.48829 * np.cos(turn) + 0.14128 * np.cos(2 * turn) + 0.01168 * np.cos(3 * turn)
    share = np.cumsum(window) / window.sum()
    across = (np.arange(count) + 0.5) / count
    down = (0.5 + np.arange(count) * 0.6180339887498949) % 1.0
    return np.stack([np.interp(across, share, x), np.interp(down, share, x)], axis=1)


@kernel
def mark_edges(w: PackedScene, p: GBuffer, edge: Array) -> None:
    """Mark pixels where a neighbour shows another instance, another side or something behind."""
    height, width = p.owner.shape
    for y in range(height):
        for x in range(width):
            for n in range(2):
                a, b = x + 1 - n, y + n
                if a < width and b < height and surfaces_differ(w, p, x, y, a, b):
                    edge[y, x] = edge[b, a] = 1


@subroutine
def surfaces_differ(w: PackedScene, p: GBuffer, x: int, y: int, a: int, b: int) -> bool:
    """Whether two neighbouring pixels show different surfaces."""
    if p.owner[y, x] != p.owner[b, a]:
        return True
    if p.owner[y, x] < 0 or p.owner[y, x] == len(w.solid.kind) - 1:
        return False
    turn = lift = 0.0
    for c in range(3):
        turn += p.normal[y, x, c] * p.normal[b, a, c]
        lift += p.normal[y, x, c] * (p.at[b, a, c] - p.at[y, x, c])
    return turn < 0.9 or abs(lift) > 4 * p.depth[y, x] / w.frame[12]


@kernel
def rasterize_samples(
    w: PackedScene, edge: Array, places: Array, slots: Array, owner: Array, tri: Array, depth: Array,
    view: Array, matrix: Array,
) -> None:  # fmt: skip
    """Fill in for each edge pixel and each place in it (x, y from the middle) instance, triangle and depth."""
    height, width = slots.shape
    drop = w.frame[25] - w.frame[2]
    for n in range(len(edge)):
        slots[edge[n, 0], edge[n, 1]] = n
        for k in range(len(places)):
            _, _, dz, _ = camera_ray(w.frame, edge[n, 1] + 0.5 + places[k, 0], edge[n, 0] + 0.5 + places[k, 1])
            if w.frame[25] < FAR and dz * drop > 0:
                owner[n, k], depth[n, k] = len(w.solid.kind) - 1, drop / dz
    for i in range(len(w.solid.kind) - 1):
        if in_view(w, i, width, height):
            project_instance(w, i, view, matrix)
            for k in range(w.solid.kind[i, 1], w.solid.kind[i, 1] + w.solid.kind[i, 2]):
                fill_samples(view, w.faces, k, i, w.solid.kind[i, 5] > 0, slots, places, owner, tri, depth)


@subroutine
def fill_samples(
    view: Array, faces: Array, k: int, i: int, one_sided: bool, slots: Array, places: Array, owner: Array,
    tri: Array, depth: Array,
) -> None:  # fmt: skip
    """Draw triangle k of instance i at the places of edge pixels where it is the nearest so far."""
    height, width = slots.shape
    a, b, c = faces[k, 0], faces[k, 1], faces[k, 2]
    det, ux, uy, uz, vx, vy, vz, wx, wy, wz = edge_functions(view, a, b, c, one_sided)
    if det == 0.0:
        return
    left, top, right, bottom = bounds(view, a, b, c, width, height)
    x0, x1 = max(0, int(np.ceil(left - 0.5 - REACH))), min(width - 1, int(np.floor(right - 0.5 + REACH)))
    y0, y1 = max(0, int(np.ceil(top - 0.5 - REACH))), min(height - 1, int(np.floor(bottom - 0.5 + REACH)))
    sign = 1.0 if det > 0 else -1.0
    for y in range(y0, y1 + 1):
        for x in range(x0, x1 + 1):
            n = slots[y, x]
            if n < 0:
                continue
            for m in range(len(places)):
                px, py = x + 0.5 + places[m, 0], y + 0.5 + places[m, 1]
                e, f, g = ux * px + uy * py + uz, vx * px + vy * py + vz, wx * px + wy * py + wz
                if e * sign >= 0 and f * sign >= 0 and g * sign >= 0:
                    total = e + f + g
                    if total == 0.0:
                        continue
                    z = det / total
                    if NEAR < z < depth[n, m]:
                        owner[n, m], tri[n, m], depth[n, m] = i, k, z


def smooth_edges(
    w: PackedScene, p: GBuffer, base: Array, rest: Array, radiance: Array, mean: Array, k: EdgeSamples, light: Array
) -> None:
    """Replace the light of edge pixels by the mean over their samples."""
    lent, rays = np.zeros((*k.owner.shape, 3)), np.zeros((*k.owner.shape, 7))
    borrow_light(w, p, base, rest, k, lent, rays)
    alone = np.argwhere(rays[..., 6] > 0)
    lent[alone[:, 0], alone[:, 1]] = trace_light(w, p, radiance, mean, rays[alone[:, 0], alone[:, 1]])
    light[k.edge[:, 0], k.edge[:, 1]] = lent.mean(axis=1)


@kernel
def borrow_light(
    w: PackedScene, p: GBuffer, base: Array, rest: Array, k: EdgeSamples, lent: Array, rays: Array
) -> None:
    """Fill in the light of each sample from a pixel near by; where none shows the same surface, a ray from the eye."""
    for n in range(len(k.edge)):
        for m in range(len(k.places)):
            a, b = k.edge[n, 1] + 0.5 + k.places[m, 0], k.edge[n, 0] + 0.5 + k.places[m, 1]
            dx, dy, dz, good = camera_ray(w.frame, a, b)
            if good == 0:
                continue
            i = k.owner[n, m]
            if i < 0:
                lent[n, m, 0], lent[n, m, 1], lent[n, m, 2] = sky_radiance(w, dx, dy, dz)
                continue
            d = k.depth[n, m]
            x, y, z = w.frame[0] + dx * d, w.frame[1] + dy * d, w.frame[2] + dz * d
            nx, ny, nz, _, _, _ = facing_normal(w, i, k.tri[n, m], x, y, z, dx, dy, dz)
            column, row = nearest_lender(w, p, i, x, y, z, nx, ny, nz, d, a, b)
            if column < 0:
                rays[n, m, 0], rays[n, m, 1], rays[n, m, 2] = w.frame[0], w.frame[1], w.frame[2]
                rays[n, m, 3], rays[n, m, 4], rays[n, m, 5], rays[n, m, 6] = dx, dy, dz, 1.0
                continue
            r, g, c = p.colour[row, column, 0], p.colour[row, column, 1], p.colour[row, column, 2]
            if w.solid.kind[i, 7] >= 0:
                r, g, c = pixel_colour(w, i, a, b, x, y, z, nx, ny, nz)
            lent[n, m, 0] = r * base[row, column, 0] + rest[row, column, 0]
            lent[n, m, 1] = g * base[row, column, 1] + rest[row, column, 1]
            lent[n, m, 2] = c * base[row, column, 2] + rest[row, column, 2]


@subroutine
def nearest_lender(
    w: PackedScene, p: GBuffer, i: int, x: float, y: float, z: float, nx: float, ny: float, nz: float, d: float,
    a: float, b: float,
) -> tuple[int, int]:  # fmt: skip
    """Return the nearest pixel that shows the same surface as a place, or (-1, -1)."""
    height, width = p.owner.shape
    best, column, row = 1e9, -1, -1
    u, v = int(np.floor(a)), int(np.floor(b))
    mirror = w.solid.rows[i, 37] >= METAL and w.solid.rows[i, 38] < POLISHED
    least = -1.0 if mirror else 0.8  # a ray from the eye would lack the lamps' highlights, and leave a dark dot
    for q in range(max(v - 1, 0), min(v + 2, height)):
        for o in range(max(u - 1, 0), min(u + 2, width)):
            if p.owner[q, o] != i:
                continue
            turn = nx * p.normal[q, o, 0] + ny * p.normal[q, o, 1] + nz * p.normal[q, o, 2]
            lift = (p.at[q, o, 0] - x) * nx + (p.at[q, o, 1] - y) * ny + (p.at[q, o, 2] - z) * nz
            if turn < least or abs(lift) > 6 * d / w.frame[12]:
                continue
            off = (o + 0.5 - a) ** 2 + (q + 0.5 - b) ** 2 + 4 * (1 - turn)
            if off < best:
                best, column, row = off, o, q
    return column, row
