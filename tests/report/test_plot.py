"""Charts are well-formed, say what they show, and put values where they belong."""

import xml.etree.ElementTree as ElementTree

import pytest

from assay.reporting.plot import Chart, Line, rounded_ticks

SPACE = "{http://www.w3.org/2000/svg}"


def test_a_chart_is_well_formed_and_tells_what_it_shows():
    lines = [
        Line("a < b & c", [0, 1, 2], [0.5, 0.7, 0.6], [0.4, 0.6, 0.5], [0.6, 0.8, 0.7]),
        Line("d", [0, 2], [0.5, 0.5]),
    ]
    chart = Chart("Title <1>", "What is to be seen.", "x", "y", lines, [(0, "none"), (2, "max")], diagonal=True)
    drawn = ElementTree.fromstring(chart.svg("one"))
    assert drawn.get("role") == "img" and drawn.get("aria-labelledby") == "one-title one-description"
    assert drawn.find(f"{SPACE}title").text == "Title <1>" and drawn.find(f"{SPACE}desc").text == "What is to be seen."
    texts = [text.text for text in drawn.iter(f"{SPACE}text")]
    assert {"none", "max", "a < b & c", "d"} <= set(texts)
    assert len(drawn.findall(f"{SPACE}polygon")) == 1
    assert chart.svg("one") == chart.svg("one")


def test_higher_values_are_drawn_higher_and_inside():
    drawn = ElementTree.fromstring(Chart("t", "d", "x", "y", [Line("l", [0, 1, 2], [0.1, 0.9, float("nan")])]).svg())
    (path,) = [p.get("points").split() for p in drawn.iter(f"{SPACE}polyline")]
    (x0, y0), (x1, y1) = (map(float, point.split(",")) for point in path)
    assert x0 < x1 and y0 > y1 and 0 < y1 < y0 < 400


@pytest.mark.parametrize("low, high", [(0, 1), (0.61, 0.63), (3, 27), (0, 1e-4)])
def test_ticks_are_few_round_and_inside(low, high):
    ticks = rounded_ticks(low, high)
    assert 2 <= len(ticks) <= 7 and all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)


def test_a_flat_line_is_drawn():
    ElementTree.fromstring(Chart("t", "d", "x", "y", [Line("l", [0, 1], [1.0, 1.0])]).svg())
