"""Driving: may a car go forward, must it stop, may it turn left or right?

Concepts     21, all true or false: lights for each way, a stop sign, what is in the way, cars that go ahead, and for
             each side whether our lane leads there, whether there is a lane, what stands on it, and the line before it.
             `sdd-oia` adds `emergency`: we are an ambulance on its way.
Rule         four actions; `rules.py` has the formulas. The one exclusion: a road is clear or has obstacles.
Shortcuts    `follow` never decides, and `clear` says what the obstacles say: 10 readings, one by one, fit all worlds.
             A red light and a person both mean stop; an ambulance stops for one of them only.
Splits       train, valid, test, hard without emergency; ood: an ambulance, other actions for the same concepts.
Images       drawn scenes, 469 x 387; `bdd-oia` has photographs.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from assay.families.driving.drawing.scene import FARTHEST, HEIGHT, WIDTH, draw_style, traffic_scene
from assay.families.driving.drawing.town import DAYS
from assay.families.driving.rules import EMERGENCY, OBSTACLES, complete_changes, knowledge_of
from assay.logic import Formula, Knowledge, Not, Value, Var
from assay.render import Layout, Scene
from assay.tasks import SceneConfig, SceneTask
from assay.worlds import Style, World

SHARES = ("prop_in_distribution", "combinations_in_distribution")


class DrivingConfig(SceneConfig):
    """What drawn scenes look like."""

    width: int = Field(WIDTH, ge=32, le=4096)
    """The width of the pictures in pixels."""
    height: int = Field(HEIGHT, ge=32, le=4096)
    """The height of the pictures in pixels."""


class SddOiaConfig(DrivingConfig):
    """Settings of SDD-OIA."""

    ambulance: bool = True
    """Add the concept `emergency`: true in the split `ood` only, where an ambulance has its own rules."""
    tied: bool = False
    """Tie concepts as the released sampler did: all lights green or none, lane or no lane, no sign with a light."""
    most_obstacles: int = Field(4, ge=1, le=4)
    """How many of car, person, rider and other obstacle a road has at once, at most."""

    @model_validator(mode="after")
    def _must_apply(self) -> "SddOiaConfig":
        for name in SHARES:
            if self.ambulance and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} does not go with an ambulance, which is what `ood` is; set ambulance=false")
        return self


class BddOiaConfig(DrivingConfig):
    """Settings of BDD-OIA."""

    folder: str | None = Field(None, exclude=True)
    """The folder that BDD-OIA was unpacked into (`lastframe`): its annotation files, and `data` with the images."""
    labels: Literal["annotated", "rule"] = "annotated"
    """The actions that people annotated, or those that the rule gives for the concepts that they annotated."""
    confusing: bool = False
    """Keep images that people marked as confusing."""
    skip_missing: bool = False
    """Leave out images that are annotated and not there, instead of stopping."""
    width: int = Field(448, ge=32, le=4096)
    height: int = Field(252, ge=32, le=4096)
    """The height of the pictures in pixels; photographs are fitted in, with grey bars where their shape differs."""

    @model_validator(mode="after")
    def _must_apply(self) -> "BddOiaConfig":
        if self.folder is not None:
            self.refuse_shared("does not apply: photographs are divided as they come")
        return self


class Driving(SceneTask):
    """A crossing as the driver sees it: drawn traffic scenes."""

    config: DrivingConfig
    version: ClassVar[int] = 2
    seconds: ClassVar[float] = 0.6
    farthest: ClassVar[float] = FARTHEST
    trial: ClassVar[Mapping[str, Any]] = {"width": 48, "height": 40, "quality": "draft"}

    @property
    def layout(self) -> Layout:
        """Pictures in colour; places jitter with the camera, so that no concept has a region of its own."""
        return Layout(self.config.width, self.config.height, 3)

    def backbones(self) -> dict[str, str]:
        """Return networks with pooling."""
        return {"concept": "conv-pool-5", "label": "conv-pool-5"}

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw the day, the town, and which things show the concepts where."""
        return draw_style(rng)

    @property
    def style_choices(self) -> Mapping[str, Sequence[Any]]:
        """The time of day."""
        return {"day": DAYS}

    def scene(self, world: World) -> Scene:
        """Return the scene of a world."""
        facts = {name: bool(value) for name, value in world.values.items()}
        return traffic_scene(facts, world.style, self.config.width, self.config.height)

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the world with these concepts changed and what must follow: a cleared road loses its obstacles."""
        first = OBSTACLES[world.style["first"]]
        other = world.do(complete_changes(world.values, changes, self.ties, first))
        holds = all(other[name] == value for name, value in changes.items())
        return other if holds and not self.knowledge.violations(np.array([other.codes])).any() else None

    @property
    def ties(self) -> bool:
        """Whether concepts are tied as in the released sampler."""
        return False


class SddOia(Driving):
    """What a car may do at a crossing: drawn traffic scenes with 21 concepts and four actions."""

    name = "sdd-oia"
    Config = SddOiaConfig
    config: SddOiaConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 6820, "valid": 1464, "test": 1464, "ood": 1000}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The concepts, the traffic rules and the exclusions."""
        config = self.config
        return knowledge_of(config.ambulance, config.tied, config.most_obstacles)

    @property
    def ties(self) -> bool:
        """Whether concepts are tied as in the released sampler."""
        return self.config.tied

    def in_distribution(self) -> Formula:
        """Return that there is no emergency."""
        return Not(Var(EMERGENCY)) if self.config.ambulance else super().in_distribution()

    def held_out(self) -> Formula:
        """Return that there is an emergency."""
        return Var(EMERGENCY) if self.config.ambulance else super().held_out()
