"""CLE4EVR: do two of the objects in a scene share colour and shape?

Concepts     per object: colour (10), shape (10), material (2), size (3); one encoder reads all colours, one all shapes,
             and so on. Objects are numbered from left to right in the picture, so that `object1` can be told. Where
             their number varies, the last slots are absent.
Rule         two objects share colour and shape, as in the paper, or any formula over the objects.
Shortcuts    colours trade places, and so do shapes: 10! x 10! readings of these fit the default rule in all worlds;
             material and size can be read at will.
Splits       train, valid, test, hard; `ood` with `held_out`, `shape_colours`, `prop_in_distribution` or
             `combinations_in_distribution`.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from assay.base import ConfigError, FormulaError, Settings
from assay.families.clevr.placement import CameraView, Placement
from assay.families.clevr.scene import FARTHEST, FLOORS, LAMPS, ClevrObject, scene_of
from assay.families.clevr.settings import ATTRIBUTES, ClevrConfig, from_rsbench
from assay.logic import (
    ABSENT,
    TRUE,
    Concept,
    ConceptSpace,
    Constraint,
    EncoderGroup,
    Formula,
    Implies,
    Knowledge,
    Slot,
    Value,
    Var,
    conjunction,
)
from assay.render import Layout, Scene, label_pixels
from assay.tasks import SceneTask
from assay.worlds import HardSource, Source, Split, Style, World, object_count_source

TRIES = 60
"""How often places are drawn before it is said that none will do."""


class Clevr(SceneTask):
    """Solids on a floor: do two of them share colour and shape?"""

    name = "clevr"
    version: ClassVar[int] = 2
    Config: ClassVar[type[ClevrConfig]] = ClevrConfig
    config: ClevrConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 4000, "valid": 1000, "test": 1000, "ood": 1000}
    seconds: ClassVar[float] = 0.3
    farthest: ClassVar[float] = FARTHEST
    trial: ClassVar[Mapping[str, Any]] = {"width": 64, "height": 48, "quality": "draft", "sizes": ["large", "medium"]}

    @classmethod
    def translate_settings(cls, settings: Settings) -> Settings:
        """Understand rsbench's keys."""
        return from_rsbench(settings)

    def backbones(self) -> dict[str, str]:
        """Return networks with pooling."""
        return {"concept": "conv-pool-5", "label": "conv-pool-5"}

    # -- concepts and rule ---------------------------------------------------------------------------------------------

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of an object: what it looks like, and in some tasks where it stands."""
        return ATTRIBUTES

    def values_of(self, attribute: str) -> tuple[Value, ...]:
        """Return the values of an attribute."""
        return self.config.values(attribute)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The objects from left to right."""
        return tuple(Slot(f"object{i + 1}", "objects", self.attributes) for i in range(self.config.most))

    @cached_property
    def knowledge(self) -> Knowledge:
        """The objects, and whether two of them are alike; where some can be missing, those are the last."""
        config = self.config
        missing = () if config.least == config.most else (ABSENT,)
        names = self.attributes
        values = {name: (*self.values_of(name), *missing) for name in names}
        concepts = tuple(Concept(slot.concept(name), values[name]) for slot in self.slots for name in names)
        encoders = tuple(EncoderGroup(name, tuple(slot.concept(name) for slot in self.slots)) for name in names)
        try:
            return Knowledge.of(ConceptSpace(concepts, self.slots, encoders), {"y": config.rule}, self.constraints())
        except FormulaError as error:
            raise ConfigError(f"rule: {error}") from None

    def constraints(self) -> list[Constraint]:
        """Return what holds of every scene: where objects can be missing, those are the last."""
        least, most = self.config.least, self.config.most
        if least == most:
            return []
        there = [Var(slot.concept(ATTRIBUTES[0])).ne(ABSENT) for slot in self.slots]
        steps = [Implies(there[place + 1], there[place]) for place in range(least, most - 1)]
        return [
            Constraint("enough objects", conjunction(*there[:least]), ("counting",)),
            *(Constraint(f"object{least + place + 2} comes last", step) for place, step in enumerate(steps)),
        ]

    def in_distribution(self) -> Formula:
        """Return the worlds without what is held out."""
        inside, listed = self.config.inside(), super().in_distribution()
        both = [part for part in (inside, listed) if part != TRUE]
        return conjunction(*both)

    def source_for(self, split: Split, seed: int) -> Source:
        """Return worlds with each number of objects as often as another."""
        numbers = range(self.config.least, self.config.most + 1)
        source = object_count_source(
            self.knowledge, split, seed, self.name, self.version, numbers=numbers, style=self.style
        )
        return source if split.quota is None else HardSource(source, split.quota)

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the same scene with other objects; the last can leave, and one like it can join to its right."""
        values, there = dict(changes), self._there(world.codes)
        for place, slot in enumerate(self.slots):
            own = [changes[name] for name in slot.concepts if name in changes]
            for name in ATTRIBUTES if own else ():
                if ABSENT in own:
                    values.setdefault(slot.concept(name), ABSENT)
                elif place >= there:
                    before = self.slots[place - 1].concept(name)
                    values.setdefault(slot.concept(name), values.get(before, world[before]))
        other = world.do(values)
        gone = [{other[name] == ABSENT for name in slot.concepts} for slot in self.slots]
        count = gone.count({False})
        if gone != [{place >= count} for place in range(len(gone))] or count < self.config.least:
            return None
        return None if None in other.style["spots"][:count] else other

    def _there(self, codes: Sequence[int]) -> int:
        """Return how many objects there are."""
        first = codes[:: len(self.attributes)]
        absent = len(self.config.colours)  # the code after all colours
        return sum(code != absent for code in first)

    # -- pictures ------------------------------------------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """Pictures in colour; any object can be anywhere."""
        return Layout(self.config.width, self.config.height, 3)

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw where the camera, the lamps and the objects stand, and how objects are turned."""
        count, moves, turns = self._there(codes), self.draw_moves(rng), self.draw_turns(rng)
        placement = self.config.placement.seen_from(moves["camera"])
        for _ in range(TRIES):
            spots = placement.find_spots(rng, count, TRIES)
            if spots is None:
                break
            places = [[*spot, turn] for spot, turn in zip(spots.tolist(), turns, strict=False)]
            style = {**moves, "spots": places + self._spare(rng, placement, spots, turns[count:])}
            if self.shows_all(World(self.space, tuple(codes), style)):
                return style
        raise ConfigError(
            f"no places for {count} objects of which each shows; lower 'objects', 'min_pixels' or 'margin'"
        )

    def draw_moves(self, rng: np.random.Generator) -> dict[str, list[float]]:
        """Draw how far the camera and each lamp are moved."""
        config = self.config
        jitter = {"camera": config.camera_jitter, **{name: getattr(config, f"{name}_light_jitter") for name in LAMPS}}
        return {name: rng.uniform(-most, most, 3).round(3).tolist() for name, most in jitter.items()}

    def draw_turns(self, rng: np.random.Generator) -> list[float]:
        """Draw how objects are turned, in degrees."""
        turns: list[float] = rng.uniform(0, 360, self.config.most).round(1).tolist()
        return turns

    def _spare(self, rng: np.random.Generator, placement: Placement, spots: Any, turns: Sequence[float]) -> list[Any]:
        """Draw places for objects that could join, each to the right of all others; None where there is no room."""
        places: list[Any] = []
        for turn in turns:
            candidates = placement.draw_candidates(rng)
            fitting = placement.fitting_spot(
                spots, candidates[placement.columns(candidates) > placement.columns(spots).max()]
            )
            if not len(fitting):
                return places + [None] * (len(turns) - len(places))
            spots = np.concatenate([spots, fitting])
            places.append([*fitting[0].tolist(), turn])
        return places

    def shows_all(self, world: World) -> bool:
        """Return whether enough pixels of each object are seen."""
        scene = self.scene(world)
        counts = np.bincount(label_pixels(scene).things.ravel(), minlength=len(scene.things) + 1)
        return bool((counts[1:] >= self.config.pixels).all())

    @property
    def style_choices(self) -> Mapping[str, Sequence[Any]]:
        """The colour of the floor."""
        return {"floor": list(FLOORS)}

    def scene(self, world: World) -> Scene:
        """Return the scene of a world, for any engine."""
        solids = self.objects_of(world)
        lamps = {name: world.style[name] for name in LAMPS}
        return scene_of(solids, self.view(world), lamps, world.style.get("floor", "grey"))

    def view(self, world: World) -> CameraView:
        """Return how the camera sees a world."""
        return self.config.placement.seen_from(world.style["camera"]).view

    def objects_of(self, world: World) -> list[ClevrObject]:
        """Return the objects that are there."""
        objects = []
        for slot, spot in zip(self.slots, world.style["spots"], strict=True):
            values = {name: str(world[slot.concept(name)]) for name in ATTRIBUTES}
            if ABSENT not in values.values() and spot is not None:
                objects.append(ClevrObject(slot.name, **values, spot=spot))
        return objects
