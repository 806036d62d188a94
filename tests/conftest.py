"""Datasets that many tests read: small ones, made once. Properties are tried on the same examples in every run."""

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads that wait for a core of other tests spin; before torch reads it

import pytest
from hypothesis import settings

from assay.base import Settings, forget_files
from assay.dataset import Dataset, make, recipe_from
from assay.lab import LocalWorkers, perform
from tests.samples import skip_where_samples_are_missing

Made = Callable[..., Dataset]

settings.register_profile("same", derandomize=True)
settings.load_profile("same")
skip_where_samples_are_missing()


def write(folder: Path, task: str, **settings: Any) -> Dataset:
    make(recipe_from(task, Settings(settings)), folder)
    return Dataset.open(folder)


@pytest.fixture(scope="session")
def evenodd(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Each of the 16 training pairs ten times, each of the 84 others twice."""
    sizes = {"train": 160, "valid": 32, "test": 160, "ood": 168, "hard": 32}
    return write(tmp_path_factory.mktemp("evenodd") / "data", "mnadd-evenodd", splits=sizes)


@pytest.fixture(scope="session")
def mnlogic(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """The XOR of three bits."""
    sizes = {"train": 64, "valid": 16, "test": 32, "ood": 16, "hard": 18}
    return write(tmp_path_factory.mktemp("mnlogic") / "data", "mnlogic", k=3, splits=sizes)


@pytest.fixture(autouse=True)
def no_files() -> Iterator[None]:
    """Let no test find what the files of another one define."""
    yield
    forget_files()


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return a function that makes a dataset in a fresh folder."""
    return lambda task, **settings: write(tmp_path / "made", task, **settings)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let studies do their steps here: each process of theirs imports torch anew."""
    monkeypatch.setattr(LocalWorkers, "run", lambda self, steps, output, poll: (perform(s, output) for s in steps))


@pytest.fixture(scope="session", autouse=True)
def without_waiting_for_the_disk() -> Iterator[None]:
    """Let no test wait until its files are on the disk; one tests that we ask for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def pytest_collection_finish() -> None:
    """Look for garbage among what tests make, and not among the modules that are imported by then."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let models that ask an endpoint ask one of ours, and keep answers among the files of the tests."""
    from tests.endpoint import Endpoint, first_concept

    server = Endpoint(first_concept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_LLM_URL", server.url)
        patch.delenv("ASSAY_LLM_KEY", raising=False)
        patch.delenv("OPENAI_API_KEY", raising=False)
        patch.setenv("ASSAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
    server.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make test-slow` what `slow.txt` names."""
    lines = (Path(__file__).parent / "slow.txt").read_text(encoding="utf-8").split("# but not\n")
    named, quick = ([line for line in part.splitlines() if line and line[0] != "#"] for part in lines)
    for item in items:
        if any(part in item.nodeid for part in named) and not any(part in item.nodeid for part in quick):
            item.add_marker(pytest.mark.slow)
