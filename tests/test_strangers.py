"""What a stranger's dataset, run or study names is never run: one line says what is missing, and nothing happens."""

import json
import shutil

import pytest

from assay.base import AssayError, DataError, Registry, UnknownName, forget_files, load_file
from assay.contracts import fingerprint, to_json
from assay.dataset import Dataset, task_of
from assay.lab import find_study, study_from
from assay.metrics import METRICS
from assay.models import MODELS
from assay.tasks import TASKS
from tests.own_files import OWN, call, install, installed

REDRAWING = {
    "pairs": ["pairs"],
    "audit": ["audit", "--no-write", "--check", "visible"],
    "view": ["view", "--samples", "2", "--bundle"],
}


def evil(mark):
    """Return a file that leaves a mark when it is run."""
    return f"import pathlib\npathlib.Path({str(mark)!r}).write_text('it ran')\n" + OWN


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A dataset by a file, made by its author."""
    folder = tmp_path_factory.mktemp("honest")
    (folder / "mine.py").write_text(OWN)
    assert call("make", folder / "mine.py", "-o", folder / "data")[0] == 0
    forget_files()
    return folder / "data"


@pytest.fixture
def place(tmp_path, honest, monkeypatch):
    """Return a folder to work in, where the dataset lies and a file that leaves a mark when it is run."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(honest, tmp_path / "data")
    for folder in (tmp_path, tmp_path / "data", tmp_path.parent):
        (folder / "evil.py").write_text(evil(tmp_path / "mark"))
    yield tmp_path
    (tmp_path.parent / "evil.py").unlink()
    assert not (tmp_path / "mark").exists(), "the file was run"
    forget_files()


