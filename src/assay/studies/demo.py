"""The demo: three models on three tasks.

On sums of even or odd digits the model that follows the rule reads the digits wrong. On a formula over bits the black
box is right until a combination is new, or one bit is changed. On robots all concepts show in one picture.
"""

from pathlib import Path

from assay.config import Settings
from assay.studies.study import Study, study_from

DEMO = {
    "name": "Assay demo: sums of digits, a formula over bits, robots",
    "tasks": [
        {"task": "mnadd-evenodd", "n": 4000},
        {"task": "mnlogic", "n": 1000, "formula": "(a and b) or (c and not d)"},
        {"task": "robots", "n": 1000},
    ],
    "models": [
        {"model": "blackbox", "epochs": 8},
        {"model": "cbm", "epochs": 15},
        {"model": "dpl", "epochs": 12, "entropy_weight": 1.0},
    ],
    "seeds": [0],
}


def demo_study(output: Path) -> Study:
    """Return the demo as a study."""
    return study_from(Settings(DEMO), output)
