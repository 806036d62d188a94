"""What is said for each true value, and whether training could have told: counted by brute force."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from assay.base import Array
from assay.dataset import Dataset, SplitData
from assay.diagnosis import diagnose, read_thresholds, taught_by
from assay.metrics import Evidence, gather
from tests.predictors import labels_only, oracle, predictions, reading

QUICK = read_thresholds({"verdict.resamples": 0})


def digit_maps_that_keep_the_sums(pairs: set[tuple[int, int]]) -> Array:
    """Return every map of the ten digits under which all these sums stay; even and odd digits never meet."""
    halves = []
    for parity in (0, 1):
        own = [(a // 2, b // 2, a + b) for a, b in pairs if a % 2 == parity]
        maps = np.array(list(product(range(10), repeat=5)))
        halves.append(maps[np.all([maps[:, a] + maps[:, b] == total for a, b, total in own], axis=0)])
    return np.array([np.stack(both, axis=1).ravel() for both in product(*halves)])


@pytest.fixture(scope="module")
def maps(evenodd: Dataset) -> Array:
    return digit_maps_that_keep_the_sums(set(map(tuple, evenodd.symbols("train").concepts.tolist())))


def readings(held: Evidence) -> tuple[Any, ...]:
    return diagnose({"test": held}, thresholds=QUICK).readings


def fitted(data: SplitData, table: Array) -> Any:
    return readings(reading(data, np.array([table] * 2)))[0]


def test_36_readings_keep_every_training_sum(maps: Array) -> None:
    assert len(maps) == 36 and (maps == np.arange(10)).all(axis=1).sum() == 1


def test_every_reading_that_keeps_the_sums_is_a_shortcut(maps: Array, evenodd: Dataset) -> None:
    train, data = evenodd.symbols("train").concepts, evenodd.symbols("test")
    for table in maps:
        held = fitted(data, table)
        assert held.image == tuple(table) and held.fidelity == 1
        found = diagnose({"test": reading(data, np.array([table] * 2))}, train, thresholds=QUICK)
        assert found.verdict == ("sound" if held.is_identity else "shortcut")
        assert found.findings[0].numbers.get("agreement", 1.0) == 1.0


def test_in_words(evenodd: Dataset, mnlogic: Dataset) -> None:
    data = evenodd.symbols("test")
    assert fitted(data, np.arange(10)).text == "most often says every digit as it is"
    shifted = fitted(data, np.array([1, 1, 3, 3, 5, 5, 5, 7, 7, 9]))
    assert shifted.text == (
        "most often says digit 0 as 1, 2 as 3, 4 as 5, 6 as 5 and 8 as 7, and 1, 3, 5, 7 and 9 as they are; "
        "never says 0, 2, 4, 6 or 8"
    )
    assert fitted(data, np.roll(np.arange(10), 1)).text.startswith("most often says digit 0 as 9, 1 as 0, ")
    bits = mnlogic.symbols("test")
    flipped = readings(reading(bits, np.array([[1, 0], [0, 1], [1, 1]])))
    assert [held.text for held in flipped] == [
        "most often says a False as True and True as False",
        "most often says every b as it is",
        "most often says c False as True, and True as it is; never says False",
    ]


def test_what_is_said_now_and_then_is_not_said_never(evenodd: Dataset) -> None:
    """A value that is no row's most frequent answer may still be said often."""
    data = evenodd.symbols("test")
    said = data.concepts.copy()
    rows = np.flatnonzero(said[:, 0] == 3)
    said[rows[: len(rows) // 2 + 1], 0] = 5
    said[said[:, 1] == 3, 1] = 5
    held = readings(gather(data, predictions(data, data.labels, said)))[0]
    assert held.image[3] == 5 and held.counts[:, 3].sum() > 0 and "never" not in held.text


def test_values_that_never_occur_are_not_read(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    some = data.take(np.flatnonzero((data.concepts == [0, 6]).all(axis=1)))
    held = readings(oracle(some))[0]
    assert [place for place, to in enumerate(held.image) if to is not None] == [0, 6] and held.is_identity
    assert held.to_dict()["reads"][:2] == [[0, 0], [1, None]]


def test_fidelity_is_the_share_of_answers_explained(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    said = data.concepts.copy()
    said[:16] = -1
    held = readings(gather(data, predictions(data, data.labels, said)))[0]
    assert held.fidelity == pytest.approx(0.9) and held.is_identity
    assert held.counts.sum() == 2 * len(data) and held.counts[:, -1].sum() == 32


def test_no_reading_without_concepts(evenodd: Dataset) -> None:
    assert readings(labels_only(evenodd.symbols("test"))) == ()


def test_what_a_dataset_teaches_is_that_of_the_dataset(evenodd: Dataset, mnlogic: Dataset) -> None:
    first, second = taught_by(evenodd), taught_by(mnlogic)
    assert first is not None and second is not None and (first.worlds, first.high) == (16, 36)
    assert second.worlds == len(np.unique(mnlogic.symbols("train").concepts, axis=0)) != 16
    assert taught_by(mnlogic) is second and taught_by(evenodd) == first  # counted once, and again after another
