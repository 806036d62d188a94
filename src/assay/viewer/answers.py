"""The predictions of a run, aligned with the rows of a split."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from assay.base import Array, Codes, DataError, find_rows
from assay.contracts import Prediction, Predictions, read_predictions
from assay.logic import Knowledge
from assay.viewer.folders import ServedRun
from assay.viewer.table import SplitTable


@dataclass(frozen=True)
class Answers:
    """Predictions aligned with the rows of a split; `places` has -1 for a row without one."""

    table: SplitTable
    predictions: Predictions
    places: Array

    @property
    def has_answer(self) -> Array:
        """Which rows have a prediction."""
        return self.places >= 0

    @cached_property
    def labels(self) -> Codes:
        """The predicted labels as codes, -1 where there is none."""
        return self._codes(self.predictions.labels, self.table.knowledge.label_names)

    @cached_property
    def concepts(self) -> Codes:
        """The predicted concepts as codes, -1 where there is none."""
        return self._codes(self.predictions.concepts, self.table.knowledge.space.names)

    def _codes(self, answers: Mapping[str, Prediction], names: tuple[str, ...]) -> Codes:
        silent = np.full(len(self.predictions.index), -1, dtype=np.int64)
        columns = [answers[name].codes if name in answers else silent for name in names]
        codes = np.stack([np.append(column, -1) for column in columns], axis=1)  # the last row is that of no answer
        return codes[self.places]

    @cached_property
    def right(self) -> Array:
        """Which rows have every label right."""
        return np.asarray(self.has_answer & (self.labels == self.table.labels).all(axis=1))

    @cached_property
    def misread(self) -> Array:
        """Which rows have a concept wrong."""
        wrong = (self.concepts != self.table.concepts) & (self.concepts >= 0) & (self.table.concepts >= 0)
        return np.asarray(self.has_answer & wrong.any(axis=1))

    def misread_concepts(self, row: int) -> list[list[int]]:
        """Return the concepts that are wrong in a row, each as its place, its true code and the predicted one."""
        true, predicted = self.table.concepts[row], self.concepts[row]
        wrong = np.flatnonzero((true != predicted) & (true >= 0) & (predicted >= 0))
        return [[int(place), int(true[place]), int(predicted[place])] for place in wrong]

    @cached_property
    def violations(self) -> Array:
        """Which constraints (columns) the predicted concepts of each row break; none where one is not predicted."""
        knowledge = self.table.knowledge
        broken = np.zeros((len(self.table), len(knowledge.constraints)), dtype=bool)
        complete = (self.concepts >= 0).all(axis=1)
        if knowledge.constraints and complete.any():
            broken[complete] = knowledge.violations(self.concepts[complete])
        return broken

    def of(self, row: int) -> dict[str, Any] | None:
        """Return the answer for a row as plain data."""
        place = int(self.places[row])
        return None if place < 0 else plain(self.predictions, place, self.table.knowledge)


def answers_of(run: ServedRun, table: SplitTable) -> Answers | None:
    """Return the predictions of a run for a split, None if there are none; refuse predictions for other data."""
    if table.name not in run.answers:
        return None
    predictions = read_predictions(run.answers[table.name], table.knowledge, table.dataset.sizes)
    if (predictions.fingerprint, predictions.split) != (table.dataset.fingerprint, table.name):
        raise DataError(f"the predictions of {run.name!r} for {table.name!r} are about other data; predict again")
    return Answers(table, predictions, find_rows(table.index, predictions.index))


def plain(predictions: Predictions, place: int, knowledge: Knowledge) -> dict[str, Any]:
    """Return one answer as plain data: codes and probabilities, what the rule makes of it, what it violates."""
    labels = [_one(predictions.labels.get(name), place) for name in knowledge.label_names]
    concepts = [_one(predictions.concepts.get(name), place) for name in knowledge.space.names]
    codes = [concept["code"] for concept in concepts]
    answer: dict[str, Any] = {"labels": labels, "concepts": concepts, "by_rule": None, "violated": []}
    if min(codes) >= 0:
        world = np.array([codes], dtype=np.int64)
        answer["by_rule"] = knowledge.labels_of(world)[0].tolist() if knowledge.has_rule else None
        answer["violated"] = violated_constraints(knowledge, world)
    return answer


def violated_constraints(knowledge: Knowledge, world: Codes) -> list[str]:
    """Return the names of the constraints that a world breaks."""
    if (world < 0).any():
        return []  # some concept is not known
    flags = knowledge.violations(world)[0]
    return [limit.name for limit, broken in zip(knowledge.constraints, flags, strict=True) if broken]


def _one(answer: Prediction | None, place: int) -> dict[str, Any]:
    if answer is None:
        return {"code": -1, "probabilities": None}
    probabilities = None if answer.probabilities is None else [round(float(p), 4) for p in answer.probabilities[place]]
    return {"code": int(answer.codes[place]), "probabilities": probabilities}
