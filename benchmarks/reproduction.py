"""Published numbers beside ours: every table and figure of the five papers, from records that are kept here.

`python -m benchmarks.reproduction docs/reproduction.md` writes the page. With `keep FOLDER NAME` in place of it the
records of a ready study are kept that was run with `assay run NAME --size paper -o FOLDER`.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assay.lab import Record, fidelity, find_study, read_records, summaries

KEPT = Path(__file__).parent / "records"
LEAST, ROUNDING = 0.02, 0.005
"""Differences up to this are the luck of a test set; and what two printed digits leave open."""
AGREES, AS_RELEASED, DIFFERS, NOT_RUN = "agrees", "agrees as released", "differs", "not run"
SEEDS, ENOUGH = 3, "enough seeds"
"""How many seeds a number should have."""
PLAIN = "plain"
TIME = ""
"""What a number needs that wants nothing but computing time."""


@dataclass(frozen=True)
class Comparison:
    """One published number beside ours."""

    model: str
    where: str
    quantity: str
    published: str
    ours: str
    released: str
    """Ours with the fault of the released code, where the number rests on one."""
    verdict: str
    why: str
    seeds: int
    """Of the run that is compared; 0 if there is none."""


def keep(folder: Path, name: str) -> Path:
    """Keep the records of a study that was run, or of a part of it: those of its metrics and splits.

    What is kept of other models, or of the same on other tasks, stays.
    """
    study = find_study(name, "paper")
    known = fidelity().studies[name]
    faults = [row.as_released for row in known.rows.values() if row.as_released is not None]
    wanted = {*study.config.metrics, *known.quantities}
    wanted |= {fault.metric(quantity) for fault in faults for quantity in known.quantities}
    rows = [r for r in read_records(folder) if r.metric in wanted and r.split in study.config.splits]
    new = {(row.task, row.challenge, row.model) for row in rows}
    rows = [row for row in kept(name) if (row.task, row.challenge, row.model) not in new] + rows
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"{name}.parquet"
    pq.write_table(pa.Table.from_pylist([asdict(row) for row in rows]), path, compression="zstd")
    return path


def kept(name: str) -> list[Record]:
    """Return the records that are kept of a study."""
    path = KEPT / f"{name}.parquet"
    return [Record(**row) for row in pq.ParquetFile(path).read().to_pylist()] if path.exists() else []


def comparisons(name: str, entry: Any) -> list[Comparison]:
    """Return every published number of a study beside ours."""
    found = summaries(kept(name), over_all=True)
    return [_compare(published, entry, found) for published in find_study(name, "paper").config.published]


def _compare(published: dict[str, Any], entry: Any, found: Mapping[Any, Any]) -> Comparison:
    model, metric = str(published["model"]), str(published["metric"])
    task, challenge = str(published["task"]), str(published.get("challenge", PLAIN))
    split = str(published.get("split", "test"))
    row = entry.rows[model]
    ours = found.get((task, challenge, model, split, metric))
    released = None
    if row.as_released is not None:
        there = row.as_released
        key = (there.task or task, challenge, there.model, split, there.metric(metric))
        released = found.get(key)
    value, deviation = float(published["value"]), float(published.get("deviation", 0.0))
    where = " ".join(part for part in (task, challenge if challenge != PLAIN else "") if part)
    verdict, why = _judge(ours, released, value, deviation, row, metric, entry)
    text = f"{value:.2f}" + (f" ± {deviation:.2f}" if "deviation" in published else "")
    seeds = max(summary.runs if summary is not None else 0 for summary in (ours, released))
    return Comparison(model, where, entry.quantities[metric], text, _text(ours), _text(released), verdict, why, seeds)


def _judge(
    ours: Any,
    released: Any,
    value: float,
    deviation: float,
    row: Any,
    metric: str,
    entry: Any,
) -> tuple[str, str]:
    if ours is None and released is None:
        return NOT_RUN, entry.not_run
    if ours is not None and _near(ours, value, deviation):
        return AGREES, ""
    if released is not None and row.as_released is not None and _near(released, value, deviation):
        return AS_RELEASED, row.as_released.fault
    return DIFFERS, row.reasons.get(metric, row.reasons.get("all", ""))


def _near(ours: Any, value: float, deviation: float) -> bool:
    """Return whether our mean lies within two published deviations; where none is printed, within two of ours."""
    return abs(ours.mean - value) <= max(LEAST, 2 * (deviation or ours.deviation)) + ROUNDING


def _text(summary: Any) -> str:
    if summary is None:
        return ""
    deviation = f" ± {summary.deviation:.2f}" if summary.runs > 1 else ""
    return f"{summary.mean:.2f}{deviation} ({summary.runs})"


def page() -> str:
    """Return the whole page."""
    parts, counts, absent = list[str](), Counter[str](), fidelity().absent
    needs = Counter({table.needs: 0 for table in absent})
    for name, entry in fidelity().studies.items():
        rows = comparisons(name, entry)
        counts.update(row.verdict for row in rows)
        counts[ENOUGH] += sum(row.seeds >= SEEDS for row in rows)
        needs[entry.needs] += sum(row.verdict == NOT_RUN for row in rows)
        parts.append(_section(name, entry, rows))
    for table in absent:
        needs[table.needs] += table.numbers
    parts += ["## What no study repeats", ""]
    parts += _table(
        ["published", "numbers", "why"], [[a.table, str(a.numbers or "none printed"), a.why] for a in absent]
    )
    return "\n".join([*_head(counts, needs), *parts, ""])


HEAD = """# Published numbers beside ours

