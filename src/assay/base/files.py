"""Files and folders that are written whole or not at all, and never through a link that somebody else has put there.

What is written first has a name that nobody can guess, is new when it is opened, and is locked until it gets its own
name. So a link or a file that a stranger's folder came with is at most replaced. What a killed process has left is
known by its owner and by its lock, which nobody holds any more, and is removed by whoever writes there next.

Links in folders that came from elsewhere: whoever reads or writes inside of one must not end up in another.
"""

import errno
import fcntl
import filecmp
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Protocol

from assay.base.errors import DataError, RunFailed

NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
LONGEST = 200
"""As many bytes of a name are kept in that of its temporary file, so that it is not too long."""
TEMPORARY, HALF = ".tmp", ".half"
OURS = re.compile(r"\..*\.[0-9a-f]{16}(\.tmp|\.half)", re.DOTALL)
PAUSE = 0.05
"""Seconds that one of two writers that began at once waits for the other to give way."""
LEAST_WAIT, MOST_SHARE = 2.0, 0.001
"""A folder is not searched for leftovers again within these seconds, nor for more than this share of the time."""

_searched: dict[str, float] = {}
"""When each folder may be searched again."""


class RemoteFile(Protocol):
    """A file elsewhere that is written whole by itself, such as `assay.base.remote.RemotePath`."""

    def write(self, data: bytes) -> None:
        """Write the file."""


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

    Of two writers of a file the last wins, whole. A link of that name is replaced, and what it points to stays.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _search_at_times(path.parent)
        temporary, descriptor = _new_file(path)
        try:
            with os.fdopen(descriptor, "wb") as handle:
                yield handle
                handle.flush()
                os.fsync(descriptor)
                temporary.replace(path)  # still locked: nobody takes it for a leftover
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


@contextmanager
def stays(folder: Path) -> Iterator[None]:
    """Fail in the end if a folder was deleted or replaced while something was written into it."""
    before = folder.stat()
    yield
    try:
        same = os.path.samestat(before, folder.stat())
    except OSError:
        same = False
    if not same:
        raise RunFailed(f"{str(folder)!r} was deleted while it was written; run the same command again")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of what is read, changed and written again in a folder; each waits for its turn."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise DataError(f"cannot use folder {str(folder)!r}: {error.strerror or error}") from None
    try:
        _lock(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)


def write_new(path: Path, data: bytes) -> None:
    """Write a file that must be new, in a folder that only this process uses, such as a temporary one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_new(path) as handle:
            handle.write(data)
    except OSError as error:
        raise DataError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def open_new(path: Path) -> BinaryIO:
    """Open a file for writing that must be new."""
    return os.fdopen(os.open(path, NEW, 0o666), "wb")


def _new_file(path: Path) -> tuple[Path, int]:
    """Open and lock a new file beside the one that is to be written."""
    while True:
        temporary = _unguessable(path, TEMPORARY)
        descriptor = os.open(temporary, NEW, 0o666)
        try:
            _lock(descriptor, wait=True)
            if os.fstat(descriptor).st_nlink:  # else somebody took it for a leftover before it was locked
                return temporary, descriptor
        except BaseException:
            temporary.unlink(missing_ok=True)
            os.close(descriptor)
            raise
        os.close(descriptor)


def _unguessable(path: Path, ending: str) -> Path:
    name = os.fsdecode(os.fsencode(path.name)[:LONGEST])
    return path.with_name(f".{name}.{os.urandom(8).hex()}{ending}")


def require_empty(folder: Path) -> None:
    """Refuse a path that is a file, or a folder that holds anything."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DataError(f"{str(folder)!r} is not an empty folder; choose another")
    except OSError as error:
        raise DataError(f"cannot use folder {str(folder)!r}: {error.strerror}") from None


@contextmanager
def write_folder(folder: Path, may_be_same: Callable[[Path], bool] = lambda folder: False) -> Iterator[Path]:
    """Give an empty folder to fill, which gets its name when the block ends; if anything fails, it vanishes.

    A folder that is there must be empty; one that `may_be_same` stays if it turns out to hold the very same files, so
    that a command that was killed when all was done succeeds if it is given again.
    """
    folder = _behind_link(folder)
    if not _is_taken(folder, may_be_same):
        require_empty(folder)
    _require_movable(folder)
    try:
        with _new_folder(folder) as half:
            yield half
            if not _is_taken(folder, may_be_same):  # which another process may have finished meanwhile
                half.replace(folder)
            elif not _same_files(half, folder):
                raise DataError(f"{str(folder)!r} is not an empty folder; choose another")
    except OSError as error:
        raise DataError(f"cannot write {str(folder)!r}: {error.strerror or error}") from None


def _is_taken(folder: Path, may_be_same: Callable[[Path], bool]) -> bool:
    """Return whether there is a folder that is not empty and may be the one that is to be written."""
    return folder.is_dir() and any(folder.iterdir()) and may_be_same(folder)


