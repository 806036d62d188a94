"""Signals: signal heads on a gantry, one for each way, and signs on a post."""

from collections.abc import Sequence
from functools import cache

from manifold3d import Manifold

from assay.families.driving.drawing.model import Model, Piece, extrude_front, piece
from assay.render import Material, Point, box, cylinder, linear_rgb, union

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
