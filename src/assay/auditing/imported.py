"""A dataset of any origin under audit before it is imported: a folder with a table of concepts, and pictures beside it.

The table and `rule.yaml`, if there is one, are those that `assay import` takes. Here the
table must be whole: every concept and label known, every example in a split.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.auditing.audited import AuditedDataset, AuditedSplit, as_number, place_in_split
from assay.base import Codes, DataError
from assay.contracts import CONCEPT, LABEL
from assay.exchange import (
    NUISANCE,
    RULE,
    RuleFile,
    files_in,
    find_table,
    read_columns,
    read_rule,
    rule_settings,
    source_names,
    to_values,
    values_in,
)
from assay.logic import TRUE, Concept, ConceptSpace, Value

Table = Mapping[str, Sequence[Any]]


def open_imported(folder: Path) -> AuditedDataset:
    """Return a folder of pictures with a table, ready for the audit."""
    path = find_table(folder)
    if path is None:
        raise DataError(f"{str(folder)!r} has no table of concepts")
    table: dict[str, Sequence[Any]] = dict(read_columns(path))
    names = [column.removeprefix(CONCEPT) for column in table if column.startswith(CONCEPT)]
    label_names = [column.removeprefix(LABEL) for column in table if column.startswith(LABEL)]
    if "split" not in table:
        raise DataError(f"{str(folder)!r}: the table has no column 'split'")
    if not names or not label_names:
        raise DataError(f"{str(folder)!r}: the table needs columns 'concept_NAME' and 'label_NAME'")
    _refuse_gaps(folder, table)
    for column in list(table):
        if column.startswith((CONCEPT, LABEL)):
            table[column] = to_values(table[column], f"column {column!r}")
    splits = list(dict.fromkeys(map(str, table["split"])))
    space = ConceptSpace(tuple(Concept(name, values_in(table[CONCEPT + name], name)) for name in names))
    rule = read_rule(rule_settings(folder / RULE if (folder / RULE).is_file() else None), space, label_names, splits)
    labels = {name: values_in(table[LABEL + name], name) for name in label_names}
    if rule.knowledge is not None:
        labels = {label.name: label.values for label in rule.knowledge.labels}
    parts = {name: _part(name, folder, table, space, labels, rule) for name in splits}
    return AuditedDataset(folder.resolve().name, space, labels, parts, rule.knowledge)


def _refuse_gaps(folder: Path, table: Table) -> None:
    for name, column in table.items():
        if name in ("split", "file") or name.startswith((CONCEPT, LABEL)):
            gap = next((row for row, value in enumerate(column) if value is None or value == ""), None)
            if gap is not None:
                raise DataError(
                    f"{str(folder)!r}: column {name!r} is empty in row {gap}; 'assay import' takes concepts with gaps"
                )


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
        pictures=files_in(folder, column("file")) if "file" in table else (),
        texts=["" if text is None else str(text) for text in column("text")] if "text" in table else (),
        nuisances={
            "index": place_in_split(len(rows), len(rows)),
            **{key.removeprefix(NUISANCE): values for key, values in nuisances.items()},
        },
        ingredients=[source_names(text) for text in column("source")] if "source" in table else (),
        where=rule.where.get(name, TRUE),
        disjoint_from=rule.apart_from(name),
    )
