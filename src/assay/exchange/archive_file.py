"""A dataset folder as one compressed file, the same bytes for the same data."""

import gzip
import tarfile
import zipfile
from pathlib import Path
from typing import IO

from assay.base import ConfigError, DataError, open_atomically, refuse_links

FORMATS = ("zip", "tar.gz", "tar.bz2")
OTHER_NAMES = {"gzip": "tar.gz", "bz2": "tar.bz2", "tgz": "tar.gz"}


def archive(folder: Path, form: str) -> Path:
    """Pack a dataset folder beside itself and return the file."""
    form = OTHER_NAMES.get(form, form)
    if form not in FORMATS:
        raise ConfigError(f"no archive format {form!r}; there is: {', '.join(FORMATS)}")
    if not folder.is_dir():
        raise DataError(f"no dataset folder {str(folder)!r}")
    refuse_links(folder)
    target = folder.parent / f"{folder.name}.{form}"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    with open_atomically(target) as handle:
        _zip(files, folder, handle) if form == "zip" else _tar(files, folder, handle, form)
    return target


def _zip(files: list[Path], folder: Path, handle: IO[bytes]) -> None:
    with zipfile.ZipFile(handle, "w", zipfile.ZIP_DEFLATED) as pack:
        for path in files:
            name = path.relative_to(folder.parent).as_posix()
            pack.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)


def _tar(files: list[Path], folder: Path, handle: IO[bytes], form: str) -> None:
    if form == "tar.gz":
        with gzip.GzipFile(fileobj=handle, mode="wb", mtime=0, filename="") as inner:
            _tar_into(files, folder, inner, "w")
    else:
        _tar_into(files, folder, handle, "w:bz2")


def _tar_into(files: list[Path], folder: Path, handle: IO[bytes] | gzip.GzipFile, mode: str) -> None:
    with tarfile.open(fileobj=handle, mode=mode) as pack:  # type: ignore[call-overload]
        for path in files:
            entry = tarfile.TarInfo(path.relative_to(folder.parent).as_posix())
            entry.size = path.stat().st_size
            with path.open("rb") as source:
                pack.addfile(entry, source)
