"""Toy cars in parts: the floor with its coupling, walls, wheels on axles, roofs, loads; and the engine, towards +x.

Walls are solid or braced. A roof is posts with a frame, alone or with a flat plate, slats, or a gable on top of it. A
load stands on z = 0 and is 0.84 wide or less. The engine has boiler, cab, chimney, dome, buffer beam and wheels.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from manifold3d import Manifold

from assay.families.trains.drawing import materials
from assay.families.trains.drawing.materials import bevelled_box
from assay.render import Material, Mesh, cylinder, extrude, mesh_of, prism, revolve, sphere, torus, union

Pieces = tuple[tuple[Mesh, Material], ...]

SPACE = {"short": 2.48875, "long": 3.54121}
"""What a car takes of the train's length."""
GAP = 0.34
WIDTH = 1.66
FLOOR, DECK = 1.12, 1.50
"""The height of the floor's lower and upper side."""
WALL = 0.6
"""The height of a wall above the deck."""
THICK = 0.12
STAND = 0.14
"""How high above the deck loads stand, so that walls hide less of them."""
RADIUS = 0.41
AXLE = 0.5 + RADIUS
"""The height of the axles; wheels stand on the rails, at 0.5."""


def body(length: str) -> float:
    """Return how long a car is without its coupling."""
    return SPACE[length] - GAP


@cache
def floor(length: str) -> Mesh:
    """Return the floor of a car, with the coupling to the car behind it."""
    deck = bevelled_box(body(length), WIDTH, DECK - FLOOR, 0.05).translate((0, 0, FLOOR))
    beam = bevelled_box(body(length) - 0.3, 0.5, 0.2, 0.03).translate((0, 0, FLOOR - 0.16))
    stand = bevelled_box(body(length) - 3 * THICK, WIDTH - 3 * THICK, STAND + 0.1, 0.02).translate((0, 0, DECK - 0.1))
    return mesh_of(f"floor-{length}", union(deck, beam, stand))


@cache
def coupling() -> Mesh:
    """Return the bar between two cars, around the middle of the gap."""
    bar = bevelled_box(GAP + 0.36, 0.16, 0.1, 0.02)
    pin = cylinder(0.1, 0.22).translate((0, 0, -0.06))
    return mesh_of("coupling", (bar + pin).translate((0, 0, FLOOR + 0.04)))


@cache
def walls(kind: str, length: str) -> Mesh:
    """Return the four walls of a car: boards, or a frame with crosses that one sees through."""
    make = _boards if kind == "solid" else _crosses
    x, y = body(length), WIDTH
    sides = [make(x, 3 if length == "long" else 2).translate((0, sign * (y - THICK) / 2, DECK)) for sign in (-1, 1)]
    ends = [make(y, 1).rotate((0, 0, 90)).translate((sign * (x - THICK) / 2, 0, DECK)) for sign in (-1, 1)]
    return mesh_of(f"walls-{kind}-{length}", union(*sides, *ends))


def _boards(length: float, fields: int) -> Manifold:
    """Return a closed wall along x, with a batten between fields, so that long walls can be told from near ones."""
    step = length / fields
    battens = [bevelled_box(0.13, THICK + 0.07, WALL - 0.04, 0.03) for _ in range(fields - 1)]
    placed = [batten.translate((place * step - length / 2, 0, 0)) for place, batten in enumerate(battens, start=1)]
    return union(bevelled_box(length, THICK, WALL, 0.03), *placed)


def _crosses(length: float, fields: int) -> Manifold:
    """Return a frame along x whose fields hold a cross each."""
    bar = 0.1
    rails = [bevelled_box(length, THICK, bar, 0.02).translate((0, 0, z)) for z in (0, WALL - bar)]
    posts, crosses = [], []
    step = (length - bar) / fields
    for place in range(fields + 1):
        posts.append(bevelled_box(bar, THICK, WALL, 0.02).translate((-length / 2 + bar / 2 + place * step, 0, 0)))
    for place in range(fields):
        middle = -length / 2 + bar / 2 + (place + 0.5) * step
        for sign in (-1, 1):
            crosses.append(
                beam((middle - step / 2, sign * (bar - WALL) / 2), (middle + step / 2, sign * (WALL - bar) / 2))
            )
    return union(*rails, *posts, *crosses)


