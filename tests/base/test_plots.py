"""What plots draw: every mark named by what it shows, nothing drawn for what is not known, names where they fit."""

import itertools
import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from assay.base import (
    MARK,
    Bars,
    ConfigError,
    Dots,
    Line,
    PlottedValue,
    bar_plot,
    curve_plot,
    draw_bars,
    draw_confusion,
    draw_dots,
    draw_lines,
    draw_shares,
    heat_maps,
    line_plot,
    picture_sheet,
)


@pytest.fixture
def axes():
    return Figure().subplots()


def marks(axes):
    """Return what the named marks show, in the order in which they were drawn."""
    artists = [*axes.patches, *axes.lines]
    return [a.get_gid().removeprefix(MARK) for a in artists if (a.get_gid() or "").startswith(MARK)]


def written(labels):
    return [text.get_text() for text in labels]


def test_a_value_in_words():
    assert PlottedValue(0.5, 0.4, 0.61).text == "0.50 (0.40 to 0.61)"
    assert PlottedValue(0.126).text == "0.13" and PlottedValue(math.nan, 0.1, 0.2).text == "unknown"


# -- lines -------------------------------------------------------------------------------------------------------------


def test_lines_have_bands_marks_ticks_and_a_legend(axes):
    first = Line("first", [0, 1, 2], [0.5, math.nan, 0.75], [0.25, 0.3, 0.5], [0.625, 0.8, 1.0])
    draw_lines(axes, [first, Line("second", [0, 1.5], [0.1, 0.2], low=[0.1, 0.2])], {0: "none", 2: "all"})
    assert marks(axes) == [
        "first, none: 0.50 (0.25 to 0.62)", "first, all: 0.75 (0.50 to 1.00)", "second, none: 0.10",
        "second, 1.5: 0.20",
    ]  # fmt: skip
    (band,) = axes.collections  # without one of its sides, a line has none
    assert {y for _, y in band.get_paths()[0].vertices.tolist()} == {0.25, 0.3, 0.5, 0.625, 0.8, 1.0}
    assert written(axes.get_xticklabels()) == ["none", "all"] and axes.get_xticks().tolist() == [0, 2]
    assert axes.get_legend_handles_labels()[1] == ["first", "second"]


def test_lines_are_told_apart_by_colour_or_style(axes):
    draw_lines(axes, [Line(str(n), [0.0, 1.0], [float(n), 1.0]) for n in range(9)])
    curves = [line for line in axes.lines if not line.get_label().startswith("_")]
    assert len(curves) == 9 and len({(line.get_color(), line.get_linestyle()) for line in curves[:8]}) == 8


def test_long_lines_have_twelve_marks_with_their_ends(axes):
    x = np.linspace(0, 1, 100).tolist()
    draw_lines(axes, [Line("a", x, x)])
    shown = marks(axes)
    assert len(shown) == 12 and shown[0] == "a, 0: 0.00" and shown[-1] == "a, 1: 1.00"


def test_each_curve_has_a_field_of_its_own_or_all_share_one():
    figure = line_plot({"loss": [3.0, 2.0], "accuracy": [0.5]}, "epoch", "Training")
    assert [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes] == [
        ("epoch", "loss"), ("epoch", "accuracy"),
    ]  # fmt: skip
    assert [marks(axes) for axes in figure.axes] == [["loss, 1: 3.00", "loss, 2: 2.00"], ["accuracy, 1: 0.50"]]
    assert figure.get_suptitle() == "Training"
    (axes,) = curve_plot("budget", [0, 2], {"a": [0.5, 0.75], "b": [0.25, 0.1]}, "Curve").axes
    assert marks(axes) == ["a, 0: 0.50", "a, 2: 0.75", "b, 0: 0.25", "b, 2: 0.10"]
    assert (axes.get_xlabel(), axes.get_title()) == ("budget", "Curve")
    assert written(axes.get_legend().get_texts()) == ["a", "b"]


