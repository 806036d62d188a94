"""What a task is, and the splits that tasks with enumerable worlds share.

Some tasks describe a scene in three dimensions, which an engine draws.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from assay.base import Codes, Config, ConfigError, Settings, UnknownName, suggestion, validate
from assay.logic import TRUE, ConceptSpace, Formula, Knowledge, Member, Not, Value, Var, parse
from assay.renamed import accept_old_names
from assay.render import Engine, Layout, Picture, Quality, Scene, check_engine, picture_of
from assay.worlds import Balance, HardSource, ProgramSource, Quota, Source, Split, Style, World, WorldSource

Intervention = Callable[[World], World | None]
"""A named change of worlds; it gives None for worlds that it does not apply to."""
Column = Literal["image", "things", "instances", "parts", "depth", "text"]


class TaskConfig(Config):
    """The settings that every task with enumerable worlds has."""

    prop_in_distribution: float = Field(1.0, gt=0, le=1)
    """The share of the worlds of each label that train, valid and test hold; the rest is `ood`."""
    combinations_in_distribution: list[Any] | None = None
    """The worlds that train, valid and test hold, each a list of values or a text of digits; the rest is `ood`."""
    stages: list[str] = []
    """Continual learning: a formula for each stage, with splits `train_1`, `valid_1`, `test_1`, `train_2`, ..."""
    per_variant: int | None = Field(None, ge=1)
    """The split `hard`: up to so many worlds of each variant of the rule; by default all variants and types in turn."""
    per_type: int | None = Field(None, ge=1)
    """The split `hard`: at least so many worlds of each near-boundary type (else `per_variant`); far ones fill up."""
    balance: Balance | None = None
    """Distribute examples evenly over `label`s or over `world`s; by default over labels if all are true or false."""

    def refuse_shared(self, why: str, allowed: Iterable[str] = ()) -> None:
        """Raise if one of the settings above is given and does not apply; `why` follows its name."""
        for key in sorted((self.model_fields_set & set(TaskConfig.model_fields)) - set(allowed)):
            if getattr(self, key) != TaskConfig.model_fields[key].get_default(call_default_factory=True):
                raise ValueError(f"{key} {why}")


class Task(ABC):
    """A task: concepts, a rule, splits, and how a world is rendered.

    Subclasses set the class attributes, and give `knowledge`, `layout`, `style` and `render`. All that is random is
    drawn in `style`, nothing in `render`.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    Config: ClassVar[type[TaskConfig]] = TaskConfig
    sizes: ClassVar[Mapping[str, int]] = {"train": 1000, "valid": 200, "test": 300, "ood": 300}
    sampling_note: ClassVar[str] = "Worlds were drawn from the rule's decision diagram, evenly over {balance}"
    """How worlds are sampled, for the dataset card."""
    seconds: ClassVar[float] = 0.0001
    """About how long a picture takes, so that slow ones are written in smaller shards and by more workers."""
    trial: ClassVar[Mapping[str, Any]] = {}
    """Settings for fast contract tests: small pictures of low quality."""
    pools: ClassVar[Mapping[str, str]] = {"train": "train", "valid": "valid", "test": "test", "ood": "test"}

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        accept_old_names(cls)

    def __init__(self, settings: Settings | None = None, **values: Any) -> None:
        merged = (settings or Settings()).merge(Settings(values))
        self.config = validate(self.Config, self.translate_settings(merged))

    @classmethod
    def translate_settings(cls, settings: Settings) -> Settings:
        """Return settings in our keys; tasks that know another system's keys translate them here."""
        return settings

    @property
    @abstractmethod
    def knowledge(self) -> Knowledge:
        """The concepts and the rule."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The size of the pictures, and where each concept shows."""

    @abstractmethod
    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw all that is random about a world but its concepts."""

    @abstractmethod
    def render(self, world: World) -> Picture:
        """Return the picture of a world; a pure function."""

    def render_all(self, worlds: Sequence[World]) -> list[Picture]:
        """Render many worlds; tasks that can do so faster than one by one override this."""
        return [self.render(world) for world in worlds]

    @property
    def columns(self) -> tuple[Column, ...]:
        """What of a picture is written to disk."""
        return ("image",)

    def source_for(self, split: Split, seed: int) -> Source:
        """Return the source of a split's worlds; by default sampled from the rule's decision diagram."""
        source_type = WorldSource if self.knowledge.symbolic else ProgramSource
        source = source_type(self.knowledge, split, seed, self.name, self.version, style=self.style)
        return source if split.quota is None else HardSource(source, split.quota)

    def subconcepts_of(self, worlds: Sequence[World]) -> Codes:
        """Return the finer concepts of worlds, for tasks whose knowledge has some."""
        raise NotImplementedError(f"task {self.name!r} names subconcepts and does not say what they are in a world")

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the counterfactual world, these concepts changed and what must follow, or None if there is none."""
        return world.do(changes)

    @property
    def style_choices(self) -> Mapping[str, Sequence[Any]]:
        """Keys of a style that concern no concept, each with values that `render` takes: nuisances to confound with."""
        return {}

    @property
    def planted(self) -> Sequence[Mapping[str, Any]]:
        """Confounders that belong to the task, as `confound` takes them; others can be asked for in their place."""
        return ()

    @property
    def interventions(self) -> Mapping[str, Intervention]:
        """Test-time interventions by name; they may give worlds that the task never samples."""
        return {}

    def check_ready(self) -> None:  # noqa: B027
        """Raise if rendering needs something that is not installed; called before any file is written."""

    def ingredients(self, world: World) -> tuple[str, ...]:
        """Return the names of the source images (digits, photographs) that a world shows."""
        return ()

    @property
    def summary(self) -> str:
        """One line about the task."""
        return (type(self).__doc__ or self.name).strip().splitlines()[0]

    def backbones(self) -> dict[str, str]:
        """Return the backbones that suit the pictures, for the roles `concept` and `label`."""
        return {}

    def sources(self) -> dict[str, Any]:
        """Return the source data of the pictures by name and hash, for the manifest."""
        return {}

    @property
    def space(self) -> ConceptSpace:
        """The concepts."""
        return self.knowledge.space

    @cached_property
    def balance(self) -> Balance:
        """Whether labels or worlds are sampled evenly."""
        truth = all(label.kind == "bool" for label in self.knowledge.labels)
        return self.config.balance or ("label" if truth else "world")

    def in_distribution(self) -> Formula:
        """Return which worlds train, valid and test draw from; if from all, a share of them is held out."""
        listed = self.config.combinations_in_distribution
        return TRUE if listed is None else combinations(listed, self.space)

    def held_out(self) -> Formula:
        """Return which worlds `ood` draws from."""
        inside = self.in_distribution()
        return TRUE if inside == TRUE else Not(inside)

    def splits(self) -> tuple[Split, ...]:
        """Return the splits with their default sizes."""
        inside = self.in_distribution()
        share = self.config.prop_in_distribution if inside == TRUE else 1.0
        splits = [self._split(name, inside, (0.0, share)) for name in self.sizes if name not in ("ood", "hard")]
        if self.config.stages:
            splits = [part for split in splits for part in self._staged(split)]
        hard = self._hard(inside, (0.0, share))
        if "ood" in self.sizes and (inside != TRUE or share < 1):
            ood = self._split("ood", self.held_out(), (share, 1.0) if share < 1 else (0.0, 1.0))
            splits.append(replace(ood, disjoint_from=tuple(split.name for split in (*splits, *hard))))
        return (*splits, *hard)

    def _hard(self, where: Formula, share: tuple[float, float]) -> tuple[Split, ...]:
        """Return the split of worlds at the decision boundary, by default like `test`; none if there is neither."""
        size = self.sizes.get("hard", self.sizes.get("test"))
        if size is None:
            return ()
        pool = self.pools.get("hard", self.pools.get("test", "test"))
        quota = Quota(self.config.per_variant, self.config.per_type)  # and labels evenly, so that rare ones are found
        return (Split("hard", size, where, share, "label", pool, stages=self._stages, quota=quota),)

    @property
    def _stages(self) -> tuple[Formula, ...]:
        return tuple(parse(text, self.space.names) for text in self.config.stages)

    def _split(self, name: str, where: Formula, share: tuple[float, float]) -> Split:
        return Split(name, self.sizes[name], where, share, self.balance, self.pools[name], stages=self._stages)

    def _staged(self, split: Split) -> list[Split]:
        size = max(1, split.size // len(split.stages))
        return [
            replace(split, name=f"{split.name}_{place + 1}", size=size, stage=place)
            for place in range(len(split.stages))
        ]


def resize_splits(
    splits: Sequence[Split], sizes: Mapping[str, int], scale: Fraction = Fraction(1)
) -> tuple[Split, ...]:
    """Return the splits in other sizes: as named, or all in proportion; a size of 0 drops a split.

    Parameters
    ----------
    splits
        What there is, in the task's sizes.
    sizes
        How many examples the splits of these names get.
    scale
        By how much the sizes of all others are multiplied.
    """
    names = [split.name for split in splits]
    for name in sizes:
        if name not in names:
            raise UnknownName(f"no split named {name!r}{suggestion(name, names)}")
    chosen = []
    for split in splits:
        size = sizes.get(split.name, max(1, round(split.size * scale)))
        if size:
            chosen.append(replace(split, size=size))
    if not chosen:
        raise ConfigError("every split has size 0: nothing to make")
    present = {split.name for split in chosen}
    return tuple(replace(s, disjoint_from=tuple(n for n in s.disjoint_from if n in present)) for s in chosen)


def combinations(listed: Sequence[Any], space: ConceptSpace) -> Member:
    """Return "one of these combinations"; each is a list of values, or for digits and bits a text such as "0120"."""
    rows = [_combination(combination, space) for combination in listed]
    if not rows:
        raise ConfigError("combinations_in_distribution is empty: no world would be in distribution")
    return Member(tuple(Var(name) for name in space.names), tuple(dict.fromkeys(rows)))


def _combination(combination: Any, space: ConceptSpace) -> tuple[Value, ...]:
    cells = list(combination) if isinstance(combination, (list, tuple)) else list(str(combination))
    if len(cells) != len(space):
        raise ConfigError(
            f"combinations_in_distribution: {combination!r} has {len(cells)} values, the concepts are {len(space)}: "
            f"{', '.join(space.names)}"
        )
    row = []
    for cell, concept in zip(cells, space.concepts, strict=True):
        value = cell if isinstance(cell, (bool, int)) else str(cell)
        if isinstance(value, str) and value.isdecimal() and concept.kind != "symbol":
            value = int(value)
        try:
            row.append(concept.values[concept.code(value)])
        except UnknownName as error:
            raise ConfigError(f"combinations_in_distribution: {combination!r}: {error}") from None
    return tuple(row)


class SceneConfig(TaskConfig):
    """The engine that renders the scenes, and its quality."""

    engine: Engine = "embedded"
    """What renders the pictures: the built-in ray tracer, or Blender's Cycles (extra `blender`)."""
    quality: Quality = "standard"
    """How well they are drawn: `draft` has grain, `high` takes longer."""


class SceneTask(Task):
    """A task that describes scenes."""

    config: SceneConfig
    farthest: ClassVar[float]
    """Depths beyond this count as this."""

    @abstractmethod
    def scene(self, world: World) -> Scene:
        """Return the scene of a world, for any engine."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The picture, the boxes and masks of the things in it, and how far away everything is."""
        return ("image", "things", "instances", "depth")

    def check_ready(self) -> None:
        """Raise if the engine is not installed."""
        check_engine(self.config.engine)

    def render(self, world: World) -> Picture:
        """Draw the scene."""
        return picture_of(self.scene(world), self.farthest, self.config.engine, self.config.quality)
