"""Takes the pictures of the page on the viewer: `python docs/viewer.py DEMO`, a folder that `assay demo` wrote."""

import shutil
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import assay

HERE = Path(__file__).parent
WIDTH = 1000
COLOURS = 128
SETTLED = "() => document.getElementById('main').dataset.shown === location.hash"
JUDGED = "() => !document.querySelector('main [aria-busy], .badge.open')"


def take(page: Page, name: str, height: int) -> None:
    """Keep what the screen shows as a small file."""
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.wait_for_function(JUDGED)
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS).save(HERE / "images" / f"{name}.png", optimize=True)


def go(page: Page, hash: str) -> None:
    """Go to a page of the viewer, and wait until it is there."""
    page.evaluate("hash => { location.hash = hash; }", hash)
    page.wait_for_function(SETTLED)
    page.wait_for_function(JUDGED, timeout=300_000)


def main(demo: Path) -> None:
    """Take the first page, a run, samples that are right by wrong concepts, and a changed concept."""
    viewer = assay.view(demo)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 750})
        page.goto(viewer.url)
        page.wait_for_function(SETTLED)
        page.wait_for_function(JUDGED, timeout=300_000)
        take(page, "viewer-home", 750)
        names = ("dpl on mnadd-evenodd", "cbm on mnlogic", "blackbox on mnlogic")
        links = [page.locator("table.runs a", has_text=name).first.get_attribute("href") or "" for name in names]
        (_, _, data, dpl), (_, _, bits, cbm), (*_, blackbox) = (link.split("/") for link in links)
        go(page, links[0])
        take(page, "viewer-run", 1250)
        go(page, f"#/data/{data}/test?run={dpl}&outcome=hidden")
        take(page, "viewer-filter", 516)
        go(page, f"#/data/{bits}/hard/5?run={cbm}&versus={blackbox}")
        before = int(page.input_value("#set-b"))
        page.select_option("#set-b", index=1 - before)
        page.wait_for_selector("#outcome:not([aria-busy]) h2", timeout=60_000)
        take(page, "viewer-edit", 648)
        browser.close()
    viewer.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