# -- bars and dots -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3])
def test_bars_stand_beside_each_other_in_the_order_given(axes, count):
    values = [PlottedValue(0.5, 0.25, 0.75), PlottedValue(math.nan), PlottedValue(-0.2)]
    draw_bars(axes, ["z", "a", "m"], [Bars(str(n), values) for n in range(count)])
    shown = [[f"{n}, z: 0.50 (0.25 to 0.75)", f"{n}, m: -0.20"] for n in range(count)]
    assert marks(axes) == [mark for row in shown for mark in row]
    assert written(axes.texts) == [" –"] * count  # what is not known has no bar
    assert written(axes.get_yticklabels()) == ["z", "a", "m"] and axes.get_ylim()[0] > axes.get_ylim()[1]
    assert {bar.get_width() for bar in axes.patches} == {0.5, -0.2} and axes.get_xlim()[0] <= -0.2
    drawn = sorted((bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(drawn))
    if count > 1:
        assert axes.get_legend_handles_labels()[1] == [str(n) for n in range(count)]


def test_bars_with_intervals_and_short_names():
    figure = bar_plot({"a" * 61: (0.5, 0.4, 0.6), "b": (0.2, math.nan, math.nan)}, "score", "Scores")
    (axes,) = figure.axes
    assert marks(axes) == [f"Scores, {'a' * 56} ...: 0.50 (0.40 to 0.60)", "Scores, b: 0.20"]
    assert (axes.get_xlabel(), axes.get_title(), axes.get_xlim()[0]) == ("score", "Scores", 0)


def test_dots_with_means_and_published_values(axes):
    rows = [
        Dots("x", [0.5, 0.625], PlottedValue(0.56, 0.5, 0.62), PlottedValue(0.7, 0.6, 0.8)),
        Dots("y", [0.25], PlottedValue(math.nan), PlottedValue(0.3)),
        Dots("z", [], PlottedValue(0.4)),
    ]
    draw_dots(axes, rows)
    assert marks(axes) == [
        "x: 0.500", "x: 0.625", "x: mean 0.56 (0.50 to 0.62)", "x: published 0.70 (0.60 to 0.80)", "y: 0.250",
        "y: published 0.30", "z: mean 0.40",
    ]  # fmt: skip
    named = [line for line in axes.lines if line.get_gid()]
    assert [line.get_xdata()[0] for line in named] == [0.5, 0.625, 0.56, 0.7, 0.25, 0.3, 0.4]
    assert written(axes.get_yticklabels()) == ["x", "y", "z"]


# -- shares ------------------------------------------------------------------------------------------------------------


def test_shares_are_shades_with_their_numbers(axes):
    shares = np.array([[0.004, 0.25, 1.0], [math.nan, 0.7, 0.0]])
    draw_shares(axes, shares, ["r", "s"], [1, 2, 3], lambda row, column: f"{row} {column}")
    assert marks(axes) == ["0 0", "0 1", "0 2", "1 1", "1 2"] and written(axes.texts) == ["0", ".25", "1", ".70", "0"]
    assert [text.get_position() for text in axes.texts] == [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1)]
    shades = [cell.get_alpha() for cell in axes.patches]
    assert np.argsort(shades).tolist() == [4, 0, 1, 3, 2]  # the larger, the darker
    assert written(axes.get_xticklabels()) == ["1", "2", "3"] and written(axes.get_yticklabels()) == ["r", "s"]
    white = [text.get_color() == "#ffffff" for text in axes.texts]
    assert white == [False, False, True, True, False]  # numbers can be read on what is dark


def test_small_shares_and_those_beyond_the_most_are_left_out(axes):
    draw_shares(axes, np.array([[0.1, 0.2, 0.3]]), ["r"], ["a", "b", "c"], lambda r, c: f"{c}", 0.2)
    assert marks(axes) == ["1", "2"]
    large = Figure().subplots()
    shares = np.arange(400).reshape(20, 20) / 400
    draw_shares(large, shares, range(20), range(20), lambda r, c: f"{20 * r + c}")
    assert marks(large) == [str(n) for n in range(400 - 220, 400)] and not large.texts


