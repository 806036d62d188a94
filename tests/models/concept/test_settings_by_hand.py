"""What settings of the concept models change, and what becomes of parameters that are no longer as at first."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from assay.concepts import Concept, ConceptSpace, bits
from assay.config import Settings
from assay.errors import ConfigError, DataError, RunFailed
from assay.logic import Constraint, Diagram, Knowledge, Limits, parse
from assay.models import MODELS, Alignment, align_run
from assay.models.concept import alignment, cem, embedding
from assay.models.concept.alignment import Row, linear_of
from assay.models.concept.cbm import CBM
from assay.models.concept.heads import AndHead, label_head
from assay.models.concept.semantic import ConstraintLoss, Semantic, SemanticConfig, TruthLayer
from assay.models.core.tensors import Annotations, Batch
from assay.render import Box, Layout
from tests.models.limits import COUNT, NOT_NEGATIVE, POSITIVE, SHARE, require_limits
from tests.models.tiles import batch, model_of, tiles

SPACE = ConceptSpace((Concept("a", (False, True)), Concept("n", (0, 1, 5)), Concept("s", ("x", "y"))))
KNOWLEDGE = Knowledge.of(SPACE, {"y": "a and n > 0", "z": "n + a"})
SIZES, LABELS = (2, 3, 2), (2, 5)


def model(name, knowledge=KNOWLEDGE, layout=None, **settings):
    """Return a model whose parameters all differ from those at first."""
    given = Settings({"device": "cpu", "backbone": "mlp", **settings})
    made = MODELS[name](knowledge, layout or Layout(4, 3), given, seed=1)
    drawn = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for part in made.parameters():
            part += 0.3 * torch.randn(part.shape, generator=drawn)
    return made.eval()


def pictures(count=4, layout=None):
    layout = layout or Layout(4, 3)
    return torch.rand(count, layout.channels, layout.height, layout.width, generator=torch.Generator().manual_seed(2))


def shares(count=4, sizes=SIZES, seed=3):
    drawn = torch.Generator().manual_seed(seed)
    return [torch.randn(count, size, generator=drawn).softmax(dim=1) for size in sizes]


def close(found, wanted, atol=1e-5):
    np.testing.assert_allclose(found.detach(), wanted.detach(), atol=atol)


@pytest.mark.parametrize(
    ("name", "role", "concepts", "usual", "perceives", "cost"),
    [
        ("blackbox", "label", False, "conv-pool", False, 1), ("embedding", "label", False, "mlp", False, 1),
        ("cbm", "concept", True, "conv-stride", True, 1), ("semantic", "concept", True, "conv-stride", True, 1),
        ("cem", "concept", True, "conv-stride", False, 1), ("dcr", "concept", True, "conv-stride", False, 1),
        ("probcbm", "concept", True, "conv-stride", False, 1), ("ecbm", "concept", True, "conv-stride", False, 6),
    ],
)  # fmt: skip
def test_what_a_model_is_before_anything_is_set(name, role, concepts, usual, perceives, cost):
    kind = MODELS[name]
    assert (kind.name, kind.role, kind.has_concepts, kind.can_intervene) == (name, role, concepts, concepts)
    assert (kind.default_backbone, kind.why_pictures is None, kind.answer_cost) == (usual, perceives, cost)
    hints = {"concept": "mlp-wide", "label": "mlp-embedding"}
    assert kind.configure(Settings({}), hints).backbone == hints[role]
    assert kind.configure(Settings({}), {}).backbone == usual
    assert kind.configure(Settings({"backbone": "conv-3"}), hints).backbone == "conv-3"
    if not perceives:
        with pytest.raises(ConfigError, match=f"'{name}' cannot take its concepts from perception: "):
            kind.configure(Settings({"perception": "run"}), {})


# -- probcbm -----------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_means_have_a_middle_and_labels_a_scale_of_their_own():
    made = model("probcbm", latent=3, width=2, label_width=4, samples=2)
    found = made.gaussians
    assert found.middle.abs().min() > 0 and made.scale != made.label_scale
    mean, log_variance = found(pictures())
    read = F.leaky_relu(found.norm(torch.stack(found.encoder(pictures()), dim=1)))
    for place in range(3):
        own = read[:, place] @ found.mean[place] + found.middle[place]
        close(mean[:, place], own / own.norm(dim=1, keepdim=True))
        close(log_variance[:, place], read[:, place] @ found.log_variance[place] + found.level[place])
    embeddings = made.sample_embeddings(mean, log_variance)
    close(embeddings, mean[:, None] + made.noise[None] * (log_variance / 2).exp()[:, None])
    for place, points in enumerate(made.points):
        away = (embeddings[:, :, place, None] - F.normalize(points, dim=1)).square().sum(dim=3) + 1e-6
        close(made.concepts_of(embeddings)[place], (-made.scale * away.sqrt()).softmax(dim=2).mean(dim=1), 1e-4)
    projected = made.head(embeddings.flatten(2))
    for place, points in enumerate(made.label_points):
        own = projected[:, :, 4 * place : 4 * place + 4]
        away = ((own[:, :, None] - points).square().sum(dim=3) + 1e-6).sqrt() / 2
        close(made.labels_of(embeddings)[place], (-made.label_scale * away).softmax(dim=2).mean(dim=1), 1e-4)


def test_each_phase_of_probabilistic_embeddings_learns_its_own_part():
    made = model("probcbm", latent=3, width=2, samples=2)
    shown = Annotations(torch.zeros(4, 2, dtype=torch.long), torch.zeros(4, 3, dtype=torch.long), torch.arange(4))
    first, second = made.phases(shown)
    names = {id(own): name for name, own in made.named_parameters()}
    learned = [{names[id(own)].split(".")[0] for own in phase.parameters} for phase in (first, second)]
    assert learned == [{"gaussians", "points", "scale"}, {"head", "label_points", "label_scale"}]
    assert [(phase.name, phase.score) for phase in (first, second)] == [("concepts", "concepts"), ("labels", "all")]
    given = Batch(shown.labels, shown.concepts, shown.rows, pictures())
    made.train()
    second.loss(given).backward()
    assert made.training and not made.gaussians.training
    moved = {names[id(own)].split(".")[0] for own in made.parameters() if own.grad is not None}
    assert moved == {"head", "label_points", "label_scale"}


@torch.no_grad()
def test_concepts_are_set_only_where_they_differ_and_hard_ones_always():
    soft, hard = (
        model("probcbm", latent=3, width=2, samples=3),
        model("probcbm", latent=3, width=2, samples=3, hard=True),
    )
    embeddings = soft.sample_embeddings(*soft.gaussians(pictures()))
    own = soft.concepts_of(embeddings)
    setting = own[1].clone()
    setting[2] = torch.tensor([0.25, 0.25, 0.5])
    told = soft.answer(pictures(), {1: setting})
    moved = embeddings.clone()
    moved[2, :, 1] = setting[2] @ F.normalize(soft.points[1], dim=1)
    for found, wanted in zip(told.labels, soft.labels_of(moved), strict=True):
        close(found, wanted)
    close(told.concepts[1], setting)
    points = [F.normalize(part, dim=1) for part in hard.points]
    chosen = torch.stack([points[i][own[i].argmax(dim=1)] for i in range(3)], dim=1)
    for found, wanted in zip(hard.answer(pictures(), {}).labels, hard.labels_of(chosen[:, None]), strict=True):
        close(found, wanted)


@pytest.mark.parametrize("chance", [0.0, 1.0])
@torch.no_grad()
def test_labels_are_learned_from_the_likeliest_values_where_concepts_are_hard(chance):
    hard = model("probcbm", latent=3, width=2, samples=3, hard=True, intervention_chance=chance)
    labels, concepts = (
        torch.tensor([[1, 4], [0, 2], [1, 0], [0, 3]]),
        torch.tensor([[1, 2, -1], [0, -1, 1], [1, 0, 0], [0, 1, 1]]),
    )
    given = Batch(labels, concepts, torch.arange(4), pictures())
    own = hard.concepts_of(hard.sample_embeddings(*hard.gaussians(given.pictures)))
    codes = torch.stack([each.argmax(dim=1) for each in own], dim=1)
    codes = torch.where(concepts >= 0, concepts, codes) if chance else codes
    chosen = torch.stack([F.normalize(part, dim=1)[codes[:, i]] for i, part in enumerate(hard.points)], dim=1)
    said = hard.labels_of(chosen[:, None])
    wanted = sum(F.nll_loss(part.log(), labels[:, i]) for i, part in enumerate(said)) / 2
    assert hard.phases(given)[1].loss(given).item() == pytest.approx(wanted.item(), abs=1e-5)


# -- cbm, cem, heads ---------------------------------------------------------------------------------------------------


def test_a_head_that_is_given_reads_no_logits_and_only_one_layer_is_linear():
    for kind in ("rule", "and"):
        with pytest.raises(ConfigError, match=rf"reads: a head that is given \('{kind}'\) reads probabilities"):
            MODELS["cbm"](Knowledge.of(bits(["a", "b"]), {"y": "a"}), Layout(4, 3), {"backbone": "mlp", "head": kind, "reads": "logits"})  # fmt: skip
    assert isinstance(model("cbm").linear, nn.Linear) and model("cbm", head="log-linear").linear is None
    assert model("cbm", head="mlp").linear is None and model("cbm", head="rule").linear is None
    with pytest.raises(ConfigError, match="head 'and' needs truth values only, and 'n' has others"):
        AndHead(Knowledge.of(bits(["a", "b"]), {"y": "a", "n": "a + b"}))


@torch.no_grad()
def test_heads_get_probabilities_logs_or_the_likeliest_values():
    soft, given = model("cbm"), shares()
    given[1][0] = torch.tensor([0.0, 1.0, 0.0])
    close(torch.cat(soft.labels_from(given), dim=1), soft.linear(torch.cat(given, dim=1)))
    hard = model("cbm", hard=True)
    ones = torch.cat([F.one_hot(own.argmax(dim=1), own.shape[1]).float() for own in given], dim=1)
    close(torch.cat(hard.labels_from(given), dim=1), hard.linear(ones))
    logs = model("cbm", reads="logits")
    close(torch.cat(logs.labels_from(given), dim=1), logs.linear(torch.cat(given, dim=1).clamp(min=1e-6).log()))
    assert [own.shape[1] for own in logs.labels_from(given)] == list(LABELS)
    labels = torch.tensor([[1, 4], [0, 2], [1, 0], [0, 0]])
    logits = soft.labels_from(given)
    once = sum(F.cross_entropy(own, labels[:, i]) for i, own in enumerate(logits)) / 2
    twice = sum(F.cross_entropy(own.softmax(dim=1), labels[:, i]) for i, own in enumerate(logits)) / 2
    assert soft.label_loss(logits, labels).item() == pytest.approx(once.item())
    assert model("cbm", softmax_twice=True).label_loss(logits, labels).item() == pytest.approx(twice.item())
    deep = label_head("mlp", KNOWLEDGE, (4,))
    flat = torch.cat(given, dim=1)
    close(deep(flat), deep[2](deep[0](flat).relu()))


def test_predicted_concepts_are_without_dropout():
    made = model_of("cbm", {"backbone": "conv-stride", "mode": "sequential"})
    made.train()
    given = batch()
    first = made.predict_concepts(given)
    assert made.training and not made.encoder.training and not first[0].requires_grad
    for one, other in zip(first, made.predict_concepts(given), strict=True):
        assert torch.equal(one, other)
    head = made.phases(given)[1].loss
    made.train()
    assert head(given).item() == head(given).item()


def test_with_perception_only_the_head_is_learned():
    shown = batch()
    for mode in ("joint", "sequential", "independent"):
        made = model_of("cbm", {"mode": mode})
        made.perception = "a run"
        score = "intervened" if mode == "independent" else "labels"
        assert [(phase.name, phase.score) for phase in made.phases(shown)] == [
            ("concepts", "concepts"),
            ("labels", score),
        ]


def test_what_an_independent_head_gets_for_concepts_that_are_not_supervised():
    shown = batch(missing=False)
    part = model_of("cbm", {"mode": "independent", "supervised_concepts": ["left.big"], "missing": "frequency"})
    seen = []
    part.labels_from = lambda concepts: seen.append(concepts) or [torch.zeros(24, 2), torch.zeros(24, 4)]
    part.phases(shown)[1].loss(shown)
    ((first, second, *_),) = seen
    assert torch.allclose(first, torch.full((24, 3), 1 / 3)) and second.tolist() == F.one_hot(shown.concepts[:, 1], 2).tolist()  # fmt: skip
    whole = model_of("cbm", {"mode": "independent"})
    whole.predict_concepts = lambda given: pytest.fail("pictures were looked at")
    whole.phases(shown)[1].loss(shown)


def test_concepts_intervened_on_are_drawn_as_is_set(monkeypatch):
    asked = []
    monkeypatch.setattr(cem, "sample_mask", lambda *given: asked.append(given) or torch.zeros_like(given[0]))
    made, shown = model_of("cem", {"intervention_chance": 0.75, "intervened_by": "batch", "width": 2}), batch()
    made.phases(shown)[0].loss(shown)
    ((known, chance, drawn_for),) = asked
    assert (chance, drawn_for) == (0.75, "batch") and torch.equal(known, shown.concepts >= 0)


@torch.no_grad()
def test_embeddings_know_of_other_parts_and_are_cut_value_by_value():
    layout = Layout(6, 3, 1, {"a": Box(0, 0, 2, 3), "n": Box(2, 0, 4, 3), "s": Box(4, 0, 6, 3)})
    made = model("cem", layout=layout, width=2, share=False)
    assert made.head.bias.shape == (7,) and made.head.in_features == 6
    embedded, given = made.embedded, pictures(4, layout)
    read = embedded.encoder(given)
    wide = [F.leaky_relu(own) for own in embedded.context(read)]
    found, logits = embedded(given)
    for place, size in enumerate(SIZES):
        close(found[place], torch.stack([wide[place][:, 2 * v : 2 * v + 2] for v in range(size)], dim=1))
        close(logits[place], embedded.scorers[str(size)](F.leaky_relu(read[place])))
        assert not torch.allclose(wide[place], F.leaky_relu(read[place]))
    hard = model("cem", layout=layout, width=2, share=False, hard=True)
    own = shares()
    ones = [F.one_hot(each.argmax(dim=1), each.shape[1]).float() for each in own]
    close(torch.cat(hard.labels_from(found, own), dim=1), torch.cat(made.labels_from(found, ones), dim=1))
    told = made.answer(given, {1: torch.tensor([0, 2, 1, 1])})
    mixed = [each.softmax(dim=1) for each in logits]
    mixed[1] = F.one_hot(torch.tensor([0, 2, 1, 1]), 3).float()
    close(told.labels[1], made.labels_from(found, mixed)[1].softmax(dim=1))


# -- ecbm --------------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_energies_see_hard_concepts_or_the_whole_picture_where_that_is_set():
    made, hard = (model("ecbm", width=4, features=2, hard=hard) for hard in (False, True))
    own = shares()
    ones = [F.one_hot(each.argmax(dim=1), each.shape[1]).float() for each in own]
    vectors = [each[None] for each in made.labels]
    for found, wanted in zip(hard.global_energies(own, vectors), made.global_energies(ones, vectors), strict=True):
        close(found, wanted)
    whole = model("ecbm", width=4, features=2, reads="picture")
    features = [torch.rand(4, 2) for _ in range(3)]
    for place, found in enumerate(whole.concept_energies(features, [each[None] for each in whole.values])):
        beside = whole.of_concept.project(torch.cat(features, dim=1))[:, None]
        inside = (beside + beside * F.normalize(whole.values[place], dim=1)[None]).relu()
        close(found, whole.read_concept[place](inside)[..., 0])


@pytest.mark.parametrize(
    ("knowledge", "settings", "steps"),
    [
        (Knowledge.of(bits(["a", "b"]), {"y": "a"}), {}, 10),
        (KNOWLEDGE, {}, 100),
        (Knowledge.of(bits(["a", "b"]), {"y": "a + b"}), {}, 100),
        (KNOWLEDGE, {"steps": 3}, 3),
    ],
)
def test_a_search_takes_longer_where_there_are_more_than_two_values(monkeypatch, knowledge, settings, steps):
    made = model("ecbm", knowledge, width=2, features=2, step=0.25, **settings)
    taken, rates = [], []
    adam = torch.optim.Adam

    class Counted(adam):
        def __init__(self, logits, lr):
            rates.append(lr)
            super().__init__(logits, lr=lr)

        def step(self):
            taken.append(1)

    monkeypatch.setattr(torch.optim, "Adam", Counted)
    made.search([torch.zeros(1, 2)] * len(knowledge.space), {}, (1.0, 1.0, 1.0))
    assert len(taken) == steps and rates == [0.25]


@torch.no_grad()
def test_after_an_intervention_concepts_alone_may_decide():
    made = model(
        "ecbm", width=4, features=2, steps=3, told="global", label_weight=2.0, global_weight=0.5, concept_weight=3.0
    )
    asked, answers = [], []

    def search(features, fixed, weights):
        asked.append((dict(fixed), weights))
        answers.append((shares(seed=len(asked)), shares(sizes=LABELS, seed=10 + len(asked))))
        return answers[-1]

    made.search = search
    own = shares(seed=1)
    setting, other = own[1].clone(), own[0].clone()
    setting[2] = torch.tensor([1.0, 0, 0])
    other[0] = torch.tensor([0.5, 0.5])
    told = made.answer(pictures(), {1: setting, 0: other})
    assert [weights for _, weights in asked] == [(3.0, 2.0, 0.5), (0.0, 0.0, 3.0)] and asked[0][0] == {}
    some = torch.tensor([True, False, True, False])
    for place, wanted in enumerate((other, setting, own[2])):
        where, target = asked[1][0][place]
        assert where.tolist() == some.tolist()
        close(target, wanted)
        close(told.concepts[place], wanted)
    for found, new, old in zip(told.labels, answers[1][1], answers[0][1], strict=True):
        close(found, torch.where(some[:, None], new, old))
    whole = model("ecbm", width=4, features=2, label_weight=2.0)
    asked.clear()
    answers.clear()
    whole.search = search
    found = whole.answer(pictures(), {1: setting, 0: other})
    assert set(asked[1][0]) == {0, 1} and asked[1][1] == (1.0, 2.0, 1.0)
    assert [asked[1][0][place][0].tolist() for place in (1, 0)] == [
        [False, False, True, False],
        [True, False, False, False],
    ]
    close(found.concepts[2], answers[1][0][2])
    close(found.labels[1], answers[1][1][1])
    asked.clear()
    assert whole.answer(pictures(), {}).labels is answers[-1][1] and len(asked) == 1
    asked.clear()
    whole.answer(pictures(), {0: torch.tensor([1, 0, 1, 0]), 1: setting, 2: torch.tensor([0, 0, 1, 1])})
    assert len(asked) == 2 and set(asked[1][0]) == {0, 1, 2}


# -- dcr ---------------------------------------------------------------------------------------------------------------


def test_rules_are_counted_label_by_label():
    made = model("dcr", width=3)
    a, n, s = parse("a", SPACE.names), parse("n == 1", SPACE.names), parse("s == 'y'", SPACE.names)
    made.rules_of = lambda data: {"y": [a, n, a, n, n, s], "z": [s, s, s, a, a, a]}
    codes = {"y": np.array([1, 1, 1, 0, 1, 1]), "z": np.array([4, 4, 2, 2, 2, 0])}
    made.predict = lambda data: SimpleNamespace(
        labels={name: SimpleNamespace(codes=own) for name, own in codes.items()}
    )
    data = SimpleNamespace(labels=np.array([[1, 4], [0, 3], [1, 2], [0, 0], [1, 2], [0, 1]]))
    found = [(r.label, r.value, str(r.formula), r.examples, r.right) for r in made.rules(data)]
    assert found == [
        ("y", False, "n == 1", 1, 1), ("y", True, "a", 2, 2), ("y", True, "n == 1", 2, 1), ("y", True, "s == 'y'", 1, 0),
        ("z", 0, "a", 1, 0), ("z", 2, "a", 2, 1), ("z", 2, "s == 'y'", 1, 1), ("z", 6, "s == 'y'", 2, 1),
    ]  # fmt: skip
    formulas = {key: str(formula) for key, formula in made.learned_formulas(data).items()}
    assert formulas[("y", True)] == "a or n == 1 or s == 'y'" and formulas[("z", 6)] == "s == 'y'"
    assert list(formulas) == [("y", False), ("y", True), ("z", 0), ("z", 2), ("z", 6)]


@torch.no_grad()
def test_the_rule_of_an_example_is_that_of_the_value_it_is_given():
    made = model("dcr", width=3)
    matters = torch.zeros(2, 5, 7)
    positive = torch.zeros(2, 5, 7)
    truths = torch.tensor([[0.2, 0.9, 0.1, 0.2, 0.8, 0.3, 0.1], [0.7, 0.2, 0.1, 0.1, 0.1, 0.1, 0.6]])
    matters[0, [0, 1], 1], positive[0, 0, 1] = 0.75, 0.75  # of y being true: a, not n == 0
    matters[0, 4, 4], positive[0, 4, 4] = 1.0, 0.5  # of the third value of z: a sign of one half is none
    matters[1, 3, 0], positive[1, 3, 0] = 0.51, 0.51
    matters[1, [2, 3], 6], positive[1, [2, 3], 6] = 0.9, torch.tensor([0.9, 0.2])
    made.feed = lambda data, device: "feed"
    made.chunks = lambda feed: ["pictures"]
    made.embed_atoms = lambda given: ("embeddings", shares(2))
    made.write_rules = lambda embeddings, concepts: (None, matters, positive)
    made.truths = lambda embeddings, concepts: truths
    found = {name: [str(rule) for rule in rules] for name, rules in made.rules_of("data").items()}
    assert found == {"y": ["a and not n == 0", "n == 5"], "z": ["not s == 'y'", "n == 1"]}


def test_certain_truths_leave_the_loss_a_number():
    made, shown = model_of("dcr", {"width": 2, "concept_weight": 0.0}), batch()
    truths = torch.tensor([0.0, 1.0, 1.0, 0.0, 0.5, 0.0]).expand(24, 6)
    made.truths = lambda embeddings, concepts: truths
    wanted = torch.cat([F.one_hot(shown.labels[:, 0], 2), F.one_hot(shown.labels[:, 1], 4)], dim=1).double()
    sure = truths.double().clamp(1e-6, 1 - 1e-6)
    expected = -(wanted * sure.log() + (1 - wanted) * (1 - sure).log()).mean()
    assert made.phases(shown)[0].loss(shown).item() == pytest.approx(expected.item(), rel=0.02)


# -- semantic ----------------------------------------------------------------------------------------------------------

RULES = ["a + b >= c", "a != c", "b != 1"]
THREE = Knowledge.of(
    ConceptSpace(tuple(Concept(name, (0, 1, 2)) for name in "abc")), {"y": "a"},
    [Constraint(f"r{n}", parse(rule)) for n, rule in enumerate(RULES)],
)  # fmt: skip


def test_all_constraints_that_are_named_must_be_there():
    for names in (["r0", "r9"], ["r9", "r0"]):
        with pytest.raises(ConfigError, match="no constraint named 'r9'"):
            ConstraintLoss(Limits(THREE), SemanticConfig(constraints=names))
    both = ConstraintLoss(Limits(THREE), SemanticConfig(constraints=["r2", "r0"], violation_weight=1.0))
    assert len(both.rules) == 2 and sorted(both.about["groups"][0]) == ["r0", "r2"] and len(both.groups) == 1
    none = ConstraintLoss(Limits(THREE), SemanticConfig(semantic_weight=0.0, violation_weight=0.0))
    assert not none.rules and not none.groups and none.about["groups"] == []
    assert none(shares(sizes=(3, 3, 3))).item() == 0


@torch.no_grad()
def test_the_log_probability_of_a_formula_however_improbable():
    layer = TruthLayer(Limits(THREE).only(["r1"]).of_groups()[0])
    given = shares(sizes=(3, 3, 3))
    wanted = 1 - (given[0] * given[2]).sum(dim=1)
    close(layer(given), wanted.log())
    assert layer.possible and layer(given).dtype == torch.float32
    assert layer([own.double() for own in given]).dtype == torch.double
    assert layer([own.bfloat16() for own in given]).dtype == torch.float32


def turned_diagram():
    """Return the diagram of `b and n == 1 or not b and n != 1` that asks for the second concept first."""
    space = ConceptSpace((Concept("n", (0, 1, 2)), Concept("b", (False, True))))
    layers = np.array([[1, 0]]), np.array([[0, 1, 0], [1, 0, 1]])
    return Diagram(space, (1, 0), layers, ((False,), (True,)))


@torch.no_grad()
def test_a_diagram_may_ask_for_concepts_in_any_order():
    n, b = shares(sizes=(3, 2))
    wanted = b[:, 1] * n[:, 1] + b[:, 0] * (n[:, 0] + n[:, 2])
    layer = TruthLayer(turned_diagram())
    close(layer([n, b]), wanted.log())
    assert layer.letters == [2, 2] and layer.possible
    never = Diagram(turned_diagram().space, (1, 0), (np.array([[0, 0]]), np.array([[0, 0, 0]])), ((False,),))
    assert not TruthLayer(never).possible and TruthLayer(never)([n, b]).isfinite().all()


@pytest.mark.parametrize("mode", ["joint", "sequential"])
def test_the_loss_of_constraints_is_added_with_its_weights(monkeypatch, mode):
    shown, asked = batch(), []
    weights = {"concept_weight": 0.25, "semantic_weight": 0.5, "violation_weight": 2.0, "most_nodes": 77}
    made = model_of("semantic", {"mode": mode, **weights})
    plain = CBM.phases(made, shown)[0].loss(shown).item()
    monkeypatch.setattr("assay.models.concept.semantic.Limits", lambda *given: asked.append(given) or Limits(*given))
    found = made.phases(shown)[0].loss(shown).item()
    own = [logits.softmax(dim=1) for logits in made.encoder(shown.pictures)]
    assert asked == [(made.knowledge, 77)] and found == pytest.approx(plain + made.keeping(own).item(), abs=1e-5)
    possible = made.keeping.groups[0](own)
    expected = -0.5 * possible.mean() + 2 * (1 - possible.exp()).mean()  # one constraint, so one diagram
    assert made.keeping(own).item() == pytest.approx(expected.item(), abs=1e-5)
    assert made.about()["constraints"] == {"exact": True, "groups": [["dark"]], "left_out": []}
    assert "constraints" not in model_of("semantic", {"mode": mode}).about()


def test_the_score_is_lowered_by_answers_that_break_any_constraint(monkeypatch):
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a"}, [Constraint("r", parse("a or b")), Constraint("q", parse("a or c"))])  # fmt: skip
    made = model("semantic", knowledge)
    codes = torch.tensor([[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1]])
    monkeypatch.setattr(CBM, "validation_f1", lambda self, feed, what: torch.tensor(0.5 if what == "all" else 0.0))
    concepts = [F.one_hot(codes[:, i], 2).float() for i in range(3)]
    made.probabilities = lambda feed, do: SimpleNamespace(concepts=concepts)
    assert made.validation_f1("feed", "all").item() == pytest.approx(0.5 * 3 / 5)
    free = model("semantic", Knowledge.of(bits(["a"]), {"y": "a"}))
    free.probabilities = lambda feed, do: pytest.fail("nothing is to be kept")
    assert free.validation_f1("feed", "all").item() == 0.5 and isinstance(free, Semantic)


# -- black boxes and embeddings ----------------------------------------------------------------------------------------


@torch.no_grad()
def test_a_black_box_reads_pictures_that_are_not_square_for_labels_of_unequal_sizes():
    layout = Layout(12, 8, 2)
    made = model("blackbox", layout=layout, backbone="conv-pool")
    given = pictures(3, layout)
    first, second = made.logits(given)
    whole = made.head(made.body(given))
    assert torch.equal(first, whole[:, :2]) and torch.equal(second, whole[:, 2:])
    close(made.answer(given, {}).labels[1], second.softmax(dim=1))


@torch.no_grad()
def test_parts_are_embedded_one_after_the_other():
    layout = Layout(6, 5, 2, {"a": Box(4, 0, 6, 5), "n": Box(0, 0, 2, 5), "s": Box(4, 0, 6, 5)})
    made, given = model("embedding", layout=layout, hidden=[5]), pictures(3, layout)
    assert made.parts == (Box(4, 0, 6, 5), Box(0, 0, 2, 5)) and made.layers[0].out_features == 5
    given = (given * 255).round() / 255
    parts = [made.body(given[:, :, :, 4:6]), made.body(given[:, :, :, 0:2])]
    wanted = made.head(made.layers(torch.cat(parts, dim=1)))
    close(torch.cat(made.logits(given), dim=1), wanted)
    whole = model("embedding", layout=layout, parts=False)
    assert whole.parts == (Box(0, 0, 6, 5),) and whole.layers[0].in_features == made.layers[0].in_features // 2
    frozen = model("embedding", layout=layout, backbone="frozen:mlp")
    assert torch.equal(frozen.body(given[:, :, :, :2]), made.body(given[:, :, :, :2]))
    with pytest.raises(ConfigError, match="model 'embedding' embeds pictures, not input=text"):
        made.read_as(SimpleNamespace(kind="text"))
    assert embedding.parts_of(Layout(4, 4, 1, {"a": Box(0, 0, 4, 2), "b": Box(0, 0, 2, 4)})) == (Box(0, 0, 4, 4),)


# -- alignment ---------------------------------------------------------------------------------------------------------


def test_accuracies_are_over_all_labels_as_predicted_and_with_true_concepts():
    asked = []
    splits = {
        "train": SimpleNamespace(labels=np.array([[1, 2], [0, 1]])),
        "test": SimpleNamespace(labels=np.array([[1, 2], [0, 1], [1, 0], [0, 3]]), concepts=np.array([[0, 1, 1], [1, 2, 0]])),
    }  # fmt: skip

    def predict(data, do=None):
        asked.append(do)
        codes = data.labels.copy()
        wrong = 1 if do is not None else 3 if data is splits["test"] else 2
        codes.ravel()[:wrong] += 1
        return SimpleNamespace(
            labels={"z": SimpleNamespace(codes=codes[:, 1]), "y": SimpleNamespace(codes=codes[:, 0])}
        )

    made = SimpleNamespace(predict=predict, knowledge=KNOWLEDGE, space=SPACE)
    found = alignment._row("aligned", made, splits["train"], splits["test"])
    assert found == Row("aligned", 0.5, 0.625, 0.875) and found.gain == 0.25
    assert asked[:2] == [None, None] and {name: own.tolist() for name, own in asked[2].items()} == {
        "a": [0, 1], "n": [1, 2], "s": [1, 0],
    }  # fmt: skip


def test_the_layer_must_be_as_wide_as_concepts_and_labels():
    made = model("cbm")
    for layer in (nn.Linear(7, 6), nn.Linear(6, 7)):
        other = SimpleNamespace(linear=layer, space=SPACE, knowledge=KNOWLEDGE, name="m")
        with pytest.raises(ConfigError, match="model 'm' of this run has no linear label head to align"):
            linear_of(other)
    assert linear_of(made) is made.linear


def test_the_free_head_is_fitted_without_bounds_and_the_aligned_one_within(monkeypatch, tmp_path):
    made, told = model("cbm"), []
    data = tiles()
    monkeypatch.setattr(alignment, "check_dataset", lambda run, dataset: told.append((run.folder, dataset)))
    monkeypatch.setattr(alignment, "load_network", lambda folder: made)
    monkeypatch.setattr(alignment, "limits_of", lambda given, model: "limits")
    monkeypatch.setattr(alignment, "_head_inputs", lambda model, data, which: f"{which} of {data.name}")
    fits = []

    def fit(inputs, data, place, model, given, limits):
        fits.append((inputs, data.name, place, limits))
        shape = (LABELS[place] - 1, 4)
        return np.full(shape, len(fits)), np.zeros(shape[0])

    monkeypatch.setattr(alignment, "_fit", fit)
    rows = []
    monkeypatch.setattr(alignment, "_row", lambda *given: rows.append(given) or Row(given[0], 0.1, 0.2, 0.3))
    saved, records = [], []
    monkeypatch.setattr(alignment, "finish_run", lambda model, dataset, run: saved.append((model, run.folder)))
    monkeypatch.setattr(alignment.RunFolder, "about", lambda self: {"model": "cbm"})
    monkeypatch.setattr(alignment, "write_record", lambda run, dataset, about: records.append(about))
    found = align_run(tmp_path / "run", data, Alignment(zero=["a"], concepts="predicted"), tmp_path / "new")
    assert told == [(tmp_path / "run", data)]
    inputs = "predicted of train"
    assert fits == [(inputs, "train", place, limits) for limits in (None, "limits") for place in (0, 1)]
    assert [(name, learned.name, asked.name) for name, _, learned, asked in rows] == [
        (name, "train", "test") for name in ("as trained", "fitted anew", "aligned")
    ]
    assert saved == [(rows[2][1], tmp_path / "new")] and rows[0][1] is made
    assert found.weights["y=True < a=True"][1:] == (1.0, 3.0) and found.weights["z=6 < n=5"][1:] == (2.0, 4.0)
    (about,) = records
    assert about["alignment"]["from"] == str((tmp_path / "run").resolve()) and about["alignment"]["zero"] == ["a"]
    assert [row["front_end"] for row in about["alignment"]["found"]] == ["as trained", "fitted anew", "aligned"]


def test_a_fit_without_any_whole_example_is_refused():
    made = model("cbm")
    inputs = np.array([[0, np.nan, 0, 1], [np.nan, 1, 0, 1]])
    split = SimpleNamespace(given_labels=np.array([[0, 1], [1, 1]]))
    with pytest.raises(
        DataError, match="no training example has all its concepts given: align with concepts=predicted"
    ):
        alignment._fit(inputs, split, 0, made, Alignment(zero=["a"]), None)


def test_weights_that_are_no_numbers_end_the_fit(monkeypatch):
    import scipy.optimize

    monkeypatch.setattr(scipy.optimize, "minimize", lambda loss, start, **how: SimpleNamespace(x=start + np.nan))
    with pytest.raises(RunFailed, match="the constrained fit gave no finite weights; raise the penalty"):
        alignment.fit(np.eye(2), np.array([0, 1]), 2, 0.1, None)


def test_a_fit_begins_within_its_bounds_and_knows_its_slopes(monkeypatch):
    import scipy.optimize

    asked = []

    def minimize(loss, start, jac, bounds, method, options):
        asked.append((loss, start, jac, bounds, method, options))
        return SimpleNamespace(x=np.arange(float(len(start))))

    monkeypatch.setattr(scipy.optimize, "minimize", minimize)
    rng = np.random.default_rng(0)
    inputs, labels = rng.random((7, 2)), np.array([0, 2, 1, 1, 0, 2, 2])
    weights, base = alignment.fit(inputs, labels, 3, 0.4, np.array([[0.5, 2.0], [-np.inf, -1.0]]))
    ((loss, start, jac, bounds, method, options),) = asked
    assert weights.tolist() == [[0, 1], [2, 3]] and base.tolist() == [4, 5] and jac is True
    assert start.tolist() == [0.5, -1, 0.5, -1, 0, 0] and (method, options) == ("L-BFGS-B", {"maxiter": 2000})
    assert bounds == [[0.5, 2.0], [-np.inf, -1.0]] * 2 + [[-np.inf, np.inf]] * 2
    flat = rng.normal(size=6)
    logits = np.concatenate([np.zeros((7, 1)), inputs @ flat[:4].reshape(2, 2).T + flat[4:]], axis=1)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    value, slope = loss(flat)
    assert value == pytest.approx(-np.log(chances[np.arange(7), labels]).mean() + 0.2 * (flat[:4] ** 2).sum())
    steps = [(loss(flat + own)[0] - loss(flat - own)[0]) / 2e-6 for own in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(slope, steps, atol=1e-6)


# -- what is impossible, left out or not square ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["rule", "and"])
def test_what_a_given_head_excludes_has_the_log_of_a_tiny_number(kind):
    head = label_head(kind, Knowledge.of(bits(["a", "b"]), {"y": "a and b"}))
    given = torch.tensor([[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.5, 0.5], [0.5, 0.5, 0.0, 1.0]], requires_grad=True)
    found = head(given)
    assert found.exp().tolist() == [pytest.approx(row, abs=1e-6) for row in ([0, 1], [1, 0], [0.5, 0.5])]
    assert found[0, 0].item() == found[1, 1].item() == pytest.approx(np.log(1e-12), abs=1e-3)
    found.sum().backward()
    assert given.grad.isfinite().all()


def test_constraints_that_no_diagram_holds_are_left_out_and_told():
    space = ConceptSpace(tuple(Concept(name, (0, 1, 2)) for name in "abc"))
    rules = [Constraint("large", parse("a + 2 * b != 3 * c")), Constraint("small", parse("b != 1"))]
    knowledge = Knowledge.of(space, {"y": "a"}, rules)
    sizes = {name: Limits(knowledge).diagram([name]).size for name in ("large", "small")}
    assert sizes["small"] < sizes["large"]
    loss = ConstraintLoss(Limits(knowledge, sizes["small"]), SemanticConfig(violation_weight=0.5, semantic_weight=2.0))
    assert loss.about == {"exact": False, "groups": [["small"]], "left_out": ["large"]}
    assert len(loss.groups) == len(loss.rules) == 1
    given = shares(sizes=(3, 3, 3))
    kept = 1 - given[1][:, 1]
    assert loss(given).item() == pytest.approx((-2 * kept.log().mean() + 0.5 * (1 - kept).mean()).item(), abs=1e-5)


@torch.no_grad()
def test_parts_that_are_no_squares_are_embedded_by_convolutions():
    layout = Layout(16, 9, 1, {"a": Box(0, 0, 8, 9), "n": Box(8, 0, 16, 9)})
    made, given = model("embedding", layout=layout, backbone="conv-pool", hidden=[3]), pictures(2, layout)
    tall = model("embedding", layout=Layout(16, 20, 1, {"a": Box(1, 2, 9, 18), "n": Box(8, 4, 16, 20)}), backbone="conv-stride")  # fmt: skip
    given = (given * 255).round() / 255
    parts = [made.body(given[:, :, :, :8]), made.body(given[:, :, :, 8:])]
    close(torch.cat(made.logits(given), dim=1), made.head(made.layers(torch.cat(parts, dim=1))))
    assert tall.layers[0].in_features == 2 * 128 * 2 * 1
    assert [part.shape for part in tall.logits(pictures(3, tall.layout))] == [(3, 2), (3, 5)]


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("cbm", {}),
        ("semantic", {"semantic_weight": NOT_NEGATIVE, "violation_weight": NOT_NEGATIVE, "most_nodes": COUNT}),
        ("cem", {"width": COUNT, "intervention_chance": SHARE, "weight_decay": NOT_NEGATIVE}),
        ("dcr", {"width": COUNT, "intervention_chance": SHARE, "temperature": POSITIVE, "weight_decay": NOT_NEGATIVE}),
        (
            "ecbm",
            {
                **dict.fromkeys(("features", "width", "steps"), COUNT), "step": POSITIVE, "perturbed": SHARE,
                **dict.fromkeys(("label_weight", "global_weight"), NOT_NEGATIVE),
            },
        ),
        (
            "probcbm",
            {
                "latent": ((2, 1),), "width": COUNT, "label_width": COUNT, "samples": ((0, -1),),
                "intervention_chance": SHARE, "spread_weight": NOT_NEGATIVE,
            },
        ),
    ],
)  # fmt: skip
def test_settings_have_limits(name, limits):
    require_limits(MODELS[name].Config, {"concept_weight": NOT_NEGATIVE, **limits})
    require_limits(Alignment, {"penalty": NOT_NEGATIVE})
    require_limits(MODELS["embedding"].Config, {"hidden": (([4] * 8, [4] * 9),)})


@torch.no_grad()
def test_concepts_of_one_value_are_certain():
    space = ConceptSpace((Concept("k", (False,)), Concept("a", (True, False)), Concept("n", (2, 7))))
    knowledge = Knowledge.of(space, {"y": "a and n > 2"})
    made = model("dcr", knowledge, width=2)
    assert [(atom.concept, atom.code, str(atom.formula)) for atom in made.atoms] == [
        (0, 0, "k == False"), (1, 0, "a"), (2, 1, "n == 7"),
    ]  # fmt: skip
    for name in ("dcr", "cem", "cbm", "probcbm", "ecbm"):
        settings = {} if name == "cbm" else {"width": 2}
        found = (made if name == "dcr" else model(name, knowledge, **settings)).answer(pictures(3), {})
        assert found.concepts[0].tolist() == [[1.0]] * 3 and [own.shape[1] for own in found.concepts] == [1, 2, 2]
        close(found.labels[0].sum(dim=1), torch.ones(3))
