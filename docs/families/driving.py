"""Draws the pictures of docs/families/driving.md: samples, each concept by itself, the times of day, the ambulance."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from assay.families.driving.drawing.town import DAYS
from assay.families.driving.rules import CONCEPTS
from assay.families.driving.task import SddOia
from assay.worlds import World

IMAGES = Path(__file__).parents[1] / "images"
WIDTH, HEIGHT, GAP, LINE = 235, 194, 6, 14
QUALITY = 76
"""Of the JPEG files, so that they are small."""


def drawn(task: SddOia, world: World) -> Image.Image:
    """Return a picture at the size of the sheets, taken from one twice as large."""
    return Image.fromarray(task.render(world).image).resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)


def sheet(pictures: Sequence[Image.Image], columns: int, names: Sequence[str] = ()) -> Image.Image:
    """Return pictures in rows, each with its name above it where there are names."""
    above = LINE if names else 0
    rows = -(-len(pictures) // columns)
    whole = Image.new("RGB", (columns * (WIDTH + GAP) - GAP, rows * (HEIGHT + above + GAP) - GAP), "white")
    pen = ImageDraw.Draw(whole)
    for place, picture in enumerate(pictures):
        left, top = place % columns * (WIDTH + GAP), place // columns * (HEIGHT + above + GAP)
        whole.paste(picture, (left, top + above))
        if names:
            pen.text((left + 2, top + 1), names[place], fill="black")
    return whole


def actions(task: SddOia, world: World) -> str:
    """Return the actions that are right in a world."""
    codes = task.knowledge.labels_of(np.array([world.codes]))[0]
    return ", ".join(name for name, code in zip(task.knowledge.label_names, codes, strict=True) if code)


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    task = SddOia()
    splits = {split.name: split for split in task.splits()}
    worlds = task.source_for(splits["train"], 0).worlds(np.arange(40))
    day = next(one for one in worlds if one.style["day"] == "clear")
    empty = day.do({name: name == "clear" for name in task.space.names})
    alone = [task.change_world(empty, {name: True}) or empty for name in CONCEPTS if name != "clear"]
    named = [name for name in CONCEPTS if name != "clear"]
    busy = task.source_for(splits["ood"], 0).worlds(np.arange(40))
    call = next(
        one for one in busy if "forward" in actions(task, one) and "stop" in actions(task, one.do(emergency=False))
    )
    pair = [call.do(emergency=False), call]
    days = [World(one.space, one.codes, {**one.style, "day": day}) for one in worlds[5:6] for day in DAYS]
    sheets = {
        "samples": sheet([drawn(task, one) for one in worlds[:6]], 3, [actions(task, one) for one in worlds[:6]]),
        "road": sheet([drawn(task, one) for one in [empty, *alone[:5]]], 3, ["clear", *named[:5]]),
        "way": sheet([drawn(task, one) for one in alone[5:11]], 3, named[5:11]),
        "right": sheet([drawn(task, one) for one in alone[11:17]], 3, named[11:17]),
        "left": sheet([drawn(task, one) for one in alone[17:]], 3, named[17:]),
        "days": sheet([drawn(task, one) for one in days], 2, list(DAYS)),
        "ambulance": sheet([drawn(task, one) for one in pair], 2, [actions(task, one) for one in pair]),
    }
    for name, made in sheets.items():
        made.save(IMAGES / f"driving-{name}.jpg", quality=QUALITY, optimize=True)


if __name__ == "__main__":
    main()
