"""Draws pictures of every task, the gallery page, and the mosaic of the README: `python docs/gallery.py`.

`python docs/gallery.py page` writes the page only, `mosaic` the mosaic only, and the name of a task its pictures only.
"""

import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from assay.families import FAMILIES
from assay.tasks import TASKS, Task

HERE = Path(__file__).parent
COLUMNS, HEIGHT, GAP = 4, 112, 10
WIDTH, CAPTION, SPACE = 1760, 46, 14
"""The mosaic is twice as wide as pages show it, so that it is sharp on fine screens."""


@dataclass(frozen=True)
class Tile:
    """A picture of the mosaic: a task, the question that its label answers, and which world is shown."""

    task: str
    question: str
    settings: dict[str, Any] = field(default_factory=dict)
    places: tuple[int, ...] = (0,)


KANDINSKY = {
    "side": 320,
    "figures": 1,
    "objects": 5,
    "pattern": "any(x.shape == y.shape and x.colour == y.colour for x, y in pairs(objects))",
}
ROWS = (
    (
        Tile("trains", "Does the train go east?", {"width": 960}, (1,)),
        Tile("chess", "Has White more pieces?", {}, (3,)),
        Tile("clevr-many", "Do two solids match?", {"width": 640, "height": 480}, (2,)),
        Tile("kand-logic", "Are two objects alike?", KANDINSKY, (1,)),
    ),
    (
        Tile("sdd-oia", "May the car turn left?", {"width": 480, "height": 480}, (2,)),
        Tile("sudoku", "Is the board valid?", {}, (1,)),
        Tile("cocologic", "A light and a ride?", {"width": 512, "height": 384}, (6,)),
        Tile("robots", "Is it a glorp?", {"size": 512}, (4,)),
        Tile("mnadd-evenodd", "What is the sum?", {}, (0, 3)),
    ),
    (
        Tile("raven", "Which candidate completes the matrix?", {"side": 128}, (1,)),
        Tile("sudoku-solve", "Which digit in the corner?", {"cell_px": 50}, (1,)),
        Tile("bongard", "Does the last one belong left?", {"side": 128}, (0,)),
    ),
)


def samples(task: Task, places: tuple[int, ...]) -> list[np.ndarray]:
    """Return pictures of worlds of the task's first split."""
    worlds = task.source_for(task.splits()[0], 0).worlds(np.array(places))
    return [picture.image for picture in task.render_all(worlds)]


def scaled(image: np.ndarray, width: int, height: int) -> Image.Image:
    """Return a picture in colour at another size, small ones with their pixels to be seen."""
    how = Image.Resampling.NEAREST if image.shape[0] < height // 3 else Image.Resampling.LANCZOS
    return Image.fromarray(image).convert("RGB").resize((width, height), how)


def row_of(images: list[np.ndarray]) -> Image.Image:
    """Return pictures side by side at the height of the gallery."""
    pictures = [scaled(image, round(image.shape[1] * HEIGHT / image.shape[0]), HEIGHT) for image in images]
    strip = Image.new("RGB", (sum(one.width for one in pictures) + GAP * (len(pictures) - 1), HEIGHT), "white")
    left = 0
    for picture in pictures:
        strip.paste(picture, (left, 0))
        left += picture.width + GAP
    return strip


# -- the mosaic --------------------------------------------------------------------------------------------------------


def tile_image(tile: Tile) -> np.ndarray:
    """Return the picture of a tile; several worlds are put below one another."""
    images = samples(TASKS[tile.task](**tile.settings), tile.places)
    gap = np.full((2, *images[0].shape[1:]), 255, np.uint8)
    parts = [part for image in images for part in (image, gap)][:-1]
    return np.concatenate(parts)


def mosaic_row(tiles: list[Tile]) -> Image.Image:
    """Return pictures side by side, as high as fills the width, each with its question below."""
    from matplotlib import font_manager

    font = ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 27)
    images = [tile_image(tile) for tile in tiles]
    shares = [image.shape[1] / image.shape[0] for image in images]
    height = int((WIDTH - SPACE * (len(images) - 1)) / sum(shares))
    row = Image.new("RGB", (WIDTH, height + CAPTION), "white")
    left = 0
    for tile, image, share in zip(tiles, images, shares, strict=True):
        width = min(round(height * share), WIDTH - left)
        row.paste(scaled(image, width, height), (left, 0))
        ImageDraw.Draw(row).rectangle((left, 0, left + width - 1, height - 1), outline="#d0d7de")
        ImageDraw.Draw(row).text((left + width / 2, height + 7), tile.question, "#24292f", font, "ma")
        left += width + SPACE
    return row


def draw_mosaic() -> Image.Image:
    """Return the rows of pictures, without the tasks that are not there."""
    rows = [mosaic_row([tile for tile in row if tile.task in TASKS]) for row in ROWS]
    sheet = Image.new("RGB", (WIDTH, sum(row.height for row in rows) + SPACE * (len(rows) - 1)), "white")
    top = 0
    for row in rows:
        sheet.paste(row, (0, top))
        top += row.height + SPACE
    return sheet


# -- the page ----------------------------------------------------------------------------------------------------------


def page() -> str:
    """Return the gallery: every task below its family, with its question and its first pictures."""
    parts = ["# Gallery", "Every task with its first pictures, drawn by `python docs/gallery.py`."]
    for family in FAMILIES:
        title = (HERE / "families" / f"{family}.md").read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        about = (importlib.import_module(f"assay.families.{family}").__doc__ or "").strip()
        parts += [f"## {title}", f"{about} [More](families/{family}.md)"]
        for name in TASKS:
            if TASKS[name].__module__.startswith(f"assay.families.{family}."):
                summary = TASKS.entry(name).summary
                parts += [f"### {name}", f"{summary[0].upper()}{summary[1:]}{'' if summary[-1] in '?.)' else '.'}"]
                parts.append(f"![{name}](images/{name}.png)")
    return "\n\n".join(parts) + "\n"


def main(wanted: list[str]) -> None:
    """Draw what is wanted, by default everything."""
    (HERE / "images").mkdir(exist_ok=True)
    for name in [name for name in TASKS if not wanted or name in wanted]:
        row_of(samples(TASKS[name](), tuple(range(COLUMNS)))).save(HERE / "images" / f"{name}.png", optimize=True)
    if not wanted or "mosaic" in wanted:
        draw_mosaic().save(HERE / "images" / "mosaic.webp", quality=80, method=6)
    if not wanted or "page" in wanted:
        (HERE / "gallery.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
