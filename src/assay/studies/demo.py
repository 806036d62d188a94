"""The demo: three models on sums of even or odd digits; the one that follows the rule reads the digits wrong."""

from pathlib import Path

from assay.config import Settings
from assay.studies.study import Study, study_from

DEMO = {
    "name": "Assay demo: sums of two even or two odd digits",
    "tasks": [{"task": "mnadd-evenodd", "n": 4000}],
    "models": [
        {"model": "blackbox", "epochs": 8},
        {"model": "cbm", "epochs": 15},
        {"model": "dpl", "epochs": 12, "entropy_weight": 1.0},
    ],
    "seeds": [0],
}


def demo_study(output: Path) -> Study:
    """Return the demo as a study."""
    return study_from(Settings({**DEMO, "output": str(output)}))
