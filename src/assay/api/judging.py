"""Diagnose a model."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.api.answers import HELP, predictions_of
from assay.api.arguments import Data, open_dataset
from assay.api.running import Run, open_run
from assay.base import ConfigError
from assay.diagnosis import (
    DEFAULTS,
    Diagnosis,
    Thresholds,
    diagnose_predictions,
    diagnose_run,
    diagnose_under_rule,
    read_thresholds,
)
from assay.diagnosis import diagnose as diagnose_evidence
from assay.logic import Knowledge
from assay.metrics import Evidence
from assay.runs import RunFolder, read_other_rule


def diagnose(
    dataset: Data | Run | Evidence | None,
    answers: Any = None,
    *,
    splits: Sequence[str] | None = None,
    transform: Callable[[Any], Any] | None = None,
    thresholds: Thresholds | Mapping[str, float] = DEFAULTS,
    rule: Knowledge | Path | str | None = None,
) -> Diagnosis:
    """Say what a model has learned: the concepts and the rule, or something else.

    Parameters
    ----------
    dataset
        The dataset, or where it lies. Alone, what is judged: a run, its folder, or evidence.
    answers
        Predictions for one split or several (`ds["test"].predictions(...)`), a run or its folder, a predictions file,
        or a model of any make: a function of pictures, a torch module, a scikit-learn estimator.
    splits
        What a model is asked about, by default all splits but those of training; counterfactual worlds beside them.
    transform
        What makes a model's input of a batch of pictures (bytes, examples x height x width x channels).
    thresholds
        Those that differ from the defaults, such as `{"memorised.drop": 0.2}`; `assay list thresholds` has all.
    rule
        Diagnose a run under another rule for the same concepts: knowledge, or a YAML file with its labels.
    """
    by = thresholds_of(thresholds)
    if isinstance(dataset, Evidence):
        return diagnose_evidence({dataset.split: dataset}, thresholds=by)
    if answers is None and isinstance(dataset, (Run, str, Path)):
        return _diagnose_run(open_run(dataset), by, rule)
    if isinstance(dataset, Run) or dataset is None or answers is None:
        raise ConfigError(f"diagnose needs a dataset and what a model says: {HELP}")
    data = open_dataset(dataset)
    if isinstance(answers, (Run, str, Path)):
        return _diagnose_run(open_run(answers, data), by, rule)
    if rule is not None:
        raise ConfigError("diagnose under another rule takes a run, its folder or a predictions file")
    return diagnose_predictions(data, predictions_of(data, answers, splits, transform), thresholds=by)


def _diagnose_run(run: Run, thresholds: Thresholds, rule: Knowledge | Path | str | None) -> Diagnosis:
    """Return the diagnosis of a run, perhaps under another rule."""
    folder, data = RunFolder(run.folder), run.dataset
    if rule is None:
        return diagnose_run(folder, data, thresholds=thresholds)
    other = rule if isinstance(rule, Knowledge) else read_other_rule(Path(rule), data.knowledge)
    return diagnose_under_rule(folder, data, other, thresholds)


def thresholds_of(given: Thresholds | Mapping[str, float]) -> Thresholds:
    """Return thresholds, read if they are given by name."""
    return given if isinstance(given, Thresholds) else read_thresholds(given)
