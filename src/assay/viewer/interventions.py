"""How right the labels of a run become as more of its concepts are corrected: the intervention curve of a slider.

A model that can be asked answers with its own label head. Of a predictions file the rule takes the head's place, as in
`assay intervene`.
"""

from typing import Any

import numpy as np

from assay.base import ConfigError
from assay.diagnosis import POLICIES, Budget, Trial, Truth, Units, answers_from, budgets_from, policy_of
from assay.viewer.state import State

POLICY_NAMES = ("uncertainty", "random", "fixed")
"""The policies that are quick on any number of concepts."""
MOST_ROWS = 400
MOST_BUDGETS = 16
SHOWN = ("budget", "accuracy", "all_right", "concept_accuracy", "asked", "edited", "changed")


def intervention_curve(state: State, key: str, split: str, run: str, policy: str = "uncertainty") -> dict[str, Any]:
    """Return label and concept accuracy for every number of concepts that are corrected by the ground truth."""
    if policy not in POLICY_NAMES:
        raise ConfigError(f"no policy {policy!r} here; there is: {', '.join(POLICY_NAMES)}")
    served, dataset = state.shelf[key].run(run), state.shelf[key].dataset
    if state.models is None:
        raise ConfigError("this viewer was started without a way to ask models")
    asked = dataset[split]
    if served.live:
        rows = np.unique(np.linspace(0, len(asked) - 1, min(MOST_ROWS, len(asked))).astype(int))
        asked = asked.take(rows).with_known_concepts("an intervention")
    model = state.models.answering(served.folder, dataset, split)(asked)
    if policy == "uncertainty" and not model.soft:
        policy = "random"
    units = Units.of(dataset.knowledge.space)
    trial = Trial(model, units, answers_from("perfect", asked, model), Truth(asked.concepts, asked.labels))
    curve = trial.run(policy_of(policy, None, [], None, units), _budgets(units))
    return {
        "split": split,
        "policy": policy,
        "policies": [{"name": name, "text": (POLICIES[name].__doc__ or "").split("\n")[0]} for name in POLICY_NAMES],
        "by": "its own label head" if served.live else "the rule, in place of a label head that a file does not have",
        "examples": len(asked),
        "concepts": len(units),
        "points": [{name: point.to_dict()[name] for name in SHOWN} for point in curve.points],
    }


def _budgets(units: Units) -> list[Budget]:
    """Return every number of concepts, or where there are many some of them, more at the start."""
    count = len(units)
    if count < MOST_BUDGETS:
        return budgets_from(f"0-{count}", units)
    numbers = np.unique(np.round(np.geomspace(1, count, MOST_BUDGETS - 1)).astype(int))
    return budgets_from(",".join(["0", *(str(number) for number in numbers)]), units)
