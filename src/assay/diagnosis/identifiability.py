"""Which reasoning shortcuts the training labels allow, and which concept supervision would rule them out."""

from dataclasses import dataclass
from typing import Any

from assay.arrays import Codes, distinct_rows
from assay.counting.count import ReadingCount, count_readings
from assay.diagnosis.wording import join_words
from assay.errors import AssayError
from assay.logic.knowledge import Knowledge

MOST_WORLDS = 2_000
MOST_READINGS = 1_000_000
SECONDS = 5.0


@dataclass(frozen=True)
class Identifiability:
    """How many readings of the concepts keep the labels of all training worlds, from `low` to `high`.

    A reading has one map for each encoder group; all but the right one are reasoning shortcuts. `counted` of the
    training `worlds` were used; with fewer than all, the number is an upper bound.
    """

    worlds: int
    counted: int
    low: int
    high: int
    identified: dict[str, bool]
    """For each encoder group, whether all readings that keep the labels read it right; empty if not known."""
    settle: tuple[str, ...]
    """The concept values to supervise so that no shortcut is left."""

    @property
    def text(self) -> str:
        """The count in words."""
        where = f"labels of {self.worlds:,} training worlds"
        if self.counted < self.worlds:
            where = f"labels of {self.counted:,} of the {self.worlds:,} training worlds"
        if self.low != self.high:
            return f"The {where} allow from {max(0, self.low - 1):,} to {self.high - 1:,} reasoning shortcuts."
        if self.high == 1:
            return f"The {where} allow no reasoning shortcut: only the right reading of the concepts keeps them all."
        many = self.high > 2
        what = "reasoning shortcuts: wrong readings" if many else "reasoning shortcut: a wrong reading"
        text = f"The {where} allow {self.high - 1:,} {what} of the concepts that keep{'' if many else 's'} every label."
        if not self.settle:
            return text
        return f"{text} Supervising {join_words(self.settle)} would rule {'them' if many else 'it'} out."

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
    """Return which readings the labels of training worlds allow; None without any, or where they cannot be counted."""
    if training is None or not len(training):
        return None
    worlds = training[distinct_rows(training).first]
    counted = worlds[:: -(-len(worlds) // MOST_WORLDS)]
    try:
        count = count_readings(knowledge, "shared", counted, seconds=seconds)
    except AssayError:
        return None
    low = count.low if len(counted) == len(worlds) else 1
    return Identifiability(
        len(worlds), len(counted), low, count.high, _identified_groups(count), _ruling_out(count, seconds)
    )


def _identified_groups(count: ReadingCount) -> dict[str, bool]:
    if count.readings is None or count.total is None:
        return {}
    identified: dict[str, bool] = {}
    for entry, share in count.readings.identifiability():
        identified[entry.owner] = identified.get(entry.owner, True) and share == 1
    return identified


def _ruling_out(count: ReadingCount, seconds: float) -> tuple[str, ...]:
    if count.readings is None or count.total is None or not 1 < count.total <= MOST_READINGS:
        return ()
    steps = count.readings.plan(seconds)
    return tuple(step.supervised for step in steps) if steps and steps[-1].left == 1 else ()
