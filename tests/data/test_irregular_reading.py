"""Reading and making what is less regular: shards of several parts, odd pictures, recipes with stages, busy clusters."""

import base64
import hashlib
import io
import json
import pickle
import re
import shutil
import signal
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import assay
from assay.arrays import Array
from assay.concepts import Concept, ConceptSpace, bits
from assay.config import Settings
from assay.contracts import ShardRecord
from assay.data import (
    EXPORTS,
    Confounder,
    Dataset,
    Lookahead,
    Recipe,
    SplitData,
    cluster,
    content,
    dataset,
    decode_ahead,
    decoded_file,
    decoding,
    description,
    export,
    from_column,
    manifest,
    numbers,
    picture_store,
    recipe_from,
    shard,
    shard_files,
    split_data,
    split_pictures,
    split_to_dict,
)
from assay.data import make as making
from assay.data import recipe as recipes
from assay.data.columns import strings
from assay.data.content import content_of
from assay.data.decoding import count_workers, decode
from assay.data.picture_store import PictureStore
from assay.data.recipe import confounders_from, usual_size
from assay.data.remote import RemotePath
from assay.data.shard import ShardJob, ShardWriter
from assay.data.shard_files import ShardFile, ShardTable
from assay.data.split_data import example_table
from assay.errors import ConfigError, DataError, KnowledgeError, MissingExtra
from assay.logic import TRUE, Knowledge, parse
from assay.registry import Entry
from assay.render import Box, Layout, ObjectBox, encode_png
from assay.worlds import Split
from tests.data.test_cluster_calls import Ray, double
from tests.data.test_edges import shards_in
from tests.samples import needs_task
from tests.toys import Coin, Shelf, written


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data", train=5, valid=2, test=6, hard=0, pairs=4)


# -- datasets ----------------------------------------------------------------------------------------------------------


def test_pairs_are_a_split_where_there_are_some(shelf, tmp_path):
    none = written(Shelf(), tmp_path / "none", train=3, valid=2, test=3, hard=0, pairs=0)
    assert "pairs" in shelf and "pairs" not in none and none.pairs is None and shelf.pairs["where"] == str(TRUE)
    assert f"pairs {len(shelf['pairs'])}" in repr(shelf) and ", pairs" not in repr(none)
    assert shelf.split_names == ("train", "valid", "test") == tuple(shelf)
    symbols = shelf.symbols("pairs")
    assert symbols.columns[-2:] == ("pair_row", "pair_concept") and "image" not in symbols.columns
    assert symbols.table["pair_concept"].to_pylist() == shelf["pairs"].table["pair_concept"].to_pylist()
    with pytest.raises(DataError, match="has no counterfactual worlds: none were asked for"):
        none["pairs"]


def test_a_dataset_tells_its_size_and_shows_four_examples(shelf):
    text = repr(shelf)
    assert "  pictures  16 x 8, colour" in text and "train 5, valid 2, test 6" in text
    page = shelf._repr_html_()
    assert page.count("<img") == 4 and page.startswith("<pre>Dataset shelf")
    deep = replace(shelf, folder=shelf.folder / ("x" * 50) / ("y" * 55))
    assert repr(deep).splitlines()[-1] == f"  folder    ...xxxx/{'y' * 55}"


def test_a_run_knows_its_dataset_by_two_ways(shelf, tmp_path):
    place = shelf.place(shelf.folder.parent / "runs" / "one")
    assert place == {
        "folder": str(shelf.folder.resolve()), "from_run": "../../data", "fingerprint": shelf.fingerprint, "task": "shelf",
    }  # fmt: skip
    far = replace(shelf, origin=dataset.folder_at("s3://bucket/x"))
    assert far.place(tmp_path) == {"folder": "s3://bucket/x", "fingerprint": shelf.fingerprint, "task": "shelf"}


def test_shards_that_are_longer_than_listed_are_damaged(shelf, tmp_path):
    shutil.copytree(shelf.folder, tmp_path / "data")
    last = tmp_path / "data" / "pairs" / "part-00000.parquet"
    last.write_bytes(last.read_bytes() + b"more")
    with pytest.raises(DataError, match=rf"has {last.stat().st_size} bytes instead of {last.stat().st_size - 4}"):
        Dataset.open(tmp_path / "data")


def test_pictures_of_all_shards_count_for_where_they_are_held():
    parts = [SimpleNamespace(picture_bytes={"image": size, "depth": 1}) for size in (5, 70, 9)]
    files = tuple(ShardFile(None, rows, "") for rows in (2, 1, 4))
    stored = dataset._stored(files, parts, ("index", "image"))
    assert stored.split.picture_bytes == {"image": 84} and stored.rows.tolist() == list(range(7))
    assert dataset._stored(files, parts, ("index",)) is None


