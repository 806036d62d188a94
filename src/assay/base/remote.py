"""Remote folders: any address that fsspec knows, such as `s3://bucket/folder`, with the methods of a path."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, Any

from assay.base.distribution import missing_extra
from assay.base.errors import AssayError, ConfigError, DataError, MissingExtra
from assay.base.files import refuse_links, write_atomically
from assay.base.markup import shorten

ADDRESS = re.compile(r"([a-z][a-z0-9+]+):/+(.*)", re.DOTALL)
PASSWORD = re.compile(r"[^/@]*:[^/@]*@")
"""What goes before a host is written wherever the address is: into records, messages and logs."""
DRIVERS = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs", "abfss": "adlfs"}
HUB = "hf"
ALLOWED = {"file", *DRIVERS, HUB, "https", "memory"}
MORE = "ASSAY_PROTOCOLS"
"""The environment variable that allows further protocols, such as `sftp,webdav`."""
WHOLE = {*DRIVERS, HUB, "memory"}
"""Stores where a file appears at once and whole; elsewhere it is written under another name and moved."""

_permitted: ContextVar[bool] = ContextVar("remote", default=False)
"""Whether addresses are opened that a record names, and not the user."""
TEMPORARIES = f".*.{16 * '[0-9a-f]'}.tmp"
"""The names of files that are not whole yet."""


@dataclass(frozen=True)
class RemotePath:
    """A file or folder at an address; what a `pathlib.Path` can do, as far as datasets need it."""

    address: str

    def __str__(self) -> str:
        return self.address

    def __truediv__(self, name: str) -> "RemotePath":
        return RemotePath(f"{self.address.rstrip('/')}/{name}")

    @property
    def scheme(self) -> str:
        """What the address starts with."""
        return self.address.partition(":")[0]

    @property
    def name(self) -> str:
        """The last part."""
        return self.address.rstrip("/").rpartition("/")[2]

    @property
    def shared(self) -> bool:
        """Whether other processes see it."""
        return self.scheme != "memory"

    @property
    def on_hub(self) -> bool:
        """Whether it lies on the Hugging Face hub."""
        return self.scheme == HUB

    def exists(self) -> bool:
        """Return whether there is a file or folder."""
        with self._reach() as (system, path):
            return bool(system.exists(path))

    def is_file(self) -> bool:
        """Return whether there is a file."""
        with self._reach() as (system, path):
            return bool(system.isfile(path))

    def is_dir(self) -> bool:
        """Return whether there is a folder."""
        with self._reach() as (system, path):
            return bool(system.isdir(path))

    def read_bytes(self) -> bytes:
        """Return what is in the file."""
        with self._reach() as (system, path):
            return bytes(system.cat_file(path))

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return what is in the file, as text."""
        return self.read_bytes().decode(encoding)

    def open(self, mode: str) -> IO[bytes]:
        """Open the file for reading, part by part."""
        with self._reach() as (system, path):
            handle: IO[bytes] = system.open(path, mode)
            return handle

    def write(self, data: bytes) -> None:
        """Write the file so that it is either wholly there or not at all."""
        with self._reach() as (system, path):
            if self.scheme == "file":
                write_atomically(Path(path), data)
                return
            if self.scheme in WHOLE:
                system.pipe_file(path, data)
                return
            folder, _, name = path.rpartition("/")
            half = f"{folder}/.{name}.{os.urandom(8).hex()}.tmp"
            system.makedirs(folder, exist_ok=True)
            system.pipe_file(half, data)
            system.mv(half, path)

    def mkdir(self, parents: bool = True, exist_ok: bool = True) -> None:
        """Make the folder, where there are such things."""
        with self._reach() as (system, path):
            if self.scheme not in (*DRIVERS, HUB):  # a bucket is not ours to make, and folders in it are names
                system.makedirs(path, exist_ok=exist_ok)

    def iterdir(self) -> Iterator["RemotePath"]:
        """Return what lies in the folder."""
        with self._reach() as (system, path):
            names = [str(path_inside).rstrip("/").rpartition("/")[2] for path_inside in system.ls(path, detail=False)]
        return iter([self / name for name in names])

    def rglob(self, pattern: str) -> Iterator["RemotePath"]:
        """Return the files below whose names fit."""
        with self._reach() as (system, path):
            paths = [str(full) for full in system.find(path)]
            inside = [full[len(path) :].lstrip("/") for full in paths if full.startswith(path)]
        return iter([self / name for name in inside if fnmatch(name.rpartition("/")[2], pattern)])

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the file."""
        with self._reach() as (system, path):
            if not missing_ok or system.exists(path):
                system.rm_file(path)

    def remove_leftovers(self) -> None:
        """Remove the files below that are not whole."""
        for leftover in self.rglob(TEMPORARIES):
            leftover.unlink(missing_ok=True)

    @contextmanager
    def _reach(self) -> Iterator[tuple[Any, str]]:
        """Give the file system and the path in it; whatever its driver raises becomes one line."""
        try:
            yield _system(self)
        except AssayError:
            raise
        except FileNotFoundError:
            raise DataError(f"there is no {self.address!r}") from None
        except Exception as error:  # each store has errors of its own
            raise DataError(f"cannot use {self.address!r}: {type(error).__name__}: {error}") from None


Folder = Path | RemotePath


def _system(place: RemotePath) -> tuple[Any, str]:
    _check_protocol(place)
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError:
        raise missing_extra(f"data at {place.scheme}://", "fsspec") from None
    try:
        system, path = url_to_fs(place.address, use_listings_cache=False)
    except ImportError as error:
        driver = DRIVERS.get(place.scheme)
        if place.scheme == HUB:
            raise missing_extra("data at hf://", "huggingface_hub") from None
        line = f"pip install {driver}" if driver else str(error)
        raise MissingExtra(f"data at {place.scheme}:// needs: {line}") from None
    except ValueError as error:
        raise ConfigError(f"cannot use {place.address!r}: {error}") from None
    return system, str(path)


def _check_protocol(place: RemotePath) -> None:
    """Refuse protocols that nobody allowed: some reach into a private network, or take other addresses inside."""
    more = {name.strip() for name in os.environ.get(MORE, "").split(",")}
    if place.scheme not in ALLOWED | more:
        raise ConfigError(
            f"addresses of {place.scheme}:// are not opened; allowed are {', '.join(sorted(ALLOWED))}, and others that "
            f"the environment variable {MORE} names"
        )
    if "::" in place.address:
        raise ConfigError(f"{place.address!r} holds another address inside; give that one")


def is_remote(where: Path | str) -> bool:
    """Return whether a text or a path is an address such as `s3://bucket/folder`.

    >>> is_remote("s3://bucket/x"), is_remote(Path("s3://bucket/x")), is_remote("data/x")
    (True, True, False)
    """
    return ADDRESS.fullmatch(str(where)) is not None


def folder_at(where: "Folder | str") -> Folder:
    """Return the folder at a path or an address; a `Path` made of an address has lost a slash, which is put back.

    >>> str(folder_at(Path("s3://bucket/x"))), str(folder_at("file:///tmp/x")), str(folder_at("memory://x/"))
    ('s3://bucket/x', 'file:///tmp/x', 'memory://x')
    >>> str(folder_at("hf://user/name")), str(folder_at("hf://datasets/user/name"))
    ('hf://datasets/user/name', 'hf://datasets/user/name')
    """
    if isinstance(where, RemotePath):
        return where
    match = ADDRESS.fullmatch(str(where))
    if match is None:
        return Path(where)
    scheme, rest = match[1], match[2].rstrip("/")
    if not rest:
        raise ConfigError(f"{str(where)!r} names no folder; expected such as {scheme}://bucket/folder")
    if scheme != "github" and PASSWORD.match(rest):  # where it is a repository
        raise ConfigError(f"an address of {scheme}:// must hold no password; the store's own environment variables do")
    if scheme == HUB and not rest.startswith("datasets/"):
        rest = f"datasets/{rest}"  # the hub's addresses without it are those of models
    return RemotePath(f"{scheme}://{'/' if scheme == 'file' else ''}{rest}")


def refuse_outward(folder: Folder) -> None:
    """Refuse a folder of this machine, also one at an address, out of which a link leads."""
    if isinstance(folder, Path):
        refuse_links(folder)
    elif folder.scheme == "file":
        refuse_links(Path(str(folder).removeprefix("file://")))


@contextmanager
def permit_remote(permitted: bool = True) -> Iterator[None]:
    """Let addresses be opened that a record names: whoever wrote it is told that it was opened, and from where."""
    token = _permitted.set(permitted)
    try:
        yield
    finally:
        _permitted.reset(token)


def refuse_named(address: str, record: Path) -> None:
    """Refuse an address that a record names, unless that is permitted: nobody asked for it to be opened."""
    if is_remote(address) and not _permitted.get():
        raise DataError(
            f"{str(record)!r} says that its data lies at {shorten(address, 160)!r}, which is not opened unasked; name "
            "the data, or allow it: --allow-remote"
        )


def refuse_remote(where: Path | None) -> Path | None:
    """Return a path of this machine, refusing an address: only datasets can lie elsewhere."""
    if where is not None and is_remote(where):
        raise ConfigError(f"{str(folder_at(where))!r}: only datasets can lie elsewhere; give a folder of this machine")
    return where
