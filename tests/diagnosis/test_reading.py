"""Which reading a model uses, and whether training could have told: counted by brute force."""

from itertools import product

import numpy as np
import pytest

from assay.arrays import Array
from assay.data.dataset import Dataset, SplitData
from assay.diagnosis.reading import Reading, fitted_readings, label_agreement, read_as
from assay.metrics.evidence import gather
from tests.predictors import labels_only, oracle, predictions, reading


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


def fitted(data: SplitData, table: Array) -> Reading:
    return fitted_readings(reading(data, np.array([table] * 2)))[0]


def test_36_readings_keep_every_training_sum(maps: Array) -> None:
    assert len(maps) == 36 and (maps == np.arange(10)).all(axis=1).sum() == 1


def test_agreement_knows_all_of_them(maps: Array, evenodd: Dataset) -> None:
    train, ood = evenodd.symbols("train").concepts, evenodd.symbols("ood").concepts
    for table in maps:
        held = (fitted(evenodd.symbols("test"), table),)
        assert held[0].image == tuple(table) and held[0].fidelity == 1
        assert label_agreement(train, held, evenodd.knowledge) == 1
        assert (label_agreement(ood, held, evenodd.knowledge) == 1) == held[0].is_identity
        assert (read_as(train, held, evenodd.knowledge) == table[train]).all()


def test_agreement_of_other_readings(evenodd: Dataset) -> None:
    swapped = np.array([6, 1, 2, 3, 4, 5, 0, 7, 8, 9])
    held = (fitted(evenodd.symbols("test"), swapped),)
    pairs = np.unique(evenodd.symbols("train").concepts, axis=0)
    kept = [swapped[a] + swapped[b] == a + b for a, b in pairs]
    assert label_agreement(pairs, held, evenodd.knowledge) == np.mean(kept) == 14 / 16  # 4 + 6 goes wrong, twice


def test_half_of_all_flips_keep_the_xor(mnlogic: Dataset) -> None:
    everything, data = mnlogic.knowledge.space.all_codes(), mnlogic.symbols("test")
    kept = []
    for flips in product((0, 1), repeat=3):
        held = fitted_readings(reading(data, np.array([[flip, 1 - flip] for flip in flips])))
        assert [reading.is_identity for reading in held] == [not flip for flip in flips]
        kept.append(label_agreement(everything, held, mnlogic.knowledge))
    assert sorted(kept) == [0] * 4 + [1] * 4  # 2^(k-1), those with an even number of flips


def test_in_words(evenodd: Dataset, mnlogic: Dataset) -> None:
    data = evenodd.symbols("test")
    assert fitted(data, np.arange(10)).text == "reads every digit as what it is"
    shifted = fitted(data, np.array([1, 1, 3, 3, 5, 5, 5, 7, 7, 9]))
    assert shifted.text == (
        "reads 0 as 1, 2 as 3, 4 as 5, 6 as 5 and 8 as 7; 1, 3, 5, 7 and 9 are read right; never says 0, 2, 4, 6 or 8"
    )
    assert fitted(data, np.roll(np.arange(10), 1)).text.startswith("reads 0 as 9, 1 as 0, ")
    bits = mnlogic.symbols("test")
    flipped = fitted_readings(reading(bits, np.array([[1, 0], [0, 1], [1, 1]])))
    assert [held.text for held in flipped] == [
        "reads False as True and True as False",
        "reads every b as what it is",
        "reads False as True; True is read right; never says False",
    ]


def test_values_that_never_occur_are_not_read(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    some = data.take(np.flatnonzero((data.concepts == [0, 6]).all(axis=1)))
    held = fitted_readings(oracle(some))[0]
    assert [place for place, to in enumerate(held.image) if to is not None] == [0, 6] and held.is_identity
    assert held.to_dict()["reads"][:2] == [[0, 0], [1, None]]
    assert (read_as(data.concepts, (held,), data.knowledge) == data.concepts).all()


def test_fidelity_is_the_share_of_answers_explained(evenodd: Dataset) -> None:
    data = evenodd.symbols("test")
    said = data.concepts.copy()
    said[:16] = -1
    held = fitted_readings(gather(data, predictions(data, data.labels, said)))[0]
    assert held.fidelity == pytest.approx(0.9) and held.is_identity
    assert held.counts.sum() == 2 * len(data) and held.counts[:, -1].sum() == 32


def test_no_reading_without_concepts(evenodd: Dataset) -> None:
    assert fitted_readings(labels_only(evenodd.symbols("test"))) == ()
