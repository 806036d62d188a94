"""Every verb of the command line is a function of `assay`, which finds and writes the same."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.cli import main
from assay.dataset import Dataset
from tests.pixels import pixels, trained
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")

CALLED = {"run": "run_study", "study": "run_study", "suite": "run_suite", "import": "import_folder"}
UNITS = {"seeds": (0,), "repetitions": 1, "units": 4, "device": "cpu"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return pixels(tmp_path_factory.mktemp("pixels") / "data")


@pytest.fixture(scope="module")
def run(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    trained("cbm", data, folder, {"epochs": 6})
    return folder


def test_every_verb_is_a_function(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["assay", "--help"])
    with pytest.raises(SystemExit):
        main()
    verbs = set(re.findall(r"(?m)^  ([a-z]+)  ", capsys.readouterr().out))
    assert len(verbs) > 30 and {"make", "train", "list", "doctor"} < verbs
    missing = [verb for verb in verbs if not callable(getattr(assay, CALLED.get(verb, verb), None))]
    assert not missing


def found(**parts: Any) -> dict[str, Any]:
    """Return plain data as JSON has it."""
    return json.loads(json.dumps(parts, default=str))


def scores_of(scores: Any) -> dict[str, Any]:
    return {split: {name: one.to_dict() for name, one in by_name.items()} for split, by_name in scores.items()}


VERBS: dict[str, tuple[str, Callable[[Any, Any, Path], dict[str, Any]]]] = {
    "score": ("RUN", lambda run, data, to: found(scores=scores_of(assay.score(run)))),
    "score by metric": (
        "RUN DATA --metric collapse",
        lambda run, data, to: found(scores=scores_of(assay.score(data, run, metrics=["collapse"]))),
    ),
    "score under another rule": (
        "RUN --rule RULE",
        lambda run, data, to: found(scores=scores_of(assay.score(run, rule=to / "rule.yaml"))),
    ),
    "diagnose": ("RUN", lambda run, data, to: found(**assay.diagnose(run).to_dict())),
    "diagnose by thresholds": (
        "RUN DATA --set memorised.drop=0.2",
        lambda run, data, to: found(**assay.diagnose(data, run, thresholds={"memorised.drop": 0.2}).to_dict()),
    ),
    "diagnose under another rule": (
        "RUN --rule RULE",
        lambda run, data, to: found(**assay.diagnose(run, rule=to / "rule.yaml").to_dict()),
    ),
    "attribute": ("RUN --split hard", lambda run, data, to: found(**assay.attribute(run, split="hard").to_dict())),
    "leakage": ("RUN DATA --seed 2", lambda run, data, to: found(**assay.leakage(run, seed=2).to_dict())),
    "list": ("models", lambda run, data, to: {"": assay.list("models").data}),
    "list of all": ("", lambda run, data, to: assay.list().data),
    "list thresholds": ("thresholds", lambda run, data, to: {"": assay.list("thresholds").data}),
    "study list": ("list", lambda run, data, to: {"": assay.list("studies").data}),
    "suite list": ("list", lambda run, data, to: {"": assay.list("suites").data}),
    "show a task": ("mnlogic --set k=3", lambda run, data, to: found(**assay.show("mnlogic", k=3).data)),
    "show a model": ("cbm", lambda run, data, to: found(**assay.show("cbm").data)),
    "show a finding": ("spurious", lambda run, data, to: found(**assay.show("spurious").data)),
    "show a dataset": ("DATA", lambda run, data, to: found(**assay.show(str(data.folder)).data)),
    "doctor": ("", lambda run, data, to: found(**assay.doctor().data)),
    "clean": ("", lambda run, data, to: {"": assay.clean().data}),
    "audit": ("DATA --no-write", lambda run, data, to: found(**assay.audit(data).to_dict())),
    "audit by one check": (
        "DATA --check labels",
        lambda run, data, to: found(**assay.audit(data, ["labels"]).to_dict()),
    ),
    "count a dataset": ("DATA", lambda run, data, to: found(total=assay.count(data).total)),
    "count a task": (
        "mnlogic --set k=3 --support full --supervise a",
        lambda run, data, to: found(total=assay.count("mnlogic", support="full", a=True, config={"k": 3}).total),
    ),
    "saliency": (
        "RUN -n 8 --method occlusion --set device=cpu",
        lambda run, data, to: found(**assay.saliency(run, n=8, method="occlusion", device="cpu").to_dict()),
    ),
    "annotate": (
        "DATA -o NEW --seed 3 --set concept_noise=0.2",
        lambda run, data, to: found(fingerprint=assay.annotate(data, to / "a", seed=3, concept_noise=0.2).fingerprint),
    ),
    "confound": (
        "DATA -o NEW --what frame --strength 0.8",
        lambda run, data, to: found(fingerprint=assay.confound(data, to / "c", "frame", strength=0.8).fingerprint),
    ),
    "export": ("DATA --to prolog -o NEW", lambda run, data, to: found(splits=assay.export(data, "prolog", to / "e"))),
    "align": (
        "RUN DATA -o NEW --set zero=[c]",
        lambda run, data, to: found(weights=assay.align(run, data, to / "l", zero=["c"]).weights),
    ),
    "probe": (
        "RUN DATA -o NEW --set device=cpu",
        lambda run, data, to: found(best=assay.probe(run, data, to / "p", device="cpu").best.layer.name),
    ),
    "mend": (
        "RUN -o NEW --strategy random --budget 6 --set first=2",
        lambda run, data, to: found(**assay.mend(run, to / "m", strategy="random", budget=6, first=2).to_dict()),
    ),
    "predict": (
        "RUN DATA --split train",
        lambda run, data, to: found(predictions=str(assay.predict(run, split="train")[0])),
    ),
}
DIFFERS = ("seconds", "found", "folder", "run", "created")
"""What is not the same twice."""


def without(value: Any) -> Any:
    """Return plain data without what differs by call."""
    if isinstance(value, dict):
        return {key: without(part) for key, part in value.items() if not key.endswith(DIFFERS)}
    return [without(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("verb", VERBS)
def test_a_function_finds_what_the_command_prints(
    verb: str, data: Dataset, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    words, call = VERBS[verb]
    (tmp_path / "rule.yaml").write_text("labels: {z: a and not c}\n")
    places = {"RUN": run, "DATA": data.folder, "NEW": tmp_path / "new", "RULE": tmp_path / "rule.yaml"}
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    arguments = [str(places.get(word, word)) for word in words.split()]
    monkeypatch.setattr("sys.argv", ["assay", verb.split()[0], *arguments, "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (None, 0, 1)
    told = json.loads(capsys.readouterr().out)
    printed = without(told if isinstance(told, dict) else {"": told})
    mine = without(call(run, data, tmp_path))
    assert mine and {key: printed[key] for key in mine} == mine


def test_what_there_is_shows_as_text_table_and_frame() -> None:
    metrics = assay.list("metrics")
    assert {row["name"] for row in metrics.rows} == set(assay.METRICS)
    assert list(metrics.to_frame().columns) == ["name", "summary"] and len(metrics.to_frame()) == len(assay.METRICS)
    assert str(metrics) == repr(metrics) and str(metrics).splitlines()[1].startswith(next(iter(assay.METRICS)))
    assert metrics._repr_html_().count("<tr>") == 1 + len(assay.METRICS)
    kinds = {row["kind"] for row in assay.list().rows}
    assert {"tasks", "models", "metrics"} < kinds and not {"findings", "thresholds", "studies"} & kinds
    assert "collapse" in str(assay.show("collapse")) and assay.show("collapse").rows[0]["better"] == "lower"
    with pytest.raises(assay.AssayError, match="nothing to list under 'metric'; did you mean 'metrics'"):
        assay.list("metric")


def test_a_file_is_begun_and_checked(tmp_path: Path) -> None:
    path = assay.new("metric", "my-metric", tmp_path)
    assert path == tmp_path / "my_metric.py"
    outcomes = assay.check(path)
    assert list(outcomes) == ["my_metric"] and all(law.passed for law in outcomes["my_metric"])
    assay.require(outcomes["my_metric"], "my_metric")
    with pytest.raises(assay.AssayError, match="is there already; choose another name"):
        assay.new("metric", "my-metric", tmp_path)
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(assay.AssayError, match="empty.py defines no task, model, metric or finding"):
        assay.check(tmp_path / "empty.py")


def test_caches_are_listed_and_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    for folder in ("made", "decoded-12", "decoded-34"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x").write_bytes(b"four")
    assert [(row["name"], row["bytes"], row["removed"]) for row in assay.clean().rows] == [
        ("decoded", 8, False),
        ("made", 4, False),
    ]
    assert assay.doctor().data["caches"] == {"decoded": 8, "made": 4}
    assert assay.clean(["decoded"], yes=True).notes == ("removed 8 bytes",)
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    with pytest.raises(assay.AssayError, match="there is no cache called 'mad'; did you mean 'made'"):
        assay.clean(["mad"])


def test_data_go_by_a_folder_as_well_as_opened(data: Dataset, run: Path, tmp_path: Path) -> None:
    assert assay.audit(data.folder, ["labels"]).to_dict() == assay.audit(data, ["labels"]).to_dict()
    assert assay.diagnose(str(data.folder), run).verdict == assay.diagnose(assay.Run.open(run)).verdict
    assert assay.push(data.folder, tmp_path / "there") == tmp_path / "there"
    assert assay.load(tmp_path / "there").fingerprint == data.fingerprint


def test_settings_go_by_a_file_and_keywords_on_top(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("n_samples: 40\nk: 4\nsplits: {valid: 8, test: 9}\n")
    made = assay.make("mnlogic", tmp_path / "data", config=tmp_path / "c.yaml", k=3, splits={"test": 6})
    assert len(made.knowledge.space) == 3
    assert {name: made.sizes[name] for name in ("train", "valid", "test")} == {"train": 40, "valid": 8, "test": 6}
    with pytest.raises(assay.AssayError, match=r"c.yaml line 1: unknown key 'k'"):
        (tmp_path / "c.yaml").write_text("k: 4\n")
        assay.train("cbm", made, config=tmp_path / "c.yaml")


def test_the_same_call_finds_what_it_made_and_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    first, again, other = (assay.make("mnlogic", n=16, k=3, seed=seed) for seed in (1, 1, 2))
    assert first.folder == again.folder != other.folder and first.folder.parent == tmp_path / "made"
    runs = [
        assay.train("tree", first, seed=seed, **how) for seed, how in ((1, {}), (1, {}), (2, {}), (1, {"depth": 2}))
    ]
    assert [run.is_new for run in runs] == [True, False, True, True] and len({run.folder for run in runs}) == 3
    here = [assay.train("tree", first, tmp_path / "here") for _ in range(2)]
    assert [run.is_new for run in here] == [True, False] and here[1].predictions.keys() == {
        "test",
        "valid",
        "hard",
        "ood",
    }


def test_seeds_are_trained_together(data: Dataset, tmp_path: Path) -> None:
    how = {"epochs": 1, "device": "cpu", "backbone": "mlp"}
    runs = assay.train("cbm", data, tmp_path / "runs", seeds=[0, 3], **how)
    assert [run.folder for run in runs] == [tmp_path / "runs" / "seed0", tmp_path / "runs" / "seed3"]
    assert [run.metadata["seed"] for run in runs] == [0, 3] and all(run.is_new for run in runs)
    assert not any(run.is_new for run in assay.train("cbm", data, tmp_path / "runs", seeds=[0, 3], **how))


def test_a_run_has_its_history_and_predicts(data: Dataset, run: Path) -> None:
    opened = assay.Run.open(run)
    assert len(opened.history) == 6 and "after the last epoch" in opened._repr_html_()
    assert [axes.get_ylabel() for axes in opened.plot().axes] == ["loss", "score"]
    written, now = opened.predictions["test"], opened.predict("test")
    assert np.array_equal(written.labels["y"].codes, now.labels["y"].codes)
    assert np.array_equal(opened.predict(data["hard"]).index, data["hard"].index)


def test_decoded_predictions_satisfy_the_constraints(tmp_path: Path) -> None:
    boards = (
        assay.make("sudoku-mini", tmp_path / "data", n=4, splits={"test": 6}) if "sudoku-mini" in assay.TASKS else None
    )
    if boards is None:
        pytest.skip("needs sudoku")
    test = boards["test"]
    concepts = {c.name: np.full((len(test), len(c.values)), 1 / len(c.values)) for c in boards.knowledge.space.concepts}
    said = test.predictions(
        {label.name: test.labels[:, at] for at, label in enumerate(boards.knowledge.labels)}, concepts
    )
    decoded = assay.decode(said, boards, tmp_path / "out.parquet")
    again = assay.read_predictions(tmp_path / "out.parquet", boards.knowledge)
    assert again.concepts.keys() == decoded.concepts.keys()
    assert all(np.array_equal(again.concepts[name].codes, one.codes) for name, one in decoded.concepts.items())
    with pytest.raises(assay.AssayError, match="for a dataset with fingerprint"):
        assay.decode(said, assay.make("mnlogic", tmp_path / "other", n=4))


def test_discovered_units_and_a_run_of_them(data: Dataset, run: Path, tmp_path: Path) -> None:
    units = assay.discover(data, "pca", run, **UNITS)
    written = assay.discover(data, "pca", assay.Run.open(run), tmp_path / "found", **UNITS)
    assert str(units.summary()) == str(written.summary()) and assay.diagnose(data, tmp_path / "found").verdict
    with pytest.raises(assay.AssayError, match="no discovery method named 'pcb'"):
        assay.discover(data, "pcb")


def test_interventions_need_no_folder_of_runs(data: Dataset, run: Path) -> None:
    one = assay.intervene(run, budget="0,max", policy="random")
    assert one.curve.points[-1].accuracy >= one.curve.points[0].accuracy
    file = assay.intervene(run / "predictions" / "test.parquet", data, budget="0", policy="random", baseline=run)
    assert file.curve.points[0].gain == pytest.approx(file.curve.points[0].accuracy - one.curve.points[0].accuracy)
    with pytest.raises(assay.AssayError, match="is a predictions file; name the dataset folder after it"):
        assay.intervene(run / "predictions" / "test.parquet")


def test_interventions_on_several_runs_come_back_together(data: Dataset, run: Path) -> None:
    how = {"budget": "0", "policy": "random"}
    both = assay.intervene([run, run / "predictions" / "test.parquet"], data, **how)
    assert list(both.results) == ["run", "test.parquet"] and len(both.to_dict()["runs"]) == 2
    assert str(both.results["run"]) == str(assay.intervene(run, **how))


def test_counterfactual_worlds_of_any_split_go_to_a_file(data: Dataset, tmp_path: Path) -> None:
    there = assay.pairs(data)
    assert len(there) == data.pairs.size and assay.pairs(data.folder).fingerprint == data.fingerprint
    changed = assay.pairs(data, tmp_path / "p.parquet", n=5, split="hard")
    assert changed.name == "hard-pairs" and len(changed) == 10 and (tmp_path / "p.parquet").exists()
    with pytest.raises(assay.AssayError, match="--split and --do need -o FILE"):
        assay.pairs(data, split="hard")


def test_annotations_by_a_rule_use_no_machine(data: Dataset, tmp_path: Path) -> None:
    copy = assay.annotate(data, tmp_path / "copy", concept_noise=0.2)
    assert isinstance(copy, Dataset) and copy.usage == {} and copy.fingerprint == Dataset.open(copy.folder).fingerprint


def test_pictures_of_ones_own_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["assay", "new", "data", "mine", "-o", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    made = assay.import_folder(
        tmp_path / "mine", tmp_path / "data", concepts=["left", "right"], labels=["brighter"], size=8
    )
    assert made.knowledge.space.names == ("left", "right") and made.layout.width == 8


STUDY = {"tasks": [{"task": "mnlogic", "k": 3}], "models": ["tree", "rules"], "n": 24, "seeds": [0, 1]}


def test_a_study_is_kept_and_read(tmp_path: Path, in_process: None) -> None:
    said: list[str] = []
    result = assay.run_study(STUDY, tmp_path / "out", models=["tree"], seeds=1, say=said.append)
    assert [(line.model, line.run.parent.name) for line in result.verdicts] == [("tree", "runs")] and said
    table = result.to_frame()
    assert set(table["model"]) == {"tree"} and len(table) == len(result.records) and result.page.exists()
    assert repr(result).startswith("StudyResult(1 runs, ")
    whole = assay.run_study(STUDY, tmp_path / "out")
    assert {record.model for record in whole.records} == {"tree", "rules"} and len(whole.verdicts) == 2
    told: list[str] = []
    planned = assay.run_study(STUDY, tmp_path / "other", plan=True, trial=False, say=told.append)
    assert len(planned.names) == 4 and told and not planned.verdicts and not (tmp_path / "other").exists()
    with pytest.raises(assay.AssayError, match="no study file and no ready study named 'rsbensh'"):
        assay.run_study("rsbensh")


def test_a_suite_is_run_and_boarded(tmp_path: Path) -> None:
    result = assay.run_suite(tmp_path / "suite", ["tree"], ["digits-parity"], [0], discard=True)
    assert (
        [(row.model, row.status) for row in result.rows]
        == [("tree", "done")]
        == [(row.model, row.status) for row in result.asked]
    )
    assert result.to_frame()["dataset"].tolist() == ["digits-parity"] and "1 rows of 1 models" in repr(result)
    assert result.board(tmp_path / "board").name == "index.html"
    assert assay.SuiteResult(tmp_path / "none").to_frame().empty


def test_a_report_and_the_viewer_need_something_to_show(data: Dataset, run: Path, tmp_path: Path) -> None:
    page = assay.report(run / "predictions" / "test.parquet", tmp_path / "page", dataset=data.folder, title="Mine")
    assert "Mine" in page.read_text()
    with pytest.raises(assay.AssayError, match="nothing to look at; name datasets or runs"):
        assay.view()


def test_a_model_without_a_dataset_is_not_explained() -> None:
    with pytest.raises(assay.AssayError, match=r"needs a dataset: assay.saliency\(model, dataset\)"):
        assay.saliency(len)
