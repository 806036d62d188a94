"""Where people keep results: training as events for TensorBoard, Weights & Biases or MLflow. Nothing by default.

Each run is one run there, under the name of its folder: its settings, seed and dataset as parameters; loss and
validation score after each epoch; and at the end F1 and collapse on every split that was predicted.
"""

import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from assay.base import UnknownName, import_extra, suggestion
from assay.dataset import Dataset
from assay.metrics import METRICS, gather_from
from assay.models.core.model import Epoch, Model
from assay.runs import LOGS, RunFolder

PROJECT = "assay"
"""The project or experiment that runs go to, unless WANDB_PROJECT or MLFLOW_EXPERIMENT_NAME names another."""
SUMMARY = ("label_f1", "concept_f1", "collapse")
LONGEST = 500
"""MLflow refuses longer parameters."""


class RunLog(Protocol):
    """What a log takes: numbers by name at a step, and at the end those of the whole run."""

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """Take the numbers of a step."""

    def finish(self, numbers: Mapping[str, float], failed: bool = False) -> None:
        """Take the numbers of the run, and close."""


class TensorBoardLog:
    """Event files in the run's folder, for `tensorboard --logdir`."""

    def __init__(self, name: str, folder: Path, parameters: Mapping[str, Any]) -> None:
        writer = import_extra("torch.utils.tensorboard", "--log tensorboard").SummaryWriter
        shutil.rmtree(folder, ignore_errors=True)  # of a run that was stopped, whose epochs come again
        self.writer = writer(str(folder))
        self.parameters = parameters

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """Write scalars."""
        for name, number in numbers.items():
            self.writer.add_scalar(name, number, step)
        self.writer.flush()

    def finish(self, numbers: Mapping[str, float], failed: bool = False) -> None:
        """Write the parameters with the run's numbers, which TensorBoard shows under "HParams"."""
        if not failed:
            plain = {key: _plain(value) for key, value in self.parameters.items()}
            self.writer.add_hparams(plain, dict(numbers), run_name=".")
        self.writer.close()


class WandbLog:
    """A run of Weights & Biases; with WANDB_MODE=offline it stays in the run's folder."""

    def __init__(self, name: str, folder: Path, parameters: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.run = import_extra("wandb", "--log wandb").init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=name,
            config=dict(parameters),
            dir=str(folder),
        )

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """Log the numbers of a step."""
        self.run.log(dict(numbers), step=step)

    def finish(self, numbers: Mapping[str, float], failed: bool = False) -> None:
        """Put the run's numbers into its summary."""
        self.run.summary.update(dict(numbers))
        self.run.finish(exit_code=int(failed))


class MlflowLog:
    """A run of MLflow, where MLFLOW_TRACKING_URI says, by default in `mlruns` of the working folder."""

    def __init__(self, name: str, folder: Path, parameters: Mapping[str, Any]) -> None:
        self.library = import_extra("mlflow", "--log mlflow")
        if "MLFLOW_EXPERIMENT_NAME" not in os.environ:
            self.library.set_experiment(PROJECT)
        self.library.start_run(run_name=name)
        self.library.log_params({key: str(value)[:LONGEST] for key, value in parameters.items()})

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """Log the numbers of a step."""
        self.library.log_metrics(dict(numbers), step=step)

    def finish(self, numbers: Mapping[str, float], failed: bool = False) -> None:
        """Log the run's numbers, and end it."""
        self.library.log_metrics(dict(numbers))
        self.library.end_run(status="FAILED" if failed else "FINISHED")


MAKERS: dict[str, tuple[Callable[[str, Path, Mapping[str, Any]], RunLog], str]] = {
    "tensorboard": (TensorBoardLog, "torch.utils.tensorboard"),
    "wandb": (WandbLog, "wandb"),
    "mlflow": (MlflowLog, "mlflow"),
}


def check_log(kind: str | None) -> None:
    """Refuse a kind of log that there is not, or whose package is missing, before anything is trained."""
    if kind is None:
        return
    if kind not in MAKERS:
        raise UnknownName(f"no log named {kind!r}{suggestion(kind, MAKERS)}")
    import_extra(MAKERS[kind][1], f"--log {kind}")


class EpochLog:
    """Numbers the epochs of all phases and hands each to a log."""

    def __init__(self, log: RunLog) -> None:
        self.target = log
        self.step = 0
        self.summary: dict[str, float] = {}

    def add(self, epoch: Epoch) -> None:
        """Log the loss and the validation score of an epoch, by phase."""
        self.step += 1
        numbers = {f"{epoch.phase}/loss": epoch.loss, f"{epoch.phase}/validation_f1": epoch.score}
        self.target.log(_finite(numbers), self.step)

    def add_scores(self, dataset: Dataset, run: RunFolder) -> None:
        """Keep the scores of all splits that a run predicted, for the end."""
        for split, predictions in run.all_predictions(dataset.knowledge).items():
            evidence = gather_from(dataset, predictions)
            self.summary |= {f"{split}/{name}": METRICS[name](evidence) for name in SUMMARY}


@contextmanager
def log_of(kind: str, model: Model, dataset: Dataset, run: RunFolder) -> Iterator[EpochLog]:
    """Give the log of a run, and close it when the run ends or fails."""
    parameters = {
        **{"model": model.name, "seed": model.seed, "task": dataset.manifest.task.name},
        **{"fingerprint": dataset.fingerprint, **model.config.model_dump(mode="json")},
    }
    epochs = EpochLog(MAKERS[kind][0](run.folder.name, run.folder / LOGS, parameters))
    try:
        yield epochs
    except BaseException:
        epochs.target.finish({}, failed=True)
        raise
    epochs.target.finish(_finite(epochs.summary))


def _finite(numbers: Mapping[str, float]) -> dict[str, float]:
    """Return the numbers that are some; a black box has no concept F1."""
    return {name: float(number) for name, number in numbers.items() if math.isfinite(number)}


def _plain(value: Any) -> Any:
    """Return a setting as TensorBoard takes it."""
    return value if isinstance(value, (bool, int, float, str)) else str(value)
