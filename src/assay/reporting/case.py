"""A case: one run with its diagnosis and a few examples, as a section of a report."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.concepts import Value
from assay.data.dataset import Dataset
from assay.diagnosis.identifiability import Identifiability
from assay.diagnosis.runs import diagnose_run, provenance, taught_by
from assay.diagnosis.verdict import Diagnosis
from assay.errors import DataError
from assay.metrics.evidence import gather_from
from assay.predictions import Predictions
from assay.reporting.curves import CoverageCurve, coverage_of
from assay.runs.folder import RUN, RunFolder
from assay.worlds.split import HARD

EXAMPLES = 12


@dataclass(frozen=True)
class Example:
    """An image with its ground truth and the model's predictions."""

    number: int
    picture: str
    """A data address, so that the page needs no other file; empty where there is no picture."""
    truth: Mapping[str, Value]
    predicted: Mapping[str, Value]
    labels: Mapping[str, Value]
    predicted_labels: Mapping[str, Value]
    text: str = ""
    """What stands in the place of a picture."""

    @property
    def right(self) -> bool:
        """Whether the labels are right."""
        return self.labels == self.predicted_labels


@dataclass(frozen=True)
class Case:
    """A run: its name, its dataset, what it was, its diagnosis, and examples."""

    name: str
    dataset: Dataset
    about: Mapping[str, Any]
    diagnosis: Diagnosis
    split: str
    examples: tuple[Example, ...]
    coverage: CoverageCurve | None = None
    """The accuracy of the model where it is most confident."""

    @property
    def model(self) -> str:
        """The name of the model."""
        return str(self.about.get("model", "unknown"))

    @property
    def seed(self) -> str:
        """The seed of the model; a predictions file of another program may not say it."""
        return str(self.about.get("seed", "unknown"))

    @property
    def unread(self) -> int:
        """How many concepts are not read right on the split."""
        return sum(state.state != "right" for state in self.diagnosis.concepts[self.split])

    @property
    def at_boundary(self) -> str:
        """The split that shows the boundary of the rule best."""
        return HARD if HARD in self.diagnosis.scores else self.split

    def applies(self, metric: str) -> bool:
        """Return whether a metric applies on any split."""
        return any(scores[metric].applies for scores in self.diagnosis.scores.values())


def case_of(
    folder: Path, taught: dict[str, Identifiability | None] | None = None, dataset: Dataset | None = None
) -> Case:
    """Return the case of a run's folder, or of a predictions file about a dataset.

    `taught` keeps what the labels of each dataset can teach, for the next run.
    """
    run = RunFolder(folder)
    if dataset is None and folder.is_file():
        raise DataError(f"{str(folder)!r} is a predictions file; name its dataset: --data DIR")
    dataset = run.dataset() if dataset is None else dataset
    known = {} if taught is None else taught
    if dataset.fingerprint not in known:
        known[dataset.fingerprint] = taught_by(dataset)
    predictions = run.all_predictions(dataset.knowledge)
    split = next(iter(predictions))
    about = run.about() if (folder / RUN).exists() else {**provenance(dataset), **predictions[split].about}
    diagnosis = diagnose_run(run, dataset, known[dataset.fingerprint])
    examples = _examples(dataset, predictions[split])
    coverage = coverage_of(gather_from(dataset, predictions[split]))
    return Case(
        folder.resolve().stem if folder.is_file() else folder.resolve().name,
        dataset,
        about,
        diagnosis,
        split,
        examples,
        coverage,
    )


def _examples(dataset: Dataset, predictions: Predictions) -> tuple[Example, ...]:
    """Return examples of the split, those with wrong labels or concepts first."""
    knowledge = dataset.knowledge
    data = dataset[predictions.split]
    evidence = gather_from(dataset, predictions)
    wrong_label = (evidence.labels != evidence.predicted_labels).any(axis=1)
    wrong_concept = ((evidence.concepts != evidence.judged_concepts) & (evidence.judged_concepts >= 0)).any(axis=1)
    order = np.argsort(-(2 * wrong_label + wrong_concept), kind="stable")
    half = EXAMPLES // 2
    chosen = dict.fromkeys([*order[:half].tolist(), *range(min(EXAMPLES, len(evidence)))])
    examples = []
    for row in list(chosen)[:EXAMPLES]:
        place = np.flatnonzero(data.index == predictions.index[row])[:1]
        shown = "image" in data.columns
        picture = base64.b64encode(data.files(place)[0]).decode() if shown else ""
        predicted = evidence.predicted_concepts[row]
        examples.append(
            Example(
                number=int(predictions.index[row]),
                picture=f"data:image/png;base64,{picture}" if shown else "",
                truth=knowledge.space.decode(evidence.concepts[row]),
                predicted={
                    c.name: c.values[code]
                    for c, code in zip(knowledge.space.concepts, predicted, strict=True)
                    if code >= 0
                },
                labels=_labels(evidence.labels[row], dataset),
                predicted_labels=_labels(evidence.predicted_labels[row], dataset),
                text="" if shown or "text" not in data.columns else data.texts[int(place[0])],
            )
        )
    return tuple(examples)


def _labels(codes: Any, dataset: Dataset) -> dict[str, Value]:
    labels = dataset.knowledge.labels
    return {x.name: x.values[code] if code >= 0 else "none" for x, code in zip(labels, codes, strict=True)}


def cases_of(folders: list[Path], dataset: Dataset | None = None) -> list[Case]:
    """Return the cases of several runs; predictions files need the dataset that they are about."""
    if not folders:
        raise DataError("no run to report on")
    taught: dict[str, Identifiability | None] = {}
    return [case_of(folder, taught, dataset) for folder in folders]
