"""The record of intervention studies: JSON and Parquet with provenance, curves as SVG, and one page."""

import io
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.arrays import Array
from assay.data.columns import LABEL, numbers, to_column
from assay.data.dataset import Dataset
from assay.data.manifest import to_json, versions
from assay.diagnosis.automation import coverage_curve
from assay.diagnosis.interventions.intervene import InterventionResult
from assay.diagnosis.runs import provenance
from assay.files import write_atomically
from assay.metrics.calibration import BINS, expected_calibration_error
from assay.report.curves import thinned
from assay.report.plot import COLOURS, Chart, Line

FORMAT = 1
SHOWN = len(COLOURS)
AVERAGED = (
    "accuracy",
    "concept_accuracy",
    "asked",
    "cost",
    "changed",
    "coverage",
    "selective_accuracy",
    "net_work_automated",
    "gain",
)


def record(
    studies: Mapping[str, InterventionResult], dataset: Dataset, about: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what was done and found, as plain data; studies and what is known of each model go by the run's name."""
    first = next(iter(studies.values()))
    runs = [
        {
            "run": name,
            "about": dict(about.get(name, {})),
            "model": study.model,
            "points": [point.to_dict() for point in study.curve.points],
            "control": {"source": "self", "changed": study.control_changed},
            "abstention": None if study.abstention is None else study.abstention.to_dict(),
            "concept_calibration_error": calibration_errors(study, dataset),
        }
        for name, study in studies.items()
    ]
    return {
        "format": FORMAT,
        "data": provenance(dataset),
        "versions": versions(),
        "plan": {**first.plan.to_dict(), "threshold": first.policy.threshold},
        "units": first.units.to_dict(dataset.knowledge.space),
        "examples": len(first.index),
        "summary": summary(list(studies.values())),
        "runs": runs,
    }


def summary(studies: Sequence[InterventionResult]) -> list[dict[str, Any]]:
    """Return for each budget the mean over runs, and the lowest and highest."""
    found = []
    for points in zip(*(study.curve.points for study in studies), strict=True):
        plain = [point.to_dict() for point in points]
        row: dict[str, Any] = {"budget": points[0].budget, "whole": points[0].whole}
        for key in AVERAGED:
            values = [one[key] for one in plain if one.get(key) is not None]
            if values:
                row[key] = {"mean": float(np.mean(values)), "low": min(values), "high": max(values)}
        found.append(row)
    return found


def calibration_errors(study: InterventionResult, dataset: Dataset) -> dict[str, float]:
    """Return the expected calibration error of each concept before any question."""
    names = dataset.knowledge.space.names
    pairs = zip(names, study.concepts, strict=True)
    return {name: expected_calibration_error(study.truth.concepts[:, i], p) for i, (name, p) in enumerate(pairs)}


def rows_table(studies: Mapping[str, InterventionResult], dataset: Dataset) -> pa.Table:
    """Return a row for each run, budget and example: what was asked, and what was said then."""
    parts = []
    for name, study in studies.items():
        for point, asked, told in zip(study.curve.points, study.curve.asked, study.curve.outputs, strict=True):
            codes = told.label_codes
            columns: dict[str, Any] = {
                "run": pa.array([name] * len(codes)),
                "budget": pa.array([point.budget] * len(codes)),
                "index": numbers(study.index),
                "asked": pa.array([[study.units.names[u] for u in np.flatnonzero(row)] for row in asked.units]),
            }
            for place, label in enumerate(dataset.knowledge.labels):
                columns[LABEL + label.name] = to_column(codes[:, place], label.values)
                columns[f"{LABEL}{label.name}_probabilities"] = pa.array(told.labels[place].astype(float).tolist())
            parts.append(pa.table(columns))
    return pa.concat_tables(parts, promote_options="permissive")


def charts(studies: Mapping[str, InterventionResult], dataset: Dataset) -> dict[str, Chart]:
    """Return the intervention curve, coverage against accuracy, and the calibration of the concepts."""
    return {
        "curve": curve_chart({"": list(studies.values())}),
        "coverage": coverage_chart(list(studies.values())),
        "calibration": calibration_chart(list(studies.values()), dataset),
    }


def curve_chart(groups: Mapping[str, Sequence[InterventionResult]]) -> Chart:
    """Return accuracy against budget, one line for each group of runs, with a band from the lowest to the highest."""
    lines = []
    for name, studies in groups.items():
        rows = summary(studies)
        places = list(range(len(rows)))
        low, high, mean = ([row["accuracy"][key] for row in rows] for key in ("low", "high", "mean"))
        plain = len(studies) == 1
        called = name or f"{studies[0].model}, {studies[0].plan.policy}"
        lines.append(Line(called, places, mean, None if plain else low, None if plain else high))
    first = next(iter(groups.values()))[0]
    ticks = [(float(i), "max" if p.whole else f"{p.budget:g}") for i, p in enumerate(first.curve.points)]
    told = [f"{line.name}: " + ", ".join(f"{y:.3f}" for y in line.y) for line in lines]
    runs = max(len(studies) for studies in groups.values())
    bands = f" Bands reach from the lowest to the highest of {runs} runs." if runs > 1 else ""
    return Chart(
        f"Label accuracy by {first.plan.kind}, answers: {first.plan.answered_by.partition(':')[0]}",
        f"Accuracy at budgets {', '.join(label for _, label in ticks)}. {'; '.join(told)}.{bands}",
        "what may be spent on each example",
        "label accuracy",
        lines,
        ticks,
    )


def coverage_chart(studies: Sequence[InterventionResult]) -> Chart:
    """Return how right the surest part of the answers is, for each budget, all runs together."""
    lines = []
    for place, point in enumerate(studies[0].curve.points[:SHOWN]):
        sure, right = zip(*(_sure_and_right(study, place) for study in studies), strict=True)
        x, y = thinned(coverage_curve(np.concatenate(sure), np.concatenate(right)))
        lines.append(Line("max" if point.whole else f"budget {point.budget:g}", x.tolist(), y.tolist()))
    told = "; ".join(f"{line.name}: {line.y[-1]:.3f} if all is decided" for line in lines)
    return Chart(
        "Accuracy of what is decided", f"{told}.", "coverage: the share that is decided", "selective accuracy", lines
    )


def _sure_and_right(study: InterventionResult, place: int) -> tuple[Array, Array]:
    told = study.curve.outputs[place]
    if study.abstention is not None:
        sure = study.abstention.confidence(told.labels)
    else:
        sure = np.prod([spread.max(axis=1) for spread in told.labels], axis=0)
    return sure, (told.label_codes == study.truth.labels).all(axis=1)


def calibration_chart(studies: Sequence[InterventionResult], dataset: Dataset) -> Chart:
    """Return how often each concept is right at each confidence; of many concepts the worst calibrated."""
    truth = np.concatenate([study.truth.concepts for study in studies])
    spreads = [np.concatenate(same) for same in zip(*(study.concepts for study in studies), strict=True)]
    errors = [expected_calibration_error(truth[:, i], p) for i, p in enumerate(spreads)]
    worst = sorted(np.argsort(errors)[::-1][:SHOWN].tolist())
    names = dataset.knowledge.space.names
    lines = [_reliability(f"{names[i]} ({errors[i]:.3f})", truth[:, i], spreads[i]) for i in worst]
    told = ", ".join(f"{names[i]} {errors[i]:.3f}" for i in worst)
    about = f"Expected calibration error: {told}. On the dotted diagonal a concept is right as often as it is sure."
    title = "Calibration of the concepts" if len(worst) == len(names) else f"The {SHOWN} worst calibrated concepts"
    return Chart(title, about, "confidence", "how often right", lines, diagonal=True)


def _reliability(name: str, truth: Array, spread: Array) -> Line:
    confidence, right = spread.max(axis=1), spread.argmax(axis=1) == truth
    place = np.clip(np.ceil(confidence * BINS).astype(int) - 1, 0, BINS - 1)
    bins = [n for n in range(BINS) if (place == n).any()]
    return Line(
        name, [float(confidence[place == n].mean()) for n in bins], [float(right[place == n].mean()) for n in bins]
    )


def write_interventions(
    out: Path, studies: Mapping[str, InterventionResult], dataset: Dataset, about: Mapping[str, Mapping[str, Any]]
) -> Path:
    """Write record, rows, curves and page into a folder, and return the page."""
    told = record(studies, dataset, about)
    write_atomically(out / "interventions.json", to_json(told))
    buffer = io.BytesIO()
    pq.write_table(rows_table(studies, dataset), buffer, compression="zstd")
    write_atomically(out / "rows.parquet", buffer.getvalue())
    drawn = {name: chart.svg(name) for name, chart in charts(studies, dataset).items()}
    for name, svg in drawn.items():
        write_atomically(out / f"{name}.svg", svg.encode())
    template = files("assay.report").joinpath("templates/interventions.html").read_text(encoding="utf-8")
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    html = page.from_string(template).render(record=told, charts=drawn)
    write_atomically(out / "interventions.html", html.encode())
    return out / "interventions.html"
