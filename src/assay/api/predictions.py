"""What a model says, in whatever form it comes, as predictions; and their scores, decoded worlds and figures.

Arrays hold codes (places in the list of values) or probabilities; a table with columns `label_NAME` and `concept_NAME`
holds values, as a predictions file does. Models may be functions of pictures, torch modules or estimators.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.api.arguments import Data, open_dataset
from assay.api.runs import Run
from assay.base import (
    Array,
    ConfigError,
    DataError,
    Figure,
    as_array,
    curve_plot,
    find_rows,
    picture_sheet,
    shorten,
)
from assay.contracts import PAIRS, Prediction, Predictions, apply_constraints, read_predictions
from assay.dataset import Dataset, SplitData
from assay.exchange import read_other_rule
from assay.logic import Knowledge, Value
from assay.metrics import METRICS, Evidence, Score, gather_from
from assay.metrics import score as score_evidence
from assay.runs import RunFolder, evidence_of, under_rule

Predictor = Callable[[SplitData], Predictions]
HELP = "assay.diagnose(ds, answers), where answers are predictions, a run, a function, a torch module or an estimator"
BATCH = 512


def predictions_for(
    data: SplitData, labels: Any, concepts: Any = None, about: Mapping[str, Any] | None = None
) -> Predictions:
    """Return what a model says of every example of a split, in order, as `data.predictions` does.

    Parameters
    ----------
    data
        The split.
    labels
        An array where there is one label, else a mapping from names to arrays. An array has a code for each example, or
        a row of probabilities; of two values one probability, that of the second, is enough. A table (pandas, pyarrow,
        or a mapping of columns `label_NAME`, `concept_NAME`) holds values instead.
    concepts
        The concepts in the same forms, if they are not in the table.
    about
        What the predictions' record says of the model.
    """
    return data.predictions(labels, concepts, **(about or {}))


def read_answers(dataset: Dataset, answers: Any) -> dict[str, Predictions]:
    """Return predictions by split, of a run, a predictions file, predictions, or a model of any make."""
    if isinstance(answers, (Run, str, Path)):
        folder = RunFolder(answers.folder if isinstance(answers, Run) else Path(answers))
        return folder.all_predictions(dataset.knowledge, dataset.sizes)
    return predictions_of(dataset, answers)


def predictions_of(
    dataset: Dataset, answers: Any, splits: Sequence[str] | None = None, transform: Callable[[Any], Any] | None = None
) -> dict[str, Predictions]:
    """Return predictions by split, of predictions in any number or of a model of any make."""
    if isinstance(answers, Predictions):
        return {answers.split: answers}
    if isinstance(answers, Mapping):
        answers = list(answers.values())
    if isinstance(answers, (list, tuple)):
        strangers = [type(one).__name__ for one in answers if not isinstance(one, Predictions)]
        if strangers or not answers:
            raise ConfigError(f"expected predictions, as ds['test'].predictions(...) makes them, not {strangers[:1]}")
        return {one.split: one for one in answers}
    predict = predictor_of(answers, dataset, transform)
    names = [name for name in dataset.split_names if not name.startswith("train")] if splits is None else list(splits)
    asked = sorted(names, key=lambda name: not name.startswith("test"))
    if dataset.pairs is not None and dataset.pairs.split in asked:
        asked.append(PAIRS)
    return {name: predict(dataset[name]) for name in asked}


def predictor_of(model: Any, dataset: Dataset, transform: Callable[[Array], Any] | None = None) -> Predictor:
    """Return what predicts for splits of a dataset, of a model of any make.

    `transform`, if given, makes the model's input of a batch of pictures (bytes, examples x height x width x channels).
    """
    if hasattr(model, "predict") and hasattr(model, "answers"):  # a model of ours
        return lambda data: model.predict(data)
    if is_torch_module(model):
        from assay.models import wrap

        return wrap(model, dataset, transform).predict
    if hasattr(model, "predict"):
        return _by_function(_estimator(model, dataset, transform or _flat), type(model).__name__)
    if callable(model):
        name = getattr(model, "__name__", type(model).__name__)
        return _by_function(model if transform is None else lambda images: model(transform(images)), name)
    raise ConfigError(
        f"a {type(model).__name__} is no model: give a run, predictions, a function of pictures, a torch module, "
        "or an estimator with predict"
    )


def is_torch_module(model: Any) -> bool:
    """Return whether a model is a torch module, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _flat(images: Array) -> Array:
    """Return pictures as rows of numbers from 0 to 1."""
    return images.reshape(len(images), -1).astype(np.float32) / 255


