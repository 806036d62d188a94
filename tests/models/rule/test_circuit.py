"""The diagram as a layer gives the probabilities and gradients of a sum over all worlds, and rules too large for that."""

from math import prod

import numpy as np
import pytest
import torch
from torch import Tensor

from assay.base import DataError, KnowledgeError, rng_for
from assay.logic import ABSENT, Concept, ConceptSpace, Knowledge, Label, Slot, bits, digits, parse
from assay.models import RuleLayer
from assay.tasks import TASKS
from tests.logic.formulas import Scope, number, random_space, truth

PLACES = range(20)


def random_knowledge(place: int) -> Knowledge:
    """Return two or three random labels over a random small space."""
    rng = rng_for(5, "several labels", place)
    while True:
        space = random_space(rng)
        scope = Scope(space, {concept.name: concept for concept in space.concepts})
        makers = [truth, number, truth][: 2 + place % 2]
        try:
            return Knowledge.of(space, {f"y{i}": make(rng, scope, 3) for i, make in enumerate(makers)})
        except KnowledgeError:  # a label that is always the same
            continue


def beliefs(space: ConceptSpace, rows: int, *purpose: object) -> list[Tensor]:
    """Return random distributions of every concept, some of them certain."""
    rng = rng_for(0, "beliefs", *purpose)
    found = [rng.dirichlet(np.full(size, 0.7), size=rows) for size in space.sizes]
    found[0][0] = np.eye(space.sizes[0])[0]
    return [torch.tensor(one, dtype=torch.float64, requires_grad=True) for one in found]


def by_enumeration(rule: RuleLayer, concepts: list[Tensor]) -> Tensor:
    """Return the probability of each outcome as a sum over all worlds."""
    codes = rule.knowledge.space.all_codes()
    weights = torch.stack([p[:, codes[:, i]] for i, p in enumerate(concepts)]).prod(dim=0)
    numbers = torch.from_numpy(rule.outcome_numbers(rule.knowledge.labels_of(codes)))
    return torch.zeros(len(weights), len(rule.numbers), dtype=weights.dtype).index_add(1, numbers, weights)


@pytest.mark.parametrize("place", PLACES)
def test_values_and_gradients_are_those_of_a_sum_over_all_worlds(place):
    knowledge = random_knowledge(place)
    rule, concepts = RuleLayer(knowledge).double(), beliefs(knowledge.space, 4, place)
    found, expected = rule(concepts), by_enumeration(rule, concepts)
    assert torch.allclose(found, expected, atol=1e-12)
    plain = [one.detach().numpy() for one in concepts]
    assert np.allclose(found.detach().numpy(), knowledge.diagram.probabilities(plain), atol=1e-12)
    pull = torch.tensor(rng_for(1, "pull", place).random(found.shape))
    for one, other in zip(
        torch.autograd.grad((found * pull).sum(), concepts),
        torch.autograd.grad((expected * pull).sum(), concepts),
        strict=True,
    ):
        assert torch.allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("place", PLACES)
def test_single_precision_is_enough(place):
    knowledge = random_knowledge(place)
    concepts = [one.detach() for one in beliefs(knowledge.space, 4, place)]
    found = RuleLayer(knowledge)([one.float() for one in concepts])
    exact = knowledge.diagram.probabilities([one.numpy() for one in concepts])
    assert found.dtype == torch.float32 and np.allclose(found.numpy(), exact, atol=1e-6)


@pytest.mark.parametrize("place", PLACES)
def test_marginals_add_up_to_one_and_say_what_the_worlds_say(place):
    knowledge = random_knowledge(place)
    rule, concepts = RuleLayer(knowledge).double(), beliefs(knowledge.space, 4, place)
    outcomes = rule(concepts)
    codes = knowledge.space.all_codes()
    weights = torch.stack([p[:, codes[:, i]] for i, p in enumerate(concepts)]).prod(dim=0)
    for column, (label, found) in enumerate(zip(knowledge.labels, rule.marginals(outcomes), strict=True)):
        assert found.shape == (4, len(label.values)) and torch.allclose(found.sum(1), torch.ones(4).double())
        labels = knowledge.labels_of(codes)[:, column]
        for code in range(len(label.values)):
            assert torch.allclose(found[:, code], weights[:, labels == code].sum(dim=1))


@pytest.mark.parametrize("place", PLACES[::3])
def test_logs_are_those_of_the_probabilities_however_improbable(place):
    knowledge = random_knowledge(place)
    rule, concepts = RuleLayer(knowledge).double(), [one.detach() for one in beliefs(knowledge.space, 4, place)]
    found = rule.logs([one.log() for one in concepts])  # some concepts are impossible
    assert found.isfinite().all() and torch.allclose(found.exp(), rule(concepts), atol=1e-9)


