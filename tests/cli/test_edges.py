"""Commands on made-up results: what they hand on, what they print, in which order and how much of it."""

import csv
import io
import json
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from assay.cli import console
from assay.concepts import Concept, ConceptSpace
from assay.data import Dataset
from assay.errors import AssayError, ConfigError
from assay.logic import Knowledge
from assay.runs import RunFolder
from assay.seeds import rng_for

# `assay.cli.show` and others are modules whose function has the same name
align, annotate, attribute, count, new, show, view = (
    import_module(f"assay.cli.{name}") for name in ("align", "annotate", "attribute", "count", "new", "show", "view")
)
KNOWLEDGE = Knowledge.of(ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1)))), {"y": "a == b"})


def lines(text):
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


@pytest.fixture
def opened(monkeypatch):
    """Open no dataset, but remember which was asked for."""
    monkeypatch.setattr(Dataset, "open", lambda folder: f"data in {folder}")


# align


class Head(SimpleNamespace):
    def to_dict(self):
        return {"front_end": self.front_end}


def test_heads_and_the_first_weights_are_printed(monkeypatch, capsys, opened):
    from assay.models.concept import alignment

    asked = []
    heads = [
        Head(front_end="as trained", training=0.1234, test=0.2349, intervened=0.5, gain=0.2655),
        Head(front_end="constrained", training=0.9, test=0.8, intervened=0.75, gain=-0.05),
    ]
    weights = {f"w{n}": (n + 0.251, -1.0) for n in range(25)}

    def align_run(*given):
        asked.append(given)
        return SimpleNamespace(rows=heads, weights=weights)

    monkeypatch.setattr(alignment, "align_run", align_run)
    monkeypatch.setattr(RunFolder, "about", lambda self: asked.append(self.folder))
    align.align(Path("run"), Path("data"), Path("out"), ["zero=[c]"])
    said = capsys.readouterr()
    assert asked[0] == Path("run") and asked[1][:2] == (Path("run"), "data in data") and asked[1][3] == Path("out")
    assert list(asked[1][2].zero) == ["c"]
    told = lines(said.out)
    assert told[:5] == [
        "label head training test test, true concepts set gain",
        "as trained 0.123 0.235 0.500 +0.266",
        "constrained 0.900 0.800 0.750 -0.050",
        "weight as trained constrained",
        "w0 +0.25 -1.00",
    ]
    assert len(told) == 4 + 20 and told[-1] == "w19 +19.25 -1.00"
    assert said.err == "out  next: assay diagnose out data\n"
    align.align(Path("run"), Path("data"), Path("out"), ["zero=[c]"], as_json=True)
    said = capsys.readouterr()
    assert json.loads(said.out) == {
        "run": "out",
        "front_ends": [{"front_end": "as trained"}, {"front_end": "constrained"}],
        "weights": {name: list(pair) for name, pair in weights.items()},
    }
    assert said.err == ""


# annotate


FOUND = {
    "train": {"examples": 1234, "missing": 0.3041, "wrong": 0.05, "wrong_labels": 0.011},
    "valid": {"examples": 9, "missing": 0.0, "wrong": 1.0, "wrong_labels": 0.5},
}
USED = {"requests": 7, "from_cache": 3, "unreadable": 2, "tokens_in": 12345, "tokens_out": 6789, "cost": 0.25}


@pytest.fixture
def annotated(monkeypatch, opened):
    from assay.data import annotate as writing
    from assay.studies import machines

    asked, machine = [], {"is": None}

    def write(dataset, annotation, output, given):
        asked.append((dataset, annotation, output, given))
        return {"fingerprint": "ff", "task": {"annotation": {"found": FOUND}}}

    monkeypatch.setattr(writing, "annotate", write)
    monkeypatch.setattr(machines, "machine_of", lambda annotation, dataset, bar: machine["is"])
    return asked, machine


def test_changes_are_printed_for_each_split(annotated, capsys):
    asked, _ = annotated
    annotate.annotate(Path("data"), Path("out"), settings=["missing=0.3"])
    said = capsys.readouterr()
    assert lines(said.out) == [
        "split examples concepts missing concepts wrong labels wrong",
        "train 1,234 30.4 % 5.0 % 1.1 %",
        "valid 9 0.0 % 100.0 % 50.0 %",
    ]
    assert said.err == "out  fingerprint ff  next: assay train cbm out -o RUN\n"
    (dataset, annotation, output, given) = asked[0]
    assert (dataset, output, given) == ("data in data", Path("out"), None)
    assert (annotation.missing, annotation.seed) == (0.3, 0)
    annotate.annotate(Path("data"), Path("out"), seed=4, settings=["seed=2"], as_json=True)
    assert asked[1][1].seed == 4  # the option goes on top
    annotate.annotate(Path("data"), Path("out"), settings=["seed=2"], as_json=True)
    assert asked[2][1].seed == 2
    first = capsys.readouterr().out.split("}\n{")[0] + "}"
    assert json.loads(first) == {"folder": "out", "fingerprint": "ff", "splits": FOUND}


