"""Links in a stranger's folder: nothing is written or read through one, whatever the command."""

import shutil
from pathlib import Path

import pytest
from benchmarks.attempts import attempt
from benchmarks.links import COMMANDS, links_to_read, planted_links

from assay.auditing import audit  # noqa: F401 - loaded before the forks
from assay.base import DataError
from assay.cli import main  # noqa: F401
from assay.dataset import Dataset
from assay.exchange import EXPORTS  # noqa: F401
from assay.lab import BoardRow, read_rows, score_entry, write_rows
from assay.reporting import write_report  # noqa: F401
from assay.runs import RunFolder
from tests.own_files import call
from tests.predictors import predictions
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")
QUICK = ("audit", "pairs", "report", "push", "annotate", "export", "make")
INPUTS = ("data", "mine.parquet")


@pytest.fixture(scope="module")
def inputs(mnlogic: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset and predictions for it."""
    folder = tmp_path_factory.mktemp("links")
    shutil.copytree(mnlogic.folder, folder / "data")
    test = mnlogic["test"]
    predictions(test, test.labels, test.concepts).write(folder / "mine.parquet", mnlogic.knowledge)
    return folder


@pytest.mark.parametrize("files", [1, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("verb", QUICK)
def test_no_command_writes_through_a_link(verb: str, files: int, inputs: Path) -> None:
    tried = {name: attempt(work) for name, work in planted_links(inputs, INPUTS, {verb: COMMANDS[verb]}, files)}
    assert len(tried) >= 4
    assert {name: outcome for name, outcome in tried.items() if outcome.is_fault} == {}


def test_no_file_of_a_dataset_is_read_through_a_link(inputs: Path) -> None:
    tried = {name: attempt(work) for name, work in links_to_read(inputs, INPUTS, {"show": "show data"})}
    assert len(tried) > 5
    for name, outcome in tried.items():
        assert outcome.ending == "refused" and "is a link that leads out of that folder" in outcome.said, name


def test_a_dataset_may_be_reached_by_a_link(inputs: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(inputs / "data")
    assert Dataset.open(tmp_path / "link").fingerprint == Dataset.open(inputs / "data").fingerprint
    assert call("audit", tmp_path / "link", "--check", "visible", "--no-write")[0] == 0


def test_runs_entries_and_rows_are_not_read_through_links(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "inside").mkdir()
    row = BoardRow("assay-1", "digits-sum4", "mine", "labels", 0, "refused", reason="why")
    write_rows([row], tmp_path / "outside" / "mine.parquet")
    for name in ("run.json", "entry.yaml", "predictions", "mine.parquet"):
        (tmp_path / "inside" / name).symlink_to(tmp_path / "outside" / name)
        folder = RunFolder(tmp_path / "inside")
        for read in (folder.metadata, folder.claim, lambda: score_entry(tmp_path / "inside", tmp_path, tmp_path / "rows"),
                     lambda: read_rows(tmp_path / "inside")):  # fmt: skip
            with pytest.raises(DataError, match=f"^'{name}' in .* is a link that leads out of that folder"):
                read()
        (tmp_path / "inside" / name).unlink()
    (tmp_path / "link.parquet").symlink_to("outside/mine.parquet")  # named by the user
    linked, real = (read_rows(tmp_path / name) for name in ("link.parquet", "outside"))
    assert str(linked) == str(real) and read_rows(tmp_path / "inside") == []
