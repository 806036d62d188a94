"""Confounders: nuisances that go with a label in training, and do not cause it.

A nuisance is a mark on the picture, a part of the style, or a formula over concepts that the rule need not use. In
training its code is the one that goes with the label, at a given strength. On `unconfounded` it is drawn freely, on
`reversed` it is one that goes with another label. Both hold the worlds of the test split again, so that rows of equal
number are counterfactual pairs along the nuisance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from assay.base import Array, Codes, Config, ConfigError, Streams, suggestion
from assay.logic import Evaluator, Knowledge, parse
from assay.render import MARK_NAMES
from assay.worlds import World

if TYPE_CHECKING:
    from assay.dataset.dataset import Dataset

CONFOUND = "confound"
"""The confounders of a dataset, beside the settings of its task."""
UNCONFOUNDED, REVERSED = "unconfounded", "reversed"
SHIFTED = (UNCONFOUNDED, REVERSED)
"""The splits in which nuisances do not go with labels as they do in training."""
NUISANCES = "nuisances"
"""The key of a style for the codes of the nuisances that confound."""
STYLE = "style."


class Confounder(Config):
    """A nuisance and what it goes with."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    what: str
    """A mark (`watermark`, `frame`, ...), `style.KEY` for a part of the task's style, or a formula over concepts."""
    goes_with: str = Field(alias="with")
    """A label, a concept, or a formula over concepts that is true or false."""
    strength: float = Field(0.95, ge=0, le=1)
    """The share of examples in which the nuisance has the code that goes with the label; others have another code."""
    one_sided: bool = False
    """Of a formula: leave worlds as they come where that which it goes with is false, as CLEVR-Hans does."""
    values: list[Any] | None = None
    """Of `style.KEY`: the values to choose from, in order; by default all that the task offers."""
    where: list[str] | None = None
    """In which splits, by name, such as `[train, valid]`; by default in all of the task's own."""

    @model_validator(mode="before")
    @classmethod
    def _one_split(cls, values: Any) -> Any:
        """Take a single name of a split for a list."""
        if isinstance(values, Mapping) and isinstance(values.get("where"), str):
            return {**values, "where": [values["where"]]}
        return values

    def to_dict(self) -> dict[str, Any]:
        """Return the confounder as plain data."""
        return self.model_dump(mode="json", by_alias=True)

    def holds_in(self, split: str) -> bool:
        """Return whether the nuisance goes with the label in a split; stages count as the split that they are of."""
        return self.where is None or split in self.where or split.rpartition("_")[0] in self.where


@dataclass(frozen=True)
class Coupling:
    """A confounder, bound to the concepts and labels of a task: which code of the nuisance goes with a world."""

    confounder: Confounder
    knowledge: Knowledge

    def __post_init__(self) -> None:
        if self.is_formula and (self.count != 2 or self._nuisance.shape.kind != "bool"):
            raise ConfigError(f"confound: {self.name!r} and what it goes with must be true or false")
        if self.confounder.one_sided and not self.is_formula:
            raise ConfigError(f"confound: one_sided is for formulas, not for {self.name!r}")
        if self.count < 2:
            raise ConfigError(f"confound: {self.confounder.goes_with!r} has one value only")

    @property
    def name(self) -> str:
        """What the nuisance is called."""
        return self.confounder.what

    @property
    def choices(self) -> list[Any]:
        """The values of a part of the style; marks have a code for each value of what they go with."""
        return self.confounder.values or []

    @property
    def is_formula(self) -> bool:
        """Whether it is a formula over concepts, and no mark and no part of the style."""
        return self.name not in MARK_NAMES and not self.name.startswith(STYLE)

    @cached_property
    def outcomes(self) -> int:
        """How many values that which the nuisance goes with can take."""
        wanted, knowledge = self.confounder.goes_with, self.knowledge
        if wanted in knowledge.label_names:
            return len(knowledge.label(wanted).values)
        if wanted in knowledge.space.names:
            return len(knowledge.space.concept(wanted).values)
        if self._wanted.shape.kind != "bool":
            raise ConfigError(f"confound: {wanted!r} must be a label, a concept, or true or false")
        return 2

    @cached_property
    def count(self) -> int:
        """How many codes the nuisance has."""
        return min(self.outcomes, len(self.choices)) if self.choices else self.outcomes

    def value(self, code: int) -> Any:
        """Return the value of a part of the style that a code stands for: the first, the last, or one between."""
        return self.choices[round(code * (len(self.choices) - 1) / max(1, self.count - 1))]

    def partner(self, concepts: Codes, labels: Codes) -> Array:
        """Return for each world the code of the nuisance that goes with it, -1 where that is not known."""
        wanted, knowledge = self.confounder.goes_with, self.knowledge
        if wanted in knowledge.label_names:
            codes = labels[:, knowledge.label_names.index(wanted)]
        elif wanted in knowledge.space.names:
            codes = concepts[:, knowledge.space.place(wanted)]
        else:
            codes = self._wanted(concepts).astype(np.int64)
        return np.where(codes < 0, -1, codes % self.count)

    def draw(self, rng: np.random.Generator, partner: int, split: str) -> int:
        """Return a code in a split of the task: in a share of the examples the partner, otherwise another."""
        chance, step = rng.random(), int(rng.integers(1, self.count))
        if not self.confounder.holds_in(split) or partner < 0:
            return self.draw_freely(rng)
        if self.confounder.one_sided and not partner:
            return -1
        return partner if chance < self.confounder.strength else (partner + step) % self.count

    def draw_freely(self, rng: np.random.Generator) -> int:
        """Return any code; a formula is left as it comes."""
        return -1 if self.is_formula else int(rng.integers(self.count))

    def draw_reversed(self, rng: np.random.Generator, partner: int) -> int:
        """Return a code that goes with other worlds."""
        step = int(rng.integers(1, self.count))
        if partner < 0:
            return self.draw_freely(rng)
        return -1 if self.confounder.one_sided and not partner else (partner + step) % self.count

    def code_shown(self, concepts: Codes) -> Array:
        """Return the code that concepts give, where the nuisance is a formula over them."""
        return np.asarray(self._nuisance(concepts).astype(np.int64))

    @cached_property
    def _nuisance(self) -> Evaluator:
        """The formula that the nuisance is."""
        return _evaluator(self.name, self.knowledge)

    @cached_property
    def _wanted(self) -> Evaluator:
        """The formula that the nuisance goes with."""
        return _evaluator(self.confounder.goes_with, self.knowledge)


