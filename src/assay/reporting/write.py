"""Writes a report: `report.html` (one file, needs nothing else), `report.md`, `report.json`, `tables.tex`.

Each run is shown with where its numbers come from: on which data it was run, with which settings and versions.
"""

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from assay.base import is_remote, locked, shorten, stays, write_atomically
from assay.contracts import to_json
from assay.dataset import Dataset, versions
from assay.diagnosis import STATES, TABLE_HEAD
from assay.metrics import METRICS, format_score
from assay.reporting.case import ReportCase, cases_of
from assay.reporting.comparison import BOUNDARY, MOST_VALUES, compared_groups, reading_map, with_charts
from assay.reporting.pages import Table, page_environment, tex_file
from assay.reporting.plot import AnyChart, ChartGroup
from assay.reporting.sections import (
    NATS,
    accounts_for,
    matrix_of,
    proof_of,
    sections_of,
    tested_rows,
)

SUMMARY = ["label_f1", "concept_f1", "collapse", "rule_consistency"]
KINDS = {"variant": "holds", "type": "just misses", "far": "far"}
MOST_REGIONS = 40
MOST_TESTED = 500
"""How many rows of what was tested a page shows."""
HIDDEN = ("knowledge", "layout", "files", "config", "versions", "data", "called")
"""Parts of a record that have rows of their own, or that the page shows elsewhere."""
LONGEST = 160
MOST_STEPS = 3
"""A folder that is further away than so many steps up or down is given by its own name, which tells no more."""


def write_report(
    folders: Sequence[Path],
    out: Path,
    title: str = "Assay report",
    tables: Sequence[Table] = (),
    charts: Sequence[ChartGroup] = (),
    about: str = "",
    dataset: Dataset | None = None,
) -> Path:
    """Write the report of several runs, with the tables and charts of a study, into a folder; return the HTML page.

    Parameters
    ----------
    folders
        Runs or predictions files.
    out
        The folder of the report.
    title
        The heading of the page.
    tables
        Further tables, such as those of a study.
    charts
        Further charts.
    about
        A sentence on what was run.
    dataset
        The dataset of predictions files.
    """
    return write_pages(cases_of(list(folders), dataset), out, title, tables, charts, about)


def write_pages(
    cases: Sequence[ReportCase],
    out: Path,
    title: str,
    tables: Sequence[Table] = (),
    charts: Sequence[ChartGroup] = (),
    about: str = "",
) -> Path:
    """Write the report of runs that are judged already; return the HTML page.

    Parameters
    ----------
    cases
        The runs, judged.
    out
        The folder of the report.
    title
        The heading of the page.
    tables
        Further tables, such as those of a study.
    charts
        Further charts.
    about
        A sentence on what was run.
    """
    with locked(out), stays(out):  # two reports at once are not mixed
        return _write_all(cases, out, title, tables, charts, about)


def _write_all(
    cases: Sequence[ReportCase],
    out: Path,
    title: str,
    tables: Sequence[Table],
    charts: Sequence[ChartGroup],
    about: str,
) -> Path:
    content = {**_content(cases, charts), "title": title, "about": about, "tables": tables, "out": out}
    for name in ("report.html", "report.md"):
        pages = page_environment(name.endswith("html"))
        pages.filters.update(
            draw=_drawing(),
            other_maps=_other_maps,
            provenance=provenance_of,
            accounts=accounts_for,
            tested=tested_rows,
        )
        write_atomically(out / name, pages.get_template(name).render(**content).encode())
    write_atomically(out / "tables.tex", tex_file([*tables, _summary(cases)]).encode())
    records = {"title": title, "versions": versions(), "cases": [_record(case) for case in cases]}
    write_atomically(out / "report.json", to_json(records))
    return out / "report.html"


def _content(cases: Sequence[ReportCase], charts: Sequence[ChartGroup]) -> dict[str, Any]:
    """Return what the pages show of the runs."""
    plain = sections_of(cases)
    titles = {section.title for section in plain}
    sections = [with_charts(section, [g for g in charts if g.task == section.title]) for section in plain]
    return {
        "sections": sections,
        "overall": [group for group in charts if group.task not in titles],
        "matrix": matrix_of(sections),
        "proof": proof_of(sections),
        "summary": SUMMARY,
        "boundary": BOUNDARY,
        "states": STATES,
        "tested_head": TABLE_HEAD,
        "nats": NATS,
        "most_tested": MOST_TESTED,
        "kinds": KINDS,
        "most_regions": MOST_REGIONS,
        "metrics": METRICS,
        "versions": versions(),
    }


