"""A scene packed into flat arrays for compiled code; what is derived from a mesh or a texture is cached."""

from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from assay.base import Array
from assay.render.engines.intersection import STACK, SceneGeometry, build_tree, is_convex
from assay.render.scene import AreaLight, Camera, Material, Mesh, Scene, Sun, Texture, look_axes

LEAF = 4
LEVELS = 14
NONE = 1e30
GRID = 2.0**30
"""Lengths are whole multiples of 1 / GRID, far less than a pixel."""


class PackedScene(NamedTuple):
    """All arrays of a scene."""

    solid: SceneGeometry
    corners: Array
    """Vertex x 6: place and normal in the mesh's own lengths; `faces` triangle x 3 numbers of vertices."""
    faces: Array
    texels: Array
    """Texel x 3, linear; `levels` texture x level x 3: first texel, height, width."""
    levels: Array
    lights: Array
    """Light x 19: 0 area 1 sun, 1 place (or direction), 4 and 7 two half sides, 10 normal, 13 radiance (or strength),
    16 length of half a side, 17 area, 18 half a side from its target, as a slope."""
    frame: Array
    """0 eye, 3 right, 6 up, 9 forward, 12 scale in pixels, 13 fisheye, 14 half width, 15 half height, 16 sky (zenith,
    horizon, below), 25 the ground's height."""


@dataclass(frozen=True, eq=False)
class PackedMesh:
    """What is derived from a mesh once: its triangles in the order of their tree."""

    corners: Array
    faces: Array
    triangles: Array
    nodes: Array
    links: Array
    closed: bool
    convex: bool


_packed_meshes: "WeakKeyDictionary[Mesh, PackedMesh]" = WeakKeyDictionary()
_mipmaps: "WeakKeyDictionary[Texture, tuple[Array, Array]]" = WeakKeyDictionary()


def settle(numbers: Array) -> Array:
    """Return numbers on a grid, so that their last bits, which sines and products of matrices give differently on other
    processors, do not decide which of two surfaces a pixel shows.

    >>> settle(np.array([0.5, 0.1 + 0.2])) == settle(np.array([0.5000000000000001, 0.3]))
    array([ True,  True])
    """
    return np.asarray(np.round(np.asarray(numbers, dtype=np.float64) * GRID) / GRID)


def pack_scene(scene: Scene) -> PackedScene:
    """Return the scene as arrays."""
    meshes = list(dict.fromkeys(instance.mesh for instance in scene.instances))
    surfaces = [pack_mesh(mesh) for mesh in meshes]
    starts = _starts(surfaces, 2 * len(scene.instances) - 1)
    numbers = {mesh: number for number, mesh in enumerate(meshes)}
    chosen = [numbers[instance.mesh] for instance in scene.instances]
    place = settle(np.array([instance.matrix for instance in scene.instances])).reshape(-1, 4, 4)
    box = settle(_boxes(surfaces, chosen, place))
    ground = scene.ground.material if scene.ground else Material()
    materials = [*(instance.material for instance in scene.instances), ground]
    texels, levels, cover, skin = _skins(materials)
    nodes, links = _trees(surfaces, starts, box)
    solid = SceneGeometry(
        nodes, links,
        _joined([s.triangles for s in surfaces], (0, 9), np.float64),
        np.array([[*starts[n], t] for n, t in zip([*chosen, -1], skin, strict=True)], dtype=np.int64),
        _rows(place, box, materials, cover[skin] if len(cover) else np.zeros((len(skin), 4))),
        np.zeros((2, STACK, 2)),
    )  # fmt: skip
    faces = [s.faces + row[3] for s, row in zip(surfaces, starts, strict=False)]
    lights = settle(np.array([_light(light) for light in scene.lights])).reshape(-1, 19)
    corners = _joined([s.corners for s in surfaces], (0, 6), np.float64)
    return PackedScene(solid, corners, _joined(faces, (0, 3), np.int64), texels, levels, lights, _frame(scene))