def test_what_a_machine_took_is_told(annotated, capsys):
    asked, machine = annotated
    machine["is"] = SimpleNamespace(usage=lambda: USED)
    annotate.annotate(Path("data"), Path("out"), settings=["missing=0.3"])
    assert capsys.readouterr().err.splitlines() == [
        "answers: 7 (3 from the cache), 2 pictures not read, tokens: 12,345 + 6,789, cost: 0.25",
        "out  fingerprint ff  next: assay train cbm out -o RUN",
    ]
    assert asked[0][3] is machine["is"]
    annotate.annotate(Path("data"), Path("out"), as_json=True)
    assert json.loads(capsys.readouterr().out)["usage"] == USED


# attribute


# view


def test_only_remote_data_is_fetched_to_be_viewed(monkeypatch):
    fetched = SimpleNamespace(fetch_all=lambda: SimpleNamespace(folder=Path("cache")))
    monkeypatch.setattr(Dataset, "open", lambda folder: fetched)
    assert view._here(Path("here")) == Path("here")
    monkeypatch.setattr("assay.data.remote.is_remote", lambda folder: True)
    assert view._here(Path("there")) == Path("cache")


# new


def test_pictures_of_new_data_are_as_bright_as_their_concepts(tmp_path, capsys):
    new.new("data", "MyLamps2", tmp_path)
    folder = tmp_path / "my_lamps2"
    assert capsys.readouterr().err == f"{folder}  next: assay audit {folder}\n"
    rows = list(csv.reader(io.StringIO((folder / "concepts.csv").read_text())))
    assert rows[0] == ["file", "split", "concept_left", "concept_right", "label_brighter"]
    assert len(rows) == 1 + 144 + 108 and [row[1] for row in rows[1:]] == ["train"] * 144 + ["test"] * 108
    assert rows[1] == ["pictures/train-000.png", "train", "0", "0", "False"]
    assert rows[6] == ["pictures/train-005.png", "train", "1", "2", "False"]
    assert rows[145 + 7] == ["pictures/test-007.png", "test", "2", "1", "True"]
    noise = rng_for(0, "new data").integers(0, 60, size=(12, 24))
    with Image.open(folder / "pictures" / "train-000.png") as picture:
        assert np.asarray(picture).reshape(12, 24, -1)[:, :, 0].tolist() == noise.tolist()
    for name, left, right in (("train-005", 1, 2), ("test-006", 2, 0)):
        with Image.open(folder / "pictures" / f"{name}.png") as picture:
            pixels = np.asarray(picture).reshape(12, 24, -1)[:, :, 0].astype(int)
        for half, level in ((pixels[:, :12], left), (pixels[:, 12:], right)):
            assert 80 * level <= half.min() < 80 * level + 15 and 80 * level + 45 <= half.max() < 80 * level + 60
    assert "my_lamps2" in (folder / "rule.yaml").read_text().splitlines()[0]
    assert (folder / "README.md").exists()


def test_names_become_words(monkeypatch, tmp_path, capsys):
    written = []
    monkeypatch.setattr(new, "_write", lambda *given: written.append(given))
    new.new("metric", "both_RightNow", tmp_path)
    new.new("task", "two-lamps3D", tmp_path)
    new.new("model", "x", tmp_path)
    assert written == [
        (tmp_path / "both_right_now.py", "metric", {"name": "both_right_now", "Class": "BothRightNow", "Title": "Both right now", "file": "both_right_now.py"}),
        (tmp_path / "two_lamps3_d.py", "task", {"name": "two-lamps3-d", "Class": "TwoLamps3D", "Title": "Two lamps3 d", "file": "two_lamps3_d.py"}),
        (tmp_path / "x.py", "model", {"name": "x", "Class": "X", "Title": "X", "file": "x.py"}),
    ]  # fmt: skip
    assert capsys.readouterr().err.splitlines()[2] == f"{tmp_path / 'x.py'}  next: assay check {tmp_path / 'x.py'}"
    for name in ("", "-", "_", "3x", "a b", "a.b", "ä", "lampé"):
        with pytest.raises(ConfigError, match="is no name; give letters, digits, '-' and '_', such as my-model"):
            new.new("model", name, tmp_path)
    (tmp_path / "x.py").touch()
    with pytest.raises(ConfigError, match="is there already; choose another name, or delete it"):
        new.new("task", "X", tmp_path)
    assert len(written) == 3
    new._refuse_taken("data", "cbm")
    new._refuse_taken("task", "cbm")
    with pytest.raises(ConfigError, match="there is a model named 'cbm'; choose another name"):
        new._refuse_taken("model", "cbm")


