"""Old names: they work for one release, with a warning that says what is used instead."""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib._abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ROOMS = {
    "arrays": ("base",), "code_files": ("base",), "config": ("base",), "distribution": ("base",), "errors": ("base",),
    "files": ("base",), "frames": ("base",), "html": ("base",), "links": ("base",), "markdown": ("base",),
    "plots": ("base",), "processes": ("base",), "progress": ("base",), "registry": ("base",), "seeds": ("base",),
    "concepts": ("logic",), "predictions": ("contracts",), "data": ("dataset", "exchange", "contracts", "base"),
    "mending": ("lab",), "studies": ("lab",), "suites": ("lab",),
    "models.core.losses": ("models", "models.core.tensors"), "models.core.neural": ("models", "models.core.tensors"),
    "models.concept.head_inputs": ("models", "models.concept.heads"), "models.external": ("models",),
    "models.external.wrapped": ("models",), "models.external.pyc": ("models",),
    "models.probes": ("models",), "models.probes.probing": ("models",),
}  # fmt: skip
"""Where the names of each old room are offered now."""
NAMES = {
    "assay": {
        "Answer": "Prediction", "codes_of": "class_indices", "count_readings": "count_shortcuts",
        "given_reading": "given_mapping",
    },
    "assay.base": {"Deck": "SeededPermutation"},
    "assay.contracts": {"Answer": "Prediction"},
    "assay.counting": {"count_readings": "count_shortcuts"},
    "assay.exchange": {"Died": "WorkerLost"},
    "assay.lab": {
        "MendingCurve": "AcquisitionCurve", "Situation": "AcquisitionContext", "Holdings": "AcquiredData",
    },
    "assay.logic": {"Odds": "LabelNoise"},
    "assay.metrics": {"codes_of": "class_indices"},
    "assay.models": {"Order": "TrainSpec"},
    "assay.testing": {
        "Habitat": "ZooTask", "habitat": "zoo_task", "SPECIMENS": "FAULTY_PREDICTORS", "given_reading": "given_mapping",
    },
}  # fmt: skip
"""The new name of each old one, by the door that offered it."""
OVERRIDDEN = {"worlds_in": "source_for", "how_drawn": "sampling_note"}
"""The new name of each old one that a task of one's own may define."""


class RenamedRooms(Loader):
    """Finds an old room, asked after all real modules, and gives its names from the rooms where they are now."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load an old room, None for any other module."""
        package, _, room = name.partition(".")
        return ModuleSpec(name, self, is_package=True) if package == "assay" and room in ROOMS else None

    def exec_module(self, module: ModuleType) -> None:
        """Let the module look up each name when it is first asked for."""
        old = module.__name__.partition(".")[2]

        def load(name: str) -> Any:
            if not name.startswith("__"):
                for room in ROOMS[old]:
                    found = getattr(import_module(f"assay.{room}"), name, None)
                    if found is not None:
                        _warn(f"{module.__name__}.{name}", f"assay.{room}.{name}")
                        return found
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

        module.__dict__["__getattr__"] = load


def renamed(room: str, name: str) -> Any:
    """Return what an old name at a door is called now, with a warning."""
    new = NAMES.get(room, {}).get(name)
    if new is None:
        raise AttributeError(f"module {room!r} has no attribute {name!r}")
    _warn(f"{room}.{name}", f"{room}.{new}")
    return getattr(sys.modules[room], new)


def accept_old_names(task: type) -> None:
    """Let a task of one's own define something by its old name, with a warning."""
    for old, new in OVERRIDDEN.items():
        if old in vars(task) and new not in vars(task):
            _warn(f"{task.__name__}.{old}", f"{task.__name__}.{new}")
            setattr(task, new, vars(task)[old])


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is now {new}; the old name goes with the next release", DeprecationWarning, stacklevel=3)
