"""Copies a whole dataset to another folder, to an address that fsspec knows, to the Hugging Face hub, or into one file.

The hub gets one commit with the shards, the card (whose front matter lists the splits and the counterfactual pairs),
the Croissant description and the manifest. `Dataset.open("hf://USER/NAME")` and `datasets.load_dataset` open it.
"""

import gzip
import hashlib
import re
import tarfile
import zipfile
from pathlib import Path
from typing import IO, Any

from assay.base import (
    ConfigError,
    DataError,
    Folder,
    RemotePath,
    folder_at,
    import_extra,
    open_atomically,
    refuse_links,
    refuse_outward,
    write_atomically,
)
from assay.dataset import NAME, Dataset, describe, read_manifest

AUDIT = "audit.json"
FORMATS = ("zip", "tar.gz", "tar.bz2")
OTHER_NAMES = {"gzip": "tar.gz", "bz2": "tar.bz2", "tgz": "tar.gz"}
REPOSITORY = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)")


def push(dataset: Dataset, where: Folder | str, private: bool = False) -> Folder:
    """Copy a whole dataset, the manifest last, and return where it lies now.

    Parameters
    ----------
    dataset
        The dataset; what of it lies elsewhere is fetched.
    where
        A folder, an address, or `hf://USER/NAME`; what is there is copied once.
    private
        Whether on the hub its owner alone sees it.
    """
    target = folder_at(where)
    refuse_outward(target)
    _refuse_another(dataset, target)
    dataset.fetch_all()
    described = describe(dataset.manifest)
    for name, text in described.items():
        if not (dataset.folder / name).exists():  # a fetched copy has the shards and the manifest only
            write_atomically(dataset.folder / name, text)
    audited = [AUDIT] if (dataset.folder / AUDIT).is_file() else []
    names = [*(shard.file for shard in dataset.manifest.shards), *described, *audited, NAME]
    for shard in dataset.manifest.shards:
        if hashlib.sha256((dataset.folder / shard.file).read_bytes()).hexdigest() != shard.sha256:
            raise DataError(f"shard {str(dataset.folder / shard.file)!r} does not match its hash: it is damaged")
    if isinstance(target, RemotePath) and target.on_hub:
        _push_to_hub(dataset, target, names, private)
        return target
    for name in names:
        file: Any = target / name
        write_atomically(file, (dataset.folder / name).read_bytes())
    return target


def _refuse_another(dataset: Dataset, target: Folder) -> None:
    """Refuse a place where another dataset lies."""
    if (target / NAME).is_file():
        there = read_manifest(target).fingerprint
        if there != dataset.fingerprint:
            raise DataError(f"{str(target)!r} holds another dataset (fingerprint {there}); choose another place")


def _push_to_hub(dataset: Dataset, target: RemotePath, names: list[str], private: bool) -> None:
    """Make the repository unless it is there, and add all files in one commit."""
    match = REPOSITORY.fullmatch(str(target))
    if match is None:
        raise ConfigError(f"{str(target)!r} is no dataset of the hub; expected hf://datasets/USER/NAME")
    hub = import_extra("huggingface_hub", "pushing to the Hugging Face hub")
    try:
        api = hub.HfApi()
        api.create_repo(match[1], repo_type="dataset", exist_ok=True, private=private)
        api.upload_folder(
            repo_id=match[1],
            repo_type="dataset",
            folder_path=str(dataset.folder),
            allow_patterns=names,
            commit_message=f"Add {dataset.name}, fingerprint {dataset.fingerprint}",
        )
    except Exception as error:  # no network, no token, no right to write: each is an error of its own there
        raise DataError(f"cannot push to {str(target)!r}: {type(error).__name__}: {error}") from None


def archive(folder: Path, form: str) -> Path:
    """Pack a dataset folder beside itself into one file, the same bytes for the same data, and return the file."""
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
