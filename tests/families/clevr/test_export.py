"""Scenes in CLE4EVR's own files: its layout, its objects, its concepts and its relations."""

import json

import numpy as np
import pytest

from assay.base import DataError, Settings
from assay.dataset import Dataset, Recipe, decode, make
from assay.exchange import export

ATTRIBUTES = ("color", "shape", "material", "size")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "clevr"
    settings = Settings({"objects": [2, 3], "width": 96, "height": 72, "quality": "draft"})
    make(Recipe("clevr", settings, sizes=(("train", 6), ("valid", 0), ("test", 2), ("hard", 0))), folder)
    return Dataset.open(folder)


@pytest.fixture(scope="module")
def written(scenes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out") / "clevr"
    assert export(scenes, "clevr", folder) == {"train": 6, "test": 2}
    return folder


def read(path):
    return json.loads(path.read_text())


def test_scenes_have_the_layout_of_the_original(scenes, written):
    names = sorted(str(path.relative_to(written)) for path in written.rglob("[!.]*") if path.is_file())
    assert len(names) == 2 * 8 + 2
    assert "images/train/CLEVR_train_000000.png" in names and "scenes/test/CLEVR_test_000001.json" in names
    whole = read(written / "CLEVR_train_scenes.json")
    assert whole["info"]["split"] == "train" and len(whole["scenes"]) == 6
    assert whole["scenes"][3] == read(written / "scenes/train/CLEVR_train_000003.json")
    keys = {"split", "image_index", "image_filename", "objects", "directions", "relationships", "concepts", "label"}
    assert set(whole["scenes"][0]) == keys
    assert (written / "images/train/CLEVR_train_000002.png").read_bytes() == scenes["train"].pngs[2]


def test_objects_are_those_of_the_world(scenes, written):
    data = scenes["train"]
    for row, scene in enumerate(read(written / "CLEVR_train_scenes.json")["scenes"]):
        world, shown = data.world(row), decode(data.files([row], "instances")[0])[:, :, 0]
        assert scene["label"] == int(data.labels[row, 0])
        for number, one in enumerate(scene["objects"], start=1):
            ours = [world[f"object{number}.{name}"] for name in ("colour", "shape", "material", "size")]
            assert [one[name] for name in ATTRIBUTES] == ours
            rows, columns = np.nonzero(shown == number)
            assert (one["x"], one["y"]) == (columns.min(), rows.min())
            assert (one["width"], one["height"]) == (np.ptp(columns) + 1, np.ptp(rows) + 1)
            assert one["3d_coords"][:2] == pytest.approx(world.style["spots"][number - 1][:2])
            column, line, depth = one["pixel_coords"]
            inside = one["x"] - 1 <= column <= one["x"] + one["width"] + 1
            assert inside and one["y"] - 1 <= line <= one["y"] + one["height"] + 1 and 8 < depth < 18


def test_concepts_are_one_hot_and_padded(written):
    lengths = {len(scene["objects"]) for scene in read(written / "CLEVR_train_scenes.json")["scenes"]}
    assert lengths == {2, 3}
    for scene in read(written / "CLEVR_train_scenes.json")["scenes"]:
        assert [[len(part) for part in one] for one in scene["concepts"]] == [[10, 10, 2, 3]] * 3
        for one, found in zip(scene["objects"], scene["concepts"], strict=False):
            assert [sum(part) for part in found] == [1, 1, 1, 1]
            assert found[3].index(1) == ["large", "medium", "small"].index(one["size"])
        for missing in scene["concepts"][len(scene["objects"]) :]:
            assert {value for part in missing for value in part} == {-1}


def test_sides_agree_with_places(written):
    for scene in read(written / "CLEVR_test_scenes.json")["scenes"]:
        ways, sides = scene["directions"], scene["relationships"]
        for one, other in (("left", "right"), ("behind", "front"), ("above", "below")):
            assert np.allclose(np.add(ways[one], ways[other]), 0) and np.linalg.norm(ways[one]) == pytest.approx(1)
        assert ways["above"] == [0, 0, 1] and ways["right"][2] == ways["behind"][2] == 0  # along the floor
        assert np.dot(ways["right"], ways["behind"]) == pytest.approx(0, abs=1e-5) and ways["right"][0] > 0.5
        for number in range(len(scene["objects"])):
            for other in sides["left"][number]:
                assert other < number and number in sides["right"][other], "objects are numbered from left to right"
            flat = [np.dot(ways["behind"], one["3d_coords"]) for one in scene["objects"]]
            assert sides["behind"][number] == [i for i, spot in enumerate(flat) if spot > flat[number] + 0.2]


def test_one_split_can_be_written(scenes, tmp_path):
    assert export(scenes, "clevr", tmp_path / "out", ["test"]) == {"test": 2}
    assert [path.name for path in (tmp_path / "out").glob("[!.]*.json")] == ["CLEVR_test_scenes.json"]


def test_another_dataset_is_refused_and_leaves_nothing(mnlogic, tmp_path):
    with pytest.raises(DataError, match="is of task 'mnlogic'; only CLE4EVR can be written as CLEVR"):
        export(mnlogic, "clevr", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
