"""Scenes of CLE4EVR: solids of ten shapes, ten colours, two materials and three sizes, on a floor under three lamps.

The meshes have radius 1 and stand on z = 0; an object's size scales them. Nothing here is drawn at random.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import cos, pi, sin

from manifold3d import Manifold

from assay.families.clevr.placement import CameraView
from assay.render import (
    AreaLight,
    Ground,
    Instance,
    Material,
    Mesh,
    Scene,
    Sky,
    Vector,
    box,
    cylinder,
    hull,
    linear_rgb,
    mesh_of,
    pose,
    revolve,
    sphere,
    torus,
    union,
)

COLOURS = {
    "gray": (128, 128, 128),
    "red": (190, 25, 30),
    "blue": (35, 70, 215),
    "green": (25, 120, 35),
    "brown": (115, 65, 28),
    "purple": (125, 35, 190),
    "cyan": (40, 205, 210),
    "yellow": (250, 225, 40),
    "pink": (250, 130, 185),
    "orange": (245, 120, 15),
}
MATERIALS = {"rubber": (0.0, 0.85), "metal": (1.0, 0.08)}
"""How metallic and how rough."""
SIZES = {"large": 0.7, "medium": 0.5, "small": 0.3}
"""The radius, as rsbench has them."""
TALLEST = 2.0
"""The height of the tallest shape, in radii."""
Point3 = tuple[float, float, float]
FARTHEST = 40.0
"""The depth that counts as white."""

FLOORS = {"grey": (178, 178, 176), "green": (120, 160, 110), "brown": (150, 110, 80)}
"""The colours of the floor; CLEVR's is grey."""
AMBIENT = Sky((0.4, 0.4, 0.4), (0.75, 0.75, 0.75), (0.3, 0.3, 0.3))
"""Brighter towards the horizon, so that metal has something to shine with; and so bright that the floor far away, which
the edges of a mirror reflect, is no black line."""


@dataclass(frozen=True)
class Lamp:
    """A lamp before it is jittered."""

    position: Vector
    size: float
    power: float


LAMPS = {
    "key": Lamp((6.0, -3.5, 7.5), 2.0, 380.0),
    "fill": Lamp((-6.5, -5.5, 5.0), 4.0, 120.0),
    "back": Lamp((-3.0, 6.5, 6.5), 2.0, 160.0),
}


def _cube() -> Manifold:
    return box(2**0.5, 2**0.5, 2**0.5, rim=0.14)


def _ball() -> Manifold:
    return sphere(1.0).translate((0, 0, 1))


def _rod() -> Manifold:
    return cylinder(0.8, 1.6, rim=0.07)


def _cone() -> Manifold:
    return cylinder(0.9, TALLEST, top=0.07, rim=0.06)


def _rounded(points: Iterable[Point3], rim: float) -> Manifold:
    """Return the convex solid of these corners with round edges."""
    ball = Manifold.sphere(rim, 16)
    return hull(*(ball.translate(point) for point in points))


def _pyramid() -> Manifold:
    """Lower and wider than the cone, so that the two differ in outline too."""
    rim, reach = 0.08, 0.64
    corners = [(reach * x, reach * y, rim) for x, y in product((-1, 1), repeat=2)]
    return _rounded([*corners, (0, 0, 1.3)], rim)


def _ring() -> Manifold:
    return torus(0.69, 0.31).translate((0, 0, 0.31))


def _star() -> Manifold:
    """Five arms that lie flat, each a convex solid from the middle to its tip."""
    rim, inner, outer, height = 0.08, 0.38, 0.92, 0.6
    arms = []
    for k in range(5):
        ends = [(outer, 2 * k), (inner, 2 * k - 1), (inner, 2 * k + 1), (0.0, 0)]
        corners = [(r * cos(pi * a / 5), r * sin(pi * a / 5)) for r, a in ends]
        arms.append(_rounded([(x, y, z) for x, y in corners for z in (rim, height - rim)], rim))
    return union(*arms)


def _cross() -> Manifold:
    """Three bars through one middle, each along an axis."""
    long, thick = 1.9, 0.56
    sides = ((long, thick, thick), (thick, long, thick), (thick, thick, long))
    return union(*(box(x, y, z, rim=0.1).translate((0, 0, (long - z) / 2)) for x, y, z in sides))


def _hourglass() -> Manifold:
    return revolve([(0, 0), (0.78, 0), (0.82, 0.1), (0.17, 0.9), (0.82, 1.7), (0.78, 1.8), (0, 1.8)])


def _diamond() -> Manifold:
    """A stone with eight sides, standing on its tip."""
    rim, rings = 0.05, ((0.87, 1.07), (0.48, 1.5))
    corners = [(r * cos(pi * k / 4), r * sin(pi * k / 4), z) for r, z in rings for k in range(8)]
    return _rounded([(0, 0, rim), *corners], rim)


SHAPES = {
    "cube": _cube,
    "sphere": _ball,
    "cylinder": _rod,
    "cone": _cone,
    "pyramid": _pyramid,
    "ring": _ring,
    "star": _star,
    "cross": _cross,
    "hourglass": _hourglass,
    "diamond": _diamond,
}


@cache
def shape_mesh(name: str) -> Mesh:
    """Return the mesh of a shape."""
    return mesh_of(name, SHAPES[name]())


@dataclass(frozen=True)
class ClevrObject:
    """One object: what it looks like, and where it stands (x, y) and how it is turned, in degrees."""

    name: str
    colour: str
    shape: str
    material: str
    size: str
    spot: Sequence[float]

    @property
    def radius(self) -> float:
        """The radius of what it stands on."""
        return SIZES[self.size]

    @property
    def middle(self) -> float:
        """The height of its middle above the floor."""
        heights = shape_mesh(self.shape).vertices[:, 2]
        return float(self.radius * (heights.min() + heights.max()) / 2)

    @property
    def instance(self) -> Instance:
        """The object in its place."""
        metallic, roughness = MATERIALS[self.material]
        material = Material(linear_rgb(*COLOURS[self.colour]), metallic, roughness)
        x, y, turn = self.spot
        return Instance(shape_mesh(self.shape), material, pose((x, y, 0.0), turn, self.radius), self.name)


def scene_of(
    solids: Sequence[ClevrObject], view: CameraView, lamps: Mapping[str, Sequence[float]], floor: str = "grey"
) -> Scene:
    """Return the scene: objects as the view shows them on a floor, each lamp moved by its jitter."""
    lights = tuple(
        AreaLight(_moved(lamp.position, lamps[name]), (0.0, 0.0, 0.0), lamp.size, lamp.power)
        for name, lamp in LAMPS.items()
    )
    instances = tuple(solid.instance for solid in solids)
    ground = Ground(Material(linear_rgb(*FLOORS[floor]), roughness=0.9))
    return Scene(view.width, view.height, view.camera, instances, lights, AMBIENT, ground)


def _moved(place: Vector, by: Sequence[float]) -> Vector:
    return place[0] + by[0], place[1] + by[1], place[2] + by[2]
