"""What a process leaves that is killed while it writes a file or a folder."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from assay.base import open_atomically, write_folder


def leave_file(path: Path) -> None:
    """Be killed in the middle of a file."""
    _die_in(lambda: open_atomically(path), lambda handle: (handle.write(b"half"), handle.flush()))


def leave_folder(folder: Path) -> None:
    """Be killed in the middle of a folder."""
    _die_in(lambda: write_folder(folder), lambda half: ((half / "deep").mkdir(), (half / "deep" / "x").touch()))


def _die_in(begin: Callable[[], AbstractContextManager[Any]], fill: Callable[[Any], object]) -> None:
    child = os.fork()
    if child == 0:
        try:
            begin_it = begin()
            fill(begin_it.__enter__())
        finally:
            os._exit(9)
    os.waitpid(child, 0)


def hidden(folder: Path) -> list[str]:
    """Return the names of what is not whole, at any depth."""
    return sorted(path.name for path in folder.rglob(".*") if path.name.endswith((".tmp", ".half")))
