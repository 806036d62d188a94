"""The bottleneck family: learns, follows what it is told, takes its own answers back, and trains on missing concepts."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch

from assay.config import Settings
from assay.data import CONCEPT
from assay.data.columns import GIVEN
from assay.errors import ConfigError
from assay.logic import evaluate, parse
from assay.models import MODELS
from assay.models.concept.head_inputs import harden, insert_truth, sample_mask
from assay.models.core.fitting import fit_together
from assay.models.core.neural import apply_interventions, is_set
from assay.models.core.tensors import to_batch
from tests.pixels import QUICK, pixels

FAMILY = {
    "joint": ("cbm", {}),
    "sequential-mlp": ("cbm", {"mode": "sequential", "head": "mlp"}),
    "independent": ("cbm", {"mode": "independent"}),
    "joint-hard": ("cbm", {"hard": True}),
    "logits": ("cbm", {"reads": "logits", "head": "mlp", "hidden": [12, 8]}),
    "rule": ("cbm", {"head": "rule"}),
    "cem": ("cem", {}),
    "cem-hard": ("cem", {"hard": True}),
    "cem-batch": ("cem", {"intervened_by": "batch"}),
    "probcbm": ("probcbm", {}),
    "probcbm-joint": ("probcbm", {"mode": "joint", "samples": 0}),
    "probcbm-hard": ("probcbm", {"hard": True}),
    "ecbm": ("ecbm", {}),
    "ecbm-authors": ("ecbm", {"perturbed_by": "batch", "reads": "picture"}),
    "ecbm-global": ("ecbm", {"told": "global", "begin": "picture", "learning_rate": 0.01, "batch_size": 32}),
    "dcr": ("dcr", {"temperature": 2.0}),
    "dcr-hard": ("dcr", {"hard": True}),
    "semantic": ("semantic", {}),
    "dpl": ("dpl", {"concept_weight": 1.0}),
    "ltn": ("ltn", {"concept_weight": 0.1}),
    "bears": ("bears", {"members": 2, "epochs": 4}),
}
MINE = ["joint", "independent", "cem", "probcbm", "ecbm", "dcr"]


def built(case, data, seed=0, **settings):
    name, own = FAMILY[case]
    given = Settings({**QUICK, "epochs": 12, "batch_size": 64, "learning_rate": 0.015, **own, **settings})
    return MODELS[name](data.knowledge, data.layout, given, data.manifest["backbones"], seed)


def fitted(case, data, seed=0, train=None, valid=None, **settings):
    model = built(case, data, seed, **settings)
    model.fit(train or data["train"], valid or data["valid"])
    return model


def right(said, test):
    return float((said.labels["y"].codes == test.labels[:, 0]).mean())


def read(said, test):
    return [float((said.concepts[name].codes == test.concepts[:, i]).mean()) for i, name in enumerate("abc")]


class Trained(dict):
    """Models by case, each trained when it is first asked for: tests may be shared among processes."""

    def __init__(self, data):
        self.data = data

    def __missing__(self, case):
        return self.setdefault(case, fitted(case, self.data))


@pytest.fixture(scope="module")
def trained(data):
    return Trained(data)


@pytest.mark.parametrize("case", sorted(set(FAMILY) - {"bears", "ltn"}))
def test_an_easy_rule_is_learned(case, trained, data):
    said = trained[case].predict(data["test"])
    assert right(said, data["test"]) > 0.95
    assert min(read(said, data["test"])) > 0.95


@pytest.mark.parametrize("case", sorted(FAMILY))
def test_a_model_that_is_told_what_it_says_itself_says_the_same(case, trained, data):
    model, test = trained[case], data["test"]
    said = model.predict(test)
    own = {name: answer.probabilities for name, answer in said.concepts.items()}
    for told in (own, {"b": own["b"]}):
        again = model.predict(test, told)
        assert np.array_equal(again.labels["y"].probabilities, said.labels["y"].probabilities)
        assert all(np.array_equal(again.concepts[n].probabilities, own[n]) for n in own)


@pytest.mark.parametrize("case", ["joint-hard", "cem-hard", "probcbm-hard", "dcr-hard"])
def test_hard_concepts_may_be_told_as_codes_too(case, trained, data):
    model, test = trained[case], data["test"]
    said = model.predict(test)
    again = model.predict(test, {name: answer.codes for name, answer in said.concepts.items()})
    assert np.array_equal(again.labels["y"].probabilities, said.labels["y"].probabilities)


@pytest.mark.parametrize("case", sorted(FAMILY))
def test_only_the_examples_that_are_told_something_change(case, trained, data):
    model, test = trained[case], data["test"]
    said = model.predict(test)
    given = said.concepts["c"].probabilities.copy()
    given[:10] = 1 - np.eye(2)[said.concepts["c"].codes[:10]]
    after = model.predict(test, {"c": given})
    assert np.array_equal(after.labels["y"].probabilities[10:], said.labels["y"].probabilities[10:])
    assert np.allclose(after.concepts["c"].probabilities[:10], given[:10])
    assert not np.allclose(after.labels["y"].probabilities[:10], said.labels["y"].probabilities[:10])


def test_probabilities_that_do_not_fit_are_refused(trained, data):
    test, message = data["test"], "'a' needs 64 codes from 0 to 1, one for each example, or 64 x 2 probabilities"
    for given in (
        np.full((64, 2), 0.4),
        np.full((64, 3), 1 / 3),
        np.full((64, 2), np.nan),
        np.array([["x", "y"]] * 64),
    ):
        with pytest.raises(ConfigError, match=message):
            trained["joint"].predict(test, {"a": given})


def blind(split):
    """Return the split with the last pixel dark: the concept c cannot be seen."""
    dark = replace(split)
    images = split.images.copy()
    images[:, :, 2] = 0
    dark.__dict__["images"] = images
    return dark


@pytest.mark.parametrize("case", ["independent", "rule", "cem", "probcbm", "ecbm", "dcr-hard"])
def test_telling_what_cannot_be_seen_helps(case, data):
    train, valid, test = (blind(data[name]) for name in ("train", "valid", "test"))
    model = fitted(case, data, 0, train, valid)
    before = right(model.predict(test), test)
    after = right(model.predict(test, {"c": test.concepts[:, 2]}), test)
    assert before < 0.75
    assert after > before + 0.15


def hidden(split, share, by_value=False):
    """Return the split with concepts missing: at random, or more often where they are true, as in the paper's D.4."""
    rng, table = np.random.default_rng(3), split.table
    for place, concept in enumerate(split.knowledge.space.concepts):
        codes = split.concepts[:, place]
        chance = np.clip(np.where(codes > 0, 1.5, 0.5) * share, 0, 1) if by_value else share
        column = pa.array([concept.values[code] for code in codes], mask=rng.random(len(codes)) < chance)
        table = table.append_column(GIVEN + CONCEPT + concept.name, column)
    return replace(split, table=table)


