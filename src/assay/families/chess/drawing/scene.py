"""A position as a scene: pieces on a board, a room around it, and a camera that sees it from one of five sides."""

from collections.abc import Sequence

import numpy as np

from assay.families.chess.drawing.pieces import KINDS, piece
from assay.families.chess.drawing.room import SIDE, board_mesh, floor, furniture, top_mesh
from assay.families.chess.drawing.textures import WOODS, board_texture
from assay.families.chess.positions import SQUARES
from assay.render import AreaLight, Camera, Ground, Instance, Material, Scene, Sky, Vector, linear_rgb, pose
from assay.worlds import Style

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
