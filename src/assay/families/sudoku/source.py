"""Where the boards of a split come from: valid and invalid ones in fixed proportion, each a function of its place.

Boards are not valid by the number of violated units, by the paper's actions, or with symbols out of place. On a board
full of digits 0 units are violated, or any number from 2 to all. Never exactly 1, for if all units of one kind are
valid then each digit occurs once for every line, and a line that repeats one digit leaves another line without it. Two
are two rows of a band, two columns of a stack or two blocks; a single wrong cell breaks three.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from assay.base import Array, Codes, Draws, SeededPermutation, Streams, numbers_below
from assay.families.sudoku.boards import BLANK, SYMBOLS, BoardShape, Incomplete, valid_boards, write_boards
from assay.logic import ConceptSpace
from assay.worlds import CONTENT, DrawStyle, Split, World

ACTIONS = 6
WORDS = 8
PATIENCE = 12
"""How many moves are tried on a board before it is begun anew, and two more for each unit to be violated."""


def fewest_violated(blanks: int) -> int:
    """Return the least number of violated units that an invalid board can have; blank cells are forgiven there."""
    return 1 if blanks else 2


def apply_action(shape: BoardShape, boards: Array, words: Array) -> Array:
    """Do one of the paper's six actions on each board, drawn from its row of words.

    Two cells of a column and band trade places, or two whole rows of different bands, or a value is copied inside a
    row; each of these also with rows and columns exchanged.
    """
    n, side = shape.block, shape.side
    kind = numbers_below(words[:, 0], ACTIONS)
    band, line = numbers_below(words[:, 1], n), numbers_below(words[:, 2], side)
    first, other_band = numbers_below(words[:, 3], n), (band + 1 + numbers_below(words[:, 4], n - 1)) % n
    second = (first + 1 + numbers_below(words[:, 5], n - 1)) % n
    cells = np.tile(np.arange(shape.cells), (len(boards), 1))
    swapped = kind // 2 == 0
    _swap(cells, swapped, (band * n + first) * side + line, (band * n + second) * side + line)
    lines, grids = np.flatnonzero(kind // 2 == 1), cells.reshape(-1, side, side)
    from_line, to_line = (band * n + first)[lines], (other_band * n + second)[lines]
    grids[lines, from_line], grids[lines, to_line] = grids[lines, to_line], grids[lines, from_line]
    copied = kind // 2 == 2
    target = (band * n + first + 1 + numbers_below(words[:, 6], side - 1)) % side
    cells[copied, (line * side + target)[copied]] = (line * side + band * n + first)[copied]
    turned = np.arange(shape.cells).reshape(side, side).T.ravel()
    cells = np.where((kind % 2 == 1)[:, None], turned[cells][:, turned], cells)
    return np.take_along_axis(boards, cells, axis=1)


def _swap(cells: Array, where: Array, first: Array, second: Array) -> None:
    cells[where, first[where]], cells[where, second[where]] = second[where], first[where]


def corrupt_by_actions(shape: BoardShape, boards: Array, draws: Draws, numbers: Array, most: int) -> Array:
    """Return the boards after 1 to `most` actions each, drawn again where these cancel out."""
    corrupted = boards.copy()
    todo, turn = np.arange(len(boards)), 0
    while len(todo):
        worked = boards[todo]
        counts = 1 + numbers_below(draws.words(numbers[todo], 1, turn)[:, 0], most)
        for step in range(most):
            going = counts > step
            words = draws.words(numbers[todo][going], WORDS, turn + 1 + step)
            worked[going] = apply_action(shape, worked[going], words)
        corrupted[todo] = worked
        todo, turn = todo[~shape.violated_units(worked).any(axis=1)], turn + 1 + most
    return corrupted


def corrupt_by_count(
    shape: BoardShape, boards: Array, draws: Draws, numbers: Array, wanted: Array, incomplete: Incomplete = "violated"
) -> Array:
    """Return the boards changed so that each has exactly the wanted number of violated units.

    Moves are drawn until the number is met. A move that would not bring it nearer, or beyond, is not made, nor one that
    would fill a blank cell: the number of blanks would tell invalid boards.
    """
    corrupted, flags = boards.copy(), shape.violated_units(boards, incomplete)
    counts = flags.sum(axis=1)
    todo, turn = np.flatnonzero(counts != wanted), 0
    while len(todo):
        words = draws.words(numbers[todo], WORDS, turn)
        most = wanted[todo] - counts[todo] if incomplete == "violated" else np.full(len(todo), 3)
        tried = _move(shape, corrupted[todo], flags[todo], most, words)
        tried_flags = shape.violated_units(tried, incomplete)
        now = tried_flags.sum(axis=1)
        as_blank = (tried == BLANK).sum(axis=1) == (boards[todo] == BLANK).sum(axis=1)
        better = (now > counts[todo]) & (now <= wanted[todo]) & as_blank
        changed = todo[better]
        corrupted[changed], flags[changed], counts[changed] = tried[better], tried_flags[better], now[better]
        todo, turn = todo[counts[todo] != wanted[todo]], turn + 1
        stuck = todo[turn % (PATIENCE + 2 * wanted[todo]) == 0]
        corrupted[stuck], flags[stuck], counts[stuck] = boards[stuck], False, 0
    return corrupted


def _move(shape: BoardShape, boards: Array, flags: Array, most: Array, words: Array) -> Array:
    """Change one cell of a board where that violates some unit and at most so many, or do one of the actions."""
    gains = (~flags[:, shape.units_of]).sum(axis=2)
    fit = (gains >= 1) & (gains <= most[:, None]) & (boards != BLANK)
    some = fit.sum(axis=1)
    single = (some > 0) & (words[:, 0] >> np.uint64(63)).astype(bool)
    tried = boards.copy()
    tried[~single] = apply_action(shape, boards[~single], words[~single][:, 1:])
    rank = numbers_below(words[single, 1], some[single])
    cell = (np.cumsum(fit[single], axis=1) <= rank[:, None]).sum(axis=1)
    rows = np.flatnonzero(single)
    step = 1 + numbers_below(words[single, 2], shape.side - 1)
    tried[rows, cell] = (boards[rows, cell] - 1 + step) % shape.side + 1
    return tried


def overwrite_symbols(boards: Array, draws: Draws, numbers: Array, symbols: str, counts: Array) -> Array:
    """Return the boards with this many cells of each overwritten by symbols drawn from a text such as `.0a`."""
    cells = boards.shape[1]
    words = draws.words(numbers, 2 * cells)
    hit = np.argsort(np.argsort(words[:, :cells], axis=1), axis=1) < counts[:, None]
    codes = np.array([SYMBOLS.index(symbol) for symbol in symbols], dtype=np.int8)
    return np.where(hit, codes[numbers_below(words[:, cells:], len(codes))], boards)


def nearest_board(
    shape: BoardShape, board: Array, wanted: Mapping[int, bool], incomplete: Incomplete = "violated"
) -> Array | None:
    """Return a board near this one whose units are valid or not as wanted (by their places), or None if none is found.

    Each step makes the best of all changes of a cell and all swaps of two: first as many wanted units as can be, then
    as few others as can be, then the first in order.
    """
    places, values = np.array(list(wanted), dtype=np.int64), np.array(list(wanted.values()), dtype=bool)
    before = shape.violated_units(board[None], incomplete)[0]
    for _ in range(3 * shape.side):
        now = shape.violated_units(board[None], incomplete)[0]
        amiss = now[places] == values
        if not amiss.any():
            return board
        tried = _edits(shape, board, np.unique(shape.units[places[amiss]]))
        flags = shape.violated_units(tried, incomplete)
        left = (flags[:, places] == values).sum(axis=1)
        repeats = _repeats(shape, tried, places[values])
        others = (np.delete(flags, places, axis=1) != np.delete(before, places)).sum(axis=1)
        best = np.lexsort((others, repeats, left))[0]
        if (left[best], repeats[best]) >= (amiss.sum(), _repeats(shape, board[None], places[values])[0]):
            return None
        board = tried[best]
    return None


def _repeats(shape: BoardShape, boards: Array, units: Array) -> Array:
    """Return how many digits the units lack in total."""
    bits = (np.uint32(1) << boards.astype(np.uint32))[:, shape.units[units]]
    present = np.bitwise_or.reduce(bits, axis=2) & np.uint32((1 << (shape.side + 1)) - 2)
    return np.asarray((shape.side - np.bitwise_count(present).astype(np.int64)).sum(axis=1))


def _edits(shape: BoardShape, board: Array, cells: Array) -> Array:
    """Return the board with one of these cells changed, or swapped with any cell, in every way there is."""
    digits = np.arange(1, shape.side + 1)
    changed = np.repeat(board[None], len(cells) * shape.side, axis=0)
    changed[np.arange(len(changed)), np.repeat(cells, shape.side)] = np.tile(digits, len(cells))
    swapped = np.repeat(board[None], len(cells) * shape.cells, axis=0)
    ones, others = np.repeat(cells, shape.cells), np.tile(np.arange(shape.cells), len(cells))
    rows = np.arange(len(swapped))
    swapped[rows, ones], swapped[rows, others] = board[others], board[ones]
    tried = np.concatenate([changed, swapped])
    return np.asarray(tried[(tried != board).any(axis=1)])


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
        cards = SeededPermutation(good.denominator, self.seed, *self.purpose, "valid").deal(places)
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
        deck = SeededPermutation(len(plan.counts), self.seed, *self.purpose, "counts")
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
