"""A table of texts, written as HTML, Markdown or LaTeX."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assay.base import Markdown, escape_text, markdown_table

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
