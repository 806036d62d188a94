"""Indirect lighting (light of other surfaces and of the sky), reflections on smooth surfaces, and the sum of all light.

Indirect light is gathered at a few pixels and interpolated over the rest. A ray that hits a point which the camera sees
too takes the radiance that was computed there.
"""

import numpy as np

from assay.base import Array
from assay.render.engines.direct_lighting import irradiance, light_point
from assay.render.engines.gbuffer import GBuffer, facing_normal, flat_normal, pixel_alpha
from assay.render.engines.intersection import FAR, hit_scene, scene_blocks
from assay.render.engines.jit import kernel, subroutine
from assay.render.engines.packed_scene import PackedScene
from assay.render.engines.rasterizer import camera_ray, project_point
from assay.render.engines.shading import (
    DIELECTRIC,
    KEYS_PER_PIXEL,
    METAL,
    POLISHED,
    environment_brdf,
    hash_noise,
    sample_cosine,
    sample_ggx,
    sky_radiance,
    surface_colour,
    turn_outwards,
)

CLEAR, SMOOTH = 0.06, 0.4
"""One ray will do below this roughness; dielectrics above this one reflect only the mean light around them."""


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


def reflected_light(w: PackedScene, p: GBuffer, radiance: Array, mean: Array, indirect: Array, rays: int) -> Array:
    """Return the reflected radiance of each pixel, at reflectance 1."""
    metal, rough = w.solid.rows[p.owner, 37] >= METAL, w.solid.rows[p.owner, 38]
    out = indirect.copy()
    for chosen, count in (
        (metal & (rough >= CLEAR), rays),
        (~metal & (rough < SMOOTH) & (rough >= CLEAR), max(1, rays // 4)),
        ((rough < CLEAR) & (metal | (rough < SMOOTH)), 1),
    ):
        pixels = np.ascontiguousarray(np.argwhere(chosen & (p.owner >= 0)))
        thrown = np.zeros((len(pixels) * count, 7))
        reflect_rays(w, p, pixels, count, thrown)
        light = trace_light(w, p, radiance, mean, thrown).reshape(len(pixels), count, 3).mean(axis=1)
        out[pixels[:, 0], pixels[:, 1]] = light
    soft = out.copy()
    smooth_reflections(w, p, out, soft)
    return soft


@kernel
def reflect_rays(w: PackedScene, p: GBuffer, pixels: Array, count: int, rays: Array) -> None:
    """Fill in `count` reflected rays from each pixel's surface."""
    for m in range(len(pixels)):
        y, x = pixels[m, 0], pixels[m, 1]
        vx, vy, vz = w.frame[0] - p.at[y, x, 0], w.frame[1] - p.at[y, x, 1], w.frame[2] - p.at[y, x, 2]
        size = np.sqrt(vx * vx + vy * vy + vz * vz)
        vx, vy, vz = vx / size, vy / size, vz / size
        nx, ny, nz = p.normal[y, x, 0], p.normal[y, x, 1], p.normal[y, x, 2]
        i = p.owner[y, x]
        alpha = pixel_alpha(w, p, x, y)
        mirror = w.solid.rows[i, 37] >= METAL and w.solid.rows[i, 38] < POLISHED and p.tri[y, x] >= 0
        fx, fy, fz = flat_normal(w, i, p.tri[y, x]) if mirror else (nx, ny, nz)
        side = 1.0 if fx * vx + fy * vy + fz * vz >= 0 else -1.0
        key = (y * p.owner.shape[1] + x) * KEYS_PER_PIXEL
        turn, high = hash_noise(key + 800), hash_noise(key + 801)
        for k in range(count):
            s, t = (turn + k * 0.7548776662466927) % 1.0, (high + k * 0.5698402909980532) % 1.0
            n = m * count + k
            dx, dy, dz = sample_ggx(nx, ny, nz, vx, vy, vz, alpha, s, t * 0.98)
            if mirror:
                dx, dy, dz = turn_outwards(side * fx, side * fy, side * fz, dx, dy, dz)
            rays[n, 3], rays[n, 4], rays[n, 5], rays[n, 6] = dx, dy, dz, 2.0
            for c in range(3):
                rays[n, c] = p.start[y, x, c]


@kernel
def smooth_reflections(w: PackedScene, p: GBuffer, light: Array, out: Array) -> None:
    """Fill in reflected light averaged over near pixels of the same surface; mirror-like surfaces stay as they are."""
    height, width = p.owner.shape
    for y in range(height):
        for x in range(width):
            i = p.owner[y, x]
            if i < 0 or w.solid.rows[i, 38] < CLEAR or (w.solid.rows[i, 37] < METAL and w.solid.rows[i, 38] >= SMOOTH):
                continue
            reach = 2 if w.solid.rows[i, 37] < METAL else 1
            least = 1 - 0.5 * w.solid.rows[i, 38] ** 2
            total = r = g = b = 0.0
            for v in range(max(y - reach, 0), min(y + reach + 1, height)):
                for u in range(max(x - reach, 0), min(x + reach + 1, width)):
                    if p.owner[v, u] != i:
                        continue
                    turn = 0.0
                    for c in range(3):
                        turn += p.normal[y, x, c] * p.normal[v, u, c]
                    if turn > least:
                        total += 1
                        r, g, b = r + light[v, u, 0], g + light[v, u, 1], b + light[v, u, 2]
            if total > 0:
                out[y, x, 0], out[y, x, 1], out[y, x, 2] = r / total, g / total, b / total


@kernel
def sum_light(
    w: PackedScene,
    p: GBuffer,
    diffuse: Array,
    indirect: Array,
    specular: Array,
    reflected: Array,
    base: Array,
    rest: Array,
) -> None:
    """Fill in all light of each pixel in two parts: `base` is multiplied by its albedo, `rest` is not."""
    height, width = p.owner.shape
    for y in range(height):
        for x in range(width):
            i = p.owner[y, x]
            if i < 0:
                continue
            nv = 0.0
            size = 0.0
            for c in range(3):
                v = w.frame[c] - p.at[y, x, c]
                nv += v * p.normal[y, x, c]
                size += v * v
            nv = max(nv / np.sqrt(size), 0.02)
            metal, rough, own = w.solid.rows[i, 37], w.solid.rows[i, 38], w.solid.rows[i, 39]
            a, b = environment_brdf(rough, nv)
            keep = (1 - metal) * (1 - (DIELECTRIC * a + b))
            for c in range(3):
                base[y, x, c] = keep * (diffuse[y, x, c] + indirect[y, x, c]) + own
                tint = DIELECTRIC + (p.colour[y, x, c] - DIELECTRIC) * metal
                again = 1 + tint * (1 / (a + b) - 1)
                rest[y, x, c] = specular[y, x, c] + (tint * a + b) * again * reflected[y, x, c]


@kernel
def fill_diffuse(
    w: PackedScene, p: GBuffer, diffuse: Array, indirect: Array, mean: Array, guess: bool, out: Array
) -> None:
    """Fill in the diffuse radiance of each pixel as other surfaces receive it; metal counts as darker diffuse.

    With `guess` the indirect light is not known yet, and is estimated.
    """
    height, width = p.owner.shape
    for y in range(height):
        for x in range(width):
            i = p.owner[y, x]
            if i < 0:
                continue
            keep = 0.96 - 0.36 * w.solid.rows[i, 37]
            for c in range(3):
                more = ambient(w, mean, c, p.normal[y, x, 2]) if guess else indirect[y, x, c]
                out[y, x, c] = p.colour[y, x, c] * (keep * (diffuse[y, x, c] + more) + w.solid.rows[i, 39])


@kernel
def fill_sky(w: PackedScene, owner: Array, light: Array) -> None:
    """Fill in the sky."""
    height, width = owner.shape
    for y in range(height):
        for x in range(width):
            if owner[y, x] < 0:
                dx, dy, dz, good = camera_ray(w.frame, x + 0.5, y + 0.5)
                if good > 0:
                    light[y, x, 0], light[y, x, 1], light[y, x, 2] = sky_radiance(w, dx, dy, dz)
