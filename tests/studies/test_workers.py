"""Workers on this machine and what steps report: what is tried again, given up, prepared; code that is allowed."""

import json
import os
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.code_files import load_file
from assay.config import Settings
from assay.errors import ConfigError, DataError, RunFailed
from assay.studies import (
    CopyStep,
    DataStep,
    LocalWorkers,
    Outcome,
    RunStep,
    allowed_code,
    local_workers,
    read_records,
    records,
    run,
    verdict_lines,
    work,
)
from assay.studies.allowed_code import allow_code
from assay.studies.records import records_of, write_records
from assay.studies.work import perform, progress_of


def step(name, data="d", **more):
    facts = {"task": "t", "challenge": "plain", "model": "cbm", "label": "cbm", "settings": Settings({}), "seed": 0}
    return RunStep(name, data, **{**facts, **more})


class Pool:
    """Runs what it is given at once; a step that dies breaks it."""

    def __init__(self):
        self.ended = False

    def __enter__(self):
        return self

    def __exit__(self, *fault):
        return False


def workers(monkeypatch, deaths, count=2):
    """Return workers and what they do; `deaths` says how often the worker of each step dies."""
    started, pools, ends = [], [], []

    def submit(pool, perform, given, output, code=()):
        started.append(given.name)
        future = Future()
        if deaths.get(given.name, 0):
            deaths[given.name] -= 1
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(Outcome(given.name, True, 1.0))
        return future

    monkeypatch.setattr(local_workers, "_submit", submit)
    monkeypatch.setattr(local_workers, "_end", lambda pool: ends.append(pool))
    monkeypatch.setattr(local_workers, "has_gpu", lambda: False)
    monkeypatch.setattr(LocalWorkers, "_pool", lambda self, size: pools.append(size) or Pool())
    return LocalWorkers(count), started, pools, ends


def test_steps_are_done_by_as_many_workers_as_there_are_or_are_needed(monkeypatch, tmp_path):
    made, started, pools, _ = workers(monkeypatch, {})
    polled = []
    outcomes = list(made.run([step("a"), step("b"), step("c")], tmp_path, lambda: polled.append(1)))
    assert (
        sorted(outcome.name for outcome in outcomes) == ["a", "b", "c"]
        and started == ["a", "b", "c"]
        and pools == [2]
        and polled
    )
    made, _, pools, _ = workers(monkeypatch, {}, count=8)
    list(made.run([step("a")], tmp_path, lambda: None))
    assert pools == [1]


def test_a_step_whose_worker_dies_is_tried_three_times(monkeypatch, tmp_path):
    made, started, _, ends = workers(monkeypatch, {"a": 2}, count=1)
    outcomes = list(made.run([step("a")], tmp_path, lambda: None))
    assert [outcome.fault for outcome in outcomes] == [None] and started == ["a", "a", "a"] and len(ends) == 2
    made, started, _, _ = workers(monkeypatch, {"a": 9}, count=1)
    outcomes = list(made.run([step("a"), step("b")], tmp_path, lambda: None))
    assert {outcome.name: outcome.fault for outcome in outcomes} == {
        "a": "its worker died 3 times (killed, or out of memory)",
        "b": None,
    }
    assert started.count("a") == 3 and started.count("b") == 1
    assert [outcome.done for outcome in outcomes if outcome.name == "a"] == [False]


def test_seeds_are_trained_side_by_side_on_a_gpu(monkeypatch, tmp_path):
    made, _, pools, _ = workers(monkeypatch, {})
    trained = []
    monkeypatch.setattr(local_workers, "has_gpu", lambda: True)
    monkeypatch.setattr(local_workers, "groups_of_seeds", lambda steps, output: [["x"], ["y"], ["z"], ["w"]])

    def submit(pool, perform, given, *rest, **named):
        trained.append((perform.__name__, given if isinstance(given, list) else given.name))
        future = Future()
        future.set_result(Outcome("a", True, 1.0))
        return future

    monkeypatch.setattr(local_workers, "_submit", submit)
    list(LocalWorkers(9).run([step("a")], tmp_path, lambda: None))
    assert [what for what, _ in trained] == ["train_side_by_side"] * 4 + ["perform"] and pools == [3, 1]
    pools.clear()
    made._train_seeds([], tmp_path, lambda: None)
    assert pools == []


