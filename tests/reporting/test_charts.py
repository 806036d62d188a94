"""Charts are well-formed, small and always the same, name every mark, and put values where they belong."""

import json
import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from assay.base import Dots, PlottedValue
from assay.metrics import BINS
from assay.reporting import Chart, DotChart, Line, cases_of, coverage_of, write_report
from assay.runs import RunFolder
from tests.canned import bits, run_of, sums
from tests.test_layers import loaded_by

SPACE = "{http://www.w3.org/2000/svg}"
LINES = [
    Line("a < b & c", [0, 1, 2], [0.5, 0.7, 0.6], [0.4, 0.6, 0.5], [0.6, 0.8, 0.7]),
    Line("$d$", [0, 2], [0.5, 0.5]),
]
OWN = {
    "lines": Chart("Title <1>", "What is to be seen.", "x", "y", LINES, [(0, "none"), (2, "max")], diagonal=True),
    "flat": Chart("Title <1>", "What is to be seen.", "x", "y", [Line("l", [0, 1], [1.0, 1.0])]),
    "dots": DotChart(
        "Title <1>", "What is to be seen.", "f1",
        [Dots("dpl", [0.7, 0.9], PlottedValue(0.8, 0.6, 1.0), PlottedValue(0.85, 0.8, 0.9))], zero=True,
    ),
}  # fmt: skip


def marks(root):
    """Return what marks say, and the element of each."""
    titled = ((group.find(f"{SPACE}title"), group) for group in root.iter(f"{SPACE}g"))
    return {title.text: group for title, group in titled if title is not None}


@pytest.fixture(scope="module")
def drawn():
    return {name: chart.svg("one") for name, chart in OWN.items()}


@pytest.mark.parametrize("kind", sorted(OWN))
def test_a_chart_is_well_formed_and_the_same_again(kind, drawn):
    root = ElementTree.fromstring(drawn[kind])
    assert root.get("role") == "img" and root.get("aria-labelledby") == "one-title one-description"
    assert root.find(f"{SPACE}title").text == "Title <1>" and root.find(f"{SPACE}desc").text == "What is to be seen."
    assert OWN[kind].svg("one") == drawn[kind]
    assert "Title <1>" in [text.text for text in root.iter(f"{SPACE}text")]


def test_names_and_values_are_told_as_they_are(drawn):
    told = marks(ElementTree.fromstring(drawn["lines"]))
    assert set(told) >= {"a < b & c, none: 0.50 (0.40 to 0.60)", "$d$, max: 0.50"}
    assert set(marks(ElementTree.fromstring(drawn["dots"]))) == {
        *("dpl: 0.700", "dpl: 0.900", "dpl: mean 0.80 (0.60 to 1.00)"),
        "dpl: published 0.85 (0.80 to 0.90)",
    }
    texts = [text.text for text in ElementTree.fromstring(drawn["lines"]).iter(f"{SPACE}text")]
    assert {"none", "max", "a < b & c", "$d$"} <= set(texts)


def test_higher_values_are_drawn_higher_and_inside():
    def place(group):
        told = group.find(f"{SPACE}path").get("transform")
        return tuple(map(float, re.search(r"translate\(([\d.]+) ([\d.]+)\)", told).groups()))

    chart = Chart("t", "d", "x", "y", [Line("l", [0, 1, 2], [0.1, 0.9, float("nan")])])
    points = marks(ElementTree.fromstring(chart.svg()))
    (x0, y0), (x1, y1) = place(points["l, 0: 0.10"]), place(points["l, 1: 0.90"])
    assert x0 < x1 and 0 < y1 < y0 < 230 and len(points) == 2  # what is not known has no mark


def test_a_long_line_has_few_marks():
    line = Line("l", [n / 100 for n in range(101)], [n / 100 for n in range(101)])
    assert len(marks(ElementTree.fromstring(Chart("t", "d", "x", "y", [line]).svg()))) == 12


def test_matplotlib_is_imported_when_a_chart_is_drawn_and_not_before():
    assert "matplotlib" not in loaded_by("import assay.reporting.write, assay.base.plots, assay.lab.studies.run")


def test_control_characters_do_not_break_a_chart():
    ElementTree.fromstring(Chart("a\x00b", "\x0bc", "x\x01", "y", [Line("l\x02", [0, 1], [0, 1])]).svg())


# -- the charts of a report --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of a right and a noisy run: its data, its record, and its charts by their titles."""
    folder = tmp_path_factory.mktemp("charts")
    data = bits(folder / "bits")
    runs = [run_of(data, folder / fault, fault, seed) for seed, fault in enumerate(("good", "noisy"))]
    page = write_report(runs, folder / "out")
    text = page.read_text()
    found = [ElementTree.fromstring(svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1))
             for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]  # fmt: skip
    charts = {svg.find(f"{SPACE}title").text: svg for svg in found if svg.find(f"{SPACE}title") is not None}
    cases = json.loads(page.with_name("report.json").read_text())["cases"]
    said = [RunFolder(run).all_predictions(data.knowledge)["test"] for run in runs]
    return data, cases, charts, said


