"""Every option of a command reaches what does the work, and what is printed is what came of it."""

import json
import math
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from rich.console import Console

from assay.config import Settings
from assay.data import Dataset
from assay.errors import ConfigError, DataError, RunFailed, UnknownName
from assay.runs import RunFolder
from tests.cli.test_edges import KNOWLEDGE, lines
from tests.listings import list_backwards
from tests.samples import needs_task

MODULES = (
    "assay.cli.audit",
    "assay.cli.check",
    "assay.cli.confound",
    "assay.cli.decode",
    "assay.cli.diagnose",
    "assay.cli.discover",
    "assay.cli.import_data",
    "assay.cli.intervene",
    "assay.cli.leakage",
    "assay.cli.list",
    "assay.cli.make",
    "assay.cli.make_settings",
    "assay.cli.mend",
    "assay.cli.pairs",
    "assay.cli.predict",
    "assay.cli.probe",
    "assay.cli.report",
    "assay.cli.run",
    "assay.cli.saliency",
    "assay.cli.score",
    "assay.cli.study",
    "assay.cli.train",
    "assay.cli.verdicts",
)
CLI = {name.rpartition(".")[2]: import_module(name) for name in MODULES}


@pytest.fixture
def opened(monkeypatch):
    """Open no dataset, but say which was asked for."""
    data = SimpleNamespace(knowledge=KNOWLEDGE, fingerprint="ff", sizes={})
    monkeypatch.setattr(Dataset, "open", lambda folder: SimpleNamespace(**vars(data), of=str(folder)))


@pytest.fixture
def asked():
    return []


def note(asked, result=None):
    """Return a function that notes what it is given."""

    def noted(*words, **named):
        asked.append((*words, *named.values()))
        return result(*words) if callable(result) else result

    return noted


# -- data --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("checks", [[], ["labels", "balance"]])
@pytest.mark.parametrize("failed", [True, False])
def test_an_audit_is_of_the_checks_that_are_asked_for(checks, failed, asked, opened, monkeypatch, tmp_path, capsys):
    from assay.auditing import audit as auditing
    from assay.auditing import audited, imported

    results = [
        SimpleNamespace(check="labels", status="fails", text="odd"),
        SimpleNamespace(check="x", status="holds", text=""),
    ]
    outcome = SimpleNamespace(failed=failed, results=results, text="1 of 2", to_dict=lambda: {"failed": failed})
    monkeypatch.setattr(auditing, "audit", note(asked, outcome))
    monkeypatch.setattr(auditing, "write_audit", note(asked))
    monkeypatch.setattr(audited, "audited_dataset", lambda data, settings: (data.of, dict(settings.values)))
    monkeypatch.setattr(imported, "is_imported", lambda folder: True)
    monkeypatch.setattr(imported, "open_imported", lambda folder: f"imported {folder}")
    for folder, files in (("ours", ["manifest.json"]), ("theirs", [])):
        (tmp_path / folder).mkdir()
        for file in files:
            (tmp_path / folder / file).touch()
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"

    def audit(*given, **named):
        asked.clear()
        with pytest.raises(typer.Exit) as caught:
            CLI["audit"].audit(*given, **named)
        assert caught.value.exit_code == (1 if failed else 0)
        return [words[:2] for words in asked]

    written = [] if checks else [(ours, outcome)]
    assert audit(ours, checks, ["digits=x"]) == [((str(ours), {"digits": "x"}), checks), *written]
    said = capsys.readouterr()
    assert lines(said.out) == ["check outcome", "labels fails odd", "x holds"] and said.err == f"{ours}: 1 of 2\n"
    assert audit(ours, checks, keep=False, as_json=True) == [((str(ours), {}), checks)]
    assert json.loads(capsys.readouterr().out) == {"failed": failed}
    assert audit(theirs, checks) == [(f"imported {theirs}", checks)]
    monkeypatch.setattr(imported, "is_imported", lambda folder: False)
    assert audit(theirs, checks, keep=False) == [((str(theirs), {}), checks)]


def test_marks_are_planted_as_asked(asked, monkeypatch, capsys):
    from assay.data.confounding import stored

    data = SimpleNamespace(knowledge=SimpleNamespace(label_names=("y", "z")))
    monkeypatch.setattr(Dataset, "open", lambda folder: data)
    monkeypatch.setattr(stored, "confound_dataset", note(asked, {"fingerprint": "gg"}))
    CLI["confound"].confound(Path("d"), Path("out"))
    CLI["confound"].confound(Path("d"), Path("out"), "frame", "z", 0.25, ["train", "valid"], True)
    (first, (usual,), out), (_, (other,), _) = asked
    assert first is data and out == Path("out")
    assert (usual.what, usual.goes_with, usual.strength, usual.where) == ("watermark", "y", 0.95, None)
    assert (other.what, other.goes_with, other.strength, other.where) == ("frame", "z", 0.25, ["train", "valid"])
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        "watermark goes with y in 95 % of the examples; new splits: unconfounded, reversed", "out  fingerprint gg",
    ]  # fmt: skip
    assert json.loads(said.out) == {"folder": "out", "fingerprint": "gg", "confound": other.to_dict()}


def test_an_import_takes_options_before_settings(asked, monkeypatch, capsys, tmp_path):
    from assay.data.imports import importing, words

    ruled = SimpleNamespace(manifest={"task": {"imported": "there"}}, knowledge=SimpleNamespace(has_rule=True))
    monkeypatch.setattr(importing, "import_folder", note(asked, lambda *given: ruled))
    monkeypatch.setattr(words, "describe_import", lambda about: f"imported from {about}")
    (tmp_path / "s.yaml").write_text("size: 9\nseed: 2\nlayout: cub\n")
    verb = CLI["import_data"].import_data
    verb(
        Path("in"), Path("out"), "coco", ["l"], ["c", "d"], Path("r.yaml"), 5, ["size=8", "seed=3"], tmp_path / "s.yaml"
    )
    source, output, rule, settings = asked[0]
    assert (source, output, rule) == (Path("in"), Path("out"), Path("r.yaml"))
    assert dict(settings.values) == {"size": 8, "seed": 5, "layout": "coco", "labels": ["l"], "concepts": ["c", "d"]}
    assert capsys.readouterr().err.splitlines() == ["imported from there", "out  next: assay audit out"]
    ruled.knowledge.has_rule = False
    verb(Path("in"), Path("out"))
    assert asked[1][2] is None and dict(asked[1][3].values) == {}
    assert "no rule is known: have rules proposed by 'assay train rules out -o RUN'" in capsys.readouterr().err
    verb(Path("in"), Path("out"), as_json=True)
    assert json.loads(capsys.readouterr().out) == ruled.manifest