def test_workers_compute_in_one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    seen = []
    pool = SimpleNamespace(
        submit=lambda work, *given, **named: seen.append(
            (work, given, named, {name: os.environ[name] for name in local_workers.THREADS})
        )
    )
    local_workers._submit(pool, "work", 1, x=2)
    assert seen == [("work", (1,), {"x": 2}, dict.fromkeys(local_workers.THREADS, "1"))]
    assert os.environ["OMP_NUM_THREADS"] == "7" and "MKL_NUM_THREADS" not in os.environ


def test_workers_are_numbered_and_end_with_their_parent(monkeypatch):
    import contextlib

    numbers = SimpleNamespace(value=4, get_lock=contextlib.nullcontext)
    told = []
    monkeypatch.setattr(local_workers, "end_with_parent", lambda parent: told.append(("parent", parent)))
    monkeypatch.setattr(local_workers, "number_worker", lambda number: told.append(("number", number)))
    local_workers._prepare(numbers, 99)
    assert told == [("parent", 99), ("number", 4)] and numbers.value == 5
    process = SimpleNamespace(terminate=lambda: told.append("terminated"))
    pool = SimpleNamespace(
        _processes={1: process, 2: process}, shutdown=lambda wait, cancel_futures: told.append((wait, cancel_futures))
    )
    local_workers._end(pool)
    assert told[2:] == ["terminated", "terminated", (True, True)]


def test_precision_that_cannot_be_is_refused_before(monkeypatch, tmp_path):
    from assay.models.core import devices

    def refuse(training):
        raise ConfigError("no bfloat16 here")

    monkeypatch.setattr(devices, "device_for", refuse)
    given = Settings({"precision": "bfloat16", "device": "cpu", "other": 1}, {"precision": "study.yaml line 3"})
    with pytest.raises(ConfigError, match="^study.yaml line 3: no bfloat16 here$"):
        LocalWorkers(1).check([step("a", settings=given)], tmp_path)
    LocalWorkers(1).check([step("a", settings=Settings({"precision": "float32"})), step("b")], tmp_path)
    (tmp_path / "runs" / "a").mkdir(parents=True)
    (tmp_path / "runs" / "a" / "records.json").touch()
    LocalWorkers(1).check([step("a", settings=given)], tmp_path)


