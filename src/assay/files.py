"""Files and folders that are written whole or not at all."""

import errno
import fcntl
import filecmp
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from assay.errors import DataError


class RemoteFile(Protocol):
    """A file elsewhere that is written whole by itself, such as `assay.data.remote.RemotePath`."""

    def write(self, data: bytes) -> None:
        """Write the file."""


def require_empty(folder: Path) -> None:
    """Refuse a path that is a file, or a folder that holds anything."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DataError(f"{str(folder)!r} is not an empty folder; choose another")
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
    """Open a file for writing that appears under its name when the block ends, or not at all if anything fails.

    Whoever writes it next takes over the temporary file that a killed process left; two writers wait for each other.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(temporary, os.O_RDWR | os.O_CREAT) as descriptor:
            try:
                os.ftruncate(descriptor, 0)
                with os.fdopen(os.dup(descriptor), "wb") as handle:
                    yield handle
                    handle.flush()
                    os.fsync(descriptor)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            temporary.replace(path)  # from here on that name may be another writer's
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of killed processes from a folder that nobody writes in any more."""
    for path in folder.rglob(".*.tmp"):
        path.unlink(missing_ok=True)


@contextmanager
def write_folder(folder: Path, may_be_same: Callable[[Path], bool] = lambda folder: False) -> Iterator[Path]:
    """Give an empty folder to fill, which gets its name when the block ends; if anything fails, it vanishes.

    A folder that is there must be empty; one that `may_be_same` stays if it turns out to hold the very same files, so
    that a command that was killed when all was done succeeds if it is given again.
    """
    folder = folder.resolve()
    there = folder.is_dir() and any(folder.iterdir()) and may_be_same(folder)
    if not there:
        require_empty(folder)
    _require_movable(folder)
    half = folder.with_name(f".{folder.name}.half")
    try:
        half.mkdir(parents=True, exist_ok=True)
        with _locked(half, os.O_RDONLY, wait=False):
            try:
                _clear(half)
                yield half
                if not there:
                    half.replace(folder)
                elif not _same_files(half, folder):
                    raise DataError(f"{str(folder)!r} is not an empty folder; choose another")
            finally:
                shutil.rmtree(half, ignore_errors=True)
    except OSError as error:
        raise DataError(f"cannot write {str(folder)!r}: {error.strerror or error}") from None


def _require_movable(folder: Path) -> None:
    """Refuse a folder in whose place no other can be put."""
    if folder.is_dir() and (folder.is_mount() or folder == Path.cwd()):
        raise DataError(f"{str(folder)!r} is the working folder or a mount point; choose a folder inside of it")


def _clear(folder: Path) -> None:
    """Remove what a killed process left in a folder."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _same_files(one: Path, other: Path) -> bool:
    """Return whether two folders hold the same files."""
    names = [{path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} for folder in (one, other)]
    return names[0] == names[1] and all(filecmp.cmp(one / name, other / name, shallow=False) for name in names[0])


@contextmanager
def _locked(path: Path, flags: int, wait: bool = True) -> Iterator[int]:
    """Open a file or folder that no other process has locked; a lock ends with its process."""
    while True:
        descriptor = os.open(path, flags, 0o666)
        try:
            _lock(descriptor, wait)
            if _is_at(descriptor, path):  # else whoever had it has moved it away meanwhile
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _lock(descriptor: int, wait: bool) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise DataError("another process is writing there; wait for that one to end") from None
    except OSError as error:  # some file systems know no locks: there, two writers are not kept apart
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def size_in_words(count: float) -> str:
    """Return a number of bytes in words.

    >>> size_in_words(900), size_in_words(3_200_000), size_in_words(18.5e9)
    ('900 bytes', '3.2 MB', '18.5 GB')
    """
    for unit, least in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= least:
            return f"{count / least:.1f} {unit}"
    return f"{count:.0f} bytes"
