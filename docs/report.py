"""Takes the pictures of the page on reports: `python docs/report.py REPORT.html`."""

import shutil
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1400, 860
COLOURS = 128


def take(page: Page, name: str) -> None:
    """Keep what the screen shows as a small file."""
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS).save(HERE / "images" / f"{name}.png", optimize=True)


def main(report: Path) -> None:
    """Take the first screen in light and dark, and the charts of the first task."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme, name in (("light", "report"), ("dark", "report-dark")):
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
            page.goto(report.resolve().as_uri())
            take(page, name)
            if scheme == "light":
                page.locator("#task-1").evaluate("one => one.scrollIntoView()")
                page.set_viewport_size({"width": WIDTH, "height": 1500})
                take(page, "report-task")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
