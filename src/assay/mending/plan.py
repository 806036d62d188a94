"""The strategy that follows `assay count`: show the concept values after which only the right reading is left."""

from dataclasses import dataclass

import numpy as np

from assay.arrays import Array
from assay.counting.count import count_readings
from assay.counting.reading_classes import ReadingEntry, cells
from assay.data.dataset import Dataset
from assay.diagnosis.runs import training_worlds
from assay.errors import ConfigError
from assay.mending.holdings import Holdings
from assay.mending.situation import Situation

SECONDS = 60.0
"""For counting the readings, and again for the plan."""


@dataclass(frozen=True)
class ShownValue:
    """A value that is to be shown, and the concepts that it can be shown by."""

    text: str
    columns: tuple[int, ...]
    codes: tuple[int, ...]
    """The code of the value in each of these concepts."""

    def shown_by(self, concepts: Array) -> Array:
        """Return in which cells (examples x all concepts) these codes have the value."""
        found = np.zeros(concepts.shape, dtype=bool)
        for column, code in zip(self.columns, self.codes, strict=True):
            found[:, column] = concepts[:, column] == code
        return found


def planned_labels(situation: Situation) -> Holdings:
    """Buy examples of the values that `assay count` plans to show, as many of each as of another.

    An annotator is asked for a value and looks through the training pictures in random order until it is found. What
    is shown is paid; at how much was looked is counted beside it.
    """
    situation.require_labels()
    values, holdings = planned_values(situation.dataset), situation.holdings
    for _ in range(situation.budget):
        held = [int(value.shown_by(holdings.concepts).sum()) for value in values]
        for place in np.argsort(held, kind="stable").tolist():
            bought = _find(situation, holdings, values[place])
            if bought is not None:
                break
        else:
            return holdings  # all that show one of the values are bought
        holdings = bought
    return holdings


def _find(situation: Situation, holdings: Holdings, value: ShownValue) -> Holdings | None:
    """Return the holdings with one more example of a value, found by looking in random order; None if none is left."""
    is_open = (situation.answers >= 0) & (holdings.concepts < 0)
    cells = np.argwhere(is_open[:, value.columns])
    cells = np.stack([cells[:, 0], np.array(value.columns)[cells[:, 1]]], axis=1)
    order = cells[situation.rng.permutation(len(cells))]
    hits = np.flatnonzero(value.shown_by(situation.answers)[order[:, 0], order[:, 1]])
    if not len(hits):
        return None
    return holdings.with_labels(order[hits[:1]], situation.answers, searched=int(hits[0]) + 1)


def planned_values(dataset: Dataset) -> list[ShownValue]:
    """Return the concept values after whose supervision only the right reading of the training labels is left."""
    knowledge, name = dataset.knowledge, repr(str(dataset.folder))
    knowledge.require_rule("strategy 'plan'")
    counted = count_readings(knowledge, "shared", training_worlds(dataset), seconds=SECONDS)
    if counted.readings is None:
        raise ConfigError(
            f"plan: the readings that keep the training labels of {name} are too many to be counted in {SECONDS:.0f} s; "
            "choose --strategy uncertainty"
        )
    if counted.total == 1:
        raise ConfigError(
            f"plan: the training labels of {name} leave only the right reading, so no value needs to be shown; "
            "choose --strategy uncertainty"
        )
    steps = counted.readings.plan(SECONDS)
    return [_shown_value(dataset, entry) for step in steps for entry in step.entries]


def _shown_value(dataset: Dataset, entry: ReadingEntry) -> ShownValue:
    space = dataset.knowledge.space
    columns = tuple(cell.concept for cell in cells(space, "shared") if cell.owner == entry.owner)
    codes = tuple(space.concepts[column].code(entry.truth[0]) for column in columns)
    return ShownValue(entry.text, columns, codes)
