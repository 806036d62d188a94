"""Devices and what is set on them: which one, precision, seeds, threads, streams, memory, and functions as CUDA graphs.

Some CPUs, those of virtual machines above all, advertise matrix instructions (AMX) that they may not use. The first
product of bfloat16 matrices then ends the process, which no `except` can catch: so a process of its own tries it.
"""

import ctypes
import math
import os
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from assay.base import ConfigError, RunFailed, digest, start_program, worker_number
from assay.models.core.settings import Training

MEMORY = "/proc/meminfo"
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
"""Parameters of glibc's `mallopt`: how much free memory at the end is given back; how many blocks are mapped apart."""
PROBE = (sys.executable, "-P", "-c", "from assay.models.core.devices import compute_in_bfloat16 as go; go()")
SECONDS = 120.0
"""How long the probe may take; nearly all of it is the import of torch, which is slow on a busy machine."""
WARM = 3
"""How often a function is called for inputs of one size before it is captured: libraries make themselves ready then."""
Key = tuple[torch.Size | None, ...]


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


def device_for(name: str, precision: str) -> torch.device:
    """Return the device to train on in a precision, refusing bfloat16 on a CPU that cannot compute in it."""
    device = device_of(name)
    fault = _try_program(PROBE, SECONDS) if precision == "bfloat16" and device.type == "cpu" else None
    if fault is not None:
        raise ConfigError(f"precision bfloat16: {fault}; use precision=float32")
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
def computing(config: Training, device: torch.device) -> Iterator[None]:
    """Compute as the settings say, while something runs; deterministic: what gives other bytes each time is refused."""
    before = torch.are_deterministic_algorithms_enabled()
    if config.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # as cuBLAS asks for
        torch.use_deterministic_algorithms(True)
    try:
        with _on_gpu(config, device) if device.type == "cuda" else nullcontext():
            yield
    finally:
        torch.use_deterministic_algorithms(before)


@contextmanager
def _on_gpu(config: Training, device: torch.device) -> Iterator[None]:
    """Let a GPU use TensorFloat-32, its fastest convolutions, and a stream that can be captured; the default cannot."""
    matrices, convolutions = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matrices.allow_tf32, convolutions.allow_tf32, convolutions.benchmark
    matrices.allow_tf32 = convolutions.allow_tf32 = config.tf32
    convolutions.benchmark = not config.deterministic
    usual = torch.cuda.current_stream(device)
    own = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    own.wait_stream(usual)
    try:
        with torch.cuda.device(device), torch.cuda.stream(own):
            yield
        usual.wait_stream(own)
    finally:
        matrices.allow_tf32, convolutions.allow_tf32, convolutions.benchmark = before


