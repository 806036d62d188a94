"""Sudoku: boards and pictures against the released generator's measured rates and its way of working, restated.

The restated boards shuffle one fixed pattern, board by board; its invalid boards act on them one action at a time. The
restated pictures draw, turn, scale, blur and paste each symbol by itself, and skip the bubbles and the elastic bends.
"""

import io
import tempfile
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from assay.base import Settings
from assay.dataset import Recipe, make
from assay.families.sudoku.source import BoardSource
from assay.families.sudoku.task import Sudoku
from benchmarks.timing import Result, rate

STATED = {2: 19_000.0, 3: 14_000.0, 4: 9_000.0}
"""Valid boards per CPU second of the released generator, by block size, without concepts, labels or files."""
STATED_INVALID, STATED_IMAGES, STATED_TABLE = 6_700.0, 2.0, 1000 / 0.18
BATCH = 1000
SAID = "the released generator, as measured"


def run() -> list[Result]:
    results = [
        Result(f"valid boards, blocks of {n} x {n}", "boards", _boards(n, valid_ratio=0.99), STATED[n], SAID)
        for n in (2, 3, 4)
    ]
    ours = _boards(3, valid_ratio=0.99)
    results.append(Result("valid boards, blocks of 3 x 3", "boards", ours, rate(_pattern), "its way, restated"))
    results += [
        Result("boards, half of them invalid by number", "boards", _boards(3), STATED_INVALID, SAID),
        Result("boards, half invalid by actions", "boards", _boards(3, actions=9), STATED_INVALID, SAID),
        Result("a dataset without pictures", "rows", _made(20_000, {"image": False}), STATED_TABLE, SAID),
    ]
    pictures = _made(200, {})
    results.append(Result("a dataset of pictures, 50 px cells", "rows", pictures, STATED_IMAGES, SAID))
    theirs = rate(_drawn, least=1.0)
    results.append(Result("a dataset of pictures, 50 px cells", "rows", pictures, theirs, "its way, restated"))
    return results


def _boards(block: int, **settings: object) -> float:
    """Return how many boards are made, concepts included."""
    task = Sudoku(Settings({"image": False, "block_size": block, **settings}))
    source = task.source_for(task.splits()[0], 0)
    assert isinstance(source, BoardSource)
    done = [0]

    def work() -> int:
        done[0] += BATCH
        return len(source.codes(np.arange(done[0], done[0] + BATCH)))

    return rate(work, least=1.0)


def _made(train: int, settings: dict[str, object]) -> float:
    def work() -> int:
        with tempfile.TemporaryDirectory() as folder:
            recipe = Recipe("sudoku", Settings(settings), train=train)
            make(recipe, Path(folder) / "data")
            return sum(split.size for split in recipe.splits)

    return rate(work, least=2.0)


def _pattern() -> int:
    random = Random(0)
    for _ in range(100):
        lines = [
            [3 * band + line for band in random.sample(range(3), 3) for line in random.sample(range(3), 3)]
            for _ in range(2)
        ]
        digits = random.sample(range(1, 10), 9)
        np.array([[digits[(3 * (r % 3) + r // 3 + c) % 9] for c in lines[1]] for r in lines[0]])
    return 100


def _drawn() -> int:
    random, cell = Random(0), 50
    printed, written = ImageFont.load_default(25), ImageFont.load_default(30)
    picture = Image.new("RGB", (454, 454), "white")
    drawing = ImageDraw.Draw(picture)
    for line in range(10):
        width = 5 if line % 3 == 0 else 2
        drawing.line((2 + line * cell, 0, 2 + line * cell, 454), "black", width)
        drawing.line((0, 2 + line * cell, 454, 2 + line * cell), "black", width)
    for place in range(81):
        x, y = 2 + place % 9 * cell, 2 + place // 9 * cell
        digit = str(random.randint(1, 9))
        if random.random() < 0.35:
            drawing.text((x + 25, y + 25), digit, (30, 30, 30), printed, anchor="mm")
            continue
        glyph = Image.new("RGBA", (2 * cell, 2 * cell), (255, 255, 255, 0))
        ImageDraw.Draw(glyph).text((cell, cell), digit, (26, 71, 180, 255), written, anchor="mm")
        side = round(2 * cell * random.uniform(0.8, 1.2))
        glyph = glyph.rotate(random.uniform(-15, 15), Image.Resampling.BICUBIC)
        glyph = glyph.resize((side, side), Image.Resampling.LANCZOS)
        glyph = glyph.filter(ImageFilter.GaussianBlur(random.choice([0, 0, 0, 0.5, 1])))
        picture.paste(glyph, (x + 25 - side // 2 + random.randint(-6, 6), y + 25 - side // 2), glyph)
    picture.save(io.BytesIO(), "PNG")
    return 1
