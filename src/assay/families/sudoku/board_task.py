"""What tasks with sudoku boards share: how a board is drawn, from a text in its style."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from assay.base import ConfigError
from assay.families.handwriting.digits import DigitSource, digit_source
from assay.families.sudoku.boards import BoardShape
from assay.families.sudoku.handwriting import Writing
from assay.families.sudoku.painter import BoardPainter
from assay.families.sudoku.settings import BoardConfig
from assay.families.sudoku.style import INKS, BoardAppearance, board_style, symbol_draws
from assay.render import Picture
from assay.tasks import Column, Task
from assay.worlds import CONTENT, Style, World

CELL_BACKBONE = "conv-norm"


class BoardTask(Task):
    """A task whose pictures are boards."""

    config: BoardConfig

    @property
    def shape(self) -> BoardShape:
        """The board's shape."""
        return self.config.shape

    @property
    def columns(self) -> tuple[Column, ...]:
        """The picture, if there is one, and the board as text."""
        return ("image", "text") if self.config.image else ("text",)

    @cached_property
    def appearance(self) -> BoardAppearance:
        """How boards are drawn."""
        return self.config.appearance

    @cached_property
    def digits(self) -> DigitSource | None:
        """The real handwritten digits, if they are in use."""
        return digit_source(self.config.digits) if self.config.image and self.config.hand == "digits" else None

    @cached_property
    def painter(self) -> BoardPainter:
        """What draws boards."""
        return BoardPainter(self.appearance, Writing(self.digits))

    def sources(self) -> dict[str, Any]:
        """Return the name and hash of the digits and of the font file, where they are in use."""
        sources: dict[str, Any] = {}
        if self.digits is not None:
            digits = self.digits
            sources["digits"] = {"name": digits.name, "sha256": digits.sha256, "images": len(digits.images)}
        if self.config.font_file is not None and self.config.image:
            try:
                data = Path(self.config.font_file).read_bytes()
            except OSError as error:
                raise ConfigError(f"font_file {self.config.font_file!r} cannot be read: {error.strerror}") from None
            sources["font"] = {"name": Path(self.config.font_file).name, "sha256": hashlib.sha256(data).hexdigest()}
        return sources

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw how a board looks; what is on it has no say in this."""
        return board_style(self.appearance, rng, pool)

    @property
    def style_choices(self) -> Mapping[str, Sequence[Any]]:
        """The ink of the handwritten digits."""
        return {"ink": [list(ink) for ink in INKS.values()]} if self.config.image else {}

    @cached_property
    def rows(self) -> list[slice]:
        """The part of a board's text that is each row."""
        side = self.shape.side
        return [slice(side * row, side * (row + 1)) for row in range(side)]

    def render(self, world: World) -> Picture:
        """Draw the board, and write it row by row."""
        text = world.style[CONTENT]
        rows = " ".join([text[row] for row in self.rows])
        return Picture(self.painter.image(world.style), text=rows) if self.config.image else Picture(text=rows)

    def ingredients(self, world: World) -> tuple[str, ...]:
        """Return the names of the handwritten images, those of marks last."""
        if not self.config.image or self.config.hand == "printed":
            return ()
        pool = world.style["pool"]
        return tuple(self.painter.writing.name(pool, *pair) for pair in symbol_draws(self.appearance, world.style))
