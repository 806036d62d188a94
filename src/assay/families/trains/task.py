"""Michalski trains: does the train go east?

Concepts     per car: colour, length, wall, roof, axles, number of loads and their shape; 2 to 4 cars, numbered from
             the engine; one encoder reads all colours, one all lengths, and so on.
Rule         `theory_x`: a short car with a roof, or a golden vase somewhere before a barrel; `numerical`, `complex`,
             `easy`, `color`, `multi` of V-LoL; or your own formula or Prolog program.
Shortcuts    in Michalski's trains colour, length and roof go together: long cars are yellow, grey ones have a frame.
Splits       train, valid, test, hard; `ood_longer` (7 cars) and `ood_uniform` (other attributes) in `trains-ood`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from assay.base import Settings
from assay.families.trains.drawing.appearance import FARTHEST, Background, TrainAppearance
from assay.families.trains.rules import cars_at_least, cars_at_most, laws_of, michalski_cars
from assay.families.trains.settings import RELEASED, WORDS, TrainsConfig
from assay.families.trains.source import (
    ATTRIBUTES,
    Distribution,
    TrainDistribution,
    TrainSource,
    cars_of,
    change_train,
    kinds_of,
    michalski_text,
    remove_roofs,
    swap_loads,
    train_space,
)
from assay.logic import TRUE, Formula, Knowledge, Not, Value, conjunction
from assay.render import Layout, Picture, Scene
from assay.tasks import Column, Intervention, SceneTask
from assay.worlds import HardSource, Source, Split, Style, World

LABEL = "east"
FAMILY = "trains"
"""What seeds are for: tasks that look different draw the same trains."""
STEEPEST, STEEPER = 60, 70
"""How many degrees trains turn to either side, without and with `occlusion`."""


class MichalskiTrains(SceneTask):
    """Trains of toy cars: which go east?"""

    name = "trains"
    Config = TrainsConfig
    config: TrainsConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 1000, "valid": 200, "test": 500, "ood": 300}
    extra: ClassVar[Mapping[str, int]] = {"ood_longer": 300, "ood_uniform": 300}
    sampling_note: ClassVar[str] = (
        "Trains were drawn car by car, anew until one had the label wanted, evenly over {balance}"
    )
    seconds: ClassVar[float] = 0.3
    farthest: ClassVar[float] = FARTHEST
    trial: ClassVar[Mapping[str, Any]] = {"width": 64, "quality": "draft"}

    @classmethod
    def translate_settings(cls, settings: Settings) -> Settings:
        """Understand V-LoL's keys."""
        return settings.rename_keys(RELEASED).replace_words(WORDS)

    def backbones(self) -> dict[str, str]:
        """Return the network of the paper, or one for pictures too small for it."""
        name = "resnet-18" if self.config.width >= 128 else "conv-pool-5"
        return {"concept": name, "label": name}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The cars, what goes east, and what holds of every train of every split."""
        config = self.config
        space, laws = train_space(config.slots, config.min_cars), laws_of(self.common, config.slots, config.min_cars)
        return Knowledge.of(space, {LABEL: config.formula(space)}, laws)

    @property
    def common(self) -> Distribution:
        """The distribution whose laws hold in every split."""
        return "uniform" if self.config.ood_uniform else self.config.distribution

    def splits(self) -> tuple[Split, ...]:
        """Return the splits, with those of longer and of other trains where the settings have them."""
        config = self.config
        usual = michalski_cars() if self.common != config.distribution else TRUE
        short = cars_at_most(config.max_cars) if config.slots > config.max_cars else TRUE
        splits = [replace(split, where=_all(split.where, usual, short)) for split in super().splits()]
        others = tuple(split.name for split in splits)
        wanted = {"ood_longer": _all(usual, cars_at_least(config.slots)), "ood_uniform": _all(Not(usual), short)}
        for name, where in wanted.items():
            if getattr(config, name):
                splits.append(
                    Split(name, self.extra[name], where, balance=self.balance, pool="test", disjoint_from=others)
                )
        return tuple(splits)

    def trains_of(self, split: str) -> TrainDistribution:
        """Return how the trains of a split are drawn."""
        config = self.config
        if split == "ood_longer":
            return TrainDistribution(config.distribution, config.ood_longer, config.ood_longer)
        return TrainDistribution(
            "uniform" if split == "ood_uniform" else config.distribution, config.min_cars, config.max_cars
        )

    def source_for(self, split: Split, seed: int) -> Source:
        """Return where the trains of a split come from."""
        trains = self.trains_of(split.name)
        source = TrainSource(self.knowledge, trains, split, seed, FAMILY, self.version, style=self.style)
        return source if split.quota is None else HardSource(source, split.quota)

    @cached_property
    def layout(self) -> Layout:
        """The size of the pictures; trains stand anywhere in them."""
        return Layout(self.config.width, self.config.height, 3) if self.config.image else Layout(0, 0)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The picture with the masks of cars and of their parts, and depth; or the train as text."""
        return ("image", "things", "instances", "parts", "depth") if self.config.image else ("text",)

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw the way in which the train stands, whatever its cars."""
        steepest = STEEPER if self.config.occlusion else STEEPEST
        return {"angle": int(rng.integers(-steepest, steepest + 1)) + 180 * int(rng.integers(2))}

    @property
    def style_choices(self) -> Mapping[str, Sequence[Any]]:
        """The backgrounds that are seen by the same camera."""
        return {"background": ("base", "desert_sky", "desert")} if self.config.image else {}

    def appearance(self, background: Background) -> TrainAppearance:
        """Return how trains are drawn."""
        config = self.config
        return TrainAppearance(config.visualization, background, config.max_cars, config.width, config.height)

    def render(self, world: World) -> Picture:
        """Draw the train, or write it down."""
        if not self.config.image:
            return Picture(text=michalski_text(cars_of(world.codes)))
        return super().render(world)

    def scene(self, world: World) -> Scene:
        """Return the train as a scene."""
        from assay.families.trains.drawing.scene import (
            train_scene,  # a modeller comes with it, which datasets of text do without
        )

        background = world.style.get("background", self.config.background)
        return train_scene(cars_of(world.codes), world.style["angle"], self.appearance(background))

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the train with the nearest possible cars that have the attributes wanted."""
        wanted: dict[int, dict[int, int]] = {}
        for name, value in changes.items():
            car, place = divmod(self.space.place(name), len(ATTRIBUTES))
            wanted.setdefault(car, {})[place] = self.space.concept(name).code(value)
        cars = np.array(world.codes, dtype=np.int64).reshape(-1, len(ATTRIBUTES))
        codes = change_train(kinds_of(self.common), cars, wanted, self.config.min_cars)
        return None if codes is None else replace(world, codes=tuple(codes.ravel().tolist()))

    @property
    def interventions(self) -> Mapping[str, Intervention]:
        """V-LoL's test-time interventions; the changed trains may be none that the generator draws."""
        return {"swap_loads": swap_loads, "remove_roofs": remove_roofs}


def _all(*parts: Formula) -> Formula:
    return conjunction(*(part for part in parts if part != TRUE))
