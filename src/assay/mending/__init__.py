"""Mending a model: diagnose it, choose what to buy, retrain, and again, within a budget.

Data flow, one way:

`holdings`      what was bought so far, and what it cost
`situation`     what a strategy sees: the model so far, its training split, what was bought, and what may be spent
`labels`        strategies that buy concept labels: at random, uncertain, disputed, near the boundary
`misread`       which concepts in the rule the model misreads, and in which values
`plan`          the strategy that shows these, then the concept values that `assay count` names
`confounders`   strategies against confounders: other nuisances, further examples, group weights, right reasons
`redrawing`     training examples drawn anew
`round_data`    the dataset and the settings that a round is trained on
`curve`         what each round gave, over what was spent
`loop`          the rounds
"""

from assay.registry import Registry

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
    STRATEGIES.add(_name, _summary, f"assay.mending.{_target}")
