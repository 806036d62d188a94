"""Rules read as fuzzy logic: connectives as defined, truth at the corners, counts, quantifiers, and the loss of `ltn`."""

from functools import reduce
from itertools import product

import numpy as np
import pytest
import torch

from assay.base import ConfigError
from assay.logic import ConceptSpace, Knowledge, bits, digits
from assay.models import MODELS
from assay.render import Layout
from tests.logic.formulas import CASES, case
from tests.models.tiles import batch, model_of

BOTH = {
    "goedel": torch.minimum,
    "product": lambda a, b: a * b,
    "lukasiewicz": lambda a, b: (a + b - 1).clamp(min=0),
}
EITHER = {
    "goedel": torch.maximum,
    "product": lambda a, b: a + b - a * b,
    "lukasiewicz": lambda a, b: (a + b).clamp(max=1),
}
FOLLOWS = {
    "goedel": lambda a, b: torch.where(a <= b, 1.0, b),
    "product": lambda a, b: 1 - a + a * b,
    "lukasiewicz": lambda a, b: (1 - a + b).clamp(max=1),
    "goguen": lambda a, b: torch.where(a <= b, 1.0, b / a),
    "kleene-dienes": lambda a, b: torch.maximum(1 - a, b),
}
NORMS = list(product(BOTH, EITHER, FOLLOWS))
BITS = bits([*"abc"])
EPSILON = 1e-4
"""What keeps truths from nought, as in LTN."""


def learner(formula, space=BITS, name="ltn", **settings):
    knowledge = Knowledge.of(space, {"y": formula})
    return MODELS[name](knowledge, Layout(2, 1), {"backbone": "mlp", "device": "cpu", **settings})


def truths(formula, concepts, space=BITS, **settings):
    """Return how true a formula is of concepts that are uncertain."""
    return learner(formula, space, **settings).labels_from_concepts(concepts)[0][:, 1]


def norms(conjunction, disjunction="product", implication="product"):
    return {"conjunction": conjunction, "disjunction": disjunction, "implication": implication}


def spread(*chances):
    """Return concepts that are true with these chances."""
    return [torch.stack([1 - chance, chance], dim=1) for chance in chances]


def certain(space: ConceptSpace, codes):
    return [torch.eye(size, dtype=torch.float64)[codes[:, place]] for place, size in enumerate(space.sizes)]


