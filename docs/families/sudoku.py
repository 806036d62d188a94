"""Draws the pictures of the sudoku page: one strip for each knob."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from assay.families.sudoku.task import Sudoku

HERE = Path(__file__).parents[1] / "images"
HEIGHT, GAP, COLOURS = 240, 12, 48
STRIPS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "sizes": [("train", {"block_size": size}) for size in (2, 3, 4)],
    "hands": [("train", {"hand": hand}) for hand in ("digits", "strokes", "printed")],
    "fonts": [("train", {"fonts": [font], "starters": 0.7, "candidates": 0}) for font in ("sans", "bold", "slanted")],
    "inks": [("train", {"inks": [ink]}) for ink in ("black", "green", "red", "pencil")],
    "jitter": [("train", {"jitter": jitter, "candidates": 0, "starters": 0}) for jitter in (0, 1, 2)],
    "resolution": [("train", {"cell_px": cell}) for cell in (10, 18, 28)],
    "layout": [("train", {"starters": 0.8, "candidates": 0.8}), ("train", {"grid_px": 3, "block_px": 8})],
    "odd": [("ood", {"odd_symbols": [symbol], "odd_cells": 9, "cell_px": 32}) for symbol in (".", "0", "a")],
}


def picture(split: str, settings: dict[str, Any]) -> Image.Image:
    """Return the first invalid board of a split."""
    task = Sudoku(**settings)
    source = task.source_for(next(held for held in task.splits() if held.name == split), 0)
    worlds = source.worlds(np.arange(12))
    shown = next(world for world in worlds if not all(world.codes))
    image = Image.fromarray(task.render(shown).image)
    enlarged = Image.Resampling.NEAREST if image.height < HEIGHT else Image.Resampling.LANCZOS
    return image.resize((HEIGHT, HEIGHT), enlarged)


def main() -> None:
    HERE.mkdir(exist_ok=True)
    for name, shown in STRIPS.items():
        pictures = [picture(split, settings) for split, settings in shown]
        strip = Image.new("RGB", (len(pictures) * (HEIGHT + GAP) - GAP, HEIGHT), "white")
        for place, one in enumerate(pictures):
            strip.paste(one, (place * (HEIGHT + GAP), 0))
        strip.quantize(COLOURS, dither=Image.Dither.NONE).save(HERE / f"sudoku-{name}.png", optimize=True)


if __name__ == "__main__":
    main()
