"""Doors: a package offers the names that its `__init__` imports for type checkers, each loaded when first asked for."""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from assay.renamed import renamed

OFFERED = re.compile(r"^    from (\S+) import (\w+) as \2$", re.MULTILINE)


def door(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package, read off the imports under its `TYPE_CHECKING`."""
    homes = homes_in(Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8"))

    def load(name: str) -> Any:
        if name not in homes:
            return renamed(package, name)
        return getattr(import_module(homes[name]), name)

    return load, lambda: sorted(homes), sorted(homes)


def homes_in(text: str) -> dict[str, str]:
    """Return the module of each name that a package's `__init__` offers.

    >>> homes_in("if TYPE_CHECKING:\\n    from assay.counting.count import count_shortcuts as count_shortcuts")
    {'count_shortcuts': 'assay.counting.count'}
    """
    return {name: module for module, name in OFFERED.findall(text)}
