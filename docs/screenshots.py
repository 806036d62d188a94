"""Takes the screenshots of the README and the pages: `python docs/screenshots.py DEMO`, with what `assay demo` wrote.

It needs playwright and Chromium: the report's first screen, and the viewer's first page.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import assay

IMAGES = Path(__file__).parent / "images"
WIDTH, HEIGHT, COLOURS = 1280, 860, 256


def take(browser: Browser, address: str, name: str) -> None:
    """Write the first screen at an address as a picture of few colours."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    page.goto(address, wait_until="networkidle")
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    picture.quantize(COLOURS).save(IMAGES / f"{name}.png", optimize=True)


def main(demo: Path) -> None:
    """Take all screenshots of a demo's folder."""
    viewer = assay.view(demo)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        take(browser, (demo / "report" / "report.html").resolve().as_uri(), "report")
        take(browser, viewer.url, "viewer")
        browser.close()
    viewer.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
