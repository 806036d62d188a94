"""A task in one file: is the lamp on the left brighter? Try `assay check` and `assay make` on this file."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from assay import Box, Concept, ConceptSpace, EncoderGroup, Knowledge, Layout, Picture, Style, Task, World

SIDE = 12


class Lamps(Task):
    """Two grey squares, each of five brightnesses; is the left one brighter?"""

    name = "lamps"
    sizes = {"train": 200, "valid": 50, "test": 50}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The two brightnesses and the comparison."""
        lamps = tuple(Concept(name, (0, 1, 2, 3, 4)) for name in ("left", "right"))
        space = ConceptSpace(lamps, encoders=(EncoderGroup("lamp", ("left", "right")),))
        return Knowledge.of(space, {"brighter": "left > right"})

    @cached_property
    def layout(self) -> Layout:
        """The squares side by side."""
        boxes = {"left": Box(0, 0, SIDE, SIDE), "right": Box(SIDE, 0, 2 * SIDE, SIDE)}
        return Layout(2 * SIDE, SIDE, 1, boxes)

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw a little noise for each square."""
        return {"noise": rng.integers(0, 20, size=2).tolist()}

    def render(self, world: World) -> Picture:
        """Fill the squares."""
        grey = [50 * int(code) + noise for code, noise in zip(world.codes, world.style["noise"], strict=True)]
        return Picture(np.repeat(np.array([grey], dtype=np.uint8), SIDE, axis=0).repeat(SIDE, axis=1))


if __name__ == "__main__":
    from assay import check_task, require

    require(check_task(Lamps()), "lamps")
    print(Lamps().knowledge.diagram.counts)  # {(False,): 15, (True,): 10}
