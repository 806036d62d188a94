"""Models that learn through the rule: their losses, wrong rules, further labels, ensembles, and what is refused."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from assay.base import AssayError, ConfigError, FormulaError, RuleUnknown, UnknownName
from assay.logic import NO_RULE, Knowledge, Label
from assay.metrics import METRICS, gather
from assay.models import MODELS
from tests.models.tiles import batch, model_of, tiles
from tests.pixels import QUICK

RULE = {"y": "left.big or right.big"}


def shares(logits):
    return [scores.softmax(dim=1) for scores in logits]


def worlds(concepts, knowledge):
    """Return the probability of each pair of labels, by adding up worlds one by one."""
    total = torch.zeros(len(concepts[0]), *(len(label.values) for label in knowledge.labels), dtype=concepts[0].dtype)
    for world in knowledge.space.all_codes().astype(np.int64):
        chance = torch.stack([own[:, code] for own, code in zip(concepts, world, strict=True)]).prod(dim=0)
        total[:, *knowledge.labels_of(world[None])[0]] += chance
    return total


@torch.no_grad()
def test_the_probability_of_labels_and_the_loss_add_up_worlds():
    made, given = model_of("dpl", {}), batch()
    concepts = shares(made.encoder(given.pictures))
    joint = worlds(concepts, made.knowledge)
    for found, axis in zip(made.labels_from_concepts(concepts), (2, 1), strict=True):
        assert torch.allclose(found, joint.sum(dim=axis), atol=1e-5)
    loss = -joint[torch.arange(len(given)), given.labels[:, 0], given.labels[:, 1]].log().mean()
    assert made.phases(given)[0].loss(given).item() == pytest.approx(loss.item(), abs=1e-4)


@torch.no_grad()
def test_losses_against_shortcuts_are_weighted_and_added():
    plain, given = model_of("dpl", {}), batch(missing=False)
    base = plain.phases(given)[0].loss(given).item()
    logits = plain.encoder(given.pictures)
    concepts = shares(logits)
    supervised = np.mean([F.cross_entropy(own, given.concepts[:, i]).item() for i, own in enumerate(logits)])
    even = []
    for group in plain.space.encoders:
        mean = torch.cat([concepts[plain.space.place(name)] for name in group.concepts]).mean(dim=0)
        even.append(1 + (mean * mean.log()).sum().item() / np.log(len(mean)))
    made = model_of("dpl", {"concept_weight": 3.0, "entropy_weight": 5.0})
    assert made.phases(given)[0].loss(given).item() == pytest.approx(
        base + 3 * supervised + 5 * np.mean(even), abs=1e-4
    )
    drawn = model_of("dpl", {"reconstruction_weight": 7.0})
    drawn.load_state_dict(plain.state_dict(), strict=False)
    again = drawn.decoder(given.pictures, concepts).item()
    assert drawn.phases(given)[0].loss(given).item() == pytest.approx(base + 7 * again, abs=1e-4)


@pytest.mark.parametrize("name", ["dpl", "ltn", "bears"])
def test_a_model_that_is_given_a_wrong_rule_answers_by_it(name):
    made, given = model_of(name, {"rule": RULE} | ({"members": 2} if name == "bears" else {})), batch()
    codes = torch.from_numpy(made.space.all_codes().astype(np.int64))
    said = made.labels_from_concepts([F.one_hot(codes[:, i], size).float() for i, size in enumerate(made.space.sizes)])
    assert torch.equal(said[0].argmax(dim=1) == 1, (codes[:, 1] == 1) | (codes[:, 3] == 1))
    assert torch.equal(said[1].argmax(dim=1), codes[:, 0] + codes[:, 3])  # the other label follows the rule of the data
    assert all(np.isfinite(phase.loss(given).item()) for phase in made.phases(given))


def test_a_rule_that_excludes_what_the_data_shows_can_be_learned_from():
    model = model_of("dpl", {"epochs": 2, "rule": {"y": "left.big or right.big or not left.big"}})
    model.fit(tiles()["train"], tiles()["valid"])
    assert all(np.isfinite(epoch.loss) for epoch in model.history)
    assert model.predict(tiles()["test"]).labels["y"].codes.all()  # always true, as rsbench's parity of four bits


@pytest.mark.parametrize("name", ["dpl", "ltn", "bears"])
def test_further_labels_are_taught_but_not_predicted(name):
    given = {"epochs": 1, "further_labels": {"more": "left.shade + 2 * right.shade"}}
    model, plain = model_of(name, given), model_of(name, {"epochs": 1})
    first, second = (made.phases(batch(missing=False))[0].loss(batch(missing=False)).item() for made in (model, plain))
    assert first != second
    model.fit(tiles()["train"], tiles()["valid"])
    assert list(model.predict(tiles()["test"]).labels) == ["y", "total"]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"rule": {"nothing": "left.big"}}, UnknownName, "no label named 'nothing'"),
        ({"rule": {"y": "left.shade + 1"}}, ConfigError, "gives other values than label 'y' of the data has"),
        ({"further_labels": {"bad": "left.big +"}}, AssayError, "left.big +"),
        ({"further_labels": {"bad": "q and left.big"}}, FormulaError, "q"),
        ({"supervised_values": [9]}, ConfigError, "supervised_values: no concept has the value 9"),
        ({"reconstruction_weight": 1.0, "input": "text"}, ConfigError, "draws pictures again, and this model reads"),
    ],
)
def test_what_cannot_be_taught_is_refused(settings, error, message):
    with pytest.raises(error) as caught:
        usual = {} if "input" in settings else {"backbone": "mlp"}
        model = MODELS["dpl"](tiles(), settings={"device": "cpu", "epochs": 1, **usual, **settings})
        model.fit(tiles()["train"], tiles()["valid"])
    assert message in str(caught.value)


def test_further_labels_need_concepts_of_every_example_and_a_rule_learner_a_rule():
    with pytest.raises(ConfigError, match="further_labels follow from concepts, and some of those are missing"):
        model_of("dpl", {"further_labels": {"w": "left.big"}}).phases(batch(missing=True))
    unruled = Knowledge(tiles().knowledge.space, (Label("y", NO_RULE, (False, True)),))
    with pytest.raises(RuleUnknown, match="model 'dpl' needs a rule"):
        MODELS["dpl"](unruled, tiles().layout, {"backbone": "mlp"})


# -- ensembles ---------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_an_ensemble_averages_its_members_and_sets_concepts_in_each():
    made, test = model_of("bears", {"members": 3}).eval(), tiles()["test"]
    members = [[torch.from_numpy(own) for own in member] for member in made.member_concepts(test)]
    said = made.predict(test)
    for place, name in enumerate(made.space.names):
        average = sum(own[place] for own in members) / 3
        np.testing.assert_allclose(said.concepts[name].probabilities, average, atol=1e-5)
    codes = test.concepts[:, 1]
    told = made.predict(test, {"left.big": codes})
    certain = F.one_hot(torch.from_numpy(codes), 2).to(members[0][1].dtype)
    for answers, given in ((said, None), (told, certain)):
        each = [member if given is None else [member[0], given, *member[2:]] for member in members]
        labels = sum(worlds(own, made.knowledge).sum(dim=2) for own in each) / 3
        np.testing.assert_allclose(answers.labels["y"].probabilities, labels, atol=1e-5)
    assert (told.concepts["left.big"].codes == codes).all()


@torch.no_grad()
def test_members_are_trained_one_by_one_to_differ_from_the_average_of_those_before():
    settings = {"members": 3, "concept_weight": 2.0}
    made, alike = (model_of("bears", {**settings, "diversity": weight}) for weight in (0.7, 0.0))
    given = batch()
    phases, others = made.phases(given), alike.phases(given)
    assert [phase.name for phase in phases] == ["member 1", "member 2", "member 3"]
    train = [[torch.from_numpy(own) for own in member] for member in made.member_concepts(tiles()["train"])]
    for number, (phase, other) in enumerate(zip(phases, others, strict=True)):
        apart = []
        for place in range(4):
            if not number:
                continue
            average, own = sum(member[place] for member in train[:number]) / number, train[number][place]
            middle = (average + own) / 2
            apart.append(np.mean([(p * (p / middle).log()).sum(dim=1).mean().item() for p in (average, own)]))
        wanted = other.loss(given).item() - 0.7 * (np.mean(apart) if number else 0)
        assert phase.loss(given).item() == pytest.approx(wanted, abs=1e-5)


def test_members_differ_and_their_average_is_unsure_where_labels_leave_it_open(made):
    sizes = {"train": 128, "valid": 32, "test": 64}
    dataset = made("mnlogic", pixels=True, k=2, formula="a ^ b", prop_in_distribution=1.0, splits=sizes)
    confidence = {}
    for name, more in (("dpl", {}), ("bears", {"members": 3, "diversity": 1.0})):
        model = MODELS[name](dataset, settings={**QUICK, "epochs": 40, "learning_rate": 0.04, **more})
        model.fit(dataset["train"], dataset["valid"])
        evidence = gather(dataset["test"], model.predict(dataset["test"]))
        assert METRICS["label_accuracy"](evidence) > 0.9
        confidence[name] = evidence.concept_probabilities[0].max(axis=1).mean()
    assert confidence["bears"] < 0.9 < confidence["dpl"]
