"""Concepts that are discovered in a network or in pictures, without annotations or with few.

Data flow, one way:

`sources`      a run's layer, a backbone or the pictures themselves -> rows of activations of each split
`method`       what every method is: it learns from the rows of the training split, and gives units for any split
`sparse`       sparse autoencoders;  `components`  PCA, ICA, NMF, k-means, random baselines;  `slots`  slot attention
`bottlenecks`  post-hoc and label-free concept bottlenecks, which name their units and have a label head of their own
`rule_on_top`  the rule learned from the concepts that the matched units give, and how it relates to the true rule
`discovering`  all of it for several seeds; `assay.metrics` matches units with concepts and scores them
`runs`         the folder: an ordinary run with predictions, the table, the units, and a page of top pictures
"""

from assay.base import Registry

METHODS = Registry("discovery method")
for _name, _summary, _target in (
    ("sae-topk", "a sparse autoencoder that keeps the k largest units of each example", "sparse:TopKAutoencoder"),
    ("sae-l1", "a sparse autoencoder with an L1 penalty on its units", "sparse:L1Autoencoder"),
    ("pca", "principal components", "components:PCA"),
    ("ica", "independent components (FastICA)", "components:ICA"),
    ("nmf", "non-negative matrix factorisation", "components:NMF"),
    ("kmeans", "k-means: each unit is how near an example is to a prototype", "components:KMeans"),
    ("posthoc-cbm", "post-hoc CBM: concept activation vectors, and a sparse label head", "bottlenecks:PosthocCBM"),
    ("label-free-cbm", "label-free CBM: units that follow CLIP, and a sparse label head", "bottlenecks:LabelFreeCBM"),
    ("slots", "slot attention on the pictures, trained to draw them again", "slots:Slots"),
    ("random-directions", "baseline: random directions of the activations", "components:RandomDirections"),
    ("random", "baseline: random numbers that know nothing of the picture", "components:RandomUnits"),
):
    METHODS.add(_name, _summary, f"assay.models.explain.discovery.{_target}")
