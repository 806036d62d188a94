"""A few-shot dataset, and an endpoint that knows its rule and every picture of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import Dataset, from_table
from assay.base import Settings
from assay.models import MODELS
from tests.conftest import write
from tests.endpoint import Endpoint, pictures, rule, texts

RULES = {"y": "n > 1 and on", "total": "n + 1", "word": "'stop' if on else 'go'"}
TRUE_RULE = "person >= 1 and person == surfboard"


def taught(data: Dataset, seed: int = 0, **settings: Any) -> Any:
    """Return a model that was asked for the rule of each label, with examples as symbols."""
    given = Settings({"model": "scripted", "show": "symbols", **settings})
    model = MODELS["incontext"](data.knowledge, data.layout, given, {}, seed)
    model.fit(data["train"], data["valid"])
    return model


def numbers(folder: Path, *labels: str) -> Dataset:
    """Return a dataset of a number and a truth value, with some labels."""
    codes = [(n, on) for n in range(5) for on in (False, True)] * 4
    columns: dict[str, list[Any]] = {"n": [n for n, _ in codes], "on": [on for _, on in codes]}
    values = {
        "y": [n > 1 and on for n, on in codes],
        "total": [n + 1 for n, _ in codes],
        "word": ["stop" if on else "go" for _, on in codes],
    }
    columns |= {label: values[label] for label in labels}
    pictures = [np.full((2, 2), 6 * row, dtype=np.uint8) for row in range(40)]
    rule = {label: RULES[label] for label in labels}
    return from_table(columns, folder, images=pictures, concepts=["n", "on"], labels=list(labels), rule=rule)


@pytest.fixture(scope="session")
def one(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """One label that is true or false."""
    return numbers(tmp_path_factory.mktemp("one") / "data", "y")


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Three labels: a truth value, a number and a word."""
    return numbers(tmp_path_factory.mktemp("three") / "data", "y", "total", "word")


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
