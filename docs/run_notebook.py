"""Run notebooks that are kept as scripts, and write them with their outputs: a Jupyter file and a page of the docs.

A script's cells begin with `# %%` (code) or `# %% [markdown]` (text in comments). What the last line of a cell gives is
shown as a notebook shows it: as a picture, as HTML, or as text. `python docs/run_notebook.py` writes all of them.
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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
SMALL = re.compile(r"(?P<kept>.*)  # in tests: (?P<small>.*)$", re.MULTILINE)
"""A line that has another form where a test runs it: fewer examples, fewer epochs."""


@dataclass(frozen=True)
class Output:
    """Something that a cell shows: its media type, and the text, HTML or PNG in base64."""

    kind: str
    content: str


@dataclass
class Cell:
    """A piece of a notebook and what it showed when it ran."""

    source: str
    is_code: bool
    outputs: list[Output] = field(default_factory=list)


def cells_of(script: str) -> list[Cell]:
    """Return the cells of a script, without its module docstring."""
    parts = re.split(r"^# %%(.*)\n", script, flags=re.MULTILINE)[1:]
    cells = []
    for mark, body in zip(parts[::2], parts[1::2], strict=True):
        is_code = "[markdown]" not in mark
        lines = body.strip().splitlines()
        text = "\n".join(lines if is_code else [line.removeprefix("#").removeprefix(" ") for line in lines])
        cells.append(Cell(text, is_code))
    return cells


def run_cells(cells: list[Cell], small: bool = False) -> Iterator[Cell]:
    """Run the cells in order, in one name space, and give each with its outputs."""
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in cells:
        if cell.is_code:
            source = SMALL.sub(lambda found: found["small"], cell.source) if small else cell.source
            cell.outputs = list(_run(source, names))
        yield cell


def _run(source: str, names: dict[str, Any]) -> Iterator[Output]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "notebook", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "notebook", "eval"), names)
    if printed.getvalue():
        yield Output("text/plain", printed.getvalue())
    if value is not None:
        yield _shown(value)


def _shown(value: Any) -> Output:
    """Return a value as a notebook shows it."""
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=90, bbox_inches="tight")
        return Output("image/png", base64.b64encode(picture.getvalue()).decode())
    if hasattr(value, "_repr_html_"):
        return Output("text/html", value._repr_html_())
    return Output("text/plain", repr(value))


def notebook(cells: list[Cell]) -> dict[str, Any]:
    """Return a Jupyter notebook."""
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [_jupyter(c, i) for i, c in enumerate(cells)]}


def _jupyter(cell: Cell, number: int) -> dict[str, Any]:
    common = {"id": f"cell-{number}", "metadata": {}, "source": cell.source.splitlines(keepends=True)}
    if not cell.is_code:
        return {"cell_type": "markdown", **common}
    outputs = [{"output_type": "display_data", "metadata": {}, "data": {o.kind: o.content}} for o in cell.outputs]
    return {"cell_type": "code", "execution_count": None, "outputs": outputs, **common}


def page(cells: list[Cell], name: str) -> tuple[str, dict[str, bytes]]:
    """Return the page of the docs, and the pictures that it shows by their file names."""
    parts, pictures = [], dict[str, bytes]()
    for cell in cells:
        parts.append(f"```python\n{cell.source}\n```" if cell.is_code else cell.source)
        for output in cell.outputs:
            if output.kind == "image/png":
                file = f"{name}-{len(pictures) + 1}.png"
                pictures[file] = base64.b64decode(output.content)
                parts.append(f"![{name}, picture {len(pictures)}](../images/notebooks/{file})")
            elif output.kind == "text/html":
                parts.append(output.content)
            else:
                parts.append("```text\n" + output.content.rstrip() + "\n```")
    return "\n\n".join(parts) + "\n", pictures


def write(script: Path) -> None:
    """Run a script whole and write its notebook, its page and its pictures."""
    cells = list(run_cells(cells_of(script.read_text())))
    script.with_suffix(".ipynb").write_text(json.dumps(notebook(cells), indent=1, ensure_ascii=False) + "\n")
    text, pictures = page(cells, script.stem)
    script.with_suffix(".md").write_text(text)
    images = script.parents[1] / "images" / "notebooks"
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
