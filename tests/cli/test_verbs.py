"""What verbs hand on and print, of results that are made up: suites, interventions, leakage, mending, discovery, caches."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.cli import clean, discover, doctor, intervene, leakage, mend, pairs, saliency, suite
from assay.errors import ConfigError, DataError, RunFailed, UnknownName


def lines(text):
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


# suites


@pytest.fixture
def suites(monkeypatch):
    from assay.suites import suite as kept

    monkeypatch.setattr(kept, "find_suite", lambda name: f"suite {name}")


def row(dataset, seed, **more):
    facts = {"model": "cbm", "verdict": "", "status": "refused", "why": "", "reason": "no rule", **more}
    return SimpleNamespace(dataset=dataset, seed=seed, **facts)


def test_data_of_a_suite_is_made(suites, monkeypatch, capsys):
    from assay.suites import making

    calls = []

    def make_data(*given):
        calls.append((given[0], given[1], given[2], given[5].count))
        return making.MadeData({"a": SimpleNamespace(fingerprint="ff")}, {})

    monkeypatch.setattr(making, "make_data", make_data)
    suite.make_suite(Path("out"), ["a"], "mine", 3)
    assert calls == [("suite mine", Path("out"), ["a"], 3)] and lines(capsys.readouterr().out) == [
        "dataset fingerprint",
        "a ff",
    ]
    suite.make_suite(Path("out"), [], "mine", 1, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"a": "ff"}
    monkeypatch.setattr(making, "make_data", lambda *given: making.MadeData({}, {"b": "broke"}))
    with pytest.raises(RunFailed, match="1 of 1 datasets failed; b: broke"):
        suite.make_suite(Path("out"), [], "mine", 1)


def test_rows_of_a_suite_are_printed(suites, monkeypatch, capsys):
    from assay.suites import rows, running

    orders = []

    def run_suite(order, output, records, say, bar, pool):
        orders.append((order, output, records, pool.count))
        return [row("a", 0), row("b", 3, verdict="sound", why="all is right", status="done")]

    monkeypatch.setattr(running, "run_suite", run_suite)
    monkeypatch.setattr(rows, "plain", lambda row: {"dataset": row.dataset})
    suite.run_models(["cbm"], Path("out"), ["a"], "0-1", Path("rows"), True, "mine", 2)
    assert lines(capsys.readouterr().out) == [
        "dataset model seed verdict why",
        "a cbm 0 refused no rule",
        "b cbm 3 sound all is right",
    ]
    order, output, records, count = orders[0]
    assert (order.suite, order.models, order.datasets, order.seeds, order.discard) == (
        "suite mine",
        ("cbm",),
        ("a",),
        (0, 1),
        True,
    )
    assert (output, records, count) == (Path("out"), Path("rows"), 2)
    suite.run_models(None, Path("out"), [], None, None, False, "mine", 1, as_json=True)
    assert (
        json.loads(capsys.readouterr().out) == [{"dataset": "a"}, {"dataset": "b"}]
        and orders[1][0].models == () == orders[1][0].seeds
    )


def test_an_entry_is_scored_and_a_board_built(suites, monkeypatch, capsys):
    from assay.suites import entry, rows, site

    written = []
    monkeypatch.setattr(
        entry,
        "score_entry",
        lambda folder, data, watch, records: watch(0, 1) or [row("a", 0, model="mine"), row("b", 1)],
    )
    monkeypatch.setattr(
        rows, "add_entry", lambda found, records: written.append(len(found)) or records / "mine.parquet"
    )
    suite.score_folder(Path("entry"), Path("data"), Path("rows"))
    said = capsys.readouterr()
    assert lines(said.out) == [
        "dataset seed verdict why",
        "a 0 refused no rule",
        "b 1 refused no rule",
    ] and written == [2]
    assert said.err.endswith("rows/mine.parquet  next: assay suite board rows -o board\n")
    monkeypatch.setattr(site, "write_board", lambda *given: given)
    suite.build_board([Path("rows")], Path("out"), Path("data"), "http://x", "mine")
    assert "PosixPath('data/data'), 'http://x'" in capsys.readouterr().err
    suite.build_board([Path("rows")], Path("out"), None, "", "mine")
    assert "PosixPath('out'), None, ''" in capsys.readouterr().err


def test_the_matrix_ends_with_1_if_a_model_breaks(suites, monkeypatch, capsys):
    from assay.suites import matrix

    cells = [matrix.MatrixCell("cbm", "f", "works", "", 1.26), matrix.MatrixCell("dpl", "f", "refuses", "no rule", 0.5)]
    asked = []
    monkeypatch.setattr(matrix, "small_datasets", lambda found, folder, families: families)
    monkeypatch.setattr(matrix, "matrix_cells", lambda data, models: asked.append((data, models)) or iter(cells))
    suite.try_models(["cbm"], ["f"], "mine")
    said = capsys.readouterr()
    assert (
        said.err.splitlines() == ["f cbm works (1.3 s)", "f dpl refuses (0.5 s): no rule"]
        and "| cbm | works |" in said.out
        and asked == [(["f"], ["cbm"])]
    )
    cells.append(matrix.MatrixCell("ltn", "g", "crashes", "ValueError"))
    with pytest.raises(RunFailed, match="1 cells break; the first, ltn on g: ValueError"):
        suite.try_models(None, [], "mine", as_json=True)
    assert [cell["outcome"] for cell in json.loads(capsys.readouterr().out)] == ["works", "refuses", "crashes"]


# interventions and leakage


def test_interventions_are_printed_by_budget(capsys):
    def numbers(mean, low=None, high=None):
        return {"mean": mean, "low": mean if low is None else low, "high": mean if high is None else high}

    facts = {
        "summary": [{"budget": 0.0, "whole": False, "accuracy": numbers(0.5, 0.4, 0.625), "asked": numbers(0.0)}, {"budget": 2.5, "whole": True, "accuracy": numbers(1.0)}],
        "plan": {"policy": "random", "kind": "confirmation", "source": "perfect"},
        "runs": [{"model": "cbm", "control": {"changed": 0.0}}, {"model": "cbm", "control": {"changed": 0.0256}}],
    }  # fmt: skip
    intervene._print(facts)
    said = capsys.readouterr()
    text = " ".join(said.out.split())
    assert text.startswith("cbm: random, confirmation, answers: perfect, 2 runs budget accuracy asked 0 0.500 ")
    assert lines(said.out)[-2:] == ["0 0.500 (0.400–0.625) 0.000", "max 1.000 –"]
    assert said.err == "control: the model's own predictions change 2.6 % of the labels (must be 0)\n"
    facts["runs"].pop()
    facts["summary"][1]["whole"] = False
    intervene._print(facts)
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("cbm: random, confirmation, answers: perfect budget ") and text.endswith(" 2.5 1.000 –")


def test_names_pairs_and_costs_are_read():
    assert intervene._parse_names(" a, b,,c ") == ["a", "b", "c"] and intervene._pair(" g = a,b ") == ("g", "a,b")
    assert intervene._costs(["a=2", "b=0.5"]) == {"a": 2.0, "b": 0.5}
    for text in ("a", "=b", "a=", " =x"):
        with pytest.raises(ConfigError, match="expected NAME=..."):
            intervene._pair(text)
    with pytest.raises(ConfigError, match="--cost a=x: expected a number"):
        intervene._costs(["a=x"])


def test_leakage_is_printed_with_the_strongest_first(monkeypatch, capsys):
    from assay.data import dataset
    from assay.diagnosis import leakage as measuring
    from assay.metrics import evidence
    from assay.runs import folder

    found = {
        "soft": {"ctl": 0.1, "icl": 0.2, "probe": 0.3},
        "hard": None,
        "rows": 1200,
        "beyond_value": {f"c{n:02d}": n / 100 for n in range(12)},
    }
    monkeypatch.setattr(
        dataset.Dataset, "open", lambda path: SimpleNamespace(knowledge=None, fingerprint="ff", sizes={})
    )
    monkeypatch.setattr(folder.RunFolder, "all_predictions", lambda self, knowledge, *sizes: {"test": "said"})
    monkeypatch.setattr(evidence, "gather_from", lambda data, said: said)
    monkeypatch.setattr(measuring, "leakage", lambda rows, seed, precision: SimpleNamespace(to_dict=lambda: found))
    monkeypatch.setattr(leakage, "_bypass", lambda run, data, split, seed: (None, "no model"))
    leakage.leakage(Path("run"), Path("data"), split="test")
    said = capsys.readouterr()
    text = lines(said.out)
    assert text[0] == "test (1,200) soft" and text[1].startswith("CTL 0.1000") and text[3].startswith("probe 0.3000")
    assert (
        text[5:7] == ["c11 0.1100", "c10 0.1000"]
        and text[-1] == "c02 0.0200"
        and said.err == "bypass left out: no model\n"
    )
    monkeypatch.setattr(leakage, "_bypass", lambda run, data, split, seed: (dict.fromkeys(leakage.PASSES, 0.5), ""))
    leakage.leakage(Path("run"), Path("data"), split="test")
    assert lines(capsys.readouterr().out)[-8].startswith("accuracy 0.5000")
    leakage.leakage(Path("run"), Path("data"), split="test", as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["fingerprint"] == "ff" and told["bypass"]["majority"] == 0.5
    with pytest.raises(DataError, match="has no predictions for split 'ood': assay predict RUN DATA --split ood"):
        leakage.leakage(Path("run"), Path("data"), split="ood")


def test_a_file_has_no_bypass(tmp_path, monkeypatch):
    from assay.models.core import runs
    from assay.models.probes import bypass

    (tmp_path / "said.parquet").touch()
    assert leakage._bypass(tmp_path / "said.parquet", {}, "test", 0) == (None, "a predictions file has no model")
    monkeypatch.setattr(runs, "load_model", lambda run: "model")
    monkeypatch.setattr(
        bypass, "bypass", lambda model, data, seed: SimpleNamespace(to_dict=lambda: {"of": [model, data, seed]})
    )
    assert leakage._bypass(tmp_path, {"test": "rows"}, "test", 3) == ({"of": ["model", "rows", 3]}, "")

    def refuse(run):
        raise ConfigError("no concepts")

    monkeypatch.setattr(runs, "load_model", refuse)
    assert leakage._bypass(tmp_path, {"test": "rows"}, "test", 3) == (None, "no concepts")


# mending, discovery, saliency, pairs


def test_a_mending_ends_with_its_last_round(capsys):
    def curve(*names):
        rounds = [SimpleNamespace(run=name, cells=[name, "", "", "", "", "", "", "why"]) for name in names]
        return SimpleNamespace(rounds=rounds, text="shortcut -> sound")

    mend._print(curve("run", "round-1"), Path("run"), Path("out"))
    said = capsys.readouterr()
    assert lines(said.out)[
        -1
    ] == "shortcut -> sound" and "assay diagnose out/round-1 the verdict of the last round, in words" in lines(said.err)
    mend._print(curve("run"), Path("run"), Path("out"))
    assert "assay diagnose run the verdict of the last round, in words" in lines(capsys.readouterr().err)


def test_discovered_units_are_printed(monkeypatch, capsys):
    from assay.reporting import discovery

    concepts = [
        {"concept": f"c{n}", "matched": 1, "values": 3, "f1": 0.5, "information": 0.25, "purity": 0.125}
        for n in range(discover.MOST_CONCEPTS + 2)
    ]
    monkeypatch.setattr(discovery, "concept_rows", lambda scores, shown: concepts)
    first = SimpleNamespace(
        scores=None, seed=7, rule=SimpleNamespace(text="a rule"), discoverer=SimpleNamespace(notes=["few units"])
    )
    found = SimpleNamespace(
        first=first,
        summary=lambda: {"dci_completeness": {"mean": 0.756, "chance": 0.1}},
        discoveries=[1, 2],
        model="pca",
        shown=None,
        rule_from_truth=SimpleNamespace(text="another"),
    )
    discover._print_scores(found)
    text = lines(capsys.readouterr().out)
    assert (
        text[0] == "pca, 2 seeds"
        and text[2].startswith("dci completeness 0.76 0.10")
        and text[3] == "seed 7"
        and text[5] == "c0 1 of 3 0.50 0.25 0.12"
    )
    assert text[-4:] == [
        "2 more concepts in discovery.csv",
        "a rule",
        "From the true concepts: another",
        "note: few units",
    ]


def test_saliency_is_printed_with_its_check(monkeypatch, capsys):
    from assay.diagnosis import saliency as scoring

    monkeypatch.setattr(scoring, "HEAD", ["a" * 50, "b"])
    monkeypatch.setattr(scoring, "score_rows", lambda scores: [["x", "y"]])
    stage = SimpleNamespace(layers=2, last="conv1", similarity=0.5, low=0.4, high=0.6)
    plan = SimpleNamespace(method="occlusion", split="test", examples=1200)
    found = SimpleNamespace(
        plan=plan,
        model="cbm",
        scores=[1],
        check=SimpleNamespace(stages=[stage, stage]),
        completeness=0.0256,
        text="one\ntwo",
    )
    saliency._print(found)
    assert lines(capsys.readouterr().out) == [
        "occlusion of cbm on test, 1,200 examples", "a" * 50 + " b", "x y", "layers drawn anew down to maps correlate", "2 conv1 0.50 (0.40 to 0.60)",
        "2 conv1 0.50 (0.40 to 0.60)", "Completeness: maps miss the changes of log-probabilities by 2.6%.", "one", "two",
    ]  # fmt: skip
    found.scores, found.check.stages, found.completeness = [], [stage], None
    saliency._print(found)
    assert lines(capsys.readouterr().out) == ["one", "two"]


def test_pairs_are_drawn_anew(monkeypatch, capsys):
    from assay.data import make

    manifest = {"pairs": {"size": 5, "split": "test"}}
    monkeypatch.setattr(make, "refresh_pairs", lambda data, task, count, watch: watch(5) or manifest)
    data = SimpleNamespace(folder="data", fingerprint="ff")
    pairs._refresh(data, None, 9, False, False)
    assert capsys.readouterr().err.splitlines()[-2:] == [
        "5 worlds of split test with one concept changed",
        "data  split pairs  fingerprint ff",
    ]
    pairs._refresh(data, None, None, False, True)
    assert json.loads(capsys.readouterr().out) == {"folder": "data", "fingerprint": "ff", "pairs": 5}
    with pytest.raises(ConfigError, match="--split and --do need -o FILE"):
        pairs._refresh(data, None, None, True, False)


# caches


def test_caches_are_listed_and_emptied(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    for path, size in (("made/a/x", 1500), ("made/y", 500), ("runs-1/z", 10), ("runs-2/z", 20)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"0" * size)
    (tmp_path / "file").write_bytes(b"0")
    (tmp_path / "made" / "link").symlink_to(tmp_path / "made" / "y")
    assert [(kind.name, len(kind.folders), kind.bytes) for kind in clean.caches()] == [
        ("made", 1, 2000),
        ("runs", 2, 30),
    ]
    clean.clean(None)
    said = capsys.readouterr()
    assert lines(said.out)[1].startswith("made 2.0 kB") and lines(said.out)[2].startswith("runs 30 bytes")
    assert said.err == "2.0 kB in all; to remove them: assay clean --yes\n"
    with pytest.raises(UnknownName, match="there is no cache called 'run'; did you mean 'runs'"):
        clean.clean(["run"])
    clean.clean(["runs"], yes=True, as_json=True)
    (told,) = json.loads(capsys.readouterr().out)
    assert told["name"] == "runs" and told["bytes"] == 30 and told["removed"] and len(told["folders"]) == 2
    assert not (tmp_path / "runs-1").exists() and (tmp_path / "made").exists()
    clean.clean(None, yes=True)
    assert capsys.readouterr().err == "removed 2.0 kB\n"
    clean.clean(None)
    assert capsys.readouterr().out == "the cache is empty\n"


def test_the_doctor_says_what_is_missing(monkeypatch, capsys):
    parts = {
        "train": {"installed": True, "packages": "torch 2", "gives": "training"},
        "view": {"installed": False, "packages": "fastapi –", "gives": "the page"},
    }
    held = [SimpleNamespace(name="made", bytes=2000), SimpleNamespace(name="runs", bytes=0)]
    monkeypatch.setattr(doctor, "extras", lambda: parts)
    monkeypatch.setattr(doctor, "caches", lambda: held)
    monkeypatch.setattr(doctor, "gpu", lambda: "no GPU")
    doctor.doctor()
    text = lines(capsys.readouterr().out)
    assert text[0].endswith("processors; no GPU") and text[2:4] == [
        "train installed torch 2 training",
        "view missing fastapi – the page",
    ]
    assert (
        text[4] == "to install what is missing: pip install '.[view]' in Assay's source folder"
        and text[5] == "caches: made 2.0 kB; to empty them: assay clean"
    )
    held.clear()
    parts["view"]["installed"] = True
    doctor.doctor()
    assert lines(capsys.readouterr().out)[-1] == "caches: empty"
    doctor.doctor(as_json=True)
    assert json.loads(capsys.readouterr().out)["gpu"] == "no GPU"
    monkeypatch.undo()
    found = doctor.extras()
    assert found["train"]["packages"].startswith("torch ") and set(found) == set(doctor.PURPOSES)
