"""A scene in three dimensions, as plain data that any engine can draw: meshes, materials, lights, a camera, a sky.

z points up; lengths are in whatever unit the family chooses. Colours are linear red, green and blue from 0 to 1
(`linear_rgb` converts sRGB bytes). Nothing here is random: what a family jitters, it draws into the world's style and
puts into the scene as numbers. What an engine computes (linear light, instance ids, depth) becomes a shot: sRGB bytes,
ids of objects and parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from assay.base import Array

Vector = tuple[float, float, float]
Projection = Literal["perspective", "fisheye"]


@dataclass(frozen=True, eq=False)
class Mesh:
    """A surface of triangles. Vertices at a sharp edge occur once for each side, with the normal of that side.

    `name` says what it is, `vertices` and `normals` are v x 3, `faces` holds three vertex numbers a row,
    counter-clockwise from outside. Make a mesh once and use it in many instances: engines keep what they derive.
    """

    name: str
    vertices: Array
    normals: Array
    faces: Array


@dataclass(frozen=True, eq=False)
class Texture:
    """An image on a surface, laid flat over the mesh's own x and y from `corner` (left, lowest y) over `size`.

    `pixels` is height x width x 3 bytes as seen on a screen (sRGB), its first row at the highest y.
    Beyond the image it repeats.
    """

    pixels: Array
    corner: tuple[float, float] = (0.0, 0.0)
    size: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True)
class Material:
    """What a surface is made of: its colour, how metallic and how rough it is, how much light it gives of itself."""

    color: Vector = (0.5, 0.5, 0.5)
    metallic: float = 0.0
    roughness: float = 0.5
    emission: float = 0.0
    """Radiance given off, times `color`: a lit lamp has 1 or more. It lights nothing else."""
    texture: Texture | None = None
    """Replaces `color`."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A mesh in its place: `matrix` is 4 x 4, from the mesh's own lengths to the scene's.

    Instances of one `thing` ("car1") are one object; `part` ("roof") names a part of it. Without a thing
    it is background.
    """

    mesh: Mesh
    material: Material
    matrix: Array
    thing: str = ""
    part: str = ""

    @property
    def part_name(self) -> str:
        """The part as "object/part", empty if it is none."""
        return f"{self.thing}/{self.part}" if self.thing and self.part else ""


@dataclass(frozen=True)
class Camera:
    """Where the picture is taken from. `fov` is the angle from the left edge to the right one, in degrees."""

    eye: Vector
    target: Vector
    fov: float = 50.0
    up: Vector = (0.0, 0.0, 1.0)
    projection: Projection = "perspective"
    """`fisheye` is equisolid: a ray at angle a from the axis meets the picture at 2 f sin(a / 2)."""


@dataclass(frozen=True)
class AreaLight:
    """A square lamp that shines from one side towards `target`; its radiance is power / (pi x size x size)."""

    position: Vector
    target: Vector
    size: float
    power: float
    color: Vector = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Sun:
    """Parallel light from `direction` (towards the sun): `strength` in W per square unit, `angle` its width."""

    direction: Vector
    strength: float
    angle: float = 0.526
    color: Vector = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Sky:
    """Light from all sides: radiance straight up, at the horizon, and below it; seen where a ray hits nothing."""

    zenith: Vector = (0.05, 0.05, 0.05)
    horizon: Vector = (0.05, 0.05, 0.05)
    below: Vector = (0.05, 0.05, 0.05)


@dataclass(frozen=True)
class Ground:
    """An endless flat ground at height z; its texture lies over the scene's own x and y."""

    material: Material
    z: float = 0.0


