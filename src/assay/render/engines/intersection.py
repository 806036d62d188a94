"""Ray intersection with the triangles of meshes, the instances of a scene, and the ground plane."""

from typing import NamedTuple

import numpy as np

from assay.base import Array
from assay.render.engines.bvh import FAR, box_entry, safe_inverse
from assay.render.engines.jit import kernel, subroutine


class SceneGeometry(NamedTuple):
    """What rays can hit. Node 0 is the root of the tree over the instances, whose leaves are single instances."""

    nodes: Array
    links: Array
    triangles: Array
    """Triangle x 9: a corner and the two edges from it; numbered across all meshes."""
    kind: Array
    """Instance (the last is the endless ground) x 8: first node, first triangle, triangles, first vertex, vertices,
    closed, convex, texture (-1: none)."""
    rows: Array
    """Instance x 44: 0 matrix to the scene, 12 matrix to the mesh, 24 ball (middle, radius), 28 box (lowest, highest),
    34 colour, 37 metallic, 38 roughness, 39 emission, 40 texture's corner and size."""
    stack: Array


@kernel
def is_convex(points: Array, triangles: Array) -> bool:
    """Whether no point lies above the plane of any triangle."""
    size = 0.0
    for k in range(len(points)):
        size = max(size, abs(points[k, 0]) + abs(points[k, 1]) + abs(points[k, 2]))
    for t in range(len(triangles)):
        ax, ay, az = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, uy, uz = triangles[t, 3], triangles[t, 4], triangles[t, 5]
        vx, vy, vz = triangles[t, 6], triangles[t, 7], triangles[t, 8]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        length = np.sqrt(nx * nx + ny * ny + nz * nz)
        if length < 1e-14:
            continue
        least = 2e-4 * size * length
        for k in range(len(points)):
            if nx * (points[k, 0] - ax) + ny * (points[k, 1] - ay) + nz * (points[k, 2] - az) > least:
                return False
    return True


