"""The models of runs: which runs a path stands for, who answers for a predictions file, how each is loaded."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from assay.config import Settings
from assay.data import Dataset
from assay.errors import ConfigError, DataError
from assay.models.core import runs as model_runs
from assay.models.probes import layers
from assay.runs import RunFolder
from assay.studies import RunModels, accuracy_of, analyses, answering_for, run_models, runs_in
from assay.studies.analyses import Number, run_analysis
from assay.testing import TwoSquares, constant, oracle, small_dataset


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(TwoSquares(), tmp_path_factory.mktemp("squares") / "data")


def test_a_path_stands_for_a_run_or_for_those_in_it(tmp_path):
    for name in ("b", "a"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").touch()
    (tmp_path / "runs" / "half").mkdir()
    assert runs_in(tmp_path / "runs") == [tmp_path / "runs" / "a", tmp_path / "runs" / "b"]
    assert runs_in(tmp_path / "runs" / "a") == [tmp_path / "runs" / "a"]
    (tmp_path / "said.parquet").touch()
    assert runs_in(tmp_path / "said.parquet") == [tmp_path / "said.parquet"]
    with pytest.raises(DataError, match="holds no finished run and is no predictions file"):
        runs_in(tmp_path / "runs" / "half")


def test_a_predictions_file_answers_for_its_split_alone(tmp_path, squares):
    path = tmp_path / "said.parquet"
    constant(squares["test"]).write(path, squares.knowledge)
    answering, about = answering_for(path, squares, "test")
    assert about["model"] == "reference"
    said = answering(squares["test"])
    assert [p.argmax(axis=1).tolist() for p in said.concepts] == [[0] * 16, [0] * 16]
    for data in (squares["valid"], squares["test"].take(np.arange(3))):
        with pytest.raises(ConfigError, match="answers for split 'test' as it is, whole and in order"):
            answering(data)
    with pytest.raises(DataError, match="or another split than 'valid'"):
        answering_for(path, squares, "valid")
    other = SimpleNamespace(knowledge=squares.knowledge, fingerprint="another")
    with pytest.raises(DataError, match="is for other data"):
        answering_for(path, other, "test")


def test_accuracy_is_that_of_a_split(tmp_path, squares):
    for name, said in (("right", oracle), ("constant", constant)):
        said(squares["test"]).write(tmp_path / f"{name}.parquet", squares.knowledge)
    assert accuracy_of(tmp_path / "right.parquet", squares, "test") == 1.0
    share = float((squares["test"].labels == 0).mean())
    assert 0 < share < 1 and accuracy_of(tmp_path / "constant.parquet", squares, "test") == pytest.approx(share)
    with pytest.raises(DataError, match="has no predictions for split 'valid'"):
        accuracy_of(tmp_path / "right.parquet", squares, "valid")


@pytest.mark.parametrize(("config", "device"), [({"device": "cpu"}, "cpu"), ({"device": "cuda"}, "auto"), ({}, "auto")])
def test_a_run_is_loaded_where_it_was_trained(monkeypatch, tmp_path, config, device):
    loaded, checked = [], []

    def load_model(*given):
        loaded.append(given)
        return SimpleNamespace(intervene="intervene")

    facts = {"model": "cbm", "seed": 3, "config": config, "more": 1}
    monkeypatch.setattr(RunFolder, "about", lambda self: facts)
    monkeypatch.setattr(run_models, "check_dataset", lambda run, dataset: checked.append((run.folder, dataset)))
    monkeypatch.setattr(model_runs, "load_model", load_model)
    assert answering_for(tmp_path, "data", "test") == ("intervene", {"model": "cbm", "seed": 3, "config": config})
    assert loaded == [(tmp_path, device)] and checked == [(tmp_path, "data")]


def test_models_of_runs_are_loaded_once_and_asked(monkeypatch):
    loads = []

    def load_model(run):
        loads.append(run)
        return SimpleNamespace(predict=lambda data, do: (run, data, do))

    monkeypatch.setattr(model_runs, "load_model", load_model)
    monkeypatch.setattr(layers, "layer_names", lambda model, data: [data, "conv1"])
    monkeypatch.setattr(layers, "layer_features", lambda model, data, layer: (data, layer))
    monkeypatch.setattr(run_models, "answering_for", lambda run, dataset, split: ((run, dataset, split), {}))
    run_models._model.cache_clear()
    models, run = RunModels(), Path("a run")
    assert models.predict(run, "data", {"a": 1}) == (run, "data", {"a": 1})
    assert models.predict(run, "data", None) == (run, "data", None)
    assert models.layers(run, "data") == ["data", "conv1"]
    assert models.activations(run, "data", "conv1") == ("data", "conv1")
    assert models.answering(run, "dataset", "test") == (run, "dataset", "test")
    assert loads == [run] and not models._turn.locked()
    run_models._model.cache_clear()


def test_probes_are_named_by_the_place_of_their_layer(monkeypatch):
    from assay.models.probes import runs as probe_runs

    def layer(first, second):
        scores = {"valid": {"concept_f1": SimpleNamespace(value=first, examples=7)}}
        return SimpleNamespace(scores={**scores, "test": {"concept_f1": SimpleNamespace(value=second, examples=9)}})

    results, asked = [layer(0.1, 0.2), layer(0.3, 0.4)], []

    def probe_run(folder, dataset, out, ask):
        asked.append((folder, dataset, ask.method, ask.layers, ask.controls if hasattr(ask, "controls") else None))
        return SimpleNamespace(results=results, best=results[1])

    monkeypatch.setattr(probe_runs, "probe_run", probe_run)
    given = Settings({"layers": ["conv1", "conv2"], "suffix": "_x"})
    assert run_analysis("probe", Path("run"), "data", given) == [
        Number("valid", "concept_f1_layer1_x", 0.1, 7),
        Number("test", "concept_f1_layer1_x", 0.2, 9),
        Number("valid", "concept_f1_layer2_x", 0.3, 7),
        Number("valid", "concept_f1_probed_x", 0.3, 7),
        Number("test", "concept_f1_layer2_x", 0.4, 9),
        Number("test", "concept_f1_probed_x", 0.4, 9),
    ]
    run_analysis("probe", Path("run"), "data", Settings({"method": "tcav"}))
    run_analysis("probe", Path("run"), "data", Settings({"method": "sgd"}))
    assert [call[2] for call in asked] == ["linear", "tcav", "linear"] and asked[0][3] == ("conv1", "conv2")


def test_runs_are_tried_on_the_folders_of_other_tasks(monkeypatch, tmp_path):
    from assay.metrics import score as scoring
    from assay.runs import evidence as evidences

    opened = []
    monkeypatch.setattr(analyses.Dataset, "open", lambda folder: opened.append(folder) or folder.name)
    monkeypatch.setattr(model_runs, "transfer_run", lambda folder, other, out: opened.append((folder, other, out.name)))
    monkeypatch.setattr(evidences, "evidence_of", lambda run, other: {"test": f"{other} test", "ood": f"{other} ood"})
    monkeypatch.setattr(
        scoring, "score", lambda evidence, metrics: {m: SimpleNamespace(value=evidence, examples=5) for m in metrics}
    )
    run = tmp_path / "study" / "runs" / "r1"
    settings = Settings({"to": ["u"], "folders": {"u": "u-01", "v": "v-02"}, "split": "ood", "metrics": ["m"]})
    assert run_analysis("transfer", run, "data", settings) == [
        Number("ood", "m_on_u", "u-01 ood", 5),
        Number("ood", "m_on_v", "v-02 ood", 5),
    ]
    data = tmp_path / "study" / "data"
    assert opened == [data / "u-01", (run, "u-01", "there"), data / "v-02", (run, "v-02", "there")]


def test_a_predictions_file_answers_for_examples_in_its_order(tmp_path, squares):
    path, data = tmp_path / "said.parquet", squares["test"]
    constant(data).write(path, squares.knowledge)
    answering, _ = answering_for(path, squares, "test")
    with pytest.raises(ConfigError, match="whole and in order"):
        answering(data.take(np.arange(len(data))[::-1]))
    assert len(answering(data).concepts) == 2


def test_accuracy_is_over_labels_as_well_as_examples(monkeypatch):
    said, labels = np.array([[0, 1], [1, 1], [0, 0]]), np.array([[0, 0], [1, 1], [1, 0]])
    monkeypatch.setattr(RunFolder, "all_predictions", lambda self, knowledge: {"test": "said", "ood": "other"})
    seen = []

    def gather_from(dataset, predictions):
        seen.append(predictions)
        return SimpleNamespace(predicted_labels=said, labels=labels)

    monkeypatch.setattr(run_models, "gather_from", gather_from)
    assert accuracy_of(Path("r"), SimpleNamespace(knowledge=None), "test") == pytest.approx(4 / 6) and seen == ["said"]


def test_runs_in_a_folder_come_by_name_whatever_the_system_says(monkeypatch, tmp_path):
    paths = [tmp_path / name / "run.json" for name in ("c", "a", "b")]
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter(paths) if pattern == "*/run.json" else iter(()))
    assert [run.name for run in runs_in(tmp_path)] == ["a", "b", "c"]


def test_probes_are_fitted_as_the_study_says(monkeypatch):
    from assay.models.probes import runs as probe_runs

    asked = []

    def probe_run(folder, dataset, out, ask):
        asked.append((folder, dataset, out.name, ask))
        return SimpleNamespace(results=[], best=None)

    monkeypatch.setattr(probe_runs, "probe_run", probe_run)
    given = {"method": "tcav", "layers": ["b", "a"], "settings": {"examples": 50, "ridge": 0.5}}
    assert run_analysis("probe", Path("run"), "data", Settings(given)) == []
    ((folder, dataset, out, ask),) = asked
    assert (folder, dataset, out) == (Path("run"), "data", "probes")
    assert (ask.method, ask.layers, ask.every, ask.seed) == ("tcav", ("b", "a"), False, 0)
    assert (ask.config.examples, ask.config.ridge, ask.config.repetitions) == (50, 0.5, 199)
    with pytest.raises(ConfigError, match="unknown key 'exampels'; did you mean 'examples'"):
        run_analysis("probe", Path("run"), "data", Settings({"settings": {"exampels": 3}}))
