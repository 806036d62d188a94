"""The templates of pages, and how numbers look in them."""

import math
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from assay.base import Markdown, code_text, escape_text, prose_text, safe_link
from assay.diagnosis import ConceptState
from assay.metrics import format_score


def page_environment(html: bool = True) -> jinja2.Environment:
    """Return what fills templates: those of HTML escape all text, those of Markdown what would be taken for markup."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_load),
        autoescape=html,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=None if html else _markdown,
    )
    environment.filters.update(
        right=format_accuracy,
        score=format_score,
        percent=percent,
        number=number,
        code=lambda text: code_text(str(text)),
        prose=prose if html else prose_text,
        link=safe_link,
    )
    return environment


def _load(name: str) -> str:
    return files("assay.reporting").joinpath(f"templates/{name}").read_text(encoding="utf-8")


def _markdown(value: Any) -> Any:
    """Return text escaped for Markdown; what is `Markdown` already stays as it is."""
    return value if isinstance(value, Markdown) else escape_text(str(value))


def prose(text: str) -> Markup:
    """Return a text for a page, in which what stands between backticks is code.

    >>> prose("See `a < b`.")
    Markup('See <code>a &lt; b</code>.')
    """
    parts = text.split("`")
    pieces = (Markup("<code>{}</code>" if n % 2 else "{}").format(part) for n, part in enumerate(parts))
    return Markup("").join(pieces)


def format_accuracy(concept: ConceptState) -> str:
    """Return how often a concept is right, with its interval."""
    low, high = concept.interval
    return f"{concept.accuracy:.2f} ({low:.2f}–{high:.2f})" if concept.answered else "–"


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return "–" if math.isnan(share) else f"{100 * share:.0f} %"


def number(value: float) -> str:
    """Return a number as text, a dash for one that is not known."""
    return "–" if math.isnan(value) else f"{value:.2f}"
