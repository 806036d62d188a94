"""Annotate a dataset: another folder with the same pictures, and beside the truth what an annotator gave.

Models learn from the columns `given_...`, scores are taken with the true ones. Every split has these columns, so that
other programs find one table; in splits that are not named they repeat the truth. Picture bytes are not touched.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from assay.base import Array, Codes, ConfigError, DataError, UnknownName, rng_for, suggestion
from assay.contracts import (
    BOUNDARY,
    CONCEPT,
    DTYPES,
    GIVEN,
    LABEL,
    PAIRS,
    SUBCONCEPT,
    Manifest,
    PairsRecord,
    kind_of_values,
    strings,
    to_column,
)
from assay.dataset import (
    COMPACT,
    SHARD_ROWS,
    ConceptReader,
    Dataset,
    SplitData,
    columns_of,
    features,
    replace_dataset,
    split_counts,
    versions,
    write_description,
    write_shards,
)
from assay.exchange.annotation import ORDER, Annotation, choose_rows
from assay.exchange.annotator import Annotator, Given, refuse_unknown
from assay.exchange.concept_sets import ConceptSet, draw_luck, machine_knowledge
from assay.exchange.imports.source import plain_name
from assay.exchange.machine_scores import Scores, refuse_constant, threshold_scores
from assay.logic import TRUE, Concept, ConceptSpace, Knowledge, Value, free_names, ground_formula, parse
from assay.render import Layout
from assay.worlds import LUCK, World

Answered = Scores | Mapping[str, Codes]
"""Scores for concepts of a machine's own, or for each split the codes that it gives for the dataset's concepts."""
Machine = Answered | ConceptReader
"""What a machine said, or one that is asked now, about no more pictures than are annotated."""


@dataclass(frozen=True)
class Annotated:
    """One split, annotated: which rows of the parent, the true codes of the new concepts, and what was given."""

    data: SplitData
    true: Codes
    given: Given


def annotate(
    dataset: Dataset, annotation: Annotation, folder: Path, machine: Machine | None = None, source: str | None = None
) -> Manifest:
    """Write an annotated copy of a dataset and return its manifest.

    Parameters
    ----------
    dataset
        The dataset.
    annotation
        What becomes of its annotations.
    folder
        The folder of the copy.
    machine
        What a machine said of the concepts, or one that is asked now.
    source
        What the record calls the machine; by default `predictions`.
    """

    def is_copy(there: Manifest) -> bool:
        return there.task.annotation is not None and there.task.annotation.parent == dataset.fingerprint

    with replace_dataset(folder, is_copy) as half:
        return _annotate(dataset, annotation, half, machine, source)


def _annotate(
    dataset: Dataset, annotation: Annotation, folder: Path, machine: Machine | None, source: str | None
) -> Manifest:
    named = _splits(dataset, annotation)
    chosen = {name: _choose(dataset, name, annotation if name in named else None) for name in dataset.split_names}
    reader: ConceptReader | None = None
    answers: Answered | None
    if machine is None or isinstance(machine, Scores | Mapping):
        answers = machine
    else:
        reader, answers = machine, _ask(machine, chosen, named, annotation)
    if isinstance(answers, Mapping):
        chosen = {
            name: _with_machine_concepts(data, answers, name) if name in named else data
            for name, data in chosen.items()
        }
    knowledge, layout, splits = _with_concepts(chosen, dataset.layout, annotation, answers)
    refuse_unknown(annotation, knowledge)
    annotator = {name: Annotator(knowledge, annotation, name) for name in named}
    done = {
        name: Annotated(split.data, split.true, annotator[name](split.given, split.true)) if name in named else split
        for name, split in splits.items()
    }
    about = {
        "parent": dataset.fingerprint,
        "splits": named,
        "seed": annotation.seed,
        "order": list(ORDER),
        "settings": annotation.non_defaults,
        "machine": None if answers is None else "scores" if isinstance(answers, Scores) else source or "predictions",
        **({} if reader is None else {"reader": reader.metadata()}),
        "before": dataset.manifest.task.annotation,
        "found": {name: _changes(split) for name, split in done.items()},
    }
    return _write(dataset, folder, Copy(knowledge, layout, knowledge.space != dataset.knowledge.space), done, about)


def _ask(
    reader: ConceptReader, chosen: Mapping[str, Annotated], named: Sequence[str], annotation: Annotation
) -> Answered:
    """Have a machine read the pictures: for concepts of its own those of all splits, else of those that are named."""
    if reader.words:
        parts = {name: reader.scores(split.data) for name, split in chosen.items()}
        starts = np.cumsum([0, *(len(part) for part in parts.values())])
        rows = {
            name: {number: int(start) + row for row, number in enumerate(chosen[name].data.index.tolist())}
            for name, start in zip(parts, starts, strict=False)
        }
        return Scores(tuple(map(plain_name, reader.words)), rows, np.concatenate(list(parts.values())))
    if isinstance(annotation.threshold, str):
        raise ConfigError(f"threshold: {annotation.threshold!r} is for scores of a machine's own concepts")
    codes = {}
    for name in named:
        data = chosen[name].data
        codes[name] = np.full((1 + int(data.index.max(initial=-1)), len(data.knowledge.space)), -1)
        read = [
            likeliest_codes(probabilities, concept, annotation.threshold)
            for probabilities, concept in zip(reader.probabilities(data), data.knowledge.space.concepts, strict=True)
        ]
        codes[name][data.index] = np.stack(read, axis=1)
    return codes


def likeliest_codes(probabilities: Array, concept: Concept, threshold: float | None = None) -> Codes:
    """Return the likeliest value, or of a true-or-false concept whether it reaches a threshold; -1 in rows of NaN.

    Parameters
    ----------
    probabilities
        A row an example, a column a value; a row of NaN says nothing.
    concept
        The concept.
    threshold
        From which probability on a true-or-false concept is true; by default the likeliest value counts.
    """
    gaps = np.isnan(probabilities).any(axis=1)
    sharp = threshold is None or concept.values != (False, True)
    codes = np.nan_to_num(probabilities).argmax(axis=1) if sharp else probabilities[:, 1] >= threshold
    return np.where(gaps, -1, codes).astype(np.int64)


def _splits(dataset: Dataset, annotation: Annotation) -> list[str]:
    usual = [name for name in dataset.split_names if name.startswith(("train", "valid"))]
    named = usual if annotation.splits is None else annotation.splits
    for name in named:
        if name not in dataset:
            raise UnknownName(f"splits: no split named {name!r}{suggestion(name, dataset.split_names)}")
    return [name for name in dataset.split_names if name in named]


def _choose(dataset: Dataset, name: str, annotation: Annotation | None) -> Annotated:
    """Return the rows of a split that are kept, as they are."""
    data = dataset[name]
    if annotation is not None:
        rows = choose_rows(annotation, dataset.knowledge, name, data.concepts, data.labels)
        data = data if len(rows) == len(data) else data.take(rows)
    return Annotated(data, data.concepts, Given(data.given_labels, data.annotated_concepts))


def _with_machine_concepts(split: Annotated, machine: Mapping[str, Codes], name: str) -> Annotated:
    """Return the rows with the concepts that a machine gives, by their number in the split."""
    if name not in machine:
        raise DataError(f"no predictions for split {name!r}; make them: assay predict RUN DATA --split {name}")
    return Annotated(split.data, split.true, Given(split.given.labels, machine[name][split.data.index]))


def _with_concepts(
    chosen: Mapping[str, Annotated], layout: Layout, annotation: Annotation, machine: Answered | None
) -> tuple[Knowledge, Layout, dict[str, Annotated]]:
    """Return the knowledge, the layout and the splits with the set of concepts that is asked for."""
    old = next(iter(chosen.values())).data.knowledge
    labels = np.concatenate([split.data.labels for split in chosen.values()])
    plain = Layout(layout.width, layout.height, layout.channels)
    if isinstance(machine, Scores):
        if annotation.changes_concepts:
            raise ConfigError("a machine's own concepts take the place of all others: nothing to drop or refine")
        scores = {name: machine.of(name, split.data.index) for name, split in chosen.items()}
        first = next((name for name in scores if name.startswith("train")), next(iter(scores)))
        cut = "mean" if annotation.threshold is None else annotation.threshold
        codes = {name: threshold_scores(values, scores[first], cut) for name, values in scores.items()}
        every = np.concatenate(list(codes.values()))
        refuse_constant(machine.names, every)
        knowledge = machine_knowledge(machine.names, old, every, labels)
        splits = {
            n: Annotated(split.data, codes[n], Given(split.given.labels, codes[n])) for n, split in chosen.items()
        }
        return knowledge, plain, splits
    if not annotation.changes_concepts:
        return old, layout if annotation.regions else plain, dict(chosen)
    other = ConceptSet.of(old, annotation)
    splits = {
        name: Annotated(
            split.data, other.translate(split.true), Given(split.given.labels, other.translate(split.given.concepts))
        )
        for name, split in chosen.items()
    }
    known = other.knowledge(np.concatenate([split.true for split in splits.values()]), labels)
    return known, other.layout(layout, annotation.regions), splits


@dataclass(frozen=True)
class Copy:
    """What the new folder is of: a rule, a layout, and whether its concepts are others than the parent's."""

    knowledge: Knowledge
    layout: Layout
    other_concepts: bool

    @property
    def given_columns(self) -> list[tuple[str, Sequence[Value]]]:
        """The given columns and their values."""
        concepts = [(GIVEN + CONCEPT + c.name, c.values) for c in self.knowledge.space.concepts]
        return [*concepts, *((GIVEN + LABEL + x.name, x.values) for x in self.knowledge.labels)]

    def table(self, split: Annotated, seed: int) -> pa.Table:
        """Return the table of a split without pictures: with the given columns, and the other concepts if there are."""
        table = split.data.table
        gone = (GIVEN, SUBCONCEPT) if self.knowledge.subconcepts is None else (GIVEN,)
        table = table.select([name for name in table.column_names if not name.startswith(gone)])
        if self.other_concepts:
            table = self._with_concepts(table, split, seed)
        place = table.column_names.index("style")
        codes = [*split.given.concepts.T, *split.given.labels.T]
        for (name, values), column in zip(self.given_columns, codes, strict=True):
            table = table.add_column(place, pa.field(name, _type(values)), to_column(column, values))
            place += 1
        return table

    def shards(self, data: SplitData, table: pa.Table) -> Iterator[pa.Table]:
        """Give the rows of each shard of a split, with their pictures."""
        for number, piece in enumerate(data.pieces(SHARD_ROWS)):
            shard = piece.add_pictures(table.slice(number * SHARD_ROWS, SHARD_ROWS))
            yield shard.replace_schema_metadata(self._metadata(shard.column_names))

    def _metadata(self, columns: Sequence[str]) -> dict[str, str]:
        pictures: list[Any] = [c for c in ("image", "things", "instances", "parts", "depth", "text") if c in columns]
        known = features(self.knowledge, pictures)
        known |= {
            name: {"dtype": DTYPES[kind_of_values(values)], "_type": "Value"} for name, values in self.given_columns
        }
        return {"huggingface": json.dumps({"info": {"features": {name: known[name] for name in columns}}})}

    def _with_concepts(self, table: pa.Table, split: Annotated, seed: int) -> pa.Table:
        """Return the table with the new concepts, and luck in the style by which their odds give the very label."""
        knowledge, data = self.knowledge, split.data
        styles = [json.loads(text) for text in table["style"].to_pylist()]
        chances = knowledge.chances(split.true)
        drawn = [i for i, label in enumerate(knowledge.labels) if label.odds is not None]
        if drawn:
            luck = np.array([style.get(LUCK, [0.5] * len(knowledge.labels)) for style in styles], dtype=np.float64)
            for place in drawn:
                if data.knowledge.labels[place].odds != knowledge.labels[place].odds:
                    draws = rng_for(seed, "annotate", data.name, LUCK, place).random(len(data))
                    luck[:, place] = draw_luck(chances[:, place], data.labels[:, place], draws)
            styles = [{**style, LUCK: row} for style, row in zip(styles, luck.tolist(), strict=True)]
        worlds = [World(knowledge.space, (), style) for style in styles]
        symbols = columns_of(knowledge, split.true, worlds)
        others = [name for name in table.column_names if not name.startswith((CONCEPT, LABEL, BOUNDARY))]
        columns = {name: table[name] for name in others if name != "style"}
        labels = {name: table[name] for name in table.column_names if name.startswith(LABEL)}
        texts = strings([COMPACT.encode(style) for style in styles], pa.string())
        return pa.table({**columns, **{**symbols, **labels}, "style": texts})

    def where(self, text: str, space: ConceptSpace) -> str:
        """Return where a split's worlds lie, as far as the new concepts tell."""
        formula = ground_formula(parse(text), space)
        return str(formula) if set(free_names(formula)) <= set(self.knowledge.space.names) else str(TRUE)


