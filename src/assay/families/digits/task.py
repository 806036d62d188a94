"""Arithmetic on handwritten digits: sums of pairs, and systems of equations.

Concepts     the value of each digit; one encoder reads all.
Rule         `mnadd*`: the sum. `mnmath`: any equations and comparisons; by default the paper's two,
             x1 + x2 = x3 + x4 and x5 * x6 = x7 * x8.
Shortcuts    `mnadd-half`: 2 and 3, 4 trade places. `mnadd-evenodd`: 36 readings of the digits fit all training sums.
             `mnmath`: reading every digit as one and the same makes both equations true.
Splits       train, valid, test; `ood` holds the pairs that training never shows. `stages` for continual learning.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, field_validator

from assay.base import ConfigError, Settings
from assay.families.handwriting.digits import SIDE, DigitSource, digit_source
from assay.families.rsbench.released import positive_only
from assay.logic import And, ConceptSpace, Formula, Knowledge, Not, Var, digits, parse, substitute, total
from assay.render import Box, Layout, Picture
from assay.tasks import Task, TaskConfig, combinations
from assay.worlds import Split, Style, World


class HandwrittenConfig(TaskConfig):
    """What all tasks with handwritten digits can set."""

    digits: str | None = Field(None, exclude=True)
    """A folder with the idx files of MNIST; by default the 5,000 digits that come with the installation."""


class ReleasedConfig(HandwrittenConfig):
    """What the tasks of rsbench's generator can set besides."""

    as_released: bool = False
    """Make splits as rsbench's released generator does: the first label is true in all of valid, test and ood."""


class DigitsConfig(HandwrittenConfig):
    """What the tasks about numbers can set besides."""

    digit_values: list[int] = list(range(10))
    """The values that a digit can take."""

    @field_validator("digit_values")
    @classmethod
    def _must_be_digits(cls, values: list[int]) -> list[int]:
        if len(set(values)) != len(values) or not set(values) <= set(range(10)) or len(values) < 2:
            raise ValueError("two or more different digits from 0 to 9")
        return sorted(values)


class DigitTask(Task):
    """Pictures of digits in a row, one for each concept."""

    config: HandwrittenConfig

    def backbones(self) -> dict[str, str]:
        """Return the networks of the paper for digits."""
        return {"concept": "conv-stride", "label": "conv-pool"}

    @cached_property
    def layout(self) -> Layout:
        """One 28 x 28 square for each concept, side by side."""
        boxes = {name: Box(SIDE * i, 0, SIDE * (i + 1), SIDE) for i, name in enumerate(self.space.names)}
        return Layout(SIDE * len(boxes), SIDE, 1, boxes)

    @cached_property
    def source(self) -> DigitSource:
        """The handwritten digits in use."""
        return digit_source(self.config.digits)

    def sources(self) -> dict[str, Any]:
        """Return the name and hash of the digits."""
        return {"digits": {"name": self.source.name, "sha256": self.source.sha256, "images": len(self.source.images)}}

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw a writer for each place; which image that is depends on the digit written there."""
        return {"pool": pool, "draw": rng.integers(2**31, size=len(codes)).tolist()}

    def ingredients(self, world: World) -> tuple[str, ...]:
        """Return the digits' images by number."""
        return tuple(f"digit {number}" for number in self.image_numbers(world))

    def image_numbers(self, world: World) -> list[int]:
        """Return which images of the source a world shows."""
        pool, draws = world.style["pool"], world.style["draw"]
        values = zip(self.space.concepts, world.codes, draws, strict=True)
        return [self.source.image_number(pool, int(concept.values[code]), draw) for concept, code, draw in values]

    def render(self, world: World) -> Picture:
        """Set the digits side by side."""
        images = self.source.images[self.image_numbers(world)]
        return Picture(images.transpose(1, 0, 2).reshape(SIDE, -1))


class ReleasedSplits(DigitTask):
    """A task whose splits can be those of rsbench's released generator."""

    config: ReleasedConfig

    def splits(self) -> tuple[Split, ...]:
        """Return the splits with their default sizes."""
        splits = super().splits()
        if not self.config.as_released:
            return splits
        first = self.knowledge.labels[0]
        if first.kind != "bool":
            raise ConfigError(f"as_released: label {first.name!r} is neither true nor false")
        return positive_only(splits, first.formula)


class MNAddConfig(DigitsConfig):
    """Settings of the sums."""

    k: int = Field(2, ge=2, le=20)
    """How many digits are added."""


