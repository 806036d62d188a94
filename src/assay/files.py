"""Files that are written whole or not at all, and folders that must be empty."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from assay.errors import DataError


class RemoteFile(Protocol):
    """A file elsewhere that is written whole by itself, such as `assay.data.remote.RemotePath`."""

    def write(self, data: bytes) -> None:
        """Write the file."""


def require_empty(folder: Path, make: bool = False) -> None:
    """Refuse a path that is a file, or a folder that holds anything; make the folder if asked to."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DataError(f"{str(folder)!r} is not an empty folder; choose another")
        if make:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot use folder {str(folder)!r}: {error.strerror}") from None


def write_atomically(path: Path | RemoteFile, data: bytes) -> None:
    """Write a file so that it is either wholly there or not at all."""
    if not isinstance(path, Path):
        path.write(data)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise DataError(f"cannot write {str(path)!r}: {error.strerror}") from None