@pytest.mark.parametrize("kinds", NORMS, ids=" ".join)
def test_connectives_are_those_of_their_norms(kinds):
    both, either, follows = (table[kind] for table, kind in zip((BOTH, EITHER, FOLLOWS), kinds, strict=True))
    a, b, c = torch.rand(3, 40, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def exclusive(one, other):
        return either(both(one, 1 - other), both(1 - one, other))

    wanted = {
        "not a": 1 - a,
        "a and c and not b": both(both(a, c), 1 - b),
        "a or c": either(a, c),
        "xor(a, b, c)": exclusive(exclusive(a, b), c),
        "implies(b, a and c)": follows(b, both(a, c)),
        "iff(a, c)": both(follows(a, c), follows(c, a)),
    }
    for formula, truth in wanted.items():
        assert torch.allclose(truths(formula, spread(a, b, c), **norms(*kinds)), truth, atol=1e-8), formula


def test_operators_are_those_of_ltntorch():
    ops = pytest.importorskip("ltn.fuzzy_ops")
    a, b = torch.rand(2, 50)
    theirs = [
        ("a and b", "conjunction", {"goedel": ops.AndMin(), "product": ops.AndProd(False), "lukasiewicz": ops.AndLuk()}),
        ("a or b", "disjunction", {"goedel": ops.OrMax(), "product": ops.OrProbSum(False), "lukasiewicz": ops.OrLuk()}),
        (
            "implies(a, b)",
            "implication",
            {
                "goedel": ops.ImpliesGodel(), "product": ops.ImpliesReichenbach(False), "lukasiewicz": ops.ImpliesLuk(),
                "goguen": ops.ImpliesGoguen(False), "kleene-dienes": ops.ImpliesKleeneDienes(),
            },
        ),
    ]  # fmt: skip
    for formula, setting, kinds in theirs:
        for kind, operator in kinds.items():
            found = truths(formula, spread(a, b, a), **{setting: kind})
            assert torch.allclose(found, operator(a, b), atol=1e-3), (formula, kind)


def test_certain_concepts_give_the_truth_under_every_reading():
    tried = 0
    for number in range(CASES):
        made = case(number)
        values = {bool(value) for value in made.values}
        if not isinstance(made.values[0], bool) or len(values) == 1:
            continue
        tried += 1
        for kinds in NORMS[number % len(NORMS) :: 16]:
            found = truths(made.formula, certain(made.space, made.codes), made.space, exists="or", **norms(*kinds))
            assert torch.allclose(found, torch.tensor(made.values, dtype=torch.float64), atol=1e-8)
    assert tried > 20


@pytest.mark.parametrize("kinds", NORMS[::2], ids=" ".join)
def test_gradients_are_numbers_at_the_corners(kinds):
    for text in ("implies(a, b and c) or not c", "iff(a, b) ^ c", "exactly(2, a, b, c)"):
        for exists in ("or", "p-mean"):
            concepts = [one.requires_grad_() for one in certain(BITS, BITS.all_codes())]
            made = learner(text, exists=exists, p=6.0, **norms(*kinds))
            logits = [one.clamp(min=1e-12).log() for one in concepts]
            made.rule_loss(logits, torch.ones(8, 1, dtype=torch.long)).backward()
            assert all(one.grad is None or one.grad.isfinite().all() for one in concepts)


def test_counts_under_a_product_and_a_sum_are_those_of_independent_events():
    chances = torch.tensor([[0.2], [0.7], [0.4]], dtype=torch.float64)
    exact = np.zeros(4)
    for world in product((0, 1), repeat=3):
        exact[sum(world)] += np.prod(
            [float(c) if true else 1 - float(c) for c, true in zip(chances, world, strict=True)]
        )
    for operator, holds in (("==", np.equal), (">=", np.greater_equal), ("<", np.less), ("!=", np.not_equal)):
        for count in (1, 2):
            found = truths(f"count(a, b, c) {operator} {count}", spread(*chances), disjunction="lukasiewicz")
            assert found.item() == pytest.approx(exact[holds(np.arange(4), count)].sum())


def test_a_comparison_is_true_if_some_case_of_it_is():
    space, uniform = digits(["a", "b"]), [torch.full((1, 10), 0.1, dtype=torch.float64)] * 2
    four = {"product": 1 - 0.99**4, "goedel": 0.01, "lukasiewicz": 0.04}  # 0 + 3, 1 + 2, 2 + 1, 3 + 0
    for disjunction, truth in four.items():
        found = truths("a + b == 3", uniform, space, disjunction=disjunction)
        assert found.item() == pytest.approx(truth)
    mean = (EPSILON + (1 - EPSILON) * 0.01**1).__float__()
    assert truths("a + b == 3", uniform, space, exists="p-mean", p=3.0).item() == pytest.approx(mean)


@pytest.mark.parametrize(("exists", "disjunction"), [("p-mean", "product"), *(("or", kind) for kind in EITHER)])
def test_a_number_has_each_value_as_far_as_some_of_its_cases_hold(exists, disjunction):
    space = digits(["a", "b"], range(4))
    made = learner("a + b", space, exists=exists, disjunction=disjunction, p=3.0)
    a, b = (torch.rand(5, 4, dtype=torch.float64).softmax(1) for _ in range(2))
    wanted = []
    for total in range(7):
        cases = [a[:, i] * b[:, total - i] for i in range(4) if 0 <= total - i < 4]
        if exists == "or":
            wanted.append(reduce(EITHER[disjunction], cases))
        else:
            stable = EPSILON + (1 - EPSILON) * torch.stack(cases)
            wanted.append((stable**3).mean(dim=0) ** (1 / 3))
    shares = torch.stack(wanted, dim=1)
    found = made.labels_from_concepts([a, b])[0]
    assert torch.allclose(found, shares / shares.sum(dim=1, keepdim=True), atol=1e-8)


@torch.no_grad()
def test_the_loss_is_what_all_labels_of_all_examples_lack_of_truth():
    made, given = model_of("ltn", {"p": 3.0}), batch()
    concepts = [scores.softmax(dim=1) for scores in made.encoder(given.pictures)]
    labels = [truth.gather(1, given.labels[:, place : place + 1]) for place, truth in enumerate(made.truths(concepts))]
    lacking = 1 - (1 - EPSILON) * torch.cat(labels)
    wanted = (lacking**3).mean() ** (1 / 3)
    assert made.phases(given)[0].loss(given).item() == pytest.approx(wanted.item(), abs=1e-5)


def test_the_p_of_the_quantifiers_rises_to_its_last():
    rising, given = model_of("ltn", {"p": 2.0, "last_p": 6.0}), batch()
    (phase,) = rising.phases(given)
    for epoch, p in ((5, 6.0), (2, 3.0), (1, 2.0)):
        phase.begin(epoch, 5)
        (still,) = model_of("ltn", {"p": p}).phases(given)
        assert phase.loss(given).item() == pytest.approx(still.loss(given).item())
    assert phase.varies and not still.varies


@pytest.mark.parametrize("p", [2.0, 6.0, 8.0])
def test_gradients_of_improbable_cases_do_not_vanish(p):
    space = digits(["a", "b"], range(4))
    made = learner("a + b", space, p=p)
    a = torch.tensor([[0.985, 0.005, 0.005, 0.005]], requires_grad=True)
    truth = made.truths([a, torch.full((1, 4), 0.25)])[0]
    truth[0, 5].backward()  # 2 + 3 or 3 + 2
    assert a.grad[0, 2:].min() > 0.05


def test_what_would_have_to_be_listed_is_refused(made):
    dataset = made("mnadd", k=8, splits={"train": 8, "valid": 8, "test": 8, "hard": 0})
    with pytest.raises(ConfigError, match="fuzzy logic would list .* cases of .*; use the model 'dpl'"):
        MODELS["ltn"](dataset)