class MNAdd(DigitTask):
    """The sum of k digits, every combination equally often."""

    name = "mnadd"
    Config = MNAddConfig
    config: MNAddConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 42_000, "valid": 12_000, "test": 6_000, "ood": 6_000}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The digits and their sum."""
        names = _names(self.config.k)
        return Knowledge.of(digits(names, self.config.digit_values), {"sum": total(*map(Var, names))})


class PairConfig(DigitsConfig):
    """Settings of the sums of two digits with a fixed choice of pairs."""

    continual: bool = False
    """Split training by stage where the task has stages."""


class PairTask(DigitTask):
    """Sums of two digits where training shows some pairs only, in both orders."""

    Config = PairConfig
    config: PairConfig
    pairs: ClassVar[tuple[tuple[int, int], ...]]
    continual_stages: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def knowledge(self) -> Knowledge:
        """Two digits and their sum."""
        return Knowledge.of(digits(_names(2), self.config.digit_values), {"sum": "a + b"})

    @classmethod
    def translate_settings(cls, settings: Settings) -> Settings:
        """Turn `continual: true` into the task's own stages."""
        if settings.values.get("continual") is not True or "stages" in settings.values:
            return settings
        if not cls.continual_stages:
            raise ConfigError(
                f"{settings.place('continual')}{cls.name} has no stages of its own; list them in 'stages'"
            )
        return settings.merge(Settings({"stages": list(cls.continual_stages)}))

    def in_distribution(self) -> Formula:
        """Return the pairs that training shows, or those that the settings list."""
        listed = self.config.combinations_in_distribution
        both = [*self.pairs, *(pair[::-1] for pair in self.pairs)]
        return combinations(both if listed is None else listed, self.space)


class MNAddHalf(PairTask):
    """Digits 0 to 4, four pairs."""

    name = "mnadd-half"
    sizes: ClassVar[Mapping[str, int]] = {"train": 2940, "valid": 840, "test": 420, "ood": 1080}
    pairs = ((0, 0), (0, 1), (2, 3), (2, 4))

    def held_out(self) -> Formula:
        """Return the other pairs of digits 0 to 4."""
        small = parse("a <= 4 and b <= 4")
        return And((Not(self.in_distribution()), small))


class MNAddEvenOdd(PairTask):
    """Two even or two odd digits, eight pairs; with `continual: true` the even ones first."""

    name = "mnadd-evenodd"
    sizes: ClassVar[Mapping[str, int]] = {"train": 6720, "valid": 1920, "test": 960, "ood": 5040}
    pairs = ((0, 6), (2, 8), (4, 6), (4, 8), (1, 5), (3, 7), (1, 9), (3, 9))
    continual_stages = ("a % 2 == 0", "a % 2 == 1")


class MNMathConfig(DigitsConfig, ReleasedConfig):
    """Settings of the equation systems."""

    prop_in_distribution: float = Field(0.8, gt=0, le=1)
    names: list[str] = [f"x{i}" for i in range(1, 9)]
    """The names of the digits, from left to right."""
    equations: list[str] | dict[str, str] = ["x1 + x2 == x3 + x4", "x5 * x6 == x7 * x8"]
    """The labels, as formulas over the digits; a mapping names them, a list calls them y1, y2, ..."""


class MNMath(ReleasedSplits):
    """What a system of equations gives: numbers, or whether the equations hold."""

    name = "mnmath"
    Config = MNMathConfig
    config: MNMathConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 1000, "valid": 200, "test": 300, "ood": 200}

    def backbones(self) -> dict[str, str]:
        """Return the networks of the paper for equations."""
        return {"concept": "conv-stride", "label": "conv-pool-3"}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The digits and the labels of all equations."""
        equations = self.config.equations
        named = (
            equations if isinstance(equations, dict) else {f"y{i}": text for i, text in enumerate(equations, start=1)}
        )
        space: ConceptSpace = digits(self.config.names, self.config.digit_values)
        return Knowledge.of(space, {name: parse(text, space.names) for name, text in named.items()})

    @classmethod
    def translate_settings(cls, settings: Settings) -> Settings:
        """Understand rsbench's keys: each equation has its own digits, under the same symbols."""
        settings = settings.rename_keys({"mnist_path": "digits"})
        values = settings.values
        if "logic" not in values:
            return settings.without({"symbols", "num_digits"}) if "names" in values else _named(settings)
        logic, symbols = _texts(settings, "logic"), _texts(settings, "symbols")
        count = _count(settings) if "num_digits" in values else len(symbols)
        if len(symbols) > count:
            raise ConfigError(f"{settings.place('symbols')}{len(symbols)} symbols for {count} digits an equation")
        symbols += [f"d{i}" for i in range(len(symbols) + 1, count + 1)]
        names, equations = [], []
        for number, text in enumerate(logic, start=1):
            own = {symbol: Var(f"{symbol}_{number}" if len(logic) > 1 else symbol) for symbol in symbols}
            equations.append(str(substitute(parse(text, symbols), dict(own))))
            names += [variable.name for variable in own.values()]
        plain = settings.without({"logic", "symbols", "num_digits"})
        return plain.merge(Settings({"names": names, "equations": equations}))


def _named(settings: Settings) -> Settings:
    """Return the settings with digits named x1, x2, ... where only their number is given."""
    if "num_digits" not in settings.values:
        return settings
    names = [f"x{i}" for i in range(1, _count(settings) + 1)]
    return settings.without({"num_digits"}).merge(Settings({"names": names}))


def _count(settings: Settings) -> int:
    count = settings.values["num_digits"]
    if type(count) is not int or count < 1:
        raise ConfigError(f"{settings.place('num_digits')}num_digits: expected a whole number from 1 up, not {count!r}")
    return count


def _texts(settings: Settings, key: str) -> list[str]:
    """Return a text or a list of texts as a list."""
    value = settings.values.get(key, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"{settings.place(key)}{key}: expected a text or a list of texts, not {value!r}")
    return list(texts)


def _names(count: int) -> list[str]:
    """Return the names a, b, c, ... of digits."""
    return [chr(ord("a") + i) for i in range(count)]
