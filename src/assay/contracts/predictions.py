"""Predictions, the contract that any framework can join: one Parquet file, a row an example.

Columns: `index` (the example's number in the split), `split`, `fingerprint` (of the dataset), and for a label `y` and a
concept `c` either the value, `label_y`, `concept_c`, or the probabilities in the order of the values,
`label_y_probabilities`, `concept_c_probabilities`, or both. Concepts may be left out.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assay.base import Array, DataError, RunFailed, shorten, suggestion, write_atomically
from assay.contracts.answers import Prediction, as_table, read_named
from assay.contracts.columns import (
    CONCEPT,
    LABEL,
    distinct_values,
    from_column,
    numbers,
    open_parquet,
    parquet_bytes,
    parquet_source,
    plain_numbers,
    to_column,
)
from assay.logic import Decoder, Knowledge, Value

PROBABILITIES = "_probabilities"
LONGEST_TEXT = 65_536
"""Bytes of the longest text that is decoded."""
ROWS_AT_ONCE = 2**18
HASHED = "x" * 64


@dataclass(frozen=True, repr=False)
class Predictions:
    """Answers for some examples of one split of one dataset, and a record of who gave them."""

    fingerprint: str
    split: str
    index: Array
    labels: Mapping[str, Prediction]
    concepts: Mapping[str, Prediction] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    def write(self, path: Path, knowledge: Knowledge) -> None:
        """Write the Parquet file."""
        columns: dict[str, pa.Array] = {"index": numbers(self.index)}
        for name, constant in (("split", self.split), ("fingerprint", self.fingerprint)):
            columns[name] = pa.DictionaryArray.from_arrays(np.zeros(len(self.index), np.int32), pa.array([constant]))
        for key, values, answer in _columns_of(knowledge, self.labels, self.concepts):
            columns[key] = to_column(answer.codes, values)
            if answer.probabilities is not None:
                if not np.isfinite(answer.probabilities).all():
                    raise RunFailed(f"{key}: the model gives NaN for probabilities; its weights are of no use")
                columns[key + PROBABILITIES] = _to_lists(answer.probabilities)
        about = json.dumps(dict(self.about))
        table = pa.table(columns).replace_schema_metadata({"assay": about, "assay_sha256": _hash(about.encode())})
        write_atomically(path, parquet_bytes(table))

    def __repr__(self) -> str:
        concepts = shorten(", ".join(self.concepts), 80) or "none"
        model = f"{self.about['model']}, " if "model" in self.about else ""
        labels = shorten(", ".join(self.labels), 80)
        said = f"labels {labels}; concepts {concepts}"
        return f"Predictions({model}split {self.split}: {len(self.index):,} examples; {said})"


def _columns_of(
    knowledge: Knowledge, labels: Mapping[str, Prediction], concepts: Mapping[str, Prediction]
) -> list[tuple[str, Sequence[Value], Prediction]]:
    columns: list[tuple[str, Sequence[Value], Prediction]] = []
    columns += [(LABEL + x.name, x.values, labels[x.name]) for x in knowledge.labels if x.name in labels]
    columns += [(CONCEPT + c.name, c.values, concepts[c.name]) for c in knowledge.space.concepts if c.name in concepts]
    return columns


def _to_lists(probabilities: Array) -> pa.Array:
    rows, width = probabilities.shape
    flat = pa.array(probabilities.astype(np.float32).ravel())
    return pa.ListArray.from_arrays(pa.array(np.arange(rows + 1, dtype=np.int32) * width), flat)


@dataclass(frozen=True)
class _FileColumns:
    """The columns of a Parquet file, each read when it is asked for: all of them at once would double the memory."""

    path: Path
    file: pq.ParquetFile

    @classmethod
    def of(cls, path: Path) -> "_FileColumns":
        """Open a file."""
        try:
            with open_parquet(path) as file:
                texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
            more: Any = {"page_checksum_verification": True, "read_dictionary": texts}  # each text is decoded once
            return cls(path, pq.ParquetFile(parquet_source(path), **more))
        except FileNotFoundError:
            raise DataError(f"no predictions file {str(path)!r}") from None
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(path, error) from None

    def refuse_bombs(self, knowledge: Knowledge) -> None:
        """Refuse a small file of long texts before any of them is decoded."""
        usual: dict[str, Sequence[Value]] = {"split": (HASHED,), "fingerprint": (HASHED,), "index": (0,)}
        for prefix, named in ((LABEL, knowledge.labels), (CONCEPT, knowledge.space.concepts)):
            usual |= {prefix + part.name + end: part.values for part in named for end in ("", PROBABILITIES)}
        widths = {name: _bytes_of_row(name, values) for name, values in usual.items()}
        for group in map(self.file.metadata.row_group, range(self.file.metadata.num_row_groups)):
            if group.total_byte_size <= LONGEST_TEXT + group.num_rows * sum(widths.values()):
                continue  # pyarrow ends this process where a damaged file is asked for more: only odd ones are asked
            for column in map(group.column, range(self.file.metadata.num_columns)):
                name = column.path_in_schema
                most = LONGEST_TEXT + group.num_rows * widths.get(name, 0)
                if name in widths and column.total_uncompressed_size > most:
                    raise DataError(f"{self.path.name}: column {name!r} holds longer texts than its values are")

    @property
    def schema(self) -> pa.Schema:
        """The types of the columns, and what was noted beside them."""
        return self.file.schema_arrow

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    def pieces(self, name: str) -> Iterator[pa.Array]:
        """Give a column, some rows at a time."""
        try:
            yield from (batch.column(0) for batch in self.file.iter_batches(ROWS_AT_ONCE, columns=[name]))
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.path, error) from None

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        try:
            return self.file.read(columns=[name])[name]
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.path, error) from None


def _unreadable(path: Path, error: Exception) -> DataError:
    return DataError(f"{str(path)!r} is no Parquet file that can be read: {str(error).splitlines()[0]}")


def _bytes_of_row(name: str, values: Sequence[Value]) -> int:
    """Return twice as many bytes as a row of a column takes."""
    if name.endswith(PROBABILITIES):
        return 2 * len(values) * (8 + 2)
    return 2 * (max(len(str(value).encode()) for value in values) + 8)


NO_SIZES: Mapping[str, int] = MappingProxyType({})
Table: TypeAlias = pa.Table | _FileColumns


def read_predictions(path: Path, knowledge: Knowledge, sizes: Mapping[str, int] = NO_SIZES) -> Predictions:
    """Read a predictions file that any program wrote, and check it against the rule's values.

    Parameters
    ----------
    path
        The Parquet file.
    knowledge
        The rule, whose names and values are allowed.
    sizes
        How many examples each split has: a file of more is refused before it is decoded.
    """
    table = _FileColumns.of(path)
    with table.file:
        _refuse_unknown(table, knowledge, path.name)
        table.refuse_bombs(knowledge)
        for needed in ("index", "split", "fingerprint"):
            if needed not in table.column_names:
                raise DataError(f"{path.name}: no column {needed!r}{_HELP[needed]}")
        split, fingerprint = (_constant(table, column, path) for column in ("split", "fingerprint"))
        rows = table.file.metadata.num_rows
        most = sizes.get(split, max(sizes.values(), default=rows))
        if rows > most:
            raise DataError(
                f"{path.name} has {rows:,} rows for {most:,} examples of split {split!r}; its predictions are for a "
                f"dataset with fingerprint {fingerprint}"
            )
        index = _index(table, path)
        labels, concepts = _answers_in(table, knowledge, path.name)
        return Predictions(
            fingerprint=fingerprint,
            split=split,
            index=index,
            labels=labels,
            concepts=concepts,
            about=_about(table, path),
        )


def answers_from(
    knowledge: Knowledge, labels: Any, concepts: Any, rows: int, place: str
) -> tuple[dict[str, Prediction], dict[str, Prediction]]:
    """Return labels and concepts of arrays, or of a table that holds the values of both.

    Parameters
    ----------
    knowledge
        The labels and concepts, with their values.
    labels
        An array, a mapping from names to arrays, or a table (pandas, pyarrow, columns by name).
    concepts
        The same of concepts; None if there are none, or if they are in the table.
    rows
        How many examples there are.
    place
        What errors call the examples, such as `split 'test'`.
    """
    if concepts is None and (table := as_table(labels)) is not None:
        if table.num_rows != rows:
            raise DataError(f"the table has {table.num_rows} rows, {place} has {rows}")
        return _answers_in(table, knowledge, "the table")
    spoken = read_named(labels, [(label.name, label.values) for label in knowledge.labels], "label", rows)
    missing = [name for name in knowledge.label_names if name not in spoken]
    if missing:
        raise DataError(f"labels: nothing is said of label {missing[0]!r}")
    named = [(concept.name, concept.values) for concept in knowledge.space.concepts]
    return spoken, {} if concepts is None else read_named(concepts, named, "concept", rows)


def _answers_in(table: Table, knowledge: Knowledge, place: str) -> tuple[dict[str, Prediction], dict[str, Prediction]]:
    """Return what a table says of labels and of concepts; errors begin with where the table is from."""
    _refuse_unknown(table, knowledge, place)
    labels = _answers(table, [(x.name, x.values) for x in knowledge.labels], LABEL, place)
    return labels, _answers(table, [(c.name, c.values) for c in knowledge.space.concepts], CONCEPT, place)


_HELP = {
    "index": "; give the number of each example inside its split",
    "split": "; name the split in every row, such as 'test'",
    "fingerprint": "; copy the dataset's fingerprint from its manifest.json into every row",
}


def _refuse_unknown(table: Table, knowledge: Knowledge, place: str) -> None:
    """Refuse a label or concept column that the rule does not have, most likely a slip of the pen, and one of two."""
    known = [LABEL + name for name in knowledge.label_names] + [CONCEPT + name for name in knowledge.space.names]
    known += [name + PROBABILITIES for name in known]
    for column, times in Counter(table.column_names).items():
        if column.startswith((LABEL, CONCEPT)) and column not in known:
            raise DataError(f"{place}: unknown column {column!r}{suggestion(column, known)}")
        if times > 1:
            raise DataError(f"{place}: column {column!r} is there {times} times; leave one")


def _constant(table: _FileColumns, column: str, path: Path) -> str:
    """Return the text that is in every row of a column."""
    found: dict[Any, None] = {}
    for cells in table.pieces(column):
        if pa.types.is_nested(cells.type):
            raise DataError(f"{path.name}: column {column!r} must be the same text in every row, not a {cells.type}")
        found |= dict.fromkeys([*distinct_values(pa.chunked_array([cells]))[0], *([None] if cells.null_count else [])])
    texts = list(found)
    if len(texts) != 1 or not isinstance(texts[0], str):
        distinct = [str(value) for value in texts[:3]]
        raise DataError(f"{path.name}: column {column!r} must be the same text in every row, found {distinct}")
    return texts[0]


def _index(table: _FileColumns, path: Path) -> Array:
    """Return the numbers of the examples, a piece at a time: a million equal rows are refused at the first piece."""
    pieces = [np.empty(0, dtype=np.int64)]
    for cells in table.pieces("index"):
        if not pa.types.is_integer(cells.type) or cells.null_count:
            raise DataError(f"{path.name}: column 'index' must hold whole numbers in every row")
        pieces.append(plain_numbers(cells))
        _refuse_twice(pieces[-1], path)
    index = np.concatenate(pieces)
    _refuse_twice(index, path)
    return index


def _refuse_twice(index: Array, path: Path) -> None:
    in_order = bool((index[1:] > index[:-1]).all())
    if not in_order and len(np.unique(index)) < len(index):
        raise DataError(f"{path.name}: column 'index' names an example twice")


def _answers(
    table: Table, named: Sequence[tuple[str, Sequence[Value]]], prefix: str, place: str
) -> dict[str, Prediction]:
    answers = {}
    for name, values in named:
        key = prefix + name
        probabilities = None
        if key + PROBABILITIES in table.column_names:
            probabilities = _probabilities(table[key + PROBABILITIES], len(values), f"{place}: {key + PROBABILITIES}")
        if key in table.column_names:
            answers[name] = Prediction(from_column(table[key], values, f"{place}: {key}"), probabilities)
        elif probabilities is not None:
            answers[name] = Prediction.of(probabilities)
    return answers


def _probabilities(column: pa.ChunkedArray, width: int, what: str) -> Array:
    listed = _lists_numbers(column.type) and not column.null_count
    if not listed or not all(size == width for size in pc.list_value_length(column).unique().to_pylist()):
        raise DataError(f"{what}: every row must list {width} probabilities, one for each value")
    chunks = [chunk.flatten().cast(pa.float64(), safe=False) for chunk in column.chunks]
    numbered = [np.frombuffer(c.buffers()[1], np.float64)[c.offset : c.offset + len(c)] for c in chunks]
    probabilities = np.concatenate(numbered).reshape(len(column), width)
    gaps = any(chunk.null_count for chunk in chunks) or not np.isfinite(probabilities).all()
    if gaps or (probabilities < 0).any() or (np.abs(probabilities @ np.ones(width) - 1) > 1e-3).any():
        raise DataError(f"{what}: probabilities must be numbers from 0 to 1 that add up to 1 in each row")
    return probabilities


def _lists_numbers(kind: pa.DataType) -> bool:
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return False
    return bool(pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type))


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _about(table: Table, path: Path) -> dict[str, Any]:
    metadata = table.schema.metadata or {}
    text = metadata.get(b"assay", b"{}")
    if metadata.get(b"assay_sha256", _hash(text).encode()) != _hash(text).encode():
        raise DataError(f"{path.name}: what it says of its model does not match its hash: the file is damaged")
    try:
        about = json.loads(text)
    except ValueError:
        return {}
    return about if isinstance(about, dict) else {}


def apply_constraints(predictions: Predictions, knowledge: Knowledge, labels_by_rule: bool = False) -> Predictions:
    """Return the predictions with the concepts of the most probable world that keeps every constraint.

    The probabilities stay those of the model. Labels stay too, or are those that the rule gives for the new concepts.

    Parameters
    ----------
    predictions
        The predictions, with probabilities of every concept.
    knowledge
        The rule, with its constraints.
    labels_by_rule
        Whether labels are those that the rule gives for the new concepts, or stay.
    """
    decoder = Decoder(knowledge)
    if not decoder.limits.names:
        raise DataError("the rule has no constraints, so every answer is possible: there is nothing to decode")
    probabilities = []
    for name in knowledge.space.names:
        answer = predictions.concepts.get(name)
        if answer is None or answer.probabilities is None:
            raise DataError(
                f"decoding needs the probabilities of every concept; add a column '{CONCEPT}{name}{PROBABILITIES}'"
            )
        probabilities.append(answer.probabilities)
    decoded = decoder(probabilities)
    both = zip(knowledge.space.names, decoded.codes.T, probabilities, strict=True)
    concepts = {name: Prediction(codes, own) for name, codes, own in both}
    labels = dict(predictions.labels)
    if labels_by_rule:
        knowledge.require_rule("labels by the rule")
        codes_by_rule = np.full((len(decoded.codes), len(knowledge.labels)), -1)
        codes_by_rule[decoded.solved] = knowledge.labels_of(decoded.codes[decoded.solved])
        labels = {name: Prediction(codes_by_rule[:, place]) for place, name in enumerate(knowledge.label_names)}
    counts = {
        "changed": int((decoded.changed > 0).sum()),
        "not_proven": int((~decoded.proven).sum()),
        "not_found": int((~decoded.solved).sum()),
        "labels_by_rule": labels_by_rule,
    }
    return replace(predictions, labels=labels, concepts=concepts, about={**predictions.about, "decoded": counts})
