"""Soft shadows: the share of each light that reaches each pixel, by one ray, or more where neighbours disagree.

Pixels are handled in tiles. Instances that cannot block a light for a tile are culled, so most pixels cast no ray.
"""

import numpy as np

from assay.base import Array
from assay.render.engines.direct_lighting import light_point
from assay.render.engines.gbuffer import GBuffer, pixel_step
from assay.render.engines.hash_noise import KEYS_PER_PIXEL, hash_noise
from assay.render.engines.intersection import mesh_blocks
from assay.render.engines.jit import kernel, subroutine
from assay.render.engines.packed_scene import PackedScene

TILE = 8
LONG = 1e4


def light_visibility(w: PackedScene, p: GBuffer, side: int) -> Array:
    """Return for each light and pixel how much of the light reaches it."""
    shape = (len(w.lights), *p.owner.shape)
    free, doubt = np.ones(shape, np.float32), np.zeros(shape, np.uint8)
    suspects, near = np.zeros(len(w.solid.kind), np.int64), np.zeros(len(w.solid.kind), np.int64)
    cast_first_rays(w, p, free, doubt, suspects, near)
    better = free.copy()
    cast_more_rays(w, p, free, doubt, suspects, near, side, better)
    smooth = better.copy()
    smooth_shares(p, better, doubt, 1.4 / side, 2, smooth)
    return smooth


@subroutine
def light_ball(w: PackedScene, lamp: int, x: float, y: float, z: float) -> tuple[float, float, float, float]:
    """Return a ball around light `lamp`, as seen from a point: middle and radius."""
    q = w.lights
    wide = 1.4143 * q[lamp, 16]
    if q[lamp, 0] > 0:
        return x + q[lamp, 1] * LONG, y + q[lamp, 2] * LONG, z + q[lamp, 3] * LONG, wide * LONG
    return q[lamp, 1], q[lamp, 2], q[lamp, 3], wide


@subroutine
def may_block(
    rows: Array, i: int, x: float, y: float, z: float, r: float, lx: float, ly: float, lz: float, lr: float
) -> bool:
    """Whether instance i's ball can touch the shaft from one ball to another."""
    ax, ay, az = lx - x, ly - y, lz - z
    far = np.sqrt(ax * ax + ay * ay + az * az)
    bx, by, bz, ball = rows[i, 24] - x, rows[i, 25] - y, rows[i, 26] - z, rows[i, 27]
    t = (ax * bx + ay * by + az * bz) / far
    if t < -ball - r or t > far + ball + lr:
        return False
    slope = abs(lr - r) / far
    wide = r + (lr - r) * min(max(t / far, 0.0), 1.0) + ball * (1 + 2 * slope)
    return bx * bx + by * by + bz * bz - t * t <= wide * wide


@subroutine
def reaches_above(rows: Array, i: int, x: float, y: float, z: float, nx: float, ny: float, nz: float) -> bool:
    """Whether any of instance i's box lies above the plane through a point with normal n."""
    a = max(nx * (rows[i, 28] - x), nx * (rows[i, 31] - x))
    b = max(ny * (rows[i, 29] - y), ny * (rows[i, 32] - y))
    c = max(nz * (rows[i, 30] - z), nz * (rows[i, 33] - z))
    return a + b + c > 1e-9


@subroutine
def tile_occluders(w: PackedScene, p: GBuffer, lamp: int, left: int, top: int, suspects: Array) -> int:
    """List the instances that may stand between a tile's points and a light."""
    height, width = p.owner.shape
    ax = ay = az = 1e30
    bx = by = bz = -1e30
    for y in range(top, min(top + TILE, height)):
        for x in range(left, min(left + TILE, width)):
            if p.owner[y, x] >= 0:
                ax, ay, az = min(ax, p.start[y, x, 0]), min(ay, p.start[y, x, 1]), min(az, p.start[y, x, 2])
                bx, by, bz = max(bx, p.start[y, x, 0]), max(by, p.start[y, x, 1]), max(bz, p.start[y, x, 2])
    if ax > bx:
        return 0
    cx, cy, cz = (ax + bx) / 2, (ay + by) / 2, (az + bz) / 2
    r = np.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay) + (bz - az) * (bz - az)) / 2
    lx, ly, lz, lr = light_ball(w, lamp, cx, cy, cz)
    count = 0
    for i in range(len(w.solid.kind) - 1):
        if may_block(w.solid.rows, i, cx, cy, cz, r, lx, ly, lz, lr):
            suspects[count] = i
            count += 1
    return count


