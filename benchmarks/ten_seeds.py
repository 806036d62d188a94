"""Sums of even or odd digits: scores and verdicts of every model of the study `rsbench-table-2`, from its records.

`python -m benchmarks.ten_seeds [PAGE]` prints the table; with the name of a page it also writes it there, between two
markers. The records come from `assay run rsbench-table-2 --size paper` ([reproduction](../docs/reproduction.md)).
"""

import statistics
from collections import Counter, defaultdict
from typing import Any

import pyarrow.parquet as pq

from benchmarks.pages import publish
from benchmarks.reproduction import KEPT

BEGIN, END = "<!-- ten seeds: begin -->", "<!-- ten seeds: end -->"
METRICS = ("rsbench_label_f1", "closed_label_f1", "rsbench_concept_f1", "collapse", "rule_consistency")


def _cell(values: list[float]) -> str:
    return f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}" if values else ""


def written() -> str:
    """Return the table: mean and deviation over seeds on `test`, and how often each verdict was given."""
    rows: list[dict[str, Any]] = pq.read_table(KEPT / "rsbench-table-2.parquet").to_pylist()
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    verdicts: dict[str, dict[int, str]] = defaultdict(dict)
    for row in rows:
        values[row["model"], row["metric"]].append(row["value"])
        verdicts[row["model"]][row["seed"]] = row["verdict"]
    lines = [f"| model | seeds | {' | '.join(f'`{metric}`' for metric in METRICS)} | verdicts |"]
    lines.append("| --- " * (len(METRICS) + 3) + "|")
    for model, by_seed in sorted(verdicts.items()):
        cells = [_cell(values[model, metric]) for metric in METRICS]
        counts = ", ".join(f"{verdict} {count}" for verdict, count in Counter(by_seed.values()).most_common())
        lines.append(f"| {model} | {len(by_seed)} | {' | '.join(cells)} | {counts} |")
    return "\n".join(lines)


def main() -> None:
    publish(written(), BEGIN, END)


if __name__ == "__main__":
    main()
