"""A case: all that checks look at, a view of every split, what training showed, and what is computed once for all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from assay.base import Array, Codes, distinct_rows, number_rows
from assay.dataset import SHIFTED
from assay.diagnosis.concepts import judge_concepts, used_concepts
from assay.diagnosis.counterfactual import Counterfactuals
from assay.diagnosis.explanations import Explanations, compared, explain
from assay.diagnosis.identifiable import Identifiability
from assay.diagnosis.labels import judge_labels
from assay.diagnosis.reliance import Reliance
from assay.diagnosis.thresholds import DEFAULTS, Regions, Rivals, Section, Thresholds, Verdict
from assay.diagnosis.views import SplitView
from assay.metrics import Evidence

S = TypeVar("S", bound=Section)
T = TypeVar("T")


@dataclass(frozen=True)
class Case:
    """A model's evidence on every split, with what is known of its training."""

    views: Mapping[str, SplitView]
    """Every split that was predicted, the first one first."""
    training: Codes | None = None
    """The concept codes of the training set."""
    thresholds: Thresholds = DEFAULTS
    effects: Counterfactuals | None = None
    taught: Identifiability | None = None
    reliance: tuple[Reliance, ...] = ()
    remembered: dict[str, object] = field(default_factory=dict, compare=False)
    """Slow statistics by name; resamples take them over."""

    def remember(self, name: str, compute: Callable[[], T]) -> T:
        """Return a statistic, computed when it is first asked for."""
        if name not in self.remembered:
            self.remembered[name] = compute()
        return self.remembered[name]  # type: ignore[return-value]

    def settings(self, kind: type[S]) -> S:
        """Return the thresholds of a section."""
        return self.thresholds.of(kind)

    @property
    def first(self) -> SplitView:
        """The first split: the one that training is to be compared with."""
        return next(iter(self.views.values()))

    @property
    def ruled(self) -> bool:
        """Whether the rule is known."""
        return bool(self.first.evidence.knowledge.has_rule)

    @cached_property
    def usual(self) -> Mapping[str, SplitView]:
        """The splits that show the nuisances of training; all, if none does."""
        return {name: view for name, view in self.views.items() if name not in SHIFTED} or self.views

    @cached_property
    def compared(self) -> Mapping[str, SplitView]:
        """The splits over which wrong labels are explained: without those chosen near the boundary, and `valid`."""
        return compared(self.views)

    @property
    def level(self) -> float:
        """The chance of a false alarm on one split."""
        return self.first.level

    @cached_property
    def new(self) -> Mapping[str, Array | None]:
        """For each split which examples have a world that training does not show; None where that is not known."""
        return {name: new_worlds(view.evidence, self.training) for name, view in self.usual.items()}

    @cached_property
    def explanations(self) -> Explanations:
        """How well region, split, boundary and new worlds explain the wrong labels that are open."""
        return explain(self.views, self.new, self.settings(Rivals).fewest, settings=self.settings(Regions))

    @cached_property
    def explanations_of_all(self) -> Explanations:
        """The same for all wrong labels, those too that misread concepts explain."""
        return explain(self.views, self.new, self.settings(Rivals).fewest, True, self.settings(Regions))

    def wrong_where(self, cells: Callable[[SplitView], Array]) -> dict[str, Array]:
        """Return for each split the wrong labels among some cells."""
        return {name: np.asarray(view.wrong & cells(view)) for name, view in self.views.items()}

    @cached_property
    def wrong_labels(self) -> int:
        """How many labels are wrong on the splits that are compared, where the used concepts are known."""
        return sum(int(view.wrong[view.known].sum()) for view in self.compared.values())

    def drawn_again(self, rng: np.random.Generator) -> "Case":
        """Return the case with worlds drawn again, with replacement; what belongs to single examples is taken over."""
        views, chosen = {}, {}
        for name, view in self.views.items():
            rows = _draw(view.evidence, rng)
            evidence = view.evidence.take(rows)
            concepts = judge_concepts(evidence, view.used, view.level, self.thresholds, view.concepts)
            labels = judge_labels(evidence, view.level, self.thresholds)
            views[name] = SplitView(name, evidence, concepts, labels, view.used, view.level)
            views[name].carry(view, rows)
            chosen[name] = rows
        again = Case(views, self.training, self.thresholds, self.effects, self.taught, self.reliance, self.remembered)
        again.__dict__["new"] = {name: None if mask is None else mask[chosen[name]] for name, mask in self.new.items()}
        for kind in ("explanations", "explanations_of_all"):
            known: Explanations = getattr(self, kind)
            own = [views[name] for name in known.names], [chosen[name] for name in known.names]
            again.__dict__[kind] = known.redraw(*own)
        return again


def case_of(
    evidence: Mapping[str, Evidence],
    training: Codes | None = None,
    thresholds: Thresholds = DEFAULTS,
    effects: Counterfactuals | None = None,
    taught: Identifiability | None = None,
    reliance: tuple[Reliance, ...] = (),
) -> Case:
    """Return the case of a model's evidence by split: its concepts and labels are judged here.

    Parameters
    ----------
    evidence
        What a model said beside the truth, by split; the first is compared with training.
    training
        The concept codes of the training worlds, a row each.
    thresholds
        The numbers that decide.
    effects
        What changes of single concepts did to the model.
    taught
        Which readings of the concepts the training labels allow.
    reliance
        How labels move with nuisances.
    """
    first = next(iter(evidence.values()))
    used = used_concepts(first.knowledge)
    level = thresholds.of(Verdict).level / len(evidence)
    views = {}
    for name, rows in evidence.items():
        rows = rows.singly
        concepts = judge_concepts(rows, used, level, thresholds)
        views[name] = SplitView(name, rows, concepts, judge_labels(rows, level, thresholds), used, level)
    return Case(views, training, thresholds, effects, taught, reliance)


def new_worlds(evidence: Evidence, training: Codes | None) -> Array | None:
    """Return which examples have a world that the training set has not; None if that is not known."""
    if training is None or not len(training):
        return None
    if not evidence.known.all():
        return None
    worlds = distinct_rows(evidence.concepts)
    numbers = number_rows(np.concatenate([training, evidence.concepts[worlds.first]]))
    return np.asarray(~np.isin(numbers[len(training) :], numbers[: len(training)])[worlds.which])


def _draw(evidence: Evidence, rng: np.random.Generator) -> Array:
    """Return rows of worlds that are drawn with replacement, as many worlds as there are."""
    worlds = distinct_rows(evidence.concepts)
    times = rng.multinomial(len(worlds), np.full(len(worlds), 1 / len(worlds)))
    return np.repeat(np.arange(len(evidence)), times[worlds.which])
