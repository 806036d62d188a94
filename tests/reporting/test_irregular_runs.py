"""Runs that are less alike than usual: several datasets, unequal counts, silent concepts, large pictures, odd numbers."""

import base64
import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from assay.concepts import Concept, ConceptSpace
from assay.logic import Knowledge
from assay.plots import Line
from assay.reporting import (
    Chart,
    PlottedValue,
    Table,
    comparison,
    coverage_of,
    discovery,
    examples,
    interventions,
    provenance,
    templating,
)
from assay.reporting.curves import label_reliability
from assay.reporting.plot import Bars, ConfusionMap, _Sheet
from assay.reporting.sections import NamedRun, TaskSection, matrix_of
from tests.reporting.test_comparison import KNOWLEDGE, NAN, drawn, evidence, example, reading, run, score, state, ticks
from tests.reporting.test_discovery import Data, png
from tests.reporting.test_interventions import DATASET, TRUTH, output, result

__all__ = ["drawn"]


# -- cases -------------------------------------------------------------------------------------------------------------


# -- comparison --------------------------------------------------------------------------------------------------------


def test_groups_are_compared_by_their_shares_and_not_by_their_counts():
    used = [state("a"), state("b"), state("c")]
    few, many = reading("a", [[1, 1], [0, 2]]), reading("b", [[900, 100], [100, 900]])
    none = reading("c", [[0, 0, 0], [0, 0, 9]])  # nothing is said
    assert comparison.compared_groups([run("x", [many, few, none], used).case]) == ["c", "a"]
    wide = reading("w", np.roll(np.eye(48), 1, axis=1))
    assert comparison.compared_groups([run("x", [many, wide], [state("w"), state("b")]).case]) == ["w", "b"]


def test_the_lowest_share_of_any_run_counts_whichever_comes_first():
    used = [state("a"), state("b"), state("c")]
    good, bad, mid = (reading("a", [[9, 1], [1, 9]]), reading("a", [[1, 9], [9, 1]]), reading("b", [[5, 5], [5, 5]]))
    other = reading("c", [[6, 4], [4, 6]])
    for order in ([good, bad], [bad, good]):
        runs = [run(str(n), [one, mid, other], used).case for n, one in enumerate(order)]
        assert comparison.compared_groups(runs) == ["a", "b"]


def test_concepts_that_nobody_answers_are_not_the_worst(monkeypatch):
    monkeypatch.setattr(comparison, "MOST_CONCEPTS", 2)
    one = run(
        "x", [reading("a", [[1]])], [state("a", 0.0, answered=0), state("b", 0.9), state("c", 0.8), state("d", 0.95)]
    )
    found = comparison._concepts([one])
    assert list(found.rows) == ["b", "c"] and found.shares.tolist() == [[0.9], [0.8]]
    assert found.description == "x, b: 0.90 (0.80 to 1.00), noisy; x, c: 0.80 (0.70 to 0.90), noisy."


def test_the_boundary_is_that_of_the_hard_split_where_there_is_one():
    scores = {
        "test": {"near_accuracy": score(0.9)},
        "hard": {"near_accuracy": score(0.4, 0.3, 0.5), "variant_accuracy": score(0.7)},
    }
    found = comparison._boundary([run("x", scores=scores, at_boundary="hard")])
    assert found.title == "At the boundary of the rule (hard)" and list(found.categories) == [
        "positives",
        "near the boundary",
    ]
    assert [(v.value, v.low, v.high) for v in found.rows[0].values][1] == (0.4, 0.3, 0.5)


def test_splits_of_all_runs_are_shown():
    one = run("x", scores={"test": {"label_accuracy": score(0.5)}})
    two = run("y", scores={"ood": {"label_accuracy": score(0.25)}, "test": {}})
    found = comparison._splits([one, two])
    assert list(found.categories) == ["test", "ood"] and found.rows[1].values[1].value == 0.25