@pytest.fixture
def making(monkeypatch, asked):
    """Make nothing, but report ten rows that were there and then the rest."""
    from assay.data import archive, cluster, make, recipe

    done = [10, 4, 2]
    manifest = {"fingerprint": "ff", "splits": [{"name": "train", "size": 12}], "pairs": {"size": 4}}

    def write(wanted, folder, workers, count, pool):
        for rows in done:
            count(rows)
        asked.append((wanted.name, folder, workers, pool))
        return manifest

    def recipe_from(task, settings):
        asked.append((task, dict(settings.values)))
        splits = [SimpleNamespace(size=7), SimpleNamespace(size=5)]
        return SimpleNamespace(name=task, splits=splits, pairs=5, task=SimpleNamespace(sources=lambda: None))

    monkeypatch.setattr(recipe, "recipe_from", recipe_from)
    monkeypatch.setattr(make, "make", write)
    monkeypatch.setattr(make, "default_workers", lambda wanted: 3)
    monkeypatch.setattr(archive, "archive", lambda folder, form: f"{folder}.{form}")
    monkeypatch.setattr(cluster, "Cluster", lambda address: SimpleNamespace(address=address, processors=64))
    monkeypatch.setattr(CLI["make"], "_say_long", lambda *given: asked.append(given[1:]))
    seconds = iter([1.0, 3.0] * 9)
    monkeypatch.setattr(CLI["make"], "_cpu_seconds", lambda: next(seconds))
    return CLI["make"].make.__wrapped__, done


def test_a_dataset_is_made_as_asked_and_counted(making, asked, capsys, tmp_path):
    make, done = making
    (tmp_path / "s.yaml").write_text("n_samples: 5\nseed: 3\nsplits: {test: 1, valid: 2}\nworkers: 8\n")
    make(
        task="t",
        output=tmp_path / "out",
        train=9,
        split=["test=4"],
        settings=["k=2"],
        config=tmp_path / "s.yaml",
        sources={"digits": Path("d")},
    )
    assert asked == [
        ("t", {"n": 9, "seed": 3, "splits": {"test": 4, "valid": 2}, "k": 2, "digits": "d"}), (17, 8),
        ("t", tmp_path / "out", 8, None),
    ]  # fmt: skip
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("made 6 examples in ") and told[0].endswith(" s (3 per CPU second); 10 were there")
    assert told[1] == f"{tmp_path / 'out'}  fingerprint ff"
    asked.clear()
    done[:] = [0, 12, 4]
    make(task="t", output=tmp_path / "out", seed=0, workers=2, archive="tgz", as_json=True)
    assert asked[0] == ("t", {"seed": 0}) and asked[-1] == ("t", tmp_path / "out", 2, None)
    facts = json.loads(capsys.readouterr().out)
    assert (facts["examples"], facts["made"], facts["splits"]) == (17, 16, {"train": 12, "pairs": 4})
    assert facts["archive"] == f"{tmp_path / 'out'}.tgz" and facts["cpu_seconds"] == 2.0
    make(task="t", output=tmp_path / "out")
    assert asked[-1][2] == 3 and capsys.readouterr().err.splitlines()[0].endswith(" s (8 per CPU second)")


def test_a_cluster_makes_a_dataset_without_an_estimate(making, asked, capsys, tmp_path):
    make, _ = making
    make(task="t", output=tmp_path / "out", cluster="auto")
    assert [words for words in asked if words == (17, 3)] == [] and asked[-1][3].address == "auto"
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "a cluster of 64 processors" and "CPU second" not in told[1]
    for given, why in (
        ({"cluster": "auto", "workers": 2}, "give --workers or --cluster, not both"),
        ({"output": None}, "no output folder; give -o DIR"),
        ({"output": Path("s3://b/x"), "archive": "zip"}, "--archive packs folders of this machine, not 's3://b/x'"),
    ):
        with pytest.raises(ConfigError, match=why):
            make(task="t", **{"output": tmp_path / "out", **given})


def test_options_of_make_are_settings_with_their_flags():
    settings = CLI["make_settings"]
    given = settings.given_options({"n": 0, "seed": None, "output_dir": Path("x"), "workers": 2})
    assert dict(given.values) == {"n": 0, "output_dir": "x", "workers": 2}
    assert dict(given.places) == {"n": "-n", "output_dir": "-o", "workers": "--workers"}
    base = Settings({"splits": {"test": 1, "valid": 2}})
    assert settings.given_sizes([], base).values == {}
    assert settings.given_sizes(["test=9", "ood=0"], base).values == {"splits": {"test": 9, "valid": 2, "ood": 0}}
    assert settings.given_sizes(["test=9"], Settings({"splits": 3})).values == {"splits": {"test": 9}}


def test_time_of_workers_counts(monkeypatch):
    monkeypatch.setattr(CLI["make"].os, "times", lambda: (1.0, 2.0, 4.0, 8.0, 100.0))
    assert CLI["make"]._cpu_seconds() == 15.0


def test_pairs_go_to_a_file_or_into_the_dataset(asked, opened, monkeypatch, tmp_path, capsys):
    from assay.data import pairs as pairing
    from assay.data import rebuild

    verb = CLI["pairs"]
    found = type("Pairs", (), {"data": SimpleNamespace(name="ood-pairs"), "__len__": lambda self: 7})()
    monkeypatch.setattr(rebuild, "task_of", lambda data, settings: (data.of, dict(settings.values)))
    monkeypatch.setattr(pairing, "pairs_of", note(asked, lambda *given: found))
    monkeypatch.setattr(pairing, "intervened", note(asked, lambda *given: found))
    monkeypatch.setattr(verb, "_write", note(asked))
    monkeypatch.setattr(verb, "_refresh", note(asked))
    task = ("d", {"digits": "x"})
    verb.pairs(Path("d"), tmp_path / "f", 9, "ood", settings=["digits=x"])
    assert asked[0][1:] == ("ood", task, 9) and asked[1] == (found, tmp_path / "f")
    assert capsys.readouterr().err.splitlines() == [
        "7 pairs; rows 7 and up are the changed worlds", f"{tmp_path / 'f'}  split ood-pairs  fingerprint ff",
    ]  # fmt: skip
    verb.pairs(Path("d"), tmp_path / "f", split="ood", do=["a=1", "b=0"], settings=["digits=x"], as_json=True)
    assert asked[2][1:] == ("ood", task, ["a=1", "b=0"])
    assert json.loads(capsys.readouterr().out) == {
        "file": str(tmp_path / "f"), "split": "ood-pairs", "fingerprint": "ff", "pairs": 7,
    }  # fmt: skip
    verb.pairs(Path("d"), tmp_path / "f")
    assert asked[4][1:] == ("test", ("d", {}), 400)
    asked.clear()
    for named, file_asked in (({}, False), ({"split": "ood"}, True), ({"do": ["a=1"]}, True)):
        verb.pairs(Path("d"), None, 3, as_json=True, **named)
        assert asked[-1][1:] == (("d", {}), 3, file_asked, True)


