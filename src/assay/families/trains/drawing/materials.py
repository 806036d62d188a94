"""Paint, wood and metal: the materials of trains and blocks, and a box with its edges planed off."""

from itertools import product

from manifold3d import Manifold

from assay.render import Material, linear_rgb

COLOURS = {
    "yellow": Material(linear_rgb(246, 190, 8), roughness=0.35),
    "green": Material(linear_rgb(28, 132, 44), roughness=0.35),
    "grey": Material(linear_rgb(132, 134, 138), roughness=0.35),
    "red": Material(linear_rgb(196, 18, 20), roughness=0.35),
    "blue": Material(linear_rgb(24, 74, 190), roughness=0.35),
}
"""The paint of cars."""
BLACK = Material(linear_rgb(26, 26, 30), roughness=0.4)
RUBBER = Material(linear_rgb(38, 37, 40), roughness=0.6)
DISC = Material(linear_rgb(214, 208, 196), roughness=0.4)
STEEL = Material(linear_rgb(168, 172, 178), metallic=0.9, roughness=0.3)
SILVER = Material(linear_rgb(205, 208, 212), metallic=1.0, roughness=0.22)
GOLD = Material(linear_rgb(232, 172, 46), metallic=1.0, roughness=0.25)
BRASS = Material(linear_rgb(206, 158, 62), metallic=0.9, roughness=0.3)
OAK = Material(linear_rgb(198, 140, 78), roughness=0.55)
WALNUT = Material(linear_rgb(104, 62, 34), roughness=0.5)
SLEEPER = Material(linear_rgb(84, 66, 52), roughness=0.8)
ICE = Material(linear_rgb(122, 214, 236), roughness=0.08)
PORCELAIN = Material(linear_rgb(150, 44, 140), roughness=0.2)
ORANGE = Material(linear_rgb(238, 108, 10), roughness=0.15)
STRIP = Material(linear_rgb(222, 222, 218), roughness=0.8)


def bevelled_box(x: float, y: float, z: float, edge: float) -> Manifold:
    """Return a box of these lengths on z = 0 in the middle of x and y, its edges planed off by `edge`."""
    half = (x / 2, y / 2, z / 2)
    points = []
    for signs in product((-1, 1), repeat=3):
        for full in range(3):
            corner = [
                sign * (size - (0 if axis == full else edge))
                for axis, (sign, size) in enumerate(zip(signs, half, strict=True))
            ]
            points.append((corner[0], corner[1], corner[2] + half[2]))
    return Manifold.hull_points(points)
