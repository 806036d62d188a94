"""Options of calls reach those who do the work: what each hands on where nothing is left at its default."""

import json
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from assay.api import Run, answers, datasets, explaining, figures, judging, mending, running
from assay.config import Settings
from assay.data import Dataset
from assay.errors import DataError
from assay.html import shorten
from assay.predictions import Answer, Predictions
from assay.runs import RunFolder
from tests.predictors import oracle, predictions
from tests.toys import Shelf, written


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Two labels, three concepts, pictures that are not square."""
    return written(Shelf(), tmp_path_factory.mktemp("shelf") / "data", train=8, valid=4, test=20, hard=4)


@pytest.fixture
def shown(monkeypatch):
    """What is shown of progress."""
    lines = []

    class Told:
        def __call__(self, what, done, whole):
            lines.append((what, done, whole))

        def counter(self, what, whole):
            lines.append((what, whole))

    @contextmanager
    def bar(progress):
        lines.append(progress)
        yield Told()

    monkeypatch.setattr(running, "progress_bar", bar)
    monkeypatch.setattr(datasets, "progress_bar", bar)
    monkeypatch.setattr(mending, "progress_bar", bar)
    return lines


# datasets and runs


def test_a_dataset_is_made_where_and_as_it_is_told(monkeypatch, shown):
    made = []

    class Planned(datasets.Recipe):
        splits = (SimpleNamespace(size=30), SimpleNamespace(size=12))
        pairs = 5

    recipe = Planned("mine", Settings({}))
    monkeypatch.setattr(datasets, "write", lambda *given: made.append(given[:3]))
    monkeypatch.setattr(datasets, "default_workers", lambda recipe: 7)
    monkeypatch.setattr(datasets, "_cached", lambda recipe: Path("cached"))
    monkeypatch.setattr(datasets.Dataset, "open", lambda folder: f"opened {folder}")
    assert datasets.make(recipe, "out", workers=3, progress=True) == "opened out"
    assert datasets.make(recipe) == "opened cached"
    assert made == [(recipe, "out", 3), (recipe, Path("cached"), 7)]
    assert shown == [True, ("making mine", 47), None, ("making mine", 47)]
    asked = []
    monkeypatch.setattr(datasets, "_recipe", lambda *given: asked.append(given) or recipe)
    datasets.make("mine", n=5, seed=6, splits={"test": 2}, colour="red")
    assert asked == [("mine", 5, 6, {"test": 2}, {"colour": "red"})]
    assert datasets.load("there") == "opened there"


def test_a_folder_that_is_named_is_trained_into_anew(monkeypatch, shown, tmp_path):
    from assay.models.core import runs

    trained = []

    def train_run(order, dataset, folder, watch):
        trained.append((order.model, dict(order.settings.values), order.seed, order.log, dataset, folder))
        watch(SimpleNamespace(number=2), 9)

    monkeypatch.setattr(runs, "train_run", train_run)
    (tmp_path / running.RUN).write_text("{}")
    found = running.train("cbm", "data", str(tmp_path), seed=4, progress=False, log="wandb", epochs=9)
    assert (found.folder, found.dataset) == (tmp_path, "data")
    assert trained == [("cbm", {"epochs": 9}, 4, "wandb", "data", tmp_path)]
    assert shown == [False, ("training cbm", 2, 9)]


def test_runs_of_other_data_models_and_versions_lie_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    monkeypatch.setattr(running, "versions", lambda: {"assay": "1"})
    monkeypatch.setattr(running, "version", lambda package: "2.0")
    order = SimpleNamespace(model="cbm", settings=Settings({"epochs": 3}), seed=5)
    data = SimpleNamespace(name="toy", fingerprint="f")
    first = running._cached(order, data)
    assert first.parent == tmp_path / "runs" and first.name.startswith("toy-cbm-seed5-") and len(first.name) == 26
    assert running._cached(order, data) == first
    other = SimpleNamespace(name="toy", fingerprint="g")
    changed = [(order, other), (SimpleNamespace(**{**vars(order), "settings": Settings({"epochs": 4})}), data)]
    folders = {running._cached(*pair) for pair in changed}
    monkeypatch.setattr(running, "version", lambda package: "2.1")
    folders.add(running._cached(order, data))
    monkeypatch.setattr(running, "versions", lambda: {"assay": "2"})
    folders.add(running._cached(order, data))

    def missing(package):
        raise running.PackageNotFoundError(package)

    monkeypatch.setattr(running, "version", missing)
    folders.add(running._cached(order, data))
    assert len(folders | {first}) == 6


def test_a_run_without_epochs_has_a_table_without_rows(monkeypatch, tmp_path):
    monkeypatch.setattr(RunFolder, "about", lambda self: {"model": "rules", "seed": 0})
    run = Run(tmp_path, SimpleNamespace(name="toy", knowledge="its rule", sizes={}))
    for epochs, there in ([], ()), ([{"loss": 0.25}, {"loss": 1 / 3}], ("loss", "0.3333")):
        (tmp_path / "history.json").write_text(json.dumps({"epochs": epochs}))
        text = run._repr_html_()
        assert all(word in text for word in there) and "score" not in text and "0.25" not in text
        assert ("loss" in text) == bool(epochs)
    monkeypatch.setattr(RunFolder, "all_predictions", lambda self, knowledge, sizes: (self.folder, knowledge))
    assert run.predictions == (tmp_path, "its rule")
    monkeypatch.setattr(RunFolder, "dataset", lambda self: "its data")
    assert Run.open(str(tmp_path)) == Run(tmp_path, "its data")


def test_a_run_is_mended_by_its_folder_too(monkeypatch, shown):
    from assay.mending import loop

    monkeypatch.setattr(loop, "mend_run", lambda folder, data, settings, output, bar: (folder, data, settings, output))
    monkeypatch.setattr(mending.Run, "open", lambda folder: Run(Path(folder), "its data"))
    folder, data, settings, output = mending.mend(Path("r"), "out", budget=17, progress=True, first=3)
    assert (folder, data, output, shown) == (Path("r"), "its data", Path("out"), [True])
    assert (settings.strategy, settings.budget, settings.first) == ("plan", 17, 3)


# judging


def test_a_transform_is_handed_to_who_asks_the_model(monkeypatch, shelf):
    monkeypatch.setattr(judging, "predictor_of", lambda *given: lambda data: (data.name, *given))
    assert judging.predictions_of(shelf, len, ["hard"], abs) == {"hard": ("hard", len, shelf, abs)}
    assert list(judging.predictions_of(shelf, len)) == ["test", "valid", "hard", "pairs"]


def test_answers_are_read_from_runs_and_files(monkeypatch, shelf):
    monkeypatch.setattr(judging.RunFolder, "all_predictions", lambda self, knowledge, sizes: (self.folder, knowledge))
    for given in ("r", Path("r"), Run(Path("r"), None)):
        assert judging.read_answers(shelf, given) == (Path("r"), shelf.knowledge)
    one = predictions(shelf["test"], shelf["test"].labels)
    assert judging.read_answers(shelf, one) == {"test": one}


def test_named_metrics_are_scored_on_every_split(shelf):
    found = {name: predictions(shelf[name], shelf[name].labels) for name in ("test", "hard")}
    scores = judging.score(shelf, found, metrics=["label_exact", "label_f1"])
    assert {split: list(by_name) for split, by_name in scores.items()} == {
        "test": ["label_exact", "label_f1"], "hard": ["label_exact", "label_f1"],
    }  # fmt: skip
    assert [by_name["label_exact"].examples for by_name in scores.values()] == [20, 4]
    assert list(judging.score(oracle(shelf.symbols("hard")), metrics=["label_f1"])["hard"]) == ["label_f1"]


def test_checks_that_are_named_are_the_only_ones(monkeypatch):
    monkeypatch.setattr(judging, "audited_dataset", lambda dataset: f"audited {dataset}")
    monkeypatch.setattr(judging, "examine", lambda data, checks: (data, checks))
    assert judging.audit("d") == ("audited d", ()) and judging.audit("d", ["labels"]) == ("audited d", ["labels"])


# explaining


def test_what_is_explained_is_a_model_a_module_or_a_function(monkeypatch, shelf):
    import torch

    from assay.models.external import wrapped
    from assay.models.saliency import examined

    monkeypatch.setattr(examined, "examine_model", lambda model: f"examined {model}")
    monkeypatch.setattr(wrapped, "wrap", lambda model, dataset: f"wrapped {type(model).__name__} of {dataset.name}")
    assert explaining._examine(torch.nn.ReLU(), shelf) == (shelf, "examined wrapped ReLU of shelf")

    class Mine:
        def predict(self, rows):
            return rows

    data, found = explaining._examine(Mine(), shelf)
    assert data is shelf and (found.name, found.has_concepts) == ("Mine", False) and found.about() == {"model": "Mine"}


def test_settings_of_saliency_are_handed_on(monkeypatch):
    from assay.models import SaliencyPlan
    from assay.models.saliency import explaining as methods

    plans = []
    monkeypatch.setattr(SaliencyPlan, "of", lambda method, settings, **rest: plans.append((method, settings, rest)))
    monkeypatch.setattr(explaining, "_examine", lambda model, dataset: (dataset, model))
    monkeypatch.setattr(methods, "explain", lambda *given: given[:2])
    assert explaining.saliency("m", "d", "occlusion", n=3, split="ood", seed=5, steps=8) == ("m", "d")
    assert plans == [("occlusion", Settings({"steps": 8}), {"examples": 3, "split": "ood", "seed": 5})]


# answers


def test_a_module_is_wrapped_with_its_transform(monkeypatch, shelf):
    import torch

    from assay.models.external import wrapped

    monkeypatch.setattr(wrapped, "wrap", lambda *given: SimpleNamespace(predict=given))
    module = torch.nn.ReLU()
    assert answers.predictor_of(module, shelf, abs) == (module, shelf, abs)


def test_an_estimator_sees_what_the_transform_makes(shelf):
    class Counting:
        def predict(self, rows):
            return np.stack([rows[:, 0] > 30, rows[:, 0] > 40], axis=1).astype(int)

    def lit(images):
        return (images > 0).any(axis=3).sum(axis=(1, 2))[:, None]

    data = shelf["test"]
    found = answers.predictor_of(Counting(), shelf, lit)(data)
    pixels = lit(data.images)[:, 0]
    assert found.labels["same"].codes.tolist() == (pixels > 30).astype(int).tolist()
    assert found.labels["pile"].codes.tolist() == (pixels > 40).astype(int).tolist()
    assert 0 < (pixels > 40).sum() < len(data) and dict(found.about) == {"model": "Counting"}


def test_a_table_of_a_function_is_told_of_what_it_is(shelf):
    columns = {"label_same": [True, False] * 10, "label_pile": [False] * 20, "concept_hidden": [True] * 20}
    found = answers.predictions_for(shelf["test"], pd.DataFrame(columns), about={"model": "m", "seed": 2})
    assert dict(found.about) == {"model": "m", "seed": 2}
    assert found.labels["same"].codes.tolist() == [1, 0] * 10 and found.concepts["hidden"].codes.tolist() == [1] * 20
    assert (found.fingerprint, found.split, found.index.tolist()) == (shelf.fingerprint, "test", list(range(20)))
    for rows in (19, 21):
        table = {name: (column * 2)[:rows] for name, column in columns.items()}
        with pytest.raises(DataError, match=f"the table has {rows} rows, split 'test' has 20"):
            answers.predictions_for(shelf["test"], table)


def test_names_that_are_none_are_refused_and_one_array_is_of_one_name():
    named = [("y", (0, 1, 2))]
    assert answers._answers([2, 0], named, "label", 2)["y"].codes.tolist() == [2, 0]
    with pytest.raises(DataError, match="labels: no label named 'z'"):
        answers._answers({"y": [0, 1], "z": [0, 1]}, named, "label", 2)
    two = [("y", (0, 1, 2)), ("z", (0, 1))]
    found = answers._stacked([[2, 0], [0, 1]], two, "label", 2)  # a list of rows, or of columns: an array for each name
    assert {name: answer.codes.tolist() for name, answer in found.items()} == {"y": [2, 0], "z": [0, 1]}
    found = answers._stacked(([2, 0, 1], [0, 1, 1]), two, "label", 3)
    assert {name: answer.codes.tolist() for name, answer in found.items()} == {"y": [2, 0, 1], "z": [0, 1, 1]}
    with pytest.raises(DataError, match=r"codes of shape \(2, 2\), not an array of shape \(2, 3\)"):
        answers._stacked(np.zeros((2, 3)), two, "label", 2)


def test_lists_of_arrays_are_joined_by_place():
    parts = [[np.array([place, batch]) for place in range(3)] for batch in (7, 8)]
    assert [column.tolist() for column in answers._joined(parts)] == [[0, 7, 0, 8], [1, 7, 1, 8], [2, 7, 2, 8]]
    assert answers._joined([[np.array([1]), np.array([2])]] * 3)[1].tolist() == [2, 2, 2]


# figures


def test_errors_are_found_by_the_number_of_their_example(shelf, monkeypatch):
    sheets = []
    monkeypatch.setattr(figures, "picture_sheet", lambda images, captions: sheets.append((images, captions)))
    data = shelf["test"]
    order = np.array([17, 3, 11, 5])
    said = data.labels[order].copy()
    said[1, 0], said[2] = 1 - said[1, 0], [-1, 1 - said[2, 1]]
    labels = {name: Answer(said[:, place]) for place, name in enumerate(("same", "pile"))}
    found = Predictions(data.fingerprint, "test", data.index[order], labels)
    figures.plot_errors(shelf, found)
    ((images, captions),) = sheets
    assert [image.tolist() for image in images] == [data.images[row].tolist() for row in (3, 11)]
    true = [[bool(code) for code in data.labels[row]] for row in (3, 11)]
    assert captions[0] == f"same: {true[0][0]} -> {not true[0][0]}"
    whole = f"same: {true[1][0]} -> none, pile: {true[1][1]} -> {not true[1][1]}"
    assert captions[1] == shorten(whole, 40)
    figures.plot_errors(shelf, predictions(data, 1 - data.labels))
    assert len(sheets[1][0]) == len(sheets[1][1]) == 12  # of twenty


def test_curves_are_read_at_every_fiftieth(shelf, monkeypatch):
    drawn = []
    monkeypatch.setattr(figures, "curve_plot", lambda *given: drawn.append(given))
    monkeypatch.setattr(figures, "coverage_of", lambda evidence: (np.array([0.25, 1.0]), np.array([1.0, 0.7])))
    data = shelf["test"]
    figures.plot_coverage(shelf, *[predictions(data, data.labels)] * 2)
    ((across, points, curves, upward),) = drawn
    assert (across, upward) == ("share of examples that are decided", "accuracy on these")
    assert points == pytest.approx([place / 50 for place in range(51)])
    expected = [1.0 if point <= 0.25 else 1 - 0.3 * (point - 0.25) / 0.75 for point in points]
    assert list(curves) == ["model 1", "model 2"]
    assert curves["model 1"] == curves["model 2"] == pytest.approx(expected)
