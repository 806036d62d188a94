"""Edges of the viewer's parts: limits and what happens at them, several shards, ties, orders, and what is refused."""

import io
import json
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi import Request
from PIL import Image

from assay.concepts import Concept, ConceptSpace, bits
from assay.errors import ConfigError, DataError, RunFailed, UnknownName
from assay.logic import Constraint, Knowledge, parse
from assay.predictions import Answer, Predictions
from assay.viewer import (
    access,
    bundle,
    compare,
    datasets,
    edit,
    embedding,
    folders,
    gallery,
    jobs,
    reading,
    samples,
    serve,
)
from assay.viewer.access import Access, hide_paths, new_token
from assay.viewer.answers import Answers
from assay.viewer.app import static_files
from assay.viewer.folders import Broken, ServedDataset, ServedRun, Shelf
from assay.viewer.pictures import to_displayable
from assay.viewer.query import Query, _code, matching_rows
from assay.viewer.runs import epochs_of, run_facts
from assay.viewer.service import Service, page_number
from assay.viewer.table import BoundaryTags, SplitTable
from assay.worlds import World
from tests.viewer.test_counts import GOOD, KNOWLEDGE, POOR, STATE, Table, said

# access


def request(headers=(), method="GET", path="/", query=""):
    given = [("host", "127.0.0.1:80"), *headers] if "host" not in dict(headers) else headers
    return Request({
        "type": "http", "method": method, "path": path, "query_string": query.encode(), "scheme": "http",
        "server": ("127.0.0.1", 80), "headers": [(key.encode(), value.encode()) for key, value in given],
    })  # fmt: skip


def test_a_request_is_refused_just_beyond_its_limits():
    guard = Access("secret")
    cookie = ("cookie", f"{guard.cookie}=secret")
    assert guard.cookie == "assay-2bb80d537b1d"
    assert guard.refusal(request([cookie])) is None
    assert guard.refusal(request([cookie, ("content-length", "100000")], query="x" * 4000)) is None
    assert guard.refusal(request([cookie], query="x" * 4001)) == (414, "a query has at most 4,000 letters")
    for header in (
        ("content-length", "100001"),
        ("content-length", "1" * 30),
        ("content-length", "-1"),
        ("transfer-encoding", "chunked"),
    ):
        assert guard.refusal(request([cookie, header])) == (413, "a request has at most 100,000 bytes")
    for origin, fine in (
        ("http://127.0.0.1:80", True),
        ("http://127.0.0.1:81", False),
        ("https://127.0.0.1:80", False),
    ):
        assert (guard.refusal(request([cookie, ("origin", origin)])) is None) is fine
    for hosts, fine in (
        (["localhost"], True),
        (["localhost:12345"], True),
        (["localhost:123456"], False),
        (["127.0.0.1.org"], False),
        (["127.0.0.1", "127.0.0.1"], False),
    ):
        assert (guard.refusal(request([*(("host", host) for host in hosts), cookie])) is None) is fine
    for wrong in ("", f"{guard.cookie}=other", "other=secret"):
        assert guard.refusal(request([("cookie", wrong)]))[0] == 403


def test_only_a_first_visit_with_the_token_is_welcome():
    guard = Access("secret")
    response = guard.welcome(request(query="token=secret"))
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert response.headers["set-cookie"] == f"{guard.cookie}=secret; HttpOnly; Path=/; SameSite=lax"
    for other in (
        request(query="token=other"),
        request(),
        request(query="token=secret", method="POST"),
        request(query="token=secret", path="/x"),
        request([("host", "example.org")], query="token=secret"),
    ):
        assert guard.welcome(other) is None


def test_a_place_is_waited_for_and_given_back_even_after_an_error():
    seen = []
    places = SimpleNamespace(acquire=lambda timeout: seen.append(timeout) or True, release=lambda: seen.append("back"))
    with pytest.raises(KeyError), Access("t", places).one_place():
        raise KeyError
    assert seen == [20.0, "back"]
    taken = SimpleNamespace(acquire=lambda timeout: False, release=lambda: seen.append("wrong"))
    with pytest.raises(RunFailed, match="busy with other requests"), Access("t", taken).one_place():
        seen.append("wrong")
    assert "wrong" not in seen
    own = Access("t").places
    assert [own.acquire(blocking=False) for _ in range(3)] == [True, True, False]
    assert len(new_token()) == 24 and new_token() != new_token()


