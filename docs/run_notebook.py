"""Run the tutorials, which are kept as scripts, and write each with its outputs: a Jupyter file and a page of the docs.

A script's cells begin with `# %%` (code) or `# %% [markdown]` (text in comments). The value of a cell's last line is
shown as a notebook shows it: as a picture, as HTML, or as text. Pages show text in place of HTML, so that they can be
read wherever Markdown is. `python docs/run_notebook.py [NAME.py ...]` writes all of them, or those named.
"""

import ast
import base64
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "tutorials"
SMALL = re.compile(r"(?P<kept>.*)  # in tests: (?P<small>.*)$", re.MULTILINE)
"""A line that has another form where a test runs it: fewer examples, fewer epochs."""
WIDTH = 110
"""After how many characters printed text is broken."""


Output = dict[str, str]
"""What a cell shows, by media type: text, HTML, and a PNG in base64."""


@dataclass
class Cell:
    """A piece of a notebook, its shorter form for tests, and what it showed when it ran."""

    source: str
    is_code: bool
    small: str = ""
    outputs: list[Output] = field(default_factory=list)


def cells_of(script: str) -> list[Cell]:
    """Return the cells of a script, without its module docstring."""
    parts = re.split(r"^# %%(.*)\n", script, flags=re.MULTILINE)[1:]
    cells = []
    for mark, body in zip(parts[::2], parts[1::2], strict=True):
        is_code = "[markdown]" not in mark
        lines = body.strip().splitlines()
        text = "\n".join(lines if is_code else [line.removeprefix("#").removeprefix(" ") for line in lines])
        small = SMALL.sub(lambda found: found["small"], text)
        cells.append(Cell(SMALL.sub(lambda found: found["kept"], text), is_code, small))
    return cells


def run_cells(cells: list[Cell], small: bool = False) -> Iterator[Cell]:
    """Run the cells in order, in one name space, and give each with its outputs."""
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in cells:
        if cell.is_code:
            cell.outputs = list(run_code(cell.small if small else cell.source, names))
        yield cell


def run_code(source: str, names: dict[str, Any]) -> Iterator[Output]:
    """Run code in a name space and give what it printed, and what its last line shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "notebook", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "notebook", "eval"), names)
    if printed.getvalue():
        yield {"text/plain": printed.getvalue()}
    if value is not None:
        yield _shown(value)


def _shown(value: Any) -> Output:
    """Return a value as a notebook shows it."""
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=90, bbox_inches="tight")
        return {"image/png": base64.b64encode(picture.getvalue()).decode()}
    html = {"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {}
    return {"text/plain": repr(value), **html}


def notebook(cells: list[Cell]) -> dict[str, Any]:
    """Return a Jupyter notebook."""
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [_jupyter(c, i) for i, c in enumerate(cells)]}


def _jupyter(cell: Cell, number: int) -> dict[str, Any]:
    common = {"id": f"cell-{number}", "metadata": {}, "source": cell.source.splitlines(keepends=True)}
    if not cell.is_code:
        return {"cell_type": "markdown", **common}
    outputs = [{"output_type": "display_data", "metadata": {}, "data": output} for output in cell.outputs]
    return {"cell_type": "code", "execution_count": None, "outputs": outputs, **common}


def page(cells: list[Cell], name: str) -> tuple[str, dict[str, bytes]]:
    """Return the page of the docs, and the pictures that it shows by their file names."""
    parts, pictures = [], dict[str, bytes]()
    for cell in cells:
        parts.append(f"```python\n{cell.source}\n```" if cell.is_code else cell.source)
        for output in cell.outputs:
            if "image/png" in output:
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode(output["image/png"])
                parts.append(f"![{title_of(cells)}: picture {len(pictures)}](../images/tutorials/{file})")
            else:
                parts.append("```text\n" + wrapped(output["text/plain"]) + "\n```")
    return "\n\n".join(parts) + "\n", pictures


def title_of(cells: list[Cell]) -> str:
    """Return the title of a notebook, without its number."""
    return cells[0].source.partition("\n")[0].lstrip("# ").partition(". ")[2]


def wrapped(text: str) -> str:
    """Return a text with long lines broken, as a page does not break what is printed."""
    lines = [textwrap.wrap(line, WIDTH) if len(line) > WIDTH else [line] for line in text.rstrip().splitlines()]
    return "\n".join(part.rstrip() for parts in lines for part in parts)


def write(script: Path) -> None:
    """Run a script whole and write its notebook, its page and its pictures."""
    cells = list(run_cells(cells_of(script.read_text())))
    script.with_suffix(".ipynb").write_text(json.dumps(notebook(cells), indent=1, ensure_ascii=False) + "\n")
    text, pictures = page(cells, script.stem)
    script.with_suffix(".md").write_text(text)
    images = script.parents[1] / "images" / "tutorials"
    images.mkdir(parents=True, exist_ok=True)
    for old in images.glob(f"{script.stem}-*.png"):
        old.unlink()
    for file, data in pictures.items():
        (images / file).write_bytes(data)


if __name__ == "__main__":
    chosen = [FOLDER.resolve() / Path(name).name for name in sys.argv[1:]] or sorted(FOLDER.resolve().glob("*.py"))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["ASSAY_CACHE"] = "cache"  # so that no path of this machine is shown
        for script in chosen:
            write(script)
            print(script.with_suffix(".ipynb").name)