def test_rows_of_examples_have_their_own_pictures(shelf):
    data = shelf["test"]
    page = example_table(data, [4, 1])
    shown = [page.split("base64,")[number].split('"')[0] for number in (1, 2)]
    assert [base64.b64decode(text) for text in shown] == data.files([4, 1])
    assert "<th" in page and page.index("picture") < page.index("concepts") < page.index("labels")
    assert (
        data[3::-2].index.tolist() == [3, 1] and data[-2:].index.tolist() == [4, 5] and data[:-5].index.tolist() == [0]
    )
    assert data[-6]["labels"] == data[0]["labels"] and data[-1]["concepts"] == data[5]["concepts"]
    assert [part.index.tolist() for part in data.pieces(5)] == [[0, 1, 2, 3, 4], [5]]


def test_maps_are_those_of_their_columns(shelf):
    data = shelf["train"]
    for column, found in (("instances", data.instances), ("depth", data.depths)):
        files = data.files(column=column)
        assert len(set(files)) > 1 and (found == np.stack([decode(file)[:, :, 0] for file in files])).all()
    assert data.depths.max() > 255 and data.files([3, 0], "depth") == [
        data.files(column="depth")[row] for row in (3, 0)
    ]
    with pytest.raises(DataError, match="split 'train' has no column 'parts'; there is: "):
        data.parts


# -- pictures ----------------------------------------------------------------------------------------------------------


def test_rows_are_numbers_and_pictures_of_one_shape(shelf, monkeypatch):
    data = shelf["train"]
    for rows in ([True, False], ["a"], [[0]]):
        with pytest.raises(DataError, match="rows are whole numbers in one dimension"):
            data.pictures(rows)
    assert [rows.tolist() for rows, _ in data.batches(2, order=[4, 0, 4], workers=1, ahead=0)] == [[4, 0], [4]]
    assert data.pictures(row for row in (3, 1)).tolist() == data.images[[3, 1]].tolist()
    for shape in ((8, 15, 3), (8, 16, 1)):
        monkeypatch.setattr(split_pictures, "decode", lambda file, shape=shape: np.zeros(shape, np.uint8))
        with pytest.raises(DataError, match="the picture of row 2 is of shape"):
            data.pictures([2])


def test_pictures_in_a_table_come_by_their_rows(shelf):
    data = shelf["train"]
    drawn = replace(data, table=data.full_table(), stored=None)
    assert drawn.files([4, 0, 2]) == data.files([4, 0, 2]) and drawn.files([1], "depth") == data.files([1], "depth")
    assert drawn.columns == data.columns and "image" not in drawn.to_pandas() and "text" in drawn.to_pandas()


def test_pictures_of_other_programs_have_three_dimensions():
    for mode, shape in (("L", (3, 5, 1)), ("RGB", (3, 5, 3))):
        file = io.BytesIO()
        Image.new(mode, (5, 3), 90 if mode == "L" else (90, 90, 90)).save(file, "JPEG")
        assert decode(file.getvalue()).shape == shape


def test_threads_are_as_many_as_processors_within_reason(monkeypatch):
    for usable, workers in ((3, 3), (16, 16), (40, 16)):
        monkeypatch.setattr(
            decoding.os, "sched_getaffinity", lambda pid, usable=usable: set(range(usable)), raising=False
        )
        assert count_workers() == workers
    assert Lookahead.of(100, 16, None) == Lookahead(16, 6) and Lookahead.of(171, 16, None).batches == 3
    assert Lookahead.of(1, 1, None) == Lookahead(1, 32)


def test_an_error_in_any_part_of_a_batch_is_raised():
    def fill(images: Array, rows: Array) -> None:
        if 39 in rows:
            raise DataError("row 39")
        images[:] = rows[:, None, None, None]

    with pytest.raises(DataError, match="row 39"):
        list(decode_ahead(fill, (1, 1, 1), np.arange(40), 40, Lookahead(1, 1)))
    ((rows, images),) = decode_ahead(fill, (1, 2, 1), np.arange(38)[::-1], 40, Lookahead(2, 3))
    assert images[:, 0, 1, 0].tolist() == rows.tolist() == list(range(37, -1, -1))


