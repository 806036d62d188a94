"""Reflections on smooth surfaces, and the sum of all light of a pixel."""

import numpy as np

from assay.base import Array
from assay.render.engines.brdf import DIELECTRIC, METAL, POLISHED, environment_brdf, sample_ggx, turn_outwards
from assay.render.engines.gbuffer import GBuffer, flat_normal, pixel_alpha
from assay.render.engines.hash_noise import KEYS_PER_PIXEL, hash_noise
from assay.render.engines.indirect_lighting import ambient, trace_light
from assay.render.engines.jit import kernel
from assay.render.engines.packed_scene import PackedScene
from assay.render.engines.rasterizer import camera_ray
from assay.render.engines.textures import sky_radiance

CLEAR, SMOOTH = 0.06, 0.4
"""One ray will do below this roughness; dielectrics above this one reflect only the mean light around them."""


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