def test_data_is_made_by_as_many_processes_as_pay(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(local_workers, "perform", lambda step, output, count, watch: seen.append(count))
    monkeypatch.setattr(local_workers, "default_workers", lambda recipe: recipe)
    for recipe in (None, 2, 9):
        LocalWorkers(4).make(DataStep("d", recipe), tmp_path, lambda done, whole: None)
    assert seen == [1, 2, 4]


# steps


def test_a_step_says_how_it_ended(monkeypatch, tmp_path):
    faults = {"refused": ConfigError("no rule"), "failed": RunFailed("it broke"), "odd": ValueError("hm")}

    def do(given, output, count, pool, watch):
        if given.name in faults:
            raise faults[given.name]

    monkeypatch.setattr(work, "_perform", do)
    found = {name: perform(step(name), tmp_path) for name in ("refused", "failed", "odd", "fine")}
    assert {name: (one.fault, one.refused, one.done) for name, one in found.items()} == {
        "refused": ("no rule", True, False), "failed": ("it broke", False, False), "odd": ("ValueError: hm", False, False), "fine": (None, False, True),
    }  # fmt: skip
    assert (tmp_path / ".steps" / "odd.fault").read_text() == "ValueError: hm"
    faults.clear()
    perform(step("odd"), tmp_path)
    assert not (tmp_path / ".steps" / "odd.fault").exists()
    (tmp_path / "runs" / "fine").mkdir(parents=True)
    (tmp_path / "runs" / "fine" / "records.json").touch()
    assert perform(step("fine"), tmp_path) == Outcome("fine", False, 0.0)


def test_how_far_a_step_is(tmp_path):
    assert progress_of(step("a"), tmp_path) == (0, 1)
    (tmp_path / ".steps").mkdir()
    (tmp_path / ".steps" / "a.progress").write_text("{")
    assert progress_of(step("a"), tmp_path) == (0, 1)
    assert (
        work.folder_of(step("a"), tmp_path) == tmp_path / "runs" / "a"
        and work.folder_of(DataStep("a", None), tmp_path) == tmp_path / "data" / "a"
    )


def test_steps_do_what_they_are(monkeypatch, tmp_path):
    done, told = [], []
    monkeypatch.setattr(
        work, "_make", lambda step, folder, count, pool, report: (done.append(("make", folder, count)), report(1, 2))
    )
    monkeypatch.setattr(work, "_copy", lambda step, output, folder: done.append(("copy", folder)))
    monkeypatch.setattr(work, "_train", lambda step, dataset, folder, report: done.append(("train", dataset, folder)))
    monkeypatch.setattr(work.Dataset, "open", lambda folder: folder.name)
    for given in (DataStep("a", None), CopyStep("b", "a", {}), step("c", data="b")):
        work._perform(given, tmp_path, 3, None, lambda done, whole: told.append((done, whole)))
    assert done == [
        ("make", tmp_path / "data" / "a", 3),
        ("copy", tmp_path / "data" / "b"),
        ("train", "b", tmp_path / "runs" / "c"),
    ] and told == [(1, 2)]


def test_what_depends_on_what_failed_is_not_tried(monkeypatch, tmp_path):
    done = []

    class Fake:
        def check(self, steps, output):
            done.append("checked")

        def make(self, given, output, watch):
            watch(1, 2)
            return Outcome(given.name, True, 1.0, "no data" if given.name == "bad" else None)

        def run(self, steps, output, poll):
            poll()
            for given in steps:
                done.append(given.name)
                yield Outcome(given.name, True, 1.0, "broke" if given.name == "r2" else None)

    runs = [
        step("r1", "good"),
        step("r2", "good"),
        step("r3", "bad"),
        step("r4", "good", needs="r2"),
        step("r5", "good", needs="r1"),
        step("r6", "bad-copy"),
    ]
    study = SimpleNamespace(
        output=tmp_path,
        datasets=[DataStep("good", None), DataStep("bad", None)],
        copies=[CopyStep("bad-copy", "bad", {}), CopyStep("copy", "good", {})],
        runs=runs,
        name="s",
    )
    seen, watched = [], []
    outcomes = run.perform_steps(
        study, lambda text: None, lambda *words: watched.append(words[:3]), Fake(), seen.append
    )
    assert done == ["checked", "copy", "r1", "r2", "r5"] and watched[0] == ("making good", 1, 2)
    assert {outcome.name: outcome.fault for outcome in outcomes if outcome.fault} == {
        "bad": "no data", "r2": "broke", "r3": "bad: no data", "r4": "r2: broke", "r6": "bad-copy: no data",
    }  # fmt: skip
    assert [outcome.name for outcome in seen] == ["copy", "r1", "r2", "r5"]


# records


def result(**more):
    scores = {
        "test": [{"metric": "label_f1", "value": 0.5, "low": 0.4, "high": None, "examples": 9}],
        "ood": [{"metric": "label_f1", "value": None, "examples": 3}],
    }
    numbers = [{"split": "test", "metric": "accuracy_k1", "value": 0.75, "examples": 7}]
    return {
        "scores": scores,
        "numbers": numbers,
        "verdict": "sound",
        "fingerprint": "ff",
        "data_seed": 4,
        "versions": {"assay": "1"},
        "config": {"epochs": 2},
        **more,
    }


def test_records_have_every_number_of_every_run(tmp_path):
    steps = [step("r1", seed=3, fold=1, label="mine"), step("r2"), step("r3", needs="r1", settings=Settings({"k": 1}))]
    folder = tmp_path / "runs" / "r1"
    folder.mkdir(parents=True)
    (folder / "records.json").write_text(json.dumps(result()))
    (folder / "usage.json").write_text('{"seconds": 2.5}')
    found = records_of(steps, tmp_path)
    assert [(one.split, one.metric, one.value, one.low, one.examples) for one in found if one.value == one.value] == [
        ("test", "label_f1", 0.5, 0.4, 9), ("test", "accuracy_k1", 0.75, pytest.approx(float("nan"), nan_ok=True), 7),
    ]  # fmt: skip
    first = found[0]
    assert (first.task, first.challenge, first.model, first.seed, first.fold, first.run, first.data) == (
        "t",
        "plain",
        "mine",
        3,
        1,
        "r1",
        "d",
    )
    assert (
        (first.verdict, first.fingerprint, first.data_seed, first.assay) == ("sound", "ff", 4, "1")
        and len(found) == 3
        and found[1].value != found[1].value
    )
    assert write_records(found, steps, tmp_path) == tmp_path / "records.parquet"
    assert [one.metric for one in read_records(tmp_path)] == ["label_f1", "label_f1", "accuracy_k1"]
    rows = [records._run(one, tmp_path) for one in steps]
    assert [(row["run"], row["fold"], row["finished"], row["verdict"]) for row in rows] == [
        ("r1", 1, True, "sound"),
        ("r2", -1, False, ""),
        ("r3", -1, False, ""),
    ]
    assert (
        json.loads(rows[0]["config"]) == {"epochs": 2}
        and json.loads(rows[2]["config"])["k"] == 1
        and "r1" in rows[2]["config"]
    )
    assert (
        records._usage(steps[0], tmp_path)
        == {"run": "r1", "task": "t", "challenge": "plain", "model": "mine", "seed": 3, "seconds": 2.5}
        and records._usage(steps[1], tmp_path) is None
    )
    for file, why in (
        ("usage.json", "is damaged; delete it"),
        ("records.json", "is damaged; delete it and run the study again"),
    ):
        (folder / file).write_text("{")
        with pytest.raises(DataError, match=why):
            records._usage(steps[0], tmp_path) if file == "usage.json" else records_of(steps, tmp_path)
    with pytest.raises(DataError, match="holds no records of a study"):
        read_records(tmp_path / "none")


def test_verdict_lines_are_of_finished_runs(tmp_path):
    scores = {
        "test": [{"metric": "label_f1", "value": 0.5}, {"metric": "concept_f1", "value": 0.25}],
        "ood": [{"metric": "label_f1", "value": 0.75}],
    }
    for name, verdict in (("r1", "sound"), ("r2", "noisy"), ("r4", "noisy")):
        (tmp_path / "runs" / name).mkdir(parents=True)
        line = {"verdict": verdict, "tone": "good", "why": f"why {name}"}
        (tmp_path / "runs" / name / "records.json").write_text(
            json.dumps({"scores": scores, "headline": line, "verdict": verdict, "reasons": []})
        )
    steps = [step("r1"), step("r2", seed=1), step("r3", seed=2), step("r4", label="dpl", challenge="noise")]
    first, second = verdict_lines(steps, tmp_path)
    assert (first.model, first.verdict, first.label_f1, first.concept_f1, first.ood) == (
        "cbm",
        "sound 1 of 2, noisy 1 of 2",
        0.5,
        0.25,
        0.75,
    )
    assert (
        (second.model, second.verdict, second.run) == ("dpl", "noisy", tmp_path / "runs" / "r4")
        and "noise" in second.task
        and first.task == "t"
    )


# code


def test_only_code_that_was_allowed_is_run(tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr(allowed_code, "load_file", loaded.append)
    registry = SimpleNamespace(
        resolve=lambda reference: (
            f"name of {Path(reference.partition(':')[0]).name}{reference.partition(':')[1]}{reference.partition(':')[2]}"
        )
    )
    monkeypatch.setattr(allowed_code, "LISTS", {"tasks": ("task", registry), "models": ("model", registry)})
    (tmp_path / "mine.py").write_text("x = 1\n")
    study = tmp_path / "study.yaml"
    settings = Settings(
        {"tasks": ["mnadd", "mine.py:Lamps", {"task": "mine.py", "n": 3}, 7], "models": "cbm", "k": 1},
        {"tasks.1": "study.yaml line 4"},
    )
    found = allow_code(settings, study, [tmp_path / "mine.py"])
    assert found.values == {
        "tasks": ["mnadd", "name of mine.py:Lamps", {"task": "name of mine.py", "n": 3}, 7],
        "models": "cbm",
        "k": 1,
    }
    assert loaded == [tmp_path / "mine.py"] and found.places == settings.places
    with pytest.raises(
        ConfigError,
        match=r"^study.yaml line 4: 'mine.py:Lamps' is code, and no code is run .*--allow-code mine.py \(mine.py \(sha256",
    ):
        allow_code(settings, study, [])
    with pytest.raises(ConfigError, match=r"^'gone.py' is code.*--allow-code gone.py$"):
        allow_code(Settings({"tasks": ["gone.py"]}), study, [])


def test_records_are_of_all_runs_and_splits_and_zero_is_a_number(tmp_path):
    zero = {"test": [{"metric": "collapse", "value": 0.0, "low": 0.0, "high": 0.25, "examples": 4}]}
    number = {"split": "ood", "metric": "accuracy_k1", "value": 0, "low": -0.5, "high": 0.5, "examples": 7}
    steps = [step("r1", fold=0, folds=2, model="tree", label="mine"), step("r2", data="e", seed=5, challenge="noise")]
    for one, more in zip(steps, ({"scores": zero, "numbers": []}, {"scores": {}, "numbers": [number]}), strict=True):
        (tmp_path / "runs" / one.name).mkdir(parents=True)
        (tmp_path / "runs" / one.name / "records.json").write_text(json.dumps(result(**more)))
    (tmp_path / "runs" / "r2" / "usage.json").write_text('{"seconds": 4.0}')
    found = records_of(steps, tmp_path)
    assert [
        (one.run, one.model, one.seed, one.fold, one.split, one.metric, one.value, one.low, one.high, one.examples) for one in found
    ] == [
        ("r1", "mine", 0, 0, "test", "collapse", 0.0, 0.0, 0.25, 4), ("r2", "cbm", 5, -1, "ood", "accuracy_k1", 0.0, -0.5, 0.5, 7),
    ]  # fmt: skip
    assert [(one.data, one.challenge, one.task) for one in found] == [("d", "plain", "t"), ("e", "noise", "t")]
    write_records(found, [*steps, step("r3", fold=1)], tmp_path)
    assert read_records(tmp_path) == found
    runs = pq.read_table(tmp_path / "runs.parquet").to_pylist()
    assert [(row["run"], row["model"], row["registered"], row["fold"], row["finished"], row["data"]) for row in runs] == [
        ("r1", "mine", "tree", 0, True, "d"), ("r2", "cbm", "cbm", -1, True, "e"), ("r3", "cbm", "cbm", 1, False, "d"),
    ]  # fmt: skip
    assert pq.read_table(tmp_path / "usage.parquet").to_pylist() == [
        {"run": "r2", "task": "t", "challenge": "noise", "model": "cbm", "seed": 5, "seconds": 4.0}
    ]


def test_records_that_lack_something_are_damaged(tmp_path):
    (tmp_path / "runs" / "r1").mkdir(parents=True)
    file = tmp_path / "runs" / "r1" / "records.json"
    for lack in ("scores", "numbers"):
        file.write_text(json.dumps({key: value for key, value in result().items() if key != lack}))
        with pytest.raises(DataError, match="is damaged; delete it and run the study again"):
            records_of([step("r1")], tmp_path)
    pq.write_table(pa.table({"task": ["t"], "nonsense": [1]}), tmp_path / "records.parquet")
    with pytest.raises(DataError, match="records.parquet' is damaged; delete it and run the study again"):
        read_records(tmp_path)


def test_no_more_steps_are_under_way_than_there_are_workers(monkeypatch, tmp_path):
    made, started, _, _ = workers(monkeypatch, {})
    seen = []
    list(made.run([step(name) for name in "abcde"], tmp_path, lambda: seen.append(len(started))))
    assert seen[0] == 2 and seen[-1] == 5 and all(later - earlier <= 2 for earlier, later in pairwise(seen))


def test_what_is_left_when_a_pool_breaks_is_what_is_not_done(monkeypatch, tmp_path):
    asked = []

    def once(self, steps, output, poll, tries):
        asked.append([one.name for one in steps])
        for one in steps:
            tries[one.name] += 1
        if len(asked) == 1:
            yield Outcome("b", True, 1.0)
            yield Outcome("d", True, 1.0)
            raise BrokenProcessPool
        yield from (Outcome(one.name, True, 1.0) for one in steps if one.name == "c")
        raise BrokenProcessPool

    monkeypatch.setattr(LocalWorkers, "_once", once)
    monkeypatch.setattr(local_workers, "has_gpu", lambda: False)
    found = list(LocalWorkers(2).run([step(name) for name in "abcd"], tmp_path, lambda: None))
    assert asked == [["a", "b", "c", "d"], ["a", "c"], ["a"]]
    assert [one.name for one in found if one.fault is None] == ["b", "d", "c"]
    assert [(one.name, one.done) for one in found if one.fault] == [("a", False)]


def test_steps_and_seeds_go_out_with_the_users_files(monkeypatch, tmp_path):
    (tmp_path / "mine.py").write_text("x = 1\n")
    file, sent = load_file(tmp_path / "mine.py").file, []

    def submit(pool, task, given, output, code=()):
        sent.append((task.__name__, output, list(code)))
        future = Future()
        future.set_result(Outcome("a", True, 1.0))
        return future

    made, _, pools, _ = workers(monkeypatch, {})
    monkeypatch.setattr(local_workers, "_submit", submit)
    monkeypatch.setattr(local_workers, "has_gpu", lambda: True)
    monkeypatch.setattr(local_workers, "groups_of_seeds", lambda steps, output: [["x"], ["y"], ["z"]])
    list(made.run([step("a")], tmp_path, lambda: None))
    assert sent == [*[("train_side_by_side", tmp_path, [file])] * 3, ("perform", tmp_path, [file])] and pools == [2, 1]


def test_a_precision_is_tried_on_the_device_that_the_run_asks_for(monkeypatch, tmp_path):
    from assay.models.core import devices

    tried = []
    monkeypatch.setattr(devices, "device_for", lambda training: tried.append((training.device, training.precision)))
    given = Settings({"precision": "bfloat16", "device": "cpu", "widths": [3]})
    LocalWorkers(1).check([step("a", settings=given), step("b")], tmp_path)
    assert tried == [("cpu", "bfloat16")]


def test_every_allowed_file_is_run_and_lists_have_a_line_too(tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr(allowed_code, "load_file", loaded.append)
    files = [tmp_path / "one.py", tmp_path / "two.py"]
    for file in files:
        file.write_text("x = 1\n")
    settings = Settings(
        {"tasks": ["mnadd"], "models": [{"model": "three.py", "name": "two.py"}], "metrics": ["f1"]},
        {"models": "s.yaml line 2"},
    )
    assert allow_code(replace(settings, values={"tasks": ["mnadd"]}), tmp_path / "s.yaml", files).values == {
        "tasks": ["mnadd"]
    }
    assert loaded == files
    with pytest.raises(
        ConfigError, match=r"^s.yaml line 2: 'three.py' is code, and no code is run .*--allow-code three.py$"
    ):
        allow_code(settings, tmp_path / "s.yaml", files)
    places = {"models": "s.yaml line 2", "models.0": "s.yaml line 3"}
    with pytest.raises(ConfigError, match="^s.yaml line 3: 'three.py' is code"):
        allow_code(replace(settings, places=places), tmp_path / "s.yaml", files)


def test_each_run_ends_once_even_if_two_things_that_it_needs_are_broken(tmp_path):
    class Fake:
        def check(self, steps, output):
            pass

        def make(self, given, output, watch):
            return Outcome(given.name, True, 1.0, "no data" if given.name == "bad" else None)

        def run(self, steps, output, poll):
            for given in steps:
                yield Outcome(given.name, True, 1.0, "broke" if given.name in ("r1", "copy2") else None)

    runs = [
        step("r1", "good"), step("r2", "bad", needs="r1"), step("r3", "copy1"), step("r4", "copy2"), step("r5", "copy1", needs="r1"),
        step("r6", "copy1", needs="r3"),
    ]  # fmt: skip
    study = SimpleNamespace(
        output=tmp_path, datasets=[DataStep("bad", None), DataStep("good", None)], runs=runs, name="s",
        copies=[CopyStep("copy1", "good", {}), CopyStep("copy2", "good", {})],
    )  # fmt: skip
    found = run.perform_steps(study, lambda text: None, lambda *words: None, Fake())
    assert [(one.name, one.fault) for one in found] == [
        ("bad", "no data"), ("good", None), ("copy1", None), ("copy2", "broke"), ("r1", "broke"), ("r3", None), ("r6", None),
        ("r5", "r1: broke"), ("r2", "bad: no data"), ("r4", "copy2: broke"),
    ]  # fmt: skip


def test_workers_are_told_who_their_parent_is(monkeypatch):
    pools = []
    monkeypatch.setattr(local_workers, "ProcessPoolExecutor", lambda *given, **how: pools.append((given, how)))
    LocalWorkers(5)._pool(3)
    (((count,), how),) = pools
    number, parent = how["initargs"]
    assert (count, number.value, parent, how["initializer"]) == (3, 0, os.getpid(), local_workers._prepare)
    assert how["mp_context"].get_start_method() == "spawn"


def test_seeds_that_train_are_watched_until_the_last_and_ended_with_us(monkeypatch, tmp_path):
    made, _, pools, ends = workers(monkeypatch, {}, count=5)
    futures = [Future() for _ in range(2)]
    left = iter(futures)
    monkeypatch.setattr(local_workers, "PAUSE", 0.001)
    monkeypatch.setattr(local_workers, "_submit", lambda pool, task, group, output, code: next(left))
    polled = []

    def poll():
        polled.append(sum(future.done() for future in futures))
        if len(polled) in (2, 4):
            futures[len(polled) // 2 - 1].set_result(None)

    made._train_seeds([["x"], ["y"]], tmp_path, poll)
    assert polled == [0, 0, 1, 1, 2] and pools == [2] and ends == []

    def stop():
        raise KeyboardInterrupt

    left = iter([Future()])
    monkeypatch.setattr(local_workers, "_submit", lambda pool, task, group, output, code: next(left))
    with pytest.raises(KeyboardInterrupt):
        made._train_seeds([["x"]], tmp_path, stop)
    assert pools == [2, 1] and len(ends) == 1


def test_code_is_found_from_where_one_is_and_then_from_the_study(tmp_path, monkeypatch):
    names = []
    monkeypatch.setattr(allowed_code, "load_file", lambda path: None)
    chosen = SimpleNamespace(resolve=lambda reference: names.append(reference) or "mine")
    monkeypatch.setattr(allowed_code, "LISTS", {"models": ("model", chosen)})
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(f"x = {folder!r}\n")
    monkeypatch.chdir(tmp_path / "here")
    settings, file = Settings({"models": [{"model": "mine.py:A", "k": 1}]}), tmp_path / "there" / "study.yaml"
    for code in (
        [Path("mine.py")],
        [tmp_path / "there" / "mine.py"],
        [tmp_path / "there" / "mine.py", Path("mine.py")],
    ):
        assert allow_code(settings, file, code).values == {"models": [{"model": "mine", "k": 1}]}
    assert names == ["mine.py:A", f"{tmp_path / 'there' / 'mine.py'}:A", "mine.py:A"]
    with pytest.raises(ConfigError, match=r"--allow-code mine.py \(mine.py \(sha256"):
        allow_code(settings, tmp_path / "nowhere" / "study.yaml", [])