# show


def facts(**more):
    return {"knowledge": KNOWLEDGE.to_dict(), "diagram_nodes": 1234, "worlds": 5678, "shortcuts": "few", **more}


def test_knowledge_is_printed_with_its_encoders(capsys):
    show._print_knowledge(facts())
    told = lines(capsys.readouterr().out)
    groups = {name: group["name"] for group in KNOWLEDGE.to_dict()["encoders"] for name in group["concepts"]}
    assert told == [
        "concept values encoder",
        f"a 0, 1, 2 {groups['a']}",
        f"b 0, 1 {groups['b']}",
        "label values rule",
        told[4],
        "5,678 worlds; the rule's decision diagram has 1,234 nodes",
        "few",
    ]
    assert told[4].startswith("y ") and told[4].endswith("a == b")
    show._print_knowledge(facts(diagram_nodes=None))
    assert "the rule's decision diagram has too many nodes" in capsys.readouterr().out


def manifest(**task):
    splits = [
        {"name": "train", "size": 1500, "where": "a != 0", "labels": {"y": [1, 2]}, "boundary": {"y": {"far": 3}}},
        {"name": "test", "size": 20, "where": "", "labels": {"y": [3, 4]}, "boundary": {"y": {"far": 4}}},
    ]
    about = {"name": "toy", "version": 3, **task}
    return {"task": about, "seed": 7, "splits": splits, "knowledge": KNOWLEDGE.to_dict()}


def test_a_dataset_is_shown_by_split_and_region(monkeypatch, capsys):
    data = SimpleNamespace(manifest=manifest(), fingerprint="ff")
    monkeypatch.setattr(Dataset, "open", lambda folder: data)
    show._show_dataset(Path("data"), False)
    assert lines(capsys.readouterr().out) == [
        "toy (version 3), seed 7",
        "fingerprint ff",
        "split examples worlds where labels",
        "train 1,500 a != 0 {'y': [1, 2]}",
        "test 20 {'y': [3, 4]}",
        "y worlds where train test",
        "far all others 3 4",
    ]
    show._show_dataset(Path("data"), True)
    assert json.loads(capsys.readouterr().out) == data.manifest


def test_what_was_imported_is_shown_before_the_splits(monkeypatch, capsys):
    from assay.data.imports import words

    monkeypatch.setattr(words, "describe_import", lambda imported: f"imported from {imported}")
    data = SimpleNamespace(manifest=manifest(imported="there"), fingerprint="ff")
    monkeypatch.setattr(Dataset, "open", lambda folder: data)
    show._show_dataset(Path("data"), False)
    told = lines(capsys.readouterr().out)
    assert told[2:6] == ["imported from there", "concept or label values rule", "a 0, 1, 2", "b 0, 1"]
    assert told[6].startswith("y ") and told[7] == "split examples worlds where labels"


def test_where_show_looks(monkeypatch, tmp_path):
    seen = []
    for kind in ("dataset", "metric", "model", "backbone"):
        monkeypatch.setattr(show, f"_show_{kind}", lambda *given, kind=kind: seen.append((kind, *given)))
    (tmp_path / "cbm").mkdir()
    (tmp_path / "mnadd").mkdir()
    monkeypatch.chdir(tmp_path)
    show.show("s3://bucket/x", as_json=True)
    show.show("cbm")  # a folder goes before a model
    show.show("label_f1")
    show.show("dpl", as_json=True)
    assert seen == [
        ("dataset", Path("s3://bucket/x"), True),
        ("dataset", Path("cbm"), False),
        ("metric", "label_f1", False),
        ("model", "dpl", True),
    ]
    (tmp_path / "mnadd" / "manifest.json").touch()
    show.show("mnadd")
    assert seen[-1] == ("dataset", Path("mnadd"), False)
    from assay.models import BACKBONES

    name = next(iter(BACKBONES))
    show.show(name)
    assert seen[-1] == ("backbone", name, False)


