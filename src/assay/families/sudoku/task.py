"""Sudoku: is the board valid?

Concepts     whether each row, each column and each block holds every digit exactly once: 27 for blocks of 3 x 3; or,
             with `concepts: cells`, the digit of each of the 81 cells; with `concepts: both`, units made of cells.
Rule         all units are valid.
Shortcuts    boards with many errors tell little: a model that looks at a few units is mostly right. See split `hard`.
Splits       train, valid, test: as many valid as invalid boards; `hard`: invalid ones have the fewest violated units
             that there can be; `ood`: invalid ones show blank cells or symbols that are no digits.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from assay.base import Codes, ConfigError, Settings
from assay.families.handwriting.digits import DigitSource, digit_source
from assay.families.sudoku.boards import KINDS, BoardShape, read_board, write_boards
from assay.families.sudoku.painter import BoardPainter
from assay.families.sudoku.settings import BoardConfig, SudokuConfig, from_released
from assay.families.sudoku.source import BoardPlan, BoardSource, fewest_violated, nearest_board
from assay.families.sudoku.style import INKS, BoardAppearance, Writing, board_style, symbol_draws
from assay.logic import (
    TRUE,
    AllDifferent,
    And,
    Compare,
    Concept,
    ConceptSpace,
    Const,
    Constraint,
    Count,
    EncoderGroup,
    Formula,
    Implies,
    Knowledge,
    Value,
    Var,
    at_least,
)
from assay.render import Layout, Picture
from assay.tasks import Column, Task
from assay.worlds import CONTENT, Source, Split, Style, World

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


class Sudoku(BoardTask):
    """Is a sudoku board valid: every digit once in each row, column and block?"""

    sampling_note: ClassVar[str] = (
        "Boards were solved from empty grids in random order and varied by the game's symmetries; half were corrupted"
    )

    name = "sudoku"
    Config = SudokuConfig
    config: SudokuConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 600, "valid": 200, "test": 200, "hard": 200, "ood": 200}
    pools: ClassVar[Mapping[str, str]] = {**Task.pools, "hard": "test"}

    @classmethod
    def translate_settings(cls, settings: Settings) -> Settings:
        """Understand the released generator's keys."""
        return from_released(settings)

    @property
    def read(self) -> Literal["units", "cells"]:
        """What the concepts are."""
        return "cells" if self.config.concepts == "cells" else "units"

    @cached_property
    def knowledge(self) -> Knowledge:
        """The units or the cells, and whether all units are valid."""
        if self.config.concepts == "cells":
            return _cells(self.shape)
        finer = _cells_of_units(self.shape) if self.config.concepts == "both" else None
        return _units(self.shape, lawful=self.config.incomplete == "violated", cells=finer)

    @cached_property
    def layout(self) -> Layout:
        """The picture, and where each unit or cell shows."""
        shape, appearance = self.shape, self.appearance
        if not self.config.image:
            return Layout(0, 0)
        units = zip(shape.unit_names, shape.units, strict=True)
        cells = zip(shape.cell_names, np.arange(shape.cells)[:, None], strict=True)
        shown = {"units": units, "cells": cells, "both": chain(units, cells)}[self.config.concepts]
        return Layout(appearance.side, appearance.side, 3, {name: appearance.box(part) for name, part in shown})

    def splits(self) -> tuple[Split, ...]:
        """Return the splits; `hard` says in its formula how few units are violated."""
        splits = [Split(name, size, pool=self.pools[name]) for name, size in self.sizes.items()]
        return tuple(replace(split, where=self._where(split.name)) for split in splits)

    def _where(self, name: str) -> Formula:
        if name != "hard" or self.read == "cells":
            return TRUE
        units = [Var(unit) for unit in self.shape.unit_names]
        return at_least(len(units) - max(self.plan("hard").counts), *units)

    def plan(self, split: str) -> BoardPlan:
        """Return what boards a split holds."""
        config, least = self.config, fewest_violated(self.config.blanks)
        ratio = Fraction(config.valid_ratio).limit_denominator(100)
        plan = BoardPlan(
            self.shape, ratio, tuple(config.violations), config.actions, config.incomplete, config.blanks,
            odd_cells=config.odd_cells, per_grid=config.per_grid, read=self.read,
        )  # fmt: skip
        if split == "hard":
            return replace(plan, valid=Fraction(1, 2), counts=(least, least + 1), actions=None)
        if split == "ood":
            return replace(plan, valid=Fraction(1, 2), blanks=0, odd="".join(config.odd_symbols))
        return plan

    def source_for(self, split: Split, seed: int) -> Source:
        """Return the boards of a split."""
        style = self.style if self.config.image else None
        return BoardSource(self.plan(split.name), self.space, split, seed, self.name, self.version, style=style)

    def subconcepts_of(self, worlds: Sequence[World]) -> Codes:
        """Return the digits of all cells, 0 where there is none."""
        boards = np.stack([read_board(world.style[CONTENT]) for world in worlds])
        return replace(self.plan("train"), read="cells").codes(boards)

    def backbones(self) -> dict[str, str]:
        """Return what reads a cell, where cells are read."""
        return {"concept": CELL_BACKBONE} if self.config.concepts == "both" else {}

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the board nearest to this one whose units or cells have the values wanted."""
        wanted = {self.space.place(name): self.space.concept(name).code(value) for name, value in changes.items()}
        before = read_board(world.style[CONTENT])
        if self.read == "units":
            bits = {place: bool(code) for place, code in wanted.items()}
            board = nearest_board(self.shape, before, bits, self.config.incomplete)
        else:
            board = before
            board[list(wanted)] = list(wanted.values())
        if board is None:
            return None
        codes = self.plan("train").codes(board[None])[0].tolist()
        return World(self.space, tuple(codes), {**world.style, CONTENT: write_boards(board[None])[0]})


def _units(shape: BoardShape, lawful: bool, cells: Knowledge | None = None) -> Knowledge:
    """Return the rule over units; what can be true of them together is a law if every digit must be there."""
    kinds = {kind: tuple(f"{kind}{number + 1}" for number in range(shape.side)) for kind in KINDS}
    concepts = tuple(Concept(name, (False, True)) for name in shape.unit_names)
    space = ConceptSpace(concepts, encoders=tuple(EncoderGroup(kind, names) for kind, names in kinds.items()))
    valid = {kind: tuple(Var(name) for name in names) for kind, names in kinds.items()}
    laws = [
        Constraint(
            f"no_lone_{line}_if_{crossing}s_hold",
            Implies(And(valid[crossing]), Compare("!=", Count(valid[line]), Const(shape.side - 1))),
            ("counting",),
        )
        for line in KINDS
        for crossing in KINDS
        if line != crossing and lawful
    ]
    valid_board = And(tuple(Var(name) for name in shape.unit_names))
    return Knowledge.of(space, {"valid": valid_board}, laws, subconcepts=cells)


def _cells(shape: BoardShape) -> Knowledge:
    """Return the rule over cells: all units are valid."""
    return Knowledge.of(_cell_space(shape), {"valid": And(tuple(_valid_units(shape).values()))})


def _cells_of_units(shape: BoardShape) -> Knowledge:
    """Return what makes each unit valid, over its cells."""
    return Knowledge.of(_cell_space(shape), _valid_units(shape))


def _cell_space(shape: BoardShape) -> ConceptSpace:
    values = tuple(range(shape.side + 1))
    concepts = tuple(Concept(name, values) for name in shape.cell_names)
    return ConceptSpace(concepts, encoders=(EncoderGroup("digit", shape.cell_names),))


def _valid_units(shape: BoardShape) -> dict[str, Formula]:
    """Return when each unit is valid: its digits differ, from one another and from 0, which is none."""
    names = np.array(shape.cell_names)[shape.units].tolist()
    units = [AllDifferent((Const(0), *map(Var, unit))) for unit in names]
    return dict(zip(shape.unit_names, units, strict=True))
