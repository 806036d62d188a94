"""Where the positions of a split come from: real ones out of games, half with a label, some with rules broken.

Item `place` is a function of the seed and the place alone. Items come in blocks that share a few games; the games of a
block are looked through until enough of their positions are of the kind asked for.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from assay.base import Array, Codes, ConfigError, SeededPermutation, Streams, rng_for
from assay.families.chess.games import Games
from assay.families.chess.positions import break_rule, can_break, scatter_pieces
from assay.logic import ConceptSpace
from assay.worlds import DrawStyle, Split, World

GAME = "game"
"""The key of a style that names the game that a position is from."""
PATIENCE = 200
"""How many games are looked through for the positions of one block."""
LOOKED_AT = 24
"""How many positions of a game are tried."""

Judge = Callable[[Codes], Array]


@dataclass(frozen=True)
class PositionPlan:
    """What positions a split holds.

    `games`        where positions come from
    `first`        half-moves before the first position that is taken
    `per_game`     the most positions that are taken from a game
    `label`        what is true of half the positions; by default positions are taken as they come
    `where`        which positions are taken; by default all
    `inside`       which positions the split may hold, rules counted in
    `rules`        the rules that are broken, in turn, for the other share of positions
    `sane`         the share of positions that no rule is broken on
    `counts`       how many rules are broken, each entry equally often
    `scattered`    whether pieces are put on other squares
    """

    games: Games
    first: int
    per_game: int
    label: Judge | None
    where: Judge | None
    inside: Judge
    rules: tuple[str, ...] = ()
    sane: Fraction = Fraction(1, 2)
    counts: tuple[int, ...] = (1,)
    scattered: bool = False


@dataclass(frozen=True)
class Position:
    """A position and the name of its game."""

    row: Array
    game: str


@dataclass(frozen=True)
class PositionRequest:
    """What an item is to be: what its position must suit, its number among such items, and whether rules are broken."""

    kind: Hashable
    number: int
    sane: bool = True


class PositionSource:
    """The positions of one split, as a function of the seed and the place."""

    def __init__(
        self, plan: PositionPlan, space: ConceptSpace, split: Split, seed: int, *purpose: object, style: DrawStyle
    ) -> None:
        self.plan = plan
        self.space = space
        self.split = split
        self.style = style
        self.seed = seed
        self.purpose = (*purpose, split.name)
        self._block = lru_cache(maxsize=256)(self._find_positions)

    @property
    def total(self) -> int:
        """How many ways there are to fill the squares, possible or not: an upper bound."""
        return int(self.space.worlds)

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the positions at these places."""
        rows = [self._position(int(place)).row for place in np.asarray(places).tolist()]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.space))

    def worlds(self, places: Array) -> list[World]:
        """Return the positions at these places as worlds, with a style drawn for each."""
        streams, worlds = Streams(self.seed, *self.purpose), []
        for place in np.asarray(places).tolist():
            position = self._position(place)
            row = tuple(position.row.tolist())
            style = {GAME: position.game, **self.style(streams[place], row, self.split.pool)}
            worlds.append(World(self.space, row, style))
        return worlds

    def contains(self, codes: Codes) -> Array:
        """Return whether each position may occur in this split, going by its formula and the rules."""
        return self.plan.inside(codes)

    def _position(self, place: int) -> Position:
        wanted = self._request(place)
        block, number = divmod(wanted.number, self.plan.per_game)
        position = self._block(wanted.kind, block)[number]
        if wanted.sane:
            return position
        return Position(self._break_rules(place, str(wanted.kind), position.row), position.game)

    def _request(self, place: int) -> PositionRequest:
        """Return what the item at a place is to be; each kind equally often."""
        plan = self.plan
        if plan.rules:
            turn, card = self._deal(place, plan.sane.denominator, "sane")
            sane = card < plan.sane.numerator
            low, high = (0, plan.sane.numerator) if sane else (plan.sane.numerator, plan.sane.denominator)
            turn, rule = self._deal(turn * (high - low) + card - low, len(plan.rules), "rule", sane)
            return PositionRequest(plan.rules[rule], 2 * turn + sane, sane)
        if plan.label is None:
            return PositionRequest(None, place)
        turn, card = self._deal(place, 2, "label")
        return PositionRequest(bool(card), turn)

    def _deal(self, place: int, size: int, *purpose: object) -> tuple[int, int]:
        """Return the round and the card at a place of an endless deal."""
        card = SeededPermutation(size, self.seed, *self.purpose, *purpose).deal(np.array([place]))
        return place // size, int(card[0])

    def _find_positions(self, kind: Hashable, block: int) -> list[Position]:
        """Return the positions of a block: of a kind, all different, from as many games as it takes."""
        plan, positions = self.plan, dict[bytes, Position]()
        kinds = plan.rules or (kind,)  # labels look through the same games, so that a game's number tells nothing
        first = (block * len(kinds) + kinds.index(kind)) * PATIENCE
        for number in range(first, first + PATIENCE):
            game = plan.games.game(self.split.pool, self.split.name, number)
            rng = rng_for(self.seed, *self.purpose, "positions", number)
            rows = self._sample_positions(game.positions, rng)
            for row in rows[self._of_kind(kind, rows)]:
                if len(positions) < plan.per_game:
                    positions.setdefault(row.tobytes(), Position(row, game.name))
            if len(positions) == plan.per_game:
                return list(positions.values())
        what = f"where the label is {kind}" if isinstance(kind, bool) else "of the kind asked for"
        raise ConfigError(f"split {self.split.name!r}: no {plan.per_game} positions {what} in {PATIENCE} games")

    def _sample_positions(self, positions: Array, rng: np.random.Generator) -> Array:
        """Return some positions of a game in any order, pieces scattered where the plan wants it."""
        later = positions[self.plan.first :]
        rows: Array = later[rng.permutation(len(later))[:LOOKED_AT]]
        if self.plan.scattered and len(rows):
            rows = np.stack([scatter_pieces(row, rng) for row in rows])
        return rows

    def _of_kind(self, kind: Hashable, rows: Array) -> Array:
        plan = self.plan
        if not len(rows):
            return np.zeros(0, dtype=bool)
        if plan.rules:
            return np.array([can_break(str(kind), row) for row in rows], dtype=bool)
        fits = np.ones(len(rows), dtype=bool) if plan.where is None else plan.where(rows)
        return fits if plan.label is None else np.asarray(fits & (plan.label(rows) == kind))

    def _break_rules(self, place: int, rule: str, row: Array) -> Array:
        """Break a rule, after others where more are to be broken."""
        rng = rng_for(self.seed, *self.purpose, "break", place)
        _, card = self._deal(place, len(self.plan.counts), "how many")
        for other in rng.permutation([name for name in self.plan.rules if name != rule])[: self.plan.counts[card] - 1]:
            candidate = break_rule(str(other), row, rng) if can_break(str(other), row) else row
            row = candidate if can_break(rule, candidate) else row
        return break_rule(rule, row, rng)


def game_names(style: Mapping[str, object]) -> tuple[str, ...]:
    """Return the name of the game that a position is from."""
    return (str(style[GAME]),) if GAME in style else ()