def test_a_shard_is_checked_to_its_end_and_its_pictures_are_all_counted(tmp_path, monkeypatch):
    (one,) = shards_in(tmp_path, (5,), rows_of_group=2)
    monkeypatch.setattr(shard_files, "BLOCK", 64)
    one.check()
    data = one.path.read_bytes()
    one.path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(DataError, match="does not match its hash"):
        one.check()
    one.path.write_bytes(data)
    found = ShardTable.read(one, None)
    file = pq.ParquetFile(one.path)
    names = [file.metadata.row_group(0).column(place).path_in_schema for place in range(file.metadata.num_columns)]
    for column in ("image", "depth"):
        place = names.index(f"{column}.bytes")
        sizes = [file.metadata.row_group(group).column(place).total_uncompressed_size for group in range(3)]
        assert found.picture_bytes[column] == sum(sizes) and len(sizes) == file.metadata.num_row_groups
    assert [cell.as_py() for batch in one.pictures("depth") for cell in batch] == [
        f"q{row}".encode() for row in range(5)
    ]


def test_a_store_that_travels_stays_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(picture_store, "HELD_BYTES", 10)
    store = pickle.loads(pickle.dumps(PictureStore(shards_in(tmp_path), "depth", 10)))
    assert store.large and store.files(np.array([4, 3, 0])) == [b"q4", b"q3", b"q0"]
    assert len(list((tmp_path / "cache" / "pictures").iterdir())) == 3
    shutil.rmtree(tmp_path / "cache")
    assert store.files(np.array([5, 1])) == [b"q5", b"q1"] and store.files(np.array([2])) == [b"q2"]
    assert {path.name for path in (tmp_path / "cache" / "pictures").iterdir()} == {
        f"{store.shards[number].sha256}-depth" for number in (0, 2)
    }


def test_the_order_of_columns_is_no_content():
    table = pa.table({"b": [1, 2], "a": ["x", None], "c": [True, False]})
    assert (
        content_of(table)
        == content_of(table.select(["c", "a", "b"]))
        != content_of(table.rename_columns(["a", "b", "c"]))
    )


def test_equal_bytes_of_another_picture_are_other_content():
    def content(image):
        return content_of(pa.table({"image": pa.array([{"bytes": encode_png(image), "path": "a"}], shard.IMAGE)}))

    deep = np.array([[0x0102, 0x0304]], dtype=np.uint16)
    flat = np.array([[1, 2, 3, 4]], dtype=np.uint8)
    assert content(deep) != content(flat) and content(flat) == content(flat.copy())


# -- columns -----------------------------------------------------------------------------------------------------------


def test_codes_beyond_127_and_numbers_far_from_zero():
    values = [f"v{number}" for number in range(300)]
    column = pa.chunked_array([pa.array([f"v{number}" for number in range(299, -1, -1)]), pa.array([None, "v7"])])
    assert from_column(column, values, "x").tolist() == [*range(299, -1, -1), -1, 7]
    far = pa.chunked_array([pa.array([1000, 1002, 1001, 1000]), pa.array([1002])])
    assert from_column(far, (1002, 1000, 1001), "x").tolist() == [1, 0, 2, 1, 0]
    sliced = pa.chunked_array([pa.array([True, False, True, True, False, True]).slice(1, 4)])
    assert from_column(sliced, (False, True), "x").tolist() == [0, 1, 1, 0]
    unsigned = pa.chunked_array([pa.array([200, 3, 200], pa.uint8()).slice(1)])
    assert from_column(unsigned, (3, 200), "x").tolist() == [0, 1]
    assert from_column(pa.chunked_array([pa.nulls(3)]), (False, True), "x").tolist() == [-1, -1, -1]
    with pytest.raises(DataError, match=r"x: value 2.5 is not one of 1, 2"):
        from_column(pa.chunked_array([pa.array([1.0, 2.5])]), (1, 2), "x")
    assert strings(["é", "", "zß"], pa.string()).to_pylist() == ["é", "", "zß"]
    assert numbers(np.array([3, -1], dtype=np.int8)).to_pylist() == [3, -1]


# -- recipes -----------------------------------------------------------------------------------------------------------


@needs_task("mnadd-evenodd")
def test_shares_are_divided_among_stages():
    recipe = recipe_from("mnadd-evenodd", Settings({"continual": True, "n": 50, "test_prop": 0.5, "val_prop": 0.3}))
    sizes = dict(recipe.sizes)
    stages = [name for name in sizes if name.startswith("test_")]
    assert len(stages) == 2 and [sizes[name] for name in stages] == [12, 12]
    assert [size for name, size in sizes.items() if name.startswith("valid")] == [7, 7]
    assert list(sizes) == sorted(sizes)


@needs_task("mnlogic")
def test_a_recipe_holds_what_is_asked_for_and_nothing_else():
    recipe = recipe_from("mnlogic", Settings({"k": 2, "splits": {"valid": 3, "test": 4, "pairs": 0}}))
    assert recipe.sizes == (("pairs", 0), ("test", 4), ("valid", 3)) and recipe.most_pairs == 0 == recipe.pairs
    mark = Confounder.model_validate({"what": "frame", "with": "y", "strength": 0.5})
    held = Recipe("mnlogic", Settings({"k": 2}), 3, 40, (("test", 5),), (mark,))
    assert pickle.loads(pickle.dumps(held)) == held
    assert usual_size(SimpleNamespace(sizes={"train": 5, "test": 9})) == 5
    for listed in (["x", {"what": "frame", "with": "y"}], [{"what": "frame", "with": "y"}, 3]):
        with pytest.raises(ConfigError, match="confound: expected a list of entries"):
            confounders_from(Settings({"confound": listed}))


