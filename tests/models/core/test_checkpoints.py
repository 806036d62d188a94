"""A run that is ended anywhere goes on and ends with the very weights and history of one that was let alone."""

import json

import pytest
import torch

from assay.config import Settings
from assay.errors import DataError
from assay.models import Order, train_run, train_together
from assay.models.core import checkpoints
from assay.models.core.checkpoints import _set_moments
from assay.runs import CHECKPOINT, RunFolder
from tests.pixels import QUICK

SETTINGS = {**QUICK, "epochs": 5, "patience": 3, "backbone": "mlp"}
MODELS = [("dpl", {}), ("cbm", {"mode": "sequential"}), ("probcbm", {}), ("bears", {"members": 2})]


class Killed(BaseException):
    """Stands for what no code can catch."""


@pytest.fixture(autouse=True)
def keep_every_epoch(monkeypatch):
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    monkeypatch.setattr(checkpoints.Checkpoint.__init__, "__defaults__", (0.0,))


def order(name, settings, seed=2):
    return Order(name, Settings({**SETTINGS, **settings}), seed)


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


def test_seeds_that_were_finished_before_the_kill_stay(data, tmp_path, monkeypatch):
    plan, seeds = order("dpl", {}), [0, 7]
    train_together(plan, seeds, data, tmp_path / "quiet")
    finish, finished = RunFolder.predictions, []

    def kill_at_the_second(self, split):
        if self.folder.name == "seed7":
            raise Killed
        finished.append(split)
        return finish(self, split)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(RunFolder, "predictions", kill_at_the_second)
        train_together(plan, seeds, data, tmp_path / "killed")
    before = (tmp_path / "killed" / "seed0" / "run.json").stat().st_mtime_ns
    train_together(plan, seeds, data, tmp_path / "killed")
    assert finished and (tmp_path / "killed" / "seed0" / "run.json").stat().st_mtime_ns == before
    for seed in seeds:
        assert files(tmp_path / "killed" / f"seed{seed}") == files(tmp_path / "quiet" / f"seed{seed}")
    with pytest.raises(DataError, match="holds a finished run"):
        train_together(plan, seeds, data, tmp_path / "killed")


def test_checkpoints_are_not_written_all_the_time(data, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints.Checkpoint.__init__, "__defaults__", (1000.0,))
    written = []
    write = checkpoints.write_atomically
    monkeypatch.setattr(checkpoints, "write_atomically", lambda *what: (written.append(what), write(*what)))
    train_run(order("dpl", {}), data, tmp_path / "run")
    assert len(written) == 1


def test_the_record_says_how_it_was_trained(data, tmp_path):
    train_run(order("dpl", {"epochs": 1}), data, tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["training"] == {"device": "cpu", "precision": "float32", "held": True, "captured": False}


def test_moments_lie_in_memory_as_their_parameters_do():
    weights = torch.nn.Parameter(torch.rand(4, 3, 5, 5).to(memory_format=torch.channels_last))
    optimizer = torch.optim.Adam([weights])
    _set_moments(optimizer, {"0.exp_avg": torch.rand(4, 3, 5, 5), "0.step": torch.tensor(3.0)})
    state = optimizer.state[weights]
    assert state["exp_avg"].stride() == weights.stride() and state["step"].item() == 3  # a fused step needs both alike
