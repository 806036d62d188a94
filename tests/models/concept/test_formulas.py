"""Losses and answers of the concept models are those of their papers' equations, on networks that are not trained."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from assay.base import ConfigError
from assay.logic import Concept, ConceptSpace, Knowledge, bits
from assay.models import MODELS
from assay.render import Layout
from tests.models.tiles import batch, model_of

SIZES, LABELS = (3, 2, 3, 2), (2, 4)


def model(name, **settings):
    """Return a model whose parameters all differ from those at first, as after training."""
    made = model_of(name, settings).eval()
    drawn = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for part in made.parameters():
            part += 0.3 * torch.randn(part.shape, generator=drawn)
    return made


def loss_of(made, phase=0):
    return made.phases(batch())[phase].loss(batch()).item()


def shares(logits):
    return [scores.softmax(dim=1) for scores in logits]


def one_hot(codes, size):
    return F.one_hot(codes.clamp(min=0), size).float()


def concept_term(logits, codes):
    """Return the mean cross-entropy of the concepts that are annotated."""
    known = [F.cross_entropy(own, codes[:, i], ignore_index=-1, reduction="none") for i, own in enumerate(logits)]
    return (torch.stack(known, dim=1).sum() / (codes >= 0).sum()).item()


def label_term(logits, labels):
    return np.mean([F.cross_entropy(own, labels[:, i]).item() for i, own in enumerate(logits)])


def truth_or(own, codes):
    """Return one-hot truths where annotated, else what is given."""
    return [
        torch.where((codes[:, i] >= 0)[:, None], one_hot(codes[:, i], part.shape[1]), part.expand(len(codes), -1))
        for i, part in enumerate(own)
    ]


def close(found, wanted, atol=1e-5):
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.detach(), other.detach(), atol=atol)


def test_usual_settings_are_those_of_the_papers():
    wanted = {
        "cbm": {"mode": "joint", "head": "linear", "reads": "probabilities", "missing": "predicted", "concept_weight": 1},
        "cem": {"width": 16, "intervention_chance": 0.25, "intervened_by": "example", "weight_decay": 4e-5},
        "dcr": {"width": 16, "intervention_chance": 0.25, "temperature": 100, "logic": "goedel", "weight_decay": 4e-5},
        "ecbm": {"features": 8, "width": 64, "label_weight": 1, "global_weight": 1, "perturbed": 0.2, "reads": "concept",
                 "perturbed_by": "example", "steps": None, "begin": "zero", "step": 0.1, "told": "all"},
        "probcbm": {"mode": "sequential", "latent": 8, "width": 8, "label_width": 64, "samples": 50,
                    "intervention_chance": 0.25, "spread_weight": 5e-5},
        "embedding": {"hidden": [256, 64], "parts": True},
        "semantic": {"semantic_weight": 0.1, "violation_weight": 0, "constraints": None},
        "dpl": {"concept_weight": 0, "entropy_weight": 0, "reconstruction_weight": 0, "share": True},
        "ltn": {"conjunction": "product", "disjunction": "product", "implication": "product", "exists": "auto", "p": 2,
                "last_p": None},
        "bears": {"members": 5, "diversity": 0.1},
    }  # fmt: skip
    for name, settings in wanted.items():
        config = MODELS[name].Config()
        assert {key: getattr(config, key) for key in settings} == settings, name


# -- bottlenecks -------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_a_joint_bottleneck_adds_labels_and_weighted_concepts():
    made, given = model("cbm", concept_weight=3.0), batch()
    logits = made.encoder(given.pictures)
    labels = made.linear(torch.cat(shares(logits), dim=1)).split(LABELS, dim=1)
    wanted = label_term(labels, given.labels) + 3 * concept_term(logits, given.concepts)
    assert loss_of(made) == pytest.approx(wanted, abs=1e-5)
    close(made.answer(given.pictures, {}).labels, shares(labels))
    twice = model("cbm", softmax_twice=True, concept_weight=0.0)  # as rsbench's released bottlenecks are trained
    assert loss_of(twice) == pytest.approx(label_term(shares(labels), given.labels), abs=1e-5)


@torch.no_grad()
def test_modes_train_concepts_then_a_head_on_predictions_or_truths():
    given = batch()
    sequential, independent = (model("cbm", mode=mode) for mode in ("sequential", "independent"))
    assert [(p.name, p.score) for p in sequential.phases(given)] == [("concepts", "concepts"), ("labels", "labels")]
    assert [p.score for p in independent.phases(given)] == ["concepts", "intervened"]
    logits = sequential.encoder(given.pictures)
    assert loss_of(sequential) == pytest.approx(concept_term(logits, given.concepts), abs=1e-5)
    codes = given.concepts[:, 2][given.concepts[:, 2] >= 0]
    frequencies = [
        torch.bincount(given.concepts[:, i], minlength=size) / len(given) for i, size in enumerate(SIZES) if i != 2
    ]
    frequencies.insert(2, torch.bincount(codes, minlength=3) / len(codes))
    for made, own in (
        (sequential, shares(logits)),
        (independent, truth_or(shares(logits), given.concepts)),
        (
            model("cbm", mode="independent", missing="frequency"),
            truth_or([f[None] for f in frequencies], given.concepts),
        ),
    ):
        labels = made.linear(torch.cat(own, dim=1)).split(LABELS, dim=1)
        assert loss_of(made, phase=1) == pytest.approx(label_term(labels, given.labels), abs=1e-4)


@torch.no_grad()
def test_heads_read_probabilities_logs_the_likeliest_values_or_are_given():
    given = [torch.rand(6, size, generator=torch.Generator().manual_seed(size)).softmax(dim=1) for size in SIZES]
    given[1][0] = torch.tensor([0.0, 1.0])
    flat = torch.cat(given, dim=1)
    hard = torch.cat([one_hot(own.argmax(dim=1), own.shape[1]) for own in given], dim=1)
    for settings, inputs in (({}, flat), ({"hard": True}, hard), ({"reads": "logits"}, flat.clamp(min=1e-6).log())):
        made = model("cbm", **settings)
        close(made.labels_from_concepts(given), shares(made.linear(inputs).split(LABELS, dim=1)))
    rule, codes = model("cbm", head="rule"), batch().concepts[:0]
    codes = torch.from_numpy(rule.space.all_codes().astype(np.int64))
    said = rule.labels_from_concepts([one_hot(codes[:, i], size) for i, size in enumerate(SIZES)])
    truth = rule.knowledge.labels_of(codes.numpy())
    assert all((own.argmax(dim=1).numpy() == truth[:, i]).all() for i, own in enumerate(said))
    assert not list(rule.head.parameters())


def test_all_true_is_a_head_for_truth_values():
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a and b and c"})
    settings = {"head": "and", "backbone": "mlp", "device": "cpu"}
    made = MODELS["cbm"](knowledge, Layout(3, 1), settings)
    given = [torch.tensor([[0.5, 0.5]]), torch.tensor([[0.2, 0.8]]), torch.tensor([[0, 1.0]])]
    assert torch.allclose(made.labels_from_concepts(given)[0], torch.tensor([[0.6, 0.4]]))
    with pytest.raises(
        ConfigError, match="head 'and' needs truth values only, and 'left.shade' has others; try 'rule'"
    ):
        model("cbm", head="and")
    for head in ("rule", "and"):
        with pytest.raises(ConfigError, match=rf"reads: a head that is given \('{head}'\) reads probabilities"):
            MODELS["cbm"](knowledge, Layout(3, 1), {**settings, "head": head, "reads": "logits"})


@pytest.mark.parametrize("head", ["rule", "and"])
def test_what_a_given_head_excludes_leaves_gradients_that_are_numbers(head):
    knowledge = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    made = MODELS["cbm"](knowledge, Layout(2, 1), {"head": head, "backbone": "mlp", "device": "cpu"})
    given = [torch.tensor([[0.0, 1.0], [1.0, 0.0]], requires_grad=True) for _ in range(2)]
    labels = made.label_loss(made.labels_from(given), torch.tensor([[0], [1]]))  # both impossible
    labels.backward()
    assert labels.isfinite() and labels > 10 and all(own.grad.isfinite().all() for own in given)


# -- embeddings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chance", [0.0, 1.0])
@torch.no_grad()
def test_embeddings_are_mixed_by_truths_where_concepts_are_intervened_on(chance):
    made, given = model("cem", width=3, intervention_chance=chance, concept_weight=2.0), batch()
    embeddings, logits = made.embedded(given.pictures)
    inputs = truth_or(shares(logits), given.concepts) if chance else shares(logits)
    mixed = torch.cat(
        [(own * part[:, :, None]).sum(dim=1) for own, part in zip(embeddings, inputs, strict=True)], dim=1
    )
    labels = made.head(mixed).split(LABELS, dim=1)
    wanted = label_term(labels, given.labels) + 2 * concept_term(logits, given.concepts)
    assert loss_of(made) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize(("drawn_for", "most"), [("example", 100), ("batch", 2 ** len(SIZES))])
def test_concepts_intervened_on_are_drawn_for_each_example_or_once_for_a_batch(drawn_for, most):
    (phase,) = model("cem", width=2, intervention_chance=0.5, intervened_by=drawn_for).phases(batch())
    losses = set()
    for seed in range(100):
        torch.manual_seed(seed)
        losses.add(round(phase.loss(batch()).item(), 6))
    assert 4 < len(losses) <= most and (len(losses) > 60) == (drawn_for == "example")


@pytest.mark.parametrize("name", ["cbm", "cem", "dcr", "probcbm", "ecbm"])
def test_labels_teach_concepts_even_where_only_their_likeliest_values_are_read(name):
    made = model(name, hard=True, concept_weight=0.0, **({"mode": "joint"} if name == "probcbm" else {}))
    made.phases(batch())[0].loss(batch()).backward()
    learned = [
        own.grad.abs().sum() for key, own in made.named_parameters() if "readers" in key and own.grad is not None
    ]
    assert sum(learned) > 0


@pytest.mark.parametrize("logic", ["goedel", "product"])
@torch.no_grad()
def test_a_value_is_as_true_as_the_conjunction_of_the_atoms_that_matter(logic):
    settings = {"width": 3, "logic": logic, "temperature": 1.2, "intervention_chance": 0.0, "concept_weight": 2.0}
    made, given = model("dcr", **settings), batch()
    names = ["left.shade == 0", "left.shade == 1", "left.shade == 2", "left.big", "right.shade == 0"]
    assert [str(atom.formula) for atom in made.atoms][:5] == names and len(made.atoms) == 8
    embeddings, logits = made.embed_atoms(given.pictures)
    own = shares(logits)
    t = torch.stack([own[atom.concept][:, atom.code] for atom in made.atoms], dim=1)[:, :, None]
    mixed = t * embeddings[:, :, 0] + (1 - t) * embeddings[:, :, 1]
    scores = made.matters(mixed).log_softmax(dim=1)
    m = torch.sigmoid(scores - 1.2 * scores.mean(dim=1, keepdim=True))
    p = torch.sigmoid(made.meant(mixed))
    if logic == "goedel":
        same = torch.minimum(torch.maximum(1 - p, t), torch.maximum(p, 1 - t))
        truths = torch.maximum(same, 1 - m).amin(dim=1)
    else:
        same = (1 - p * (1 - t)) * (1 - (1 - p) * t)
        truths = (1 - (1 - same) * m).prod(dim=1)
    ones = torch.cat([one_hot(given.labels[:, i], size) for i, size in enumerate(LABELS)], dim=1)
    fit = F.binary_cross_entropy(truths.clamp(1e-6, 1 - 1e-6), ones).item()
    assert loss_of(made) == pytest.approx(fit + 2 * concept_term(logits, given.concepts), abs=1e-4)
    labels = truths.clamp(min=1e-6).split(LABELS, dim=1)
    close(made.answer(given.pictures, {}).labels, [part / part.sum(dim=1, keepdim=True) for part in labels], 1e-4)


# -- energies ----------------------------------------------------------------------------------------------------------


def energies(part, beside, embeddings, read):
    """Return the energy of each embedding beside each vector: `w * relu(p + p * e / |e|)`."""
    projected = part.project(beside)[:, None]
    return read((projected + projected * F.normalize(embeddings, dim=-1)).relu())[..., 0]


@pytest.mark.parametrize("reads", ["concept", "picture"])
@torch.no_grad()
def test_energies_are_between_picture_concepts_and_labels(reads):
    weights = {"label_weight": 2.0, "global_weight": 0.5, "concept_weight": 3.0}
    made, given = model("ecbm", width=4, features=2, perturbed=0.0, reads=reads, **weights), batch()
    features = made.encoder(given.pictures)
    whole = torch.cat(features, dim=1)
    beside = [whole if reads == "picture" else own for own in features]
    fit = [-energies(made.of_concept, beside[i], made.values[i], made.read_concept[i]) for i in range(4)]
    by_picture = [-energies(made.of_label, whole, made.labels[k], made.read_label[k]) for k in range(2)]
    inputs = truth_or(shares(fit), given.concepts)
    both = torch.cat([own @ made.values[i] for i, own in enumerate(inputs)], dim=1)
    by_concepts = [-energies(made.of_both, both, made.labels[k], made.read_both[k]) for k in range(2)]
    wanted = 3 * 4 * concept_term(fit, given.concepts)
    wanted += 2 * label_term(by_picture, given.labels) + 0.5 * label_term(by_concepts, given.labels)
    assert loss_of(made) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("told", ["all", "global"])
def test_answers_are_found_by_steps_of_adam_down_the_energy(told):
    weights = {"concept_weight": 1.5, "label_weight": 2.0, "global_weight": 0.5}
    made, given = model("ecbm", width=4, features=2, steps=2, step=0.3, told=told, **weights), batch()
    features = [own.detach() for own in made.encoder(given.pictures)]

    def search(fixed, weights):
        logits = [torch.zeros(len(given), size, requires_grad=True) for size in (*SIZES, *LABELS)]
        adam = torch.optim.Adam(logits, lr=0.3)
        for step in range(3):
            current = [fixed.get(i, logit.softmax(dim=1)) for i, logit in enumerate(logits)]
            if step < 2:
                adam.zero_grad()
                made.energy(features, current[:4], current[4:], weights).sum().backward()
                adam.step()
        return [own.detach() for own in current]

    plain = search({}, (1.5, 2.0, 0.5))
    own = made.answer(given.pictures, {})
    close([*own.concepts, *own.labels], plain)
    codes = (plain[1].argmax(dim=1) + 1) % 2
    fixed = {1: one_hot(codes, 2)}
    after = made.answer(given.pictures, {1: codes})
    if told == "all":
        close([*after.concepts, *after.labels], search(fixed, (1.5, 2.0, 0.5)))
    else:  # the concepts decide alone, as in the authors' code
        concepts = [plain[0], fixed[1], *plain[2:4]]
        close([*after.concepts, *after.labels], [*concepts, *search(dict(enumerate(concepts)), (0.0, 0.0, 3.0))[4:]])


# -- probabilistic embeddings ------------------------------------------------------------------------------------------


def nearness(embeddings, points, scale):
    """Return the softmax of distances to points, averaged over samples."""
    away = ((embeddings[:, :, None] - points).square().sum(dim=3) + 1e-6).sqrt()
    return (-scale * away).softmax(dim=2).mean(dim=1)


def points_of(made, codes):
    return [F.normalize(points, dim=1)[codes[:, i]] for i, points in enumerate(made.points)]


@pytest.mark.parametrize("mode", ["sequential", "joint"])
@pytest.mark.parametrize("chance", [0.0, 1.0])
@torch.no_grad()
def test_values_are_the_more_probable_the_nearer_their_points(chance, mode):
    settings = {"latent": 3, "width": 2, "label_width": 4, "samples": 2, "spread_weight": 0.5, "concept_weight": 2.0}
    made, given = model("probcbm", **settings, intervention_chance=chance, mode=mode), batch()
    found = made.gaussians
    read = F.leaky_relu(found.norm(torch.stack(found.encoder(given.pictures), dim=1)))
    mean = F.normalize(torch.einsum("bcl,clw->bcw", read, found.mean) + found.middle, dim=2)
    log_variance = torch.einsum("bcl,clw->bcw", read, found.log_variance) + found.level
    embeddings = mean[:, None] + made.noise[None] * (log_variance / 2).exp()[:, None]
    own = [nearness(embeddings[:, :, i], F.normalize(p, dim=1), made.scale) for i, p in enumerate(made.points)]

    def labels_of(moved):
        projected = made.head(moved.flatten(2)).split(4, dim=2)
        scale = made.label_scale / 2  # over the root of the width
        return [nearness(part, points, scale) for part, points in zip(projected, made.label_points, strict=True)]

    answers = made.answer(given.pictures, {})
    close([*answers.concepts, *answers.labels], [*own, *labels_of(embeddings)], 1e-4)
    divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(dim=2).mean().item()
    first = concept_term([part.log() for part in own], given.concepts) + 0.5 * divergence
    true = torch.stack(points_of(made, given.concepts.clamp(min=0)), dim=1)[:, None]
    known = (given.concepts >= 0)[:, None, :, None]
    moved = torch.where(known, true, embeddings) if chance else embeddings
    second = np.mean([F.nll_loss(p.log(), given.labels[:, k]).item() for k, p in enumerate(labels_of(moved))])
    losses = [first, second] if mode == "sequential" else [second + 2 * first]
    assert [loss_of(made, phase) for phase in range(len(losses))] == pytest.approx(losses, abs=1e-4)
    moved = embeddings.clone()
    moved[:, :, 1] = F.normalize(made.points[1], dim=1)[1]
    told = made.answer(given.pictures, {1: torch.ones(len(given), dtype=torch.long)})
    close(told.labels, labels_of(moved), 1e-4)


@torch.no_grad()
def test_labels_follow_from_the_points_of_the_likeliest_values_where_concepts_are_hard():
    made, given = model("probcbm", latent=3, width=2, samples=3, hard=True), batch()
    said = made.answer(given.pictures, {})
    codes = torch.stack([own.argmax(dim=1) for own in said.concepts], dim=1)
    chosen = torch.stack(points_of(made, codes), dim=1)
    close(said.labels, made.labels_of(chosen[:, None]))


def test_without_samples_the_means_are_used_and_log_variances_end_at_ten():
    made = model("probcbm", latent=3, width=2, samples=0).train()
    one, other = (made.answer(batch().pictures, {}) for _ in range(2))
    close(one.labels, other.labels)
    with torch.no_grad():
        made.gaussians.level.fill_(1e3)
    assert (made.gaussians(batch().pictures)[1] == 10).all()


# -- black boxes and frozen parts --------------------------------------------------------------------------------------


@torch.no_grad()
def test_parts_are_embedded_one_after_the_other():
    made, pictures = model("embedding", hidden=[5]), batch().pictures
    parts = [made.body(pictures[:, :, 1:9, :8]), made.body(pictures[:, :, 2:10, 8:])]  # the left tile and the right one
    close(made.logits(pictures), made.head(made.layers(torch.cat(parts, dim=1))).split(LABELS, dim=1))
    whole = model("embedding", parts=False)
    close(whole.logits(pictures), whole.head(whole.layers(whole.body(pictures))).split(LABELS, dim=1))


@torch.no_grad()
def test_concepts_of_one_value_are_certain():
    space = ConceptSpace((Concept("k", (False,)), Concept("a", (True, False)), Concept("n", (2, 7))))
    knowledge = Knowledge.of(space, {"y": "a and n > 2"})
    for name in ("dcr", "cem", "cbm", "probcbm", "ecbm", "semantic", "dpl", "ltn", "bears"):
        made = MODELS[name](knowledge, Layout(4, 3), {"backbone": "mlp", "device": "cpu"}).eval()
        said = made.answer(torch.rand(3, 1, 3, 4), {})
        assert said.concepts[0].tolist() == [[1.0]] * 3 and [own.shape[1] for own in said.concepts] == [1, 2, 2]
        assert torch.allclose(said.labels[0].sum(dim=1), torch.ones(3))
