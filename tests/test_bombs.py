"""Law: whatever a stranger's study, record, table or predictions hold, a command says one line and takes little memory."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.attempts import attempt
from benchmarks.bombs import hostile_values, small_files

from assay.base import ConfigError, DataError, load_yaml
from assay.contracts import read_predictions
from tests.own_files import call
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")
MOST_MEGABYTES = 400
LONG = "sixty million equal rows"
"""A file that takes seconds to refuse; whatever the command, the same code does."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a dataset, a run and its predictions."""
    folder = tmp_path_factory.mktemp("bombs")
    made = ["make", "mnlogic", "-n", 40, "--workers", 1, "-o", folder / "data", "--set", "k=3"]
    assert call(*made)[0] == call("train", "tree", folder / "data", "-o", folder / "run")[0] == 0
    shutil.copy(folder / "run" / "predictions" / "test.parquet", folder / "mine.parquet")
    return folder


@pytest.mark.parametrize("attempts", [hostile_values, small_files])
def test_nothing_ends_in_a_traceback_or_takes_much_memory(place, attempts):
    outcomes = {name: attempt(work) for name, work in attempts(place) if not name.startswith(LONG) or ": score" in name}
    assert len(outcomes) >= 20
    assert {name: found for name, found in outcomes.items() if found.is_fault} == {}
    assert {name: found for name, found in outcomes.items() if found.megabytes > MOST_MEGABYTES} == {}
    assert {name for name, found in outcomes.items() if len(found.said) > 700} == set()


def test_a_value_in_a_message_is_cut():
    for value, most in (("x" * 10**6, 240), ("x' y" * 10**5, 9000)):
        assert len(str(DataError(f"no split named {value!r}; there is: test"))) < most
    assert str(DataError(f"{'a' * 200!r} and {'b' * 201!r}")) == f"'{'a' * 200}' and '{'b' * 200} ...'"


def test_aliases_may_be_used_and_large_files_read(tmp_path):
    (tmp_path / "a.yaml").write_text("a: &a {k: 1}\nb: [*a, *a]\n" + "c:\n" + "- x\n" * 20_000)
    assert load_yaml(tmp_path / "a.yaml").values["b"] == [{"k": 1}, {"k": 1}]
    (tmp_path / "b.yaml").write_text("a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b " + f"[{', '.join(['*a'] * 100)}]\n"
                                     + f"c: [{', '.join(['*b'] * 10)}]\n")  # fmt: skip
    with pytest.raises(ConfigError, match=r"b\.yaml: its aliases unfold to more than 10,000 values"):
        load_yaml(tmp_path / "b.yaml")


def test_a_file_of_more_rows_than_its_split_is_refused(place, mnlogic, tmp_path):
    table = pq.read_table(place / "mine.parquet")
    pq.write_table(pa.concat_tables([table, table]), tmp_path / "twice.parquet")
    status, _, err = call("score", tmp_path / "twice.parquet", place / "data")
    assert status == 2 and f"has {2 * len(table)} rows for {len(table)} examples" in err
    more = table.append_column("note", pa.array(["x"] * len(table)))
    more = more.set_column(0, "index", pa.array(np.arange(len(table)) + len(table)))
    pq.write_table(
        pa.concat_tables([table.append_column("note", pa.array(["x"] * len(table))), more]), tmp_path / "m.parquet"
    )
    status, _, err = call("score", tmp_path / "m.parquet", place / "data")
    assert status == 2 and f"has {2 * len(table)} rows for {len(table)} examples of split 'test'" in err


def test_texts_of_many_rows_are_read(tmp_path, mnlogic):
    """An honest file, whose texts are not in a dictionary, is read as before."""
    rows = 300_000
    table = {"index": np.arange(rows), "split": ["test"] * rows, "fingerprint": ["f"] * rows, "label_y": [True] * rows}
    pq.write_table(pa.table(table), tmp_path / "p.parquet", use_dictionary=False, row_group_size=70_000)
    found = read_predictions(tmp_path / "p.parquet", mnlogic.knowledge, {"test": rows})
    assert (len(found.index), found.split, found.fingerprint) == (rows, "test", "f")


@pytest.mark.parametrize("streams", [(1,), (1, 2), (2,)])
def test_closed_streams(streams):
    def close():
        for number in streams:
            os.close(number)

    words = [sys.executable, "-m", "assay", "list", "tasks"]
    pipes = {1: "stdout", 2: "stderr"}
    done = subprocess.run(words, preexec_fn=close, **{pipes[n]: subprocess.PIPE for n in (1, 2) if n not in streams})
    assert done.returncode == (2 if 1 in streams else 0)
    assert streams != (1,) or done.stderr == b"error: standard output is closed\n"
