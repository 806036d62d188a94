"""Rows of boards that are spoilt, and rows that several commands add at once: is any taken for another, or lost?"""

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from assay.contracts import parquet_bytes
from assay.lab import BoardRow, add_rows, find_suite, read_rows, write_board
from benchmarks.fuzz import Work
from benchmarks.hostile import HOSTILE

ADDERS = (2, 4, 8)
EACH = 6
"""How many rows each of several processes adds."""


def spoilt_rows(place: Path) -> Iterator[tuple[str, Work]]:
    """Give attempts to build a board from a row that says what no row of ours says; it must be refused."""
    suite = find_suite()
    dataset = next(iter(suite.datasets.values()))
    row = BoardRow(
        suite.name, dataset.name, "mine", next(iter(suite.levels)), 0, "done", "", "sound", "good", "because"
    )
    row = replace(row, fingerprint=dataset.fingerprint, label_f1=0.5)
    yield "a whole row", partial(_board, place, asdict(row), True)
    spoilt: dict[str, Any] = {
        "level": "none",
        "dataset": "none",
        "fingerprint": "0" * 32,
        "scored": "x",
        "status": "odd",
    }
    spoilt |= {
        "link": "javascript:alert(1)",
        "wrong": "{",
        "misread": "[1]",
        "statistics": '{"thresholds": {"a": "x"}}',
    }
    for name, value in spoilt.items():
        yield f"{name}: {value}", partial(_board, place, {**asdict(row), name: value}, False)
    for measure in (entry.name for entry in fields(BoardRow) if entry.type is float):
        for value in ("text", math.inf, -0.5, None):
            yield f"{measure}: {value}", partial(_board, place, {**asdict(row), measure: value}, False)
    for verdict in HOSTILE:
        yield f"verdict: {verdict}", partial(_board, place, {**asdict(row), "verdict": verdict, "tone": verdict}, True)
    for number in ("-1", "1000000", "99999999999999999999"):
        yield f"example {number}", partial(_board, place, {**asdict(row), "wrong": f'{{"{number}": "x"}}'}, True)


def _board(place: Path, cells: Mapping[str, Any], may_be_right: bool) -> bool:
    records = place / "board-rows"
    records.mkdir(exist_ok=True)
    (records / "mine.parquet").write_bytes(parquet_bytes(pa.Table.from_pylist([dict(cells)])))
    write_board(find_suite(), [records], place / "board")
    return may_be_right


def rows_at_once(place: Path, tries: int = 20) -> Iterator[tuple[str, Work]]:
    """Give attempts in which two, four and eight processes add rows of one model; none may be lost."""
    for number in range(tries):
        for adders in ADDERS:
            yield f"{adders} at once", partial(_add_at_once, place / f"rows-{number}-{adders}", adders)


def _add_at_once(records: Path, adders: int) -> bool:
    children = []
    for adder in range(adders):
        child = os.fork()
        if child == 0:
            for seed in range(EACH):
                row = BoardRow("s", f"d{adder}", "mine", "concepts", seed, "refused", "why")
                add_rows([row], records / "mine.parquet")
            os._exit(0)
        children.append(child)
    fine = all(os.waitpid(child, 0)[1] == 0 for child in children)
    return fine and len(read_rows(records)) == adders * EACH
