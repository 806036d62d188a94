"""What commands print, word for word, of results that are made up: tables, counts, notes, and their order."""

import inspect
import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.cli import console, count, demo, export, main, make, probe, push, show, sources, train
from assay.cli.groups import examples_text
from assay.cli.verdicts import print_verdicts
from assay.concepts import Concept, ConceptSpace
from assay.config import Settings
from assay.errors import ConfigError, UnknownName
from assay.logic import Knowledge
from assay.studies import VerdictLine
from tests.samples import needs_task

KNOWLEDGE = Knowledge.of(ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1)))), {"y": "a == b"})


def lines(text):
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


# count


def test_the_worlds_of_a_count(monkeypatch):
    from assay.data import support

    train_worlds = np.array([[0, 1], [2, 0]])
    calls = []

    def training_support(source, settings, seed):
        calls.append((source, settings, seed))
        return KNOWLEDGE, train_worlds

    monkeypatch.setattr(support, "training_support", training_support)
    monkeypatch.setattr(support, "random_worlds", lambda knowledge, number, seed: ("random", number, seed))
    asked = Settings({"k": 1})

    def worlds(text):
        knowledge, found = count._worlds("task", asked, text, 5)
        assert knowledge is KNOWLEDGE
        return found

    assert worlds("full") is None and worlds("train") is train_worlds
    assert worlds("random:3") == ("random", 3, 5) and worlds("123") == ("random", 123, 5)
    assert worlds("21").tolist() == [[2, 1]]  # two digits are a world of two concepts
    assert worlds("random:21") == ("random", 21, 5)
    assert worlds("01,20").tolist() == [[0, 1], [2, 0]]
    assert calls[0] == ("task", asked, 5)


def test_clauses_have_no_training_worlds(tmp_path):
    path = tmp_path / "rule.cnf"
    path.write_text("p cnf 2 2\n1 2 0\n-1 -2 0\n")
    for support in ("train", "full"):
        knowledge, worlds = count._worlds(str(path), Settings(), support, 0)
        assert worlds is None and len(knowledge.space) == 2
    with pytest.raises(ConfigError, match="no file"):
        count._worlds(str(tmp_path / "no.cnf"), Settings(), "full", 0)


def test_supervised_concepts_are_read():
    read = count._parse_supervision
    assert read("", KNOWLEDGE) == {} and read("a,b", KNOWLEDGE) == {"a": None, "b": None}
    assert read("a=0,2;b", KNOWLEDGE) == {"a": [0, 2], "b": None}
    for text in ("c", "c=1", "a,c"):
        with pytest.raises(UnknownName):
            read(text, KNOWLEDGE)


def counted(low, high, readings=None, worlds=1234):
    total = low if low == high else None
    facts = {"low": low, "high": high, "total": total, "readings": readings, "worlds": worlds}
    return SimpleNamespace(**facts, family="shared", method="exact", seconds=0.456)


def test_a_count_names_what_is_outside_of_the_rule_by_its_number(assay, tmp_path):
    """`xor` of two bits keeps its labels with both upside down; 76 further bits may be read in any way."""
    (tmp_path / "x.cnf").write_text("p cnf 78 2\n1 2 0\n-1 -2 0\n")
    text = lines(assay("count", str(tmp_path / "x.cnf")).out)
    assert text[0].startswith("1 reasoning shortcut: 2 readings keep every label")
    assert text[1].startswith("76 concepts are not in the rule") and sum("50 %" in line for line in text) == 4
    found = json.loads(assay("count", str(tmp_path / "x.cnf"), "--json").out)
    assert found["total"] == 2 * 4**76 and found["used_high"] == 2 and len(found["unused_concepts"]) == 76


def test_other_engines_and_clauses(monkeypatch, tmp_path):
    from assay.counting import backends

    monkeypatch.setattr(backends, "count_with", lambda name, problem: SimpleNamespace(count=f"{name} {problem}"))
    monkeypatch.setattr(
        backends, "encode_problem", lambda problem: SimpleNamespace(to_dimacs=lambda: f"cnf of {problem}")
    )
    result = counted(3, 3, SimpleNamespace(problem="p"))
    assert count._other_forms(result, None, None) == {}
    assert count._other_forms(result, "ganak", tmp_path / "x.cnf") == {
        "dimacs": str(tmp_path / "x.cnf"),
        "ganak": "ganak p",
    }
    assert (tmp_path / "x.cnf").read_text() == "cnf of p"
    assert count._other_forms(result, "ganak", None) == {"ganak": "ganak p"}
    assert count._other_forms(counted(3, 5), None, None) == {}
    for given in (("ganak", None), (None, tmp_path / "y.cnf")):
        with pytest.raises(ConfigError, match="need an exact count of a table of entries, not family 'shared'"):
            count._other_forms(counted(3, 5), *given)


