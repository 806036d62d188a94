"""Models that learn through the rule: exact against brute force, fuzzy at the corners, and what keeps shortcuts away."""

import itertools

import numpy as np
import pytest
import torch

from assay.concepts import Concept, ConceptSpace, bits, digits
from assay.errors import ConfigError, UnknownName
from assay.logic import Knowledge, evaluate, parse
from assay.models import MODELS
from assay.models.rule.circuit import RuleLayer
from assay.models.rule.fuzzy_logic import AND, IMPLIES, OR, FuzzyRule, FuzzyValues, Semantics, p_mean_error
from assay.seeds import rng_for
from assay.tasks import TASKS
from tests.logic.formulas import CASES, case
from tests.pixels import pixels

SMALL = {
    "sum": Knowledge.of(digits(["a", "b"]), {"sum": "a + b"}),
    "xor": Knowledge.of(bits(["a", "b", "c", "d"]), {"y": "a ^ b ^ c ^ d"}),
    "two labels": Knowledge.of(bits(["a", "b", "c"]), {"y": "a and b", "z": "exactly(2, a, b, c)"}),
    "equation": Knowledge.of(digits(["a", "b", "c"], [0, 1, 2, 3]), {"y": "a + b == c", "z": "a * b"}),
    "symbols": Knowledge.of(
        ConceptSpace((Concept("hue", ("red", "blue")), Concept("shape", ("disc", "box", "star")))),
        {"y": "hue == 'red' and shape != 'box'"},
    ),
}


def brute_force(knowledge: Knowledge, concepts: list[torch.Tensor], layer: RuleLayer) -> torch.Tensor:
    """Add up the probability of every world, one by one."""
    codes = knowledge.space.all_codes()
    outcomes = layer.outcome_numbers(knowledge.labels_of(codes))
    total = torch.zeros(len(concepts[0]), len(layer.numbers), dtype=torch.float64)
    for world, outcome in zip(codes.tolist(), outcomes.tolist(), strict=True):
        one = torch.ones(len(concepts[0]), dtype=torch.float64)
        for place, code in enumerate(world):
            one = one * concepts[place][:, code]
        total = total + torch.nn.functional.one_hot(torch.tensor(outcome), total.shape[1]) * one[:, None]
    return total


def spread(knowledge: Knowledge, rows: int = 3) -> list[torch.Tensor]:
    rng = rng_for(0, "spread")
    made = [torch.from_numpy(rng.normal(size=(rows, size)) * 2) for size in knowledge.space.sizes]
    return [one.requires_grad_() for one in made]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("logs", [False, True])
def test_the_rule_layer_equals_brute_force_in_values_and_gradients(name, logs):
    knowledge = SMALL[name]
    layer = RuleLayer(knowledge).double()
    logits = spread(knowledge)
    found = layer.logs([one.log_softmax(1) for one in logits]).exp() if logs else layer([x.softmax(1) for x in logits])
    weights = torch.from_numpy(rng_for(1, "weights").random(tuple(found.shape)))
    (found * weights).sum().backward()
    own = [one.grad.clone() for one in logits]
    for one in logits:
        one.grad = None
    expected = brute_force(knowledge, [one.softmax(1) for one in logits], layer)
    (expected * weights).sum().backward()
    assert torch.allclose(found, expected, atol=1e-6)
    assert all(torch.allclose(a, b.grad, atol=1e-6) for a, b in zip(own, logits, strict=True))


@pytest.mark.parametrize("name", ["mnadd-half", "mnadd-evenodd", "mnlogic"])
def test_small_tasks_too(name):
    knowledge = TASKS[name]().knowledge
    layer = RuleLayer(knowledge).double()
    concepts = [one.softmax(1).detach() for one in spread(knowledge, 2)]
    assert torch.allclose(layer(concepts), brute_force(knowledge, concepts, layer), atol=1e-6)


def test_logs_learn_where_probabilities_vanish():
    knowledge = Knowledge.of(bits([f"b{i}" for i in range(64)]), {"y": " and ".join(f"b{i}" for i in range(64))})
    layer = RuleLayer(knowledge)
    logits = [torch.zeros(1, 2, requires_grad=True) for _ in range(64)]
    loss = -layer.logs([one.log_softmax(1) - 3 for one in logits])[0, 1]
    loss.backward()
    assert loss.item() > 64 and all(one.grad.abs().sum() > 0.1 for one in logits)


# -- fuzzy logic -------------------------------------------------------------------------------------------------------

EVERY = [Semantics(a, o, i, e) for a, o, i, e in itertools.product(AND, OR, IMPLIES, ["or"])]


def certain(space: ConceptSpace, codes: np.ndarray) -> list[torch.Tensor]:
    return [torch.eye(size, dtype=torch.float64)[codes[:, i]] for i, size in enumerate(space.sizes)]


@pytest.mark.parametrize("semantics", EVERY, ids=lambda s: f"{s.conjunction} {s.disjunction} {s.implication}")
def test_fuzzy_truth_is_truth_where_concepts_are_certain(semantics):
    tried = 0
    for number in range(0, CASES, 3):
        made = case(number)
        if not isinstance(made.values[0], bool):
            continue
        tried += 1
        found = FuzzyRule(made.formula, made.space)(certain(made.space, made.codes), semantics)
        assert torch.allclose(found, torch.tensor(made.values, dtype=torch.float64), atol=1e-9)
    assert tried > 20


