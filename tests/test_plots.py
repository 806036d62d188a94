"""What plots draw: every mark at its place, named by what it shows."""

import math

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from assay import plots
from assay.errors import ConfigError
from assay.plots import Bars, Dots, Line, PlottedValue


@pytest.fixture
def axes():
    return Figure().subplots()


def marks(axes):
    """Return what the named marks show, in the order in which they were drawn."""
    artists = [*axes.patches, *axes.lines]
    return [a.get_gid().removeprefix(plots.MARK) for a in artists if (a.get_gid() or "").startswith(plots.MARK)]


def segments(axes):
    """Return the lines without markers that join points."""
    lines = [line for line in axes.lines if line.get_marker() in ("None", "", None)]
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in lines]


def test_a_value_in_words():
    assert PlottedValue(0.5, 0.4, 0.61).text == "0.50 (0.40 to 0.61)"
    assert PlottedValue(0.126).text == "0.13" and PlottedValue(math.nan, 0.1, 0.2).text == "unknown"


def test_lines_have_bands_marks_and_ticks(axes):
    first = Line("first", [0, 1, 2], [0.5, math.nan, 0.75], [0.25, 0.3, 0.5], [0.625, 0.8, 1.0])
    second = Line("second", [0, 1.5], [0.1, 0.2])
    plots.draw_lines(axes, [first, second], {0: "none", 2: "all"})
    assert marks(axes) == [
        "first, none: 0.50 (0.25 to 0.62)",
        "first, all: 0.75 (0.50 to 1.00)",
        "second, none: 0.10",
        "second, 1.5: 0.20",
    ]
    curves = [line for line in axes.lines if line.get_label() in ("first", "second")]
    assert [to_hex(line.get_color()) for line in curves] == list(plots.COLOURS[:2])
    assert curves[0].get_linestyle() == "-" and curves[1].get_linestyle() == "--"
    (band,) = [c for c in axes.collections if isinstance(c, PolyCollection)]
    assert sorted({y for _, y in band.get_paths()[0].vertices.tolist()}) == [0.25, 0.3, 0.5, 0.625, 0.8, 1.0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["none", "all"]
    assert axes.get_xticks().tolist() == [0, 2]
    assert axes.get_legend_handles_labels()[1] == ["first", "second"]


def test_long_lines_have_twelve_marks_with_their_ends(axes):
    x = np.linspace(0, 1, 100).tolist()
    plots.draw_lines(axes, [Line("a", x, x)])
    shown = marks(axes)
    assert len(shown) == 12 and shown[0] == "a, 0: 0.00" and shown[-1] == "a, 1: 1.00"
    assert shown[1] == "a, 0.0909: 0.09"


def test_colours_begin_again_after_the_last(axes):
    plots.draw_lines(axes, [Line(str(n), [0.0], [float(n)]) for n in range(9)])
    colours = [to_hex(line.get_color()) for line in axes.lines if not line.get_label().startswith("_")]
    assert colours == [*plots.COLOURS, plots.COLOURS[0]]


def test_bars_lie_below_each_other(axes):
    one = Bars("one", [PlottedValue(0.5, 0.25, 0.75), PlottedValue(math.nan), PlottedValue(-0.2)])
    two = Bars("two", [PlottedValue(0.1), PlottedValue(0.3), PlottedValue(0.4, 0.35, 0.5)])
    plots.draw_bars(axes, ["x", "y", "z"], [one, two])
    assert marks(axes) == [
        "one, x: 0.50 (0.25 to 0.75)", "one, z: -0.20", "two, x: 0.10", "two, y: 0.30", "two, z: 0.40 (0.35 to 0.50)",
    ]  # fmt: skip
    middles = [bar.get_y() + bar.get_height() / 2 for bar in axes.patches]
    assert middles == pytest.approx([-0.205, 1.795, 0.205, 1.205, 2.205])
    assert [bar.get_width() for bar in axes.patches] == [0.5, -0.2, 0.1, 0.3, 0.4]
    assert axes.patches[0].get_height() == pytest.approx(0.41 * 0.9)
    assert [to_hex(bar.get_facecolor()) for bar in axes.patches[1:3]] == list(plots.COLOURS[:2])
    drawn = segments(axes)
    assert [x for x, _ in drawn] == [[0.25, 0.75], [0.35, 0.5]]
    assert [y for _, y in drawn] == [pytest.approx([-0.205, -0.205]), pytest.approx([2.205, 2.205])]
    (missing,) = axes.texts
    assert missing.get_text() == " –" and missing.get_position() == (0, pytest.approx(0.795))
    assert axes.get_ylim() == (2.5, -0.5) and axes.get_xlim()[0] <= -0.2
    assert [text.get_text() for text in axes.get_yticklabels()] == ["x", "y", "z"]
    assert axes.get_legend_handles_labels()[1] == ["one", "two"]


def test_bars_to_the_right_begin_at_nothing(axes):
    plots.draw_bars(axes, ["x"], [Bars("one", [PlottedValue(0.5)])])
    assert axes.get_xlim()[0] == 0


def test_shares_are_shades_with_their_numbers(axes):
    shares = np.array([[0.004, 0.25, 1.0], [math.nan, 0.7, 0.0]])
    plots.draw_shares(axes, shares, ["r", "s"], [1, 2, 3], lambda row, column: f"{row} {column}")
    assert marks(axes) == ["0 0", "0 1", "0 2", "1 1", "1 2"]
    assert [text.get_text() for text in axes.texts] == ["0", ".25", "1", ".70", "0"]
    assert [text.get_position() for text in axes.texts] == [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1)]
    assert [text.get_color() for text in axes.texts] == [plots.INK, plots.INK, plots.WHITE, plots.WHITE, plots.INK]
    assert [cell.get_alpha() for cell in axes.patches] == pytest.approx([0.04384, 0.28, 1.0, 0.712, 0.0])
    assert [cell.get_xy() for cell in axes.patches[:3]] == [(-0.5, -0.5), (0.5, -0.5), (1.5, -0.5)]
    assert axes.get_xlim() == (-0.5, 2.5) and axes.get_ylim() == (1.5, -0.5)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["r", "s"]
    assert {text.get_rotation() for text in axes.get_xticklabels()} == {0}


