"""Draws the picture strip of the README and the gallery page, from the registry."""

from pathlib import Path

import numpy as np
from PIL import Image

from assay.tasks import TASKS
from assay.tasks.base import Task

HERE = Path(__file__).parent
COLUMNS, HEIGHT, GAP = 4, 112, 10
LONG = 300


def samples(task: Task, count: int) -> list[np.ndarray]:
    """Return pictures of the first worlds of the task's first split."""
    worlds = task.worlds_in(task.splits()[0], 0).worlds(np.arange(count))
    return [picture.image for picture in task.render_all(worlds)]


def scaled(image: np.ndarray) -> Image.Image:
    """Return a picture at the height of the strip, in colour."""
    factor = HEIGHT / image.shape[0]
    size = round(image.shape[1] * factor), HEIGHT
    return Image.fromarray(image).convert("RGB").resize(size, Image.Resampling.NEAREST)


def row_of(pictures: list[Image.Image]) -> Image.Image:
    width = sum(picture.width for picture in pictures) + GAP * (len(pictures) - 1)
    strip = Image.new("RGB", (width, HEIGHT), "white")
    left = 0
    for picture in pictures:
        strip.paste(picture, (left, 0))
        left += picture.width + GAP
    return strip


def shortened(text: str) -> str:
    """Return the beginning of a long formula."""
    return text if len(text) <= LONG else f"{text[:LONG]} ..."


def main() -> None:
    (HERE / "images").mkdir(exist_ok=True)
    page = ["# Gallery", "", "Every registered task, drawn by `python docs/gallery.py`.", ""]
    firsts, families = [], set()
    for name in TASKS:
        task = TASKS[name]()
        pictures = [scaled(image) for image in samples(task, COLUMNS)]
        row_of(pictures).save(HERE / "images" / f"{name}.png")
        family = type(task).__module__
        if family not in families and pictures[0].width <= 4 * HEIGHT:
            families.add(family)
            firsts.append(pictures[0])
        rules = ", ".join(f"`{label.name} = {shortened(str(label.formula))}`" for label in task.knowledge.labels)
        page += [
            f"## {name}",
            "",
            f"{TASKS.entry(name).summary}. Rule: {rules}.",
            "",
            f"![{name}](images/{name}.png)",
            "",
        ]
    row_of(firsts).save(HERE / "images" / "strip.png")
    (HERE / "gallery.md").write_text("\n".join(page))


if __name__ == "__main__":
    main()
