"""Kandinsky patterns: making data, pictures, boxes and masks included, against rsbench's way and its measured rate.

The alternative restates how rsbench's generator works: overlaps found by drawing each shape alone, shapes drawn at four
times the size with Pillow, sympy's `subs` for the labels, and a PNG by matplotlib and a pickle for each sample. It
skips rsbench's start-up, its filter of worlds (1.8 s for 1,000 of them) and its logging, and has no masks and boxes.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

import joblib
import matplotlib.image
import numpy as np
import sympy
from PIL import Image, ImageDraw

from assay.base import Settings
from assay.dataset import Recipe, make
from benchmarks.timing import Result, rate

MEASURED = 64.0
"""Samples per CPU second of rsbench's own generator with its own 3 x 3 settings, measured once on two shared cores."""
SIDE, ZOOM, SAMPLES = 120, 4, 20


def run() -> list[Result]:
    results = []
    for view in ("figures", "objects"):
        ours = _ours({"view": view})
        results.append(
            Result(f"kand-logic 3 x 3, {view}", "samples", ours, MEASURED, "rsbench's generator, as measured")
        )
        if view == "figures":
            theirs = rate(_theirs, least=1.0)
            results.append(Result("kand-logic 3 x 3, figures", "samples", ours, theirs, "its way, restated"))
    bare = _ours({"masks": False})
    results.append(
        Result("kand-logic 3 x 3, images only", "samples", bare, MEASURED, "rsbench's generator, as measured")
    )
    large = _ours({"side": SIDE, "masks": False})
    results.append(Result("the same at 120 pixels", "samples", large, MEASURED, "rsbench's generator, as measured"))
    return results


def _ours(settings: dict[str, object]) -> float:
    def work() -> int:
        with tempfile.TemporaryDirectory() as folder:
            recipe = Recipe("kand-logic", Settings(settings), train=2000)
            make(recipe, Path(folder) / "data")
            return sum(split.size for split in recipe.splits)

    return rate(work, least=3.0)


def _theirs() -> int:
    random, names = Random(0), sympy.symbols("s1 c1 s2 c2 s3 c3")
    s1, c1, s2, c2, s3, c3 = names
    pairs = [(s1, c1, s2, c2, s3), (s1, c1, s3, c3, s2), (s2, c2, s3, c3, s1)]
    pattern = sympy.Or(*(sympy.And(sympy.Eq(a, c), sympy.Eq(b, d), sympy.Ne(a, e)) for a, b, c, d, e in pairs))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(SAMPLES):
            worlds = [[random.randrange(3) for _ in names] for _ in range(3)]
            figures = [np.array(_figure(random, world)) for world in worlds]
            fits = [pattern.subs(dict(zip(names, world, strict=True))) for world in worlds]
            matplotlib.image.imsave(Path(folder) / f"{number}.png", np.concatenate(figures, axis=1))
            joblib.dump({"label": bool(sympy.And(*fits)), "concepts": worlds}, Path(folder) / f"{number}.joblib")
    return SAMPLES


def _figure(random: Random, world: list[int]) -> Image.Image:
    """Draw until no pixel is inked twice, first in grey at the plain size, then in colour at a larger one."""
    while True:
        spots = [(random.uniform(20, 100), random.uniform(20, 100), random.uniform(20, 40)) for _ in range(3)]
        objects = [(world[2 * i], ("red", "yellow", "blue")[world[2 * i + 1]], spot) for i, spot in enumerate(spots)]
        layers = [np.array(_drawn("L", 1, [(shape, 1, spot)])) for shape, _, spot in objects]
        if np.sum(layers, axis=0).max() == 1:
            return _drawn("RGBA", ZOOM, objects).resize((SIDE, SIDE), Image.Resampling.BICUBIC)


def _drawn(mode: str, zoom: int, objects: Sequence[tuple[int, str | int, tuple[float, float, float]]]) -> Image.Image:
    image = Image.new(mode, (SIDE * zoom, SIDE * zoom), 0 if mode == "L" else "white")
    pen = ImageDraw.Draw(image)
    for shape, fill, (x, y, size) in objects:
        left, top, right, bottom = (zoom * v for v in (x - size / 3, y - size / 3, x + size / 3, y + size / 3))
        if shape == 0:
            pen.rectangle([left, top, right, bottom], fill=fill)
        elif shape == 1:
            pen.ellipse([left, top, right, bottom], fill=fill)
        else:
            pen.polygon([(zoom * x, top), (left, bottom), (right, bottom)], fill=fill)
    return image
