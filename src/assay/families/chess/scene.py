"""A position as a scene: pieces on a board, a room around it, and a camera that sees it from one of five sides.

Five pieces are turned on the lathe, the knight is carved. A square's side is 1, and a piece stands on z = 0. The board
has letters and numbers; around the table under it stand two chairs, on planks, with a wall to either far side.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from manifold3d import CrossSection, Manifold
from PIL import Image, ImageDraw, ImageFont

from assay.base import Array, rng_for
from assay.families.chess.positions import SQUARES
from assay.render import (
    AreaLight,
    Camera,
    Ground,
    Instance,
    Material,
    Mesh,
    Point,
    Scene,
    Sky,
    Texture,
    Vector,
    box,
    cylinder,
    extrude,
    hull,
    linear_rgb,
    mesh_of,
    pose,
    prism,
    rectangle,
    revolve,
    union,
)
from assay.worlds import Style

KINDS = "PNBRQK"
SEGMENTS = 32
BODY = 9
"""How many rings the curve of a body has."""
HORSE = (
    (-0.25, 0.00), (0.25, 0.00), (0.27, 0.14), (0.17, 0.30), (0.12, 0.44), (0.18, 0.50), (0.34, 0.47), (0.42, 0.52),
    (0.44, 0.61), (0.33, 0.72), (0.22, 0.84), (0.12, 0.92), (0.05, 1.02), (-0.02, 0.93), (-0.14, 0.88), (-0.25, 0.76),
    (-0.31, 0.58), (-0.31, 0.38), (-0.28, 0.18),
)  # fmt: skip
"""The outline of a horse's head and neck, seen from its right: forward, and up from the foot."""
FRONT = (
    (-0.23, 0.0), (0.23, 0.0), (0.19, 0.35), (0.16, 0.62), (0.10, 1.05), (-0.10, 1.05), (-0.16, 0.62), (-0.19, 0.35),
)  # fmt: skip
"""The same seen from the front: to the side, and up."""


@cache
def piece(kind: str) -> Mesh:
    """Return the mesh of a piece: P, N, B, R, Q or K."""
    return mesh_of(f"chess {kind}", SOLIDS[kind](), crease=55.0 if kind == "N" else 40.0)


def _foot(radius: float) -> list[Point]:
    """Return the profile of the foot, from the middle of its underside up."""
    steps = ((1.0, 0.0), (1.0, 0.07), (0.96, 0.11), (0.86, 0.13), (0.83, 0.15), (0.84, 0.19), (0.79, 0.22))
    return [(0.0, 0.0), *((radius * part, height) for part, height in steps)]


def _body(radius: float, neck: float, collar: float) -> list[Point]:
    """Return foot, waist and collar, up to the collar's upper edge."""
    parts = np.linspace(0.06, 1, BODY)
    wide, low, high = 0.74 * radius, 0.22, collar - 0.06
    waist = [(neck + (wide - neck) * float((1 - t) ** 2.4), low + (high - low) * float(t)) for t in parts]
    ring = [(neck + 0.07, collar - 0.05), (neck + 0.09, collar - 0.02), (neck + 0.07, collar + 0.01)]
    return [*_foot(radius), *waist, *ring]


def _ball(radius: float, centre: float, start: float = -60.0) -> list[Point]:
    """Return the profile of a ball, from an angle in degrees up to its top."""
    turns = np.radians(np.linspace(start, 90, 9))
    return [(max(0.0, radius * float(np.cos(a))), centre + radius * float(np.sin(a))) for a in turns[:-1]] + [
        (0.0, centre + radius)
    ]


def _pearl(radius: float) -> Manifold:
    """Return a small ball."""
    return Manifold.sphere(radius, 12)


def _lathe(profile: Sequence[Point]) -> Manifold:
    return revolve(profile, SEGMENTS)


def _pawn() -> Manifold:
    return _lathe([*_body(0.30, 0.10, 0.56), (0.10, 0.59), *_ball(0.175, 0.73, -55)])


def _rook() -> Manifold:
    head = [(0.24, 0.73), (0.29, 0.78), (0.31, 0.82), (0.31, 1.06), (0.21, 1.06), (0.21, 0.93), (0.0, 0.93)]
    tower = _lathe([*_foot(0.35), (0.27, 0.28), (0.24, 0.45), (0.235, 0.62), (0.28, 0.66), (0.28, 0.69), *head])
    for turn in (45.0, 135.0):
        tower -= box(0.8, 0.17, 0.2).translate((0, 0, 0.94)).rotate((0, 0, turn))
    return tower


