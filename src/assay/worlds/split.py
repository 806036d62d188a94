"""A split: a name, a size, and which worlds it holds, as a formula and a share of what satisfies it."""

from dataclasses import dataclass
from typing import Literal

from assay.base import ConfigError
from assay.logic import TRUE, Formula, conjunction

Balance = Literal["label", "world"]
HARD = "hard"
"""The split whose worlds lie near the decision boundary, whatever source they come from."""


@dataclass(frozen=True)
class Quota:
    """How many worlds of each variant and of each near-boundary type, one number for both; by default all in turn."""

    per_variant: int | None = None
    per_type: int | None = None

    @property
    def is_set(self) -> bool:
        """Whether a number is given."""
        return self.per_variant is not None or self.per_type is not None

    @property
    def of_variants(self) -> int:
        """How many worlds of each variant."""
        return self.per_variant or self.per_type or 0

    @property
    def of_types(self) -> int:
        """How many worlds of each near-boundary type."""
        return self.per_type or self.per_variant or 0


@dataclass(frozen=True)
class Split:
    """Which worlds, how many, and how they are balanced.

    `where`           only worlds that satisfy this formula
    `stages`          the formulas of the stages of continual learning; each stage is shared out by itself
    `stage`           only worlds of this stage, a place in `stages`; by default of all
    `share`           of the worlds of each label, those between these two fractions of a shuffled list
    `balance`         `label`: every combination of label values equally often; `world`: every world equally often
    `pool`            which of the task's sources (such as handwritten digits) the style draws from
    `quota`           chosen by variant and near-boundary type of the rule; by default not
    `disjoint_from`   names of splits that hold none of these worlds; checked as the data is made
    `one_sided`       a label may have one value only, which is refused otherwise
    """

    name: str
    size: int
    where: Formula = TRUE
    share: tuple[float, float] = (0.0, 1.0)
    balance: Balance = "label"
    pool: str = "train"
    disjoint_from: tuple[str, ...] = ()
    stages: tuple[Formula, ...] = ()
    stage: int | None = None
    quota: Quota | None = None
    one_sided: bool = False

    def __post_init__(self) -> None:
        if not self.name.replace("-", "_").isidentifier():
            raise ConfigError(f"split name {self.name!r} must be letters, digits, '_' and '-'")
        if self.size < 1:
            raise ConfigError(f"split {self.name!r} needs at least one example, not {self.size}")
        if not 0 <= self.share[0] < self.share[1] <= 1:
            raise ConfigError(f"split {self.name!r}: a share runs from a smaller to a larger part, not {self.share}")

    @property
    def formula(self) -> Formula:
        """The worlds that a split draws from, before they are shared out."""
        own = () if self.stage is None else (self.stages[self.stage],)
        parts = [part for part in (self.where, *own) if part != TRUE]
        return conjunction(*parts) if parts else TRUE
