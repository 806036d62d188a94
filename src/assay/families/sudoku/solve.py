"""Sudoku puzzles: which digit belongs in an empty cell?

Concepts     the digit of each cell of the solution. A picture shows only the clues; the other cells follow from them.
Rule         the label is the digit of one cell that is never shown; all digits of a row, column or block differ.
Shortcuts    none: the label is a digit that no cell shows. Reading the clues is not enough; they must be solved.
Splits       train, valid, test; `ood` with fewer clues. Every puzzle has exactly one solution.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from assay.base import Array, Codes, Draws
from assay.families.sudoku.boards import BoardShape, draw_symmetry, solve_grids, symmetry_words, write_boards
from assay.families.sudoku.settings import BoardConfig
from assay.families.sudoku.task import CELL_BACKBONE, BoardTask
from assay.logic import (
    AllDifferent,
    Concept,
    ConceptSpace,
    Constraint,
    EncoderGroup,
    Knowledge,
    Value,
    Var,
    some_different,
)
from assay.render import Layout
from assay.worlds import CONTENT, DrawStyle, SeededSource, Source, Split, World

CLUES_TURN, SYMMETRY_TURN = 2, 3


def solutions(shape: BoardShape, puzzle: Array, most: int = 2) -> Array:
    """Return up to so many solutions of a puzzle, whose blank cells are 0.

    >>> solutions(BoardShape(2), np.array([1, 0, 0, 4, 0, 4, 1, 0, 2, 0, 0, 3, 0, 3, 2, 0])).tolist()
    [[1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1]]
    """
    everything = (1 << shape.side) - 1
    domains = [1 << (digit - 1) if digit else everything for digit in puzzle.tolist()]
    return some_different(shape.units.tolist(), shape.side, domains, most) + 1


def choose_clues(shape: BoardShape, grid: Array, order: Array, clues: int) -> Array:
    """Return which cells of a solved grid to show: the first of an order, and more until no other grid has them."""
    shown = np.zeros(shape.cells, dtype=bool)
    shown[order[:clues]] = True
    while len(found := solutions(shape, np.where(shown, grid, 0))) > 1:
        other = next(solution for solution in found if (solution != grid).any())
        shown[order[(other != grid)[order]][0]] = True
    return shown


def draw_puzzles(
    shape: BoardShape, draws: Draws, numbers: Array, per_grid: int, clues: int, hidden: int
) -> tuple[Array, Array]:
    """Return a solved grid for each number, and which of its cells are shown; the `hidden` one never is.

    So many numbers in a row share a puzzle up to symmetry.
    """
    bases, which = np.unique(np.asarray(numbers) // per_grid, return_inverse=True)
    grids = solve_grids(shape, draws, bases)
    orders = np.argsort(draws.words(bases, shape.cells, turn=CLUES_TURN), axis=1)
    masks = np.stack([choose_clues(shape, grid, order, clues) for grid, order in zip(grids, orders, strict=True)])
    boards, shown = np.zeros((2, len(numbers), shape.cells), dtype=np.int8)
    todo, turn = np.arange(len(numbers)), SYMMETRY_TURN
    while len(todo):
        symmetry = draw_symmetry(shape, draws.words(np.asarray(numbers)[todo], symmetry_words(shape), turn))
        boards[todo] = symmetry.apply(grids[which.ravel()[todo]])
        shown[todo] = symmetry.moved(masks[which.ravel()[todo]])
        todo, turn = todo[shown[todo, hidden] == 1], turn + 1
    return boards, shown.astype(bool)


CLUES = {2: (7, 4), 3: (38, 26)}
"""By block size how many clues the puzzles of most splits have, and those of `ood`."""


class SudokuSolveConfig(BoardConfig):
    """What puzzles are made and how they look."""

    cell_px: int = Field(28, ge=8, le=200)
    """The width of a cell in pixels."""
    starters: float = Field(0.0, ge=0, le=1)
    """The share of cells whose clue, if they show one, is printed; the others are handwritten."""
    clues: int | None = Field(None, ge=1)
    """How many cells are shown, or a few more where one solution needs them; by default 7 of 16 or 38 of 81."""
    ood_clues: int | None = Field(None, ge=1)
    """The same for `ood`; by default 4 or 26."""
    asked: str = "r1c1"
    """The cell whose digit is the label; it is never shown."""

    @model_validator(mode="after")
    def _must_leave_cells(self) -> "SudokuSolveConfig":
        self.refuse_shared("is not for puzzles; see clues and ood_clues")
        if self.block_size not in CLUES:
            raise ValueError(
                f"block_size: puzzles of {self.shape.side} x {self.shape.side} cells cannot be solved here"
            )
        if self.asked not in self.shape.cell_names:
            raise ValueError(f"asked: no cell named {self.asked!r}; cells are r1c1 to {self.shape.cell_names[-1]}")
        most = 3 * self.shape.cells // 4
        if max(self.clues or 1, self.ood_clues or 1) > most:
            raise ValueError(f"at most {most} of {self.shape.cells} cells can be shown")
        return self

    def clues_in(self, split: str) -> int:
        """Return how many clues the puzzles of a split have at least."""
        usual, few = CLUES[self.block_size]
        return (self.ood_clues or few) if split == "ood" else (self.clues or usual)


class ClueSource(SeededSource):
    """The puzzles of one split."""

    def __init__(
        self,
        config: SudokuSolveConfig,
        knowledge: Knowledge,
        split: Split,
        seed: int,
        *purpose: object,
        style: DrawStyle,
    ) -> None:
        super().__init__(knowledge, split, seed, *purpose, style=style)
        self.config = config

    @property
    def total(self) -> int:
        """How many ways there are to fill the cells with digits, valid or not: an upper bound."""
        return self.knowledge.space.worlds

    def puzzles(self, places: Array) -> tuple[Array, Array]:
        """Return the solved boards at these places, and which of their cells are shown."""
        config, draws = self.config, Draws(self.seed, *self.purpose, self.split.name, "puzzle")
        hidden = config.shape.cell_names.index(config.asked)
        clues = config.clues_in(self.split.name)
        return draw_puzzles(config.shape, draws, np.asarray(places), config.per_grid, clues, hidden)

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the solutions at these places."""
        return self.puzzles(places)[0].astype(np.int64) - 1

    def worlds(self, places: Array) -> list[World]:
        """Return the puzzles at these places, each with the clues and a style of its own."""
        boards, shown = self.puzzles(places)
        texts = write_boards(np.where(shown, boards, 0))
        plain = self.style_worlds(places, boards.astype(np.int64) - 1)
        pairs = zip(plain, texts, strict=True)
        return [World(world.space, world.codes, {CONTENT: text, **world.style}) for world, text in pairs]

    def contains(self, codes: Codes) -> Array:
        """Return whether each board is a solution."""
        return np.asarray(~self.config.shape.violated_units(np.asarray(codes) + 1).any(axis=1))


