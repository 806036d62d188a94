"""Marks in data that is there: every row of every shard is marked as it should be, and what cannot be marked is refused."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.data import Confounder, Copying, Coupling, Dataset, Recipe, couplings_of, decode
from assay.data.confounding import stored
from assay.data.confounding.confounder import draw_codes
from assay.errors import ConfigError, DataError
from assay.render import mark_image
from tests.toys import Shelf, written


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data", train=9, valid=4, test=7, hard=0, pairs=7)


def planted(**values):
    return Confounder.model_validate({"what": "watermark", "with": "same", **values})


def test_marks_of_stored_pictures_add_up_and_depend_on_the_seed(shelf, tmp_path):
    couplings = tuple(Coupling(one, shelf.knowledge) for one in (planted(), planted(what="frame", **{"with": "two"})))
    copying = Copying(shelf, couplings, tmp_path)
    data = shelf["test"].take(np.array([6, 1, 4]))
    table = copying.mark_rows(data.full_table(), "reversed", [[1, 2], [0, 1], [1, 0]])
    cells = table["image"].to_pylist()
    assert [cell["path"] for cell in cells] == ["reversed-6.png", "reversed-1.png", "reversed-4.png"]
    for image, cell, (first, second) in zip(data.images, cells, ((1, 2), (0, 1), (1, 0)), strict=True):
        assert (decode(cell["bytes"]) == mark_image(mark_image(image, "watermark", first, 2), "frame", second, 3)).all()
    styles = [json.loads(text) for text in table["style"].to_pylist()]
    assert [style["nuisances"] for style in styles] == [
        {"watermark": 1, "frame": 2}, {"watermark": 0, "frame": 1}, {"watermark": 1, "frame": 0},
    ]  # fmt: skip
    assert all("distance" in style for style in styles) and table["index"].to_pylist() == [6, 1, 4]
    seeded = SimpleNamespace(manifest={**shelf.manifest, "seed": 9})
    freely = [
        Copying(one, couplings, tmp_path).codes("unconfounded", shelf["test"], shelf["test"].index)
        for one in (shelf, seeded)
    ]
    assert freely[0] != freely[1]
    part = copying.codes("test", data, data.index)
    assert part == [copying.codes("test", shelf["test"], shelf["test"].index)[row] for row in (6, 1, 4)]


def test_what_cannot_be_marked_is_refused(shelf):
    def refused(confounders, **more):
        given = {**shelf.manifest, **more}
        dataset = SimpleNamespace(manifest=given, folder=Path("x"), knowledge=shelf.knowledge)
        with pytest.raises(ConfigError) as caught:
            stored._check(dataset, confounders)
        return str(caught.value)

    assert "name a mark and what it goes with" in refused([])
    assert "has no pictures to mark" in refused([planted()], columns=["text"])
    assert "'position' would move pictures and not their masks" in refused([planted(), planted(what="position")])
    assert "'style.x' needs worlds to be drawn anew" in refused([planted(), planted(what="style.x")])
    flat = SimpleNamespace(
        manifest={**shelf.manifest, "columns": ["image", "text"]}, folder=Path("x"), knowledge=shelf.knowledge
    )
    assert [one.name for one in stored._check(flat, [planted(what="position"), planted()])] == ["position", "watermark"]


def test_a_dataset_of_several_shards_is_marked_row_by_row(tmp_path, monkeypatch):
    monkeypatch.setattr(Recipe, "shard_rows", property(lambda self: 3))
    old = written(Shelf(), tmp_path / "old", train=14, valid=2, test=7, hard=0, pairs=7)
    marks = [planted(strength=0.5), planted(what="frame", strength=0.5, **{"with": "two"})]
    manifest = stored.confound_dataset(old, marks, tmp_path / "new")
    assert stored.confound_dataset(old, marks, tmp_path / "new") == manifest
    new = Dataset.open(tmp_path / "new")
    assert new.split_names == ("train", "valid", "test", "unconfounded", "reversed")
    assert [[shard["rows"] for shard in entry["shards"]] for entry in manifest["splits"]] == [
        [3, 3, 3, 3, 2],
        [2],
        *[[3, 3, 1]] * 3,
    ]
    assert [shard["rows"] for shard in manifest["pairs"]["shards"]] == [3, 3, 1] and len(new["pairs"]) == 7
    assert manifest["confounded_from"] == old.fingerprint and len(manifest["task"]["confound"]) == 2

    def nuisances(name):
        return [tuple(json.loads(text)["nuisances"].values()) for text in new[name].table["style"].to_pylist()]

    couplings = couplings_of(marks, old.knowledge)
    for split, origin in (
        ("train", "train"),
        ("valid", "valid"),
        ("test", "test"),
        ("unconfounded", "test"),
        ("reversed", "test"),
    ):
        data = old[origin]
        partners = np.stack([one.partner(data.concepts, data.labels) for one in couplings], axis=1)
        drawn = draw_codes(couplings, split, origin, old.manifest["seed"], data.index, partners)
        assert nuisances(split) == [tuple(row) for row in drawn] and (new[split].concepts == data.concepts).all()
        for row, (first, second) in enumerate(drawn):
            image = mark_image(mark_image(data.images[row], "watermark", first, 2), "frame", second, 3)
            assert (new[split].images[row] == image).all()
    rows = new["pairs"].pair_rows.tolist()
    assert sorted(rows) != rows and nuisances("pairs") == [nuisances("test")[row] for row in rows]
    assert stored._is_of(tmp_path / "new", old) and not stored._is_of(tmp_path / "new", new)
    assert not stored._is_of(tmp_path / "old", old) and not stored._is_of(tmp_path, old)


def test_a_copy_needs_a_test_split_and_keeps_what_is_said_of_pairs(tmp_path):
    old = written(Shelf(), tmp_path / "old", train=3, valid=0, test=2, hard=0, pairs=0)
    manifest = stored.confound_dataset(old, [planted(strength=0.25, where="train")], tmp_path / "new")
    assert manifest["pairs"] == old.manifest["pairs"] and manifest["pairs"]["none"] == "none were asked for"
    assert manifest["task"] == {
        **old.manifest["task"],
        "confound": [
            {
                "what": "watermark",
                "with": "same",
                "strength": 0.25,
                "one_sided": False,
                "values": None,
                "where": ["train"],
            }
        ],
    }
    entries = {entry["name"]: {**entry, "shards": 0} for entry in manifest["splits"]}
    assert list(entries) == ["train", "test", "unconfounded", "reversed"]
    for name in ("unconfounded", "reversed"):
        assert entries[name] == {**entries["test"], "name": name}
    changed = ("task", "splits", "versions", "fingerprint", "confounded_from")
    assert {k: v for k, v in manifest.items() if k not in changed} == {
        k: v for k, v in old.manifest.items() if k not in changed
    }
    lacking = written(Shelf(), tmp_path / "lacking", train=3, valid=2, test=0, hard=0, pairs=0)
    with pytest.raises(DataError, match="has no test split to show again without the confounder"):
        stored.confound_dataset(lacking, [planted()], tmp_path / "none")
    assert not (tmp_path / "none").exists()
