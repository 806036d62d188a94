"""Write a source table as an ordinary dataset folder: manifest, shards, card and Croissant file.

A true concept that is not known is an empty cell of its column, read as the code -1: no model is supervised by it and
nothing is judged by it. The labels are those of the table, whatever the rule says; `assay audit` compares the two.
Splits are as the source has them; those that it lacks are made by a seeded share.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from assay.base import Codes, DataError, Settings, rng_for
from assay.contracts import (
    BOUNDARY,
    CONCEPT,
    FORMAT,
    LABEL,
    PAIRS,
    SPLIT_NAME,
    Manifest,
    SplitRecord,
    numbers,
    strings,
    to_column,
)
from assay.dataset import (
    COMPACT,
    IMAGE,
    SHARD_ROWS,
    features,
    file_names,
    pairs_split,
    replace_dataset,
    split_counts,
    versions,
    write_description,
    write_shards,
)
from assay.exchange.imports.pictures import PictureFit, fit_for
from assay.exchange.imports.source import ImportSettings, RuleFile, SourceTable, read_rule, values_in
from assay.logic import NO_RULE, TRUE, Concept, ConceptSpace, Knowledge, Label, Value
from assay.tasks import Column
from assay.worlds import CONTENT, SOURCES

UNPLACED = "not placed"
"""The boundary tag of an example that has none: a concept is not known, or no rule is."""
USUAL = ("train", "valid", "test")
NO_PAIRS = "the dataset was imported, and its worlds cannot be redrawn"


@dataclass(frozen=True)
class ImportedSplit:
    """The rows of one split: its part of the table, and the codes of concepts (-1 where not known) and labels."""

    name: str
    table: SourceTable
    concepts: Codes
    labels: Codes


@dataclass(frozen=True)
class DatasetWriter:
    """Writes the shards of an import."""

    knowledge: Knowledge
    fit: PictureFit
    folder: Path
    texts: bool

    @property
    def columns(self) -> list[Column]:
        """The columns that show an example."""
        return ["image", "text"] if self.texts else ["image"]

    def write(self, split: ImportedSplit) -> dict[str, Any]:
        """Write the shards of a split, and return what the manifest says of them."""
        symbols = list[pa.Table]()
        shards = write_shards(split.name, self._tables(split, symbols), self.folder)
        return {"shards": shards, **split_counts(self.knowledge, symbols)}

    def _tables(self, split: ImportedSplit, symbols: list[pa.Table]) -> Iterator[pa.Table]:
        """Give the rows of each shard; add them, without their pictures, to `symbols`."""
        for start in range(0, len(split.table), SHARD_ROWS):
            table = self._table(split, np.arange(start, min(start + SHARD_ROWS, len(split.table))))
            symbols.append(table.drop(["image"]))
            yield table

    def _table(self, split: ImportedSplit, rows: Codes) -> pa.Table:
        source, places = split.table, rows.tolist()
        pngs = [self.fit.encode(source.pictures[row], source.names[row]) for row in places]
        parts = [strings(pngs, pa.binary()), strings(file_names(split.name, rows), pa.string())]
        columns: dict[str, pa.Array] = {
            "index": numbers(rows),
            "image": pa.StructArray.from_arrays(parts, fields=list(IMAGE)),
        }
        if self.texts:
            columns["text"] = strings([source.texts[row] for row in places], pa.string())
        concepts, labels = split.concepts[rows], split.labels[rows]
        for place, concept in enumerate(self.knowledge.space.concepts):
            columns[CONCEPT + concept.name] = to_column(concepts[:, place], concept.values)
        for place, label in enumerate(self.knowledge.labels):
            columns[LABEL + label.name] = to_column(labels[:, place], label.values)
        columns |= _boundary_columns(self.knowledge, concepts)
        columns["style"] = strings([COMPACT.encode(_style(source, row)) for row in places], pa.string())
        known = {"huggingface": json.dumps({"info": {"features": features(self.knowledge, self.columns)}})}
        return pa.table(columns).replace_schema_metadata(known)


def _style(source: SourceTable, row: int) -> dict[str, Any]:
    """Return what is known of an example beside its concepts: its file, how far annotators agree, its nuisances."""
    shares = {name: column[row] for name, column in source.agreement.items() if column[row] is not None}
    content = {"file": source.names[row], **({"agreement": shares} if shares else {})}
    nuisances = {name: _plain(column[row]) for name, column in source.nuisances.items()}
    listed = {SOURCES: list(source.sources[row])} if source.sources else {}
    return {CONTENT: content, **listed, **nuisances}


def _plain(cell: Any) -> Any:
    cell = cell.item() if hasattr(cell, "item") else cell
    return cell if cell is None or isinstance(cell, (bool, int, float, str)) else str(cell)


def _boundary_columns(knowledge: Knowledge, codes: Codes) -> dict[str, pa.Array]:
    """Return where each example lies in each label's rule, as far as that can be told."""
    columns = {}
    known = np.asarray((codes >= 0).all(axis=1))
    for place, name in enumerate(knowledge.label_names):
        tags = [UNPLACED] * len(codes)
        if knowledge.has_rule and known.any():
            found = iter(knowledge.boundaries[place].tags(codes[known]))
            tags = [next(found) if here else UNPLACED for here in known.tolist()]
        columns[BOUNDARY + name] = strings(tags, pa.string())
    return columns


