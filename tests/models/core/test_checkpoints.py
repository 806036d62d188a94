"""A run that is ended anywhere goes on and ends with the very weights and history of one that was let alone."""

import json
import shutil
import time
from itertools import count as counting

import pytest
import torch

from assay.base import DataError, Settings
from assay.models import TrainSpec, train_run, train_together
from assay.runs import CHECKPOINT
from tests.pixels import QUICK

SETTINGS = {**QUICK, "epochs": 5, "patience": 3, "backbone": "mlp"}
MODELS = [("dpl", {}), ("cbm", {"mode": "sequential"}), ("probcbm", {}), ("bears", {"members": 2})]


class Killed(BaseException):
    """Stands for what no code can catch."""


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Let much time pass whenever somebody looks at the clock, so that every epoch is kept."""
    monkeypatch.setattr(time, "monotonic", counting(0.0, 100.0).__next__)


def order(name, settings, seed=2):
    return TrainSpec(name, Settings({**SETTINGS, **settings}), seed)


def killed_after(count):
    """Return a report that ends the run in the given epoch, counted over all phases."""
    seen = []

    def report(epoch, epochs):
        seen.append(epoch)
        if len(seen) == count:
            raise Killed

    return report


def files(folder):
    return {name: (folder / name).read_bytes() for name in ("model.safetensors", "history.json")}


@pytest.mark.parametrize(("name", "settings"), MODELS)
def test_a_killed_run_ends_with_the_same_weights(name, settings, data, tmp_path):
    quiet = train_run(order(name, settings), data, tmp_path / "quiet")
    for count in (2, 1, 3):  # killed, and killed again, in one phase and the next
        with pytest.raises(Killed):
            train_run(order(name, settings), data, tmp_path / "killed", killed_after(count))
    assert (tmp_path / "killed" / CHECKPOINT).exists()
    torch.manual_seed(99)  # what others draw must not matter
    again = train_run(order(name, settings), data, tmp_path / "killed")
    assert files(tmp_path / "killed") == files(tmp_path / "quiet")
    assert not (tmp_path / "killed" / CHECKPOINT).exists() and again.history == quiet.history


def test_epochs_that_were_kept_are_not_run_again(data, tmp_path):
    with pytest.raises(Killed):
        train_run(order("dpl", {}), data, tmp_path / "run", killed_after(4))
    seen = []
    train_run(order("dpl", {}), data, tmp_path / "run", lambda epoch, epochs: seen.append(epoch.number))
    assert seen == [4, 5]  # the fourth was reported and not yet kept


@pytest.mark.parametrize("other", [{"learning_rate": 0.003}, {"epochs": 4}, {"batch_size": 16}])
def test_a_checkpoint_of_other_settings_is_not_taken_up(other, data, tmp_path):
    with pytest.raises(Killed):
        train_run(order("dpl", {}), data, tmp_path / "run", killed_after(3))
    seen = []
    train_run(order("dpl", other), data, tmp_path / "run", lambda epoch, epochs: seen.append(epoch.number))
    train_run(order("dpl", other), data, tmp_path / "quiet")
    assert files(tmp_path / "run") == files(tmp_path / "quiet")
    assert seen[0] == 1 and SETTINGS.items().isdisjoint(other.items())  # from the beginning, as these are others


def flipped(data):
    """Return the bytes with one bit of the last tensor changed."""
    return data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]


@pytest.mark.parametrize("damage", [lambda _: b"", lambda _: b"no file of tensors", lambda data: data[:-1000], flipped])
def test_a_damaged_checkpoint_is_as_good_as_none(damage, data, tmp_path):
    with pytest.raises(Killed):
        train_run(order("dpl", {}), data, tmp_path / "run", killed_after(3))
    path = tmp_path / "run" / CHECKPOINT
    path.write_bytes(damage(path.read_bytes()))
    train_run(order("dpl", {}), data, tmp_path / "run")
    train_run(order("dpl", {}), data, tmp_path / "quiet")
    assert files(tmp_path / "run") == files(tmp_path / "quiet")


def test_seeds_side_by_side_go_on_together(data, tmp_path):
    plan, seeds = order("dpl", {}), [0, 7]
    train_together(plan, seeds, data, tmp_path / "quiet")
    with pytest.raises(Killed):
        train_together(plan, seeds, data, tmp_path / "killed", killed_after(3))
    train_together(plan, seeds, data, tmp_path / "killed")
    for seed in seeds:
        assert files(tmp_path / "killed" / f"seed{seed}") == files(tmp_path / "quiet" / f"seed{seed}")


def test_seeds_that_were_finished_before_the_kill_stay(data, tmp_path):
    plan, seeds = order("dpl", {}), [0, 7]
    train_together(plan, seeds, data, tmp_path / "quiet")
    shutil.copytree(tmp_path / "quiet", tmp_path / "killed")
    (tmp_path / "killed" / "seed7" / "run.json").unlink()  # killed before the second was finished
    before = (tmp_path / "killed" / "seed0" / "run.json").stat().st_mtime_ns
    train_together(plan, seeds, data, tmp_path / "killed")
    assert (tmp_path / "killed" / "seed0" / "run.json").stat().st_mtime_ns == before
    for seed in seeds:
        assert files(tmp_path / "killed" / f"seed{seed}") == files(tmp_path / "quiet" / f"seed{seed}")
    with pytest.raises(DataError, match="holds a finished run"):
        train_together(plan, seeds, data, tmp_path / "killed")


def test_checkpoints_are_not_written_all_the_time(data, tmp_path, monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 5.0)  # the clock stands still
    with pytest.raises(Killed):
        train_run(order("dpl", {}), data, tmp_path / "run", killed_after(4))
    seen = []
    train_run(order("dpl", {}), data, tmp_path / "run", lambda epoch, epochs: seen.append(epoch.number))
    assert seen == [2, 3, 4, 5]  # only the first was kept


@pytest.mark.parametrize("name", ["adamw", "sgd", "rmsprop"])
def test_every_optimizer_goes_on_after_a_kill(name, data, tmp_path):
    plan = order("cbm", {"optimizer": name})
    train_run(plan, data, tmp_path / "quiet")
    with pytest.raises(Killed):
        train_run(plan, data, tmp_path / "run", killed_after(3))
    train_run(plan, data, tmp_path / "run")
    assert files(tmp_path / "run") == files(tmp_path / "quiet")


def test_the_record_says_how_it_was_trained(data, tmp_path):
    train_run(order("dpl", {"epochs": 1}), data, tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["training"] == {"device": "cpu", "precision": "float32", "held": True, "captured": False}
