"""Acquisition of data that repairs a model: diagnose it, choose what to acquire, retrain, and again, within a budget.

Data flow, one way: `situation` (what a strategy sees), `strategies` and `plan` (what to acquire), `round_data` (what a
round is trained on), `loop`.
"""

from assay.base import Registry

STRATEGIES = Registry("strategy")
for _name, _target, _summary in (
    (
        "plan",
        "plan:planned_labels",
        "concept labels: what the model misreads, then the values that 'assay count' plans to show",
    ),
    ("uncertainty", "strategies:uncertain_labels", "concept labels in the rule: those that the model is least sure of"),
    (
        "disagreement",
        "strategies:disputed_labels",
        "concept labels in the rule: those that the members of a bears ensemble dispute",
    ),
    ("boundary", "strategies:boundary_labels", "concept labels: those that nearly change the predicted label"),
    ("random", "strategies:random_labels", "baseline: labels of all concepts at random"),
    (
        "augment",
        "strategies:augmented_examples",
        "confounders: training examples again, with another value of the nuisance",
    ),
    ("fresh", "strategies:fresh_examples", "confounders, baseline: further examples, drawn as training is"),
    ("reweight", "strategies:grouped_examples", "confounders: annotated nuisances, and group DRO"),
    ("reasons", "strategies:masked_examples", "confounders: annotated masks, and no gradient outside of them (RRR)"),
):
    STRATEGIES.add(_name, _summary, f"assay.lab.acquisition.{_target}")