Every table and figure of the five papers, one row a published number. The page is written by
`python -m benchmarks.reproduction docs/reproduction.md` from records in `benchmarks/records/`, which come from
`assay run NAME --size paper` on a GPU. `assay study fidelity NAME` lists where a study departs from its paper.

*Ours* is mean ± standard deviation over seeds, and their number. It *agrees* where it lies within two published
deviations (two of ours where none is printed), or within {least}. *As released* is ours with the fault of the released
code that the published number rests on.

Of {whole} published numbers {run} were run in the paper's size ({share:.0%}), {enough} of them with at least {seeds}
seeds: {agrees} agree, {released} agree with the released code's fault, {differs} differ. {not_run} were not run. Of
these {missing} need what does not come with Assay and was not at hand; of the {possible} that need computing time only,
{run} were run ({possible_share:.0%}).
"""


def _head(counts: Counter[str], needs: Counter[str]) -> list[str]:
    run = counts[AGREES] + counts[AS_RELEASED] + counts[DIFFERS]
    whole, missing = run + needs.total(), needs.total() - needs[TIME]
    numbers = {"agrees": counts[AGREES], "released": counts[AS_RELEASED], "differs": counts[DIFFERS]}
    numbers |= {"not_run": needs.total(), "enough": counts[ENOUGH], "missing": missing, "possible": whole - missing}
    shares = {"share": run / whole, "possible_share": run / (whole - missing)}
    text = HEAD.format(whole=whole, run=run, least=LEAST, seeds=SEEDS, **numbers, **shares)
    rows = [[what or "computing time only", str(number)] for what, number in needs.most_common()]
    return [text, *_table(["not run, for it needs", "numbers"], rows)]


def _section(name: str, entry: Any, rows: Sequence[Comparison]) -> str:
    lines = [f"## {entry.table}", "", f"Study `{name}`.", ""]
    if rows and all(row.verdict == NOT_RUN for row in rows):
        return "\n".join([*lines, f"Not run ({len(rows)} numbers): {entry.not_run or 'no device time was left'}.", ""])
    if not rows:
        return "\n".join([*lines, f"Prints no numbers. Not run: {entry.not_run}.", ""])
    head = ["model", "on", "quantity", "published", "ours", "as released", "", "reason"]
    table = [[r.model, r.where, r.quantity, r.published, r.ours, r.released, r.verdict, r.why] for r in rows]
    return "\n".join([*lines, *_table(head, table)])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)] + [""]


if __name__ == "__main__":
    if sys.argv[1:2] == ["keep"]:
        print(keep(Path(sys.argv[2]), sys.argv[3]))
    elif len(sys.argv) == 2:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
    else:
        print(page())
