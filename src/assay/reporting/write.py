"""Writes a report: `report.html` (one file, needs nothing else), `report.md`, `report.json`, `tables.tex`."""

import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from assay.data.dataset import Dataset
from assay.data.manifest import to_json, versions
from assay.diagnosis.concepts import STATES, ConceptState
from assay.diagnosis.findings import MEANINGS
from assay.diagnosis.reading import Reading
from assay.files import write_atomically
from assay.markdown import escape_cell
from assay.metrics import METRICS
from assay.metrics.score import format_score
from assay.reporting.case import Case, cases_of
from assay.reporting.curves import coverage_charts
from assay.reporting.plot import Chart
from assay.reporting.table import Table, tex_file

SUMMARY = ["label_f1", "concept_f1", "collapse", "rule_consistency"]
BOUNDARY = {"variant_accuracy": "positives", "near_accuracy": "near the boundary", "far_accuracy": "far negatives"}
KINDS = {"variant": "holds", "type": "just misses", "far": "far"}
MOST_REGIONS = 40


def write_report(
    folders: Sequence[Path],
    out: Path,
    title: str = "Assay report",
    tables: Sequence[Table] = (),
    charts: Sequence[Chart] = (),
    about: str = "",
    dataset: Dataset | None = None,
) -> Path:
    """Write the report of several runs, with tables and charts before them, into a folder and return the HTML page."""
    cases = cases_of(list(folders), dataset)
    figures = [*charts, *coverage_charts([(case.dataset.name, case.name, case.coverage) for case in cases])]
    content = {
        "title": title,
        "about": about,
        "tables": tables,
        "charts": [_inline(chart, number) for number, chart in enumerate(figures)],
        "cases": cases,
        "summary": SUMMARY,
        "boundary": BOUNDARY,
        "meanings": MEANINGS,
        "states": STATES,
        "kinds": KINDS,
        "most_regions": MOST_REGIONS,
        "metrics": METRICS,
        "versions": versions(),
    }
    for name in ("report.html", "report.md"):
        write_atomically(out / name, _environment(name.endswith("html")).get_template(name).render(**content).encode())
    write_atomically(out / "tables.tex", tex_file([*tables, _summary(cases)]).encode())
    records = {"title": title, "versions": versions(), "cases": [_record(case) for case in cases]}
    write_atomically(out / "report.json", to_json(records))
    return out / "report.html"


def _summary(cases: Sequence[Case]) -> Table:
    """Return the verdicts and the scores of all runs as a table."""
    rows = []
    for case in cases:
        scores = case.diagnosis.scores
        ood = format_score(scores.get("ood", {}).get("label_accuracy"))
        rows.append(
            (case.name, case.diagnosis.verdict, *(format_score(scores[case.split][name]) for name in SUMMARY), ood)
        )
    head = ("run", "verdict", *(name.replace("_", " ") for name in SUMMARY), "label accuracy, ood")
    return Table("Verdicts, and scores with 95 % intervals", head, tuple(rows), 2)


def _inline(chart: Chart, number: int) -> Markup:
    """Return a chart as part of a page, which needs no XML namespace."""
    return Markup(chart.svg(f"chart-{number}").replace(' xmlns="http://www.w3.org/2000/svg"', ""))


def _record(case: Case) -> dict[str, Any]:
    return {"name": case.name, "model": case.model, "diagnosis": case.diagnosis.to_dict(), "run": _plain(case.about)}


def _plain(about: Any) -> dict[str, Any]:
    return {key: value for key, value in about.items() if key not in ("knowledge", "layout")}


def _markdown(value: Any) -> Any:
    """Return text escaped for Markdown tables; what is `Markup` already stays as it is."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return escape_cell(value)


def code(text: object) -> Markup:
    """Return a text as code in Markdown."""
    return Markup(f"`{str(text).replace('`', chr(39))}`")


def _environment(html: bool) -> jinja2.Environment:
    def load(name: str) -> str:
        return files("assay.reporting").joinpath(f"templates/{name}").read_text(encoding="utf-8")

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(load),
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=None if html else _markdown,
    )
    environment.filters.update(
        right=format_accuracy,
        score=format_score,
        percent=percent,
        number=number,
        shade=shade,
        plain=_plain,
        code=code,
        whole=Markup,
    )
    return environment


def format_accuracy(concept: ConceptState) -> str:
    """Return how often a concept is right, with its interval."""
    low, high = concept.interval
    return f"{concept.accuracy:.2f} ({low:.2f}–{high:.2f})" if concept.answered else "–"


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return "–" if math.isnan(share) else f"{100 * share:.0f} %"


def number(value: float) -> str:
    """Return a number as text, a dash for one that is not known."""
    return "–" if math.isnan(value) else f"{value:.2f}"


def shade(reading: Reading, row: int, column: int) -> str:
    """Return the share of a true value that is read as another, from 0 to 1, as text."""
    total = int(reading.counts[row].sum())
    return f"{reading.counts[row, column] / total:.2f}" if total else "0"
