"""Leaking regions: effects by least squares, and a second test that pays for all labels and regions that were tried."""

import numpy as np
import pytest
from scipy.stats import f_oneway

from assay.auditing.audited import AuditedDataset, AuditedSplit, PixelRegion
from assay.auditing.regions import CANDIDATES, LEVEL, effects_in_equal_worlds, leaking_regions, separable_effects
from assay.concepts import bits

ROWS = 400
RNG = np.random.default_rng(0)
CONCEPTS = RNG.integers(0, 2, (ROWS, 2))
LABELS = RNG.integers(0, 2, (ROWS, 1))


def split(name: str, *regions: np.ndarray) -> AuditedSplit:
    part = AuditedSplit(name, CONCEPTS, LABELS)
    part.__dict__["regions"] = [PixelRegion(f"region {n}", values[:, None]) for n, values in enumerate(regions)]
    return part


def leaks(learn: AuditedSplit, ask: AuditedSplit, labels: int = 1) -> list[str]:
    data = AuditedDataset("d", bits(["a", "b"]), {f"y{n}": (False, True) for n in range(labels)}, {})
    return [first.name for first, _ in leaking_regions(data, learn, ask, 0)]


def with_chance(low: float, high: float) -> np.ndarray:
    """Return numbers that follow the label so that chance gives as much with a probability in between."""
    noise, least, most = np.random.default_rng(1).normal(size=ROWS), 0.0, 2.0
    for _ in range(60):  # the more they follow it, the less likely
        strength = (least + most) / 2
        values = noise + strength * LABELS[:, 0]
        found = separable_effects(values[:, None], LABELS[:, 0], CONCEPTS)
        if low < found.chance[0] < high:
            return values
        least, most = (strength, most) if found.chance[0] >= high else (least, strength)
    raise AssertionError("no such strength")


def test_what_is_found_where_models_learn_must_show_again_beyond_doubt():
    noise, strong = np.random.default_rng(2).normal(size=ROWS), LABELS[:, 0] + 0.1 * RNG.normal(size=ROWS)
    learn = split("train", noise, strong)
    alone = LEVEL / (2 * CANDIDATES)
    assert leaks(learn, split("test", noise, strong)) == ["region 1"]
    assert leaks(learn, split("test", noise, noise)) == []
    assert leaks(learn, split("test", noise, with_chance(alone * 0.5, alone * 0.95))) == ["region 1"]
    assert leaks(learn, split("test", noise, with_chance(alone * 1.05, alone * 2))) == []
    weaker = with_chance(alone / 4 * 1.05, alone / 2)
    assert (
        leaks(learn, split("test", noise, weaker)) == ["region 1"]
        and leaks(learn, split("test", noise, weaker), 4) == []
    )


def test_content_is_no_leak():
    shows = CONCEPTS[:, 0] + 0.1 * RNG.normal(size=ROWS)
    both = CONCEPTS[:, 0] + LABELS[:, 0] + 0.1 * RNG.normal(size=ROWS)
    assert leaks(split("train", shows), split("test", shows)) == []
    assert leaks(split("train", both), split("test", both)) == ["region 0"]  # among equal worlds the label shows


def test_without_concepts_that_matter_it_is_the_analysis_of_variance():
    values = RNG.normal(size=ROWS) + 0.2 * LABELS[:, 0]
    alike = np.zeros((ROWS, 1), dtype=int)
    found = effects_in_equal_worlds(values[:, None], LABELS[:, 0], alike)
    assert found.chance[0] == pytest.approx(f_oneway(values[LABELS[:, 0] == 0], values[LABELS[:, 0] == 1]).pvalue)


def test_a_label_that_concepts_give_away_is_not_tested():
    assert separable_effects(RNG.normal(size=(ROWS, 1)), CONCEPTS[:, 0], CONCEPTS) is None
    assert effects_in_equal_worlds(RNG.normal(size=(ROWS, 1)), CONCEPTS[:, 0], CONCEPTS) is None
