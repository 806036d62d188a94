"""A Ray cluster: nodes get the names of their work, and write what they make straight to files."""

import logging
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.base import AssayError, ConfigError, Folder, RunFailed, needs_extras
from assay.contracts import ShardRecord
from assay.dataset import Recipe, ShardJob, ShardWriter, versions

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
LOOPBACK = ("127.0.0.1", "localhost")
TRIES = 3
"""How often a call is started whose worker or node dies."""
PAUSE = 0.3
QUEUE = 2
"""Calls handed to Ray at once, for each processor: enough that none idles, and a cluster that grows sees the need."""

_writers: dict[str, ShardWriter] = {}
"""The writer of the last recipe, which a worker keeps for its next shard."""


@dataclass(frozen=True, eq=False)
class Call:
    """A function of this package and its arguments, all of them small."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class WorkerLost:
    """Stands for the result of a call whose workers died."""

    times: int


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster: `auto` for the one of this machine, `local` for one that is started now, or its address."""

    address: str

    @property
    def processors(self) -> int:
        """How many processors its nodes have now."""
        return int(_connect(self.address).cluster_resources().get("CPU", 0))

    @property
    def gpu_share(self) -> float:
        """The part of a GPU for each of as many calls as there are processors, at most a whole one."""
        gpus = float(_connect(self.address).cluster_resources().get("GPU", 0))
        return min(1.0, int(1e4 * gpus / max(1, self.processors)) / 1e4)

    def run(
        self, calls: Sequence[Call], look: Callable[[], None] = lambda: None, gpus: bool = False
    ) -> Iterator[tuple[Call, Any]]:
        """Do the calls in any order and give each with its result as it comes; one whose worker dies is done again.

        With `gpus`, those of the cluster are shared out among the calls.
        """
        ray = _connect(self.address)
        there = Path.cwd(), versions()
        environment = {"env_vars": dict.fromkeys(THREADS, "1")}
        share = self.gpu_share if gpus else 0.0
        remote = ray.remote(num_cpus=1, num_gpus=share, max_retries=0, runtime_env=environment)(_do)
        waiting, under_way, tries = list(calls), dict[Any, Call](), dict.fromkeys((call.name for call in calls), 0)
        glance = _seldom(look)
        try:
            while waiting or under_way:
                most = max(1, QUEUE * self.processors)
                while waiting and len(under_way) < most:
                    call = waiting.pop(0)
                    tries[call.name] += 1
                    under_way[remote.options(name=call.name).remote(call.function, call.arguments, *there)] = call
                ended, _ = ray.wait(list(under_way), num_returns=len(under_way), timeout=PAUSE, fetch_local=False)
                glance()
                for reference in ended:
                    call = under_way.pop(reference)
                    result = _result(ray, reference)
                    if isinstance(result, WorkerLost) and tries[call.name] < TRIES:
                        waiting.insert(0, call)
                    else:
                        yield call, result
        finally:
            for reference in under_way:  # a training under way would take hours to end
                ray.cancel(reference, force=True)

    def shards(
        self, recipe: Recipe, folder: Folder, todo: dict[ShardJob, str | None]
    ) -> Iterator[tuple[ShardJob, ShardRecord]]:
        """Make the shards of a dataset; each node writes its own into the folder."""
        place = folder.resolve() if isinstance(folder, Path) else folder
        calls = {Call(job.file, _shard, (recipe, job, place, sha256)): job for job, sha256 in todo.items()}
        for call, result in self.run(list(calls)):
            if isinstance(result, WorkerLost):
                raise RunFailed(
                    f"{call.name}: its worker died {result.times} times; run the same command again to go on"
                )
            yield calls[call], result


def _seldom(look: Callable[[], None]) -> Callable[[], None]:
    """Return a look that is taken no more than a twentieth of the time, however much there is to see."""
    due = 0.0

    def glance() -> None:
        nonlocal due
        began = time.monotonic()
        if began >= due:
            look()
            ended = time.monotonic()
            due = ended + 20 * (ended - began)

    return glance


def _result(ray: Any, reference: Any) -> Any:
    """Return what a call gave, or that its worker died; an error of ours is raised as it is."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, AssayError):
            raise type(cause)(str(cause)) from None
        raise RunFailed(f"a node failed: {type(cause).__name__}: {cause}") from None
    except ray.exceptions.RuntimeEnvSetupError as error:
        raise RunFailed(f"a node cannot start workers: {error}") from None
    except ray.exceptions.RayError:  # the worker was killed or ran out of memory, or its node is gone
        return WorkerLost(TRIES)


def _connect(address: str) -> Any:
    """Return ray, connected; a session that is connected already is used."""
    for name, value in _environment(address).items():  # before the import, which reads it
        os.environ.setdefault(name, value)
    with needs_extras("a cluster"):
        import ray
    if not ray.is_initialized():
        own: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
        try:
            _knock(address)
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **own)
        except (OSError, ValueError, RuntimeError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ConfigError(f"no Ray cluster at {address!r} ({why}); start one: ray start --head") from None
    return ray


def _environment(address: str) -> dict[str, str]:
    """Return the environment variables of Ray, set before its import: no usage reports, the loopback address only."""
    variables = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    if address != "local":
        variables["RAY_gcs_server_port_wait_time_s"] = "1"  # try once, for 40 seconds
    host, _, port = address.rpartition(":")
    if address == "local" or (host in LOOPBACK and port.isdigit() and _answers(host, port)):
        variables["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # or else it takes this machine's outer address instead
    return variables


def _knock(address: str) -> None:
    """Raise an error unless something answers at an address; Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:
        hosts = [host, _outer()] if host in LOOPBACK else [host]
        if not any(_answers(name, port) for name in hosts):
            raise ConnectionError("nothing answers there")


def _answers(host: str, port: str) -> bool:
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError:
        return False
    return True


def _outer() -> str:
    """Return the address by which other machines know this one, which Ray takes for the loopback address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it only asks which way it would go
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def _do(function: Callable[..., Any], arguments: tuple[Any, ...], folder: Path, wanted: dict[str, str]) -> Any:
    """Do a call on a node: where the caller is, so that relative paths mean the same, and with the same versions."""
    installed = versions()
    if installed != wanted:
        name = next(name for name in wanted if installed.get(name) != wanted[name])
        raise RunFailed(f"a node has {name} {installed.get(name)}, not {wanted[name]}; install the same on all nodes")
    if folder.is_dir():
        os.chdir(folder)
    return function(*arguments)


def _shard(recipe: Recipe, job: ShardJob, folder: Folder, sha256: str | None) -> ShardRecord:
    return _writer(repr(recipe), recipe).ensure(job, folder, sha256)


def _writer(key: str, recipe: Recipe) -> ShardWriter:
    if key not in _writers:
        _writers.clear()  # one is large
        _writers[key] = ShardWriter(recipe)
    return _writers[key]
