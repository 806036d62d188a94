"""Hashes in the record of a run: its own, and those of what was learned, so that damage does not pass for a result."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.base import DataError
from assay.contracts import FILES, SEAL, RunRecord, seal_of, to_json
from assay.runs.folder import PROGRAM, WEIGHTS

LEARNED = {WEIGHTS: "the weights in {} cannot be read", PROGRAM: "what {} has learned cannot be read"}


def sealed(record: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a record as plain data, with the hashes of what the run has learned and of the record itself."""
    plain = json.loads(to_json({**record, FILES: {name: _hash(folder / name) for name in _learned(folder)}}))
    return {**plain, SEAL: seal_of(plain)}


def check_learned(folder: Path, record: RunRecord) -> None:
    """Refuse files of a run that do not match the hashes in its record."""
    for name, sha256 in record.files.items():
        if name in LEARNED and (not (folder / name).is_file() or _hash(folder / name) != sha256):
            raise DataError(f"{LEARNED[name].format(repr(str(folder)))}: {name} does not match its hash: it is damaged")


def _learned(folder: Path) -> list[str]:
    return [name for name in LEARNED if (folder / name).is_file()]


def _hash(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