def test_small_shares_and_those_beyond_the_most_are_left_out(axes):
    plots.draw_shares(axes, np.array([[0.1, 0.2, 0.3]]), ["r"], ["a", "b", "c"], lambda r, c: f"{c}", 0.2)
    assert marks(axes) == ["1", "2"]
    large = Figure().subplots()
    shares = np.arange(400).reshape(20, 20) / 400
    plots.draw_shares(large, shares, range(20), range(20), lambda r, c: f"{20 * r + c}")
    assert marks(large) == [str(n) for n in range(400 - plots.MOST_CELLS, 400)] and not large.texts


@pytest.mark.parametrize(("side", "written"), [(12, True), (13, False)])
def test_numbers_are_written_into_few_cells(axes, side, written):
    plots.draw_shares(axes, np.full((1, side), 0.5), ["r"], range(side), lambda r, c: "")
    assert bool(axes.texts) == written


@pytest.mark.parametrize(("side", "named"), [(24, True), (25, False)])
def test_few_columns_are_named(axes, side, named):
    plots.draw_shares(axes, np.full((1, side), 0.5), ["r"], range(side), lambda r, c: "")
    assert len(axes.get_xticks()) == (side if named else 0) and len(axes.get_yticks()) == (1 if named else 0)


@pytest.mark.parametrize(("letters", "turn"), [(20, 0), (21, 90)])
def test_long_names_are_turned(axes, letters, turn):
    plots.draw_shares(axes, np.full((1, 2), 0.5), ["r"], ["a" * letters, "b" * 20], lambda r, c: "")
    assert {text.get_rotation() for text in axes.get_xticklabels()} == {turn}


def test_confusion_is_of_shares_of_rows(axes):
    plots.draw_confusion(axes, np.array([[1200, 400, 0], [0, 0, 0], [1, 199, 200]]), [*"abc"], [*"abc"])
    assert marks(axes) == [
        "a predicted as a: 75 % (1,200 of 1,600)",
        "a predicted as b: 25 % (400 of 1,600)",
        "c predicted as b: 50 % (199 of 400)",
        "c predicted as c: 50 % (200 of 400)",
    ]  # one of 400 is too little to be seen
    frames = [p for p in axes.patches if isinstance(p, Rectangle) and not p.get_fill()]
    assert [(f.get_xy(), f.get_width(), f.get_height()) for f in frames] == [
        ((n - 0.5, n - 0.5), 1, 1) for n in range(3)
    ]


def test_right_cells_are_framed_as_far_as_there_are_both(axes):
    plots.draw_confusion(axes, np.array([[1, 1, 2]]), ["a"], [*"abc"])
    assert sum(not patch.get_fill() for patch in axes.patches) == 1


