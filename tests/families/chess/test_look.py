"""Chess boards as pictures: every piece is seen where its square is, pieces differ, masks and boxes agree."""

from itertools import combinations

import chess
import numpy as np
import pytest

from assay.base import AssayError, rng_for
from assay.families.chess.positions import VALUES, class_indices
from assay.families.chess.scene import scene_of
from assay.families.chess.task import Chess
from assay.render import label_pixels, shoot
from assay.tasks import TASKS
from assay.worlds import World

POSITION = "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1BN2/PP3PPP/R2QKB1R"
MIDDLE = class_indices([POSITION])[0].tolist()
SQUARES = chess.SQUARE_NAMES
SIDES = ("a1", "white", "black", "left", "right")
PIECES = [name for name in VALUES if name != "empty"]


def style_of(number=0, **settings):
    return Chess(**settings).style(rng_for(number, "chess"), MIDDLE, "train")


STYLE = style_of(sides=["a1"])


def board(task, codes, **style):
    """Return the world of a position, in the style that is drawn for it."""
    return World(task.space, tuple(codes), {**task.style(rng_for(0, "chess"), codes, "train"), **style})


def one_piece(square, code):
    return [code if name == square else 0 for name in SQUARES]


def differing(one, other):
    return (np.abs(one.astype(int) - other).max(axis=-1) > 30).sum()


# -- boards ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
def test_from_every_side_all_pieces_are_seen_and_stand_where_they_stood(side):
    scene, usual = (scene_of(MIDDLE, {**STYLE, "side": one}, 256) for one in (side, "a1"))
    assert scene.things == tuple(name for name, code in zip(SQUARES, MIDDLE, strict=True) if code)
    seen = np.bincount(label_pixels(scene).things.ravel(), minlength=len(scene.things) + 1)[1:]
    assert (seen > 15).all()
    nearest = {"white": (1, -1), "black": (1, 1), "left": (0, -1), "right": (0, 1), "a1": (1, -1)}[side]
    assert scene.camera.eye[nearest[0]] * nearest[1] > 1.5
    for one, other in zip(scene.instances, usual.instances, strict=True):
        assert np.array_equal(one.matrix[:3, 3], other.matrix[:3, 3])  # the camera moves, the pieces do not


def test_a1_is_the_nearest_corner_by_default_side_whatever_the_camera():
    for number in range(100):
        camera = scene_of(one_piece("a1", 1), style_of(number, sides=["a1"]), 64).camera
        far = {(x, y): np.hypot(camera.eye[0] - x, camera.eye[1] - y) for x in (-1, 1) for y in (-1, 1)}
        assert min(far, key=far.get) == (-1, -1) and camera.eye[2] > 1.6


def test_pieces_stand_where_their_squares_are():
    """The projected middle of a square lies in the box of a piece on it, near the box's lower end."""
    style = {**STYLE, "offsets": [0.0] * 128}
    for square in ("a1", "h1", "d4", "a8", "h8"):
        scene = scene_of(one_piece(square, VALUES.index("K")), style, 256)
        rows, columns = np.nonzero(label_pixels(scene).things)
        eye, middle = np.array(scene.camera.eye), scene.instances[0].matrix[:3, 3]
        file, rank = chess.square_file(SQUARES.index(square)), chess.square_rank(SQUARES.index(square))
        assert np.sign(middle[:2]).tolist() == np.sign([file - 3.5, rank - 3.5]).tolist()
        forward = -eye / np.linalg.norm(eye)
        right = np.cross(forward, [0, 0, 1.0])
        right /= np.linalg.norm(right)
        scale = 128 / np.tan(np.radians(scene.camera.fov / 2)) / ((middle - eye) @ forward)
        x, y = 128 + (middle - eye) @ right * scale, 128 - (middle - eye) @ np.cross(right, forward) * scale
        assert columns.min() < x < columns.max() and rows.min() + 0.7 * np.ptp(rows) < y < rows.max()


def test_every_piece_looks_unlike_every_other_and_stays_in_its_square():
    images, heights = [], {}
    for code, name in enumerate(PIECES, start=1):
        scene = scene_of(one_piece("d4", code), {**STYLE, "offsets": [0.0] * 128}, 256)
        images.append(shoot(scene, quality="draft").image)
        points = scene.instances[0].mesh.vertices
        assert np.abs(points[:, :2]).max() < 0.5 and points[:, 2].min() == pytest.approx(0, abs=1e-6)
        heights[name] = points[:, 2].max()
    assert all(differing(one, other) > 15 for one, other in combinations(images, 2))
    assert heights["P"] < heights["R"] < heights["N"] < heights["B"] < heights["Q"] < heights["K"]
    offsets = np.array([style_of(n)["offsets"] for n in range(50)])
    assert offsets.std() == pytest.approx(1 / 16, rel=0.03) and np.abs(offsets).max() <= 0.2
    assert not np.any(style_of(0, jitter=0.0)["offsets"])


def test_a_picture_has_boxes_and_masks_that_agree_with_it():
    task = Chess(width=128, quality="draft", room=False)
    one, two = (task.render(board(task, MIDDLE)) for _ in range(2))
    assert np.array_equal(one.image, two.image) and one.image.shape == (128, 128, 3) and one.text == POSITION
    assert len(one.things) == sum(map(bool, MIDDLE)) and one.depth.dtype == np.uint16 and one.parts is None
    for number, thing in enumerate(one.things, start=1):
        rows, columns = np.nonzero(one.instances == number)
        box = thing.box
        assert (box.left, box.top, box.right, box.bottom) == (
            columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
        )  # fmt: skip


