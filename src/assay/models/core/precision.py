"""Whether this machine can compute in the precision of a setting, tested before training begins.

Some CPUs, those of virtual machines above all, advertise matrix instructions (AMX) that they may not use. The first
product of bfloat16 matrices then ends the process, which no `except` can catch: so a process of its own tries it.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from assay.base import ConfigError, start_program

if TYPE_CHECKING:
    import torch

PROBE = (sys.executable, "-P", "-c", "from assay.models.core.precision import compute_in_bfloat16 as go; go()")
SECONDS = 120.0
"""How long the probe may take; nearly all of it is the import of torch, which is slow on a busy machine."""


def check_precision(precision: str, device: "torch.device") -> None:
    """Refuse bfloat16 on a CPU that cannot compute in it."""
    if precision != "bfloat16" or device.type != "cpu":
        return
    fault = bfloat16_fault()
    if fault is not None:
        raise ConfigError(f"precision bfloat16: {fault}; use precision=float32")


@cache
def bfloat16_fault() -> str | None:
    """Return why this CPU cannot compute in bfloat16, or None if it can; it is tried once in the life of a process."""
    return probe(PROBE, SECONDS)


def probe(command: Sequence[str], seconds: float) -> str | None:
    """Run a command that computes in bfloat16 and return how it failed, or None if it did not."""
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

    import torch
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