@subroutine
def pixel_occluders(
    w: PackedScene, p: GBuffer, lamp: int, x: int, y: int, suspects: Array, count: int, near: Array
) -> int:
    """List those of a tile's suspects that may stand between this pixel's point and a light; -1: it faces away."""
    sx, sy, sz = p.start[y, x, 0], p.start[y, x, 1], p.start[y, x, 2]
    nx, ny, nz = p.normal[y, x, 0], p.normal[y, x, 1], p.normal[y, x, 2]
    lx, ly, lz, lr = light_ball(w, lamp, sx, sy, sz)
    if nx * (lx - sx) + ny * (ly - sy) + nz * (lz - sz) < -lr:
        return -1
    i, rows, left = p.owner[y, x], w.solid.rows, 0
    for k in range(count):
        n = suspects[k]
        if n == i and w.solid.kind[n, 6] > 0:
            continue
        if may_block(rows, n, sx, sy, sz, 0.0, lx, ly, lz, lr) and reaches_above(rows, n, sx, sy, sz, nx, ny, nz):
            near[left] = n
            left += 1
    return left


@subroutine
def light_reaches(
    w: PackedScene, lamp: int, s: float, t: float, x: float, y: float, z: float, near: Array, count: int
) -> float:
    """Return 1.0 where place (s, t) of light `lamp` is seen from a point past these instances, else 0.0."""
    dx, dy, dz, far, _ = light_point(w, lamp, s, t, x, y, z)
    for k in range(count):
        if mesh_blocks(w.solid, near[k], x, y, z, dx, dy, dz, far * 0.9999):
            near[0], near[k] = near[k], near[0]  # who blocked one ray likely blocks the next
            return 0.0
    return 1.0


@kernel
def cast_first_rays(w: PackedScene, p: GBuffer, free: Array, doubt: Array, suspects: Array, near: Array) -> None:
    """Fill in per light and pixel whether one ray reaches it, and 1 where another ray may not; a pixel a ray each."""
    height, width = p.owner.shape
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            for lamp in range(len(w.lights)):
                count = tile_occluders(w, p, lamp, left, top, suspects)
                if count == 0:
                    continue
                for y in range(top, min(top + TILE, height)):
                    for x in range(left, min(left + TILE, width)):
                        if p.owner[y, x] < 0:
                            continue
                        some = pixel_occluders(w, p, lamp, x, y, suspects, count, near)
                        if some <= 0:
                            continue
                        s, t = interleaved_place(x, y, width, lamp)
                        doubt[lamp, y, x] = 1
                        free[lamp, y, x] = light_reaches(
                            w, lamp, s, t, p.start[y, x, 0], p.start[y, x, 1], p.start[y, x, 2], near, some
                        )


@subroutine
def interleaved_place(x: int, y: int, width: int, lamp: int) -> tuple[float, float]:
    """Return a place on a light such that any 4 x 4 pixels have all of its sixteenths."""
    a, b = x & 3, y & 3
    column, row = (a + 2 * b + (b >> 1)) & 3, (b + 2 * a + (a >> 1)) & 3
    at = y * width + x
    return (column + hash_noise(at * KEYS_PER_PIXEL + lamp)) / 2 - 1, (
        row + hash_noise(at * KEYS_PER_PIXEL + lamp + 32)
    ) / 2 - 1


@subroutine
def neighbours_disagree(p: GBuffer, free: Array, lamp: int, x: int, y: int) -> bool:
    """Whether a pixel near by on the same surface has another answer."""
    height, width = p.owner.shape
    mine, owner = free[lamp, y, x], p.owner[y, x]
    for b in range(max(y - 2, 0), min(y + 3, height)):
        for a in range(max(x - 2, 0), min(x + 3, width)):
            if free[lamp, b, a] != mine and p.owner[b, a] == owner and normals_alike(p, x, y, a, b, 0.7):
                return True
    return False


