"""Nuisances in pixels: regions of the picture in which the label shows, but no concept does.

A label that the concepts decide cannot be told from the concepts by what they leave over of it: that is nothing. What
tells a watermark from content is that content shows concepts. A region is fitted to the concepts, each by itself, and
to the label together. Where something was put in for the label's sake, the label's part is all that there is; where a
concept shows, its own part is there too, also if two concepts only show together (a big red square is redder than a
small one). So a region leaks a label if

- the label explains it beyond the concepts, where models learn and again, by an F-test, where they are tested, and
- the label's part is most of what concepts and label explain of it, in any of its statistics.

Labels that equal worlds do not share (drawn ones, noise) are tested a second time, among equal worlds: there nothing of
a region is due to concepts, whatever the rule is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from assay.auditing.audited import AuditedDataset, AuditedSplit, PixelRegion
from assay.base import Array, Codes

PURE = 0.8
"""The least share of the label in what concepts and label explain of a region."""
FIRST_LEVEL = 0.01
"""The level of the test where models learn: it only chooses what is tested where they are tested."""
LEVEL = 0.005
"""The level of the second test, over all labels and the regions chosen for it."""
CANDIDATES = 5
SEPARABLE = 0.05
"""The least share of a label's variance that the concepts, each by itself, leave unexplained."""
VARIED = 0.005
"""The least variance of a label among equal worlds, as a share of its variance."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class LabelEffects:
    """For each statistic: how likely the label's part is by chance, and the variance due to the label and concepts."""

    chance: Array
    label: Array
    concepts: Array


def _indicators(codes: Codes) -> Array:
    """Return a column for each value but the first that occurs, less its mean."""
    values = np.unique(codes)[1:]
    columns = (codes[:, None] == values[None, :]).astype(np.float64)
    return np.asarray(columns - columns.mean(axis=0))


def separable_effects(values: Array, labels: Codes, concepts: Codes) -> LabelEffects | None:
    """Return the effects of a label and of the concepts, each by itself; None if a concept gives the label away."""
    label = _indicators(labels)
    known = _basis(np.concatenate([_indicators(column) for column in concepts.T], axis=1))
    rest = label - known @ (known.T @ label)
    if (rest**2).sum() <= SEPARABLE * (label**2).sum():
        return None
    return _effects(values - values.mean(axis=0), label, known, known.shape[1] + 1)


def effects_in_equal_worlds(values: Array, labels: Codes, concepts: Codes) -> LabelEffects | None:
    """Return the effects of a label among equal worlds; None if they share their labels."""
    _, world = np.unique(concepts, axis=0, return_inverse=True)
    counts = np.bincount(world.ravel())
    label, facts = (_less_world_means(columns, world.ravel(), counts) for columns in (_indicators(labels), values))
    if (label**2).sum() <= VARIED * (_indicators(labels) ** 2).sum():
        return None
    return _effects(facts, label, np.zeros((len(labels), 0)), len(counts))


def _less_world_means(columns: Array, world: Array, counts: Array) -> Array:
    sums = np.zeros((len(counts), columns.shape[1]))
    np.add.at(sums, world, columns)
    return np.asarray(columns - (sums / counts[:, None])[world])


def _basis(columns: Array) -> Array:
    """Return orthogonal columns that span the same."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-8 * max(1.0, float(sizes.max(initial=0.0)))])


def _effects(values: Array, label: Array, known: Array, used: int) -> LabelEffects | None:
    """Return the effects, by least squares; `used` degrees of freedom are gone before the label has its own."""
    from scipy.special import fdtrc  # `scipy.stats` takes a second to import

    rest, target = label - known @ (known.T @ label), values - known @ (known.T @ values)
    weights, _, rank, _ = np.linalg.lstsq(rest, target, rcond=1e-8)
    left = len(values) - used - int(rank)
    if left < 1 or not rank:
        return None
    explained, total = ((rest @ weights) ** 2).sum(axis=0), (target**2).sum(axis=0)
    real = explained > ROUNDING * (values**2).sum(axis=0)
    noise = np.maximum(total - explained, ROUNDING * (values**2).sum(axis=0)) / left
    ratio = np.divide(explained / rank, noise, out=np.zeros_like(explained), where=real)
    by_label = label @ weights
    by_concepts = known.T @ (values - by_label)
    crossed = known.T @ label @ np.linalg.pinv(rest.T @ rest, rcond=1e-8)
    luck = known.shape[1] + np.sum(crossed * (known.T @ label))  # the expected size of what noise alone would give
    return LabelEffects(
        np.where(real, fdtrc(rank, left, ratio), 1.0),
        np.maximum(0.0, (by_label**2).mean(axis=0)),
        np.maximum(0.0, (by_concepts**2).sum(axis=0) - noise * luck) / len(values),
    )


@dataclass(frozen=True)
class Suspect:
    """A region whose pixels follow a label where models learn, by its place in the list of regions."""

    place: int
    chance: float


def _suspects(effects: LabelEffects, widths: list[int]) -> list[Suspect]:
    """Return the regions in which the label shows and no concept does, the most certain first."""
    suspects, starts = [], np.cumsum([0, *widths])
    for place, start in enumerate(starts[:-1]):
        inside = slice(start, starts[place + 1])
        best = int(np.argmin(effects.chance[inside]))
        label, concepts = effects.label[inside][best], effects.concepts[inside].max()
        if effects.chance[inside][best] < FIRST_LEVEL and label >= PURE * (label + concepts) > 0:
            suspects.append(Suspect(place, float(effects.chance[inside][best])))
    return sorted(suspects, key=lambda suspect: suspect.chance)


def leaking_regions(
    data: AuditedDataset, learn: AuditedSplit, ask: AuditedSplit, label: int
) -> Iterator[tuple[PixelRegion, PixelRegion]]:
    """Return the regions that leak a label, each where models learn and where they are tested."""
    if not learn.regions or not ask.regions:
        return
    pairs = [_as_wide(first, second) for first, second in zip(learn.regions, ask.regions, strict=True)]
    widths = [first.values.shape[1] for first, _ in pairs]
    values = [np.concatenate([region.values for region in side], axis=1) for side in zip(*pairs, strict=True)]
    level = LEVEL / (2 * CANDIDATES * len(data.labels))
    seen = set[int]()
    for measure in (separable_effects, effects_in_equal_worlds):
        effects = [
            measure(facts, part.labels[: len(facts), label], part.concepts[: len(facts)])
            for facts, part in zip(values, (learn, ask), strict=True)
        ]
        if effects[0] is None or effects[1] is None:
            continue
        confirmed = {suspect.place for suspect in _suspects(effects[1], widths) if suspect.chance < level}
        for suspect in _suspects(effects[0], widths)[:CANDIDATES]:
            if suspect.place in confirmed and suspect.place not in seen:
                seen.add(suspect.place)
                yield pairs[suspect.place]


def _as_wide(first: PixelRegion, second: PixelRegion) -> tuple[PixelRegion, PixelRegion]:
    """Return two regions with the statistics that both have: pictures may have fewer colours in one split."""
    width = min(first.values.shape[1], second.values.shape[1])
    return replace(first, values=first.values[:, :width]), replace(second, values=second.values[:, :width])
