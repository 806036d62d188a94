"""Runs: a model is trained, repaired by what it lacks, and predicts."""

import json
import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from assay.api.arguments import ConfigSource, Data, merge_settings, open_dataset
from assay.base import (
    ConfigError,
    Figure,
    digest,
    html_table,
    html_text,
    line_plot,
    permit_remote,
    progress_bar,
    validate,
)
from assay.contracts import Predictions, RunRecord
from assay.dataset import Dataset, SplitData, cache_folder, versions
from assay.runs import RUN, RunFolder, check_dataset

if TYPE_CHECKING:
    from assay.lab import AcquisitionCurve
    from assay.models import Epoch, Model, TrainSpec


@dataclass(frozen=True, repr=False)
class Run:
    """A trained model in its folder, and the dataset that it was trained on."""

    folder: Path
    dataset: Dataset
    is_new: bool = field(default=False, compare=False)
    """Whether the call that returned it trained it, instead of finding it finished."""

    @classmethod
    def open(cls, run: "Run | Path | str", dataset: Data | None = None, *, allow_remote: bool = False) -> "Run":
        """Open the folder of a finished run, or a predictions file, with the dataset that it was trained on.

        Parameters
        ----------
        run
            A run or its folder; with a dataset also a predictions file.
        dataset
            Another dataset, or its folder or address.
        allow_remote
            Whether an address that the run's record names is opened.
        """
        if isinstance(run, Run):
            return run if dataset is None else replace(run, dataset=open_dataset(dataset))
        path = Path(run)
        if dataset is not None:
            return cls(path, open_dataset(dataset))
        if path.is_file():
            raise ConfigError(f"{str(run)!r} is a predictions file; name the dataset folder after it")
        with permit_remote() if allow_remote else nullcontext():
            return cls(path, RunFolder(path).dataset())

    @property
    def record(self) -> RunRecord:
        """What was trained on what, as its record says."""
        return RunFolder(self.folder).record

    @property
    def metadata(self) -> dict[str, Any]:
        """What was trained on what: model, seed, settings, versions."""
        return RunFolder(self.folder).metadata()

    @cached_property
    def model(self) -> "Model":
        """The trained model."""
        from assay.models import load_model

        return load_model(self.folder)

    @property
    def predictions(self) -> dict[str, Predictions]:
        """The predictions that were written, by split."""
        return RunFolder(self.folder).all_predictions(self.dataset.knowledge, self.dataset.sizes)

    def predict(self, data: SplitData | str) -> Predictions:
        """Return predictions for a split, or for the one of a name."""
        return self.model.predict(self.dataset[data] if isinstance(data, str) else data)

    @property
    def history(self) -> list[dict[str, Any]]:
        """The training history, an entry an epoch."""
        epochs: list[dict[str, Any]] = json.loads((self.folder / "history.json").read_text())["epochs"]
        return epochs

    def plot(self) -> Figure:
        """Draw the learning curves: the loss, and the score on the validation split."""
        curves = {key: [float(epoch[key]) for epoch in self.history] for key in ("loss", "score")}
        return line_plot(curves, "epoch", f"{self.record.model} on {self.dataset.name}")

    def _repr_html_(self) -> str:
        epochs = self.history
        rows = [[f"{key}", f"{epochs[-1][key]:.4g}"] for key in ("loss", "score") if epochs and key in epochs[-1]]
        return html_text(repr(self), bold=True) + html_table(["after the last epoch", ""], rows)

    def __repr__(self) -> str:
        return f"Run({self.record.model} on {self.dataset.name}, seed {self.record.seed}, {str(self.folder)[-80:]!r})"


def trained_run(run: Run | Path | str, dataset: Data | None = None) -> Run:
    """Return a run that was trained, refusing a folder that holds none before the dataset is opened."""
    RunFolder(run.folder if isinstance(run, Run) else Path(run)).metadata()
    return Run.open(run, dataset)


