"""Concept and label columns: codes in memory, plain values on disk."""

import base64
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.base import Array, Codes, DataError, distinct_rows
from assay.logic import Value, kind_of_value, listing

CONCEPT, LABEL, BOUNDARY = "concept_", "label_", "boundary_"
SUBCONCEPT = "subconcept_"
"""Before the name of a finer concept, such as the digit of a cell, of tasks whose concepts are of two levels."""
GIVEN = "given_"
"""Before the name of a concept or label column: what an annotator gave, which models learn from; it may be missing."""
PAIR_ROW, PAIR_CONCEPT = "pair_row", "pair_concept"
"""Of a counterfactual world: the number of the example that it was changed from, and the concept that was changed."""
AT_ONCE = 2**16
"""How many cells are Python objects at a time."""
DTYPES = {"bool": "bool", "int": "int64", "symbol": "string"}


def kind_of_values(values: Sequence[Value]) -> str:
    """Return the kind of column that holds these values; with `absent` among numbers, text."""
    kinds = {kind_of_value(value) for value in values}
    return kinds.pop() if len(kinds) == 1 else "symbol"


def to_column(codes: Array, values: Sequence[Value]) -> pa.Array:
    """Return codes as a column of values, empty where a code is -1."""
    if (codes < 0).any():
        column = to_column(np.maximum(codes, 0), values)
        return pa.array(column.to_pylist(), column.type, mask=codes < 0)
    kind = kind_of_values(values)
    if kind == "symbol":
        words = [str(value).encode() for value in values]
        return strings([words[code] for code in codes.tolist()], pa.string())
    return numbers(np.array(values)[codes])


# Columns go through buffers, because arrow's own ways import pandas where that is installed: a quarter of a second.


def numbers(values: Array) -> pa.Array:
    """Return truth values or whole numbers as a column."""
    if values.dtype == bool:
        packed = np.packbits(values, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(packed)])
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values.astype(np.int64))])


def strings(values: Sequence[str] | Sequence[bytes], kind: pa.DataType) -> pa.Array:
    """Return texts or bytes as a column of this type."""
    encoded = [value.encode() if isinstance(value, str) else value for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.Array.from_buffers(kind, len(encoded), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))])


def from_column(column: pa.ChunkedArray, values: Sequence[Value], what: str) -> Codes:
    """Return a column of values as codes, -1 where a value is missing; refuse values that are not allowed.

    Parameters
    ----------
    column
        The cells, of any integer, truth or text type.
    values
        The values that are allowed, in the order of their codes.
    what
        What an error calls the column.
    """
    text = kind_of_values(values) == "symbol"
    places: dict[Any, int] = {str(value) if text else value: place for place, value in enumerate(values)}
    if pa.types.is_nested(column.type):
        raise DataError(f"{what}: expected one value in each row, such as {listing(values, 3)}, not a {column.type}")
    if pa.types.is_null(column.type):
        return np.full(len(column), -1, dtype=np.int64)
    distinct, which = distinct_values(column)
    table = [_place(value, places, what, values) for value in distinct]
    codes: Codes = np.array([*table, -1], dtype=np.int64)[which]
    return codes


def distinct_values(column: pa.ChunkedArray) -> tuple[list[Any], Array]:
    """Return the distinct values of a column, and for each row which of them it holds, -1 where none."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _distinct_words(column)
    if not column.null_count and (pa.types.is_integer(kind) or pa.types.is_boolean(kind)) and column.num_chunks:
        rows = np.concatenate([plain_numbers(chunk) for chunk in column.chunks])
        if not len(rows) or int(rows.max()) - int(rows.min()) >= len(rows):
            distinct, which = np.unique(rows, return_inverse=True)
            return distinct.tolist(), which.ravel()
        found = distinct_rows(rows.astype(np.int64, copy=False)[:, None])
        return rows[found.first].tolist(), found.which
    numbered: dict[Any, int] = {None: -1}
    rows = np.empty(len(column), dtype=np.int64)
    for start in range(0, len(column), AT_ONCE):
        cells = column.slice(start, AT_ONCE).to_pylist()
        rows[start : start + len(cells)] = [numbered.setdefault(value, len(numbered) - 1) for value in cells]
    return [value for value in numbered if value is not None], rows


def _distinct_words(column: pa.ChunkedArray) -> tuple[list[Any], Array]:
    """Return what `distinct_values` does for a dictionary: each of its words is decoded once, however many rows."""
    numbered: dict[Any, int] = {None: -1}
    rows = [np.empty(0, dtype=np.int64)]
    for chunk in column.chunks:
        codes = np.where(plain_numbers(chunk.indices.is_valid()), plain_numbers(chunk.indices).astype(np.int64), -1)
        used, which = np.unique(codes, return_inverse=True)
        words = [None if code < 0 else chunk.dictionary[code].as_py() for code in used.tolist()]
        rows.append(np.array([numbered.setdefault(word, len(numbered) - 1) for word in words], dtype=np.int64)[which])
    return [value for value in numbered if value is not None], np.concatenate(rows)


def plain_numbers(chunk: pa.Array) -> Array:
    """Return a column of truth values or whole numbers without gaps as an array."""
    data, start, stop = chunk.buffers()[1], chunk.offset, chunk.offset + len(chunk)
    if pa.types.is_boolean(chunk.type):
        return np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little")[start:stop].astype(bool)
    sign = "i" if pa.types.is_signed_integer(chunk.type) else "u"
    return np.frombuffer(data, dtype=f"{sign}{chunk.type.bit_width // 8}")[start:stop]


def _place(value: Any, places: dict[Any, int], what: str, values: Sequence[Value]) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas turns whole numbers with gaps into floats
    if value not in places:
        raise DataError(f"{what}: value {value!r} is not one of {listing(values)}")
    return places[value]


def parquet_bytes(table: pa.Table) -> bytes:
    """Return a table as a Parquet file whose pages have checksums, so that damage shows."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file, checking its pages where they have checksums."""
    return open_parquet(path).read(None if columns is None else list(columns))


def parquet_source(path: Path) -> Path | pa.NativeFile:
    """Return what pyarrow can open; of paths it takes only those that are UTF-8."""
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError:
        return pa.OSFile(os.fsencode(path))
    return path


def open_parquet(path: Path, **options: Any) -> pq.ParquetFile:
    """Open a Parquet file whose columns are those that were written; their names have no checksum, but stand twice."""
    try:
        file = pq.ParquetFile(parquet_source(path), page_checksum_verification=True, **options)
        written, found = (file.metadata.metadata or {}).get(b"ARROW:schema"), file.schema_arrow
        schema = found if written is None else pa.ipc.read_schema(pa.py_buffer(base64.b64decode(written)))
        same = (schema.names, schema.types) == (found.names, found.types)
    except UnicodeDecodeError:
        raise pa.ArrowInvalid("the name of a column is no text: the file is damaged") from None
    if not same:
        raise pa.ArrowInvalid("the columns are not those that were written: the file is damaged")
    return file
