"""Chess pictures by their measures: profiles of pieces, where pieces, camera and lamps stand, squares and letters."""

import numpy as np
import pytest

from assay.families.chess.drawing import diagram, pieces, room, textures
from assay.families.chess.drawing.diagram import board_geometry, diagram_regions, draw_diagram, piece_outline
from assay.families.chess.drawing.room import SIDE
from assay.families.chess.drawing.scene import (
    BLACK,
    DISTANCE,
    EYE,
    SIDES,
    WHITE,
    camera_of,
    chess_style,
    lights_of,
    pieces_of,
)
from assay.families.chess.drawing.textures import PIXELS, WOODS, board_texture, grain, planks
from assay.families.chess.positions import SQUARES
from assay.render import ellipse_points, rotation_z

# -- pieces ------------------------------------------------------------------------------------------------------------


def test_profiles_are_turned_from_foot_to_ball():
    foot = pieces._foot(0.5)
    assert foot[:3] == [(0.0, 0.0), (0.5, 0.0), (0.5, 0.07)] and foot[-1] == (pytest.approx(0.395), 0.22)
    body = pieces._body(0.5, 0.1, 0.9)
    assert body[:8] == pieces._foot(0.5) and len(body) == 8 + 9 + 3
    assert body[8] == pytest.approx((0.1 + 0.27 * 0.94**2.4, 0.22 + 0.62 * 0.06))
    assert body[16] == pytest.approx((0.1, 0.84))
    assert np.ravel(body[17:]) == pytest.approx([0.17, 0.85, 0.19, 0.88, 0.17, 0.91])
    ball = pieces._ball(0.2, 1.0, -30.0)
    assert len(ball) == 9 and ball[-1] == (0.0, 1.2) and ball[0] == pytest.approx((0.2 * np.cos(np.pi / 6), 0.9))
    assert ball[2] == pytest.approx((0.2, 1.0)) and pieces._ball(0.2, 1.0)[0] == pytest.approx(
        (0.1, 1 - 0.2 * 0.75**0.5)
    )


@pytest.mark.parametrize("kind", pieces.KINDS)
def test_pieces_are_alike_on_both_sides(kind):
    """Horses have two eyes and two ears; what is turned on the lathe is alike all around but for its cuts."""
    mesh = pieces.piece(kind)
    corners = mesh.vertices[mesh.faces]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    middles = corners.mean(axis=1)
    axis = {"N": 1, "B": 0}.get(kind, 1)
    assert (areas * middles[:, axis]).sum() == pytest.approx(0, abs=2e-4)
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    assert low[axis] == pytest.approx(-high[axis], abs=1e-4)
    if kind == "N":
        near_eye = (np.abs(middles[:, 0] - 0.13) < 0.05) & (np.abs(middles[:, 2] - 0.94) < 0.05)
        left, right = (areas[near_eye & (sign * middles[:, 1] > 0.09)].sum() for sign in (-1, 1))
        assert left == pytest.approx(right, rel=0.1) and left > 0.003


def test_creases_are_sharper_on_the_lathe_than_on_the_horse(monkeypatch):
    asked = []
    monkeypatch.setattr(pieces, "mesh_of", lambda name, solid, crease: asked.append((name, crease)))
    for kind in "PN":
        pieces.piece.__wrapped__(kind)
    assert asked == [("chess P", 40.0), ("chess N", 55.0)]


# -- the room ----------------------------------------------------------------------------------------------------------


def extent(mesh):
    return [*mesh.vertices.min(axis=0).round(4).tolist(), *mesh.vertices.max(axis=0).round(4).tolist()]


