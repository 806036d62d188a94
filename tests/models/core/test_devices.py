"""The device of training is the one that is asked for, of several GPUs that of a worker; what is set on it is put back."""

import pytest
import torch

from assay.models import describe_gpu, device_for, one_thread
from tests.models.tiles import model_of, tiles

CPU = torch.device("cpu")


@pytest.fixture
def gpus(monkeypatch):
    """Let there be three GPUs."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda place: "abb"[place])


def test_a_gpu_is_taken_where_there_is_one(gpus):
    assert device_for("auto", "float32").type == "cuda" and device_for("cpu", "float32") == CPU
    assert describe_gpu() == f"PyTorch {torch.__version__}, 3 x a, b"


def test_the_cpu_is_taken_where_there_is_none(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_for("auto", "float32") == CPU and describe_gpu().endswith(", no GPU")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("tf32", [True, False])
@pytest.mark.parametrize("deterministic", [True, False])
def test_number_formats_are_those_of_the_settings_and_put_back(tf32, deterministic):
    def formats():
        return torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark

    usual, seen = formats(), set()
    model = model_of("blackbox", {"device": "cuda", "epochs": 1, "tf32": tf32, "deterministic": deterministic})
    model.fit(tiles()["train"], tiles()["valid"], lambda epoch, epochs: seen.add(formats()))
    assert seen == {(tf32, tf32, not deterministic)} and formats() == usual


def test_sums_have_one_order_in_one_thread():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        one_thread()
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
