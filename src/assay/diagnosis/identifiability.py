"""What training labels can teach: how many readings of the concepts keep them all, and what would settle the rest."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.arrays import Codes
from assay.counting.count import ReadingCount, count_readings
from assay.diagnosis.wording import enumerated
from assay.errors import AssayError
from assay.logic.knowledge import Knowledge

MOST_WORLDS = 2_000
MOST_READINGS = 1_000_000
SECONDS = 5.0


@dataclass(frozen=True)
class Identifiability:
    """The readings that keep the labels of training worlds: one map for each encoder group.

    `counted` of the `worlds` that training shows were looked at; with fewer than all, the number is an upper bound.
    """

    worlds: int
    counted: int
    low: int
    high: int
    identified: dict[str, bool]
    """For each encoder group, whether all readings that keep the labels read it right; empty if not known."""
    settle: tuple[str, ...]
    """What to show the model so that one reading is left."""

    @property
    def text(self) -> str:
        """The count in words."""
        where = f"{self.worlds:,} training worlds"
        if self.counted < self.worlds:
            where = f"{self.counted:,} of the {self.worlds:,} training worlds, looked at,"
        if self.low != self.high:
            return (
                f"The {where} allow from {self.low:,} to {self.high:,} readings of the concepts that keep every label."
            )
        if self.high == 1:
            return f"The {where} allow one reading of the concepts that keeps every label: the right one."
        text = f"The {where} allow {self.high:,} readings of the concepts that keep every label; one is right."
        if not self.settle:
            return text
        return f"{text} Showing the model {enumerated(self.settle)} would leave only that one."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "training_worlds": self.worlds,
            "worlds_counted": self.counted,
            "low": self.low,
            "high": self.high,
            "identified": dict(self.identified),
            "settled_by": list(self.settle),
            "text": self.text,
        }


def identifiability(knowledge: Knowledge, training: Codes | None, seconds: float = SECONDS) -> Identifiability | None:
    """Return what the labels of training worlds can teach; None without such, or where it cannot be counted."""
    if training is None or not len(training):
        return None
    worlds = np.unique(training, axis=0)
    shown = worlds[:: -(-len(worlds) // MOST_WORLDS)]
    try:
        found = count_readings(knowledge, "shared", shown, seconds=seconds)
    except AssayError:
        return None
    low = found.low if len(shown) == len(worlds) else 1
    return Identifiability(len(worlds), len(shown), low, found.high, _identified(found), _settling(found, seconds))


def _identified(found: ReadingCount) -> dict[str, bool]:
    if found.readings is None or found.total is None:
        return {}
    known: dict[str, bool] = {}
    for entry, share in found.readings.identifiability():
        known[entry.owner] = known.get(entry.owner, True) and share == 1
    return known


def _settling(found: ReadingCount, seconds: float) -> tuple[str, ...]:
    if found.readings is None or found.total is None or not 1 < found.total <= MOST_READINGS:
        return ()
    steps = found.readings.plan(seconds)
    return tuple(step.supervised for step in steps) if steps and steps[-1].left == 1 else ()
