"""What pages are made of: templates, how numbers look in them, and tables as HTML, Markdown or LaTeX."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from assay.base import Markdown, code_text, escape_text, markdown_table, prose_text, safe_link
from assay.diagnosis import ConceptState
from assay.metrics import format_score

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "–": "--",
    "−": r"$-$",
    "α": r"$\alpha$",
    "μ": r"$\mu$",
}


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


@dataclass(frozen=True)
class Table:
    """A caption, a head, and rows; the first `stubs` columns say what a row is about."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    stubs: int = 1
    note: str = ""
    open: bool = False
    """Whether a page shows it without being asked to."""

    @property
    def html(self) -> Markup:
        """The table for a page."""
        head = Markup("").join(Markup('<th scope="col">{}</th>').format(text) for text in self.head)
        rows = Markup("").join(Markup("<tr>{}</tr>\n").format(self._row(row)) for row in self.rows)
        note = Markup('<p class="soft">{}</p>').format(self.note) if self.note else ""
        return Markup(
            '<div class="scroll" tabindex="0" role="group" aria-label="{}"><table><caption>{}</caption>\n'
            "<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>{}"
        ).format(self.caption, self.caption, head, rows, note)

    def _row(self, row: Sequence[str]) -> Markup:
        stubs = (Markup('<th scope="row">{}</th>').format(text) for text in row[: self.stubs])
        rest = (Markup("<td>{}</td>").format(text) for text in row[self.stubs :])
        return Markup("").join([*stubs, *rest])

    @property
    def markdown(self) -> Markdown:
        """The table for a README."""
        lines = [f"**{escape_text(self.caption)}**", "", markdown_table(self.head, self.rows)]
        return Markdown("\n".join([*lines, *(["", escape_text(self.note)] if self.note else [])]))

    @property
    def latex(self) -> str:
        """The table for a paper, in the manner of the package booktabs."""
        columns = "l" * self.stubs + "r" * (len(self.head) - self.stubs)
        body = [_latex_line(row) for row in self.rows]
        note = [f"\\\\[2pt]\n\\footnotesize {latex(self.note)}"] if self.note else []
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                f"\\caption{{{latex(self.caption)}}}",
                f"\\begin{{tabular}}{{{columns}}}",
                r"\toprule",
                _latex_line(self.head),
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                *note,
                r"\end{table}",
            ]
        )


def _latex_line(cells: Sequence[str]) -> str:
    return f"{' & '.join(latex(text) for text in cells)} \\\\"


def latex(text: str) -> str:
    r"""Return a text in which LaTeX sees no command.

    >>> latex("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(LATEX.get(sign, sign) for sign in text)


def tex_file(tables: Sequence[Table]) -> str:
    """Return several tables as a file to be read into a paper that uses the package booktabs."""
    return "\n\n".join([r"% \usepackage{booktabs}", *(table.latex for table in tables), ""])
