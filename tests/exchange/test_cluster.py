"""Calls on a Ray cluster that is played here: all are done, one whose worker dies is done again, and not for ever."""

import os
import socket
import sys

import pytest

from assay.base import ConfigError, MissingExtra, RunFailed, Settings
from assay.dataset import make, recipe_from
from assay.exchange import Call, Cluster, WorkerLost

TRIES = 3


class Exceptions:
    class RayError(Exception):
        pass

    class RuntimeEnvSetupError(RayError):
        pass

    class RayTaskError(RayError):
        def __init__(self, cause):
            self.cause = cause


class Ray:
    """Stands for the package: does calls when asked for their results; `deaths`: how often the workers of a call die."""

    exceptions = Exceptions

    def __init__(self, processors=2, gpus=1, **deaths):
        self.deaths, self.resources = deaths, {"CPU": processors, "GPU": gpus}
        self.under_way, self.started, self.most, self.cancelled = {}, [], 0, []
        self.addresses, self.asked, self.there, self.broken = [], [], None, None

    def is_initialized(self):
        return bool(self.addresses)

    def init(self, address, **more):
        self.addresses.append((address, more))

    def cluster_resources(self):
        return self.resources

    def remote(self, **options):
        self.asked.append(options)

        def bound(function):
            def begin(name):
                def start(*arguments):
                    reference = len(self.started)
                    self.started.append(name)
                    self.under_way[reference] = (name, function, arguments)
                    self.most = max(self.most, len(self.under_way))
                    return reference

                return type("Named", (), {"remote": staticmethod(start)})

            return type("Remote", (), {"options": staticmethod(begin)})

        return bound

    def wait(self, references, **how):
        return references[:1], references[1:]

    def get(self, reference):
        name, function, (call, arguments, folder, versions) = self.under_way.pop(reference)
        if self.deaths.get(name, 0) > 0:
            self.deaths[name] -= 1
            raise Exceptions.RayError
        if self.broken is not None:
            raise self.broken
        try:
            return function(call, arguments, folder, {**versions, **(self.there or {})})
        except Exception as error:
            raise Exceptions.RayTaskError(error) from None

    def cancel(self, reference, force):
        self.cancelled.append(self.under_way.pop(reference)[0])


@pytest.fixture
def played(monkeypatch, tmp_path):
    """Let a played Ray be imported, in a folder and with environment variables of its own."""
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.chdir(tmp_path)

    def play(**how):
        ray = Ray(**how)
        monkeypatch.setitem(sys.modules, "ray", ray)
        return ray

    return play


def double(number):
    if number < 0:
        raise ConfigError("a number below 0")
    return 2 * number // (number != 99)


def calls(**numbers):
    return [Call(name, double, (number,)) for name, number in numbers.items()]


def test_every_call_is_done_with_one_thread_and_no_more_than_fit_are_under_way(played):
    ray, looks = played(), []
    many = calls(**{f"call{number}": number for number in range(20)})
    found = dict(Cluster("auto").run(many, lambda: looks.append(1)))
    assert {call.name: result for call, result in found.items()} == {f"call{n}": 2 * n for n in range(20)}
    assert 2 <= ray.most <= 4 and looks and not ray.cancelled
    (options,) = ray.asked
    assert (options["num_cpus"], options["num_gpus"], options["max_retries"]) == (1, 0.0, 0)
    assert options["runtime_env"]["env_vars"]["OMP_NUM_THREADS"] == "1"


def test_a_call_whose_workers_die_is_done_again_at_once_and_given_up_in_the_end(played):
    ray = played(once=1, always=100)
    found = {call.name: result for call, result in Cluster("auto").run(calls(once=1, always=2, never=3))}
    assert found == {"once": 2, "always": WorkerLost(TRIES), "never": 6}
    assert ray.started.count("once") == 2 and ray.started.count("always") == TRIES


def test_errors_of_ours_come_as_they_are_and_what_is_under_way_is_cancelled(played):
    ray = played()
    with pytest.raises(ConfigError, match="^a number below 0$"):
        list(Cluster("auto").run(calls(bad=-1, good=1)))
    assert ray.cancelled == ["good"]
    with pytest.raises(RunFailed, match="a node failed: ZeroDivisionError"):
        list(Cluster("auto").run(calls(other=99)))
    ray.broken = Exceptions.RuntimeEnvSetupError("x")
    with pytest.raises(RunFailed, match="a node cannot start workers: x"):
        list(Cluster("auto").run(calls(fine=1)))


def test_nodes_have_the_same_versions(played):
    played().there = {"numpy": "0.1"}
    with pytest.raises(RunFailed, match=r"a node has numpy .*, not 0.1; install the same on all nodes"):
        list(Cluster("auto").run(calls(one=1)))


@pytest.mark.parametrize(
    ("processors", "gpus", "share"), [(3, 1, 0.3333), (1, 1, 1.0), (8, 3, 0.375), (2, 3, 1.0), (0, 0, 0.0)]
)
def test_gpus_are_shared_out_among_processors(processors, gpus, share, played):
    ray = played(processors=processors, gpus=gpus)
    assert Cluster("auto").processors == processors and Cluster("auto").gpu_share == share
    assert [result for _, result in Cluster("auto").run(calls(a=1, b=2), gpus=True)] == [2, 4]
    assert ray.asked[-1]["num_gpus"] == share


def test_a_cluster_is_entered_once_without_reports_and_on_the_loopback_address_if_it_is_here(played):
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = f"127.0.0.1:{server.getsockname()[1]}"
        for address, loopback in (("local", True), (here, True), ("auto", False)):
            os.environ.pop("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", None)
            ray = played()
            assert Cluster(address).processors == Cluster(address).processors == 2
            assert [name for name, _ in ray.addresses] == [address]
            assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
            assert ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER" in os.environ) == loopback
    ray = played()
    with pytest.raises(ConfigError, match=r"no Ray cluster at '127.0.0.1:1' \(nothing answers there\); start one"):
        Cluster("127.0.0.1:1").processors
    assert not ray.addresses


def test_a_dataset_that_nodes_make_has_the_same_bytes(played, tmp_path):
    sizes = {"train": 5, "valid": 2, "test": 3, "hard": 0}
    recipe = recipe_from("mnlogic", Settings({"k": 3, "pixels": True, "prop_in_distribution": 1.0, "splits": sizes}))
    ray = played(**{"train/part-00000.parquet": 1})
    seen = []
    made = make(recipe, tmp_path / "far", pool=Cluster("auto"), progress=seen.append)
    assert made == make(recipe, tmp_path / "near") and sum(seen) == 10 + made.pairs.size
    assert ray.started.count("train/part-00000.parquet") == 2
    (tmp_path / "far" / "test" / "part-00000.parquet").write_bytes(b"damaged")
    assert make(recipe, tmp_path / "far", pool=Cluster("auto")) == made
    played(**{"train/part-00000.parquet": 9})
    with pytest.raises(RunFailed, match="part-00000.parquet: its worker died 3 times; run the same command again"):
        make(recipe, tmp_path / "never", pool=Cluster("auto"))


def test_a_cluster_without_ray_names_the_extra(monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"a cluster needs ray: pip install '\.\[cluster\]'"):
        Cluster("auto").processors
