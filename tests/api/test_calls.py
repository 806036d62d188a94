"""What each call of a notebook hands on, and what it gives back: results of others are made up."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

import assay
from assay.api import Run, boards, datasets, discovering, explaining, mending, running, studying
from assay.config import Settings
from assay.data import Recipe, recipe_from
from assay.errors import ConfigError
from assay.runs import RunFolder
from assay.testing import TwoSquares, small_dataset
from tests.samples import needs_task


@pytest.fixture(scope="module")
def squares(tmp_path_factory):
    return small_dataset(TwoSquares(), tmp_path_factory.mktemp("squares") / "data")


# studies and suites


@dataclass(frozen=True)
class Row:
    run: str
    model: str
    value: float


ROWS = [Row("a", "cbm", 0.5), Row("a", "dpl", 0.25), Row("b", "cbm", 1.0)]


def test_a_study_is_run_here_or_on_a_cluster(monkeypatch, tmp_path):
    from assay.studies import ray_workers

    calls = []
    monkeypatch.setattr(
        studying, "study_from", lambda settings, place: SimpleNamespace(output=(settings.values, place))
    )
    monkeypatch.setattr(studying, "load_study", lambda path, place: SimpleNamespace(output=(path, place)))
    monkeypatch.setattr(studying, "carry_out", lambda planned, workers: calls.append(workers) or Path("page.html"))
    monkeypatch.setattr(ray_workers, "RayWorkers", lambda cluster: f"ray {cluster}")
    result = studying.run_study({"tasks": ["t"]}, tmp_path, workers=3)
    assert result.folder == ({"tasks": ["t"]}, tmp_path) and result.page == Path("page.html")
    assert studying.run_study("study.yaml", cluster="auto").folder == (Path("study.yaml"), None)
    studying.run_study(Path("study.yaml"), "out")
    assert calls == [studying.LocalWorkers(3), "ray auto", studying.LocalWorkers(1)]


def test_the_records_of_a_study(monkeypatch, tmp_path):
    monkeypatch.setattr(studying, "read_records", lambda folder: iter(ROWS) if folder == tmp_path else iter(()))
    result = studying.StudyResult(tmp_path, Path("p" * 200))
    assert result.records == ROWS
    assert result.to_frame().to_dict("list") == {
        "run": ["a", "a", "b"], "model": ["cbm", "dpl", "cbm"], "value": [0.5, 0.25, 1.0],
    }  # fmt: skip
    assert repr(result) == f"StudyResult(2 runs, '{'p' * 120}')"
    assert studying.StudyResult(tmp_path / "none", Path("p")).to_frame().empty


def test_a_suite_is_run_and_its_rows_read(monkeypatch, tmp_path):
    calls = []
    monkeypatch.setattr(boards, "find_suite", lambda name: f"suite {name}")
    monkeypatch.setattr(boards, "SuiteOrder", lambda *given: given)
    monkeypatch.setattr(boards, "carry_out", lambda order, output, workers: calls.append((order, output, workers)))
    monkeypatch.setattr(boards, "read_rows", lambda folder: ROWS if folder == tmp_path / boards.RECORDS else [])
    result = boards.run_suite(tmp_path, ["cbm"], ["d"], [1, 2], suite="mine", workers=4)
    assert calls == [(("suite mine", ("cbm",), ("d",), (1, 2)), tmp_path, boards.LocalWorkers(4))]
    assert (result.folder, result.suite, result.rows) == (tmp_path, "mine", ROWS)
    assert result.to_frame()["value"].tolist() == [0.5, 0.25, 1.0]
    assert repr(result) == f"SuiteResult(mine: 3 rows of 2 models, {str(tmp_path)[-120:]!r})"
    other = boards.run_suite(str(tmp_path / "other"))
    assert calls[1] == ((f"suite {boards.USUAL}", (), (), ()), tmp_path / "other", boards.LocalWorkers(1))
    assert other.suite == boards.USUAL and other.to_frame().empty
    monkeypatch.setattr(boards, "write_board", lambda *given: given)
    assert result.board("out") == ("suite mine", [tmp_path / boards.RECORDS], Path("out"), tmp_path / boards.DATA)


def test_an_entry_is_scored_into_the_rows_of_its_model(monkeypatch, tmp_path):
    written = []
    rows = [SimpleNamespace(model="mine", suite="s"), SimpleNamespace(model="mine", suite="s")]
    monkeypatch.setattr(
        boards,
        "rows_of_entry",
        lambda entry, data: rows if (entry, data) == (Path("e"), tmp_path / boards.DATA) else [],
    )
    monkeypatch.setattr(boards, "write_rows", lambda *given: written.append(given))
    result = boards.score_entry("e", str(tmp_path))
    assert (result.folder, result.suite) == (tmp_path, "s")
    assert written == [(rows, tmp_path / boards.RECORDS / "mine.parquet")]


# discovery, mending, saliency


def test_discovery_writes_where_it_is_told_to(monkeypatch):
    from assay.models.discovery import discovering as methods
    from assay.models.discovery import runs

    plans = []
    monkeypatch.setattr(methods.DiscoveryPlan, "of", lambda *given: plans.append(given) or "plan")
    monkeypatch.setattr(methods, "discover", lambda plan, dataset, bar: (plan, dataset))
    monkeypatch.setattr(runs, "discover_run", lambda plan, dataset, output, bar: (plan, dataset, output))
    assert discovering.discover("data") == ("plan", "data")
    run = Run(Path("run"), None)
    assert discovering.discover("data", "pca", run, "out", layer="conv1", seeds=(4,), units=7) == (
        "plan", "data", Path("out"),
    )  # fmt: skip
    discovering.discover("data", source=Path("there"))
    assert plans[0] == ("sae-topk", "input", Settings({}), (0, 1, 2), None)
    assert plans[1] == ("pca", "run", Settings({"units": 7}), (4,), "conv1")
    assert plans[2][1] == "there"


def test_mending_takes_the_data_of_the_run_unless_told(monkeypatch):
    from assay.mending import loop

    calls = []
    monkeypatch.setattr(loop, "mend_run", lambda *given: calls.append(given[:4]) or "curve")
    monkeypatch.setattr(mending.Run, "open", lambda folder: Run(Path(folder), "its data"))
    assert mending.mend("run", "out", progress=False) == "curve"
    assert mending.mend(Run(Path("r"), "mine"), "out", dataset="other", budget=30, strategy="random", seed=2) == "curve"
    (folder, data, settings, output), (second, other, chosen, _) = calls
    assert (folder, data, output) == (Path("run"), "its data", Path("out"))
    assert (settings.strategy, settings.budget) == ("plan", 200)
    assert (second, other, chosen.strategy, chosen.budget, chosen.seed) == (Path("r"), "other", "random", 30, 2)


def test_saliency_is_of_a_run_a_module_or_a_function(monkeypatch, squares):
    from assay.models.saliency import examined, folder
    from assay.models.saliency import explaining as methods

    monkeypatch.setattr(examined, "examine_model", lambda model: f"examined {model}")
    checked = []
    monkeypatch.setattr(explaining, "check_dataset", lambda run, data: checked.append((run.folder, data)))
    run = Run(Path("run"), "its data")
    run.__dict__["model"] = "the model"
    assert explaining._examine(run, None) == ("its data", "examined the model")
    assert explaining._examine(run, "mine") == ("mine", "examined the model")
    assert checked == [(Path("run"), "its data"), (Path("run"), "mine")]
    monkeypatch.setattr(explaining.Run, "open", lambda folder: run)
    assert explaining._examine("run", None)[0] == "its data"
    with pytest.raises(ConfigError, match=r"needs a dataset: assay.saliency\(model, dataset\)"):
        explaining._examine(len, None)

    def mine(pictures):
        return pictures

    data, found = explaining._examine(mine, squares)
    assert data is squares and found.name == "mine" and not found.has_concepts
    monkeypatch.setattr(explaining, "_examine", lambda model, dataset: (dataset, model))
    monkeypatch.setattr(methods, "explain", lambda *given: given[:3])
    monkeypatch.setattr(folder, "explain_into", lambda *given: given[:4])
    model, where, plan = explaining.saliency("m", "d", "occlusion", n=7, split="ood", seed=3)
    assert (model, where, plan.method, plan.examples, plan.split, plan.seed) == ("m", "d", "occlusion", 7, "ood", 3)
    output, model, where, plan = explaining.saliency("m", "d", "occlusion", "out")
    assert (output, model, where, plan.examples, plan.split, plan.seed) == (Path("out"), "m", "d", 200, "test", 0)


# datasets and runs


@needs_task("mnlogic")
def test_settings_of_a_call_make_a_recipe(tmp_path, monkeypatch):
    recipe = datasets._recipe("mnlogic", 16, 3, {"test": 5}, {"k": 3})
    assert recipe == recipe_from("mnlogic", Settings({"n": 16, "seed": 3, "splits": {"test": 5}, "k": 3}))
    assert datasets._recipe("mnlogic", None, 0, None, {}) == Recipe("mnlogic", Settings({}))
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    place = datasets._cached(recipe)
    assert place.parent == tmp_path / "made" and place.name.startswith("mnlogic-") and len(place.name) == 20
    others = [datasets._recipe("mnlogic", 16, 4, {"test": 5}, {"k": 3}),
              datasets._recipe("mnlogic", 16, 3, {"test": 5, "pairs": 1}, {"k": 3})]  # fmt: skip
    assert len({place, *map(datasets._cached, others)}) == 3
    assert datasets._cached(datasets._recipe("mnlogic", 16, 3, {"test": 5}, {"k": 3})) == place


def test_a_dataset_without_pairs_gets_them(monkeypatch):
    done = []
    monkeypatch.setattr(datasets, "task_of", lambda dataset: "task")
    monkeypatch.setattr(datasets, "refresh_pairs", lambda dataset, task: done.append(task))
    monkeypatch.setattr(datasets.Dataset, "open", lambda folder: {"pairs": f"pairs in {folder}"})
    assert datasets.pairs(SimpleNamespace(pairs=None, folder="f")) == "pairs in f" and done == ["task"]

    class Data(dict):
        pairs = 1

    assert datasets.pairs(Data(pairs="its pairs")) == "its pairs" and done == ["task"]


def test_a_confounded_copy(monkeypatch):
    written = []
    monkeypatch.setattr(datasets, "confound_dataset", lambda *given: written.append(given))
    monkeypatch.setattr(datasets.Dataset, "open", lambda folder: f"opened {folder}")
    assert datasets.confound("data", "out", "watermark", "y") == "opened out"
    assert datasets.confound("data", "out", "watermark", "y", 0.5) == "opened out"
    assert [(data, output) for data, _, output in written] == [("data", Path("out"))] * 2
    assert [planted[0].strength for _, planted, _ in written] == [0.95, 0.5]
    assert written[0][1][0].what == "watermark"


def test_a_run_is_found_again_in_the_cache(monkeypatch, tmp_path, squares):
    from assay.models.core import runs

    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    trained = []

    def train_run(order, dataset, folder, watch):
        trained.append((order.model, dict(order.settings.values), order.seed, order.log, folder))
        folder.mkdir(parents=True)
        (folder / "run.json").write_text("{}")

    monkeypatch.setattr(runs, "train_run", train_run)
    first = running.train("cbm", squares, seed=2, progress=False, epochs=3)
    again = running.train("cbm", squares, seed=2, progress=False, epochs=3)
    assert first.folder == again.folder and first.dataset is squares and len(trained) == 1
    assert first.folder.parent == tmp_path / "runs" and first.folder.name.startswith("two-squares-cbm-seed2-")
    assert trained[0] == ("cbm", {"epochs": 3}, 2, None, first.folder)
    others = {
        running.train("cbm", squares, progress=False, **how).folder for how in ({"seed": 1, "epochs": 3}, {"seed": 2})
    }
    assert len(others | {first.folder}) == 3
    here = running.train("cbm", squares, tmp_path / "mine", progress=False, log="mlflow")
    assert here.folder == tmp_path / "mine" and trained[-1][3] == "mlflow"


def test_a_run_tells_its_history(monkeypatch, tmp_path):
    epochs = [{"loss": 0.5, "score": 0.25}, {"loss": 0.125, "score": 0.75}]
    (tmp_path / "history.json").write_text(json.dumps({"epochs": epochs}))
    monkeypatch.setattr(RunFolder, "about", lambda self: {"model": "cbm", "seed": 3})
    monkeypatch.setattr(RunFolder, "dataset", lambda self: SimpleNamespace(name="toy"))
    run = Run.open(tmp_path)
    assert run.history == epochs and run.about["seed"] == 3
    assert repr(run) == f"Run(cbm on toy, seed 3, {str(tmp_path)[-80:]!r})"
    text = run._repr_html_()
    assert "after the last epoch" in text and "0.125" in text and "0.75" in text and "0.25" not in text
    figure = run.plot()
    assert [axes.get_ylabel() for axes in figure.axes] == ["loss", "score"]
    assert figure.get_suptitle() == "cbm on toy" and figure.axes[0].get_xlabel() == "epoch"
    run.__dict__["model"] = SimpleNamespace(predict=lambda data: f"said of {data}")
    object.__setattr__(run, "dataset", {"test": "the test split"})
    assert run.predict("test") == "said of the test split" and run.predict(7) == "said of 7"
    assert assay.Run is Run
