"""Writes a report: `report.html` (one file, needs nothing else), `report.md`, `report.json`, `tables.tex`."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from assay.base import locked, stays, write_atomically
from assay.contracts import to_json
from assay.dataset import Dataset, versions
from assay.diagnosis import STATES, TABLE_HEAD
from assay.metrics import METRICS, format_score
from assay.reporting.case import ReportCase, cases_of
from assay.reporting.comparison import BOUNDARY, MOST_VALUES, compared_groups, reading_map, with_charts
from assay.reporting.plot import AnyChart, ChartGroup
from assay.reporting.provenance import provenance_of
from assay.reporting.sections import matrix_of, proof_of, sections_of
from assay.reporting.table import Table, tex_file
from assay.reporting.templating import page_environment
from assay.reporting.verdicts import NATS, accounts_for, changed_thresholds, other_notes, tested_rows

SUMMARY = ["label_f1", "concept_f1", "collapse", "rule_consistency"]
KINDS = {"variant": "holds", "type": "just misses", "far": "far"}
MOST_REGIONS = 40
MOST_TESTED = 500
"""How many rows of what was tested a page shows."""


def write_report(
    folders: Sequence[Path],
    out: Path,
    title: str = "Assay report",
    tables: Sequence[Table] = (),
    charts: Sequence[ChartGroup] = (),
    about: str = "",
    dataset: Dataset | None = None,
) -> Path:
    """Write the report of several runs, with the tables and charts of a study, into a folder; return the HTML page."""
    return write_pages(cases_of(list(folders), dataset), out, title, tables, charts, about)


def write_pages(
    cases: Sequence[ReportCase],
    out: Path,
    title: str,
    tables: Sequence[Table] = (),
    charts: Sequence[ChartGroup] = (),
    about: str = "",
) -> Path:
    """Write the report of runs that are judged already; return the HTML page."""
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
            notes=other_notes,
            changed=changed_thresholds,
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