def test_logs_learn_where_probabilities_vanish():
    names = [f"b{i}" for i in range(64)]
    layer = RuleLayer(Knowledge.of(bits(names), {"y": " and ".join(names)}))
    logits = [torch.zeros(1, 2, requires_grad=True) for _ in names]
    loss = -layer.logs([one.log_softmax(1) - 3 for one in logits])[0, 1]
    loss.backward()
    assert loss.item() > 64 and all(one.grad.abs().sum() > 0.1 for one in logits)


def test_gradients_are_the_slopes():
    knowledge = Knowledge.of(digits(["a", "b"], range(3)), {"sum": "a + b", "same": "a == b"})
    layer = RuleLayer(knowledge).diagram
    assert torch.autograd.gradcheck(lambda *concepts: layer(concepts), beliefs(knowledge.space, 2, "slopes"))


def test_certain_concepts_give_certain_labels():
    knowledge = TASKS["mnmath"](equations=["a + b", "a * b > 20"], names=["a", "b"]).knowledge
    codes = knowledge.space.all_codes()
    rule = RuleLayer(knowledge)
    found = rule([torch.eye(10)[codes[:, i]] for i in range(2)])
    assert (found.argmax(dim=1).numpy() == rule.outcome_numbers(knowledge.labels_of(codes))).all()
    assert found.max(dim=1).values.eq(1).all()


def test_parity_of_64_bits():
    knowledge = TASKS["mnlogic"](k=64).knowledge
    concepts = beliefs(knowledge.space, 32, "parity")
    found = RuleLayer(knowledge).double().marginals(RuleLayer(knowledge).double()(concepts))[0]
    odd = (1 - prod(1 - 2 * one[:, 1] for one in concepts)) / 2
    assert torch.allclose(found[:, 1], odd)
    assert all(one.isfinite().all() for one in torch.autograd.grad(found[:, 1].log().sum(), concepts))


def test_exactly_one_of_64():
    names = [f"x{i}" for i in range(64)]
    knowledge = Knowledge.of(bits(names), {"y": f"exactly(1, {', '.join(names)})"})
    few = torch.tensor(rng_for(0, "few").random((16, 64)) / 32)
    found = RuleLayer(knowledge).diagram([torch.stack([1 - p, p], dim=1) for p in few.T])
    one = sum(few[:, i] * prod(1 - few[:, j] for j in range(64) if j != i) for i in range(64))
    assert torch.allclose(found[:, knowledge.diagram.outcomes.index((True,))], one)


def test_sum_of_eight_digits():
    knowledge = Knowledge.of(digits(list("abcdefgh")), {"sum": "a + b + c + d + e + f + g + h"})
    concepts = [one.detach() for one in beliefs(knowledge.space, 16, "sum")]
    found = RuleLayer(knowledge).diagram(concepts).numpy()
    for row in range(16):
        expected = np.ones(1)
        for one in concepts:
            expected = np.convolve(expected, one[row].numpy())
        assert np.allclose(found[row], expected)


def test_two_equations_over_eight_digits():
    knowledge = TASKS["mnmath"]().knowledge
    concepts = [one.detach() for one in beliefs(knowledge.space, 64, "equations")]
    rule = RuleLayer(knowledge).double()
    first, second = rule.marginals(rule(concepts))
    half = Knowledge.of(digits(["x1", "x2", "x3", "x4"]), {"y1": "x1 + x2 == x3 + x4"})
    assert torch.allclose(first[:, 1], by_enumeration(RuleLayer(half), concepts[:4])[:, 1])
    joint = rule(concepts)[:, knowledge.diagram.outcomes.index((True, True))]
    assert torch.allclose(joint, first[:, 1] * second[:, 1])  # the equations share no digit


def test_labels_that_the_rule_never_gives_are_refused():
    rule = RuleLayer(Knowledge.of(bits(["a", "b"]), {"both": "a and b", "any": "a or b"}))
    assert rule.outcome_numbers(np.array([[0, 0], [0, 1], [1, 1], [0, 0]])).tolist() == [0, 1, 2, 0]
    with pytest.raises(DataError, match=r"can never give the labels \[1, 0\]"):
        rule.outcome_numbers(np.array([[0, 0], [1, 0]]))


def test_a_label_that_can_have_other_values_than_its_own_is_refused():
    space = ConceptSpace((Concept("n", (0, 1, 2)),))
    rule = RuleLayer(Knowledge(space, (Label("z", parse("n"), (1, 2, 0, 5)),)))
    (found,) = rule.marginals(rule([torch.tensor([[0.5, 0.3, 0.2]])]))
    assert found[0].tolist() == pytest.approx([0.3, 0.2, 0.5, 0.0])
    with pytest.raises(KnowledgeError, match="label 'z' can be 2, which is none of its values"):
        RuleLayer(Knowledge(space, (Label("z", parse("n"), (0, 1)),)))


def test_a_label_that_may_be_absent_is_refused():
    space = ConceptSpace((Concept("x.hue", ("red", "blue", ABSENT)),), (Slot("x", "things", ("hue",)),))
    with pytest.raises(KnowledgeError, match="absent"):
        RuleLayer(Knowledge.of(space, {"y": "x.hue"}))