def test_folders_are_hidden_in_keys_lists_and_by_their_names():
    known = [Path("/home/my data/runs"), Path("/home/my data")]
    assert hide_paths({"/a/b/c": ("/home/my data/runs/x", 3, None)}, known) == {"c": ["x", 3, None]}
    assert hide_paths("in /home/my data, in /home/my data/runs", known) == "in my data, in runs"
    assert hide_paths("data:image/png;base64,/a/b/c") == "data:image/png;base64,/a/b/c"
    assert hide_paths("1/2 and a/b/c") == "1/2 and a/b/c" and hide_paths(1.5) == 1.5


# a split of several files


@pytest.fixture
def shards(tmp_path):
    """A split of three files with two, three and one rows."""
    knowledge = Knowledge.of(
        ConceptSpace((Concept("n", (10, 20, 30)), Concept("big", (False, True)))), {"y": "n > 10 and big", "z": "big"}
    )
    listed, first = [], 0
    for number, rows in enumerate((2, 3, 1)):
        places = range(first, first + rows)
        columns = {
            "index": [100 + place for place in places],
            "concept_n": [10 * (1 + place % 3) for place in places],
            "concept_big": [place > 2 for place in places],
            "label_y": [place > 3 for place in places],
            "label_z": [place > 2 for place in places],
            "boundary_y": ["far" if place % 2 else "v1" for place in places],
            "style": [json.dumps({"s": place}) for place in places],
            "image": [{"bytes": b"png%d" % place, "path": None} for place in places],
        }
        pq.write_table(pa.table(columns), tmp_path / f"part-{number}.parquet")
        listed.append({"file": f"part-{number}.parquet", "rows": rows})
        first += rows
    dataset = SimpleNamespace(folder=tmp_path, knowledge=knowledge, layout=None, fingerprint="f")
    return SimpleNamespace(key="key", dataset=dataset, split=lambda name: {"shards": listed, "where": "true"})


def test_rows_are_found_in_their_own_file(shards):
    table = SplitTable(shards, "test")
    assert len(table) == 6 and table.index.tolist() == [100, 101, 102, 103, 104, 105]
    assert [table._place(number) for number in range(6)] == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0)]
    for number in range(6):
        assert table.cell("index", number) == 100 + number and table.file("image", number) == b"png%d" % number
        assert table.row(number).num_rows == 1 and table.row(number)["index"].to_pylist() == [100 + number]
        assert table.world(number).codes == (number % 3, int(number > 2)) and table.world(number).style == {"s": number}
    assert table.concepts.tolist() == [[n % 3, int(n > 2)] for n in range(6)]
    assert table.labels.tolist() == [[0, 0], [0, 0], [0, 0], [0, 1], [1, 1], [1, 1]]
    assert list(table.sides) == ["y"] and table.sides["y"].tags(1) == ["far"]
    assert table.sides["y"].kinds == {"v1": "holds", "far": "far"}
    for number in (-1, 6):
        with pytest.raises(UnknownName, match=f"split 'test' has no row {number}; it has 6"):
            table.cell("index", number)
    with pytest.raises(UnknownName, match="'key' has no column 'depth'"):
        table.file("depth", 0)


