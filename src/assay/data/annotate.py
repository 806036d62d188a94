"""Annotate a dataset: another folder with the same pictures, and beside the truth what an annotator gave.

Models learn from the columns `given_...`, scores are taken with the true ones. Every split has these columns, so that
other programs find one table; in splits that are not named they repeat the truth. Picture bytes are not touched.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from assay.arrays import Array, Codes
from assay.concepts import ConceptSpace, Value
from assay.data.annotation import ORDER, Annotation
from assay.data.card import card
from assay.data.columns import BOUNDARY, CONCEPT, DTYPES, GIVEN, LABEL, PAIR_ROW, kind_of_values, strings, to_column
from assay.data.concept_sets import ConceptSet, lucky, machine_knowledge
from assay.data.croissant import croissant
from assay.data.dataset import Dataset, SplitData
from assay.data.manifest import NAME, PAIRS, fingerprint, to_json, versions
from assay.data.recipe import SHARD_ROWS
from assay.data.row_choice import chosen_rows
from assay.data.scores import Scores, said, varied
from assay.data.shard import COMPACT, ShardJob, ShardRecord, columns_of, features, record, write_shard
from assay.data.supervision import Annotator, Given, refuse_strangers
from assay.errors import ConfigError, DataError, UnknownName, suggestion
from assay.files import write_atomically
from assay.logic.formula import TRUE
from assay.logic.ground import ground_formula
from assay.logic.knowledge import Knowledge
from assay.logic.parse import parse
from assay.logic.traverse import free_names
from assay.render.picture import Layout
from assay.seeds import rng_for
from assay.worlds.world import LUCK, World

Machine = Scores | Mapping[str, Codes]
"""Scores for concepts of a machine's own, or for each split the codes that it gives for the dataset's concepts."""


@dataclass(frozen=True)
class Annotated:
    """One split, annotated: which rows of the parent, the true codes of the new concepts, and what was given."""

    data: SplitData
    true: Codes
    given: Given


def annotate(dataset: Dataset, asked: Annotation, folder: Path, machine: Machine | None = None) -> dict[str, Any]:
    """Write an annotated copy of a dataset and return its manifest."""
    named = _splits(dataset, asked)
    _claim(folder)
    chosen = {name: _chosen(dataset, name, asked if name in named else None) for name in dataset.split_names}
    if isinstance(machine, Mapping):
        chosen = {name: _answered(data, machine, name) if name in named else data for name, data in chosen.items()}
    knowledge, layout, made = _with_concepts(chosen, dataset.layout, asked, machine)
    refuse_strangers(asked, knowledge)
    annotator = {name: Annotator(knowledge, asked, name) for name in named}
    done = {
        name: Annotated(one.data, one.true, annotator[name](one.given, one.true)) if name in named else one
        for name, one in made.items()
    }
    about = {
        "parent": dataset.fingerprint,
        "splits": named,
        "seed": asked.seed,
        "order": list(ORDER),
        "settings": asked.asked,
        "machine": None if machine is None else "scores" if isinstance(machine, Scores) else "predictions",
        "before": dataset.manifest["task"].get("annotation"),
        "found": {name: _changes(one) for name, one in done.items()},
    }
    return _write(dataset, folder, Copy(knowledge, layout, knowledge.space != dataset.knowledge.space), done, about)


def _splits(dataset: Dataset, asked: Annotation) -> list[str]:
    usual = [name for name in dataset.split_names if name.startswith(("train", "valid"))]
    named = usual if asked.splits is None else asked.splits
    for name in named:
        if name not in dataset:
            raise UnknownName(f"splits: no split named {name!r}{suggestion(name, dataset.split_names)}")
    return [name for name in dataset.split_names if name in named]


def _claim(folder: Path) -> None:
    """Refuse a folder that holds anything."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DataError(f"{str(folder)!r} is not an empty folder; choose another")
    except OSError as error:
        raise DataError(f"cannot use folder {str(folder)!r}: {error.strerror}") from None


def _chosen(dataset: Dataset, name: str, asked: Annotation | None) -> Annotated:
    """Return the rows of a split that are kept, as they are."""
    data = dataset[name]
    if asked is not None:
        rows = chosen_rows(asked, dataset.knowledge, name, data.concepts, data.labels)
        data = data if len(rows) == len(data) else data.take(rows)
    return Annotated(data, data.concepts, Given(data.given_labels, data.given_concepts))


def _answered(one: Annotated, machine: Mapping[str, Codes], name: str) -> Annotated:
    """Return the rows with the concepts that a machine gives, by their number in the split."""
    if name not in machine:
        raise DataError(f"no predictions for split {name!r}; make them: assay predict RUN DATA --split {name}")
    return Annotated(one.data, one.true, Given(one.given.labels, machine[name][one.data.index]))