def test_the_board_lies_on_a_table_that_stands_on_the_floor():
    reach = 4.5 * SIDE
    assert extent(room.board_mesh()) == pytest.approx([-reach, -reach, -0.035, reach, reach, 0.0], abs=1e-4)
    inner = reach - 0.004
    assert extent(room.top_mesh()) == pytest.approx([-inner, -inner, 0.0009, inner, inner, 0.0009], abs=1e-4)
    assert extent(room.table_mesh()) == pytest.approx([-0.75, -0.62, -1.42, 0.75, 0.62, -0.035], abs=1e-4)
    low = room.table_mesh().vertices[room.table_mesh().vertices[:, 2] < -1.0]
    assert {(x > 0, y > 0) for x, y in low[:, :2].tolist()} == {(a, b) for a in (False, True) for b in (False, True)}
    assert np.abs(low[:, 0]).max() == pytest.approx(0.65 + 0.035, abs=1e-4)
    assert np.abs(low[:, 1]).max() == pytest.approx(0.52 + 0.035, abs=1e-4)
    chair = room.chair_mesh()
    assert chair.vertices[:, 2].min() == pytest.approx(-1.42) and chair.vertices[:, 2].max() == pytest.approx(0.34)
    back = chair.vertices[chair.vertices[:, 2] > -0.4]
    assert back[:, 1].min() > 0.25  # it faces -y
    table, white, black = room.furniture()
    assert table.material.texture is not None and table.matrix[:3, 3].tolist() == [0, 0, 0]
    assert white.matrix[:3, 3].tolist() == pytest.approx([0.03, 0.98, 0]) and white.matrix[0, 0] > 0.99
    assert black.matrix[:3, 3].tolist() == pytest.approx([-0.04, -0.98, 0]) and black.matrix[0, 0] < -0.99
    assert room.floor().z == -1.42 and room.floor().material.texture is not None


# -- scenes ------------------------------------------------------------------------------------------------------------

OFFSETS = [0.001 * n for n in range(128)]
STYLE = {
    "side": "black", "camera": [1.5, 0.75], "light": [0.5, -1.0, 0.25], "offsets": OFFSETS,
    "turns": [0.1 * n for n in range(64)], "wood": [0.0, 2],
}  # fmt: skip


