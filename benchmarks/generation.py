"""Making data: shards from the rule's diagram against one image file and one pickle a sample, with sympy labels.

The alternative restates how rsbench's generator works (world by world, `subs` for the label, matplotlib for the
picture, joblib for the metadata), on the same digits. It skips rsbench's own start-up, filtering and logging.
"""

import itertools
import tempfile
from pathlib import Path

import joblib
import matplotlib.image
import numpy as np
import sympy

from assay.base import Settings, rng_for
from assay.dataset import Recipe, make
from assay.families.handwriting.digits import digit_source
from assay.render import encode_png
from assay.tasks import TASKS
from assay.worlds import Split, WorldSource
from benchmarks.timing import Result, rate

SAMPLES = 1000


def run() -> list[Result]:
    return [_xor(), _equations(), _pictures()]


def _ours(task: str, settings: dict[str, object]) -> float:
    def work() -> int:
        with tempfile.TemporaryDirectory() as folder:
            recipe = Recipe(task, Settings(settings), train=SAMPLES)
            make(recipe, Path(folder) / "data")
            return sum(split.size for split in recipe.splits)

    return rate(work, least=1.0)


def _theirs(worlds: list[tuple[int, ...]], expression: sympy.Expr, symbols: tuple[sympy.Symbol, ...]) -> float:
    source = digit_source()

    def work() -> int:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(SAMPLES // 10):
                world = worlds[number % len(worlds)]
                label = expression.subs(dict(zip(symbols, [bool(v) for v in world], strict=True)))
                images = [source.images[source.image_number("train", digit, number)] for digit in world]
                matplotlib.image.imsave(Path(folder) / f"{number}.png", np.concatenate(images, axis=1), cmap="gray")
                meta = {"label": bool(label), "meta": {"concepts": [bool(v) for v in world]}}
                joblib.dump(meta, Path(folder) / f"{number}.joblib")
            return SAMPLES // 10

    return rate(work, least=1.0)


def _xor() -> Result:
    symbols = sympy.symbols("a b c")
    worlds = list(itertools.product([0, 1], repeat=3))
    theirs = _theirs(worlds, sympy.Xor(*symbols), symbols)
    return Result(
        "mnlogic, k = 3", "samples", _ours("mnlogic", {"k": 3}), theirs, "a PNG and a pickle each, sympy labels"
    )


def _equations() -> Result:
    """Draw a balanced sample of the paper's two equations over 8 digits of 7 values; 10 values cannot be listed."""
    task = TASKS["mnmath"](digit_values=list(range(7)))
    split = Split("train", SAMPLES)

    def ours() -> int:
        return len(WorldSource(task.knowledge, split, 0, "bench").codes(np.arange(SAMPLES)))

    def listing() -> int:
        worlds = task.space.all_codes()
        labels = task.knowledge.labels_of(worlds) @ np.array([2, 1])
        for kind in range(4):
            worlds[rng_for(0, kind).choice(np.flatnonzero(labels == kind), SAMPLES // 4)]
        return SAMPLES

    return Result(
        "balanced worlds, 8 digits of 7 values", "worlds", rate(ours), rate(listing), "list all 5,764,801, numpy"
    )


def _pictures() -> Result:
    import io

    from PIL import Image

    source = digit_source()
    image = source.images[:3].transpose(1, 0, 2).reshape(28, -1)

    def ours() -> int:
        encode_png(image)
        return 1

    def pillow() -> int:
        Image.fromarray(image).save(io.BytesIO(), "PNG")
        return 1

    return Result("PNG of 28 x 84", "pictures", rate(ours), rate(pillow), "Pillow")
