"""Charts are well-formed, small and always the same, name every mark, and put values where they belong."""

import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from assay.reporting import Chart, DotChart, Dots, Line, PlottedValue
from assay.reporting.plot import BarChart, Bars, ConfusionMap, ShareMap
from tests.test_layers import loaded_by

SPACE = "{http://www.w3.org/2000/svg}"
LINES = [
    Line("a < b & c", [0, 1, 2], [0.5, 0.7, 0.6], [0.4, 0.6, 0.5], [0.6, 0.8, 0.7]),
    Line("$d$", [0, 2], [0.5, 0.5]),
]
READ = np.array([[48, 2, 0], [0, 0, 50], [1, 0, 0]])
ALL = {
    "lines": Chart("Title <1>", "What is to be seen.", "x", "y", LINES, [(0, "none"), (2, "max")], diagonal=True),
    "flat": Chart("Title <1>", "What is to be seen.", "x", "y", [Line("l", [0, 1], [1.0, 1.0])]),
    "bars": BarChart(
        "Title <1>", "What is to be seen.", "accuracy", ["near", "far"],
        [Bars("cbm", [PlottedValue(0.4, 0.3, 0.5), PlottedValue(0.8)]), Bars("dpl", [PlottedValue(0.9, 0.8, 1.0), PlottedValue(math.nan)])],
    ),
    "confusion": ConfusionMap("Title <1>", "What is to be seen.", READ, ["0", "1", "2"], ["0", "1", "2"]),
    "shares": ShareMap(
        "Title <1>", "What is to be seen.", np.array([[0.25, math.nan]]), ["shape"], ["cbm", "dpl"],
        lambda row, column: f"cell {row}, {column}",
    ),
    "dots": DotChart(
        "Title <1>", "What is to be seen.", "f1",
        [Dots("dpl", [0.7, 0.9], PlottedValue(0.8, 0.6, 1.0), PlottedValue(0.85, 0.8, 0.9))], zero=True,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def drawn():
    return {name: chart.svg("one") for name, chart in ALL.items()}


def parsed(text):
    return ElementTree.fromstring(text)


def marks(text):
    """Return what marks say, and the element of each."""
    return {group.find(f"{SPACE}title").text: group for group in parsed(text).iter(f"{SPACE}g")}


@pytest.mark.parametrize("kind", sorted(ALL))
def test_a_chart_is_well_formed_small_and_the_same_again(kind, drawn):
    root = parsed(drawn[kind])
    assert root.get("role") == "img" and root.get("aria-labelledby") == "one-title one-description"
    assert root.find(f"{SPACE}title").text == "Title <1>" and root.find(f"{SPACE}desc").text == "What is to be seen."
    assert len(drawn[kind]) < 40_000 and ALL[kind].svg("one") == drawn[kind]
    assert "Title <1>" in [text.text for text in root.iter(f"{SPACE}text")]


@pytest.mark.parametrize("kind", sorted(ALL))
def test_a_chart_fits_any_page(kind, drawn):
    """No style, link, foreign id or fixed ink: it stands in a dark page, and under a content security policy."""
    text = drawn[kind]
    assert not re.search(r"style|href|url\(|<image|<defs|#000000|#1c2431", text) and "currentColor" in text
    assert re.findall(r'\bid="([^"]*)"', text) == ["one-title", "one-description"]
    assert {child.get("fill") for child in parsed(text).iter(f"{SPACE}text")} <= {"currentColor", "#ffffff", "#d55e00"}


def test_every_mark_says_its_value(drawn):
    assert set(marks(drawn["lines"])) >= {"a < b & c, none: 0.50 (0.40 to 0.60)", "$d$, max: 0.50"}
    assert set(marks(drawn["bars"])) == {
        "cbm, near: 0.40 (0.30 to 0.50)",
        "cbm, far: 0.80",
        "dpl, near: 0.90 (0.80 to 1.00)",
    }
    assert set(marks(drawn["confusion"])) == {
        "0 predicted as 0: 96 % (48 of 50)",
        "0 predicted as 1: 4 % (2 of 50)",
        "1 predicted as 2: 100 % (50 of 50)",
        "2 predicted as 0: 100 % (1 of 1)",
    }
    assert set(marks(drawn["shares"])) == {"cell 0, 0"}  # what is not known has no mark
    assert set(marks(drawn["dots"])) == {
        *("dpl: 0.700", "dpl: 0.900", "dpl: mean 0.80 (0.60 to 1.00)"),
        "dpl: published 0.85 (0.80 to 0.90)",
    }


def test_names_are_shown_as_they_are(drawn):
    texts = [text.text for text in parsed(drawn["lines"]).iter(f"{SPACE}text")]
    assert {"none", "max", "a < b & c", "$d$"} <= set(texts)


def place(group):
    """Return where the marker of a point lies."""
    return tuple(
        map(float, re.search(r"translate\(([\d.]+) ([\d.]+)\)", group.find(f"{SPACE}path").get("transform")).groups())
    )


def test_higher_values_are_drawn_higher_and_inside():
    chart = Chart("t", "d", "x", "y", [Line("l", [0, 1, 2], [0.1, 0.9, float("nan")])])
    points = marks(chart.svg())
    (x0, y0), (x1, y1) = place(points["l, 0: 0.10"]), place(points["l, 1: 0.90"])
    assert x0 < x1 and 0 < y1 < y0 < 230 and len(points) == 2


def test_longer_bars_are_greater_values(drawn):
    def length(group):
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", group.find(f"{SPACE}path").get("d"))]
        return max(numbers[::2]) - min(numbers[::2])

    bars = marks(drawn["bars"])
    ratio = length(bars["cbm, far: 0.80"]) / length(bars["cbm, near: 0.40 (0.30 to 0.50)"])
    assert ratio == pytest.approx(2, rel=0.01)


def test_a_long_line_has_few_marks_and_a_full_map_no_more_than_its_largest_cells():
    line = Line("l", [n / 100 for n in range(101)], [n / 100 for n in range(101)])
    assert len(marks(Chart("t", "d", "x", "y", [line]).svg())) == 12
    full = ConfusionMap("t", "d", np.arange(1, 625).reshape(24, 26), range(24), [*range(25), "none"]).svg()
    assert len(marks(full)) <= 220 and len(full) < 45_000


def test_matplotlib_is_imported_when_a_chart_is_drawn_and_not_before():
    assert "matplotlib" not in loaded_by("import assay.reporting.write, assay.plots, assay.studies.results")


def test_control_characters_do_not_break_a_chart():
    parsed(Chart("a\x00b", "\x0bc", "x\x01", "y", [Line("l\x02", [0, 1], [0, 1])]).svg())