# -- models ------------------------------------------------------------------------------------------------------------


def epoch(score, phase="labels"):
    return SimpleNamespace(score=score, phase=phase, number=1, loss=0.5)


@pytest.fixture
def training(monkeypatch, asked, opened):
    from assay.models.core import runs

    history = [epoch(0.9, "concepts"), epoch(0.25), epoch(0.75), epoch(0.5)]
    trained = SimpleNamespace(
        history=history, in_words=lambda: ["y = a"], coverage=lambda: ["covers 3"], about=lambda: {"model": "cbm"},
        history_as_dicts=lambda: [{"score": one.score} for one in history],
    )  # fmt: skip

    def train_run(order, data, output, watch):
        watch(epoch(0.5), 3)
        asked.append((order.model, dict(order.settings.values), order.seed, order.log, data.of, output))
        return trained

    def train_together(order, seeds, data, output, watch):
        watch(epoch(0.5), 3)
        asked.append((order.model, order.seed, order.log, seeds, data.of, output))
        return [output / f"seed{seed}" for seed in seeds]

    monkeypatch.setattr(runs, "train_run", train_run)
    monkeypatch.setattr(runs, "train_together", train_together)
    monkeypatch.setattr(RunFolder, "about", lambda self: {"model": "cbm", "training": {"not_captured": "odd"}})
    return history


def test_a_model_is_trained_as_asked(training, asked, capsys, tmp_path):
    (tmp_path / "s.yaml").write_text("epochs: 9\nwidth: 4\n")
    train = CLI["train"].train
    train("cbm", Path("d"), Path("run"), 5, None, 7, ["epochs=8"], tmp_path / "s.yaml", "wandb")
    assert asked == [("cbm", {"epochs": 7, "width": 4}, 5, "wandb", "d", Path("run"))]
    assert capsys.readouterr().err.splitlines() == [
        "y = a", "covers 3", "note: the steps of cbm ran one kernel after the other: odd",
        "trained cbm for 4 epochs; best F1 on validation 0.750", "run  next: assay diagnose run d",
    ]  # fmt: skip
    training[:] = [epoch(math.nan)]
    train("cbm", Path("d"), Path("run"))
    assert "best F1 on validation not computed" in capsys.readouterr().err and asked[1][1:4] == ({}, 0, None)
    train("cbm", Path("d"), Path("run"), as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["run"], told["learned"], told["coverage"], len(told["history"])) == ("run", ["y = a"], ["covers 3"], 1)
    train("cbm", Path("d"), Path("run"), 3, "1,4", log="wandb")
    assert asked[-1] == ("cbm", 3, "wandb", [1, 4], "d", Path("run"))
    assert capsys.readouterr().err == "trained cbm: run/seed1, run/seed4\n"
    train("cbm", Path("d"), Path("run"), seeds="2", as_json=True)
    assert json.loads(capsys.readouterr().out) == ["run/seed2"]


def test_predictions_are_of_the_split_or_of_all_of_other_data(asked, monkeypatch, capsys):
    from assay.models.core import runs

    verb, data = CLI["predict"], SimpleNamespace(fingerprint="ff")
    monkeypatch.setattr(verb, "dataset_for", lambda run, folder: data)
    monkeypatch.setattr(RunFolder, "about", lambda self: {})
    monkeypatch.setattr(runs, "predict_run", note(asked, lambda *given: Path("p") / given[2]))
    monkeypatch.setattr(runs, "transfer_run", note(asked, [Path("a"), Path("b")]))
    verb.predict(Path("run"), split="ood")
    assert asked == [(Path("run"), data, "ood")] and capsys.readouterr().err == "p/ood\n"
    verb.predict(Path("run"), as_json=True)
    assert json.loads(capsys.readouterr().out) == {"predictions": "p/test", "split": "test", "fingerprint": "ff"}
    verb.predict(Path("run"), output=Path("o"))
    assert asked[-1] == (Path("run"), data, Path("o")) and capsys.readouterr().err == "o  next: assay diagnose o\n"
    verb.predict(Path("run"), output=Path("o"), as_json=True)
    assert json.loads(capsys.readouterr().out) == {"predictions": ["a", "b"], "fingerprint": "ff"} and len(asked) == 4


def test_layers_are_probed_as_asked(asked, opened, monkeypatch, capsys):
    from assay.models.probes import probing, runs

    verb = CLI["probe"]
    results = [
        SimpleNamespace(layer=SimpleNamespace(name=name), effects=effects, predictions={"test": 1})
        for name, effects in (("c1", [1]), ("c2", []))
    ]
    probed = SimpleNamespace(results=results, best=results[1])
    monkeypatch.setattr(RunFolder, "about", lambda self: {})
    monkeypatch.setattr(runs, "probe_run", note(asked, probed))
    monkeypatch.setattr(runs, "effect_rows", lambda result, knowledge: [f"effects of {result.layer.name}"])
    monkeypatch.setattr(probing, "table", lambda found, splits: [splits])
    verb.probe(Path("run"), Path("d"), Path("o"), ["c1"], True, "tcav", 4, as_json=True)
    run, data, out, ask, _ = asked[0]
    assert (run, data.of, out) == (Path("run"), "d", Path("o"))
    assert (ask.method, ask.layers, ask.every, ask.seed) == ("tcav", ("c1",), True, 4)
    assert json.loads(capsys.readouterr().out) == {
        "probes": "o", "best": "c2", "layers": [["test"]], "effects": {"c1": ["effects of c1"]},
    }  # fmt: skip
    monkeypatch.setattr(verb, "_print_layers", note(asked))
    monkeypatch.setattr(verb, "_print_effects", note(asked))
    verb.probe(Path("run"), Path("d"), Path("o"))
    assert (asked[1][3].method, asked[1][3].layers, asked[1][3].every, asked[1][3].seed) == ("linear", (), False, 0)
    assert asked[2:] == [(probed,), (["effects of c2"], "c2")]
    assert capsys.readouterr().err == "best on validation: c2\no  next: assay diagnose o d\n"
    with pytest.raises(UnknownName, match="no method named 'tcaw'; did you mean 'tcav'"):
        verb.probe(Path("run"), Path("d"), Path("o"), method="tcaw")


