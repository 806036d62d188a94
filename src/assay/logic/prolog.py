"""Where Prolog was: import `assay.prolog` instead; this name goes with the next release."""

from importlib import import_module
from typing import Any
from warnings import warn


def __getattr__(name: str) -> Any:
    door = import_module("assay.prolog")
    if name not in door.__all__:
        raise AttributeError(f"assay.logic.prolog has no {name!r}")
    warn("assay.logic.prolog is assay.prolog now; the old name goes with the next release", FutureWarning, stacklevel=2)
    return getattr(door, name)