def _rows(place: Array, box: Array, materials: list[Material], cover: Array) -> Array:
    count = len(box)
    rows = np.zeros((count + 1, 44))
    rows[:count, :12] = place[:, :3, :].reshape(-1, 12)
    rows[:count, 12:24] = settle(np.linalg.inv(place))[:, :3, :].reshape(-1, 12)
    rows[:count, 24:27] = (box[:, :3] + box[:, 3:]) / 2
    rows[:count, 27] = settle(np.linalg.norm(box[:, 3:] - box[:, :3], axis=1) / 2)
    rows[:count, 28:34] = box
    rows[:, 34:40] = [[*m.color, m.metallic, m.roughness, m.emission] for m in materials]
    rows[:, 40:] = cover
    return rows


def _trees(surfaces: list[PackedMesh], starts: list[tuple[int, ...]], box: Array) -> tuple[Array, Array]:
    """Return nodes and links of the tree over the instances, and after it those of the meshes."""
    if not len(box):
        return np.zeros((0, 6)), np.zeros((0, 2), np.int64)
    top, top_links, order = build_tree(box[:, :3].copy(), box[:, 3:].copy(), 1)
    leaf = top_links[:, 1] > 0
    top_links[leaf, 0] = order[top_links[leaf, 0]]
    links = [top_links, *(_moved(s.links, row) for s, row in zip(surfaces, starts, strict=False))]
    return np.concatenate([top, *(s.nodes for s in surfaces)]), np.concatenate(links)


def _frame(scene: Scene) -> Array:
    sky = scene.sky
    ground = scene.ground.z if scene.ground else NONE
    camera = settle(camera_numbers(scene.camera, scene.width, scene.height))
    return np.array([*camera, *sky.zenith, *sky.horizon, *sky.below, ground], dtype=np.float64)


def _starts(surfaces: list[PackedMesh], node: int) -> list[tuple[int, ...]]:
    """Return for each mesh, and last for the ground, where what it has begins in the joined arrays."""
    rows, triangle, vertex = [], 0, 0
    for s in surfaces:
        rows.append((node, triangle, len(s.faces), vertex, len(s.corners), int(s.closed), int(s.convex)))
        node, triangle, vertex = node + len(s.nodes), triangle + len(s.faces), vertex + len(s.corners)
    return [*rows, (0,) * 7]


def _moved(links: Array, row: tuple[int, ...]) -> Array:
    """Return a tree's links as they are in the joined arrays."""
    shifted = links.copy()
    shifted[:, 0] += np.where(links[:, 1] > 0, row[1], row[0])
    return shifted


def _joined(arrays: list[Array], empty: tuple[int, int], kind: type) -> Array:
    return np.ascontiguousarray(np.concatenate(arrays), dtype=kind) if arrays else np.zeros(empty, dtype=kind)


def _boxes(surfaces: list[PackedMesh], chosen: list[int], place: Array) -> Array:
    """Return the box around each instance in the scene, from the box around its mesh."""
    if not chosen:
        return np.zeros((0, 6))
    roots = np.array([surfaces[number].nodes[0] for number in chosen])
    middle, half = (roots[:, :3] + roots[:, 3:]) / 2, (roots[:, 3:] - roots[:, :3]) / 2
    centre = np.einsum("nij,nj->ni", place[:, :3, :3], middle) + place[:, :3, 3]
    reach = np.einsum("nij,nj->ni", np.abs(place[:, :3, :3]), half)
    return np.concatenate([centre - reach, centre + reach], axis=1)


def pack_mesh(mesh: Mesh) -> PackedMesh:
    """Return what is derived from a mesh, made at its first use."""
    if mesh not in _packed_meshes:
        _packed_meshes[mesh] = _pack_mesh(mesh)
    return _packed_meshes[mesh]


def _pack_mesh(mesh: Mesh) -> PackedMesh:
    corners = np.ascontiguousarray(settle(mesh.vertices))
    faces = np.asarray(mesh.faces, dtype=np.int64)
    a, b, c = (corners[faces[:, k]] for k in range(3))
    nodes, links, order = build_tree(np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c), LEAF)
    triangles = np.concatenate([a, b - a, c - a], axis=1)[order]
    closed = _closed(corners, faces)
    normals = np.ascontiguousarray(settle(mesh.normals))
    bulges = closed and bool(is_convex(np.ascontiguousarray(np.unique(corners, axis=0)), triangles))
    both = np.concatenate([corners, normals], axis=1)
    return PackedMesh(both, faces[order], triangles, nodes, links, closed, bulges)


