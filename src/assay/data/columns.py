"""Concept and label columns: codes in memory, plain values on disk."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from assay.arrays import Array, Codes
from assay.concepts import Value, kind_of_value, listed
from assay.errors import DataError

CONCEPT, LABEL = "concept_", "label_"
TYPES = {"bool": pa.bool_(), "int": pa.int64(), "symbol": pa.string()}
DTYPES = {"bool": "bool", "int": "int64", "symbol": "string"}


def kind_of_values(values: Sequence[Value]) -> str:
    """Return the kind of column that holds these values; with `absent` among numbers, text."""
    kinds = {kind_of_value(value) for value in values}
    return kinds.pop() if len(kinds) == 1 else "symbol"


def to_column(codes: Array, values: Sequence[Value]) -> pa.Array:
    """Return codes as a column of values."""
    kind = kind_of_values(values)
    plain = [str(value) for value in values] if kind == "symbol" else list(values)
    if kind == "symbol":
        return pa.array(plain, pa.string()).take(pa.array(codes))
    return pa.array(np.array(plain)[codes], TYPES[kind])


def from_column(column: pa.ChunkedArray, values: Sequence[Value], what: str) -> Codes:
    """Return a column of values as codes, -1 where a value is missing; refuse values that are not allowed."""
    text = kind_of_values(values) == "symbol"
    places: dict[Any, int] = {str(value) if text else value: place for place, value in enumerate(values)}
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
