"""Writes a report: `report.html` (one file, needs nothing else), `report.md`, `report.json`, `tables.tex`."""

import itertools
import math
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from assay.data.dataset import Dataset
from assay.data.manifest import to_json, versions
from assay.diagnosis.concepts import STATES, ConceptState
from assay.diagnosis.findings import MEANINGS
from assay.files import write_atomically
from assay.markdown import escape_cell
from assay.metrics import METRICS
from assay.metrics.score import format_score
from assay.reporting.case import Case, cases_of
from assay.reporting.comparison import BOUNDARY, MOST_VALUES, compared_groups, reading_map, with_charts
from assay.reporting.plot import AnyChart, ChartGroup
from assay.reporting.provenance import provenance_of
from assay.reporting.sections import matrix_of, proof_of, sections_of
from assay.reporting.table import Table, tex_file

SUMMARY = ["label_f1", "concept_f1", "collapse", "rule_consistency"]
KINDS = {"variant": "holds", "type": "just misses", "far": "far"}
MOST_REGIONS = 40


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
    cases = cases_of(list(folders), dataset)
    content = {**_content(cases, charts), "title": title, "about": about, "tables": tables, "out": out}
    for name in ("report.html", "report.md"):
        write_atomically(out / name, _environment(name.endswith("html")).get_template(name).render(**content).encode())
    write_atomically(out / "tables.tex", tex_file([*tables, _summary(cases)]).encode())
    records = {"title": title, "versions": versions(), "cases": [_record(case) for case in cases]}
    write_atomically(out / "report.json", to_json(records))
    return out / "report.html"


def _content(cases: Sequence[Case], charts: Sequence[ChartGroup]) -> dict[str, Any]:
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
        "meanings": MEANINGS,
        "states": STATES,
        "kinds": KINDS,
        "most_regions": MOST_REGIONS,
        "metrics": METRICS,
        "versions": versions(),
    }


def _summary(cases: Sequence[Case]) -> Table:
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


def _other_maps(case: Case, cases: Sequence[Case]) -> list[AnyChart]:
    """Return the reading maps of a run that its section does not compare."""
    shown = compared_groups(cases)
    readings = [r for r in case.diagnosis.readings if r.group not in shown and len(r.values) <= MOST_VALUES]
    return [reading_map(reading.group, case, reading.group) for reading in readings]


def _record(case: Case) -> dict[str, Any]:
    names = {"name": case.name, "title": case.title, "label": case.label, "task": case.task, "model": case.model}
    found = {"headline": case.headline.to_dict(), "diagnosis": case.diagnosis.to_dict()}
    return {**names, **found, "run": _plain(case.about)}


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
        code=code,
        whole=Markup,
        draw=_drawing(),
        other_maps=_other_maps,
        provenance=provenance_of,
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