@pytest.mark.parametrize(("side", "numbers", "names"), [(12, True, True), (13, False, True), (25, False, False)])
@pytest.mark.parametrize("tall", [False, True])
def test_numbers_and_names_stand_where_there_is_room(axes, side, numbers, names, tall):
    shape = (side, 1) if tall else (1, side)
    draw_shares(axes, np.full(shape, 0.5), range(shape[0]), range(shape[1]), lambda r, c: "")
    ticks = axes.get_yticks() if tall else axes.get_xticks()
    assert bool(axes.texts) == numbers and len(ticks) == (side if names else 0)


@pytest.mark.parametrize(("letters", "turn"), [(20, 0), (21, 90)])
def test_long_names_are_turned(axes, letters, turn):
    draw_shares(axes, np.full((1, 2), 0.5), ["r"], ["a" * letters, "b" * 20], lambda r, c: "")
    assert {text.get_rotation() for text in axes.get_xticklabels()} == {turn}


def frames(axes):
    return [p.get_xy() for p in axes.patches if isinstance(p, Rectangle) and not p.get_fill()]


def test_confusion_is_of_shares_of_rows_with_right_cells_framed(axes):
    draw_confusion(axes, np.array([[1200, 400, 0], [0, 0, 0], [1, 199, 200]]), [*"abc"], [*"abc"])
    assert marks(axes) == [
        "a predicted as a: 75 % (1,200 of 1,600)", "a predicted as b: 25 % (400 of 1,600)",
        "c predicted as b: 50 % (199 of 400)", "c predicted as c: 50 % (200 of 400)",
    ]  # fmt: skip
    # one of 400 is too little to be seen
    assert frames(axes) == [(n - 0.5, n - 0.5) for n in range(3)]


@pytest.mark.parametrize("shape", [(1, 3), (3, 2)])
def test_right_cells_are_framed_as_far_as_there_are_both(axes, shape):
    draw_confusion(axes, np.ones(shape), [*"abc"][: shape[0]], [*"pqr"][: shape[1]])
    assert len(frames(axes)) == min(shape) and len(marks(axes)) == shape[0] * shape[1]


# -- sheets ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_heat_maps_stand_three_in_a_row(count):
    table = np.array([[3, 1], [0, 2]]), ["t", "u"], ["v", "w"]
    figure = heat_maps(dict.fromkeys([*"abcde"][:count], table), "true", "predicted")
    shown = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in shown] == [*"abcde"][:count]
    assert len(figure.axes) == (count if count < 3 else 3 * math.ceil(count / 3))
    assert (shown[-1].get_xlabel(), shown[-1].get_ylabel()) == ("predicted", "true")
    assert marks(shown[0])[0] == "t predicted as v: 75 % (3 of 4)"


def test_sheets_of_pictures():
    grey, colour = np.zeros((4, 5), dtype=np.uint8), np.zeros((4, 5, 3), dtype=np.uint8)
    figure = picture_sheet([grey, grey[..., None], colour], ["a", "b", "c"], columns=2)
    assert [axes.get_title() for axes in figure.axes] == ["a", "b", "c", ""]
    assert not any(axes.axison for axes in figure.axes)
    images = [axes.images[0] for axes in figure.axes[:3]]
    assert [image.get_array().shape for image in images] == [(4, 5), (4, 5), (4, 5, 3)]
    assert [image.get_cmap().name for image in images[:2]] == ["gray", "gray"]


def test_where_there_is_nothing_to_draw_it_is_told():
    for draw in (
        lambda: line_plot({}, "epoch", "Training"),
        lambda: bar_plot({}, "score", "Scores"),
        lambda: picture_sheet([], []),
    ):
        with pytest.raises(ConfigError, match="nothing to draw|no picture to draw"):
            draw()
    with pytest.raises(ConfigError, match="the model says nothing of concepts"):
        heat_maps({}, "true", "predicted")
