"""The semantic loss is exact, values and gradients, and training with it makes answers possible."""

import numpy as np
import pytest
import torch

from assay.concepts import digits
from assay.config import Settings
from assay.errors import ConfigError
from assay.logic import Constraint, Knowledge, Limits, parse
from assay.models import MODELS, load_model
from assay.models.concept.semantic import ConstraintLoss, SemanticConfig
from assay.models.core.tensors import to_batch
from tests.models.core.test_models import fitted
from tests.pixels import QUICK, pixels, trained

RULES = ["count(a == 1, b == 1, c == 1) == 1", "a + b >= c", "a != c"]
THREE = Knowledge.of(
    digits(["a", "b", "c"], range(3)), {"y": "a"}, [Constraint(f"r{n}", parse(rule)) for n, rule in enumerate(RULES)]
)


def logits(sizes, rows=5, seed=0):
    torch.manual_seed(seed)
    return [torch.randn(rows, size, dtype=torch.float64, requires_grad=True) for size in sizes]


def listed(knowledge, concepts, holds):
    """Return the probability of some worlds, by listing them."""
    codes = knowledge.space.all_codes().astype(np.int64)[holds]
    return torch.stack([one[:, codes[:, place]] for place, one in enumerate(concepts)]).prod(dim=0).sum(dim=1)


def both(one, other, given):
    """Return the greatest difference of two losses in value and in gradient."""
    spread = [x.softmax(dim=1) for x in given]
    grads = [torch.autograd.grad(f(spread), given, retain_graph=True) for f in (one, other)]
    apart = [abs(float((one(spread) - other(spread)).detach()))]
    return max([*apart, *(float((a - b).abs().max()) for a, b in zip(*grads, strict=True))])


def test_the_semantic_loss_is_exact():
    kept = ~THREE.violations(THREE.space.all_codes()).any(axis=1)
    loss = ConstraintLoss(Limits(THREE), SemanticConfig(semantic_weight=0.5))
    plain = lambda spread: -0.5 * listed(THREE, spread, kept).log().mean()  # noqa: E731
    assert loss.about == {"exact": True, "groups": [["r0", "r1", "r2"]], "left_out": []}
    assert both(loss, plain, logits(THREE.space.sizes)) < 1e-9


def test_the_penalty_is_the_expected_number_of_violations():
    flags = THREE.violations(THREE.space.all_codes())
    loss = ConstraintLoss(Limits(THREE), SemanticConfig(semantic_weight=0, violation_weight=2.0))
    plain = lambda spread: 2 * sum(listed(THREE, spread, flags[:, n]) for n in range(3)).mean()  # noqa: E731
    assert both(loss, plain, logits(THREE.space.sizes)) < 1e-9


def test_groups_that_cannot_be_joined_are_taken_one_by_one_and_told():
    config = SemanticConfig(semantic_weight=1, most_nodes=10)
    loss = ConstraintLoss(Limits(THREE, config.most_nodes), config)
    assert not loss.about["exact"] and len(loss.about["groups"]) > 1 and not loss.about["left_out"]
    spread = [x.softmax(dim=1).detach() for x in logits(THREE.space.sizes)]
    flags = THREE.violations(THREE.space.all_codes())
    groups = [[int(name[1]) for name in group] for group in loss.about["groups"]]
    parts = [listed(THREE, spread, ~flags[:, group].any(axis=1)).log().mean() for group in groups]
    assert float(loss(spread)) == pytest.approx(-float(sum(parts)))


def test_what_is_impossible_has_no_gradient_that_is_no_number():
    given = [torch.eye(3)[[0]].requires_grad_() for _ in range(3)]  # 0, 0, 0 breaks two of the three
    loss = ConstraintLoss(Limits(THREE), SemanticConfig(semantic_weight=1, violation_weight=1))(given)
    loss.backward()
    assert bool(loss.isfinite()) and all(bool(one.grad.isfinite().all()) for one in given)


@pytest.fixture(scope="module")
def lawful(tmp_path_factory):
    """Pixels whose rule says that not all three can be black, nor all white."""
    return pixels(tmp_path_factory.mktemp("lawful") / "data")


def with_rules(dataset, *texts):
    limits = [Constraint(f"r{n}", parse(text)) for n, text in enumerate(texts)]
    old = dataset.knowledge
    return Knowledge(old.space, old.labels, tuple(limits))


@pytest.mark.parametrize("weights", [{"semantic_weight": 2.0}, {"semantic_weight": 0.0, "violation_weight": 10.0}])
@pytest.mark.parametrize("mode", ["joint", "sequential"])
def test_training_with_constraints_makes_answers_possible(weights, mode, lawful):
    knowledge = with_rules(lawful, "count(a, b, c) == 1")  # not true of this data: only the loss can teach it
    test = lawful["test"]
    broken = {}
    for name, settings in (("cbm", {}), ("semantic", weights)):
        given = Settings({**QUICK, "mode": mode, "supervised_share": 0.0, **settings})
        model = MODELS[name](knowledge, lawful.layout, given, lawful.manifest["backbones"])
        model.fit(lawful["train"], lawful["valid"])
        said = np.stack([model.predict(test).concepts[c].codes for c in "abc"], axis=1)
        broken[name] = knowledge.violations(said).mean()
    assert broken["semantic"] < 0.1 < broken["cbm"]


def test_without_constraints_it_is_a_bottleneck(data):
    batch = to_batch(data["valid"], torch.device("cpu"))
    one, other = (fitted(name, data, epochs=1, seed=3) for name in ("cbm", "semantic"))
    other.load_state_dict(one.state_dict())
    one.eval(), other.eval()
    assert torch.equal(one.phases(batch)[0].loss(batch), other.phases(batch)[0].loss(batch))


def test_it_learns_an_easy_rule_and_tells_how_it_was_taught(data, tmp_path):
    model = trained("semantic", data, tmp_path / "run", {"epochs": 20})
    said = model.predict(data["test"])
    assert (said.labels["y"].codes == data["test"].labels[:, 0]).mean() > 0.9
    assert said.about["constraints"]["exact"] is True
    again = load_model(tmp_path / "run").predict(data["test"])
    assert np.allclose(again.labels["y"].probabilities, said.labels["y"].probabilities, atol=1e-6)


def test_only_some_constraints_and_unknown_ones():
    loss = ConstraintLoss(Limits(THREE), SemanticConfig(constraints=["r2"]))
    assert loss.about["groups"] == [["r2"]]
    with pytest.raises(ConfigError, match="no constraint named 'r9'; there is: r0, r1, r2"):
        ConstraintLoss(Limits(THREE), SemanticConfig(constraints=["r9"]))
