"""Primary visibility at each pixel's middle: a depth buffer for a perspective camera, rays for a fisheye.

A triangle a, b, c seen from the eye covers pixel place p = (x, y, 1) where p . (a x b), p . (b x c) and p . (c x a)
have one sign, with corners taken times the camera's matrix; so nothing needs to be clipped.
"""

import numpy as np

from assay.base import Array
from assay.render.engines.intersection import FAR, hit_scene
from assay.render.engines.jit import kernel, subroutine
from assay.render.engines.packed_scene import PackedScene

NEAR = 1e-4


@subroutine
def camera_ray(camera: Array, x: float, y: float) -> tuple[float, float, float, float]:
    """Return the direction in which pixel place (x, y) looks, and 1.0, or 0.0 outside a fisheye's circle.

    For a perspective camera the direction has length 1 along the axis, for a fisheye length 1.
    """
    a, b, c = (x - camera[14]) / camera[12], (camera[15] - y) / camera[12], 1.0
    if camera[13] > 0:
        radius = np.sqrt(a * a + b * b)
        half = radius / 2  # the sine of half the angle from the axis
        if half > 1.0:
            return 0.0, 0.0, 0.0, 0.0
        sine = 2 * half * np.sqrt(1 - half * half)
        c = 1 - 2 * half * half
        if radius > 0:
            a, b = a / radius * sine, b / radius * sine
    return (
        a * camera[3] + b * camera[6] + c * camera[9],
        a * camera[4] + b * camera[7] + c * camera[10],
        a * camera[5] + b * camera[8] + c * camera[11],
        1.0,
    )


