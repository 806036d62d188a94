"""Where a symbolic learner gets concepts from: the ground truth, a run of another model, or predictions files."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from assay.arrays import Array, Codes, find_rows
from assay.concepts import Concept, ConceptSpace
from assay.data.dataset import SplitData
from assay.errors import ConfigError, DataError
from assay.predictions import Answer, Predictions, read_predictions
from assay.runs.folder import RUN, RunFolder


class MissingPerception(DataError):
    """A split without perception."""


class Perception(Protocol):
    """A source of concept probabilities."""

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the probabilities of the values of each concept: an array of examples x values for each."""

    def about(self) -> dict[str, Any] | None:
        """Return what it is, for the record; None for the ground truth."""


@dataclass(frozen=True)
class TrueConcepts:
    """The ground-truth concepts; in training the annotated ones, where the data has annotations."""

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the true concepts, with certainty."""
        return one_hot(data.concepts, data.knowledge.space)

    def about(self) -> dict[str, Any] | None:
        """Return nothing: it is the ground truth."""
        return None


@dataclass(frozen=True)
class Detector:
    """A run of any model that has concepts."""

    folder: Path

    @cached_property
    def _model(self) -> Any:
        from assay.models.core.runs import load_model

        model = load_model(self.folder)
        if not model.has_concepts:
            raise ConfigError(f"perception: {str(self.folder)!r} holds {model.name!r}, which says nothing of concepts")
        return model

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the model's concept probabilities, from its stored predictions or else predicted now."""
        path = RunFolder(self.folder).predictions(data.name)
        if path.exists():
            predictions = read_predictions(path, data.knowledge)
            if predictions.fingerprint == data.fingerprint and np.isin(data.index, predictions.index).all():
                return _concept_probabilities(predictions, data)
        return _concept_probabilities(self._model.predict(data), data)

    def about(self) -> dict[str, Any]:
        """Return which model, and what it was trained on."""
        about = RunFolder(self.folder).about()
        return {"folder": str(self.folder), "model": about["model"], "seed": about["seed"], "data": about["data"]}


@dataclass(frozen=True)
class PredictionFiles:
    """Predictions of any model: a file, or a folder with a file for each split."""

    path: Path

    @cached_property
    def _files(self) -> list[Path]:
        if self.path.is_file():
            return [self.path]
        inside = self.path / "predictions"
        files = sorted((inside if inside.is_dir() else self.path).glob("*.parquet"))
        if not files:
            raise DataError(f"perception: {str(self.path)!r} is no run, no predictions file and holds none")
        return files

    def probabilities(self, data: SplitData) -> list[Array]:
        """Return the concept probabilities in the predictions for this split."""
        for path in self._files:
            predictions = read_predictions(path, data.knowledge)
            if predictions.split == data.name:
                return _concept_probabilities(predictions, data)
        raise MissingPerception(f"perception: {str(self.path)!r} has no predictions for split {data.name!r}; add some")

    def about(self) -> dict[str, Any]:
        """Return where they are."""
        return {"folder": str(self.path)}


def perception_of(path: str | None) -> Perception:
    """Return the source of concepts: a run or predictions at a path, or the ground truth."""
    if path is None:
        return TrueConcepts()
    place = Path(path)
    if not place.exists():
        raise DataError(f"perception: no run or predictions file {path!r}")
    return Detector(place) if (place / RUN).exists() else PredictionFiles(place)


def relocate(about: Mapping[str, Any] | None, folder: Path) -> str | None:
    """Return the path of a perception recorded in a run: as recorded, or relative to the run if both were moved."""
    if about is None:
        return None
    then = Path(about["folder"])
    return str(then if then.exists() else folder.resolve() / about.get("from_run", then))


def one_hot(codes: Codes, space: ConceptSpace) -> list[Array]:
    """Return codes as probabilities of 0 and 1; a missing one (-1) as "absent", or else as uniform."""
    return [_one_hot(codes[:, place], concept) for place, concept in enumerate(space.concepts)]


def _one_hot(codes: Codes, concept: Concept) -> Array:
    size = len(concept.values)
    probabilities = np.zeros((len(codes), size))
    known = codes >= 0
    probabilities[known, codes[known]] = 1
    if concept.nothing_code >= 0:
        probabilities[~known, concept.nothing_code] = 1
    else:
        probabilities[~known] = 1 / size
    return probabilities


def _concept_probabilities(predictions: Predictions, data: SplitData) -> list[Array]:
    """Return the probabilities of all concepts for the rows of a split; concepts without predictions count as absent.

    A detector that does not know a class finds none of it. Where no value means that, all are alike.
    """
    if predictions.fingerprint != data.fingerprint:
        raise DataError(
            f"perception is of a dataset with fingerprint {predictions.fingerprint}, this is {data.fingerprint}"
        )
    if not predictions.concepts:
        raise ConfigError("perception: the predictions say nothing of concepts")
    rows = find_rows(data.index, predictions.index)
    if (rows < 0).any():
        raise DataError(f"perception says nothing of example {data.index[rows < 0][0]} of split {data.name!r}")
    return [
        _value_probabilities(predictions.concepts.get(concept.name), concept, rows)
        for concept in data.knowledge.space.concepts
    ]


def _value_probabilities(answer: Answer | None, concept: Concept, rows: Array) -> Array:
    if answer is None:
        return _one_hot(np.full(len(rows), -1), concept)
    if answer.probabilities is not None:
        return np.asarray(answer.probabilities, dtype=np.float64)[rows]
    return _one_hot(answer.codes[rows], concept)