def free_memory(device: torch.device) -> float:
    """Return the bytes that are free on a device; infinity where the system cannot tell."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    try:
        lines = Path(MEMORY).read_text(encoding="ascii").splitlines()
    except OSError:
        return math.inf
    return next((int(line.split()[1]) * 1024.0 for line in lines if line.startswith("MemAvailable")), math.inf)


@cache
def _try_program(command: Sequence[str], seconds: float) -> str | None:
    """Run a program that computes in bfloat16 and return how it failed, or None if it did not; once for each."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path)}
    with start_program(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            _, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"this CPU does not end a bfloat16 matrix product within {seconds:g} s"
    if process.returncode < 0:  # ended by a signal
        return "this CPU dies on bfloat16 matrix products"
    if process.returncode > 0:
        last = (errors.strip().splitlines() or [f"exit status {process.returncode}"])[-1]
        return f"this CPU fails on bfloat16 matrix products ({last})"
    return None


def compute_in_bfloat16() -> None:
    """Compute what networks compute, each product large enough for the instructions that are made for matrices."""
    import resource

    from torch.nn.functional import conv2d, scaled_dot_product_attention

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # should this process die, it leaves no core file
    pictures = torch.randn(8, 32, 16, 16, requires_grad=True)
    kernels = torch.randn(32, 32, 3, 3, requires_grad=True)
    stacked = torch.randn(32, 16, 3, 3, requires_grad=True)
    weights = torch.randn(16, 64, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        maps = conv2d(pictures, kernels, padding=1).relu()
        maps = conv2d(maps, stacked, padding=1, groups=2)  # as seeds that are trained side by side
        rows = maps.flatten(2) @ (maps.flatten(2).mT @ torch.ones(32, 16))
        features = rows.flatten(0, 1) @ weights
        heads = features.view(2, 2, 64, 64)
        total = scaled_dot_product_attention(heads, heads, heads).sum() + (features[0] @ weights.mT).sum()
    total.backward()  # type: ignore[no-untyped-call]


class Captured:
    """A function that is called as it is at first, and from then on as a CUDA graph, one for each size of its inputs.

    A graph is one launch instead of hundreds: it repeats the kernels of one call on the same memory. So a function can
    be captured if it decides nothing on the CPU and waits for nothing: that is tried in its first calls, which count as
    calls like any other. One that cannot be is run as it is, and `refusal` says why.

    It may return nothing or a tensor, which the next call overwrites. `state` are tensors that a call changes; they are
    put back where the first call stops half-way because it cannot be captured.
    """

    def __init__(self, function: Callable[..., Tensor | None], state: Sequence[Tensor] = ()) -> None:
        self.function, self.state = function, state
        self.refusal: str | None = None
        self._calls: Counter[Key] = Counter()
        self._graphs: dict[Key, tuple[torch.cuda.CUDAGraph, list[Tensor | None], Tensor | None]] = {}
        self._pool: Any = None

    def forget(self) -> None:
        """Capture again at the next call: what the function reads from Python has changed."""
        self._graphs.clear()
        self._pool = None

    def __call__(self, *inputs: Tensor | None) -> Tensor | None:
        """Call the function, or repeat it by its graph."""
        if self.refusal is not None:
            return self.function(*inputs)
        key = tuple(None if tensor is None else tensor.shape for tensor in inputs)
        self._calls[key] += 1
        if self._calls[key] <= WARM:
            return self._try(inputs)
        if key not in self._graphs:
            self._capture(key, inputs)
        graph, places, output = self._graphs[key]
        for place, tensor in zip(places, inputs, strict=True):
            if place is not None and tensor is not None:
                place.copy_(tensor)
        graph.replay()
        return output

    def _try(self, inputs: Sequence[Tensor | None]) -> Tensor | None:
        """Call the function where waiting for the GPU is an error; if it waits, call it again as it is."""
        before = [tensor.clone() for tensor in self.state]
        randomness = torch.cuda.get_rng_state()
        try:
            with _refusing_to_wait():
                return self.function(*inputs)
        except RuntimeError as error:
            if "synchroniz" not in str(error):
                raise
            self.refusal = "it waits for the GPU inside a step"
        torch.cuda.set_rng_state(randomness)
        for tensor, value in zip(self.state, before, strict=True):
            tensor.copy_(value)
        return self.function(*inputs)

    def _capture(self, key: Key, inputs: Sequence[Tensor | None]) -> None:
        """Record the kernels of one call, on the stream in use, which must not be the default one."""
        graph = torch.cuda.CUDAGraph()
        places = [None if tensor is None else tensor.clone() for tensor in inputs]
        torch.cuda.synchronize()
        pool = {} if self._pool is None else {"pool": self._pool}
        try:
            graph.capture_begin(**pool, capture_error_mode="thread_local")
            output = self.function(*places)
            graph.capture_end()
        except (RuntimeError, AssertionError) as error:
            why = str(error).strip().splitlines()[0]
            raise RunFailed(f"a step cannot be captured as a CUDA graph ({why}); set captured=false") from None
        self._pool = graph.pool()
        self._graphs[key] = (graph, places, output)


@contextmanager
def _refusing_to_wait() -> Iterator[None]:
    """Make it an error to wait for the GPU."""
    usual = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it does not find every wait; capturing finds the others
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode(usual)