def test_planted_confounders_can_be_left_out_or_replaced(monkeypatch):
    planted, other = ({"what": what, "with": "same"} for what in ("frame", "watermark"))
    monkeypatch.setattr(Shelf, "planted", [planted])
    monkeypatch.setattr(recipes, "find_task", lambda name: lambda settings: Shelf())

    def marks(confound):
        return [one.what for one in getattr(Recipe("shelf", Settings(), confound=confound).task, "confounders", ())]

    assert marks(None) == ["frame"] and marks(()) == []
    assert marks((Confounder.model_validate(other),)) == ["watermark"]


def test_a_split_as_plain_data_has_all_that_decides_it():
    split = Split("ood", 7, parse("a"), (0.25, 0.75), disjoint_from=("train", "valid", "test"))
    found = split_to_dict(split)
    assert found["share"] == [0.25, 0.75] and found["disjoint_from"] == ["train", "valid", "test"]
    assert found["where"] == "a" and found["size"] == 7 and found["pool"] == split.pool


# -- shards ------------------------------------------------------------------------------------------------------------


def test_worlds_that_another_split_may_hold_are_refused():
    held = {"train": 0, "test": 3}
    sources = {
        name: SimpleNamespace(contains=lambda codes, value=value: codes[:, 0] == value) for name, value in held.items()
    }
    writer = ShardWriter(SimpleNamespace(task=None, splits=[], seed=0))
    writer._sources = sources
    split = SimpleNamespace(name="ood", disjoint_from=("train", "test"))
    writer._check_held_out(split, np.array([[1], [2]]))
    for codes, name in (([[1], [0], [2]], "train"), ([[1], [2], [3]], "test")):
        with pytest.raises(KnowledgeError, match=f"split 'ood' says it shares no world with '{name}', but it does"):
            writer._check_held_out(split, np.array(codes))


def test_the_worlds_of_each_split_are_prepared_once():
    asked = []
    task = SimpleNamespace(worlds_in=lambda split, seed: asked.append((split.name, seed)) or split.name.upper())
    splits = [SimpleNamespace(name="a", size=1), SimpleNamespace(name="b", size=1)]
    writer = ShardWriter(SimpleNamespace(task=task, splits=splits, seed=7))
    assert [writer.source(name) for name in ("b", "a", "b")] == ["B", "A", "B"] and asked == [("b", 7), ("a", 7)]
    assert writer.sources == {"a": "A", "b": "B"}


def test_pictures_larger_than_memory_allows_are_drawn_one_by_one(shelf, tmp_path, monkeypatch):
    monkeypatch.setattr(shard, "PIXELS_AT_ONCE", 1)
    again = written(Shelf(), tmp_path / "data", train=5, valid=2, test=6, hard=0, pairs=4)
    assert again.fingerprint == shelf.fingerprint


def test_boxes_and_names_of_pictures_are_kept():
    assert shard._thing(ObjectBox("x", Box(1, 2, 30, 4))) == {
        "name": "x",
        "left": 1,
        "top": 2,
        "right": 30,
        "bottom": 4,
    }
    picture = SimpleNamespace(image=np.zeros((1, 2), np.uint8), depth=np.ones((1, 2), np.uint8), text="é", things=())
    found = shard.picture_columns(["depth", "text", "image", "things"], [picture] * 2, ["a.png", "b.png"])
    assert [cell["path"] for cell in found["depth"].to_pylist()] == ["depth-a.png", "depth-b.png"]
    assert [cell["path"] for cell in found["image"].to_pylist()] == ["a.png", "b.png"]
    assert found["text"].to_pylist() == ["é", "é"] and found["things"].to_pylist() == [[], []]
    assert decode(found["depth"].to_pylist()[0]["bytes"]).max() == 1


def test_columns_are_described_by_all_of_their_values():
    space = ConceptSpace((Concept("n", (1, 2)), Concept("m", (3, "absent")), Concept("t", (False, True))))
    knowledge = Knowledge.of(space, {"y": "t", "k": "n"})
    found = shard.features(knowledge, ["text", "image"])
    kinds = {name: about.get("dtype") for name, about in found.items()}
    assert kinds == {
        "index": "int64", "text": "string", "image": None, "concept_n": "int64", "concept_m": "string", "concept_t": "bool",
        "label_y": "bool", "label_k": "int64", "boundary_y": "string", "boundary_k": "string", "style": "string",
    }  # fmt: skip
    assert list(found) == list(kinds)


