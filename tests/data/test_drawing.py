"""How shards are drawn: what is kept, what is counted, who draws, and what a half-made or damaged folder leads to."""

import json
import os
import signal
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import bits
from assay.config import Settings
from assay.contracts import PAIRS, ShardRecord, fingerprint
from assay.data import (
    MOST_PAIRS,
    Dataset,
    Recipe,
    all_shards,
    default_workers,
    file_names,
    make,
    pairs_split,
    read_manifest,
    refresh_pairs,
    shard,
)
from assay.data import make as making
from assay.data import manifest as manifests
from assay.data import pairs as pairing
from assay.data.making import Drawing, ensure_shard
from assay.data.manifest import PLAN, with_fingerprint
from assay.data.pairs import Change, PairsJob, choose_changes, pairs_jobs
from assay.data.remote import RemotePath
from assay.data.shard import ShardJob, ShardWriter, _draw, columns_of, jobs, picture_columns
from assay.errors import ConfigError, DataError, KnowledgeError, RunFailed
from assay.logic import Knowledge
from assay.render import Box, ObjectBox, Picture, encode_png
from assay.seeds import Deck
from assay.testing import TwoSquares
from assay.worlds import World
from tests.leftovers import hidden, leave_file

SIZES = (("train", 10), ("valid", 3), ("test", 6), ("hard", 0))


def recipe(**more):
    made = Recipe("two-squares", Settings(), sizes=(*SIZES, *more.items()))
    task = TwoSquares()
    made.__dict__["task"] = task
    return made


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(Recipe, "shard_rows", property(lambda self: 4))


@pytest.fixture
def folder(tmp_path, small_shards):
    make(recipe(), tmp_path / "data")
    return tmp_path / "data"


def test_progress_counts_what_is_there_first(tmp_path, small_shards):
    counts = []
    make(recipe(), tmp_path / "data", progress=counts.append)
    assert counts[0] == 0 and counts[1:7] == [4, 4, 2, 3, 4, 2] and sum(counts) == 19 + 6
    again = []
    make(recipe(), tmp_path / "data", progress=again.append)
    assert again == [25]
    (tmp_path / "data" / "train" / "part-00001.parquet").unlink()
    third = []
    make(recipe(), tmp_path / "data", progress=third.append)
    assert third == [21, 4]
    (tmp_path / "data" / PAIRS / "part-00000.parquet").write_bytes(b"damaged")
    fourth = []
    make(recipe(), tmp_path / "data", progress=fourth.append)
    assert fourth == [19, 2, 4]


def test_the_manifest_lists_every_shard(folder):
    manifest = read_manifest(folder)
    assert [shard["file"] for shard in all_shards(manifest)] == [
        "train/part-00000.parquet", "train/part-00001.parquet", "train/part-00002.parquet", "valid/part-00000.parquet",
        "test/part-00000.parquet", "test/part-00001.parquet", "pairs/part-00000.parquet", "pairs/part-00001.parquet",
    ]  # fmt: skip
    assert [shard["rows"] for shard in all_shards(manifest)] == [4, 4, 2, 3, 4, 2, 4, 2]
    assert (
        manifest[PAIRS]["size"] == 6 and manifest[PAIRS]["split"] == "test" and manifest[PAIRS]["asked"] == MOST_PAIRS
    )
    assert manifest["left_out"] == ["hard"] and not (folder / PLAN).exists()
    data = Dataset.open(folder)["train"]
    counts = np.bincount(data.labels[:, 0], minlength=2)
    assert manifest["splits"][0]["labels"] == {"brighter": {"False": int(counts[0]), "True": int(counts[1])}}
    found = manifest["splits"][0]["boundary"]["brighter"]
    assert list(found) == sorted(found) and sum(found.values()) >= 10
    tags = [tag for text in data.table["boundary_brighter"].to_pylist() for tag in text.split("; ")]
    assert found == {tag: tags.count(tag) for tag in sorted(set(tags))}


def test_another_number_of_pairs_is_drawn_and_the_surplus_removed(folder):
    manifest = make(recipe(pairs=3), folder)
    assert manifest[PAIRS]["size"] == 3 and manifest[PAIRS]["asked"] == 3
    assert [path.name for path in sorted((folder / PAIRS).iterdir())] == ["part-00000.parquet"]
    none = make(recipe(pairs=0), folder)
    assert none[PAIRS]["none"] == "none were asked for" and none[PAIRS]["size"] == 0
    assert fingerprint(none) == none["fingerprint"] == manifest["fingerprint"]


