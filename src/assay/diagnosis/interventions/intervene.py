"""An intervention study of one model on one split: the plan, its curve, its control, and what is kept of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from assay.base import (
    Array,
    Codes,
    ConfigError,
    Figure,
    UnknownName,
    curve_plot,
    html_table,
    html_text,
    suggestion,
    to_frame,
)
from assay.contracts import EVERY, IntervenableModel
from assay.dataset import ConceptReader, Dataset, SplitData
from assay.diagnosis.interventions.automation import Abstention, fit_abstention
from assay.diagnosis.interventions.curve import (
    Answering,
    Curve,
    Manipulation,
    Redraw,
    Trial,
    Truth,
    budgets_from,
    toggle_concepts,
)
from assay.diagnosis.interventions.policies import Policy, ValidationRanking, policy_of
from assay.diagnosis.interventions.sources import answers_from
from assay.diagnosis.interventions.units import Units

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["confirmation", "manipulation"]
KINDS = ("confirmation", "manipulation")
TOGGLE = "toggle"


@dataclass(frozen=True)
class InterventionPlan:
    """What to ask, within which budgets, and who answers."""

    policy: str = "responsiveness"
    budget: str = "0-3,max"
    source: str | None = None
    """By default perfect answers; in manipulation, any other value than the true one."""
    kind: str = "confirmation"
    split: str = "test"
    threshold: float | None = None
    order: Sequence[str] = ()
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)
    batch_budget: float | None = None
    target: float | None = None
    """The accuracy that is wanted of what the model decides by itself; then only the rest is asked about."""
    baseline: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownName(f"no kind of intervention named {self.kind!r}{suggestion(self.kind, KINDS)}")
        if self.source == TOGGLE and self.kind != "manipulation":
            raise ConfigError("source 'toggle' is for manipulation: it changes the world, and is no answer about it")

    @property
    def answered_by(self) -> str:
        """The source in use."""
        return self.source or (TOGGLE if self.kind == "manipulation" else "perfect")

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {**asdict(self), "source": self.answered_by}


@dataclass(frozen=True, repr=False)
class InterventionResult:
    """What came of a plan: the curve, and the same with the model's own answers, which must not change anything."""

    plan: InterventionPlan
    model: str
    units: Units
    policy: Policy
    curve: Curve
    control: Curve
    abstention: Abstention | None
    truth: Truth
    index: Array
    concepts: Sequence[Array]
    """The model's own concept probabilities."""

    @property
    def control_changed(self) -> float:
        """The largest share of examples whose labels the model's own answers changed: 0 in a sound evaluation."""
        return max(point.changed for point in self.control.points)

    def to_frame(self) -> "pd.DataFrame":
        """Return the curve as a data frame, a row for each budget."""
        rows = [point.to_dict() for point in self.curve.points]
        return to_frame({key: [row.get(key) for row in rows] for key in rows[0]})

    def plot(self) -> Figure:
        """Draw label accuracy over the concepts that are asked about."""
        points = self.curve.points
        curves = {
            "answers": [p.accuracy for p in points],
            "own answers (control)": [p.accuracy for p in self.control.points],
        }
        return curve_plot(
            "concepts asked about, per example", [p.asked for p in points], curves, f"{self.model}: {self.plan.policy}"
        )

    def __repr__(self) -> str:
        first, last = self.curve.points[0], self.curve.points[-1]
        return (
            f"InterventionResult({self.model}, {self.plan.policy}, {self.plan.kind}: label accuracy "
            f"{first.accuracy:.3f} at budget {first.budget:g}, {last.accuracy:.3f} at {last.budget:g})"
        )

    def _repr_html_(self) -> str:
        keys = ("budget", "accuracy", "concept_accuracy", "asked", "changed")
        rows = [[f"{getattr(point, key):.3f}" for key in keys] for point in self.curve.points]
        return html_text(repr(self), bold=True) + html_table(list(keys), rows)


def intervene(
    plan: InterventionPlan,
    dataset: Dataset,
    answering: Answering,
    redraw: Redraw | None = None,
    reader: ConceptReader | None = None,
) -> InterventionResult:
    """Carry out a plan on a dataset.

    Parameters
    ----------
    plan
        What to ask, within which budgets, and who answers.
    dataset
        The dataset; its split `valid` is used by a policy or a target accuracy that needs one.
    answering
        Gives the model on the images of a split.
    redraw
        Renders changed worlds, for manipulation.
    reader
        The machine that answers, where the source is one.
    """
    data = dataset[plan.split]
    model = answering(data)
    units = Units.of(dataset.knowledge.space, plan.groups, plan.costs)
    budgets = budgets_from(plan.budget, units, plan.batch_budget)
    policy = _policy(plan, dataset, answering, units)
    abstention = None if plan.target is None else _abstention(plan.target, dataset, answering)
    truth = Truth(data.concepts, data.labels)
    trial = Trial(model, units, answers_from("self", data, model), truth, plan.seed, abstention, plan.baseline)
    asked: Trial | Manipulation
    plain: Trial | Manipulation
    if plan.kind == "manipulation":
        if redraw is None:
            raise ConfigError("manipulation draws worlds again, and nothing to draw them with was given")
        made = Manipulation(trial, redraw, data, _targets(plan, data, model, reader), answering)
        asked, plain = made, replace(made, targets=data.concepts)
    else:
        answers = answers_from(plan.answered_by, data, model, plan.seed, reader)
        asked, plain = replace(trial, answers=answers), trial
    curve = asked.run(policy, budgets)
    control = plain.run(policy, budgets, None if policy.adaptive else curve.asked)
    name, own = model.name, model.concepts
    return InterventionResult(plan, name, units, policy, curve, control, abstention, truth, data.index, own)


def _targets(plan: InterventionPlan, data: SplitData, model: IntervenableModel, reader: ConceptReader | None) -> Codes:
    """Return the values that concepts are changed to: others than the true ones, or those that a source says."""
    if plan.answered_by == TOGGLE:
        return toggle_concepts(data.concepts, data.knowledge.space.sizes, plan.seed)
    if plan.answered_by == "self":
        return data.concepts
    said = answers_from(plan.answered_by, data, model, plan.seed, reader)
    return np.stack([np.where(np.isnan(one[:, 0]), -1, np.nan_to_num(one).argmax(axis=1)) for one in said], axis=1)


def _policy(plan: InterventionPlan, dataset: Dataset, answering: Answering, units: Units) -> Policy:
    for name in plan.order:
        if name not in units.names:
            raise UnknownName(f"order: nothing named {name!r} can be asked about{suggestion(name, units.names)}")
    order = [units.names.index(name) for name in plan.order]
    ranking = None
    if plan.policy == "validation" and "valid" in dataset:
        held = dataset["valid"]
        ranking = ValidationRanking(answering(held), held.concepts, held.labels)
    return policy_of(plan.policy, plan.threshold, order, ranking, units)


def _abstention(target: float, dataset: Dataset, answering: Answering) -> Abstention:
    if "valid" not in dataset:
        raise ConfigError("a target accuracy needs a validation split, and there is none")
    held = dataset["valid"]
    return fit_abstention(answering(held).answer(EVERY, {}).labels, held.labels, target)