SLOW = {("ecbm", True), ("probcbm", True)}  # as with concepts missing at random
MISSING = [
    pytest.param(case, by_value, marks=pytest.mark.slow if (case, by_value) in SLOW else ())
    for case in MINE
    for by_value in (False, True)
]


@pytest.mark.parametrize(("case", "by_value"), MISSING)
def test_missing_concepts_are_trained_with(case, by_value, data):
    train, valid = (hidden(data[name], 0.3, by_value) for name in ("train", "valid"))
    assert 0.2 < (train.given_concepts < 0).mean() < 0.4
    model = fitted(case, data, 0, train, valid)
    said = model.predict(data["test"])
    assert all(np.isfinite(epoch.loss) for epoch in model.history)
    assert right(said, data["test"]) > 0.9
    assert min(read(said, data["test"])) > 0.9


@pytest.mark.parametrize("case", MINE)
def test_no_concept_at_all_is_no_trouble(case, data):
    train, valid = (hidden(data[name], 1.0) for name in ("train", "valid"))
    said = fitted(case, data, 0, train, valid, epochs=2).predict(data["test"])
    for answer in [*said.labels.values(), *said.concepts.values()]:
        assert np.isfinite(answer.probabilities).all()


@pytest.mark.parametrize("how", ["predicted", "frequency"])
def test_an_independent_head_is_told_of_missing_concepts_what_is_set(how, trained, data):
    model = built("independent", data, missing=how)
    batch = to_batch(hidden(data["train"], 0.5), torch.device("cpu"))
    loss = model.phases(batch)[1].loss
    dark = replace(batch, images=torch.zeros_like(batch.images))
    assert torch.isfinite(loss(batch))
    assert torch.equal(loss(batch), loss(dark)) == (how == "frequency")


def test_shown_concepts_are_certain_and_others_as_they_were():
    own = [torch.tensor([[0.2, 0.8], [0.6, 0.4]])]
    told = insert_truth(torch.tensor([[0], [-1]]), torch.tensor([[True], [False]]), own)[0]
    assert told.tolist() == [[1.0, 0.0], own[0][1].tolist()]


