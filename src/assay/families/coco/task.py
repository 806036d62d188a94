"""COCOLogic-V2: rules over the objects in an image.

Concepts     how many objects of each of 19 classes an image shows (`traffic_light`, `bicycle`, ..., `surfboard`).
Rule         ten, over presence, absence, exact numbers and comparisons of numbers; `rules` for your own. `cocologic`
             has a label for each rule, `cocologic-fs` one rule to be learned from 8 positive and 16 negative images.
Shortcuts    what usually comes together: a street for cars, water for surfboards. `hard` shows it.
Splits       train, valid, test: up to n images of each variant, at least m of each near-boundary type, the rest as it
             comes; `hard`: only images that fulfil a rule or just miss one, all ways alike. No image is in two splits.
Images       photographs of COCO with `--coco DIR`; without, drawn scenes stand in, with COCO's statistics.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from assay.base import Array, Codes, DataError, KnowledgeError, rng_for
from assay.families.coco.album import Album, Photographs, read_coco
from assay.families.coco.drawing.scene import BACKDROPS, draw_scene
from assay.families.coco.drawing.scene_templates import MOST, NAMES
from assay.families.coco.sampling import (
    FewShotPlan,
    Quotas,
    RegionMembership,
    available_images,
    sample_evenly,
    sample_few_shot,
    sample_in_three_steps,
)
from assay.families.coco.settings import PAPER_TYPES, RULES, CocoConfig, CocoLogicConfig, FewShotConfig, rules_of
from assay.families.coco.synthetic import SyntheticAlbum, recompose, synthetic_album
from assay.families.photos.source import ChosenSource
from assay.logic import Boundary, Concept, ConceptSpace, Formula, Knowledge, Value, evaluate, free_names, parse
from assay.render import Layout, Letterbox, ObjectBox, Picture, read_photograph
from assay.tasks import Column, Task
from assay.worlds import CONTENT, Split, Style, World

LEAST_RANGE = 5
"""Counts go up to this at least, so that every rule can tell its numbers apart."""


class ImageTask(Task):
    """Images with counted objects: photographs of COCO, or drawn scenes."""

    sampling_note: ClassVar[str] = (
        "Images were chosen by the variants and near-boundary types of the rules, then far ones"
    )

    config: CocoConfig

    # -- what there is -------------------------------------------------------------------------------------------------

    @cached_property
    def source(self) -> Photographs | SyntheticAlbum:
        """The photographs, or the scenes that stand in for them."""
        if self.config.coco is None:
            return synthetic_album(self.config.scenes)
        return read_coco(self.config.coco, self.config.skip_missing)

    @property
    def album(self) -> Album:
        """The annotations."""
        return self.source.album

    @property
    @abstractmethod
    def rules(self) -> Mapping[str, Formula]:
        """The rules that are labels."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The object classes that are counted: the nineteen, as far as the images know them, and those of the rules."""
        known = self.album.categories
        needed = (name for formula in self.rules.values() for name in free_names(formula))
        return tuple(dict.fromkeys([*(name for name in NAMES if name in known), *needed]))

    @cached_property
    def _counts(self) -> Codes:
        return self.album.counts(self.names, self.config.annotation_filter)

    @cached_property
    def _range(self) -> int:
        if self.config.most is not None:
            return self.config.most
        most = MOST if isinstance(self.source, SyntheticAlbum) else int(self._counts.max(initial=0))
        return max(LEAST_RANGE, most + 1)

    @cached_property
    def codes(self) -> Codes:
        """How many objects of each class each image shows, as far as counts go."""
        return np.minimum(self._counts, self._range)

    @cached_property
    def knowledge(self) -> Knowledge:
        """The counts and the rules."""
        values = tuple(range(self._range + 1))
        space = ConceptSpace(tuple(Concept(name, values, counts=True) for name in self.names))
        return Knowledge.of(space, self.rules, types=self.listed_types)

    @property
    def listed_types(self) -> Mapping[str, Mapping[str, str]]:
        """The near-boundary types that the paper lists, if they are asked for; of own rules they are derived."""
        if self.config.types == "derived":
            return {}
        ten = {name: parse(text) for name, text in RULES.items()}
        return {name: PAPER_TYPES[name] for name, formula in self.rules.items() if ten.get(name) == formula}

    @cached_property
    def membership(self) -> RegionMembership:
        """How each image stands to the rules: of which variants and near-boundary types it is."""
        memberships = [self._membership_of(boundary) for boundary in self.knowledge.boundaries]
        variants, types = ([part[side] for part in memberships] for side in (0, 1))
        rules = np.repeat(np.arange(len(memberships)), [part.shape[1] for part in variants])
        return RegionMembership(np.concatenate(variants, axis=1), np.concatenate(types, axis=1), rules)

    def _membership_of(self, boundary: Boundary) -> tuple[Array, Array]:
        """Return which images are of which variants and types of one rule, from the counts that it asks for."""
        columns = [self.space.place(name) for name in free_names(boundary.label)]
        kinds, which = np.unique(self.codes[:, columns], axis=0, return_inverse=True)
        codes = np.zeros((len(kinds), len(self.space)), dtype=np.int64)
        codes[:, columns] = kinds
        truth, near = evaluate(boundary.label, self.space, codes), boundary.near(codes)
        variants = boundary.in_variants(codes) if boundary.explicit else truth[:, None]
        types = boundary.in_types(codes) if boundary.explicit else (near & ~truth)[:, None]
        return variants[which.ravel()], types[which.ravel()]

    @cached_property
    def image_pools(self) -> dict[str, Array]:
        """The images of each pool that can be used, by number; no image is in two."""
        fit = self.album.usable_images(self.names, self.config.annotation_filter)
        pools = self.album.pools(self.config.valid_share, self.config.hard_share)
        return {name: numbers[fit[numbers]] for name, numbers in pools.items()}

    # -- splits --------------------------------------------------------------------------------------------------------

    def splits(self) -> tuple[Split, ...]:
        """Return the splits in the paper's sizes, or as large as the images allow."""
        return tuple(Split(name, size, pool=name) for name, size in self.sizes.items() if size)

    @abstractmethod
    def choose(self, split: Split, membership: RegionMembership, rng: np.random.Generator) -> Array:
        """Return which of a pool's images a split holds."""

    def source_for(self, split: Split, seed: int) -> ChosenSource:
        """Return the images chosen for a split."""
        numbers = self.image_pools[split.pool]
        rng = rng_for(seed, self.name, self.version, split.name)
        chosen = self.choose(split, self.membership.select(numbers), rng)
        return ChosenSource(split, self.space, self.codes, self.style_of, numbers[chosen])

    def style_of(self, number: int) -> Style:
        """Return the style of an image: its name, and for a scene all that is drawn."""
        image = {"image": self.album.files[number]}
        if not isinstance(self.source, SyntheticAlbum):
            return {CONTENT: image}
        counted = self.album.is_counted(self.config.annotation_filter)[self.album.objects_of(number)]
        return {CONTENT: {**image, **self.source.scenes.content(number, counted.tolist())}}

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw an image of a pool with these counts; a scene is changed to have them."""
        numbers = self.image_pools[pool]
        if isinstance(self.source, SyntheticAlbum):
            style = dict(self.style_of(int(rng.choice(numbers))))
            content = recompose(style[CONTENT], dict(zip(self.names, map(int, codes), strict=True)))
            if content is not None:
                return {CONTENT: content}
        fitting = numbers[(self.codes[numbers] == np.asarray(codes)).all(axis=1)]
        if not len(fitting):
            raise DataError(f"no image of pool {pool!r} shows these numbers of objects")
        return self.style_of(int(rng.choice(fitting)))

    # -- pictures ------------------------------------------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """Pictures in colour; any object can be anywhere."""
        return Layout(self.config.width, self.config.height, 3)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The picture and the boxes of the objects that count."""
        return ("image", "things")

    def backbones(self) -> dict[str, str]:
        """Return networks with pooling."""
        return {"concept": "conv-pool-3", "label": "conv-pool-3"}

    @property
    def style_choices(self) -> Mapping[str, Sequence[Any]]:
        """The backdrop of a drawn scene; that of a photograph cannot be chosen."""
        drawn = isinstance(self.source, SyntheticAlbum)
        return {"backdrop": [scene for scene in BACKDROPS if scene != "table"]} if drawn else {}

    def render(self, world: World) -> Picture:
        """Read the photograph, or draw the scene."""
        content, size = world.style[CONTENT], (self.config.width, self.config.height)
        if "scene" in content:
            return draw_scene({**content, "scene": world.style.get("backdrop", content["scene"])}, size)
        if isinstance(self.source, SyntheticAlbum):
            raise DataError(f"the world shows the photograph {content['image']!r}; give `coco`, the folder it is in")
        return self._photograph(content["image"], self.source, size)

    def _photograph(self, file: str, source: Photographs, size: tuple[int, int]) -> Picture:
        image = read_photograph(source.path(file), size)
        album, number = source.album, source.number(file)
        inner = float(album.sizes[number, 0]), float(album.sizes[number, 1])
        fit, counted = Letterbox.of(inner, size), album.is_counted(self.config.annotation_filter)
        things = [
            ObjectBox(album.categories[album.classes[row]], fit.box(album.boxes[row].tolist(), inner))
            for row in album.objects_of(number)
            if counted[row] and album.categories[album.classes[row]] in self.names
        ]
        return Picture(image, tuple(things))

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return a scene with other numbers of objects; a photograph cannot be changed."""
        other = world.do(changes)
        wanted = {name: int(other[name]) for name in changes if other[name] != world[name]}
        if not wanted:
            return other
        content = world.style[CONTENT]
        new_content = recompose(content, wanted) if "scene" in content else None
        return None if new_content is None else World(other.space, other.codes, {**world.style, CONTENT: new_content})

    def ingredients(self, world: World) -> tuple[str, ...]:
        """Return the name of the photograph or scene."""
        return (world.style[CONTENT]["image"],)

    def sources(self) -> dict[str, Any]:
        """Return the hash of the annotations; drawn scenes have no source."""
        if isinstance(self.source, SyntheticAlbum):
            return {}
        return {"coco": {"name": "coco", "sha256": self.source.sha256, "images": len(self.album)}}


class CocoLogic(ImageTask):
    """Ten rules over the objects in an image, a label for each."""

    name = "cocologic"
    version: ClassVar[int] = 2
    Config = CocoLogicConfig
    config: CocoLogicConfig
    paper: ClassVar[Mapping[str, int]] = {"train": 22_500, "valid": 2500, "test": 3500, "hard": 500}
    drawn: ClassVar[Mapping[str, int]] = {"train": 2000, "valid": 200, "test": 500, "hard": 200}
    whole: ClassVar[Mapping[str, int]] = {"train": 25_000, "valid": 25_000, "test": 3500}

    @cached_property
    def sizes(self) -> Mapping[str, int]:  # type: ignore[override]
        """The paper's sizes, smaller ones for drawn scenes, or what there is."""
        usual = self.drawn if self.config.coco is None else self.paper
        there = {name: len(numbers) for name, numbers in self.image_pools.items()}
        regions = self.membership.select(self.image_pools["hard"])
        there["hard"] = int((regions.positive | regions.near).sum())
        return {name: min(size, there[name]) for name, size in usual.items()}

    @cached_property
    def rules(self) -> Mapping[str, Formula]:
        """The rules of the settings."""
        return rules_of(self.config.rules, self.album.categories)

    def choose(self, split: Split, membership: RegionMembership, rng: np.random.Generator) -> Array:
        """Choose in the three steps of the paper; for `hard`, all variants and types in turn."""
        if split.name == "hard":
            return sample_evenly(np.concatenate([membership.variants, membership.types], axis=1), split.size, rng)
        quotas = Quotas(self.config.per_variant or len(membership.variants), self.config.per_type or 0)
        scaled = quotas.scale(min(1.0, split.size / self.whole[split.name]))
        return sample_in_three_steps(membership, split.size, scaled, self.config.rest, rng)


