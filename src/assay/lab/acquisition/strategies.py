"""The strategies by name and address."""

from assay.base import Registry

STRATEGIES = Registry("strategy")
for _name, _summary, _target in (
    (
        "plan",
        "concept labels: what the model misreads, then the values that 'assay count' plans to show",
        "plan:planned_labels",
    ),
    ("uncertainty", "concept labels in the rule: those that the model is least sure of", "labels:uncertain_labels"),
    (
        "disagreement",
        "concept labels in the rule: those that the members of a bears ensemble dispute",
        "labels:disputed_labels",
    ),
    ("boundary", "concept labels: those that nearly change the predicted label", "labels:boundary_labels"),
    ("random", "baseline: labels of all concepts at random", "labels:random_labels"),
    (
        "augment",
        "confounders: training examples again, with another value of the nuisance",
        "confounders:augmented_examples",
    ),
    ("fresh", "confounders, baseline: further examples, drawn as training is", "confounders:fresh_examples"),
    ("reweight", "confounders: annotated nuisances, and group DRO", "confounders:grouped_examples"),
    ("reasons", "confounders: annotated masks, and no gradient outside of them (RRR)", "confounders:masked_examples"),
):
    STRATEGIES.add(_name, _summary, f"assay.lab.acquisition.{_target}")
