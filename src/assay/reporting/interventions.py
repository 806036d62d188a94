"""The report of interventions: JSON and Parquet with provenance, curves as SVG, and one page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from assay.base import COLOURS, Array, Line, write_atomically
from assay.contracts import LABEL, numbers, parquet_bytes, to_column, to_json
from assay.dataset import Dataset, provenance, versions
from assay.diagnosis import InterventionResult, coverage_curve
from assay.metrics import expected_calibration_error
from assay.reporting.case import reliability_of, thin_curve
from assay.reporting.pages import page_environment
from assay.reporting.plot import Chart

FORMAT = 1
MOST_LINES = len(COLOURS)
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


def build_record(
    results: Mapping[str, InterventionResult], dataset: Dataset, about: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return plan and results as plain data; results and the facts of each model are keyed by the run's name.

    Parameters
    ----------
    results
        What interventions gave, by the run's name.
    dataset
        The data that were intervened on.
    about
        The facts of each run, by its name.
    """
    first = next(iter(results.values()))
    runs = [
        {
            "run": name,
            "about": dict(about.get(name, {})),
            "model": result.model,
            "points": [point.to_dict() for point in result.curve.points],
            "control": {"source": "self", "changed": result.control_changed},
            "abstention": None if result.abstention is None else result.abstention.to_dict(),
            "concept_calibration_error": calibration_errors(result, dataset),
        }
        for name, result in results.items()
    ]
    return {
        "format": FORMAT,
        "data": provenance(dataset),
        "versions": versions(),
        "plan": {**first.plan.to_dict(), "threshold": first.policy.threshold},
        "units": first.units.to_dict(dataset.knowledge.space),
        "examples": len(first.index),
        "summary": summary(list(results.values())),
        "runs": runs,
    }


def summary(results: Sequence[InterventionResult]) -> list[dict[str, Any]]:
    """Return for each budget the mean over runs, and the lowest and highest."""
    rows = []
    for points in zip(*(result.curve.points for result in results), strict=True):
        plain = [point.to_dict() for point in points]
        row: dict[str, Any] = {"budget": points[0].budget, "whole": points[0].whole}
        for key in AVERAGED:
            values = [values[key] for values in plain if values.get(key) is not None]
            if values:
                row[key] = {"mean": float(np.mean(values)), "low": min(values), "high": max(values)}
        rows.append(row)
    return rows


def calibration_errors(result: InterventionResult, dataset: Dataset) -> dict[str, float]:
    """Return the expected calibration error of each concept before any question."""
    names = dataset.knowledge.space.names
    pairs = zip(names, result.concepts, strict=True)
    return {name: expected_calibration_error(result.truth.concepts[:, i], p) for i, (name, p) in enumerate(pairs)}


def rows_table(results: Mapping[str, InterventionResult], dataset: Dataset) -> pa.Table:
    """Return a row for each run, budget and example: what was asked, and the labels after it."""
    parts = []
    for name, result in results.items():
        for point, asked, output in zip(result.curve.points, result.curve.asked, result.curve.outputs, strict=True):
            codes = output.label_codes
            columns: dict[str, Any] = {
                "run": pa.array([name] * len(codes)),
                "budget": pa.array([point.budget] * len(codes)),
                "index": numbers(result.index),
                "asked": pa.array([[result.units.names[u] for u in np.flatnonzero(row)] for row in asked.units]),
            }
            for place, label in enumerate(dataset.knowledge.labels):
                columns[LABEL + label.name] = to_column(codes[:, place], label.values)
                columns[f"{LABEL}{label.name}_probabilities"] = pa.array(output.labels[place].astype(float).tolist())
            parts.append(pa.table(columns))
    return pa.concat_tables(parts, promote_options="permissive")


def charts(results: Mapping[str, InterventionResult], dataset: Dataset) -> dict[str, Chart]:
    """Return the intervention curve, coverage against accuracy, and the calibration of the concepts."""
    return {
        "curve": curve_chart({"": list(results.values())}),
        "coverage": coverage_chart(list(results.values())),
        "calibration": calibration_chart(list(results.values()), dataset),
    }


