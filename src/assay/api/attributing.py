"""Judge a model's concepts: what they leak, and which wrong labels they cause."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.arguments import Data
from assay.api.running import Run, open_run
from assay.base import ConfigError, DataError, MissingExtra, find_rows
from assay.contracts import read_predictions
from assay.dataset import Dataset
from assay.diagnosis import Attribution, Leakage, evidence_of
from assay.diagnosis import attribute as attribute_errors
from assay.diagnosis import leakage as measure_leakage
from assay.lab import answering_for
from assay.metrics import gather, gather_from
from assay.runs import RunFolder

if TYPE_CHECKING:
    from assay.models import Bypass


@dataclass(frozen=True)
class LeakageReport:
    """What the predicted concepts of a split carry beyond the concepts, and whether labels bypass them."""

    dataset: Dataset
    seed: int
    precision: float
    leakage: Leakage
    bypass: "Bypass | None"
    why_no_bypass: str

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        about = {"fingerprint": self.dataset.fingerprint, "seed": self.seed, "precision": self.precision}
        return {**about, **self.leakage.to_dict(), "bypass": None if self.bypass is None else self.bypass.to_dict()}


def leakage(
    run: Run | Path | str,
    dataset: Data | None = None,
    *,
    split: str = "test",
    seed: int = 0,
    precision: float = 0.01,
) -> LeakageReport:
    """Measure how much predicted concepts reveal of labels and of each other beyond the true concepts.

    For models that support interventions, also whether labels survive when the concepts are shuffled or constant.

    Parameters
    ----------
    run
        A run or its folder, or a predictions file.
    dataset
        The dataset; by default the one that the run was trained on.
    split
        The split to evaluate.
    seed
        The random seed.
    precision
        Probabilities that differ by less count as equal.
    """
    opened = open_run(run, dataset)
    data, folder = opened.dataset, opened.folder
    predictions = RunFolder(folder).all_predictions(data.knowledge, data.sizes)
    if split not in predictions:
        raise DataError(
            f"{str(folder)!r} has no predictions for split {split!r}: assay predict RUN DATA --split {split}"
        )
    measured = measure_leakage(gather_from(data, predictions[split]), seed, precision)
    passes, why = _bypass(opened, split, seed)
    return LeakageReport(data, seed, precision, measured, passes, why)


def _bypass(run: Run, split: str, seed: int) -> "tuple[Bypass | None, str]":
    """Return the bypass of a run, or why there is none."""
    if run.folder.is_file():
        return None, "a predictions file has no model"
    from assay.models import bypass

    try:
        return bypass(run.model, run.dataset[split], seed), ""  # a network needs torch, a program does not
    except (ConfigError, DataError, MissingExtra) as error:
        return None, str(error)


def attribute(run: Run | Path | str, dataset: Data | None = None, *, split: str = "test") -> Attribution:
    """Attribute every wrong label to one cause, as a diagnosis counts them.

    The label head (the true rule gives the right label for the predicted concepts), misread concepts (the label follows
    from them), both, or uncertain concepts.

    Parameters
    ----------
    run
        A run or its folder, or a predictions file.
    dataset
        The dataset; by default the one that the run was trained on.
    split
        The split to evaluate.
    """
    opened = open_run(run, dataset)
    data, folder = opened.dataset, opened.folder
    answering, _ = answering_for(folder, data, split)
    examples = data[split]
    examples.with_known_concepts("attribution")
    path = folder if folder.is_file() else RunFolder(folder).predictions(split)
    if path.exists():  # what is diagnosed
        predictions = read_predictions(path, data.knowledge, data.sizes)
        evidence = gather(examples, predictions)
        model = answering(examples.take(find_rows(predictions.index, examples.index)))
    else:
        model = answering(examples)
        evidence = evidence_of(model, data.knowledge, examples.concepts, examples.labels, split)
    return attribute_errors(model, evidence, own_head=not folder.is_file())