def test_concepts_are_discovered_as_asked(asked, opened, monkeypatch, capsys):
    from assay.models.discovery import discovering, runs

    verb = CLI["discover"]
    monkeypatch.setattr(discovering.DiscoveryPlan, "of", note(asked, "plan"))
    monkeypatch.setattr(runs, "discover_run", note(asked, SimpleNamespace(to_dict=lambda: {"scores": 1})))
    monkeypatch.setattr(verb, "_print_scores", note(asked))
    verb.discover("pca", "run", Path("d"), Path("o"), "fc", "3,5", ["units=4"])
    method, source, settings, seeds, layer = asked[0]
    assert (method, source, dict(settings.values), seeds, layer) == ("pca", "run", {"units": 4}, [3, 5], "fc")
    assert asked[1][0] == "plan" and asked[1][1].of == "d" and asked[1][2] == Path("o") and len(asked) == 3
    assert (
        capsys.readouterr().err == f"o  next: assay diagnose o d; top pictures of each unit: {Path('o') / runs.PAGE}\n"
    )
    verb.discover("pca", "run", Path("d"), Path("o"), as_json=True)
    assert asked[3][3:] == ([0, 1, 2], None) and json.loads(capsys.readouterr().out) == {"run": "o", "scores": 1}
    with pytest.raises(UnknownName):
        verb.discover("pcaa", "run", Path("d"), Path("o"))


def test_options_of_mending_go_before_settings(asked, monkeypatch, capsys):
    from assay.mending import loop

    verb, curve = CLI["mend"], SimpleNamespace(to_dict=lambda: {"rounds": []})
    monkeypatch.setattr(verb, "dataset_for", lambda run, data: (run, data))
    monkeypatch.setattr(loop, "mend_run", note(asked, curve))
    monkeypatch.setattr(verb, "_print", note(asked))
    verb.mend(
        Path("run"),
        Path("d"),
        output=Path("o"),
        strategy="random",
        budget=7,
        seed=3,
        settings=["first=5", "budget=9", "seed=8"],
    )
    run, data, settings, output, _ = asked[0]
    assert (run, data, output) == (Path("run"), (Path("run"), Path("d")), Path("o"))
    assert (settings.strategy, settings.budget, settings.seed, settings.first) == ("random", 7, 3, 5)
    assert asked[1] == (curve, Path("run"), Path("o"))
    verb.mend(Path("run"), output=Path("o"), as_json=True)
    assert (asked[2][2].strategy, asked[2][2].budget, asked[2][2].seed) == ("plan", 200, 0)
    assert json.loads(capsys.readouterr().out) == {"folder": "o", "rounds": []}


# -- judging -----------------------------------------------------------------------------------------------------------


def test_leakage_is_measured_as_asked(asked, opened, monkeypatch, capsys):
    from assay.diagnosis import leakage as measuring
    from assay.metrics import evidence

    verb = CLI["leakage"]
    found = {
        "soft": dict.fromkeys(("ctl", "icl", "probe"), 0.5),
        "hard": dict.fromkeys(("ctl", "icl", "probe"), 0.25),
        "rows": 3,
        "beyond_value": {},
    }
    monkeypatch.setattr(RunFolder, "all_predictions", lambda self, knowledge, *sizes: {"test": "t", "ood": "o"})
    monkeypatch.setattr(evidence, "gather_from", lambda data, said: f"rows of {said}")
    monkeypatch.setattr(measuring, "leakage", note(asked, SimpleNamespace(to_dict=lambda: found)))
    monkeypatch.setattr(verb, "_bypass", note(asked, (None, "no model")))
    verb.leakage(Path("run"), Path("d"), "ood", 4, 0.5)
    assert asked[0] == ("rows of o", 4, 0.5) and (asked[1][0], *asked[1][2:]) == (Path("run"), "ood", 4)
    told = lines(capsys.readouterr().out)
    assert (
        told[0] == "ood (3) soft hard" and told[1].startswith("CTL 0.5000 0.2500 concept to label") and len(told) == 4
    )
    verb.leakage(Path("run"), Path("d"), as_json=True)
    assert asked[2] == ("rows of t", 0, 0.01)
    assert json.loads(capsys.readouterr().out) == {
        "fingerprint": "ff",
        "seed": 0,
        "precision": 0.01,
        **found,
        "bypass": None,
    }


def test_scores_are_of_the_metrics_and_the_rule_asked_for(asked, monkeypatch, capsys):
    from assay.diagnosis import runs
    from assay.metrics import Score
    from assay.metrics import score as scoring
    from assay.runs import evidence, other_rule

    verb, data = CLI["score"], SimpleNamespace(knowledge="rule")
    rows = {"test": [1] * 1200, "ood": [1] * 3}
    monkeypatch.setattr(verb, "dataset_for", lambda run, folder: data)
    monkeypatch.setattr(evidence, "evidence_of", lambda run, dataset: rows)
    monkeypatch.setattr(other_rule, "read_other_rule", lambda path, knowledge: f"{path} for {knowledge}")
    monkeypatch.setattr(other_rule, "under_rule", lambda given, other: asked.append((len(given), other)) or given)
    monkeypatch.setattr(
        scoring,
        "score",
        lambda given, names: (
            asked.append(names) or {name: Score(name, len(given) / 1200, 0.0, 1.0, 9) for name in names}
        ),
    )
    monkeypatch.setattr(runs, "provenance", lambda dataset: {"data": "d"})
    verb.score(Path("run"), metric=["label_f1", "collapse"])
    assert asked == [["label_f1", "collapse"]] * 2
    told = lines(capsys.readouterr().out)
    assert told[0] == "metric test (1,200) ood (3)" and [line.split()[0] for line in told[1:]] == [
        "label_f1",
        "collapse",
    ]
    assert told[1].startswith("label_f1 1.00 (0.00–1.00) 0.00 (0.00–1.00) ")
    asked.clear()
    verb.score(Path("run"), metric=["collapse"], rule=Path("r.yaml"), as_json=True)
    assert asked[:2] == [(1200, "r.yaml for rule"), (3, "r.yaml for rule")]
    told = json.loads(capsys.readouterr().out)
    assert (told["data"], told["rule"], list(told["scores"])) == ("d", "r.yaml", ["test", "ood"]) and "code" not in told
    assert told["scores"]["ood"]["collapse"]["value"] == pytest.approx(1 / 400)
    verb.score(Path("run"), as_json=True)
    assert len(json.loads(capsys.readouterr().out)["scores"]["test"]) > 5