def beam(start: tuple[float, float], end: tuple[float, float], thick: float = 0.09, deep: float = 0.07) -> Manifold:
    """Return a slanted beam in the plane of x and z, between two points; z is measured from the middle of the wall."""
    (x, z), (far, up) = start, end
    length, angle = float(np.hypot(far - x, up - z)), float(np.degrees(np.arctan2(up - z, far - x)))
    bar = Manifold.cube((length, deep, thick), True).rotate((0, -angle, 0))
    return bar.translate(((x + far) / 2, 0, (z + up) / 2 + WALL / 2))


@cache
def wheels(axles: int, length: str) -> Pieces:
    """Return the wheels of a car on their axles: dark tyres around light discs, so that they can be counted."""
    reach = body(length) / 2 - RADIUS - 0.05
    places = [float(x) for x in np.linspace(-reach, reach, axles)]
    return wheels_at(f"wheels-{axles}-{length}", places)


def wheels_at(name: str, places: Sequence[float]) -> Pieces:
    """Return a pair of wheels on an axle at each of these places along x."""
    tyres, discs = tyre_pair(), disc_pair()
    dark = mesh_of(name, union(*(tyres.translate((x, 0, AXLE)) for x in places)), 40)
    light = mesh_of(f"{name}-discs", union(*(discs.translate((x, 0, AXLE)) for x in places)), 40)
    return (dark, materials.RUBBER), (light, materials.DISC)


def tyre_pair() -> Manifold:
    """Return two tyres with a flange on the inside, on an axle along y, around the origin."""
    tyre = cylinder(RADIUS, 0.14) - cylinder(RADIUS - 0.1, 0.14)
    flange = cylinder(RADIUS + 0.045, 0.04)
    rod = cylinder(0.06, WIDTH - 0.3).translate((0, 0, (0.3 - WIDTH) / 2)).rotate((90, 0, 0))
    return union(*_both_sides(tyre + flange), rod)


def disc_pair() -> Manifold:
    """Return the discs inside of two tyres, with their hubs."""
    return union(*_both_sides(cylinder(RADIUS - 0.09, 0.09) + cylinder(0.1, 0.18)))


def _both_sides(wheel: Manifold) -> tuple[Manifold, Manifold]:
    near = wheel.rotate((-90, 0, 0)).translate((0, WIDTH / 2 - 0.1, 0))
    far = wheel.rotate((90, 0, 0)).translate((0, 0.1 - WIDTH / 2, 0))
    return near, far


TOP = 3.10
"""The height of the frame's lower side."""
POST, BAR = 0.13, 0.15


@cache
def roof(kind: str, length: str) -> Mesh:
    """Return a roof: the foundation, or the foundation with something on it."""
    cover = {"foundation": None, "solid": _plate, "braced": _slats, "peaked": _gable}[kind]
    base = _foundation(body(length))
    return mesh_of(f"roof-{kind}-{length}", base if cover is None else base + cover(body(length)))


def _foundation(length: float) -> Manifold:
    """Return four posts in the corners and the frame that they carry."""
    x, y = (length - POST) / 2, (WIDTH - POST) / 2
    posts = [
        bevelled_box(POST, POST, TOP - DECK + 0.02, 0.02).translate((a * x, b * y, DECK))
        for a in (-1, 1)
        for b in (-1, 1)
    ]
    sides = [bevelled_box(length, BAR, BAR, 0.02).translate((0, b * (WIDTH - BAR) / 2, TOP)) for b in (-1, 1)]
    ends = [bevelled_box(BAR, WIDTH, BAR, 0.02).translate((a * (length - BAR) / 2, 0, TOP)) for a in (-1, 1)]
    return union(*posts, *sides, *ends)


def _plate(length: float) -> Manifold:
    return bevelled_box(length + 0.16, WIDTH + 0.16, 0.2, 0.06).translate((0, 0, TOP + BAR - 0.04))


def _slats(length: float) -> Manifold:
    """Return boards across the frame, on edge, with gaps between them: its outline has teeth."""
    count = 7 if length > 2.5 else 5
    step = (length - 0.16) / (count - 1)
    places = np.arange(count) * step - (length - 0.16) / 2
    return union(*(bevelled_box(0.16, WIDTH, 0.36, 0.03).translate((float(x), 0, TOP + BAR - 0.02)) for x in places))


