"""Do pictures show the colours that concepts name? Where another concept follows them instead, two were exchanged."""

from collections.abc import Sequence

import numpy as np

from assay.auditing.audited import AuditedDataset
from assay.auditing.check_result import NOT_CHECKED, NOTHING, CheckResult, fail_if
from assay.base import Array, Codes
from assay.logic import Value

HUES = {"red": 0, "orange": 30, "yellow": 60, "green": 120, "cyan": 180, "blue": 240, "purple": 280, "magenta": 300}
"""Colour words by their hue, in degrees."""
WIDTH = 20
LEAST_CHROMA = 40
MOST = 600
FEWEST = 100
CLEAR = 4.0
"""How many standard errors apart pictures with and without a value are in a colour that follows it."""


def colours(data: AuditedDataset) -> CheckResult:
    """A concept whose values are colour words is the one that the colours of the pictures follow."""
    named = [concept for concept in data.space.concepts if _hues_of(concept.values)]
    if not named:
        return CheckResult("colours", NOTHING, "no concept names colours")
    parts = [part for part in data.parts.values() if len(part.pictures)]
    rows = [(part, row) for part in parts for row in range(len(part.pictures))][:MOST]
    if len(rows) < FEWEST:
        return CheckResult("colours", NOT_CHECKED, f"fewer than {FEWEST} pictures")
    words = sorted({word for concept in named for word in _hues_of(concept.values)})
    shares = np.stack([hue_shares(part.image(row), [HUES[word] for word in words]) for part, row in rows])
    codes = np.stack([part.concepts[row] for part, row in rows])
    exchanged, unseen = list[str](), list[str]()
    for concept in named:
        own = [(concept.values.index(word), words.index(word)) for word in _hues_of(concept.values)]
        scores = _scores(codes[:, data.space.names.index(concept.name)], shares, len(concept.values))
        if max(scores[value, hue] for value, hue in own) >= CLEAR:
            continue
        unseen.append(concept.name)
        for place, other in enumerate(data.space.concepts):
            alike = not _hues_of(other.values) and len(other.values) == len(concept.values)
            if alike and _follows(_scores(codes[:, place], shares, len(other.values))):
                exchanged.append(f"{other.name} follows the colours that {concept.name} names")
    if unseen and not exchanged:
        text = f"the pictures do not clearly follow the colours that {', '.join(unseen)} name"
        return CheckResult("colours", "note", text)
    return fail_if(exchanged, "colours", "concepts were exchanged", "pictures show the colours that concepts name")


def _hues_of(values: Sequence[Value]) -> list[str]:
    """Return the colour words among values, if there are two or more."""
    words = [value for value in values if isinstance(value, str) and value in HUES]
    return words if len(words) > 1 else []


def hue_shares(image: Array, hues: Sequence[int]) -> Array:
    """Return each hue's share of the pixels that have one of them: large things count no more than small ones.

    >>> hue_shares(np.array([[[255, 0, 0], [0, 0, 255], [9, 9, 9], [9, 9, 9]]]), [0, 240]).tolist()
    [0.5, 0.5]
    """
    if image.shape[2] < 3:
        return np.zeros(len(hues))
    red, green, blue = image[:, :, :3].reshape(-1, 3).astype(np.float64).T
    angle = np.degrees(np.arctan2(np.sqrt(3) * (green - blue), 2 * red - green - blue))
    chroma = np.maximum(np.maximum(red, green), blue) - np.minimum(np.minimum(red, green), blue)
    apart = np.abs((angle[:, None] - np.array(hues)[None, :] + 180) % 360 - 180)
    counts = ((apart <= WIDTH) & (chroma >= LEAST_CHROMA)[:, None]).sum(axis=0)
    return np.asarray(counts / max(1, int(counts.sum())))


def _scores(codes: Codes, shares: Array, values: int) -> Array:
    """Return how many standard errors more of each colour (column) pictures with each value (row) show than others."""
    scores = np.zeros((values, shares.shape[1]))
    for value in range(values):
        inside = codes == value
        if min(inside.sum(), (~inside).sum()) > 1:
            first, second = shares[inside], shares[~inside]
            errors = np.sqrt(first.var(axis=0) / len(first) + second.var(axis=0) / len(second))
            scores[value] = (first.mean(axis=0) - second.mean(axis=0)) / np.maximum(errors, 1e-9)
    return scores


def _follows(scores: Array) -> bool:
    """Return whether each value has a colour of its own."""
    best = scores.argmax(axis=1)
    return len(set(best.tolist())) == len(best) and bool((scores.max(axis=1) >= CLEAR).all())