def test_a_decoding_says_what_it_changed(asked, monkeypatch, capsys):
    from assay import predictions

    verb = CLI["decode"]
    counts = {"changed": 2, "not_proven": 0, "not_found": 0}
    own = SimpleNamespace(fingerprint="ff")
    decoded = SimpleNamespace(about={"decoded": counts}, index=[1, 2, 3], write=note(asked))
    monkeypatch.setattr(Dataset, "open", lambda folder: SimpleNamespace(fingerprint="ff", knowledge="rule", sizes={}))
    monkeypatch.setattr(predictions, "read_predictions", lambda path, knowledge, sizes: own)
    monkeypatch.setattr(predictions, "apply_constraints", note(asked, decoded))
    verb.decode(Path("p"), Path("d"), Path("o"), True)
    assert asked == [(own, "rule", True), (Path("o"), "rule")]
    assert capsys.readouterr().err == "2 of 3 examples changed\no\n"
    counts["not_proven"] = 2
    verb.decode(Path("p"), Path("d"), Path("o"))
    assert asked[2] == (own, "rule", False)
    assert "2 not proven to be the most probable, 0 of them not found at all" in capsys.readouterr().err
    verb.decode(Path("p"), Path("d"), Path("o"), as_json=True)
    assert json.loads(capsys.readouterr().out) == {"file": "o", "examples": 3, **counts}
    for other in ("aa", "zz"):
        own.fingerprint = other
        with pytest.raises(
            DataError, match=f"the predictions are for a dataset with fingerprint {other}, not this one"
        ):
            verb.decode(Path("p"), Path("d"), Path("o"))


# -- reports, studies, files -------------------------------------------------------------------------------------------


def test_a_study_is_run_as_asked(asked, monkeypatch, capsys):
    from assay import code_files
    from assay.models.core import logs
    from assay.studies import local_workers, plan, ray_workers, ready, run, verdicts

    verb = CLI["run"]

    class Study(SimpleNamespace):
        def only(self, models, seeds):
            asked.append((models, seeds))
            return self

        def with_log(self, log):
            asked.append(log)
            return self

    study = Study(
        name="mine", runs=[SimpleNamespace(name="r1"), SimpleNamespace(name="r2")], output="out", absent=["x", "y"]
    )

    def pool(kind):
        return lambda given: SimpleNamespace(kind=kind, given=given, count=3, check=note(asked))

    monkeypatch.setattr(
        code_files, "loaded_files", lambda: [SimpleNamespace(file=SimpleNamespace(path="f.py", sha256="aa"))]
    )
    monkeypatch.setattr(logs, "check_log", note(asked))
    monkeypatch.setattr(ready, "find_study", note(asked, study))
    monkeypatch.setattr(local_workers, "LocalWorkers", pool("local"))
    monkeypatch.setattr(ray_workers, "RayWorkers", pool("ray"))
    monkeypatch.setattr(
        plan, "plan_of", lambda given, bar, trial: SimpleNamespace(text=lambda count: f"trial {trial}, {count} at once")
    )
    monkeypatch.setattr(
        run, "run_study", lambda given, say, bar, workers: asked.append((workers.kind, workers.given)) or "page"
    )
    monkeypatch.setattr(verdicts, "verdict_lines", note(asked, "lines"))
    monkeypatch.setattr(verb, "print_verdicts", note(asked))
    verb.run(
        "s.yaml",
        output=Path("o"),
        size="paper",
        model=["m"],
        seeds=2,
        trial=False,
        workers=5,
        log="wandb",
        allow_code=[Path("f.py")],
    )
    assert asked == [
        ("wandb",), ("s.yaml", "paper", Path("o"), [Path("f.py")]), (["m"], 2), "wandb", (study.runs, "out"), ("local", 5),
        (study.runs, "out"), ("lines",),
    ]  # fmt: skip
    assert capsys.readouterr().err.splitlines() == [
        "runs code  f.py  sha256 aa", "left out: x", "left out: y", "mine: trial False, 3 at once", "report  page",
    ]  # fmt: skip
    asked.clear()
    verb.run("s", plan=True, cluster="auto")
    said = capsys.readouterr()
    assert (
        said.out == "r1\nr2\n" and "trial True" in said.err and asked[1] == ("s", "small", None, []) and len(asked) == 5
    )
    verb.run("s", cluster="auto")
    assert ("ray", "auto") in asked
    for plan_only in (True, False):
        with pytest.raises(ConfigError, match="give --workers or --cluster, not both"):
            verb.run("s", plan=plan_only, cluster="auto", workers=1)


def test_lists_are_of_the_kind_asked_for(monkeypatch, capsys):
    verb = CLI["list"]

    class Kind(dict):
        broken = {"pack": "no torch", "other": "too old"}

        def entry(self, name):
            return SimpleNamespace(summary=self[name])

    monkeypatch.setattr(verb, "registries", lambda: {"tasks": Kind(a="A."), "models": Kind(b="B.", c="C.")})
    verb.list_things("models")
    said = capsys.readouterr()
    assert lines(said.out) == ["models", "b B.", "c C."]
    assert said.err == "left out: pack: no torch\nleft out: other: too old\n"
    verb.list_things()
    assert lines(capsys.readouterr().out) == ["tasks", "a A.", "models", "b B.", "c C."]
    verb.list_things("tasks", as_json=True)
    assert json.loads(capsys.readouterr().out) == [{"name": "a", "summary": "A."}]
    verb.list_things(as_json=True)
    assert list(json.loads(capsys.readouterr().out)) == ["tasks", "models"]
    with pytest.raises(UnknownName, match="nothing to list under 'model'; did you mean 'models'"):
        verb.list_things("model")


def test_departures_and_sizes_of_a_study(monkeypatch, capsys):
    from dataclasses import make_dataclass

    from assay.studies import fidelity, ready

    departure = make_dataclass("Departure", ["model", "setting", "published", "ours", "why"])(
        "cbm", "epochs", 30, 15, "time"
    )
    monkeypatch.setattr(fidelity, "departures", lambda name: [departure])
    CLI["study"].show_fidelity("s")
    assert lines(capsys.readouterr().out) == ["model setting published ours why", "cbm epochs 30 15 time"]
    sized = SimpleNamespace(about="A.", at_size=lambda size: Settings({"size": size, "names": ["ä"]}))
    monkeypatch.setattr(ready, "ready_studies", lambda: {"s": sized})
    for size in ("small", "paper"):
        CLI["study"].show_study("s", size)
        assert capsys.readouterr().out == f"size: {size}\nnames:\n- ä\n\n"
    CLI["study"].list_studies()
    assert lines(capsys.readouterr().out) == ["study what it repeats", "s A."]
    with pytest.raises(UnknownName, match="no ready study named 'x'"):
        CLI["study"].show_study("x")


FILE = """\
from assay.metrics import METRICS
from assay.tasks import TASKS


class First(TASKS["mnlogic"]):
    name = "first-of-two"


class Second(TASKS["mnlogic"]):
    name = "second-of-two"


METRICS.add("own_metric", "Mine.", METRICS["label_f1"])
"""


