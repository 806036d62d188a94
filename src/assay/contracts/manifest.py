"""The manifest: what a dataset is, where it came from, and the hash of every file."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from assay.base import DataError

FORMAT = 1
PAIRS = "pairs"
"""The split of counterfactual worlds. The fingerprint does not cover it, because it follows from the rest."""
SPLIT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
SHARD = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
"""The name of a shard's file, in the folder of its split; a manifest can name no other place."""
MENDING = "mending"
"""What a record calls concept labels that were bought to mend a model."""
DECISIVE = ("format", "task", "seed", "shard_rows", "knowledge", "layout", "sources")


class FileRecord(BaseModel):
    """Part of a file that others read and write: what is said is kept as it is said, also what we do not know."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    def to_dict(self) -> dict[str, Any]:
        """Return what is said as plain data."""
        return self.model_dump(exclude_unset=True)

    def __eq__(self, other: object) -> bool:
        """Records are equal that say the same, however they came about."""
        return isinstance(other, FileRecord) and self.to_dict() == other.to_dict()

    def but(self, **changes: Any) -> Self:
        """Return it with other values."""
        return self.model_validate({**self.to_dict(), **_plain(changes)})


class ShardRecord(FileRecord):
    """A shard: a file of a split's examples."""

    file: str
    rows: int
    bytes: int
    sha256: str
    """Of the file, which tells whether it is whole."""
    content: str | None = None
    """Of what it holds, which is the same on every machine; datasets of before have none."""


class SplitRecord(FileRecord):
    """A split: which worlds it shows, and its shards."""

    name: str
    size: int
    where: str
    share: list[int | float] = [0.0, 1.0]
    balance: str = "world"
    pool: str = ""
    disjoint_from: list[str] = []
    quota: Any = None
    labels: dict[str, Any] = {}
    """How often each label takes each value."""
    boundary: dict[str, Any] = {}
    """How many examples lie in each variant and near-boundary type of each label; older datasets have no counts."""
    shards: list[ShardRecord]


class PairsRecord(FileRecord):
    """The split of counterfactual worlds, or why there is none."""

    asked: int | None = None
    """How many were asked for; None in a manifest that says nothing of them."""
    split: str | None = None
    """Whose worlds are changed."""
    size: int = 0
    where: str = "True"
    shards: list[ShardRecord] = []
    none: str | None = None
    """Why there are none."""


class ImportRecord(FileRecord):
    """Where an imported dataset came from, and what was done to it."""

    layout: str
    examples: int
    resize: str
    splits: str
    agreement: int | float | None = None
    missing: dict[str, int | float] = {}
    """The share of concepts that are not known, by split."""
    pictures_sha256: str = ""


class AnnotationRecord(FileRecord):
    """What `assay annotate`, or a purchase of labels, did to a copy of a dataset."""

    parent: str
    """The fingerprint of the dataset that was annotated."""
    splits: list[str]
    seed: int
    settings: dict[str, Any]
    found: dict[str, Any] = {}
    """What changed, counted by split."""
    given: list[str] = []
    """The columns that models learn from."""
    machine: str | None = None
    reader: dict[str, Any] | None = None


class TaskRecord(FileRecord):
    """The task that a dataset was made by, or where it was imported from, and what was done to it since."""

    name: str
    version: int = 1
    config: dict[str, Any] = {}
    imported: ImportRecord | None = None
    annotation: AnnotationRecord | None = None
    confound: list[dict[str, Any]] = []
    added: dict[str, Any] | None = None
    """The dataset that examples were added to, and how many."""


class Manifest(FileRecord):
    """What `manifest.json` says."""

    format: int
    fingerprint: str
    task: TaskRecord
    seed: int
    shard_rows: int
    knowledge: dict[str, Any]
    layout: dict[str, Any]
    sources: dict[str, Any]
    splits: list[SplitRecord]
    pairs: PairsRecord = PairsRecord()
    summary: str = ""
    drawn: str = ""
    """How worlds were drawn, in words."""
    columns: list[str] = ["image"]
    backbones: dict[str, Any] = {}
    local: dict[str, Any] = {}
    """Settings that say where data lies on the machine that made it."""
    left_out: list[str] = []
    versions: dict[str, Any] = {}
    code: Any = None
    """The name and hash of the user's file that has the task; a stranger's manifest may say anything here."""
    confounded_from: str | None = None

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "Manifest":
        """Return the manifest that says this, as it reads back from its file, with the fingerprint of what it says."""
        plain: dict[str, Any] = json.loads(to_json(_plain(body)))
        return cls.model_validate({**plain, "fingerprint": fingerprint(plain)})

    @classmethod
    def parse(cls, text: str, path: str) -> "Manifest":
        """Read a manifest that lies at `path` and check it: whoever sends a dataset may write anything."""
        damaged = DataError(f"{path!r} is damaged; delete the folder and make it again")
        try:
            data: dict[str, Any] = json.loads(text)
            told = data["format"], data["fingerprint"], fingerprint(data)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise damaged from None
        if told[0] != FORMAT:
            raise DataError(f"{path!r} is of format {told[0]}, this assay reads format {FORMAT}")
        if told[1] != told[2]:
            raise DataError(
                f"{path!r} does not match its fingerprint; it was changed by hand; delete the folder, make it again"
            )
        try:
            manifest = cls.model_validate(data)
        except (ValidationError, RecursionError):
            raise damaged from None
        _refuse_strays(path, manifest)
        return manifest

    @property
    def splits_by_name(self) -> dict[str, SplitRecord]:
        """The splits by name."""
        return {split.name: split for split in self.splits}

    @property
    def shards(self) -> list[ShardRecord]:
        """Every shard, those of counterfactual worlds last."""
        return [*(shard for split in self.splits for shard in split.shards), *self.pairs.shards]


def fingerprint(body: Mapping[str, Any]) -> str:
    """Return 32 hex digits that stand for the data and the rule: all but the words, backbones and versions.

    Shards count by what they hold, not by the bytes of their files, which other versions of Parquet pack otherwise.
    """
    splits = [{**split, "shards": [_held(shard) for shard in split["shards"]]} for split in body["splits"]]
    text = json.dumps([*(body[key] for key in DECISIVE), splits], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _held(shard: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stands for a shard: its content, or its file in a manifest of before contents were written."""
    packing = ("sha256", "bytes") if "content" in shard else ()
    return {key: value for key, value in shard.items() if key not in packing}


def to_json(data: Mapping[str, Any]) -> bytes:
    """Return plain data as JSON, the same bytes for the same data."""
    return (json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _refuse_strays(path: str, manifest: Manifest) -> None:
    """Refuse names by which a stranger's manifest would read or write outside of its folder."""
    for shard in manifest.shards:
        if not SHARD.fullmatch(shard.file):
            raise DataError(
                f"{path!r} names the file {shard.file!r}, which lies outside of its folder; it is not opened"
            )
    for split in manifest.splits:
        if not SPLIT_NAME.fullmatch(split.name):
            raise DataError(f"{path!r} has a split with the odd name {split.name!r}; it is not opened")


def _plain(value: Any) -> Any:
    """Return plain data in which records are dictionaries."""
    if isinstance(value, FileRecord):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
