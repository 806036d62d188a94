"""Slot attention by hand: what a round does, how slots are drawn, ordered and trained, on a few numbers."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from assay.models.discovery import slots as module
from assay.models.discovery.method import SplitRows
from assay.models.discovery.slots import DrawnSize, SlotAttention, SlotAutoencoder, Slots, SlotsConfig, grid


def test_the_usual_settings_are_those_of_the_docs():
    config = SlotsConfig()
    found = (config.slots, config.width, config.rounds, config.side, config.steps, config.batch_size)
    assert found == (4, 24, 3, 32, 400, 32) and config.learning_rate == 4e-3


@torch.no_grad()
def test_slots_compete_for_places_and_take_the_mean_of_what_they_win():
    torch.manual_seed(1)
    attention = SlotAttention(3, 4, 2)
    assert (
        attention.start.shape == (3, 4)
        and [p.bias for p in (attention.query, attention.key, attention.value)] == [None] * 3
    )
    assert [tuple(layer.weight.shape) for layer in (attention.mlp[0], attention.mlp[2])] == [(8, 4), (4, 8)]
    places = 2 * torch.randn(2, 5, 4)
    found, shares = attention(places)
    for example in range(2):
        seen = attention.norm_places(places[example])
        slots = attention.start
        for _ in range(2):
            scores = attention.query(attention.norm_slots(slots)) @ attention.key(seen).T / np.sqrt(4)
            won = scores.exp() / scores.exp().sum(dim=0)
            means = torch.stack([(row[:, None] * attention.value(seen)).sum(dim=0) / row.sum() for row in won])
            slots = attention.update(means, slots)
            slots = slots + attention.mlp(attention.norm_out(slots))
        np.testing.assert_allclose(found[example], slots, atol=1e-5)
        np.testing.assert_allclose(shares[example], won, atol=1e-5)


def test_slots_start_small():
    torch.manual_seed(0)
    assert SlotAttention(400, 25, 1).start.std().item() == pytest.approx(0.2, rel=0.05)


def test_a_grid_goes_row_by_row():
    wanted = [[x / 2, y, 1 - x / 2, 1 - y] for y in (0, 1) for x in (0, 1, 2)]
    np.testing.assert_allclose(grid(2, 3), wanted)


@torch.no_grad()
def test_each_slot_is_drawn_by_itself_and_mixed_by_its_mask():
    torch.manual_seed(2)
    network = SlotAutoencoder(2, 8, 12, SlotsConfig(slots=3, width=5, rounds=1))
    assert network.places_shape == (4, 6) and network.canvas_shape == (2, 3)
    kernels = [
        (tuple(layer.weight.shape), layer.stride, layer.padding)
        for layer in (*network.encoder, *network.decoder)
        if hasattr(layer, "weight")
    ]
    assert kernels == [
        ((5, 2, 5, 5), (1, 1), (2, 2)),
        ((5, 5, 5, 5), (2, 2), (2, 2)),
        ((5, 5, 3, 3), (1, 1), (1, 1)),
        ((5, 5, 4, 4), (2, 2), (1, 1)),
        ((5, 16, 4, 4), (2, 2), (1, 1)),
        ((3, 16, 3, 3), (1, 1), (1, 1)),
    ]
    pictures = torch.randn(2, 2, 8, 12)
    slots, attention = network.encode(pictures)
    maps = network.encoder(pictures)
    flat = torch.stack([maps[:, :, y, x] for y in range(4) for x in range(6)], dim=1)
    again, same = network.attention(network.mix(flat + network.places(grid(4, 6))))
    np.testing.assert_allclose(slots, again, atol=1e-5)
    np.testing.assert_allclose(attention, same, atol=1e-5)
    drawn = network(pictures)
    assert drawn.shape == pictures.shape
    canvas = network.canvas(grid(2, 3)).T.reshape(5, 2, 3)
    for example in range(2):
        each = [network.decoder((canvas + slot[:, None, None])[None])[0] for slot in slots[example]]
        weights = torch.stack([one[2] for one in each]).exp()
        wanted = sum(one[:2] * weight for one, weight in zip(each, weights, strict=True)) / weights.sum(dim=0)
        np.testing.assert_allclose(drawn[example], wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("given", "size"),
    [((28, 56, 32), (16, 32)), ((64, 48, 16), (16, 12)), ((8, 80, 40), (8, 40)), ((7, 9, 18), (16, 16))],
)
def test_pictures_are_drawn_in_sides_that_four_divides(given, size):
    assert DrawnSize.of(*given) == DrawnSize(*size)


def test_pictures_are_taken_to_mean_0_and_deviation_1():
    images = torch.tensor([[[[0, 51], [102, 255]]], [[[0, 0], [0, 204]]]], dtype=torch.uint8)
    plain = images.float() / 255
    scaled = DrawnSize(2, 2).scaled_for(images)
    assert (scaled.height, scaled.width) == (2, 2)
    assert scaled.mean == pytest.approx(0.3) and scaled.deviation == pytest.approx(float(plain.std()))
    np.testing.assert_allclose(scaled(images), (plain - 0.3) / plain.std(), atol=1e-6)
    assert DrawnSize(2, 2).scaled_for(torch.full((2, 1, 2, 2), 9, dtype=torch.uint8)).deviation == pytest.approx(1e-6)
    wide = torch.arange(32, dtype=torch.uint8).reshape(1, 1, 4, 8)
    np.testing.assert_allclose(
        DrawnSize(2, 4)(wide), F.interpolate(wide / 255, (2, 4), mode="bilinear", antialias=True), atol=1e-7
    )


def method(network, size=None, seed=3, **settings):
    made = Slots(SlotsConfig(device="cpu", **settings), seed)
    made.network, made.size = network, size or DrawnSize(1, 2)
    return made


class Guess(nn.Module):
    """A network that gives one number, whatever it sees."""

    def __init__(self, value):
        super().__init__()
        self.value, self.seen = nn.Parameter(torch.tensor(value)), []

    def forward(self, pictures):
        self.seen.append(pictures.flatten().tolist())
        return self.value.expand_as(pictures)


def test_what_is_explained_is_in_units_of_the_variance_of_each_pixel():
    rows = torch.tensor([[0, 255], [51, 0], [204, 102]], dtype=torch.uint8).reshape(3, 1, 1, 2)
    plain = rows.flatten(1).numpy() / 255
    wanted = 1 - ((0.25 - plain) ** 2).mean() / plain.var(axis=0).mean()
    assert method(Guess(0.25))._explained(SplitRows(None, rows)) == pytest.approx(wanted, abs=1e-5)


def test_the_pace_rises_to_a_tenth_of_the_steps_and_falls_to_an_eighth(monkeypatch):
    rates, slopes, told = [], [], []

    class Watched(torch.optim.SGD):
        def step(self, closure=None):
            rates.append(self.param_groups[0]["lr"])
            slopes.append(self.param_groups[0]["params"][0].grad.item())
            return super().step(closure)

    monkeypatch.setattr(module.torch.optim, "Adam", Watched)
    network = Guess(0.3)
    pictures = torch.tensor([0.0, 100.0]).reshape(2, 1, 1, 1)
    made = method(network, steps=25, batch_size=3, learning_rate=0.5)
    made._descend(pictures, torch.Generator().manual_seed(5), lambda *said: told.append(said))
    assert rates == pytest.approx([0.5 * min((step + 1) / 2, 0.5 ** (3 * step / 25)) for step in range(25)])
    assert told == [("slots, seed 3", step, 25) for step in (0, 10, 20)]
    generator = torch.Generator().manual_seed(5)
    value = 0.3
    for rate, slope, seen in zip(rates, slopes, network.seen, strict=True):
        batch = pictures[torch.randint(2, (3,), generator=generator)].flatten()
        assert seen == batch.tolist()
        wanted = max(-1.0, min(1.0, 2 * (value - batch.mean().item())))
        assert slope == pytest.approx(wanted, abs=1e-4)
        value -= rate * slope
    assert max(map(abs, slopes)) == pytest.approx(1, abs=1e-4) and network.value.item() == pytest.approx(
        value, abs=1e-3
    )


def test_one_step_is_taken_at_the_full_rate(monkeypatch):
    rates = []

    class Watched(torch.optim.SGD):
        def step(self, closure=None):
            rates.append(self.param_groups[0]["lr"])

    monkeypatch.setattr(module.torch.optim, "Adam", Watched)
    method(Guess(0.3), steps=2, batch_size=1, learning_rate=0.5)._descend(
        torch.zeros(1, 1, 1, 1), torch.Generator(), lambda *_: None
    )
    assert rates == pytest.approx([0.5, 0.5 * 0.5**1.5])


def test_units_are_slots_from_left_to_right_with_their_centre_and_share(monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 2)
    network = Guess(0.0)
    network.places_shape = (2, 3)
    slots = torch.arange(12.0).reshape(3, 2, 2)
    attention = torch.tensor(
        [
            [[0, 0, 0.9, 0, 0, 0.6], [1, 0.5, 0, 0, 0, 0]],
            [[1, 0, 0, 3, 0, 0], [0, 0, 0, 0, 2, 0]],
            [[0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 0]],
        ]
    )
    parts = iter([slice(2), slice(2, 3)])

    def encode(pictures):
        part = next(parts)
        assert len(pictures) == len(slots[part])
        return slots[part], attention[part]

    network.encode = encode
    units = method(network, DrawnSize(4, 6)).units(SplitRows(None, torch.zeros(3, 1, 4, 6, dtype=torch.uint8)))
    assert units.dtype == np.float64
    np.testing.assert_allclose(
        units,
        [
            [2, 3, 1 / 6, 0, 1.5 / 6, 0, 1, 1, 0.4, 1.5 / 6],
            [4, 5, 0, 0.75, 4 / 6, 6, 7, 0.5, 1, 2 / 6],
            [10, 11, 0.25, 0, 2 / 6, 8, 9, 0.5, 1, 3 / 6],
        ],
        atol=1e-6,
    )


def test_a_fit_is_scaled_by_the_training_pictures_and_judged_on_validation(monkeypatch):
    seen = []
    monkeypatch.setattr(Slots, "_explained", lambda self, split: 0.256 if split == "valid" else 0)
    monkeypatch.setattr(Slots, "_descend", lambda self, pictures, generator, report: seen.append(pictures))
    made = Slots(SlotsConfig(device="cpu", slots=2, width=4, side=16), 0)
    rows = torch.arange(3 * 2 * 8 * 16, dtype=torch.int32).remainder(256).to(torch.uint8).reshape(3, 2, 8, 16)
    made.fit(SimpleNamespace(rows=rows), "valid", None)
    assert made.notes == ["the slots explain 26% of the variance of validation's pixels"]
    assert (made.size.height, made.size.width) == (8, 16) and made.network.places_shape == (4, 8)
    assert seen[0].shape == (3, 2, 8, 16) and float(seen[0].mean()) == pytest.approx(0, abs=1e-5)
    assert float(seen[0].std()) == pytest.approx(1, abs=1e-5) and made.network.encoder[0].in_channels == 2


def test_slots_are_ordered_across_and_not_down():
    network = Guess(0.0)
    network.places_shape = (2, 3)
    slots = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]])
    attention = torch.tensor([[[0, 0, 2.0, 0, 0, 0], [0, 0, 0, 3.0, 0, 0], [0, 1.0, 0, 0, 1.0, 0]]])
    network.encode = lambda pictures: (slots, attention)
    units = method(network, DrawnSize(4, 6)).units(SplitRows(None, torch.zeros(1, 1, 4, 6, dtype=torch.uint8)))
    wanted = [3, 4, 0, 1, 3 / 6, 5, 6, 0.5, 0.5, 2 / 6, 1, 2, 1, 0, 2 / 6]  # the leftmost lies lowest
    np.testing.assert_allclose(units, [wanted], atol=1e-6)
