"""Robots: is it a glorp or a drent?

Concepts     of nine body parts (hands of 6 and feet of 10 subtypes) those that `concepts` names: `true` (7), `human`
             (12, feet by subtype), `incomplete` (no knees), `parts`, `all`, or a list. Pictures and labels stay as
             they are.
Rule         `sparse`: 5 [mouth closed] + 8 [foot pointy] - 5 [knees] + 2 > 0; `balanced`: eight parts; or your own
             formula, true or false or a score; drawn by chance with `stochastic`.
Shortcuts    feet by subtype, when training shows few of them (`skew`); what cannot be seen, when `visible` says so.
Splits       train, valid, test share no robot; `hard`: by variant and near-boundary type of the rule; `ood`:
             combinations of concepts that training never shows, with `prop_in_distribution`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from assay.base import Array, Codes, Settings
from assay.families.robots.description import DRAWS, Wording, describe, read_description
from assay.families.robots.drawing import PALETTE, PAPERS, RobotAppearance, draw_robots, picture_codes
from assay.families.robots.parts import PARTS, ROBOTS, RobotRule, Views, best_accuracy
from assay.families.robots.settings import PRESETS, RobotsConfig, rule_of, translate_settings
from assay.families.robots.source import CUTS, Allocation, Catalogue, RobotSource
from assay.logic import Knowledge, Value
from assay.render import Layout, Picture
from assay.tasks import Column, Task
from assay.worlds import CONTENT, HardSource, Source, Split, Style, World

__all__ = ["PRESETS", "Robots", "RobotsConfig", "read_description"]

COLOURS = np.array(list(PALETTE.values()), dtype=np.float32)
GREYS = COLOURS @ np.array([[0.299], [0.587], [0.114]], dtype=np.float32)
CODES = {concept.name: {value: code for code, value in enumerate(concept.values)} for concept in PARTS.concepts}
SCHEMES_RELEASED = 71


class Robots(Task):
    """Glorps and drents, told apart by their body parts."""

    sampling_note: ClassVar[str] = (
        "Robots were dealt from all 7,680, each to one split unless the settings say otherwise"
    )

    name = "robots"
    Config = RobotsConfig
    config: RobotsConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 3800, "valid": 3384, "test": 10_000, "ood": 1000, "hard": 1000}
    pools: ClassVar[Mapping[str, str]] = {**{pool: pool for pool in CUTS}, "ood": "all", "hard": "test"}

    @classmethod
    def translate_settings(cls, settings: Settings) -> Settings:
        """Begin with the preset; understand the released system's keys for data."""
        return translate_settings(settings)

    def backbones(self) -> dict[str, str]:
        """Return networks with pooling, and for the smallest pictures none."""
        return {"concept": "conv-wide", "label": "conv-pool-3"} if self.config.size >= 16 else {}

    # -- the rule ------------------------------------------------------------------------------------------------------

    @cached_property
    def rule(self) -> RobotRule:
        """The rule over whole robots."""
        return rule_of(self.config.rule, self.config.stochastic, self.config.scale)

    @cached_property
    def views(self) -> Views:
        """The concepts annotated, each with the part that it is read off."""
        return Views.of(self.config.concepts)

    @cached_property
    def knowledge(self) -> Knowledge:
        """The annotated concepts, and the rule over them."""
        return self.rule.knowledge_for(self.views)

    @cached_property
    def catalogue(self) -> Catalogue:
        """All robots."""
        return Catalogue(self.rule, self.views, self.knowledge)

    def ceiling(self, names: Sequence[str] | None = None) -> float:
        """Return the best possible accuracy given these concepts, by default given the pictures."""
        observed = (
            picture_codes(ROBOTS, self.appearance) if names is None else Views.of(list(names)).concepts_of(ROBOTS)
        )
        return best_accuracy(self.rule, observed)

    # -- splits --------------------------------------------------------------------------------------------------------

    def splits(self) -> tuple[Split, ...]:
        """Return the splits; where concepts identify a robot, splits are declared disjoint, which is checked."""
        splits = super().splits()
        if not self.catalogue.tells_apart or self.config.split_by != "robot":
            return splits
        return tuple(replace(s, disjoint_from=_other_pools(s, splits[:place])) for place, s in enumerate(splits))

    def source_for(self, split: Split, seed: int) -> Source:
        """Return the robots of a split."""
        source = RobotSource(self.catalogue, split, seed, self.allocation, self.style)
        return source if split.quota is None else HardSource(source, split.quota)

    @property
    def allocation(self) -> Allocation:
        """How robots are allocated to splits."""
        renders = self.config.renders if self.config.split_by == "rendering" else 0
        tied = SCHEMES_RELEASED if self.config.colours == "index" else 0
        return Allocation(renders, tuple(self.config.skew.items()), tuple(self.config.skewed), tied)

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw two colours, and where robots are described the wording and what is left unsaid."""
        left, right = int(rng.integers(len(PALETTE))), int(rng.integers(len(PALETTE) - 1))
        colours = [left, right + (right >= left)]
        if self.config.text == "none":
            return {"colours": colours}
        words = rng.integers(2**31, size=DRAWS).tolist()
        draws = dict(zip(PARTS.names, rng.random((len(PARTS), 2)).tolist(), strict=True))
        omitted = [part for part in PARTS.names if draws[part][0] < self.config.chance("omitted", part)]
        masked = [part for part in PARTS.names if draws[part][1] < self.config.chance("masked", part)]
        masked = [part for part in masked if part not in omitted]
        return {"colours": colours, "words": words, "masked": masked, "omitted": omitted}

    # -- what is seen --------------------------------------------------------------------------------------------------

    @cached_property
    def appearance(self) -> RobotAppearance:
        """How robots are drawn."""
        set_ = self.config
        visible = tuple(set_.visible.get(part, 1.0) for part in PARTS.names)
        return RobotAppearance(set_.size, set_.dot_size, set_.toe, set_.line, set_.contrast, set_.blur, visible)

    @property
    def layout(self) -> Layout:
        """One square picture; every concept is somewhere in it."""
        return Layout(self.config.size, self.config.size, 1 if self.config.grey else 3)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The picture, the text, or both."""
        image: tuple[Column, ...] = ("image",) if self.config.image else ()
        return image if self.config.text == "none" else (*image, "text")

    @cached_property
    def _whole(self) -> dict[tuple[str, tuple[int, ...], int], int]:
        """A cache of parts that the concepts do not determine."""
        return {}

    def robot(self, world: World) -> list[int]:
        """Return the codes of all nine parts of a world: its concepts, and where those leave it open its content."""
        content, codes = world.style.get(CONTENT, {}), []
        for part, places in self.views.by_part.items():
            if part not in self.views.hidden:
                codes.append(world.codes[self.views.space.places[part]])
                continue
            before = CODES[part][content[part]] if part in content else 0
            key = part, tuple(world.codes[place] for place in places), before
            if key not in self._whole:
                self._whole[key] = self.views.nearest(part, key[1], before)
            codes.append(self._whole[key])
        return codes

    def render(self, world: World) -> Picture:
        """Draw and describe one robot."""
        return self.render_all([world])[0]

    def render_all(self, worlds: Sequence[World]) -> list[Picture]:
        """Draw and describe many robots at once."""
        robots: Codes = np.array([self.robot(world) for world in worlds], dtype=np.int64).reshape(-1, len(PARTS))
        images = self._images(robots, worlds) if self.config.image else [Picture().image] * len(worlds)
        if self.config.text == "none":
            return [Picture(image) for image in images]
        texts = [self.describe_robot(robot, world.style) for robot, world in zip(robots.tolist(), worlds, strict=True)]
        return [Picture(image, text=text) for image, text in zip(images, texts, strict=True)]

    @property
    def style_choices(self) -> Mapping[str, Sequence[Any]]:
        """The colour of the paper."""
        return {"paper": list(PAPERS)} if self.config.image and not self.config.grey else {}

    def _images(self, robots: Codes, worlds: Sequence[World]) -> list[Array]:
        pairs = np.array([world.style["colours"] for world in worlds], dtype=np.int64).reshape(-1, 2)
        images = draw_robots(robots, (GREYS if self.config.grey else COLOURS)[pairs], self.appearance)
        for image, world in zip(images, worlds, strict=True):
            if "paper" in world.style:
                image[:] = np.round(image * (np.array(PAPERS[world.style["paper"]]) / 255))
        return list(images[..., 0] if self.config.grey else images)

    def describe_robot(self, robot: Sequence[int], style: Style) -> str:
        """Return a robot in words."""
        if self.config.text == "none":
            return ""
        names = list(PALETTE)
        colours = [] if self.config.grey else [names[place] for place in style["colours"]]
        wording = Wording(style["words"], tuple(style["masked"]), tuple(style["omitted"]))
        return describe(PARTS.decode(robot), colours, self.config.text, wording)

    # -- other worlds --------------------------------------------------------------------------------------------------

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the robot with these concepts changed and what follows of the same part: a foot is of one subtype."""
        robot, wanted = self.robot(world), world.do(changes)
        for part, places in self.views.by_part.items():
            mine = {name: value for name, value in changes.items() if self.views.space.place(name) in places}
            if mine:
                observed, before = [wanted.codes[place] for place in places], robot[PARTS.place(part)]
                among = self.views.fits(part, mine)
                if not among:
                    return None
                robot[PARTS.place(part)] = self.views.nearest(part, observed, before, among)
        codes = self.views.concepts_of(np.array([robot]))[0].tolist()
        content = {part: value for part, value in PARTS.decode(robot).items() if part in self.views.hidden}
        return World(world.space, tuple(codes), {**world.style, **({CONTENT: content} if content else {})})

    def ingredients(self, world: World) -> tuple[str, ...]:
        """Return the number of the robot, whatever its colours."""
        return (f"robot {self.robot_number(world)}",)

    def robot_number(self, world: World) -> int:
        """Return which of the 7,680 robots a world shows."""
        return int(np.ravel_multi_index(self.robot(world), PARTS.sizes))


def _other_pools(split: Split, before: Sequence[Split]) -> tuple[str, ...]:
    return tuple(other.name for other in before if other.pool != split.pool)
