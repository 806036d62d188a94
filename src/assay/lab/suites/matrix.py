"""The matrix: every model on one small dataset of every family, which works or refuses in a line.

A cell trains, saves, loads, predicts the same again, is diagnosed with what the labels can teach counted, and is
intervened on where the model can be. What an error of ours says is a refusal; anything else that is raised is a crash.
"""

import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from assay.base import AssayError, ConfigError, RunFailed, Settings, UnknownName, suggestion
from assay.contracts import Predictions
from assay.dataset import Dataset, Recipe, make
from assay.diagnosis import Identifiability, InterventionPlan, diagnose_run, intervene, taught_by
from assay.families import FAMILIES
from assay.lab.suites.suite import Suite
from assay.models import MODELS
from assay.reporting import Table
from assay.runs import RunFolder
from assay.tasks import TASKS

SMALL = {"train": 40, "valid": 12, "test": 20, "pairs": 8}
"""The sizes of the splits; others are left out."""
QUICK: Mapping[str, Any] = {
    **{"epochs": 2, "device": "cpu", "members": 2, "seconds": 0.5, "programs": 2000, "beam": 4, "steps": 5},
    **{"literals": 2, "clauses": 2, "rounds": 2},
}
"""Settings of models that have them, so that a cell takes about a second."""
CellOutcome = Literal["works", "refuses", "crashes"]


@dataclass(frozen=True)
class MatrixCell:
    """A model on a family: whether it works, and if not, why in a line."""

    model: str
    family: str
    outcome: CellOutcome
    why: str = ""
    seconds: float = 0.0


def _small_datasets(suite: Suite, folder: Path, families: Iterable[str]) -> dict[str, Dataset]:
    """Make a small dataset of each family, and return them by family."""
    datasets: dict[str, Dataset] = {}
    for family in families:
        recipe = _recipe_of(family, suite)
        names = [split.name for split in recipe.splits]
        sizes = {name: SMALL.get(name, 0) for name in [*names, "pairs"]}
        make(replace(recipe, sizes=tuple(sorted(sizes.items()))), folder / family)
        datasets[family] = Dataset.open(folder / family)
    return datasets


def _recipe_of(family: str, suite: Suite) -> Recipe:
    """Return the recipe of the suite's first dataset of a family, or else of the family's first task, for a trial."""
    for data in suite.datasets.values():
        if data.config.family == family and data.recipe is not None:
            return data.recipe
    if family not in FAMILIES:
        raise UnknownName(f"no family named {family!r}{suggestion(family, FAMILIES)}")
    task = next(task for task in map(TASKS.__getitem__, TASKS.entries) if family in task.__module__.split("."))
    return Recipe(task.name, Settings(dict(task.trial)))


def matrix_cells(suite: Suite, models: Sequence[str] = (), families: Sequence[str] = ()) -> Iterator[MatrixCell]:
    """Try models on a small dataset of each family, by default all on all, and give each cell when it is tried.

    Parameters
    ----------
    suite
        Whose baselines and settings are tried.
    models
        Names of baselines, by default all.
    families
        Names of families, by default all.
    """
    with tempfile.TemporaryDirectory() as folder:
        for family, data in _small_datasets(suite, Path(folder), families or FAMILIES).items():
            for model in models or MODELS:
                yield try_cell(model, family, data)


def try_cell(model: str, family: str, dataset: Dataset, settings: Mapping[str, Any] | None = None) -> MatrixCell:
    """Try a model on a dataset, from training to interventions."""
    began = time.perf_counter()
    known = MODELS[model].Config.model_fields
    quick = {key: value for key, value in QUICK.items() if key in known}
    try:
        with tempfile.TemporaryDirectory() as folder:
            _live_through(model, Settings({**quick, **(settings or {})}), dataset, Path(folder) / "run")
    except RunFailed as error:
        return MatrixCell(model, family, "crashes", str(error), time.perf_counter() - began)
    except AssayError as error:
        return MatrixCell(model, family, "refuses", str(error), time.perf_counter() - began)
    except Exception as error:  # what a matrix is for: to tell where models break
        return MatrixCell(model, family, "crashes", f"{type(error).__name__}: {error}", time.perf_counter() - began)
    return MatrixCell(model, family, "works", "", time.perf_counter() - began)


def _live_through(model: str, settings: Settings, dataset: Dataset, folder: Path) -> None:
    """Train, save, load, predict, diagnose, intervene."""
    from assay.models import TrainSpec, load_model, train_run

    taught: Identifiability | None = taught_by(dataset)
    trained = train_run(TrainSpec(model, settings), dataset, folder)
    loaded = load_model(folder)
    test = dataset["test"]
    _require_same(RunFolder(folder).all_predictions(dataset.knowledge)["test"], loaded.predict(test))
    diagnose_run(RunFolder(folder), dataset, taught)
    plan = InterventionPlan("uncertainty", "0,1,max")
    if trained.can_intervene and trained.has_concepts:
        result = intervene(plan, dataset, loaded.intervene)
        if result.control_changed:
            raise RunFailed(
                f"answers that repeat {model!r}'s own concepts change {result.control_changed:.2f} of labels"
            )
        return
    try:
        intervene(plan, dataset, loaded.intervene)
    except ConfigError:
        return
    raise RunFailed(f"{model!r} says that it cannot be intervened on, and can")


def _require_same(written: Predictions, again: Predictions) -> None:
    """Refuse predictions of a loaded model that are not those that were written when it was trained."""
    pairs = [(written.labels, again.labels), (written.concepts, again.concepts)]
    for before, after in pairs:
        for name, answer in before.items():
            both = _rows(answer.probabilities), _rows(after[name].probabilities)
            if not np.allclose(*both, atol=1e-4, equal_nan=True):  # one that says nothing has none
                raise RunFailed(f"saved and loaded, it says something else of {name!r}")


def _rows(probabilities: Any) -> Any:
    return np.asarray(probabilities, dtype=np.float64)


def matrix_table(cells: Sequence[MatrixCell]) -> Table:
    """Return the matrix as a table, a row for each model."""
    families = list(dict.fromkeys(cell.family for cell in cells))
    by_place = {(cell.model, cell.family): cell for cell in cells}
    rows = []
    for model in dict.fromkeys(cell.model for cell in cells):
        found = [by_place.get((model, family)) for family in families]
        rows.append((model, *("" if cell is None else _told(cell) for cell in found)))
    return Table("Every model on one small dataset of every family", ("model", *families), tuple(rows))


def _told(cell: MatrixCell) -> str:
    return cell.outcome if cell.outcome == "works" else f"{cell.outcome}: {cell.why}"