def test_curves_of_confidence_end_with_all_examples():
    one = run("x", coverage=(np.array([0.25, 1.0]), np.array([0.75, 0.5])))
    found = comparison._coverage([one])
    assert (found.lines[0].x, found.lines[0].y) == (
        [0.25, 1.0],
        [0.75, 0.5],
    ) and "x: 0.50 on all examples" in found.description
    learned = comparison._learning([run("x", history=(0.9, 0.5))])
    assert learned.description == "x: best 0.90 of 2 epochs." and list(learned.lines[0].y) == [0.9, 0.5]


def test_confidence_is_that_in_all_labels_together():
    knowledge = Knowledge.of(KNOWLEDGE.space, {"y": "a > b", "z": "a == b"})
    base = evidence([0, 0, 1], [0, 1, 1], [[0, 0]] * 3, [[0, 0]] * 3)
    soft = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]]), np.array([[0.5, 0.5], [0.1, 0.9], [0.2, 0.8]])
    both = replace(
        base, knowledge=knowledge, labels=np.array([[0, 0], [0, 1], [1, 1]]), predicted_labels=np.array([[0, 1], [0, 1], [1, 1]]),
        label_probabilities=soft,
    )  # fmt: skip
    x, y = coverage_of(both)  # 0.45, 0.54, 0.56: the first is wrong in z
    assert x.tolist() == pytest.approx([1 / 3, 2 / 3, 1]) and y.tolist() == pytest.approx([1, 1, 2 / 3])
    line = label_reliability(replace(both, labels=np.array([[0, -1], [1, 1], [1, 0]])))
    assert line.x == pytest.approx([0.6, 0.7, 0.8, 0.9]) and line.y == [0.0, 1.0, 0.0, 1.0]


# -- examples ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "coarse"), [((120, 8), True), ((121, 8), False), ((8, 121), False)])
def test_small_pictures_are_drawn_with_squares(size, coarse):
    file = io.BytesIO()
    Image.new("L", size, 7).save(file, "PNG")
    rows = SimpleNamespace(
        index=np.array([5, 3]), columns=("image", "text"), files=lambda places: [file.getvalue()], texts=["x", "y"]
    )
    dataset = type("Data", (dict,), {"knowledge": KNOWLEDGE})(ood=rows)
    said = SimpleNamespace(split="ood", index=np.array([3, 5]))
    found = examples._example(dataset, said, evidence([1, 0], [1, 1], [[2, 1], [0, 0]], [[2, 1], [0, -1]]), 1)
    assert (
        found.coarse is coarse
        and found.text == ""
        and found.number == 5
        and found.picture.startswith("data:image/png;base64,")
    )
    assert found.predicted == {"a": 0} and found.implied is None and found.predicted_labels == {"y": True}


# -- interventions -----------------------------------------------------------------------------------------------------


def test_runs_that_differ_are_put_together(monkeypatch):
    one, two = result(), result()
    other = replace(TRUTH, concepts=np.array([[1, 0], [1, 0], [0, 1]]), labels=np.array([[1, 1], [0, 0], [0, 1]]))
    two = replace(two, truth=other)
    chart = interventions.calibration_chart([one, two], DATASET)
    assert next(line.y for line in chart.lines) == pytest.approx([1.0, 0.5, 0.5])  # 0.6, 0.7 and 0.8 in both runs
    coverage = interventions.coverage_chart([one, two])
    assert coverage.lines[0].y[-1] == pytest.approx(1 / 6) and coverage.lines[1].y[-1] == pytest.approx(3 / 6)


def test_the_worst_calibrated_concepts_stand_in_their_own_order(monkeypatch):
    sure = [np.array([[0.9, 0.1]] * 3), np.array([[0.05, 0.05, 0.9]] * 3), np.array([[0.2, 0.8]] * 3)]
    space = ConceptSpace((Concept("a", (0, 1)), Concept("b", (0, 1, 2)), Concept("c", (0, 1))))
    dataset = SimpleNamespace(knowledge=Knowledge.of(space, {"y": "a == 1"}))
    one = replace(result(), concepts=sure, truth=replace(TRUTH, concepts=np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0]])))
    chart = interventions.calibration_chart([one], dataset)
    assert [line.name for line in chart.lines] == ["a (0.233)", "b (0.900)", "c (0.800)"]
    monkeypatch.setattr(interventions, "MOST_LINES", 2)
    worst = interventions.calibration_chart([one], dataset)
    assert [line.name for line in worst.lines] == ["b (0.900)", "c (0.800)"]
    assert worst.title == "The 2 worst calibrated concepts" and "b 0.900, c 0.800" in worst.description


