"""A world is concepts and style; a split is a name, a size, and which worlds it holds.

All that is random about a world is stored in it, so that a picture is a function of it. A split holds a share of the
worlds that satisfy a formula.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from assay.base import ConfigError, DataError, shorten
from assay.logic import TRUE, ConceptSpace, Formula, Value, conjunction

Style = Mapping[str, Any]
CONTENT = "content"
"""The key of a style for what determines the concepts, such as a whole board; it is no nuisance factor."""
SOURCES = "sources"
"""The key of a style for the names of the source images that an imported example shows."""
LUCK = "luck"
"""The key of a style for the random numbers from 0 to 1 by which stochastic labels are drawn, one for each label."""
Balance = Literal["label", "world"]
HARD = "hard"
"""The split whose worlds lie near the decision boundary, whatever source they come from."""


@dataclass(frozen=True, repr=False)
class World:
    """Concept codes in the order of the space, and a style of plain data (numbers, texts, lists)."""

    space: ConceptSpace
    codes: tuple[int, ...]
    style: Style

    def __getitem__(self, name: str) -> Value:
        return self.space.concept(name).values[self.codes[self.space.place(name)]]

    @property
    def values(self) -> dict[str, Value]:
        """The value of every concept."""
        return self.space.decode(self.codes)

    def do(self, changes: Mapping[str, Value] | None = None, **more: Value) -> "World":
        """Return the same world but for these concepts; the style stays."""
        codes = list(self.codes)
        for name, value in {**(changes or {}), **more}.items():
            codes[self.space.place(name)] = self.space.concept(name).code(value)
        return replace(self, codes=tuple(codes))

    @property
    def text(self) -> str:
        """The world in one line: its concepts, then its style as JSON."""
        concepts = " ".join(f"{name}={value}" for name, value in self.values.items())
        return f"{concepts} | {json.dumps(dict(self.style), sort_keys=True, separators=(',', ':'))}"

    @classmethod
    def from_text(cls, text: str, space: ConceptSpace) -> "World":
        """Read the line that `text` gives.

        >>> from assay.logic.concepts import digits
        >>> World.from_text('a=3 b=4 | {"draw":[7,9]}', digits(["a", "b"])).codes
        (3, 4)
        """
        left, bar, right = text.partition(" | ")
        try:
            pairs = dict(word.split("=", 1) for word in left.split())
            style = json.loads(right)
        except ValueError:
            raise DataError(f"not a world: {text!r}; expected 'name=value ... | {{style}}'") from None
        if not bar or set(pairs) != set(space.names):
            raise DataError(f"not a world: {text!r}; expected the concepts {', '.join(space.names)}")
        named = [{str(value): code for code, value in enumerate(concept.values)} for concept in space.concepts]
        for concept, codes in zip(space.concepts, named, strict=True):
            if pairs[concept.name] not in codes:
                raise DataError(f"not a world: concept {concept.name!r} has no value {pairs[concept.name]!r}")
        codes_in_order = zip(space.names, named, strict=True)
        return cls(space, tuple(codes[pairs[name]] for name, codes in codes_in_order), style)

    def __repr__(self) -> str:
        return f"World({shorten(self.text, 320)})"


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

    def to_dict(self) -> dict[str, Any]:
        """Return what a manifest says of the split, apart from its shards."""
        return {
            "name": self.name,
            "size": self.size,
            "where": str(self.formula),
            "share": list(self.share),
            "balance": self.balance,
            "pool": self.pool,
            "disjoint_from": list(self.disjoint_from),
            "quota": None if self.quota is None else asdict(self.quota),
        }
