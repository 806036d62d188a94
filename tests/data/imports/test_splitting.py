"""Splits that the source lacks are made of its training rows, in their shares; damaged lists and tables are told."""

import pytest

from assay.config import Settings, validate
from assay.data import import_folder
from assay.data.imports.settings import ImportSettings
from assay.data.imports.source_table import SourceTable
from assay.data.imports.splitting import assign_splits, split_order
from assay.errors import AssayError, DataError
from tests.data.imports.verbs import import_layout

SHARES = {"train": 0.7, "valid": 0.15, "test": 0.15}


def table_of(rows, splits=None, sources=()):
    return SourceTable([b""] * rows, [""] * rows, {}, {}, splits, sources=sources)


def counts(table, shares=SHARES, seed=0):
    made = assign_splits(table, shares, seed)
    return {name: made.count(name) for name in dict.fromkeys(made)}, made


def test_all_splits_are_made_where_there_is_none():
    found, made = counts(table_of(200))
    assert found == {"train": 140, "valid": 30, "test": 30}
    assert assign_splits(table_of(200), SHARES, 0) == made != assign_splits(table_of(200), SHARES, 1)


def test_what_is_lacking_is_taken_from_training_in_proportion():
    given = ["train"] * 170 + ["test"] * 30
    found, made = counts(table_of(200, given))
    assert found == {"train": 140, "valid": 30, "test": 30} and made[170:] == ["test"] * 30
    whole = ["train"] * 140 + ["valid"] * 30 + ["test"] * 30
    assert assign_splits(table_of(200, whole), SHARES, 0) == whole
    other, _ = counts(table_of(200, ["train"] * 100 + ["extra"] * 100))
    assert other == {"train": 70, "valid": 15, "test": 15, "extra": 100}


def test_pictures_of_one_source_stay_together():
    sources = [(f"s{row // 4}",) for row in range(200)]
    _, made = counts(table_of(200, None, sources))
    assert all(len(set(made[start : start + 4])) == 1 for start in range(0, 200, 4))


def test_too_few_rows_are_told():
    with pytest.raises(DataError, match="2 examples are too few for the splits train, valid, test"):
        assign_splits(table_of(2), SHARES, 0)
    with pytest.raises(DataError, match="no row is of split 'train'; there is: a, b"):
        assign_splits(table_of(2, ["b", "a"]), SHARES, 0)


def test_the_usual_splits_come_first():
    assert split_order(["x", "test", "train", "a", "test"]) == ["train", "test", "x", "a"]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"shares": {"train": 0.7, "test": 0.2}}, "the shares must add up to 1"),
        ({"shares": {"train": 0.7, "test": 0.31}}, "the shares must add up to 1"),
        ({"shares": {"test": 0.5, "valid": 0.5}}, "one of them of 'train'"),
        ({"shares": {"train": 1.0}}, "expected shares between 0 and 1"),
        ({"size": 7}, "expected 8 to 2048 pixels"),
        ({"size": [8, 2049]}, "expected 8 to 2048 pixels"),
        ({"seed": -1}, "seed"),
    ],
)
def test_settings_that_cannot_be_are_told(settings, why):
    with pytest.raises(AssayError, match=why):
        validate(ImportSettings, Settings(settings))


@pytest.mark.parametrize(
    "settings", [{"shares": {"train": 0.5, "test": 0.5}}, {"size": 8}, {"size": [8, 2048]}, {"size": 2048}]
)
def test_settings_at_the_edge_are_fine(settings):
    assert validate(ImportSettings, Settings(settings)).model_dump(include=set(settings)) is not None


def test_a_matrix_of_anything_but_zeros_and_ones_is_told(tmp_path):
    import_layout(tmp_path / "fine", "awa2", 16)
    source = tmp_path / "fine" / "source"
    matrix = source / "predicate-matrix-binary.txt"
    rows = matrix.read_text().splitlines()
    for damaged in (["2" + rows[0][1:], *rows[1:]], [rows[0] + " 1", *rows[1:]], rows[:-1]):
        matrix.write_text("\n".join(damaged))
        with pytest.raises(DataError, match=r"predicate-matrix-binary.txt: expected 4 rows of 3 zeros and ones"):
            import_folder(source, tmp_path / "no", None, Settings({}))


def test_rows_that_a_table_has_not_are_told(tmp_path):
    data = import_layout(tmp_path / "fine", "derm7pt", 16)
    source = tmp_path / "fine" / "source"
    total = sum(len(data[name]) for name in data.split_names)
    listed = source / "meta" / "test_indexes.csv"
    for row in (str(total), "-1", "x"):
        listed.write_text(f"indexes\n0\n{row}\n")
        with pytest.raises(
            DataError, match=f"test_indexes.csv: '?{row}'? is no row of meta/meta.csv, which has {total}"
        ):
            import_folder(source, tmp_path / "no", None, Settings({}))