@needs_task("mnlogic")
def test_a_check_is_of_all_in_a_file_or_of_one(asked, monkeypatch, tmp_path, capsys, no_files):
    from assay import testing

    verb = CLI["check"]
    (tmp_path / "mine.py").write_text(FILE)
    fine, broken = (SimpleNamespace(law="is lawful", passed=passed, fault="odd") for passed in (True, False))
    monkeypatch.setattr(
        testing, "check_task", lambda task: [fine, broken] if task.name.startswith("second") else [fine]
    )
    monkeypatch.setattr(testing, "check_metric", lambda metric: [fine])
    monkeypatch.setattr(verb, "_model_checks", lambda names, data, task: asked.append((names, data, task)) or {})

    def check(reference, **more):
        with pytest.raises(typer.Exit) as caught:
            verb.check(str(tmp_path / reference), **more)
        return caught.value.exit_code, capsys.readouterr().out

    status, out = check("mine.py", as_json=True)
    told = json.loads(out)
    assert status == 1 and {"first-of-two", "second-of-two"} <= set(told)
    assert told["second-of-two"] == [
        {"law": "is lawful", "passed": True, "fault": "odd"}, {"law": "is lawful", "passed": False, "fault": "odd"},
    ]  # fmt: skip
    assert asked[0] == ([], None, "first-of-two")
    status, out = check("mine.py:First", data=Path("d"))
    assert (
        status == 0
        and lines(out) == ["first-of-two", "is lawful holds"]
        and asked[1] == ([], Path("d"), "first-of-two")
    )
    status, out = check("mine.py:second-of-two")
    assert status == 1 and lines(out) == ["second-of-two", "is lawful holds", "is lawful BROKEN: odd"]
    with pytest.raises(ConfigError, match="mine.py defines no task, model, metric or finding named 'Third'"):
        verb.check(str(tmp_path / "mine.py:Third"))


def test_models_are_checked_on_the_data_named_or_of_the_files_task(asked, opened, monkeypatch):
    from assay import tasks, testing
    from assay.testing import sample_task

    verb = CLI["check"]
    monkeypatch.setattr(testing, "check_model", lambda name, data: (name, data if isinstance(data, str) else data.of))
    monkeypatch.setattr(sample_task, "small_dataset", lambda task, folder: f"small {task}")
    monkeypatch.setattr(sample_task, "TwoSquares", lambda: "squares")
    monkeypatch.setattr(tasks, "TASKS", {"mine": lambda: "my task"})
    assert verb._model_checks([], None, "mine") == {}
    assert verb._model_checks(["a", "b"], None, "mine") == {"a": ("a", "small my task"), "b": ("b", "small my task")}
    assert verb._model_checks(["a"], None, None) == {"a": ("a", "small squares")}
    assert verb._model_checks(["a"], Path("d"), "mine") == {"a": ("a", "d")}


def test_verdicts_on_a_terminal_name_each_task_once(monkeypatch, capsys):
    from assay.studies import VerdictLine

    def line(task, model):
        return VerdictLine(task, model, "sound", "good", 0.9, 0.5, 0.25, f"{model} why", Path("r"))

    verb, width = CLI["verdicts"], [120]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(verb, "console_for_output", lambda: Console(width=width[0], force_terminal=False))
    verb.print_verdicts([line("t", "a"), line("t", "b"), line("u", "a"), line("u", "b"), line("t", "c")])
    assert lines(capsys.readouterr().out) == [
        "task model verdict label F1 concept F1 ood F1 why", "t a sound 0.90 0.50 0.25 a why", "b sound 0.90 0.50 0.25 b why",
        "u a sound 0.90 0.50 0.25 a why", "b sound 0.90 0.50 0.25 b why", "t c sound 0.90 0.50 0.25 c why",
    ]  # fmt: skip
    width[0] = 119
    verb.print_verdicts([line("t", "a")])
    told = lines(capsys.readouterr().out)
    assert told[0].endswith("ood F1") and told[-1] == "a on t: a why"


# -- the entry point ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (RunFailed("it\n broke "), RunFailed.exit_code, "error: it broke\n"), (ConfigError("bad"), 2, "error: bad\n"),
        (ModuleNotFoundError("no", name="torch"), None, "error: this needs torch"), (OSError(28, "full", "file"), 2, "error: cannot use file: full\n"),
        (OSError("odd"), 2, "error: cannot use the output: odd\n"), (KeyboardInterrupt(), 130, "error: interrupted; what is finished is kept"),
        (typer.BadParameter("no such."), 2, "error: Invalid value: no such; see 'assay --help'\n"),
    ],
)  # fmt: skip
def test_errors_are_one_line_with_their_status(error, status, told, monkeypatch, capsys):
    main = import_module("assay.cli.commands")

    def app(*given, **named):
        raise error

    monkeypatch.setattr(main, "app", app)
    closed = []
    monkeypatch.setattr(main, "_close_output", lambda: closed.append(True))
    with pytest.raises(SystemExit) as caught:
        main.main()
    said = capsys.readouterr()
    assert said.err.startswith(told) and said.err.count("\n") == 1 and said.out == ""
    assert caught.value.code == (main.MissingExtra.exit_code if status is None else status)
    assert RunFailed.exit_code != ConfigError.exit_code
    assert closed == [True] * (type(error) is OSError)  # what is printed goes nowhere


def test_errors_of_ours_have_a_traceback(monkeypatch):
    main = import_module("assay.cli.commands")
    for error in (ValueError("odd"), ModuleNotFoundError("no", name="no_such_module_of_ours")):

        def app(*given, error=error, **named):
            raise error

        monkeypatch.setattr(main, "app", app)
        with pytest.raises(type(error)):
            main.main()


def test_without_words_there_is_help(monkeypatch):
    main, seen = import_module("assay.cli.commands"), []
    monkeypatch.setattr(main, "app", lambda words, **named: seen.append(words) or 3)
    for words, expected in ((["assay"], ["--help"]), (["assay", "list", "x"], ["list", "x"])):
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as caught:
            main.main()
        assert seen[-1] == expected and caught.value.code == 3


# -- what is there -----------------------------------------------------------------------------------------------------


def test_parts_are_installed_where_all_of_their_modules_are(monkeypatch):
    doctor = import_module("assay.cli.doctor")
    there = {"one", "two", "four"}
    monkeypatch.setattr(
        doctor, "EXTRAS", {"one": "train", "three": "view", "two": "train", "four": "view", "five": "hub"}
    )
    monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: name if name in there else None)
    monkeypatch.setattr(doctor, "_distributions", lambda: {"one": ["dist-one", "other"], "four": ["gone"]})

    def version(name):
        if name == "gone":
            raise doctor.importlib.metadata.PackageNotFoundError(name)
        return f"1.0 of {name}"

    monkeypatch.setattr(doctor.importlib.metadata, "version", version)
    found = {name: (part["installed"], part["packages"]) for name, part in doctor.extras().items()}
    assert found == {
        "train": (True, "one 1.0 of dist-one, two 1.0 of two"), "view": (False, "three –, four (version unknown)"),
        "hub": (False, "five –"),
    }  # fmt: skip
    assert doctor.gpu() == "no PyTorch"