def write_dataset(table: SourceTable, folder: Path, settings: ImportSettings, rule: Settings, layout: str) -> Manifest:
    """Write a table as a dataset folder and return its manifest; where something is refused, leave nothing behind."""
    with replace_dataset(folder, lambda there: there.task.imported is not None) as half:
        return _write(table, half, settings, rule, layout)


def _write(table: SourceTable, folder: Path, settings: ImportSettings, rule: Settings, layout: str) -> Manifest:
    splits = assign_splits(table, settings.shares, settings.seed)
    space = ConceptSpace(
        tuple(Concept(name, values_in(cells, f"concept {name!r}")) for name, cells in table.concepts.items())
    )
    claims = read_rule(rule, space, list(table.labels), split_order(splits))
    knowledge = claims.knowledge or _without_rule(space, table, claims)
    parts = [_part(table, knowledge, name, splits) for name in split_order(splits)]
    fit = fit_for(table.pictures, table.names, settings.size, settings.resize)
    writer = DatasetWriter(knowledge, fit, folder, bool(table.texts))
    entries = [_split_entry(part, claims, len(table), writer.write(part)) for part in parts]
    about = {**describe_source(table, layout, fit, settings), "missing": _missing(parts)}
    return write_description(folder, _manifest(writer, settings, entries, about))


def _manifest(
    writer: DatasetWriter, settings: ImportSettings, splits: Sequence[SplitRecord], about: Mapping[str, Any]
) -> Manifest:
    """Return the manifest: as that of a task, with `imported` in the place of what would redraw it."""
    task = {
        "name": settings.name or "imported",
        "version": 1,
        "config": settings.model_dump(mode="json", exclude={"name"}),
        "imported": dict(about),
    }
    changed = pairs_split([split.name for split in splits])
    body = {
        "format": FORMAT,
        "task": task,
        "summary": f"Imported from {about['layout']}",
        "drawn": "Imported",
        "seed": settings.seed,
        "shard_rows": SHARD_ROWS,
        "knowledge": writer.knowledge.to_dict(),
        "layout": writer.fit.layout.to_dict(),
        "columns": list(writer.columns),
        "backbones": {},
        "sources": {},
        "local": {},
        "splits": list(splits),
        "left_out": [],
        "versions": versions(),
        PAIRS: {"asked": 0, "split": changed, "size": 0, "shards": [], "none": NO_PAIRS},
    }
    return Manifest.of(body)


def describe_source(table: SourceTable, layout: str, fit: PictureFit, settings: ImportSettings) -> dict[str, Any]:
    """Return what the manifest says of where the data came from and what was done to it."""
    shares = [share for column in table.agreement.values() for share in column if share is not None]
    digest = hashlib.sha256()
    for data in table.pictures:
        digest.update(hashlib.sha256(data).digest())
    return {
        "layout": layout,
        "examples": len(table),
        "resize": fit.resize,
        "agreement": round(float(np.mean(shares)), 4) if shares else None,
        "splits": "as in the source" if table.splits is not None else f"made by shares with seed {settings.seed}",
        "pictures_sha256": digest.hexdigest(),
    }


def _missing(parts: Sequence[ImportedSplit]) -> dict[str, float]:
    return {part.name: round(float((part.concepts < 0).mean()), 4) for part in parts}


def _without_rule(space: ConceptSpace, table: SourceTable, claims: RuleFile) -> Knowledge:
    labels = []
    for name, cells in table.labels.items():
        values = values_in(cells, f"label {name!r}")
        if len(values) < 2:
            raise DataError(f"label {name!r} is always {values[0]!r}: there is nothing to learn")
        labels.append(Label(name, NO_RULE, values))
    if NO_RULE.name in space.places:
        raise DataError(f"no concept can be named {NO_RULE.name!r}; rename it")
    return Knowledge(space, tuple(labels), claims.constraints)