def test_finer_concepts_must_give_the_concepts():
    fine = Knowledge.of(bits(["p", "q"]), {"a": "p and q"})
    space = bits(["b", "a"])
    knowledge = SimpleNamespace(subconcepts=fine)
    codes = np.array([[1, 1], [0, 1]])
    task = SimpleNamespace(knowledge=knowledge, space=space, subconcepts_of=lambda worlds: codes)
    found = shard._subconcept_columns(task, [1, 2], np.array([[0, 1], [1, 0]]))
    assert {name: column.to_pylist() for name, column in found.items()} == {
        "subconcept_p": [True, False], "subconcept_q": [True, True],
    }  # fmt: skip
    with pytest.raises(KnowledgeError, match="the subconcepts of some world do not give its concepts"):
        shard._subconcept_columns(task, [1, 2], np.array([[0, 1], [1, 1]]))
    assert shard._subconcept_columns(task, [], codes[:0]) == {}


# -- making ------------------------------------------------------------------------------------------------------------


def drawing(folder, todo, pool, there=2):
    seen = []
    writer = SimpleNamespace(recipe="recipe", places=lambda job: np.arange(10 * job.number + 3))
    made = making.Drawing(writer, folder, 1, seen.append, pool, {todo[1].file: "known"}, there)
    return made, seen


def test_a_pool_looks_after_every_shard_and_progress_counts_the_new_ones(tmp_path):
    todo = [ShardJob("a", number) for number in range(3)]
    (tmp_path / "a").mkdir()
    (tmp_path / todo[1].file).touch()
    asked = []

    class Pool:
        def shards(self, recipe, folder, wanted):
            asked.append((recipe, folder, wanted))
            return ((job, ShardRecord(job.file, 10 * job.number + 3, 0, "", "")) for job in reversed(todo))

    made, seen = drawing(tmp_path, todo, Pool())
    records = made.draw(todo)
    assert list(records) == todo and [record.rows for record in records.values()] == [3, 13, 23]
    assert asked == [("recipe", tmp_path, {todo[0]: None, todo[1]: "known", todo[2]: None})]
    assert seen == [13 + 2, 23, 0, 3]  # what was there, with the pairs; then each that is new
    made._report(0)
    made._report(4)
    assert seen[4:] == [4]


def test_the_plan_of_a_manifest_is_that_of_its_recipe():
    held = {
        "task": 1, "seed": 2, "shard_rows": 3, "sources": 4, "local": 5, "versions": 6, "code": 7,
        "splits": [{"name": "a", "size": 8, "labels": 1, "boundary": 2, "shards": 3}],
    }  # fmt: skip
    plan = {"task": 1, "seed": 2, "shard_rows": 3, "sources": 4, "code": 7, "splits": [{"name": "a", "size": 8}]}
    assert making._plan_of(held) == plan
    assert "code" not in making._plan_of({key: value for key, value in held.items() if key != "code"})


def test_more_pairs_than_a_dataset_has_are_not_whole(tmp_path):
    shard.write_shard(pa.table({"index": [1]}), ShardJob("pairs", 0), tmp_path)
    entry = shard.record(tmp_path, ShardJob("pairs", 0)).to_dict()
    held = {"pairs": {"asked": 5, "shards": [entry]}}

    def whole(asked, held=held):
        return making._pairs_are_whole(held, SimpleNamespace(most_pairs=asked), tmp_path)

    assert whole(5) and not whole(4) and not whole(6) and not whole(5, {})
    assert not whole(5, {"pairs": {"asked": 5, "shards": [entry, {"sha256": "x"}]}})
    assert not whole(5, {"pairs": {"asked": 5, "shards": [{**entry, "sha256": "x"}]}})


def test_interrupts_are_remembered_and_then_heard_as_before():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with pytest.raises(KeyboardInterrupt), making._remembered() as heard:
        signal.raise_signal(signal.SIGTERM)
    assert heard == [signal.SIGTERM]
    assert {number: signal.getsignal(number) for number in before} == before


# -- exports -----------------------------------------------------------------------------------------------------------


def test_an_export_says_what_was_written(shelf, tmp_path, monkeypatch):
    asked = []

    def write(data, splits, folder):
        asked.append(tuple(splits))
        (folder / "x").touch()
        return {name: len(data[name]) for name in splits}

    monkeypatch.setitem(EXPORTS.entries, "plain", Entry("plain", "", write))
    assert export(shelf, "plain", tmp_path / "some", ["test", "train"]) == {"test": 6, "train": 5}
    record = json.loads((tmp_path / "some" / ".export.json").read_text())
    assert record == {
        "form": "plain", "fingerprint": shelf.fingerprint, "splits": {"test": 6, "train": 5}, "versions": manifest.versions(),
    }  # fmt: skip
    export(shelf, "plain", tmp_path / "all")
    assert asked == [("test", "train"), ("train", "valid", "test")]


