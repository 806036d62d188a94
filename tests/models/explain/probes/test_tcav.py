"""TCAV finds a direction that was planted, finds nothing in a random concept, and its p-values mean what they say."""

import numpy as np
import pytest
import torch
from torch import nn

from assay.models import Subject, activations, concept_directions, effects, sensitivity

MOST = 10_000
RIDGE = 0.01


def shuffles(examples, repetitions, seed):
    """Return orders of examples."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(examples) for _ in range(repetitions)])


@pytest.fixture(scope="module")
def subject():
    torch.manual_seed(0)
    return Subject.of(nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.Tanh(), nn.Linear(12, 3)))


@pytest.fixture(scope="module")
def images():
    return torch.randint(0, 256, (150, 1, 4, 4), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def found_at(subject, layer, images, codes, sizes=(2,), repetitions=199, orders=None):
    rows = activations(subject, layer, images, MOST)
    directions = concept_directions(rows, codes, sizes, RIDGE)
    felt = sensitivity(subject, layer, images, MOST, directions.span.directions)
    orders = shuffles(len(rows), repetitions, 0) if orders is None else orders
    return effects(rows, codes, directions, felt, RIDGE, orders)


def random_codes(images, seed, size=2):
    return torch.from_numpy(np.random.default_rng(seed).integers(0, size, (len(images), 1)))


def planted(subject, images, class_=0):
    """Return a concept that is present where the layer lies far along the gradient of a class's log-odds."""
    rows = activations(subject, "1", images, MOST)
    felt = sensitivity(subject, "1", images, MOST)
    direction = felt.gradients[0][felt.classes[0] == class_].mean(dim=0)
    along = rows @ direction
    return (along > along.median()).long()[:, None]


def test_a_planted_direction_is_found(subject, images):
    class_ = int(sensitivity(subject, "1", images, MOST).classes[0].mode().values)
    found = [e for e in found_at(subject, "1", images, planted(subject, images, class_)) if e.class_ == class_]
    absent, present = found
    assert (present.value, present.score, absent.score) == (1, 1.0, 0.0)
    assert present.derivative > 0 and present.derivative == pytest.approx(-absent.derivative)
    assert present.p == present.p_family == 1 / 200


def test_a_random_concept_is_rejected(subject, images):
    found = [found_at(subject, "1", images, random_codes(images, seed)) for seed in range(20)]
    assert np.mean([effect.p <= 0.05 for each in found for effect in each]) < 0.2
    assert sum(min(effect.p_family for effect in each) <= 0.05 for each in found) <= 4


def distance_from_uniform(values):
    """Return the largest distance of the distribution of p-values from the uniform one (Kolmogorov-Smirnov)."""
    values, count = np.sort(values), len(values)
    return max((np.arange(1, count + 1) / count - values).max(), (values - np.arange(count) / count).max())


@pytest.mark.parametrize("layer", ["1", "3"])  # where the answer is curved, and where it is nearly linear
def test_p_values_are_uniform_under_the_null(layer, subject, images):
    repetitions = 600
    rows = activations(subject, layer, images, MOST)
    span = concept_directions(rows, random_codes(images, 0), [2], RIDGE).span
    felt = sensitivity(subject, layer, images, MOST, span.directions)
    single, family = [], []
    for seed in range(repetitions):
        codes = random_codes(images, seed)
        directions = concept_directions(rows, codes, [2], RIDGE)
        found = effects(rows, codes, directions, felt, RIDGE, shuffles(len(rows), 99, seed))
        single.append(found[-1].p)
        family.append(min(effect.p_family for effect in found))
    limit = 1.63 / repetitions**0.5 + 0.01  # passed by 1 in 100 by chance; p-values come in steps of 0.01
    assert distance_from_uniform(np.array(single)) < limit
    assert distance_from_uniform(np.array(family)) < limit


def test_the_distance_notices_p_values_that_are_not_uniform():
    even = (np.arange(600) + 0.5) / 600
    assert distance_from_uniform(even) < 0.01 < 0.08 < distance_from_uniform(even**1.5)
    assert distance_from_uniform(even**0.5) > 0.08


