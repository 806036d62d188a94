"""Direct lighting: the diffuse and the specular light of lamps and the sun at each pixel, shadows given."""

import numpy as np

from assay.base import Array
from assay.render.engines.brdf import DIELECTRIC, METAL, POLISHED, environment_brdf, ggx_lobe
from assay.render.engines.gbuffer import GBuffer, pixel_alpha
from assay.render.engines.jit import kernel, subroutine
from assay.render.engines.packed_scene import PackedScene

BLEND, MIRROR_BLEND = 0.2, 0.6
"""How much a lamp's cells widen the lobe, over the square of their size; less would show them as dots on a mirror."""


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
