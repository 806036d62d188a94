"""What a step of training gave. Needs no torch, since not every model does."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Epoch:
    """What one epoch gave."""

    phase: str
    number: int
    loss: float
    score: float
    best: bool


Report = Callable[[Epoch, int], None]
"""Called after each epoch with what it gave and how many there are at most."""
