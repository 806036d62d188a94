"""The BRDF: GGX specular over a diffuse base, or metal, as in Blender's principled shader."""

import numpy as np

from assay.render.engines.jit import subroutine

DIELECTRIC = 0.04
"""The reflectance of a dielectric at normal incidence (F0)."""

METAL, POLISHED = 0.1, 0.2
"""Metallic from this value on; a mirror below this roughness, where each wrong ray would show as a dot."""
RISE = 0.02
"""The least sine of the angle between a mirror's facet and what it reflects."""


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
