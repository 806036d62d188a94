"""Functions of tensors that are run as CUDA graphs: one launch instead of hundreds.

A graph repeats the kernels of one call on the same memory. So a function can be captured if it decides nothing on the
CPU and waits for nothing: that is tried in its first calls, which count as calls like any other. One that cannot be is
run as it is, and `refusal` says why.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from assay.base import RunFailed

WARM = 3
"""How often a function is called for inputs of one size before it is captured: libraries make themselves ready then."""
Key = tuple[torch.Size | None, ...]


class Captured:
    """A function that is called as it is at first, and from then on as a CUDA graph, one for each size of its inputs.

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