def curve_chart(groups: Mapping[str, Sequence[InterventionResult]]) -> Chart:
    """Return accuracy against budget, one line for each group of runs, with a band from the lowest to the highest."""
    lines = []
    for name, results in groups.items():
        rows = summary(results)
        places = list(range(len(rows)))
        low, high, mean = ([row["accuracy"][key] for row in rows] for key in ("low", "high", "mean"))
        plain = len(results) == 1
        called = name or f"{results[0].model}, {results[0].plan.policy}"
        lines.append(Line(called, places, mean, None if plain else low, None if plain else high))
    first = next(iter(groups.values()))[0]
    ticks = [(float(i), "max" if p.whole else f"{p.budget:g}") for i, p in enumerate(first.curve.points)]
    accuracies = [f"{line.name}: " + ", ".join(f"{y:.3f}" for y in line.y) for line in lines]
    runs = max(len(results) for results in groups.values())
    bands = f" Bands reach from the lowest to the highest of {runs} runs." if runs > 1 else ""
    return Chart(
        f"Label accuracy by {first.plan.kind}, answers: {first.plan.answered_by.partition(':')[0]}",
        f"Accuracy at budgets {', '.join(label for _, label in ticks)}. {'; '.join(accuracies)}.{bands}",
        "what may be spent on each example",
        "label accuracy",
        lines,
        ticks,
    )


def coverage_chart(results: Sequence[InterventionResult]) -> Chart:
    """Return the risk-coverage curve of each budget, all runs together."""
    lines = []
    for place, point in enumerate(results[0].curve.points[:MOST_LINES]):
        confidence, right = zip(*(_confidence(result, place) for result in results), strict=True)
        x, y = thin_curve(coverage_curve(np.concatenate(confidence), np.concatenate(right)))
        lines.append(Line("max" if point.whole else f"budget {point.budget:g}", x.tolist(), y.tolist()))
    text = "; ".join(f"{line.name}: {line.y[-1]:.3f} if all is decided" for line in lines)
    return Chart(
        "Accuracy of what is decided", f"{text}.", "coverage: the share that is decided", "selective accuracy", lines
    )


def _confidence(result: InterventionResult, place: int) -> tuple[Array, Array]:
    """Return for each example the confidence of the model at a budget, and whether it is right."""
    output = result.curve.outputs[place]
    if result.abstention is not None:
        confidence = result.abstention.confidence(output.labels)
    else:
        confidence = np.prod([p.max(axis=1) for p in output.labels], axis=0)
    return confidence, (output.label_codes == result.truth.labels).all(axis=1)


def calibration_chart(results: Sequence[InterventionResult], dataset: Dataset) -> Chart:
    """Return how often each concept is right at each confidence; of many concepts the worst calibrated."""
    truth = np.concatenate([result.truth.concepts for result in results])
    probabilities = [np.concatenate(same) for same in zip(*(result.concepts for result in results), strict=True)]
    errors = [expected_calibration_error(truth[:, i], p) for i, p in enumerate(probabilities)]
    worst = sorted(np.argsort(errors)[::-1][:MOST_LINES].tolist())
    names = dataset.knowledge.space.names
    lines = [reliability_of(f"{names[i]} ({errors[i]:.3f})", truth[:, i], probabilities[i]) for i in worst]
    listed = ", ".join(f"{names[i]} {errors[i]:.3f}" for i in worst)
    about = f"Expected calibration error: {listed}. On the dotted diagonal, accuracy equals confidence."
    title = "Calibration of the concepts" if len(worst) == len(names) else f"The {MOST_LINES} worst calibrated concepts"
    return Chart(title, about, "confidence", "how often right", lines, diagonal=True)


def write_interventions(
    out: Path, results: Mapping[str, InterventionResult], dataset: Dataset, about: Mapping[str, Mapping[str, Any]]
) -> Path:
    """Write record, rows, curves and page into a folder, and return the page.

    Parameters
    ----------
    out
        The folder.
    results
        What interventions gave, by the run's name.
    dataset
        The data that were intervened on.
    about
        The facts of each run, by its name.
    """
    record = build_record(results, dataset, about)
    write_atomically(out / "interventions.json", to_json(record))
    write_atomically(out / "rows.parquet", parquet_bytes(rows_table(results, dataset)))
    figures = {name: chart.svg(name) for name, chart in charts(results, dataset).items()}
    for name, svg in figures.items():
        write_atomically(out / f"{name}.svg", svg.encode())
    html = page_environment().get_template("interventions.html").render(record=record, charts=figures)
    write_atomically(out / "interventions.html", html.encode())
    return out / "interventions.html"
