"""Bongard problems: does a figure belong with those on the left?

Concepts     per figure (those on the left, those on the right, the one in question): the number of sides, and whether
             it is curved, closed and convex. One encoder reads an attribute of all figures.
Rule         some `tests` of a figure, of which exactly one separates left from right: it holds of all figures on one
             side and of none on the other. The label says whether the figure in question agrees with the left in it.
Shortcuts    `assay count bongard-small` counts them; the figure in question tells nothing by itself.
Splits       train, valid, test, hard; `ood` with problems that tests in `held_out` separate.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from assay.base import ConfigError, FormulaError, suggestion
from assay.families.bongard.figures import FigureStyle, ProblemSheet
from assay.logic import (
    Concept,
    ConceptSpace,
    Constraint,
    EncoderGroup,
    Formula,
    Knowledge,
    Slot,
    Value,
    Var,
    conjunction,
    disjunction,
    exactly,
    parse,
    shape_of,
    substitute,
)
from assay.render import Layout, Picture
from assay.tasks import Task, TaskConfig
from assay.worlds import Style, World

SIDES = ("left", "right")


class BongardConfig(TaskConfig):
    """Settings of the problems."""

    examples: int = Field(6, ge=1, le=6)
    """How many figures there are on the left, and how many on the right."""
    tests: dict[str, str] = {
        "curved": "curved",
        "closed": "closed",
        "convex": "convex",
        "four_sides": "sides == 4",
        "six_sides": "sides == 6",
    }
    """What may separate left from right, by name: formulas over a figure's `sides`, `curved`, `closed` and `convex`."""
    held_out: list[str] = ["six_sides"]
    """The tests that separate the problems of `ood`, and those of no other split."""
    sides: list[int] = Field([4, 5, 6], min_length=2)
    """The numbers of sides in use, from 4 to 8."""
    side: int = Field(48, ge=20, le=512)
    """The width and height of a figure in pixels."""

    @model_validator(mode="after")
    def _must_agree(self) -> "BongardConfig":
        if sorted(set(self.sides)) != self.sides or not all(4 <= number <= 8 for number in self.sides):
            raise ValueError("sides: different numbers from 4 to 8 in rising order")
        for name in self.held_out:
            if name not in self.tests:
                raise ValueError(f"held_out: no test named {name!r}{suggestion(name, self.tests)}")
        if len(set(self.held_out)) >= len(self.tests):
            raise ValueError("held_out: some test must be left for training")
        return self

    @property
    def values(self) -> dict[str, tuple[Value, ...]]:
        """The values of each attribute of a figure."""
        return {"curved": (False, True), "closed": (False, True), "convex": (False, True), "sides": tuple(self.sides)}


class Bongard(Task):
    """Figures on the left have in common what those on the right lack: does another one belong on the left?"""

    name = "bongard"
    Config = BongardConfig
    config: BongardConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 4000, "valid": 500, "test": 1000, "ood": 1000}
    trial: ClassVar[Mapping[str, Any]] = {"side": 20, "examples": 2}

    @cached_property
    def tests(self) -> dict[str, Formula]:
        """The tests of one figure."""
        values = self.config.values
        figure = ConceptSpace(tuple(Concept(name, allowed) for name, allowed in values.items()))
        tests = {}
        for name, text in self.config.tests.items():
            try:
                tests[name] = parse(text, values)
                kind = shape_of(tests[name], figure).kind
            except FormulaError as error:
                raise ConfigError(f"test {name!r}: {error}") from None
            if kind != "bool":
                raise ConfigError(f"test {name!r}: '{text}' must be true or false of a figure, not a {kind}")
        return tests

    def holds(self, test: str, figure: str) -> Formula:
        """Return a test of one of the figures."""
        return substitute(self.tests[test], {name: Var(f"{figure}.{name}") for name in self.config.values})

    def separates(self, test: str, query: str | None = None) -> Formula:
        """Return "a test tells left from right", and if a figure is named, "in which it agrees with the left"."""
        held = {where: [self.holds(test, f"{where}{i + 1}") for i in range(self.config.examples)] for where in SIDES}
        sides = [
            [*held["left"], *(~one for one in held["right"])],
            [*(~one for one in held["left"]), *held["right"]],
        ]
        if query is not None:
            own = self.holds(test, query)
            sides = [[*sides[0], own], [*sides[1], ~own]]
        return disjunction(*(conjunction(*parts) for parts in sides))

    @cached_property
    def knowledge(self) -> Knowledge:
        """The figures, and whether the one in question belongs on the left."""
        values = self.config.values
        slots = tuple(Slot(name, name.rstrip("0123456789"), tuple(values)) for name in self.sheet.names)
        concepts = tuple(Concept(slot.concept(name), values[name]) for slot in slots for name in values)
        encoders = tuple(EncoderGroup(name, tuple(slot.concept(name) for slot in slots)) for name in values)
        rule = disjunction(*(self.separates(test, "query") for test in self.tests))
        one = Constraint("one_test_separates", exactly(1, *map(self.separates, self.tests)))
        return Knowledge.of(ConceptSpace(concepts, slots, encoders), {"left": rule}, [one])

    def in_distribution(self) -> Formula:
        """Return the problems that no held-out test separates, or those that the settings list."""
        if self.config.combinations_in_distribution is not None or not self.config.held_out:
            return super().in_distribution()
        return disjunction(*(self.separates(test) for test in self.tests if test not in self.config.held_out))

    @cached_property
    def sheet(self) -> ProblemSheet:
        """Where the figures lie."""
        return ProblemSheet(self.config.side, self.config.examples)

    @cached_property
    def layout(self) -> Layout:
        """Each figure in a box of its own."""
        boxes = {concept: self.sheet.boxes[slot.name] for slot in self.space.slots for concept in slot.concepts}
        return Layout(*self.sheet.size, 1, boxes)

    def backbones(self) -> dict[str, str]:
        """Return networks for figures and for whole problems."""
        return {"concept": "conv-norm", "label": "conv-pool-3"}

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw how each figure is turned and shaped, whatever its concepts."""
        most = max(self.config.sides)
        return {"figures": [FigureStyle.draw(rng, most).to_list() for _ in self.sheet.names]}

    def render(self, world: World) -> Picture:
        """Draw the figures."""
        names = list(self.config.values)
        figures = {slot.name: {name: world[slot.concept(name)] for name in names} for slot in self.space.slots}
        return Picture(self.sheet.draw(figures, world.style["figures"]))
