"""The strategy that follows `assay count`: show the concept values after which only the right reading is left."""

from collections.abc import Sequence
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
    held = [int(value.shown_by(holdings.concepts).sum()) for value in values]
    there = [int((value.shown_by(situation.answers) & situation.is_open).sum()) for value in values]
    for value, count in zip(values, level_up(held, there, situation.budget), strict=True):
        holdings = _find(situation, holdings, value, count)
    return holdings


def level_up(held: Sequence[int], there: Sequence[int], budget: int) -> list[int]:
    """Return how many more of each to buy, so that those of which least is held come first.

    >>> level_up([3, 0, 1], [9, 9, 1], 5)
    [1, 3, 1]
    """
    bought = [0] * len(held)
    for _ in range(budget):
        open_ones = [place for place, left in enumerate(there) if bought[place] < left]
        if not open_ones:
            break
        bought[min(open_ones, key=lambda place: held[place] + bought[place])] += 1
    return bought


def _find(situation: Situation, holdings: Holdings, value: ShownValue, count: int) -> Holdings:
    """Return the holdings with further examples of a value, found by looking at open labels in random order."""
    places = np.zeros(holdings.concepts.shape, dtype=bool)
    places[:, list(value.columns)] = True
    cells = np.argwhere(places & situation.is_open)
    order = cells[situation.rng.permutation(len(cells))]
    hits = np.flatnonzero(value.shown_by(situation.answers)[order[:, 0], order[:, 1]])[:count]
    searched = int(hits[-1]) + 1 if len(hits) else 0
    return holdings.with_labels(order[hits], situation.answers, searched)


def planned_values(dataset: Dataset) -> list[ShownValue]:
    """Return the concept values after whose supervision only the right reading of the training labels is left."""
    knowledge, name = dataset.knowledge, repr(str(dataset.folder))
    knowledge.require_rule("strategy 'plan'")
    counted = count_readings(knowledge, "shared", training_worlds(dataset), seconds=SECONDS)
    if counted.readings is None:
        raise ConfigError(
            f"plan: the readings that keep the training labels of {name} are too many to count in {SECONDS:.0f} s; "
            "choose --strategy uncertainty"
        )
    if counted.total == 1:
        raise ConfigError(
            f"plan: the training labels of {name} leave only the right reading, so no value needs to be shown; "
            "choose --strategy uncertainty"
        )
    steps = counted.readings.plan_frequent(SECONDS)
    return [_shown_value(dataset, entry) for step in steps for entry in step.entries]


def _shown_value(dataset: Dataset, entry: ReadingEntry) -> ShownValue:
    space = dataset.knowledge.space
    columns = tuple(cell.concept for cell in cells(space, "shared") if cell.owner == entry.owner)
    codes = tuple(space.concepts[column].code(entry.truth[0]) for column in columns)
    return ShownValue(entry.text, columns, codes)
