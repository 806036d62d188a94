"""The settings of the chess tasks."""

from typing import Literal

from pydantic import Field, model_validator

from assay.families.chess.rules import Board
from assay.tasks import SceneConfig
from assay.worlds import Balance

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