def test_pairs_of_a_finished_dataset_are_drawn_anew(folder):
    leave_file(folder / "left")
    counts = []
    manifest = refresh_pairs(Dataset.open(folder), TwoSquares(), 5, counts.append)
    assert counts == [4, 1] and manifest[PAIRS]["size"] == manifest[PAIRS]["asked"] == 5
    assert not hidden(folder)
    assert len(Dataset.open(folder)[PAIRS]) == 5
    again = refresh_pairs(Dataset.open(folder), TwoSquares())
    assert again[PAIRS]["asked"] == 5
    elsewhere = SimpleNamespace(origin="s3://there")
    with pytest.raises(DataError, match="'s3://there' lies elsewhere"):
        refresh_pairs(elsewhere, TwoSquares())
    bare = SimpleNamespace(origin=None, manifest={}, folder=folder, split_names=["train"])
    with pytest.raises(DataError, match="has no test split"):
        refresh_pairs(bare, TwoSquares())


def test_changes_are_of_one_concept_each_and_come_in_shards(folder):
    data = Dataset.open(folder).symbols("test")
    changes = choose_changes(data, TwoSquares(), 0, 4)
    assert len(changes) == 4 and len({change.row for change in changes}) == 4
    for place, change in enumerate(changes):
        before = data.world(change.row)
        assert sum(a != b for a, b in zip(before.codes, change.world.codes, strict=True)) == 1
        assert before[change.concept] != change.value == change.world[change.concept]
        crosses = (before["left"] > before["right"]) != (change.world["left"] > change.world["right"])
        assert (
            crosses == (place % 2 == 0)
            or before["left"] == before["right"]
            or abs(before["left"] - before["right"]) == 2
        )
    made = pairs_jobs(changes * 2, 3)
    assert [(job.number, len(job.changes), job.start) for job in made] == [(0, 3, 0), (1, 3, 3), (2, 2, 6)]
    assert made[1].changes == (changes[3], *changes[:2])
    record = ShardRecord("f", 3, 1, "s", "c")
    assert made[0].fits(record) and not made[2].fits(record)
    assert made[2].drawn_by(TwoSquares()).to_pydict()["index"] == [6, 7]


def world(left, right):
    return World(TwoSquares().space, (left, right), {"noise": [0] * 24})


def test_folders_of_others_are_refused(folder, tmp_path):
    with pytest.raises(DataError, match="holds another dataset"):
        make(changed_recipe(), folder)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    with pytest.raises(DataError, match="is not an empty folder; choose another"):
        make(recipe(), tmp_path / "full")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / PLAN).write_text("{}")
    for text in ("{}", "{"):
        (tmp_path / "half" / PLAN).write_text(text)
        with pytest.raises(DataError, match="holds part of another dataset"):
            make(recipe(), tmp_path / "half")


def changed_recipe():
    made = Recipe("two-squares", Settings(), seed=1, sizes=SIZES)
    made.__dict__["task"] = TwoSquares()
    return made


def test_a_killed_run_goes_on(folder, tmp_path):
    manifest = read_manifest(folder)
    plan = making._plan_of(manifest)
    assert set(plan) == {"task", "seed", "shard_rows", "sources", "splits"}
    assert all(set(split) & {"labels", "boundary", "shards"} == set() for split in plan["splits"])
    (folder / PLAN).write_text(json.dumps(plan))
    (folder / "manifest.json").unlink()
    counts = []
    assert make(recipe(), folder, progress=counts.append)["fingerprint"] == manifest["fingerprint"]
    assert counts[0] == 19


def test_shards_of_a_manifest_are_known(folder):
    held = read_manifest(folder)
    record = ShardRecord(**held["splits"][0]["shards"][0])
    assert making._are_listed([record], held) and making._are_listed([], held)
    for change in ({"file": "x/part-00000.parquet"}, {"sha256": "0"}, {"content": "0"}):
        assert not making._are_listed([ShardRecord(**{**record.to_dict(), **change})], held)
    old = json.loads(json.dumps(held))
    del old["splits"][0]["shards"][0]["content"]
    assert making._are_listed([record], old)  # an older manifest says nothing of contents
    job = ShardJob("train", 0)
    assert making._finished(folder, job, None) == record == making._finished(folder, job, record.sha256)
    assert making._finished(folder, job, "0") is None and making._finished(folder, ShardJob("train", 9), None) is None