@needs_task("mnlogic")
def test_counting_a_task(assay, tmp_path):
    said = assay("count", "mnlogic", "--set", "k=2", "--support", "full", "--write", tmp_path / "out.cnf")
    assert said.status == 0 and lines(said.out)[0].startswith("1 reasoning shortcut: 2 readings keep every label")
    assert lines(said.out)[-1] == f"dimacs: {tmp_path / 'out.cnf'}"
    told = json.loads(assay("count", "mnlogic", "--set", "k=2", "--supervise", "a", "--support", "full", "--json").out)
    assert (told["source"], told["support"], told["total"]) == ("mnlogic", "full", 1)


# show


def test_small_words_of_a_split():
    assert show._share([0.25, 0.75]) == "50 %" and show._share([0.0, 1.0]) == "100 %"
    assert show._even({"quota": None, "balance": "label"}) == "label"
    assert show._even({"quota": {"x": 1}, "balance": "label"}) == "variant and type"


def test_a_metric_a_model_and_a_backbone(assay):
    assert assay("show", "label_f1").out.rstrip().endswith("(higher is better)")
    assert json.loads(assay("show", "label_f1", "--json").out)["better"] == "higher"
    said = json.loads(assay("show", "blackbox", "--json").out)
    assert (said["name"], said["has_concepts"], said["can_intervene"]) == ("blackbox", False, False)
    assert said["settings"]["epochs"]["help"]
    text = lines(assay("show", "cbm").out)
    assert text[0].startswith("cbm: ") and text[1] == "setting default" and any(t.startswith("epochs ") for t in text)


def test_how_a_backbone_is_used(capsys, monkeypatch):
    import assay.models as models

    class Backbones(dict):
        def entry(self, name):
            return SimpleNamespace(summary=f"about {name}")

    plans = {w: SimpleNamespace(smallest=32, weights=w) for w in ("no", "may", "must")}
    monkeypatch.setattr(models, "BACKBONES", Backbones(plans))
    for name, setting in (("no", "no"), ("may", "may or may@FILE.safetensors"), ("must", "must@FOLDER")):
        show._show_backbone(name, False)
        assert lines(capsys.readouterr().out) == [
            f"{name}: about {name}",
            "reads pictures of 32 x 32 pixels or more",
            f"use it by --set backbone={setting}",
        ]
    show._show_backbone("may", True)
    assert json.loads(capsys.readouterr().out) == {
        "name": "may", "summary": "about may", "smallest": 32, "weights": "may",
    }  # fmt: skip


# probe


def effect(concept, p_family, derivative, p=0.0123):
    names = {"concept": concept, "value": 1, "label": "y", "class": True}
    return {**names, "p": p, "p_family": p_family, "score": 0.756, "derivative": derivative}


def test_the_strongest_effects_are_printed_first(capsys):
    probe._print_effects([effect("a", 0.5, 2.0), effect("b", 0.01, 0.1), effect("c", 0.01, -0.3)], "conv1")
    assert lines(capsys.readouterr().out) == [
        "at conv1",
        "concept class TCAV derivative p p of all",
        "c = 1 y = True 0.76 -0.3 0.0123 0.01",
        "b = 1 y = True 0.76 +0.1 0.0123 0.01",
        "a = 1 y = True 0.76 +2 0.0123 0.5",
    ]
    probe._print_effects([effect(str(n), n, 1.0) for n in range(probe.MOST_EFFECTS + 5)], "conv1")
    assert len(lines(capsys.readouterr().out)) == probe.MOST_EFFECTS + 2
    probe._print_effects([], "conv1")
    assert capsys.readouterr().out == ""


