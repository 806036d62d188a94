"""Verbs that write folders, killed at any moment: given again they succeed, with the same bytes and no leftovers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.dataset import Dataset
from tests.predictors import predictions
from tests.samples import needs_task

pytestmark = needs_task("mnlogic")

KILLER = Path(__file__).parents[1] / "killed.py"
VERBS = {
    "annotate": "annotate data -o OUT --set missing=0.3",
    "export": "export data --to prolog -o OUT",
    "view": "view data mine.parquet --bundle OUT --samples 2",
    "import": "import table -o OUT",
    "report": "report mine.parquet --data data -o OUT",
    "push": "push data OUT",
    "pairs": "pairs OUT -n 8",
    "pairs -o": "pairs data -n 8 -o OUT/pairs.parquet",
    "make": "make mnlogic -n 40 --workers 1 -o OUT --set k=3",
}


@pytest.fixture(scope="module")
def place(mnlogic: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset, predictions for it, and pictures with a table."""
    folder = tmp_path_factory.mktemp("killed")
    for name in ("data", "reference", "killed"):
        shutil.copytree(mnlogic.folder, folder / name)
    test = mnlogic["test"]
    predictions(test, test.labels, test.concepts).write(folder / "mine.parquet", mnlogic.knowledge)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


QUICK = ("annotate", "make")


@pytest.mark.parametrize(
    "verb", [verb if verb in QUICK else pytest.param(verb, marks=pytest.mark.slow) for verb in VERBS]
)
def test_a_killed_command_succeeds_when_it_is_given_again(verb: str, place: Path) -> None:
    words = VERBS[verb].split()
    if verb == "import":
        subprocess.run([sys.executable, "-m", "assay", "new", "data", "table"], cwd=place, check=True)
    if verb != "pairs":
        shutil.rmtree(place / "reference", ignore_errors=True)
        shutil.rmtree(place / "killed", ignore_errors=True)
    before = {path.name for path in place.iterdir()} | {"reference", "killed"}
    done = subprocess.run(
        [sys.executable, str(KILLER), "5", *words], cwd=place, capture_output=True, text=True, check=True
    )
    statuses = json.loads(done.stdout)
    assert statuses["first"] == statuses["last"] == 0, done.stderr
    resumes = verb == "make"  # what is finished is not written again
    assert set(statuses["killed"][: 1 if resumes else -1]) == {-9}, done.stderr
    found = files(place / "killed")
    assert found == files(place / "reference") and found
    assert not [name for name in found if ".tmp" in name]
    assert {path.name for path in place.iterdir()} <= before
