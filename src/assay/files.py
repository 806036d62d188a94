"""Files that are written whole or not at all, and folders that must be empty."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol

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
    with open_atomically(path) as handle:
        handle.write(data)


@contextmanager
def open_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name when the block ends, or not at all if anything fails."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