def _evaluator(text: str, knowledge: Knowledge) -> Evaluator:
    space = knowledge.space
    if text.isidentifier() and text not in space.names:
        names = [*MARK_NAMES, *knowledge.label_names, *space.names]
        raise ConfigError(f"confound: no mark, label or concept named {text!r}{suggestion(text, names)}")
    return Evaluator(space, parse(text, space.names))


def with_choices(confounder: Confounder, offered: Mapping[str, Sequence[Any]]) -> Confounder:
    """Return a confounder with the values of its part of the style, which the task must offer."""
    if not confounder.what.startswith(STYLE):
        if confounder.values is not None:
            raise ConfigError(f"confound: {confounder.what!r} takes no values; only {STYLE}KEY does")
        return confounder
    key = confounder.what.removeprefix(STYLE)
    if key not in offered:
        there = ", ".join(STYLE + name for name in offered) or "no part of the style that can be chosen"
        raise ConfigError(f"confound: no {confounder.what!r}; there is {there}, or a mark: {', '.join(MARK_NAMES)}")
    values = list(offered[key] if confounder.values is None else confounder.values)
    for value in values:
        if value not in offered[key]:
            raise ConfigError(f"confound: {confounder.what} cannot be {value!r}; it can be {list(offered[key])}")
    if len(values) < 2:
        raise ConfigError(f"confound: {confounder.what} needs two values or more")
    return confounder.model_copy(update={"values": values})


def couplings_of(confounders: Sequence[Confounder], knowledge: Knowledge) -> tuple[Coupling, ...]:
    """Bind confounders to a task's concepts and labels."""
    names = [confounder.what for confounder in confounders]
    if len(set(names)) < len(names):
        raise ConfigError("confound: a nuisance is named twice")
    return tuple(Coupling(confounder, knowledge) for confounder in confounders)


def draw_codes(
    couplings: Sequence[Coupling], split: str, origin: str, seed: int, places: Array, partners: Array
) -> list[list[int]]:
    """Return the code of each nuisance at places of a split that shows the worlds of `origin`.

    On `unconfounded` all are drawn freely. On `reversed` formulas, and of marks and styles one in turn, have a code
    that goes with other worlds; without formulas, a row and the same row of `origin` then differ in one alone. A
    formula that is left as it comes has -1.

    Parameters
    ----------
    couplings
        The nuisances, bound to the concepts and labels.
    split
        The split whose rows they are drawn for.
    origin
        The split whose worlds it shows; the same split, unless it shows the test split again.
    seed
        The seed of the dataset.
    places
        The numbers of the rows in the split.
    partners
        For each row (rows x nuisances) the code that goes with its world, -1 where that is not known.
    """
    streams, rows = Streams(seed, CONFOUND, origin), list[list[int]]()
    formulas, marks = ([i for i, one in enumerate(couplings) if one.is_formula is kind] for kind in (True, False))
    for place, goes_with in zip(np.asarray(places).tolist(), partners.tolist(), strict=True):
        rng = streams[place]
        codes = [coupling.draw(rng, partner, origin) for coupling, partner in zip(couplings, goes_with, strict=True)]
        if split == UNCONFOUNDED:
            codes = [coupling.draw_freely(rng) for coupling in couplings]
        elif split == REVERSED:
            for number in (*formulas, *(marks and [marks[place % len(marks)]])):
                codes[number] = couplings[number].draw_reversed(rng, goes_with[number])
        rows.append(codes)
    return rows


def set_codes(world: World, couplings: Sequence[Coupling], codes: Sequence[int]) -> World:
    """Return a world whose nuisances have these codes; a formula has the code that its concepts give."""
    concepts = np.array([world.codes], dtype=np.int64)
    named = {
        coupling.name: int(coupling.code_shown(concepts)[0]) if coupling.is_formula else code
        for coupling, code in zip(couplings, codes, strict=True)
    }
    parts = {
        coupling.name.removeprefix(STYLE): coupling.value(named[coupling.name])
        for coupling in couplings
        if coupling.choices
    }
    return World(world.space, world.codes, {**world.style, **parts, NUISANCES: named})


def confounders_of(dataset: "Dataset") -> tuple[Coupling, ...]:
    """Return the confounders that a dataset was made with."""
    planted = dataset.manifest.task.confound
    return couplings_of([Confounder(**entry) for entry in planted], dataset.knowledge)
