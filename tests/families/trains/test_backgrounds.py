"""The sand that trains stand in: soft patches and ripples as they are mixed, and noise of so many waves."""

import numpy as np
import pytest

from assay.families.trains.drawing import backgrounds
from assay.seeds import rng_for


def test_sand_is_patches_by_their_waves_and_ripples_along_it(monkeypatch):
    size = 8
    rows, columns = np.mgrid[0:size, 0:size]
    held = {  # what the noise of each number of waves is
        3: np.where((rows + columns) % 2, 1.0, -1.0), 6: np.where(columns < 4, 0.5, 2.0), 12: rows / 4.0,
        24: columns / 8.0, 96: np.where(rows < 2, 7.0, -3.0), 300: np.where(columns % 3, 20.0, 0.0),
        5: 0.1 * rows - 0.2 * columns, 4: np.where(rows > columns, 0.8, -0.3),
    }  # fmt: skip
    asked = []

    def noise(rng, waves):
        asked.append(waves)
        return held[waves]

    monkeypatch.setattr(backgrounds, "TEXELS", size)
    monkeypatch.setattr(backgrounds, "_noise", noise)
    found = backgrounds._sand.__wrapped__()
    assert asked == [3, 6, 12, 24, 96, 300, 5, 4]
    patches = sum(held[waves] * waves**-0.6 for waves in (3, 6, 12, 24, 96, 300))
    phase = 2 * np.pi / size * (34 * rows + 6 * columns) + 2.2 * held[5]
    light = 1 + 0.075 * patches / patches.std() + 0.04 * np.sin(phase) * (0.6 + 0.4 * np.tanh(held[4]))
    wanted = np.stack([np.minimum(255, base * light) for base in (206, 164, 112)], axis=-1)
    assert found.dtype == np.uint8 and found.shape == (size, size, 3)
    assert np.abs(found - wanted + 0.5).max() <= 0.5 + 1e-6  # cut off, not rounded


@pytest.mark.parametrize("waves", [3, 12])
def test_noise_fades_with_the_square_of_its_waves(monkeypatch, waves):
    size = 32
    monkeypatch.setattr(backgrounds, "TEXELS", size)
    found = backgrounds._noise(rng_for(0, "noise"), waves)
    assert (
        found.shape == (size, size) and found.mean() == pytest.approx(0, abs=1e-9) and found.std() == pytest.approx(1)
    )
    white = np.fft.fft2(rng_for(0, "noise").standard_normal((size, size)))
    kept = np.abs(np.fft.fft2(found)) / np.abs(white)
    for high, wide in ((1, 0), (0, 1), (2, 3), (5, 2), (-4, 3), (3, -4)):
        share = np.exp(-(high**2 + wide**2 - 1) / waves**2)
        assert kept[high, wide] / kept[1, 0] == pytest.approx(share, rel=1e-6)
