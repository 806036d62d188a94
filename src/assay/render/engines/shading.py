"""What a surface point looks like: its albedo from textures with mipmaps, the radiance of the sky, and the BRDF.

The BRDF is GGX specular over a diffuse base, or metal, as in Blender's principled shader. Pseudo-random numbers are a
hash of pixel, sample and light: the same in every process.
"""

import numpy as np

from assay.render.engines.intersection import direction_to_mesh, point_to_mesh
from assay.render.engines.jit import subroutine
from assay.render.engines.packed_scene import PackedScene

DIELECTRIC = 0.04
"""The reflectance of a dielectric at normal incidence (F0)."""

METAL, POLISHED = 0.1, 0.2
"""Metallic from this value on; a mirror below this roughness, where each wrong ray would show as a dot."""
RISE = 0.02
"""The least sine of the angle between a mirror's facet and what it reflects."""
MASK = 0xFFFFFFFF
KEYS_PER_PIXEL = 1024


@subroutine
def environment_brdf(rough: float, front: float) -> tuple[float, float]:
    """Return a and b such that reflectance f gives f a + b under even light; `front` is normal . view.

    The closed-form fit of the GGX integral by Karis (2014).
    """
    x = 1.0 - rough
    a = min(x * x, np.exp2(-9.28 * front)) * x + 0.0425 - 0.0275 * rough
    return -1.04 * a + 1.04 - 0.572 * rough, 1.04 * a - 0.04 + 0.022 * rough


@subroutine
def ggx_lobe(alpha2: float, alpha: float, nl: float, nv: float, nh: float) -> float:
    """Return GGX at the half vector, over 4 nl nv, with its shadowing; `alpha2` may be wider than alpha squared."""
    d = nh * nh * (alpha2 - 1) + 1
    k = alpha * alpha
    shade = nl * np.sqrt(nv * nv * (1 - k) + k) + nv * np.sqrt(nl * nl * (1 - k) + k)
    return alpha2 / (np.pi * d * d) * 0.5 / max(shade, 1e-9)


@subroutine
def sample_ggx(
    nx: float, ny: float, nz: float, vx: float, vy: float, vz: float, alpha: float, s: float, t: float
) -> tuple[float, float, float]:
    """Sample the direction in which GGX with normal n reflects a view v (towards the eye), for random s and t."""
    ax, ay, az, bx, by, bz = tangent_basis(nx, ny, nz)
    x, y, z = ax * vx + ay * vy + az * vz, bx * vx + by * vy + bz * vz, nx * vx + ny * vy + nz * vz
    ex, ey, ez = alpha * x, alpha * y, max(z, 1e-4)
    size = np.sqrt(ex * ex + ey * ey + ez * ez)
    ex, ey, ez = ex / size, ey / size, ez / size
    turn = 2 * np.pi * s
    high = (1 - t) * (1 + ez) - ez  # uniform on the cap of visible normals
    wide = np.sqrt(max(0.0, 1 - high * high))
    hx, hy, hz = wide * np.cos(turn) + ex, wide * np.sin(turn) + ey, high + ez
    hx, hy, hz = alpha * hx, alpha * hy, max(hz, 1e-6)
    size = np.sqrt(hx * hx + hy * hy + hz * hz)
    hx, hy, hz = hx / size, hy / size, hz / size
    dot = 2 * (x * hx + y * hy + z * hz)
    lx, ly, lz = dot * hx - x, dot * hy - y, dot * hz - z
    if lz < 0.01:
        lz = 0.01
    return ax * lx + bx * ly + nx * lz, ay * lx + by * ly + ny * lz, az * lx + bz * ly + nz * lz


@subroutine
def turn_outwards(fx: float, fy: float, fz: float, dx: float, dy: float, dz: float) -> tuple[float, float, float]:
    """Return a reflected direction d turned to rise from the facet with normal f.

    Smooth normals may send it below the facet, and a mirror would show dark dots of its own inside along its outline.
    """
    rise = fx * dx + fy * dy + fz * dz
    if rise >= RISE:
        return dx, dy, dz
    dx, dy, dz = dx + (RISE - rise) * fx, dy + (RISE - rise) * fy, dz + (RISE - rise) * fz
    size = np.sqrt(dx * dx + dy * dy + dz * dz)
    return dx / size, dy / size, dz / size


@subroutine
def tangent_basis(nx: float, ny: float, nz: float) -> tuple[float, float, float, float, float, float]:
    """Return two unit vectors orthogonal to n and to each other."""
    sign = 1.0 if nz >= 0 else -1.0
    a = -1.0 / (sign + nz)
    b = nx * ny * a
    return 1.0 + sign * nx * nx * a, sign * b, -sign * nx, b, sign + ny * ny * a, -ny


@subroutine
def sample_cosine(nx: float, ny: float, nz: float, s: float, t: float) -> tuple[float, float, float]:
    """Sample a cosine-weighted direction around n, for random numbers s and t."""
    ax, ay, az, bx, by, bz = tangent_basis(nx, ny, nz)
    turn, wide = 2 * np.pi * s, np.sqrt(t)
    x, y, z = wide * np.cos(turn), wide * np.sin(turn), np.sqrt(1 - t)
    return ax * x + bx * y + nx * z, ay * x + by * y + ny * z, az * x + bz * y + nz * z


@subroutine
def hash_noise(key: int) -> float:
    """Return the number from 0 to 1 of a key."""
    h = (key * 0x9E3779B1 + (key >> 32) * 0x85EBCA77 + 0x27D4EB2F) & MASK
    h = ((h ^ (h >> 15)) * 0x2C1B3C6D) & MASK
    h = ((h ^ (h >> 12)) * 0x297A2D39) & MASK
    h = h ^ (h >> 15)
    return (h + 0.5) / 4294967296.0