def _with_concepts(
    chosen: Mapping[str, Annotated], layout: Layout, asked: Annotation, machine: Machine | None
) -> tuple[Knowledge, Layout, dict[str, Annotated]]:
    """Return the knowledge, the layout and the splits with the set of concepts that is asked for."""
    old = next(iter(chosen.values())).data.knowledge
    labels = np.concatenate([one.data.labels for one in chosen.values()])
    plain = Layout(layout.width, layout.height, layout.channels)
    if isinstance(machine, Scores):
        if asked.changes_concepts:
            raise ConfigError("a machine's own concepts take the place of all others: nothing to drop or refine")
        scores = {name: machine.of(name, one.data.index) for name, one in chosen.items()}
        first = next((name for name in scores if name.startswith("train")), next(iter(scores)))
        cut = "mean" if asked.threshold is None else asked.threshold
        codes = {name: said(held, scores[first], cut) for name, held in scores.items()}
        every = np.concatenate(list(codes.values()))
        varied(machine.names, every)
        found = machine_knowledge(machine.names, old, every, labels)
        made = {n: Annotated(one.data, codes[n], Given(one.given.labels, codes[n])) for n, one in chosen.items()}
        return found, plain, made
    if not asked.changes_concepts:
        return old, layout if asked.regions else plain, dict(chosen)
    other = ConceptSet.of(old, asked)
    made = {
        name: Annotated(one.data, other.seen(one.true), Given(one.given.labels, other.seen(one.given.concepts)))
        for name, one in chosen.items()
    }
    known = other.knowledge(np.concatenate([one.true for one in made.values()]), labels)
    return known, other.layout(layout, asked.regions), made


@dataclass(frozen=True)
class Copy:
    """What the new folder is of: a rule, a layout, and whether its concepts are others than the parent's."""

    knowledge: Knowledge
    layout: Layout
    other_concepts: bool

    @property
    def given(self) -> list[tuple[str, Sequence[Value]]]:
        """The given columns and their values."""
        found = [(GIVEN + CONCEPT + c.name, c.values) for c in self.knowledge.space.concepts]
        return [*found, *((GIVEN + LABEL + x.name, x.values) for x in self.knowledge.labels)]

    def table(self, one: Annotated, seed: int) -> pa.Table:
        """Return the table of a split: as it was, with the given columns, and other concepts where these are others."""
        table = one.data.table
        table = table.select([name for name in table.column_names if not name.startswith(GIVEN)])
        if self.other_concepts:
            table = self._with_concepts(table, one, seed)
        place = table.column_names.index("style")
        codes = [*one.given.concepts.T, *one.given.labels.T]
        for (name, values), column in zip(self.given, codes, strict=True):
            table = table.add_column(place, pa.field(name, _type(values)), _gapped(column, values))
            place += 1
        return table.replace_schema_metadata(self._metadata(table.column_names))

    def _metadata(self, columns: Sequence[str]) -> dict[str, str]:
        shown: list[Any] = [c for c in ("image", "things", "instances", "parts", "depth", "text") if c in columns]
        known = features(self.knowledge, shown)
        known |= {name: {"dtype": DTYPES[kind_of_values(values)], "_type": "Value"} for name, values in self.given}
        return {"huggingface": json.dumps({"info": {"features": {name: known[name] for name in columns}}})}

    def _with_concepts(self, table: pa.Table, one: Annotated, seed: int) -> pa.Table:
        """Return the table with the new concepts, and luck in the style by which their odds give the very label."""
        knowledge, data = self.knowledge, one.data
        styles = [json.loads(text) for text in table["style"].to_pylist()]
        chances = knowledge.chances(one.true)
        drawn = [i for i, label in enumerate(knowledge.labels) if label.odds is not None]
        if drawn:
            luck = np.array([style.get(LUCK, [0.5] * len(knowledge.labels)) for style in styles], dtype=np.float64)
            for place in drawn:
                if data.knowledge.labels[place].odds != knowledge.labels[place].odds:
                    draws = rng_for(seed, "annotate", data.name, LUCK, place).random(len(data))
                    luck[:, place] = lucky(chances[:, place], data.labels[:, place], draws)
            styles = [{**style, LUCK: row} for style, row in zip(styles, luck.tolist(), strict=True)]
        worlds = [World(knowledge.space, (), style) for style in styles]
        made = columns_of(knowledge, one.true, worlds)
        seen = [name for name in table.column_names if not name.startswith((CONCEPT, LABEL, BOUNDARY))]
        columns = {name: table[name] for name in seen if name != "style"}
        labels = {name: table[name] for name in table.column_names if name.startswith(LABEL)}
        texts = strings([COMPACT.encode(style) for style in styles], pa.string())
        return pa.table({**columns, **{**made, **labels}, "style": texts})

    def where(self, text: str, space: ConceptSpace) -> str:
        """Return where a split's worlds lie, as far as the new concepts tell."""
        formula = ground_formula(parse(text), space)
        return str(formula) if set(free_names(formula)) <= set(self.knowledge.space.names) else str(TRUE)


