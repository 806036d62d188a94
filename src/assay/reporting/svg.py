"""Figures as small SVG texts, for a page on light or dark paper: ink is the page's own, marks tell what they show.

What matplotlib writes is rewritten: no style sheet, style attribute, link or id, so that it may stand in any page,
under any content security policy; and no date, so that equal figures are equal texts.
"""

import io
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from assay.base import INK, MARK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
