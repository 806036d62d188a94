"""Light that comes by way of other surfaces and from the sky: gathered at a few pixels, and spread over the rest.

A ray that meets a point which the camera sees too takes the light that was reckoned there.
"""

import numpy as np

from assay.arrays import Array
from assay.render.engines.brdf import bent, scattered
from assay.render.engines.bvh import FAR
from assay.render.engines.direct_lighting import falls, lamp_point
from assay.render.engines.gbuffer import Points, facing
from assay.render.engines.hash_noise import KINDS, chance
from assay.render.engines.intersection import first_hit, shadowed
from assay.render.engines.jit import compiled, inner
from assay.render.engines.packed_scene import Packed
from assay.render.engines.rasterizer import place_of
from assay.render.engines.textures import colour, sky


def around(w: Packed, p: Points, glow: Array, mean: Array, size: int, side: int) -> Array:
    """Return the light that comes to each pixel from all sides but the lamps."""
    height, width = p.owner.shape
    rows, columns = (np.minimum(np.arange(size // 2, most + size // 2, size), most - 1) for most in (height, width))
    middles = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1)
    cells = gathered(w, p, glow, mean, middles.reshape(-1, 2), side).reshape(*middles.shape[:2], 3)
    out, left = np.zeros((height, width, 3)), np.zeros((height, width), np.uint8)
    calm = np.zeros_like(cells)
    calmed(w, p, middles, cells, size, calm)
    spread_out(w, p, calm, size, out, left)
    share(p, left)
    lone = np.argwhere(left == 1)
    out[lone[:, 0], lone[:, 1]] = gathered(w, p, glow, mean, lone, max(side - 1, 2))
    follow(p, left, out)
    return out


def gathered(w: Packed, p: Points, glow: Array, mean: Array, pixels: Array, side: int) -> Array:
    """Return the mean light that falls on the surfaces of pixels (y, x), by side x side rays each."""
    pixels = np.ascontiguousarray(pixels)
    rays = np.zeros((len(pixels) * side * side, 7))
    scatter(p, pixels, side, rays)
    light: Array = lights_of(w, p, glow, mean, rays).reshape(len(pixels), side * side, 3).mean(axis=1)
    visible: Array = light * (p.owner[pixels[:, 0], pixels[:, 1]] >= 0)[:, None]
    return visible


def lights_of(w: Packed, p: Points, glow: Array, mean: Array, rays: Array) -> Array:
    """Return the light that comes along each ray: origin, direction, how often metal may mirror it."""
    out = np.zeros((len(rays), 3))
    arrive(w, p, glow, mean, rays, out)
    return out


@inner
def ambient(w: Packed, mean: Array, c: int, nz: float) -> float:
    """Return a rough guess of the light from all sides on a surface whose normal rises by nz."""
    up = (w.frame[16 + c] + w.frame[19 + c]) / 2
    return 0.7 * (up * (1 + nz) / 2 + mean[c] * (1 - nz) / 2)


@inner
def known(w: Packed, p: Points, i: int, x: float, y: float, z: float) -> tuple[int, int]:
    """Return the pixel that shows this point of instance i, or (-1, -1)."""
    height, width = p.owner.shape
    a, b, far = place_of(w.frame, x, y, z)
    if far <= 0 or a < 0 or b < 0 or a >= width or b >= height:
        return -1, -1
    column, row = int(a), int(b)
    if p.owner[row, column] != i or abs(p.depth[row, column] - far) > 0.01 * far:
        return -1, -1
    return column, row


@inner
def leaving(
    w: Packed,
    p: Points,
    glow: Array,
    mean: Array,
    i: int,
    k: int,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    reach: float,
    seed: int,
) -> tuple[float, float, float]:
    """Return the matt light that leaves a point of instance i, met by a ray along d."""
    column, row = known(w, p, i, x, y, z)
    if column >= 0:
        return glow[row, column, 0], glow[row, column, 1], glow[row, column, 2]
    return reckoned(w, mean, i, k, x, y, z, dx, dy, dz, reach, seed)


@inner
def reckoned(
    w: Packed,
    mean: Array,
    i: int,
    k: int,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    reach: float,
    seed: int,
) -> tuple[float, float, float]:
    """Return the matt light that leaves a point of instance i: lamps with a shadow ray each, and an even rest."""
    nx, ny, nz, sx, sy, sz = facing(w, i, k, x, y, z, dx, dy, dz)
    r, g, b = ambient(w, mean, i * 0, nz), ambient(w, mean, i * 0 + 1, nz), ambient(w, mean, i * 0 + 2, nz)
    for lamp in range(len(w.lights)):
        light = falls(w, lamp, sx, sy, sz, nx, ny, nz) / np.pi
        if light <= 0:
            continue
        s, t = 2 * chance(seed * 16 + lamp) - 1, 2 * chance(seed * 16 + lamp + 8) - 1
        ex, ey, ez, far, _ = lamp_point(w, lamp, s, t, sx, sy, sz)
        if not shadowed(w.solid, sx, sy, sz, ex, ey, ez, far * 0.9999):
            r, g, b = r + light * w.lights[lamp, 13], g + light * w.lights[lamp, 14], b + light * w.lights[lamp, 15]
    red, green, blue = colour(w, i, x, y, z, reach)
    own = w.solid.rows[i, 39]
    keep = 0.96 - 0.36 * w.solid.rows[i, 37]
    return red * (r * keep + own), green * (g * keep + own), blue * (b * keep + own)


@inner
def arriving(
    w: Packed,
    p: Points,
    glow: Array,
    mean: Array,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    throws: float,
    seed: int,
) -> tuple[float, float, float]:
    """Return the light that comes to a point from direction d; metal on the way mirrors it up to `throws` times."""
    fr = fg = fb = 1.0
    while True:
        t, i, k, _, _ = first_hit(w.solid, w.frame[25], x, y, z, dx, dy, dz, FAR)
        if i < 0:
            r, g, b = sky(w, dx, dy, dz)
            return r * fr, g * fg, b * fb
        x, y, z = x + dx * t, y + dy * t, z + dz * t
        if throws > 0.5 and w.solid.rows[i, 37] > 0.5:
            throws -= 1.0
            nx, ny, nz, sx, sy, sz = facing(w, i, k, x, y, z, dx, dy, dz)
            r, g, b = colour(w, i, x, y, z, 0.0)
            fr, fg, fb = fr * r, fg * g, fb * b
            alpha = w.solid.rows[i, 38] ** 2
            dx, dy, dz = bent(
                nx,
                ny,
                nz,
                -dx,
                -dy,
                -dz,
                alpha,
                chance(seed * 16 + 9 + int(throws)),
                chance(seed * 16 + 12 + int(throws)),
            )
            x, y, z = sx, sy, sz
            continue
        r, g, b = leaving(w, p, glow, mean, i, k, x, y, z, dx, dy, dz, 0.02 * t, seed)
        return r * fr, g * fg, b * fb


@compiled
def arrive(w: Packed, p: Points, glow: Array, mean: Array, rays: Array, out: Array) -> None:
    """Fill in the light of each ray; a ray without a direction has none."""
    for n in range(len(rays)):
        if rays[n, 3] == 0.0 and rays[n, 4] == 0.0 and rays[n, 5] == 0.0:
            continue
        out[n, 0], out[n, 1], out[n, 2] = arriving(
            w, p, glow, mean, rays[n, 0], rays[n, 1], rays[n, 2], rays[n, 3], rays[n, 4], rays[n, 5], rays[n, 6], n + 0
        )


@compiled
def scatter(p: Points, pixels: Array, side: int, rays: Array) -> None:
    """Fill in side x side rays from the surface of each pixel, spread over all it sees."""
    for m in range(len(pixels)):
        y, x = pixels[m, 0], pixels[m, 1]
        if p.owner[y, x] < 0:
            continue
        key = (y * p.owner.shape[1] + x) * KINDS
        for k in range(side * side):
            s = ((k % side) + chance(key + 640 + k)) / side
            t = ((k // side) + chance(key + 704 + k)) / side
            n = m * side * side + k
            rays[n, 3], rays[n, 4], rays[n, 5] = scattered(
                p.normal[y, x, 0], p.normal[y, x, 1], p.normal[y, x, 2], s, t
            )
            for c in range(3):
                rays[n, c] = p.start[y, x, c]


@inner
def leader(p: Points, left: Array, x: int, y: int) -> tuple[int, int]:
    """Return the first pixel in this one's square of 2 x 2 that has no light yet and is like it: maybe itself."""
    n = p.normal
    for b in range(y & ~1, y + 1):
        for a in range(x & ~1, min((x & ~1) + 2, left.shape[1])):
            turn = n[y, x, 0] * n[b, a, 0] + n[y, x, 1] * n[b, a, 1] + n[y, x, 2] * n[b, a, 2]
            if left[b, a] == 1 and p.owner[b, a] == p.owner[y, x] and turn > 0.8:
                return a, b
    return x, y


@compiled
def share(p: Points, left: Array) -> None:
    """Of the pixels without light yet (1), mark those with 2 that can take that of another in their 2 x 2."""
    for y in range(left.shape[0]):
        for x in range(left.shape[1]):
            if left[y, x] == 1:
                a, b = leader(p, left, x, y)
                if a != x or b != y:
                    left[y, x] = 2


@compiled
def follow(p: Points, left: Array, out: Array) -> None:
    """Give the pixels marked 2 the light of the one that they are like."""
    for y in range(left.shape[0]):
        for x in range(left.shape[1]):
            if left[y, x] == 2:
                a, b = leader(p, left, x, y)
                for c in range(3):
                    out[y, x, c] = out[b, a, c]


@inner
def fits(w: Packed, p: Points, x: int, y: int, a: int, b: int, near: float) -> float:
    """Return how well pixel (a, b) may lend its light to pixel (x, y): of one plane, 1; of another, less."""
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


@compiled
def calmed(w: Packed, p: Points, middles: Array, cells: Array, size: int, calm: Array) -> None:
    """Fill in the light of each cell averaged with that of the cells around it on the same surface."""
    for j in range(cells.shape[0]):
        for i in range(cells.shape[1]):
            y, x = middles[j, i, 0], middles[j, i, 1]
            if p.owner[y, x] < 0:
                continue
            near = 2 * size * p.depth[y, x] / w.frame[12]
            total = r = g = b = 0.0
            for m in range(max(j - 2, 0), min(j + 3, cells.shape[0])):
                for n in range(max(i - 2, 0), min(i + 3, cells.shape[1])):
                    weight = fits(w, p, x, y, middles[m, n, 1], middles[m, n, 0], near)
                    total += weight
                    r, g, b = r + weight * cells[m, n, 0], g + weight * cells[m, n, 1], b + weight * cells[m, n, 2]
            calm[j, i, 0], calm[j, i, 1], calm[j, i, 2] = r / total, g / total, b / total


@compiled
def spread_out(w: Packed, p: Points, cells: Array, size: int, out: Array, left: Array) -> None:
    """Fill in the gathered light of every pixel, from the cells around it on the same surface; mark those with none."""
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
                        weight *= fits(w, p, x, y, u, v, near)
                    total += weight
                    r, g, b = r + weight * cells[j, i, 0], g + weight * cells[j, i, 1], b + weight * cells[j, i, 2]
            if total < 0.02:
                left[y, x] = 1
                continue
            out[y, x, 0], out[y, x, 1], out[y, x, 2] = r / total, g / total, b / total