@subroutine
def direction_to_mesh(rows: Array, i: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a direction of the scene as instance i has it."""
    return (
        rows[i, 12] * x + rows[i, 13] * y + rows[i, 14] * z,
        rows[i, 16] * x + rows[i, 17] * y + rows[i, 18] * z,
        rows[i, 20] * x + rows[i, 21] * y + rows[i, 22] * z,
    )


@subroutine
def point_to_mesh(rows: Array, i: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a point of the scene as instance i has it."""
    x, y, z = direction_to_mesh(rows, i, x, y, z)
    return x + rows[i, 15], y + rows[i, 19], z + rows[i, 23]


@subroutine
def point_to_scene(rows: Array, i: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a point of instance i as the scene has it."""
    return (
        rows[i, 0] * x + rows[i, 1] * y + rows[i, 2] * z + rows[i, 3],
        rows[i, 4] * x + rows[i, 5] * y + rows[i, 6] * z + rows[i, 7],
        rows[i, 8] * x + rows[i, 9] * y + rows[i, 10] * z + rows[i, 11],
    )


@subroutine
def hit_triangle(
    tri: Array, k: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float
) -> tuple[float, float, float]:
    """Return how far along a ray triangle k is, and where on it (two edge weights); `FAR` where it misses."""
    ux, uy, uz, vx, vy, vz = tri[k, 3], tri[k, 4], tri[k, 5], tri[k, 6], tri[k, 7], tri[k, 8]
    px, py, pz = dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx
    det = ux * px + uy * py + uz * pz
    if det == 0.0:
        return FAR, 0.0, 0.0
    inv = 1.0 / det
    sx, sy, sz = ox - tri[k, 0], oy - tri[k, 1], oz - tri[k, 2]
    u = (sx * px + sy * py + sz * pz) * inv
    if u < 0.0 or u > 1.0:
        return FAR, 0.0, 0.0
    qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
    v = (dx * qx + dy * qy + dz * qz) * inv
    if v < 0.0 or u + v > 1.0:
        return FAR, 0.0, 0.0
    return (vx * qx + vy * qy + vz * qz) * inv, u, v


@subroutine
def enter_children(
    g: SceneGeometry, node: int, stack: Array, high: int,
    ox: float, oy: float, oz: float, ix: float, iy: float, iz: float, most: float,
) -> tuple[int, int]:  # fmt: skip
    """Return which half of a node a ray enters first (-1: neither), the other put on the stack, and its new height."""
    near = g.links[node, 0]
    far = near + 1
    a, b = box_entry(g.nodes, near, ox, oy, oz, ix, iy, iz, most), box_entry(g.nodes, far, ox, oy, oz, ix, iy, iz, most)
    if b < a:
        near, far, a, b = far, near, b, a
    if b < FAR:
        stack[high, 0], stack[high, 1] = far, b
        high += 1
    return near if a < FAR else -1, high


@subroutine
def pop_node(stack: Array, high: int, most: float) -> tuple[int, int]:
    """Return the last node put on the stack that is nearer than `most` (-1: none), and the height without it."""
    while high > 0:
        high -= 1
        if stack[high, 1] < most:
            return int(stack[high, 0]), high
    return -1, 0


@subroutine
def hit_mesh(
    g: SceneGeometry, i: int,
    ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, most: float, anywhere: bool,
) -> tuple[float, int, float, float]:  # fmt: skip
    """Return where a ray hits instance i nearer than `most`: how far, triangle (-1: none), edge weights.

    It is the first hit, or with `anywhere` any one.
    """
    ox, oy, oz = point_to_mesh(g.rows, i, ox, oy, oz)
    dx, dy, dz = direction_to_mesh(g.rows, i, dx, dy, dz)
    ix, iy, iz = safe_inverse(dx), safe_inverse(dy), safe_inverse(dz)
    best, hit, fu, fv = most, -1, 0.0, 0.0
    node = g.kind[i, 0]
    if box_entry(g.nodes, node, ox, oy, oz, ix, iy, iz, best) == FAR:
        return best, hit, fu, fv
    stack, high = g.stack[0], 0
    while True:
        if g.links[node, 1] > 0:
            first = g.links[node, 0]
            for k in range(first, first + g.links[node, 1]):
                t, u, v = hit_triangle(g.triangles, k, ox, oy, oz, dx, dy, dz)
                if 0.0 < t < best:
                    best, hit, fu, fv = t, k, u, v
                    if anywhere:
                        return best, hit, fu, fv
        else:
            node, high = enter_children(g, node, stack, high, ox, oy, oz, ix, iy, iz, best)
            if node >= 0:
                continue
        node, high = pop_node(stack, high, best)
        if node < 0:
            return best, hit, fu, fv


@subroutine
def mesh_blocks(
    g: SceneGeometry, i: int, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, most: float
) -> bool:
    """Whether a ray hits instance i at all, nearer than `most`."""
    _, k, _, _ = hit_mesh(g, i, ox, oy, oz, dx, dy, dz, most, True)
    return k >= 0


@subroutine
def hit_scene(
    g: SceneGeometry, ground: float,
    ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, most: float, anywhere: bool,
) -> tuple[float, int, int, float, float]:  # fmt: skip
    """Return where a ray hits the scene, first or anywhere: how far, instance (-1: none), triangle, edge weights."""
    best, instance, tri, fu, fv = most, -1, -1, 0.0, 0.0
    if dz != 0.0 and abs(ground) < FAR:
        t = (ground - oz) / dz
        if 0.0 < t < best:
            best, instance = t, len(g.kind) - 1
    if len(g.kind) == 1:
        return best, instance, tri, fu, fv
    ix, iy, iz = safe_inverse(dx), safe_inverse(dy), safe_inverse(dz)
    stack, high, node = g.stack[1], 0, 0
    if box_entry(g.nodes, 0, ox, oy, oz, ix, iy, iz, best) == FAR:
        return best, instance, tri, fu, fv
    while True:
        if g.links[node, 1] > 0:
            i = g.links[node, 0]
            t, hit, u, v = hit_mesh(g, i, ox, oy, oz, dx, dy, dz, best, anywhere)
            if hit >= 0:
                best, instance, tri, fu, fv = t, i, hit, u, v
                if anywhere:
                    return best, instance, tri, fu, fv
        else:
            node, high = enter_children(g, node, stack, high, ox, oy, oz, ix, iy, iz, best)
            if node >= 0:
                continue
        node, high = pop_node(stack, high, best)
        if node < 0:
            return best, instance, tri, fu, fv


@subroutine
def scene_blocks(
    g: SceneGeometry, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, most: float
) -> bool:
    """Whether anything but the ground lies on a ray, nearer than `most`."""
    _, i, _, _, _ = hit_scene(g, FAR, ox, oy, oz, dx, dy, dz, most, True)
    return i >= 0