def test_layers_are_printed_with_the_scores_of_every_split(capsys):
    def layer(name, *values):
        scores = {s: {m: SimpleNamespace(value=v + n / 10) for m, v in zip("xyz", values, strict=True)}
                  for n, s in enumerate(("valid", "test"))}  # fmt: skip
        return SimpleNamespace(
            layer=SimpleNamespace(name=name, kind="conv", features=1234), scores=scores, predictions=scores
        )

    results = [layer("conv1", 0.1, 0.2, 0.3), layer("fc", 0.5, 0.6, 0.7)]
    probe._print_layers(SimpleNamespace(results=results, best=results[1]))
    assert lines(capsys.readouterr().out) == [
        "layer kind features valid Acc F1 Cls test Acc F1 Cls",
        "0 conv1 conv 1,234 0.10 0.20 0.30 0.20 0.30 0.40",
        "1 fc conv 1,234 0.50 0.60 0.70 0.60 0.70 0.80",
    ]


# make and train


def test_long_makings_are_told_before(monkeypatch, capsys):
    from assay.data import estimate

    monkeypatch.setattr(estimate, "seconds_per_example", lambda recipe: 0.05)
    rows = int(make.LONG / 0.05)
    make._say_long(None, rows, 1)
    make._say_long(None, 2 * rows, 2)
    assert capsys.readouterr().err == ""
    make._say_long(None, 100 * rows, 1)
    make._say_long(None, 200 * rows, 2)
    first, second = capsys.readouterr().err.splitlines()
    assert (
        first.startswith(f"{100 * rows:,} pictures at 0.05 s each: about ") and "with 1 process; fewer with -n" in first
    )
    assert "with 2 processes; fewer" in second
    assert first.split("about ")[1].split(" with")[0] == second.split("about ")[1].split(" with")[0]

    def missing(recipe):
        raise ModuleNotFoundError("no torch")

    monkeypatch.setattr(estimate, "seconds_per_example", missing)
    make._say_long(None, 100 * rows, 1)
    assert capsys.readouterr().err == ""


def test_notes_on_training():
    def epoch(score):
        return SimpleNamespace(phase="concepts", number=3, loss=0.12345, score=score)

    assert train._note(epoch(0.756)) == "concepts epoch 3, loss 0.123, validation F1 0.76"
    assert train._note(epoch(math.nan)) == "concepts epoch 3, loss 0.123"
    assert train._notes({"model": "cbm", "training": {}}) == [] and train._notes({"model": "cbm"}) == []
    stages = {"label_accuracy": {"average": 0.75, "forgetting": 0.125}, "after_each": [1, 2, 3]}
    assert train._notes({"model": "cbm", "training": {"not_captured": "why"}, "stages": stages}) == [
        "note: the steps of cbm ran one kernel after the other: why",
        "after the last of 3 stages: label accuracy 0.750 on average, forgetting 0.125",
    ]


@pytest.mark.parametrize(("text", "seeds"), [("0-2", [0, 1, 2]), ("1,5", [1, 5]), ("4", [4]), ("0-1,7", [0, 1, 7])])
def test_seeds_are_read(text, seeds):
    assert console.parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "0-2,1", "3-1", "1-2-3", "1,1"])
def test_other_seeds_are_refused(text):
    with pytest.raises(ConfigError, match="--seeds: expected"):
        console.parse_seeds(text)