@dataclass(frozen=True, eq=False)
class Scene:
    """All there is to draw."""

    width: int
    height: int
    camera: Camera
    instances: tuple[Instance, ...]
    lights: tuple[AreaLight | Sun, ...]
    sky: Sky = Sky()
    ground: Ground | None = None
    exposure: float = 1.0
    """Radiance is multiplied by this before it becomes bytes (sRGB, clipped)."""

    @cached_property
    def things(self) -> tuple[str, ...]:
        """The names of the objects, in the order in which they first occur."""
        return tuple(dict.fromkeys(instance.thing for instance in self.instances if instance.thing))

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts of objects as "object/part", in the order in which they first occur."""
        return tuple(dict.fromkeys(instance.part_name for instance in self.instances if instance.part_name))


@dataclass(frozen=True)
class Shot:
    """What an engine returns: `image` in bytes, for each pixel the number of its thing and of its part, and its depth.

    Numbers start at 1 in the order of `scene.things` and of `scene.parts`; 0 is background. `depth` is the distance
    from the eye along the camera's axis (along the ray for a fisheye), infinite where a ray meets nothing.
    """

    image: Array
    things: Array
    parts: Array
    depth: Array


def linear_rgb(red: int, green: int, blue: int) -> Vector:
    """Return a colour of a screen, in bytes, as linear light.

    >>> [round(part, 3) for part in linear_rgb(255, 128, 0)]
    [1.0, 0.216, 0.0]

    Parameters
    ----------
    red
        As a screen has it, 0 to 255.
    green
        As a screen has it, 0 to 255.
    blue
        As a screen has it, 0 to 255.
    """
    parts = np.array([red, green, blue]) / 255
    light = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(light[0]), float(light[1]), float(light[2])


def pose(at: Sequence[float], turn: float = 0.0, scale: float | Sequence[float] = 1.0, tilt: float = 0.0) -> Array:
    """Return the matrix that scales, leans by `tilt` degrees about x, turns by `turn` about z, and moves to `at`.

    >>> (pose([1, 0, 0], turn=90) @ [1, 0, 0, 1]).round(6).tolist()
    [1.0, 1.0, 0.0, 1.0]

    Parameters
    ----------
    at
        Where the origin of the mesh comes to be.
    turn
        Degrees about the upright axis.
    scale
        One factor, or one for each axis.
    tilt
        Degrees about x, before the turn.
    """
    matrix = np.eye(4)
    matrix[:3, :3] = rotation_z(turn) @ rotation_x(tilt) @ np.diag(np.broadcast_to(np.asarray(scale, dtype=float), 3))
    matrix[:3, 3] = at
    return matrix


def rotation_z(degrees: float) -> Array:
    """Return the turn about the upright axis, counter-clockwise from above."""
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def rotation_x(degrees: float) -> Array:
    """Return the turn about x that lifts y."""
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]])


def unit_vector(vector: Sequence[float] | Array) -> Array:
    """Return a vector scaled to length 1."""
    array = np.asarray(vector, dtype=np.float64)
    whole: Array = array / np.linalg.norm(array)
    return whole


def look_axes(towards: Sequence[float] | Array, up: Sequence[float] = (0.0, 0.0, 1.0)) -> tuple[Array, Array, Array]:
    """Return the unit vectors right, up and forward of a camera or lamp that looks `towards` a direction."""
    forward = unit_vector(towards)
    if abs(float(forward @ unit_vector(up))) > 0.99999:  # straight up or down: then north is up
        up = (0.0, 1.0, 0.0)
    right = unit_vector(np.cross(forward, up))
    return right, np.cross(right, forward), forward


def shot_from_passes(scene: Scene, light: Array, owner: Array, depth: Array) -> Shot:
    """Return a shot, given each pixel's linear light, instance (the ground after the last, -1 for none) and depth."""
    things, parts = object_numbers(scene)
    return Shot(encode_srgb(light, scene.exposure), things[owner], parts[owner], depth)


def object_numbers(scene: Scene) -> tuple[Array, Array]:
    """Return the numbers of each instance's thing and part, with a 0 for the ground and one for the sky at the end."""
    things = {name: number for number, name in enumerate(scene.things, start=1)}
    parts = {name: number for number, name in enumerate(scene.parts, start=1)}
    first = [things.get(instance.thing, 0) for instance in scene.instances]
    second = [parts.get(instance.part_name, 0) for instance in scene.instances]
    return np.array([*first, 0, 0], dtype=np.int32), np.array([*second, 0, 0], dtype=np.int32)


def encode_srgb(light: Array, exposure: float) -> Array:
    """Return linear light as sRGB bytes."""
    steps = (np.clip(light * exposure, 0, 1) * (len(_CURVE) - 1) + 0.5).astype(np.int32)
    return np.asarray(_CURVE[steps])


def _curve() -> Array:
    light = np.arange(1 << 16) / ((1 << 16) - 1)
    bright = np.where(light <= 0.0031308, light * 12.92, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(bright * 255), dtype=np.uint8)


_CURVE = _curve()
