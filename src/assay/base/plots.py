"""Plots by matplotlib, of plain numbers; what they are of is said by who calls.

The functions `draw_*` put marks into a field of any figure; each mark is named by what it shows, which an SVG file
tells who points at it (see `assay.reporting.plot`). The functions `*_plot` make whole figures for notebooks.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from assay.base.arrays import Array
from assay.base.errors import ConfigError
from assay.base.markup import shorten

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Figure
else:
    Figure = Any

INK, WHITE = "#1c2431", "#ffffff"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK, "#8c6d31")
"""Distinct for colour-blind readers, on light and dark paper; lines also differ in their dashes."""
DASHES: tuple[Any, ...] = (
    "-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)), (0, (8, 3)), (0, (3, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)),
)  # fmt: skip
MARK = "mark: "
"""What the id of a mark begins with; what the mark shows follows."""
MOST_TICKS, MOST_WRITTEN = 24, 12
"""Up to how many rows and columns of a map are named, and up to how many have their numbers written into the cells."""
MOST_POINTS = 12
"""How many points of a line are marked; a line of more has only some of its points marked."""
SEEN, MOST_CELLS = 0.005, 220
"""The smallest share that a map shows, and how many shares at most, the largest."""


class PlottedValue(NamedTuple):
    """A value with its interval, or without."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def text(self) -> str:
        """The numbers in words.

        >>> PlottedValue(0.5, 0.4, 0.61).text, PlottedValue(0.5).text, PlottedValue(math.nan).text
        ('0.50 (0.40 to 0.61)', '0.50', 'unknown')
        """
        if math.isnan(self.value):
            return "unknown"
        return f"{self.value:.2f}" + ("" if math.isnan(self.low) else f" ({self.low:.2f} to {self.high:.2f})")