def _gable(length: float) -> Manifold:
    half, height = WIDTH / 2 + 0.1, 0.72
    side = extrude([(-half, 0), (half, 0), (half, 0.08), (0, height), (-half, 0.08)], length + 0.16)
    return side.rotate((90, 0, 90)).translate((-(length + 0.16) / 2, 0, TOP + BAR - 0.03))


WIDE = 0.84


@cache
def load(kind: str) -> Pieces:
    """Return the pieces of a load, each of one material."""
    return LOADS[kind]()


def _box() -> Pieces:
    """A crate: boards between darker battens."""
    side = 0.84
    core = bevelled_box(side - 0.08, side - 0.08, side - 0.04, 0.02).translate((0, 0, 0.02))
    bars = []
    for a in (-1, 1):
        for b in (-1, 1):
            reach = (side - 0.12) / 2
            bars.append(Manifold.cube((0.12, 0.12, side), True).translate((a * reach, b * reach, side / 2)))
            bars.append(Manifold.cube((side, 0.12, 0.12), True).translate((0, a * reach, side / 2 + b * reach)))
            bars.append(Manifold.cube((0.12, side, 0.12), True).translate((a * reach, 0, side / 2 + b * reach)))
    return (mesh_of("crate", core), materials.OAK), (mesh_of("crate-battens", union(*bars)), materials.WALNUT)


def _golden_vase() -> Pieces:
    """A slim vase with a foot, a round belly low down, a long neck and a flaring lip."""
    profile = [(0.0, 0.0), (0.24, 0.0), (0.24, 0.06), (0.14, 0.14), (0.26, 0.26), (0.35, 0.42), (0.33, 0.56)]
    profile += [(0.2, 0.72), (0.12, 0.86), (0.11, 0.98), (0.17, 1.1), (0.28, 1.2), (0.24, 1.22), (0.0, 1.0)]
    return ((mesh_of("golden-vase", revolve(_smooth(profile)), 50), materials.GOLD),)


def _barrel() -> Pieces:
    """Staves that bulge, and iron hoops around them."""
    heights = np.linspace(0, 1.02, 13)
    radii = 0.4 - 0.11 * (2 * heights / 1.02 - 1) ** 2
    staves = revolve([(0.0, 0.0), *zip(radii.tolist(), heights.tolist(), strict=True), (0.0, 1.02)])
    hoops = []
    for z in (0.1, 0.3, 0.66, 0.86):
        radius = 0.4 - 0.11 * (2 * (z + 0.03) / 1.02 - 1) ** 2 + 0.018
        hoops.append(cylinder(radius, 0.075) - cylinder(radius - 0.05, 0.075))
        hoops[-1] = hoops[-1].translate((0, 0, z))
    return (mesh_of("barrel", staves, 40), materials.WALNUT), (mesh_of("barrel-hoops", union(*hoops)), materials.STEEL)


def _diamond() -> Pieces:
    """A cut stone that stands on its point: a flat top, a girdle, a long point."""
    crown = prism(8, 0.42, 0.2, 0.27).translate((0, 0, 0.62))
    point = prism(8, 0.02, 0.62, 0.42)
    return ((mesh_of("diamond", crown + point, 5), materials.ICE),)


def _metal_pot() -> Pieces:
    """A pot with straight sides, a lid with a knob, and two handles."""
    pot = cylinder(0.38, 0.6, rim=0.05)
    rim = cylinder(0.41, 0.06).translate((0, 0, 0.55))
    lid = revolve([(0.0, 0.6), (0.38, 0.6), (0.36, 0.66), (0.2, 0.73), (0.0, 0.76)])
    knob = Manifold.sphere(0.09, 24).translate((0, 0, 0.83))
    handles = [torus(0.11, 0.035).translate((0, sign * 0.43, 0.44)) for sign in (-1, 1)]
    return ((mesh_of("metal-pot", union(pot, rim, lid, knob, *handles), 40), materials.SILVER),)


def _oval_vase() -> Pieces:
    """A vase like an egg, with a short wide neck."""
    angles = np.linspace(-0.46 * np.pi, 0.36 * np.pi, 22)
    egg = [(0.42 * float(np.cos(a)), 0.46 + 0.46 * float(np.sin(a))) for a in angles]
    lip = [(0.17, 0.92), (0.22, 1.0), (0.17, 1.01), (0.0, 0.9)]
    return ((mesh_of("oval-vase", revolve([(0.0, egg[0][1]), *egg, *lip]), 50), materials.PORCELAIN),)


