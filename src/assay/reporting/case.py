"""A case: one run with its diagnosis and a few examples, as a part of a report; and curves of how sure its model is."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import Array, Codes, DataError, Line
from assay.dataset import Dataset, provenance, training_worlds
from assay.diagnosis import (
    DEFAULTS,
    Diagnosis,
    Headline,
    Identifiability,
    SplitView,
    Thresholds,
    Verdict,
    coverage_curve,
    diagnose_run,
    headline,
    new_worlds,
    taught_by,
)
from assay.metrics import BINS, Evidence, gather_from
from assay.reporting.discovery import UnitCard, cards_of
from assay.reporting.examples import Example, Shown, example_for, examples_of, split_for
from assay.runs import RUN, RunFolder
from assay.worlds import HARD

CoverageCurve = tuple[Array, Array]
"""Coverage and accuracy on what is covered, from the most confident examples to all."""
MOST_POINTS = 60


@dataclass(frozen=True)
class ReportCase:
    """A run: its names, its dataset, what it was, its diagnosis, and examples."""

    folder: Path
    title: str
    """The name that people use, such as `dpl on mnadd-evenodd, seed 0`."""
    label: str
    """What the model is called."""
    task: str
    """What the task is called."""
    dataset: Dataset
    about: Mapping[str, Any]
    diagnosis: Diagnosis
    split: str
    examples: tuple[Example, ...]
    witness: Example
    """The example that shows the first finding best."""
    taught: Identifiability | None = None
    """Which shortcuts the labels of its dataset allow, whatever the run was supervised on."""
    coverage: CoverageCurve | None = None
    """The accuracy of the model where it is most confident."""
    reliability: Line | None = None
    """How often labels are right at each confidence."""
    history: tuple[float, ...] = ()
    """The score on the validation split after each epoch."""
    units: tuple[UnitCard, ...] = ()
    """Of discovered concepts: the units, with the concept values that they match and their top pictures."""

    @property
    def name(self) -> str:
        """The name of the folder or file."""
        resolved = self.folder.resolve()
        return resolved.stem if self.folder.is_file() else resolved.name

    @property
    def headline(self) -> Headline:
        """The verdict in one line."""
        return headline(self.diagnosis)

    @property
    def model(self) -> str:
        """The registered name of the model."""
        return str(self.about.get("model", "unknown"))

    @property
    def seed(self) -> str:
        """The seed of the model; a predictions file of another program may not say it."""
        return str(self.about.get("seed", "unknown"))

    @property
    def witness_of(self) -> str:
        """The split that the witness is from, in words; empty where it is the first."""
        return f"From split {self.witness.split}." if self.witness.split != self.split else ""

    @property
    def unread(self) -> int:
        """How many concepts are not right on the split."""
        return sum(state.state != "right" for state in self.diagnosis.concepts[self.split])

    @property
    def at_boundary(self) -> str:
        """The split that shows the boundary of the rule best."""
        return HARD if HARD in self.diagnosis.scores else self.split

    def applies(self, metric: str) -> bool:
        """Return whether a metric applies on any split."""
        return any(scores[metric].applies for scores in self.diagnosis.scores.values())


def case_of(
    folder: Path,
    taught: dict[str, Identifiability | None] | None = None,
    dataset: Dataset | None = None,
    thresholds: Thresholds = DEFAULTS,
) -> ReportCase:
    """Return the case of a run's folder, or of a predictions file about a dataset.

    `taught` keeps what the labels of each dataset can teach, for the next run; `thresholds` are those that decide.
    """
    run = RunFolder(folder)
    if dataset is None and folder.is_file():
        raise DataError(f"{str(folder)!r} is a predictions file; name its dataset: --data DIR")
    dataset = run.dataset() if dataset is None else dataset
    known = {} if taught is None else taught
    if dataset.fingerprint not in known:
        known[dataset.fingerprint] = taught_by(dataset)
    predictions = run.all_predictions(dataset.knowledge, dataset.sizes)
    split = next(iter(predictions))
    trained = (folder / RUN).exists()
    diagnosis = diagnose_run(run, dataset, known[dataset.fingerprint], thresholds)
    evidence = gather_from(dataset, predictions[split])
    shown = split_for(diagnosis, predictions)
    other = evidence if shown == split else gather_from(dataset, predictions[shown])
    return ReportCase(
        folder=folder,
        title=run.title if trained else folder.stem,
        label=run.label if trained else folder.stem,
        task=run.task if trained else dataset.name,
        dataset=dataset,
        about=run.metadata() if trained else {**provenance(dataset), **predictions[split].about},
        diagnosis=diagnosis,
        split=split,
        examples=examples_of(dataset, predictions[split], evidence),
        witness=example_for(dataset, predictions[shown], _shown(dataset, diagnosis, shown, other)),
        taught=known[dataset.fingerprint],
        coverage=coverage_of(evidence),
        reliability=label_reliability(evidence),
        history=_history(folder),
        units=cards_of(folder, dataset),
    )


def _shown(dataset: Dataset, diagnosis: Diagnosis, split: str, evidence: Evidence) -> Shown:
    """Return the examples of a split, one of which is to show the first finding."""
    states, place = diagnosis.concepts[split], dataset.knowledge.space.place
    used = frozenset(place(state.concept) for state in states if state.used)
    level = diagnosis.thresholds.of(Verdict).level
    view = SplitView(split, evidence, states, diagnosis.labels[split], used, level)
    return Shown(view, diagnosis.findings[0], lambda: new_worlds(evidence, training_worlds(dataset)))


def _history(folder: Path) -> tuple[float, ...]:
    """Return the scores after the epochs of training; none where there were no epochs."""
    try:
        epochs = json.loads((folder / "history.json").read_text(encoding="utf-8"))["epochs"]
        return tuple(float(epoch["score"]) for epoch in epochs)
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def cases_of(
    folders: list[Path],
    dataset: Dataset | None = None,
    watch: Callable[[int, int], None] = lambda done, whole: None,
    thresholds: Thresholds = DEFAULTS,
) -> list[ReportCase]:
    """Return the cases of several runs; predictions files need the dataset that they are about.

    `watch` is told how many of how many runs are judged; `thresholds` are those that decide.

    Parameters
    ----------
    folders
        Runs or predictions files.
    dataset
        The dataset of predictions files.
    watch
        Told how many cases are judged, and how many there are.
    thresholds
        What the verdicts are decided by.
    """
    if not folders:
        raise DataError("no run to report on")
    taught: dict[str, Identifiability | None] = {}
    cases: list[ReportCase] = []
    for folder in folders:
        watch(len(cases), len(folders))
        cases.append(case_of(folder, taught, dataset, thresholds))
    watch(len(cases), len(folders))
    return cases


def coverage_of(evidence: Evidence) -> CoverageCurve | None:
    """Return the curve of a model that gives probabilities for every label."""
    probabilities = [p for p in evidence.label_probabilities if p is not None]
    if len(probabilities) < len(evidence.label_probabilities):
        return None
    confidence = np.prod([p.max(axis=1) for p in probabilities], axis=0)
    right = (evidence.labels == evidence.predicted_labels).all(axis=1)
    return thin_curve(coverage_curve(confidence, right))


def thin_curve(curve: CoverageCurve) -> CoverageCurve:
    """Return no more points of a curve than can be seen, its ends among them."""
    x, y = curve
    places = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).round().astype(int))
    return x[places], y[places]


def label_reliability(evidence: Evidence) -> Line | None:
    """Return how often labels are right at each confidence, all labels that have probabilities together."""
    pairs = [(evidence.labels[:, i], p) for i, p in enumerate(evidence.label_probabilities) if p is not None]
    known = [(codes[codes >= 0], p[codes >= 0]) for codes, p in pairs]
    if not sum(len(codes) for codes, _ in known):
        return None
    confidence = np.concatenate([p.max(axis=1) for _, p in known])
    right = np.concatenate([p.argmax(axis=1) == codes for codes, p in known])
    return _reliability("labels", confidence, right)


def reliability_of(name: str, truth: Codes, probabilities: Array) -> Line:
    """Return how often the most likely value is right at each confidence, as a line."""
    return _reliability(name, probabilities.max(axis=1), probabilities.argmax(axis=1) == truth)


def _reliability(name: str, confidence: Array, right: Array) -> Line:
    place = np.clip(np.ceil(confidence * BINS).astype(int) - 1, 0, BINS - 1)
    bins = [n for n in range(BINS) if (place == n).any()]
    means = [float(confidence[place == n].mean()) for n in bins]
    return Line(name, means, [float(right[place == n].mean()) for n in bins])