def test_pairs_are_whole_if_all_are_there(folder):
    held = read_manifest(folder)
    assert making._pairs_are_whole(held, recipe(), folder)
    assert not making._pairs_are_whole(held, recipe(pairs=3), folder)
    assert not making._pairs_are_whole({**held, PAIRS: None}, recipe(), folder)
    (folder / PAIRS / "part-00001.parquet").unlink()
    assert not making._pairs_are_whole(held, recipe(), folder)


def drawing(monkeypatch, workers, there, pool=None, where=None):
    todo = [ShardJob("train", number) for number in range(3)]
    calls = []
    monkeypatch.setattr(making, "_finished", lambda folder, job, sha: record_of(job) if job.number in there else None)
    monkeypatch.setattr(making, "_parallel", lambda recipe, folder, left, count: calls.append(("parallel", count, len(left))) or (
        (job, record_of(job)) for job in left))  # fmt: skip
    monkeypatch.setattr(making, "_serial", lambda writer, folder, left: calls.append(("serial", len(left))) or (
        (job, record_of(job)) for job in left))  # fmt: skip
    counts = []
    made = Drawing(SimpleNamespace(recipe="r"), where, workers, counts.append, pool, {}, 7)
    return made, todo, calls, counts


def record_of(job):
    return ShardRecord(job.file, 10 + job.number, 1, "s", "c")


@pytest.mark.parametrize(
    ("workers", "there", "call"),
    [(1, (), ("serial", 3)), (2, (), ("parallel", 2, 3)), (2, (0, 2), ("serial", 1)), (3, (1,), ("parallel", 3, 2))],
)
def test_several_processes_pay_for_several_shards(monkeypatch, workers, there, call):
    made, todo, calls, counts = drawing(monkeypatch, workers, there)
    found = made.draw(todo)
    assert calls == [call] and list(found) == todo and found == {job: record_of(job) for job in todo}
    assert counts[0] == 7 + sum(10 + number for number in there) and sum(counts) == 7 + 33
    made.draw(todo[:1] if 0 in there else [])
    assert sum(counts) == 7 + 33 + (10 if 0 in there else 0)


@pytest.mark.parametrize("shared", [True, False])
def test_a_folder_that_only_this_process_sees_is_written_by_it(monkeypatch, shared):
    place = RemotePath("s3://x" if shared else "memory://x")
    made, todo, calls, _ = drawing(monkeypatch, 2, (), where=place)
    made.draw(todo)
    assert calls == ([("parallel", 2, 3)] if shared else [("serial", 3)])
    if not shared:
        made.pool = object()
        with pytest.raises(ConfigError, match="is seen by this process only"):
            made.draw(todo)


def test_a_pool_looks_after_every_shard(tmp_path):
    todo = [ShardJob("train", number) for number in range(3)]
    (tmp_path / "train").mkdir()
    (tmp_path / todo[1].file).touch()
    wanted = []

    class Pool:
        def shards(self, recipe, folder, given):
            wanted.append((recipe, folder, given))
            return ((job, record_of(job)) for job in reversed(given))

    counts = []
    writer = SimpleNamespace(recipe="r", places=lambda job: range(10 + job.number))
    made = Drawing(writer, tmp_path, 1, counts.append, Pool(), {todo[2].file: "hash"}, 0)
    assert list(made.draw(todo)) == todo
    assert wanted == [("r", tmp_path, {todo[0]: None, todo[1]: None, todo[2]: "hash"})]
    assert counts == [11, 12, 0, 10]


def test_a_shard_is_made_unless_it_is_there(folder, tmp_path):
    writer = ShardWriter(recipe())
    job = ShardJob("train", 2)
    record = ensure_shard(writer, job, folder, None)
    assert record.rows == 2 and record == making._finished(folder, job, None)
    (folder / job.file).unlink()
    assert ensure_shard(writer, job, folder, record.sha256) == record
    with pytest.raises(RunFailed, match="a node does not see"):
        ensure_shard(writer, job, tmp_path / "elsewhere", None)
    assert [len(writer.places(job)) for job in jobs(recipe())] == [4, 4, 2, 3, 4, 2]
    assert writer.places(ShardJob("train", 1)).tolist() == [4, 5, 6, 7]
    assert file_names("test", np.array([3, 12])) == ["test-3.png", "test-12.png"]


def test_interrupts_are_remembered_and_handlers_restored():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with making._remembered() as heard:
        for number in (signal.SIGINT, signal.SIGTERM):
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
                signal.pause()
        assert heard == [signal.SIGINT, signal.SIGTERM]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    seen = []

    def other():
        with making._remembered() as heard:
            seen.append((heard, signal.getsignal(signal.SIGTERM) == before[1]))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [([], True)]