def _by_function(function: Callable[[Array], Any], name: str) -> Predictor:
    """Return the predictor of a function from pictures to labels, to (concepts, labels), or to a mapping or table."""

    def predict(data: SplitData) -> Predictions:
        said = [_parts(function(images)) for _, images in data.batches(BATCH)]
        labels = _joined([labels for _, labels in said])
        concepts = None if said[0][0] is None else _joined([concepts for concepts, _ in said])
        return predictions_for(data, labels, concepts, {"model": name})

    return predict


def _parts(said: Any) -> tuple[Any, Any]:
    """Return concepts, or None, and labels."""
    if isinstance(said, tuple) and len(said) == 2:
        return said
    if isinstance(said, Mapping) and "labels" in said:
        return said.get("concepts"), said["labels"]
    return None, said


def _joined(parts: Sequence[Any]) -> Any:
    """Return what was said of batches as one."""
    first = parts[0]
    if hasattr(first, "to_dict") and hasattr(first, "columns"):
        return {str(name): [value for part in parts for value in part[name]] for name in first.columns}
    if isinstance(first, Mapping):
        return {key: _joined([part[key] for part in parts]) for key in first}
    if isinstance(first, list) and first and np.ndim(as_array(first[0])) > 0:
        return [_joined([part[place] for part in parts]) for place in range(len(first))]
    return np.concatenate([as_array(part) for part in parts])


def _estimator(model: Any, dataset: Dataset, transform: Callable[[Array], Any]) -> Callable[[Array], Any]:
    """Return the labels that a scikit-learn estimator says, as probabilities where it has them."""
    labels = dataset.knowledge.labels

    def function(images: Array) -> Any:
        given = transform(images)
        if not hasattr(model, "predict_proba") or len(labels) != 1:
            return model.predict(given)
        return _spread_over(as_array(model.predict_proba(given)), list(model.classes_), labels[0].values)

    return function


def _spread_over(probabilities: Array, classes: Sequence[Any], values: Sequence[Value]) -> Array:
    """Return probabilities of the classes that an estimator has seen as those of all values."""
    codes = Prediction.read(np.array(classes), values, "the estimator's classes", len(classes)).codes
    wide = np.zeros((len(probabilities), len(values)))
    wide[:, codes] = probabilities
    return wide


class ScoreTable(dict[str, dict[str, Score]]):
    """Scores by split and metric."""

    def __init__(self, evidence: Mapping[str, Evidence], metrics: Iterable[str] | None) -> None:
        names = None if metrics is None else list(metrics)
        super().__init__({split: score_evidence(rows, names) for split, rows in evidence.items()})
        self.examples = {split: len(rows) for split, rows in evidence.items()}
        """How many examples of each split were scored."""


