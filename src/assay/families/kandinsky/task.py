"""Kand-Logic: do the figures of a Kandinsky-like picture fit a pattern?

Concepts     per object: shape and colour; one encoder reads all shapes, one all colours. The objects of a figure are
             numbered by their distance from its upper left corner, so that `object1` can be told in the picture.
Rule         patterns over the objects of a figure, and an aggregator over the patterns of all figures. `kand-logic`:
             all figures have the same kind of shapes (all same, all different, neither) or of colours, as in the paper;
             `kand-logic-and`: of both; `kand-logic-pairs`: each figure has two equal objects and another shape.
Shortcuts    shapes trade places, and so do colours: 36 readings of the default rule fit all worlds.
Splits       train, valid, test; `ood` with `prop_in_distribution` or `combinations_in_distribution`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from assay.base import Array, ConfigError, Settings, check_names
from assay.families.kandinsky.patterns import (
    ALIKE,
    ATTRIBUTES,
    EACH,
    KINDS_OF_FIRST,
    aggregate,
    figure_space,
    flat_combination,
    from_rsbench,
    patterns_of,
    puzzle_text,
)
from assay.families.kandinsky.shapes import (
    BACKGROUNDS,
    COLOURS,
    LINES,
    SHAPES,
    cutout,
    most_that_fit,
    scatter_spots,
    sprite_at,
    stamp_sprites,
)
from assay.families.rsbench.released import positive_only
from assay.logic import (
    TRUE,
    Concept,
    ConceptSpace,
    EncoderGroup,
    Formula,
    Knowledge,
    Slot,
    Var,
    conjunction,
    substitute,
)
from assay.render import Box, Layout, Picture
from assay.tasks import Column, Task, TaskConfig, combinations, resize_splits
from assay.worlds import Source, Split, Style, World, WorldSource

CROP = 28
LEAST = 5.0
"""The radius in pixels below which a circle cannot be told from a square."""


class KandConfig(TaskConfig):
    """Settings of the Kandinsky patterns."""

    figures: int = Field(3, ge=1, le=24)
    """How many figures a picture has."""
    objects: int = Field(3, ge=1, le=64)
    """How many objects a figure has."""
    shapes: list[str] = ["square", "circle", "triangle"]
    """The shapes in use, of: square, circle, triangle, diamond, pentagon, hexagon, star, cross."""
    colours: list[str] = ["red", "yellow", "blue"]
    """The colours in use, of: red, yellow, blue, green, orange, purple, cyan, pink, brown."""
    pattern: str | None = None
    """A formula over the objects of one figure (`object1.shape`, `for x in objects`); all figures must fit it."""
    patterns: dict[str, str] = {}
    """More such formulas by name; same_, different_ and mixed_ `shape` and `colour` are there already."""
    aggregator: str | None = None
    """The label, as a formula over the patterns of all figures (`figure1.same_shape`, `for figure in figures`)."""
    side: int = Field(64, ge=16, le=1024)
    """The width and height of a figure in pixels."""
    smallest: float = Field(0.09, gt=0, le=0.5)
    """The least radius of an object, as a share of `side`; never less than 5 pixels."""
    largest: float = Field(0.18, gt=0, le=0.5)
    """The greatest radius."""
    gap: int = Field(2, ge=0, le=64)
    """The width of the line between two figures in pixels; 0, as in the paper, lets them touch."""
    background: Literal["white", "grey", "black"] = "white"
    """What the objects lie on."""
    view: Literal["figures", "objects"] = "figures"
    """Show figures side by side, or each object cut out and scaled to 28 x 28."""
    as_released: bool = False
    """Choose worlds as rsbench's released generator does: it takes shapes for colours when it sorts worlds by label,
    and valid, test and ood hold only worlds that it takes for positive. There is no split `hard`."""
    puzzle: bool = False
    """Choose worlds as in a puzzle, which is how the authors of rsbench describe their own pictures: all figures but
    the last have the same kinds of shapes and of colours, every kind equally often; the last has both, or neither.
    Then either attribute tells the label. There is no split `hard`."""
    masks: bool = True
    """Also write the box and the mask of each object."""
    came_later: ClassVar[tuple[str, ...]] = ("puzzle",)

    @field_validator("shapes", "colours")
    @classmethod
    def _must_be_known(cls, names: list[str], info: Any) -> list[str]:
        return check_names(names, SHAPES if info.field_name == "shapes" else COLOURS, info.field_name[:-1])

    @model_validator(mode="after")
    def _must_fit(self) -> "KandConfig":
        low, high = self.radii
        if high < low or self.smallest > self.largest:
            raise ValueError(
                f"largest: {self.side * self.largest:.1f} pixels is less than the smallest radius, {low:.1f}; raise it"
            )
        most = most_that_fit(self.side, low)
        if self.puzzle and (self.figures < 2 or self.as_released):
            raise ValueError("puzzle: needs two figures or more, and does not go with as_released")
        if self.objects > most:
            raise ValueError(
                f"{self.objects} objects of radius {low:.1f} or more do not fit in {self.side} x {self.side} pixels, "
                f"{most} do; lower 'objects' or 'smallest', or raise 'side'"
            )
        return self

    @property
    def radii(self) -> tuple[float, float]:
        """The least and the greatest radius in pixels."""
        return max(LEAST, self.side * self.smallest), self.side * self.largest


class KandLogic(Task):
    """Figures of coloured shapes: do they all have the same kind of shapes, or of colours?"""

    name = "kand-logic"
    version: ClassVar[int] = 2
    Config = KandConfig
    config: KandConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 4000, "valid": 1000, "test": 1000, "ood": 1000}
    usual: ClassVar[str] = f"{ALIKE['shape']} or {ALIKE['colour']}"

    @classmethod
    def translate_settings(cls, settings: Settings) -> Settings:
        """Understand rsbench's keys."""
        return from_rsbench(settings)

    def backbones(self) -> dict[str, str]:
        """Return the networks of the paper for whole pictures, or for single objects, where they fit."""
        large = min(self.layout.width, self.layout.height) >= 32
        label = "conv-pool-5" if large else "conv-pool-3"
        return {"concept": "mlp-wide" if self.config.view == "objects" else "conv-pool-3", "label": label}

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The objects, figure by figure."""
        places = np.ndindex(self.config.figures, self.config.objects)
        return tuple(Slot(f"figure{i + 1}.object{j + 1}", f"figure{i + 1}", ATTRIBUTES) for i, j in places)

    @cached_property
    def knowledge(self) -> Knowledge:
        """The objects, and whether their figures fit."""
        concepts = tuple(Concept(slot.concept(name), self.values[name]) for slot in self.slots for name in ATTRIBUTES)
        encoders = tuple(EncoderGroup(name, tuple(slot.concept(name) for slot in self.slots)) for name in ATTRIBUTES)
        return Knowledge.of(ConceptSpace(concepts, self.slots, encoders), {"y": self.rule})

    @cached_property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of each attribute of an object."""
        return {"shape": tuple(self.config.shapes), "colour": tuple(self.config.colours)}

    @cached_property
    def rule(self) -> Formula:
        """The label over the concepts of all figures."""
        config, own = self.config, dict(self.config.patterns)
        if config.pattern is not None:
            if "pattern" in own:
                raise ConfigError("patterns: 'pattern' is given twice, here and as 'pattern'; choose another name")
            own["pattern"] = config.pattern
        text = config.aggregator or (self.usual if config.pattern is None else EACH)
        return self._over_figures(text, own)

    def _over_figures(self, text: str, own: Mapping[str, str]) -> Formula:
        """Return an aggregator over the concepts of all figures."""
        return aggregate(text, patterns_of(own, figure_space(self.config.objects, self.values)), self.config.figures)

    def in_distribution(self) -> Formula:
        """Return the worlds that the settings list, each by values or by texts such as "red, square"."""
        listed = self.config.combinations_in_distribution
        if listed is None:
            return TRUE
        count = len(self.slots)
        return combinations(
            [flat_combination(combination, count, self.config.shapes) for combination in listed], self.space
        )

    def splits(self) -> tuple[Split, ...]:
        """Return the splits with their default sizes."""
        splits, config = super().splits(), self.config
        if not config.as_released and not config.puzzle:
            return splits
        made = resize_splits(splits, {split.name: 0 for split in splits if split.quota is not None})  # it has no `hard`
        if config.as_released:
            return positive_only(made, self._sorted_by.labels[0].formula)
        puzzle = self._over_figures(puzzle_text(config.figures), {})
        return tuple(replace(s, where=puzzle if s.where == TRUE else conjunction(s.where, puzzle)) for s in made)

    @cached_property
    def _sorted_by(self) -> Knowledge:
        """The rule by whose labels worlds are sorted and dealt evenly, where it is another than that of the data.

        In a puzzle it also tells the kinds of the first figure; the released generator has shapes for colours.
        """
        if self.config.puzzle:
            kinds = {f"kind{i}": self._over_figures(text, {}) for i, text in enumerate(KINDS_OF_FIRST)}
            return Knowledge.of(self.space, {"y": self.rule, **kinds})
        pairs = [(slot.concept("shape"), slot.concept("colour")) for slot in self.slots]
        swapped = {a: Var(b) for pair in pairs for a, b in (pair, pair[::-1])}
        return Knowledge.of(self.space, {"y": substitute(self.rule, dict(swapped))})

    def source_for(self, split: Split, seed: int) -> Source:
        """Return the source of a split's worlds."""
        if not self.config.as_released and not self.config.puzzle:
            return super().source_for(split, seed)
        return WorldSource(self._sorted_by, split, seed, self.name, self.version, style=self.style)

    @property
    def step(self) -> int:
        """The pixels from the left edge of a figure to that of the next."""
        return self.config.side + self.config.gap

    @cached_property
    def layout(self) -> Layout:
        """Figures side by side; or the objects, each in a square of its own."""
        if self.config.view == "figures":
            return Layout(self.step * self.config.figures - self.config.gap, self.config.side, 3)
        boxes = {
            name: Box(CROP * place, 0, CROP * (place + 1), CROP)
            for place, slot in enumerate(self.slots)
            for name in slot.concepts
        }
        return Layout(CROP * len(self.slots), CROP, 3, boxes)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The picture, and if asked for the boxes and masks of the objects."""
        return ("image", "things", "instances") if self.config.masks else ("image",)

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw where the objects lie and how large they are, whatever their shapes and colours."""
        config = self.config
        return {
            "figures": [scatter_spots(rng, config.objects, config.side, config.radii) for _ in range(config.figures)]
        }

    @property
    def style_choices(self) -> Mapping[str, Sequence[Any]]:
        """The backgrounds."""
        return {"background": list(BACKGROUNDS)}

    @cached_property
    def empty(self) -> dict[str, Array]:
        """The picture without objects, on each background, with lines between the figures."""
        return {background: self._empty(background) for background in BACKGROUNDS}

    def _empty(self, background: str) -> Array:
        shape = (self.layout.height, self.layout.width, 3)
        empty = np.full(shape, BACKGROUNDS[background], dtype=np.uint8)
        for figure in range(1, self.config.figures if self.config.view == "figures" else 0):
            empty[:, self.step * figure - self.config.gap : self.step * figure] = LINES[background]
        return empty

    def render(self, world: World) -> Picture:
        """Set the objects into the picture, each with its mask and box."""
        config, stamps = self.config, []
        background = world.style.get("background", config.background)
        for number, slot in enumerate(self.slots):
            figure, place = divmod(number, config.objects)
            appearance = (
                config.shapes[world.codes[2 * number]],
                config.colours[world.codes[2 * number + 1]],
                background,
            )
            spot = world.style["figures"][figure][place]
            if config.view == "objects":
                stamps.append((slot.name, cutout(*appearance, spot, CROP), CROP * number, 0))
            else:
                stamp, left, top = sprite_at(*appearance, spot)
                stamps.append((slot.name, stamp, self.step * figure + left, top))
        return stamp_sprites(self.empty[background], stamps)


class KandLogicAnd(KandLogic):
    """Figures of coloured shapes: do they all have the same kind of shapes, and of colours?"""

    name = "kand-logic-and"
    usual: ClassVar[str] = f"({ALIKE['shape']}) and ({ALIKE['colour']})"
