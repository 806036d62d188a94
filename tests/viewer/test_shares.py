"""Shares of right answers in the viewer: of what is said and known."""

import numpy as np

from assay.viewer.compare import share


def test_only_what_is_said_and_known_counts():
    assert share(np.array([0, 1, 1, 0]), np.array([0, 1, 0, -1])) == 0.6667
    assert share(np.array([-1, 1, -1]), np.array([0, 1, 1])) == 1.0  # what is not known is no error
    assert share(np.array([-1, 0]), np.array([0, -1])) is None
