"""A task whose pictures carry nuisances that go with their labels in training, and the worlds of its splits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay.base import Array, Codes, ConfigError
from assay.dataset.confounders import (
    NUISANCES,
    REVERSED,
    SHIFTED,
    STYLE,
    Confounder,
    Coupling,
    couplings_of,
    draw_codes,
    set_codes,
    with_choices,
)
from assay.logic import Value
from assay.render import MARK_NAMES, Picture, mark_picture
from assay.tasks import Task
from assay.worlds import Source, Split, World, labels_of

FACTS = ("name", "version", "Config", "sizes", "sampling_note", "seconds", "trial", "pools")
"""What a task's class says of it."""
TRIES = 2000
"""How many worlds are tried for one whose concepts go with its label, or do not."""


def _own(name: str) -> Any:
    """Return a property that is that of the task without confounders."""
    return property(lambda task: getattr(task.base, name))


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

    def source_for(self, split: Split, seed: int) -> Source:
        """Return the source of a split's worlds, with their nuisances."""
        drawn = split
        if split.name in SHIFTED:
            origin = self._origin(self.base.splits())
            drawn = replace(split, name=split.name if origin is None else origin.name)
        return ConfoundedSource(self.base.source_for(drawn, seed), split, self.couplings, seed)

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

    knowledge = _own("knowledge")
    layout = _own("layout")
    style = _own("style")
    style_choices = _own("style_choices")
    planted = _own("planted")
    columns = _own("columns")
    subconcepts_of = _own("subconcepts_of")
    interventions = _own("interventions")
    check_ready = _own("check_ready")
    ingredients = _own("ingredients")
    summary = _own("summary")
    backbones = _own("backbones")
    sources = _own("sources")
    in_distribution = _own("in_distribution")
    held_out = _own("held_out")


def with_confounders(task: Task, confounders: Sequence[Confounder]) -> Task:
    """Return a task with confounders, or the task as it is where there are none."""
    return ConfoundedTask(task, confounders) if confounders else task


def plain(task: Task) -> Task:
    """Return the task that a confounded one was made from, or the task itself."""
    return task.base if isinstance(task, ConfoundedTask) else task


def reversed_worlds(task: Task, split: Split, seed: int, places: Array) -> list[World]:
    """Return the worlds at places of a split of a confounded task, a nuisance of each with another code.

    Parameters
    ----------
    task
        The task, with its confounders.
    split
        The split as the task draws it, with the size that it has.
    seed
        The seed of the dataset.
    places
        The numbers of the examples in the split.
    """
    couplings = task.couplings if isinstance(task, ConfoundedTask) else ()
    base = plain(task).source_for(split, seed)
    return ConfoundedSource(base, replace(split, name=REVERSED), couplings, seed).worlds(places)


def further_worlds(task: Task, split: Split, seed: int, count: int) -> list[World]:
    """Return worlds of a split beyond those that it holds, and beyond those that a confounder may take.

    Parameters
    ----------
    task
        The task, with its confounders if it has any.
    split
        The split as the task draws it, with the size that it has.
    seed
        The seed of the dataset.
    count
        How many worlds.
    """
    return task.source_for(split, seed).worlds(np.arange(count) + split.size * TRIES)


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