@subroutine
def sky_radiance(w: PackedScene, dx: float, dy: float, dz: float) -> tuple[float, float, float]:
    """Return the radiance of the sky in a direction: from the horizon's to the zenith's by the sine of the height."""
    z = dz / np.sqrt(dx * dx + dy * dy + dz * dz)
    if z < 0:
        return w.frame[22], w.frame[23], w.frame[24]
    return (
        w.frame[19] + (w.frame[16] - w.frame[19]) * z,
        w.frame[20] + (w.frame[17] - w.frame[20]) * z,
        w.frame[21] + (w.frame[18] - w.frame[21]) * z,
    )


@subroutine
def texture_place(w: PackedScene, i: int, x: float, y: float, z: float) -> tuple[float, float]:
    """Return where a point lies on its instance's texture, in images."""
    rows = w.solid.rows
    if i < len(w.solid.kind) - 1:
        x, y, z = point_to_mesh(w.solid.rows, i, x, y, z)
    return (x - rows[i, 40]) / rows[i, 42], (y - rows[i, 41]) / rows[i, 43]


@subroutine
def sample_texel(w: PackedScene, number: int, level: int, s: float, t: float) -> tuple[float, float, float]:
    """Return a texture's colour at one level, between the four nearest texels."""
    first, high, wide = w.levels[number, level, 0], w.levels[number, level, 1], w.levels[number, level, 2]
    x, y = (s - np.floor(s)) * wide - 0.5, (1 - (t - np.floor(t))) * high - 0.5
    x0, y0 = int(np.floor(x)), int(np.floor(y))
    fx, fy = x - x0, y - y0
    x1, y1 = x0 + 1 if x0 + 1 < wide else 0, y0 + 1 if y0 + 1 < high else 0
    x0, y0 = x0 if x0 >= 0 else wide - 1, y0 if y0 >= 0 else high - 1
    x1, y1 = min(x1, wide - 1), min(y1, high - 1)
    a, b = first + y0 * wide + x0, first + y0 * wide + x1
    c, d = first + y1 * wide + x0, first + y1 * wide + x1
    p, q, r, o = (1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy
    k = w.texels
    return (
        p * k[a, 0] + q * k[b, 0] + r * k[c, 0] + o * k[d, 0],
        p * k[a, 1] + q * k[b, 1] + r * k[c, 1] + o * k[d, 1],
        p * k[a, 2] + q * k[b, 2] + r * k[c, 2] + o * k[d, 2],
    )


@subroutine
def sample_level(w: PackedScene, number: int, level: float, s: float, t: float) -> tuple[float, float, float]:
    """Return a texture's colour between two levels."""
    last = w.levels.shape[1] - 1
    level = min(max(level, 0.0), float(last))
    low = int(level)
    r, g, b = sample_texel(w, number, low, s, t)
    part = level - low
    if part > 0 and low < last:
        x, y, z = sample_texel(w, number, low + 1, s, t)
        r, g, b = r + (x - r) * part, g + (y - g) * part, b + (z - b) * part
    return r, g, b


@subroutine
def surface_colour(w: PackedScene, i: int, x: float, y: float, z: float, reach: float) -> tuple[float, float, float]:
    """Return the colour of instance i at a point; a texture is averaged over `reach` (a length in the scene)."""
    number = w.solid.kind[i, 7]
    if number < 0:
        return w.solid.rows[i, 34], w.solid.rows[i, 35], w.solid.rows[i, 36]
    s, t = texture_place(w, i, x, y, z)
    return sample_level(w, number, mip_level(w, i, reach), s, t)


@subroutine
def mip_level(w: PackedScene, i: int, reach: float) -> float:
    """Return the level of a texture whose texels are as long as `reach`."""
    number = w.solid.kind[i, 7]
    if i < len(w.solid.kind) - 1:
        x, y, z = direction_to_mesh(w.solid.rows, i, 1.0, 0.0, 0.0)
        reach *= np.sqrt(x * x + y * y + z * z)
    wide = w.levels[number, 0, 2] / w.solid.rows[i, 42]
    return np.log2(max(reach * wide, 1e-9))


@subroutine
def filter_texture(
    w: PackedScene, i: int, x: float, y: float, z: float, ax: float, ay: float, az: float, bx: float, by: float,
    bz: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return a texture's colour averaged over a pixel: a point, and the steps to the next pixel across and down."""
    number = w.solid.kind[i, 7]
    s, t = texture_place(w, i, x, y, z)
    s1, t1 = texture_place(w, i, x + ax, y + ay, z + az)
    s2, t2 = texture_place(w, i, x + bx, y + by, z + bz)
    high, wide = w.levels[number, 0, 1], w.levels[number, 0, 2]
    s1, t1, s2, t2 = s1 - s, t1 - t, s2 - s, t2 - t
    major = np.sqrt((s1 * wide) ** 2 + (t1 * high) ** 2)
    minor = np.sqrt((s2 * wide) ** 2 + (t2 * high) ** 2)
    if major < minor:
        major, minor, s1, t1 = minor, major, s2, t2
    if major < 1:  # a texel is larger than the pixel
        return sample_level(w, number, 0.0, s, t)
    taps = int(min(8.0, max(1.0, np.ceil(major / max(minor, 1.0)))))
    level = np.log2(max(major / taps, minor, 1e-9))
    if taps > 2:
        level = np.floor(level + 0.5)  # so many samples need no blend of two levels
    r = g = b = 0.0
    for k in range(taps):
        off = (k + 0.5) / taps - 0.5
        p, q, o = sample_level(w, number, level, s + s1 * off, t + t1 * off)
        r, g, b = r + p, g + q, b + o
    return r / taps, g / taps, b / taps
