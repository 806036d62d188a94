"""Links in folders that came from elsewhere: whoever reads or writes inside of one must not end up in another."""

import os
from pathlib import Path

from assay.errors import DataError


def refuse_links(folder: Path, unread: str = "") -> None:
    """Refuse a folder out of which a link leads; the folder may itself be reached by one. `unread` is left out."""
    root, todo = os.path.realpath(folder), [os.fspath(folder)]
    while todo:
        try:
            entries = list(os.scandir(todo.pop()))
        except OSError:  # no folder, or one that cannot be looked into: who reads it will say so
            continue
        for entry in entries:
            if entry.is_symlink():
                _refuse_outward(folder, root, entry.path)
            elif entry.name != unread and entry.is_dir(follow_symlinks=False):
                todo.append(entry.path)


def _refuse_outward(folder: Path, root: str, link: str) -> None:
    target = os.path.realpath(link)
    if target != root and not target.startswith(root.rstrip(os.sep) + os.sep):
        raise DataError(
            f"{os.path.relpath(link, folder)!r} in {str(folder)!r} is a link that leads out of that folder, which is "
            "not used; if you trust it, copy it with what its links point to: cp -rL"
        )
