"""Draws the parts of a model side by side, from a line such as `picture > [encoder] > concepts > (rule) > labels`."""

import re
from dataclasses import dataclass
from html import escape

LINE = re.compile(r"<!-- parts: (.*?) -->", re.DOTALL)
HEIGHT, TOP, BOX, GAP, MARGIN = 92, 14, 44, 34, 14
LETTER, PADDING = 7.6, 13
FILLS = {"data": ("#ffffff", "#94a3b8"), "learned": ("#dbeafe", "#2563eb"), "given": ("#fef3c7", "#b45309")}
MEANING = {"learned": "learned", "given": "given, not learned"}
FONT = 'font-family="system-ui, sans-serif" fill="#111827"'


@dataclass(frozen=True)
class Part:
    """A box: its text, and whether it is data, learned or given."""

    text: str
    kind: str

    @property
    def width(self) -> float:
        """How wide its box is."""
        return len(self.text) * LETTER + 2 * PADDING


def parts_of(page: str) -> list[Part]:
    """Return the parts that a page names.

    >>> [part.kind for part in parts_of("<!-- parts: picture > [encoder] > (rule) -->")]
    ['data', 'learned', 'given']
    """
    found = LINE.search(page)
    if found is None:
        raise ValueError(f"no line of parts in the page that begins with {page[:40]!r}")
    return [_part(" ".join(text.split())) for text in found[1].split(">")]


def _part(text: str) -> Part:
    kind = {"[": "learned", "(": "given"}.get(text[0], "data")
    return Part(text if kind == "data" else text[1:-1], kind)


def draw_parts(parts: list[Part]) -> str:
    """Return the picture as SVG, with a line below that says what the colours mean."""
    left, boxes = float(MARGIN), []
    for place, part in enumerate(parts):
        if place:
            boxes.append(_arrow(left, left + GAP))
            left += GAP
        boxes.append(_box(part, left))
        left += part.width
    kinds = [kind for kind in MEANING if any(part.kind == kind for part in parts)]
    width = max(left + MARGIN, 60 + 160 * len(kinds))
    key = "".join(_key(kind, MARGIN + 160 * place) for place, kind in enumerate(kinds))
    title = escape(" -> ".join(part.text for part in parts))
    size = f'viewBox="0 0 {width:.0f} {HEIGHT}" width="{width:.0f}" height="{HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        f'<title>{title}</title><rect width="100%" height="100%" rx="8" fill="#f8fafc"/>{"".join(boxes)}{key}</svg>\n'
    )


def _box(part: Part, left: float) -> str:
    fill, edge = FILLS[part.kind]
    radius = 22 if part.kind == "data" else 5
    return (
        f'<rect x="{left:.1f}" y="{TOP}" width="{part.width:.1f}" height="{BOX}" rx="{radius}" '
        f'fill="{fill}" stroke="{edge}" stroke-width="1.5"/>'
        f'<text x="{left + part.width / 2:.1f}" y="{TOP + BOX / 2 + 5}" text-anchor="middle" font-size="14" {FONT}>'
        f"{escape(part.text)}</text>"
    )


def _arrow(left: float, right: float) -> str:
    middle, tip = TOP + BOX / 2, right - 4
    head = f"M{tip - 6:.1f} {middle - 5}L{tip:.1f} {middle}L{tip - 6:.1f} {middle + 5}"
    return f'<path d="M{left + 4:.1f} {middle}H{tip:.1f}{head}" fill="none" stroke="#475569" stroke-width="1.5"/>'


def _key(kind: str, left: float) -> str:
    fill, edge = FILLS[kind]
    return (
        f'<rect x="{left}" y="{HEIGHT - 20}" width="11" height="11" rx="2" fill="{fill}" stroke="{edge}"/>'
        f'<text x="{left + 17}" y="{HEIGHT - 10}" font-size="12" {FONT}>{MEANING[kind]}</text>'
    )