def test_a_damaged_file_is_one_line(shards, tmp_path):
    (tmp_path / "part-0.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match=r"^part-0.parquet cannot be read: [^\n]*$"):
        _ = SplitTable(shards, "test").columns
    (tmp_path / "part-1.parquet").unlink()
    with pytest.raises(DataError, match=r"^part-1.parquet cannot be read: "):
        SplitTable(shards, "test").row(2)


# folders


def named(key, label, seed, name="", **answers):
    return ServedRun(key, name or key, Path("/r") / key, "cbm", answers, True, "title", label, seed)


def test_runs_have_names_as_short_as_tell_them_apart():
    runs = [named("a", "dpl", 0), named("b", "cbm", 0), named("c", "cbm", 1), named("d", "ltn", 2, "one")]
    runs.append(named("e", "ltn", 2, "two"))
    served = ServedDataset("key", SimpleNamespace(), {run.key: run for run in runs})
    assert served.short_names() == {"a": "dpl", "b": "cbm, seed 0", "c": "cbm, seed 1", "d": "one", "e": "two"}
    assert served.run("c") is runs[2]
    with pytest.raises(UnknownName, match="no run 'zzzz' of 'key'; there is: a, b, c, d, e"):
        served.run("zzzz")


def dataset(name, folder="/d", pairs=None):
    manifest = {"splits": [{"name": "train", "size": 9}, {"name": "valid", "size": 3}]}
    return SimpleNamespace(name=name, folder=Path(folder), pairs=pairs, manifest=manifest)


def test_a_dataset_is_called_by_its_task_where_that_is_enough():
    pairs = {"split": "test", "size": 4}
    shelf = Shelf(
        {
            "one": ServedDataset("one", dataset("t", "/x/d1"), {"r": named("r", "dpl", 0, test="f", train="g")}),
            "two": ServedDataset("two", dataset("t", "/x/d2")),
            "three": ServedDataset("three", dataset("u", "/y/d3", pairs)),
        },
        (Broken("/z/b", "why"),),
    )
    assert [shelf.title(key) for key in shelf.datasets] == ["one", "two", "u"]
    assert [str(place) for place in shelf.places()] == [
        "/r/r", "/x/d1", "/x/d2", "/y/d3", "/z/b", "/r", "/x", "/y", "/z",
    ]  # fmt: skip
    with pytest.raises(UnknownName, match="no dataset 'thre'; did you mean 'three'?"):
        _ = shelf["thre"]
    last = shelf["three"].splits[-1]
    assert last == {"name": "pairs", "size": 4, "split": "test", "pool": "those of test"}
    assert shelf["three"].split("valid")["size"] == 3 and len(shelf["one"].splits) == 2
    with pytest.raises(UnknownName, match="no split named 'vali'; did you mean 'valid'?"):
        shelf["one"].split("vali")
    assert datasets.preview_split(shelf["one"])["name"] == "train"
    assert run_facts(shelf["one"]) == [
        {"key": "r", "name": "r", "title": "title", "short": "dpl", "model": "cbm", "seed": 0, "splits": ["train"], "live": True}
    ]  # fmt: skip


def test_keys_are_safe_and_differ():
    assert folders._key("My Data_2 (new)!", ()) == "my-data-2-new" and folders._key("--", ()) == "data"
    assert folders._key("A", {"a"}) == "a-2" and folders._key("a", {"a", "a-2", "a-3"}) == "a-4"


def test_folders_are_searched_three_deep_in_order(tmp_path):
    def make(name, file="run.json"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / file).write_text("{}")

    for name in ("b/c/d", "a/deep/er/most", "z", ".hidden/x", "b/a"):
        make(name)
    (tmp_path / "b/a/inner").mkdir()
    (tmp_path / "b/a/inner/run.json").write_text("{}")
    (tmp_path / "stray.parquet").write_text("")
    found = folders._entries(tmp_path.resolve(), tmp_path.resolve())
    assert [str(path.relative_to(tmp_path.resolve())) for path in found] == ["b/a", "b/c/d", "z"]
    file = (tmp_path / "stray.parquet").resolve()
    assert list(folders._entries(file, file)) == [file]
    with pytest.raises(DataError, match="is no predictions file"):
        folders._of_predictions(file)
    pq.write_table(pa.table({"fingerprint": ["f", "g"], "split": ["test", "valid"]}), file)
    assert folders._of_predictions(file) == ("f", "test")
    pq.write_table(pa.table({"fingerprint": pa.array([], pa.string()), "split": pa.array([], pa.string())}), file)
    with pytest.raises(DataError, match="is no predictions file"):
        folders._of_predictions(file)


# bundles


def test_a_bundle_holds_errors_near_the_boundary_first():
    table = Table()
    table.sides = {
        "y": BoundaryTags(pa.chunked_array([["far", "far", "x", "far", "far"]]), np.array([0, 1, 0, 0, 0])),
        "z": BoundaryTags(pa.chunked_array([["far", "far", "far", "change a", "far"]]), np.zeros(5, int)),
    }
    served = SimpleNamespace(key="key", runs=["good", "poor", "none"])
    state = SimpleNamespace(answers=lambda key, split, run: {"good": GOOD, "poor": POOR, "none": None}[run])
    # rows 1 to 3 are wrong or misread by some run; 2 and 3 are near the boundary of some label
    assert [bundle.choose_rows(state, served, table, most).tolist() for most in range(7)] == [
        [], [0], [0, 2], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4],
    ]  # fmt: skip
    served.runs = ["good"]
    assert bundle.choose_rows(state, served, table, 2).tolist() == [0, 2]
    served.runs = []
    assert bundle.choose_rows(state, served, table, 2).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("able", "sizes"),
    [([0], {}), ([0, 2], {2: 1}), ([0, 1, 2, 3, 4], {2: 10, 3: 10, 4: 5, 5: 1}), (list(range(6)), {2: 15, 6: 1})],
)
def test_every_choice_of_few_runs_is_compared(monkeypatch, able, sizes):
    written = {}
    monkeypatch.setattr(bundle, "_write", lambda path, data: written.update({path.name: data}))
    monkeypatch.setattr(bundle, "compare_runs", lambda state, key, split, runs: runs)
    runs = {f"r{n}": SimpleNamespace(answers={"test": 1} if n in able else {}) for n in range(7)}
    bundle._write_comparisons(None, SimpleNamespace(key="key", runs=runs), "test", Path("out"))
    counts = {}
    for runs in written.values():
        counts[len(runs)] = counts.get(len(runs), 0) + 1
    assert counts == sizes
    for name, runs in written.items():
        assert name == f"compare-{'-'.join(run[1:] for run in runs)}.json"


