"""A dataset of any origin: a folder with a table of concepts, and pictures beside it.

`concepts.csv` or `concepts.parquet` has a row an example: `file` (a picture, by its path in the folder), `split`,
`concept_NAME`, `label_NAME`, and if known `nuisance_NAME`, `source` (the source images it shows, separated by ;) and
`text`. `rule.yaml`, if there is one, gives `labels` (name: formula), `splits` (name: formula) and `disjoint` (lists of
splits that share no world).
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.arrays import Codes
from assay.audit.examined import Examined, Part
from assay.concepts import Concept, ConceptSpace, Value
from assay.config import Settings, load_yaml
from assay.data.columns import CONCEPT, LABEL
from assay.errors import ConfigError, DataError
from assay.logic.formula import TRUE
from assay.logic.knowledge import Knowledge
from assay.logic.parse import parse

TABLES = ("concepts.parquet", "concepts.csv")
RULE = "rule.yaml"
NUISANCE = "nuisance_"
TRUTHS = {"true": True, "false": False}

Table = Mapping[str, list[Any]]


def is_imported(folder: Path) -> bool:
    """Return whether a folder holds a table of concepts."""
    return any((folder / name).is_file() for name in TABLES)


def open_imported(folder: Path) -> Examined:
    """Return a folder of pictures with a table, ready for the audit."""
    table = _table(folder)
    if "split" not in table:
        raise DataError(f"{str(folder)!r}: the table has no column 'split'")
    names = [column.removeprefix(CONCEPT) for column in table if column.startswith(CONCEPT)]
    said = [column.removeprefix(LABEL) for column in table if column.startswith(LABEL)]
    if not names or not said:
        raise DataError(f"{str(folder)!r}: the table needs columns 'concept_NAME' and 'label_NAME'")
    space = ConceptSpace(tuple(Concept(name, _values(table[CONCEPT + name])) for name in names))
    rule = load_yaml(folder / RULE) if (folder / RULE).is_file() else Settings()
    knowledge = _knowledge(rule, space, said)
    labels = {name: _values(table[LABEL + name]) for name in said}
    if knowledge is not None:
        labels = {label.name: label.values for label in knowledge.labels}
    splits = list(dict.fromkeys(map(str, table["split"])))
    parts = {name: _part(name, folder, table, space, labels, rule) for name in splits}
    return Examined(folder.name, space, labels, parts, knowledge)


def _table(folder: Path) -> Table:
    path = next(folder / name for name in TABLES if (folder / name).is_file())
    if path.suffix == ".parquet":
        try:
            found: Table = pq.read_table(path).to_pydict()
        except pa.ArrowException as error:
            raise DataError(f"{str(path)!r} cannot be read: {str(error).splitlines()[0]}") from None
        return found
    with path.open(newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    if not rows:
        raise DataError(f"{str(path)!r} holds no example")
    if any(None in row or None in row.values() for row in rows):
        raise DataError(f"{str(path)!r} has rows that are longer or shorter than its first line")
    return {name: [_value(row[name]) for row in rows] for name in rows[0]}


def _value(text: str) -> Value:
    if text.lower() in TRUTHS:
        return TRUTHS[text.lower()]
    try:
        return int(text)
    except ValueError:
        return text


def _values(column: list[Any]) -> tuple[Value, ...]:
    """Return the values of a column in order; 0 and 1 alone are truth values."""
    distinct = set(column)
    if distinct <= {0, 1}:
        return (False, True)
    return tuple(sorted(distinct, key=lambda value: (isinstance(value, str), value)))


def _knowledge(rule: Settings, space: ConceptSpace, said: list[str]) -> Knowledge | None:
    given = rule.values.get("labels")
    if given is None:
        return None
    if not isinstance(given, Mapping) or set(given) != set(said):
        raise ConfigError(f"{rule.place('labels')}labels: expected a formula for each of {', '.join(said)}")
    return Knowledge.of(space, {name: parse(str(given[name]), space.names) for name in said})


def _codes(column: list[Any], values: tuple[Value, ...], what: str) -> Codes:
    places = {value: place for place, value in enumerate(values)}
    unknown = [value for value in column if value not in places]
    if unknown:
        raise DataError(f"{what}: the rule never gives the value {unknown[0]!r}")
    return np.array([places[value] for value in column], dtype=np.int64)


def _part(
    name: str, folder: Path, table: Table, space: ConceptSpace, labels: Mapping[str, tuple[Value, ...]], rule: Settings
) -> Part:
    rows = [row for row, split in enumerate(table["split"]) if str(split) == name]

    def column(key: str) -> list[Any]:
        return [table[key][row] for row in rows]

    concepts = [_codes(column(CONCEPT + c.name), c.values, f"concept {c.name!r}") for c in space.concepts]
    told = [_codes(column(LABEL + key), values, f"label {key!r}") for key, values in labels.items()]
    claims = [set(map(str, group)) for group in rule.values.get("disjoint", [])]
    others = tuple(sorted(set().union(*(group for group in claims if name in group)) - {name}))
    where = rule.values.get("splits", {}).get(name)
    nuisances = {key: column(key) for key in table if key.startswith(NUISANCE)}
    return Part(
        name,
        np.stack(concepts, axis=1),
        np.stack(told, axis=1),
        pictures=[_picture(folder, str(file)) for file in column("file")] if "file" in table else (),
        texts=[str(text) for text in column("text")] if "text" in table else (),
        nuisances={
            "index": np.arange(len(rows), dtype=np.float64),
            **{key.removeprefix(NUISANCE): _numbers(values) for key, values in nuisances.items()},
        },
        ingredients=[tuple(str(one).split(";")) for one in column("source")] if "source" in table else (),
        where=TRUE if where is None else parse(str(where), space.names),
        disjoint_from=others,
    )


def _numbers(values: list[Any]) -> Codes:
    words: dict[str, int] = {}
    found = [words.setdefault(value, len(words)) if isinstance(value, str) else float(value) for value in values]
    return np.array(found, dtype=np.float64)


def _picture(folder: Path, file: str) -> bytes:
    path = (folder / file).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DataError(f"picture {file!r} lies outside the folder")
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"picture {file!r} cannot be read: {error.strerror}") from None