def _type(values: Sequence[Value]) -> pa.DataType:
    return {"bool": pa.bool_(), "int": pa.int64(), "symbol": pa.string()}[kind_of_values(values)]


def _gapped(codes: Codes, values: Sequence[Value]) -> pa.Array:
    """Return codes as a column of values, empty where missing."""
    column = to_column(np.maximum(codes, 0), values)
    return column if (codes >= 0).all() else pa.array(column.to_pylist(), column.type, mask=codes < 0)


def _write(
    dataset: Dataset, folder: Path, copy: Copy, done: Mapping[str, Annotated], about: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the shards, the card and the Croissant file, and last the manifest."""
    old, splits = dataset.manifest, []
    for split in old["splits"]:
        one = done[split["name"]]
        table = copy.table(one, about["seed"])
        shards = _shards(table, split["name"], folder)
        where = copy.where(split["where"], dataset.knowledge.space) if copy.other_concepts else split["where"]
        new = {"size": len(one.true), "where": where, "shards": [shard.to_dict() for shard in shards]}
        new |= {"labels": _label_counts(copy.knowledge, one.data.labels), "boundary": _tags(copy.knowledge, table)}
        splits.append({**split, **new, **({"disjoint_from": []} if copy.other_concepts else {})})
    body = {
        **old,
        "task": {**old["task"], "annotation": {**about, "given": [name for name, _ in copy.given]}},
        "knowledge": copy.knowledge.to_dict(),
        "layout": copy.layout.to_dict(),
        "splits": splits,
        "versions": versions(),
    }
    if PAIRS in old:
        body[PAIRS] = _copied_pairs(dataset, folder, copy, done)
    manifest = json.loads(to_json({**body, "fingerprint": fingerprint(json.loads(to_json(body)))}))
    write_atomically(folder / "croissant.json", to_json(croissant(manifest)))
    write_atomically(folder / "README.md", card(manifest).encode())
    write_atomically(folder / NAME, to_json(manifest))
    return dict(manifest)


def _copied_pairs(dataset: Dataset, folder: Path, copy: Copy, done: Mapping[str, Annotated]) -> dict[str, Any]:
    """Copy the counterfactual worlds of the examples that are kept; return what the manifest says of them."""
    entry: dict[str, Any] = dataset.manifest[PAIRS]
    if copy.other_concepts:
        return {**entry, "size": 0, "shards": [], "none": "its concepts are not those that its worlds are drawn by"}
    if dataset.pairs is None:
        return entry
    table, kept = dataset[PAIRS].table, set(done[entry["split"]].data.index.tolist())
    table = table.filter(pa.array([row in kept for row in table[PAIR_ROW].to_pylist()]))
    shards = _shards(table, PAIRS, folder)
    return {**entry, "size": table.num_rows, "shards": [shard.to_dict() for shard in shards]}


def _shards(table: pa.Table, split: str, folder: Path) -> list[ShardRecord]:
    found = []
    for number, start in enumerate(range(0, table.num_rows, SHARD_ROWS)):
        job = ShardJob(split, number)
        write_shard(table.slice(start, SHARD_ROWS), job, folder)
        found.append(record(folder, job))
    return found


def _label_counts(knowledge: Knowledge, labels: Codes) -> dict[str, dict[str, int]]:
    found = {}
    for place, label in enumerate(knowledge.labels):
        counts = np.bincount(labels[:, place], minlength=len(label.values)).tolist()
        found[label.name] = {str(v): n for v, n in zip(label.values, counts, strict=True) if n}
    return found


def _tags(knowledge: Knowledge, table: pa.Table) -> dict[str, dict[str, int]]:
    found = {}
    for name in knowledge.label_names:
        texts = table[BOUNDARY + name].to_pylist() if BOUNDARY + name in table.column_names else []
        found[name] = dict(sorted(Counter(tag for text in texts for tag in text.split("; ")).items()))
    return found


def _changes(one: Annotated) -> dict[str, float]:
    """Return the share of concepts that are missing or wrong as given, and of labels that are wrong."""
    gaps: Array = one.given.concepts < 0
    return {
        "examples": len(one.true),
        "missing": round(float(gaps.mean()), 6),
        "wrong": round(float(((one.given.concepts != one.true) & ~gaps).mean()), 6),
        "wrong_labels": round(float((one.given.labels != one.data.labels).mean()), 6),
    }
