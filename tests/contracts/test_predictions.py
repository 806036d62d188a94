"""Predictions files: ours come back, others' are understood, and what does not fit is refused."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.base import AssayError, DataError, rng_for
from assay.contracts import Prediction, Predictions, answers_from, apply_constraints, read_predictions
from assay.dataset import Dataset
from assay.logic import Constraint, Knowledge, bits, parse
from assay.metrics import gather, gather_from, score


def spread(rows: int, width: int) -> np.ndarray:
    made = rng_for(0, "spread", rows, width).random((rows, width))
    return made / made.sum(axis=1, keepdims=True)


def frame(dataset: Dataset, **columns: Any) -> pd.DataFrame:
    """Return what a person writes by hand, all right but for these columns."""
    data = dataset.symbols("test")
    plain = {
        "index": range(len(data)),
        "split": "test",
        "fingerprint": dataset.fingerprint,
        "label_sum": data.labels[:, 0],
        "concept_a": data.concepts[:, 0],
        "concept_b": data.concepts[:, 1],
    }
    return pd.DataFrame({**plain, **columns})


def test_written_predictions_come_back(evenodd: Dataset, tmp_path: Path) -> None:
    data = evenodd.symbols("test")
    codes = data.concepts[:, 1].copy()
    codes[::3] = -1
    written = Predictions(
        evenodd.fingerprint,
        "test",
        data.index[::-1].copy(),
        {"sum": Prediction.of(spread(len(data), 19))},
        {"a": Prediction.of(spread(len(data), 10)), "b": Prediction(codes)},
        {"model": "by hand", "seed": 3},
    )
    written.write(tmp_path / "p.parquet", evenodd.knowledge)
    back = read_predictions(tmp_path / "p.parquet", evenodd.knowledge)
    assert (back.fingerprint, back.split, back.about) == (written.fingerprint, "test", written.about)
    assert (back.index == written.index).all()
    for now, before in ((back.labels, written.labels), (back.concepts, written.concepts)):
        assert list(now) == list(before)
        for name, answer in now.items():
            assert (answer.codes == before[name].codes).all()
            assert (answer.probabilities is None) == (before[name].probabilities is None)
            if answer.probabilities is not None:
                assert np.allclose(answer.probabilities, before[name].probabilities, atol=1e-6)


def test_truth_values_come_back(mnlogic: Dataset, tmp_path: Path) -> None:
    data = mnlogic.symbols("test")
    said = {name: Prediction(data.concepts[:, i]) for i, name in enumerate("abc")}
    Predictions(mnlogic.fingerprint, "test", data.index, {"y": Prediction(data.labels[:, 0])}, said).write(
        tmp_path / "p.parquet", mnlogic.knowledge
    )
    assert pq.read_table(tmp_path / "p.parquet")["label_y"].to_pylist() == data.labels[:, 0].astype(bool).tolist()
    evidence = gather(data, read_predictions(tmp_path / "p.parquet", mnlogic.knowledge))
    assert (evidence.predicted_concepts == data.concepts).all()


def test_a_file_written_by_pandas_is_enough(evenodd: Dataset, tmp_path: Path) -> None:
    frame(evenodd).to_parquet(tmp_path / "p.parquet")
    evidence = gather_from(evenodd, read_predictions(tmp_path / "p.parquet", evenodd.knowledge))
    found = score(evidence, ["label_accuracy", "concept_accuracy", "rule_consistency"], resamples=2)
    assert [x.value for x in found.values()] == [1.0, 1.0, 1.0]


def test_some_rows_in_any_order(evenodd: Dataset, tmp_path: Path) -> None:
    frame(evenodd).iloc[[40, 7, 99]].to_parquet(tmp_path / "p.parquet")
    evidence = gather_from(evenodd, read_predictions(tmp_path / "p.parquet", evenodd.knowledge))
    assert len(evidence) == 3 and (evidence.labels == evidence.predicted_labels).all()
    assert (evidence.concepts == evenodd["test"].concepts[[40, 7, 99]]).all()


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_gaps_mean_that_the_model_said_nothing(gap: float | None, evenodd: Dataset, tmp_path: Path) -> None:
    held = frame(evenodd)
    held["concept_a"] = [gap if i % 2 else value for i, value in enumerate(held.concept_a)]
    held["concept_b"] = None
    held.to_parquet(tmp_path / "p.parquet")
    evidence = gather_from(evenodd, read_predictions(tmp_path / "p.parquet", evenodd.knowledge))
    assert (evidence.predicted_concepts[1::2, 0] == -1).all() and (evidence.predicted_concepts[::2, 0] >= 0).all()
    assert evidence.answered == (0,)


def test_other_columns_are_ignored(evenodd: Dataset, tmp_path: Path) -> None:
    frame(evenodd, note="hello").to_parquet(tmp_path / "p.parquet")
    assert list(read_predictions(tmp_path / "p.parquet", evenodd.knowledge).concepts) == ["a", "b"]


def rows(width: int, value: float) -> list[list[float]]:
    return [[value] * width] * 160


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"fingerprint": "0" * 32}, "are for a dataset with fingerprint 0000.*predict again"),
        ({"split": "valid"}, "has no example 32"),
        ({"split": "tset"}, "no split named 'tset'; did you mean 'test'"),
        ({"split": ["test"] * 159 + ["ood"]}, "'split' must be the same text in every row"),
        ({"fingerprint": 7}, "'fingerprint' must be the same text"),
        ({"label_summ": 6}, "unknown column 'label_summ'; did you mean 'label_sum'"),
        ({"concept_c": 6}, "unknown column 'concept_c'"),
        ({"label_sum": 19}, "label_sum: value 19 is not one of 0, 1, 2"),
        ({"label_sum": 6.5}, "label_sum: value 6.5 is not one of"),
        ({"concept_a": "four"}, "concept_a: value 'four' is not one of"),
        ({"concept_a": [[4]] * 160}, "concept_a: expected one value in each row"),
        ({"index": 7}, "'index' names an example twice"),
        ({"index": np.arange(160) + 1}, "split 'test' has no example 160"),
        ({"index": np.arange(160) - 1}, "split 'test' has no example -1"),
        ({"index": np.arange(160) / 2}, "'index' must hold whole numbers"),
        ({"concept_a_probabilities": rows(10, 0.2)}, "add up to 1 in each row"),
        ({"concept_a_probabilities": [[float("nan"), 1.0, *[0.0] * 8]] * 160}, "probabilities must be numbers"),
        ({"concept_a_probabilities": [[-1.0, 2.0, *[0.0] * 8]] * 160}, "from 0 to 1"),
        ({"label_sum_probabilities": rows(10, 0.1)}, "label_sum_probabilities: every row must list 19 probabilities"),
        ({"concept_a_probabilities": 0.5}, "every row must list 10 probabilities"),
        ({"concept_a_probabilities": "abcdefghij"}, "every row must list 10 probabilities"),
    ],
)
def test_what_does_not_fit_is_refused(columns: dict[str, Any], message: str, evenodd: Dataset, tmp_path: Path) -> None:
    frame(evenodd, **columns).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(AssayError, match=message) as caught:
        gather_from(evenodd, read_predictions(tmp_path / "p.parquet", evenodd.knowledge))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("index", "no column 'index'; give the number"),
        ("split", "no column 'split'; name the split"),
        ("fingerprint", "no column 'fingerprint'; copy the dataset's"),
        ("label_sum", "say nothing of label 'sum'; add a column 'label_sum'"),
    ],
)
def test_missing_columns_are_named(missing: str, message: str, evenodd: Dataset, tmp_path: Path) -> None:
    frame(evenodd).drop(columns=missing).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(DataError, match=message):
        gather_from(evenodd, read_predictions(tmp_path / "p.parquet", evenodd.knowledge))


def test_predictions_for_another_split_are_refused(evenodd: Dataset, tmp_path: Path) -> None:
    frame(evenodd).to_parquet(tmp_path / "p.parquet")
    held = read_predictions(tmp_path / "p.parquet", evenodd.knowledge)
    with pytest.raises(DataError, match="are for split 'test', not 'ood'"):
        gather(evenodd.symbols("ood"), held)


def test_no_rows(evenodd: Dataset, tmp_path: Path) -> None:
    frame(evenodd).iloc[:0].to_parquet(tmp_path / "p.parquet")
    with pytest.raises(DataError):
        gather_from(evenodd, read_predictions(tmp_path / "p.parquet", evenodd.knowledge))


def test_what_is_no_parquet_file(evenodd: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no predictions file"):
        read_predictions(tmp_path / "p.parquet", evenodd.knowledge)
    for data in (b"", b"hello", b"PAR1" * 10, (evenodd.folder / "test" / "part-00000.parquet").read_bytes()[:-50]):
        (tmp_path / "p.parquet").write_bytes(data)
        with pytest.raises(DataError, match="is no Parquet file that can be read") as caught:
            read_predictions(tmp_path / "p.parquet", evenodd.knowledge)
        assert "\n" not in str(caught.value)


def test_notes_that_are_not_ours_are_passed_over(evenodd: Dataset, tmp_path: Path) -> None:
    table = pa.Table.from_pandas(frame(evenodd))
    for note in (b"not json", b"[1]"):
        pq.write_table(table.replace_schema_metadata({b"assay": note}), tmp_path / "p.parquet")
        assert read_predictions(tmp_path / "p.parquet", evenodd.knowledge).about == {}


def test_a_column_that_is_there_twice_is_refused(evenodd: Dataset, tmp_path: Path) -> None:
    table = pa.Table.from_pandas(frame(evenodd), preserve_index=False)
    name = next(name for name in table.column_names if name.startswith("label_"))
    for column in (name, "split"):
        pq.write_table(table.append_column(column, table[column]), tmp_path / "p.parquet")
        with pytest.raises(DataError, match=f"column '{column}' is there 2 times; leave one"):
            read_predictions(tmp_path / "p.parquet", evenodd.knowledge)


def test_a_damaged_column_is_told_in_one_line(evenodd: Dataset, tmp_path: Path) -> None:
    frame(evenodd).to_parquet(tmp_path / "p.parquet")
    data = bytearray((tmp_path / "p.parquet").read_bytes())
    data[4:40] = bytes(36)  # the first page; what is at the end of the file still says where all columns are
    (tmp_path / "p.parquet").write_bytes(data)
    with pytest.raises(DataError, match="is no Parquet file that can be read") as caught:
        read_predictions(tmp_path / "p.parquet", evenodd.knowledge)
    assert "\n" not in str(caught.value)


ONE_OF_THREE = Knowledge.of(
    bits(["a", "b", "c"]), {"y": "a", "z": "b or c"}, [Constraint("one", parse("count(a, b, c) == 1"))]
)


def soft(chances: list[list[float]]) -> Predictions:
    rows = np.array(chances)
    concepts = {name: Prediction.of(np.stack([1 - rows[:, i], rows[:, i]], axis=1)) for i, name in enumerate("abc")}
    labels = {"y": Prediction(np.zeros(len(rows), int)), "z": Prediction(np.ones(len(rows), int))}
    return Predictions("x", "test", np.arange(len(rows)), labels, concepts, {"model": "soft"})


def test_decoded_predictions_keep_the_constraints() -> None:
    said = soft([[0.9, 0.8, 0.1], [0.1, 0.2, 0.4], [0.2, 0.9, 0.1]])
    found = apply_constraints(said, ONE_OF_THREE)
    codes = np.stack([found.concepts[name].codes for name in "abc"], axis=1)
    assert codes.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]  # the most probable of the three worlds
    assert all(found.concepts[name].probabilities is said.concepts[name].probabilities for name in "abc")
    assert found.labels == said.labels
    counts = {"changed": 2, "not_proven": 0, "not_found": 0, "labels_by_rule": False}
    assert found.about == {"model": "soft", "decoded": counts}
    ruled = apply_constraints(said, ONE_OF_THREE, labels_by_rule=True)
    assert ruled.labels["y"].codes.tolist() == [1, 0, 0] and ruled.labels["z"].codes.tolist() == [0, 1, 1]
    assert ruled.about["decoded"] == {**counts, "labels_by_rule": True}
    assert repr(found) == "Predictions(soft, split test: 3 examples; labels y, z; concepts a, b, c)"
    assert repr(found.concepts["a"]) == "Prediction(3 examples, probabilities of 2 values)"
    assert repr(found.labels["y"]) == "Prediction(3 examples, codes)"


def test_decoding_needs_constraints_and_probabilities() -> None:
    said = soft([[0.9, 0.8, 0.1]])
    with pytest.raises(DataError, match="no constraints"):
        apply_constraints(said, Knowledge.of(bits(["a", "b", "c"]), {"y": "a"}))
    for concepts in ({"a": said.concepts["a"]}, {**said.concepts, "b": Prediction(np.array([1]))}):
        with pytest.raises(DataError, match="add a column 'concept_b_probabilities'"):
            apply_constraints(replace(said, concepts=concepts), ONE_OF_THREE)


@pytest.mark.parametrize(("off", "fine"), [(0.0, True), (9e-4, True), (2e-3, False), (-2e-3, False)])
def test_probabilities_add_up_to_one_but_for_rounding(off: float, fine: bool, tmp_path: Path) -> None:
    said = soft([[0.5, 0.5, 0.5]])
    wrong = replace(said, concepts={"a": Prediction(np.array([0]), np.array([[0.5, 0.5 + off]]))})
    wrong.write(tmp_path / "p.parquet", ONE_OF_THREE)
    if fine:
        found = read_predictions(tmp_path / "p.parquet", ONE_OF_THREE).concepts["a"].probabilities
        assert found == pytest.approx(np.array([[0.5, 0.5 + off]]), abs=1e-6)
    else:
        with pytest.raises(DataError, match="probabilities must be numbers from 0 to 1 that add up to 1"):
            read_predictions(tmp_path / "p.parquet", ONE_OF_THREE)


def test_negative_probabilities_are_refused(tmp_path: Path) -> None:
    wrong = replace(soft([[0.5] * 3]), concepts={"a": Prediction(np.array([0]), np.array([[-0.25, 1.25]]))})
    wrong.write(tmp_path / "p.parquet", ONE_OF_THREE)
    with pytest.raises(DataError, match="from 0 to 1"):
        read_predictions(tmp_path / "p.parquet", ONE_OF_THREE)


def written(table: pa.Table, path: Path) -> Predictions:
    pq.write_table(table, path)
    return read_predictions(path, ONE_OF_THREE)


def plain(**columns: Any) -> dict[str, Any]:
    return {"index": [5, 3], "split": ["test"] * 2, "fingerprint": ["x"] * 2, **columns}


def test_some_labels_and_concepts_may_be_left_out(tmp_path: Path) -> None:
    said = soft([[0.9, 0.8, 0.1], [0.3, 0.2, 0.6]])
    some = replace(said, labels={"z": said.labels["z"]}, concepts={"c": said.concepts["c"], "a": said.concepts["a"]})
    some.write(tmp_path / "p.parquet", ONE_OF_THREE)
    assert pq.read_schema(tmp_path / "p.parquet").names == [
        "index", "split", "fingerprint", "label_z", "concept_a", "concept_a_probabilities", "concept_c",
        "concept_c_probabilities",
    ]  # fmt: skip
    back = read_predictions(tmp_path / "p.parquet", ONE_OF_THREE)
    assert list(back.labels) == ["z"] and list(back.concepts) == ["a", "c"] and back.labels["z"].probabilities is None
    assert np.allclose(back.concepts["c"].probabilities, said.concepts["c"].probabilities, atol=1e-6)
    assert back.concepts["a"].codes.tolist() == [1, 0] and back.concepts["c"].codes.tolist() == [0, 1]


def test_many_probabilities_come_back_in_their_rows(tmp_path: Path) -> None:
    rows = spread(20_000, 2)
    said = replace(soft([[0.5] * 3]), index=np.arange(20_000), labels={}, concepts={"b": Prediction.of(rows)})
    said.write(tmp_path / "p.parquet", ONE_OF_THREE)
    back = read_predictions(tmp_path / "p.parquet", ONE_OF_THREE).concepts["b"]
    assert np.abs(back.probabilities - rows).max() < 1e-6 and (back.codes == rows.argmax(axis=1)).all()


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.float64(), 2), pa.list_(pa.int8())]
)
def test_lists_of_any_kind_hold_probabilities(kind: pa.DataType, tmp_path: Path) -> None:
    column = pa.array([[0, 1], [1, 0]], type=kind)
    found = written(pa.table(plain(concept_b_probabilities=column)), tmp_path / "p.parquet")
    assert found.concepts["b"].probabilities.tolist() == [[0, 1], [1, 0]] and found.concepts["b"].codes.tolist() == [
        1,
        0,
    ]
    assert found.index.tolist() == [5, 3] and found.labels == {}


def test_values_go_before_what_is_likeliest(tmp_path: Path) -> None:
    columns = plain(concept_b=[False, None], concept_b_probabilities=[[0.25, 0.75], [0.5, 0.5]])
    found = written(pa.table(columns), tmp_path / "p.parquet").concepts["b"]
    assert found.codes.tolist() == [0, -1] and found.probabilities.tolist() == [[0.25, 0.75], [0.5, 0.5]]


def test_a_part_of_a_table_in_several_pieces_is_read_as_it_is() -> None:
    lists = [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5], [0.125, 0.875], [0.0, 1.0]]
    table = pa.concat_tables(
        [pa.table({"label_y_probabilities": lists}), pa.table({"label_y_probabilities": lists[:2]})]
    )
    labels, concepts = answers_from(ONE_OF_THREE, table.slice(1, 5), None, 5, "here")
    assert labels["y"].probabilities.tolist() == [*lists[1:], lists[0]] and concepts == {}
    assert labels["y"].codes.tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"index": pa.array([5, None])}, "'index' must hold whole numbers in every row"),
        ({"index": [5.0, 3.0]}, "'index' must hold whole numbers in every row"),
        ({"index": [5, 5]}, "'index' names an example twice"),
        ({"split": pa.array(["test", None])}, "'split' must be the same text in every row, found .'test', 'None'."),
        ({"fingerprint": ["x", "y"]}, "'fingerprint' must be the same text in every row, found .'x', 'y'."),
        (
            {"concept_b_probability": [1, 0]},
            "unknown column 'concept_b_probability'; did you mean 'concept_b_probabilities'",
        ),
        ({"label_z_probabilities": [[0.5, 0.5], [0.25, 0.25]]}, "label_z_probabilities: probabilities must be numbers"),
        (
            {"concept_c_probabilities": [[0.5, 0.5], [1.0]]},
            "concept_c_probabilities: every row must list 2 probabilities",
        ),
        ({"concept_c_probabilities": [[math.inf, 0.0], [1.0, 0.0]]}, "probabilities must be numbers from 0 to 1"),
    ],
)
def test_what_is_wrong_in_one_row_only_is_refused(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"^p.parquet: .*{message}"):
        written(pa.table(plain(**columns)), tmp_path / "p.parquet")


def test_an_index_in_falling_order_names_nobody_twice(tmp_path: Path) -> None:
    assert written(pa.table(plain(index=[9, 2])), tmp_path / "p.parquet").index.tolist() == [9, 2]
    with pytest.raises(DataError, match="names an example twice"):
        columns = {name: [*values, values[0]] for name, values in plain(index=[9, 2]).items()}
        written(pa.table(columns), tmp_path / "p.parquet")


def test_a_record_that_was_changed_is_refused(tmp_path: Path) -> None:
    soft([[0.5] * 3]).write(tmp_path / "p.parquet", ONE_OF_THREE)
    table = pq.read_table(tmp_path / "p.parquet")
    notes = table.schema.metadata
    changed = {**notes, b"assay": notes[b"assay"].replace(b"soft", b"hard")}
    with pytest.raises(DataError, match=r"^q.parquet: what it says of its model does not match its hash"):
        written(table.replace_schema_metadata(changed), tmp_path / "q.parquet")
    assert written(table.replace_schema_metadata(None), tmp_path / "q.parquet").about == {}


def test_rows_that_were_changed_are_counted_once_each() -> None:
    found = apply_constraints(soft([[0.9, 0.8, 0.7], [0.1, 0.9, 0.2], [0.4, 0.3, 0.2]]), ONE_OF_THREE)
    assert found.about["decoded"] == {"changed": 2, "not_proven": 0, "not_found": 0, "labels_by_rule": False}
    assert [found.concepts[name].codes.tolist() for name in "abc"] == [[1, 0, 1], [0, 1, 0], [0, 0, 0]]


def test_predictions_of_nobody_are_a_file_without_rows(tmp_path: Path) -> None:
    said = soft([[0.5] * 3])
    nobody = replace(
        said,
        index=np.zeros(0, int),
        labels={"y": Prediction(np.zeros(0, int))},
        concepts={"a": Prediction.of(np.ones((0, 2)))},
    )
    nobody.write(tmp_path / "p.parquet", ONE_OF_THREE)
    assert pq.read_table(tmp_path / "p.parquet").num_rows == 0
    assert pq.read_schema(tmp_path / "p.parquet").names == [
        "index",
        "split",
        "fingerprint",
        "label_y",
        "concept_a",
        "concept_a_probabilities",
    ]


@pytest.mark.parametrize("lists", [[[1.0, None], [1.0, 0.0]], [[0.25, 0.75], [None, 1.0]], [[0.5, 0.5], [None, None]]])
def test_a_gap_in_a_list_is_no_zero(lists: list[list[float | None]], tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"^p.parquet: label_z_probabilities: probabilities must be numbers from 0 to 1"
    ):
        written(pa.table(plain(label_z_probabilities=lists)), tmp_path / "p.parquet")


def test_truths_are_no_probabilities(tmp_path: Path) -> None:
    column = pa.array([[True, False], [False, True]])
    with pytest.raises(DataError, match=r"^p.parquet: label_y_probabilities: every row must list 2 probabilities"):
        written(pa.table(plain(label_y_probabilities=column)), tmp_path / "p.parquet")


def test_predictions_of_many_concepts_are_told_in_part() -> None:
    names = [f"concept{number}" for number in range(2_000)]
    said = Predictions("x", "ood", np.arange(1_234), dict.fromkeys(names), dict.fromkeys(names[:9]), {"seed": 1})
    labels = f"{', '.join(names)[:76]} ..."
    assert repr(said) == (
        f"Predictions(split ood: 1,234 examples; labels {labels}; concepts {', '.join(names[:9])[:76]} ...)"
    )
    assert repr(replace(said, concepts=dict.fromkeys(names[:8]))).endswith(f"; concepts {', '.join(names[:8])})")
    assert repr(Prediction.of(np.ones((1_000, 3)) / 3)) == "Prediction(1,000 examples, probabilities of 3 values)"
