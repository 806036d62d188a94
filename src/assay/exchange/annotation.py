"""The settings of `assay annotate`, applied in the order in which they stand here, and the rows that they choose."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from assay.base import Array, Codes, Config, ConfigError, UnknownName, rng_for
from assay.logic import Knowledge, Value, evaluate, listing, parse

Chance = Annotated[float, Field(ge=0, le=1)]
Rate = Chance | dict[str, Chance]
"""One chance for all, or one for each that is named."""
Flips = dict[str, dict[Value, dict[Value, Chance]]]
"""For a name: from which value, to which, how likely."""
ORDER = ("rows", "concept set", "labels", "concepts", "missing", "shown")


class Annotation(Config):
    """How a dataset is to be annotated."""

    splits: list[str] | None = None
    """The splits to change; by default those for training and validation. No other is touched."""
    seed: int = Field(0, ge=0)

    where: str | None = None
    """Rows: only those where this formula over the true concepts holds."""
    label_shares: dict[Value, Chance] | dict[str, dict[Value, Chance]] | None = None
    """Rows: the share of each value of the label; what is not named has the rest. With several labels, by name."""
    shares: dict[str, Chance] | None = None
    """Rows: the share of rows in which each formula holds; they exclude one another; all others have the rest."""
    examples: int | None = Field(None, ge=1)
    """Rows: so many of each split; with shares by default as many as there can be."""

    drop: list[str] = []
    """Concept set: without these concepts."""
    refine: dict[str, list[Value]] = {}
    """Concept set: instead of a concept, a true-or-false one for each of these values, `shape_is_square`."""
    regions: bool = True
    """Concept set: keep where each concept shows; without, encoders read the whole picture."""
    machine: str | None = None
    """What a machine said: a predictions file, a run's folder, a CSV of scores with columns split, index, names; or the
    machine itself: `vlm` (a vision-language model) or `clip:FOLDER`."""
    reader: dict[str, Any] = {}
    """The settings of `vlm` or `clip:FOLDER`, such as {model: NAME, most_tokens: 100000}."""
    threshold: float | Literal["mean", "median"] | None = None
    """From which probability or score on a machine says true; by default the likeliest value, of scores the mean."""

    label_noise: Rate = 0.0
    """Labels: the chance of another value, any as likely as any other."""
    label_flips: Flips = {}
    """Labels: the chance of each value for each, `{y: {true: {false: 0.2}}}`."""

    concept_noise: Rate = 0.0
    """Concepts: the chance of another value, any as likely as any other; by concept or encoder group."""
    noise_01: Rate = 0.0
    """Concepts: the chance that a false one is given as true."""
    noise_10: Rate = 0.0
    """Concepts: the chance that a true one is given as false."""
    concept_flips: Flips = {}
    """Concepts: the chance of each value for each, `{shape: {square: {circle: 0.2}}}`."""
    subjective_noise: Chance = 0.0
    """Concepts: the chance that another one of a group is given as the true one, where exactly one is."""
    subjective_groups: list[list[str]] | None = None
    """Concepts: these groups; by default those that `refine` made."""

    missing: Rate = 0.0
    """The chance that a concept is missing; by concept or encoder group."""
    mechanism: Literal["mcar", "mnar"] = "mcar"
    """`mcar`: of any value alike. `mnar`: the chance times 1.5 where the concept is present, times 0.5 where absent."""
    missing_factors: tuple[float, float] = (1.5, 0.5)
    """The factors of `mnar`: present, absent. What comes out is clipped to 1."""
    present: list[Value] | None = None
    """The values that count as present; by default all but the one that says that nothing is there."""

    shown_concepts: list[str] | None = None
    """Only these concepts are shown, all others are missing."""
    shown_values: list[Value] | None = None
    """Only concepts that truly have one of these values are shown, such as the digits 3, 4, 8 and 9."""
    shown_examples: int | None = Field(None, ge=0)
    """Only in so many examples of each split are concepts shown, such as 20."""

    @model_validator(mode="after")
    def _fit(self) -> "Annotation":
        if self.shares is not None and self.label_shares is not None:
            raise ValueError("give shares or label_shares, not both; run annotate twice for both")
        if min(self.missing_factors) < 0:
            raise ValueError("missing_factors are not negative")
        for name, rows in {**self.label_flips, **self.concept_flips}.items():
            for value, to in rows.items():
                if sum(to.values()) > 1 + 1e-9:
                    raise ValueError(f"the chances to leave {value!r} of {name!r} add up to {sum(to.values()):g}")
        if self.threshold is not None and self.machine is None:
            raise ValueError("a threshold needs a machine to say something")
        if self.reader and self.machine is None:
            raise ValueError("reader: settings of a machine, and none is named; set machine=vlm or machine=clip:FOLDER")
        return self

    @property
    def non_defaults(self) -> dict[str, object]:
        """What is not as by default, for the record."""
        return self.model_dump(mode="json", exclude_defaults=True, exclude={"machine", "reader", "seed"})

    @property
    def changes_concepts(self) -> bool:
        """Whether the set of concepts is another."""
        return bool(self.drop or self.refine)


def rate_of(rate: Rate, *names: str) -> float:
    """Return the chance for a thing that has several names, the first that is given."""
    if not isinstance(rate, Mapping):
        return rate
    return next((rate[name] for name in names if name in rate), 0.0)


def choose_rows(annotation: Annotation, knowledge: Knowledge, split: str, concepts: Codes, labels: Codes) -> Array:
    """Return the rows that are kept, in their order."""
    rows = np.arange(len(labels))
    if annotation.where is not None:
        rows = rows[_holds(annotation.where, knowledge, concepts, "where")]
        if not len(rows):
            raise ConfigError(f"where: {annotation.where!r} holds in no row of split {split!r}")
    rng = rng_for(annotation.seed, "annotate", split, "rows")
    rows = rows[rng.permutation(len(rows))]
    if annotation.label_shares is None and annotation.shares is None:
        return np.sort(rows[: annotation.examples])
    cells, shares = _cells(annotation, knowledge, concepts[rows], labels[rows])
    counts = quotas(np.bincount(cells, minlength=len(shares)), shares, annotation.examples, split)
    chosen = [rows[cells == cell][:count] for cell, count in enumerate(counts)]
    return np.sort(np.concatenate(chosen))


def quotas(there: Array, shares: Array, wanted: int | None, split: str) -> list[int]:
    """Return how many rows each cell gives, so that the shares are as asked to less than one row.

    >>> quotas(np.array([60, 40]), np.array([0.9, 0.1]), None, "train")
    [59, 7]
    """
    needed = shares > 0
    most = int(np.floor((there[needed] / shares[needed]).min() + 1e-9))
    total = most if wanted is None else wanted
    if total < 1 or total > most:
        raise ConfigError(
            f"split {split!r} has rows for {most:,} examples in the shares asked for, not {max(1, total):,}"
        )
    exact = shares * total
    counts = np.floor(exact + 1e-9).astype(np.int64)
    for cell in np.argsort(counts - exact, kind="stable").tolist():
        if counts.sum() < total and counts[cell] < there[cell] and needed[cell]:
            counts[cell] += 1
    quota: list[int] = counts.tolist()
    return quota


def _cells(annotation: Annotation, knowledge: Knowledge, concepts: Codes, labels: Codes) -> tuple[Array, Array]:
    """Return the cell of each row and the share of each cell; the last is the rest."""
    if annotation.shares is not None:
        named: Mapping[Any, float] = annotation.shares
        holds = [_holds(text, knowledge, concepts, "shares") for text in named]
    else:
        place, named = _label_asked(annotation.label_shares or {}, knowledge)
        label = knowledge.labels[place]
        codes = {(type(value), value): code for code, value in enumerate(label.values)}
        strangers = [value for value in named if (type(value), value) not in codes]
        if strangers:
            raise UnknownName(f"label {label.name!r} has no value {strangers[0]!r}; it has: {listing(label.values)}")
        holds = [labels[:, place] == codes[type(value), value] for value in named]
    both = np.stack(holds, axis=1)
    if (both.sum(axis=1) > 1).any():
        raise ConfigError("shares: two of the formulas hold in one row; give formulas that exclude one another")
    rest = 1 - sum(named.values())
    if rest < -1e-9:
        raise ConfigError(f"the shares add up to {sum(named.values()):g}, more than 1")
    if rest > 1e-9 and both.any(axis=1).all():
        raise ConfigError(f"the shares add up to {sum(named.values()):g}, and no row is left for the rest")
    cells = np.where(both.any(axis=1), both.argmax(axis=1), len(named))
    return cells, np.array([*named.values(), max(0.0, rest)])


def _label_asked(shares: Mapping[Any, Any], knowledge: Knowledge) -> tuple[int, Mapping[Any, float]]:
    """Return the label that shares are about, and the share of each of its values."""
    if any(isinstance(share, Mapping) for share in shares.values()):
        if len(shares) != 1:
            raise ConfigError("label_shares: give the shares of one label; run annotate twice for two")
        name, inner = next(iter(shares.items()))
        knowledge.label(name)
        return knowledge.label_names.index(name), inner
    if len(knowledge.labels) > 1:
        raise ConfigError(f"label_shares: say of which label: {listing(knowledge.label_names)}")
    return 0, shares


def _holds(text: str, knowledge: Knowledge, concepts: Codes, key: str) -> Array:
    truth = evaluate(parse(text), knowledge.space, concepts)
    if truth.dtype != bool:
        raise ConfigError(f"{key}: {text!r} is not true or false")
    return truth
