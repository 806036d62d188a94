"""Concepts that do not determine the labels are told as such, with how many labels they determine; they are no fault."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assay.auditing import AuditedDataset, audit, open_imported
from assay.base import rng_for
from assay.metrics import wilson
from tests.auditing.planted import Row, finding, folder_of, picture, rows

Draw = Callable[[Row, int], np.ndarray]


def table_of(share: float, count: int = 600) -> list[Row]:
    """Return rows whose label is concept a, turned round where something shows that is named on request only."""
    rng, table = rng_for(0, "hidden"), rows(count)
    for row in table:
        row["hidden"] = bool(rng.random() < share)
        row["label_y"] = row["concept_a"] != row["hidden"]
    return table


def shown(row: Row, number: int) -> np.ndarray:
    """Return a picture that shows the hidden thing in place of the third concept."""
    return picture({**row, "concept_c": row["hidden"]}, number)


def data_of(folder: Path, table: list[Row], name: str | None = None, draw: Draw | None = shown) -> AuditedDataset:
    """Return the table as data without a rule; with a name the hidden thing is a concept."""
    folder_of(folder, table, None, draw)
    told = [{**row, **({} if name is None else {f"concept_{name}": row["hidden"]})} for row in table]
    columns = [column for column in told[0] if column != "hidden" and (draw is not None or column != "file")]
    pd.DataFrame(told)[columns].to_csv(folder / "concepts.csv", index=False)
    return open_imported(folder)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.25, 0.5])
def test_what_concepts_determine_is_counted_and_no_fault(share, tmp_path):
    table = table_of(share)
    data = data_of(tmp_path / "few", table)
    (found,) = audit(data, ["complete"]).results
    hidden = sum(row["hidden"] for row in table)
    assert found.numbers["y"]["determined"] == pytest.approx(1 - min(hidden, 600 - hidden) / 600, abs=0.04)
    assert found.numbers["y"]["held out"] <= found.numbers["y"]["determined"]
    incomplete = wilson(round(600 * found.numbers["y"]["determined"]), 600)[1] < 0.95
    assert incomplete == (share >= 0.1) and found.status == ("note" if incomplete else "pass")
    if incomplete:
        assert "False/True" in found.text and "examples with a " in found.text
    assert audit(data, ["nuisances"]).results[0].status != "fail"  # the hidden thing is content


def test_with_the_missing_concept_they_are_complete(tmp_path):
    data = data_of(tmp_path / "all", table_of(0.25), "d")
    assert finding(data, "complete")[0] == "pass" and finding(data, "nuisances")[0] == "pass"


def test_where_no_two_examples_are_alike_nothing_is_said(tmp_path):
    table = table_of(0.25, 300)
    for number, row in enumerate(table):
        row["concept_c"] = number
    data = data_of(tmp_path / "apart", table, draw=None)
    for check in ("complete", "ceilings"):
        status, text = finding(data, check)
        assert status == "not checked" and "share all concepts with another one" in text


def test_a_rule_determines_every_label(tmp_path):
    assert finding(open_imported(folder_of(tmp_path / "ruled", rows())), "complete")[0] == "nothing to check"
