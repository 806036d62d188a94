"""Indirect lighting: light of other surfaces and of the sky, gathered at a few pixels and interpolated over the rest.

A ray that hits a point which the camera sees too takes the radiance that was computed there.
"""

import numpy as np

from assay.base import Array
from assay.render.engines.brdf import sample_cosine, sample_ggx
from assay.render.engines.bvh import FAR
from assay.render.engines.direct_lighting import irradiance, light_point
from assay.render.engines.gbuffer import GBuffer, facing_normal
from assay.render.engines.hash_noise import KEYS_PER_PIXEL, hash_noise
from assay.render.engines.intersection import hit_scene, scene_blocks
from assay.render.engines.jit import kernel, subroutine
from assay.render.engines.packed_scene import PackedScene
from assay.render.engines.rasterizer import project_point
from assay.render.engines.textures import sky_radiance, surface_colour


def indirect_light(w: PackedScene, p: GBuffer, radiance: Array, mean: Array, size: int, side: int) -> Array:
    """Return the indirect irradiance of each pixel, by final gathering."""
    height, width = p.owner.shape
    rows, columns = (np.minimum(np.arange(size // 2, most + size // 2, size), most - 1) for most in (height, width))
    middles = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1)
    cells = gather_light(w, p, radiance, mean, middles.reshape(-1, 2), side).reshape(*middles.shape[:2], 3)
    out, left = np.zeros((height, width, 3)), np.zeros((height, width), np.uint8)
    calm = np.zeros_like(cells)
    smooth_cells(w, p, middles, cells, size, calm)
    interpolate_cells(w, p, calm, size, out, left)
    mark_followers(p, left)
    lone = np.argwhere(left == 1)
    out[lone[:, 0], lone[:, 1]] = gather_light(w, p, radiance, mean, lone, max(side - 1, 2))
    copy_to_followers(p, left, out)
    return out


def gather_light(w: PackedScene, p: GBuffer, radiance: Array, mean: Array, pixels: Array, side: int) -> Array:
    """Return the mean light on the surfaces of pixels (y, x), by side x side rays each."""
    pixels = np.ascontiguousarray(pixels)
    rays = np.zeros((len(pixels) * side * side, 7))
    scatter_rays(p, pixels, side, rays)
    light: Array = trace_light(w, p, radiance, mean, rays).reshape(len(pixels), side * side, 3).mean(axis=1)
    visible: Array = light * (p.owner[pixels[:, 0], pixels[:, 1]] >= 0)[:, None]
    return visible


def trace_light(w: PackedScene, p: GBuffer, radiance: Array, mean: Array, rays: Array) -> Array:
    """Return the radiance along each ray: origin, direction, how many reflections on metal may follow."""
    out = np.zeros((len(rays), 3))
    trace_rays(w, p, radiance, mean, rays, out)
    return out


@subroutine
def ambient(w: PackedScene, mean: Array, c: int, nz: float) -> float:
    """Return an estimate of the ambient light on a surface whose normal has the height nz."""
    up = (w.frame[16 + c] + w.frame[19 + c]) / 2
    return 0.7 * (up * (1 + nz) / 2 + mean[c] * (1 - nz) / 2)


@subroutine
def visible_pixel(w: PackedScene, p: GBuffer, i: int, x: float, y: float, z: float) -> tuple[int, int]:
    """Return the pixel that shows this point of instance i, or (-1, -1)."""
    height, width = p.owner.shape
    a, b, far = project_point(w.frame, x, y, z)
    if far <= 0 or a < 0 or b < 0 or a >= width or b >= height:
        return -1, -1
    column, row = int(a), int(b)
    if p.owner[row, column] != i or abs(p.depth[row, column] - far) > 0.01 * far:
        return -1, -1
    return column, row


@subroutine
def outgoing_light(
    w: PackedScene, p: GBuffer, radiance: Array, mean: Array, i: int, k: int, x: float, y: float, z: float,
    dx: float, dy: float, dz: float, reach: float, seed: int,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the diffuse radiance of a point of instance i that a ray along d hits."""
    column, row = visible_pixel(w, p, i, x, y, z)
    if column >= 0:
        return radiance[row, column, 0], radiance[row, column, 1], radiance[row, column, 2]
    return estimate_outgoing(w, mean, i, k, x, y, z, dx, dy, dz, reach, seed)


@subroutine
def estimate_outgoing(
    w: PackedScene, mean: Array, i: int, k: int, x: float, y: float, z: float, dx: float, dy: float, dz: float,
    reach: float, seed: int,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the diffuse radiance of a point of instance i: lamps with a shadow ray each, plus ambient light."""
    nx, ny, nz, sx, sy, sz = facing_normal(w, i, k, x, y, z, dx, dy, dz)
    r, g, b = ambient(w, mean, i * 0, nz), ambient(w, mean, i * 0 + 1, nz), ambient(w, mean, i * 0 + 2, nz)
    for lamp in range(len(w.lights)):
        light = irradiance(w, lamp, sx, sy, sz, nx, ny, nz) / np.pi
        if light <= 0:
            continue
        s, t = 2 * hash_noise(seed * 16 + lamp) - 1, 2 * hash_noise(seed * 16 + lamp + 8) - 1
        ex, ey, ez, far, _ = light_point(w, lamp, s, t, sx, sy, sz)
        if not scene_blocks(w.solid, sx, sy, sz, ex, ey, ez, far * 0.9999):
            r, g, b = r + light * w.lights[lamp, 13], g + light * w.lights[lamp, 14], b + light * w.lights[lamp, 15]
    red, green, blue = surface_colour(w, i, x, y, z, reach)
    own = w.solid.rows[i, 39]
    keep = 0.96 - 0.36 * w.solid.rows[i, 37]
    return red * (r * keep + own), green * (g * keep + own), blue * (b * keep + own)


@subroutine
def incoming_light(
    w: PackedScene, p: GBuffer, radiance: Array, mean: Array, x: float, y: float, z: float,
    dx: float, dy: float, dz: float, throws: float, seed: int,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the radiance that reaches a point from direction d; metal on the way reflects it up to `throws` times."""
    fr = fg = fb = 1.0
    while True:
        t, i, k, _, _ = hit_scene(w.solid, w.frame[25], x, y, z, dx, dy, dz, FAR, False)
        if i < 0:
            r, g, b = sky_radiance(w, dx, dy, dz)
            return r * fr, g * fg, b * fb
        x, y, z = x + dx * t, y + dy * t, z + dz * t
        if throws > 0.5 and w.solid.rows[i, 37] > 0.5:
            throws -= 1.0
            nx, ny, nz, sx, sy, sz = facing_normal(w, i, k, x, y, z, dx, dy, dz)
            r, g, b = surface_colour(w, i, x, y, z, 0.0)
            fr, fg, fb = fr * r, fg * g, fb * b
            alpha = w.solid.rows[i, 38] ** 2
            s, v = hash_noise(seed * 16 + 9 + int(throws)), hash_noise(seed * 16 + 12 + int(throws))
            dx, dy, dz = sample_ggx(nx, ny, nz, -dx, -dy, -dz, alpha, s, v)
            x, y, z = sx, sy, sz
            continue
        r, g, b = outgoing_light(w, p, radiance, mean, i, k, x, y, z, dx, dy, dz, 0.02 * t, seed)
        return r * fr, g * fg, b * fb


@kernel
def trace_rays(w: PackedScene, p: GBuffer, radiance: Array, mean: Array, rays: Array, out: Array) -> None:
    """Fill in the radiance of each ray; a ray without a direction has none."""
    for n in range(len(rays)):
        if rays[n, 3] == 0.0 and rays[n, 4] == 0.0 and rays[n, 5] == 0.0:
            continue
        out[n, 0], out[n, 1], out[n, 2] = incoming_light(
            w,
            p,
            radiance,
            mean,
            rays[n, 0],
            rays[n, 1],
            rays[n, 2],
            rays[n, 3],
            rays[n, 4],
            rays[n, 5],
            rays[n, 6],
            n + 0,
        )


@kernel
def scatter_rays(p: GBuffer, pixels: Array, side: int, rays: Array) -> None:
    """Fill in side x side cosine-weighted rays from the surface of each pixel."""
    for m in range(len(pixels)):
        y, x = pixels[m, 0], pixels[m, 1]
        if p.owner[y, x] < 0:
            continue
        key = (y * p.owner.shape[1] + x) * KEYS_PER_PIXEL
        for k in range(side * side):
            s = ((k % side) + hash_noise(key + 640 + k)) / side
            t = ((k // side) + hash_noise(key + 704 + k)) / side
            n = m * side * side + k
            rays[n, 3], rays[n, 4], rays[n, 5] = sample_cosine(
                p.normal[y, x, 0], p.normal[y, x, 1], p.normal[y, x, 2], s, t
            )
            for c in range(3):
                rays[n, c] = p.start[y, x, c]


@subroutine
def leading_pixel(p: GBuffer, left: Array, x: int, y: int) -> tuple[int, int]:
    """Return the first pixel in this one's 2 x 2 square that lacks light and shows the same surface; maybe itself."""
    n = p.normal
    for b in range(y & ~1, y + 1):
        for a in range(x & ~1, min((x & ~1) + 2, left.shape[1])):
            turn = n[y, x, 0] * n[b, a, 0] + n[y, x, 1] * n[b, a, 1] + n[y, x, 2] * n[b, a, 2]
            if left[b, a] == 1 and p.owner[b, a] == p.owner[y, x] and turn > 0.8:
                return a, b
    return x, y


@kernel
def mark_followers(p: GBuffer, left: Array) -> None:
    """Of the pixels that lack light (1), mark with 2 those that can copy that of another in their 2 x 2 square."""
    for y in range(left.shape[0]):
        for x in range(left.shape[1]):
            if left[y, x] == 1:
                a, b = leading_pixel(p, left, x, y)
                if a != x or b != y:
                    left[y, x] = 2


@kernel
def copy_to_followers(p: GBuffer, left: Array, out: Array) -> None:
    """Copy light to the pixels marked 2."""
    for y in range(left.shape[0]):
        for x in range(left.shape[1]):
            if left[y, x] == 2:
                a, b = leading_pixel(p, left, x, y)
                for c in range(3):
                    out[y, x, c] = out[b, a, c]


@subroutine
def similarity(w: PackedScene, p: GBuffer, x: int, y: int, a: int, b: int, near: float) -> float:
    """Return the weight of pixel (a, b)'s light for pixel (x, y): 1 on the same plane, less elsewhere."""
    if p.owner[b, a] < 0:
        return 0.0
    n = p.normal
    turn = n[y, x, 0] * n[b, a, 0] + n[y, x, 1] * n[b, a, 1] + n[y, x, 2] * n[b, a, 2]
    if turn < 0.6:
        return 0.0
    lift = 0.0
    for c in range(3):
        lift += n[y, x, c] * (p.at[b, a, c] - p.at[y, x, c])
    apart = abs(lift) / near
    if apart > 1:
        return 0.0
    turn *= turn
    turn *= turn
    return (1 - apart) * turn * turn


@kernel
def smooth_cells(w: PackedScene, p: GBuffer, middles: Array, cells: Array, size: int, calm: Array) -> None:
    """Fill in the light of each cell, averaged with its neighbours on the same surface."""
    for j in range(cells.shape[0]):
        for i in range(cells.shape[1]):
            y, x = middles[j, i, 0], middles[j, i, 1]
            if p.owner[y, x] < 0:
                continue
            near = 2 * size * p.depth[y, x] / w.frame[12]
            total = r = g = b = 0.0
            for m in range(max(j - 2, 0), min(j + 3, cells.shape[0])):
                for n in range(max(i - 2, 0), min(i + 3, cells.shape[1])):
                    weight = similarity(w, p, x, y, middles[m, n, 1], middles[m, n, 0], near)
                    total += weight
                    r, g, b = r + weight * cells[m, n, 0], g + weight * cells[m, n, 1], b + weight * cells[m, n, 2]
            calm[j, i, 0], calm[j, i, 1], calm[j, i, 2] = r / total, g / total, b / total


@kernel
def interpolate_cells(w: PackedScene, p: GBuffer, cells: Array, size: int, out: Array, left: Array) -> None:
    """Fill in each pixel's light, interpolated from cells near by on the same surface; mark pixels without any."""
    height, width = p.owner.shape
    down, over = cells.shape[0], cells.shape[1]
    for y in range(height):
        for x in range(width):
            if p.owner[y, x] < 0:
                continue
            near = size * p.depth[y, x] / w.frame[12]
            row, column = (y - size // 2 + size) // size - 1, (x - size // 2 + size) // size - 1
            total = r = g = b = 0.0
            for j in range(max(row - 1, 0), min(row + 3, down)):
                for i in range(max(column - 1, 0), min(column + 3, over)):
                    v, u = min(j * size + size // 2, height - 1), min(i * size + size // 2, width - 1)
                    away = max(abs(v - y), abs(u - x)) / (2.0 * size)
                    weight = max(0.0, 1 - away)
                    weight *= weight
                    if weight > 0:
                        weight *= similarity(w, p, x, y, u, v, near)
                    total += weight
                    r, g, b = r + weight * cells[j, i, 0], g + weight * cells[j, i, 1], b + weight * cells[j, i, 2]
            if total < 0.02:
                left[y, x] = 1
                continue
            out[y, x, 0], out[y, x, 1], out[y, x, 2] = r / total, g / total, b / total
