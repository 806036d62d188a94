"""The viewer on 100,000 samples and ten runs in a real browser: seconds until a page shows what was asked for.

`python -m benchmarks.browsing` needs Chromium and playwright. Times are wall-clock: run it on an idle machine.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.viewer import write_samples

VISITS = {
    "first page": ("#/", 1.0),
    "samples": ("#/data/data/train", 1.0),
    "filter: a label": ("#/data/data/train?label=y:1", 1.0),
    "filter: near the boundary and wrong": ("#/data/data/train?tag=y:*near&run=run0&outcome=wrong", 1.0),
    "run page": ("#/run/data/run0", 2.0),
}
"""What is visited in turn, and in how many seconds it must be there."""
SHOWN = "() => document.getElementById('main').dataset.shown === location.hash"
LOADED = """() => [...document.images].every(image =>
  image.complete || image.getBoundingClientRect().top > innerHeight)"""
"""Pictures below what is seen are loaded when one comes there."""


def main() -> None:
    """Visit each page once, in a server and a browser that have just started."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as started:
        server = subprocess.Popen(
            [sys.executable, "-m", "assay", "view", *map(str, write_samples(Path(name))), "--no-open"],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            address = next(word for line in server.stderr or () for word in line.split() if word.startswith("http"))
            page = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
            for what, (place, target) in VISITS.items():
                print(f"{what}: {_visit(page, address, place):.2f} s (target {target:g} s)", flush=True)
        finally:
            server.terminate()
            server.wait()


def _visit(page: Any, address: str, place: str) -> float:
    """Return the seconds until a page shows what its address names."""
    start = time.perf_counter()
    if page.url == "about:blank":
        page.goto(address + place)
    else:
        page.evaluate("place => { location.hash = place }", place)
    page.wait_for_function(SHOWN, polling=20)
    page.wait_for_function(LOADED, polling=20)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