def test_concepts_intervened_on_are_drawn_for_examples_or_for_the_batch():
    """The authors of CEM draw once for a batch: each of its examples that may be is told of the same concepts."""
    torch.manual_seed(0)
    known = torch.ones(400, 8, dtype=torch.bool)
    by_example, by_batch = sample_mask(known, 0.25), sample_mask(known, 0.25, "batch")
    assert len(by_example.unique(dim=0)) > 50 and len(by_batch.unique(dim=0)) == 1
    assert 0.2 < by_example.float().mean() < 0.3
    known[0] = False
    assert not sample_mask(known, 1.0, "batch")[0].any()


def test_perturbed_concepts_are_drawn_for_examples_or_for_the_batch(data):
    torch.manual_seed(0)
    codes = torch.zeros(400, 3, dtype=torch.long)
    kinds = {}
    for how in ("example", "batch"):
        model = built("ecbm", data, perturbed=0.5, perturbed_by=how)
        kinds[how] = len(model._perturb(codes).unique(dim=0))
    assert kinds["example"] == 8 and kinds["batch"] <= 2


def test_an_energy_beside_the_picture_sees_the_features_of_all_concepts(data):
    own, shared = built("ecbm", data), built("ecbm", data, reads="picture")
    assert shared.of_concept.project.in_features == len(data.knowledge.space) * own.of_concept.project.in_features
    pictures = torch.rand(4, data.layout.channels, data.layout.height, data.layout.width)
    for model, others in ((own, False), (shared, True)):
        features = [part.detach() for part in model.eval().encoder(pictures)]
        moved = [features[0], *(part + 1 for part in features[1:])]
        before, after = (model.concept_energies(each, [v[None] for v in model.values])[0] for each in (features, moved))
        assert torch.allclose(before, after) != others


def test_hardening_lets_gradients_pass():
    own = torch.tensor([[0.1, 0.7, 0.2]], requires_grad=True)
    hard = harden([own])[0]
    (hard * torch.tensor([[1.0, 2.0, 3.0]])).sum().backward()
    assert hard.tolist() == [[0.0, 1.0, 0.0]]
    assert own.grad.tolist() == [[1.0, 2.0, 3.0]]


def test_what_is_near_to_the_own_answer_leaves_it_untouched():
    own = torch.tensor([[0.2, 0.8], [0.2, 0.8]])
    given = torch.tensor([[0.2000001, 0.7999999], [0.21, 0.79]])
    assert is_set(own, given).tolist() == [False, True]
    assert torch.equal(apply_interventions([own], {0: given})[0], torch.stack([own[0], given[1]]))


def test_the_rule_as_head_gives_the_labels_of_the_rule(trained, data):
    model, space = trained["rule"], data.knowledge.space
    codes = torch.from_numpy(space.all_codes().astype(np.int64))
    concepts = [torch.nn.functional.one_hot(codes[:, i], 2).float() for i in range(3)]
    found = model.labels_from_concepts(concepts)[0]
    assert torch.equal(found.argmax(1), torch.from_numpy(data.knowledge.labels_of(codes.numpy())[:, 0]))
    assert not list(model.head.parameters())


def test_all_true_is_a_head(tmp_path):
    data = pixels(tmp_path / "data", formula="a and b and c")
    model = MODELS["cbm"](data.knowledge, data.layout, Settings({"head": "and", "backbone": "mlp"}))
    found = model.labels_from_concepts(
        [torch.tensor([[0.5, 0.5]]), torch.tensor([[0.2, 0.8]]), torch.tensor([[0, 1.0]])]
    )
    assert torch.allclose(found[0], torch.tensor([[0.6, 0.4]]))


def test_all_true_needs_truth_values(made):
    data = made("mnadd", splits={"train": 4, "valid": 4, "test": 4})
    with pytest.raises(ConfigError, match="head 'and' needs truth values only, and '\\w+' has others; try 'rule'"):
        MODELS["cbm"](data.knowledge, data.layout, Settings({"head": "and"}), data.manifest["backbones"])


def test_the_linear_layer_can_be_reached(trained, data):
    assert trained["joint"].linear.weight.shape == (2, 6)
    assert trained["sequential-mlp"].linear is None
    assert trained["rule"].linear is None


def test_the_search_lowers_the_energy(trained, data):
    model = trained["ecbm"]
    batch = to_batch(data["test"], torch.device("cpu"))
    weights = (1.0, 1.0, 1.0)
    with torch.no_grad():
        features = model.encoder(batch.pictures)
        concepts, labels = model.search(features, {}, weights)
        flat = [torch.full_like(one, 1 / one.shape[1]) for one in [*concepts, *labels]]
        before, after = (
            model.energy(features, flat[:3], flat[3:], weights),
            model.energy(features, concepts, labels, weights),
        )
    assert (after < before).float().mean() > 0.9