@subroutine
def project_point(camera: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return the pixel place of a point, and its depth; a depth of 0 or less is not in the picture."""
    x, y, z = x - camera[0], y - camera[1], z - camera[2]
    a = x * camera[3] + y * camera[4] + z * camera[5]
    b = x * camera[6] + y * camera[7] + z * camera[8]
    c = x * camera[9] + y * camera[10] + z * camera[11]
    if camera[13] > 0:
        far = np.sqrt(a * a + b * b + c * c)
        side = np.sqrt(a * a + b * b)
        half = np.sqrt(max(0.0, (1 - c / far) / 2))
        grow = 2 * half / side if side > 0 else 0.0
        return camera[14] + a * grow * camera[12], camera[15] - b * grow * camera[12], far
    if c <= NEAR:
        return 0.0, 0.0, 0.0
    return camera[14] + a / c * camera[12], camera[15] - b / c * camera[12], c


def rasterize(w: PackedScene, width: int, height: int) -> tuple[Array, Array, Array]:
    """Return for each pixel's middle the instance (-1: sky), the triangle and the depth."""
    if w.frame[13] > 0:
        rows, columns = np.mgrid[:height, :width] + 0.5
        owner, tri, depth = cast_rays(w, np.stack([columns.ravel(), rows.ravel()], axis=1))
        return owner.reshape(height, width), tri.reshape(height, width), depth.reshape(height, width)
    owner, tri, depth = np.full((height, width), -1), np.full((height, width), -1), np.full((height, width), np.inf)
    draw_triangles(w, owner, tri, depth, np.zeros((len(w.corners), 3)), np.zeros((3, 4)))
    return owner, tri, depth


def cast_rays(w: PackedScene, places: Array) -> tuple[Array, Array, Array]:
    """Return for each pixel place (x, y) the instance, the triangle and the depth, found by a ray."""
    owner, tri, depth = np.full(len(places), -1), np.full(len(places), -1), np.full(len(places), np.inf)
    trace_places(w, places, owner, tri, depth)
    return owner, tri, depth


@kernel
def trace_places(w: PackedScene, places: Array, owner: Array, tri: Array, depth: Array) -> None:
    """Fill in the first hit of the ray through each pixel place."""
    for n in range(len(places)):
        dx, dy, dz, good = camera_ray(w.frame, places[n, 0], places[n, 1])
        if good == 0.0:
            continue
        x, y, z = w.frame[0], w.frame[1], w.frame[2]
        t, i, k, _, _ = hit_scene(w.solid, w.frame[25], x, y, z, dx, dy, dz, FAR, False)
        if i >= 0:
            owner[n], tri[n], depth[n] = i, k, t


@kernel
def draw_triangles(w: PackedScene, owner: Array, tri: Array, depth: Array, view: Array, matrix: Array) -> None:
    """Fill in what each pixel's middle shows; `view` and `matrix` are working space."""
    height, width = owner.shape
    draw_ground(w, owner, depth)
    for i in range(len(w.solid.kind) - 1):
        if not in_view(w, i, width, height):
            continue
        project_instance(w, i, view, matrix)
        for k in range(w.solid.kind[i, 1], w.solid.kind[i, 1] + w.solid.kind[i, 2]):
            fill_triangle(view, w.faces, k, i, w.solid.kind[i, 5] > 0, owner, tri, depth)


@subroutine
def draw_ground(w: PackedScene, owner: Array, depth: Array) -> None:
    """Fill in the endless ground where a perspective camera sees it."""
    if w.frame[25] >= FAR:
        return
    height, width = owner.shape
    drop = w.frame[25] - w.frame[2]
    for y in range(height):
        for x in range(width):
            _, _, dz, _ = camera_ray(w.frame, x + 0.5, y + 0.5)
            if dz * drop > 0:
                owner[y, x], depth[y, x] = len(w.solid.kind) - 1, drop / dz


@subroutine
def in_view(w: PackedScene, i: int, width: int, height: int) -> bool:
    """Whether any of an instance's ball can be in the picture."""
    x, y, z = w.solid.rows[i, 24] - w.frame[0], w.solid.rows[i, 25] - w.frame[1], w.solid.rows[i, 26] - w.frame[2]
    c = x * w.frame[9] + y * w.frame[10] + z * w.frame[11]
    if c + w.solid.rows[i, 27] <= NEAR:
        return False
    for row in range(2):
        axis, half = 3 + 3 * row, w.frame[14 + row]
        a = abs(x * w.frame[axis] + y * w.frame[axis + 1] + z * w.frame[axis + 2])
        slope = half / w.frame[12]
        if a - c * slope > w.solid.rows[i, 27] * np.sqrt(1 + slope * slope):
            return False
    return True


@subroutine
def project_instance(w: PackedScene, i: int, view: Array, t: Array) -> None:
    """Put an instance's corners through its matrix and the camera's: x and y in pixels times depth, and depth."""
    m, cam = w.solid.rows, w.frame
    first, last = w.solid.kind[i, 3], w.solid.kind[i, 3] + w.solid.kind[i, 4]
    for row in range(3):
        axis = 3 + 3 * row
        for column in range(4):
            t[row, column] = (
                cam[axis] * m[i, column] + cam[axis + 1] * m[i, 4 + column] + cam[axis + 2] * m[i, 8 + column]
            )
        t[row, 3] -= cam[axis] * cam[0] + cam[axis + 1] * cam[1] + cam[axis + 2] * cam[2]
    for column in range(4):
        t[0, column] = cam[12] * t[0, column] + cam[14] * t[2, column]
        t[1, column] = -cam[12] * t[1, column] + cam[15] * t[2, column]
    for k in range(first, last):
        x, y, z = w.corners[k, 0], w.corners[k, 1], w.corners[k, 2]
        for row in range(3):
            view[k, row] = t[row, 0] * x + t[row, 1] * y + t[row, 2] * z + t[row, 3]


@subroutine
def bounds(view: Array, a: int, b: int, c: int, width: int, height: int) -> tuple[float, float, float, float]:
    """Return left, top, right, bottom of a triangle in pixel places; all of the picture where it passes the eye."""
    left, top, right, bottom = FAR, FAR, -FAR, -FAR
    for k in (a, b, c):
        z = view[k, 2]
        if z < NEAR:
            return 0.0, 0.0, float(width), float(height)
        x, y = view[k, 0] / z, view[k, 1] / z
        left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
    return left, top, right, bottom


@subroutine
def edge_functions(
    view: Array, a: int, b: int, c: int, one_sided: bool
) -> tuple[float, float, float, float, float, float, float, float, float, float]:
    """Return the edge functions of a triangle: e, f, g, linear in x and y, have the sign of d inside; depth is d / sum.

    First d, which is 0 where there is nothing to draw, then the weights of x, y and 1 in each of the others.
    """
    ax, ay, az, bx, by, bz = view[a, 0], view[a, 1], view[a, 2], view[b, 0], view[b, 1], view[b, 2]
    cx, cy, cz = view[c, 0], view[c, 1], view[c, 2]
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    det = ax * ux + ay * uy + az * uz
    if (az < NEAR and bz < NEAR and cz < NEAR) or (one_sided and det > 0):
        det = 0.0
    vx, vy, vz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
    return det, ux, uy, uz, vx, vy, vz, ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@subroutine
def fill_triangle(
    view: Array, faces: Array, k: int, i: int, one_sided: bool, owner: Array, tri: Array, depth: Array
) -> None:
    """Draw triangle k of instance i where it is the nearest so far."""
    height, width = owner.shape
    a, b, c = faces[k, 0], faces[k, 1], faces[k, 2]
    det, ux, uy, uz, vx, vy, vz, wx, wy, wz = edge_functions(view, a, b, c, one_sided)
    if det == 0.0:
        return
    left, top, right, bottom = bounds(view, a, b, c, width, height)
    x0, x1 = max(0, int(np.ceil(left - 0.5))), min(width - 1, int(np.floor(right - 0.5)))
    y0, y1 = max(0, int(np.ceil(top - 0.5))), min(height - 1, int(np.floor(bottom - 0.5)))
    if x0 > x1 or y0 > y1:
        return
    sign = 1.0 if det > 0 else -1.0
    for y in range(y0, y1 + 1):
        py = y + 0.5
        u0, v0, w0 = uy * py + uz, vy * py + vz, wy * py + wz
        for x in range(x0, x1 + 1):
            px = x + 0.5
            e, f, g = ux * px + u0, vx * px + v0, wx * px + w0
            if e * sign >= 0 and f * sign >= 0 and g * sign >= 0:
                total = e + f + g
                if total == 0.0:
                    continue
                z = det / total
                if NEAR < z < depth[y, x]:
                    owner[y, x], tri[y, x], depth[y, x] = i, k, z
