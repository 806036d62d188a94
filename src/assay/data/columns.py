"""Concept and label columns: codes in memory, plain values on disk."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from assay.arrays import Array, Codes
from assay.concepts import Value, kind_of_value, listed
from assay.errors import DataError

CONCEPT, LABEL = "concept_", "label_"
DTYPES = {"bool": "bool", "int": "int64", "symbol": "string"}


def kind_of_values(values: Sequence[Value]) -> str:
    """Return the kind of column that holds these values; with `absent` among numbers, text."""
    kinds = {kind_of_value(value) for value in values}
    return kinds.pop() if len(kinds) == 1 else "symbol"


def to_column(codes: Array, values: Sequence[Value]) -> pa.Array:
    """Return codes as a column of values."""
    kind = kind_of_values(values)
    if kind == "symbol":
        words = [str(value) for value in values]
        return strings([words[code] for code in codes.tolist()], pa.string())
    return numbers(np.array(values)[codes])


# Columns are built from buffers, because `pa.array` imports pandas where that is installed, a quarter of a second.


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
    """Return a column of values as codes, -1 where a value is missing; refuse values that are not allowed."""
    text = kind_of_values(values) == "symbol"
    places: dict[Any, int] = {str(value) if text else value: place for place, value in enumerate(values)}
    if pa.types.is_nested(column.type):
        raise DataError(f"{what}: expected one value in each row, such as {listed(values, 3)}, not a {column.type}")
    if pa.types.is_null(column.type):
        return np.full(len(column), -1, dtype=np.int64)
    encoded = column.dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], pa.string()).dictionary_encode()
    table = []
    for found in encoded.dictionary.to_pylist():
        if isinstance(found, float) and found.is_integer():
            found = int(found)  # pandas turns whole numbers with gaps into floats
        if found not in places:
            raise DataError(f"{what}: value {found!r} is not one of {listed(values)}")
        table.append(places[found])
    indices = encoded.indices.fill_null(len(table)).to_numpy(zero_copy_only=False)
    codes: Codes = np.array([*table, -1], dtype=np.int64)[indices]
    return codes
