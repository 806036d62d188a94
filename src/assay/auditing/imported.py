"""A dataset of any origin: a folder with a table of concepts, and pictures beside it.

`concepts.csv` or `concepts.parquet` has a row an example: `file` (a picture, by its path in the folder), `split`,
`concept_NAME`, `label_NAME`, and if known `nuisance_NAME`, `source` (the source images it shows, separated by ;) and
`text`. `rule.yaml`, if there is one, gives `labels` (name: formula), `splits` (name: formula) and `disjoint` (lists of
splits that share no world).
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.arrays import Codes
from assay.auditing.audited import AuditedDataset, AuditedSplit, as_number, place_in_split
from assay.concepts import Concept, ConceptSpace, Value
from assay.config import Config, Settings, load_yaml, validate
from assay.data.columns import CONCEPT, LABEL
from assay.errors import ConfigError, DataError, suggestion
from assay.logic.formula import TRUE, Formula
from assay.logic.ground import shape_of
from assay.logic.knowledge import Knowledge
from assay.logic.parse import parse

TABLES = ("concepts.parquet", "concepts.csv")
RULE = "rule.yaml"
NUISANCE = "nuisance_"
TRUTHS = {"true": True, "false": False}

Table = Mapping[str, list[Any]]


class RuleConfig(Config):
    """What `rule.yaml` may say."""

    labels: dict[str, str] = {}
    """The formula of each label."""
    splits: dict[str, str] = {}
    """What holds of every world of a split."""
    disjoint: list[list[str]] = []
    """Lists of splits that share no world."""


@dataclass(frozen=True)
class RuleFile:
    """What a folder claims: the knowledge if its labels have formulas, where splits lie, and which share no world."""

    knowledge: Knowledge | None
    where: Mapping[str, Formula]
    disjoint: tuple[frozenset[str], ...]

    def apart_from(self, split: str) -> tuple[str, ...]:
        """Return the splits that share no world with one."""
        return tuple(sorted({other for group in self.disjoint if split in group for other in group} - {split}))


@dataclass(frozen=True)
class Files(Sequence[bytes]):
    """Pictures in a folder, read when asked for."""

    folder: Path
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, place: int) -> bytes: ...
    @overload
    def __getitem__(self, place: slice) -> "Files": ...
    def __getitem__(self, place: int | slice) -> "bytes | Files":
        if isinstance(place, slice):
            return Files(self.folder, self.names[place])
        try:
            return (self.folder / self.names[place]).read_bytes()
        except OSError as error:
            raise DataError(f"picture {self.names[place]!r} cannot be read: {error.strerror}") from None


def is_imported(folder: Path) -> bool:
    """Return whether a folder holds a table of concepts."""
    return any((folder / name).is_file() for name in TABLES)


def open_imported(folder: Path) -> AuditedDataset:
    """Return a folder of pictures with a table, ready for the audit."""
    table = _table(folder)
    names = [column.removeprefix(CONCEPT) for column in table if column.startswith(CONCEPT)]
    label_names = [column.removeprefix(LABEL) for column in table if column.startswith(LABEL)]
    if "split" not in table:
        raise DataError(f"{str(folder)!r}: the table has no column 'split'")
    if not names or not label_names:
        raise DataError(f"{str(folder)!r}: the table needs columns 'concept_NAME' and 'label_NAME'")
    _refuse_gaps(folder, table)
    splits = list(dict.fromkeys(map(str, table["split"])))
    space = ConceptSpace(tuple(Concept(name, _values(table[CONCEPT + name])) for name in names))
    rule = _rule(folder, space, label_names, splits)
    labels = {name: _values(table[LABEL + name]) for name in label_names}
    if rule.knowledge is not None:
        labels = {label.name: label.values for label in rule.knowledge.labels}
    parts = {name: _part(name, folder, table, space, labels, rule) for name in splits}
    return AuditedDataset(folder.resolve().name, space, labels, parts, rule.knowledge)


def _table(folder: Path) -> Table:
    path = next(folder / name for name in TABLES if (folder / name).is_file())
    try:
        columns = pq.read_table(path).to_pydict() if path.suffix == ".parquet" else _csv(path)
    except (pa.ArrowException, csv.Error, UnicodeError) as error:
        raise DataError(f"{str(path)!r} cannot be read: {str(error).splitlines()[0]}") from None
    if not any(columns.values()):
        raise DataError(f"{str(path)!r} holds no example")
    return columns


def _csv(path: Path) -> Table:
    with path.open(newline="", encoding="utf-8-sig") as handle:
        rows = list(csv.DictReader(handle, strict=True))
    if any(None in row or None in row.values() for row in rows):
        raise DataError(f"{str(path)!r} has rows that are longer or shorter than its first line")
    return {name: [_value(row[name]) for row in rows] for name in rows[0]} if rows else {}


def _value(text: str) -> Value:
    if text.lower() in TRUTHS:
        return TRUTHS[text.lower()]
    try:
        return int(text)
    except ValueError:
        return text


def _refuse_gaps(folder: Path, table: Table) -> None:
    for name, column in table.items():
        if name in ("split", "file") or name.startswith((CONCEPT, LABEL)):
            gap = next((row for row, value in enumerate(column) if value is None or value == ""), None)
            if gap is not None:
                raise DataError(f"{str(folder)!r}: column {name!r} is empty in row {gap}")


def _values(column: list[Any]) -> tuple[Value, ...]:
    """Return the values of a column in order; 0 and 1 alone are truth values."""
    distinct = set(column)
    if distinct <= {0, 1}:
        return (False, True)
    return tuple(sorted(distinct, key=lambda value: (isinstance(value, str), value)))


def _rule(folder: Path, space: ConceptSpace, label_names: list[str], splits: list[str]) -> RuleFile:
    settings = load_yaml(folder / RULE) if (folder / RULE).is_file() else Settings()
    config = validate(RuleConfig, settings)
    if config.labels and set(config.labels) != set(label_names):
        raise ConfigError(f"{settings.place('labels')}labels: expected a formula for each of {', '.join(label_names)}")
    for key, named in (
        ("splits", list(config.splits)),
        ("disjoint", [split for group in config.disjoint for split in group]),
    ):
        for name in named:
            if name not in splits:
                raise ConfigError(f"{settings.place(key)}{key}: no split named {name!r}{suggestion(name, splits)}")
    where = {name: parse(text, space.names) for name, text in config.splits.items()}
    for name, formula in where.items():
        if shape_of(formula, space).kind != "bool":
            raise ConfigError(f"{settings.place('splits')}splits: {formula} of {name!r} must be true or false")
    formulas = {name: parse(config.labels[name], space.names) for name in label_names if config.labels}
    knowledge = Knowledge.of(space, formulas) if formulas else None
    return RuleFile(knowledge, where, tuple(frozenset(group) for group in config.disjoint))


def _codes(column: list[Any], values: tuple[Value, ...], what: str) -> Codes:
    places = {value: place for place, value in enumerate(values)}
    unknown = [value for value in column if value not in places]
    if unknown:
        raise DataError(f"{what}: the rule never gives the value {unknown[0]!r}")
    return np.array([places[value] for value in column], dtype=np.int64)


def _part(
    name: str, folder: Path, table: Table, space: ConceptSpace, labels: Mapping[str, tuple[Value, ...]], rule: RuleFile
) -> AuditedSplit:
    rows = [row for row, split in enumerate(table["split"]) if str(split) == name]

    def column(key: str) -> list[Any]:
        return [table[key][row] for row in rows]

    concepts = [_codes(column(CONCEPT + c.name), c.values, f"concept {c.name!r}") for c in space.concepts]
    label_codes = [_codes(column(LABEL + key), values, f"label {key!r}") for key, values in labels.items()]
    nuisances = {key: np.array(list(map(as_number, column(key)))) for key in table if key.startswith(NUISANCE)}
    return AuditedSplit(
        name,
        np.stack(concepts, axis=1),
        np.stack(label_codes, axis=1),
        pictures=_pictures(folder, column("file")) if "file" in table else (),
        texts=["" if text is None else str(text) for text in column("text")] if "text" in table else (),
        nuisances={
            "index": place_in_split(len(rows), len(rows)),
            **{key.removeprefix(NUISANCE): values for key, values in nuisances.items()},
        },
        ingredients=[_sources(text) for text in column("source")] if "source" in table else (),
        where=rule.where.get(name, TRUE),
        disjoint_from=rule.apart_from(name),
    )


def _sources(text: Any) -> tuple[str, ...]:
    return tuple(name.strip() for name in str(text).split(";") if name.strip()) if text is not None else ()


def _pictures(folder: Path, names: list[Any]) -> Files:
    """Return the pictures, refusing those that are missing or lie elsewhere."""
    for name in names:
        path = (folder / str(name)).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise DataError(f"picture {str(name)!r} lies outside the folder")
        if not path.is_file():
            raise DataError(f"picture {str(name)!r} is missing")
    return Files(folder, tuple(map(str, names)))
