"""The road: three lanes or fewer up to a crossing, their lines and arrows, kerbs, the ground around, signals, signs.

x points right, y ahead, in metres; our lane is in the middle. A lane that is not there is grass behind a kerb. A gantry
has a signal head for each way; signs stand on a post.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from manifold3d import Manifold

from assay.base import Array, rng_for
from assay.families.driving.drawing.model import Model, Piece, extrude_front, paint, piece
from assay.render import (
    Ground,
    Instance,
    Material,
    Mesh,
    Point,
    Texture,
    box,
    cylinder,
    extrude,
    linear_rgb,
    mesh_of,
    pose,
    rectangle,
    union,
)

HALF, OUTER = 1.8, 5.4
"""From the middle to the edge of our lane, and to that of the lanes beside it."""
BEGIN, CROSSING, BEYOND, END = -6.0, 21.5, 29.5, 160.0
"""How far ahead the road begins, the crossing begins and ends, and the road ends."""
DASH, PERIOD = 1.5, 3.4
SIGN_SIDES = {"left": -1, "right": 1}
CROSSINGS = ("plain", "zebra", "paved", "hatched")
"""Crossings: bare asphalt, with stripes for people on the far side, paved in brick, or with a yellow box."""
STEM: Sequence[Point] = ((-0.11, 0.0), (0.11, 0.0), (0.11, 3.3), (0.42, 3.3), (0.0, 4.6), (-0.42, 3.3), (-0.11, 3.3))
BRANCH: Sequence[Point] = (
    (-0.08, 0.9), (0.62, 1.75), (0.62, 1.3), (1.35, 2.25), (0.62, 3.2), (0.62, 2.75), (0.35, 2.6), (-0.08, 1.9),
)  # fmt: skip
KERB = paint(188, 186, 180, 0.8)
SLABS = paint(150, 146, 140, 0.85)
BRICK = paint(128, 92, 78, 0.9)
STRIPES = paint(214, 212, 204, 0.8)
BOX = paint(196, 160, 60, 0.85)


def _speckled(name: str, color: tuple[int, int, int], contrast: float, side: int = 128) -> Array:
    """Return a tile of a colour with specks, fine ones and coarse ones."""
    rng = rng_for(0, "speckles", name)
    fine, coarse = rng.normal(size=(side, side)), rng.normal(size=(side // 8, side // 8))
    tone = fine * 0.6 + np.kron(coarse, np.ones((8, 8))) * 0.4
    pixels = np.array(color) * (1 + contrast * tone[:, :, None])
    return np.clip(np.round(pixels), 0, 255).astype(np.uint8)


@cache
def asphalt(shade: int) -> Material:
    """Return asphalt, of one of three ages."""
    grey = (74, 86, 98)[shade]
    texture = Texture(_speckled("asphalt", (grey, grey, grey + 3), 0.06), (0.0, 0.0), (4.0, 4.0))
    return Material(linear_rgb(grey, grey, grey + 3), 0.0, 0.85, texture=texture)


@cache
def grass(shade: int) -> Material:
    """Return grass, of one of three seasons."""
    color = ((86, 124, 58), (104, 132, 62), (128, 130, 70))[shade]
    texture = Texture(_speckled("grass", color, 0.09), (0.0, 0.0), (3.0, 3.0))
    return Material(linear_rgb(*color), 0.0, 0.95, texture=texture)


def ground(shade: int) -> Ground:
    """Return the ground around the road."""
    return Ground(grass(shade))


@cache
def _strip(name: str, left: float, low: float, right: float, high: float, z: float) -> Mesh:
    return rectangle(name, left, low, right, high, z)


@cache
def _dashes() -> Mesh:
    """Return the dashes of a line along y."""
    starts = np.arange(BEGIN - PERIOD, CROSSING - DASH - PERIOD / 2, PERIOD)
    return _joined("dashes", [rectangle("dash", -0.09, y, 0.09, y + DASH, 0.03) for y in starts])


@cache
def _arrow(way: str) -> Mesh:
    """Return an arrow on the road: straight on, or its branch to one side."""
    if way == "ahead":
        return mesh_of("arrow", extrude(STEM, 0.02))
    branch = extrude(BRANCH, 0.02)
    return mesh_of("arrow", branch if way == "right" else branch.mirror((1, 0, 0)))


@cache
def _kerbs(side: str, inner: bool) -> Mesh:
    """Return the kerb on one side of our lane, or of the lane beside it, and along the crossing."""
    edge, length = HALF if inner else OUTER, CROSSING - BEGIN
    along = box(0.2, length, 0.14).translate((edge + 0.1, BEGIN + length / 2, 0))
    far = box(80, 0.2, 0.14).translate((OUTER + 40, BEYOND + 0.1, 0))
    near = box(80, 0.2, 0.14).translate((edge + 40, CROSSING - 0.1, 0))
    right = union(along, far, near)
    return mesh_of("kerbs", right if side == "right" else right.mirror((1, 0, 0)))


def pavement(shade: int) -> list[Instance]:
    """Return what is always there: our lane, the crossing, the road beyond it, the stop line and the footways."""
    still = np.eye(4)
    grey = asphalt(shade)
    instances = [
        Instance(_strip("our lane", -HALF, BEGIN, HALF, CROSSING, 0.01), grey, still),
        Instance(_strip("crossing", -85.0, CROSSING, 85.0, BEYOND, 0.01), grey, still),
        Instance(_strip("beyond", -OUTER, BEYOND, OUTER, END, 0.01), grey, still),
    ]
    for side in (-1, 1):
        low, high = sorted((side * (OUTER + 0.2), side * (OUTER + 2.0)))
        instances.append(Instance(_strip("footway", low, BEGIN, high, CROSSING - 0.2, 0.05), SLABS, still))
        instances.append(Instance(_strip("footway beyond", low, BEYOND + 0.2, high, END, 0.05), SLABS, still))
    return instances


@cache
def _stripes() -> Mesh:
    """Return the stripes of a zebra crossing over the road beyond."""
    starts = np.arange(-OUTER + 0.3, OUTER - 0.6, 1.0)
    return _joined("zebra", [rectangle("stripe", x, BEYOND - 2.2, x + 0.5, BEYOND - 0.2, 0.02) for x in starts])


@cache
def _hatching() -> Mesh:
    """Return the lines of a box that is to be kept clear: its frame, and diagonals both ways."""
    low, high, half = CROSSING + 0.6, BEYOND - 0.6, OUTER - 0.4
    parts = [rectangle("edge", -half, y, half, y + 0.15, 0.02) for y in (low, high - 0.15)]
    parts += [rectangle("edge", x, low, x + 0.15, high, 0.02) for x in (-half, half - 0.15)]
    run = high - low
    for start in np.arange(-half, half - run + 0.01, (2 * half - run) / 3):
        for near, far in ((start, start + run), (start + run, start)):
            points = np.array([[near, low, 0.02], [near + 0.2, low, 0.02], [far + 0.2, high, 0.02], [far, high, 0.02]])
            parts.append(Mesh("line", points, np.tile([0.0, 0.0, 1.0], (4, 1)), parts[0].faces))
    return _joined("box", parts)


def _joined(name: str, parts: Sequence[Mesh]) -> Mesh:
    """Return flat shapes of four corners each as one mesh."""
    points = np.concatenate([part.vertices for part in parts])
    faces = np.concatenate([part.faces + 4 * place for place, part in enumerate(parts)])
    return Mesh(name, points, np.tile([0.0, 0.0, 1.0], (len(points), 1)), faces)


def crossing(kind: str) -> list[Instance]:
    """Return what lies on a crossing of one kind."""
    if kind == "plain":
        return []
    if kind == "paved":
        return [Instance(_strip("paving", -OUTER, CROSSING, OUTER, BEYOND, 0.015), BRICK, np.eye(4))]
    mesh, color = (_stripes(), STRIPES) if kind == "zebra" else (_hatching(), BOX)
    return [Instance(mesh, color, np.eye(4))]


def beside(side: str, absent: bool, shade: int, season: int) -> list[Instance]:
    """Return what is beside our lane: another lane, or grass behind a kerb."""
    still, sign = np.eye(4), SIGN_SIDES[side]
    low, high = sorted((sign * HALF, sign * OUTER))
    thing = f"no_{side}_lane" if absent else ""
    if absent:
        verge = Instance(_strip(f"{side} verge", low, BEGIN, high, CROSSING, 0.012), grass(season), still, thing)
        return [verge, Instance(_kerbs(side, True), KERB, still, thing)]
    lane = Instance(_strip(f"{side} lane", low, BEGIN, high, CROSSING, 0.01), asphalt(shade), still)
    return [lane, Instance(_kerbs(side, False), KERB, still)]


def stop_line(color: Material, right: bool, left: bool) -> Instance:
    """Return the line at the crossing, over the lanes that there are."""
    ends = -OUTER if left else -HALF, OUTER if right else HALF
    return Instance(
        _strip("stop line", ends[0] + 0.2, CROSSING - 1.2, ends[1] - 0.2, CROSSING - 0.8, 0.03), color, np.eye(4)
    )


def line(side: str, solid: bool, color: Material, phase: float) -> Instance:
    """Return the line between our lane and what is beside it, solid or in dashes that begin at a phase from 0 to 1."""
    x = SIGN_SIDES[side] * (HALF - 0.14)
    if solid:
        mesh = _strip("solid line", -0.09, BEGIN, 0.09, CROSSING - 1.2, 0.03)
        return Instance(mesh, color, pose([x, 0, 0]), f"{side}_solid_line")
    return Instance(_dashes(), color, pose([x, phase * PERIOD, 0]))


def arrows(left: bool, right: bool, color: Material, y: float) -> list[Instance]:
    """Return the arrow on our lane: ahead always, and to each side that the lane leads to."""
    where = pose([0, y, 0.02])
    instances = [Instance(_arrow("ahead"), color, where)]
    for way, there in (("left", left), ("right", right)):
        if there:
            instances.append(Instance(_arrow(way), color, where, f"{way}_lane"))
    return instances


SIGNS = ("none", "limit30", "limit50", "priority")
"""What stands where no stop sign stands."""
LAMP = 0.5
"""The radius of a lamp."""
LETTERS = {
    "S": ("###", "#..", "###", "..#", "###"),
    "T": ("###", ".#.", ".#.", ".#.", ".#."),
    "O": ("###", "#.#", "#.#", "#.#", "###"),
    "P": ("###", "#.#", "###", "#..", "#.."),
    "3": ("###", "..#", "###", "..#", "###"),
    "5": ("###", "#..", "###", "..#", "###"),
    "0": ("###", "#.#", "#.#", "#.#", "###"),
}
ARROW: Sequence[Point] = (
    (-0.1, -0.36), (0.1, -0.36), (0.1, 0.02), (0.34, 0.02), (0.0, 0.4), (-0.34, 0.02), (-0.1, 0.02),
)  # fmt: skip
GREEN_ON, RED_ON = Material(linear_rgb(40, 255, 120), emission=1.3), Material(linear_rgb(255, 24, 20), emission=1.3)
GREEN_OFF, RED_OFF = Material(linear_rgb(20, 28, 24), roughness=0.9), Material(linear_rgb(50, 18, 18), roughness=0.9)


def disc(radius: float, depth: float) -> Manifold:
    """Return a disc that looks towards -y, its back at y = 0."""
    return cylinder(radius, depth).rotate((90, 0, 0))


@cache
def gantry() -> Model:
    """Return a beam over the road on two posts, and the housings of three signal heads that hang from it."""
    posts = [cylinder(0.16, 7.6).translate((x, 0.2, 0)) for x in (-8.6, 8.6)]
    beam = box(17.4, 0.24, 0.24).translate((0, 0.2, 7.25))
    frames, housings = list[Manifold](), list[Manifold]()
    for x, lamps in ((-3.3, 1), (0.0, 2), (3.3, 1)):
        high = 0.26 + lamps * 1.12
        frames.append(box(1.5, 0.08, high + 0.16).translate((x, 0.1, 7.0 - high - 0.08)))
        housings.append(box(1.34, 0.16, high).translate((x, 0.04, 7.0 - high)))
    return (
        piece("gantry", union(*posts, beam), "steel"),
        piece("frames", union(*frames), "white"),
        piece("housings", union(*housings), "black"),
    )


HEADS = {
    "left_green_light": (-3.3, 6.31, 90),
    "red_light": (0.0, 6.31, 0),
    "green_light": (0.0, 5.19, 0),
    "right_green_light": (3.3, 6.31, -90),
}
"""For each lamp its place on the gantry (x, z), and how far its arrow is turned to the left."""


@cache
def _round_lamp() -> Piece:
    return piece("lamp", disc(LAMP, 0.06), "lamp")


@cache
def _arrow_lamp(turn: int) -> Piece:
    arrow = extrude_front([(1.15 * x, 1.15 * z) for x, z in ARROW], 0.06).translate((0, -0.06, 0)).rotate((0, -turn, 0))
    return piece("arrow", arrow, "lamp")


@cache
def _hood() -> Piece:
    tube = disc(LAMP + 0.07, 0.3) - disc(LAMP + 0.02, 0.6).translate((0, 0.1, 0))
    return piece("hood", tube - box(2, 2, 1).translate((0, 0, -1.2)), "black")


def lamp(name: str) -> Model:
    """Return a lamp of the gantry: a round one for red, an arrow for green; its paint is `lamp`."""
    return (_round_lamp() if name == "red_light" else _arrow_lamp(HEADS[name][2]), _hood())


def lamp_paint(name: str, lit: bool) -> Material:
    """Return the paint of a lamp that is lit or not."""
    if name == "red_light":
        return RED_ON if lit else RED_OFF
    return GREEN_ON if lit else GREEN_OFF


def letters(text: str, high: float) -> Manifold:
    """Return letters that look towards -y, around the origin."""
    cell = high / 5
    wide = (4 * len(text) - 1) * cell
    spots = [
        ((4 * place + column + 0.5) * cell - wide / 2, (2 - row) * cell)
        for place, letter in enumerate(text)
        for row, cells in enumerate(LETTERS[letter])
        for column, mark in enumerate(cells)
        if mark == "#"
    ]
    return union(*(box(cell * 1.02, 0.03, cell * 1.02).translate((x, -0.015, z - cell / 2)) for x, z in spots))


@cache
def post() -> Model:
    """Return the post of a sign."""
    return (piece("post", cylinder(0.06, 3.9).translate((0, 0.1, 0)), "steel"),)


@cache
def sign(name: str) -> Model:
    """Return a sign that looks towards -y: the stop sign, or one that is no concept."""
    if name == "stop":
        eight = plate(8, 0.86)
        return (
            piece("border", eight, "white"),
            piece("face", plate(8, 0.78).translate((0, -0.03, 0)), "red"),
            piece("letters", letters("STOP", 0.44).translate((0, -0.09, 0)), "white"),
        )
    if name == "priority":
        return (
            piece("border", plate(4, 0.8, 0), "white"),
            piece("face", plate(4, 0.62, 0).translate((0, -0.03, 0)), "yellow"),
        )
    return (
        piece("border", disc(0.68, 0.06), "red"),
        piece("face", disc(0.52, 0.06).translate((0, -0.03, 0)), "white"),
        piece("digits", letters(name[-2:], 0.48).translate((0, -0.09, 0)), "black"),
    )


def plate(sides: int, radius: float, turn: float | None = None) -> Manifold:
    """Return a plate with so many sides that looks towards -y, standing on a side unless turned otherwise."""
    flat = Manifold.cylinder(0.06, radius, radius, sides)
    return flat.rotate((0, 0, 180 / sides if turn is None else turn)).rotate((90, 0, 0))
