"""Ray intersection with the triangles of meshes, the instances of a scene, and the ground plane.

Rays pass bounding volume hierarchies: a tree of boxes over a mesh's triangles, and one over a scene's instances. A tree
has rows of `nodes` (lowest and highest corner) and of `links`: a leaf has (first item, how many), an inner node (its
left child, 0); the right child follows the left one.
"""

from typing import NamedTuple

import numpy as np

from assay.base import Array
from assay.render.engines.jit import kernel, subroutine

BINS, STACK = 12, 64
FAR = 1e30


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


def build_tree(low: Array, high: Array, most: int) -> tuple[Array, Array, Array]:
    """Return nodes, links and the order of the items, for items with these boxes and at most `most` in a leaf."""
    count = len(low)
    nodes, links, order = np.zeros((2 * count, 6)), np.zeros((2 * count, 2), np.int64), np.arange(count)
    todo = np.zeros((2 * count + 2, 3), np.int64)
    todo[0, 2] = count
    used = grow_tree(low, high, (low + high) / 2, nodes, links, order, todo, np.zeros((BINS + 1, 8)), most)
    return nodes[:used], links[:used], order


@kernel
def grow_tree(
    low: Array, high: Array, middle: Array, nodes: Array, links: Array, order: Array, todo: Array, bins: Array,
    most: int,
) -> int:  # fmt: skip
    """Fill in nodes, links and order; return how many nodes there are. `bins` is working space."""
    used, waiting = 1, 1
    while waiting > 0:
        waiting -= 1
        node, first, last = todo[waiting, 0], todo[waiting, 1], todo[waiting, 2]
        for axis in range(3):
            least, greatest = FAR, -FAR
            for k in range(first, last):
                least, greatest = min(least, low[order[k], axis]), max(greatest, high[order[k], axis])
            nodes[node, axis], nodes[node, 3 + axis] = least, greatest
        cut = first
        if last - first > most:
            cut = partition(low, high, middle, order, bins, first, last)
        if not first < cut < last:
            links[node, 0], links[node, 1] = first, last - first
            continue
        links[node, 0] = used
        todo[waiting, 0], todo[waiting, 1], todo[waiting, 2] = used, first, cut
        todo[waiting + 1, 0], todo[waiting + 1, 1], todo[waiting + 1, 2] = used + 1, cut, last
        waiting += 2
        used += 2
    return used


@subroutine
def partition(low: Array, high: Array, middle: Array, order: Array, bins: Array, first: int, last: int) -> int:
    """Sort items first..last of the order into two halves where rays cost least; return where the second begins."""
    best, best_axis, best_edge = FAR, -1, 0.0
    for axis in range(3):
        least, greatest = FAR, -FAR
        for k in range(first, last):
            least, greatest = min(least, middle[order[k], axis]), max(greatest, middle[order[k], axis])
        if greatest - least < 1e-12:
            continue
        step = (greatest - least) / BINS
        fill_bins(low, high, middle, order, bins, first, last, axis, least, step)
        place, cost = cheapest_cut(bins)
        if cost < best:
            best, best_axis, best_edge = cost, axis, least + step * (place + 1)
    i, j = first, last - 1
    while i <= j and best_axis >= 0:
        if middle[order[i], best_axis] < best_edge:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i if first < i < last else (first + last) // 2


@subroutine
def fill_bins(
    low: Array, high: Array, middle: Array, order: Array, bins: Array, first: int, last: int, axis: int,
    least: float, step: float,
) -> None:  # fmt: skip
    """Fill the bins along an axis: box (6 numbers) and count of the items in each."""
    for place in range(BINS):
        clear_bin(bins, place)
    for k in range(first, last):
        item = order[k]
        place = min(int((middle[item, axis] - least) / step), BINS - 1)
        bins[place, 6] += 1
        for a in range(3):
            bins[place, a] = min(bins[place, a], low[item, a])
            bins[place, 3 + a] = max(bins[place, 3 + a], high[item, a])


@subroutine
def clear_bin(bins: Array, place: int) -> None:
    """Empty one bin."""
    for a in range(3):
        bins[place, a], bins[place, 3 + a] = FAR, -FAR
    bins[place, 6] = 0


@subroutine
def cheapest_cut(bins: Array) -> tuple[int, float]:
    """Return after which bin to cut, and what that costs. The row after the last bin holds the box that grows."""
    clear_bin(bins, BINS + 0)
    for place in range(BINS - 1, 0, -1):
        bins[place, 7] = add_bin(bins, place)
    clear_bin(bins, BINS + 0)
    best, cut = FAR, 0
    for place in range(BINS - 1):
        cost = add_bin(bins, place) + bins[place + 1, 7]
        if cost < best and bins[BINS, 6] > 0:
            best, cut = cost, place
    return cut, best


@subroutine
def add_bin(bins: Array, place: int) -> float:
    """Let the growing box take in a bin; return its count times its face."""
    bins[BINS, 6] += bins[place, 6]
    for a in range(3):
        bins[BINS, a] = min(bins[BINS, a], bins[place, a])
        bins[BINS, 3 + a] = max(bins[BINS, 3 + a], bins[place, 3 + a])
    x, y, z = bins[BINS, 3] - bins[BINS, 0], bins[BINS, 4] - bins[BINS, 1], bins[BINS, 5] - bins[BINS, 2]
    if x < 0:
        return 0.0
    return bins[BINS, 6] * (x * y + y * z + z * x)


@subroutine
def box_entry(
    nodes: Array, k: int, ox: float, oy: float, oz: float, ix: float, iy: float, iz: float, most: float
) -> float:
    """Return how far along a ray (origin, one over its direction) node k begins, or `FAR` where it misses."""
    a, b = (nodes[k, 0] - ox) * ix, (nodes[k, 3] - ox) * ix
    near, far = min(a, b), max(a, b)
    a, b = (nodes[k, 1] - oy) * iy, (nodes[k, 4] - oy) * iy
    near, far = max(near, min(a, b)), min(far, max(a, b))
    a, b = (nodes[k, 2] - oz) * iz, (nodes[k, 5] - oz) * iz
    near, far = max(near, min(a, b)), min(far, max(a, b))
    if far < near or far < 0.0 or near > most:
        return FAR
    return near


@subroutine
def safe_inverse(x: float) -> float:
    """Return one over x, finite."""
    if abs(x) < 1e-20:
        return 1e20 if x >= 0 else -1e20
    return 1.0 / x
