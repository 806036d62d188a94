"""The charts of reports and of studies: what is to be drawn, as plain data, and its SVG.

Each kind is a frozen value with a title, a description for those who cannot see it, and a method `svg`. matplotlib is
imported when the first chart is drawn. What it writes is rewritten for pages on light or dark paper: ink is the page's
own, marks tell what they show; there is no style sheet, style attribute, link or id, so that it may stand in any page,
under any content security policy; and no date, so that equal charts are equal texts.
"""

import io
import re
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from assay.base import (
    INK,
    MARK,
    MOST_TICKS,
    Array,
    Bars,
    Dots,
    draw_bars,
    draw_confusion,
    draw_dots,
    draw_lines,
    draw_shares,
    shorten,
)
from assay.base import Line as Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 340.0, 230.0
"""In points; a chart is as wide as a narrow screen, so that its text is never smaller than the page's notes."""
LETTER, LINE = 5.3, 13.0
"""About the width of a letter and the height of a line of the small text."""
MOST_LETTERS = 22
"""Of longer names the beginning is shown; the whole name is in the title of the mark."""
BAR, CELL, LOW_CELL = 13.0, 24.0, 18.0
INCH = 72.0


SPACE, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
SCALE = 1.2
"""Pixels of a page for each point of a figure."""
FONT = "system-ui, sans-serif"
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "assay",
    "text.parse_math": False,  # names are shown as they are
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "axes.labelsize": 9.5,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that the layout is the same everywhere
}
KEPT = ("fill", "stroke", "fill-opacity", "stroke-opacity", "opacity", "stroke-width", "stroke-dasharray", "font-size",
        "font-weight", "text-anchor")  # fmt: skip
NUMBER = re.compile(r"-?\d+\.\d+")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What XML does not allow in any text."""
_ONE_AT_A_TIME = threading.RLock()
"""Settings of matplotlib and of warnings hold for all threads."""


@contextmanager
def svg_style() -> Iterator[None]:
    """Draw in the manner of the report's pages; figures are made and written inside of it."""
    import matplotlib

    settings: Any = SETTINGS
    with _ONE_AT_A_TIME, warnings.catch_warnings(), matplotlib.rc_context(settings):
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # the reader's fonts may have it
        yield


def svg_of(figure: "Figure", title: str, description: str, name: str) -> str:
    """Return a figure as SVG; `name` keeps the titles of several figures on a page apart."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.StringIO()
    figure.set_canvas(FigureCanvasSVG(figure))
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    drawn = ElementTree.fromstring(CONTROL.sub("", buffer.getvalue()))
    size = drawn.attrib["viewBox"]
    width, height = (round(SCALE * float(number)) for number in size.split()[2:])
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": SPACE.strip("{}"),
            "viewBox": size,
            "width": str(width),
            "height": str(height),
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-description",
            "font-family": FONT,
            "stroke-linejoin": "round",
        },
    )
    ElementTree.SubElement(root, "title", id=f"{name}-title").text = CONTROL.sub("", title)
    ElementTree.SubElement(root, "desc", id=f"{name}-description").text = CONTROL.sub("", description)
    markers = {path.attrib["id"]: path for path in drawn.iter(f"{SPACE}path") if "id" in path.attrib}
    for child in drawn:
        _copy(child, root, markers)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True) + "\n"


def _copy(element: ElementTree.Element, into: ElementTree.Element, markers: dict[str, ElementTree.Element]) -> None:
    """Copy what is seen of an element, without its groups but those that are marks."""
    kind = element.tag.removeprefix(SPACE)
    if kind == "g":
        text = element.get("id", "")
        if text.startswith(MARK):
            into = ElementTree.SubElement(into, "g")
            ElementTree.SubElement(into, "title").text = text.removeprefix(MARK)
        for child in element:
            _copy(child, into, markers)
    elif kind == "path" and element.get("d"):
        ElementTree.SubElement(into, "path", {"d": _short(element.attrib["d"]), **_looks(element)})
    elif kind == "use":
        path = markers[element.attrib[LINK].lstrip("#")]
        place = _short(f"translate({float(element.attrib['x']):.2f} {float(element.attrib['y']):.2f})")
        looks = {**_looks(path), **_looks(element)}
        ElementTree.SubElement(into, "path", {"d": _short(path.attrib["d"], 2), "transform": place, **looks})
    elif kind == "text":
        turned = element.get("transform", "")
        transform = {} if turned.startswith("rotate(-0 ") else {"transform": _short(turned)}
        places = {key: _short(f"{float(value):.2f}") for key, value in element.attrib.items() if key in "xy"}
        ElementTree.SubElement(into, "text", {**places, **transform, **_looks(element)}).text = element.text


def _looks(element: ElementTree.Element) -> dict[str, str]:
    """Return the style of an element as attributes; ink is the colour of the page's text."""
    pairs = (part.partition(":") for part in element.get("style", "").split(";"))
    style = {key.strip(): value.strip().replace(INK, "currentColor") for key, _, value in pairs}
    looks = {key: value for key, value in style.items() if key in KEPT}
    if "font-size" in looks:
        looks["font-size"] = looks["font-size"].removesuffix("px")
    if element.tag == f"{SPACE}text":
        looks.setdefault("fill", "currentColor")
    return looks


