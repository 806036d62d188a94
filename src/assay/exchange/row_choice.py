"""Which rows of a split an annotation keeps: where a formula holds, how many, in which shares of labels or formulas."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.base import Array, Codes, ConfigError, UnknownName, rng_for
from assay.dataset import Annotation
from assay.logic import Knowledge, evaluate, listing, parse


def choose_rows(annotation: Annotation, knowledge: Knowledge, split: str, concepts: Codes, labels: Codes) -> Array:
    """Return the rows that are kept, in their order."""
    rows = np.arange(len(labels))
    if annotation.where is not None:
        rows = rows[_holds(annotation.where, knowledge, concepts, "where")]
        if not len(rows):
            raise ConfigError(f"where: {annotation.where!r} holds in no row of split {split!r}")
    rng = rng_for(annotation.seed, "annotate", split, "rows")
    rows = rows[rng.permutation(len(rows))]
    if annotation.label_shares is None and annotation.shares is None:
        return np.sort(rows[: annotation.examples])
    cells, shares = _cells(annotation, knowledge, concepts[rows], labels[rows])
    counts = quotas(np.bincount(cells, minlength=len(shares)), shares, annotation.examples, split)
    chosen = [rows[cells == cell][:count] for cell, count in enumerate(counts)]
    return np.sort(np.concatenate(chosen))


def quotas(there: Array, shares: Array, wanted: int | None, split: str) -> list[int]:
    """Return how many rows each cell gives, so that the shares are as asked to less than one row.

    >>> quotas(np.array([60, 40]), np.array([0.9, 0.1]), None, "train")
    [59, 7]
    """
    needed = shares > 0
    most = int(np.floor((there[needed] / shares[needed]).min() + 1e-9))
    total = most if wanted is None else wanted
    if total < 1 or total > most:
        raise ConfigError(
            f"split {split!r} has rows for {most:,} examples in the shares asked for, not {max(1, total):,}"
        )
    exact = shares * total
    counts = np.floor(exact + 1e-9).astype(np.int64)
    for cell in np.argsort(counts - exact, kind="stable").tolist():
        if counts.sum() < total and counts[cell] < there[cell] and needed[cell]:
            counts[cell] += 1
    quota: list[int] = counts.tolist()
    return quota


def _cells(annotation: Annotation, knowledge: Knowledge, concepts: Codes, labels: Codes) -> tuple[Array, Array]:
    """Return the cell of each row and the share of each cell; the last is the rest."""
    if annotation.shares is not None:
        named: Mapping[Any, float] = annotation.shares
        holds = [_holds(text, knowledge, concepts, "shares") for text in named]
    else:
        place, named = _label_asked(annotation.label_shares or {}, knowledge)
        label = knowledge.labels[place]
        codes = {(type(value), value): code for code, value in enumerate(label.values)}
        strangers = [value for value in named if (type(value), value) not in codes]
        if strangers:
            raise UnknownName(f"label {label.name!r} has no value {strangers[0]!r}; it has: {listing(label.values)}")
        holds = [labels[:, place] == codes[type(value), value] for value in named]
    both = np.stack(holds, axis=1)
    if (both.sum(axis=1) > 1).any():
        raise ConfigError("shares: two of the formulas hold in one row; give formulas that exclude one another")
    rest = 1 - sum(named.values())
    if rest < -1e-9:
        raise ConfigError(f"the shares add up to {sum(named.values()):g}, more than 1")
    if rest > 1e-9 and both.any(axis=1).all():
        raise ConfigError(f"the shares add up to {sum(named.values()):g}, and no row is left for the rest")
    cells = np.where(both.any(axis=1), both.argmax(axis=1), len(named))
    return cells, np.array([*named.values(), max(0.0, rest)])


def _label_asked(shares: Mapping[Any, Any], knowledge: Knowledge) -> tuple[int, Mapping[Any, float]]:
    """Return the label that shares are about, and the share of each of its values."""
    if any(isinstance(share, Mapping) for share in shares.values()):
        if len(shares) != 1:
            raise ConfigError("label_shares: give the shares of one label; run annotate twice for two")
        name, inner = next(iter(shares.items()))
        knowledge.label(name)
        return knowledge.label_names.index(name), inner
    if len(knowledge.labels) > 1:
        raise ConfigError(f"label_shares: say of which label: {listing(knowledge.label_names)}")
    return 0, shares


def _holds(text: str, knowledge: Knowledge, concepts: Codes, key: str) -> Array:
    truth = evaluate(parse(text), knowledge.space, concepts)
    if truth.dtype != bool:
        raise ConfigError(f"{key}: {text!r} is not true or false")
    return truth
