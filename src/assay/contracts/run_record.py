"""The record of a run: what was trained on what, sealed with its own hash."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, ValidationError

from assay.base import DataError
from assay.contracts.manifest import FileRecord

SEAL = "sha256"
"""What a record says of its own hash."""


class DataRecord(FileRecord):
    """The dataset of a run."""

    folder: str = Field(pattern=r"^[^\x00]+$")
    fingerprint: str
    task: str = ""
    from_run: str = Field("", pattern=r"^[^\x00]*$")
    """Where the dataset lies as seen from the run, so that both can be moved together."""


class NameRecord(FileRecord):
    """What a study calls the model and its task."""

    model: str | None = None
    task: str | None = None


class FoldRecord(FileRecord):
    """The fold that a run was trained on."""

    number: int


class TransferRecord(FileRecord):
    """The run whose predictions these are, for data that it was not trained on."""

    run: str
    data: DataRecord


class RunRecord(FileRecord):
    """What `run.json` says."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, protected_namespaces=())
    model: str
    seed: int
    config: dict[str, Any]
    data: DataRecord
    knowledge: dict[str, Any]
    layout: dict[str, Any]
    called: NameRecord = NameRecord()
    fold: FoldRecord | None = None
    transfer: TransferRecord | None = None
    stages: dict[str, Any] | None = None
    """What each stage of continual learning left."""
    training: dict[str, Any] = {}
    """How the steps of training ran."""
    code: Any = None
    """The name and hash of the user's file that has the model; a stranger's record may say anything here."""
    parameters: int | float | None = None
    perception: dict[str, Any] | None = None
    """Where the model's concepts come from, if not from itself."""
    files: dict[str, Any] = {}
    """The hashes of what was learned."""

    @classmethod
    def parse(cls, text: str, path: Path) -> "RunRecord":
        """Read a record that lies at `path` and check it: whoever seals one may write anything."""
        damaged = DataError(f"{str(path)!r} is damaged; train again")
        try:
            data: dict[str, Any] = json.loads(text)
            if (SEAL in data or "files" in data) and data.get(SEAL) != sealed(data)[SEAL]:  # older ones have no seal
                raise damaged
            data.pop(SEAL, None)
            return cls.model_validate(data)
        except (ValueError, AttributeError, TypeError, RecursionError, ValidationError):
            raise damaged from None


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with its hash, which covers all but itself."""
    rest = {key: value for key, value in record.items() if key != SEAL}
    return {**rest, SEAL: hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()}