def _bishop() -> Manifold:
    mitre = [(0.11, 0.90), (0.17, 0.96), (0.195, 1.04), (0.185, 1.13), (0.14, 1.23), (0.085, 1.31), (0.05, 1.345)]
    whole = _lathe([*_body(0.33, 0.10, 0.86), *mitre, *_ball(0.062, 1.385, -50)])
    cut = box(0.30, 0.9, 0.055).translate((0.19, 0, -0.027)).rotate((0, -52, 0)).translate((0.02, 0, 1.10))
    return whole - cut.rotate((0, 0, -90))


def _queen() -> Manifold:
    crown = [(0.12, 1.10), (0.145, 1.20), (0.20, 1.34), (0.275, 1.47), (0.225, 1.475), (0.15, 1.40), (0.0, 1.42)]
    whole = _lathe([*_body(0.37, 0.12, 1.06), *crown])
    for turn in np.arange(8) * 45.0:
        notch = prism(16, 0.07, 0.5).rotate((0, 90, 0)).translate((0.05, 0, 1.50))
        whole -= notch.rotate((0, 0, float(turn)))
    return whole + Manifold.sphere(0.10, 20).translate((0, 0, 1.47))


def _king() -> Manifold:
    head = [(0.13, 1.14), (0.15, 1.22), (0.19, 1.34), (0.225, 1.44), (0.20, 1.47), (0.10, 1.53), (0.0, 1.55)]
    cross = box(0.10, 0.10, 0.34).translate((0, 0, 1.50)) + box(0.29, 0.10, 0.10).translate((0, 0, 1.64))
    return _lathe([*_body(0.38, 0.13, 1.10), *head]) + cross


def _knight() -> Manifold:
    head = (_rounded_horse() ^ extrude(FRONT, 1.2).translate((0, 0, -0.6)).rotate((90, 0, 90))) + _ears()
    eyes = [_pearl(0.036).translate((0.17, y, 0.75)) for y in (-0.12, 0.12)]
    mouth = box(0.20, 0.6, 0.03).rotate((0, -14, 0)).translate((0.40, 0, 0.535))
    head = (head - mouth) + eyes[0] + eyes[1]
    return _lathe([*_foot(0.35), (0.25, 0.24), (0.0, 0.24)]) + head.translate((-0.04, 0, 0.19))


def _rounded_horse() -> Manifold:
    """Return the head and neck, thinner towards their outline."""
    middle, horse = np.array([-0.03, 0.5]), Manifold()
    outline = CrossSection([[(x - middle[0], z - middle[1]) for x, z in HORSE]])
    start, size = 0.0, 1.0
    for end, less in ((0.09, 0.97), (0.15, 0.90), (0.20, 0.76)):
        slab = Manifold.extrude(outline.scale((size, size)), end - start, scale_top=(less / size, less / size))
        slab = slab.translate((0, 0, start))
        horse = horse + slab + slab.mirror((0, 0, 1))
        start, size = end, less
    return horse.translate((middle[0], middle[1], 0)).rotate((90, 0, 0))


def _ears() -> Manifold:
    ears = [
        hull(_pearl(0.04).translate((0.02, y, 0.86)), _pearl(0.014).translate((0.03, 1.2 * y, 1.08)))
        for y in (-0.075, 0.075)
    ]
    return ears[0] + ears[1]


SOLIDS = {"P": _pawn, "N": _knight, "B": _bishop, "R": _rook, "Q": _queen, "K": _king}


PIXELS = 88
"""The side of a square in the board's texture."""
MARGIN = 0.5
"""The frame around the squares, in squares."""
WOODS = (((221, 187, 138), (126, 78, 47)), ((214, 199, 170), (96, 103, 84)), ((205, 168, 125), (104, 58, 45)))
"""The light and the dark squares of each board."""
Colour = tuple[int, int, int]