@pytest.mark.parametrize("semantics", EVERY, ids=lambda s: f"{s.conjunction} {s.disjunction} {s.implication}")
@pytest.mark.parametrize("text", ["implies(a, b and c) or not c", "iff(a, b) ^ c", "exactly(2, a, b, c)"])
def test_gradients_are_numbers_at_the_corners(semantics, text):
    space = bits(["a", "b", "c"])
    rule = FuzzyRule(parse(text), space)
    for exists in ("or", "p-mean"):
        concepts = [one.requires_grad_() for one in certain(space, space.all_codes())]
        kind = Semantics(semantics.conjunction, semantics.disjunction, semantics.implication, exists)
        truth = rule(concepts, kind)
        (truth.sum() + p_mean_error(truth, 6.0)).backward()
        assert all(one.grad is None or one.grad.isfinite().all() for one in concepts)


def test_p_means_run_from_the_mean_to_the_extremes():
    truths = torch.tensor([[0.1, 0.5, 0.9]])
    assert Semantics(p=1).some(truths).item() == pytest.approx(0.5, abs=1e-3)
    assert Semantics(p=200).some(truths).item() == pytest.approx(0.9, abs=0.02)
    assert p_mean_error(truths, 200).item() == pytest.approx(0.1, abs=0.02)


def test_operators_are_those_of_ltntorch():
    ops = pytest.importorskip("ltn.fuzzy_ops")
    a, b = torch.rand(50), torch.rand(50)
    pairs = [
        (AND["goedel"], ops.AndMin()), (AND["product"], ops.AndProd(stable=False)), (AND["lukasiewicz"], ops.AndLuk()),
        (OR["goedel"], ops.OrMax()), (OR["product"], ops.OrProbSum(stable=False)), (OR["lukasiewicz"], ops.OrLuk()),
        (IMPLIES["goedel"], ops.ImpliesGodel()), (IMPLIES["product"], ops.ImpliesReichenbach(stable=False)),
        (IMPLIES["lukasiewicz"], ops.ImpliesLuk()), (IMPLIES["goguen"], ops.ImpliesGoguen(stable=False)),
        (IMPLIES["kleene-dienes"], ops.ImpliesKleeneDienes()),
    ]  # fmt: skip
    for own, other in pairs:
        assert torch.allclose(own(a, b), other(a, b), atol=1e-3)


def test_numbers_are_some_values_that_fit():
    space = digits(["a", "b"])
    rule = FuzzyRule(parse("a + b == 3"), space)
    concepts = [torch.full((1, 10), 0.1, dtype=torch.float64) for _ in range(2)]
    assert rule(concepts, Semantics(exists="or")).item() == pytest.approx(1 - 0.99**4)
    codes = space.all_codes()
    found = rule(certain(space, codes), Semantics(exists="or"))
    assert np.array_equal(found.numpy() == 1, evaluate(parse("a + b == 3"), space, codes))


@pytest.mark.parametrize("exists", ["or", "p-mean"])
@pytest.mark.parametrize("disjunction", list(OR))
def test_all_values_at_once_are_each_value_by_itself(exists, disjunction):
    space, semantics = digits(["a", "b"]), Semantics(disjunction=disjunction, exists=exists, p=3.0)
    values = Knowledge.of(space, {"sum": "a + b"}).labels[0].values
    concepts = [torch.rand(4, 10, dtype=torch.float64).softmax(1) for _ in range(2)]
    found = FuzzyValues(parse("a + b"), space, values)(concepts, semantics)
    for place, value in enumerate(values):
        alone = FuzzyRule(parse(f"a + b == {value}"), space)(concepts, semantics)
        assert torch.allclose(found[:, place], alone, atol=1e-9)


@pytest.mark.parametrize("p", [2.0, 6.0, 8.0])
def test_gradients_of_improbable_cases_do_not_vanish(p):
    cases = torch.full((1, 5), 0.005, requires_grad=True)
    Semantics(p=p).some(cases).sum().backward()
    assert torch.allclose(cases.grad, torch.full((1, 5), 0.2), rtol=1e-3)


def test_a_model_may_be_given_a_wrong_rule(tmp_path):
    data = pixels(tmp_path)
    (label,) = data.knowledge.label_names
    name = data.knowledge.space.names[0]
    model = MODELS["dpl"](data, settings={"rule": {label: name}, "epochs": 1}, seed=0)
    model.fit(data["train"], data["valid"])
    own = model.predict(data["test"])
    assert (own.labels[label].codes == own.concepts[name].codes).all()  # it answers by its own rule


def test_a_rule_that_excludes_what_the_data_shows_leaves_the_loss_finite(tmp_path):
    data = pixels(tmp_path)
    (label,) = data.knowledge.label_names
    name = data.knowledge.space.names[0]
    model = MODELS["dpl"](data, settings={"rule": {label: f"{name} or not {name}"}, "epochs": 2}, seed=0)
    model.fit(data["train"], data["valid"])
    assert all(np.isfinite(epoch.loss) for epoch in model.history)
    assert model.predict(data["test"]).labels[label].codes.all()  # always true, as rsbench's parity of four bits


def test_rules_of_unknown_labels_and_of_other_values_are_refused(tmp_path):
    data = pixels(tmp_path)
    (label,) = data.knowledge.label_names
    first, second, *_ = data.knowledge.space.names
    with pytest.raises(UnknownName, match="no label named 'nothing'"):
        MODELS["dpl"](data, settings={"rule": {"nothing": first}}, seed=0)
    with pytest.raises(ConfigError, match="gives other values than label"):
        MODELS["dpl"](data, settings={"rule": {label: f"count({first}, {second})"}}, seed=0)
