"""What a report compares and says, of made-up runs: charts in numbers, examples in sentences, names, provenance."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import Concept, ConceptSpace
from assay.logic import Knowledge
from assay.metrics import Evidence
from assay.plots import Line, PlottedValue
from assay.reporting import Chart, DotChart, Dots, comparison, examples, plot, provenance, sections, templating
from assay.reporting import case as cases
from assay.reporting.examples import Example
from assay.reporting.plot import BarChart, Bars, ConfusionMap, ShareMap
from assay.reporting.sections import NamedRun, matrix_of, sections_of, short_names

NAN = math.nan


def score(value, low=NAN, high=NAN, applies=True):
    return SimpleNamespace(value=value, low=low, high=high, applies=applies)


def state(concept, accuracy=0.5, answered=10, used=True, kind="noisy"):
    return SimpleNamespace(
        concept=concept,
        accuracy=accuracy,
        answered=answered,
        used=used,
        state=kind,
        interval=(accuracy - 0.1, accuracy + 0.1),
    )


def reading(group, counts, concepts=(), fidelity=0.9):
    counts = np.array(counts)
    return SimpleNamespace(
        group=group,
        counts=counts,
        values=tuple(range(len(counts))),
        concepts=concepts or (group,),
        text="swaps",
        fidelity=fidelity,
    )


def run(name, readings=(), states=(), scores=None, **more):
    diagnosis = SimpleNamespace(
        readings=list(readings),
        concepts={"test": list(states)},
        scores=scores or {"test": {}},
        counterfactuals=more.pop("effects", None),
    )
    facts = {"split": "test", "at_boundary": "test", "reliability": None, "coverage": None, "history": (), **more}
    return NamedRun(name, f"run-{name}", SimpleNamespace(diagnosis=diagnosis, **facts))


# charts of runs


def test_the_most_misread_groups_of_the_rule_are_compared():
    used = [state("a"), state("b"), state("c"), state("d", used=False)]
    readings = [
        reading("a", [[5, 5], [0, 10]]),
        reading("b", [[9, 1], [1, 9]]),
        reading("c", [[2, 8], [8, 2]]),
        reading("d", [[0, 9], [9, 0]]),
    ]
    many = reading("many", np.zeros((49, 49)))
    one, other = run("x", [*readings, many], used), run("y", [reading("b", [[1, 9], [9, 1]])], used)
    assert comparison.compared_groups([one.case]) == ["c", "a"]
    assert comparison.compared_groups([one.case, other.case]) == ["b", "c"]  # the worst of all runs counts
    assert comparison.compared_groups([run("z", [readings[3], readings[1]], used).case]) == ["b", "d"]
    assert comparison.has_group(one.case, "c") and not comparison.has_group(other.case, "c")


def test_a_map_has_a_column_for_silence_where_there_is_any():
    silent, spoken = reading("g", [[3, 1, 2], [0, 4, 0]]), reading("g", [[3, 1, 0], [0, 4, 0]])
    found = comparison.reading_map("t", run("x", [reading("h", [[1]]), silent]).case, "g")
    assert (
        list(found.columns) == [0, 1, "none"]
        and found.counts.tolist() == [[3, 1, 2], [0, 4, 0]]
        and found.rows == (0, 1)
    )
    assert found.description == "It swaps (90 % of 10 predictions)."
    plain = comparison.reading_map("t", run("x", [spoken]).case, "g")
    assert list(plain.columns) == [0, 1] and plain.counts.tolist() == [[3, 1], [0, 4]]


def test_bars_of_what_there_is():
    rows = [
        Bars("x", [PlottedValue(0.5), PlottedValue(NAN), PlottedValue(NAN)]),
        Bars("y", [PlottedValue(NAN)] * 3),
        Bars("z", [PlottedValue(NAN), PlottedValue(NAN), PlottedValue(0.25, 0.2, 0.3)]),
    ]
    found = comparison._bar_chart("t", "About.", "share", ["p", "q", "r"], rows)
    assert list(found.categories) == ["p", "r"] and [row.name for row in found.rows] == ["x", "z"]
    assert found.description == "About. x: p 0.50, r unknown; z: p unknown, r 0.25 (0.20 to 0.30)."
    assert comparison._bar_chart("t", "", "", ["p"], [Bars("y", [PlottedValue(NAN)])]) is None


def test_concepts_side_by_side(monkeypatch):
    first = run("x", [reading("a", [[1]])], [state("a", 0.9), state("b", 0.2), state("c", 0.5, answered=0)])
    second = run("y", [reading("a", [[1]])], [state("a", 0.4, kind="misread"), state("b", 0.8), state("c", 0.6)])
    found = comparison._concepts([first, second, run("silent", [], [state("a")])])
    assert (
        found.title == "Concepts that are right (test)"
        and list(found.rows) == ["a", "b", "c"]
        and list(found.columns) == ["x", "y"]
    )
    np.testing.assert_allclose(found.shares, [[0.9, 0.4], [0.2, 0.8], [NAN, 0.6]])
    assert found.texts(0, 1) == "y, a: 0.40 (0.30 to 0.50), misread" and found.texts(2, 0) == "x, c: "
    monkeypatch.setattr(comparison, "MOST_CONCEPTS", 2)
    few = comparison._concepts([first, second])
    assert list(few.rows) == ["a", "b"] and few.title == "The 2 worst concepts (test)"
    assert comparison._concepts([run("silent")]) is None


def test_charts_of_scores():
    scores = {
        "test": {
            "label_accuracy": score(0.9, 0.8, 1.0),
            "near_accuracy": score(0.4),
            "far_accuracy": score(0.8),
            "label_ece": score(0.123),
        },
        "ood": {"label_accuracy": score(0.5)},
    }
    effects = SimpleNamespace(all=SimpleNamespace(follows=score(0.7), stays=score(0.9), noticed=None))
    one = run(
        "x",
        scores=scores,
        effects=effects,
        reliability=Line("labels", [0.5], [0.4]),
        coverage=(np.array([0.5, 1.0]), np.array([1.0, 0.75])),
        history=(0.5, 0.8, 0.7),
    )
    two = run(
        "y",
        scores={"test": {"label_accuracy": score(0.6), "label_ece": score(NAN, applies=False)}},
        reliability=Line("labels", [0.5], [0.4]),
        history=(0.5,),
    )
    splits = comparison._splits([one, two])
    assert (
        list(splits.categories) == ["test", "ood"]
        and splits.rows[0].values[0] == PlottedValue(0.9, 0.8, 1.0)
        and math.isnan(splits.rows[1].values[1].value)
    )
    boundary = comparison._boundary([one, two])
    assert (
        list(boundary.categories) == ["near the boundary", "far negatives"]
        and [v.value for v in boundary.rows[0].values] == [0.4, 0.8]
        and len(boundary.rows) == 1
    )
    changed = comparison._effects([one, two])
    assert list(changed.categories) == ["sensitivity", "invariance"] and [v.value for v in changed.rows[0].values] == [
        0.7,
        0.9,
    ]
    calibration = comparison._calibration([one, two])
    assert [line.name for line in calibration.lines] == ["x (ECE 0.12)", "y"] and calibration.diagonal
    coverage = comparison._coverage([one, two])
    assert [line.name for line in coverage.lines] == [
        "x"
    ] and coverage.description == "Risk-coverage curve. x: 0.75 on all examples."
    learning = comparison._learning([one, two])
    assert [line.name for line in learning.lines] == ["x"] and learning.lines[0].x == [1.0, 2.0, 3.0]
    assert learning.description == "x: best 0.80 of 3 epochs."
    assert len(comparison.comparison_charts([one, two])) == 6 and comparison._learning([two]) is None


# examples


def example(truth, predicted, labels=None, said=None, **more):
    return Example(
        number=1,
        picture="",
        coarse=False,
        truth=truth,
        predicted=predicted,
        labels=labels or {"y": True},
        predicted_labels=said or {"y": True},
        **more,
    )


SPACE = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (0, 1, 2))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a > b"})


def evidence(labels, said, concepts, read):
    silent = (None,), (None, None)
    return Evidence(
        KNOWLEDGE,
        "test",
        np.array(labels)[:, None],
        np.array(concepts),
        np.array(said)[:, None],
        np.array(read),
        *silent,
    )


def test_an_example_as_it_is():
    data = SimpleNamespace(index=np.array([9, 4]), columns=("text",), texts=["nine", "four"])
    dataset = type("Data", (dict,), {"knowledge": KNOWLEDGE})(test=data)
    predictions = SimpleNamespace(split="test", index=np.array([4, 9]))
    found = evidence([1, 0], [-1, 0], [[2, 1], [-1, 0]], [[2, 0], [1, -1]])
    first, second = (examples._example(dataset, predictions, found, row) for row in (0, 1))
    assert (first.number, first.text, first.picture, first.coarse) == (4, "four", "", False)
    assert (
        first.truth == {"a": 2, "b": 1}
        and first.predicted == {"a": 2, "b": 0}
        and first.labels == {"y": True}
        and first.predicted_labels == {"y": "none"}
    )
    assert (
        first.implied == {"y": True}
        and second.implied is None
        and second.truth == {"b": 0}
        and second.predicted == {"a": 1}
        and second.text == "nine"
    )


# sections


def case(label="cbm", task="t", fingerprint="f", seed=0, **more):
    return SimpleNamespace(label=label, task=task, dataset=SimpleNamespace(fingerprint=fingerprint), seed=seed, **more)


def test_runs_of_equal_data_stand_together():
    found = sections_of([case(), case("dpl", "u"), case("dpl"), case(fingerprint="g"), case(seed=3)])
    assert [(section.title, section.anchor) for section in found] == [
        ("t", "task-1"),
        ("u", "task-2"),
        ("t (dataset 2)", "task-3"),
    ]
    assert [[(one.name, one.anchor) for one in section.runs] for section in found] == [
        [("cbm, seed 0", "run-1"), ("dpl", "run-2"), ("cbm, seed 3", "run-3")], [("dpl", "run-4")], [("cbm", "run-5")],
    ]  # fmt: skip
    assert short_names([case(), case(), case("dpl")]) == ("cbm, seed 0", "cbm, seed 0 (2)", "dpl")
    matrix = matrix_of(found)
    assert (
        matrix.models == ("cbm", "dpl")
        and not matrix.has_model_rows
        and [one.name for one in found[0].of_model("dpl")] == ["dpl"]
    )
    wide = sections.VerdictMatrix(found[:1], tuple("abcdefghijkl"))
    assert wide.has_model_rows == (len("abcdefghijkl") > sections.MOST_COLUMNS)
    narrow = sections.VerdictMatrix(found * 9, tuple("abcdefghijkl"))
    assert not narrow.has_model_rows


# cases, provenance, words


def test_scores_of_the_epochs(tmp_path):
    assert cases._history(tmp_path) == ()
    for text, scores in (
        ('{"epochs": [{"score": 0.5}, {"score": 1}]}', (0.5, 1.0)),
        ("{", ()),
        ('{"epochs": [{}]}', ()),
        ("[]", ()),
    ):
        (tmp_path / "history.json").write_text(text)
        assert cases._history(tmp_path) == scores
    made = cases.ReportCase.__new__(cases.ReportCase)
    object.__setattr__(
        made,
        "diagnosis",
        SimpleNamespace(
            concepts={"test": [state("a", kind="right"), state("b")]},
            scores={"test": {"m": score(1, applies=False)}, "hard": {"m": score(1)}},
        ),
    )
    object.__setattr__(made, "split", "test")
    object.__setattr__(made, "about", {})
    assert (
        made.unread == 1 and made.at_boundary == "hard" and made.applies("m") and made.model == made.seed == "unknown"
    )


def test_folders_are_told_from_the_report(tmp_path):
    out = tmp_path / "a" / "b" / "report"
    assert (
        provenance.relative_folder(tmp_path / "a" / "run", out) == "../../run"
        and provenance.relative_folder(out / "x" / "y", out) == "x/y"
    )
    assert (
        provenance.relative_folder(tmp_path.parent / "far", out) == "far"
        and provenance.relative_folder(out / "1" / "2" / "3" / "4", out) == "4"
    )
    assert (
        provenance.relative_folder(out / "1" / "2" / "3", out) == "1/2/3"
        and provenance.relative_folder("s3://x/y", out) == "s3://x/y"
    )
    values = {"a_b": {"c": [1, "x"], "d": True}, "e": None, "f": False, "g": str(out / "x"), "h": "x" * 500}
    found = dict(provenance.flatten(values, out))
    assert {key: found[key] for key in ("a b, c", "a b, d", "e", "f", "g")} == {
        "a b, c": "1, x",
        "a b, d": "yes",
        "e": "–",
        "f": "no",
        "g": "x",
    }
    assert len(found["h"]) == provenance.LONGEST and provenance._text([{"k": None}], out) == "k: –"


def test_what_a_run_is_traced_by(tmp_path):
    manifest = {"seed": 4, "splits": [{"name": "train", "size": 1200}, {"name": "test", "size": 5}]}
    dataset = SimpleNamespace(manifest=manifest, name="toy", fingerprint="ff", folder=tmp_path / "data")
    one = SimpleNamespace(
        about={
            "model": "cbm",
            "config": {"epochs": 3},
            "versions": {"numpy": "2"},
            "data": {"folder": str(tmp_path / "moved")},
        },
        dataset=dataset,
        folder=tmp_path / "run",
    )
    rows = provenance.provenance_of(one, tmp_path)
    assert (rows["run"], rows["task"], rows["dataset fingerprint"], rows["dataset seed"], rows["dataset"]) == (
        "run",
        "toy",
        "ff",
        "4",
        "moved",
    )
    assert (
        rows["splits"] == "train: 1,200, test: 5"
        and rows["setting: epochs"] == "3"
        and rows["version of numpy"] == "2"
        and rows["model"] == "cbm"
    )
    one.about = {"data": "elsewhere"}
    assert provenance.provenance_of(one, tmp_path)["dataset"] == "data"


def test_numbers_in_words():
    assert (
        templating.number(0.456) == "0.46"
        and templating.number(NAN) == "–"
        and templating.percent(0.256) == "26 %"
        and templating.percent(NAN) == "–"
    )
    assert (
        templating.format_accuracy(state("a", 0.5)) == "0.50 (0.40–0.60)"
        and templating.format_accuracy(state("a", answered=0)) == "–"
    )
    assert templating.page_environment().from_string("{{ x }}").render(x="<b>") == "&lt;b&gt;"
    assert templating.page_environment(html=False).from_string("{{ x }}").render(x="<b>|") == "&lt;b>\\|"
    assert templating.page_environment(html=False).from_string("{{ 'a`b' | code }} {{ 3 }}").render() == "`a'b` 3"


# the charts themselves


@pytest.fixture
def drawn(monkeypatch):
    """Return a function that draws a chart and returns its figure."""
    seen = []
    monkeypatch.setattr(
        plot,
        "svg_of",
        lambda figure, title, description, name: seen.append((figure, title, description, name)) or "svg",
    )

    def draw(chart):
        assert chart.svg("one") == "svg" and seen[-1][1:] == (chart.title, chart.description, "one")
        figure = seen[-1][0]
        width, height = (72 * side for side in figure.get_size_inches())
        box = figure.axes[0].get_position()
        return (
            figure,
            figure.axes[0],
            (width, height),
            (box.x0 * width, box.y0 * height, box.width * width, box.height * height),
        )

    return draw


def ticks(labels):
    return [text.get_text() for text in labels]


def test_lines_have_their_field_labels_and_legend(drawn):
    figure, axes, size, box = drawn(
        Chart(
            "Title",
            "D",
            "across",
            "down",
            [Line("a", [1, 2], [0.5, 0.9]), Line("b", [1, 2], [0.2, 0.99])],
            diagonal=True,
        )
    )
    assert size == pytest.approx((340, 20 + 160 + 36 + 17)) and box == pytest.approx((46, 53, 282, 160))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("across", "down") and ticks(figure.legends[0].get_texts()) == [
        "a",
        "b",
    ]
    assert axes.get_ylim()[1] <= 1.01 and axes.lines[-1].get_linestyle() == "--"
    assert [t for t in axes.get_xticks() if not float(t).is_integer()] == [] and figure.texts[0].get_text() == "Title"
    _, large, _, _ = drawn(Chart("T", "D", "x", "y", [Line("a", [0.5, 2], [1.0, 3.0])]))
    assert large.get_ylim()[1] > 3 and len(large.lines) == 3
    _, named, _, _ = drawn(Chart("T", "D", "x", "y", [Line("a", [0, 1], [0.5, 0.6])], [(0, "none"), (1, "all")]))
    assert ticks(named.get_xticklabels()) == ["none", "all"]


def test_bars_grow_with_rows_and_categories(drawn):
    rows = [Bars("x", [PlottedValue(0.5)] * 3), Bars("y", [PlottedValue(0.2)] * 3)]
    figure, axes, _, box = drawn(BarChart("T", "D", "share", ["p" * 30, "q", "r"], rows))
    assert (
        box[3] == pytest.approx(3 * (2 * 13 + 6))
        and box[0] == pytest.approx(12 + 5.3 * 22)
        and axes.get_xlim() == (0, 1)
    )
    assert (
        ticks(axes.get_yticklabels()) == ["p" * 18 + " ...", "q", "r"]
        and axes.get_xlabel() == "share"
        and len(figure.legends) == 1
    )
    figure, axes, _, box = drawn(BarChart("T", "D", "count", ["p"], [Bars("x", [PlottedValue(5.0)])], share=False))
    assert box[3] == pytest.approx(40) and axes.get_xlim()[1] > 1 and not figure.legends


def test_maps_are_as_wide_as_their_cells(drawn):
    _, axes, size, box = drawn(ConfusionMap("T", "D", np.array([[3, 1], [0, 2]]), ["p", "q"], ["v", "w"]))
    left = 12 + 5.3 + 14
    assert box == pytest.approx((left, 34, 170 - left - 12, 48)) and size[0] == pytest.approx(170)
    assert (
        (axes.get_xlabel(), axes.get_ylabel()) == ("predicted", "true")
        and ticks(axes.get_xticklabels()) == ["v", "w"]
        and ticks(axes.get_yticklabels()) == ["p", "q"]
    )
    many = [f"column {n}" for n in range(10)]
    _, axes, size, box = drawn(ShareMap("T", "D", np.full((1, 10), 0.5), ["r"], many, lambda row, column: ""))
    assert (
        {text.get_rotation() for text in axes.get_xticklabels()} == {90}
        and size[0] == pytest.approx(340)
        and box[1] == pytest.approx(12 + 5.3 * 8)
    )
    assert box[3] == pytest.approx(18) and (axes.get_xlabel(), axes.get_ylabel()) == ("", "")
    _, axes, _, box = drawn(ShareMap("T", "D", np.full((1, 25), 0.5), ["r"], ["c"] * 25, lambda row, column: ""))
    assert len(axes.get_xticks()) == 0 and box[0] == pytest.approx(12) and box[1] == pytest.approx(8)


def test_dots_may_have_a_line_at_nothing(drawn):
    rows = [Dots("x" * 40, [0.5]), Dots("y", [0.25])]
    _, axes, _, box = drawn(DotChart("T", "D", "f1", rows, zero=True))
    assert (
        ticks(axes.get_yticklabels()) == ["x" * 26 + " ...", "y"]
        and box[3] == pytest.approx(54)
        and box[0] == pytest.approx(12 + 5.3 * 30)
    )
    assert axes.lines[0].get_xdata() == [0, 0] and axes.get_xlabel() == "f1"
    _, plain, _, _ = drawn(DotChart("T", "D", "f1", rows))
    assert len(plain.lines) == len(axes.lines) - 1
