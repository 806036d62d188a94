"""Your own task: concepts, a rule, and a function that draws."""

# %% [markdown]
# # 11. Your own task
#
# A task is a class: its knowledge (concepts and rule), a layout, a `style` in which everything random is drawn, and a
# `render` in which nothing is. This one asks whether the left of two lamps is brighter.

# %%
from collections.abc import Sequence
from functools import cached_property

import numpy as np

import assay
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


# %% [markdown]
# The checks that every task of Assay has to pass: the same seed gives the same bytes, `render` draws nothing at random,
# every label follows from the rule, and more.

# %%
for check in assay.check_task(Lamps()):
    print("kept" if check.passed else check.fault, "-", check.law)

# %% [markdown]
# Save the class as `lamps.py`, and every command takes the file in place of a name:
#
# ```sh
# assay check lamps.py
# assay make lamps.py -o lamps
# assay train dpl lamps -o run
# ```
#
# How many reasoning shortcuts does the comparison allow?

# %%
count = assay.count_shortcuts(Lamps().knowledge)
print(count)

# %% [markdown]
# [Your own task, model and metric](../extend.md) has templates, and says how a package registers its tasks.
