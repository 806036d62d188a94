"""Where the boards of a split come from: valid and invalid ones in fixed proportion, each a function of its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from assay.base import Array, Codes, Deck, Draws, Streams, numbers_below
from assay.families.sudoku.boards import BLANK, SYMBOLS, BoardShape, Incomplete, valid_boards, write_boards
from assay.families.sudoku.corruption import corrupt_by_actions, corrupt_by_count, fewest_violated, overwrite_symbols
from assay.logic import ConceptSpace
from assay.worlds import CONTENT, DrawStyle, Split, World

ConceptKind = Literal["units", "cells", "both"]


@dataclass(frozen=True)
class BoardPlan:
    """What boards a split holds.

    `valid`        the share of valid boards
    `counts`       how many units of an invalid board are violated; each entry equally often
    `actions`      instead of counts: invalid by one to this many of the paper's actions
    `incomplete`   whether a unit with a blank cell is violated, or open and judged by what it holds
    `blanks`       how many cells of every board are blank
    `odd`          symbols out of place: invalid boards are valid ones with some of them
    `odd_cells`    the most cells that show one
    `per_grid`     how many boards share a solved grid, up to symmetry
    `read`         what the concepts are: the validity of units, or the digit of each cell
    """

    shape: BoardShape
    valid: Fraction = Fraction(1, 2)
    counts: tuple[int, ...] = (2,)
    actions: int | None = None
    incomplete: Incomplete = "violated"
    blanks: int = 0
    odd: str = ""
    odd_cells: int = 3
    per_grid: int = 16
    read: Literal["units", "cells"] = "units"

    def codes(self, boards: Array) -> Codes:
        """Return the concepts of boards; a cell without a digit of the game counts as 0."""
        if self.read == "units":
            return (~self.shape.violated_units(boards, self.incomplete)).astype(np.int64)
        return np.where(boards <= self.shape.side, boards, 0).astype(np.int64)

    def violations(self, codes: Codes) -> Array:
        """Return how many units of each board are violated, computed from its concepts."""
        if self.read == "units":
            return np.asarray((codes == 0).sum(axis=1))
        return np.asarray(self.shape.violated_units(codes).sum(axis=1))


class BoardSource:
    """The boards of one split, as a function of the seed and the place."""

    def __init__(
        self,
        plan: BoardPlan,
        space: ConceptSpace,
        split: Split,
        seed: int,
        *purpose: object,
        style: DrawStyle | None = None,
    ) -> None:
        self.plan = plan
        self.space = space
        self.split = split
        self.style = style
        self.seed = seed
        self.purpose = (*purpose, split.name)

    @property
    def total(self) -> int:
        """How many ways there are to fill the cells with digits, valid or not: an upper bound."""
        return int(self.plan.shape.side**self.plan.shape.cells)

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the boards at these places."""
        return self.plan.codes(self.boards(places))

    def worlds(self, places: Array) -> list[World]:
        """Return the boards at these places as worlds, with a style drawn for each if there are pictures."""
        boards = self.boards(places)
        rows, texts = self.plan.codes(boards).tolist(), write_boards(boards)
        if self.style is None:
            plain = zip(rows, texts, strict=True)
            return [World(self.space, tuple(row), {CONTENT: text}) for row, text in plain]
        streams, worlds = Streams(self.seed, *self.purpose), []
        for place, row, text in zip(np.asarray(places).tolist(), rows, texts, strict=True):
            style = {CONTENT: text, **self.style(streams[place], (), self.split.pool)}
            worlds.append(World(self.space, tuple(row), style))
        return worlds

    def contains(self, codes: Codes) -> Array:
        """Return whether boards with these concepts may occur in this split, going by the number of violated units."""
        plan, violated = self.plan, self.plan.violations(codes)
        if plan.odd or plan.actions:
            return np.asarray((violated == 0) | (violated >= fewest_violated(plan.blanks)))
        return np.isin(violated, (0, *plan.counts))

    def boards(self, places: Array) -> Array:
        """Return the boards at these places."""
        places = np.asarray(places, dtype=np.int64)
        plan, good = self.plan, self.plan.valid
        boards = valid_boards(plan.shape, self._draws("grid"), places, plan.per_grid)
        if plan.blanks:
            blanks = np.full(len(places), plan.blanks)
            boards = overwrite_symbols(boards, self._draws("blanks"), places, SYMBOLS[BLANK], blanks)
        rounds = places // good.denominator
        cards = Deck(good.denominator, self.seed, *self.purpose, "valid").deal(places)
        valid = cards < good.numerator
        numbers = rounds * (good.denominator - good.numerator) + cards - good.numerator
        if plan.odd:
            return self._odd(boards, places, valid)
        boards[~valid] = self._invalid(boards[~valid], places[~valid], numbers[~valid])
        return boards

    def _invalid(self, boards: Array, places: Array, numbers: Array) -> Array:
        """Break each board; of all invalid boards these are the ones of these numbers."""
        plan, draws = self.plan, self._draws("invalid")
        if plan.actions is not None:
            return corrupt_by_actions(plan.shape, boards, draws, places, plan.actions)
        deck = Deck(len(plan.counts), self.seed, *self.purpose, "counts")
        wanted = np.array(plan.counts, dtype=np.int64)[deck.deal(numbers)]
        return corrupt_by_count(plan.shape, boards, draws, places, wanted, plan.incomplete)

    def _odd(self, boards: Array, places: Array, valid: Array) -> Array:
        """Put symbols out of place on invalid boards, and blanks on valid ones where these are forgiven."""
        plan, draws = self.plan, self._draws("odd")
        counts = 1 + numbers_below(self._draws("how many").words(places, 1)[:, 0], plan.odd_cells)
        if plan.incomplete == "violated":
            return np.where(valid[:, None], boards, overwrite_symbols(boards, draws, places, plan.odd, counts))
        blank = SYMBOLS[BLANK]
        if blank in plan.odd:
            blanked = overwrite_symbols(boards, draws, places, blank, counts)
            boards = np.where((valid | (plan.odd == blank))[:, None], blanked, boards)
        foreign = plan.odd.replace(blank, "")
        if foreign:
            return np.where(valid[:, None], boards, overwrite_symbols(boards, draws, places, foreign, counts))
        boards[~valid] = self._invalid(boards[~valid], places[~valid], places[~valid])
        return boards

    def _draws(self, *purpose: object) -> Draws:
        return Draws(self.seed, *self.purpose, *purpose)


def violations_fault(counts: Sequence[int], shape: BoardShape, blanks: int) -> str | None:
    """Return why boards cannot have these numbers of violated units, or nothing if they can."""
    units, least = 3 * shape.side, fewest_violated(blanks)
    most = shape.side if blanks else units
    for count in counts:
        if count <= 0:
            return f"{count} violated units is no invalid board; the share of valid ones is valid_ratio"
        if count < least:
            return (
                "exactly 1 violated unit cannot be: on a board full of digits a line that repeats one digit leaves some"
                f" other line without it; 2 to {units} can be, and 1 with blanks and 'incomplete: open'"
            )
        if count > most:
            why = f"with blank cells at most {most} can be asked for" if blanks else f"there are {units} units"
            return f"{count} violated units cannot be: {why} at block size {shape.block}"
    return None