def score(
    dataset: Data | Run | Evidence | None,
    answers: Any = None,
    *,
    metrics: Sequence[str] | None = None,
    rule: Knowledge | Path | str | None = None,
) -> ScoreTable:
    """Return the metrics of each split that a model answered for, with 95 % intervals.

    Parameters
    ----------
    dataset
        The dataset, or where it lies. Alone, what is scored: a run, its folder, or evidence.
    answers
        What `diagnose` takes: predictions, a run, a predictions file, a model of any make.
    metrics
        Only these, by name or `FILE.py`; by default all.
    rule
        Score under another rule for the same concepts: knowledge, or a YAML file with its labels.
    """
    names = None if metrics is None else [METRICS.resolve(name) for name in metrics]
    if isinstance(dataset, Evidence):
        return ScoreTable({dataset.split: dataset}, names)
    if answers is None and isinstance(dataset, (Run, str, Path)):
        run = Run.open(dataset)
        data, evidence = run.dataset, evidence_of(RunFolder(run.folder), run.dataset)
    elif isinstance(dataset, Run) or dataset is None or answers is None:
        raise ConfigError(f"score needs a dataset and what a model says: {HELP.replace('diagnose', 'score')}")
    else:
        data = open_dataset(dataset)
        said = read_answers(data, answers)
        evidence = {split: gather_from(data, found) for split, found in said.items() if split != PAIRS}
    if rule is not None:
        other = rule if isinstance(rule, Knowledge) else read_other_rule(Path(rule), data.knowledge)
        evidence = {split: under_rule(rows, other) for split, rows in evidence.items()}
    return ScoreTable(evidence, names)


def decode(
    predictions: Predictions | Path | str,
    dataset: Data,
    output: Path | str | None = None,
    *,
    labels_by_rule: bool = False,
) -> Predictions:
    """Replace predicted concepts by the most probable ones that satisfy every constraint.

    Parameters
    ----------
    predictions
        Predictions, or a Parquet file, with the probabilities of every concept.
    dataset
        The dataset, or its folder or address.
    output
        The Parquet file to write, if any; `assay.score` and `assay.diagnose` take it.
    labels_by_rule
        Also replace labels by those that the rule gives for the decoded concepts.
    """
    opened = open_dataset(dataset)
    own = predictions
    if not isinstance(own, Predictions):
        own = read_predictions(Path(own), opened.knowledge, opened.sizes)
    if own.fingerprint != opened.fingerprint:
        raise DataError(f"the predictions are for a dataset with fingerprint {own.fingerprint}, not this one")
    decoded = apply_constraints(own, opened.knowledge, labels_by_rule)
    if output is not None:
        decoded.write(Path(output), opened.knowledge)
    return decoded


def plot_coverage(dataset: Dataset, *answers: Predictions) -> Figure:
    """Draw how accurate models are on the examples of which they are most confident (risk-coverage curves)."""
    from assay.reporting import coverage_of

    points = np.linspace(0, 1, 51)
    curves = {}
    for number, predictions in enumerate(answers):
        curve = coverage_of(gather_from(dataset, predictions))
        if curve is None:
            raise ConfigError("a coverage curve needs probabilities of every label")
        name = str(predictions.about.get("model", f"model {number + 1}"))
        curves[name if name not in curves else f"{name} {number + 1}"] = np.interp(points, *curve).tolist()
    return curve_plot("share of examples that are decided", points.tolist(), curves, "accuracy on these")


def plot_errors(dataset: Dataset, predictions: Predictions, count: int = 12) -> Figure:
    """Draw pictures with a wrong label, each with what is true and what was predicted.

    Parameters
    ----------
    dataset
        The dataset whose pictures are drawn.
    predictions
        What the model says of one of its splits.
    count
        At most so many pictures.
    """
    data, evidence = dataset[predictions.split], gather_from(dataset, predictions)
    wrong = np.flatnonzero((evidence.labels != evidence.predicted_labels).any(axis=1))[:count]
    rows = find_rows(predictions.index[wrong], data.index)
    captions = [_caption(evidence, int(row)) for row in wrong]
    return picture_sheet(list(data.pictures(rows)), captions)


def _caption(evidence: Evidence, row: int) -> str:
    texts = []
    for label, true, said in zip(
        evidence.knowledge.labels, evidence.labels[row], evidence.predicted_labels[row], strict=True
    ):
        if true != said:
            texts.append(f"{label.name}: {label.values[true]} -> {label.values[said] if said >= 0 else 'none'}")
    return shorten(", ".join(texts), 40)
