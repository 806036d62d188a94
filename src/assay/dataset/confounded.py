"""A task whose pictures carry nuisances that go with their labels in training.

The worlds of a split with nuisances in their styles, that go with their labels or do not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay.base import Array, Codes, ConfigError
from assay.dataset.confounders import (
    NUISANCES,
    SHIFTED,
    STYLE,
    Confounder,
    Coupling,
    couplings_of,
    draw_codes,
    set_codes,
    with_choices,
)
from assay.logic import Formula, Knowledge, Value
from assay.render import MARK_NAMES, Layout, Picture, mark_picture
from assay.tasks import Column, Intervention, Task
from assay.worlds import Source, Split, Style, World, labels_of

FACTS = ("name", "version", "Config", "sizes", "how_drawn", "seconds", "trial", "pools")
"""What a task's class says of it."""


class ConfoundedTask(Task):
    """A task with confounders; in all else the task that it was made from."""

    def __init__(self, base: Task, confounders: Sequence[Confounder]) -> None:
        self.base = base
        self.config = base.config
        vars(self).update({name: getattr(base, name) for name in FACTS})
        self.confounders = tuple(with_choices(confounder, base.style_choices) for confounder in confounders)
        self.couplings: tuple[Coupling, ...] = couplings_of(self.confounders, base.knowledge)
        if not base.layout.width and any(coupling.name in MARK_NAMES for coupling in self.couplings):
            raise ConfigError(f"confound: task {base.name!r} has no pictures to mark")

    # -- what is confounded --------------------------------------------------------------------------------------------

    def splits(self) -> tuple[Split, ...]:
        """Return the task's own splits, and its test split twice more, with nuisances drawn freely and reversed."""
        own = self.base.splits()
        test = self._origin(own)
        return own if test is None else (*own, *(replace(test, name=name) for name in SHIFTED))

    def _origin(self, own: Sequence[Split]) -> Split | None:
        return next((split for split in own if split.name in ("test", "test_1")), None)

    def worlds_in(self, split: Split, seed: int) -> Source:
        """Return the source of a split's worlds, with their nuisances."""
        drawn = split
        if split.name in SHIFTED:
            origin = self._origin(self.base.splits())
            drawn = replace(split, name=split.name if origin is None else origin.name)
        return ConfoundedSource(self.base.worlds_in(drawn, seed), split, self.couplings, seed)

    def render(self, world: World) -> Picture:
        """Return the picture of a world with its marks."""
        return self._marked(self.base.render(world), world)

    def render_all(self, worlds: Sequence[World]) -> list[Picture]:
        """Render many worlds with their marks."""
        pictures = self.base.render_all(worlds)
        return [self._marked(picture, world) for picture, world in zip(pictures, worlds, strict=True)]

    def _marked(self, picture: Picture, world: World) -> Picture:
        codes = world.style.get(NUISANCES, {})
        for coupling in self.couplings:
            if coupling.name in MARK_NAMES and coupling.name in codes:
                picture = mark_picture(picture, coupling.name, codes[coupling.name], coupling.count)
        return picture

    def change_world(self, world: World, changes: Mapping[str, Value]) -> World | None:
        """Return the counterfactual world; its nuisances stay."""
        made = self.base.change_world(world, changes)
        if made is None or NUISANCES not in world.style:
            return made
        chosen = [c.name.removeprefix(STYLE) for c in self.couplings if c.choices]
        return replace(made, style={**made.style, **{k: world.style[k] for k in (*chosen, NUISANCES)}})

    # -- what is the task's own ----------------------------------------------------------------------------------------

    @property
    def knowledge(self) -> Knowledge:
        """The concepts and the rule."""
        return self.base.knowledge

    @property
    def layout(self) -> Layout:
        """The size of the pictures, and where each concept shows."""
        return self.base.layout

    @property
    def style_choices(self) -> Mapping[str, Sequence[Any]]:
        """What of a style can be chosen."""
        return self.base.style_choices

    def style(self, rng: np.random.Generator, codes: Sequence[int], pool: str) -> Style:
        """Draw all that is random about a world but its concepts and nuisances."""
        return self.base.style(rng, codes, pool)

    @property
    def planted(self) -> Sequence[Mapping[str, Any]]:
        """The confounders that belong to the task."""
        return self.base.planted

    @property
    def columns(self) -> tuple[Column, ...]:
        """What of a picture is written to disk."""
        return self.base.columns

    def subconcepts_of(self, worlds: Sequence[World]) -> Codes:
        """Return the finer concepts of worlds."""
        return self.base.subconcepts_of(worlds)

    @property
    def interventions(self) -> Mapping[str, Intervention]:
        """Test-time interventions by name."""
        return self.base.interventions

    def check_ready(self) -> None:
        """Raise if rendering needs something that is not installed."""
        self.base.check_ready()

    def ingredients(self, world: World) -> tuple[str, ...]:
        """Return the names of the source images that a world shows."""
        return self.base.ingredients(world)

    @property
    def summary(self) -> str:
        """One line about the task."""
        return self.base.summary

    def backbones(self) -> dict[str, str]:
        """Return the backbones that suit the pictures."""
        return self.base.backbones()

    def sources(self) -> dict[str, Any]:
        """Return the source data of the pictures by name and hash."""
        return self.base.sources()

    def in_distribution(self) -> Formula:
        """Return which worlds train, valid and test draw from."""
        return self.base.in_distribution()

    def held_out(self) -> Formula:
        """Return which worlds `ood` draws from."""
        return self.base.held_out()