def test_workers_are_set_up_before_they_write(monkeypatch, tmp_path):
    ended = []
    monkeypatch.setattr(making, "_writer", None)
    monkeypatch.setattr(making, "end_with_parent", ended.append)
    monkeypatch.setattr(
        making, "ShardWriter", lambda given: SimpleNamespace(write=lambda job, folder: (given, job, folder))
    )
    with pytest.raises(RunFailed, match="a worker was not set up"):
        making._work("job", tmp_path)
    making._start("recipe", 12)
    assert ended == [12] and making._work("job", tmp_path) == ("recipe", "job", tmp_path)


@pytest.mark.parametrize(
    ("rows", "cores", "workers"), [(100, 8, 1), (599, 8, 2), (800, 8, 4), (8000, 8, 8), (8000, None, 1), (10, 8, 1)]
)
def test_so_many_workers_pay(monkeypatch, rows, cores, workers):
    monkeypatch.setattr(making.os, "cpu_count", lambda: cores)
    given = SimpleNamespace(splits=[SimpleNamespace(size=rows - 4)], pairs=4, task=SimpleNamespace(seconds=0.01))
    assert default_workers(given) == workers


def test_a_manifest_stands_for_what_shards_hold(folder):
    held = read_manifest(folder)
    packed = json.loads(json.dumps(held))
    packed["splits"][0]["shards"][0]["sha256"] = packed["splits"][0]["shards"][0]["bytes"] = 0
    packed["summary"] = "other words"
    assert fingerprint(packed) == held["fingerprint"]
    for key in ("task", "seed", "shard_rows", "knowledge", "layout", "sources", "format"):
        assert fingerprint({**held, key: "other"}) != held["fingerprint"]
    packed["splits"][0]["shards"][0]["content"] = "0"
    assert fingerprint(packed) != held["fingerprint"] and with_fingerprint(packed)["fingerprint"] == fingerprint(packed)
    del packed["splits"][0]["shards"][0]["content"]
    older = fingerprint(packed)
    packed["splits"][0]["shards"][0]["bytes"] = 1
    assert fingerprint(packed) != older  # without a content, the file counts
    assert pairs_split(["test_1", "test"]) == "test" and pairs_split(["train", "test_1"]) == "test_1"
    assert pairs_split(["train"]) is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda m: m["splits"][0]["shards"][0].update(file="../x/part.parquet"), "lies outside of its folder"),
        (lambda m: m["splits"][0]["shards"][0].update(file="/etc/passwd"), "lies outside of its folder"),
        (lambda m: m["splits"][0].update(name="../up"), "has a split with the odd name '../up'"),
        (lambda m: m["splits"][0]["shards"][0].pop("file"), "is damaged"),
        (lambda m: m.update(format=2), "is of format 2, this assay reads format 1"),
        (lambda m: m.pop("fingerprint"), "is damaged"),
    ],
)
def test_manifests_of_strangers_are_refused(folder, change, why):
    manifest = read_manifest(folder)
    change(manifest)
    if "fingerprint" in manifest:
        manifest["fingerprint"] = fingerprint(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(DataError, match=why):
        read_manifest(folder)


def test_changed_manifests_and_missing_folders_are_refused(folder, tmp_path):
    manifest = read_manifest(folder)
    (folder / "manifest.json").write_text(json.dumps({**manifest, "seed": 7}))
    with pytest.raises(DataError, match="does not match its fingerprint"):
        read_manifest(folder)
    with pytest.raises(DataError, match="no dataset folder"):
        read_manifest(tmp_path / "none")
    (tmp_path / "bare").mkdir()
    with pytest.raises(DataError, match="make one: assay make"):
        read_manifest(tmp_path / "bare")
    (tmp_path / "bare" / PLAN).touch()
    with pytest.raises(DataError, match="it is half made"):
        read_manifest(tmp_path / "bare")
    assert Change(0, "left", world(1, 2)).value == 1


def test_no_worlds_have_columns_without_rows():
    task = TwoSquares()
    worlds = task.worlds_in(task.splits()[0], 0).worlds(np.arange(2))
    some, none = _draw(task, worlds, ["a", "b"]), _draw(task, [], [])
    assert list(none) == list(some) and {len(column) for column in none.values()} == {0}
    assert [column.type for column in none.values()] == [column.type for column in some.values()]


def test_a_shard_of_pairs_says_where_it_begins_and_what_was_changed():
    space = TwoSquares().space
    styles = [{"noise": [number] * 24} for number in range(3)]
    changes = tuple(
        Change(row, concept, World(space, codes, style))
        for row, concept, codes, style in zip((9, 2, 5), ("right", "left", "right"), ((0, 2), (1, 1), (2, 0)), styles, strict=True)
    )  # fmt: skip
    job = PairsJob(PAIRS, 2, changes, 4)
    table = job.drawn_by(TwoSquares())
    assert table["index"].to_pylist() == [4, 5, 6] and table["pair_row"].to_pylist() == [9, 2, 5]
    assert table["pair_concept"].to_pylist() == ["right", "left", "right"]
    assert [change.value for change in changes] == [2, 1, 0]
    assert [cell["path"] for cell in table["image"].to_pylist()] == ["pairs-4.png", "pairs-5.png", "pairs-6.png"]
    assert table["concept_left"].to_pylist() == [0, 1, 2] and table["concept_right"].to_pylist() == [2, 1, 0]
    assert table["label_brighter"].to_pylist() == [False, False, True]
    assert [json.loads(text) for text in table["style"].to_pylist()] == styles
    assert job.table(SimpleNamespace(task=TwoSquares())).equals(table)
    for rows in (2, 3, 4):
        assert job.fits(ShardRecord("", rows, 0, "", "")) is (rows == 3)


def test_changes_lead_across_and_along_in_turn_also_after_worlds_that_cannot_be_changed(monkeypatch):
    asked = []

    def change(task, world, rng, across, shown):
        asked.append((task, world, across))
        return None if world in (0, 5) else (f"c{world}", f"w{world}")

    class Data:
        name, fingerprint = "test", "print"
        world = staticmethod(lambda row: row)

        def __len__(self):
            return 9

    monkeypatch.setattr(pairing, "_changed", change)
    rows = Deck(9, 4, "pairs", "test").deal(np.arange(9)).tolist()
    for count in (9, 30, 7):
        asked.clear()
        found = choose_changes(Data(), "task", 4, count)
        assert asked == [("task", row, place % 2 == 0) for place, row in enumerate(rows[:count])]
        assert found == [Change(row, f"c{row}", f"w{row}") for row in rows[:count] if row not in (0, 5)]
    monkeypatch.setattr(pairing, "_changed", lambda *given, **named: None)
    with pytest.raises(DataError, match="no world of split 'test' can be drawn again with one concept changed"):
        choose_changes(Data(), "task", 4, 3)


def test_pairs_may_be_taken_away_and_are_told_to_be_half_drawn_meanwhile(folder, monkeypatch):
    said = []
    write = making.write_shard

    def look(table, job, where):
        said.append(read_manifest(folder)[PAIRS])
        return write(table, job, where)

    monkeypatch.setattr(making, "write_shard", look)
    refresh_pairs(Dataset.open(folder), TwoSquares(), 3)
    half = {"asked": 3, "split": "test", "size": 0, "shards": [], "none": "they are half drawn; run: assay pairs DATA"}
    assert said == [half]
    none = refresh_pairs(Dataset.open(folder), TwoSquares(), 0)
    assert none[PAIRS] == {"asked": 0, "split": "test", "size": 0, "shards": []}
    assert not list((folder / PAIRS).glob("*.parquet"))


def test_a_manifest_says_of_every_split_what_was_made_of_it(monkeypatch):
    plan = {
        "task": {"name": "t", "config": {"k": 1}}, "shard_rows": 7, "sources": {"digits": "d"}, "code": {"file": "c"},
        "splits": [{"name": "valid", "size": 2}, {"name": "train", "size": 5}],
    }  # fmt: skip
    task = SimpleNamespace(
        summary="S.", how_drawn="Drawn", columns=("image", "text"), knowledge=TwoSquares().knowledge,
        layout=TwoSquares().layout, backbones=lambda: {"conv": "usual"},
        splits=lambda: [SimpleNamespace(name=name) for name in ("train", "hard", "valid", "ood")],
    )  # fmt: skip
    made = SimpleNamespace(
        task=task, to_dict=lambda: plan, seed=6, local={"digits": "/here"},
        splits=[SimpleNamespace(name="valid"), SimpleNamespace(name="train")],
    )  # fmt: skip
    monkeypatch.setattr(manifests, "versions", lambda: {"assay": "1"})
    records = {
        "train": [ShardRecord("train/a", 3, 1, "s", "c"), ShardRecord("train/b", 2, 9, "t", "d")],
        "valid": [ShardRecord("valid/a", 2, 4, "u", "e")],
    }
    found = manifests.manifest_of(made, records, {"train": "l1", "valid": "l2"}, {"train": "b1", "valid": "b2"})
    printed = found.pop("fingerprint")
    assert found == {
        "format": 1, "task": plan["task"], "summary": "S.", "drawn": "Drawn", "seed": 6, "shard_rows": 7,
        "knowledge": task.knowledge.to_dict(), "layout": task.layout.to_dict(), "columns": ["image", "text"],
        "backbones": {"conv": "usual"}, "sources": {"digits": "d"}, "local": {"digits": "/here"},
        "left_out": ["hard", "ood"], "versions": {"assay": "1"}, "code": {"file": "c"},
        "splits": [
            {"name": "valid", "size": 2, "labels": "l2", "boundary": "b2", "shards": [records["valid"][0].to_dict()]},
            {"name": "train", "size": 5, "labels": "l1", "boundary": "b1",
             "shards": [record.to_dict() for record in records["train"]]},
        ],
    }  # fmt: skip
    assert printed == fingerprint(found) and len(printed) == 32
    del plan["code"]
    assert "code" not in manifests.manifest_of(made, records, {"train": 0, "valid": 0}, {"train": 0, "valid": 0})


@pytest.mark.parametrize(
    ("file", "fine"), [("test/a.parquet", True), ("test/a.parquet/b", False), ("test/a b", False), ("test/a/", False)]
)
def test_a_file_is_named_by_its_split_and_nothing_after(file, fine):
    manifest = {"splits": [{"name": "test", "shards": [{"file": file}]}], PAIRS: {"shards": []}}
    if fine:
        manifests._refuse_strays("x", manifest)
    else:
        with pytest.raises(DataError, match="lies outside of its folder"):
            manifests._refuse_strays("x", manifest)
    with pytest.raises(DataError, match="has a split with the odd name 'te/st'"):
        manifests._refuse_strays("x", {"splits": [{"name": "te/st", "shards": []}], PAIRS: {"shards": []}})


def test_a_label_that_is_absent_in_any_world_is_refused(monkeypatch):
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b", "n": "a + b"})
    codes = np.array([[1, 0], [1, 1], [0, 0]])
    found = columns_of(knowledge, codes, ["worlds"])
    assert {name: column.to_pylist() for name, column in found.items()} == {
        "concept_a": [True, True, False], "concept_b": [False, True, False], "label_y": [False, True, False],
        "label_n": [1, 2, 0], **{f"boundary_{name}": b.tags(codes) for name, b in zip("yn", knowledge.boundaries, strict=True)},
    }  # fmt: skip
    asked = []
    monkeypatch.setattr(shard, "labels_of", lambda *given: asked.append(given) or np.array([[1, 1], [0, -1], [1, 0]]))
    with pytest.raises(KnowledgeError, match="a label is absent in some world"):
        columns_of(knowledge, codes, ["worlds"])
    assert asked == [(knowledge, codes, ["worlds"])]


def test_columns_of_pictures_have_their_own_names():
    maps = [np.full((2, 3), level, np.uint8) for level in (4, 9)]
    shown = [
        Picture(image, (ObjectBox("p", Box(1, 2, 3, 5)), ObjectBox("q", Box(0, 1, 7, 4)))[: number + 1], image + 1, text=f"t{number}")
        for number, image in enumerate(maps)
    ]  # fmt: skip
    found = picture_columns(("text", "instances", "image", "things"), shown, ["a.png", "b.png"])
    assert list(found) == ["text", "instances", "image", "things"] and found["text"].to_pylist() == ["t0", "t1"]
    assert [cell["path"] for cell in found["instances"].to_pylist()] == ["instances-a.png", "instances-b.png"]
    assert found["image"].to_pylist() == [
        {"bytes": encode_png(image), "path": name} for image, name in zip(maps, ("a.png", "b.png"), strict=True)
    ]
    assert [cell["bytes"] for cell in found["instances"].to_pylist()] == [encode_png(image + 1) for image in maps]
    first = {"name": "p", "left": 1, "top": 2, "right": 3, "bottom": 5}
    assert found["things"].to_pylist() == [
        [first],
        [first, {"name": "q", "left": 0, "top": 1, "right": 7, "bottom": 4}],
    ]
