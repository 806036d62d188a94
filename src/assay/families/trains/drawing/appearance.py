"""How trains look: the style of the cars, what they stand in front of, and the size of the picture."""

from dataclasses import dataclass
from typing import Literal

Visualization = Literal["trains", "blocks"]
Background = Literal["base", "desert", "desert_sky", "fisheye"]
FARTHEST = 40.0
"""The distance at which depth ends."""


@dataclass(frozen=True)
class TrainAppearance:
    """What all pictures of a task have in common; `most` is the number of cars that a train has at most."""

    visualization: Visualization
    background: Background
    most: int
    width: int
    height: int

    def scale(self, cars: int) -> float:
        """Return how much trains are scaled down, so that those of the most cars fit.

        >>> appearance = TrainAppearance("trains", "base", 4, 480, 270)
        >>> appearance.scale(3), appearance.scale(7)
        (0.5, 0.3333333333333333)
        """
        most = max(self.most, cars)
        return 0.5 if most <= 4 else 3 / (most + 2)