class CocoLogicFS(ImageTask):
    """One rule over the objects in an image, to be learned from 24 examples."""

    name = "cocologic-fs"
    version: ClassVar[int] = 2
    Config = FewShotConfig
    config: FewShotConfig
    plans: ClassVar[Mapping[str, FewShotPlan]] = {
        "train": FewShotPlan(8, 16, 2),
        "valid": FewShotPlan(8, 16, 2),
        "test": FewShotPlan(20, 20, 2),
        "hard": FewShotPlan(20, 20, 0),
    }

    @cached_property
    def sizes(self) -> Mapping[str, int]:  # type: ignore[override]
        """The paper's sizes, or what there is."""
        pools = self.image_pools
        return {name: available_images(self.membership.select(pools[name]), plan) for name, plan in self.plans.items()}

    @cached_property
    def rules(self) -> Mapping[str, Formula]:
        """The one rule."""
        own = {**dict.fromkeys([self.config.rule]), **self.config.rules}
        return rules_of({self.config.rule: own[self.config.rule]}, self.album.categories)

    def choose(self, split: Split, membership: RegionMembership, rng: np.random.Generator) -> Array:
        """Choose to the plan: variants evenly, types evenly, two far ones."""
        rows = sample_few_shot(membership, split.size, self.plans[split.name], rng)
        if len({bool(label) for label in membership.positive[rows]}) < 2:
            only = bool(membership.positive[rows].any())
            raise KnowledgeError(
                f"split {split.name!r}: {self.config.rule!r} is {only} in every image that there is; "
                "give more images or another rule, or the split size 0"
            )
        return rows
