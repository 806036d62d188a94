"""Devices and what is set on them: which one, seeds, threads, number formats, streams, free memory."""

import ctypes
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from assay.base import ConfigError, digest, worker_number
from assay.models.core.precision import check_precision

if TYPE_CHECKING:
    from assay.models.core.training import Training

MEMORY = "/proc/meminfo"
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
"""Parameters of glibc's `mallopt`: how much free memory at the end is given back; how many blocks are mapped apart."""


def device_of(name: str) -> torch.device:
    """Return the device of this name; `auto` takes a GPU if there is one, and of several that of this worker."""
    if name == "auto":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return torch.device(f"cuda:{worker_number() % count}" if count else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"device {name!r} cannot be used: {str(error).splitlines()[0]}") from None
    return device


def describe_gpu() -> str:
    """Return which GPUs PyTorch can compute on, in words."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    names = ", ".join(dict.fromkeys(torch.cuda.get_device_name(place) for place in range(count)))
    return f"PyTorch {torch.__version__}, {f'{count} x {names}' if count else 'no GPU'}"


def device_for(config: "Training") -> torch.device:
    """Return the device to train on, or refuse what it cannot compute."""
    device = device_of(config.device)
    check_precision(config.precision, device)
    return device


def seed_of(seed: int, *purpose: object) -> int:
    """Return the number that seeds torch for one purpose."""
    return int.from_bytes(digest(seed, *purpose)[:6], "little")


def seed_all(seed: int, *purpose: object) -> None:
    """Seed torch for one purpose."""
    torch.manual_seed(seed_of(seed, *purpose))


def one_thread() -> None:
    """Let torch compute in one thread: sums then have one order, and processes do not fight for cores."""
    torch.set_num_threads(1)


def reuse_memory() -> None:
    """Let the C library keep what it frees, instead of giving it back to the system and asking for it at every step.

    Pages that come back from the system are cleared first, which takes a third to a half of the time of a training on
    the CPU. Other C libraries than glibc have no such setting and stay as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


@contextmanager
def determinism(wanted: bool) -> Iterator[None]:
    """Refuse operations that give other bytes each time, while something runs."""
    before = torch.are_deterministic_algorithms_enabled()
    if wanted:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # as cuBLAS asks for
        torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


@contextmanager
def number_formats(config: "Training", device: torch.device) -> Iterator[None]:
    """Let a GPU use TensorFloat-32 and its fastest convolutions, while something runs."""
    if device.type != "cuda":
        yield
        return
    matrices, convolutions = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matrices.allow_tf32, convolutions.allow_tf32, convolutions.benchmark
    matrices.allow_tf32 = convolutions.allow_tf32 = config.tf32
    convolutions.benchmark = not config.deterministic
    try:
        yield
    finally:
        matrices.allow_tf32, convolutions.allow_tf32, convolutions.benchmark = before


@contextmanager
def own_stream(device: torch.device) -> Iterator[None]:
    """Compute on a stream of one's own, which can be captured; the default one cannot."""
    if device.type != "cuda":
        yield
        return
    usual = torch.cuda.current_stream(device)
    own = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    own.wait_stream(usual)
    with torch.cuda.device(device), torch.cuda.stream(own):
        yield
    usual.wait_stream(own)


def free_memory(device: torch.device) -> float:
    """Return the bytes that are free on a device; infinity where the system cannot tell."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    try:
        lines = Path(MEMORY).read_text(encoding="ascii").splitlines()
    except OSError:
        return math.inf
    return next((int(line.split()[1]) * 1024.0 for line in lines if line.startswith("MemAvailable")), math.inf)