@dataclass(frozen=True)
class Line:
    """A named line, perhaps with a band around it."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True)
class Bars:
    """A named row of bars, one in each category; NaN where there is none."""

    name: str
    values: Sequence[PlottedValue]


@dataclass(frozen=True)
class Dots:
    """A named row of single values, with their mean and its interval, and what others published with its deviation."""

    name: str
    values: Sequence[float]
    mean: PlottedValue | None = None
    published: PlottedValue | None = None


def mark(artist: "Artist", text: str) -> None:
    """Name a mark by what it shows."""
    artist.set_gid(MARK + text)


def draw_lines(axes: "Axes", lines: Sequence[Line], ticks: Mapping[float, str] | None = None) -> None:
    """Draw lines and their bands; some points of each are marked. `ticks` name places across.

    Parameters
    ----------
    axes
        The field of a figure.
    lines
        Each with its points, and perhaps a band around them.
    ticks
        Names at some points of the axis across.
    """
    for number, line in enumerate(lines):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        if line.low is not None and line.high is not None:
            axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(line.x, line.y, color=colour, linestyle=dash, linewidth=1.6, label=line.name)
        for place in np.unique(np.linspace(0, len(line.x) - 1, MOST_POINTS).round().astype(int)).tolist():
            x, y = line.x[place], line.y[place]
            if not math.isnan(y):
                (point,) = axes.plot([x], [y], linestyle="", marker="o", markersize=4, color=colour, label="_")
                across = (ticks or {}).get(x, f"{x:.3g}")
                band = (math.nan, math.nan)
                if line.low is not None and line.high is not None:
                    band = (line.low[place], line.high[place])
                mark(point, f"{line.name}, {across}: {PlottedValue(y, *band).text}")
    if ticks:
        axes.set_xticks(list(ticks), list(ticks.values()))


def draw_bars(axes: "Axes", categories: Sequence[str], rows: Sequence[Bars]) -> None:
    """Draw bars with intervals to the right, the bars of one category below each other.

    Parameters
    ----------
    axes
        The field of a figure.
    categories
        The names down the side.
    rows
        A bar for each category, by series.
    """
    height = 0.82 / max(1, len(rows))
    for number, bars in enumerate(rows):
        colour, label = COLOURS[number % len(COLOURS)], bars.name
        for place, estimate in enumerate(bars.values):
            down = place + (number - (len(rows) - 1) / 2) * height
            if math.isnan(estimate.value):
                axes.text(0, down, " –", color=colour, va="center", fontsize="small")
                continue
            (bar,) = axes.barh([down], [estimate.value], height * 0.9, color=colour, label=label)
            label = "_"  # the legend names each row once
            mark(bar, f"{bars.name}, {categories[place]}: {estimate.text}")
            if not math.isnan(estimate.low):
                axes.plot([estimate.low, estimate.high], [down, down], color=INK, linewidth=1.1, label="_")
    axes.set_yticks(range(len(categories)), list(categories))
    axes.set_ylim(len(categories) - 0.5, -0.5)
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))


def draw_shares(
    axes: "Axes",
    shares: Array,
    rows: Sequence[Any],
    columns: Sequence[Any],
    texts: Callable[[int, int], str],
    least: float = 0.0,
) -> None:
    """Draw a table of shares from 0 to 1 as shades; `texts(row, column)` says what a cell shows. NaN is left out.

    Parameters
    ----------
    axes
        The field of a figure.
    shares
        A table of numbers from 0 to 1.
    rows
        The names down the side.
    columns
        The names across.
    texts
        What the cell of a row and a column says.
    least
        Cells below it get no number.
    """
    from matplotlib.patches import Rectangle

    written = max(shares.shape) <= MOST_WRITTEN
    known = np.nan_to_num(shares, nan=-1.0)
    least = max(least, float(np.sort(known, axis=None)[-min(MOST_CELLS, known.size)]))
    for row, column in np.argwhere(known >= least).tolist():
        share = float(shares[row, column])
        cell = Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=COLOURS[0], alpha=_shade(share), linewidth=0)
        mark(axes.add_patch(cell), texts(row, column))
        if written:
            colour = WHITE if share > 0.6 else INK
            text = f"{share:.2f}".removeprefix("0") if 0.005 <= share < 0.995 else f"{share:.0f}"
            axes.text(column, row, text, color=colour, ha="center", va="center", fontsize="x-small")
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_aspect("auto")
    if max(len(rows), len(columns)) <= MOST_TICKS:
        names = [str(value) for value in columns]
        turned = sum(map(len, names)) > 40
        axes.set_xticks(range(len(columns)), names, rotation=90 if turned else 0)
        axes.set_yticks(range(len(rows)), [str(value) for value in rows])
    else:
        axes.set_xticks([])
        axes.set_yticks([])


def _shade(share: float) -> float:
    """Return the opacity of a cell: small shares are to be seen on dark paper too."""
    return 0.04 + 0.96 * share if share else 0.0


def draw_confusion(axes: "Axes", counts: Array, rows: Sequence[Any], columns: Sequence[Any]) -> None:
    """Draw counts of true values (rows) by predicted ones (columns) as shares of their rows; right cells are framed.

    Parameters
    ----------
    axes
        The field of a figure.
    counts
        How often each true value (row) was predicted as each value (column).
    rows
        The true values.
    columns
        The predicted values.
    """
    from matplotlib.patches import Rectangle

    sums = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, sums, out=np.zeros(counts.shape), where=sums > 0)

    def text(row: int, column: int) -> str:
        part, whole = int(counts[row, column]), int(sums[row, 0])
        return f"{rows[row]} predicted as {columns[column]}: {100 * part / whole:.0f} % ({part:,} of {whole:,})"

    draw_shares(axes, shares, rows, columns, text, SEEN)
    for place in range(min(len(rows), len(columns))):
        axes.add_patch(Rectangle((place - 0.5, place - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=0.7))


def draw_dots(axes: "Axes", rows: Sequence[Dots]) -> None:
    """Draw single values with their mean and interval, one row below the other, and published values as diamonds."""
    for down, row in enumerate(rows):
        for value in row.values:
            (dot,) = axes.plot([value], [down], linestyle="", marker="o", markersize=4.5, alpha=0.75, color=COLOURS[0])
            mark(dot, f"{row.name}: {value:.3f}")
        if row.mean is not None and not math.isnan(row.mean.value):
            if not math.isnan(row.mean.low):
                axes.plot([row.mean.low, row.mean.high], [down, down], color=INK, linewidth=1.2)
            (mean,) = axes.plot(
                [row.mean.value], [down], linestyle="", marker="|", markersize=11, markeredgewidth=2, color=INK
            )
            mark(mean, f"{row.name}: mean {row.mean.text}")
        if row.published is not None:
            below = down + 0.27
            if not math.isnan(row.published.low):
                axes.plot([row.published.low, row.published.high], [below, below], color=COLOURS[1], linewidth=1.2)
            (point,) = axes.plot(
                [row.published.value], [below], linestyle="", marker="D", markersize=5, color=COLOURS[1]
            )
            mark(point, f"{row.name}: published {row.published.text}")
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)


# -- for notebooks -----------------------------------------------------------------------------------------------------


def new_figure(rows: int = 1, columns: int = 1, size: tuple[float, float] = (5.0, 3.6)) -> "tuple[Figure, list[Axes]]":
    """Return a figure that belongs to no window, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    return figure, list(np.ravel(figure.subplots(rows, columns, squeeze=False)))


