"""A split that does not fit is streamed: the same batches, the same weights, and never more than a few pictures."""

import copy

import numpy as np
import pytest
import torch

from assay.dataset import SplitData
from tests.models.tiles import model_of, tiles

CPU = torch.device("cpu")


def feed_of(split, memory_share, *how):
    """Return a split on its way to a network."""
    return model_of("blackbox", {"memory_share": memory_share}).feed(tiles()[split], CPU, *how)


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("channels_last", [False, True])
def test_streamed_batches_are_those_of_a_held_split(repeats, channels_last):
    held = feed_of("train", 0.25, channels_last)
    streamed = feed_of("train", 0.0, channels_last, repeats)
    assert held.is_held and not streamed.is_held
    for _ in range(2):  # the second time from the file of decoded pictures
        orders = torch.stack([torch.randperm(len(held)) for _ in range(2)])
        parts = list(zip(held.batches(orders, 7), streamed.batches(orders, 7), strict=True))
        assert len(parts) == -(-len(held) // 7)
        for (rows, none), (same, images) in parts:
            assert none is None and torch.equal(rows, same)
            for seed in range(2):
                one, other = held.take(rows[seed]), streamed.take(rows[seed], images[seed])
                assert torch.equal(one.images, other.images) and one.images.stride() == other.images.stride()
                assert torch.equal(one.labels, other.labels) and torch.equal(one.concepts, other.concepts)


def test_chunks_and_chosen_rows_are_the_same():
    held, streamed = (feed_of("test", share) for share in (0.25, 0.0))
    whole = torch.from_numpy(tiles()["test"].images).permute(0, 3, 1, 2)
    for feed in (held, streamed):
        assert torch.equal(torch.cat(list(feed.chunks(9))), whole)
        for rows in (np.array([5, 2, 9, 2]), slice(2, 5), slice(None)):
            assert torch.equal(torch.cat(list(feed.choose(rows).chunks(3))), whole[rows])
    with pytest.raises(ValueError, match="not held"):
        streamed.take(torch.tensor([0]))


@pytest.mark.parametrize("name", ["cbm", "cem"])  # labels from concepts alone, and from running the network again
def test_a_streamed_run_ends_with_the_same_weights_and_answers(name):
    models, test = [], tiles()["test"]
    for share in (0.25, 0.0):
        models.append(model_of(name, {"epochs": 2, "batch_size": 10, "memory_share": share}))
        models[-1].fit(tiles()["train"], tiles()["valid"])
    assert [model.training_facts["held"] for model in models] == [True, False]
    assert all(map(torch.equal, *(model.state_dict().values() for model in models)))
    truth = {"left.big": test.concepts[:, 1]}
    assert np.array_equal(*(model.predict(test, truth).labels["y"].probabilities for model in models))
    rows = np.array([4, 0, 3])
    given = {1: np.eye(2)[test.concepts[rows, 1]]}
    assert np.array_equal(*(model.intervene(test).answer(rows, given).labels[0] for model in models))


class Counted(SplitData):
    """A split that notes how many pictures are decoded at once."""

    def decode_into(self, images, rows):
        self.__dict__.setdefault("asked", []).append(len(rows))
        super().decode_into(images, rows)


def test_a_training_that_is_streamed_never_decodes_the_whole_split_and_each_picture_once():
    train = copy.copy(tiles()["train"])
    train.__dict__.pop("images", None)
    object.__setattr__(train, "__class__", Counted)
    model = model_of("blackbox", {"epochs": 3, "memory_share": 0.0, "batch_size": 4})
    model.fit(train, tiles()["valid"])
    asked = train.__dict__["asked"]
    assert max(asked) <= 8 and "images" not in train.__dict__
    assert sum(asked) == len(train)  # later epochs read what was decoded


def test_a_disk_without_room_means_decoding_again(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    monkeypatch.setattr("assay.models.core.feeds.SHARE", 0.0)  # a limit: the share of the disk that may be used
    model = model_of("blackbox", {"epochs": 2, "memory_share": 0.0})
    model.fit(tiles()["train"], tiles()["valid"])
    held = model_of("blackbox", {"epochs": 2})
    held.fit(tiles()["train"], tiles()["valid"])
    assert all(map(torch.equal, model.parameters(), held.parameters()))
