"""A few-shot dataset, and an endpoint that knows its rule and every picture of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.data import Dataset
from tests.conftest import write
from tests.endpoint import Endpoint, pictures, rule, texts

TRUE_RULE = "person >= 1 and person == surfboard"


@pytest.fixture(scope="session")
def fewshot(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """24 examples of a rule over drawn scenes, and 40 to classify."""
    folder = tmp_path_factory.mktemp("fewshot") / "data"
    return write(folder, "cocologic-fs", rule="surf_trip", width=64, height=48)


@pytest.fixture(scope="session")
def trains(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A few trains in words."""
    sizes = {"train": 16, "valid": 6, "test": 6, "hard": 6}
    return write(tmp_path_factory.mktemp("trains") / "data", "trains", image=False, splits=sizes)


@pytest.fixture(scope="session")
def knows(fewshot: Dataset) -> Callable[[dict[str, Any]], str]:
    """Answer with the true rule, and with the true class of each picture."""
    truth = {png: bool(code) for s in ("valid", "test", "hard") for png, code in _labelled(fewshot, s)}

    def answer(body: dict[str, Any]) -> str:
        if "What is the rule?" in texts(body):
            return rule("as many surfboards as people, and at least one of each", TRUE_RULE)
        (shown,) = pictures(body)
        return f"I count them.\nANSWER: {'yes' if truth[shown] else 'no'}"

    return answer


def _labelled(data: Dataset, split: str) -> list[tuple[bytes, int]]:
    return list(zip(data[split].pngs, data[split].labels[:, 0].tolist(), strict=True))


@pytest.fixture
def server(
    knows: Callable[[dict[str, Any]], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Endpoint]:
    """An endpoint that answers rightly unless told otherwise; answers are kept in a fresh folder."""
    made = Endpoint(knows)
    monkeypatch.setenv("ASSAY_LLM_URL", made.url)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    yield made
    made.close()