def test_the_page_of_a_bundle_and_no_other_file_says_that_it_is_one(monkeypatch, tmp_path):
    live = b'<p data-source="live">'
    monkeypatch.setattr(bundle, "static_files", lambda: {"index.html": live, "page.js": live})
    state = SimpleNamespace(shelf=SimpleNamespace(datasets={}))
    assert bundle.write_bundle(state, tmp_path / "out", 7) == tmp_path / "out" / "index.html"
    assert (tmp_path / "out/index.html").read_bytes() == b'<p data-source="bundle">'
    assert (tmp_path / "out/page.js").read_bytes() == live
    shelf = json.loads((tmp_path / "out/shelf.json").read_text())
    assert shelf == {"datasets": [], "live": False, "samples": 7, "page": 48, "broken": []}
    assert json.loads((tmp_path / "out/tasks.json").read_text()) == []
    assert bundle.SAMPLES == 60 and bundle._page("no such task") is None


def test_pairs_are_held_where_their_original_is(monkeypatch):
    served = SimpleNamespace(
        key="key",
        dataset=SimpleNamespace(pairs={"split": "hard"}),
        splits=[{"name": "test"}, {"name": "hard"}, {"name": "pairs"}],
    )
    chosen = {"test": np.array([0, 1]), "hard": np.array([2, 5])}
    monkeypatch.setattr(bundle, "choose_rows", lambda state, served, table, samples: chosen[table])
    monkeypatch.setattr(bundle, "origins_of", lambda state, key: np.array([0, 2, 5, -1, 2, 1, 5]))
    state = SimpleNamespace(table=lambda key, split: split)
    rows = bundle.held_rows(state, served, 3)
    assert {name: one.tolist() for name, one in rows.items()} == {"test": [0, 1], "hard": [2, 5], "pairs": [1, 2, 4]}
    served.dataset.pairs, served.splits = None, served.splits[:2]
    assert list(bundle.held_rows(state, served, 3)) == ["test", "hard"]
    found = {"page": 0, "pairs": [{"sides": [{"row": 9}, {"row": row}]} for row in (0, 1, 2, 9)]}
    asked = []
    monkeypatch.setattr(bundle, "pairs_of", lambda state, key, run, size: asked.append(size) or found)
    held = bundle._held_pairs(SimpleNamespace(table=lambda key, split: range(40)), "key", "r", np.array([1, 2]))
    assert [pair["sides"][1]["row"] for pair in held["pairs"]] == [1, 2] and asked == [40]


# tasks


class Toy:
    """A toy task: its words."""

    version = 3
    layout = SimpleNamespace(to_dict=lambda: "layout")
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    size = 10

    def splits(self):
        return [SimpleNamespace(name="train", size=self.size), SimpleNamespace(name="test", size=2)]

    def worlds_in(self, split, seed):
        asked = (split.name, seed)
        return SimpleNamespace(
            worlds=lambda rows: [SimpleNamespace(codes=(n % 2, 1), asked=asked, n=int(n)) for n in rows]
        )

    def render(self, world):
        image = np.full((2, 3, 3), world.n, dtype=np.uint8) if self.size > 2 else np.zeros((0, 0, 3), np.uint8)
        return SimpleNamespace(image=image, text=f"{world.asked} {world.n}")

    def render_all(self, worlds):
        return [self.render(world) for world in worlds]

    config = SimpleNamespace()


