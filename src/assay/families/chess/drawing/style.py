"""What is random about the picture of a chess board: the camera, where pieces stand in their squares, the light."""

import numpy as np

from assay.worlds.world import Style

PAN = 2.0
TILT = (0.9, 0.3)
"""The camera is moved to the side by up to `PAN`, and up by a normal number of this mean and spread, not below 0."""
SPREAD = 1 / 16
"""How far pieces stand off the middle of their square, in squares: the spread of a normal number."""
FARTHEST = 0.2
"""No piece stands farther off, in squares."""
FLAT_SPREAD = 0.4
"""A diagram's pieces are jittered by this part of that."""


def chess_style(rng: np.random.Generator, view: str, jitter: float) -> Style:
    """Draw the style of a board; the same for every position."""
    camera = [round(float(rng.uniform(0, PAN)), 4), round(max(0.0, float(rng.normal(*TILT))), 4)]
    offsets = np.clip(rng.normal(0, SPREAD * jitter, size=128), -FARTHEST, FARTHEST)
    if view == "flat":
        return {"offsets": (FLAT_SPREAD * offsets).round(4).tolist(), "palette": int(rng.integers(4))}
    turns = rng.uniform(-20, 20, size=64)
    light = rng.uniform(-1, 1, size=3)
    return {
        "camera": camera,
        "light": light.round(3).tolist(),
        "offsets": offsets.round(4).tolist(),
        "turns": turns.round(1).tolist(),
        "wood": [round(float(rng.uniform(-1, 1)), 3), int(rng.integers(3))],
    }
