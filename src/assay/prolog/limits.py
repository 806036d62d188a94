"""How long, how deep and how far a rule may run before it is stopped."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from assay.prolog.terms import PrologError

BETWEEN_LOOKS = 2_000
"""How many inferences are made between two looks at the clock."""


@dataclass(frozen=True)
class ProofLimits:
    """What a rule may use up.

    `seconds`       wall time for each 10,000 worlds that are labelled in one call
    `inferences`    predicate calls for one world, and steps of work inside built-in ones
    `depth`         goals that wait on one another
    `parts`         parts of terms that built-in predicates build for one world
    `megabytes`     by which this process may grow
    """

    seconds: float = 60.0
    inferences: int = 1_000_000
    depth: int = 40_000
    parts: int = 2_000_000
    megabytes: int = 1_000

    def __post_init__(self) -> None:
        if min(self.seconds, self.inferences, self.parts, self.megabytes) <= 0 or not 0 < self.depth <= 200_000:
            raise PrologError(f"limits must be above 0, and depth at most 200000, not {self}")

    def time_for(self, worlds: int) -> float:
        """Return how many seconds so many worlds may take."""
        return self.seconds * max(1, -(-worlds // 10_000))


class Meter:
    """Counts inferences, and raises where a limit is passed; `left[0]` is what remains until the next look."""

    def __init__(self, limits: ProofLimits, rule: str) -> None:
        self.limits = limits
        self.rule = rule
        self.left = [0]
        self.granted = 0
        self.used = 0
        self.built = 0
        self.restart()

    def start(self) -> None:
        """Begin to count for one world."""
        self.used = self.built = 0
        self.granted = self.left[0] = min(BETWEEN_LOOKS, self.limits.inferences)

    def restart(self, worlds: int = 1) -> None:
        """Begin the time of a call that labels so many worlds."""
        self.seconds = self.limits.time_for(worlds)
        self.ends = time.monotonic() + self.seconds
        self.before = megabytes_used()

    def build(self, parts: int) -> None:
        """Count parts of terms, and raise where there are too many."""
        self.built += parts
        if self.built > self.limits.parts:
            raise self.limit_error(f"the limit of {self.limits.parts:,} parts of terms for one world")

    def look(self) -> None:
        """Raise if a limit is passed, else let it run on."""
        self.used += self.granted - self.left[0]
        if time.monotonic() > self.ends:
            raise self.limit_error(f"the time limit of {self.seconds:g} seconds")
        if self.used >= self.limits.inferences:
            raise self.limit_error(f"the limit of {self.limits.inferences:,} inferences for one world")
        if megabytes_used() - self.before > self.limits.megabytes:
            raise self.limit_error(f"the memory limit of {self.limits.megabytes:,} MB")
        self.granted = self.left[0] = min(BETWEEN_LOOKS, self.limits.inferences - self.used)

    def limit_error(self, limit: str) -> PrologError:
        """Return the error that says which rule was stopped, and by what."""
        return PrologError(f"rule {self.rule} was stopped at {limit}; it may loop")


STATUS = Path("/proc/self/statm")
PAGE = os.sysconf("SC_PAGE_SIZE")


def megabytes_used() -> float:
    """Return the memory of this process; 0 where the system does not say."""
    try:
        return int(STATUS.read_bytes().split()[1]) * PAGE / 1e6
    except OSError:
        return 0.0