def test_confidence_is_the_product_over_labels():
    one = result()
    one = replace(
        one, curve=replace(one.curve, outputs=(output((0.9, 0.4, 0.6), (0.25, 0.5, 0.9)), one.curve.outputs[1]))
    )
    confidence, right = interventions._confidence(one, 0)
    assert confidence == pytest.approx([0.9 * 0.75, 0.6 * 0.5, 0.6 * 0.9]) and right.tolist() == [False, False, False]
    assert interventions._confidence(one, 1)[1].tolist() == [True, True, True]


# -- plots -------------------------------------------------------------------------------------------------------------


def test_legends_and_titles_take_as_many_lines_as_they_need(drawn):
    names = [f"a rather long name {n}" for n in range(3)]
    lines = [Line(name, [0.5, 1.5], [0.1 * n, 0.2]) for n, name in enumerate(names)]
    title = "A title that is so long that it stands in two lines of the chart"
    figure, axes, size, _ = drawn(Chart(title, "D", "x", "y", lines))
    sheet = _Sheet(340, 160, title, 46, 36, names)
    assert (sheet._columns, len(sheet._title_lines)) == (2, 2)
    assert size[1] == pytest.approx(2 * 14 + 6 + 160 + 36 + 2 * 13 + 4)
    legend = figure.legends[0]
    assert ticks(legend.get_texts()) == names
    colours = {line.get_label(): line.get_color() for line in axes.lines}
    assert [handle.get_color() for handle in legend.legend_handles] == [colours[name] for name in names]
    assert len(set(colours.values())) >= 3


def test_only_whole_numbers_have_whole_ticks(drawn):
    _, mixed, _, _ = drawn(Chart("T", "D", "x", "y", [Line("a", [0.0, 0.25, 1.0], [0.1, 0.2, 0.3])]))
    assert any(not float(tick).is_integer() for tick in mixed.get_xticks())
    _, whole, _, _ = drawn(Chart("T", "D", "x", "y", [Line("a", [1.0, 2.0, 3.0], [0.1, 0.2, 0.3])]))
    assert all(float(tick).is_integer() for tick in whole.get_xticks())


def test_wide_maps_are_named_by_their_larger_side(drawn):
    _, axes, _, _ = drawn(ConfusionMap("T", "D", np.ones((3, 25), int), range(3), range(25)))
    assert len(axes.get_yticks()) == 0
    _, axes, size, _ = drawn(ConfusionMap("T", "D", np.ones((2, 24), int), ["p", "q"], range(24)))
    assert len(axes.get_xticks()) == 24 and size[0] <= 340


# -- words -------------------------------------------------------------------------------------------------------------


def test_only_whole_paths_are_told_from_the_report(tmp_path):
    found = dict(provenance.flatten({"a": "x/y", "b": str(tmp_path / "x"), "c": ["p/q", 1]}, tmp_path))
    assert found == {"a": "x/y", "b": "x", "c": "p/q, 1"}
    about = {"seed": 9, "data": {"folder": str(tmp_path / "d")}, "a_b": {"c_d": {"e": 1}}}
    dataset = SimpleNamespace(manifest={"seed": 4, "splits": []}, name="t", fingerprint="f", folder=Path("/nowhere"))
    rows = provenance.provenance_of(SimpleNamespace(about=about, dataset=dataset, folder=tmp_path / "r"), tmp_path)
    assert (rows["dataset seed"], rows["seed"], rows["dataset"], rows["a b, c d, e"]) == ("4", "9", "d", "1")
    assert "data, folder" not in rows


