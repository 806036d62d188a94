"""The semantic loss is exact, values and gradients, and training with it makes answers possible."""

import numpy as np
import pytest
import torch

from assay.base import ConfigError, Settings
from assay.logic import Constraint, Knowledge, bits, digits, parse
from assay.models import MODELS, load_model
from assay.render import Layout
from tests.models.tiles import batch, model_of, tiles
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


def keeping(knowledge=THREE, **settings):
    """Return the loss of a model's constraints, and what its record says of them."""
    given = {"backbone": "mlp", "device": "cpu", **settings}
    model = MODELS["semantic"](knowledge, Layout(3, 1), given)
    model.phases(batch())
    return model.keeping, model.metadata().get("constraints")


def test_the_semantic_loss_is_exact():
    kept = ~THREE.violations(THREE.space.all_codes()).any(axis=1)
    loss, about = keeping(semantic_weight=0.5)
    plain = lambda spread: -0.5 * listed(THREE, spread, kept).log().mean()  # noqa: E731
    assert about == {"exact": True, "groups": [["r0", "r1", "r2"]], "left_out": []}
    assert both(loss, plain, logits(THREE.space.sizes)) < 1e-9


def test_the_penalty_is_the_expected_number_of_violations():
    flags = THREE.violations(THREE.space.all_codes())
    loss, _ = keeping(semantic_weight=0, violation_weight=2.0)
    plain = lambda spread: 2 * sum(listed(THREE, spread, flags[:, n]) for n in range(3)).mean()  # noqa: E731
    assert both(loss, plain, logits(THREE.space.sizes)) < 1e-9


@pytest.mark.parametrize("most", [10, 5, 2])
def test_groups_that_cannot_be_joined_are_taken_one_by_one_and_told(most):
    loss, about = keeping(semantic_weight=1, most_nodes=most)
    taken = [name for group in about["groups"] for name in group]
    assert not about["exact"] and sorted([*taken, *about["left_out"]]) == ["r0", "r1", "r2"]
    spread = [x.softmax(dim=1).detach() for x in logits(THREE.space.sizes)]
    flags = THREE.violations(THREE.space.all_codes())
    groups = [[int(name[1]) for name in group] for group in about["groups"]]
    parts = [listed(THREE, spread, ~flags[:, group].any(axis=1)).log().mean() for group in groups]
    assert float(loss(spread)) == pytest.approx(-float(sum(parts)))


def test_what_is_impossible_has_no_gradient_that_is_no_number():
    given = [torch.eye(3)[[0]].requires_grad_() for _ in range(3)]  # 0, 0, 0 breaks two of the three
    found = keeping(semantic_weight=1, violation_weight=1)[0](given)
    found.backward()
    assert bool(found.isfinite()) and all(bool(one.grad.isfinite().all()) for one in given)


def test_constraints_may_be_chosen_by_name():
    assert keeping(constraints=["r2"])[1]["groups"] == [["r2"]]
    assert keeping(semantic_weight=0.0, violation_weight=0.0)[1]["groups"] == []
    for names in (["r9"], ["r0", "r9"]):
        with pytest.raises(ConfigError, match="no constraint named 'r9'"):
            keeping(constraints=names)


@pytest.mark.parametrize("mode", ["joint", "sequential"])
def test_the_loss_of_constraints_is_added_to_that_of_the_bottleneck(mode):
    given = batch()
    plain, made = model_of("cbm", {"mode": mode}), model_of("semantic", {"mode": mode, "semantic_weight": 0.5})
    made.load_state_dict(plain.state_dict(), strict=False)
    own = [scores.softmax(dim=1) for scores in made.encoder(given.pictures)]
    kept = ~made.knowledge.violations(made.space.all_codes()).any(axis=1)
    wanted = plain.phases(given)[0].loss(given) - 0.5 * listed(made.knowledge, own, kept).log().mean()
    assert made.phases(given)[0].loss(given).item() == pytest.approx(wanted.item(), abs=1e-5)


def with_rules(dataset, *texts):
    limits = [Constraint(f"r{n}", parse(text)) for n, text in enumerate(texts)]
    return Knowledge(dataset.knowledge.space, dataset.knowledge.labels, tuple(limits))


@pytest.mark.parametrize("weights", [{"semantic_weight": 2.0}, {"semantic_weight": 0.0, "violation_weight": 10.0}])
@pytest.mark.parametrize("mode", ["joint", "sequential"])
def test_training_with_constraints_makes_answers_possible(weights, mode, data):
    knowledge = with_rules(data, "count(a, b, c) == 1")  # not true of this data: only the loss can teach it
    broken = {}
    for name, settings in (("cbm", {}), ("semantic", weights)):
        given = Settings({**QUICK, "mode": mode, "supervised_share": 0.0, **settings})
        model = MODELS[name](knowledge, data.layout, given, data.manifest.backbones)
        model.fit(data["train"], data["valid"])
        said = model.predict(data["test"]).concepts
        broken[name] = knowledge.violations(np.stack([said[c].codes for c in "abc"], axis=1)).mean()
    assert broken["semantic"] < 0.1 < broken["cbm"]


def test_the_score_of_an_epoch_is_lowered_by_answers_that_break_a_constraint():
    model = model_of("semantic", {"epochs": 1, "keeps": "last"})
    model.fit(tiles()["train"], tiles()["valid"])
    plain = model_of("cbm", {})
    plain.load_state_dict(model.state_dict(), strict=False)
    said = model.predict(tiles()["valid"]).concepts
    codes = np.stack([said[name].codes for name in model.space.names], axis=1)
    kept = 1 - model.knowledge.violations(codes).any(axis=1).mean()
    feed = plain.feed(tiles()["valid"], plain.device)
    assert model.history[0].score == pytest.approx(float(plain.validation_f1(feed, "labels")) * kept, abs=1e-6)


def test_without_constraints_it_is_a_bottleneck():
    free = Knowledge(tiles().knowledge.space, tiles().knowledge.labels)
    plain, made = (
        MODELS[name](free, tiles().layout, {"backbone": "mlp", "device": "cpu"}) for name in ("cbm", "semantic")
    )
    made.load_state_dict(plain.state_dict())
    losses = [model.phases(batch())[0].loss(batch()).item() for model in (plain, made)]
    assert losses[0] == losses[1]


def test_it_learns_an_easy_rule_and_tells_how_it_was_taught(tmp_path):
    data = pixels(tmp_path / "data")
    model = trained("semantic", data, tmp_path / "run", {"epochs": 20})
    said = model.predict(data["test"])
    assert (said.labels["y"].codes == data["test"].labels[:, 0]).mean() > 0.9
    assert said.about["constraints"]["exact"] is True
    again = load_model(tmp_path / "run").predict(data["test"])
    assert np.allclose(again.labels["y"].probabilities, said.labels["y"].probabilities, atol=1e-6)


def test_bits_are_kept_apart_from_what_they_break():
    knowledge = Knowledge.of(bits([*"ab"]), {"y": "a"}, [Constraint("r", parse("a or b"))])
    loss, about = keeping(knowledge, semantic_weight=1.0)
    sure = [torch.tensor([[0.25, 0.75]]), torch.tensor([[0.5, 0.5]])]
    assert about["exact"] and loss(sure).item() == pytest.approx(-np.log(1 - 0.25 * 0.5), abs=1e-6)
