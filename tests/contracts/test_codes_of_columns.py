"""Columns of values as codes, whatever their type: whole numbers, truth values, texts, gaps, none at all."""

import numpy as np
import pyarrow as pa
import pytest

from assay.base import DataError
from assay.contracts import from_column, open_parquet, parquet_bytes, plain_numbers, read_parquet, to_column

CASES = {
    "bits": ((False, True), [True, False, True, True]),
    "backwards": ((True, False), [True, False, True, True]),
    "digits": (tuple(range(10)), [3, 9, 0, 3]),
    "sparse": ((-5, 7, 10**12), [10**12, -5, 7, 7]),
    "words": (("red", "green", "blue"), ["blue", "red", "red", "green"]),
    "mixed": ((1, "absent"), ["absent", "1", "1", "absent"]),
    "many": (tuple(f"v{number}" for number in range(300)), ["v299", "v0", "v128", "v7"]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_codes_are_places_among_the_values(name, gaps, at_once, monkeypatch):
    monkeypatch.setattr("assay.contracts.columns.AT_ONCE", at_once)  # a limit
    values, rows = CASES[name]
    given = [None if gaps and i == 1 else value for i, value in enumerate(rows)]
    expected = [-1 if value is None else [str(v) for v in values].index(str(value)) for value in given]
    for column in (pa.chunked_array([pa.array(given)]), pa.chunked_array([pa.array(given[:2]), pa.array(given[2:])])):
        assert from_column(column, values, "x").tolist() == expected
        assert from_column(column.slice(1, 2), values, "x").tolist() == expected[1:3]
    back = to_column(np.array(expected), values)
    assert back.to_pylist() == given


def test_floats_that_are_whole_and_nulls_are_understood():
    assert from_column(pa.chunked_array([pa.array([1.0, None, 0.0])]), (0, 1), "x").tolist() == [1, -1, 0]
    assert from_column(pa.chunked_array([pa.nulls(3)]), (0, 1), "x").tolist() == [-1, -1, -1]
    for kind in (pa.int64(), pa.bool_(), pa.string()):
        assert from_column(pa.chunked_array([], kind), (0, 1), "x").tolist() == []
        assert from_column(pa.chunked_array([pa.array([], kind)]), (0, 1), "x").tolist() == []


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([0, 2]), "x: value 2 is not one of 0, 1"),
        (pa.array([0, -1]), "x: value -1 is not one of 0, 1"),
        (pa.array([0.5]), "x: value 0.5 is not one of 0, 1"),
        (pa.array(["0"]), "x: value '0' is not one of 0, 1"),
        (pa.array([[0]]), "x: expected one value in each row, such as 0, 1, not a list"),
    ],
)
def test_what_is_no_value_is_refused(column, message):
    with pytest.raises(DataError, match=message):
        from_column(pa.chunked_array([column]), (0, 1), "x")


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.int64(), pa.bool_()])
def test_plain_numbers_of_every_width_and_of_slices(kind):
    given = [1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0]
    array = pa.array([bool(x) for x in given] if kind == pa.bool_() else given, kind)
    assert plain_numbers(array).tolist() == given
    assert plain_numbers(array.slice(3, 5)).tolist() == given[3:8]
    if kind not in (pa.bool_(), pa.uint8(), pa.uint32()):
        assert plain_numbers(pa.array([-3, 5], kind)).tolist() == [-3, 5]
    if kind == pa.uint8():
        assert plain_numbers(pa.array([200], kind)).tolist() == [200]


def test_pages_that_do_not_shrink_are_checked_too(tmp_path):
    noise = np.random.default_rng(0).bytes(4000)
    path = tmp_path / "t.parquet"
    path.write_bytes(
        parquet_bytes(pa.table({"index": [3, 1], "b": pa.array([noise[:1500], noise[1500:]], pa.binary())}))
    )
    assert read_parquet(path, ["b"])["b"].to_pylist() == [noise[:1500], noise[1500:]]
    data = bytearray(path.read_bytes())
    data[data.index(noise[2000:2040]) + 5] ^= 1
    path.write_bytes(data)
    assert read_parquet(path, ["index"])["index"].to_pylist() == [3, 1]
    with pytest.raises((pa.ArrowException, OSError)):
        read_parquet(path, ["b"])


@pytest.mark.parametrize("name", ["concept_b", "concept_\xff"])
def test_columns_whose_names_were_damaged_are_refused(name, tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(parquet_bytes(pa.table({"concept_a": [1, 2], "label_y": [3, 4]})))
    assert open_parquet(path).schema_arrow.names == ["concept_a", "label_y"]
    path.write_bytes(path.read_bytes().replace(b"concept_a", name.encode("latin-1")))
    with pytest.raises(pa.ArrowInvalid, match="the file is damaged"):
        open_parquet(path)
