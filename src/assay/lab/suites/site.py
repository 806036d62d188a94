"""Writes a board: a static site, Markdown and LaTeX, from rows; with the datasets at hand, also pictures of errors."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.base import ConfigError, DataError, refuse_links, safe_link, write_atomically
from assay.dataset import Dataset, versions
from assay.lab.suites.board import SuiteBoard
from assay.lab.suites.rows import TEST, BoardRow, read_rows
from assay.lab.suites.running import DATA, open_data
from assay.lab.suites.suite import Suite
from assay.reporting import page_environment, tex_file

PICTURES = "pictures"
MOST_PICTURES = 12
MOST_NAMED = 4


@dataclass(frozen=True)
class ShownError:
    """A test example that models get wrong, or right by misread concepts."""

    number: int
    picture: str
    """The file of its picture, as seen from the page; empty where there is none."""
    labels: str
    wrong: tuple[tuple[str, int], ...]
    """What runs said instead, each with their number, the most frequent first."""
    misread: tuple[str, ...]
    """Models that are right by wrong concepts, with what they misread."""
    runs: int

    @property
    def missed(self) -> int:
        """How many runs are wrong."""
        return sum(count for _, count in self.wrong)


def write_board(suite: Suite, records: Sequence[Path], out: Path, output: Path | None = None, viewer: str = "") -> Path:
    """Write the board of the rows in some folders or files; return its first page.

    Parameters
    ----------
    suite
        The suite; rows of others are left out.
    records
        Folders of rows, or files of them.
    out
        The folder of the board.
    output
        The folder of the suite, for pictures of errors.
    viewer
        The address of a folder with a bundle of the viewer for each dataset.
    """
    refuse_links(out)
    if safe_link(viewer) != viewer:
        raise ConfigError(f"--viewer: {viewer!r} is no address of http or https, nor a relative one")
    rows = [row for place in records for row in read_rows(place) if row.suite == suite.name]
    if not rows:
        raise DataError(f"no rows of suite {suite.name!r} in {', '.join(map(str, records))}; run: assay suite run")
    for row in rows:
        _refuse_strange(row, suite)
    board = SuiteBoard(suite, tuple(rows))
    pages = page_environment()
    shared = {"board": board, "versions": versions(), "viewer": viewer.rstrip("/")}
    ranks = board.rank_table
    for dataset in board.datasets:
        errors = _errors(board, _opened(suite, dataset.name, output), dataset.name, out)
        text = pages.get_template("board_dataset.html").render(**shared, dataset=dataset, errors=errors)
        write_atomically(out / f"{dataset.name}.html", text.encode())
    text = pages.get_template("board.html").render(**shared, ranks=ranks)
    write_atomically(out / "index.html", text.encode())
    markdown = page_environment(html=False).get_template("board.md").render(**shared, ranks=ranks)
    write_atomically(out / "board.md", markdown.encode())
    write_atomically(out / "board.tex", tex_file([board.verdict_table, ranks]).encode())
    return out / "index.html"


def _refuse_strange(row: BoardRow, suite: Suite) -> None:
    """Refuse a row of a level or of data that the suite has not."""
    known = suite.dataset(row.dataset).fingerprint
    suite.level(row.level)
    if row.fingerprint and known and row.fingerprint != known:
        raise DataError(
            f"the row of {row.model!r} on {row.dataset!r} is about data with fingerprint {row.fingerprint!r}, "
            f"the suite's is {known}; run or score it again"
        )


def _opened(suite: Suite, name: str, output: Path | None) -> Dataset | None:
    """Open a dataset, if the folder has it."""
    folder = None if output is None else output / DATA / name
    return open_data(suite, suite.dataset(name), folder) if folder is not None and folder.exists() else None


def _errors(board: SuiteBoard, dataset: Dataset | None, name: str, out: Path) -> list[ShownError]:
    """Return the test examples that most runs get wrong, then those that most get right by misread concepts."""
    rows = [row for row in board.rows if row.dataset == name and row.status == "done"]
    wrong: dict[int, Counter[str]] = {}
    misread: dict[int, dict[str, str]] = {}
    for row in rows:
        for number, said in json.loads(row.wrong).items():
            wrong.setdefault(int(number), Counter())[said] += 1
        for number, read in json.loads(row.misread).items():
            misread.setdefault(int(number), {}).setdefault(row.model, read)
    half = MOST_PICTURES // 2
    most_wrong = sorted(wrong, key=lambda n: (-wrong[n].total(), n))[:half]
    most_misread = sorted(set(misread) - set(most_wrong), key=lambda n: (-len(misread[n]), n))[:half]
    return [
        _shown(n, dataset, name, out, wrong.get(n, Counter()), misread.get(n, {}), rows)
        for n in [*most_wrong, *most_misread]
    ]


def _shown(
    number: int,
    dataset: Dataset | None,
    name: str,
    out: Path,
    wrong: Counter[str],
    misread: Mapping[str, str],
    rows: Sequence[BoardRow],
) -> ShownError:
    """Return an example as the page shows it, its picture written beside the page."""
    read = tuple(f"{model}: {text}" for model, text in list(misread.items())[:MOST_NAMED])
    told = tuple(wrong.most_common(MOST_NAMED))
    split = None if dataset is None else dataset[TEST]
    place = np.zeros(0, int) if split is None else np.flatnonzero(split.index == number)[:1]
    if dataset is None or split is None or not len(place):
        return ShownError(number, "", "", told, read, len(rows))
    codes = split.labels[place[0]]
    labels = ", ".join(str(label.values[code]) for label, code in zip(dataset.knowledge.labels, codes, strict=True))
    picture = f"{PICTURES}/{name}-{number}.png"
    write_atomically(out / picture, split.files(place)[0])
    return ShownError(number, picture, labels, told, read, len(rows))