def _part(table: SourceTable, knowledge: Knowledge, name: str, splits: Sequence[str]) -> ImportedSplit:
    rows = [row for row, split in enumerate(splits) if split == name]
    part = table.take(rows)
    concepts = [class_indices(part.concepts[c.name], c.values, f"concept {c.name!r}") for c in knowledge.space.concepts]
    labels = [class_indices(part.labels[x.name], x.values, f"label {x.name!r}") for x in knowledge.labels]
    for label, codes in zip(knowledge.labels, labels, strict=True):
        if (codes < 0).any():
            first = part.names[int(np.flatnonzero(codes < 0)[0])]
            raise DataError(f"label {label.name!r} of picture {first!r} is empty; fill it in or leave the row out")
    return ImportedSplit(name, part, np.stack(concepts, axis=1), np.stack(labels, axis=1))


def class_indices(column: Sequence[Value | None], values: tuple[Value, ...], what: str, gaps: bool = True) -> Codes:
    """Return cells as places in the list of values, -1 where one is not known; without `gaps` that is refused."""
    places = {value: place for place, value in enumerate(values)}
    unknown = [value for value in column if value not in places and not (gaps and value is None)]
    if unknown:
        raise DataError(f"{what}: the rule never gives the value {unknown[0]!r}")
    return np.array([-1 if value is None else places[value] for value in column], dtype=np.int64)


def _split_entry(part: ImportedSplit, claims: RuleFile, whole: int, written: Mapping[str, Any]) -> SplitRecord:
    return SplitRecord(
        name=part.name,
        size=len(part.table),
        where=str(claims.where.get(part.name, TRUE)),
        share=[0.0, round(len(part.table) / whole, 6)],
        balance="world",
        pool=part.name,
        disjoint_from=list(claims.apart_from(part.name)),
        quota=None,
        **written,
    )


def assign_splits(table: SourceTable, shares: Mapping[str, float], seed: int) -> list[str]:
    """Return the split of each row: the source's own, with `valid` and `test` taken from `train` where they lack.

    Pictures of one source image stay together.
    """
    splits = list(table.splits) if table.splits is not None else ["train"] * len(table)
    if "train" not in splits:
        raise DataError(f"no row is of split 'train'; there is: {', '.join(sorted(set(splits)))}")
    for name in sorted(set(splits)):
        if not SPLIT_NAME.fullmatch(name):
            raise DataError(f"{name!r} is no name of a split; name it by letters, digits, '.', '_' and '-'")
    lacking = {name: share for name, share in shares.items() if name != "train" and name not in splits}
    if lacking:
        rows = [row for row, split in enumerate(splits) if split == "train"]
        whole = shares["train"] + sum(lacking.values())
        made = _divide(_groups(table, rows), {name: share / whole for name, share in lacking.items()}, seed)
        for row, name in made.items():
            splits[row] = name
    if "train" not in splits or any(name not in splits for name in lacking):
        raise DataError(f"{len(table)} examples are too few for the splits {', '.join(shares)}; give other shares")
    return splits


def split_order(splits: Sequence[str]) -> list[str]:
    """Return the names of splits, the usual ones first."""
    names = dict.fromkeys(splits)
    return [*(name for name in USUAL if name in names), *(name for name in names if name not in USUAL)]


def _groups(table: SourceTable, rows: Sequence[int]) -> list[list[int]]:
    """Return rows that belong together: those of the same source images."""
    grouped: dict[object, list[int]] = {}
    for row in rows:
        key = table.sources[row] if table.sources and table.sources[row] else row
        grouped.setdefault(key, []).append(row)
    return list(grouped.values())


def _divide(groups: Sequence[list[int]], shares: Mapping[str, float], seed: int) -> dict[int, str]:
    """Return the split of the rows that are taken out, in a seeded order."""
    order = rng_for(seed, "import", "splits").permutation(len(groups)).tolist()
    total = sum(map(len, groups))
    splits: dict[int, str] = {}
    for name, share in shares.items():
        count, wanted = 0, max(1, int(np.rint(share * total)))
        while order and count < wanted:
            rows = groups[order.pop()]
            splits.update(dict.fromkeys(rows, name))
            count += len(rows)
    return splits