def test_true_values_have_less_energy(trained, data):
    model, batch = trained["ecbm"], to_batch(data["test"], torch.device("cpu"))
    with torch.no_grad():
        energies = model.concept_energies(model.encoder(batch.pictures), [one[None] for one in model.values])
    for place, energy in enumerate(energies):
        assert (energy.argmin(dim=1) == batch.concepts[:, place]).float().mean() > 0.95


def test_answers_do_not_depend_on_the_other_examples(trained, data):
    rows = np.array([5, 40, 3])
    for case in ("cem", "probcbm", "ecbm", "dcr"):
        some, whole = trained[case].predict(data["test"].take(rows)), trained[case].predict(data["test"])
        assert np.allclose(some.labels["y"].probabilities, whole.labels["y"].probabilities[rows], atol=1e-5)


def test_learned_rules_can_be_read(trained, data):
    model, test = trained["dcr"], data["test"]
    rules = model.rules(test)
    assert sum(rule.examples for rule in rules) == len(test)
    assert sum(rule.right for rule in rules) == len(test)
    assert str(rules[0]).startswith("y == False if ")
    for rule in rules:
        assert parse(str(rule.formula)) == rule.formula


def test_the_rules_of_hard_concepts_hold_where_they_are_used(trained, data):
    model, test = trained["dcr-hard"], data["test"]
    said = model.predict(test)
    sure = said.labels["y"].probabilities.max(axis=1) > 0.9
    codes = np.stack([said.concepts[name].codes for name in "abc"], axis=1)
    formulas = model.rules_of(test)["y"]
    assert sure.any()
    for row in np.flatnonzero(sure)[:20]:
        assert evaluate(formulas[row], data.knowledge.space, codes[row : row + 1])[0]


def test_all_rules_together_are_the_rule(trained, data):
    model, space = trained["dcr-hard"], data.knowledge.space
    codes = space.all_codes()
    found = model.learned_formulas(data["train"])
    truth = data.knowledge.labels_of(codes)[:, 0]
    assert np.array_equal(evaluate(found["y", True], space, codes), truth == 1)
    assert np.array_equal(evaluate(found["y", False], space, codes), truth == 0)


@pytest.mark.parametrize("case", ["cem", "dcr-hard"])
def test_parity_is_learned_though_each_pixel_has_its_own_reader(case, tmp_path):
    data = pixels(tmp_path / "data", formula="(a != b) != c")
    assert right(fitted(case, data, epochs=25).predict(data["test"]), data["test"]) > 0.95


def test_atoms_of_many_values_are_comparisons(made):
    data = made("mnadd", splits={"train": 32, "valid": 16, "test": 16})
    model = MODELS["dcr"](data.knowledge, data.layout, Settings({"epochs": 1}), data.manifest["backbones"])
    assert len(model.atoms) == sum(data.knowledge.space.sizes)
    rule = model.rules(data["test"])[0].formula
    assert parse(str(rule)) == rule


@pytest.mark.parametrize("case", ["cem", "probcbm", "ecbm", "dcr"])
def test_seeds_are_trained_side_by_side(case, data):
    models = [built(case, data, seed, epochs=8) for seed in (0, 1)]
    fit_together(models, data["train"], data["valid"])
    said = [model.predict(data["test"]) for model in models]
    assert min(right(one, data["test"]) for one in said) > 0.8
    assert not np.array_equal(said[0].labels["y"].probabilities, said[1].labels["y"].probabilities)


def test_labels_softmaxed_twice_are_trained_as_rsbench_does(tmp_path):
    data = pixels(tmp_path)
    model = MODELS["cbm"](data, settings={"softmax_twice": True}, seed=0)
    logits, labels = [torch.tensor([[2.0, -1.0], [0.5, 0.5]])], torch.tensor([[0], [1]])
    twice = torch.nn.functional.cross_entropy(logits[0].softmax(dim=1), labels[:, 0])
    assert torch.allclose(model.label_loss(logits, labels), twice)


def test_a_head_on_logits_gets_logs_that_end_at_one_in_a_million(tmp_path):
    data = pixels(tmp_path)
    model = MODELS["cbm"](data, settings={"reads": "logits"}, seed=0)
    certain = [torch.tensor([[1.0, 0.0]])] * len(data.knowledge.space)
    (found,) = model.labels_from(certain)
    inputs = torch.cat(certain, dim=1).clamp(min=1e-6).log()
    assert torch.allclose(found, model.head(inputs))
    with pytest.raises(ConfigError, match="reads: a head that is given .'rule'. reads probabilities, not logits"):
        MODELS["cbm"](data, settings={"reads": "logits", "head": "rule"}, seed=0)
