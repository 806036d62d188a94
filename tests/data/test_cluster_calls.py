"""Calls on a cluster that is played here: all are done, one whose worker dies is done again, and not for ever."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.data import Call, Cluster, Died, cluster
from assay.data.cluster import TRIES
from assay.errors import ConfigError, RunFailed


class Exceptions:
    class RayError(Exception):
        pass

    class RuntimeEnvSetupError(RayError):
        pass

    class RayTaskError(RayError):
        def __init__(self, cause: Exception) -> None:
            self.cause = cause


@dataclass(frozen=True)
class Reference:
    number: int


class Ray:
    """Does calls when it is asked for their results; `deaths` says how often the workers of a call die."""

    exceptions = Exceptions

    def __init__(self, deaths: dict[str, int] | None = None, processors: int = 2) -> None:
        self.deaths, self.processors = dict(deaths or {}), processors
        self.under_way: dict[Reference, tuple[str, Any, Any]] = {}
        self.started, self.most, self.cancelled, self.shares = list[str](), 0, list[str](), set[float]()

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.processors, "GPU": 1}

    def remote(self, **options: Any) -> Any:
        self.shares.add(options["num_gpus"])
        return lambda function: self

    def options(self, name: str) -> Any:
        def begin(function: Any, arguments: Any, *there: Any) -> Reference:
            reference = Reference(len(self.started))
            self.started.append(name)
            self.under_way[reference] = (name, function, arguments)
            self.most = max(self.most, len(self.under_way))
            return reference

        return type("Options", (), {"remote": staticmethod(begin)})

    def wait(self, references: list[Reference], **_: Any) -> tuple[list[Reference], list[Reference]]:
        return references[:1], references[1:]

    def get(self, reference: Reference) -> Any:
        name, function, arguments = self.under_way.pop(reference)
        if self.deaths.get(name, 0) > 0:
            self.deaths[name] -= 1
            raise Exceptions.RayError
        try:
            return function(*arguments)
        except Exception as error:
            raise Exceptions.RayTaskError(error) from None

    def cancel(self, reference: Reference, force: bool) -> None:
        self.cancelled.append(self.under_way.pop(reference)[0])


def double(number: int) -> int:
    if number < 0:
        raise ConfigError("a number below 0")
    return 2 * number // (number != 99)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Any:
    def play(ray: Ray) -> Ray:
        monkeypatch.setattr(cluster, "_connect", lambda address: ray)
        return ray

    return play


def test_every_call_is_done_and_no_more_than_fit_are_under_way(played: Any) -> None:
    ray = played(Ray())
    calls = [Call(f"call {n}", double, (n,)) for n in range(20)]
    looks: list[int] = []
    found = dict(Cluster("auto").run(calls, lambda: looks.append(1)))
    assert {call.name: result for call, result in found.items()} == {f"call {n}": 2 * n for n in range(20)}
    assert ray.most == min(20, cluster.QUEUE * 2) and looks and ray.shares == {0.0} and not ray.cancelled
    list(Cluster("auto").run(calls[:1], gpus=True))
    assert ray.shares == {0.0, 0.5}


def test_a_call_whose_workers_die_is_done_again_and_given_up_in_the_end(played: Any) -> None:
    ray = played(Ray({"once": 1, "always": 100}))
    calls = [Call("once", double, (1,)), Call("always", double, (2,)), Call("never", double, (3,))]
    found = {call.name: result for call, result in Cluster("auto").run(calls)}
    assert found == {"once": 2, "always": Died(TRIES), "never": 6}
    assert ray.started.count("once") == 2 and ray.started.count("always") == TRIES


def test_errors_of_ours_come_as_they_are_and_what_is_under_way_is_cancelled(played: Any) -> None:
    ray = played(Ray())
    with pytest.raises(ConfigError, match="^a number below 0$"):
        list(Cluster("auto").run([Call("bad", double, (-1,)), Call("good", double, (1,))]))
    assert ray.cancelled == ["good"]
    with pytest.raises(RunFailed, match="a node failed: ZeroDivisionError"):
        list(Cluster("auto").run([Call("other", double, (99,))]))


def test_gpus_are_shared_out_among_processors(played: Any) -> None:
    played(Ray(processors=3))
    assert Cluster("auto").processors == 3 and Cluster("auto").gpu_share == 0.3333
    played(Ray(processors=1))
    assert Cluster("auto").gpu_share == 1.0


def test_looks_are_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looks = [0.0], []

    def look() -> None:
        looks.append(now[0])
        now[0] += 1.0

    monkeypatch.setattr(cluster.time, "monotonic", lambda: now[0])
    glance = cluster._seldom(look)
    for moment in (0.0, 5.0, 20.9, 21.0, 30.0, 42.0):
        now[0] = max(now[0], moment)
        glance()
    assert looks == [0.0, 21.0, 42.0]  # a look of a second, then twenty without


class Noting(Ray):
    """Notes how it is asked, and has all calls end at once."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.asked = list[Any]()

    def remote(self, **options: Any) -> Any:
        return lambda function: (
            self.asked.append((function, options)) or super(Noting, self).remote(**options)(function)
        )

    def options(self, name: str) -> Any:
        begin = super().options(name).remote

        def noted(function: Any, arguments: Any, *there: Any) -> Reference:
            self.asked.append((name, there))
            return begin(function, arguments, *there)

        return type("Options", (), {"remote": staticmethod(noted)})

    def wait(self, references: list[Reference], **how: Any) -> tuple[list[Reference], list[Reference]]:
        self.asked.append((len(references), how))
        return references, []

    def cancel(self, reference: Reference, force: bool) -> None:
        self.asked.append(("cancel", force))
        super().cancel(reference, force)


def test_a_call_has_a_processor_one_thread_and_no_second_chance_that_we_do_not_know_of(
    played: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "versions", lambda: {"assay": "1"})
    ray = played(Noting(deaths={"b": 1}, processors=1))
    calls = [Call(name, double, (number,)) for number, name in enumerate("abc")]
    monkeypatch.setattr(cluster, "QUEUE", 2)
    found = [(call.name, result) for call, result in Cluster("auto").run(calls)]
    assert found == [("a", 0), ("b", 2), ("c", 4)] and ray.started == ["a", "b", "b", "c"]  # what died goes first
    there, how = (tmp_path, {"assay": "1"}), {"timeout": cluster.PAUSE, "fetch_local": False}
    threads = {"env_vars": dict.fromkeys(cluster.THREADS, "1")}
    assert ray.asked == [
        (cluster._do, {"num_cpus": 1, "num_gpus": 0.0, "max_retries": 0, "runtime_env": threads}),
        ("a", there), ("b", there), (2, {**how, "num_returns": 2}),
        ("b", there), ("c", there), (2, {**how, "num_returns": 2}),
    ]  # fmt: skip
    ray.asked.clear()
    with pytest.raises(ConfigError):
        list(Cluster("auto").run([Call("bad", double, (-1,)), Call("good", double, (1,))]))
    assert ray.asked[-1] == ("cancel", True) and ray.cancelled == ["good"]