def _short(text: str, digits: int = 1) -> str:
    """Return text with numbers rounded and blanks taken out.

    >>> _short("M 12.3456 7.0 \\nL 0.04 -1.25")
    'M12.3 7L0 -1.2'
    """
    rounded = NUMBER.sub(lambda number: f"{round(float(number[0]), digits) + 0.0:g}", text)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(rounded.split())) if text[:1] in "Mm" else rounded


@dataclass(frozen=True)
class _Sheet:
    """The size of a chart and the room around its field, in points."""

    width: float
    field: float
    """The height of the field."""
    title: str
    left: float
    bottom: float
    names: Sequence[str] = ()
    """The names of the legend."""

    @property
    def _title_lines(self) -> list[str]:
        return textwrap.wrap(self.title, int(self.width / 6.3)) if self.title else []

    @property
    def _columns(self) -> int:
        widest = max((len(name) for name in self.names), default=0) * LETTER + 38
        return max(1, min(len(self.names), int(self.width / widest)))

    @contextmanager
    def field_of(self, out: list[str], description: str, name: str) -> "Iterator[Axes]":
        """Give the field to draw into; what was drawn is appended to `out` as SVG."""
        legend = -(-len(self.names) // self._columns) * LINE + 4 if self.names else 0
        top = len(self._title_lines) * 14 + 6
        height = top + self.field + self.bottom + legend
        with svg_style():
            from matplotlib.figure import Figure

            figure = Figure(figsize=(self.width / INCH, height / INCH))
            places = (
                self.left / self.width,
                (self.bottom + legend) / height,
                (self.width - self.left - 12) / self.width,
                self.field / height,
            )
            axes = figure.add_axes(places)
            yield axes
            figure.text(
                2 / self.width, 1 - 2 / height, "\n".join(self._title_lines), va="top", fontsize=11, weight="bold"
            )
            if self.names:
                handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
                shown = [handles[name] for name in self.names if name in handles]
                labels = [shorten(name, MOST_LETTERS) for name in self.names if name in handles]
                spaces = {"handlelength": 2.2, "columnspacing": 1.2, "labelspacing": 0.25, "borderpad": 0.1}
                figure.legend(shown, labels, loc="lower left", ncols=self._columns, **spaces)
            out.append(svg_of(figure, self.title, description, name))


def _room(names: Sequence[Any]) -> float:
    """Return the room that names at the left of a field need."""
    return 12 + LETTER * min(MOST_LETTERS, max((len(str(name)) for name in names), default=0))


@dataclass(frozen=True)
class Chart:
    """Lines over one pair of axes; `ticks` name places on the x axis, which else gets round numbers."""

    title: str
    description: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    ticks: Sequence[tuple[float, str]] = ()
    diagonal: bool = False
    """Whether to draw where x and y are equal."""

    def svg(self, name: str = "chart") -> str:
        """Return the chart as SVG; `name` keeps the titles of several charts on a page apart."""
        out: list[str] = []
        sheet = _Sheet(WIDTH, HEIGHT - 70, self.title, 46, 36, [line.name for line in self.lines])
        with sheet.field_of(out, self.description, name) as axes:
            draw_lines(axes, self.lines, dict(self.ticks))
            if not self.ticks and all(float(x).is_integer() for line in self.lines for x in line.x):
                from matplotlib.ticker import MaxNLocator

                axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))  # no half an epoch
            highest = max((y for line in self.lines for y in (*line.y, *(line.high or ())) if y == y), default=1.0)
            if highest <= 1:  # a share
                axes.set_ylim(top=min(axes.get_ylim()[1], 1.01))
            if self.diagonal:
                ends = max(axes.get_xlim()[0], axes.get_ylim()[0]), min(axes.get_xlim()[1], axes.get_ylim()[1])
                axes.plot(
                    ends, ends, color=INK, linewidth=0.8, linestyle=(0, (2, 2)), alpha=0.6, scalex=False, scaley=False
                )
            axes.grid(axis="y")
            axes.set(xlabel=self.x_label, ylabel=self.y_label)
        return out[0]


