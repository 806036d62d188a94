"""The room: a table under the board, two chairs, a floor, a wall to either far side."""

from functools import cache

from assay.families.chess.drawing.textures import MARGIN, floor_texture, table_texture
from assay.render import Ground, Instance, Material, Mesh, box, cylinder, linear_rgb, mesh_of, pose, rectangle, union

SIDE = 0.106768
"""The side of a square."""
BOARD = 0.035
"""How thick the board is."""
FLOOR = -1.42
"""How far below the board's top the floor is."""
TABLE = (1.5, 1.24, 0.05)
SEAT = -0.58
"""The height of the chairs' seats."""


@cache
def board_mesh() -> Mesh:
    """Return the board's body, its top at z = 0."""
    reach = 2 * SIDE * (4 + MARGIN)
    return mesh_of("chess board", box(reach, reach, BOARD, 0.006).translate((0, 0, -BOARD)))


@cache
def top_mesh() -> Mesh:
    """Return the face of the board that shows the squares."""
    reach = SIDE * (4 + MARGIN) - 0.004
    return rectangle("chess squares", -reach, -reach, reach, reach, 0.0009)


@cache
def table_mesh() -> Mesh:
    """Return the table."""
    x, y, z = TABLE
    top = -BOARD - z
    legs = [
        cylinder(0.035, top - FLOOR, 0.05).translate((a * (x / 2 - 0.1), b * (y / 2 - 0.1), FLOOR))
        for a in (-1, 1)
        for b in (-1, 1)
    ]
    return mesh_of("table", union(box(x, y, z, 0.02).translate((0, 0, top)), *legs))


@cache
def chair_mesh() -> Mesh:
    """Return a chair that faces -y, its seat's middle over the origin."""
    seat = box(0.74, 0.70, 0.06, 0.025).translate((0, 0, SEAT))
    legs = [
        cylinder(0.026, SEAT - FLOOR, 0.034).translate((0.31 * a, 0.29 * b, FLOOR)) for a in (-1, 1) for b in (-1, 1)
    ]
    posts = [box(0.06, 0.05, 0.92, 0.015).translate((0.32 * a, 0.31, SEAT)) for a in (-1, 1)]
    rails = [box(0.64, 0.035, 0.10, 0.012).translate((0, 0.31, SEAT + height)) for height in (0.22, 0.46, 0.78)]
    return mesh_of("chair", union(seat, *legs, *posts, *rails))


CHAIR_WOOD = Material(linear_rgb(92, 52, 33), roughness=0.5)


def furniture() -> tuple[Instance, ...]:
    """Return the table and the chairs of White (at -y) and Black."""
    wood = Material(linear_rgb(118, 70, 42), roughness=0.4, texture=table_texture())
    return (
        Instance(table_mesh(), wood, pose((0, 0, 0))),
        Instance(chair_mesh(), CHAIR_WOOD, pose((0.03, 0.98, 0), turn=4)),
        Instance(chair_mesh(), CHAIR_WOOD, pose((-0.04, -0.98, 0), turn=177)),
    )


def floor() -> Ground:
    """Return the floor."""
    return Ground(Material(linear_rgb(150, 118, 88), roughness=0.5, texture=floor_texture()), FLOOR)
