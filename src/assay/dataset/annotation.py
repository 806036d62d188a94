"""The settings of `assay annotate`, applied in the order in which they stand here."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from assay.base import Config
from assay.logic import Value

Chance = Annotated[float, Field(ge=0, le=1)]
Rate = Chance | dict[str, Chance]
"""One chance for all, or one for each that is named."""
Flips = dict[str, dict[Value, dict[Value, Chance]]]
"""For a name: from which value, to which, how likely."""
ORDER = ("rows", "concept set", "labels", "concepts", "missing", "shown")
MENDING = "mending"
"""What a record calls concept labels that were bought to mend a model."""


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
