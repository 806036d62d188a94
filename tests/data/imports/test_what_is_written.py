"""What an import writes, to the last entry: rows, names of files, the manifest, and the splits that it makes."""

import hashlib
import io
import json

import numpy as np
import pytest
from PIL import Image

from assay.config import Settings
from assay.data import Dataset, to_values, values_in
from assay.data.imports import write
from assay.data.imports.pictures import fit_for
from assay.data.imports.settings import ImportSettings
from assay.data.imports.source_table import SourceTable, majority
from assay.data.imports.splitting import assign_splits
from assay.errors import DataError
from assay.logic import NO_RULE
from assay.seeds import rng_for
from tests.data.imports.test_readers import rows_of
from tests.data.imports.test_writing import png

LEVELS = (7, 200, 31, 90, 4, 55)
TABLE = SourceTable(
    [png(9, 8, level) for level in LEVELS],
    [f"{level}.png" for level in LEVELS],
    {"n": [3, None, 1, 3, 2, 1], "a": [True, False, False, None, True, True]},
    {"kind": ["u", "v", "u", "v", "v", "u"]},
    ["test", "train", "odd", "train", "valid", "train"],
)


def written(folder, table=TABLE, rule=None, **settings):
    manifest = write.write_dataset(table, folder, ImportSettings(**settings), Settings(rule or {}), "somewhere")
    return Dataset.open(folder), manifest


def test_rows_of_a_split_are_numbered_and_their_files_named_by_it(tmp_path):
    data, _ = written(tmp_path / "out")
    assert data.split_names == ("train", "valid", "test", "odd")
    rows = {name: [place for place, split in enumerate(TABLE.splits) if split == name] for name in data.split_names}
    for name, places in rows.items():
        table = data[name].full_table()
        assert table["index"].to_pylist() == list(range(len(places)))
        assert [cell["path"] for cell in table["image"].to_pylist()] == [f"{name}-{i}.png" for i in range(len(places))]
        assert [int(image.mean()) for image in data[name].images] == [LEVELS[place] for place in places]
        assert table["concept_n"].to_pylist() == [TABLE.concepts["n"][place] for place in places]
        assert table["concept_a"].to_pylist() == [TABLE.concepts["a"][place] for place in places]
        assert table["label_kind"].to_pylist() == [TABLE.labels["kind"][place] for place in places]
        assert table["boundary_kind"].to_pylist() == ["not placed"] * len(places)
        styles = [json.loads(text) for text in table["style"].to_pylist()]
        assert styles == [{"content": {"file": TABLE.names[place]}} for place in places]
        assert table.column_names == [
            "index", "image", "concept_n", "concept_a", "label_kind", "boundary_kind", "style",
        ]  # fmt: skip
        known = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
        assert known["concept_n"]["dtype"] == "int64" and known["concept_a"]["dtype"] == "bool"
        assert list(known) == table.column_names and known["image"]["_type"] == "Image"


def test_the_manifest_of_an_import_to_the_last_entry(tmp_path):
    limits = {"constraints": {"few": "n < 4"}, "splits": {"odd": "n == 1"}, "disjoint": [["test", "odd", "valid"]]}
    data, manifest = written(tmp_path / "out", rule=limits, seed=6, name="mine", resize="crop")
    entries = manifest.pop("splits")
    taken = hashlib.sha256(b"".join(hashlib.sha256(picture).digest() for picture in TABLE.pictures)).hexdigest()
    config = ImportSettings(seed=6, resize="crop").model_dump(mode="json", exclude={"name"})
    for key in ("fingerprint", "versions", "knowledge"):
        manifest.pop(key)
    assert manifest == {
        "format": 1,
        "task": {
            "name": "mine",
            "version": 1,
            "config": config,
            "imported": {
                "layout": "somewhere",
                "examples": 6,
                "resize": "crop",
                "agreement": None,
                "splits": "as in the source",
                "pictures_sha256": taken,
                "missing": {"train": 0.3333, "valid": 0.0, "test": 0.0, "odd": 0.0},
            },
        },
        "summary": "Imported from somewhere",
        "drawn": "Imported",
        "seed": 6,
        "shard_rows": write.SHARD_ROWS,
        "layout": data.layout.to_dict(),
        "columns": ["image"],
        "backbones": {},
        "sources": {},
        "local": {},
        "left_out": [],
        "pairs": {"asked": 0, "split": "test", "size": 0, "shards": [], "none": write.NO_PAIRS},
    }
    assert (data.layout.width, data.layout.height, data.layout.channels) == (9, 8, 1)
    shards = [entry.pop("shards") for entry in entries]
    assert [[shard["file"] for shard in part] for part in shards] == [
        [f"{name}/part-00000.parquet"] for name in data.split_names
    ]
    usual = {"balance": "world", "quota": None}
    facts = (
        ("train", 3, 0.5, "True", [], {"u": 1, "v": 2}),
        ("valid", 1, 0.166667, "True", ["odd", "test"], {"v": 1}),
        ("test", 1, 0.166667, "True", ["odd", "valid"], {"u": 1}),
        ("odd", 1, 0.166667, "n == 1", ["test", "valid"], {"u": 1}),
    )
    assert entries == [
        {
            **usual, "name": name, "pool": name, "size": size, "share": [0.0, share], "where": where, "disjoint_from": apart,
            "labels": {"kind": labels}, "boundary": {"kind": {"not placed": size}},
        }
        for name, size, share, where, apart, labels in facts
    ]  # fmt: skip
    assert [(one.name, str(one.formula)) for one in data.knowledge.constraints] == [("few", "n < 4")]
    assert not data.knowledge.has_rule and data.knowledge.labels[0].values == ("u", "v")
    assert [(c.name, c.values) for c in data.knowledge.space.concepts] == [("n", (1, 2, 3)), ("a", (False, True))]