def test_a_score_of_signs_alone_could_not_tell_at_a_linear_layer(subject, images):
    """Why derivatives are compared and not scores: at a linear layer random concepts score 0 or 1 as well."""
    linear = Subject.of(nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.Linear(12, 2)))
    found = found_at(linear, "1", images, random_codes(images, 3))
    assert {effect.score for effect in found} <= {0.0, 1.0} and min(effect.p for effect in found) > 0.01


def test_effects_are_those_of_their_definition(subject, images):
    """The score is the share of a class that a direction moves towards it, the derivative the mean slope; p-values are
    the rank among the same numbers for shuffled concepts, alone and beside the largest of the family."""
    rows, felt = activations(subject, "1", images, MOST), sensitivity(subject, "1", images, MOST)
    codes = torch.cat([random_codes(images, 0), random_codes(images, 1, 3)], dim=1)
    sizes, orders = (2, 3), shuffles(len(rows), 9, 2)
    found = found_at(subject, "1", images, codes, sizes, orders=orders)
    classes, gradients = felt.classes[0], felt.gradients[0]
    seen = sorted(classes.unique().tolist())
    assert [(e.concept, e.value, e.class_) for e in found] == [
        (concept, value, class_) for class_ in seen for concept, size in enumerate(sizes) for value in range(size)
    ]

    def slopes(order):
        directions = concept_directions(rows, codes[order], sizes, RIDGE)
        return directions.span.directions(gradients) @ directions.columns

    real, random = slopes(np.arange(len(rows))), [slopes(order) for order in orders]
    means = np.array([[part[classes == k].mean(dim=0).numpy() for k in seen] for part in [real, *random]])
    size = np.abs(means) / np.sqrt((means**2).mean(axis=0))
    most = size[1:].reshape(len(orders), -1).max(axis=1)
    for place, effect in enumerate(found):
        k, column = divmod(place, sum(sizes))
        own = real[classes == seen[k], column]
        assert effect.examples == len(own) and effect.score == pytest.approx(float((own > 0).double().mean()))
        assert effect.derivative == pytest.approx(float(own.mean()), abs=1e-6)
        assert effect.p == pytest.approx((1 + (size[1:, k, column] >= size[0, k, column]).sum()) / 10)
        assert effect.p_family == pytest.approx((1 + (most >= size[0, k, column]).sum()) / 10)


@pytest.mark.filterwarnings("ignore")
def test_scores_are_those_of_captum(subject, images, tmp_path):
    captum = pytest.importorskip("captum.concept")
    from captum.concept._utils.data_iterator import dataset_to_dataloader

    class LabelNoise(nn.Module):
        """The log-odds of each class, which captum asks for by its number."""

        def __init__(self):
            super().__init__()
            self.inside = subject.module

        def forward(self, pictures):
            scores = self.inside(pictures)
            others = [scores[:, [j for j in range(3) if j != k]].logsumexp(dim=1) for k in range(3)]
            return scores - torch.stack(others, dim=1)

    pictures, codes = images.float() / 255, planted(subject, images)
    loaders = [dataset_to_dataloader(list(pictures[codes[:, 0] == value]), batch_size=64) for value in (0, 1)]
    concepts = [captum.Concept(id=i, name=f"c{i}", data_iter=loader) for i, loader in enumerate(loaders)]
    reference = captum.TCAV(LabelNoise(), layers=["inside.1"], save_path=str(tmp_path))
    class_ = int(sensitivity(subject, "1", images, MOST).classes[0].mode().values)
    felt = sensitivity(subject, "1", images, MOST)
    own = pictures[felt.classes[0] == class_]
    told = reference.interpret(own, [concepts], target=class_)["0-1"]["inside.1"]
    vector = reference.cavs["0-1"]["inside.1"].stats["weights"][1]
    slopes = felt.gradients[0][felt.classes[0] == class_] @ vector.float()
    assert float(told["sign_count"][1]) == pytest.approx(float((slopes > 0).double().mean()))
    scaled = float((slopes * (slopes > 0)).mean())
    assert float(told["magnitude"][1]) == pytest.approx(scaled, rel=1e-4)
    ours = next(e for e in found_at(subject, "1", images, codes) if (e.value, e.class_) == (1, class_))
    assert ours.score == pytest.approx(float(told["sign_count"][1]), abs=0.05)