def _closed(corners: Array, faces: Array) -> bool:
    """Whether each edge has exactly one face on either side."""
    _, same = np.unique(corners.round(6), axis=0, return_inverse=True)
    edges = same.reshape(-1)[np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])]
    edges = edges[edges[:, 0] != edges[:, 1]]
    forward, backward = (np.unique(pair[:, 0] * len(corners) + pair[:, 1]) for pair in (edges, edges[:, ::-1]))
    return len(forward) == len(edges) and np.array_equal(forward, backward)


def _skins(materials: list[Material]) -> tuple[Array, Array, Array, Array]:
    textures = list(dict.fromkeys(m.texture for m in materials if m.texture is not None))
    skin = np.array([textures.index(m.texture) if m.texture is not None else -1 for m in materials], dtype=np.int64)
    texels, levels, cover, start = [], np.zeros((len(textures), LEVELS, 3), np.int64), np.zeros((len(textures), 4)), 0
    for number, texture in enumerate(textures):
        pixels, table = mipmaps(texture)
        texels.append(pixels)
        levels[number] = table
        levels[number, :, 0] += start
        cover[number] = *texture.corner, *texture.size
        start += len(pixels)
    return _joined(texels, (0, 3), np.float32), levels, cover, skin


def mipmaps(texture: Texture) -> tuple[Array, Array]:
    """Return a texture's texels in linear light at full size and halved again and again, and where each level begins.

    The table has a row a level: first texel, height, width; past the smallest level it repeats that.
    """
    if texture not in _mipmaps:
        _mipmaps[texture] = _build_mipmaps(texture)
    return _mipmaps[texture]


def _build_mipmaps(texture: Texture) -> tuple[Array, Array]:
    bytes_ = np.arange(256) / 255
    light = np.where(bytes_ <= 0.04045, bytes_ / 12.92, ((bytes_ + 0.055) / 1.055) ** 2.4).astype(np.float32)
    level = light[np.asarray(texture.pixels)]
    texels, table, start = [], np.zeros((LEVELS, 3), np.int64), 0
    for k in range(LEVELS):
        table[k] = start, *level.shape[:2]
        if level.shape[:2] == (1, 1) or k == LEVELS - 1:
            texels.append(level.reshape(-1, 3))
            table[k:] = table[k]
            break
        texels.append(level.reshape(-1, 3))
        start += level.shape[0] * level.shape[1]
        level = _halved(_halved(level, 0), 1)
    return np.concatenate(texels), table


def _halved(level: Array, axis: int) -> Array:
    size = level.shape[axis]
    if size == 1:
        return level
    even, odd = level.take(range(0, size - size % 2, 2), axis), level.take(range(1, size, 2), axis)
    half: Array = (even + odd) / 2
    return half


def _light(light: AreaLight | Sun) -> Array:
    if isinstance(light, Sun):
        side, over, towards = look_axes(light.direction)
        radius = float(np.tan(np.radians(light.angle) / 2))
        strength = light.strength * np.array(light.color)
        return np.array([1, *towards, *(side * radius), *(over * radius), *(-towards), *strength, radius, 0, 0])
    side, over, normal = look_axes(np.subtract(light.target, light.position))
    half = light.size / 2
    radiance = light.power / (np.pi * light.size**2) * np.array(light.color)
    slope = half / np.linalg.norm(np.subtract(light.target, light.position))
    frame = [*light.position, *(side * half), *(over * half), *normal]
    return np.array([0, *frame, *radiance, half, light.size**2, slope])


def camera_numbers(camera: Camera, width: int, height: int) -> Array:
    """Return the camera as numbers: eye, right, up, forward, pixels per unit at distance 1, fisheye, focal length.

    A perspective ray through pixel place (x, y) is forward + right * (x - w/2) / s - up * (y - h/2) / s.
    For a fisheye the focal length is in pixels.
    """
    right, up, forward = look_axes(np.subtract(camera.target, camera.eye), camera.up)
    fisheye = camera.projection == "fisheye"
    angle = np.radians(camera.fov)
    scale = width / 2 / (2 * np.sin(angle / 4)) if fisheye else width / 2 / np.tan(angle / 2)
    return np.array([*camera.eye, *right, *up, *forward, scale, float(fisheye), width / 2, height / 2])
