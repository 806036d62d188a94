"""What a CLEVR scene file says of objects: places, directions, sides and concepts, worked out by hand."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from assay.families.clevr import export
from assay.families.clevr.export import _object, directions, one_hot, relationships
from assay.families.clevr.placement import CameraView, OrderedPlacement, Placement
from assay.families.clevr.scene import ClevrObject
from assay.families.clevr.task import Clevr
from assay.render import Box, ObjectBox
from assay.worlds import World

VIEW = CameraView(320, 240, jitter=(0.3, -0.2, 0.1))


def solid(number, x, y, shape="sphere", size="large"):
    return ClevrObject(f"object{number}", "red", shape, "rubber", size, (x, y, 30.0))


def test_directions_are_those_of_the_picture():
    ways = {name: np.array(way) for name, way in directions(VIEW).items()}
    assert list(ways) == ["right", "left", "behind", "front", "above", "below"]
    for one, other in (("right", "left"), ("behind", "front"), ("above", "below")):
        assert (ways[one] == -ways[other]).all() and np.linalg.norm(ways[one]) == pytest.approx(1, abs=1e-5)
    assert ways["above"].tolist() == [0, 0, 1] and ways["right"][2] == ways["behind"][2] == 0
    assert ways["right"] @ ways["behind"] == pytest.approx(0, abs=1e-5)
    middle = VIEW.project(np.zeros(3))
    assert VIEW.project(ways["right"])[0] > middle[0] + 10 and VIEW.project(ways["left"])[0] < middle[0] - 10
    assert VIEW.project(ways["behind"])[2] > middle[2] + 0.3 and VIEW.project(ways["behind"])[1] < middle[1]


def test_sides_need_a_fifth_of_a_unit():
    ways = directions(VIEW)
    right, behind = np.array(ways["right"][:2]), np.array(ways["behind"][:2])
    places = [np.zeros(2), 0.25 * right, 0.1 * right + behind]  # by 0.25, 0.1 and 0.15 to the right
    solids = [solid(n, *place) for n, place in enumerate(places, start=1)]
    assert relationships(VIEW, solids) == {
        "right": [[1], [], []],
        "behind": [[2], [2], []],
        "front": [[], [], [0, 1]],
        "left": [[], [0], []],
    }


def test_an_object_has_its_place_in_space_and_in_the_picture():
    ball, box = solid(1, 0.5, -1.25), Box(10, 20, 34, 51)
    told = _object(VIEW, ball, ObjectBox("object1", box))
    assert (told["x"], told["y"], told["width"], told["height"]) == (10, 20, 24, 31)
    assert told["3d_coords"] == [0.5, -1.25, round(ball.middle, 6)] and told["rotation"] == 30.0
    assert told["pixel_coords"] == pytest.approx(VIEW.project(np.array([0.5, -1.25, ball.middle])), abs=1e-5)
    assert [told[key] for key in ("shape", "size", "material", "color")] == ["sphere", "large", "rubber", "red"]


def test_concepts_are_one_hot_and_minus_one_where_nothing_stands():
    task = Clevr(objects=(2, 3), colours=["red", "blue", "gray"], shapes=["cube", "star"], sizes=["large", "small"])
    values = [
        *("gray", "cube", "metal", "small"),
        *("red", "star", "rubber", "large"),
        *("absent", "absent", "absent", "absent"),
    ]
    codes = [concept.code(value) for concept, value in zip(task.space.concepts, values, strict=True)]
    metal = [int(name == "metal") for name in task.config.values("material")]
    assert one_hot(task, World(task.space, tuple(codes), {})) == [
        [[0, 0, 1], [1, 0], metal, [0, 1]],
        [[1, 0, 0], [0, 1], [1 - one for one in metal], [1, 0]],
        [[-1, -1, -1], [-1, -1], [-1, -1], [-1, -1]],
    ]


def test_ordered_places_are_apart_in_depth_and_not_in_the_middle():
    usual = Placement(CameraView(320, 240), least=0.3, most=0.7, apart=0.25, margin=0.4, share=0.4)
    ordered = OrderedPlacement.of(usual)
    assert (ordered.least, ordered.most, ordered.apart, ordered.margin, ordered.share) == (0.3, 0.7, 0.25, 0.4, 0.4)
    rng = np.random.default_rng(5)
    candidates = rng.uniform(-2, 2, (200, 2))
    columns, depths = ordered.seen_at(candidates)
    seen = ordered.view.project(np.column_stack([candidates, np.zeros(200)]))
    assert np.allclose(columns, seen[:, 0]) and np.allclose(depths, seen[:, 2])
    clear = np.abs(columns - 160) >= 0.2 * ordered.view.focus / ordered.farthest
    none = np.zeros((0, 2))
    allowed = [i for i in range(200) if clear[i] and len(usual.fitting_spot(none, candidates[i : i + 1]))]
    assert (ordered.fitting_spot(none, candidates) == candidates[allowed[:1]]).all()
    first = candidates[allowed[:1]]
    later = [
        i
        for i in range(200)
        if clear[i] and abs(depths[i] - depths[allowed[0]]) >= 0.1
        and len(usual.fitting_spot(first, candidates[i : i + 1]))
    ]  # fmt: skip
    assert (ordered.fitting_spot(first, candidates) == candidates[later[:1]]).all()
    same = candidates[[i for i in range(200) if abs(depths[i] - depths[allowed[0]]) < 0.1]]
    assert len(same) > 1 and len(ordered.fitting_spot(first, same)) == 0
    middle = candidates[~clear]
    assert len(middle) and len(ordered.fitting_spot(none, middle)) == 0


def test_a_scene_is_numbered_by_its_place_in_the_split(monkeypatch):
    task = SimpleNamespace(view=lambda world: VIEW, objects_of=lambda world: [solid(1, 0.0, 1.0), solid(2, 1.0, 0.0)])
    monkeypatch.setattr(export, "one_hot", lambda task, world: ["one hot of", world])
    things = [ObjectBox("object1", Box(1, 2, 3, 4)), ObjectBox("object2", Box(5, 6, 7, 9))]
    data = SimpleNamespace(
        name="test", index=np.array([70, 71, 72]), world=lambda row: f"world {row}", things=[None, things, None],
        labels=np.array([[0, 1], [2, 0], [0, 1]]),
    )  # fmt: skip
    found = export.scene_of_row(task, data, 1)
    assert (found["split"], found["image_index"], found["image_filename"]) == ("test", 71, "CLEVR_test_000071.png")
    assert found["label"] == 2 and found["concepts"] == ["one hot of", "world 1"]
    assert [(one["x"], one["3d_coords"][:2]) for one in found["objects"]] == [(1, [0.0, 1.0]), (5, [1.0, 0.0])]
    assert found["directions"] == directions(VIEW)
    assert found["relationships"] == relationships(VIEW, task.objects_of(None))


def test_pictures_scenes_and_a_list_of_all_are_written(monkeypatch, tmp_path):
    held = [SimpleNamespace(pngs=[b"a", b"b"], first=0), SimpleNamespace(pngs=[b"c"], first=2)]
    monkeypatch.setattr(
        export, "scene_of_row",
        lambda task, piece, row: {"image_filename": f"CLEVR_valid_{piece.first + row:06d}.png", "n": piece.first + row},
    )  # fmt: skip
    data = SimpleNamespace(name="valid", pieces=lambda rows: held)
    assert export._write_split(None, data, tmp_path) == 3
    for number, png in enumerate((b"a", b"b", b"c")):
        name = f"CLEVR_valid_{number:06d}"
        assert (tmp_path / "images" / "valid" / f"{name}.png").read_bytes() == png
        scene = json.loads((tmp_path / "scenes" / "valid" / f"{name}.json").read_text())
        assert scene == {"image_filename": f"{name}.png", "n": number}
    told = json.loads((tmp_path / "CLEVR_valid_scenes.json").read_text())
    assert told["info"]["split"] == "valid" and [scene["n"] for scene in told["scenes"]] == [0, 1, 2]


def test_numbers_are_rounded_to_six_places_and_no_zero_is_negative():
    found = export._rounded([1.23456789, -0.0000001, -2.5])
    assert found == [1.234568, 0.0, -2.5] and str(found[1]) == "0.0"
