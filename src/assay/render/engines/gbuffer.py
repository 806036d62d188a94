"""The G-buffer: for each pixel the point of the scene that its middle shows, with normal and albedo."""

from typing import NamedTuple

import numpy as np

from assay.base import Array
from assay.render.engines.intersection import point_to_mesh, point_to_scene
from assay.render.engines.jit import kernel, subroutine
from assay.render.engines.packed_scene import PackedScene
from assay.render.engines.rasterizer import camera_ray
from assay.render.engines.shading import METAL, POLISHED, filter_texture


class GBuffer(NamedTuple):
    """For each pixel: instance (-1: sky), triangle, depth, position, normal, origin of shadow rays, albedo."""

    owner: Array
    tri: Array
    depth: Array
    at: Array
    normal: Array
    start: Array
    colour: Array


@subroutine
def barycentric_weights(w: PackedScene, i: int, k: int, x: float, y: float, z: float) -> tuple[float, float]:
    """Return the barycentric weights u and v of a point on triangle k of instance i."""
    t = w.solid.triangles
    x, y, z = point_to_mesh(w.solid.rows, i, x, y, z)
    x, y, z = x - t[k, 0], y - t[k, 1], z - t[k, 2]
    ux, uy, uz, vx, vy, vz = t[k, 3], t[k, 4], t[k, 5], t[k, 6], t[k, 7], t[k, 8]
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    pu, pv = x * ux + y * uy + z * uz, x * vx + y * vy + z * vz
    det = uu * vv - uv * uv
    if det <= 0:
        return 0.0, 0.0
    u, v = (pu * vv - pv * uv) / det, (pv * uu - pu * uv) / det
    u, v = min(max(u, 0.0), 1.0), min(max(v, 0.0), 1.0)
    return (u, v) if u + v <= 1 else (u / (u + v), v / (u + v))


@subroutine
def smooth_normal(w: PackedScene, i: int, k: int, u: float, v: float) -> tuple[float, float, float]:
    """Return the smooth normal of triangle k of instance i at edge weights u and v."""
    a, b, c = w.faces[k, 0], w.faces[k, 1], w.faces[k, 2]
    t, n = 1 - u - v, w.corners
    x = n[a, 3] * t + n[b, 3] * u + n[c, 3] * v
    y = n[a, 4] * t + n[b, 4] * u + n[c, 4] * v
    z = n[a, 5] * t + n[b, 5] * u + n[c, 5] * v
    return normal_to_scene(w, i, x, y, z)


@subroutine
def flat_normal(w: PackedScene, i: int, k: int) -> tuple[float, float, float]:
    """Return the normal of a triangle's plane."""
    t = w.solid.triangles
    ux, uy, uz, vx, vy, vz = t[k, 3], t[k, 4], t[k, 5], t[k, 6], t[k, 7], t[k, 8]
    return normal_to_scene(w, i, uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)