def test_without_a_test_split_no_worlds_are_changed(tmp_path):
    table = SourceTable(TABLE.pictures, TABLE.names, TABLE.concepts, TABLE.labels, ["train", "valid"] * 3)
    _, manifest = written(tmp_path / "out", table, shares={"train": 0.5, "valid": 0.5})
    assert manifest["pairs"]["split"] is None and [entry["name"] for entry in manifest["splits"]] == ["train", "valid"]


def test_no_concept_may_be_named_like_the_rule_that_is_not_known(tmp_path):
    concepts = {"a": TABLE.concepts["a"], NO_RULE.name: TABLE.concepts["n"]}
    table = SourceTable(TABLE.pictures, TABLE.names, concepts, TABLE.labels, TABLE.splits)
    with pytest.raises(DataError, match=f"no concept can be named '{NO_RULE.name}'; rename it"):
        written(tmp_path / "out", table)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("seed", [0, 3])
def test_rows_are_taken_from_the_end_of_a_seeded_order(seed):
    splits = [("train", "mine", "train", "train")[row % 4] for row in range(40)]
    free = [row for row, split in enumerate(splits) if split == "train"]  # 30 of them
    order = [free[place] for place in rng_for(seed, "import", "splits").permutation(30)]
    made = assign_splits(rows_of(40, splits), {"train": 0.6, "test": 0.3, "valid": 0.1}, seed)
    expected = list(splits)
    for row in order[-9:]:
        expected[row] = "test"
    for row in order[-12:-9]:
        expected[row] = "valid"
    assert made == expected and splits.count("train") == 30


def test_rows_of_one_source_go_where_the_first_of_them_goes():
    sources = [("s",), ("t",), (), ("s",), ("t", "s"), (), ("s",), ("u",), ("t",), (), ("v",), ("t", "s")]
    groups = [[0, 3, 6], [1, 8], [2], [4, 11], [5], [7], [9], [10]]
    order = rng_for(2, "import", "splits").permutation(8).tolist()
    expected, wanted = ["train"] * 12, {"valid": 3, "test": 4}
    for name, least in wanted.items():
        count = 0
        while count < least:
            rows = groups[order.pop()]
            count += len(rows)
            for row in rows:
                expected[row] = name
    assert assign_splits(rows_of(12, sources=sources), {"train": 0.42, "valid": 0.25, "test": 0.33}, 2) == expected


def test_of_values_given_as_often_the_least_counts_and_numbers_are_no_texts():
    assert majority([10, 9]) == (9, 0.5) and majority([-1, -2, 30]) == (-2, 1 / 3)
    assert majority([True, False]) == (False, 0.5) and majority(["b", "a", "b", "a", "c"]) == ("a", 0.4)
    assert majority([3, 3, 1, 1, 3, 0]) == (3, 0.5) and majority(["10", "9"]) == ("10", 0.5)
    assert values_in([True, 3, None, False], "a") == (False, True, 3)
    assert to_values([" No", "YES ", 4, None, "x", 2.0], "a") == ["No", "YES", "4", None, "x", "2"]


@pytest.mark.parametrize(
    ("modes", "channels"),
    [
        (("L", "1"), 1), (("1",), 1), (("LA", "L"), 1), (("P",), 3), (("L", "RGBA"), 3), (("RGB", "L", "L"), 3),
    ],
)  # fmt: skip
def test_pictures_are_grey_where_all_are(modes, channels):
    def file(mode):
        buffer = io.BytesIO()
        Image.new(mode, (11, 9)).save(buffer, "PNG")
        return buffer.getvalue()

    fit = fit_for([file(mode) for mode in modes], list(modes), None, "stretch")
    assert fit.layout.channels == channels and (fit.layout.width, fit.layout.height) == (11, 9)
    assert fit.resize == "stretch"


def test_texts_stand_beside_the_rows_they_tell_of(tmp_path):
    table = SourceTable(
        TABLE.pictures, TABLE.names, TABLE.concepts, TABLE.labels, TABLE.splits, texts=[f"t{level}" for level in LEVELS]
    )
    data, manifest = written(tmp_path / "out", table)
    assert manifest["columns"] == ["image", "text"]
    assert {name: data[name].texts for name in data.split_names} == {
        "train": ["t200", "t90", "t55"], "valid": ["t4"], "test": ["t7"], "odd": ["t31"],
    }  # fmt: skip
    assert np.array_equal(data["odd"].concepts, [[0, 0]]) and data["train"].concepts.tolist() == [
        [-1, 0],
        [2, -1],
        [0, 1],
    ]
