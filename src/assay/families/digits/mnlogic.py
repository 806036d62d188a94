"""MNLogic: does a formula hold of k handwritten bits?

Concepts     k truth values, each shown as a handwritten 0 or 1; each has an encoder of its own, as in the paper.
Rule         XOR of all bits by default; your own formula; or a random l-CNF with `clauses` and `length`.
Shortcuts    XOR holds if two bits are both read upside down: 2^(k-1) readings fit, one for each even set of bits.
Splits       train, valid, test on 80 % of the worlds of each label; `ood` on the rest.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from assay.base import ConfigError, Settings, rng_for
from assay.families.digits.random_clauses import random_rule
from assay.families.digits.task import ReleasedConfig, ReleasedSplits
from assay.logic import Formula, Knowledge, Var, bits, parity, parse, shape_of
from assay.render import Box, Layout, Picture
from assay.worlds import Style, World

RSBENCH = {"n_digits": "k", "logic": "formula", "symbols": "names", "mnist_path": "digits"}


class MNLogicConfig(ReleasedConfig):
    """Settings of the logical formulas."""

    prop_in_distribution: float = Field(0.8, gt=0, le=1)
    k: int = Field(4, ge=2, le=64)
    """How many bits."""
    names: list[str] = []
    """The names of the bits; by default a, b, c, ..., or b1, b2, ... for more than 26."""
    formula: str | None = None
    """The rule; by default the XOR of all bits."""
    clauses: int | None = Field(None, ge=1)
    """A random CNF of this many clauses instead of a given rule."""
    length: int = Field(3, ge=1)
    """How many literals a random clause has."""
    formula_seed: int = 0
    """Which random CNF."""
    pixels: bool = False
    """Show each bit as one black or white pixel instead of a handwritten digit."""
    shared: bool = False
    """Read all bits with one encoder."""

    @model_validator(mode="after")
    def _must_agree(self) -> "MNLogicConfig":
        if self.formula is not None and self.clauses is not None:
            raise ValueError("a formula and random clauses exclude each other; give one of them")
        if len(self.names) > self.k or len(set(self.names)) < len(self.names):
            raise ValueError(f"{self.k} bits need at most {self.k} different names")
        return self


class MNLogic(ReleasedSplits):
    """A formula over bits."""

    name = "mnlogic"
    Config = MNLogicConfig
    config: MNLogicConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 1000, "valid": 200, "test": 300, "ood": 300}

    def backbones(self) -> dict[str, str]:
        """Return the networks of the paper for bits; single pixels cannot be convolved."""
        if self.config.pixels:
            return {"concept": "mlp", "label": "mlp"}
        return {"concept": "conv-wide", "label": "conv-pool-3"}

    @classmethod
    def translate_settings(cls, settings: Settings) -> Settings:
        """Understand rsbench's keys; `xor_rule: true` overrides `logic`, as there."""
        values = settings.values
        if values.get("xor_rule") is True:
            settings = settings.without({"logic"})
        if "use_mnist" in values:
            settings = settings.merge(Settings({"pixels": not values["use_mnist"]}))
        if isinstance(values.get("logic"), list) and len(values["logic"]) == 1:
            settings = settings.merge(Settings({"logic": values["logic"][0]}))
        return settings.without({"xor_rule", "use_mnist"}).rename_keys(RSBENCH)

    @cached_property
    def names(self) -> list[str]:
        """The names of the bits."""
        named, k = self.config.names, self.config.k
        letters = [chr(ord("a") + i) for i in range(26)] if k <= 26 else [f"b{i}" for i in range(1, k + 1)]
        free = [name for name in letters if name not in named] + [f"bit{i}" for i in range(1, k + 1)]
        return (named + free)[:k]

    @cached_property
    def knowledge(self) -> Knowledge:
        """The bits and whether the formula holds of them."""
        space = bits(self.names, self.config.shared)
        if shape_of(self.rule, space).kind != "bool":
            raise ConfigError(f"formula '{self.rule}' must be true or false of the bits, not a number")
        return Knowledge.of(space, {"y": self.rule})

    @cached_property
    def rule(self) -> Formula:
        """The formula in use."""
        if self.config.formula is not None:
            return parse(self.config.formula, self.names)
        if self.config.clauses is not None:
            rng = rng_for(self.config.formula_seed, self.name, "formula")
            return random_rule(self.names, self.config.clauses, self.config.length, rng)
        return parity(*map(Var, self.names))

    @cached_property
    def layout(self) -> Layout:
        """A square, or one pixel, for each bit."""
        if not self.config.pixels:
            return super().layout
        boxes = {name: Box(i, 0, i + 1, 1) for i, name in enumerate(self.names)}
        return Layout(len(boxes), 1, 1, boxes)

    def sources(self) -> dict[str, Any]:
        """Return the digits in use, if any."""
        return {} if self.config.pixels else super().sources()

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw a writer for each bit; pixels have no style."""
        return {} if self.config.pixels else super().style(rng, codes, pool)

    def ingredients(self, world: World) -> tuple[str, ...]:
        """Return the digits' images, if there are any."""
        return () if self.config.pixels else super().ingredients(world)

    def render(self, world: World) -> Picture:
        """Set the bits side by side, as digits or as pixels."""
        if not self.config.pixels:
            return super().render(world)
        return Picture(np.array([world.codes], dtype=np.uint8) * 255)
