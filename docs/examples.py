"""Runs the Python of the pages of families and models, and writes what it shows below it: `python docs/examples.py`.

Blocks of a page are run in order, in one name space. What a block printed before is replaced, text and picture.
`python docs/examples.py models/dpl.md ...` does so for some pages only.
"""

import base64
import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

if __package__:
    from docs.run_notebook import Output, run_code, wrapped
else:
    from run_notebook import Output, run_code, wrapped

HERE = Path(__file__).parent.resolve()
IMAGES = HERE / "images" / "examples"
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?P<text>\n```text\n.*?^```\n)?(?P<picture>\n!\[[^\]]*\]\(\.\./images/examples/[^)]*\)\n)?",
    re.MULTILINE | re.DOTALL,
)
PAGES = ("families", "models")
SMALLER = {
    "n=4000": "n=64",
    "n=1000": "n=64",
    "n=400": "n=64",
    "n=200": "n=40",
    "n=100": "n=40",
    "epochs=12": "epochs=1",
}
"""What a test runs in place of the printed numbers."""


def code_of(page: str) -> list[str]:
    """Return the Python blocks of a page."""
    return [found["code"] for found in BLOCK.finditer(page)]


def smaller(code: str) -> str:
    """Return code with fewer examples and epochs.

    >>> smaller('assay.make("mnadd", n=4000)')
    'assay.make("mnadd", n=64)'
    """
    for long, short in SMALLER.items():
        code = re.sub(rf"\b{long}\b", short, code)
    return code


def with_outputs(page: str, show: Callable[[str], list[Output]], save: Callable[[bytes], str]) -> str:
    """Return a page with the outputs of each block below it; `save` keeps a picture and returns its Markdown."""

    def filled(found: re.Match[str]) -> str:
        parts = [f"```python\n{found['code']}```\n"]
        for output in show(found["code"]):
            if "image/png" in output:
                parts.append(save(base64.b64decode(output["image/png"])) + "\n")
            else:
                parts.append(f"```text\n{wrapped(output['text/plain'])}\n```\n")
        return "\n".join(parts)

    return BLOCK.sub(filled, page)


def write(page: Path) -> None:
    """Run the blocks of a page and write what they show."""
    names: dict[str, object] = {"__name__": "example"}
    saved: list[str] = []
    title = page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")

    def save(picture: bytes) -> str:
        saved.append(f"{page.parent.name}-{page.stem}-{len(saved) + 1}.png")
        (IMAGES / saved[-1]).write_bytes(picture)
        return f"![{title}: example](../images/examples/{saved[-1]})"

    text = with_outputs(page.read_text(encoding="utf-8"), lambda code: list(run_code(code, names)), save)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    chosen = [HERE / name for name in sys.argv[1:]] or [
        page for folder in PAGES for page in sorted((HERE / folder).glob("*.md"))
    ]
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["ASSAY_CACHE"] = "cache"  # so that no path of this machine is shown
        for page in chosen:
            write(page)
            print(page.name, flush=True)
