"""`assay count`: its JSON, supports, clauses, another counter, bad input."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from assay.base import AssayError, Settings
from assay.cli import app
from assay.dataset import training_support
from assay.tasks import TASKS


def run(*words):
    return CliRunner().invoke(app, ["count", *words])


def test_the_command_counts(tmp_path):
    found = json.loads(run("mnadd-evenodd", "--json").stdout)
    assert found["total"] == 36 and found["identifiability"]["digit 0"] == pytest.approx(1 / 6)
    assert (
        json.loads(run("mnlogic", "--set", "k=3", "--family", "block", "--support", "full", "--json").stdout)["total"]
        == 24
    )
    (tmp_path / "and3.cnf").write_text("c three\np cnf 3 3\n1 0\n2 0\n3 0\n")
    assert json.loads(run(str(tmp_path / "and3.cnf"), "--family", "block", "--json").stdout)["total"] == 6
    assert "supervise next: digit 0 (6 left), then digit 1 (1 left)" in run("mnadd-evenodd").stdout


def test_a_support_is_a_world_or_so_many_at_random():
    logic = ["mnlogic", "--set", "k=3", "--json", "--support"]
    world, other, some = (json.loads(run(*logic, text).stdout) for text in ("111", "110", "random:1"))
    assert world["worlds"] == other["worlds"] == some["worlds"] == 1
    assert json.loads(run(*logic, "random:5").stdout)["worlds"] == 5 == json.loads(run(*logic, "5").stdout)["worlds"]


def test_the_worlds_of_a_large_task_are_all_counted():
    task = TASKS["clevr"]()
    train = next(split for split in task.splits() if split.name == "train")
    _, worlds = training_support("clevr", Settings(), 0)
    assert len(worlds) == len(np.unique(task.source_for(train, 0).codes(np.arange(train.size)), axis=0)) > 2000


@pytest.mark.parametrize(
    "words",
    [["mnadd", "--family", "blok"], ["mnadd", "--supervise", "q"], ["mnadd", "--support", "5x,"], ["mnlogic", "--support", "999"],
     ["missing.cnf"], ["mnadd", "--family", "free", "--supervise", "a"], ["mnmath", "--family", "free"]],
)  # fmt: skip
def test_bad_input_is_one_line(words):
    found = run(*words)
    assert isinstance(found.exception, AssayError) and "\n" not in str(found.exception)


def test_damaged_clauses_are_one_line(tmp_path):
    for text in ("p cnf 1 1\n1 2 0\n", "1 0\n", "p cnf 1 1\n1\n"):
        (tmp_path / "bad.cnf").write_text(text)
        assert isinstance(run(str(tmp_path / "bad.cnf")).exception, AssayError)


def test_the_problem_is_written_and_checked(tmp_path):
    pytest.importorskip("pyganak")
    found = run("mnadd-half", "--check", "ganak", "--write", str(tmp_path / "half.cnf"), "--json")
    assert json.loads(found.stdout)["ganak"] == 6
    assert "c p show" in (tmp_path / "half.cnf").read_text()
    assert isinstance(run("mnlogic", "--family", "block", "--check", "ganak").exception, AssayError)
    assert isinstance(run("mnadd-half", "--check", "nobody").exception, AssayError)
