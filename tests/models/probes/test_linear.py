"""Linear probes are the logistic regressions that a well-known library finds, for all concepts at once."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from assay.config import Settings, validate
from assay.errors import ConfigError
from assay.models import ProbeConfig
from assay.models.probes import linear as probes
from assay.models.probes.linear import Span, fit_linear


def points(examples, features, seed=0):
    return torch.randn(examples, features, generator=torch.Generator().manual_seed(seed))


def rule(rows, seed=1, noise=0.5):
    generator = torch.Generator().manual_seed(seed)
    hidden = rows @ torch.randn(rows.shape[1], 2, generator=torch.Generator().manual_seed(3))
    hidden = hidden / hidden.std(dim=0) + noise * torch.randn(hidden.shape, generator=generator)
    return torch.stack(
        [(hidden[:, 0] > 0).long(), torch.bucketize(hidden[:, 1].contiguous(), torch.tensor([-0.5, 0.5]))], dim=1
    )


@pytest.mark.parametrize("features", [5, 300])
def test_a_span_holds_all_that_the_rows_hold(features):
    rows = points(40, features) + 3
    span = Span.of(rows)
    found = span.coordinates(rows)
    assert found.shape == (40, min(39, features))
    distances = torch.cdist(rows.double(), rows.double())
    assert torch.allclose(torch.cdist(found, found) * span.scale, distances, atol=1e-4)
    assert abs(float(found.square().mean()) - 1) < 1e-6


def test_gradients_are_moved_into_the_span():
    rows = points(40, 7)
    span = Span.of(rows)
    slope = points(1, 7, seed=5)[0]
    moved = rows @ slope - (rows @ slope).mean()
    assert torch.allclose(span.coordinates(rows) @ span.directions(slope[None])[0], moved.double(), atol=1e-4)


def test_rows_that_are_all_alike_are_no_trouble():
    rows = torch.ones(10, 4)
    probe = fit_linear(rows, rule(points(10, 4)), rows, rule(points(10, 4)), [2, 3], [0.1])
    assert all(spread.isfinite().all() for spread in probe.probabilities(rows))


@pytest.mark.parametrize(("features", "strength"), [(6, 0.01), (200, 0.1), (200, 0.001)])
def test_probes_are_those_of_scikit_learn(features, strength, monkeypatch):
    monkeypatch.setattr(probes, "STEPS", 5000)  # both to the end of the search
    monkeypatch.setattr(probes, "SLOPE", 1e-8)
    rows, others = points(120, features), points(50, features, seed=9)
    codes = rule(rows)
    probe = fit_linear(rows, codes, others, rule(others), [2, 3], [strength])
    found = probe.probabilities(others)
    middle = rows.double().mean(dim=0)
    scaled = [(part.double() - middle).numpy() / float(probe.span.scale) for part in (rows, others)]
    for column, spread in enumerate(found):
        # with two classes the library has one direction, which stands for two of ours of opposite sign
        penalty = (2 if column == 0 else 1) / (strength * len(rows))
        reference = LogisticRegression(C=penalty, tol=1e-8, max_iter=5000).fit(scaled[0], codes[:, column])
        wanted = reference.predict_proba(scaled[1])
        assert np.abs(spread.numpy() - wanted).max() < 1e-3


def test_the_search_ends_near_enough():
    rows, others = points(120, 200), points(50, 200, seed=9)
    near = fit_linear(rows, rule(rows), others, rule(others), [2, 3], [0.001]).probabilities(others)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probes, "STEPS", 5000)
        patch.setattr(probes, "SLOPE", 1e-8)
        exact = fit_linear(rows, rule(rows), others, rule(others), [2, 3], [0.001]).probabilities(others)
    assert max(float((one - other).abs().mean()) for one, other in zip(near, exact, strict=True)) < 0.01


def test_validation_chooses_the_penalty_of_each_concept():
    rows, others = points(60, 100), points(200, 100, seed=9)
    codes, truth = rule(rows), rule(others)
    codes[:, 0] = torch.randint(0, 2, (60,), generator=torch.Generator().manual_seed(0))  # nothing to be found
    truth[:, 0] = torch.randint(0, 2, (200,), generator=torch.Generator().manual_seed(1))
    probe = fit_linear(rows, codes, others, truth, [2, 3], [10.0, 1.0, 0.1, 0.01, 0.001])
    assert probe.strengths[0] == 10.0 > probe.strengths[1]
    for column in (0, 1):
        alone = fit_linear(rows, codes, others, truth, [2, 3], [probe.strengths[column]])
        spreads = [each.probabilities(others)[column] for each in (probe, alone)]
        assert torch.allclose(*spreads, atol=0.01)


def test_what_is_there_is_read_and_what_is_not_is_not():
    rows, others, test = (points(500, 30, seed) for seed in (0, 1, 2))
    truth = [(part[:, 0] > 0).long()[:, None] for part in (rows, others, test)]
    chance = [torch.randint(0, 2, (500, 1), generator=torch.Generator().manual_seed(s)) for s in (0, 1, 2)]
    codes = [torch.cat(pair, dim=1) for pair in zip(truth, chance, strict=True)]
    probe = fit_linear(rows, codes[0], others, codes[1], [2, 2], [1.0, 0.1, 0.01])
    right = [(s.argmax(dim=1) == codes[2][:, i]).double().mean() for i, s in enumerate(probe.probabilities(test))]
    assert right[0] > 0.95 and 0.4 < right[1] < 0.6


@pytest.mark.parametrize(("key", "value"), [("examples", 1), ("strengths", []), ("repetitions", 5), ("ridge", 0)])
def test_settings_that_do_not_fit_are_refused(key, value):
    with pytest.raises(ConfigError, match=f"^{key}: "):
        validate(ProbeConfig, Settings({key: value}))