def copy_folder(source: Path, half: Path) -> None:
    """Copy a folder, out of which no link leads, into one that `write_folder` gave."""
    refuse_links(source)
    try:
        shutil.copytree(source, half, dirs_exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot copy {str(source)!r}: {error.strerror or error}") from None


def private_folder(path: Path) -> Path:
    """Make a folder for this user alone where others can write too, and refuse one that others can write."""
    with suppress(FileExistsError):
        path.mkdir(0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise DataError(f"{str(path)!r} is no folder of yours alone; delete it, or set XDG_CACHE_HOME to another place")
    return path


def _behind_link(folder: Path) -> Path:
    """Return the folder that a path means; a link may lead to a folder, not to a name that is free."""
    try:
        found = folder.resolve()
    except (OSError, RuntimeError):
        raise DataError(f"cannot use folder {str(folder)!r}: it is a link to itself") from None
    if folder.is_symlink() and not found.is_dir():
        raise DataError(
            f"{str(folder)!r} is a link to {str(found)!r}, which is no folder; delete it, or choose another"
        )
    return found


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """Give a new and locked folder beside the one that is to be written, unless another process writes that one."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    half, descriptor = _locked_folder(folder)
    try:
        _give_way(folder, half)
        yield half
    finally:
        shutil.rmtree(half, ignore_errors=True)
        os.close(descriptor)


def _locked_folder(folder: Path) -> tuple[Path, int]:
    while True:
        half = _unguessable(folder, HALF)
        half.mkdir()
        with suppress(FileNotFoundError):  # somebody took it for a leftover before it was locked
            descriptor = os.open(half, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                _lock(descriptor, wait=True)
                if os.path.samestat(os.fstat(descriptor), half.lstat()):
                    return half, descriptor
            except BaseException:
                os.close(descriptor)
                half.rmdir()
                raise
            os.close(descriptor)


def _give_way(folder: Path, half: Path) -> None:
    """Remove what killed processes left of a folder; raise if another process writes it, and was there before."""
    others = [path for path in _remove_dead(folder.parent) if _target(path) == _target(half) and path != half]
    if others and half < min(others):  # both began at once: the other gives way, if it does
        time.sleep(PAUSE)
        others = [path for path in others if path.exists()]
    if others:
        raise DataError("another process is writing there; wait for that one to end")


def _target(half: Path) -> str:
    return half.name[: -len(".0123456789abcdef.half")]


def _require_movable(folder: Path) -> None:
    """Refuse a folder in whose place no other can be put."""
    if folder.is_dir() and (folder.is_mount() or folder == Path.cwd()):
        raise DataError(f"{str(folder)!r} is the working folder or a mount point; choose a folder inside of it")


def _same_files(one: Path, other: Path) -> bool:
    """Return whether two folders hold the same files."""
    names = [{path.relative_to(folder) for path in folder.rglob("*") if path.is_file()} for folder in (one, other)]
    return names[0] == names[1] and all(filecmp.cmp(one / name, other / name, shallow=False) for name in names[0])


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left in a folder, however deep."""
    for place, _, _ in os.walk(folder):
        _remove_dead(Path(place))


def _search_at_times(folder: Path) -> None:
    """Remove what killed processes left in a folder, unless that was done a moment ago."""
    began, key = time.monotonic(), os.fspath(folder)
    if began >= _searched.get(key, 0.0):
        _remove_dead(folder)
        now = time.monotonic()
        _searched[key] = now + max(LEAST_WAIT, (now - began) / MOST_SHARE)


def _remove_dead(folder: Path) -> list[Path]:
    """Remove what killed processes of this user left in a folder; return the folders that others are writing."""
    alive = []
    try:
        found = [entry.name for entry in os.scandir(folder) if entry.name.endswith((TEMPORARY, HALF))]
    except PermissionError:  # one may write where one may not look
        return []
    for path in (folder / name for name in found if OURS.fullmatch(name)):
        with suppress(OSError):  # a link, or gone meanwhile
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if os.fstat(descriptor).st_uid == os.geteuid() and _lock(descriptor, wait=False):
                    shutil.rmtree(path) if path.name.endswith(HALF) else path.unlink()
            except BlockingIOError:
                alive += [path] if path.name.endswith(HALF) else []
            finally:
                os.close(descriptor)
    return alive


def _lock(descriptor: int, wait: bool) -> bool:
    """Lock a file or folder; return False where the file system knows no locks: there, two are not kept apart."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF):
            raise
        return False
    return True


def size_in_words(count: float) -> str:
    """Return a number of bytes in words.

    >>> size_in_words(900), size_in_words(3_200_000), size_in_words(18.5e9)
    ('900 bytes', '3.2 MB', '18.5 GB')
    """
    for unit, least in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= least:
            return f"{count / least:.1f} {unit}"
    return f"{count:.0f} bytes"


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
