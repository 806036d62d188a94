"""Label heads and their inputs: shapes, exact probabilities by counting worlds, and truth only where it is supervised."""

from itertools import product

import numpy as np
import pytest
import torch

from assay.concepts import Concept, ConceptSpace, bits
from assay.errors import ConfigError
from assay.logic import Knowledge
from assay.models.concept.head_inputs import harden, insert_truth, sample_mask
from assay.models.concept.heads import AndHead, LogProbabilities, RuleHead, label_head
from assay.models.core.subconcepts import LEAST_SEEN
from assay.models.core.tensors import one_hot_like, scaled

SPACE = ConceptSpace((Concept("a", (0, 1, 2)), Concept("b", (False, True))))
RULE = Knowledge.of(SPACE, {"sum": "a + b", "both": "a > 0 and b"})


def concepts(rows=5, space=SPACE):
    rng = np.random.default_rng(0)
    return [torch.from_numpy(rng.dirichlet(np.ones(size), rows)).float() for size in space.sizes]


def test_the_rule_gives_what_adding_up_worlds_gives():
    given = concepts()
    found = RuleHead(RULE)(torch.cat(given, dim=1)).exp()
    expected = torch.zeros_like(found)
    for world in product(range(3), range(2)):
        chance = given[0][:, world[0]] * given[1][:, world[1]]
        first, second = RULE.labels_of(np.array([world]))[0]
        expected[:, first] += chance
        expected[:, 4 + second] += chance
    assert torch.allclose(found, expected)


def test_and_is_the_product_of_all_truths_for_every_label():
    space = ConceptSpace((Concept("a", (True, False)), Concept("b", (False, True))))
    knowledge = Knowledge.of(space, {"y": "a", "z": "b"})
    given = concepts(space=space)
    true = given[0][:, 0] * given[1][:, 1]
    found = AndHead(knowledge)(torch.cat(given, dim=1)).exp()
    assert torch.allclose(found, torch.stack([1 - true, true, 1 - true, true], dim=1))
    with pytest.raises(ConfigError, match="head 'and' needs truth values only, and 'a' has others"):
        AndHead(RULE)


def test_learned_heads_have_the_layers_that_are_asked_for():
    assert [type(layer).__name__ for layer in label_head("linear", RULE)] == ["Linear"]
    deep = label_head("mlp", RULE, (7, 3))
    assert [tuple(layer.weight.shape) for layer in deep if hasattr(layer, "weight")] == [(7, 5), (3, 7), (6, 3)]
    assert [type(layer).__name__ for layer in deep] == ["Linear", "ReLU"] * 2 + ["Linear"]
    logs = label_head("log-linear", RULE)
    assert isinstance(logs[0], LogProbabilities) and tuple(logs[1].weight.shape) == (6, 5)


def test_logs_run_from_minus_one_to_nought():
    lowest = float(np.exp(LEAST_SEEN))
    found = LogProbabilities()(torch.tensor([[1.0, lowest, 0.0, lowest**0.5]], dtype=torch.float64))
    assert found.tolist()[0] == pytest.approx([0, -1, -1, -0.5])


def test_the_likeliest_value_is_all_that_a_hard_head_sees_and_gradients_pass():
    soft = torch.tensor([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]], requires_grad=True)
    (hard,) = harden([soft])
    assert torch.allclose(hard, torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
    (hard * torch.arange(6.0).reshape(2, 3)).sum().backward()
    assert soft.grad.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_truth_stands_where_it_is_supervised_and_nowhere_else():
    codes, mask = torch.tensor([[2, 0], [-1, 1]]), torch.tensor([[True, False], [False, True]])
    own = [torch.full((2, 3), 1 / 3), torch.full((2, 2), 0.5)]
    first, second = insert_truth(codes, mask, own)
    assert first.tolist() == [[0, 0, 1], pytest.approx([1 / 3] * 3)] and second.tolist() == [[0.5, 0.5], [0, 1]]


def test_concepts_are_drawn_for_each_example_or_for_the_batch():
    torch.manual_seed(0)
    mask = torch.ones(4000, 3, dtype=torch.bool)
    mask[:, 2] = False
    each = sample_mask(mask, 0.25)
    assert each[:, :2].float().mean().item() == pytest.approx(0.25, abs=0.02) and not each[:, 2].any()
    assert sample_mask(mask, 1.0).equal(mask) and not sample_mask(mask, 0.0).any()
    rows = [tuple(sample_mask(mask, 0.5, "batch")[[0, 1999, 3999]].flatten().tolist()) for _ in range(20)]
    assert all(row[:3] == row[3:6] == row[6:] for row in rows) and len(set(rows)) > 1


def test_pictures_are_scaled_and_codes_spread():
    assert scaled(torch.tensor([0, 51, 255], dtype=torch.uint8)).tolist() == pytest.approx([0, 0.2, 1])
    assert scaled(torch.tensor([3.0])).tolist() == [3.0]
    assert one_hot_like(torch.tensor([1, -1]), torch.zeros(1, 2)).tolist() == [[0, 1], [0, 0]]


def test_bits_need_no_more_than_their_truth():
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a ^ b"})
    sure = torch.tensor([[0.0, 1.0, 1.0, 0.0]])
    assert RuleHead(knowledge)(sure).exp()[0].tolist() == pytest.approx([0, 1], abs=1e-6)
