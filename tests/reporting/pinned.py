"""Reports of canned runs: their record, the texts of their pages, and their charts."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from assay.diagnosis.discovery.matching import UnitSplit
from assay.diagnosis.discovery.scores import score_units
from assay.diagnosis.interventions.intervene import InterventionPlan, intervene
from assay.metrics.evidence import gather_from
from assay.reporting.case import cases_of
from assay.reporting.comparison import comparison_charts
from assay.reporting.curves import coverage_of, label_reliability
from assay.reporting.discovery import concept_rows, unit_cards, with_pictures
from assay.reporting.interventions import build_record, charts, rows_table, summary, write_interventions
from assay.reporting.plot import BarChart, Bars, Chart, ChartGroup, ConfusionMap, DotChart, Dots, Line, PlottedValue
from assay.reporting.sections import matrix_of, proof_of, sections_of
from assay.reporting.table import Table, tex_file
from assay.reporting.write import write_report
from assay.seeds import rng_for
from tests.canned import FAULTS, Models, answers, bits, run_of, sums
from tests.pins import Cases, digest, digests, without

CHANGING = ("versions", "fingerprint", "folder", "from_run", "files", "seal", "data", "about", "parent")


class Words(HTMLParser):
    """The texts of a page, and how many of each tag and class there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: dict[str, int] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Count a tag by its class."""
        name = f"{tag} {dict(attributes).get('class') or ''}".strip()
        self.tags[name] = self.tags.get(name, 0) + 1

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        if data.strip():
            self.texts.append(" ".join(data.split()))


def scrubbed(text: str, folder: Path) -> str:
    """Return a text without hashes, versions and folders."""
    text = re.sub(r"data:image/png;base64,[\w+/=]+", "PICTURE", text.replace(str(folder), "FOLDER"))
    return re.sub(r"\b\d+\.\d+\.\d+\b", "VERSION", re.sub(r"\b[0-9a-f]{12,}\b", "HASH", text))


def drawing(svg: str) -> list[Any]:
    """Return the texts and tags of a chart, and its numbers by their sum."""
    words = Words(svg)
    numbers = [float(number) for number in re.findall(r"(?<![\w.])-?\d+\.?\d*", svg)]
    return [digest(words.texts), digest(dict(sorted(words.tags.items()))), sum(numbers)]


def chunks(text: str) -> dict[str, Any]:
    """Return a Markdown page by heading."""
    parts = re.split(r"^(?=#)", text, flags=re.MULTILINE)
    return {f"{place} {part.partition(chr(10))[0]}": digest(part) for place, part in enumerate(parts)}


def report(folder: Path) -> dict[str, Any]:
    """Report on four runs of one task and one of another, with a table and charts of a study."""
    data, other = bits(folder / "bits"), sums(folder / "sums")
    runs = [run_of(data, folder / "runs" / fault, fault, place) for place, fault in enumerate(FAULTS)]
    runs += [run_of(data, folder / "runs" / "again", "swapped", 9), run_of(other, folder / "runs" / "sums", "noisy")]
    table = Table("A & b", ("run", "x_1"), (("one", "0.5 %"), ("two", "~3")), 1, "A note <1>.", True)
    line = Line("l", [0, 1, 2], [0.1, 0.4, 0.3], [0.0, 0.3, 0.2], [0.2, 0.5, 0.4])
    groups = [ChartGroup("Extra", (Chart("T", "D", "x", "y", [line]),), "mnlogic", "Note.", True),
              ChartGroup("All", (Chart("U", "E", "x", "y", [line], diagonal=True),))]  # fmt: skip
    page = write_report(runs, folder / "out", "A report", [table], groups, "What it is about.")
    html, markdown = (scrubbed((page.parent / name).read_text(encoding="utf-8"), folder)
                      for name in ("report.html", "report.md"))  # fmt: skip
    words = Words(re.sub(r"<svg.*?</svg>|<style.*?</style>", "", html, flags=re.DOTALL))
    record = without(json.loads((page.parent / "report.json").read_text(encoding="utf-8")), *CHANGING)
    return {
        "record": [digests({**case, **case["diagnosis"]}) for case in record["cases"]],
        "markdown": chunks(markdown),
        "html": [digest(words.texts[place : place + 100]) for place in range(0, len(words.texts), 100)],
        "tags": words.tags,
        "charts": [drawing(svg) for svg in re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL)],
        "latex": scrubbed((page.parent / "tables.tex").read_text(encoding="utf-8"), folder).splitlines(),
        "table": [str(table.html), table.markdown, table.latex, digest(tex_file([table, table]))],
    }


def parts(folder: Path) -> dict[str, Any]:
    """Look at the parts of a report: cases, sections, proof, charts and curves."""
    data = bits(folder / "bits")
    runs = [run_of(data, folder / fault, fault, place) for place, fault in enumerate(FAULTS)]
    cases = cases_of(runs)
    sections = sections_of(cases)
    matrix, proof = matrix_of(sections), proof_of(sections)
    shown = [
        {
            "name": case.name, "title": case.title, "headline": case.headline.to_dict(), "seed": case.seed,
            "unread": case.unread, "boundary": case.at_boundary, "model": case.model, "history": case.history,
            "coverage": case.coverage, "reliability": case.reliability, "units": digest(without_pictures(case.units)),
            "examples": [[e.number, e.right, e.is_right_by_wrong_concepts, e.changes, e.misread, e.sentences("it")]
                         for e in (case.witness, *case.examples)],
        }
        for case in cases
    ]  # fmt: skip
    evidence = [gather_from(data, answers(data.symbols("test"), fault)) for fault in FAULTS]
    return {
        "cases": [digests(case) for case in shown],
        "coverage": [coverage_of(one) for one in evidence], "reliability": [label_reliability(one) for one in evidence],
        "sections": [[one.title, one.anchor, [[run.name, run.anchor] for run in one.runs]] for one in sections],
        "matrix": [matrix.models, matrix.has_model_rows, matrix.kinds],
        "proof": [proof.run.name, proof.heading, proof.sentences],
        "charts": [drawing(chart.svg()) for chart in comparison_charts(sections[0].runs)],
    }  # fmt: skip


def without_pictures(cards: Any) -> list[Any]:
    """Return cards without pictures."""
    return [{**card.to_dict(), "shown": len(card.pictures), "right": card.right} for card in cards]


def interventions(folder: Path) -> dict[str, Any]:
    """Report on interventions, each plan on two runs."""
    data = bits(folder / "bits")
    plans: dict[str, dict[str, Any]] = {
        "plain": {"policy": "random"},
        "target": {"target": 0.7, "policy": "uncertainty", "costs": {"a": 2.0}, "baseline": 0.5},
    }
    found = {}
    for name, values in plans.items():
        results = {
            f"run {seed}": intervene(
                InterventionPlan(**values, seed=seed), data, Models().answering(folder, data, "test")
            )
            for seed in (0, 2)
        }
        about = {run: {"seed": place} for place, run in enumerate(results)}
        page = write_interventions(folder / name, results, data, about)
        rows = rows_table(results, data)
        found[name] = {
            "record": digests(without(json.loads(json.dumps(build_record(results, data, about))), *CHANGING)),
            "summary": summary(list(results.values())),
            "rows": {column: digest(rows[column].to_pylist()) for column in rows.column_names},
            "charts": {key: drawing(chart.svg()) for key, chart in charts(results, data).items()},
            "files": sorted(path.name for path in (folder / name).iterdir()),
            "page": page.name,
        }
    return found


def discoveries(folder: Path) -> dict[str, Any]:
    """Report on discovered units."""
    data = bits(folder / "bits")
    fit, test = data["valid"], data["test"]
    split = [
        UnitSplit(np.concatenate([part.concepts[:, ::-1] + 0.5 * rng_for(0, "u", part.name).normal(size=(len(part), 3)),
                                  np.zeros((len(part), 1))], axis=1), part.concepts, part.labels)
        for part in (fit, test)
    ]  # fmt: skip
    scores = score_units(*split, data.knowledge.space, 0, 1)
    cards = unit_cards(scores, split[1].units, test, ["w", "x", "y", "z"])
    drawn = with_pictures(cards, test)
    rows = concept_rows(scores, test)
    return {"cards": without_pictures(drawn), "rows": rows}


def plots(_: Path) -> dict[str, Any]:
    """Draw charts of every kind."""
    lines = [Line("a < b", [0, 1, 2], [0.5, 0.7, 0.6], [0.4, 0.6, 0.5], [0.6, 0.8, 0.7]), Line("c", [0, 2], [0.2, 0.4])]
    values = [PlottedValue(0.4, 0.3, 0.5), PlottedValue(0.8), PlottedValue(float("nan"))]
    counts = np.array([[48, 2, 0], [0, 0, 50], [1, 7, 0]])
    every: list[Any] = [
        Chart("T", "D", "x", "y", lines, [(0, "none"), (2, "max")], diagonal=True),
        BarChart("T", "D", "v", ["near", "far", "on"], [Bars("one", values), Bars("two", values[::-1])]),
        BarChart("T", "D", "v", ["near", "far", "on"], [Bars("one", [PlottedValue(7.0)] * 3)], share=False),
        ConfusionMap("T", "D", counts, [*"abc"], [*"abc"]),
        DotChart("T", "D", "v", [Dots("one", [0.2, 0.5])], zero=True),
    ]
    return {str(place): drawing(chart.svg(f"c{place}")) for place, chart in enumerate(every)}


CASES: Cases = {
    "report": report, "parts": parts, "interventions": interventions, "discoveries": discoveries, "plots": plots,
}  # fmt: skip
