"""The bundled suite, for its keepers: pin the fingerprints of its datasets, and build the board of the docs.

`python -m benchmarks.suite pin FOLDER [DATASET...]` makes datasets in FOLDER/data and writes their fingerprints into
the suite's file: only for a dataset that is new, since a change of any other is a new suite.
`python -m benchmarks.suite board FOLDER` builds `docs/board` from the rows in `benchmarks/records/assay-1`, with
pictures of the data in FOLDER.
"""

import re
import shutil
import sys
from pathlib import Path

from assay.data.dataset import Dataset
from assay.suites.making import DATA, make_data
from assay.suites.site import write_board
from assay.suites.suite import find_suite

ROOT = Path(__file__).parents[1]
FILE = ROOT / "src" / "assay" / "suites" / "assay-1.yaml"
ROWS = ROOT / "benchmarks" / "records" / "assay-1"
BOARD = ROOT / "docs" / "board"


def with_fingerprint(text: str, name: str, fingerprint: str) -> str:
    """Return the suite's file with the fingerprint of a dataset.

    >>> with_fingerprint("datasets:\\n  a:\\n    task: t\\n  b:\\n    task: u\\n", "a", "0f")
    'datasets:\\n  a:\\n    task: t\\n    fingerprint: 0f\\n  b:\\n    task: u\\n'
    """
    entry = re.search(rf"^  {re.escape(name)}:\n(?:    .*\n)+", text, re.MULTILINE)
    if entry is None:
        raise ValueError(f"the file has no dataset {name!r}")
    lines = [line for line in entry[0].splitlines(keepends=True) if not line.startswith("    fingerprint:")]
    return text.replace(entry[0], "".join([*lines, f"    fingerprint: {fingerprint}\n"]))


def pin(folder: Path, names: list[str]) -> None:
    """Make datasets and write their fingerprints into the suite's file."""
    suite = find_suite(str(FILE))
    made = make_data(suite, folder, names, print)
    for name in names or list(suite.datasets):
        place = folder / DATA / name
        if not (place / "manifest.json").exists():
            sys.exit(f"{name}: {made.faults[name]}")
        FILE.write_text(with_fingerprint(FILE.read_text(), name, Dataset.open(place).fingerprint))


def board(folder: Path) -> Path:
    """Build the board of the docs anew."""
    shutil.rmtree(BOARD, ignore_errors=True)
    return write_board(find_suite(), [ROWS], BOARD, folder / DATA)


if __name__ == "__main__":
    verb, place, *rest = sys.argv[1:]
    pin(Path(place), rest) if verb == "pin" else print(board(Path(place)))