def test_a_task_is_shown_by_its_first_worlds(monkeypatch):
    class Tasks(dict):
        def describe(self, name):
            return f"about {name}"

        def entry(self, name):
            return SimpleNamespace(summary=f"{name}, in short")

    small = type("Small", (Toy,), {"size": 2})
    monkeypatch.setattr(gallery, "TASKS", Tasks({"toy-of-edges": Toy, "small-of-edges": small}))
    setting = {"n": {"default": 3, "help": "how many"}}
    monkeypatch.setattr(gallery, "describe_settings", lambda config: setting)
    assert gallery.list_tasks()[1] == {"name": "small-of-edges", "summary": "small-of-edges, in short"}
    found = gallery.task_page("toy-of-edges")
    assert [one["text"] for one in found["examples"]] == [f"('train', 0) {n}" for n in range(8)]
    assert [one["labels"] for one in found["examples"]] == [[n % 2] for n in range(8)]
    assert found["splits"] == [{"name": "train", "size": 10}, {"name": "test", "size": 2}]
    assert found["settings"] == [{"name": "n", "default": "3", "help": "how many"}]
    assert (found["version"], found["summary"], found["layout"]) == (3, "about toy-of-edges", "layout")
    assert found["about"] == __doc__.strip() and found["knowledge"] == Toy.knowledge.to_dict()
    first = gallery.task_picture("toy-of-edges")
    assert first == {"image": found["examples"][0]["image"], "text": "('train', 0) 0"}
    assert first["image"].startswith("data:image/png;base64,") and first["image"] != found["examples"][1]["image"]
    assert len(gallery.task_page("small-of-edges")["examples"]) == 2
    assert gallery.task_picture("small-of-edges") == {"image": None, "text": "('train', 0) 0"}
    assert gallery.task_page("small-of-edges")["examples"][1] == {
        "image": None,
        "text": "('train', 0) 1",
        "labels": [1],
    }


# edits


def test_changes_are_checked_at_their_ends():
    table = SimpleNamespace(knowledge=KNOWLEDGE)
    assert edit._named(table, {"a": 0, "b": 2, "c": 1}) == {"a": 0, "b": 2, "c": True}
    for code in (-1, 3):
        with pytest.raises(ConfigError, match=f"concept 'a' has codes from 0 to 2, not {code}"):
            edit._named(table, {"a": code})
    before, after = World(KNOWLEDGE.space, (0, 1, 1), {}), World(KNOWLEDGE.space, (2, 1, 0), {})
    assert edit._moved(before, after) == ["a", "c"] and edit._moved(before, before) == []
    asked = []
    task = SimpleNamespace(change_world=lambda world, named: asked.append(named))
    assert edit._changed(task, before, {}) is before and asked == []
    with pytest.raises(DataError, match="no such world: with a = 2, c = False this picture cannot be drawn"):
        edit._changed(task, before, {"a": 2, "c": False})
    assert edit._labels(table, after) == [1, 0]
    with pytest.raises(DataError, match="some concepts of this example are not known"):
        edit._labels(table, World(KNOWLEDGE.space, (0, -1, 1), {}))


def test_only_a_live_model_is_asked_and_only_of_changes_for_more():
    def state(live=True, models=True):
        shelf = {"key": SimpleNamespace(run=lambda name: SimpleNamespace(live=live, name="r", folder="f"))}

        def predict(folder, data, do):
            codes = np.array([0, 1, 1])
            for name, value in (do or {}).items():
                codes["abc".index(name)] = value[0]
            spoken = {name: Answer(codes[[i]]) for i, name in enumerate("abc")}
            return Predictions("print", "test", np.arange(1), {}, spoken)

        def task(key):
            raise DataError("no task here")

        table = SimpleNamespace(knowledge=KNOWLEDGE, row=lambda row: row, data=lambda rows: rows)
        return SimpleNamespace(
            table=lambda key, split: table,
            shelf=shelf,
            models=SimpleNamespace(predict=predict) if models else None,
            task=task,
        )

    for closed in (state(live=False), state(models=False)):
        with pytest.raises(DataError, match="'r' is only a file of predictions"):
            edit.ask_model(closed, "key", "test", 0, "r", {})
    assert list(edit.ask_model(state(), "key", "test", 0, "r", {})) == ["own"]
    found = edit.ask_model(state(), "key", "test", 0, "r", {"a": 2})
    assert [one["code"] for one in found["own"]["concepts"]] == [0, 1, 1] and found["own"]["by_rule"] == [0, 1]
    assert [one["code"] for one in found["intervention"]["concepts"]] == [2, 1, 1]
    assert found["intervention"]["by_rule"] == [1, 1] and found["intervention"]["violated"] == ["odd"]
    assert found["counterfactual"] == {"error": "no task here"}


# samples, queries, counts


