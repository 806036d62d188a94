"""The bundled suite, for its keepers: pin the fingerprints of its datasets, and build the board of the docs.

`python -m benchmarks.suite pin FOLDER [DATASET...]` makes datasets in FOLDER/data and writes their fingerprints into
the suite's file: only for a dataset that is new, since a change of any other is a new suite.
`python -m benchmarks.suite board FOLDER` builds `docs/board` from the rows in `benchmarks/records/assay-1`, with
pictures of the data in FOLDER. `python -m benchmarks.suite facts .` prints the counts that `docs/suite.md` names.
"""

import re
import shutil
import statistics
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from assay.dataset import Dataset
from assay.lab import BoardRow, find_suite, make_data, read_rows, write_board

ROOT = Path(__file__).parents[1]
FILE = ROOT / "src" / "assay" / "suites" / "assay-1.yaml"
ROWS = ROOT / "benchmarks" / "records" / "assay-1"
BOARD = ROOT / "docs" / "board"
RIGHT = 0.95
"""From this label F1 on, labels count as right."""
SHOWN = ("label_f1", "concept_f1", "ood")


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
        place = folder / "data" / name
        if not (place / "manifest.json").exists():
            sys.exit(f"{name}: {made.faults[name]}")
        FILE.write_text(with_fingerprint(FILE.read_text(), name, Dataset.open(place).fingerprint))


def board(folder: Path) -> Path:
    """Build the board of the docs anew."""
    shutil.rmtree(BOARD, ignore_errors=True)
    return write_board(find_suite(), [ROWS], BOARD, folder)


def facts() -> None:
    """Print what the rows of the bundled models bear out."""
    suite = find_suite()
    rows = [row for row in read_rows(ROWS) if row.status == "done" and row.model in suite.config.models]
    seeing = [row for row in rows if row.level != "symbols"]
    right = [row for row in seeing if row.label_f1 >= RIGHT]
    print(f"{len(rows)} rows; of {len(right)} with a label F1 of {RIGHT}: {_tally(right)}")
    for level in suite.levels:
        own = [row for row in seeing if (row.dataset, row.level) == ("robots-paper", level)]
        print(f"robots-paper, {level}: {_tally(own)}")
    for data in ("digits-evenodd", "digits-sum4", "robots-parts"):
        for model in suite.config.models:
            own = [row for row in rows if (row.dataset, row.model) == (data, model)]
            means = {key: statistics.fmean(getattr(row, key) for row in own) for key in SHOWN if own}
            print(f"{data}, {model}: {', '.join(f'{key} {value:.2f}' for key, value in means.items())}")
    for data in suite.datasets:
        print(f"{data}: {_tally([row for row in seeing if row.dataset == data])}")


def _tally(rows: Iterable[BoardRow]) -> str:
    return ", ".join(f"{verdict} {count}" for verdict, count in Counter(row.verdict for row in rows).most_common())


def main(verb: str, place: Path, names: list[str]) -> None:
    """Do what the command line names."""
    if verb == "pin":
        pin(place, names)
    elif verb == "board":
        print(board(place))
    else:
        facts()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
