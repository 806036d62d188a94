"""Just-in-time compilation of the ray tracer: once on a machine, then read from a cache keyed by its source."""

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config as settings

from assay.base import private_folder

Function = TypeVar("Function", bound=Callable[..., Any])
config: Any = settings
jit: Any = numba.njit
HERE = Path(__file__).parent
NOT_COMPILED = {"__init__", "blender", "blender_worker"}
"""Files whose functions are not compiled."""


def kernel(function: Function) -> Function:
    """Compile a function that Python calls; without fast mathematics, so that results are the same everywhere.

    Kernels allocate no arrays, so reference counting (`_nrt`) is off, which halves the time.
    """
    before, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder())
    try:
        machine_code: Function = jit(cache=True, nogil=True, error_model="numpy", _nrt=False)(function)
        return machine_code
    finally:
        config.CACHE_DIR = before


def subroutine(function: Function) -> Function:
    """Compile a function that only kernels call; it is cached as a part of them."""
    machine_code: Function = jit(
        nogil=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    return machine_code


@cache
def cache_folder() -> Path:
    """Return where machine code is kept: in the user's cache, or in a temporary place where that cannot be written.

    Its name holds a hash of all the tracer's files, because a function's code holds that of those it calls.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(HERE.glob("*.py")):
        if path.stem not in NOT_COMPILED:
            digest.update(path.read_bytes())
    name = f"tracer-{digest.hexdigest()[:16]}"
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for base in (config.CACHE_DIR, home / "assay"):
        if base and _writable(Path(base) / name):
            return Path(base) / name
    return private_folder(Path(tempfile.gettempdir()) / f"assay-{os.getuid()}") / name


def _writable(path: Path) -> bool:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(path, os.W_OK)
