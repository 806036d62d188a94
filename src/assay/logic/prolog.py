"""Where Prolog was: import `assay.prolog` instead; this name goes with the next release."""

from importlib import import_module
from typing import Any
from warnings import warn


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    warn("assay.logic.prolog is assay.prolog now; the old name goes with the next release", FutureWarning, stacklevel=2)
    return getattr(import_module("assay.prolog"), name)