@dataclass(frozen=True)
class BarChart:
    """Bars with intervals, those of one category together; shares, from 0 to 1, unless `share` says otherwise."""

    title: str
    description: str
    value_label: str
    categories: Sequence[str]
    rows: Sequence[Bars]
    share: bool = True

    def svg(self, name: str = "bars") -> str:
        """Return the chart as SVG."""
        out: list[str] = []
        height = len(self.categories) * (len(self.rows) * BAR + 6)
        legend = [row.name for row in self.rows] if len(self.rows) > 1 else []
        shown = [shorten(category, MOST_LETTERS) for category in self.categories]
        with _Sheet(WIDTH, max(40, height), self.title, _room(shown), 32, legend).field_of(
            out, self.description, name
        ) as axes:
            draw_bars(axes, self.categories, self.rows)
            axes.set_yticks(range(len(shown)), shown)
            if self.share:
                axes.set_xlim(0, 1)
            axes.grid(axis="x")
            axes.tick_params(axis="y", length=0)
            axes.set_xlabel(self.value_label)
        return out[0]


@dataclass(frozen=True)
class ConfusionMap:
    """Counts of true values (rows) by predicted ones (columns), as shares of their rows."""

    title: str
    description: str
    counts: Array
    rows: Sequence[Any]
    columns: Sequence[Any]

    def svg(self, name: str = "map") -> str:
        """Return the map as SVG."""
        draw = lambda axes: draw_confusion(axes, self.counts, self.rows, self.columns)  # noqa: E731
        return _map_svg(self, draw, ("predicted", "true"), name)


@dataclass(frozen=True)
class ShareMap:
    """A table of shares from 0 to 1 as shades, with their numbers; `texts` say what each cell shows."""

    title: str
    description: str
    shares: Array
    rows: Sequence[str]
    columns: Sequence[str]
    texts: Callable[[int, int], str]

    def svg(self, name: str = "map") -> str:
        """Return the map as SVG."""
        draw = lambda axes: draw_shares(axes, self.shares, self.rows, self.columns, self.texts)  # noqa: E731
        return _map_svg(self, draw, ("", ""), name)


def _map_svg(what: ConfusionMap | ShareMap, draw: "Callable[[Axes], None]", labels: tuple[str, str], name: str) -> str:
    """Return a map as SVG, its cells wide enough for the names of the columns where there is room."""
    across, down = labels
    named = max(len(what.rows), len(what.columns)) <= MOST_TICKS
    left = (_room(what.rows) if named else 12) + (14 if down else 0)
    columns = [shorten(str(column), MOST_LETTERS) for column in what.columns]
    widest = LETTER * max((len(column) for column in columns), default=0) + 8
    room = (WIDTH - left - 12) / max(1, len(columns))
    cell = min(room, max(CELL, widest))
    turned = named and widest > cell
    below = ((_room(columns) if turned else 20) if named else 8) + (14 if across else 0)
    out: list[str] = []
    width, height = (
        max(left + 12 + cell * len(columns), 170.0),
        len(what.rows) * min(cell, CELL if across else LOW_CELL),
    )
    with _Sheet(width, height, what.title, left, below).field_of(out, what.description, name) as axes:
        draw(axes)
        axes.tick_params(length=0)
        if named:
            axes.set_xticks(range(len(columns)), columns, rotation=90 if turned else 0)
            axes.set_yticks(range(len(what.rows)), [shorten(str(row), MOST_LETTERS) for row in what.rows])
        axes.set(xlabel=across, ylabel=down)
    return out[0]


@dataclass(frozen=True)
class DotChart:
    """Single values such as those of seeds, with mean and interval, and published values beside them."""

    title: str
    description: str
    value_label: str
    rows: Sequence[Dots]
    zero: bool = False
    """Whether to draw a line at 0, from which differences are seen."""

    def svg(self, name: str = "dots") -> str:
        """Return the chart as SVG."""
        out: list[str] = []
        shown = [shorten(row.name, MOST_LETTERS + 8) for row in self.rows]
        left = 12 + LETTER * max((len(text) for text in shown), default=0)
        with _Sheet(WIDTH, len(shown) * 24 + 6, self.title, left, 32).field_of(out, self.description, name) as axes:
            if self.zero:
                axes.axvline(0, color=INK, linewidth=0.8, alpha=0.6)
            draw_dots(axes, self.rows)
            axes.set_yticks(range(len(shown)), shown)
            axes.grid(axis="x")
            axes.tick_params(axis="y", length=0)
            axes.set_xlabel(self.value_label)
        return out[0]


AnyChart = Chart | BarChart | ConfusionMap | ShareMap | DotChart


@dataclass(frozen=True)
class ChartGroup:
    """Charts under one heading, in the section of a task or, without one, before all sections."""

    title: str
    charts: tuple[AnyChart, ...]
    task: str = ""
    note: str = ""
    folded: bool = False
