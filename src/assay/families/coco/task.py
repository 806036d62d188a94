"""COCOLogic-V2: rules over the objects in an image.

Concepts     how many objects of each of 19 classes an image shows (`traffic_light`, `bicycle`, ..., `surfboard`).
Rule         ten, over presence, absence, exact numbers and comparisons of numbers; `rules` for your own. `cocologic`
             has a label for each rule, `cocologic-fs` one rule to be learned from 8 positive and 16 negative images.
Shortcuts    what usually comes together: a street for cars, water for surfboards. `hard` shows it.
Splits       train, valid, test: up to n images of each variant, at least m of each near-boundary type, the rest as it
             comes; `hard`: only images that fulfil a rule or just miss one, all ways alike. No image is in two splits.
Images       photographs of COCO with `--coco DIR`; without, drawn scenes stand in, with COCO's statistics.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from assay.base import Array, KnowledgeError
from assay.families.coco.image_task import ImageTask
from assay.families.coco.sampling import (
    FewShotPlan,
    Quotas,
    RegionMembership,
    available_images,
    sample_evenly,
    sample_few_shot,
    sample_in_three_steps,
)
from assay.families.coco.settings import CocoLogicConfig, FewShotConfig, rules_of
from assay.logic import Formula
from assay.worlds import Split


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
