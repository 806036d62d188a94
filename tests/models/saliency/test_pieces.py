"""Saliency by hand: weights drawn anew from the top down, what is explained and where, patches of any size."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from assay.concepts import bits
from assay.config import Settings
from assay.errors import ConfigError, DataError, UnknownName
from assay.logic import Knowledge
from assay.models import SaliencyPlan
from assay.models.saliency import places, planning
from assay.models.saliency.methods import IntegratedGradients, Occlusion, input_gradient, pixel_gradients
from assay.models.saliency.places import SaliencyPlaces
from assay.models.saliency.planning import SaliencyConfig, attribution_for, choose_concepts, choose_examples
from assay.models.saliency.randomised import (
    WeightedLayer,
    draw_weights,
    kept_weights,
    randomise_downwards,
    stage_ends,
    weighted_layers,
)
from assay.seeds import rng_for


def test_usual_settings_of_saliency():
    config, plan = SaliencyConfig(), SaliencyPlan.of("occlusion", Settings({}))
    assert (config.baseline, config.steps, config.patch, config.stride, config.check) == (
        "mean",
        32,
        None,
        None,
        "cascade",
    )
    assert (config.check_examples, config.pictures, config.concepts) == (40, 24, [])
    assert (plan.examples, plan.split, plan.seed) == (200, "test", 0)
    with pytest.raises(UnknownName, match="no saliency method named 'oclusion'; did you mean 'occlusion'"):
        SaliencyPlan.of("oclusion", Settings({}))


# -- weights drawn anew ------------------------------------------------------------------------------------------------


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.unused, self.last, self.first = nn.Linear(2, 2), nn.Linear(3, 1), nn.Linear(2, 3)
        self.scale = nn.Parameter(torch.tensor([2.0, 4.0]))

    def forward(self, rows):
        return self.last(self.first(self.first(rows * self.scale)[:, :2]))


def test_layers_called_last_come_first_and_those_not_called_at_the_end():
    net = Net()
    found = weighted_layers(net, lambda: net(torch.ones(1, 2)))
    assert [layer.name for layer in found] == ["", "last", "first", "unused"]
    assert all(not part._forward_hooks for part in net.modules())


@pytest.mark.parametrize(
    ("layers", "cascade", "most", "ends"),
    [(4, False, 6, [4]), (6, True, 6, [1, 2, 3, 4, 5, 6]), (7, True, 6, [1, 1, 3, 4, 6, 7]), (10, True, 3, [1, 5, 10]),
     (20, True, 6, [1, 4, 8, 12, 16, 20]), (1, True, 6, [1])],
)  # fmt: skip
def test_maps_are_looked_at_after_some_layers_and_after_all(layers, cascade, most, ends):
    assert stage_ends(layers, cascade, most) == ends and stage_ends(9, True) == stage_ends(9, True, 6)


def test_weights_are_drawn_as_layers_begin_or_with_their_mean_and_deviation():
    torch.manual_seed(0)
    layer = nn.Linear(300, 1)
    nn.init.constant_(layer.weight, 5.0)
    draw_weights(layer)
    assert layer.weight.abs().max() <= 1 / 300**0.5
    plain = nn.Module()
    plain.many = nn.Parameter(torch.linspace(8, 12, 4000))
    plain.one, plain.same = nn.Parameter(torch.tensor([7.0])), nn.Parameter(torch.full((4000,), 3.0))
    draw_weights(plain)
    assert plain.many.mean().item() == pytest.approx(10, abs=0.1) and plain.many.std().item() == pytest.approx(
        1.15, abs=0.1
    )
    assert plain.same.mean().item() == pytest.approx(3, abs=0.1) and plain.same.std().item() == pytest.approx(
        1, abs=0.1
    )
    assert plain.one.item() != 7 and abs(plain.one.item() - 7) < 5


def test_layers_are_drawn_one_after_the_other_and_put_back():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Linear(2, 2))
    net[1].running_mean.fill_(3.0)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    layers = [WeightedLayer("2", net[2]), WeightedLayer("1", net[1]), WeightedLayer("0", net[0])]

    def changed():
        return {name for name, value in net.state_dict().items() if not torch.equal(value, before[name])}

    torch.manual_seed(9)
    state = torch.random.get_rng_state()
    seen = []
    for number, layer in randomise_downwards(net, layers, [1, 3], 4):
        seen.append((number, layer.name, changed(), net[2].weight.detach().clone()))
    assert [(number, name) for number, name, _, _ in seen] == [(1, "2"), (3, "0")]
    assert seen[0][2] == {"2.weight", "2.bias"} and {"0.weight", "2.weight"} <= seen[1][2] and changed() == set()
    assert torch.equal(seen[0][3], seen[1][3]) and torch.equal(torch.random.get_rng_state(), state)
    again = [net[2].weight.detach().clone() for _ in randomise_downwards(net, layers, [1], 4)]
    other = [net[2].weight.detach().clone() for _ in randomise_downwards(net, layers, [1], 5)]
    assert torch.equal(again[0], seen[0][3]) and not torch.equal(other[0], seen[0][3])
    with pytest.raises(KeyError), kept_weights(net):
        net[1].running_mean.fill_(0)
        raise KeyError
    assert changed() == set()


# -- what is explained -------------------------------------------------------------------------------------------------


class Split(SimpleNamespace):
    def __len__(self):
        return self.size

    def take(self, rows):
        return rows.tolist()


def dataset(**changed):
    usual = {"size": 9, "columns": ("image",), "layout": SimpleNamespace(width=4)}
    return type("Data", (dict,), {"folder": "here"})(test=Split(**{**usual, **changed}))


def plan(method="occlusion", examples=4, seed=2, **settings):
    return SaliencyPlan.of(method, Settings(settings), examples=examples, seed=seed)


def test_examples_are_drawn_by_the_seed_and_kept_in_order():
    order = rng_for(2, "saliency", "test").permutation(9)
    assert choose_examples(dataset(), plan()) == sorted(order[:4].tolist())
    assert choose_examples(dataset(), plan(examples=99)) == list(range(9))
    for wrong in (dataset(columns=("text",)), dataset(layout=SimpleNamespace(width=0))):
        with pytest.raises(DataError, match="'here' has no pictures: there is nothing to draw maps of"):
            choose_examples(wrong, plan())
    for wrong, asked in ((dataset(size=0), 4), (dataset(), 0)):
        with pytest.raises(DataError, match=f"examples, and {asked} are asked for"):
            choose_examples(wrong, plan(examples=asked))


def test_a_single_example_is_enough():
    order = rng_for(2, "saliency", "test").permutation(9)
    assert choose_examples(dataset(), plan(examples=1)) == [int(order[0])]
    assert choose_examples(dataset(size=1), plan(examples=1)) == [0]


def test_the_first_twelve_concepts_are_explained_unless_others_are_named():
    names = [f"c{number}" for number in range(13)]
    few, many = (SimpleNamespace(knowledge=Knowledge.of(bits(names[:k]), {"y": "c0"})) for k in (12, 13))
    with_concepts, without = (SimpleNamespace(name="m", has_concepts=has) for has in (True, False))
    assert choose_concepts(with_concepts, few, plan()) == (tuple(names[:12]), "")
    chosen, note = choose_concepts(with_concepts, many, plan())
    assert list(chosen) == names[:12] and note.startswith("The first 12 of 13 concepts are explained;")
    assert choose_concepts(with_concepts, many, plan(concepts=["c12", "c3"])) == (["c12", "c3"], "")
    assert choose_concepts(without, many, plan()) == ([], "") and planning.MOST_CONCEPTS == 12
    with pytest.raises(ConfigError, match="'m' predicts no concepts, so none can be explained"):
        choose_concepts(without, many, plan(concepts=["c1"]))


def test_a_method_is_made_for_the_pictures():
    images = np.arange(2 * 2 * 3 * 1, dtype=np.uint8).reshape(2, 2, 3, 1)
    split = Split(size=2, layout=SimpleNamespace(channels=1, height=2, width=3), batches=lambda size: [(0, images)])
    model = SimpleNamespace(name="m", network=nn.Linear(1, 1), device="cpu")
    assert attribution_for(plan("occlusion", patch=2, stride=1), model, split) == Occlusion(2, 1)
    assert attribution_for(plan("input-gradient"), model, split) is input_gradient
    mean = attribution_for(plan("integrated-gradients", steps=5), model, split)
    np.testing.assert_allclose(mean.baseline, images.mean(axis=0).transpose(2, 0, 1) / 255, atol=1e-6)
    black = attribution_for(plan("integrated-gradients", baseline="black"), model, split)
    assert mean.steps == 5 and not black.baseline.any() and black.baseline.shape == (1, 2, 3)
    model.network = None
    with pytest.raises(ConfigError, match="'m' has no gradients, which grad-cam needs; use --method occlusion"):
        attribution_for(plan("grad-cam"), model, split)


@pytest.mark.parametrize(
    ("size", "asked", "patch", "step"),
    [((64, 80), (None, None), 8, 4), ((4, 9), (None, None), 1, 1), ((20, 90), (None, 2), 2, 2), ((20, 9), (50, None), 9, 4),
     ((28, 28), (7, None), 7, 3)],
)  # fmt: skip
def test_patches_suit_the_pictures(size, asked, patch, step):
    assert Occlusion.of_size(*size, *asked) == Occlusion(patch, step) and Occlusion(2, 1).fill == 0.5


def test_falls_are_averaged_over_the_patches_of_a_pixel():
    torch.manual_seed(0)
    pictures, weights = torch.rand(2, 2, 3, 5), torch.rand(2, 3, 5)

    def scores(given):
        total = (given * weights).flatten(1).sum(dim=1)
        return torch.stack([total, total**2])

    found = Occlusion(2, 2, 0.25)(scores, pictures)
    falls, times = torch.zeros(2, 2, 3, 5), torch.zeros(3, 5)
    for top in (0, 1):
        for left in (0, 2, 3):
            hidden = pictures.clone()
            hidden[:, :, top : top + 2, left : left + 2] = 0.25
            falls[:, :, top : top + 2, left : left + 2] += (scores(pictures) - scores(hidden))[:, :, None, None]
            times[top : top + 2, left : left + 2] += 1
    np.testing.assert_allclose(found, falls / times, atol=1e-5)


def test_gradients_of_pixels_and_along_the_way_from_a_baseline():
    torch.manual_seed(1)
    pictures, weights = torch.rand(2, 2, 3, 4), torch.randn(2, 3, 4)

    def scores(given):
        total = (given * weights).flatten(1).sum(dim=1)
        return torch.stack([total, total**3])

    total = scores(pictures)[0]
    found = pixel_gradients(scores, pictures)
    np.testing.assert_allclose(found[1], (3 * total**2)[:, None, None, None] * weights, atol=1e-4)
    np.testing.assert_allclose(input_gradient(scores, pictures)[0, 1], weights.abs().sum(dim=0), atol=1e-5)
    baseline = torch.full((2, 3, 4), 0.2)
    method = IntegratedGradients(baseline, 3)
    maps = method(scores, pictures)
    start = (baseline * weights).sum()
    slopes = [3 * (start + share * (total - start)) ** 2 for share in (1 / 6, 3 / 6, 5 / 6)]
    wanted = ((pictures - baseline) * weights).sum(dim=1) * (sum(slopes) / 3)[:, None, None]
    np.testing.assert_allclose(maps[1], wanted, atol=1e-4)
    gaps, change = method.gaps(scores, pictures, maps)
    np.testing.assert_allclose(change[1], (total**3 - start**3).abs(), atol=1e-4)
    np.testing.assert_allclose(gaps[1], (maps[1].sum(dim=(1, 2)) - (total**3 - start**3)).abs(), atol=1e-4)
    assert gaps[0].max() < 1e-4 and IntegratedGradients(baseline).steps == 32


def test_what_is_not_scored_is_told():
    made = SaliencyPlaces((), {}, {}, ())
    score = [SimpleNamespace(target=name, chance=chance) for name, chance in (("a", 1.0), ("b", 0.999), ("c", 0.9995))]
    unseen = [SimpleNamespace(target="d", is_mark=False), SimpleNamespace(target="e", is_mark=True)]
    whole, hidden = made.missing(score, unseen)
    assert whole == "What shows a and c cover the whole picture: these scores say nothing."
    assert hidden == "Not scored, since no pixels show them or all maps are blank: d."
    assert made.missing(score[:1], unseen[1:]) == ["What shows a covers the whole picture: these scores say nothing."]
    assert made.missing(score[1:2], []) == []


def test_marks_without_a_place_are_told(monkeypatch):
    couplings = [SimpleNamespace(name="stripe", count=2), SimpleNamespace(name="hue", count=3)]
    monkeypatch.setattr(places, "confounders_of", lambda dataset: couplings)
    area = np.ones((2, 3), dtype=bool)
    monkeypatch.setattr(
        places, "mark_area", lambda name, count, shape: area if (name, count, shape) == ("stripe", 2, "s") else None
    )
    areas, notes = places._marks(None, SimpleNamespace(picture_shape="s"))
    assert areas == {"stripe": area} and notes == [
        "Confounder 'hue' has no place of its own in the picture: it is not scored."
    ]
    knowledge = Knowledge.of(bits(["a", "b", "c"]), {"y": "a and c", "z": "b"})
    assert places._used(knowledge, 0) == ("a", "c") and places._used(knowledge, 1) == ("b",)
