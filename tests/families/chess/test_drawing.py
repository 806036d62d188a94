"""Chess boards as pictures: pieces that differ, boxes that fit, every square shows."""

import numpy as np
import pytest

from assay.errors import AssayError
from assay.families.chess.drawing.diagram import diagram_regions, draw_diagram, piece_outline
from assay.families.chess.drawing.pieces import KINDS, piece
from assay.families.chess.drawing.room import SIDE
from assay.families.chess.drawing.scene import DISTANCE, SIDES, camera_of, chess_style, scene_of
from assay.families.chess.drawing.textures import PIXELS, board_texture
from assay.families.chess.positions import SQUARES, codes_of
from assay.render import label_pixels, picture_of
from assay.seeds import rng_for
from assay.tasks import TASKS

MIDDLE = codes_of(["r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N1BN2/PP3PPP/R2QKB1R"])[0].tolist()
STYLE = chess_style(rng_for(0, "chess"), "3d", 1.0)
FLAT = chess_style(rng_for(0, "chess"), "flat", 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_stand_in_their_square_and_are_closed(kind):
    mesh = piece(kind)
    assert piece(kind) is mesh
    assert mesh.vertices[:, 2].min() == pytest.approx(0, abs=1e-6) and np.abs(mesh.vertices[:, :2]).max() < 0.5
    places, numbers = np.unique(mesh.vertices.round(5), axis=0, return_inverse=True)
    faces = numbers.ravel()[mesh.faces]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    assert len(places) and set(map(tuple, edges.tolist())) == set(map(tuple, edges[:, ::-1].tolist()))


def test_pieces_differ_in_height():
    tops = {kind: piece(kind).vertices[:, 2].max() for kind in KINDS}
    assert tops["P"] < tops["R"] < tops["N"] < tops["B"] < tops["Q"] < tops["K"]
    assert tops["K"] - tops["Q"] > 0.2 and tops["B"] - tops["P"] > 0.4


def test_a1_is_the_nearest_corner_whatever_the_camera():
    corners = {name: np.array([x, y, 0.0]) * 4 * SIDE for name, x, y in
               (("a1", -1, -1), ("h1", 1, -1), ("a8", -1, 1), ("h8", 1, 1))}  # fmt: skip
    for number in range(200):
        camera = camera_of(chess_style(rng_for(number, "camera"), "3d", 1.0))
        assert np.linalg.norm(camera.eye) == pytest.approx(DISTANCE)
        far = {name: np.linalg.norm(np.array(camera.eye) - at) for name, at in corners.items()}
        assert min(far, key=far.get) == "a1" and camera.eye[2] > 1.6


@pytest.mark.parametrize("side", SIDES)
def test_from_every_side_all_pieces_are_seen_where_their_squares_are(side):
    style = {**STYLE, "side": side}
    scene = scene_of(MIDDLE, style, 256)
    seen = np.bincount(label_pixels(scene).things.ravel(), minlength=len(scene.things) + 1)[1:]
    assert (seen > 15).all() and np.linalg.norm(scene.camera.eye) == pytest.approx(DISTANCE)
    nearest = {"white": (1, -1), "black": (1, 1), "left": (0, -1), "right": (0, 1), "a1": (1, -1)}[side]
    assert scene.camera.eye[nearest[0]] * nearest[1] > 1.5
    places = {thing: instance.matrix[:3, 3] for thing, instance in zip(scene.things, scene.instances, strict=False)}
    usual = scene_of(MIDDLE, STYLE, 256)
    for thing, instance in zip(usual.things, usual.instances, strict=False):
        assert np.array_equal(places[thing], instance.matrix[:3, 3])  # the camera moves, the pieces do not


def test_sides_are_equally_likely_and_say_nothing_about_the_position():
    task = TASKS["chess"](None, width=64)
    draws = [
        task.style(rng_for(number, "side"), codes, "train") for number in range(400) for codes in (MIDDLE, [0] * 64)
    ]
    assert draws[::2] == draws[1::2]
    sides, counts = np.unique([style["side"] for style in draws[::2]], return_counts=True)
    assert set(sides) == {"white", "black", "left", "right"} and counts.min() > 70


def test_valued_and_boards_without_coordinates_are_seen_from_a1():
    for task in (TASKS["valued"](None), TASKS["chess"](None, coordinates=False)):
        assert {task.style(rng_for(n, "side"), MIDDLE, "train")["side"] for n in range(20)} == {"a1"}
    with pytest.raises(AssayError, match="without coordinates nothing says which square is which"):
        TASKS["chess"](None, coordinates=False, sides=["white", "black"])


def test_style_is_the_same_for_every_position_and_pieces_stay_in_their_squares():
    offsets = np.array([chess_style(rng_for(n, "jitter"), "3d", 1.0)["offsets"] for n in range(50)])
    assert offsets.std() == pytest.approx(1 / 16, rel=0.03) and np.abs(offsets).max() <= 0.2
    assert not np.any(chess_style(rng_for(0, "jitter"), "3d", 0.0)["offsets"])


def test_the_board_is_dark_at_a1_and_has_letters_where_asked_for():
    plain, lettered = (board_texture(0, letters, SIDE).pixels for letters in (False, True))
    edge = (plain.shape[0] - 8 * PIXELS) // 2
    a1 = plain[-edge - PIXELS : -edge, edge : edge + PIXELS].mean()
    h1 = plain[-edge - PIXELS : -edge, -edge - PIXELS : -edge].mean()
    assert a1 < h1 - 40 and (plain != lettered).any()
    assert (plain[edge:-edge, edge:-edge] == lettered[edge:-edge, edge:-edge]).all()


def test_each_piece_is_a_thing_and_is_seen():
    shot = label_pixels(scene_of(MIDDLE, STYLE, 256))
    scene = scene_of(MIDDLE, STYLE, 256)
    assert scene.things == tuple(name for name, code in zip(SQUARES, MIDDLE, strict=True) if code)
    seen = np.bincount(shot.things.ravel(), minlength=len(scene.things) + 1)[1:]
    assert (seen > 20).all()


def test_pieces_stand_where_their_squares_are():
    """The projected middle of a square lies in the box of a piece on it, near the box's lower end."""
    style = {**STYLE, "offsets": [0.0] * 128}
    for place in (0, 7, 27, 56, 63):
        scene = scene_of([6 if n == place else 0 for n in range(64)], style, 256)
        shot = label_pixels(scene)
        rows, columns = np.nonzero(shot.things)
        camera = scene.camera
        forward = -np.array(camera.eye) / np.linalg.norm(camera.eye)
        right = np.cross(forward, [0, 0, 1.0])
        right /= np.linalg.norm(right)
        up = np.cross(right, forward)
        at = np.array([(place % 8 - 3.5) * SIDE, (place // 8 - 3.5) * SIDE, 0.0]) - camera.eye
        scale = 128 / np.tan(np.radians(camera.fov / 2)) / (at @ forward)
        x, y = 128 + (at @ right) * scale, 128 - (at @ up) * scale
        assert columns.min() < x < columns.max() and rows.min() < y < rows.max()
        assert y > rows.min() + 0.7 * (rows.max() - rows.min())


def test_pictures_have_boxes_depth_and_the_same_bytes_twice():
    one, two = (picture_of(scene_of(MIDDLE, STYLE, 64), 8.0, quality="draft") for _ in range(2))
    assert np.array_equal(one.image, two.image) and one.image.shape == (64, 64, 3)
    assert len(one.things) == sum(map(bool, MIDDLE)) and one.depth.dtype == np.uint16 and one.parts is None
    box = next(thing.box for thing in one.things if thing.name == "e1")
    inside = box.crop(one.instances) == [thing.name for thing in one.things].index("e1") + 1
    assert inside.any(axis=0).all() and inside.any(axis=1).all()


@pytest.mark.parametrize("place", range(0, 64, 9))
def test_changing_a_square_changes_what_is_seen(place):
    before = label_pixels(scene_of(MIDDLE, STYLE, 256)).depth
    seen = [before]
    for code in range(13):
        if code in (0, 2, 3, 5, 6) and code not in (MIDDLE[place], MIDDLE[place] - 6):  # colours are not in the depth
            changed = [code if n == place else old for n, old in enumerate(MIDDLE)]
            seen.append(label_pixels(scene_of(changed, STYLE, 256)).depth)
    assert all((one != other).any() for n, one in enumerate(seen) for other in seen[:n])


# -- diagrams ----------------------------------------------------------------------------------------------------------


def test_diagrams_show_every_square_and_every_piece():
    base = draw_diagram([0] * 64, FLAT, 200, letters=True)
    assert not base.things and not base.instances.any()
    regions = diagram_regions(200, letters=True)
    for place in range(0, 64, 5):
        pictures = [
            draw_diagram([code if n == place else 0 for n in range(64)], FLAT, 200, True) for code in range(1, 13)
        ]
        images = [picture.image for picture in (base, *pictures)]
        assert all((one != other).any() for n, one in enumerate(images) for other in images[:n])
        box, around = pictures[5].things[0].box, regions[SQUARES[place]]
        assert pictures[5].things[0].name == SQUARES[place]
        assert abs((box.left + box.right) / 2 - (around.left + around.right) / 2) < 4 and box.top > around.top - 4


def test_diagram_regions_tile_the_board():
    regions = diagram_regions(160, letters=False)
    covered = np.zeros((160, 160), dtype=int)
    for box in regions.values():
        box.crop(covered)[:] += 1
    assert (covered == 1).all() and regions["a1"].bottom == 160 and regions["a1"].left == 0


def test_outlines_of_pieces_fit_their_square():
    for kind in KINDS:
        points = piece_outline(kind)
        assert np.abs(points[:, 0]).max() < 0.5 and points[:, 1].min() == 0 and points[:, 1].max() < 0.9