def line_plot(curves: Mapping[str, Sequence[float]], across: str, title: str) -> "Figure":
    """Draw curves over their places, each in a field of its own, since they may differ in scale.

    Parameters
    ----------
    curves
        The values of each curve, by name.
    across
        What the values are counted by.
    title
        The title of the figure.
    """
    if not curves:
        raise ConfigError(f"{title}: there is nothing to draw")
    figure, fields = new_figure(1, len(curves), (4.2, 3.0))
    for axes, (name, values) in zip(fields, curves.items(), strict=True):
        draw_lines(axes, [Line(name, [float(place + 1) for place in range(len(values))], values)])
        axes.set(xlabel=across, ylabel=name)
        axes.grid(alpha=0.3)
    figure.suptitle(title)
    return figure


def curve_plot(across: str, points: Sequence[float], curves: Mapping[str, Sequence[float]], title: str) -> "Figure":
    """Draw curves over shared points.

    Parameters
    ----------
    across
        What the points are.
    points
        Where each curve has its values.
    curves
        A value for each point, by the curve's name.
    title
        The title of the figure.
    """
    figure, (axes,) = new_figure()
    draw_lines(axes, [Line(name, points, values) for name, values in curves.items()])
    axes.set(xlabel=across, title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def heat_maps(tables: Mapping[str, tuple[Array, Sequence[Any], Sequence[Any]]], down: str, across: str) -> "Figure":
    """Draw tables of counts as shares of their rows; each has names for its rows and columns.

    Parameters
    ----------
    tables
        Counts with the names of their rows and columns, by title.
    down
        What the rows are.
    across
        What the columns are.
    """
    if not tables:
        raise ConfigError("there is nothing to draw: the model says nothing of concepts")
    columns = min(3, len(tables))
    figure, fields = new_figure(-(-len(tables) // columns), columns, (4.0, 3.6))
    for axes in fields[len(tables) :]:
        axes.set_axis_off()
    for axes, (name, (counts, rows, cols)) in zip(fields, tables.items(), strict=False):
        draw_confusion(axes, counts, rows, cols)
        axes.set(title=name, xlabel=across, ylabel=down)
    return figure


def bar_plot(bars: Mapping[str, tuple[float, float, float]], across: str, title: str) -> "Figure":
    """Draw values with their intervals (value, low, high), one below the other.

    Parameters
    ----------
    bars
        Value, low and high end of the interval, by name.
    across
        What the numbers are.
    title
        The title of the figure.
    """
    if not bars:
        raise ConfigError(f"{title}: there is nothing to draw")
    figure, (axes,) = new_figure(size=(6.4, 0.6 + 0.32 * len(bars)))
    draw_bars(
        axes, [shorten(name, 60) for name in bars], [Bars(title, [PlottedValue(*numbers) for numbers in bars.values()])]
    )
    axes.set(xlabel=across, title=title)
    return figure


def picture_sheet(pictures: Sequence[Array], captions: Sequence[str], columns: int = 6) -> "Figure":
    """Draw pictures in rows, each with a caption.

    Parameters
    ----------
    pictures
        Pictures of height, width and perhaps three channels.
    captions
        A line for each.
    columns
        How many stand in a row.
    """
    if not pictures:
        raise ConfigError("there is no picture to draw")
    rows = -(-len(pictures) // columns)
    figure, fields = new_figure(rows, min(columns, len(pictures)), (1.9, 2.1))
    for axes in fields:
        axes.set_axis_off()
    for axes, picture, caption in zip(fields, pictures, captions, strict=False):
        grey = picture.ndim == 2 or picture.shape[2] == 1
        axes.imshow(picture.reshape(picture.shape[:2]) if grey else picture, cmap="gray" if grey else None)
        axes.set_title(caption, fontsize=7)
    return figure
