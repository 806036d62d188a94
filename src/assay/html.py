"""The door by which text gets into HTML, in notebooks: a table, a picture, a link; all that is given is text.

What strangers wrote (names, values, links) may hold markup. Nothing here takes markup, so nothing here lets it through.
"""

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

STYLE = "border-collapse:collapse;font-size:13px"
CELL = "padding:2px 8px;text-align:left;vertical-align:top"
SCHEME = re.compile(r"[^/?#]*:")
ADDRESS = re.compile(r"[\w.~!$&'()*+,;=:@%/?#\[\]-]*")
"""All that an address may hold: no spaces and signs that browsers leave out, or take for others."""


@dataclass(frozen=True)
class HtmlPicture:
    """A cell of a table that shows a picture, which needs no other file."""

    png: bytes
    height: int = 64


def html_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; all cells are text but those that are `HtmlPicture`."""
    top = "".join(f'<th style="{CELL}">{html.escape(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(f'<td style="{CELL}">{_cell(cell)}</td>' for cell in row) + "</tr>" for row in rows)
    return f'<table style="{STYLE}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def html_text(text: str, bold: bool = False) -> str:
    """Return a paragraph."""
    safe = html.escape(text).replace("\n", "<br>")
    return f"<p>{f'<b>{safe}</b>' if bold else safe}</p>"


def html_lines(text: str) -> str:
    """Return text whose lines and spaces are kept."""
    return f"<pre>{html.escape(text)}</pre>"


def html_link(address: str, note: str = "") -> str:
    """Return a link that opens beside the notebook, with a note after it; an address that is none is text."""
    shown = html.escape(address)
    link = f'<a href="{shown}" target="_blank" rel="noopener">{shown}</a>' if safe_link(address) else shown
    return f"{link} {html.escape(note)}".rstrip()


def safe_link(address: str) -> str:
    """Return an address that a page may link to: of http or https, or relative; else an empty text.

    >>> safe_link("https://example.org/x"), safe_link("runs/a.html#b"), safe_link("javascript:alert(1)")
    ('https://example.org/x', 'runs/a.html#b', '')
    """
    absolute = address.startswith(("http://", "https://"))
    if not ADDRESS.fullmatch(address) or (not absolute and (SCHEME.match(address) or address.startswith("//"))):
        return ""
    return address


def _cell(cell: object) -> str:
    if not isinstance(cell, HtmlPicture):
        return html.escape(str(cell))
    data = base64.b64encode(cell.png).decode()
    return f'<img style="image-rendering:pixelated" height="{int(cell.height)}" src="data:image/png;base64,{data}">'


def shorten(text: str, most: int) -> str:
    """Return a text that is no longer than this, with dots where something was left out.

    >>> shorten("a, b, c, d", 8)
    'a, b ...'
    """
    return text if len(text) <= most else text[: most - 4] + " ..."