def test_pieces_stand_in_their_squares_moved_and_turned_by_their_style():
    codes = [0] * 64
    codes[3], codes[17], codes[63], codes[40], codes[8] = 2, 8, 12, 6, 1
    found = pieces_of(codes, STYLE)
    assert [one.thing for one in found] == ["d1", "a2", "b3", "a6", "h8"]
    assert [one.material for one in found] == [WHITE, WHITE, BLACK, WHITE, BLACK]
    facing = {"N": (128.0, 308.0), "K": (-45.0, -45.0), "P": (0.0, 0.0)}
    for one, place, (kind, side) in zip(
        found, (3, 8, 17, 40, 63), (("N", 0), ("P", 0), ("N", 1), ("K", 0), ("K", 1)), strict=True
    ):
        x = (place % 8 - 3.5 + OFFSETS[2 * place]) * SIDE
        y = (place // 8 - 3.5 + OFFSETS[2 * place + 1]) * SIDE
        assert one.matrix[:3, 3].tolist() == pytest.approx([x, y, 0.0009])
        turn = rotation_z(facing[kind][side] + 0.1 * place + SIDES["black"]) * SIDE
        assert one.matrix[:3, :3] == pytest.approx(turn) and one.mesh is pieces.piece(kind)


@pytest.mark.parametrize("side", SIDES)
def test_the_camera_is_moved_aside_and_up_and_kept_at_its_distance(side):
    eye = np.array(EYE) + np.array([1.5, 0.0, 0.75]) / DISTANCE
    eye = rotation_z(SIDES[side]) @ (eye / np.linalg.norm(eye) * DISTANCE)
    found = camera_of({**STYLE, "side": side})
    assert found.eye == pytest.approx(tuple(eye)) and found.target == (0.0, 0.0, 0.0) and found.fov == 26.0


def test_the_lamp_is_moved_and_brighter_and_the_window_is_moved_along():
    lamp, window = lights_of(STYLE)
    assert lamp.position == pytest.approx((-0.85, -0.8, 2.5)) and lamp.power == pytest.approx(61.8)
    assert window.position == pytest.approx((2.6, -2.2, 2.2)) and window.power == 55.0
    assert (lamp.size, window.size) == (0.9, 1.6)


def test_styles_are_drawn_within_their_bounds():
    drawn = [chess_style(np.random.default_rng(seed), "3d", 2.0, ("a1", "left")) for seed in range(300)]
    camera = np.array([style["camera"] for style in drawn])
    assert camera.min() >= 0 and camera[:, 0].max() > 1.9 and camera[:, 0].max() <= 2.0
    assert abs(camera[:, 1].mean() - 0.9) < 0.05 and abs(camera[:, 1].std() - 0.3) < 0.04
    offsets = np.array([style["offsets"] for style in drawn])
    assert offsets.shape == (300, 128) and offsets.min() == -0.2 and offsets.max() == 0.2
    inside = offsets[np.abs(offsets) < 0.2]
    assert abs(inside.mean()) < 0.002 and abs((np.abs(offsets) < 0.125).mean() - 0.6827) < 0.01
    turns = np.array([style["turns"] for style in drawn])
    assert turns.shape == (300, 64) and turns.min() < -19.9 and turns.max() > 19.9 and np.abs(turns).max() <= 20
    assert {style["side"] for style in drawn} == {"a1", "left"} and {style["wood"][1] for style in drawn} == {0, 1, 2}
    light = np.array([style["light"] for style in drawn])
    assert light.min() < -0.95 and light.max() > 0.95 and np.abs(light).max() <= 1
    flat = [chess_style(np.random.default_rng(seed), "flat", 2.0) for seed in range(60)]
    assert {style["palette"] for style in flat} == {0, 1, 2, 3}
    assert np.array([style["offsets"] for style in flat]) == pytest.approx(0.4 * offsets[:60], abs=1e-4)


class Steady:
    """A generator that always draws from the same part of what it is asked for, and far below the mean."""

    def uniform(self, low, high, size=None):
        drawn = low + (high - low) * 0.25
        return drawn if size is None else np.full(size, drawn)

    def normal(self, mean, spread, size=None):
        return mean - 4 * spread if size is None else mean + spread * np.linspace(-4, 4, size)

    def integers(self, number):
        return number - 1


def test_a_camera_is_never_moved_down_and_pieces_stand_off_by_a_fifth_of_a_square_at_most():
    found = chess_style(Steady(), "3d", 0.8, ("a1", "left", "black"))
    offsets = np.clip(0.05 * np.linspace(-4, 4, 128), -0.2, 0.2).round(4).tolist()
    assert found == {
        "side": "black", "camera": [0.5, 0.0], "light": [-0.5] * 3, "offsets": offsets, "turns": [-10.0] * 64,
        "wood": [-0.5, 2],
    }  # fmt: skip
    wide = chess_style(Steady(), "3d", 3.0)
    assert wide["side"] == "a1" and wide["offsets"][0] == -0.2 and wide["offsets"][-1] == 0.2
    flat = chess_style(Steady(), "flat", 0.8)
    assert flat == {
        "offsets": (0.4 * np.clip(0.05 * np.linspace(-4, 4, 128), -0.2, 0.2)).round(4).tolist(), "palette": 3,
    }  # fmt: skip


# -- textures ----------------------------------------------------------------------------------------------------------


def test_wood_has_a_colour_and_streaks_along_it():
    streaks = grain(60, 90, "somewhere")
    assert streaks.shape == (60, 90) and abs(streaks.mean()) < 0.2 and 0.2 < streaks.std() < 0.8
    assert np.abs(np.diff(streaks, axis=1)).mean() < 0.5 * np.abs(np.diff(streaks, axis=0)).mean()
    assert (grain(60, 90, "elsewhere") != streaks).any()
    wood = planks(60, 90, (100, 250, 3), "somewhere", 20.0)
    wanted = np.clip(np.rint(np.array([100.0, 250.0, 3.0]) + 20 * streaks[:, :, None]), 0, 255)
    assert (
        wood.dtype == np.uint8 and (wood == wanted).all() and (wood[..., 2] == 0).any() and (wood[..., 1] == 255).any()
    )
    usual = np.clip(np.rint(np.array([100.0, 250.0, 3.0]) + 12 * streaks[:, :, None]), 0, 255)
    assert (planks(60, 90, (100, 250, 3), "somewhere") == usual).all()


@pytest.mark.parametrize("wood", [0, 1, 2])
def test_squares_are_light_and_dark_by_turns_and_the_frame_is_darker(wood):
    texture = board_texture(wood, False, 0.1)
    assert texture.corner == (-0.45, -0.45) and texture.size == (0.9, 0.9)
    pixels, edge = texture.pixels.astype(float), PIXELS // 2
    assert pixels.shape == (9 * PIXELS, 9 * PIXELS, 3)
    for file in range(8):
        for rank in range(8):
            top, left = edge + (7 - rank) * PIXELS, edge + file * PIXELS
            tile = pixels[top : top + PIXELS, left : left + PIXELS].mean(axis=(0, 1))
            assert tile == pytest.approx(WOODS[wood][0 if (file + rank) % 2 else 1], abs=7)
    frame = np.concatenate([pixels[:edge].reshape(-1, 3), pixels[-edge:].reshape(-1, 3)]).mean(axis=0)
    assert frame == pytest.approx([0.62 * part for part in WOODS[wood][1]], abs=3)
    assert textures._darker((100, 201, 50)) == (62, 125, 31)


def test_streaks_run_on_from_square_to_square_and_are_turned_on_dark_ones():
    pixels, edge = board_texture(1, False, 0.1).pixels, PIXELS // 2
    streaks = grain(8 * PIXELS, 8 * PIXELS, "squares")
    for file, rank in ((0, 0), (1, 0), (6, 5), (5, 5)):
        top, left = (7 - rank) * PIXELS, file * PIXELS
        own = streaks[top : top + PIXELS, left : left + PIXELS]
        light = (file + rank) % 2
        colour, own = WOODS[1][0 if light else 1], own if light else own[::-1]
        wanted = np.clip(np.rint(np.array(colour) + 9.0 * own[:, :, None]), 0, 255)
        assert (pixels[edge + top : edge + top + PIXELS, edge + left : edge + left + PIXELS] == wanted).all()


def test_letters_and_numbers_stand_on_all_four_sides():
    plain, lettered = (board_texture(0, letters, 0.1).pixels.astype(int) for letters in (False, True))
    written, edge = (plain != lettered).any(axis=2), PIXELS // 2
    assert not written[edge:-edge, edge:-edge].any()
    above, below = written[:edge, edge:-edge], written[-edge:, edge:-edge]
    left, right = written[edge:-edge, :edge], written[edge:-edge, -edge:]
    for part in (above, below):
        columns = part.any(axis=0).reshape(8, PIXELS)
        assert columns.any(axis=1).all()
    assert (above == below).all() and (left == right).all()  # the same on both sides
    marks = [below[:, n * PIXELS : (n + 1) * PIXELS] for n in range(8)]
    numbers = [left[::1][(7 - n) * PIXELS : (8 - n) * PIXELS] for n in range(8)]
    assert len({mark.tobytes() for mark in marks}) == len({mark.tobytes() for mark in numbers}) == 8
    assert numbers[0].sum() == min(mark.sum() for mark in numbers)  # a one has the least ink, and is below


# -- diagrams ----------------------------------------------------------------------------------------------------------


def test_squares_of_a_diagram_leave_a_margin_for_letters():
    assert board_geometry(180, True) == (10.0, 20.0) and board_geometry(160, False) == (0.0, 20.0)
    boxes = diagram_regions(180, True)
    assert [getattr(boxes["b1"], side) for side in ("left", "top", "right", "bottom")] == [30, 150, 50, 170]
    assert [getattr(boxes["h8"], side) for side in ("left", "top", "right", "bottom")] == [150, 10, 170, 30]


def test_outlines_are_mirrored_and_the_horse_is_not():
    half = np.array(diagram.HALVES["R"])
    outline = piece_outline("R")
    assert (outline[: len(half)] == half).all() and (outline[len(half) :][::-1] == half * [-1, 1]).all()
    assert (piece_outline("N") == np.array(diagram.HORSE)).all()


class Canvas:
    """A canvas that remembers what is drawn on it."""

    def __init__(self):
        self.drawn = []

    def polygon(self, points, *rest):
        self.drawn.append((np.round(np.asarray(points, dtype=float), 6).tolist(), *rest))

    def line(self, points, *rest):
        self.drawn.append((np.round(np.asarray(points, dtype=float), 6).tolist(), *rest))


@pytest.mark.parametrize(("colour", "side"), [(0, 20.0), (1, 100.0)])
def test_a_piece_is_balls_outline_and_strokes_in_its_colours(colour, side):
    canvas = Canvas()
    diagram._draw_piece(canvas, "Q", colour, (50.0, 90.0), side)
    width = max(0.8, 0.03 * side)
    fill, line, detail = diagram.FILLS[colour], diagram.LINES[colour], diagram.DETAILS[colour]

    def put(points):
        return np.round([(50 + 0.96 * side * x, 90 - 0.96 * side * y) for x, y in points], 6).tolist()

    balls = [
        (np.round(ellipse_points(tuple(put([(x, y)])[0]), (0.96 * radius * side,) * 2), 6).tolist(), fill, line, width)
        for x, y, radius in diagram.BALLS["Q"]
    ]
    strokes = [(put(stroke), detail, width) for stroke in diagram.STROKES["Q"]]
    assert canvas.drawn == [*balls, (put(piece_outline("Q")), fill, line, width), *strokes]


def test_a_diagram_shows_pieces_moved_in_squares_of_its_palette():
    style = {"palette": 2, "offsets": [0.0] * 128}
    codes = [0] * 64
    codes[10], codes[50] = 7, 6
    plain = draw_diagram(codes, style, 180, letters=True)
    assert [thing.name for thing in plain.things] == ["c2", "c7"]
    light, dark = diagram.PALETTES[2]
    for square, colour in (("a1", dark), ("b1", light), ("h8", dark), ("a8", light)):
        box = diagram_regions(180, True)[square]
        assert plain.image[box.top + 3, box.left + 3].tolist() == list(colour)
    moved = draw_diagram(codes, {**style, "offsets": [0.1, 0.2] * 64}, 180, letters=True)
    for one, other in zip(plain.things, moved.things, strict=True):
        assert (other.box.left - one.box.left, other.box.top - one.box.top) == (2, -4)  # to the right, and up
    bare = draw_diagram(codes, style, 160, letters=False)
    foot = bare.things[0].box
    assert foot.bottom == pytest.approx(160 - 20 * 1.12, abs=1.5) and (foot.left + foot.right) / 2 == pytest.approx(
        50, abs=1
    )
    fills = [
        tuple(plain.image[(thing.box.top + 2 * thing.box.bottom) // 3, (thing.box.left + thing.box.right) // 2])
        for thing in plain.things
    ]
    assert sum(map(int, fills[0])) < 300 < sum(map(int, fills[1]))  # a black pawn and White's king
    assert (codes[SQUARES.index("c2")], codes[SQUARES.index("c7")]) == (7, 6)


def test_letters_of_a_diagram_stand_below_and_numbers_at_the_left():
    style = {"palette": 0, "offsets": [0.0] * 128}
    image = draw_diagram([0] * 64, style, 360, letters=True).image
    ink = (image != np.array(diagram.PAPER)).any(axis=2)
    assert not ink[:19].any() and not ink[:, -19:].any()
    below, left = ink[-19:, 20:-20], ink[20:-20, :19]
    for part in (below.any(axis=0), left.any(axis=1)):
        marks = part.reshape(8, 40)
        assert marks.any(axis=1).all() and not marks[:, :8].any() and not marks[:, -8:].any()  # in the middle of each
    numbers = [left[40 * (7 - n) : 40 * (8 - n)] for n in range(8)]
    assert numbers[7].sum() == max(mark.sum() for mark in numbers)  # the eight is above
    assert not (below.any(axis=0) == left.any(axis=1)).all()