def _type(values: Sequence[Value]) -> pa.DataType:
    return {"bool": pa.bool_(), "int": pa.int64(), "symbol": pa.string()}[kind_of_values(values)]


def _write(
    dataset: Dataset, folder: Path, copy: Copy, done: Mapping[str, Annotated], about: Mapping[str, Any]
) -> Manifest:
    """Write the shards, the card and the Croissant file, and last the manifest."""
    old, splits = dataset.manifest, []
    for split in old.splits:
        annotated = done[split.name]
        table = copy.table(annotated, about["seed"])
        where = copy.where(split.where, dataset.knowledge.space) if copy.other_concepts else split.where
        new = {
            "size": len(annotated.true),
            "where": where,
            "shards": write_shards(split.name, copy.shards(annotated.data, table), folder),
            **split_counts(copy.knowledge, [table]),
        }
        splits.append(split.but(**new, **({"disjoint_from": []} if copy.other_concepts else {})))
    body = {
        **old.to_dict(),
        "task": old.task.but(annotation={**about, "given": [name for name, _ in copy.given_columns]}),
        "knowledge": copy.knowledge.to_dict(),
        "layout": copy.layout.to_dict(),
        "splits": splits,
        "versions": versions(),
    }
    if old.pairs.asked is not None:
        body[PAIRS] = _copied_pairs(dataset, folder, copy, done)
    return write_description(folder, Manifest.of(body))


def _copied_pairs(dataset: Dataset, folder: Path, copy: Copy, done: Mapping[str, Annotated]) -> PairsRecord:
    """Copy the counterfactual worlds of the examples that are kept; return what the manifest says of them."""
    entry = dataset.manifest.pairs
    if copy.other_concepts:
        return entry.but(size=0, shards=[], none="its concepts are not those that its worlds are drawn by")
    if dataset.pairs is None:
        return entry
    pairs = dataset[PAIRS]
    kept = pairs.take(np.flatnonzero(np.isin(pairs.pair_rows, done[str(entry.split)].data.index)))
    tables = (piece.full_table() for piece in kept.pieces(SHARD_ROWS))
    return entry.but(size=len(kept), shards=write_shards(PAIRS, tables, folder))


def _changes(split: Annotated) -> dict[str, float]:
    """Return the share of concepts that are missing or wrong as given, and of labels that are wrong."""
    gaps: Array = split.given.concepts < 0
    return {
        "examples": len(split.true),
        "missing": round(float(gaps.mean()), 6),
        "wrong": round(float(((split.given.concepts != split.true) & ~gaps).mean()), 6),
        "wrong_labels": round(float((split.given.labels != split.data.labels).mean()), 6),
    }
