"""Probes: concepts read off a layer by TCAV, all at once, against one example and one concept at a time.

The other way is rsbench's, restated: for each concept value a linear classifier (scikit-learn's `SGDClassifier`) on the
activations, then the gradient of each example, one by one, again for every concept value.
"""

import numpy as np
import torch
from sklearn.linear_model import SGDClassifier
from torch import Tensor, nn

from assay.models import Subject, activations, build_backbone, concept_directions, sensitivity
from assay.models.explain.tcav import concept_codes
from benchmarks.timing import Result, rate

EXAMPLES, FITTED, SIZES, LAYER, MOST = 200, 150, (10, 10), "0.1", 10**6


def run() -> list[Result]:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    body = build_backbone("conv-pool", (1, 28, 56))
    network = nn.Sequential(body.network, nn.Linear(body.features, 19)).eval()
    images = torch.randint(0, 256, (EXAMPLES, 1, 28, 56), dtype=torch.uint8)
    codes = torch.stack([torch.arange(EXAMPLES) % 10, torch.arange(EXAMPLES) // 10 % 10], dim=1)
    ours = rate(lambda: _ours(network, images, codes))
    theirs = rate(lambda: _one_by_one(network, images, codes))
    what = "TCAV concepts of 2 digits at a layer of 128"
    return [Result(what, "examples", ours, theirs, "one gradient an example and concept value")]


def _ours(network: nn.Module, images: Tensor, codes: Tensor) -> int:
    subject = Subject.of(network)
    rows = activations(subject, LAYER, images[:FITTED], MOST)
    directions = concept_directions(rows, codes[:FITTED], SIZES, 0.01)
    felt = sensitivity(subject, LAYER, images, MOST, directions.span.directions)
    return len(concept_codes(directions, felt.gradients))


def _one_by_one(network: nn.Module, images: Tensor, codes: Tensor) -> int:
    front, layer = network[0][:2], network[0][2:]
    with torch.no_grad():
        rows = front(images[:FITTED].float() / 255).numpy()
    found = np.zeros((EXAMPLES, sum(SIZES)))
    columns = [(concept, value) for concept, size in enumerate(SIZES) for value in range(size)]
    for place, (concept, value) in enumerate(columns):
        fitted = SGDClassifier(alpha=1e-3, max_iter=1000, tol=1e-3, random_state=0)
        vector = fitted.fit(rows, (codes[:FITTED, concept] == value).numpy()).coef_[0]
        for example in range(EXAMPLES):
            features = front(images[example : example + 1].float() / 255).detach().requires_grad_(True)
            scores = network[1](layer(features))
            (slope,) = torch.autograd.grad(scores[0, scores.argmax()], features)
            found[example, place] = float(slope[0].numpy() @ vector)
    return len(found)
