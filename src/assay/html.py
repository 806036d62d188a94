"""Small pieces of text and HTML for notebooks: a table, a picture, text made safe and short."""

import base64
import html
from collections.abc import Sequence

STYLE = "border-collapse:collapse;font-size:13px"
CELL = "padding:2px 8px;text-align:left;vertical-align:top"


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; cells that begin with `<img` are pictures, all others are text."""
    top = "".join(f'<th style="{CELL}">{html.escape(name)}</th>' for name in head)
    body = "".join("<tr>" + "".join(f'<td style="{CELL}">{_cell(cell)}</td>' for cell in row) + "</tr>" for row in rows)
    return f'<table style="{STYLE}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def html_text(text: str, bold: bool = False) -> str:
    """Return a paragraph."""
    safe = html.escape(text).replace("\n", "<br>")
    return f"<p>{f'<b>{safe}</b>' if bold else safe}</p>"


def html_picture(png: bytes, height: int = 64) -> str:
    """Return a picture that needs no other file."""
    data = base64.b64encode(png).decode()
    return f'<img style="image-rendering:pixelated" height="{height}" src="data:image/png;base64,{data}">'


def _cell(cell: str) -> str:
    return cell if cell.startswith("<img ") else html.escape(cell)


def shorten(text: str, most: int) -> str:
    """Return a text that is no longer than this, with dots where something was left out.

    >>> shorten("a, b, c, d", 8)
    'a, b ...'
    """
    return text if len(text) <= most else text[: most - 4] + " ..."