@subroutine
def normal_to_scene(w: PackedScene, i: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a mesh's normal as it stands in the scene, of length 1."""
    m = w.solid.rows
    a = m[i, 12] * x + m[i, 16] * y + m[i, 20] * z
    b = m[i, 13] * x + m[i, 17] * y + m[i, 21] * z
    c = m[i, 14] * x + m[i, 18] * y + m[i, 22] * z
    length = np.sqrt(a * a + b * b + c * c)
    if length == 0.0:
        return 0.0, 0.0, 1.0
    return a / length, b / length, c / length


@subroutine
def lift_to_smooth(
    w: PackedScene, i: int, k: int, u: float, v: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Return a point lifted to the curved surface that smooth normals imply, so that facets cast no shadows."""
    px = py = pz = 0.0
    for corner in range(3):
        n = w.faces[k, corner]
        weight = 1 - u - v if corner == 0 else (u if corner == 1 else v)
        cx, cy, cz = point_to_scene(w.solid.rows, i, w.corners[n, 0], w.corners[n, 1], w.corners[n, 2])
        a, b = (1.0 if corner == 1 else 0.0), (1.0 if corner == 2 else 0.0)
        nx, ny, nz = smooth_normal(w, i, k, a, b)
        below = min(0.0, (x - cx) * nx + (y - cy) * ny + (z - cz) * nz)
        px, py, pz = px - weight * below * nx, py - weight * below * ny, pz - weight * below * nz
    return x + px, y + py, z + pz


@subroutine
def facing_normal(
    w: PackedScene, i: int, k: int, x: float, y: float, z: float, dx: float, dy: float, dz: float
) -> tuple[float, float, float, float, float, float]:
    """Return the normal of a point seen along d, turned to the viewer, and the origin of shadow rays."""
    far = abs(x - w.frame[0]) + abs(y - w.frame[1]) + abs(z - w.frame[2])
    off = 1e-4 * far + 1e-6
    if i == len(w.solid.kind) - 1:
        side = 1.0 if dz < 0 else -1.0
        return 0.0, 0.0, side, x, y, z + side * off
    u, v = barycentric_weights(w, i, k, x, y, z)
    nx, ny, nz = smooth_normal(w, i, k, u, v)
    fx, fy, fz = flat_normal(w, i, k)
    px, py, pz = x, y, z
    if nx * fx + ny * fy + nz * fz < 0.99999:
        px, py, pz = lift_to_smooth(w, i, k, u, v, x, y, z)
    if fx * dx + fy * dy + fz * dz > 0:
        fx, fy, fz, nx, ny, nz = -fx, -fy, -fz, -nx, -ny, -nz
        px, py, pz = x, y, z
    return nx, ny, nz, px + fx * off, py + fy * off, pz + fz * off


def build_gbuffer(w: PackedScene, owner: Array, tri: Array, depth: Array) -> GBuffer:
    """Return what each pixel shows, as a point of the scene."""
    at, normal, start, colour = (np.zeros((*owner.shape, 3)) for _ in range(4))
    points = GBuffer(owner, tri, depth, at, normal, start, colour)
    fill_gbuffer(w, points)
    return points


@kernel
def fill_gbuffer(w: PackedScene, p: GBuffer) -> None:
    """Fill in place, normal, shadow start and colour of each pixel."""
    owner, tri, depth, at, normal, start, colours = p.owner, p.tri, p.depth, p.at, p.normal, p.start, p.colour
    height, width = owner.shape
    for y in range(height):
        for x in range(width):
            i = owner[y, x]
            dx, dy, dz, _ = camera_ray(w.frame, x + 0.5, y + 0.5)
            if i < 0:
                continue
            d = depth[y, x]
            px, py, pz = w.frame[0] + dx * d, w.frame[1] + dy * d, w.frame[2] + dz * d
            nx, ny, nz, sx, sy, sz = facing_normal(w, i, tri[y, x], px, py, pz, dx, dy, dz)
            at[y, x, 0], at[y, x, 1], at[y, x, 2] = px, py, pz
            normal[y, x, 0], normal[y, x, 1], normal[y, x, 2] = nx, ny, nz
            start[y, x, 0], start[y, x, 1], start[y, x, 2] = sx, sy, sz
            r, g, b = pixel_colour(w, i, x + 0.5, y + 0.5, px, py, pz, nx, ny, nz)
            colours[y, x, 0], colours[y, x, 1], colours[y, x, 2] = r, g, b


@subroutine
def pixel_colour(
    w: PackedScene, i: int, x: float, y: float, px: float, py: float, pz: float, nx: float, ny: float, nz: float
) -> tuple[float, float, float]:
    """Return the colour of instance i at point p, seen through pixel place (x, y); a texture over the whole pixel."""
    if w.solid.kind[i, 7] < 0:
        return w.solid.rows[i, 34], w.solid.rows[i, 35], w.solid.rows[i, 36]
    ax, ay, az = pixel_step(w, x + 1, y, px, py, pz, nx, ny, nz)
    bx, by, bz = pixel_step(w, x, y + 1, px, py, pz, nx, ny, nz)
    return filter_texture(w, i, px, py, pz, ax, ay, az, bx, by, bz)


@subroutine
def pixel_step(
    w: PackedScene, x: float, y: float, px: float, py: float, pz: float, nx: float, ny: float, nz: float
) -> tuple[float, float, float]:
    """Return the way from point p to where pixel place (x, y) looks on the plane through p with normal n."""
    dx, dy, dz, _ = camera_ray(w.frame, x, y)
    slope = dx * nx + dy * ny + dz * nz
    high = (px - w.frame[0]) * nx + (py - w.frame[1]) * ny + (pz - w.frame[2]) * nz
    if slope * high <= 0 or abs(slope) < 1e-9:  # this pixel looks past the horizon: as far as the last one
        return px - w.frame[0], py - w.frame[1], pz - w.frame[2]
    t = high / slope
    return w.frame[0] + dx * t - px, w.frame[1] + dy * t - py, w.frame[2] + dz * t - pz


@subroutine
def pixel_alpha(w: PackedScene, p: GBuffer, x: int, y: int) -> float:
    """Return the GGX alpha of a pixel; on a mirror, wider by how far its normals turn from pixel to pixel.

    After Tokuyoshi and Kaplanyan (2019): a highlight narrower than a pixel would come and go along a round edge.
    """
    i = p.owner[y, x]
    alpha: float = w.solid.rows[i, 38] ** 2
    if w.solid.rows[i, 37] < METAL or w.solid.rows[i, 38] >= POLISHED:
        return alpha
    height, width = p.owner.shape
    spread = 0.0
    for n in range(2):
        a, b = (x + 1 if x + 1 < width and p.owner[y, x + 1] == i else x - 1), y
        if n == 1:
            a, b = x, (y + 1 if y + 1 < height and p.owner[y + 1, x] == i else y - 1)
        if a >= 0 and b >= 0 and p.owner[b, a] == i:
            for c in range(3):
                spread += (p.normal[b, a, c] - p.normal[y, x, c]) ** 2
    wider: float = np.sqrt(alpha * alpha + min(spread / 6, 0.04))
    return wider