@cache
def grain(height: int, width: int, purpose: str) -> Array:
    """Return how much brighter or darker wood is, from about -1 to 1: streaks along x."""
    rng = rng_for(0, "wood", purpose)
    coarse = rng.normal(size=(height // 6 + 2, 8))
    fine = rng.normal(size=(height + 2, 24))
    both = np.zeros((height, width))
    for layer, share in ((coarse, 0.6), (fine, 0.4)):
        picture = Image.fromarray(layer.astype(np.float32))
        both += share * np.asarray(picture.resize((width, height), Image.Resampling.BICUBIC))
    return both


def planks(height: int, width: int, colour: Colour, purpose: str, depth: float = 12.0) -> Array:
    """Return wood of a colour as pixels."""
    return _bytes(np.array(colour, dtype=np.float64) + depth * grain(height, width, purpose)[:, :, None])


def _bytes(pixels: Array) -> Array:
    return np.clip(np.rint(pixels), 0, 255).astype(np.uint8)


@cache
def board_texture(wood: int, letters: bool, side: float) -> Texture:
    """Return the top of a board of one kind of wood; its squares are so long."""
    light, dark = WOODS[wood]
    edge = round(MARGIN * PIXELS)
    size = 8 * PIXELS + 2 * edge
    frame = planks(size, size, _darker(dark), "frame", 8.0)
    shades = grain(8 * PIXELS, 8 * PIXELS, "squares")
    for rank in range(8):
        for file in range(8):
            colour = light if (rank + file) % 2 else dark
            top, left = (7 - rank) * PIXELS, file * PIXELS
            streaks = shades[top : top + PIXELS, left : left + PIXELS]
            streaks = streaks if (rank + file) % 2 else streaks[::-1]
            tile = _bytes(np.array(colour, dtype=np.float64) + 9.0 * streaks[:, :, None])
            frame[edge + top : edge + top + PIXELS, edge + left : edge + left + PIXELS] = tile
    picture = Image.fromarray(frame)
    if letters:
        _write(picture, edge, light)
    reach = side * (4 + MARGIN)
    return Texture(np.array(picture), (-reach, -reach), (2 * reach, 2 * reach))


def _darker(colour: Colour) -> Colour:
    red, green, blue = (round(0.62 * part) for part in colour)
    return red, green, blue


def _write(picture: Image.Image, edge: int, colour: Colour) -> None:
    """Write a to h and 1 to 8 on the frame, on all four sides."""
    drawing, face = ImageDraw.Draw(picture), ImageFont.load_default(0.68 * edge)
    for number in range(8):
        middle = edge + (number + 0.5) * PIXELS
        for side in (edge / 2, picture.width - edge / 2):
            drawing.text((middle, picture.width - side), "abcdefgh"[number], colour, face, anchor="mm")
            drawing.text((side, picture.width - middle), str(number + 1), colour, face, anchor="mm")


@cache
def floor_texture() -> Texture:
    """Return floor boards."""
    rows = [
        planks(48, 512, (150 + shade, 118 + shade, 88 + shade), f"floor {n}") for n, shade in enumerate((0, 10, -8, 4))
    ]
    for row in rows:
        row[:2] = row[:2] // 2
    return Texture(np.concatenate(rows), (0.0, 0.0), (3.2, 1.2))


@cache
def table_texture() -> Texture:
    """Return the top of the table."""
    return Texture(planks(384, 512, (118, 70, 42), "table", 9.0), (-1.0, -0.75), (2.0, 1.5))


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


EYE = (-1.93420, -1.87063, 1.70655)
DISTANCE = 3.186
FOV = 26.0
FARTHEST = 8.0
FACING = {"N": (128.0, 308.0), "B": (-45.0, -45.0), "K": (-45.0, -45.0)}
"""Where pieces look that are not round, White's and Black's: knights left and right, others at the camera."""
SIDES = {"a1": 0.0, "white": 40.5, "right": 130.5, "black": 220.5, "left": 310.5}
"""How far the camera, and what looks at it, is turned about the board from where A1 is nearest, in degrees."""
PAN = 2.0
TILT = (0.9, 0.3)
"""The camera is moved to the side by up to `PAN`, and up by a normal number of this mean and deviation, not below 0."""
JITTER = 1 / 16
"""How far pieces stand off the middle of their square, in squares: the standard deviation."""
MOST_JITTER = 0.2
"""The most that a piece stands off, in squares."""
DIAGRAM_JITTER = 0.4
"""The factor of that jitter in diagrams."""
WHITE = Material(linear_rgb(236, 222, 192), roughness=0.32)
BLACK = Material(linear_rgb(66, 52, 47), roughness=0.3)


def chess_style(rng: np.random.Generator, view: str, jitter: float, sides: Sequence[str] = ("a1",)) -> Style:
    """Draw the style of a board; the same for every position. Each of the `sides` is as likely as another."""
    camera = [round(float(rng.uniform(0, PAN)), 4), round(max(0.0, float(rng.normal(*TILT))), 4)]
    offsets = np.clip(rng.normal(0, JITTER * jitter, size=128), -MOST_JITTER, MOST_JITTER)
    if view == "flat":
        return {"offsets": (DIAGRAM_JITTER * offsets).round(4).tolist(), "palette": int(rng.integers(4))}
    turns = rng.uniform(-20, 20, size=64)
    light = rng.uniform(-1, 1, size=3)
    wood = [round(float(rng.uniform(-1, 1)), 3), int(rng.integers(3))]
    return {
        "side": sides[int(rng.integers(len(sides)))],
        "camera": camera,
        "light": light.round(3).tolist(),
        "offsets": offsets.round(4).tolist(),
        "turns": turns.round(1).tolist(),
        "wood": wood,
    }


def scene_of(codes: Sequence[int], style: Style, width: int, letters: bool = True, room: bool = True) -> Scene:
    """Return the scene of a position; each piece is a thing, named by its square."""
    wood = int(style["wood"][1])
    dark = WOODS[wood][1]
    top = Material(linear_rgb(*dark), roughness=0.4, texture=board_texture(wood, letters, SIDE))
    frame = Material(linear_rgb(*(round(0.62 * part) for part in dark)), roughness=0.4)
    board = (Instance(board_mesh(), frame, pose((0, 0, 0))), Instance(top_mesh(), top, pose((0, 0, 0))))
    ground = floor() if room else Ground(Material(linear_rgb(120, 92, 68), roughness=0.6), -0.036)
    return Scene(
        width, width, camera_of(style), (*pieces_of(codes, style), *board, *(furniture() if room else ())),
        lights_of(style), Sky((0.30, 0.31, 0.34), (0.42, 0.40, 0.38), (0.2, 0.2, 0.2)), ground,
    )  # fmt: skip


def pieces_of(codes: Sequence[int], style: Style) -> tuple[Instance, ...]:
    """Return the pieces in their places."""
    instances = []
    for place, code in enumerate(codes):
        if code:
            side, kind = divmod(int(code) - 1, 6)
            x, y = (
                (at - 3.5 + off) * SIDE for at, off in zip((place % 8, place // 8), _offset(style, place), strict=True)
            )
            turn = FACING.get(KINDS[kind], (0.0, 0.0))[side] + float(style["turns"][place]) + SIDES[style["side"]]
            matrix = pose((x, y, 0.0009), turn=turn, scale=SIDE)
            instances.append(Instance(piece(KINDS[kind]), (WHITE, BLACK)[side], matrix, SQUARES[place]))
    return tuple(instances)


def _offset(style: Style, place: int) -> tuple[float, float]:
    x, y = style["offsets"][2 * place : 2 * place + 2]
    return float(x), float(y)


def camera_of(style: Style) -> Camera:
    """Return the camera: on its side, moved aside and up by what was drawn, at a fixed distance from the middle."""
    aside, up = style["camera"]
    eye = np.array(EYE) + np.array([aside, 0.0, up]) / DISTANCE
    eye = pose((0, 0, 0), turn=SIDES[style["side"]])[:3, :3] @ eye * (DISTANCE / np.linalg.norm(eye))
    return Camera((float(eye[0]), float(eye[1]), float(eye[2])), (0.0, 0.0, 0.0), FOV)


def lights_of(style: Style) -> tuple[AreaLight, ...]:
    """Return a lamp over the table and the light of a window, both moved a little."""
    x, y, more = (float(part) for part in style["light"])
    lamp: Vector = (-1.0 + 0.3 * x, -0.5 + 0.3 * y, 2.5)
    window: Vector = (2.6, -2.4 + 0.4 * x, 2.2)
    return (
        AreaLight(lamp, (0.0, 0.0, 0.0), 0.9, 60.0 * (1 + 0.12 * more), (1.0, 0.95, 0.88)),
        AreaLight(window, (0.0, 0.0, 0.0), 1.6, 55.0, (0.92, 0.96, 1.0)),
    )