def test_commands_that_are_in_no_group_stand_last(monkeypatch):
    groups = import_module("assay.cli.groups")
    monkeypatch.setattr(groups, "GROUPS", {"First": ("b", "gone"), "Second": ("a",), "Third": ("gone",)})
    commands = {name: SimpleNamespace(get_short_help_str=lambda limit, name=name: f"{name} {limit}") for name in "abcd"}
    written = []

    class Formatter:
        def section(self, title):
            written.append(title)
            return nullcontext()

        def write_dl(self, rows):
            written.append(rows)

    group = SimpleNamespace(list_commands=lambda ctx: list("abcd"), get_command=lambda ctx, name: commands.get(name))
    groups.CommandGroups.format_commands(group, None, Formatter())
    assert written == ["First", [("b", "b 76")], "Second", [("a", "a 76")], "Other", [("c", "c 76"), ("d", "d 76")]]


def test_the_version_is_printed_and_no_more(assay):
    main = import_module("assay.cli.commands")
    told = assay("--version")
    assert (told.status, told.out, told.err) == (0, f"{main.VERSION}\n", "")


def test_output_that_cannot_be_written_is_thrown_away(monkeypatch):
    main, done = import_module("assay.cli.commands"), []
    monkeypatch.setattr(main.os, "open", lambda path, mode: done.append((path, mode)) or 77)
    monkeypatch.setattr(main.os, "dup2", lambda *given: done.append(given))
    main._close_output()
    assert done == [(main.os.devnull, main.os.O_WRONLY), (77, 1)]


class Stop(Exception):
    """Ends a command when its settings are read."""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("align", {"run": Path("r"), "data": Path("d"), "output": Path("o")}), ("annotate", {"data": Path("d"), "output": Path("o")}),
        ("count", {"source": "t"}), ("discover", {"method": "pca", "source": "input", "data": Path("d"), "output": Path("o")}),
        ("import_data", {"source": Path("s"), "output": Path("o")}), ("mend", {"run": Path("r"), "output": Path("o")}),
        ("probe", {"run": Path("r"), "data": Path("d"), "output": Path("o")}), ("saliency", {"run": Path("r")}),
        ("show", {"task": "no-such-thing"}), ("train", {"model": "cbm", "data": Path("d"), "output": Path("o")}),
    ],
)  # fmt: skip
def test_settings_are_those_of_the_file_and_of_the_command_line(name, words, opened, monkeypatch):
    from assay.runs import writing

    verb = import_module(f"assay.cli.{name}")
    monkeypatch.setattr(RunFolder, "about", lambda self: {})
    monkeypatch.setattr(writing, "check_dataset", lambda run, data: None)
    if hasattr(verb, "dataset_for"):
        monkeypatch.setattr(verb, "dataset_for", lambda run, data: "data")
    seen = []

    def settings_from(settings, config):
        seen.append((settings, config))
        raise Stop

    monkeypatch.setattr(verb, "settings_from", settings_from)
    with pytest.raises(Stop):
        getattr(verb, name)(**words, settings=["k=1"], config=Path("c.yaml"))
    assert seen == [(["k=1"], Path("c.yaml"))]


def test_any_seed_but_the_usual_one_goes_before_that_of_the_settings(opened, monkeypatch):
    from assay.data import annotate as writing
    from assay.studies import machines

    seeds = []
    monkeypatch.setattr(machines, "machine_of", lambda annotation, dataset, bar: None)
    found = {"fingerprint": "ff", "task": {"annotation": {"found": {}}}}
    monkeypatch.setattr(writing, "annotate", lambda data, annotation, *rest: seeds.append(annotation.seed) or found)
    for seed in (0, 1, 2):
        import_module("assay.cli.annotate").annotate(Path("d"), Path("o"), seed, ["seed=9"], as_json=True)
    assert seeds == [9, 1, 2]


def test_metrics_and_models_of_a_file_are_checked(asked, monkeypatch, tmp_path, capsys, no_files):
    from assay import testing

    new, check = import_module("assay.cli.new"), CLI["check"]
    fine = SimpleNamespace(law="is lawful", passed=True, fault="")
    monkeypatch.setattr(testing, "check_metric", lambda metric: [fine])
    monkeypatch.setattr(check, "_model_checks", lambda names, data, task: {name: [fine] for name in names})
    for kind in ("metric", "model"):
        new.new(kind, f"quite-own-{kind}", tmp_path)
        with pytest.raises(typer.Exit):
            check.check(str(tmp_path / f"quite_own_{kind}.py"), as_json=True)
    first, second = (json.loads(text) for text in capsys.readouterr().out.replace("}\n{", "}\n\n\n{").split("\n\n\n"))
    assert (list(first), list(second)) == (["quite_own_metric"], ["quite-own-model"])
    assert first["quite_own_metric"] == [{"law": "is lawful", "passed": True, "fault": ""}]


def test_sizes_of_all_caches_add_up(monkeypatch, tmp_path, capsys):
    clean = import_module("assay.cli.clean")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    for name, size in (("made", 1500), ("runs", 1200), ("own", 400)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_bytes(b"0" * size)
    clean.clean(None)
    assert capsys.readouterr().err == "3.1 kB in all; to remove them: assay clean --yes\n"
    clean.clean(["runs", "made"])
    said = capsys.readouterr()
    assert said.err.startswith("2.7 kB in all") and [line.split()[0] for line in lines(said.out)[1:]] == [
        "runs",
        "made",
    ]


def test_caches_are_listed_by_name_and_those_of_a_kind_together(monkeypatch, tmp_path):
    clean = import_module("assay.cli.clean")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    sizes = {"runs-b": 5, "pictures": 70, "runs-a": 300, "own-2": 11, "own-1": 2000}
    for name, size in sizes.items():
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "x").write_bytes(b"0" * size)
        (tmp_path / name / "y").write_bytes(b"1")
        (tmp_path / name / "link").symlink_to(tmp_path / name / "y")
    (tmp_path / "file").write_bytes(b"no cache")
    list_backwards(monkeypatch)
    found = clean.caches()
    assert [(one.name, [path.name for path in one.folders], one.bytes) for one in found] == [
        ("own", ["own-1", "own-2"], 2013), ("pictures", ["pictures"], 71), ("runs", ["runs-a", "runs-b"], 307),
    ]  # fmt: skip
    assert [one.gives for one in found] == [clean.PURPOSES.get(one.name, "") for one in found]
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "none"))
    assert clean.caches() == []


