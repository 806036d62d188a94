"""What the page is told of datasets and runs, whole; responses of the application; bundles, shelves and searches in parts."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.responses import Response

from assay.concepts import bits
from assay.errors import AssayError, ConfigError, DataError, RunFailed, UnknownName
from assay.logic import Knowledge
from assay.viewer import State, bundle, datasets, edit, folders, runs, samples, serve
from assay.viewer import app as app_module
from assay.viewer import table as tables
from assay.viewer.access import HEADERS, Access
from assay.viewer.app import create_app
from assay.viewer.folders import ServedDataset, ServedRun, Shelf
from assay.worlds import LUCK, World
from tests.browser import run_coroutine
from tests.viewer.test_edges import request

# datasets


def dataset(name="mnadd", size=3, pairs=None, **more):
    """A dataset that is only a manifest."""
    splits = [
        {"name": "train", "size": 9, "where": "true", "pool": "train", "shards": []},
        {"name": "test", "size": size, "where": "a", "pool": "test", "shards": []},
    ]
    manifest = {
        "task": {"name": name, "version": 2}, "summary": "what it is", "knowledge": {"k": 1}, "layout": {"l": 1},
        "columns": ["image"], "splits": splits, "seed": 4, "versions": {"assay": "1"}, "sources": {"digits": {}},
    }  # fmt: skip
    return SimpleNamespace(
        name=name, folder=Path("/somewhere/data"), pairs=pairs, manifest=manifest, fingerprint="f", why_no_pairs="why",
        **more,
    )  # fmt: skip


def run(key="r", live=True, folder="/somewhere/r", **answers):
    return ServedRun(key, key, Path(folder), "cbm", answers, live, f"title of {key}", "label", 3)


def test_all_that_the_page_needs_to_know_of_a_dataset():
    served = ServedDataset("key", dataset(), {"r": run(test="x", train="y", other="z")})
    shelf = Shelf({"key": served})
    wanted = {
        "key": "key", "title": "mnadd", "task": {"name": "mnadd", "version": 2}, "registered": True,
        "summary": "what it is", "folder": "data", "knowledge": {"k": 1}, "layout": {"l": 1}, "columns": ["image"],
        "splits": [
            {"name": "train", "size": 9, "where": "true", "pool": "train"},
            {"name": "test", "size": 3, "where": "a", "pool": "test"},
        ],
        "preview": {"split": "test", "rows": [0, 1, 2]},
        "runs": [{
            "key": "r", "name": "r", "title": "title of r", "short": "label", "model": "cbm", "seed": 3,
            "splits": ["train", "test"], "live": True,
        }],
        "seed": 4, "fingerprint": "f", "versions": {"assay": "1"}, "sources": {"digits": {}}, "why_no_pairs": "why",
    }  # fmt: skip
    assert datasets.facts(served, shelf) == wanted
    assert datasets.overview(shelf) == {"datasets": [wanted], "broken": []}
    pairs = {"split": "test", "size": 5, "where": "b"}
    other = datasets.facts(
        ServedDataset("key", dataset("strange", 40, pairs)), Shelf({"key": ServedDataset("key", dataset("strange"))})
    )
    assert (other["registered"], other["why_no_pairs"], other["preview"]["rows"]) == (False, None, [0, 1, 2, 3])
    assert other["splits"][-1] == {"name": "pairs", "size": 5, "where": "b", "pool": "those of test"}


def test_rules_that_are_no_formulas_have_no_table(monkeypatch):
    bare = SimpleNamespace(space=bits(["a"]), labels=[], has_rule=False, symbolic=True)
    none = {"kind": "none", "why": "The rule is not given by formulas."}
    assert datasets.rule_table(bare) == none
    bare.has_rule, bare.symbolic = True, False
    assert datasets.rule_table(bare) == none

    def fail(formula, space):
        raise DataError("too deep")

    monkeypatch.setattr(datasets, "ground_formula", fail)
    assert datasets.rule_table(Knowledge.of(bits(["a"]), {"y": "a"})) == {"kind": "none", "why": "too deep"}


@pytest.mark.parametrize(("rows", "grid", "kind"), [(8, 0, "table"), (7, 0, "many"), (7, 8, "many")])
def test_a_table_has_so_many_rows_at_most_and_a_grid_two_concepts(monkeypatch, rows, grid, kind):
    monkeypatch.setattr(datasets, "MOST_ROWS", rows)
    monkeypatch.setattr(datasets, "MOST_GRID", grid)
    three = Knowledge.of(bits(["a", "b", "unused", "c"]), {"y": "a and b or c"})
    found = datasets.rule_table(three)
    assert found["kind"] == kind and found["concepts"] == [0, 1, 3]
    if kind == "many":
        assert found["count"] == 8 and set(found) == {"kind", "count", "concepts", "diagram"}
    else:
        assert [row[:3] + label for row, label in zip(found["rows"], found["labels"], strict=True)] == [
            [a, b, c, int((a and b) or c)] for a in (0, 1) for b in (0, 1) for c in (0, 1)
        ]


def test_a_grid_is_of_two_concepts_and_so_many_cells(monkeypatch):
    two = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    monkeypatch.setattr(datasets, "MOST_ROWS", 3)
    for cells, kind in ((4, "grid"), (3, "many")):
        monkeypatch.setattr(datasets, "MOST_GRID", cells)
        assert datasets.rule_table(two)["kind"] == kind


def test_an_audit_tells_how_far_it_is_and_is_not_stored(monkeypatch):
    names, told = list(datasets.CHECKS), []

    def audit(data, watch):
        for name in (names[0], names[-1]):
            watch(name, 0.5)
        return SimpleNamespace(results=[SimpleNamespace(check="c", status="fine", text="t", more=1)])

    monkeypatch.setattr(datasets, "audit", audit)
    monkeypatch.setattr(datasets, "audited_dataset", lambda data: data)
    state = SimpleNamespace(shelf={"d": SimpleNamespace(dataset="data")})
    assert datasets.audit_now(state, "d", told.append) == {
        "findings": [{"check": "c", "status": "fine", "text": "t"}], "stored": False,
    }  # fmt: skip
    count = len(names)
    assert told == [f"{names[0]} (1 of {count})", f"{names[-1]} ({count} of {count})"]


def test_shortcuts_that_cannot_be_counted_say_so(monkeypatch):
    state = SimpleNamespace(shelf={"d": SimpleNamespace(dataset="data")})
    monkeypatch.setattr(datasets, "taught_by", lambda data: None)
    assert datasets.shortcuts_of(state, "d")["text"].startswith("Shortcuts cannot be counted here")
    monkeypatch.setattr(datasets, "taught_by", lambda data: SimpleNamespace(to_dict=lambda: {"count": 0, "of": data}))
    assert datasets.shortcuts_of(state, "d") == {"count": 0, "of": "data"}


def test_the_page_of_a_dataset_is_its_rule_and_the_audit_that_was_stored(monkeypatch):
    monkeypatch.setattr(datasets, "rule_table", lambda knowledge: f"rule of {knowledge}")
    monkeypatch.setattr(datasets, "stored_audit", lambda served: "audit")
    state = SimpleNamespace(shelf={"d": SimpleNamespace(dataset=SimpleNamespace(knowledge="k"))})
    assert datasets.dataset_page(state, "d") == {"rule": "rule of k", "audit": "audit"}


# runs


def test_what_is_known_of_a_run_without_judging_it(monkeypatch):
    about = {name: name.upper() for name in ("config", "parameters", "device", "machine", "versions", "probe", "data")}
    monkeypatch.setattr(runs, "RunFolder", lambda folder: SimpleNamespace(about=lambda: {**about, "folder": folder}))
    monkeypatch.setattr(runs, "epochs_of", lambda run: ["epochs", run.key])
    monkeypatch.setattr(runs, "units_page", lambda *given: given[1:])
    held = {key: run(key, live) for key, live in (("r", True), ("file", False))}
    state = SimpleNamespace(shelf={"d": ServedDataset("d", dataset(), held)})
    assert runs.run_page(state, "d", "r", {"test": 1}) == {
        "about": {name: name.upper() for name in ("config", "parameters", "device", "machine", "versions", "probe")},
        "epochs": ["epochs", "r"],
        "units": ("d", "r", {"test": 1}),
    }
    assert runs.run_page(state, "d", "file")["about"] == {}


# the application


@pytest.fixture
def application():
    state = SimpleNamespace(shelf=SimpleNamespace(places=lambda: [Path("/home/me/my data")]), jobs=None, drawing=None)
    return create_app(state, "token")


def test_errors_have_a_status_by_their_kind_and_tell_no_folder(application):
    refuse = application.exception_handlers[AssayError]
    for error, status in (
        (UnknownName("x"), 404),
        (RunFailed("x"), 503),
        (ConfigError("x"), 400),
        (DataError("x"), 400),
    ):
        assert refuse(None, error).status_code == status
    answer = refuse(None, DataError("/home/me/my data/a.png is gone"))
    assert json.loads(answer.body) == {"error": "a.png is gone"}
    malformed = next(
        h for kind, h in application.exception_handlers.items() if "Validation" in getattr(kind, "__name__", "")
    )
    assert malformed(None, ValueError("/etc/secret")).status_code == 422
    assert b"secret" not in malformed(None, ValueError("/etc/secret")).body
    assert application.openapi_url is application.docs_url is application.redoc_url is None


def test_files_of_the_page_have_their_kinds(application, monkeypatch):
    endpoints = {route.path: route.endpoint for route in application.routes if hasattr(route, "endpoint")}
    assert (
        endpoints["/"]().media_type == "text/html" and endpoints["/"]().body == app_module.static_files()["index.html"]
    )
    kinds = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    for name, data in app_module.static_files().items():
        answer = endpoints["/{name}"](name)
        assert (answer.media_type, answer.body) == (kinds[name.rpartition(".")[2]], data)
    with pytest.raises(UnknownName, match="no file 'index.htm'"):
        endpoints["/{name}"]("index.htm")


def guarded(asked, token="token"):
    async def answer(given):
        return Response("inside", 200)

    return run_coroutine(app_module._guarded(Access(token), asked, answer))


def test_who_has_the_token_is_let_in_and_every_response_is_guarded():
    cookie = (("cookie", f"{Access('token').cookie}=token"),)
    inside, refused = guarded(request(cookie)), guarded(request())
    assert (inside.status_code, inside.body) == (200, b"inside") and refused.status_code == 403
    assert json.loads(refused.body) == {"error": "open the address that the viewer printed, with its token"}
    long = guarded(request(cookie, query="x" * 5000))
    assert long.status_code == 414 and guarded(request((*cookie, ("content-length", "100001")))).status_code == 413
    first = guarded(request(query="token=token"))
    assert first.status_code == 303 and first.headers["location"] == "/" and "HttpOnly" in first.headers["set-cookie"]
    assert guarded(request(query="token=other")).status_code == 403
    for response in (inside, refused, long, first):
        assert {name: response.headers[name] for name in HEADERS} == HEADERS


# states and searches


def test_what_was_read_is_kept_and_answers_that_are_not_there_say_how_to_make_them(monkeypatch):
    read = []
    monkeypatch.setattr("assay.viewer.state.SplitTable", lambda served, split: read.append(split) or f"table {split}")
    monkeypatch.setattr(
        "assay.viewer.state.answers_of",
        lambda run, table: read.append((run.key, table)) or ([] if run.key == "r" else None),
    )
    monkeypatch.setattr("assay.viewer.state.task_of", lambda data: read.append("task") or "task")
    held = {key: run(key) for key in ("r", "none")}
    state = State(Shelf({"d": ServedDataset("d", dataset(), held)}), "models")
    assert state.models == "models" and state.jobs is not state.drawing
    for _ in range(2):
        assert state.table("d", "test") == "table test" and state.task("d") == "task"
        assert state.require_answers("d", "test", "r") == []
    assert read == ["test", "task", ("r", "table test")]
    with pytest.raises(
        DataError, match="run 'none' has no answers for split 'test'; make some: assay predict RUN --split test"
    ):
        state.require_answers("d", "test", "none")
    monkeypatch.setattr("assay.viewer.state.open_shelf", lambda given: ("shelf", given))
    opened = State.open(["here"], "models")
    assert opened.shelf == ("shelf", ["here"]) and opened.models == "models"


def test_a_search_adds_datasets_before_runs_each_once_and_remembers_what_is_broken(monkeypatch, tmp_path):
    for name, file in (("a-run", "run.json"), ("data", "manifest.json"), ("bad", "manifest.json")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text("{}")
    added = []

    def add(kind):
        def one(self, folder):
            added.append((kind, folder.name))
            if folder.name == "bad":
                raise OSError("cannot be read")
            self.datasets[folder.name] = kind

        return one

    monkeypatch.setattr(folders._Search, "add_dataset", add("dataset"))
    monkeypatch.setattr(folders._Search, "add_run", add("run"))
    shelf = folders.open_shelf([tmp_path, tmp_path / "data", tmp_path / "a-run"])
    assert added == [("dataset", "bad"), ("dataset", "data"), ("run", "a-run")]
    assert [(Path(one.folder).name, one.why) for one in shelf.broken] == [("bad", "cannot be read")]
    with pytest.raises(DataError, match="cannot be read"):
        folders.open_shelf([tmp_path / "bad"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"no dataset or run in '.*empty'; make one: assay make"):
        folders.open_shelf([tmp_path / "empty"])
    with pytest.raises(DataError, match="no folder '.*nowhere'"):
        folders.open_shelf([tmp_path, tmp_path / "nowhere"])


def test_a_run_is_added_to_the_dataset_of_its_fingerprint_with_the_answers_that_it_knows(monkeypatch, tmp_path):
    class Data(SimpleNamespace):
        def __contains__(self, split):
            return split in ("test", "valid")

    about = {"data": {"fingerprint": "two"}, "model": "dpl", "seed": 7}
    fake = SimpleNamespace(about=lambda: about, title="title", label="label")
    monkeypatch.setattr(folders, "RunFolder", lambda folder: fake)
    search = folders._Search()
    for key in ("one", "two"):
        search.datasets[key] = ServedDataset(key, Data(fingerprint=key))
    place = tmp_path / "My Run"
    (place / "predictions").mkdir(parents=True)
    for name in ("valid", "test", "gone"):
        (place / "predictions" / f"{name}.parquet").write_text("")
    search.add_run(place)
    made = search.datasets["two"].runs["my-run"]
    assert not search.datasets["one"].runs and (made.model, made.seed, made.live) == ("dpl", 7, True)
    assert list(made.answers) == ["test", "valid"] and (made.name, made.title, made.label) == (
        "My Run",
        "title",
        "label",
    )
    file = tmp_path / "said.parquet"
    file.write_text("")
    monkeypatch.setattr(folders, "_of_predictions", lambda path: ("one", "valid"))
    search.add_run(file)
    said = search.datasets["one"].runs["said"]
    assert (said.model, said.seed, said.live, said.answers) == ("predictions", None, False, {"valid": file})
    monkeypatch.setattr(folders, "_of_predictions", lambda path: ("three", "valid"))
    with pytest.raises(DataError, match="is about the dataset with fingerprint three; give its folder too"):
        search.add_run(file)
    about["data"]["fingerprint"] = "three"
    fake.dataset = lambda: SimpleNamespace(fetch_all=lambda: SimpleNamespace(folder=tmp_path / "own"))
    monkeypatch.setattr(
        folders._Search, "add_dataset",
        lambda self, folder: self.datasets.setdefault("own", ServedDataset("own", Data(fingerprint="three", folder=folder))),
    )  # fmt: skip
    search.add_run(place)
    assert list(search.datasets["own"].runs) == ["my-run"] and search.datasets["own"].dataset.folder == tmp_path / "own"


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_a_page_of_a_file_that_is_damaged_is_one_line(tmp_path, compression):
    path = tmp_path / "part-0.parquet"
    column = [f"text {number * 7919 % 1000}" for number in range(5000)]
    pq.write_table(pa.table({"a": column}), path, compression=compression, use_dictionary=False)
    assert tables._read(path, ["a"])["a"].to_pylist() == column
    data = bytearray(path.read_bytes())
    data[200:1200] = b"\xff" * 1000
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"^part-0.parquet cannot be read: [^\n]+$"):
        tables._read(path, ["a"])


def test_the_server_is_quiet_and_tells_nothing_of_itself(monkeypatch):
    monkeypatch.setattr(serve, "create_app", lambda state, token: (state, token))
    config = serve._server("state", "token").config
    assert config.app == ("state", "token") and (config.log_level, config.lifespan, config.ws) == (
        "warning",
        "off",
        "none",
    )
    assert config.server_header is config.access_log is False


# edits


def test_where_no_task_is_at_hand_the_rule_still_speaks(monkeypatch):
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a and b"})
    table = SimpleNamespace(knowledge=knowledge, sides={}, world=lambda row: World(knowledge.space, (0, 1, row), {}))

    def none(key):
        raise DataError("no such task")

    state = SimpleNamespace(table=lambda key, split: table, task=none)
    found = edit.edit_sample(state, "d", "test", 1, {"a": 1})
    assert found == {
        "pictures": {}, "things": [], "text": None, "undrawn": "no such task", "concepts": [1, 1, 1], "follows": [],
        "labels": [1], "tags": {}, "violated": [], "world": World(knowledge.space, (1, 1, 1), {}).text,
    }  # fmt: skip

    class Task:
        columns = ("image",)

        def change_world(self, world, named):
            return world.do({**named, "c": False})

        def render(self, world):
            return world

    state.task = lambda key: Task()
    monkeypatch.setattr(
        edit, "picture_to_dict", lambda picture, columns: {"pictures": columns, "things": [], "text": None}
    )
    drawn = edit.edit_sample(state, "d", "test", 1, {"a": 1})
    assert (drawn["undrawn"], drawn["pictures"], drawn["concepts"]) == (None, ("image",), [1, 1, 0])
    assert drawn["follows"] == ["c"]  # which nobody asked for
    assert edit.edit_sample(state, "d", "test", 1, {})["concepts"] == [0, 1, 1]


def test_a_label_that_is_left_to_chance_keeps_its_luck_where_there_is_some():
    asked = []
    knowledge = SimpleNamespace(
        stochastic=True,
        require_rule=lambda what: None,
        drawn_labels=lambda codes, luck: asked.append(luck.tolist()) or np.array([[7]]),
        labels_of=lambda codes: np.array([[3]]),
    )
    table = SimpleNamespace(knowledge=knowledge)
    space = bits(["a"])
    assert edit._labels(table, World(space, (1,), {LUCK: [0.25]})) == [7] and asked == [[[0.25]]]
    assert edit._labels(table, World(space, (1,), {})) == [3]
    knowledge.stochastic = False
    assert edit._labels(table, World(space, (1,), {LUCK: [0.25]})) == [3]


# bundles


def test_a_run_is_written_with_all_that_it_can_have(monkeypatch):
    written = {}
    monkeypatch.setattr(bundle, "_write_or_why", lambda path, work: written.update({str(path): work()}))
    for name in ("run_page", "verdict_of", "reading_of", "map_of", "intervention_curve", "_held_pairs"):
        monkeypatch.setattr(bundle, name, lambda *given, name=name: (name, *given[1:]))
    served = ServedDataset("d", dataset())
    rows = {"test": np.arange(2), "pairs": "held"}
    bundle._write_run(None, served, run(test="x", pairs="y"), Path("out"), rows)
    assert written["out/r.json"] == ("run_page", "d", "r", rows) and written["out/r/verdict.json"] == (
        "verdict_of",
        "d",
        "r",
    )
    assert written["out/r/pairs.json"] == ("_held_pairs", "d", "r", "held")
    for split in ("test", "pairs"):
        assert written[f"out/r/{split}-reading.json"] == ("reading_of", "d", split, "r")
        assert written[f"out/r/{split}-map.json"] == ("map_of", "d", split, "r")
    curves = {name for name in written if "interventions" in name}
    assert curves == {f"out/r/test-interventions-{policy}.json" for policy in ("uncertainty", "random", "fixed")}
    assert written["out/r/test-interventions-fixed.json"] == ("intervention_curve", "d", "test", "r", "fixed")
    assert len(written) == 2 + 1 + 4 + 3
    written.clear()
    bundle._write_run(None, served, run(train="x"), Path("out"), rows)
    assert set(written) == {"out/r.json", "out/r/verdict.json", "out/r/train-reading.json", "out/r/train-map.json"}


def test_tasks_of_the_datasets_are_written_once_and_those_that_cannot_be_built_not(monkeypatch):
    written = {}
    monkeypatch.setattr(bundle, "_write", lambda path, data: written.update({str(path): data}))

    def page(name):
        if name == "valued":
            raise DataError("no games")
        return {"name": name, "summary": f"about {name}", "more": 1}

    monkeypatch.setattr(bundle, "task_page", page)
    held = {
        key: ServedDataset(key, dataset(name))
        for key, name in enumerate(("mnadd", "valued", "mnadd", "strange", "clevr"))
    }
    bundle._write_tasks(SimpleNamespace(shelf=SimpleNamespace(datasets=held)), Path("out"))
    assert list(written) == ["out/tasks/mnadd.json", "out/tasks/clevr.json", "out/tasks.json"]
    assert written["out/tasks.json"] == [{"name": name, "summary": f"about {name}"} for name in ("mnadd", "clevr")]
    assert written["out/tasks/clevr.json"]["more"] == 1


def test_pictures_of_a_split_are_written_by_row_and_column(monkeypatch):
    files, pages = {}, {}
    monkeypatch.setattr(bundle, "write_atomically", lambda path, data: files.update({str(path): data}))
    monkeypatch.setattr(bundle, "_write", lambda path, data: pages.update({str(path): data}))
    monkeypatch.setattr(
        bundle, "sample_of", lambda state, key, split, row: {"row": row, "has": ["image", "depth"][: row - 2]}
    )
    monkeypatch.setattr(bundle, "to_displayable", lambda column, data: f"{column} {data}")
    table = type(
        "Table",
        (),
        {
            "sides": {"y": SimpleNamespace(kinds={"far": "far"})},
            "file": lambda self, column, row: row,
            "__len__": lambda self: 9,
        },
    )()
    state = SimpleNamespace(table=lambda key, split: table)
    bundle._write_split(state, SimpleNamespace(key="d"), "test", Path("out"), [3, 4])
    assert pages == {
        "out/d/test.json": {
            "whole": 9, "kinds": {"y": {"far": "far"}},
            "samples": [{"row": 3, "has": ["image"]}, {"row": 4, "has": ["image", "depth"]}],
        }
    }  # fmt: skip
    assert files == {
        "out/d/test/3/image.png": "image 3", "out/d/test/4/image.png": "image 4", "out/d/test/4/depth.png": "depth 4",
    }  # fmt: skip
    assert samples.PAGE == bundle.PAGE == 48


def test_all_of_a_dataset_is_written_in_its_places_and_its_entry_shows_rows_that_are_held(monkeypatch):
    written, done = {}, []
    rows = {"train": np.arange(3), "test": np.array([7, 9, 11, 12, 15]), "pairs": np.array([2])}
    monkeypatch.setattr(bundle, "held_rows", lambda state, served, samples: rows if samples == 5 else None)
    monkeypatch.setattr(bundle, "_write", lambda path, data: written.update({str(path): data}))
    monkeypatch.setattr(bundle, "_write_or_why", lambda path, work: written.update({str(path): work()}))
    for name in ("_write_split", "_write_comparisons", "_write_run"):
        monkeypatch.setattr(bundle, name, lambda state, served, *given, name=name: done.append((name, *given)))
    for name in ("distribution_of", "dataset_page", "shortcuts_of"):
        monkeypatch.setattr(bundle, name, lambda state, *given, name=name: (name, *given))
    held = {key: run(key) for key in ("r", "s")}
    served = ServedDataset("d", dataset(), held)
    state = SimpleNamespace(shelf=Shelf({"d": served}))
    entry = bundle._write_dataset(state, served, Path("out"), 5)
    assert entry == {**datasets.facts(served, state.shelf), "preview": {"split": "test", "rows": [7, 9, 11, 12]}}
    assert written == {
        **{f"out/datasets/d/{split}-distribution.json": ("distribution_of", "d", split) for split in rows},
        "out/datasets/d.json": ("dataset_page", "d"),
        "out/datasets/d/shortcuts.json": ("shortcuts_of", "d"),
    }
    chosen = [("_write_split", split, Path("out/data"), own.tolist()) for split, own in rows.items()]
    compared = [("_write_comparisons", split, Path("out/data/d") / split) for split in rows]
    assert sorted(done, key=str) == sorted(
        [*chosen, *compared, *(("_write_run", one, Path("out/runs/d"), rows) for one in held.values())], key=str
    )


def test_what_cannot_be_is_written_as_the_reason_in_letters_as_they_are(tmp_path):
    def fail():
        raise DataError("no é here")

    bundle._write_or_why(tmp_path / "why.json", fail)
    bundle._write_or_why(tmp_path / "what.json", lambda: {"é": [1, None]})
    assert json.loads((tmp_path / "why.json").read_text("utf-8")) == {"error": "no é here"}
    assert json.loads((tmp_path / "what.json").read_text("utf-8")) == {"é": [1, None]}


def test_of_more_than_twenty_runs_the_first_twenty_that_have_answers_are_compared(monkeypatch):
    written = []
    monkeypatch.setattr(bundle, "_write", lambda path, data: written.append((path.name, data)))
    monkeypatch.setattr(bundle, "compare_runs", lambda state, key, split, keys: keys)
    held = {f"r{n}": run(f"r{n}", **({} if n in (0, 5) else {"test": "x"})) for n in range(24)}
    bundle._write_comparisons(None, ServedDataset("d", dataset(), held), "test", Path("out"))
    able = [n for n in range(24) if n not in (0, 5)][:20]
    assert len(written) == 190 + 1 and written[-1][1] == [f"r{n}" for n in able]
    assert written[-1][0] == f"compare-{'-'.join(map(str, able))}.json"
    assert written[0] == ("compare-1-2.json", ["r1", "r2"]) and written[189] == ("compare-20-21.json", ["r20", "r21"])
