"""Chess boards of any size as knowledge, 13 values a square, and the settings of the chess tasks.

Every position keeps the rules of VALUED (section 3.1): eight for both colours, of which the one about both kings is
shared, so that there are 15. Five of the eight are about counting, three about where pieces stand.
"""

from functools import lru_cache
from typing import Literal

from pydantic import Field, model_validator

from assay.families.chess.positions import COLOURS, EMPTY, VALUES
from assay.logic import (
    Concept,
    ConceptSpace,
    Const,
    Constraint,
    Count,
    EncoderGroup,
    Formula,
    Function,
    Implies,
    Knowledge,
    Member,
    Not,
    Var,
    conjunction,
    total,
)
from assay.tasks import SceneConfig
from assay.worlds import Balance

COUNTING, LOCALISING = ("counting",), ("localising",)


class Board:
    """A board of squares `a1`, `b1`, ...: its squares, rules and knowledge."""

    def __init__(self, files: int = 8, ranks: int = 8, as_released: bool = False) -> None:
        self.files, self.ranks, self.as_released = files, ranks, as_released
        self.squares = [f"{chr(97 + x)}{y + 1}" for y in range(ranks) for x in range(files)]
        concepts = tuple(Concept(name, VALUES, nothing=EMPTY) for name in self.squares)
        self.space = ConceptSpace(concepts, encoders=(EncoderGroup("square", tuple(self.squares)),))

    def number(self, pieces: str, squares: list[str] | None = None) -> Formula:
        """Return how many of these pieces stand on the board, or on some of its squares."""
        where = self.squares if squares is None else squares
        if len(pieces) == 1:
            return Count(tuple(Var(square).eq(pieces) for square in where))
        return Count(tuple(Member((Var(square),), tuple((piece,) for piece in pieces)) for square in where))

    def knowledge(self) -> Knowledge:
        """Return the rules as constraints, and as label whether White has more pieces."""
        return _knowledge_of(self.files, self.ranks, self.as_released)

    def rules(self) -> list[Constraint]:
        """Return the rules, that of both kings first.

        The check of VALUED's released code never asks for White's promoted pieces, and leaves out Black's rooks.
        """
        rules = [self._kings_apart(), *(rule for colour in COLOURS for rule in self._rules(colour))]
        return [rule for rule in rules if not (self.as_released and rule.name == "white_promoted")]

    def lead(self) -> Formula:
        """Return how many pieces more White has."""
        return self.number("PNBRQ") - self.number("pnbrq")

    def near(self, square: str) -> list[str]:
        """Return the squares beside a square."""
        x, y = ord(square[0]) - 97, int(square[1:]) - 1
        around = [(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        return [f"{chr(97 + a)}{b + 1}" for a, b in around if 0 <= a < self.files and 0 <= b < self.ranks]

    def _kings_apart(self) -> Constraint:
        pairs = [(square, neighbour) for square in self.squares for neighbour in self.near(square)]
        apart = [Not(conjunction(Var(square).eq("K"), Var(neighbour).eq("k"))) for square, neighbour in pairs]
        return Constraint("kings_apart", conjunction(*apart), LOCALISING)

    def _rules(self, colour: str) -> list[Constraint]:
        pawn, knight, bishop, rook, queen, king = tuple(COLOURS[colour])
        pawns, queens = self.number(pawn), self.number(queen)
        pairs = [self.number(piece) for piece in (bishop, knight, rook)]
        ends = [s for s in self.squares if s[1:] in ("1", str(self.ranks))]
        light = [s for s in self.squares if (ord(s[0]) + int(s[1:])) % 2]
        over = [queens - 1, *(number - 2 for number in (pairs[:2] if self.as_released else pairs))]
        spare = total(*(Function("max", (Const(0), number)) for number in over))
        two = conjunction(pawns.eq(8), pairs[0].eq(2))
        usual = conjunction(queens <= 1, *(number <= 2 for number in pairs))
        rules = [
            ("one_king", self.number(king).eq(1), COUNTING),
            ("at_most_16", self.number(COLOURS[colour][:5]) <= 15, COUNTING),
            ("at_most_8_pawns", pawns <= 8, COUNTING),
            ("no_pawn_at_the_ends", self.number(pawn, ends).eq(0), LOCALISING),
            ("none_promoted", Implies(pawns.eq(8), usual), COUNTING),
            ("promoted", Implies(pawns < 8, spare <= 8 - pawns), COUNTING),
            ("bishops_differ", Implies(two, self.number(bishop, light).eq(1)), LOCALISING),
        ]
        return [Constraint(f"{colour}_{name}", formula, tags) for name, formula, tags in rules]


@lru_cache(maxsize=4)
def _knowledge_of(files: int, ranks: int, as_released: bool) -> Knowledge:
    """Return the knowledge of boards of one size; its formulas over 64 squares take a second to check."""
    board = Board(files, ranks, as_released)
    return Knowledge.of(board.space, {"white_is_ahead": board.number("PNBRQ") > board.number("pnbrq")}, board.rules())


View = Literal["3d", "flat"]
Side = Literal["a1", "white", "black", "left", "right"]
RULES = tuple(rule.name for rule in Board().rules())


class ChessConfig(SceneConfig):
    """Which positions there are and how they look."""

    balance: Balance | None = None
    """`label` (default): the label is true in half of the positions; `world`: positions as they occur, except in `hard`
    and `ood`."""
    rule: str | None = None
    """Your own label: a formula over the squares, such as `count(d4 == 'P', e4 == 'P') == 2`."""
    pgn: str | None = Field(None, exclude=True)
    """A file of games to take positions from: .pgn, or packed as .zst, .bz2 or .gz; by default games are played."""
    most_games: int = Field(5000, ge=10)
    """How many games of the file are read."""
    first: int = Field(8, ge=0, le=100)
    """Half-moves before the first position of a game that is taken, as openings recur."""
    per_game: int = Field(4, ge=1, le=20)
    """The most positions that are taken from one game, for each value of the label."""
    as_released: bool = False
    """Check rules as VALUED's released code does: White's promoted pieces and Black's rooks are not counted."""
    view: View = "3d"
    """`3d`: pieces on a board on a table; `flat`: a diagram."""
    width: int = Field(512, ge=32, le=2048)
    """The width and the height of the picture in pixels."""
    jitter: float = Field(1.0, ge=0, le=3)
    """How far pieces stand from the middle of their squares: 1 is a standard deviation of a 16th of a square's side."""
    sides: list[Side] = Field(["white", "black", "left", "right"], min_length=1)
    """From where the board is seen, each side equally often; `a1`, as in the paper: that corner is the nearest. Without
    coordinates it is always `a1`, since nothing else says which square is which."""
    coordinates: bool = True
    """Write letters and numbers at the edges of the board."""
    room: bool = True
    """Show the table, the chairs and the floor."""

    @model_validator(mode="after")
    def _must_agree(self) -> "ChessConfig":
        self.refuse_shared("is not for positions of chess, which are too many to list", allowed=["balance"])
        if not self.coordinates and "sides" in self.model_fields_set and self.sides != ["a1"]:
            raise ValueError("sides: without coordinates nothing says which square is which; leave one of them out")
        return self

    @property
    def seen_from(self) -> list[Side]:
        """The sides from which boards are seen."""
        return self.sides if self.coordinates else ["a1"]


class ChessSaneConfig(ChessConfig):
    """Positions with and without broken rules."""

    sane_ratio: float = Field(0.5, ge=0.05, le=0.95)
    """The share of positions on which no rule is broken."""
    rules: list[str] = Field(list(RULES), min_length=1)
    """The rules that are broken, each equally often."""
    violations: list[int] = Field([1, 1, 2], min_length=1)
    """How many rules are broken on purpose, where they can be; each entry equally often."""

    @model_validator(mode="after")
    def _must_be_known(self) -> "ChessSaneConfig":
        if self.rule is not None or self.balance is not None:
            raise ValueError("rule and balance are not for chess-sane: its label is whether any rule is broken")
        for name in self.rules:
            if name not in RULES:
                raise ValueError(f"rules: no rule named {name!r}; there are: {', '.join(RULES)}")
        if min(self.violations) < 1 or max(self.violations) > len(self.rules):
            raise ValueError(f"violations: from 1 to {len(self.rules)} rules can be broken")
        return self