def test_pages_of_samples_at_their_ends():
    table = Table()
    table.columns = ("text",)
    table.cell = lambda column, row: f"{row}" + "x" * 300
    state = SimpleNamespace(
        table=lambda key, split: table,
        answers=lambda key, split, run: {"good": GOOD, "none": None}[run],
    )
    pages = [samples.page_of(state, "key", "test", Query(), page, 2) for page in (-1, 0, 1, 2, 9)]
    assert [[row["row"] for row in page["rows"]] for page in pages] == [[0, 1], [0, 1], [2, 3], [4], [4]]
    assert [page["page"] for page in pages] == [0, 0, 1, 2, 2] and {page["pages"] for page in pages} == {3}
    assert samples.page_of(state, "key", "test", Query(), 0, 5)["pages"] == 1
    none = samples.page_of(state, "key", "test", Query(labels=(("y", "1"), ("z", "0")), concepts=(("a", "0"),)))
    assert (none["total"], none["whole"], none["page"], none["pages"], none["rows"]) == (0, 5, 0, 1, [])
    assert none["labels"] == {"y": [0, 0], "z": [0, 0]}
    found = samples.page_of(state, "key", "test", Query(runs=("good", "none")))
    assert found["labels"] == {"y": [3, 2], "z": [3, 2]}
    assert found["rows"][1]["text"] == "1" + "x" * 159 and found["rows"][1]["index"] == 21
    assert found["rows"][4]["said"] == {"good": None}
    assert found["rows"][1]["said"] == {
        "good": {"labels": [1, 1], "right": True, "misread": 1, "reads": [[0, 2, 1]]},
    }  # fmt: skip
    table.columns = ("image", "text")
    assert "text" not in samples.page_of(state, "key", "test", Query())["rows"][0]


def test_a_card_names_four_misread_concepts():
    answers = SimpleNamespace(
        has_answer=np.array([True]),
        labels=np.array([[1]]),
        right=np.array([False]),
        misread_concepts=lambda row: [[n, 0, 1] for n in range(6)],
    )
    found = samples._prediction(answers, 0)
    assert found["misread"] == 6 and found["reads"] == [[n, 0, 1] for n in range(4)] and found["right"] is False


def test_codes_of_a_query_at_their_ends():
    values = (5, 6, 7)
    assert _code("0", values) == 0 and _code("2", values) == 2 and _code("none", values, silent=True) == -1
    for text, silent in (("3", False), ("none", False), ("", True), ("-1", True), ("1.0", False)):
        with pytest.raises(ConfigError, match=f"expected a code from 0 to 2, not '{text}'"):
            _code(text, values, silent)
    part = said([[0, -1], [1, 0]], [[0, 1, 0], [2, 1, 1]], (0, 1, -1, -1, -1))
    state = SimpleNamespace(table=STATE.table, require_answers=lambda *names: part)
    asked = Query.of({"run": ["r"], "predicts": ["z:none"]})
    assert matching_rows(state, "key", "test", asked).tolist() == [0]


def test_the_most_often_broken_constraint_comes_first():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a"}, (Constraint("p", parse("a")), Constraint("q", parse("b"))))
    table = SimpleNamespace(knowledge=knowledge)
    flags = np.array([[False, True], [True, True], [False, False]])
    found = reading._constraints(SimpleNamespace(table=table, violations=flags))
    assert found == [{"name": "q", "count": 2}, {"name": "p", "count": 1}]
    bare = SimpleNamespace(knowledge=Knowledge.of(bits(["a"]), {"y": "a"}))
    assert reading._constraints(SimpleNamespace(table=bare)) == []


def test_many_samples_are_counted():
    truth, predicted = np.array([[0], [1], [-1]] * 300), np.array([[0], [-1], [0]] * 300)
    found = reading._confusion(truth, predicted, (False, True))
    assert found == {"values": [False, True], "right": 300, "answered": 300, "counts": [[300, 0, 0], [0, 0, 300]]}


def test_from_two_to_twenty_different_runs_are_compared():
    state = SimpleNamespace(require_answers=lambda key, split, run: GOOD)
    assert compare.compare_runs(state, "key", "test", [f"r{n}" for n in range(20)])["right"] == [4] * 20
    for runs in (["a"], ["a", "a"], ["a", "b", "a"], [f"r{n}" for n in range(21)], []):
        with pytest.raises(ConfigError, match="comparing takes from 2 to 20 different runs"):
            compare.compare_runs(state, "key", "test", runs)


def test_labels_of_up_to_24_values_are_set_against_each_other():
    def runs(size):
        label = SimpleNamespace(values=tuple(range(size)))
        table = SimpleNamespace(knowledge=SimpleNamespace(labels=[label]))
        return [SimpleNamespace(table=table, labels=np.array(codes)) for codes in ([[1], [0], [-1]], [[0], [0], [1]])]

    counts = compare._against(runs(24), np.arange(3), 0)
    assert len(counts) == 24 and counts[1][0] == counts[0][0] == 1 and np.sum(counts) == 2
    assert compare._against(runs(25), np.arange(3), 0) is None
    assert compare._against(runs(24) * 2, np.arange(3), 0) is None


