"""What a shard holds, apart from how it is packed: the same on machines with other versions of Parquet and zlib.

A shard's file differs in its bytes where another version compresses it. Its content is the names and types of its
columns, their values, and for pictures as this program writes them their pixels.
"""

import hashlib
import json
import zlib
from typing import Any

import pyarrow as pa

from assay.render import MOST_PIXELS, packed_pixels

MOST_BYTES = 4 * MOST_PIXELS
"""A picture that unpacks to more, which no one may open, stands by its file."""


def content_of(table: pa.Table) -> str:
    """Return the hash of what the rows of a shard hold, column by column in the order of their names.

    >>> one = pa.table({"index": pa.array([0, 1]), "style": pa.array(["{}", None])})
    >>> content_of(one) == content_of(one.select(["style", "index"]))
    True
    >>> content_of(one) == content_of(one.slice(0, 1))
    False
    """
    whole = hashlib.sha256()
    for name in sorted(table.column_names):
        column = table.column(name)
        whole.update(json.dumps([name, str(column.type), len(column)]).encode())
        whole.update(_hash(column))
    return whole.hexdigest()


def _hash(column: pa.ChunkedArray) -> bytes:
    cells = column.to_pylist()
    if not pa.types.is_struct(column.type):
        return hashlib.sha256(json.dumps(cells).encode()).digest()
    digest = hashlib.sha256(json.dumps([cell["path"] for cell in cells]).encode())
    for cell in cells:
        digest.update(_hash_picture(cell["bytes"]))
    return digest.digest()


def _hash_picture(file: Any) -> bytes:
    """Return the hash of a picture's header and pixels, or of its whole file where another program wrote it."""
    found = packed_pixels(file)
    if found is None:
        return hashlib.sha256(file).digest()
    head, packed = found
    unpacker = zlib.decompressobj()
    try:
        rows = unpacker.decompress(packed, MOST_BYTES)
    except zlib.error:
        return hashlib.sha256(file).digest()
    return hashlib.sha256(head + rows if unpacker.eof else file).digest()
