"""Losses and answers of the concept models, worked out example by example on networks that were never trained."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from assay.concepts import Concept, ConceptSpace
from assay.config import Settings
from assay.errors import ConfigError, DataError, UnknownName
from assay.logic import Knowledge, parse
from assay.models import MODELS, Alignment
from assay.models.concept import probcbm
from assay.models.concept.alignment import (
    Row,
    _fit,
    _head_inputs,
    columns_of,
    effects,
    limits_of,
    linear_of,
    set_weights,
)
from assay.models.concept.cbm import _frequencies
from assay.models.concept.dcr import LearnedRule
from assay.models.core.tensors import Batch
from assay.render import Layout

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 5)), Concept("s", ("x", "y"))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n + a"})
LAYOUT = Layout(4, 3)
SIZES, LABELS = (2, 3, 2), (2, 5)
CONCEPTS = torch.tensor([[1, 2, 0], [0, -1, 1], [1, 0, 1], [0, 1, -1]])


def model(name, seed=0, **settings):
    torch.manual_seed(seed)
    made = MODELS[name](KNOWLEDGE, LAYOUT, Settings({"device": "cpu", "backbone": "mlp", **settings}), seed=seed)
    return made.eval()


def batch(count=4):
    torch.manual_seed(5)
    labels = torch.tensor([[1, 3], [0, 0], [1, 1], [0, 4]])[:count]
    return Batch(labels, CONCEPTS[:count], torch.arange(count), torch.rand(count, 1, 3, 4))


def loss_of(made, given=None, phase=0):
    given = given or batch()
    with torch.no_grad():
        return made.phases(given)[phase].loss(given).item()


def close(found, wanted, atol=1e-5):
    np.testing.assert_allclose(found.detach(), wanted.detach(), atol=atol)


def cross_entropies(logits, codes):
    return [F.cross_entropy(scores, codes[:, i]).item() for i, scores in enumerate(logits)]


def concept_term(logits, where=None):
    """Return the mean cross-entropy of the concepts that are annotated."""
    terms = [-logits[i].log_softmax(dim=1)[row, CONCEPTS[row, i]].item() for row in range(4) for i in range(3)
             if CONCEPTS[row, i] >= 0]  # fmt: skip
    return float(np.mean(terms))


def truth_or(own):
    """Return one-hot truths where annotated, else what is given."""
    return [torch.stack([F.one_hot(CONCEPTS[row, i], SIZES[i]).float() if CONCEPTS[row, i] >= 0 else own[i][row]
                         for row in range(4)]) for i in range(3)]  # fmt: skip


# -- settings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("cbm", {"mode": "joint", "head": "linear", "hidden": [64], "reads": "probabilities", "softmax_twice": False,
                 "missing": "predicted", "concept_weight": 1.0, "share": True, "hard": False}),
        ("cem", {"width": 16, "intervention_chance": 0.25, "intervened_by": "example", "weight_decay": 4e-5}),
        ("dcr", {"width": 16, "intervention_chance": 0.25, "temperature": 100.0, "logic": "goedel",
                 "weight_decay": 4e-5}),
        ("ecbm", {"features": 8, "width": 64, "label_weight": 1.0, "global_weight": 1.0, "perturbed": 0.2,
                  "perturbed_by": "example", "reads": "concept", "steps": None, "begin": "zero", "step": 0.1,
                  "told": "all"}),
        ("probcbm", {"mode": "sequential", "latent": 8, "width": 8, "label_width": 64, "samples": 50,
                     "intervention_chance": 0.25, "spread_weight": 5e-5}),
        ("embedding", {"hidden": [256, 64], "parts": True}),
    ],
)  # fmt: skip
def test_usual_settings_are_those_of_the_papers(name, wanted):
    config = MODELS[name].Config()
    assert {key: getattr(config, key) for key in wanted} == wanted


# -- cbm ---------------------------------------------------------------------------------------------------------------


def test_a_joint_bottleneck_adds_labels_and_weighted_concepts():
    made, given = model("cbm", concept_weight=3.0), batch()
    logits = made.encoder(given.pictures)
    inputs = torch.cat([scores.softmax(dim=1) for scores in logits], dim=1)
    labels = made.linear(inputs).split(LABELS, dim=1)
    wanted = np.mean(cross_entropies(labels, given.labels)) + 3 * concept_term(logits)
    assert loss_of(made) == pytest.approx(wanted, abs=1e-5) and [p.name for p in made.phases(given)] == ["joint"]
    answers = made.answer(given.pictures, {})
    close(answers.labels[1], labels[1].softmax(dim=1))


def test_modes_train_concepts_then_a_head_on_predictions_or_truths():
    given = batch()
    sequential, independent = (model("cbm", mode=mode) for mode in ("sequential", "independent"))
    assert [(p.name, p.score) for p in independent.phases(given)] == [
        ("concepts", "concepts"),
        ("labels", "intervened"),
    ]
    logits = sequential.encoder(given.pictures)
    own = [scores.softmax(dim=1) for scores in logits]
    assert loss_of(sequential) == pytest.approx(concept_term(logits), abs=1e-5)
    wanted = np.mean(cross_entropies(sequential.labels_from(own), given.labels))
    assert loss_of(sequential, phase=1) == pytest.approx(wanted, abs=1e-5)
    independent.load_state_dict(sequential.state_dict())
    wanted = np.mean(cross_entropies(independent.labels_from(truth_or(own)), given.labels))
    assert loss_of(independent, phase=1) == pytest.approx(wanted, abs=1e-5)
    often = model("cbm", mode="independent", missing="frequency")
    often.load_state_dict(sequential.state_dict())
    shares = [torch.tensor([[0.5, 0.5]]), torch.full((1, 3), 1 / 3), torch.tensor([[1 / 3, 2 / 3]])]
    inputs = truth_or([share.expand(4, -1) for share in shares])
    wanted = np.mean(cross_entropies(often.labels_from(inputs), given.labels))
    assert loss_of(often, phase=1) == pytest.approx(wanted, abs=1e-4)


def test_frequencies_are_of_the_supervised_examples():
    codes, mask = torch.tensor([0, 1, 1, -1, 2]), torch.tensor([True, True, True, False, False])
    close(_frequencies(codes, mask, 3), torch.tensor([1 / 3, 2 / 3, 0]))
    close(_frequencies(codes, torch.zeros(5, dtype=torch.bool), 3), torch.full((3,), 1 / 3))


# -- cem ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_embeddings_are_mixed_by_truths_where_concepts_are_intervened_on(chance):
    made, given = model("cem", width=3, intervention_chance=chance, concept_weight=2.0), batch()
    embeddings, logits = made.embedded(given.pictures)
    own = [scores.softmax(dim=1) for scores in logits]
    inputs = truth_or(own) if chance else own
    mixed = torch.cat([sum(each[:, v] * part[:, v, None] for v in range(size))
                       for each, part, size in zip(embeddings, inputs, SIZES, strict=True)], dim=1)  # fmt: skip
    labels = made.head(mixed).split(LABELS, dim=1)
    wanted = np.mean(cross_entropies(labels, given.labels)) + 2 * concept_term(logits)
    assert loss_of(made) == pytest.approx(wanted, abs=1e-5) and made.head.in_features == 9


# -- dcr ---------------------------------------------------------------------------------------------------------------


def test_atoms_are_one_for_two_values_and_each_value_for_more():
    made = model("dcr", width=3)
    assert [(atom.concept, atom.code, str(atom.formula)) for atom in made.atoms] == [
        (0, 1, "a"), (1, 0, "n == 0"), (1, 1, "n == 1"), (1, 2, "n == 5"), (2, 1, "s == 'y'"),
    ]  # fmt: skip


@pytest.mark.parametrize("logic", ["goedel", "product"])
@torch.no_grad()
def test_a_value_is_as_true_as_the_conjunction_of_the_atoms_that_matter(logic):
    made, given = model("dcr", width=3, logic=logic, temperature=1.2), batch()
    embeddings, logits = made.embed_atoms(given.pictures)
    assert embeddings.shape == (4, 5, 2, 3) and [scores.shape[1] for scores in logits] == [2, 3, 2]
    own = [scores.softmax(dim=1) for scores in logits]
    truth = torch.stack([own[atom.concept][:, atom.code] for atom in made.atoms], dim=1)
    mixed = truth[:, :, None] * embeddings[:, :, 0] + (1 - truth)[:, :, None] * embeddings[:, :, 1]
    scores = made.matters(mixed).log_softmax(dim=1)
    matters = torch.sigmoid(scores - 1.2 * scores.mean(dim=1, keepdim=True))
    meant = torch.sigmoid(made.meant(mixed))
    found = made.write_rules(embeddings, own)
    for one, other in zip(found, (truth, matters, meant), strict=True):
        close(one, other)
    wanted = torch.zeros(4, 7)
    for row in range(4):
        for value in range(7):
            terms = []
            for atom in range(5):
                t, m, p = truth[row, atom], matters[row, atom, value], meant[row, atom, value]
                if logic == "goedel":
                    terms.append(max(min(max(1 - p, t), max(p, 1 - t)), 1 - m))
                else:
                    same = (1 - (1 - (1 - p)) * (1 - t)) * (1 - (1 - p) * t)
                    terms.append(1 - (1 - same) * m)
            wanted[row, value] = min(terms) if logic == "goedel" else torch.stack(terms).prod()
    truths = made.truths(embeddings, own)
    close(truths, wanted)
    ones = torch.cat([F.one_hot(given.labels[:, 0], 2), F.one_hot(given.labels[:, 1], 5)], dim=1)
    sure = model("dcr", width=3, logic=logic, temperature=1.2, intervention_chance=0.0, concept_weight=2.0)
    sure.load_state_dict(made.state_dict())
    likelihood = F.binary_cross_entropy(wanted.clamp(1e-6, 1 - 1e-6), ones.float()).item()
    assert loss_of(sure) == pytest.approx(likelihood + 2 * concept_term(logits), abs=1e-4)
    labels = made.answer(given.pictures, {}).labels
    close(labels[1], wanted[:, 2:] / wanted[:, 2:].sum(dim=1, keepdim=True), atol=1e-4)


def test_of_a_concept_that_has_a_value_its_other_values_go_unsaid():
    made = model("dcr", width=3)
    assert str(made._rule([1, 1, 1, 0, 1], [0, 1, 0, 1, 1])) == "not a and n == 0 and s == 'y'"
    assert str(made._rule([0, 1, 1, 0, 0], [1, 0, 0, 1, 1])) == "not n == 0 and not n == 1"
    assert str(LearnedRule("y", True, parse("a"), 7, 5)) == "y == True if a  (7 examples, 5 right)"


# -- ecbm --------------------------------------------------------------------------------------------------------------


def energy(part, beside, embeddings, read):
    """Return the energy of each embedding (rows of an example) beside a vector."""
    projected = part.project(beside)
    return torch.stack([read((projected + projected * F.normalize(e, dim=0)).relu())[0] for e in embeddings])


@torch.no_grad()
def test_energies_are_between_picture_concepts_and_labels():
    made, given = model("ecbm", width=4, features=2, perturbed=0.0, label_weight=2.0, global_weight=0.5,
                        concept_weight=3.0), batch()  # fmt: skip
    features = made.encoder(given.pictures)
    of_concepts = [torch.stack([energy(made.of_concept, features[i][row], made.values[i], made.read_concept[i])
                                for row in range(4)]) for i in range(3)]  # fmt: skip
    whole = torch.cat(features, dim=1)
    of_labels = [torch.stack([energy(made.of_label, whole[row], made.labels[k], made.read_label[k])
                              for row in range(4)]) for k in range(2)]  # fmt: skip
    for found, wanted in zip(made.concept_energies(features, [v[None] for v in made.values]), of_concepts, strict=True):
        close(found, wanted)
    own = [(-energies).softmax(dim=1) for energies in of_concepts]

    def beside(inputs):
        both = torch.cat([part @ made.values[i] for i, part in enumerate(inputs)], dim=1)
        return [torch.stack([energy(made.of_both, both[row], made.labels[k], made.read_both[k]) for row in range(4)])
                for k in range(2)]  # fmt: skip

    by_picture = np.mean(cross_entropies([-e for e in of_labels], given.labels))
    by_concepts = np.mean(cross_entropies([-e for e in beside(truth_or(own))], given.labels))
    wanted = 3 * 3 * concept_term([-e for e in of_concepts]) + 2 * by_picture + 0.5 * by_concepts
    assert loss_of(made) == pytest.approx(wanted, abs=1e-4)
    labels = [torch.rand(4, size).softmax(dim=1) for size in LABELS]
    total = made.energy(features, own, labels, (2.0, 3.0, 5.0))
    at = [(part @ made.values[i])[:, None] for i, part in enumerate(own)]
    to = [(part @ made.labels[k])[:, None] for k, part in enumerate(labels)]
    for row in range(4):
        concepts = sum(energy(made.of_concept, features[i][row], at[i][row], made.read_concept[i])[0] for i in range(3))
        pictures = sum(energy(made.of_label, whole[row], to[k][row], made.read_label[k])[0] for k in range(2))
        both = torch.cat([one[row, 0] for one in at])
        together = sum(energy(made.of_both, both, to[k][row], made.read_both[k])[0] for k in range(2))
        assert total[row].item() == pytest.approx((2 * concepts + 3 * pictures + 5 * together).item(), abs=1e-4)
    begun = model("ecbm", width=4, features=2, begin="picture")
    begun.load_state_dict(made.state_dict())
    for found, wanted in zip(begun._beginning(features, ()), [*of_concepts, *of_labels], strict=True):
        close(found, -wanted)
    assert [tuple(zeros.shape) for zeros in made._beginning(features, (2, 7))] == [(4, 2), (4, 7)]


def test_the_search_takes_adam_steps_down_the_energy():
    made, given = model("ecbm", width=4, features=2, steps=2, step=0.3), batch()
    features = [f.detach() for f in made.encoder(given.pictures)]
    fixed = {1: (torch.tensor([True, False, False, True]), torch.tensor([[0.0, 1, 0]] * 4))}
    concepts, labels = made.search(features, fixed, (1.0, 2.0, 3.0))
    logits = [torch.zeros(4, size, requires_grad=True) for size in (*SIZES, *LABELS)]
    adam = torch.optim.Adam(logits, lr=0.3)
    for step in range(3):
        current = [logit.softmax(dim=1) for logit in logits]
        current[1] = torch.where(fixed[1][0][:, None], fixed[1][1], current[1])
        if step == 2:
            break
        adam.zero_grad()
        made.energy(features, current[:3], current[3:], (1.0, 2.0, 3.0)).sum().backward()
        adam.step()
    for found, wanted in zip([*concepts, *labels], current, strict=True):
        close(found, wanted)


def test_perturbed_concepts_are_other_values_and_missing_ones_stay():
    made = model("ecbm", width=4, features=2, perturbed=1.0)
    codes = CONCEPTS.repeat(60, 1)
    found = made._perturb(codes)
    known = codes >= 0
    assert (found[~known] == -1).all() and (found[known] != codes[known]).all()
    assert set(found[codes[:, 1] == 2, 1].tolist()) == {0, 1} and set(found[:, 0].tolist()) == {0, 1}
    torch.manual_seed(0)
    changed = (model("ecbm", width=4, features=2, perturbed=0.5)._perturb(codes) != codes)[:, 0].float().mean().item()
    assert 0.1 < changed < 0.4


# -- probcbm -----------------------------------------------------------------------------------------------------------


def apart(one, other):
    return torch.sqrt(((one - other) ** 2).sum() + 1e-6)


@torch.no_grad()
def test_values_are_the_more_probable_the_nearer_their_points():
    made, given = model("probcbm", latent=3, width=2, label_width=4, samples=3), batch()
    mean, log_variance = made.gaussians(given.pictures)
    read = F.leaky_relu(made.gaussians.norm(torch.stack(made.gaussians.encoder(given.pictures), dim=1)))
    for row in range(4):
        for i in range(3):
            own = read[row, i] @ made.gaussians.mean[i] + made.gaussians.middle[i]
            close(mean[row, i], own / own.norm())
            close(log_variance[row, i], read[row, i] @ made.gaussians.log_variance[i] + made.gaussians.level[i])
    assert (made.gaussians.level == -3).all() and probcbm.SCALE == made.scale.item() == made.label_scale.item() == 5
    assert made.noise.shape == (3, 3, 2) and made.noise.abs().min() > 0
    embeddings = made.sample_embeddings(mean, log_variance)
    close(embeddings[2, 1], mean[2] + made.noise[1] * (log_variance[2] / 2).exp())
    concepts, labels = made.concepts_of(embeddings), made.labels_of(embeddings)
    for row in range(4):
        for i in range(3):
            points = F.normalize(made.points[i], dim=1)
            each = torch.stack([torch.stack([-5 * apart(embeddings[row, k, i], p) for p in points]).softmax(dim=0)
                                for k in range(3)])  # fmt: skip
            close(concepts[i][row], each.mean(dim=0))
        for j in range(2):
            heads = [made.head(embeddings[row, k].flatten())[4 * j : 4 * j + 4] for k in range(3)]
            each = torch.stack([torch.stack([-5 * apart(head, p) / 2 for p in made.label_points[j]]).softmax(dim=0)
                                for head in heads])  # fmt: skip
            close(labels[j][row], each.mean(dim=0))


def test_log_variances_end_at_ten():
    made = model("probcbm", latent=3, width=2)
    with torch.no_grad():
        made.gaussians.level.fill_(1e3)
    assert (made.gaussians(batch().pictures)[1] == 10).all()


@pytest.mark.parametrize("chance", [0.0, 1.0])
@torch.no_grad()
def test_gaussians_are_kept_near_the_standard_one_and_labels_follow_embeddings(chance):
    settings = {"latent": 3, "width": 2, "label_width": 4, "samples": 2, "spread_weight": 0.5, "concept_weight": 2.0}
    made, given = model("probcbm", **settings, intervention_chance=chance), batch()
    mean, log_variance = made.gaussians(given.pictures)
    embeddings = made.sample_embeddings(mean, log_variance)
    own = made.concepts_of(embeddings)
    divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=2).mean().item()
    first = concept_term([p.log() for p in own]) + 0.5 * divergence
    assert loss_of(made) == pytest.approx(first, abs=1e-4)
    moved = embeddings.clone()
    for row in range(4):
        for i in range(3):
            if chance and CONCEPTS[row, i] >= 0:
                moved[row, :, i] = F.normalize(made.points[i][CONCEPTS[row, i]], dim=0)
    second = np.mean([F.nll_loss(p.log(), given.labels[:, k]).item() for k, p in enumerate(made.labels_of(moved))])
    assert loss_of(made, phase=1) == pytest.approx(second, abs=1e-4)
    joint = model("probcbm", **settings, intervention_chance=chance, mode="joint")
    joint.load_state_dict(made.state_dict())
    assert [p.name for p in joint.phases(given)] == ["joint"]
    assert loss_of(joint) == pytest.approx(second + 2 * first, abs=1e-4)
    told = made.answer(given.pictures, {1: torch.tensor([2, 2, 2, 2])})
    moved = embeddings.clone()
    moved[:, :, 1] = F.normalize(made.points[1][2], dim=0)
    close(told.labels[1], made.labels_of(moved)[1])


def test_without_samples_the_means_are_used():
    made = model("probcbm", latent=3, width=2, samples=0)
    assert made.noise.shape[0] == 1 and (made.noise == 0).all()
    mean, spread = made.gaussians(batch().pictures)
    close(made.train().sample_embeddings(mean, spread), mean[:, None])


# -- alignment ---------------------------------------------------------------------------------------------------------


def limits(**asked):
    return limits_of(Alignment(**asked), model("cbm")).tolist()


def test_limits_are_those_of_every_value_but_the_first():
    inf = float("inf")
    assert columns_of(SPACE) == [(0, 1), (1, 1), (1, 2), (2, 1)] and Alignment().penalty == 1e-3
    assert Alignment().concepts == "true" and Alignment().labels is None
    free = [-inf, inf]
    assert limits(zero=["a"]) == [[0, 0], free, free, free]
    assert limits(positive=["n"]) == [free, [0, inf], [0, inf], free]
    assert limits(negative=["n=5"]) == [free, free, [-inf, 0], free]
    assert limits(bounds={"n": (-1, 2), "n=1": (0.5, 3)}) == [free, [0.5, 2], [-1, 2], free]
    assert limits(positive=["n"], bounds={"n=5": (-3, 0)}) == [free, [0, inf], [0, 0], free]
    with pytest.raises(ConfigError, match="nothing to align: give zero, positive, negative or bounds"):
        limits()
    with pytest.raises(ConfigError, match="no weight of 'n=5' keeps to all that is asked of it"):
        limits(positive=["n"], bounds={"n=5": (-3, -1)})
    with pytest.raises(UnknownName, match="no weight 'n=0'"):
        limits(zero=["n=0"])
    with pytest.raises(UnknownName, match="q"):
        limits(zero=["a"], labels=["q"])


def test_weights_are_set_against_the_first_values_and_read_back():
    made = model("cbm")
    y, z = np.arange(1.0, 5.0).reshape(1, 4), np.arange(10.0, 26.0).reshape(4, 4)
    set_weights(made, [(y, np.array([0.5])), (z, np.array([1.0, 2, 3, 4]))])
    weight = linear_of(made).weight.detach().numpy()
    assert weight.shape == (7, 7) and linear_of(made).bias.tolist() == [0, 0.5, 0, 1, 2, 3, 4]
    assert weight[1].tolist() == [0, 1, 0, 2, 3, 0, 4] and weight[6].tolist() == [0, 22, 0, 23, 24, 0, 25]
    assert (weight[[0, 2]] == 0).all()
    found = effects(made)
    assert len(found) == 20 and found["y=True < n=5"] == 3 and found["z=6 < s=y"] == 25
    with torch.no_grad():
        linear_of(made).weight += torch.arange(7.0)[:, None] + 10 * torch.arange(7.0)  # nothing against the first
        linear_of(made).weight[1, 2] += 0.5
        linear_of(made).weight[0, 4] += 0.25
    found = effects(made)
    assert found["y=True < n=5"] == pytest.approx(3 - 0.5 - 0.25) and found["y=True < n=1"] == pytest.approx(2 - 0.5)
    assert found["y=True < a=True"] == pytest.approx(1) and found["z=1 < a=True"] == pytest.approx(10)
    with pytest.raises(ConfigError, match="has no linear label head to align; try cbm with head=linear"):
        linear_of(model("cbm", head="mlp"))
    with pytest.raises(ConfigError, match="has no linear label head"):
        linear_of(model("cem"))


class Split:
    given_concepts = CONCEPTS.numpy()
    given_labels = np.array([[1, 3], [0, 0], [1, 1], [0, 4]])


def test_heads_are_fitted_on_examples_with_every_concept(monkeypatch):
    made = model("cbm")
    inputs = _head_inputs(made, Split, "true")
    nan = np.nan
    np.testing.assert_equal(inputs, [[1, 0, 1, 0], [0, nan, nan, 1], [1, 0, 0, 1], [0, 1, 0, nan]])
    asked = []
    monkeypatch.setattr("assay.models.concept.alignment.fit", lambda *given: asked.append(given))
    limits = np.zeros((4, 2))
    _fit(inputs, Split, 1, made, Alignment(penalty=0.25), limits)
    assert asked[0][0].tolist() == [[1, 0, 1, 0], [1, 0, 0, 1]] and asked[0][1].tolist() == [3, 1]
    assert asked[0][2:4] == (5, 0.25) and asked[0][4] is limits
    _fit(inputs, Split, 1, made, Alignment(labels=["y"]), limits)
    _fit(inputs, Split, 0, made, Alignment(labels=["y"]), limits)
    assert asked[1][4] is None and asked[2][4] is limits and asked[2][2] == 2
    with pytest.raises(DataError, match="no training example has all its concepts given"):
        _fit(np.full((2, 4), nan), Split, 0, made, Alignment(), None)


def test_the_gain_is_what_setting_concepts_brings():
    row = Row("aligned", 0.9, 0.7, 0.95)
    assert row.gain == pytest.approx(0.25) and row.to_dict()["gain"] == row.gain and row.to_dict()["training"] == 0.9