@pytest.mark.parametrize(("count", "more"), [(19, []), (20, []), (21, ["1 more concepts in discovery.csv"])])
def test_twenty_discovered_concepts_and_all_notes_are_printed(count, more, monkeypatch, capsys):
    from assay.reporting import discovery

    row = {"matched": 1, "values": 2, "f1": 0.5, "information": 0.25, "purity": 0.75}
    monkeypatch.setattr(
        discovery, "concept_rows", lambda scores, data: [{**row, "concept": f"c{n}"} for n in range(count)]
    )
    first = SimpleNamespace(
        scores=None, seed=4, rule=SimpleNamespace(text="the rule"), discoverer=SimpleNamespace(notes=["one", "two"])
    )
    found = SimpleNamespace(
        first=first,
        summary=dict,
        discoveries=[1, 2],
        model="pca",
        shown=None,
        rule_from_truth=SimpleNamespace(text="the true one"),
    )
    CLI["discover"]._print_scores(found)
    told = lines(capsys.readouterr().out)
    assert told[4 : 4 + min(count, 20)] == [f"c{n} 1 of 2 0.50 0.25 0.75" for n in range(min(count, 20))]
    assert told[4 + min(count, 20) :] == [
        *more,
        "the rule",
        "From the true concepts: the true one",
        "note: one",
        "note: two",
    ]


def test_the_bypass_is_that_of_the_split_and_the_seed(monkeypatch, tmp_path):
    from assay.models.core import runs
    from assay.models.probes import bypass

    monkeypatch.setattr(runs, "load_model", lambda run: f"model of {run.name}")
    monkeypatch.setattr(bypass, "bypass", lambda *given: SimpleNamespace(to_dict=lambda: given))
    rows = {"test": "tested", "ood": "new"}
    assert CLI["leakage"]._bypass(tmp_path, rows, "ood", 3) == ((f"model of {tmp_path.name}", "new", 3), "")


def test_maps_that_miss_nothing_are_complete(capsys):
    found = SimpleNamespace(
        plan=SimpleNamespace(method="m", split="test", examples=3),
        model="cbm",
        scores=[],
        check=None,
        completeness=0.0,
        text="so",
    )
    CLI["saliency"]._print(found)
    assert lines(capsys.readouterr().out) == [
        "Completeness: maps miss the changes of log-probabilities by 0.0%.", "so",
    ]  # fmt: skip


def test_files_of_metrics_are_named_with_the_scores(monkeypatch, capsys):
    from assay.diagnosis import runs
    from assay.metrics import METRICS, Score
    from assay.metrics import score as scoring
    from assay.runs import evidence

    code = SimpleNamespace(to_dict=lambda: {"sha256": "aa"})
    entries = {
        "collapse": SimpleNamespace(code=code, summary="C."),
        "label_f1": SimpleNamespace(code=None, summary="L."),
    }
    monkeypatch.setattr(METRICS, "entry", entries.get)
    monkeypatch.setattr(METRICS, "resolve", lambda name: name)
    monkeypatch.setattr(CLI["score"], "dataset_for", lambda run, data: "data")
    monkeypatch.setattr(evidence, "evidence_of", lambda run, data: {"test": [1, 2]})
    monkeypatch.setattr(scoring, "score", lambda rows, names: {name: Score(name, 0.5, 0.4, 0.6, 2) for name in names})
    monkeypatch.setattr(runs, "provenance", lambda data: {})
    CLI["score"].score(Path("run"), metric=["collapse", "label_f1"], as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["code"] == {"collapse": {"sha256": "aa"}} and list(told["scores"]["test"]) == ["collapse", "label_f1"]


@needs_task("mnlogic")
def test_a_task_goes_before_a_folder_of_its_name(monkeypatch, tmp_path):
    from assay.data import recipe

    show, seen = import_module("assay.cli.show"), []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(show, "_show_dataset", lambda *given: seen.append(given))

    def recipe_from(task, settings):
        raise Stop

    monkeypatch.setattr(recipe, "recipe_from", recipe_from)
    (tmp_path / "mnlogic").mkdir()
    with pytest.raises(Stop):
        show.show("mnlogic")
    (tmp_path / "mnlogic" / "manifest.json").touch()
    show.show("mnlogic")
    assert seen == [(Path("mnlogic"), False)]


def test_suites_are_listed_with_their_datasets_and_models(monkeypatch, capsys):
    from assay.suites import suite as suites

    suite = import_module("assay.cli.suite")
    config = SimpleNamespace(datasets=[1, 2, 3], models=[1], about="All.")
    monkeypatch.setattr(suites, "suite_names", lambda: ["one"])
    monkeypatch.setattr(suites, "find_suite", lambda name: SimpleNamespace(name=name, config=config))
    suite.list_suites()
    assert lines(capsys.readouterr().out) == ["suite datasets models", "one 3 1 All."]
    suite.list_suites(as_json=True)
    assert json.loads(capsys.readouterr().out) == [{"name": "one", "about": "All."}]


def test_a_suite_is_shown_with_its_datasets_levels_and_models(monkeypatch, capsys):
    from assay.suites import suite as suites

    suite = import_module("assay.cli.suite")
    data = SimpleNamespace(
        name="d", fingerprint="0123456789abcdef", config=SimpleNamespace(shows="sums", about="Of digits.")
    )
    config = SimpleNamespace(about="All.", models={"cbm": SimpleNamespace(level="concepts")})
    found = SimpleNamespace(
        name="one", config=config, datasets={"d": data}, levels={"labels": SimpleNamespace(about="labels only")}
    )
    monkeypatch.setattr(suites, "find_suite", lambda name: found)
    monkeypatch.setattr(suites, "summary_of", lambda given: {"of": given.name})
    suite.show_suite("one")
    assert lines(capsys.readouterr().out) == [
        "one: All.", "dataset shows fingerprint", "d sums 0123456789ab Of digits.", "level sees", "labels labels only",
        "model level", "cbm concepts",
    ]  # fmt: skip
    suite.show_suite("one", as_json=True)
    assert json.loads(capsys.readouterr().out) == {"of": "one"}


def test_stages_are_told_of_any_training():
    stages = {"label_accuracy": {"average": 0.75, "forgetting": 0.125}, "after_each": [1, 2]}
    assert CLI["train"]._notes({"model": "cbm", "stages": stages}) == [
        "after the last of 2 stages: label accuracy 0.750 on average, forgetting 0.125"
    ]