@subroutine
def normals_alike(p: GBuffer, x: int, y: int, a: int, b: int, least: float) -> bool:
    """Whether two pixels' normals are alike."""
    return (
        p.normal[y, x, 0] * p.normal[b, a, 0]
        + p.normal[y, x, 1] * p.normal[b, a, 1]
        + p.normal[y, x, 2] * p.normal[b, a, 2]
        > least
    )


@kernel
def cast_more_rays(
    w: PackedScene, p: GBuffer, free: Array, doubt: Array, suspects: Array, near: Array, side: int, better: Array
) -> None:
    """Fill in how much of each light reaches each pixel, by side x side rays where neighbours disagree (doubt 2)."""
    height, width = p.owner.shape
    for lamp in range(len(w.lights)):
        for top in range(0, height, TILE):
            for left in range(0, width, TILE):
                count = -1
                for y in range(top, min(top + TILE, height)):
                    for x in range(left, min(left + TILE, width)):
                        if doubt[lamp, y, x] == 0 or not neighbours_disagree(p, free, lamp, x, y):
                            continue
                        if count < 0:
                            count = tile_occluders(w, p, lamp, left, top, suspects)
                        some = pixel_occluders(w, p, lamp, x, y, suspects, count, near)
                        if some > 0:
                            better[lamp, y, x] = visible_share(w, p, lamp, x, y, near, some, side)
                            doubt[lamp, y, x] = 2


@subroutine
def visible_share(w: PackedScene, p: GBuffer, lamp: int, x: int, y: int, near: Array, some: int, side: int) -> float:
    """Return the share of side x side rays that reach light `lamp`, from all over the pixel."""
    width = p.owner.shape[1]
    px, py, pz = p.at[y, x, 0], p.at[y, x, 1], p.at[y, x, 2]
    nx, ny, nz = p.normal[y, x, 0], p.normal[y, x, 1], p.normal[y, x, 2]
    ax, ay, az = pixel_step(w, x + 1.5, y + 0.5, px, py, pz, nx, ny, nz)
    bx, by, bz = pixel_step(w, x + 0.5, y + 1.5, px, py, pz, nx, ny, nz)
    sx, sy, sz = p.start[y, x, 0], p.start[y, x, 1], p.start[y, x, 2]
    total, at = 0.0, y * width + x
    for k in range(side * side):
        s = 2 * ((k % side) + hash_noise(at * KEYS_PER_PIXEL + 32 * lamp + 64 + k)) / side - 1
        t = 2 * ((k // side) + hash_noise(at * KEYS_PER_PIXEL + 32 * lamp + 544 + k)) / side - 1
        over = ((k * 5 + 2) % (side * side) + 0.5) / (side * side) - 0.5
        down = (k + 0.5) / (side * side) - 0.5
        x0, y0, z0 = sx + ax * over + bx * down, sy + ay * over + by * down, sz + az * over + bz * down
        total += light_reaches(w, lamp, s, t, x0, y0, z0, near, some)
    return total / (side * side)


@kernel
def smooth_shares(p: GBuffer, free: Array, doubt: Array, slack: float, reach: int, smooth: Array) -> None:
    """Fill in the shares averaged with those near by on the same surface that differ by no more than `slack`."""
    height, width = p.owner.shape
    for lamp in range(len(free)):
        for y in range(height):
            for x in range(width):
                if doubt[lamp, y, x] < 2:
                    continue
                mine, total, count = free[lamp, y, x], 0.0, 0.0
                for b in range(max(y - reach, 0), min(y + reach + 1, height)):
                    for a in range(max(x - reach, 0), min(x + reach + 1, width)):
                        near = p.owner[b, a] == p.owner[y, x] and abs(free[lamp, b, a] - mine) <= slack
                        if near and doubt[lamp, b, a] != 1 and normals_alike(p, x, y, a, b, 0.9):
                            total, count = total + free[lamp, b, a], count + 1
                smooth[lamp, y, x] = total / count