def test_paragraphs_and_next_steps(capsys, monkeypatch):
    console.print_paragraphs(["one two", "three"])
    console.print_next([("assay a", "first"), ("assay long", "second")])
    said = capsys.readouterr()
    assert said.out == "one two\nthree\n"
    assert said.err == "next:\n  assay a     first\n  assay long  second\n"
    monkeypatch.setattr(console.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(console, "console_for_output", lambda: SimpleNamespace(width=12))
    console.print_paragraphs(["one two three four"])
    assert capsys.readouterr().out == "- one two\n  three four\n"


def test_tables_are_as_wide_as_a_long_line_of_a_log(capsys):
    assert console.console_for_output().width == 160
    console.print_table(["a", "b"], [["x" * 100, "y"]], "Title")
    assert lines(capsys.readouterr().out) == ["Title", "a b", "x" * 100 + " y"]


# export, push, demo, sources


def test_an_export_is_counted(monkeypatch, capsys, tmp_path):
    from assay.data import dataset, exports, rebuild

    done = []
    monkeypatch.setattr(dataset.Dataset, "open", lambda folder: f"data {folder}")
    monkeypatch.setattr(rebuild, "check_code", lambda data, files: done.append((data, files)))

    def write(data, form, output, splits):
        done.append((data, form, output, splits))
        return {"train": 1200, "test": 3}

    monkeypatch.setattr(exports, "export", write)
    export.export(Path("d"), "rsbench", tmp_path / "out", ["train"], ["mine.py"])
    said = capsys.readouterr()
    assert lines(said.out) == ["split examples", "train 1,200", "test 3"]
    assert said.err == f"{tmp_path / 'out'}  in the format 'rsbench'\n"
    assert done == [("data d", ["mine.py"]), ("data d", "rsbench", tmp_path / "out", ["train"])]
    export.export(Path("d"), "rsbench", tmp_path / "out", [], [], as_json=True)
    told = capsys.readouterr()
    assert json.loads(told.out) == {
        "folder": str(tmp_path / "out"), "form": "rsbench", "splits": {"train": 1200, "test": 3},
    }  # fmt: skip
    assert told.err == ""


def test_a_dataset_is_pushed(monkeypatch, capsys):
    from assay.data import dataset
    from assay.data import push as pushing

    monkeypatch.setattr(dataset.Dataset, "open", lambda folder: f"data {folder}")
    monkeypatch.setattr(pushing, "push", lambda data, where, private: f"{data} to {where} {private}")
    push.push(Path("d"), "hf://me/name", True)
    assert capsys.readouterr().err == "data d to hf://me/name True  next: assay show hf://me/name\n"


@needs_task("mnadd-evenodd", "mnlogic", "robots")
def test_the_demo_trains_three_models_on_three_tasks(tmp_path):
    study = demo.demo_study(tmp_path / "demo")
    assert study.output == tmp_path / "demo" and len(study.datasets) == 3
    pairs = [(run.task, run.label, run.seed) for run in study.runs]
    models, tasks = ["blackbox", "cbm", "dpl"], ["mnadd-evenodd", "mnlogic", "robots"]
    assert sorted(pairs) == sorted((task, model, 0) for task in tasks for model in models)
    epochs = {run.label: run.settings.values["epochs"] for run in study.runs}
    assert epochs == {"blackbox": 8, "cbm": 15, "dpl": 12}


def line(task, model, verdict, **more):
    numbers = {"label_f1": 0.987, "concept_f1": 0.5, "ood": math.nan}
    return VerdictLine(task, model, verdict, "bad", **{**numbers, **more}, why=f"{model} why", run=Path(f"r-{model}"))


def test_verdicts_are_printed_with_numbers_and_reasons(capsys):
    print_verdicts([line("t", "cbm", "sound"), line("t", "dpl", "shortcut", ood=0.25)])
    assert lines(capsys.readouterr().out) == [
        "task model verdict label F1 concept F1 ood F1 why",
        "t cbm sound 0.99 0.50 – cbm why",
        "t dpl shortcut 0.99 0.50 0.25 dpl why",
    ]


def test_declared_sources_become_flags(monkeypatch):
    monkeypatch.setattr(sources, "TASKS", SimpleNamespace(sources={"digits": "Pictures.", "coco": "Scenes."}))
    seen = []

    def verb(task: str, sources: dict, seed: int = 0) -> None:
        seen.append((task, sources, seed))

    flagged = sources.with_source_flags(verb)
    assert list(inspect.signature(flagged).parameters) == ["task", "digits", "coco", "seed"]
    assert inspect.signature(flagged).parameters["coco"].default is None
    assert list(flagged.__annotations__) == ["task", "digits", "coco", "seed"]
    option = inspect.signature(flagged).parameters["digits"].annotation.__metadata__[0]
    assert option.default == "--digits" and option.help == "Pictures."
    flagged(task="t", digits=Path("d"), coco=None, seed=3)
    assert seen == [("t", {"digits": Path("d"), "coco": None}, 3)]


def test_examples_of_a_command():
    assert examples_text(["a"]) == "Example:\n\n\x08\n  a"
    assert examples_text(["a", "b"]) == "Examples:\n\n\x08\n  a\n  b"


def test_errors_that_follow_an_interrupt_are_known():
    def raised(first):
        try:
            try:
                raise first
            except BaseException:
                raise RuntimeError("lock") from None
        except RuntimeError as error:
            return error

    assert main._followed_an_interrupt(raised(KeyboardInterrupt()))
    assert not main._followed_an_interrupt(raised(ValueError())) and not main._followed_an_interrupt(ValueError())
    assert main.INTERRUPTED == 130
