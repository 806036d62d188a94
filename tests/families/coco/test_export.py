"""Drawn scenes written as COCO: every image, and of every object its class, box, area and mask."""

import json

import numpy as np
import pytest
from PIL import Image

from assay.families.coco import export
from assay.families.coco.drawing.scene import draw_scene
from assay.families.coco.scene_templates import CROWDED, HEIGHT, NAMES, WIDTH
from assay.families.coco.synthetic import synthetic_album


@pytest.mark.parametrize(
    ("mask", "runs"),
    [
        ([[0, 1, 1], [0, 1, 0]], [2, 3, 1]),  # column by column
        ([[1, 0], [1, 1]], [0, 2, 1, 1]),  # a mask that begins at once has no pixel before it
        ([[0, 0], [0, 0]], [4]),
    ],
)
def test_runs_go_down_the_columns(mask, runs):
    assert list(export._runs(np.array(mask, dtype=bool))) == runs


def test_annotations_say_what_the_pictures_show(tmp_path):
    sizes = export.write_coco(tmp_path / "coco", 6)
    held = synthetic_album(6)
    assert sizes == {part: int((held.album.parts == n).sum()) for part, n in export.PARTS.items()}
    assert sizes == {"train2017": 2, "val2017": 3}  # the sixth scene belongs to neither part
    for part, number in export.PARTS.items():
        rows = np.flatnonzero(held.album.parts == number).tolist()
        told = json.loads((tmp_path / "coco" / "annotations" / f"instances_{part}.json").read_text())
        assert [one["id"] for one in told["images"]] == held.scenes.numbers[rows].tolist()
        assert told["categories"][0] == {"id": 1, "name": NAMES[0].replace("_", " ")}
        assert [one["id"] for one in told["categories"]] == list(range(1, len(NAMES) + 1))
        notes = iter(told["annotations"])
        for row, image in zip(rows, told["images"], strict=True):
            picture = draw_scene(held.scenes.content(row, [True] * CROWDED), (WIDTH, HEIGHT))
            assert (image["width"], image["height"]) == (WIDTH, HEIGHT)
            with Image.open(tmp_path / "coco" / part / image["file_name"]) as written:
                assert (np.asarray(written) == picture.image).all()
            for place, thing in enumerate(picture.things, start=1):
                note, mask = next(notes), picture.instances == place
                ys, xs = np.nonzero(mask)
                assert note["bbox"] == [xs.min(), ys.min(), np.ptp(xs) + 1, np.ptp(ys) + 1]
                assert (note["id"], note["image_id"]) == (100 * image["id"] + place, image["id"])
                assert NAMES[note["category_id"] - 1] == thing.name and note["iscrowd"] == 0
                runs = note["segmentation"]["counts"]
                assert note["segmentation"]["size"] == [HEIGHT, WIDTH] and note["area"] == mask.sum()
                flat = np.repeat(np.arange(len(runs)) % 2, runs).astype(bool)
                assert (mask == flat.reshape(WIDTH, HEIGHT).T).all()
        assert next(notes, None) is None
