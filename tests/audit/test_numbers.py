"""The numbers that checks go by, against plain loops: means of parts, shares of hues, scores of colours."""

import numpy as np
import pytest

from assay.auditing.audited import means_of_parts
from assay.auditing.colours import CLEAR, WIDTH, _follows, _scores, hue_shares

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("height", "width", "parts"), [(8, 8, 4), (9, 7, 3), (2, 3, 4)])
def test_means_of_parts(height: int, width: int, parts: int) -> None:
    image = RNG.random((height, width))
    found = means_of_parts(image, parts)
    starts = [[i * length // parts for i in range(parts)] + [length] for length in (height, width)]
    for row in range(parts):
        for column in range(parts):
            top, left = starts[0][row], starts[1][column]
            part = image[top : max(top + 1, starts[0][row + 1]), left : max(left + 1, starts[1][column + 1])]
            assert found[row, column] == pytest.approx(part.mean())
    coloured = np.stack([image, 2 * image], axis=2)
    assert means_of_parts(coloured, parts)[:, :, 1] == pytest.approx(2 * found)


def colour(angle: float, light: float = 1.0) -> list[int]:
    import colorsys

    return [round(255 * part * light) for part in colorsys.hsv_to_rgb(angle / 360 % 1, 1, 1)]


def test_shares_of_hues_count_pixels_that_have_a_colour() -> None:
    hues = [0, 120, 240]
    image = np.array(
        [[colour(0), colour(0), colour(120), [200, 200, 200], [0, 0, 0], colour(240, 0.02)]], dtype=np.uint8
    )
    assert hue_shares(image, hues).tolist() == pytest.approx([2 / 3, 1 / 3, 0])  # grey and nearly black have none
    assert hue_shares(image[:, 3:], hues).tolist() == [0, 0, 0] and hue_shares(image[:, :, :1], hues).tolist() == [
        0,
        0,
        0,
    ]
    near = np.array([[colour(WIDTH - 2), colour(-(WIDTH - 2)), colour(WIDTH + 4)]], dtype=np.uint8)
    assert hue_shares(near, [0]).tolist() == [1.0] and hue_shares(near[:, 2:], [0]).tolist() == [0.0]
    assert hue_shares(near, [0, WIDTH + 4]).sum() == pytest.approx(1)


def test_scores_are_differences_in_standard_errors() -> None:
    codes, shares = np.repeat([0, 1, 2], [10, 15, 1]), RNG.random((26, 2))
    found = _scores(codes, shares, 4)
    for value in (0, 1):
        first, second = shares[codes == value], shares[codes != value]
        errors = np.sqrt(first.var(axis=0) / len(first) + second.var(axis=0) / len(second))
        assert found[value] == pytest.approx((first.mean(axis=0) - second.mean(axis=0)) / errors)
    assert (found[2:] == 0).all()  # one picture, or none, says nothing


def test_each_value_has_a_colour_of_its_own_or_not() -> None:
    clear, faint = float(CLEAR), CLEAR - 0.1
    assert _follows(np.array([[clear, 0], [0, clear]])) and not _follows(np.array([[clear, 0], [clear, 0]]))
    assert not _follows(np.array([[clear, 0], [0, faint]]))