def test_dots_with_means_and_published_values(axes):
    rows = [
        Dots("x", [0.5, 0.625], PlottedValue(0.56, 0.5, 0.62), PlottedValue(0.7, 0.6, 0.8)),
        Dots("y", [0.25], PlottedValue(math.nan), PlottedValue(0.3)),
        Dots("z", [], PlottedValue(0.4)),
    ]
    plots.draw_dots(axes, rows)
    assert marks(axes) == [
        "x: 0.500", "x: 0.625", "x: mean 0.56 (0.50 to 0.62)", "x: published 0.70 (0.60 to 0.80)", "y: 0.250",
        "y: published 0.30", "z: mean 0.40",
    ]  # fmt: skip
    named = [line for line in axes.lines if line.get_gid()]
    assert [line.get_ydata()[0] for line in named] == pytest.approx([0, 0, 0, 0.27, 1, 1.27, 2])
    assert [line.get_xdata()[0] for line in named] == [0.5, 0.625, 0.56, 0.7, 0.25, 0.3, 0.4]
    assert segments(axes) == [([0.5, 0.62], [0, 0]), ([0.6, 0.8], [0.27, 0.27])]
    assert axes.get_ylim() == (2.5, -0.5) and [t.get_text() for t in axes.get_yticklabels()] == ["x", "y", "z"]


def test_figures_grow_with_their_fields():
    figure, fields = plots.new_figure(2, 3, (4.0, 1.5))
    assert len(fields) == 6 and figure.get_size_inches().tolist() == [12.0, 3.0]
    figure, fields = plots.new_figure()
    assert len(fields) == 1 and figure.get_size_inches().tolist() == [5.0, 3.6]


def test_each_curve_has_a_field_of_its_own():
    figure = plots.line_plot({"loss": [3.0, 2.0], "accuracy": [0.5]}, "epoch", "Training")
    assert [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes] == [
        ("epoch", "loss"),
        ("epoch", "accuracy"),
    ]
    assert [marks(axes) for axes in figure.axes] == [["loss, 1: 3.00", "loss, 2: 2.00"], ["accuracy, 1: 0.50"]]
    assert figure.get_suptitle() == "Training" and figure.get_size_inches().tolist() == [8.4, 3.0]
    with pytest.raises(ConfigError, match="Training: there is nothing to draw"):
        plots.line_plot({}, "epoch", "Training")


def test_curves_share_their_points():
    (axes,) = plots.curve_plot("budget", [0, 2], {"a": [0.5, 0.75], "b": [0.25, 0.1]}, "Curve").axes
    assert marks(axes) == ["a, 0: 0.50", "a, 2: 0.75", "b, 0: 0.25", "b, 2: 0.10"]
    assert (axes.get_xlabel(), axes.get_title()) == ("budget", "Curve")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_heat_maps_stand_three_in_a_row():
    table = np.array([[3, 1], [0, 2]]), ["t", "u"], ["v", "w"]
    figure = plots.heat_maps(dict.fromkeys(["a", "b", "c", "d"], table), "true", "predicted")
    assert figure.get_size_inches().tolist() == pytest.approx([12.0, 7.2])
    assert [axes.get_title() for axes in figure.axes] == ["a", "b", "c", "d", "", ""]
    assert [axes.axison for axes in figure.axes] == [True] * 4 + [False] * 2
    assert (figure.axes[3].get_xlabel(), figure.axes[3].get_ylabel()) == ("predicted", "true")
    assert marks(figure.axes[0])[0] == "t predicted as v: 75 % (3 of 4)"
    assert len(plots.heat_maps({"a": table}, "true", "predicted").axes) == 1
    with pytest.raises(ConfigError, match="the model says nothing of concepts"):
        plots.heat_maps({}, "true", "predicted")


def test_bars_with_intervals_and_short_names():
    figure = plots.bar_plot({"a" * 61: (0.5, 0.4, 0.6), "b": (0.2, math.nan, math.nan)}, "score", "Scores")
    (axes,) = figure.axes
    assert marks(axes) == [f"Scores, {'a' * 56} ...: 0.50 (0.40 to 0.60)", "Scores, b: 0.20"]
    assert (axes.get_xlabel(), axes.get_title()) == ("score", "Scores")
    assert figure.get_size_inches().tolist() == pytest.approx([6.4, 1.24])
    with pytest.raises(ConfigError, match="Scores: there is nothing to draw"):
        plots.bar_plot({}, "score", "Scores")