def with_confounders(task: Task, confounders: Sequence[Confounder]) -> Task:
    """Return a task with confounders, or the task as it is where there are none."""
    return ConfoundedTask(task, confounders) if confounders else task


def plain(task: Task) -> Task:
    """Return the task that a confounded one was made from, or the task itself."""
    return task.base if isinstance(task, ConfoundedTask) else task


TRIES = 2000
"""How many worlds are tried for one whose concepts go with its label, or do not."""


class ConfoundedSource:
    """The worlds of a split with nuisances that go with their labels, or do not.

    A formula over concepts is confounded by taking another world of the same labels where the first does not fit: that
    of a place further on, beyond those that the split holds.
    """

    def __init__(self, base: Source, split: Split, couplings: Sequence[Coupling], seed: int) -> None:
        self.base = base
        self.split = split
        self.couplings = couplings
        self.seed = seed
        self.knowledge = couplings[0].knowledge

    @property
    def total(self) -> int:
        """How many different worlds the split can hold."""
        return self.base.total

    def contains(self, codes: Codes) -> Array:
        """Return whether each combination of concepts may occur in this split."""
        return self.base.contains(codes)

    def codes(self, places: Array) -> Codes:
        """Return the concept codes of the worlds at these places."""
        return self.base.codes(self._drawn(places)[0])

    def worlds(self, places: Array) -> list[World]:
        """Return the worlds at these places, each with the codes of its nuisances in its style."""
        taken, drawn = self._drawn(places)
        return [
            set_codes(world, self.couplings, row)
            for world, row in zip(self.base.worlds(taken), drawn.tolist(), strict=True)
        ]

    def _drawn(self, places: Array) -> tuple[Array, Codes]:
        """Return from which places of the base the worlds come, and the codes of their nuisances."""
        places = np.asarray(places, dtype=np.int64)
        codes = self.base.codes(places)
        labels = self._labels(places, codes)
        partners = np.stack([coupling.partner(codes, labels) for coupling in self.couplings], axis=1)
        origin = self.base.split
        drawn = np.array(draw_codes(self.couplings, self.split.name, origin.name, self.seed, places, partners))
        if origin.quota is not None:  # worlds chosen by where they lie in the rule are left as they are
            drawn[:, [coupling.is_formula for coupling in self.couplings]] = -1
        return self._fitting(places, codes, labels, drawn), drawn

    def _labels(self, places: Array, codes: Codes) -> Codes:
        """Return the labels at places, whose concepts are known; only those left to chance need the styles."""
        return labels_of(self.knowledge, codes, self.base.worlds(places) if self.knowledge.stochastic else ())

    def _fitting(self, places: Array, codes: Codes, labels: Codes, drawn: Codes) -> Array:
        """Return the places of the worlds that have the same labels, and formulas as drawn."""
        formulas = [place for place, coupling in enumerate(self.couplings) if coupling.is_formula]
        if not formulas:
            return places
        taken, left = places.copy(), np.arange(len(places))
        for attempt in range(1, TRIES):
            shown = np.stack([self.couplings[i].code_shown(codes) for i in formulas], axis=1)
            wanted = drawn[left][:, formulas]
            fits = ((shown == wanted) | (wanted < 0)).all(axis=1)
            left = left[~(fits & (self._labels(taken[left], codes) == labels[left]).all(axis=1))]
            if not len(left):
                return taken
            taken[left] = places[left] + attempt * self.base.split.size
            codes = self.base.codes(taken[left])
        names = " and ".join(repr(self.couplings[i].name) for i in formulas)
        raise ConfigError(
            f"confound: split {self.split.name!r} has hardly a world whose {names} is as asked for its label; "
            "lower the strength, or drop the split"
        )
