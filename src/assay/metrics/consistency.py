"""Does the label follow from the concepts that the model itself predicts, and are those concepts possible?

The metrics of VALUED (3.2), for every rule with constraints. A world is read as the set of things that are there: every
concept that has another value than the one that says "nothing" (`Concept.nothing_code`: an empty square, an absent
object, false, a count of 0). Where no value says so, each concept is a thing, and the set F1 is the accuracy.

`violations_of` says which constraints a model breaks, by constraint and by tag, beside a random guesser.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.base import Array, Codes
from assay.metrics.evidence import Evidence
from assay.metrics.interval import Between
from assay.metrics.metric import mean, per_example

if TYPE_CHECKING:
    from assay.logic import Knowledge
    from assay.metrics.random_guesser import Guesser

MOST_NAMED = 3


def complete(evidence: Evidence) -> Array:
    """Return for each example whether the model spoke of every concept."""
    return np.asarray((evidence.predicted_concepts >= 0).all(axis=1))


@per_example(
    "rule_consistency", "share of examples whose labels follow from the predicted concepts by the rule", counted=True
)
def rule_consistency(evidence: Evidence) -> Array:
    """Return for each example whether all predicted labels are those that the rule gives for the predicted concepts."""
    known = complete(evidence)
    consistent = np.full(len(evidence), np.nan)
    if known.any() and evidence.knowledge.has_rule:
        implied = evidence.knowledge.labels_of(evidence.predicted_concepts[known])
        consistent[known] = (implied == evidence.predicted_labels[known]).all(axis=1)
    return consistent


def set_f1_of(truth: Codes, predicted: Codes, nothing: Array) -> Array:
    """Return for each example 2 (things said that are true) / (things true + things said), 1 if there are none.

    >>> set_f1_of(np.array([[1, 2, 0]]), np.array([[1, 0, 2]]), np.array([0, 0, 0])).tolist()
    [0.5]
    """
    there, predicted_there = truth != nothing, predicted != nothing
    hits = ((truth == predicted) & there).sum(axis=1)
    both = there.sum(axis=1) + predicted_there.sum(axis=1)
    return np.where(both > 0, 2 * hits / np.maximum(both, 1), 1.0)


def things_f1(evidence: Evidence) -> Array:
    """Return the set F1 of each example (VALUED's F1); NaN where a concept is not predicted, or its truth not known."""
    nothing = np.array([concept.nothing_code for concept in evidence.knowledge.space.concepts])
    f1 = set_f1_of(evidence.concepts, evidence.predicted_concepts, nothing)
    return np.where(complete(evidence) & evidence.known.all(axis=1), f1, np.nan)


def sane_things_f1(evidence: Evidence) -> Array:
    """Return the set F1 of each example, 0 where it breaks a constraint (VALUED's sF1); NaN where one is not known."""
    broken, f1 = evidence.broken, things_f1(evidence)
    return np.where(np.isnan(broken) | np.isnan(f1), np.nan, np.where(broken > 0, 0.0, f1))


@per_example(
    "violation_rate", "share of examples whose predicted concepts break a constraint", better="lower", counted=True
)
def violation_rate(evidence: Evidence) -> Array:
    """Return for each example whether its predicted concepts break any constraint (VALUED's C)."""
    broken = evidence.broken
    return np.where(np.isnan(broken), np.nan, broken > 0)


@per_example(
    "mean_violations", "constraints that the predicted concepts of an example break", better="lower", counted=True
)
def mean_violations(evidence: Evidence) -> Array:
    """Return for each example how many constraints its predicted concepts break (VALUED's mu_C)."""
    return evidence.broken


@per_example(
    "violations_vs_random",
    "constraints broken, as a share of what a random guesser breaks",
    better="lower",
    counted=True,
)
def violations_vs_random(evidence: Evidence) -> Array:
    """Return for each example the constraints it breaks, over the number that uniform guesses break on average."""
    broken = evidence.broken
    if np.isnan(broken).all():
        return broken
    usual = _guesser_of(evidence.knowledge).mean_violations
    return broken / usual if usual > 0 else np.full(len(broken), np.nan)


set_f1 = per_example("set_f1", "F1 of the set of things that are there, averaged over examples", counted=True)(
    things_f1
)
sane_f1 = per_example("sane_f1", "set F1 where an example that breaks a constraint counts as 0", counted=True)(
    sane_things_f1
)


@per_example(
    "f1_room",
    "set F1 less sane F1: what is lost if answers that break a constraint are useless",
    better="lower",
    counted=True,
)
def f1_room(evidence: Evidence) -> Array:
    """Return for each example its set F1 if it breaks a constraint, else 0."""
    return things_f1(evidence) - sane_things_f1(evidence)


def _guesser_of(knowledge: "Knowledge") -> "Guesser":
    from assay.metrics.random_guesser import uniform_guesser  # which compiles rules: not needed to list the metrics

    return uniform_guesser(knowledge)


# -- by constraint and by tag, beside a random guesser -----------------------------------------------------------------


@dataclass(frozen=True)
class RuleViolations:
    """How often one constraint is broken: by the model, by a random guesser, and the ratio (VALUED, equation 8)."""

    name: str
    tags: tuple[str, ...]
    rate: float
    random: float

    @property
    def relative(self) -> float:
        """The model's rate over the guesser's; NaN where the guesser never breaks the rule, or is not known to."""
        return self.rate / self.random if self.random > 0 else math.nan


@dataclass(frozen=True)
class TagViolations:
    """The constraints of one tag together: how many an example breaks, how often it breaks any, beside a guesser."""

    tag: str
    rules: int
    mean: float
    rate: float
    random_mean: float
    random_rate: Between

    @property
    def relative(self) -> float:
        """The model's broken constraints over the guesser's."""
        return self.mean / self.random_mean if self.random_mean > 0 else math.nan


@dataclass(frozen=True)
class ConsistencySummary:
    """The consistency of a model, or of a random guesser on the same examples."""

    exact_match: float
    set_f1: float
    sane_f1: Between
    contradiction_rate: Between
    mean_violations: float

    @property
    def room(self) -> Between:
        """What is lost of F1 if answers that break a constraint are useless."""
        return Between(self.set_f1 - self.sane_f1.high, self.set_f1 - self.sane_f1.low)


@dataclass(frozen=True)
class Violations:
    """Everything about the constraints that one model breaks on one split."""

    split: str
    examples: int
    model: ConsistencySummary
    guesser: ConsistencySummary
    rules: tuple[RuleViolations, ...]
    tags: tuple[TagViolations, ...]

    @property
    def text(self) -> str | None:
        """A summary in a sentence or two; None if no constraint is broken."""
        rate = self.model.contradiction_rate.low
        if rate == 0:
            return None
        worst = sorted((rule for rule in self.rules if rule.rate > 0), key=lambda rule: -rule.rate)
        named = ", ".join(f"{rule.name} ({100 * rule.rate:.1f} %)" for rule in worst[:MOST_NAMED])
        f1, sane = self.model.set_f1, self.model.sane_f1.low
        sentence = f"On {self.split}, {100 * rate:.1f} % of answers break a constraint, most often {named}."
        if math.isnan(f1):  # nothing to find was there
            return sentence
        return f"{sentence} Set F1 is {f1:.2f}, and {sane:.2f} if those answers are useless."

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, None for NaN."""
        rules = [{**asdict(rule), "relative": rule.relative} for rule in self.rules]
        tags = [{**asdict(tag), "relative": tag.relative} for tag in self.tags]
        plain = {"split": self.split, "examples": self.examples, "rules": rules, "tags": tags}
        for who, summary in (("model", self.model), ("guesser", self.guesser)):
            plain[who] = {**asdict(summary), "room": asdict(summary.room)}
        known: dict[str, Any] = _without_nan(plain)
        return known


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(inside) for key, inside in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(inside) for inside in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def violations_of(evidence: Evidence) -> Violations | None:
    """Return the violations, by rule and tag; None without constraints, or if the model never predicts all concepts.

    Only examples are counted for which the model predicts every concept.
    """
    known = complete(evidence)
    if not evidence.knowledge.constraints or not known.any():
        return None
    answered = evidence if known.all() else evidence.take(np.flatnonzero(known))
    flags = answered.knowledge.violations(answered.predicted_concepts)
    guesser = _guesser_of(answered.knowledge)
    usual = guesser.rule_rates.tolist()
    rates = flags.mean(axis=0).tolist()
    listed = zip(answered.knowledge.constraints, rates, usual, strict=True)
    rules = tuple(RuleViolations(limit.name, limit.tags, rate, random) for limit, rate, random in listed)
    names = dict.fromkeys(tag for rule in rules for tag in rule.tags)
    tags = tuple(_tag(tag, rules, flags, answered) for tag in names)
    return Violations(answered.split, len(answered), _model(answered, flags), _guesser(answered), rules, tags)


def _tag(tag: str, rules: Sequence[RuleViolations], flags: Array, evidence: Evidence) -> TagViolations:
    places = [place for place, rule in enumerate(rules) if tag in rule.tags]
    own = flags[:, places]
    random = float(sum(rules[place].random for place in places))
    any_of_them = _guesser_of(evidence.knowledge).contradiction_rate([rules[place].name for place in places])
    return TagViolations(
        tag, len(places), float(own.sum(axis=1).mean()), float(own.any(axis=1).mean()), random, any_of_them
    )


def _model(evidence: Evidence, flags: Array) -> ConsistencySummary:
    exact = np.where(evidence.known.all(axis=1), (evidence.concepts == evidence.predicted_concepts).all(axis=1), np.nan)
    sane, rate = (mean(sane_things_f1(evidence)), float(flags.any(axis=1).mean()))
    return ConsistencySummary(
        mean(exact),
        mean(things_f1(evidence)),
        Between(sane, sane),
        Between(rate, rate),
        float(flags.sum(axis=1).mean()),
    )


def _guesser(evidence: Evidence) -> ConsistencySummary:
    """Return the guesser's numbers; those that ask for the truth, on the examples of which all is known."""
    guesser, truth = _guesser_of(evidence.knowledge), evidence.concepts[evidence.known.all(axis=1)]
    rate, count = guesser.contradiction_rate(), guesser.mean_violations
    if not len(truth):
        return ConsistencySummary(math.nan, math.nan, Between(math.nan, math.nan), rate, count)
    return ConsistencySummary(guesser.exact_match(truth), guesser.set_f1(truth), guesser.sane_f1(truth), rate, count)