def test_sheets_of_pictures():
    grey, colour = np.zeros((4, 5), dtype=np.uint8), np.zeros((4, 5, 3), dtype=np.uint8)
    figure = plots.picture_sheet([grey, grey[..., None], colour], ["a", "b", "c"], columns=2)
    assert figure.get_size_inches().tolist() == pytest.approx([3.8, 4.2])
    assert [axes.get_title() for axes in figure.axes] == ["a", "b", "c", ""]
    assert not any(axes.axison for axes in figure.axes)
    images = [axes.images[0] for axes in figure.axes[:3]]
    assert [image.get_array().shape for image in images] == [(4, 5), (4, 5), (4, 5, 3)]
    assert [image.get_cmap().name for image in images[:2]] == ["gray", "gray"]
    assert (
        len(plots.picture_sheet([grey] * 7, [""] * 7).axes) == 12 and len(plots.picture_sheet([grey], [""]).axes) == 1
    )
    with pytest.raises(ConfigError, match="there is no picture to draw"):
        plots.picture_sheet([], [])


def test_shares_just_at_and_beside_the_edges_of_what_is_written(axes):
    shares = np.array([[0.0049, 0.005, 0.0051, 0.994, 0.995, 0.6, 0.601]])
    plots.draw_shares(axes, shares, ["r"], range(7), lambda r, c: "")
    assert [text.get_text() for text in axes.texts] == ["0", ".01", ".01", ".99", "1", ".60", ".60"]
    white = [text.get_color() == plots.WHITE for text in axes.texts]
    assert white == [False, False, False, True, True, False, True]


def test_confusion_of_more_rows_than_columns_and_of_single_examples(axes):
    plots.draw_confusion(axes, np.array([[0, 1], [3, 1], [2, 0]]), ["x", "y", "z"], ["p", "q"])
    assert marks(axes) == [
        "x predicted as q: 100 % (1 of 1)", "y predicted as p: 75 % (3 of 4)", "y predicted as q: 25 % (1 of 4)",
        "z predicted as p: 100 % (2 of 2)",
    ]  # fmt: skip
    assert [patch.get_xy() for patch in axes.patches if not patch.get_fill()] == [(-0.5, -0.5), (0.5, 0.5)]
    assert axes.get_xlim() == (-0.5, 1.5) and axes.get_ylim() == (2.5, -0.5)
    assert [patch.get_xy() for patch in axes.patches if patch.get_fill()] == [
        (0.5, -0.5),
        (-0.5, 0.5),
        (0.5, 0.5),
        (-0.5, 1.5),
    ]


def test_tall_maps_lose_their_names_and_numbers_as_wide_ones_do():
    tall, taller = Figure().subplots(), Figure().subplots()
    plots.draw_shares(tall, np.full((13, 1), 0.5), range(13), ["c"], lambda r, c: "")
    assert not tall.texts and len(tall.get_yticks()) == 13
    plots.draw_shares(taller, np.full((25, 1), 0.5), range(25), ["c"], lambda r, c: "")
    assert len(taller.get_yticks()) == len(taller.get_xticks()) == 0


def test_a_line_without_one_side_of_its_band_has_none(axes):
    plots.draw_lines(axes, [Line("a", [3.14159, 12345.6], [0.5, 0.25], low=[0.1, 0.2])])
    assert not axes.collections and marks(axes) == ["a, 3.14: 0.50", "a, 1.23e+04: 0.25"]


def test_three_rows_of_bars_share_the_height(axes):
    rows = [Bars(str(n), [PlottedValue(0.1 * n), PlottedValue(0.2)]) for n in (1, 2, 3)]
    plots.draw_bars(axes, ["x", "y"], rows)
    middles = [bar.get_y() + bar.get_height() / 2 for bar in axes.patches]
    third = 0.82 / 3
    assert middles == pytest.approx([-third, 1 - third, 0, 1, third, 1 + third])
    assert {round(bar.get_height(), 6) for bar in axes.patches} == {round(third * 0.9, 6)}


def test_five_maps_are_three_and_two():
    figure = plots.heat_maps({name: (np.eye(2), [0, 1], [0, 1]) for name in "abcde"}, "true", "said")
    assert [axes.axison for axes in figure.axes] == [True] * 5 + [False]
    assert figure.get_size_inches().tolist() == pytest.approx([12.0, 7.2])
    two = plots.heat_maps({name: (np.eye(2), [0, 1], [0, 1]) for name in "ab"}, "true", "said")
    assert len(two.axes) == 2 and two.get_size_inches().tolist() == pytest.approx([8.0, 3.6])


def test_categories_stay_in_their_order(axes):
    plots.draw_bars(axes, ["z", "a", "m"], [Bars("one", [PlottedValue(0.1), PlottedValue(0.2), PlottedValue(0.3)])])
    assert [text.get_text() for text in axes.get_yticklabels()] == ["z", "a", "m"] and axes.get_yticks().tolist() == [
        0,
        1,
        2,
    ]
    assert marks(axes) == ["one, z: 0.10", "one, a: 0.20", "one, m: 0.30"]
