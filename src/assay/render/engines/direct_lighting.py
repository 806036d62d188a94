"""Direct lighting with soft shadows: the diffuse and the specular light of lamps and the sun at each pixel.

The share of each light that reaches a pixel is found by one ray, or more where neighbours disagree. Pixels are handled
in tiles. Instances that cannot block a light for a tile are culled, so most pixels cast no ray.
"""

import numpy as np

from assay.base import Array
from assay.render.engines.gbuffer import GBuffer, pixel_alpha, pixel_step
from assay.render.engines.intersection import mesh_blocks
from assay.render.engines.jit import kernel, subroutine
from assay.render.engines.packed_scene import PackedScene
from assay.render.engines.shading import (
    DIELECTRIC,
    KEYS_PER_PIXEL,
    METAL,
    POLISHED,
    environment_brdf,
    ggx_lobe,
    hash_noise,
)

BLEND, MIRROR_BLEND = 0.2, 0.6
"""How much a lamp's cells widen the lobe, over the square of their size; less would show them as dots on a mirror."""
TILE = 8
LONG = 1e4


@subroutine
def light_point(
    w: PackedScene, lamp: int, s: float, t: float, x: float, y: float, z: float
) -> tuple[float, float, float, float, float]:
    """Return the direction from a point to place (s, t), each -1 to 1, on light `lamp`, its distance and irradiance.

    The irradiance is that on a surface that faces the place, if all of the lamp were there; 0 from behind.
    """
    q = w.lights
    if q[lamp, 0] > 0:
        if abs(s) > abs(t):  # the square's rings go to the disc's
            turn, wide = np.pi / 4 * (t / s), s
        else:
            turn, wide = np.pi / 2 - np.pi / 4 * (s / t if t != 0 else 0.0), t
        s, t = wide * np.cos(turn), wide * np.sin(turn)
        dx = q[lamp, 1] + q[lamp, 4] * s + q[lamp, 7] * t
        dy = q[lamp, 2] + q[lamp, 5] * s + q[lamp, 8] * t
        dz = q[lamp, 3] + q[lamp, 6] * s + q[lamp, 9] * t
        size = np.sqrt(dx * dx + dy * dy + dz * dz)
        return dx / size, dy / size, dz / size, 1e20, 1.0
    dx = q[lamp, 1] + q[lamp, 4] * s + q[lamp, 7] * t - x
    dy = q[lamp, 2] + q[lamp, 5] * s + q[lamp, 8] * t - y
    dz = q[lamp, 3] + q[lamp, 6] * s + q[lamp, 9] * t - z
    far = np.sqrt(dx * dx + dy * dy + dz * dz)
    dx, dy, dz = dx / far, dy / far, dz / far
    side = -(dx * q[lamp, 10] + dy * q[lamp, 11] + dz * q[lamp, 12])
    return dx, dy, dz, far, max(side, 0.0) * q[lamp, 17] / (far * far)


@subroutine
def irradiance(w: PackedScene, lamp: int, x: float, y: float, z: float, nx: float, ny: float, nz: float) -> float:
    """Return the irradiance of light `lamp`, at radiance (or strength) 1, on a surface, shadows left aside."""
    dx, dy, dz, _, light = light_point(w, lamp, 0.0, 0.0, x, y, z)
    return light * max(0.0, nx * dx + ny * dy + nz * dz)


@subroutine
def light_cell(
    w: PackedScene, lamp: int, s: float, t: float, grid: int, x: float, y: float, z: float,
    nx: float, ny: float, nz: float, vx: float, vy: float, vz: float, alpha: float, nv: float, blend: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the light of one cell of a lamp: diffuse, specular at reflectance 1, and at reflectance 0 (the rim)."""
    dx, dy, dz, far, light = light_point(w, lamp, s, t, x, y, z)
    nl = nx * dx + ny * dy + nz * dz
    if nl <= 0 or light <= 0:
        return 0.0, 0.0, 0.0
    hx, hy, hz = dx + vx, dy + vy, dz + vz
    size = np.sqrt(hx * hx + hy * hy + hz * hz)
    if size <= 1e-9:
        return light * nl, 0.0, 0.0
    nh, vh = min((nx * hx + ny * hy + nz * hz) / size, 1.0), min((vx * hx + vy * hy + vz * hz) / size, 1.0)
    wide = w.lights[lamp, 16] / grid
    if w.lights[lamp, 0] == 0:
        wide /= far
    specular = light * nl * ggx_lobe(alpha * alpha + wide * wide * blend, alpha, nl, nv, nh)
    back = (1 - vh) * (1 - vh)
    rim = back * back * (1 - vh)
    return light * nl, specular * (1 - rim), specular * rim


@subroutine
def cell_count(w: PackedScene, lamp: int, alpha: float, metal: float) -> int:
    """Return into how many cells along its side a light is cut: more for a large lamp, most on smooth metal.

    The number is constant over a surface, since light would jump where it changes.
    """
    wide = w.lights[lamp, 18]
    if wide == 0.0 or (wide < 0.15 and (metal < 0.1 or 2 * wide < alpha)):
        return 1
    return 2 if metal < 0.1 or wide < 2 * alpha else 4


@kernel
def add_direct_light(w: PackedScene, p: GBuffer, free: Array, diffuse: Array, specular: Array) -> None:
    """Add to each pixel the light of all lamps; `diffuse` is that of a white surface."""
    height, width = p.owner.shape
    for y in range(height):
        for x in range(width):
            i = p.owner[y, x]
            if i >= 0:
                light_pixel(w, p, free, diffuse, specular, i, x, y)


@subroutine
def light_pixel(
    w: PackedScene, p: GBuffer, free: Array, diffuse: Array, specular: Array, i: int, x: int, y: int
) -> None:
    """Add the light of all lamps to one pixel."""
    px, py, pz = p.at[y, x, 0], p.at[y, x, 1], p.at[y, x, 2]
    nx, ny, nz = p.normal[y, x, 0], p.normal[y, x, 1], p.normal[y, x, 2]
    vx, vy, vz = w.frame[0] - px, w.frame[1] - py, w.frame[2] - pz
    size = np.sqrt(vx * vx + vy * vy + vz * vz)
    vx, vy, vz = vx / size, vy / size, vz / size
    nv = max(nx * vx + ny * vy + nz * vz, 0.02)
    metal, rough = w.solid.rows[i, 37], w.solid.rows[i, 38]
    alpha = max(pixel_alpha(w, p, x, y), 0.003)
    blend = MIRROR_BLEND if metal >= METAL and rough < POLISHED else BLEND
    a, b = environment_brdf(rough, nv)
    for lamp in range(len(w.lights)):
        if free[lamp, y, x] <= 0:
            continue
        grid = cell_count(w, lamp, alpha, metal)
        soft = full = rim = 0.0
        for k in range(grid * grid):
            s, t = (2 * (k % grid) + 1) / grid - 1, (2 * (k // grid) + 1) / grid - 1
            e, f, g = light_cell(w, lamp, s, t, grid, px, py, pz, nx, ny, nz, vx, vy, vz, alpha, nv, blend)
            soft, full, rim = soft + e, full + f, rim + g
        share = free[lamp, y, x] / (grid * grid)
        for c in range(3):
            light = w.lights[lamp, 13 + c] * share
            diffuse[y, x, c] += light * soft / np.pi
            base = DIELECTRIC + (p.colour[y, x, c] - DIELECTRIC) * metal
            again = 1 + base * (1 / (a + b) - 1)  # multiple scattering
            specular[y, x, c] += light * (base * full + rim) * again


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