def _smooth(profile: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the profile with its corners cut, twice; its ends on the axis stay."""
    for _ in range(2):
        points = np.array(profile)
        cut = np.stack([0.75 * points[:-1] + 0.25 * points[1:], 0.25 * points[:-1] + 0.75 * points[1:]], axis=1)
        profile = [profile[0], *map(tuple, cut.reshape(-1, 2)[1:-1].tolist()), profile[-1]]
    return profile


LOADS = {
    **{"box": _box, "golden_vase": _golden_vase, "barrel": _barrel},
    **{"diamond": _diamond, "metal_pot": _metal_pot, "oval_vase": _oval_vase},
}


ENGINE_SPACE = 3.75
EngineParts = tuple[tuple[str, Mesh, Material], ...]


@cache
def engine() -> EngineParts:
    """Return the pieces of the engine, each with the name of its part."""
    long = ENGINE_SPACE - GAP
    return (
        ("body", _frame(long), materials.WALNUT),
        ("body", _boiler(long), materials.BLACK),
        ("body", _cab(long), materials.OAK),
        ("body", _brass(long), materials.BRASS),
        *_wheels(long),
    )


def _frame(long: float) -> Mesh:
    deck = bevelled_box(long, WIDTH, 0.3, 0.05).translate((0, 0, FLOOR))
    catcher = extrude([(0, -0.7), (0.42, 0), (0, 0.7)], 0.42).translate((long / 2 - 0.12, 0, 0.72))
    return mesh_of("engine-frame", deck + catcher)


def _boiler(long: float) -> Mesh:
    radius, length = 0.62, long * 0.62
    barrel = cylinder(radius, length, rim=0.06).rotate((0, 90, 0)).translate((long / 2 - length - 0.1, 0, 2.02))
    chimney = revolve([(0.0, 0.0), (0.2, 0.0), (0.2, 0.5), (0.34, 0.86), (0.26, 0.86), (0.0, 0.6)])
    saddle = bevelled_box(length - 0.2, 0.8, 0.5, 0.03).translate((long / 2 - length / 2 - 0.1, 0, FLOOR + 0.2))
    return mesh_of("engine-boiler", union(barrel, saddle, chimney.translate((long / 2 - 0.55, 0, 2.5))), 40)


def _cab(long: float) -> Mesh:
    x, high = long * 0.36, 1.62
    middle = -long / 2 + x / 2 + 0.04
    shell = bevelled_box(x, WIDTH, high, 0.04)
    window = bevelled_box(x * 0.5, WIDTH + 1, 0.55, 0.02).translate((0, 0, 0.78))
    front = bevelled_box(x + 1, 1.0, 0.5, 0.02).translate((0, 0, 0.86))
    roof = extrude(_arch(), x + 0.3).rotate((90, 0, 90)).translate((-(x + 0.3) / 2, 0, high - 0.02))
    return mesh_of("engine-cab", (shell - window - front + roof).translate((middle, 0, FLOOR + 0.28)), 30)


def _arch() -> list[tuple[float, float]]:
    angles = np.linspace(0, np.pi, 13)
    return [((WIDTH / 2 + 0.1) * float(np.cos(a)), 0.28 * float(np.sin(a))) for a in angles]


def _brass(long: float) -> Mesh:
    length = long * 0.62
    bands = [
        (cylinder(0.65, 0.09) - cylinder(0.58, 0.09))
        .rotate((0, 90, 0))
        .translate((long / 2 - 0.1 - length * part, 0, 2.02))
        for part in (0.2, 0.55, 0.9)
    ]
    dome = sphere(0.26).scale((1, 1, 1.2)).translate((long / 2 - 0.1 - length * 0.55, 0, 2.62))
    lamp = cylinder(0.17, 0.14).rotate((0, 90, 0)).translate((long / 2 - 0.14, 0, 2.12))
    return mesh_of("engine-brass", union(*bands, dome, lamp), 40)


def _wheels(long: float) -> list[tuple[str, Mesh, Material]]:
    reach = long / 2 - RADIUS - 0.1
    pieces = wheels_at("engine-wheels", [float(x) for x in np.linspace(-reach, reach, 4)])
    return [("wheels", mesh, material) for mesh, material in pieces]
