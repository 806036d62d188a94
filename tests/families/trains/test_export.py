"""The export in V-LoL's files: folders, keys, masks, boxes and places that agree with the dataset."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from assay.base import DataError, Settings
from assay.dataset import Dataset, Recipe, make
from assay.exchange import export

KEYS = {
    "base_scene", "train_description", "classification_rule", "visualization", "min_cars", "max_cars", "image_index",
    "image_filename", "blender_filename", "depth_map_filename", "angle", "train", "car_masks",
}  # fmt: skip


def decoded(rle):
    """Return the mask of COCO's compressed run lengths, read by the letter as its own reader does."""
    runs, at, letters = [], 0, rle["counts"]
    while at < len(letters):
        value, shift, more = 0, 0, True
        while more:
            letter = ord(letters[at]) - 48
            value |= (letter & 31) << (5 * shift)
            more, at, shift = bool(letter & 32), at + 1, shift + 1
            if not more and letter & 16:
                value |= -1 << (5 * shift)
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
    height, width = rle["size"]
    flat = np.repeat(np.arange(len(runs)) % 2, runs).astype(bool)
    return flat.reshape(width, height).T


def made(folder, name, **settings):
    sizes = (("train", 0), ("valid", 0), ("test", 3), ("hard", 0))
    given = {"width": 96, "quality": "draft", **settings}
    make(Recipe(name, Settings(given), sizes=sizes), folder)
    return Dataset.open(folder)


@pytest.fixture(scope="module", params=["trains", "blocks"])
def exported(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vlol")
    dataset = made(folder / "data", request.param)
    assert export(dataset, "vlol", folder / "out") == {"test": 3}
    style = {"trains": "Trains", "blocks": "SimpleObjects"}[request.param]
    inside = folder / "out" / "test" / f"{style}_theoryx_MichalskiTrains_base_scene_len_2-4"
    return dataset["test"], inside


def test_files_are_where_v_lols_loaders_look(exported):
    data, inside = exported
    scenes = json.loads((inside / "all_scenes" / "all_scenes.json").read_text())["scenes"]
    assert [scene["image_filename"] for scene in scenes] == [f"{n}_m_train.png" for n in range(3)]
    for row, scene in enumerate(scenes):
        assert set(scene) == KEYS
        with Image.open(inside / "images" / scene["image_filename"]) as image:
            assert (np.asarray(image) == data.images[row]).all()
        with Image.open(io.BytesIO((inside / "depths" / scene["depth_map_filename"]).read_bytes())) as depth:
            assert (np.asarray(depth) == data.depths[row]).all()


def test_train_texts_say_what_the_concepts_say(exported):
    data, inside = exported
    scenes = json.loads((inside / "all_scenes" / "all_scenes.json").read_text())["scenes"]
    colours = {"rectangle": "yellow", "bucket": "green", "ellipse": "grey", "hexagon": "red", "u_shaped": "blue"}
    for row, scene in enumerate(scenes):
        label, angle, *words = scene["train"].split()
        world = data.world(row)
        assert (label == "east") == bool(data.labels[row, 0]) and int(angle) == world.style["angle"] == scene["angle"]
        assert len(words) % 8 == 0 and 2 <= len(words) // 8 <= 4
        for number in range(len(words) // 8):
            n, shape, length, _, _, wheels, _, loads = words[8 * number : 8 * number + 8]
            car = f"car{number + 1}"
            assert (
                int(n) == number + 1 and colours[shape] == world[f"{car}.colour"] and length == world[f"{car}.length"]
            )
            assert int(wheels) == world[f"{car}.axles"] and int(loads) == world[f"{car}.loads"]


def test_masks_boxes_and_places(exported):
    data, inside = exported
    scenes = json.loads((inside / "all_scenes" / "all_scenes.json").read_text())["scenes"]
    for row, scene in enumerate(scenes):
        found, world = scene["car_masks"], data.world(row)
        things = {thing.name: place for place, thing in enumerate(data.things[row], start=1)}
        cars = [name for name in found if name.startswith("car_")]
        assert {"rail", "loco"} <= set(found) and len(cars) == len(
            [name for name in things if "car" in name and "/" not in name]
        )
        for name in cars:
            car, ours = found[name], name.replace("_", "")
            assert (decoded(car["mask"]) == (data.instances[row] == things[ours])).all()
            assert (
                car["color"]["label"] == world[f"{ours}.colour"] and car["length"]["label"] == world[f"{ours}.length"]
            )
            assert car["wheels"]["label"] == f"{world[f'{ours}.axles']}_wheels"
            assert car["wall"]["label"] == f"{world[f'{ours}.wall']}_wall" and len(car["world_cord"]) == 3
            assert (car["roof"]["label"] == "none") == (world[f"{ours}.roof"] == "none")
            loads = [key for key in car if key.startswith("payload_")]
            assert len(loads) == world[f"{ours}.loads"]
            for key in loads:
                pixels = decoded(car[key]["mask"])
                rows, columns = np.nonzero(pixels)
                left, top, width, height = car[key]["b_box"]
                assert car[key]["label"] == world[f"{ours}.load"]
                assert not len(rows) or (left, top, width, height) == (
                    columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1
                )  # fmt: skip
        order = [found[name]["world_cord"][:2] for name in ("loco", *cars)]
        steps = np.diff(np.array(order), axis=0)
        ahead = -np.array([np.cos(np.radians(scene["angle"])), np.sin(np.radians(scene["angle"]))])
        assert (steps @ ahead > 0.5).all()  # the cars stand behind the engine, one after the other


def test_other_datasets_are_refused(tmp_path):
    dataset = made(tmp_path / "text", "trains", image=False)
    with pytest.raises(DataError, match="holds no pictures of trains") as caught:
        export(dataset, "vlol", tmp_path / "out")
    assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()


def test_folders_of_other_trains_are_named_in_v_lols_words(tmp_path):
    settings = {"background": "desert_sky", "visualization": "blocks", "rule": "easy", "width": 32, "quality": "draft"}
    sizes = (("train", 0), ("valid", 0), ("test", 0), ("hard", 0), ("ood_longer", 1), ("ood_uniform", 1))
    make(Recipe("trains-ood", Settings({**settings, "image": True}), sizes=sizes), tmp_path / "data")
    export(Dataset.open(tmp_path / "data"), "vlol", tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").glob("*/*")} == {
        "SimpleObjects_easy_MichalskiTrains_sky_scene_len_7-7",
        "SimpleObjects_easy_RandomTrains_sky_scene_len_2-4",
    }
