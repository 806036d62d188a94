"""Line charts as SVG: text that any browser draws, with a title and a description for those who cannot see it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 62, 170, 44, 52
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")
"""Distinct for colour-blind readers; lines also differ in their dashes."""
DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 4", "4 2", "1 2", "6 2 2 2")
INK, SOFT, GRID = "#1c2430", "#5b6676", "#d9dee6"


@dataclass(frozen=True)
class Line:
    """A named line, perhaps with a band around it."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


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
        """Return the chart as SVG; `name` keeps the parts of several charts on a page apart."""
        frame = _Frame.around(self)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-labelledby="{name}-title {name}-description" font-family="system-ui, sans-serif" font-size="12">',
            f'<title id="{name}-title">{escape(self.title)}</title>',
            f'<desc id="{name}-description">{escape(self.description)}</desc>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
            _text(LEFT, 24, self.title, size=15, weight="600"),
            *self._axes(frame),
        ]
        if self.diagonal:
            corners = [max(frame.x0, frame.y0), min(frame.x1, frame.y1)]
            ends = " ".join(f"{frame.across(v):.1f},{frame.down(v):.1f}" for v in corners)
            parts.append(
                f'<polyline points="{ends}" fill="none" stroke="{SOFT}" stroke-width="1" stroke-dasharray="3 3"/>'
            )
        for number, line in enumerate(self.lines):
            parts += _draw_line(line, number, frame)
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _axes(self, frame: "_Frame") -> list[str]:
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        parts = []
        for value in rounded_ticks(frame.y0, frame.y1):
            y = frame.down(value)
            parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="{GRID}"/>')
            parts.append(_text(LEFT - 8, y + 4, f"{value:g}", anchor="end", colour=SOFT))
        for value, label in self.ticks or [(v, f"{v:g}") for v in rounded_ticks(frame.x0, frame.x1)]:
            parts.append(_text(frame.across(value), bottom + 18, label, anchor="middle", colour=SOFT))
        parts.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="{INK}"/>')
        parts.append(_text((LEFT + right) / 2, HEIGHT - 12, self.x_label, anchor="middle"))
        middle = (TOP + bottom) / 2
        turned = f'transform="rotate(-90 16 {middle:.1f})"'
        parts.append(
            f'<text x="16" y="{middle:.1f}" text-anchor="middle" fill="{INK}" {turned}>{escape(self.y_label)}</text>'
        )
        return parts


@dataclass(frozen=True)
class _Frame:
    """The ranges of the axes, and where their values lie on the page."""

    x0: float
    x1: float
    y0: float
    y1: float

    @classmethod
    def around(cls, chart: Chart) -> "_Frame":
        across = [float(v) for line in chart.lines for v in line.x] + [value for value, _ in chart.ticks]
        bands = [band for line in chart.lines for band in (line.y, line.low, line.high) if band is not None]
        down = [float(v) for band in bands for v in band if not math.isnan(v)]
        x0, x1 = _range(across)
        y0, y1 = _range(down)
        return cls(x0, x1, max(0.0, y0 - (y1 - y0) * 0.08), y1 + (y1 - y0) * 0.08)

    def across(self, value: float) -> float:
        """Return where a value lies from the left."""
        return LEFT + (value - self.x0) / (self.x1 - self.x0) * (WIDTH - LEFT - RIGHT)

    def down(self, value: float) -> float:
        """Return where a value lies from the top."""
        return HEIGHT - BOTTOM - (value - self.y0) / (self.y1 - self.y0) * (HEIGHT - TOP - BOTTOM)


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.05, high + 0.05)


def rounded_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers inside a range.

    >>> rounded_ticks(0.61, 0.99)
    [0.7, 0.8, 0.9]
    """
    rough = (high - low) / about
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 10) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _text(
    x: float, y: float, text: str, anchor: str = "start", colour: str = INK, size: int = 12, weight: str = "400"
) -> str:
    style = f'text-anchor="{anchor}" fill="{colour}" font-size="{size}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _draw_line(line: Line, number: int, frame: _Frame) -> list[str]:
    """Return the band, the line, its points and its name at the right."""
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    places = [(frame.across(x), frame.down(y)) for x, y in zip(line.x, line.y, strict=True) if not math.isnan(y)]
    parts = []
    if line.low is not None and line.high is not None:
        there = [(frame.across(x), frame.down(y)) for x, y in zip(line.x, line.high, strict=True)]
        back = [(frame.across(x), frame.down(y)) for x, y in zip(line.x, line.low, strict=True)][::-1]
        ring = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*there, *back))
        parts.append(f'<polygon points="{ring}" fill="{colour}" fill-opacity="0.18"/>')
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    parts.append(
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
    )
    if len(places) <= 30:
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    top = TOP + 8 + 20 * number
    start = WIDTH - RIGHT + 12
    key = f'x1="{start}" y1="{top}" x2="{start + 26}" y2="{top}"'
    parts.append(f'<line {key} stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>')
    parts.append(_text(start + 32, top + 4, line.name if len(line.name) <= 20 else line.name[:19] + "…"))
    return parts
