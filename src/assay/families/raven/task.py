"""RAVEN-like matrices: which candidate completes the matrix?

Concepts     per panel (eight of the matrix, four or eight candidates): number, shape, size and shade of its objects, or
             those of them that `rules` names. One encoder reads an attribute of all panels.
Rule         for each attribute some rules, of which every matrix follows one in all rows: constant, progression,
             arithmetic, distribute_three. The label is the number of the candidate that completes the matrix.
Shortcuts    none in the candidates, unless `distractors: near` (`raven-biased`): there the answer has in each attribute
             the value that most candidates have, and a model can ignore the matrix.
Splits       train, valid, test; `ood` with combinations of rules that no other split has; `hard`, whose wrong
             candidates differ from the answer in one attribute, or instead, for `distractors: near`, `fair`.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from assay.base import Array, check_names
from assay.families.raven.panels import GRID, SHAPES, PanelSheet
from assay.families.raven.rules import CONTEXT, NUMERIC, RULES, combinations_where, panel_names, raven_knowledge
from assay.families.raven.source import Distractors, MatrixTable, PuzzlePlan, PuzzleSource, matrix_table
from assay.logic import Knowledge, Value
from assay.render import Layout, Picture
from assay.tasks import Task, TaskConfig
from assay.worlds import Source, Split, Style, World

PLAIN: dict[str, Value] = {"number": 4, "shape": "circle", "size": 3, "shade": 3}
"""What an attribute is in all panels if no rule governs it."""


class RavenConfig(TaskConfig):
    """Settings of the matrices."""

    rules: dict[str, list[str]] = {
        "number": ["constant", "progression", "arithmetic"],
        "shape": ["constant", "distribute_three"],
        "size": ["constant", "progression", "distribute_three"],
        "shade": ["progression", "arithmetic", "distribute_three"],
    }
    """For each attribute in use, of number, shape, size and shade, the rules that a matrix may follow in it."""
    candidates: Literal[4, 8] = 8
    """How many panels there are to choose from."""
    distractors: Distractors = "fair"
    """Wrong candidates of train, valid, test and ood: `fair` (I-RAVEN), all combinations of two values of two or three
    attributes, which hide the answer; or `near` (RAVEN), each unlike the answer in one attribute, which betray it."""
    held_out_every: int | None = Field(4, ge=2)
    """`ood` has the combinations of rules whose places in their lists add up to a multiple of this; none: no `ood`."""
    numbers: int = Field(5, ge=3, le=9)
    """The most objects of a panel."""
    shapes: list[str] = ["triangle", "square", "circle", "star"]
    """The shapes in use, of: triangle, square, circle, star, hexagon, diamond."""
    sizes: int = Field(4, ge=3, le=4)
    """How many sizes there are."""
    shades: int = Field(5, ge=3, le=8)
    """How many shades there are, 1 the lightest."""
    side: int = Field(56, ge=26, le=512)
    """The width and height of a panel in pixels."""

    @model_validator(mode="after")
    def _must_agree(self) -> "RavenConfig":
        self.refuse_shared("is not for matrices; see held_out_every for what is held out")
        check_names(list(self.rules), PLAIN, "attribute")
        check_names(self.shapes, SHAPES, "shape")
        for attribute, names in self.rules.items():
            check_names(names, RULES, f"rule of {attribute}")
            if attribute == "shape" and (numeric := [name for name in names if name in NUMERIC]):
                raise ValueError(f"rules: shapes are no numbers, so they cannot follow {numeric[0]!r}")
        if self.distractors == "fair" and len(self.rules) < (needed := self.candidates.bit_length() - 1):
            raise ValueError(f"{self.candidates} fair candidates need {needed} attributes with rules, or more")
        if self.candidates - 1 > sum(len(values) - 1 for values in self.values.values()):
            raise ValueError(
                f"{self.candidates} candidates are too many: fewer panels differ from one in one attribute"
            )
        return self

    @property
    def values(self) -> dict[str, tuple[Value, ...]]:
        """The values of each attribute in use."""
        most = {"number": self.numbers, "size": self.sizes, "shade": self.shades}
        return {name: tuple(range(1, most[name] + 1)) if name in most else tuple(self.shapes) for name in self.rules}


class Raven(Task):
    """A matrix of panels follows a rule in each attribute: which candidate completes it?"""

    name = "raven"
    Config = RavenConfig
    config: RavenConfig
    sampling_note: ClassVar[str] = "Matrices were drawn from all that follow a combination of rules, evenly over these"
    sizes: ClassVar[Mapping[str, int]] = {
        "train": 4000, "valid": 500, "test": 1000, "ood": 1000, "hard": 1000, "fair": 1000
    }  # fmt: skip
    pools: ClassVar[Mapping[str, str]] = {**Task.pools, "hard": "test", "fair": "test"}
    trial: ClassVar[Mapping[str, Any]] = {
        **{"side": 26, "candidates": 4, "numbers": 4},
        "rules": {"number": ["constant", "progression"], "shape": ["constant", "distribute_three"]},
    }

    @cached_property
    def knowledge(self) -> Knowledge:
        """The attributes of all panels, and which candidate completes the matrix."""
        return raven_knowledge(self.config.values, self.config.rules, self.config.candidates)

    @cached_property
    def combinations(self) -> dict[bool, tuple[tuple[str, ...], ...]]:
        """The combinations of rules, those that are held out and those that are not."""
        every, inside, outside = self.config.held_out_every, list[tuple[str, ...]](), list[tuple[str, ...]]()
        for chosen in product(*map(enumerate, self.config.rules.values())):
            held_out = every is not None and sum(place for place, _ in chosen) % every == 0
            (outside if held_out else inside).append(tuple(rule for _, rule in chosen))
        return {False: tuple(inside), True: tuple(outside)} if inside else {False: tuple(outside), True: ()}

    def splits(self) -> tuple[Split, ...]:
        """Return the splits with their default sizes."""
        names = ["train", "valid", "test", "hard" if self.config.distractors == "fair" else "fair"]
        if not self.combinations[True]:
            return tuple(Split(name, self.sizes[name], pool=self.pools[name]) for name in names)
        inside, held_out = (combinations_where(self.combinations[key], self.config.rules) for key in (False, True))
        splits = [Split(name, self.sizes[name], inside, pool=self.pools[name]) for name in names]
        return (*splits, Split("ood", self.sizes["ood"], held_out, pool="test", disjoint_from=tuple(names)))

    @cached_property
    def tables(self) -> dict[tuple[str, str], MatrixTable]:
        """The matrices of each attribute and rule."""
        return {
            (attribute, rule): matrix_table(rule, allowed, self.config.values[attribute])
            for attribute, allowed in self.config.rules.items()
            for rule in allowed
        }

    def plan(self, split: str) -> PuzzlePlan:
        """Return what puzzles a split holds."""
        config, schemes = self.config, dict[str, Distractors](hard="near", fair="fair")
        combinations, scheme = self.combinations[split == "ood"], schemes.get(split, config.distractors)
        return PuzzlePlan(config.values, config.rules, combinations, config.candidates, scheme, self.tables)

    def source_for(self, split: Split, seed: int) -> Source:
        """Return the puzzles of a split."""
        plan = self.plan(split.name)
        return PuzzleSource(plan, self.knowledge, split, seed, self.name, self.version, style=self.style)

    @cached_property
    def sheet(self) -> PanelSheet:
        """Where the panels lie."""
        return PanelSheet(self.config.side, self.config.candidates)

    @cached_property
    def layout(self) -> Layout:
        """Each panel in a box of its own."""
        boxes = {concept: self.sheet.boxes[slot.name] for slot in self.space.slots for concept in slot.concepts}
        return Layout(*self.sheet.size, 1, boxes)

    def backbones(self) -> dict[str, str]:
        """Return networks for panels and for whole puzzles."""
        return {"concept": "conv-norm", "label": "conv-pool-5"}

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw for each panel in which order its cells are filled, whatever its number."""
        orders = np.tile(np.arange(GRID**2), (len(self.space.slots), 1))
        return {"cells": rng.permuted(orders, axis=1).tolist()}

    def render(self, world: World) -> Picture:
        """Draw the panels."""
        own = {slot.name: {name: world[slot.concept(name)] for name in slot.attributes} for slot in self.space.slots}
        panels = {name: {**PLAIN, **panel} for name, panel in own.items()}
        return Picture(self.sheet.draw(panels, world.style["cells"], self.config.shades))

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the puzzle with panels changed: candidates trade places, a matrix becomes the nearest lawful one."""
        plan, names = self.plan("train"), panel_names(self.config.candidates)
        for name, value in changes.items():
            panel, _, attribute = name.rpartition(".")
            where = names.index(panel), list(self.config.rules).index(attribute), self.space.concept(name).code(value)
            answer = int(self.knowledge.labels_of(np.array([world.codes]))[0, 0])
            puzzle = plan.panels(np.array([world.codes]))[0]
            if where[0] >= CONTEXT:
                made: Array | None = plan.exchanged(puzzle, *where)
            else:
                made = plan.followed(puzzle, *where, answer - 1) if answer else None
            if made is None or not self.knowledge.can_be(codes := plan.codes(made[None]))[0]:
                return None
            world = World(self.space, tuple(codes[0].tolist()), world.style)
        return world