class SudokuSolve(BoardTask):
    """Which digit belongs in an empty cell of a sudoku puzzle?"""

    name = "sudoku-solve"
    Config = SudokuSolveConfig
    config: SudokuSolveConfig
    sampling_note: ClassVar[str] = "Solved grids were varied by the game's symmetries; clues leave exactly one solution"
    sizes: ClassVar[Mapping[str, int]] = {"train": 600, "valid": 200, "test": 200, "ood": 200}
    trial: ClassVar[Mapping[str, Any]] = {"block_size": 2, "cell_px": 16}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The digits of the solution, which differ in every unit, and the one that is asked for."""
        shape = self.config.shape
        digits = tuple(range(1, shape.side + 1))
        concepts = tuple(Concept(name, digits) for name in shape.cell_names)
        space = ConceptSpace(concepts, encoders=(EncoderGroup("digit", shape.cell_names),))
        units = zip(shape.unit_names, np.array(shape.cell_names)[shape.units].tolist(), strict=True)
        limits = [
            Constraint(f"{unit}_differs", AllDifferent(tuple(map(Var, names))), ("unit",)) for unit, names in units
        ]
        return Knowledge.of(space, {"digit": Var(self.config.asked)}, limits)

    @cached_property
    def layout(self) -> Layout:
        """The picture, and where each cell shows."""
        if not self.config.image:
            return Layout(0, 0)
        cells = zip(self.config.shape.cell_names, np.arange(self.config.shape.cells)[:, None], strict=True)
        side = self.appearance.side
        return Layout(side, side, 3, {name: self.appearance.box(place) for name, place in cells})

    def splits(self) -> tuple[Split, ...]:
        """Return the splits with their default sizes."""
        return tuple(Split(name, size, pool=self.pools[name], balance="world") for name, size in self.sizes.items())

    def source_for(self, split: Split, seed: int) -> Source:
        """Return the puzzles of a split."""
        return ClueSource(self.config, self.knowledge, split, seed, self.name, self.version, style=self.style)

    def backbones(self) -> dict[str, str]:
        """Return what reads a cell."""
        return {"concept": CELL_BACKBONE}

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the puzzle with digits renamed, so that these cells have the digits wanted and one solution stays."""
        for name, value in changes.items():
            codes, text = np.array(world.codes), world.style[CONTENT]
            old, new = world[name], value
            swap = {self.space.concept(name).code(old): int(new) - 1, self.space.concept(name).code(new): int(old) - 1}
            renamed = tuple(swap.get(code, code) for code in codes.tolist())
            content = text.translate(str.maketrans({str(old): str(new), str(new): str(old)}))
            world = World(self.space, renamed, {**world.style, CONTENT: content})
        return world
