"""Fuzzy connectives, losses through the rule and ensembles, worked out by hand."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from assay.concepts import Concept, ConceptSpace
from assay.config import Settings
from assay.errors import ConfigError
from assay.logic import Knowledge, evaluate, parse
from assay.models import MODELS
from assay.models.core.tensors import Annotations, Batch
from assay.models.rule import fuzzy_logic
from assay.models.rule.bears import _relative
from assay.models.rule.fuzzy_logic import FuzzyRule, FuzzyValues, Semantics, _count_truths, fitting, p_mean_error
from assay.models.rule.rule_learner import PictureDecoder
from assay.render import Layout

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("b", (False, True)), Concept("n", (0, 1, 2))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and not b", "z": "n + a"})
LAYOUT = Layout(3, 2)
EPSILON = 1e-4


def model(name, **settings):
    torch.manual_seed(0)
    made = MODELS[name](KNOWLEDGE, LAYOUT, Settings({"device": "cpu", "backbone": "mlp", **settings}), seed=1)
    return made.eval()


def batch(missing=False):
    torch.manual_seed(3)
    concepts = torch.tensor([[1, 0, 2], [0, 1, 1], [1, 1, 0]])
    labels = torch.from_numpy(KNOWLEDGE.labels_of(concepts.numpy()))
    if missing:
        concepts[0, 1] = -1
    return Batch(labels, concepts, torch.arange(3), torch.rand(3, 1, 2, 3))


def close(found, wanted, atol=1e-5):
    np.testing.assert_allclose(np.asarray(found.detach()), np.asarray(wanted), atol=atol)


# -- connectives -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "both", "either"),
    [("goedel", 0.3, 0.6), ("product", 0.18, 0.72), ("lukasiewicz", 0.0, 0.9)],
)
def test_t_norms_and_their_duals(kind, both, either):
    s, a, b = Semantics(kind, kind), torch.tensor(0.3), torch.tensor(0.6)
    assert s.both(a, b).item() == pytest.approx(both) and s.either(a, b).item() == pytest.approx(either)
    high = torch.tensor(0.9)
    wanted = {"goedel": (0.6, 0.9), "product": (0.54, 0.96), "lukasiewicz": (0.5, 1.0)}[kind]
    assert (s.both(b, high).item(), s.either(b, high).item()) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("kind", "down", "up"),
    [("goedel", 0.3, 1.0), ("product", 0.58, 0.88), ("lukasiewicz", 0.7, 1.0), ("goguen", 0.5, 1.0),
     ("kleene-dienes", 0.4, 0.7)],
)  # fmt: skip
def test_implications(kind, down, up):
    s, a, b = Semantics(implication=kind), torch.tensor(0.6), torch.tensor(0.3)
    assert s.follows(a, b).item() == pytest.approx(down) and s.follows(b, a).item() == pytest.approx(up)
    assert s.follows(a, a).item() == pytest.approx({"product": 0.76, "kleene-dienes": 0.6}.get(kind, 1.0))


def test_some_cases_by_p_mean_or_by_disjunction():
    cases, groups = torch.tensor([[0.2, 0.5, 0.9, 0.4]]), torch.tensor([0, 2, 2, 0])
    stable = EPSILON + (1 - EPSILON) * cases[0].numpy()
    means = [np.mean(stable[[0, 3]] ** 3) ** (1 / 3), 0, np.mean(stable[[1, 2]] ** 3) ** (1 / 3)]
    close(Semantics(p=3.0).some_of_each(cases, groups, 3), [means], atol=1e-4)
    close(Semantics(exists="or").some_of_each(cases, groups, 3), [[1 - 0.8 * 0.6, 0, 1 - 0.5 * 0.1]])
    close(Semantics(exists="or", disjunction="goedel").some_of_each(cases, groups, 3), [[0.4, 0, 0.9]])
    close(Semantics(exists="or", disjunction="lukasiewicz").some_of_each(cases, groups, 3), [[0.6, 0, 1.0]])
    close(Semantics(exists="or").some(cases), [1 - 0.8 * 0.5 * 0.1 * 0.6])
    assert Semantics().some(torch.zeros(2, 0)).tolist() == [0, 0] and Semantics().p == 2
    lacking = 1 - (1 - EPSILON) * np.array([0.2, 0.9])
    assert p_mean_error(torch.tensor([0.2, 0.9]), 3.0).item() == pytest.approx(
        1 - np.mean(lacking**3) ** (1 / 3), abs=1e-5
    )


def test_counts_of_truths_are_those_of_independent_events():
    truths = [torch.tensor([0.2]), torch.tensor([0.7]), torch.tensor([0.4])]
    exact = np.zeros(4)
    for world in product((0, 1), repeat=3):
        exact[sum(world)] += np.prod([t.item() if w else 1 - t.item() for t, w in zip(truths, world, strict=True)])
    s = Semantics(disjunction="lukasiewicz")  # of what excludes one another, sums
    for operator, number in (("==", 2), (">=", 2), ("<", 1), ("!=", 0), (">", 3), ("<=", 1)):
        wanted = sum(exact[k] for k in range(4) if eval(f"{k} {operator} {number}"))
        close(_count_truths(truths, operator, number, s), [wanted])


@pytest.mark.parametrize(
    "rule",
    ["a and b", "a or not b", "a >> b", "a ^ b", "a == (n > 1)", "n + a > 1", "not (n == 0)", "(n > 0) + a + b >= 2",
     "(n > 0) + a + b == 1", "True", "a and n != 2 or b"],
)  # fmt: skip
def test_certain_concepts_give_the_rules_truth(rule):
    formula, codes = parse(rule), SPACE.all_codes()
    concepts = [torch.eye(size)[codes[:, place]] for place, size in enumerate(SPACE.sizes)]
    truth = np.asarray(evaluate(formula, SPACE, codes), dtype=float) * np.ones(len(codes))
    for kind in ("goedel", "product", "lukasiewicz"):
        close(FuzzyRule(formula, SPACE)(concepts, Semantics(kind, kind, kind, "or")), truth)


def test_values_of_a_label_by_their_cases():
    concepts = [torch.tensor([[0.3, 0.7]]), torch.tensor([[0.5, 0.5]]), torch.tensor([[0.2, 0.5, 0.3]])]
    found = FuzzyValues(parse("n + a"), SPACE, (0, 1, 2, 3))(concepts, Semantics(exists="or"))
    cases = {0: [0.3 * 0.2], 1: [0.3 * 0.5, 0.7 * 0.2], 2: [0.3 * 0.3, 0.7 * 0.5], 3: [0.7 * 0.3]}
    close(found, [[1 - np.prod([1 - case for case in own]) for own in cases.values()]])
    places, fits = fitting(parse("n + a"), SPACE, [1, 3])
    assert {(SPACE.names[p]) for p in places} == {"a", "n"} and len(fits) == 3


def test_too_many_cases_are_refused(monkeypatch):
    monkeypatch.setattr(fuzzy_logic, "MOST_CASES", 6)
    assert len(fitting(parse("n + a > 0"), SPACE, [True])[1]) == 5
    monkeypatch.setattr(fuzzy_logic, "MOST_CASES", 5)
    with pytest.raises(ConfigError, match="fuzzy logic would list 6 cases of .*; use the model 'dpl'"):
        fitting(parse("n + a > 0"), SPACE, [True])


# -- models ------------------------------------------------------------------------------------------------------------


def test_usual_settings_of_rule_learners():
    for name in ("dpl", "ltn", "bears"):
        config = MODELS[name].Config()
        assert (config.concept_weight, config.entropy_weight, config.reconstruction_weight, config.share) == (
            0,
            0,
            0,
            True,
        )
    ltn, bears = MODELS["ltn"].Config(), MODELS["bears"].Config()
    assert (ltn.conjunction, ltn.disjunction, ltn.implication, ltn.exists, ltn.p, ltn.last_p) == (
        "product", "product", "product", "auto", 2.0, None,
    )  # fmt: skip
    assert (bears.members, bears.diversity) == (5, 0.1)


def shares(made, given):
    return [own.softmax(dim=1) for own in made.encoder(given.pictures)]


@torch.no_grad()
def test_the_probability_of_labels_adds_up_worlds():
    made, given = model("dpl"), batch()
    a, b, n = shares(made, given)
    worlds = np.zeros((3, 2, 4))
    for i, j, k in product(range(2), range(2), range(3)):
        y, z = (int(v) for v in KNOWLEDGE.labels_of(np.array([[i, j, k]]))[0])
        worlds[:, y, z] += (a[:, i] * b[:, j] * n[:, k]).numpy()
    found = made.labels_from_concepts([a, b, n])
    close(found[0], worlds.sum(axis=2))
    close(found[1], worlds.sum(axis=1))
    wanted = -np.mean([np.log(worlds[row, given.labels[row, 0], given.labels[row, 1]]) for row in range(3)])
    assert made.phases(given)[0].loss(given).item() == pytest.approx(wanted, abs=1e-4)


@torch.no_grad()
def test_losses_against_shortcuts_are_weighted_and_added():
    plain, given = model("dpl"), batch()
    base = plain.phases(given)[0].loss(given).item()
    logits = plain.encoder(given.pictures)
    concepts = [own.softmax(dim=1) for own in logits]
    supervised = np.mean([F.cross_entropy(own, given.concepts[:, i]).item() for i, own in enumerate(logits)])
    spread = []
    for group in SPACE.encoders:
        mean = torch.cat([concepts[SPACE.place(name)] for name in group.concepts]).mean(dim=0)
        spread.append(1 + (mean * mean.log()).sum().item() / np.log(len(mean)))
    made = model("dpl", concept_weight=3.0, entropy_weight=5.0)
    made.load_state_dict(plain.state_dict())
    assert made.phases(given)[0].loss(given).item() == pytest.approx(
        base + 3 * supervised + 5 * np.mean(spread), abs=1e-4
    )
    drawn = model("dpl", reconstruction_weight=7.0)
    drawn.load_state_dict(plain.state_dict(), strict=False)
    decoder = drawn.decoder
    code = torch.cat([*concepts, decoder.style[1](given.pictures.flatten(1)).tanh()], dim=1)
    again = decoder.draw[2](decoder.draw[0](code).relu()).sigmoid()
    wanted = F.binary_cross_entropy(again, given.pictures.flatten(1)).item()
    assert drawn.phases(given)[0].loss(given).item() == pytest.approx(base + 7 * wanted, abs=1e-4)
    sizes = [(layer.in_features, layer.out_features) for layer in (decoder.style[1], decoder.draw[0], decoder.draw[2])]
    assert sizes == [(6, 16), (7 + 16, 256), (256, 6)] and isinstance(decoder, PictureDecoder)


def test_another_rule_and_further_labels_are_taught():
    made = model("ltn", rule={"y": "b"}, further_labels={"w": "a or b"})
    assert made.taught.label_names == ("y", "z", "w") and str(made.taught.label("y").formula) == "b"
    assert str(made.taught.label("z").formula) == "n + a"
    given = batch()
    found = made.labels_taught(given)
    assert found[:, :2].tolist() == given.labels.tolist() and found[:, 2].tolist() == [1, 1, 1]
    assert model("ltn").labels_taught(given) is given.labels
    with pytest.raises(ConfigError, match="further_labels follow from concepts, and some of those are missing"):
        made.labels_taught(batch(missing=True))
    with pytest.raises(ConfigError, match="rule: 'n' gives other values than label 'y' of the data has"):
        model("dpl", rule={"y": "n"})


@torch.no_grad()
def test_the_fuzzy_loss_is_of_all_labels_of_all_examples():
    made, given = model("ltn", p=3.0), batch()
    a, b, n = shares(made, given)
    truth = a[:, 1] * (1 - b[:, 1])
    numbers = FuzzyValues(parse("n + a"), SPACE, KNOWLEDGE.label("z").values)([a, b, n], Semantics(p=3.0))
    chosen = torch.cat([
        torch.where(given.labels[:, 0] == 1, truth, 1 - truth), numbers.gather(1, given.labels[:, 1:])[:, 0],
    ])  # fmt: skip
    lacking = 1 - (1 - EPSILON) * chosen.numpy()
    wanted = np.mean(lacking**3) ** (1 / 3)
    assert made.phases(given)[0].loss(given).item() == pytest.approx(wanted, abs=1e-4)
    labels = made.labels_from_concepts([a, b, n])
    close(labels[0], torch.stack([1 - truth, truth], dim=1))
    close(labels[1], numbers / numbers.sum(dim=1, keepdim=True))


def test_p_rises_to_its_last_value():
    made = model("ltn", p=2.0, last_p=6.0)
    found = []
    for epoch in (1, 2, 5):
        made.begin(epoch, 5)
        found.append(made.semantics.p)
    assert found == [2, 3, 6] and made.varies and not model("ltn", p=2.0, last_p=2.0).varies
    still = model("ltn", p=2.0)
    still.begin(4, 5)
    assert still.semantics.p == 2 and not still.varies
    made.begin(1, 1)
    assert made.semantics == replace(made.semantics, p=2.0)


def test_members_of_an_ensemble_differ_from_the_average_of_those_before():
    made, given = model("bears", members=3, diversity=0.7, concept_weight=2.0), batch()
    phases, taught = made.phases(given), made.labels_taught(given)
    assert [phase.name for phase in phases] == ["member 1", "member 2", "member 3"]
    members = [made.encoder, *made.others]
    with torch.no_grad():
        says = [[own.softmax(dim=1) for own in member(given.pictures)] for member in members]
        rest = []
        for member in (members[0], members[2]):
            logits = member(given.pictures)
            supervised = np.mean([F.cross_entropy(own, given.concepts[:, i]).item() for i, own in enumerate(logits)])
            rest.append(made.rule_loss(logits, taught).item() + 2 * supervised)
        apart = []
        for i in range(3):
            average, own = (says[0][i] + says[1][i]) / 2, says[2][i]
            middle = (average + own) / 2
            apart.append(np.mean([(p * (p / middle).log()).sum(dim=1).mean().item() for p in (average, own)]))
        assert phases[2].loss(given).item() == pytest.approx(rest[1] - 0.7 * np.mean(apart), abs=1e-5)
        assert phases[0].loss(given).item() == pytest.approx(rest[0], abs=1e-5)
        found = made.answer(given.pictures, {})
        for i in range(3):
            close(found.concepts[i], sum(own[i] for own in says) / 3)
        labels = [made.rule.marginals(made.rule(own)) for own in says]
        close(found.labels[1], sum(own[1] for own in labels) / 3)
        set_to = torch.tensor([[0.0, 1.0]] * 3)
        changed = made.answer(given.pictures, {0: set_to})
        labels = [made.rule.marginals(made.rule([set_to, *own[1:]])) for own in says]
        close(changed.labels[0], sum(own[0] for own in labels) / 3)
        close(changed.concepts[0], set_to)
        phases[1].begin(1, 1)
        assert made.encoders() == members[:2]
        close(made.answer(given.pictures, {}).concepts[2], (says[0][2] + says[1][2]) / 2)
    one, other = torch.tensor([[0.2, 0.8], [1.0, 0.0]]), torch.tensor([[0.5, 0.5], [0.5, 0.5]])
    wanted = (0.2 * np.log(0.4) + 0.8 * np.log(1.6) + np.log(2)) / 2
    assert _relative(one, other).item() == pytest.approx(wanted, abs=1e-5) and isinstance(given, Annotations)
