"""Train a model, and what came of it."""

import json
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.config import Settings
from assay.data import Dataset, SplitData, cache_folder, permit_remote, versions
from assay.html import html_table, html_text
from assay.plots import Figure, line_plot
from assay.predictions import Predictions
from assay.progress import progress_bar
from assay.runs import RUN, RunFolder
from assay.seeds import digest

if TYPE_CHECKING:
    from assay.models import Model


@dataclass(frozen=True, repr=False)
class Run:
    """A trained model in its folder, and the dataset that it was trained on."""

    folder: Path
    dataset: Dataset

    @classmethod
    def open(cls, folder: Path | str, allow_remote: bool = False) -> "Run":
        """Open the folder of a finished run; an address that its record names only if that is allowed."""
        found = RunFolder(Path(folder))
        with permit_remote(allow_remote):
            return cls(found.folder, found.dataset())

    @property
    def about(self) -> dict[str, Any]:
        """What was trained on what: model, seed, settings, versions."""
        return RunFolder(self.folder).about()

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
        return line_plot(curves, "epoch", f"{RunFolder(self.folder).record.model} on {self.dataset.name}")

    def _repr_html_(self) -> str:
        epochs = self.history
        rows = [[f"{key}", f"{epochs[-1][key]:.4g}"] for key in ("loss", "score") if epochs and key in epochs[-1]]
        return html_text(repr(self), bold=True) + html_table(["after the last epoch", ""], rows)

    def __repr__(self) -> str:
        record = RunFolder(self.folder).record
        return f"Run({record.model} on {self.dataset.name}, seed {record.seed}, {str(self.folder)[-80:]!r})"


def train(
    model: str,
    dataset: Dataset,
    output: Path | str | None = None,
    *,
    seed: int = 0,
    progress: bool | None = None,
    log: str | None = None,
    **settings: Any,
) -> Run:
    """Train a model and keep it in a folder, with its predictions for every split but the training one.

    Without `output` the run goes into the cache (`$ASSAY_CACHE`); the same call, with the same versions, finds it again
    there instead of training once more. `log` is where epochs and scores go, if anywhere: `tensorboard`, `wandb` or
    `mlflow`. All other keywords are settings of the model, such as `epochs`.
    """
    from assay.models import Order, train_run

    order = Order(model, Settings(dict(settings)), seed, log=log)
    folder = _cached(order, dataset) if output is None else Path(output)
    if output is None and (folder / RUN).exists():
        return Run(folder, dataset)
    with progress_bar(progress) as bar:
        train_run(order, dataset, folder, lambda epoch, epochs: bar(f"training {model}", epoch.number, epochs))
    return Run(folder, dataset)


def _cached(order: Any, dataset: Dataset) -> Path:
    """Return the folder in the cache for what is to be trained."""
    try:
        used = {**versions(), "torch": version("torch")}
    except PackageNotFoundError:  # a learner on concepts needs none
        used = versions()
    plan = json.dumps([order.model, dict(order.settings.values), order.seed, dataset.fingerprint, used], default=str)
    return cache_folder() / "runs" / f"{dataset.name}-{order.model}-seed{order.seed}-{digest(plan).hex()[:12]}"
