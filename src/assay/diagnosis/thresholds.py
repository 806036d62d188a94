"""The thresholds of the diagnosis: typed settings by section, each with its bounds and the reason for its value.

Every number that decides a word is one of these. A section belongs to a check, which brings its own, or to what checks
share: how concepts and labels are judged, how explanations are compared. They are set by `section.name`, as in
`assay diagnose RUN --set memorised.drop=0.2`, and in studies and suites alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, TypeVar

from assay.base import ConfigError


def threshold(default: float, about: str, chosen: str, low: float = 0.0, high: float = 1.0) -> Any:
    """Return a field of settings: its value, what it decides, why it has this value, and its bounds."""
    return field(default=default, metadata={"about": about, "chosen": chosen, "low": low, "high": high})


@dataclass(frozen=True)
class Section:
    """The thresholds of one section."""

    section: ClassVar[str]

    def __post_init__(self) -> None:
        for entry in fields(self):
            value, (low, high) = getattr(self, entry.name), (entry.metadata["low"], entry.metadata["high"])
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
                raise ConfigError(
                    f"{self.section}.{entry.name}: expected a number from {low:g} to {high:g}, got {value!r}"
                )


S = TypeVar("S", bound=Section)


@dataclass(frozen=True)
class Concepts(Section):
    """How concepts are judged."""

    section: ClassVar[str] = "concepts"
    tolerated: float = threshold(0.05, "share of wrong answers above which a concept is noisy", "docs: tolerated 5 %")
    right: float = threshold(
        0.9, "accuracy that a concept judged right surely exceeds", "power: 10 % errors are never sound"
    )
    surely: float = threshold(
        0.02, "chance that a concept no better than that is judged right", "power: 10 % errors by chance", 1e-9, 0.5
    )
    recall: float = threshold(0.88, "recall below which a value of a concept or label is missed", "zoo: 1-2 % noise")
    constant: float = threshold(0.95, "share of one answer from which on a concept is collapsed", "built zoo")
    learned: float = threshold(0.2, "Cramer's V below which a concept is not learned", "built zoo")


@dataclass(frozen=True)
class Labels(Section):
    """How labels are judged."""

    section: ClassVar[str] = "labels"
    right: float = threshold(
        0.9, "accuracy that a label judged right surely exceeds", "power: 10 % errors are never sound"
    )
    surely: float = threshold(
        0.02, "chance that a label no better than that is judged right", "power: 10 % errors by chance", 1e-9, 0.5
    )
    mostly: float = threshold(0.75, "accuracy below which a label counts as not learned", "built zoo")


@dataclass(frozen=True)
class Maps(Section):
    """Which map explains the answers of a concept."""

    section: ClassVar[str] = "maps"
    clearly: float = threshold(
        0.1, "share of the answers that another map must explain beyond the concept's own", "built zoo"
    )
    mostly: float = threshold(0.5, "share of the answers that a map must surely explain", "built zoo")
    examples: int = threshold(8, "examples for each entry of a map of whole worlds", "built zoo", 1, 10_000)


@dataclass(frozen=True)
class Regions(Section):
    """How places of wrong labels are sought: the trees over the concepts, and how explanations are held out."""

    section: ClassVar[str] = "regions"
    inside: float = threshold(1 / 3, "share of wrong labels of a region of errors", "0 of 200 random error patterns")
    depth: int = threshold(
        4, "questions that lead to a region at most", "spike: disjuncts of up to four literals", 1, 12
    )
    gain: float = threshold(0.002, "least decrease of the Gini index for a question", "0 of 200 random error patterns")
    smallest: float = threshold(0.01, "share of the examples that a region has at least", "0 of 200 random patterns")
    wrong: int = threshold(5, "wrong labels that a comparison of explanations needs", "built zoo", 1, 10_000)
    folds: int = threshold(5, "parts in which worlds are held out", "usual", 2, 100)
    worlds: int = threshold(40, "worlds below which examples are held out", "8 worlds a fold", 2, 10_000)
    sure: float = threshold(
        0.005, "how near to 0 or 1 a chance is taken to be", "half an error in a hundred", 1e-9, 0.5
    )


@dataclass(frozen=True)
class Rivals(Section):
    """How explanations of wrong labels are compared."""

    section: ClassVar[str] = "rivals"
    margin: float = threshold(
        10.0,
        "nats on held-out worlds by which one explanation must beat another",
        "0 of 200 random error patterns",
        0,
        1000,
    )
    half: float = threshold(
        0.5, "share of the wrong labels that a cause must account for to come first", "by definition"
    )
    fewest: int = threshold(20, "examples that a comparison needs on each side", "built zoo", 2, 10_000)


@dataclass(frozen=True)
class Verdict(Section):
    """What all checks share."""

    section: ClassVar[str] = "verdict"
    level: float = threshold(
        0.01, "chance of reporting a fault of a concept or label that has none", "power", 1e-9, 0.5
    )
    kept: float = threshold(0.75, "share of labels that are surely right where a model counts as right", "built zoo")
    resamples: int = threshold(
        40, "resamples of worlds for the certainty of the first word", "standard error 8 points", 0, 1000
    )
    pairs: float = threshold(0.9, "counterfactual sensitivity and invariance of a sound model", "built zoo")
    calibration: float = threshold(0.05, "calibration error from which on it is noted", "30 calibrated models")


@dataclass(frozen=True)
class Spurious(Section):
    """When answers follow a nuisance."""

    section: ClassVar[str] = "spurious"
    drop: float = threshold(0.1, "by how much fewer answers are right where the nuisance is another", "built zoo")
    examples: int = threshold(20, "examples that a comparison needs on each side", "built zoo", 2, 10_000)


SHARED: tuple[type[Section], ...] = (Concepts, Labels, Maps, Regions, Rivals, Verdict)


@dataclass(frozen=True)
class Thresholds:
    """The settings of every section; those that were not set have their defaults."""

    changed: Mapping[str, Section] = field(default_factory=dict)

    def of(self, kind: type[S]) -> S:
        """Return the settings of a section."""
        own = self.changed.get(kind.section)
        settings: S = own if isinstance(own, kind) else _defaults_of(kind)  # type: ignore[arg-type]
        return settings

    def to_dict(self) -> dict[str, float]:
        """Return what differs from the defaults by `section.name`, as users set it."""
        return {
            f"{section}.{entry.name}": getattr(settings, entry.name)
            for section, settings in self.changed.items()
            for entry in fields(settings)
            if getattr(settings, entry.name) != entry.default
        }

    @property
    def texts(self) -> tuple[str, ...]:
        """What differs from the defaults, in words.

        >>> Thresholds({"concepts": Concepts(right=0.8)}).texts
        ('concepts.right = 0.8 (default 0.9)',)
        """
        named = {f"{name}.{entry.name}": entry.default for name, own in self.changed.items() for entry in fields(own)}
        return tuple(f"{name} = {value:g} (default {named[name]:g})" for name, value in self.to_dict().items())


@cache
def _defaults_of(kind: Any) -> Any:
    return kind()


DEFAULTS = Thresholds()
