"""Chess: what stands on each square, under the rules of the game (VALUED).

Concepts     64 squares, `a1` to `h8`, each empty or with one of 12 pieces.
Rule         `chess`: White has more pieces; 15 rules that no position breaks are constraints, each tagged counting or
             localising. `chess-sane`: no rule is broken; half the positions are corrupted, so the rules are the label.
Shortcuts    where pieces usually stand: a model may guess the board from the opening instead of reading it (`ood`).
Splits       train, valid, test share no game; `hard`: one piece more or none, or one rule broken; `ood`: the pieces of
             real positions on other squares, no rule broken but by the label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from assay.base import Array, ConfigError
from assay.families.chess.diagram import diagram_regions, draw_diagram
from assay.families.chess.games import Games, PlayedGames, RecordedGames, read_games
from assay.families.chess.positions import fens
from assay.families.chess.scene import FARTHEST, chess_style, scene_of
from assay.families.chess.settings import Board, ChessConfig, ChessSaneConfig
from assay.families.chess.source import PositionPlan, PositionSource, game_names
from assay.logic import TRUE, Evaluator, Formula, Knowledge, conjunction, parse, shape_of
from assay.render import Layout, Picture, Scene
from assay.tasks import Column, SceneTask, Task
from assay.worlds import Balance, Source, Split, Style, World


class Chess(SceneTask):
    """Does White have more pieces? 64 squares under 15 rules, on a board in three dimensions."""

    sampling_note: ClassVar[str] = "Positions were taken from games of chess; each split has games of its own"

    name = "chess"
    version: ClassVar[int] = 2
    Config: ClassVar[type[ChessConfig]] = ChessConfig
    config: ChessConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 1000, "valid": 200, "test": 300, "hard": 200, "ood": 200}
    pools: ClassVar[Mapping[str, str]] = {**Task.pools, "hard": "test"}
    seconds: ClassVar[float] = 1.0
    farthest: ClassVar[float] = FARTHEST
    trial: ClassVar[Mapping[str, Any]] = {"width": 32, "quality": "draft", "room": False}
    """Small pictures, for tests."""

    @cached_property
    def board(self) -> Board:
        """The board's squares and rules."""
        return Board(as_released=self.config.as_released)

    @cached_property
    def knowledge(self) -> Knowledge:
        """The squares, the label, and the rules as constraints."""
        rule = self.config.rule
        if rule is None:
            return self.board.knowledge()
        formula = parse(rule, self.board.space.names)
        if shape_of(formula, self.board.space).kind != "bool":
            raise ConfigError(f"rule: {rule!r} must be true or false, not a number")
        return Knowledge.of(self.board.space, {"rule": formula}, self.board.rules())

    @cached_property
    def layout(self) -> Layout:
        """The picture; in a diagram each square has its place."""
        side = self.config.width
        regions = diagram_regions(side, self.config.coordinates) if self.config.view == "flat" else {}
        return Layout(side, side, 3, regions)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The picture with its pieces, depth where there is any, and the position as FEN."""
        if self.config.view == "flat":
            return ("image", "things", "instances", "text")
        return ("image", "things", "instances", "depth", "text")

    @cached_property
    def recorded(self) -> RecordedGames | None:
        """The games of the file, if there is one."""
        return None if self.config.pgn is None else read_games(self.config.pgn, self.config.most_games)

    def sources(self) -> dict[str, Any]:
        """Return the name and hash of the games that were read, and how many were broken."""
        games = self.recorded
        if games is None:
            return {}
        return {"pgn": {"name": games.name, "sha256": games.sha256, "games": len(games.games), "broken": games.broken}}

    def splits(self) -> tuple[Split, ...]:
        """Return the splits; `hard` and `ood` always have each label equally often."""
        as_asked = self.config.balance or "label"
        balance: dict[str, Balance] = {name: "label" if name in ("hard", "ood") else as_asked for name in self.sizes}
        splits = [Split(name, size, balance=balance[name], pool=self.pools[name]) for name, size in self.sizes.items()]
        return tuple(replace(split, where=self._where(split.name)) for split in splits)

    def _where(self, name: str) -> Formula:
        lead = self.board.lead()
        return conjunction(lead >= 0, lead <= 1) if name == "hard" and self.config.rule is None else TRUE

    def plan(self, split: Split, seed: int) -> PositionPlan:
        """Return what positions a split holds."""
        config = self.config
        games: Games = self.recorded or PlayedGames(seed, (self.name, self.version))
        return PositionPlan(
            games, config.first, config.per_game,
            self._label if split.balance == "label" else None,
            None if split.where == TRUE else self._judge(split.where),
            self._judge(conjunction(self.knowledge.possible, split.where)),
            scattered=split.name == "ood",
        )  # fmt: skip

    def _label(self, codes: Array) -> Array:
        return self.knowledge.labels_of(codes)[:, 0]

    def _judge(self, formula: Formula) -> Evaluator:
        """Return the evaluator of a formula on positions."""
        if formula not in self._judges:
            self._judges[formula] = Evaluator(self.space, formula)
        return self._judges[formula]

    @cached_property
    def _judges(self) -> dict[Formula, Evaluator]:
        return {}

    def source_for(self, split: Split, seed: int) -> Source:
        """Return the positions of a split."""
        return PositionSource(
            self.plan(split, seed), self.space, split, seed, self.name, self.version, style=self.style
        )

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw where pieces stand in their squares, and from where the board is seen."""
        return chess_style(rng, self.config.view, self.config.jitter, self.config.seen_from)

    @property
    def style_choices(self) -> Mapping[str, Sequence[Any]]:
        """The wood of the board."""
        return {} if self.config.view == "flat" else {"wood": [[0.0, number] for number in (0, 2, 1)]}

    def render(self, world: World) -> Picture:
        """Draw the board, and write it as FEN."""
        config = self.config
        flat = config.view == "flat"
        picture = (
            draw_diagram(world.codes, world.style, config.width, config.coordinates) if flat else super().render(world)
        )
        return replace(picture, text=fens(np.array([world.codes]))[0])

    def scene(self, world: World) -> Scene:
        """Return the board on its table."""
        config = self.config
        return scene_of(world.codes, world.style, config.width, config.coordinates, config.room)

    def ingredients(self, world: World) -> tuple[str, ...]:
        """Return the name of the game."""
        return game_names(world.style)


class ChessSane(Chess):
    """Is no rule broken? Real positions, and as many with a rule or two broken."""

    sampling_note: ClassVar[str] = (
        "Positions were taken from games of chess; on some a few squares were changed so that a rule is broken"
    )

    name = "chess-sane"
    Config: ClassVar[type[ChessConfig]] = ChessSaneConfig
    config: ChessSaneConfig

    @cached_property
    def knowledge(self) -> Knowledge:
        """The squares, and whether all rules are kept; no rule holds of every position, so none is a constraint."""
        rules = conjunction(*(rule.formula for rule in self.board.rules()))
        return Knowledge.of(self.board.space, {"sane": rules})

    def _where(self, name: str) -> Formula:
        return TRUE

    def plan(self, split: Split, seed: int) -> PositionPlan:
        """Return what positions a split holds."""
        config, plan = self.config, super().plan(split, seed)
        hard = split.name == "hard"
        return replace(
            plan,
            rules=tuple(config.rules),
            sane=Fraction(1, 2) if hard else Fraction(config.sane_ratio).limit_denominator(20),
            counts=(1,) if hard else tuple(config.violations),
        )