# count


def test_a_count_hands_on_what_was_asked_for(monkeypatch, capsys):
    from assay.counting import count as counting

    asked, printed = [], []
    result = SimpleNamespace(to_dict=lambda: {"total": 3})
    monkeypatch.setattr(count, "_worlds", lambda *given: asked.append(given) or (KNOWLEDGE, "worlds"))
    monkeypatch.setattr(count, "_other_forms", lambda *given: asked.append(given[1:]) or {"dimacs": "f", "ganak": 3})
    monkeypatch.setattr(count, "_print", printed.append)
    monkeypatch.setattr(counting, "count_readings", lambda *given: asked.append(given) or result)
    count.count("task", ["k=2"], family="free", support="full", supervise="a=1", budget=5.0, seed=9, check="ganak")
    (source, settings, *rest), counted, others = asked
    assert (source, dict(settings.values), rest) == ("task", {"k": 2}, ["full", 9])
    assert counted == (KNOWLEDGE, "free", "worlds", {"a": [1]}, 5.0) and others == ("ganak", None)
    assert printed == [result] and capsys.readouterr().out == "dimacs: f\nganak: 3\n"
    asked.clear()
    count.count("task", as_json=True, write=Path("f"))
    assert asked[0][2:] == ("train", 0) and asked[1][1:] == ("shared", "worlds", {}, 60.0)
    assert asked[2] == (None, Path("f")) and len(printed) == 1
    told = json.loads(capsys.readouterr().out)
    assert told == {"source": "task", "support": "train", "total": 3, "dimacs": "f", "ganak": 3}
    with pytest.raises(AssayError, match="shred"):
        count.count("task", family="shred")


def test_supervision_skips_empty_pieces():
    read = count._parse_supervision
    assert read(";a,;b=0;", KNOWLEDGE) == {"a": None, "b": [0]}
    assert read("a=2", KNOWLEDGE) == {"a": [2]} and read("b=", KNOWLEDGE) == {"b": []}


# console


def test_files_of_ones_own_are_registered(monkeypatch):
    for kind, run in (("tasks", console._run_tasks), ("models", console._run_models), ("metrics", console._run_metrics)):  # fmt: skip
        registry = SimpleNamespace(resolve=lambda file, kind=kind: f"{kind} of {file}")
        monkeypatch.setattr(f"assay.{kind}.{kind.upper()}", registry)
        assert run(["a.py", "b.py"]) == [f"{kind} of a.py", f"{kind} of b.py"] and run([]) == []


def test_the_dataset_is_the_one_named_or_that_of_the_run(monkeypatch, tmp_path, opened):
    monkeypatch.setattr(RunFolder, "dataset", lambda self: f"data of {self.folder.name}")
    (tmp_path / "said.parquet").touch()
    assert console.dataset_for(tmp_path, None) == f"data of {tmp_path.name}"
    assert console.dataset_for(tmp_path, Path("d")) == "data in d"
    assert console.dataset_for(tmp_path / "said.parquet", Path("d")) == "data in d"
    with pytest.raises(ConfigError, match="said.parquet' is a predictions file; name the dataset folder after it"):
        console.dataset_for(tmp_path / "said.parquet", None)
    assert console._here(Path("out")) == Path("out")
    with pytest.raises(AssayError):
        console._here(Path("s3://bucket/out"))


def test_output_is_plain(capsys, monkeypatch, tmp_path):
    console.say("[bold]x[/bold] :smile: " + "w" * 300)
    console.print_json({"ä": Path("p"), "b": [1]})
    console.print_text()
    said = capsys.readouterr()
    assert said.err == "[bold]x[/bold] :smile: " + "w" * 300 + "\n"
    assert said.out == '{\n "ä": "p",\n "b": [\n  1\n ]\n}\n\n'
    console.print_table(["a"], [["[red]:smile:"], ["y" * 200]])
    assert lines(capsys.readouterr().out)[1:] == ["[red]:smile:", "y" * 160, "y" * 40]
    monkeypatch.setattr(console.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "77")
    assert console.console_for_output().width == 77
    (tmp_path / "s.yaml").write_text("k: 1\nn: 5\n")
    assert dict(console.settings_from(["k=3"], tmp_path / "s.yaml").values) == {"k": 3, "n": 5}
    assert dict(console.settings_from([], None).values) == {}
