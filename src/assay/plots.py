"""Plots by matplotlib, of plain numbers; what they are of is said by who calls."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.arrays import Array
from assay.distribution import import_extra
from assay.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Figure
else:
    Figure = Any

MOST_TICKS = 24


def new_figure(rows: int = 1, columns: int = 1, size: tuple[float, float] = (5.0, 3.6)) -> "tuple[Figure, list[Axes]]":
    """Return a figure that belongs to no window, and its axes."""
    figure: Figure = import_extra("matplotlib.figure", "a plot").Figure(
        figsize=(size[0] * columns, size[1] * rows), layout="constrained"
    )
    return figure, list(np.ravel(figure.subplots(rows, columns, squeeze=False)))


def line_plot(curves: Mapping[str, Sequence[float]], across: str, title: str) -> "Figure":
    """Draw curves over their places, each in a field of its own, since they may differ in scale."""
    if not curves:
        raise ConfigError(f"{title}: there is nothing to draw")
    figure, fields = new_figure(1, len(curves), (4.2, 3.0))
    for axes, (name, values) in zip(fields, curves.items(), strict=True):
        axes.plot(np.arange(1, len(values) + 1), values, marker="o", markersize=3)
        axes.set(xlabel=across, ylabel=name)
        axes.grid(alpha=0.3)
    figure.suptitle(title)
    return figure


def curve_plot(across: str, points: Sequence[float], curves: Mapping[str, Sequence[float]], title: str) -> "Figure":
    """Draw curves over shared points."""
    figure, (axes,) = new_figure()
    for name, values in curves.items():
        axes.plot(points, values, marker="o", markersize=4, label=name)
    axes.set(xlabel=across, title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def heat_maps(tables: Mapping[str, tuple[Array, Sequence[Any], Sequence[Any]]], down: str, across: str) -> "Figure":
    """Draw tables of counts as shares of their rows; each has names for its rows and columns."""
    if not tables:
        raise ConfigError("there is nothing to draw: the model says nothing of concepts")
    columns = min(3, len(tables))
    figure, fields = new_figure(-(-len(tables) // columns), columns, (4.0, 3.6))
    for axes in fields[len(tables) :]:
        axes.set_axis_off()
    for axes, (name, (counts, rows, cols)) in zip(fields, tables.items(), strict=False):
        sums = counts.sum(axis=1, keepdims=True)
        axes.imshow(np.divide(counts, sums, out=np.zeros(counts.shape), where=sums > 0), vmin=0, vmax=1, cmap="Blues")
        axes.set(title=name, xlabel=across, ylabel=down)
        if max(len(rows), len(cols)) <= MOST_TICKS:
            axes.set_xticks(range(len(cols)), [str(value) for value in cols], rotation=90 if len(cols) > 8 else 0)
            axes.set_yticks(range(len(rows)), [str(value) for value in rows])
    return figure


def bar_plot(bars: Mapping[str, tuple[float, float, float]], across: str, title: str) -> "Figure":
    """Draw values with their intervals (value, low, high), one below the other."""
    if not bars:
        raise ConfigError(f"{title}: there is nothing to draw")
    figure, (axes,) = new_figure(size=(6.4, 0.6 + 0.32 * len(bars)))
    places = np.arange(len(bars))
    values, low, high = (np.array(column) for column in zip(*bars.values(), strict=True))
    axes.barh(places, values, xerr=np.abs(np.stack([values - low, high - values])), color="#4c78a8", ecolor="#333333")
    axes.set_yticks(places, list(bars))
    axes.invert_yaxis()
    axes.set(xlabel=across, title=title)
    return figure


def picture_sheet(pictures: Sequence[Array], captions: Sequence[str], columns: int = 6) -> "Figure":
    """Draw pictures in rows, each with a caption."""
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