def test_charts_fit_any_page(report):
    """No style, link, foreign id or fixed ink: they stand in a dark page, and under a content security policy."""
    _, _, charts, _ = report
    assert len(charts) >= 6
    for title, root in charts.items():
        text = ElementTree.tostring(root, encoding="unicode")
        assert not re.search(r"style|href|url\(|<image|<defs|#000000|#1c2431", text) and len(text) < 45_000, title
        assert len(re.findall(r'\bid="', text)) == 2 and root.find(f"{SPACE}desc").text
        inks = {child.get("fill") for child in root.iter(f"{SPACE}text")}
        assert inks <= {"currentColor", "#ffffff", "#d55e00"}


def test_a_confusion_map_counts_what_is_predicted_for_each_true_value(report):
    data, _, charts, said = report
    truth, seen = data["test"].concepts, 0
    for place, name in enumerate("abc"):
        for run, one in zip(("dpl", "cbm"), said, strict=True):
            if f"{run} predicts {name}" not in charts:
                continue
            seen, counts = seen + 1, np.zeros((2, 2), dtype=int)
            np.add.at(counts, (truth[:, place], one.concepts[name].codes), 1)
            wanted = {
                f"{bool(t)} predicted as {bool(s)}: {100 * counts[t, s] / counts[t].sum():.0f} % ({counts[t, s]} of {counts[t].sum()})"
                for t in (0, 1) for s in (0, 1) if counts[t, s]
            }  # fmt: skip
            told = set(marks(charts[f"{run} predicts {name}"]))
            assert {one.lower() for one in told} == {one.lower() for one in wanted}
    assert seen >= 2


def test_bars_and_shares_are_the_scores_of_the_record(report):
    _, cases, charts, _ = report
    told = set(marks(charts["Label accuracy on each split"]))
    for run, case in zip(("dpl", "cbm"), cases, strict=True):
        for split, scores in case["diagnosis"]["scores"].items():
            score = scores["label_accuracy"]
            numbers = f"{score['value']:.2f} ({score['low']:.2f} to {score['high']:.2f})"
            assert f"{run}, {split}: {numbers}" in told
        for concept in case["diagnosis"]["concepts"]["test"]:
            start = f"{run}, {concept['concept']}: {concept['accuracy']:.2f} ("
            assert any(one.startswith(start) for one in marks(charts["Concepts that are right (test)"]))


def test_curves_of_learning_are_those_of_the_run(report):
    _, _, charts, _ = report
    chart = next(root for root in charts.values() if "of 3 epochs" in root.find(f"{SPACE}desc").text)
    assert {"dpl, 1: 0.60", "dpl, 3: 0.80", "cbm, 2: 0.70"} <= set(marks(chart))


@pytest.mark.parametrize("make", [bits, sums])
def test_curves_of_confidence_are_those_of_counting(make, tmp_path):
    data = make(tmp_path / "data")
    (case,) = cases_of([run_of(data, tmp_path / "run", "noisy", pairs=False)])
    test, said = data["test"], RunFolder(tmp_path / "run").all_predictions(data.knowledge)["test"]
    names = data.knowledge.label_names
    soft = [np.asarray(said.labels[name].probabilities) for name in names]
    codes = np.stack([said.labels[name].codes for name in names], axis=1)
    together, right = np.prod([p.max(axis=1) for p in soft], axis=0), (codes == test.labels).all(axis=1)
    order = np.argsort(-together, kind="stable")
    x, y = case.coverage
    for share, accuracy in zip(x, y, strict=True):  # on the most confident share of all examples
        taken = order[: round(share * len(order))]
        assert accuracy == pytest.approx(right[taken].mean())
    assert len(x) <= 60 and x[-1] == 1
    confidence = np.concatenate([p.max(axis=1) for p in soft])
    each = np.concatenate([p.argmax(axis=1) == test.labels[:, i] for i, p in enumerate(soft)])
    places = np.ceil(confidence * BINS).astype(int)  # the edge of a bin belongs to the lower one
    bins = [places == place for place in sorted(set(places.tolist()))]
    assert case.reliability.x == pytest.approx([confidence[inside].mean() for inside in bins])
    assert case.reliability.y == pytest.approx([each[inside].mean() for inside in bins])
    assert not any(map(math.isnan, case.reliability.y))


def test_a_model_without_probabilities_has_no_such_curve(evenodd, tmp_path):
    from tests.predictors import oracle, predictions

    test = evenodd.symbols("test")
    assert coverage_of(oracle(test)) is None
    predictions(test, test.labels).write(tmp_path / "said.parquet", evenodd.knowledge)
    (case,) = cases_of([tmp_path / "said.parquet"], evenodd)
    assert case.coverage is None and case.reliability is None and case.history == ()