def test_a_map_has_at_most_a_thousand_points_with_both_ends(monkeypatch):
    many = 1500
    space = bits(["a", "b"])
    table = SimpleNamespace(
        knowledge=Knowledge.of(space, {"y": "a"}), labels=np.zeros((many, 1), int), concepts=np.zeros((many, 2), int)
    )
    codes = {name: Answer(np.arange(many) // step % 2) for name, step in (("a", 1), ("b", 2))}
    said_of = Predictions("f", "test", np.arange(many), {"y": Answer(np.zeros(many, int))}, codes)
    state = SimpleNamespace(require_answers=lambda *names: Answers(table, said_of, np.arange(many)))
    rows = embedding.map_of(state, "key", "test", "r")["rows"]
    assert len(rows) == 1000 and rows[0] == 0 and rows[-1] == 1499 and rows == sorted(set(rows))
    same = embedding.principal_plane(np.ones((4, 3)))
    assert same.points.tolist() == [[0, 0]] * 4 and same.explained == (0, 0)
    line = embedding.principal_plane(np.array([[0.0], [-3.0], [0.0]]))
    assert line.points[:, 0].round(6).tolist() == [-1, 2, -1] and line.explained == pytest.approx((1, 0))


# datasets, runs, pictures


def test_a_diagram_is_of_one_label_and_few_nodes(monkeypatch):
    five = bits([f"x{n}" for n in range(5)])
    majority = Knowledge.of(five, {"y": "x0 + x1 + x2 + x3 + x4 > 2"})
    nodes = sum(len(layer["next"]) for layer in datasets.small_diagram(majority)["layers"])
    monkeypatch.setattr(datasets, "MOST_NODES", nodes)
    assert datasets.small_diagram(majority) is not None
    monkeypatch.setattr(datasets, "MOST_NODES", nodes - 1)
    assert datasets.small_diagram(majority) is None
    monkeypatch.setattr(datasets, "MOST_NODES", nodes)
    monkeypatch.setattr(datasets, "MOST_WORLDS", 32)
    assert datasets.small_diagram(majority) is not None
    monkeypatch.setattr(datasets, "MOST_WORLDS", 31)
    assert datasets.small_diagram(majority) is None
    assert not datasets._decides(np.array([[0, 0], [1, 1]])) and datasets._decides(np.array([[0, 0], [0, 0]]))
    assert datasets._decides(np.array([[0, 1]])) and not datasets._decides(np.array([[0, 0]]))


def test_values_that_are_not_known_are_not_counted():
    state = SimpleNamespace(table=lambda key, split: Table())
    found = datasets.distribution_of(state, "key", "test")
    assert (found["split"], found["size"]) == ("test", 5)
    assert found["labels"] == [{"name": "y", "counts": [3, 2]}, {"name": "z", "counts": [3, 2]}]
    assert found["concepts"] == [
        {"name": "a", "counts": [2, 2, 1]}, {"name": "b", "counts": [2, 2, 1]}, {"name": "c", "counts": [2, 2]},
    ]  # fmt: skip


def test_a_stored_audit_tells_its_findings(tmp_path):
    served = SimpleNamespace(key="key", dataset=SimpleNamespace(folder=tmp_path))
    assert datasets.stored_audit(served) is None
    finding = {"check": "c", "status": "fine", "text": 3, "more": 1}
    (tmp_path / "audit.json").write_text(json.dumps({"findings": [finding]}))
    assert datasets.stored_audit(served) == {
        "findings": [{"check": "c", "status": "fine", "text": "3"}], "stored": True,
    }  # fmt: skip
    for text in ("{", "[]", '{"findings": [{}]}', '{"findings": 3}'):
        (tmp_path / "audit.json").write_text(text)
        with pytest.raises(DataError, match="^audit.json of 'key' cannot be read$"):
            datasets.stored_audit(served)


def test_epochs_are_those_of_a_model(tmp_path):
    def run(live=True):
        return ServedRun("r", "run", tmp_path, "cbm", {}, live, "t", "l", 0)

    assert epochs_of(run()) == []
    (tmp_path / "history.json").write_text(json.dumps({"epochs": [{"number": 1, "loss": 0.5, "other": 2}]}))
    assert epochs_of(run()) == [{"number": 1, "phase": None, "loss": 0.5, "score": None, "best": None}]
    assert epochs_of(run(live=False)) == []
    for text in ("{", "{}", '{"epochs": [3]}', '{"epochs": 3}'):
        (tmp_path / "history.json").write_text(text)
        with pytest.raises(DataError, match="^history.json of 'run' cannot be read$"):
            epochs_of(run())


def test_masks_become_films_and_depth_grey_and_images_stay():
    def png(values):
        out = io.BytesIO()
        Image.fromarray(np.array(values, dtype=np.uint8)).save(out, "PNG")
        return out.getvalue()

    data = png([[0, 1], [2, 2]])
    assert to_displayable("image", data) is data
    with Image.open(io.BytesIO(to_displayable("instances", data))) as film:
        pixels = np.asarray(film)
    assert film.mode == "RGBA" and pixels[:, :, 3].tolist() == [[0, 150], [150, 150]]
    assert pixels[0, 1].tolist() != pixels[1, 0].tolist() == pixels[1, 1].tolist()
    with Image.open(io.BytesIO(to_displayable("depth", data))) as grey:
        assert np.asarray(grey.convert("L")).tolist() == [[255, 127], [0, 0]]
    with Image.open(io.BytesIO(to_displayable("depth", png([[7, 7]])))) as flat:
        assert np.asarray(flat.convert("L")).tolist() == [[255, 255]]


# serving


@pytest.mark.parametrize(
    ("text", "number"),
    [("3", 3), ("", 0), ("-1", 0), ("x", 0), ("999999999", 999999999), ("1000000000", 0), (None, 0)],
)
def test_pages_are_numbers_of_up_to_nine_digits(text, number):
    assert page_number(request(query="" if text is None else f"page={text}")) == number


def test_what_is_not_ready_says_so_with_another_status():
    state = SimpleNamespace(shelf=SimpleNamespace(places=lambda: [Path("/a/my data")]), jobs=jobs.Jobs())
    service = Service(state, Access("t"))

    def asked(job, status, content):
        queue = SimpleNamespace(ask=lambda name, work: job)
        found = service.respond_later(("n",), None, queue)
        assert (found.status_code, json.loads(found.body)) == (status, content)
        assert found.media_type == "application/json"

    ready, waiting = jobs.Job(None, result={"x": "/a/my data/b"}), jobs.Job(None)
    ready.finished.set()
    asked(ready, 200, {"x": "b"})
    asked(waiting, 202, {"pending": "waiting"})
    waiting.tell("at /a/my data/c")
    asked(waiting, 202, {"pending": "at c"})
    assert json.loads(service.respond_in_place(lambda: ["ä"]).body) == ["ä"]
    assert "ä".encode() in service.respond("ä").body


def test_the_newest_results_are_kept(monkeypatch):
    monkeypatch.setattr(jobs, "KEPT", 2)
    queue, done = jobs.Jobs(1), []
    for name in ("a", "b", "a", "c"):  # `a` was asked for after `b`
        queue.ask((name,), lambda tell, name=name: done.append(name), patience=5)
    queue.ask(("a",), lambda tell: done.append("a again"), patience=5)
    queue.ask(("b",), lambda tell: done.append("b again"), patience=5)
    assert done == ["a", "b", "c", "b again"]


def test_two_works_are_done_at_once(monkeypatch):
    monkeypatch.setattr(jobs, "PATIENCE", 5)
    queue, met = jobs.Jobs(), threading.Barrier(2, timeout=5)
    first = queue.ask(("one",), lambda tell: met.wait(), patience=0)
    assert queue.ask(("two",), lambda tell: met.wait()).finished.is_set()
    assert first.finished.wait(5) and first.error is None and first.step == "working"


def test_a_server_that_never_starts_is_given_up(monkeypatch):
    may_end, ended, sockets = threading.Event(), threading.Event(), []

    class Server:
        started = False

        def run(self, sockets):
            may_end.wait(3)
            ended.set()

    def listen(port, token):
        sockets.append((port, token))
        return None, "address"

    monkeypatch.setattr(serve, "PATIENCE", 0.05)
    monkeypatch.setattr(serve, "new_token", lambda: "token")
    monkeypatch.setattr(serve, "_listen", listen)
    monkeypatch.setattr(serve, "_server", lambda state, token: Server())
    monkeypatch.setattr(serve.State, "open", lambda folders, models: None)
    with pytest.raises(RunFailed, match="the viewer did not start"):
        serve.serve_in_background([], None)
    assert sockets == [(0, "token")] and not ended.is_set()  # its thread was not waited for
    may_end.set()


def test_the_page_has_files_of_known_kinds_and_headers_that_guard_it():
    names = static_files()
    assert "index.html" in names and {name.rpartition(".")[2] for name in names} <= {"html", "css", "js", "svg"}
    assert access.HEADERS["Cache-Control"] == "no-store" and access.HEADERS["X-Frame-Options"] == "DENY"
    assert access.HEADERS["Content-Security-Policy"].startswith(
        "default-src 'none'; script-src 'self'; style-src 'self'"
    )