# -- clusters ----------------------------------------------------------------------------------------------------------


def test_a_cluster_is_entered_once_and_in_its_own_way(monkeypatch):
    begun = []
    ray = SimpleNamespace(
        is_initialized=lambda: len(begun) > 2, init=lambda *words, **more: begun.append((words, more))
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setattr(cluster.os, "environ", {"RAY_USAGE_STATS_ENABLED": "1"})
    monkeypatch.setattr(cluster, "_answers", lambda host, port: host == "head")
    for address in ("local", "auto", "head:1", "head:2"):
        assert cluster._connect(address) is ray
    assert [(words[0], "include_dashboard" in more) for words, more in begun] == [
        ("local", True), ("auto", False), ("head:1", False),
    ]  # fmt: skip
    assert (
        cluster.os.environ["RAY_USAGE_STATS_ENABLED"] == "1"
        and "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER" in cluster.os.environ
    )
    begun.clear()
    with pytest.raises(ConfigError, match=r"no Ray cluster at 'gone:1' \(nothing answers there\); start one"):
        cluster._connect("gone:1")


def test_a_cluster_that_has_no_processor_yet_gets_one_call_at_a_time(monkeypatch):
    ray = Ray(processors=0)
    monkeypatch.setattr(cluster, "_connect", lambda address: ray)
    calls = [cluster.Call(f"call {number}", double, (number,)) for number in range(3)]
    assert [result for _, result in cluster.Cluster("x").run(calls)] == [0, 2, 4] and ray.most == 1


def test_shards_of_a_cluster_are_told_by_their_job_and_lie_where_all_nodes_look(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    todo = {ShardJob("a", 1): "hash", ShardJob("a", 0): None}
    asked = []

    def run(self, calls):
        for call in reversed(calls):
            asked.append((call.name, call.arguments))
            yield call, f"record of {call.name}"

    monkeypatch.setattr(cluster.Cluster, "run", run)
    found = list(cluster.Cluster("x").shards("recipe", making.folder_at("data"), todo))
    assert found == [(job, f"record of {job.file}") for job in reversed(todo)]
    assert asked == [(job.file, ("recipe", job, tmp_path / "data", todo[job])) for job in reversed(todo)]
    monkeypatch.setattr(cluster.Cluster, "run", lambda self, calls: iter([(calls[0], cluster.Died(3))]))
    with pytest.raises(cluster.RunFailed, match="a/part-00001.parquet: its worker died 3 times; run the same command"):
        list(cluster.Cluster("x").shards("recipe", tmp_path, todo))


def test_a_node_ensures_a_shard_by_the_writer_that_it_keeps(monkeypatch):
    monkeypatch.setattr(cluster, "_writer", lambda key, recipe: f"writer of {key} {recipe}")
    monkeypatch.setattr(cluster, "ensure_shard", lambda *given: given)
    assert cluster._shard("r", "job", "folder", "hash") == ("writer of 'r' r", "job", "folder", "hash")


def test_a_machine_without_a_way_out_is_known_by_its_loopback_address(monkeypatch):
    class Probe:
        def __init__(self, *kind):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def connect(self, where):
            if where != ("192.0.2.1", 9) or self.closed:
                raise OSError

        def getsockname(self):
            return ("10.0.0.7", 1234)

    monkeypatch.setattr(cluster.socket, "socket", Probe)
    Probe.closed = False
    assert cluster._outer() == "10.0.0.7"
    Probe.closed = True
    assert cluster._outer() == "127.0.0.1"


# -- doors to other libraries ------------------------------------------------------------------------------------------


def test_finer_concepts_are_read_where_they_are_annotated():
    fine = Knowledge.of(bits(["p", "q"]), {"a": "p and q"})
    space = bits(["b", "a"])
    knowledge = Knowledge(space, Knowledge.of(space, {"y": "a"}).labels, (), fine)
    table = pa.table({"index": [4, 5], "subconcept_q": [True, False], "subconcept_p": [False, True]})
    data = SplitData("test", "print", knowledge, Layout(1, 1), table, TRUE)
    assert data.subconcepts.tolist() == [[0, 1], [1, 0]]
    assert replace(data, table=table.select(["index", "subconcept_q"])).subconcepts is None
    assert replace(data, knowledge=Knowledge.of(space, {"y": "a"})).subconcepts is None


def test_large_splits_are_handed_on_by_their_files(shelf, monkeypatch, tmp_path):
    class Rows:
        from_parquet = staticmethod(
            lambda files, cache_dir: SimpleNamespace(select=lambda rows: (files, cache_dir, rows.tolist()))
        )

        def __init__(self, table):
            self.table = table

    asked = []
    monkeypatch.setattr(split_data, "import_extra", lambda *given: asked.append(given) or SimpleNamespace(Dataset=Rows))
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    some = shelf["test"].take(np.array([4, 0]))
    assert some.to_hf().table["index"].to_pylist() == [4, 0] and "image" in some.to_hf().table.column_names
    monkeypatch.setattr(picture_store, "HELD_BYTES", 0)
    files, folder, rows = some.to_hf()
    assert files == [str(shelf.folder / "test" / "part-00000.parquet")] and folder == str(tmp_path / "hugging_face")
    assert rows == [4, 0] and asked[0] == ("datasets", "to_hf")


def test_a_split_goes_to_torch_and_comes_back_as_predictions(shelf, monkeypatch):
    class Tensors:
        made = 0

        def __init__(self, data):
            self.data, Tensors.made = data, Tensors.made + 1

        def __getitems__(self, rows):
            return [(self.data.name, row) for row in rows]

    monkeypatch.setitem(vars(assay), "TorchSplit", Tensors)
    monkeypatch.setitem(vars(assay), "predictions_for", lambda *given: given)
    data = shelf["test"]
    assert data.__getitems__([3, 1]) == [("test", 3), ("test", 1)] == data.__getitems__([3, 1]) and Tensors.made == 1
    assert data.torch().data is data and Tensors.made == 2
    assert data.predictions("labels", "concepts", model="m") == (data, "labels", "concepts", {"model": "m"})
    assert data.predictions("labels")[2:] == (None, {})


def test_what_cannot_be_kept_is_decoded_each_time(monkeypatch, tmp_path):
    def fill(images: Array, rows: Array) -> None:
        decoded.extend(rows.tolist())
        images[:] = rows[:, None, None, None]

    decoded: list[int] = []
    (tmp_path / "file").touch()
    for place, again in ((tmp_path / "cache", []), (tmp_path / "file", [7, 2])):
        monkeypatch.setenv("ASSAY_CACHE", str(place))
        decoded.clear()
        held = decoded_file.DecodedFile(fill, 9, (1, 2, 3))
        for rows in ([2, 7, 4], [7, 2]):
            images = np.zeros((len(rows), 1, 2, 3), np.uint8)
            held.fill(images, np.array(rows))
            assert images[:, 0, 1, 2].tolist() == rows
        assert decoded == [2, 7, 4, *again]
    monkeypatch.setattr(decoded_file.shutil, "disk_usage", lambda where: SimpleNamespace(free=400))
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    assert decoded_file._open_unnamed(101) is None
    descriptor = decoded_file._open_unnamed(100)
    assert descriptor is not None
    decoded_file.os.close(descriptor)


def test_pictures_that_are_half_written_are_decoded_again(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    decoded = []

    def fill(images: Array, rows: Array) -> None:
        decoded.extend(rows.tolist())
        images[:] = rows[:, None, None, None] + 1

    held = decoded_file.DecodedFile(fill, 5, (1, 1, 4))
    write = decoded_file.os.pwrite
    monkeypatch.setattr(
        decoded_file.os,
        "pwrite",
        lambda file, data, place: write(file, bytes(data)[:2] if place == 12 else data, place),
    )
    for _ in range(2):
        images = np.zeros((3, 1, 1, 4), np.uint8)
        held.fill(images, np.array([3, 0, 4]))
        assert images[:, 0, 0].tolist() == [[4] * 4, [1] * 4, [5] * 4]
    assert decoded == [3, 0, 4, 3]


# -- descriptions and stores -------------------------------------------------------------------------------------------


def test_the_manifest_is_written_last(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(description, "write_atomically", lambda path, data: seen.append((path, data)))
    monkeypatch.setattr(description, "describe", lambda given: {"croissant.json": b"c", "README.md": b"r"})
    description.write_description(tmp_path, {"b": 1, "a": 2})
    assert seen == [
        (tmp_path / "croissant.json", b"c"), (tmp_path / "README.md", b"r"), (tmp_path / "manifest.json", b'{\n "a": 2,\n "b": 1\n}\n'),
    ]  # fmt: skip


def test_a_picture_that_does_not_unpack_stands_by_its_file():
    whole = encode_png(np.arange(200, dtype=np.uint8).reshape(10, 20))
    start = whole.index(b"IDAT") + 4
    damaged = whole[: start + 2] + bytes(255 - byte for byte in whole[start + 2 : start + 8]) + whole[start + 8 :]
    assert content._hash_picture(damaged) == hashlib.sha256(damaged).digest()
    assert content._hash_picture(b"no picture") == hashlib.sha256(b"no picture").digest()
    assert content._hash_picture(whole) not in (hashlib.sha256(whole).digest(), content._hash_picture(damaged))


@pytest.mark.parametrize(
    ("address", "error", "kind", "told"),
    [
        ("hf://datasets/a/b", ImportError("no"), MissingExtra, "data at hf:// needs huggingface_hub"),
        ("gs://a/b", ImportError("no"), MissingExtra, "data at gs:// needs: pip install gcsfs"),
        ("https://a/b", ImportError("install aiohttp"), MissingExtra, "data at https:// needs: install aiohttp"),
        ("s3://a/b", ValueError("odd"), ConfigError, "cannot use 's3://a/b': odd"),
    ],
)
def test_stores_that_cannot_be_opened_say_what_they_need(address, error, kind, told, monkeypatch):
    def refuse(url, **options):
        assert url == address and options == {"use_listings_cache": False}
        raise error

    monkeypatch.setattr("fsspec.core.url_to_fs", refuse)
    with pytest.raises(kind, match=re.escape(told)):
        RemotePath(address).exists()


def test_files_are_found_below_and_removed_where_they_are(monkeypatch):
    done = []
    system = SimpleNamespace(
        find=lambda path: ["top/x/a.txt", "top/x/deep/b.txt", "top/x/deep/c.tmp", "elsewhere/d.txt"],
        ls=lambda path, detail: ["top/x/deep/", "top/x/a.txt"],
        exists=lambda path: path == "top/x",
        rm_file=done.append,
    )
    monkeypatch.setattr("assay.data.remote._system", lambda place: (system, "top/x"))
    place = RemotePath("s3://top/x/")
    assert [str(path) for path in place.rglob("*.txt")] == ["s3://top/x/a.txt", "s3://top/x/deep/b.txt"]
    assert [str(path) for path in place.iterdir()] == ["s3://top/x/deep", "s3://top/x/a.txt"]
    assert place.name == "x" and (place / "y").name == "y" and place.scheme == "s3" and place.shared
    place.unlink(missing_ok=True)
    place.unlink()
    assert done == ["top/x"] * 2
    system.exists = lambda path: False
    place.unlink(missing_ok=True)
    assert len(done) == 2


# -- rows of a split ---------------------------------------------------------------------------------------------------


def test_a_label_is_not_judged_where_any_concept_is_not_known():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "z": "a"})
    columns = {
        "index": [0, 1, 2], "concept_a": [None, False, True], "concept_b": [True, None, True], "label_y": [True, True, False],
        "label_z": [True, False, True], "style": ["{}"] * 3,
    }  # fmt: skip
    data = SplitData("test", "print", knowledge, Layout(1, 1), pa.table(columns), TRUE)
    assert data.lawful.tolist() == [[True, True], [True, True], [False, True]]


def test_drawn_labels_are_judged_piece_by_piece(monkeypatch, tmp_path):
    data = written(Coin(), tmp_path / "coin", train=25, valid=2, test=2, hard=0, pairs=0)["train"]
    monkeypatch.setattr(split_data, "AT_ONCE", 10)
    assert data.lawful.shape == (25, 2) and data.lawful.all()
    turned = data.table.set_column(
        data.table.column_names.index("label_y"),
        "label_y",
        pa.array([not y for y in data.table["label_y"].to_pylist()]),
    )
    assert not replace(data, table=turned).lawful[:, 0].any()


def test_each_row_has_its_own_style_and_as_many_are_drawn_as_asked(shelf, monkeypatch):
    data = shelf["test"]
    styles = [json.loads(text) for text in data.table["style"].to_pylist()]
    assert [data.world(row).style for row in range(len(data))] == styles and len({s["distance"] for s in styles}) > 1
    many = data.take(np.arange(20) % len(data))
    drawn = []
    monkeypatch.setattr(split_data, "picture_sheet", lambda images, captions: drawn.append((len(images), captions)))
    for count in (2, 15, 99):
        many.plot(count)
    many.plot()
    assert [number for number, _ in drawn] == [2, 15, 20, 12]
    assert drawn[1][1][7] == ", ".join(f"{k} = {v}" for k, v in data[7 % len(data)]["labels"].items())


def test_examples_without_pictures_have_no_column_for_them(shelf):
    bare = shelf.symbols("test")
    for rows in ([0, 1], []):
        page = example_table(bare, rows)
        assert "picture" not in page and "concepts" in page and "labels" in page and page.count("<td") == 2 * len(rows)
    assert "picture" not in example_table(shelf["test"], []) and "picture" in example_table(shelf["test"], [0])