def rewrite(folder, **changes):
    """Change the manifest of a dataset as a stranger would, fingerprint and all."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for key, value in changes.items():
        manifest[key] = {**manifest[key], **value} if isinstance(value, dict) else value
    path.write_bytes(to_json({**manifest, "fingerprint": fingerprint(manifest)}))


def test_the_file_does_leave_a_mark(tmp_path):
    (tmp_path / "evil.py").write_text(evil(tmp_path / "mark"))
    load_file(tmp_path / "evil.py")
    assert (tmp_path / "mark").exists()
    forget_files()


@pytest.mark.parametrize("verb", REDRAWING)
@pytest.mark.parametrize(
    ("task", "code", "told"),
    [
        ({}, {"name": "evil.py"}, "is in evil.py (sha256 "),
        ({}, {"name": "../evil.py"}, "is in evil.py (sha256 "),
        ({"name": "evil.py"}, {"name": "evil.py"}, "the task 'evil.py' of"),
        ({"name": "evil.py:Lamps"}, None, "the task 'evil.py:Lamps' of"),
        ({"name": "../evil.py"}, None, "is not installed; install its package, or give its file: --task FILE.py"),
        ({"name": "evil"}, None, "the task 'evil' of 'data' is not installed"),
        ({"name": "os:system"}, "os:system", "the task 'os:system' of"),
    ],
)
def test_a_manifest_that_names_code(place, verb, task, code, told):
    rewrite(place / "data", task=task, code=code)
    words = REDRAWING[verb]
    status, out, err = call(words[0], place / "data", *words[1:], *([place / "page"] if verb == "view" else []))
    if verb == "pairs":
        assert (status, out) == (2, "") and err.count("\n") == 1
    else:  # what needs no task is done, and the rest is said not to be
        assert status == 0
    with pytest.raises(DataError) as caught:
        task_of(Dataset.open("data"))
    assert told in str(caught.value) and "\n" not in str(caught.value)
    if verb == "audit":
        assert "passed 1 check" in err  # concepts are read off the pictures, without the task


@pytest.mark.parametrize(
    "file",
    [
        "../evil.parquet",
        "/etc/passwd",
        "test/../../x.parquet",
        "test\\..\\x",
        "https://evil.example/x.parquet",
        "s3://bucket/x",
        "file:///etc/passwd",
        "x.parquet",
        "test/",
        "~/x",
        ".plan.json",
    ],
)
def test_a_manifest_that_names_a_path_outside_of_its_folder(place, file):
    splits = json.loads((place / "data" / "manifest.json").read_text())["splits"]
    splits[0]["shards"][0]["file"] = file
    rewrite(place / "data", splits=splits)
    for verb in ("show", "audit", "pairs"):
        status, out, err = call(verb, place / "data")
        assert (status, out) == (2, "") and "which lies outside of its folder; it is not opened" in err, verb


def test_a_split_whose_name_is_a_path(place):
    splits = json.loads((place / "data" / "manifest.json").read_text())["splits"]
    splits[0]["name"] = "../../train"
    rewrite(place / "data", splits=splits)
    assert "has a split with the odd name '../../train'; it is not opened" in call("show", place / "data")[2]


@pytest.mark.parametrize("name", ["evil.py", "evil.py:Net", "../evil.py", "os:system", "my-net"])
def test_a_run_that_names_code(place, name):
    run = place / "run"
    run.mkdir()
    about = {"model": name, "seed": 0, "config": {}, "knowledge": {}, "layout": {}, "code": {"name": "evil.py"}}
    manifest = json.loads((place / "data" / "manifest.json").read_text())
    about["data"] = {"folder": str(place / "data"), "fingerprint": manifest["fingerprint"]}
    (run / "run.json").write_text(json.dumps(about))
    for words in (["predict"], ["attribute"], ["intervene"], ["probe", "-o", place / "x"]):
        status, out, err = call(words[0], run, place / "data", *words[1:])
        assert (status, out) == (2, "") and f"the model {name!r} of" in err, (words, err)
        assert "which is not run unasked; give it: --model evil.py" in err and err.count("\n") == 1


@pytest.mark.parametrize("text", ["tasks: [evil.py]\nmodels: [tree]\n", "tasks: [mnlogic]\nmodels: [evil.py:Net]\n",
                                  "tasks: [{task: ../evil.py, n: 9}]\nmodels: [tree]\n",
                                  "tasks: [mnlogic]\nmodels: [tree]\nmetrics: [evil.py:both_right]\n"])  # fmt: skip
def test_a_study_that_names_code(place, text):
    (place / "study.yaml").write_text(text)
    status, out, err = call("run", "study.yaml", "-o", "out")
    assert (status, out) == (2, "") and "no code is run because a study names it; to run it: --allow-code" in err
    assert "(sha256 " in err and err.startswith("error: study.yaml line ") and not (place / "out").exists()
    (place / "other.py").write_text("x = 1\n")
    assert "is code" in call("run", "study.yaml", "-o", "out", "--allow-code", "other.py")[2]
    from assay.base import load_yaml

    with pytest.raises(AssayError):  # nor by the function that takes settings
        study_from(load_yaml(place / "study.yaml"))


def test_a_study_may_name_a_file_beside_it(tmp_path, monkeypatch):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "mine.py").write_text(OWN)
    (tmp_path / "lab" / "study.yaml").write_text("tasks: [mine.py]\nmodels: [tree]\n")
    monkeypatch.chdir(tmp_path)
    study = find_study(str(tmp_path / "lab" / "study.yaml"), code=[tmp_path / "lab" / "mine.py"])
    assert [step.recipe.task.name for step in study.datasets] == ["two-lamps"] and study.runs[0].task == "two-lamps"
    forget_files()


def test_registries_take_no_file_for_a_name(place):
    for registry in (TASKS, MODELS, METRICS):
        assert "evil.py" not in registry
        with pytest.raises(UnknownName, match=rf"no {registry.kind} named 'evil\.py'"):
            registry["evil.py"]
    with pytest.raises(AssayError, match="a backbone cannot be given as a file"):
        Registry("backbone").resolve("evil.py")


def test_a_package_that_fails_is_left_out_and_the_others_work(tmp_path):
    points = "[assay.tasks]\nbroken = own_package_broken\nmnadd = own_package:Lamps\nmore = own_package_more\n"
    more = "from assay.tasks import TASKS\nTASKS.add('two-lamps', 'lamps', 'own_package:Lamps')\n"
    install(tmp_path, points, own_package=OWN, own_package_broken="1 / 0\n", own_package_more=more)
    with installed(tmp_path):
        status, out, err = call("list", "tasks")
        assert status == 0 and "two-lamps" in out and "own-package: broken: ZeroDivisionError" in err
        assert "own-package: mnadd: task 'mnadd' is registered twice" in err
        assert TASKS["two-lamps"].__module__ == "own_package" and TASKS["mnadd"].__module__.startswith("assay.")
    assert "two-lamps" not in TASKS