@overload
def train(
    model: str,
    dataset: Data,
    output: Path | str | None = None,
    *,
    seed: int = 0,
    seeds: None = None,
    progress: bool | None = None,
    log: str | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> Run: ...
@overload
def train(
    model: str,
    dataset: Data,
    output: Path | str | None = None,
    *,
    seed: int = 0,
    seeds: Sequence[int],
    progress: bool | None = None,
    log: str | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> list[Run]: ...
def train(
    model: str,
    dataset: Data,
    output: Path | str | None = None,
    *,
    seed: int = 0,
    seeds: Sequence[int] | None = None,
    progress: bool | None = None,
    log: str | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> Run | list[Run]:
    """Train a model and keep it in a folder, with its predictions for every split but the training one.

    The same call finds what it trained instead of training once more.

    Parameters
    ----------
    model
        The name of a model, or `FILE.py` or `FILE.py:Name`.
    dataset
        The dataset, or its folder or address.
    output
        The folder of the run; without it the run goes into the cache (`$ASSAY_CACHE`).
    seed
        The random seed.
    seeds
        Train these seeds together, each into a folder `seed0`, ... of `output`, and return a run for each.
    progress
        Whether to show progress on standard error; by default on a terminal, and now and then elsewhere.
    log
        Where epochs and scores go, if anywhere: `tensorboard`, `wandb` or `mlflow`.
    config
        Settings of the model, or the YAML file that has them; keywords override them.
    **settings
        Settings of the model, such as `epochs`.
    """
    from assay.models import MODELS, TrainSpec

    name = MODELS.resolve(model)
    data = open_dataset(dataset)
    order = TrainSpec(name, merge_settings(config, settings), seed, log=log)
    if seeds is None:
        return _train_one(order, data, None if output is None else Path(output), progress)
    if output is None:
        return [_train_one(replace(order, seed=one), data, None, progress) for one in seeds]
    return _train_several(order, list(seeds), data, Path(output), progress)


def _train_one(order: "TrainSpec", dataset: Dataset, output: Path | None, progress: bool | None) -> Run:
    """Train one seed, unless it is there: in the cache by its name, elsewhere by what its record says."""
    from assay.models import finished_already, train_run

    folder = _cached(order, dataset) if output is None else output
    with progress_bar(progress) as bar:
        if (folder / RUN).exists() if output is None else finished_already(order, dataset, folder):
            return Run(folder, dataset)
        model = train_run(
            order, dataset, folder, lambda e, whole: bar(f"training {order.model}", e.number, whole, _note(e))
        )
    run = Run(folder, dataset, is_new=True)
    run.__dict__["model"] = model  # it need not be loaded
    return run


def _train_several(
    order: "TrainSpec", seeds: list[int], dataset: Dataset, output: Path, progress: bool | None
) -> list[Run]:
    """Train several seeds side by side, unless all are there."""
    from assay.models import finished_already, train_together

    runs = [Run(output / f"seed{seed}", dataset) for seed in seeds]
    with progress_bar(progress) as bar:
        finished = (
            finished_already(replace(order, seed=seed), dataset, run.folder)
            for seed, run in zip(seeds, runs, strict=True)
        )
        if all(finished):
            return runs
        watch = lambda e, whole: bar(f"training {order.model}", e.number, whole, _note(e))  # noqa: E731
        folders = train_together(order, seeds, dataset, output, watch)
    return [Run(folder, dataset, is_new=True) for folder in folders]


def _note(epoch: "Epoch") -> str:
    """Return what an epoch gave, for the progress bar."""
    score = "" if math.isnan(epoch.score) else f", validation F1 {epoch.score:.2f}"
    return f"{epoch.phase} epoch {epoch.number}, loss {epoch.loss:.3f}{score}"


def _cached(order: "TrainSpec", dataset: Dataset) -> Path:
    """Return the folder in the cache for what is to be trained."""
    from assay.models import MODELS

    try:
        used = {**versions(), "torch": version("torch")}
    except PackageNotFoundError:  # a learner on concepts needs none
        used = versions()
    code = MODELS.entry(order.model).code
    what = [order.model, dict(order.settings.values), order.seed, dataset.fingerprint, used]
    plan = json.dumps(what if code is None else [*what, code.to_dict()], default=str)
    return cache_folder() / "runs" / f"{dataset.name}-{order.model}-seed{order.seed}-{digest(plan).hex()[:12]}"


def predict(
    run: Run | Path | str,
    dataset: Data | None = None,
    output: Path | str | None = None,
    *,
    split: str = "test",
) -> list[Path]:
    """Write a trained model's predictions, and return the files.

    Parameters
    ----------
    run
        A run or its folder.
    dataset
        The dataset; by default the one that the run was trained on.
    output
        For data that it was not trained on: a new folder, which gets predictions for all splits.
    split
        Without `output`: the split to predict.
    """
    opened = trained_run(run, dataset)
    from assay.models import load_model, transfer_run

    if output is not None:
        return transfer_run(opened.folder, opened.dataset, Path(output))
    folder = RunFolder(opened.folder)
    check_dataset(folder, opened.dataset)
    path, model = folder.predictions(split), load_model(folder.folder)
    model.predict(opened.dataset[split]).write(path, opened.dataset.knowledge)
    return [path]


def mend(
    run: Run | Path | str,
    output: Path | str,
    *,
    dataset: Data | None = None,
    strategy: str = "plan",
    budget: int = 200,
    progress: bool | None = None,
    config: ConfigSource = None,
    **settings: Any,
) -> "AcquisitionCurve":
    """Diagnose a run, buy what a strategy chooses, retrain, and again until it is sound or the budget is spent.

    Each round is a run in `output`; the same call goes on where an earlier one was stopped.

    Parameters
    ----------
    run
        A run or its folder.
    output
        The folder of the rounds.
    dataset
        The dataset; by default the one that the run was trained on.
    strategy
        What is bought; `assay list strategies` has all.
    budget
        The most that is spent: concept labels, examples, annotated nuisances and masks cost 1 each.
    progress
        Whether to show progress on standard error.
    config
        Settings, or the YAML file that has them; keywords override them.
    **settings
        Settings such as `first`, `growth` and `seed`.
    """
    from assay.lab import STRATEGIES

    STRATEGIES.entry(strategy)
    values = merge_settings(config, {"strategy": strategy, "budget": budget, **settings})
    opened = Run.open(run, dataset)
    from assay.lab import MendSettings, mend_run

    with progress_bar(progress) as bar:
        return mend_run(opened.folder, opened.dataset, validate(MendSettings, values), Path(output), bar)
