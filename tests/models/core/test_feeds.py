"""A split that does not fit is streamed: the same batches, the same weights, and never more than a few pictures."""

import numpy as np
import pytest
import torch

from assay.config import Settings
from assay.data import DecodedFile
from assay.models import MODELS
from assay.models.core.devices import free_memory
from assay.models.core.feeds import Feed
from tests.pixels import QUICK

CPU = torch.device("cpu")


def orders(feed, seeds=2):
    return torch.stack([torch.randperm(len(feed)) for _ in range(seeds)])


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("channels_last", [False, True])
def test_streamed_batches_are_those_of_a_held_split(data, repeats, channels_last):
    held = Feed(data["train"], CPU, channels_last=channels_last)
    streamed = Feed(data["train"], CPU, 0.0, channels_last, repeats)
    assert held.is_held and not streamed.is_held
    for _ in range(2):  # the second time from the file of decoded pictures
        order = orders(held)
        parts = list(zip(held.batches(order, 7), streamed.batches(order, 7), strict=True))
        assert len(parts) == -(-len(held) // 7)
        for (rows, none), (same, images) in parts:
            assert none is None and torch.equal(rows, same)
            for seed in range(2):
                one, other = held.take(rows[seed]), streamed.take(rows[seed], images[seed])
                assert torch.equal(one.images, other.images) and one.images.stride() == other.images.stride()
                assert torch.equal(one.labels, other.labels) and torch.equal(one.concepts, other.concepts)


def test_chunks_and_chosen_rows_are_the_same(data):
    held, streamed = (Feed(data["test"], CPU, share) for share in (0.25, 0.0))
    assert torch.equal(torch.cat(list(held.chunks(9))), torch.cat(list(streamed.chunks(9))))
    rows = np.array([5, 2, 9, 2])
    one, other = (torch.cat(list(feed.choose(rows).chunks(3))) for feed in (held, streamed))
    assert torch.equal(one, other) and torch.equal(one[1], one[3])
    assert torch.equal(torch.cat(list(held.choose(slice(2, 5)).chunks(2))), torch.cat(list(held.chunks(99)))[2:5])


def test_pictures_that_are_not_held_must_be_given(data):
    with pytest.raises(ValueError, match="not held"):
        Feed(data["test"], CPU, 0.0).take(torch.tensor([0]))


@pytest.mark.parametrize("name", ["cbm", "cem"])  # labels from concepts alone, and from running the network again
def test_a_streamed_run_ends_with_the_same_weights_and_answers(name, data):
    models = []
    for share in (0.25, 0.0):
        settings = Settings({**QUICK, "epochs": 2, "backbone": "mlp", "memory_share": share})
        models.append(MODELS[name](data.knowledge, data.layout, settings, seed=1))
        models[-1].fit(data["train"], data["valid"])
    assert [model.training_facts["held"] for model in models] == [True, False]
    one, other = (model.state_dict() for model in models)
    assert all(torch.equal(one[key], other[key]) for key in one)
    truth = {"a": data["test"].concepts[:, 0]}
    said = [model.predict(data["test"], truth).labels["y"].probabilities for model in models]
    assert np.array_equal(*said)
    rows = np.arange(3)
    given = {0: np.eye(2)[data["test"].concepts[rows, 0]]}
    answers = [model.intervene(data["test"]).answer(rows, given).labels[0] for model in models]
    assert np.array_equal(*answers)


def test_a_training_that_is_streamed_never_decodes_the_whole_split(data, monkeypatch):
    train = data["train"]
    most = []
    decode = type(train).decode_into

    def counted(self, images, rows):
        most.append(len(rows))
        decode(self, images, rows)

    monkeypatch.setattr(type(train), "decode_into", counted)
    settings = Settings({**QUICK, "epochs": 1, "backbone": "mlp", "memory_share": 0.0, "batch_size": 8})
    MODELS["blackbox"](data.knowledge, data.layout, settings).fit(train, data["valid"])
    assert most and max(most) <= 16 and "images" not in train.__dict__


def test_pictures_are_decoded_once_and_read_from_then_on(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    pictures = np.random.default_rng(0).integers(0, 256, (6, 3, 4, 1), dtype=np.uint8)
    asked = []

    def decode(images, rows):
        asked.extend(rows.tolist())
        images[:] = pictures[rows]

    file = DecodedFile(decode, 6, (3, 4, 1))
    for rows in ([1, 4], [4, 0, 1], [5, 5, 2]):
        room = np.zeros((len(rows), 3, 4, 1), dtype=np.uint8)
        file.fill(room, np.array(rows))
        assert np.array_equal(room, pictures[rows])
    assert asked == [1, 4, 0, 5, 5, 2]
    assert list((tmp_path / "decoded").iterdir()) == []  # the file has no name


def test_a_disk_without_room_means_decoding_again(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    monkeypatch.setattr("assay.data.decoded_file.SHARE", 0.0)
    asked = []
    file = DecodedFile(lambda images, rows: asked.extend(rows.tolist()), 2, (1, 1, 1))
    for _ in range(2):
        file.fill(np.zeros((1, 1, 1, 1), dtype=np.uint8), np.array([1]))
    assert asked == [1, 1]


def test_free_memory_is_what_the_system_says(tmp_path, monkeypatch):
    assert 1e8 < free_memory(CPU) < 1e15
    told = tmp_path / "meminfo"
    told.write_text("MemTotal: 9 kB\nMemAvailable:    2 kB\n")
    monkeypatch.setattr("assay.models.core.devices.MEMORY", str(told))
    assert free_memory(CPU) == 2048
    monkeypatch.setattr("assay.models.core.devices.MEMORY", str(tmp_path / "none"))
    assert free_memory(CPU) == float("inf")