@pytest.mark.parametrize("square", ["a1", "b2", "d5", "g7", "h8"])
def test_changing_a_square_changes_what_is_seen(square):
    task = Chess(width=128, quality="draft", room=False)
    world = board(task, MIDDLE)
    images = [task.render(world.do({square: value})).image for value in ("empty", "P", "p", "Q", "k")]
    assert all(differing(one, other) for one, other in combinations(images, 2))


def test_sides_are_equally_likely_and_styles_say_nothing_about_the_position():
    task = TASKS["chess"](None, width=64)
    styles = [
        task.style(rng_for(number, "side"), codes, "train") for number in range(400) for codes in (MIDDLE, [0] * 64)
    ]
    assert styles[::2] == styles[1::2]
    sides, counts = np.unique([style["side"] for style in styles[::2]], return_counts=True)
    assert set(sides) == {"white", "black", "left", "right"} and counts.min() > 70
    for plain in (TASKS["valued"](None), TASKS["chess"](None, coordinates=False)):
        assert {plain.style(rng_for(n, "side"), MIDDLE, "train")["side"] for n in range(20)} == {"a1"}
    with pytest.raises(AssayError, match="without coordinates nothing says which square is which"):
        TASKS["chess"](None, coordinates=False, sides=["white", "black"])


def test_room_coordinates_and_wood_are_seen_where_asked_for():
    images = {}
    for name, settings in {"usual": {}, "bare": {"coordinates": False}, "no room": {"room": False}}.items():
        task = Chess(width=256, quality="draft", sides=["a1"], **settings)
        images[name] = task.render(board(task, MIDDLE, **{"wood": [0.5, 1]})).image
    assert (
        20 < differing(images["usual"], images["bare"]) < 0.05 * 256**2 < differing(images["usual"], images["no room"])
    )
    task = Chess(width=96, quality="draft", room=False)
    woods = [task.render(board(task, [0] * 64, wood=wood)).image for wood in task.style_choices["wood"]]
    assert all(np.abs(one.astype(int) - other).mean() > 3 for one, other in combinations(woods, 2))


def test_the_board_is_dark_at_a1_and_its_squares_take_turns():
    style = {**STYLE, "offsets": [0.0] * 128}
    light = []
    for name in SQUARES:  # where a piece would stand, on the empty board
        rows, columns = np.nonzero(label_pixels(scene_of(one_piece(name, 1), style, 512)).things)
        light.append((int(rows.max()) - 2, int(columns.mean())))
    image = shoot(scene_of([0] * 64, style, 512), quality="draft").image.astype(int).sum(axis=2)
    found = np.array([np.median(image[r - 1 : r + 2, c - 1 : c + 2]) for r, c in light]).reshape(8, 8)
    dark = (np.add.outer(np.arange(8), np.arange(8)) % 2) == 0
    assert found[dark].mean() < found[~dark].mean() - 60
    assert ((found < (found[dark].mean() + found[~dark].mean()) / 2) == dark).mean() > 0.9


# -- diagrams ----------------------------------------------------------------------------------------------------------

FLAT = TASKS["chess-flat"](width=200)


def test_diagrams_show_every_piece_in_its_square():
    empty = FLAT.render(board(FLAT, [0] * 64))
    assert not empty.things and not empty.instances.any()
    for square in SQUARES[::5]:
        pictures = [FLAT.render(board(FLAT, one_piece(square, code))) for code in range(1, 13)]
        images = [picture.image for picture in (empty, *pictures)]
        assert all(differing(one, other) > 5 for one, other in combinations(images, 2))
        (thing,), around = pictures[5].things, FLAT.layout.regions[square]
        assert thing.name == square and thing.box.top > around.top - 4 and thing.box.bottom < around.bottom + 4
        assert abs((thing.box.left + thing.box.right) / 2 - (around.left + around.right) / 2) < 4
        rows, columns = np.nonzero((pictures[5].image != empty.image).any(axis=2))
        box = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)  # of all that shows the piece
        sides = (thing.box.left, thing.box.top, thing.box.right, thing.box.bottom)
        assert np.abs(np.subtract(box, sides)).max() <= 2


def test_regions_of_a_diagram_tile_the_board_with_white_below():
    plain = TASKS["chess-flat"](width=160, coordinates=False)
    covered = np.zeros((160, 160), dtype=int)
    for box in plain.layout.regions.values():
        box.crop(covered)[:] += 1
    assert (covered == 1).all()
    a1, h8 = plain.layout.regions["a1"], plain.layout.regions["h8"]
    assert (a1.left, a1.bottom, h8.right, h8.top) == (0, 160, 160, 0)
    assert (FLAT.layout.regions["a1"].left, FLAT.layout.regions["h8"].right) == (11, 189)  # a margin for letters


def test_squares_of_a_diagram_take_turns_and_letters_stand_outside():
    for palette in range(4):
        picture = FLAT.render(board(FLAT, [0] * 64, palette=palette)).image.astype(int)
        colours = {name: tuple(picture[box.top + 3, box.left + 3]) for name, box in FLAT.layout.regions.items()}
        shades = {(chess.square_file(n) + chess.square_rank(n)) % 2: colours[name] for n, name in enumerate(SQUARES)}
        assert all(
            colours[name] == shades[(chess.square_file(n) + chess.square_rank(n)) % 2] for n, name in enumerate(SQUARES)
        )
        assert sum(shades[0]) < sum(shades[1]) - 60  # a1 is dark
    ink = (picture != picture[0, 0]).any(axis=2)
    assert not ink[:10].any() and not ink[:, -10:].any() and ink[-10:].any() and ink[:, :10].any()


def test_columns_and_layout_are_those_of_the_view():
    assert FLAT.columns == ("image", "things", "instances", "text") and FLAT.style_choices == {}
    room = Chess(width=64)
    assert room.columns == ("image", "things", "instances", "depth", "text") and not room.layout.regions