def test_numbers_of_pages_are_rounded():
    assert [templating.percent(share) for share in (0.004, 0.995, 1.0)] == ["0 %", "100 %", "100 %"]
    assert [templating.number(value) for value in (0.004, 12.346, NAN)] == ["0.00", "12.35", "–"]


def test_stubs_are_escaped_like_all_other_cells():
    table = Table("c", ("a", "b", "d"), (("<i>", "x", "<b>"),), 2, note="<n>")
    assert '<th scope="row">&lt;i&gt;</th><th scope="row">x</th><td>&lt;b&gt;</td>' in table.html
    assert table.markdown.splitlines()[2:4] == ["| a | b | d |", "| --- | --- | --- |"] and table.markdown.endswith(
        "\n\n&lt;n>"
    )


def test_bars_without_any_number_are_left_out():
    rows = [Bars("x", [PlottedValue(NAN), PlottedValue(0.5)]), Bars("y", [PlottedValue(NAN), PlottedValue(NAN)])]
    found = comparison._bar_chart("t", "A.", "l", ["p", "q"], rows)
    assert list(found.categories) == ["q"] and [row.name for row in found.rows] == ["x"]


def test_cards_of_units_with_gaps():
    card = discovery.UnitCard(0, "", "v", True, 1, 0.5, 0.5, (1, 2, 3), (True, None, False))
    assert card.right == 1


def test_a_label_of_three_values_is_right_where_the_likeliest_is():
    soft = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.25, 0.35, 0.4]])
    base = evidence([1, 2, 0], [0, 2, 2], [[0, 0]] * 3, [[0, 0]] * 3)
    line = label_reliability(replace(base, label_probabilities=(soft,)))
    assert line.x == pytest.approx([0.4, 0.5, 0.7]) and line.y == [0.0, 0.0, 1.0]


def test_pictures_are_shown_only_where_all_rows_are_there():
    cards = [discovery.UnitCard(0, "", "v", True, 1, 0.5, 0.5, rows, (True, True)) for rows in ((100, 101), (100, 999))]
    assert discovery.with_pictures(cards, Data()) == tuple(cards)
    (shown,) = discovery.with_pictures(cards[:1], Data())
    assert len(shown.pictures) == 2


@pytest.mark.parametrize(
    ("size", "same"), [((30, 20), True), ((128, 128), True), ((129, 20), False), ((20, 129), False)]
)
def test_pictures_that_are_small_enough_stay_as_they_are(size, same):
    file = png(*size, level=9)
    address = discovery._address(file)
    assert (base64.b64decode(address.removeprefix("data:image/png;base64,")) == file) is same


def test_what_is_false_or_nothing_can_be_read_right():
    right = example({"a": False, "n": 0, "t": ""}, {"a": False, "n": 0, "t": ""})
    assert right.misread == {} and not right.is_right_by_wrong_concepts
    wrong = example({"a": False, "n": 0}, {"a": True, "n": 0}, focus=("n",))
    assert wrong.misread == {"a": (False, True)} and wrong.changes == "a False→True"


def test_runs_of_a_model_are_found_by_its_label_and_not_by_their_names():
    runs = tuple(
        NamedRun(name, "r", SimpleNamespace(label=label))
        for name, label in (("cbm, seed 0", "cbm"), ("dpl", "dpl"), ("cbm, seed 1", "cbm"))
    )
    section = TaskSection("t", "a", runs)
    assert [one.name for one in section.of_model("cbm")] == ["cbm, seed 0", "cbm, seed 1"] and section.of_model(
        "cem"
    ) == []
    assert section.cases == tuple(one.case for one in runs)


def test_models_of_every_section_are_in_the_matrix():
    def section(*labels):
        return TaskSection("t", "a", tuple(NamedRun(label, "r", SimpleNamespace(label=label)) for label in labels))

    matrix = matrix_of([section("b"), section("a", "b"), section("c")])
    assert matrix.models == ("b", "a", "c") and len(matrix.sections) == 3
