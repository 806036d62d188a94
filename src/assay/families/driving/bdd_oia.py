"""BDD-OIA: the concepts and actions of driving in photographs, as people annotated them.

Concepts     the 21 of `sdd-oia`, each a reason that people gave or did not give.
Rule         the same four actions. People keep to it in most images only, so that annotated actions have odds.
Splits       train, valid, test, as they come.
Images       the photographs of BDD-OIA with `folder`, which each user gets for himself; without, drawn scenes stand in.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from assay.base import DataError
from assay.families.driving.bdd_files import Frames, read_frames
from assay.families.driving.rules import ACTIONS, knowledge_of, rules, space_of
from assay.families.driving.task import BddOiaConfig, Driving
from assay.families.photos.source import ChosenSource
from assay.logic import Knowledge, LabelNoise, Value, parse
from assay.render import Picture, read_photograph
from assay.tasks import Column
from assay.worlds import CONTENT, LUCK, Source, Split, Style, World

MARGIN = 1e-3
"""How close to even and to certain odds are written."""


class BddOia(Driving):
    """What a car may do: photographs with 21 concepts and four actions, or drawn scenes that stand in for them."""

    name = "bdd-oia"
    Config = BddOiaConfig
    config: BddOiaConfig
    drawn: ClassVar[Mapping[str, int]] = {"train": 2000, "valid": 300, "test": 600}

    @cached_property
    def frames(self) -> Frames | None:
        """The annotated photographs, if there are any."""
        config = self.config
        return None if config.folder is None else read_frames(config.folder, config.confusing, config.skip_missing)

    @property
    def sampling_note(self) -> str:  # type: ignore[override]
        """How worlds come about."""
        return (
            super().sampling_note
            if self.frames is None
            else "Every annotated photograph is an example, divided as given"
        )

    @property
    def seconds(self) -> float:  # type: ignore[override]
        """About how long a picture takes."""
        return super().seconds if self.frames is None else 0.01

    @property
    def sizes(self) -> Mapping[str, int]:  # type: ignore[override]
        """All photographs that there are, or a few drawn scenes."""
        return self.drawn if self.frames is None else {name: len(rows) for name, rows in self.frames.pools.items()}

    @cached_property
    def knowledge(self) -> Knowledge:
        """The concepts and the rules; annotated actions have odds."""
        if self.frames is None:
            return knowledge_of(emergency=False, tied=False, most_obstacles=4)
        knowledge = Knowledge.of(space_of(emergency=False), rules(emergency=False))
        if self.config.labels == "rule":
            return knowledge
        agree = (knowledge.labels_of(self.frames.concepts) == self.frames.actions).mean(axis=0)
        odds = {name: _odds(rules(False)[name], float(share)) for name, share in zip(ACTIONS, agree, strict=True)}
        return Knowledge.of(knowledge.space, rules(False), odds=odds)

    def splits(self) -> tuple[Split, ...]:
        """Return the splits as they come."""
        if self.frames is None:
            return super().splits()
        return tuple(Split(name, size, balance="world", pool=name) for name, size in self.sizes.items() if size)

    def source_for(self, split: Split, seed: int) -> Source:
        """Return the photographs of a split, in the order of their names."""
        if self.frames is None:
            return super().source_for(split, seed)
        return ChosenSource(split, self.space, self.frames.concepts, self._style_of, self.frames.pools[split.pool])

    def _style_of(self, number: int) -> Style:
        """Return which photograph it is, and the luck that gives the actions that people wrote down."""
        frames = self._photographs
        content = {CONTENT: {"image": frames.files[number]}}
        if self.config.labels == "rule":
            return content
        return {**content, LUCK: [0.0 if action else 1.0 for action in frames.actions[number].tolist()]}

    @property
    def _photographs(self) -> Frames:
        if self.frames is None:
            raise DataError("the world shows a photograph; give `folder`, where BDD-OIA was unpacked")
        return self.frames

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw a photograph of a pool with these concepts."""
        if self.frames is None:
            return super().style(rng, codes, pool)
        rows = self.frames.pools[pool]
        fitting = rows[(self.frames.concepts[rows] == np.asarray(codes)).all(axis=1)]
        if not len(fitting):
            raise DataError(f"no photograph of pool {pool!r} has these concepts")
        return self._style_of(int(rng.choice(fitting)))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The picture; of drawn scenes more."""
        return super().columns if self.frames is None else ("image",)

    def render(self, world: World) -> Picture:
        """Read the photograph, or draw the scene."""
        if CONTENT not in world.style:
            return super().render(world)
        path = self._photographs.path(world.style[CONTENT]["image"])
        return Picture(read_photograph(path, (self.config.width, self.config.height)))

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the changed scene; a photograph cannot be changed."""
        if CONTENT not in world.style:
            return super().change_world(world, changes)
        other = world.do(changes)
        return other if other.codes == world.codes else None

    def ingredients(self, world: World) -> tuple[str, ...]:
        """Return the name of the photograph."""
        return (world.style[CONTENT]["image"],) if CONTENT in world.style else ()

    def sources(self) -> dict[str, Any]:
        """Return the hash of the annotations and of the sizes of the photographs."""
        if self.frames is None:
            return {}
        return {"bdd-oia": {"name": "bdd-oia", "sha256": self.frames.sha256, "images": len(self.frames.files)}}


def _odds(rule: str, share: float) -> LabelNoise:
    """Return odds by which a label is what the rule says in a share of the cases, but never less than even."""
    likely = min(max(share, 0.5 + MARGIN), 1 - MARGIN)
    return LabelNoise(parse(f"1 if ({rule}) else -1"), float(np.log(likely / (1 - likely))))
