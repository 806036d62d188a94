"""Small parts of reports on values that were worked out by hand: cards of units, styles, sentences, lines of tables."""

from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace, bits
from assay.logic import NO_RULE, Knowledge, Label
from assay.plots import INK
from assay.reporting import Table, discovery, examples
from assay.reporting.svg import SPACE, _looks


def unit_card(direction, known=(True, True, True, True, True)):
    units = np.array([[0.0, 3.0], [0.0, -1.0], [0.0, 3.0], [0.0, 7.0], [0.0, 0.0]])
    holds = np.array([[True], [False], [True], [False], [True]])
    split = SimpleNamespace(units=units, truth=lambda values: (holds, np.array(known)[:, None]))
    data = SimpleNamespace(index=np.array([10, 31, 12, 53, 4]))
    return discovery._card(split, data, 1, direction, SimpleNamespace(name="n = 2"))


def test_the_top_examples_of_a_unit_are_its_largest_in_the_direction():
    up, down = unit_card(1), unit_card(-1)
    assert (up.unit, up.name, up.value, up.matched, up.direction, up.f1) == (1, "", "n = 2", False, 1, None)
    assert up.rows == (53, 10, 12, 4, 31) and up.has == (False, True, True, True, False) and up.share == 0.6
    assert down.rows == (31, 4, 10, 12, 53) and down.has == (False, True, True, True, False) and down.direction == -1


def test_examples_whose_concept_is_not_known_do_not_count(monkeypatch):
    some = unit_card(1, (True, False, True, True, False))
    assert some.share == pytest.approx(2 / 3) and some.has == (False, True, True, None, None)
    assert unit_card(1, (False,) * 5).share == 0.0
    monkeypatch.setattr(discovery, "TOP", 2)
    assert unit_card(1).rows == (53, 10) and unit_card(1).share == 0.6


@pytest.mark.parametrize(
    ("tag", "style", "looks"),
    [
        ("path", f"fill: none; stroke: {INK}; stroke-linejoin: miter", {"fill": "none", "stroke": "currentColor"}),
        ("text", "font-size: 11px; font-family: x; text-anchor: middle",
         {"font-size": "11", "text-anchor": "middle", "fill": "currentColor"}),
        ("text", "fill: #123456; opacity: 0.5", {"fill": "#123456", "opacity": "0.5"}),
        ("path", "", {}),
        ("text", "", {"fill": "currentColor"}),
        ("path", "stroke-dasharray: 4,2; stroke-width:1.5", {"stroke-dasharray": "4,2", "stroke-width": "1.5"}),
    ],
)  # fmt: skip
def test_a_style_becomes_the_attributes_that_pages_know(tag, style, looks):
    assert _looks(ElementTree.Element(f"{SPACE}{tag}", {"style": style} if style else {})) == looks


SPACE_OF_TWO = ConceptSpace((*bits(["a"]).concepts, Concept("n", (4, 5, 6))))
KNOWLEDGE = Knowledge.of(SPACE_OF_TWO, {"y": "a and n > 4", "big": "n + a"})


def test_labels_that_a_rule_implies_are_told_where_all_concepts_are():
    dataset = SimpleNamespace(knowledge=KNOWLEDGE)
    assert examples._implied(np.array([1, 2]), dataset) == {"y": True, "big": 7}
    assert examples._implied(np.array([0, 0]), dataset) == {"y": False, "big": 4}
    assert examples._implied(np.array([0, -1]), dataset) is None is examples._implied(np.array([-1, 2]), dataset)
    unknown = Knowledge(SPACE_OF_TWO, (Label("y", NO_RULE, (False, True)),))
    assert examples._implied(np.array([1, 2]), SimpleNamespace(knowledge=unknown)) is None
    assert examples._labels(np.array([0, -1]), dataset) == {"y": False, "big": "none"}
    assert examples._labels(np.array([-1, 3]), dataset) == {"y": "none", "big": KNOWLEDGE.labels[1].values[3]}


def test_values_are_joined_in_their_order():
    assert examples._assign({"b": 3}) == "b = 3"
    assert examples._assign({"b": 3, "a": True}) == "b = 3 and a = True"
    assert examples._assign({"b": 3, "a": True, "c": "x"}).startswith("b = 3, a = True")


def test_the_first_columns_of_a_row_say_what_it_is_about():
    table = Table("c", ("x", "y", "z"), (("a<b", "1|2", "3 %"), ("d", "4", "5_6")), stubs=2)
    assert str(table._row(table.rows[0])) == '<th scope="row">a&lt;b</th><th scope="row">1|2</th><td>3 %</td>'
    text = table.markdown.splitlines()
    assert (
        "| a&lt;b | 1\\|2 | 3 % |" in text
        and text.index("| d | 4 | 5_6 |") == text.index("| a&lt;b | 1\\|2 | 3 % |") + 1
    )
    lines = table.latex.splitlines()
    assert r"a\textless{}b & 1|2 & 3 \% \\" in lines and r"d & 4 & 5\_6 \\" in lines and "{llr}" in table.latex