def _summary(cases: Sequence[ReportCase]) -> Table:
    """Return the verdicts and the scores of all runs as a table."""
    rows = []
    for case in cases:
        scores = case.diagnosis.scores
        ood = format_score(scores.get("ood", {}).get("label_accuracy"))
        rows.append(
            (case.title, case.diagnosis.verdict, *(format_score(scores[case.split][name]) for name in SUMMARY), ood)
        )
    head = ("run", "verdict", *(name.replace("_", " ") for name in SUMMARY), "label accuracy, ood")
    return Table("Verdicts, and scores with 95 % intervals", head, tuple(rows), 2)


def _drawing() -> Callable[[AnyChart], Markup]:
    """Return a function that draws charts as parts of one page, which need no XML namespace and no equal names."""
    numbers = itertools.count(1)

    def draw(chart: AnyChart) -> Markup:
        return Markup(chart.svg(f"chart-{next(numbers)}").replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))

    return draw


def _other_maps(case: ReportCase, cases: Sequence[ReportCase]) -> list[AnyChart]:
    """Return the reading maps of a run that its section does not compare."""
    shown = compared_groups(cases)
    readings = [r for r in case.diagnosis.readings if r.group not in shown and len(r.values) <= MOST_VALUES]
    return [reading_map(reading.group, case, reading.group) for reading in readings]


def _record(case: ReportCase) -> dict[str, Any]:
    names = {"name": case.name, "title": case.title, "label": case.label, "task": case.task, "model": case.model}
    found = {"headline": case.headline.to_dict(), "diagnosis": case.diagnosis.to_dict()}
    return {**names, **found, "run": _plain(case.about)}


def _plain(about: Any) -> dict[str, Any]:
    return {key: value for key, value in about.items() if key not in ("knowledge", "layout")}


def provenance_of(case: ReportCase, out: Path) -> dict[str, str]:
    """Return what a run's numbers are traced by: readable names and values; folders are told from the report's."""
    about, manifest = case.about, case.dataset.manifest
    data = about.get("data", {}) if isinstance(about.get("data"), Mapping) else {}
    rows = {
        "run": relative_folder(case.folder, out),
        "task": case.dataset.name,
        "dataset fingerprint": case.dataset.fingerprint,
        "dataset seed": str(manifest.seed),
        "dataset": relative_folder(data.get("folder", case.dataset.folder), out),
        "splits": ", ".join(f"{split.name}: {split.size:,}" for split in manifest.splits),
    }
    rows |= dict(flatten({key: value for key, value in about.items() if key not in HIDDEN}, out))
    rows |= {f"setting: {key}": value for key, value in flatten(about.get("config", {}), out)}
    rows |= {f"version of {key}": value for key, value in flatten(about.get("versions", {}), out)}
    return rows


def flatten(values: Mapping[str, Any], out: Path, before: str = "") -> Iterator[tuple[str, str]]:
    """Give each value by the names that lead to it, as text.

    >>> dict(flatten({"a_b": {"c": [1, 2], "d": True}, "e": None}, Path()))
    {'a b, c': '1, 2', 'a b, d': 'yes', 'e': '–'}
    """
    for key, value in values.items():
        name = f"{before}{str(key).replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from flatten(value, out, f"{name}, ")
        else:
            yield name, shorten(_text(value, out), LONGEST)


def _text(value: Any, out: Path) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(part, out)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_text(part, out) for part in value)
    text = str(value)
    return relative_folder(text, out) if isinstance(value, str) and Path(text).is_absolute() else text


def relative_folder(folder: Path | str, out: Path) -> str:
    """Return a folder as seen from the report's, or its name where it is far away; an address stays as it is."""
    if is_remote(str(folder)):
        return str(folder)
    path = Path(os.path.relpath(Path(folder).resolve(), out.resolve()))
    up = path.parts.count("..")
    near = up <= MOST_STEPS and len(path.parts) - up <= MOST_STEPS and up < len(out.resolve().parts) - 1
    return path.as_posix() if near else Path(folder).resolve().name
