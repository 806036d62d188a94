"""All setups: those of the zoo, and their variations for a study of validity."""

from dataclasses import replace

from benchmarks.trained import choosing, held
from benchmarks.trained.kept import FOLDER
from benchmarks.trained.real import real_setups
from benchmarks.trained.setups import Setup

MORE_FOLDER = FOLDER / "more"
MORE = 40
"""How many setups are trained again by another seed."""
SHORTER = 200
"""Their test examples at most."""


def setups() -> list[Setup]:
    """Return the setups of the zoo."""
    return [*choosing.SETUPS, *held.SETUPS, *real_setups()]


def more_setups() -> list[Setup]:
    """Return variations of setups, evenly chosen of all, by another seed and with fewer test examples."""
    every = setups()
    chosen = [every[i * len(every) // MORE] for i in range(MORE)]
    return [
        replace(setup, name=f"{setup.name}--1", seed=1, test=min(setup.test, SHORTER), others=min(setup.others, 150))
        for setup in chosen
    ]
