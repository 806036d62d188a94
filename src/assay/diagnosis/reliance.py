"""Reliance: how often labels move when only one nuisance or one concept changes, beside how often they should.

Nuisances that confound are judged by the split `reversed`, which shows the worlds of the test split again with one of
them changed. Each pair has a side where the nuisance goes with the label as in training, and one where it does not: a
model that relies on it is right on the first and wrong on the second. A confounder that is a formula over concepts has
no such pairs; there the two kinds of examples of `unconfounded` are compared, for equal labels.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from assay.arrays import Array
from assay.data.columns import PAIR_CONCEPT
from assay.data.confounding.confounder import (
    NUISANCES,
    REVERSED,
    UNCONFOUNDED,
    Confounder,
    Coupling,
    couplings_of,
)
from assay.data.dataset import Dataset
from assay.data.manifest import CONFOUND, PAIRS
from assay.data.recipe import pairs_split
from assay.diagnosis.comparisons import rises
from assay.diagnosis.findings import DROP, FEWEST, Finding
from assay.diagnosis.wording import join_first, join_words, percent, share_of
from assay.metrics.evidence import Evidence, gather
from assay.metrics.interval import wilson
from assay.predictions import Predictions

MOST, LEAST = 0.9, 0.1
"""Between these shares of moved labels, it is said that only a part of the examples relies on a nuisance."""


@dataclass(frozen=True)
class Reliance:
    """What becomes of labels when one thing changes and all else stays.

    `pairs`    how many pairs of examples differ in this alone; 0 where groups of examples are compared
    `moved`    in how many of them a predicted label moves
    `should`   in how many a true label does
    `usual`    whether labels are right where the nuisance goes with them as in training
    `unusual`  whether they are right where it does not
    `reads`    for each concept in how many pairs its prediction moves
    """

    name: str
    kind: Literal["nuisance", "concept"]
    split: str
    pairs: int
    moved: int
    should: int
    usual: tuple[int, int] = (0, 0)
    unusual: tuple[int, int] = (0, 0)
    reads: Mapping[str, int] = field(default_factory=dict)
    relied_on: bool = False
    """Whether labels are clearly worse where the nuisance does not go with them."""

    @property
    def share(self) -> float:
        """The share of pairs in which a label moves."""
        return self.moved / max(1, self.pairs)

    @property
    def interval(self) -> tuple[float, float]:
        """A 95 % interval of that share."""
        return wilson(self.moved, self.pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data: the counts, and how many right of how many."""
        low, high = self.interval
        return {**asdict(self), "share": self.share if self.pairs else None, "low": low, "high": high}

    @property
    def text(self) -> str:
        """What was seen of a nuisance, in sentences."""
        changes = ""
        if self.pairs:
            moved = share_of(self.moved, self.pairs)
            changes = f"When only {self.name} changes, the label moves in {moved} pairs, and should in none. "
        where = f"where {self.name} goes with the label as in training"
        return (
            f"{changes}Labels are right in {share_of(*self.usual)} examples {where}, and in {share_of(*self.unusual)} "
            f"where it does not.{self._extent}"
        )

    @property
    def _extent(self) -> str:
        """Whether all examples and concepts are concerned, or a part of them."""
        parts = []
        if self.pairs and LEAST < self.share < MOST:
            parts.append(f"It is a part of the examples: in {percent(1 - self.share)} of the pairs the label stays")
        moving = [name for name, count in self.reads.items() if wilson(count, self.pairs)[0] > LEAST]
        if moving:
            still = [name for name in self.reads if name not in moving]
            shares = [f"{name} ({percent(self.reads[name] / self.pairs)})" for name in moving]
            rest = f", and not {join_first(still)}" if still else ""
            parts.append(f"With it moves what is predicted of {join_first(shares)}{rest}")
        return "".join(f" {part}." for part in parts)


def confounders_of(dataset: Dataset) -> tuple[Coupling, ...]:
    """Return the confounders that a dataset was made with."""
    planted = dataset.manifest["task"].get(CONFOUND, [])
    return couplings_of([Confounder(**entry) for entry in planted], dataset.knowledge)


def reliance_of(
    dataset: Dataset, predictions: Mapping[str, Predictions], level: float
) -> tuple[tuple[Reliance, ...], str]:
    """Return what labels rely on, nuisances first, and what could not be judged for want of predictions."""
    rows, couplings = list[Reliance](), confounders_of(dataset)
    origin = pairs_split(dataset.split_names)
    marks = [coupling for coupling in couplings if not coupling.is_formula]
    formulas = [coupling for coupling in couplings if coupling.is_formula]
    missing = list[str]()
    if marks and origin in predictions and REVERSED in predictions and origin is not None:
        rows += _by_pairs(dataset, predictions[origin], predictions[REVERSED], couplings, level)
    elif marks:
        missing.append(REVERSED)
    if formulas and UNCONFOUNDED in predictions:
        data = dataset.symbols(UNCONFOUNDED, styles=False)
        evidence = gather(data, predictions[UNCONFOUNDED])
        rows += [_by_groups(evidence, coupling, level) for coupling in formulas]
    elif formulas:
        missing.append(UNCONFOUNDED)
    if PAIRS in predictions and dataset.pairs is not None and dataset.pairs["split"] in predictions:
        rows += _of_concepts(dataset, predictions[dataset.pairs["split"]], predictions[PAIRS])
    names = join_words([coupling.name for coupling in couplings])
    why = f"Whether labels follow {names} is not judged: there are no predictions for {join_words(missing)}."
    return tuple(rows), why if missing else ""


def _by_pairs(
    dataset: Dataset, before: Predictions, after: Predictions, couplings: Sequence[Coupling], level: float
) -> list[Reliance]:
    """Compare the same worlds with one nuisance changed."""
    data, other = dataset.symbols(before.split), dataset.symbols(after.split)
    common = np.intersect1d(before.index, after.index)
    first, second = _at(gather(data, before), before, common), _at(gather(other, after), after, common)
    codes, changed = _codes(data.table, data.index, common), _codes(other.table, other.index, common)
    rows = []
    for coupling in couplings:
        if not coupling.is_formula:
            mine = np.flatnonzero(codes[coupling.name] != changed[coupling.name])
            partner = coupling.partner(first.concepts, first.labels)
            usual = codes[coupling.name] == partner, changed[coupling.name] == partner
            rows.append(_pairs_of(coupling.name, first.take(mine), second.take(mine), [x[mine] for x in usual], level))
    return rows


def _at(evidence: Evidence, predictions: Predictions, index: Array) -> Evidence:
    """Return the evidence of examples by their numbers."""
    order = np.argsort(predictions.index)
    return evidence.take(order[np.searchsorted(predictions.index[order], index)])


def _codes(table: Any, index: Array, wanted: Array) -> dict[str, Array]:
    """Return the codes of the nuisances of some examples."""
    styles = table["style"].to_pylist()
    order = np.argsort(index)
    chosen = [json.loads(styles[row])[NUISANCES] for row in order[np.searchsorted(index[order], wanted)]]
    return {name: np.array([codes[name] for codes in chosen]) for name in (chosen[0] if chosen else {})}


def _pairs_of(name: str, before: Evidence, after: Evidence, usual: Sequence[Array], level: float) -> Reliance:
    """Return what becomes of labels in pairs; `usual` says of each side whether the nuisance goes with the label."""
    sides = [(evidence.predicted_labels == evidence.labels).all(axis=1) for evidence in (before, after)]
    told = usual[0] != usual[1]
    right = np.where(usual[0], sides[0], sides[1])[told]
    wrong = ~np.where(usual[0], sides[1], sides[0])[told]
    spoken = (before.predicted_concepts >= 0) & (after.predicted_concepts >= 0)
    moves = (before.predicted_concepts != after.predicted_concepts) & spoken
    names = before.knowledge.space.names
    return Reliance(
        name, "nuisance", REVERSED, len(before), int((before.predicted_labels != after.predicted_labels).any(1).sum()),
        0, (int(right.sum()), len(right)), (int((~wrong).sum()), len(wrong)),
        {names[i]: int(moves[:, i].sum()) for i in np.flatnonzero(spoken.any(axis=0)).tolist()},
        rises(~right, wrong, level),
    )  # fmt: skip


def _by_groups(evidence: Evidence, coupling: Coupling, level: float) -> Reliance:
    """Compare examples in which a formula over concepts goes with the label as in training with the others."""
    partner = coupling.partner(evidence.concepts, evidence.labels)
    usual = coupling.shown(evidence.concepts) == partner
    right = (evidence.predicted_labels == evidence.labels).all(axis=1)
    gaps, clear = [], False
    for value in range(coupling.count):
        groups = [right[(partner == value) & side] for side in (usual, ~usual)]
        if min(map(len, groups)) >= FEWEST:
            gaps.append(float(groups[0].mean() - groups[1].mean()))
            clear |= rises(~groups[0], ~groups[1], level)
    told = clear and float(np.mean(gaps)) >= DROP / 2
    first, other = ((int(right[side].sum()), int(side.sum())) for side in (usual, ~usual))
    return Reliance(f"'{coupling.name}'", "nuisance", UNCONFOUNDED, 0, 0, 0, first, other, relied_on=told)


def _of_concepts(dataset: Dataset, before: Predictions, after: Predictions) -> list[Reliance]:
    """Return how often labels move with each concept, and how often they should."""
    data, changed = dataset.symbols(before.split, styles=False), dataset.symbols(PAIRS, styles=False)
    there = np.isin(changed.pair_rows, before.index) & np.isin(changed.index, after.index)
    first = _at(gather(data, before), before, changed.pair_rows[there])
    second = _at(gather(changed, after), after, changed.index[there])
    moved = (first.predicted_labels != second.predicted_labels).any(axis=1)
    should = (first.labels != second.labels).any(axis=1)
    names = np.array(changed.table[PAIR_CONCEPT].to_pylist())[there]
    space = dataset.knowledge.space
    return [
        Reliance(name, "concept", PAIRS, int(mine.sum()), int(moved[mine].sum()), int(should[mine].sum()))
        for name in sorted(set(names.tolist()), key=space.place)
        if (mine := names == name).any()
    ]


def find_spurious(rows: Sequence[Reliance]) -> Finding | None:
    """Find labels that follow a nuisance."""
    relied = [row for row in rows if row.relied_on]
    if not relied:
        return None
    first = relied[0]
    moving = tuple(name for row in relied for name, count in row.reads.items() if wilson(count, row.pairs)[0] > LEAST)
    numbers = {
        "nuisances": len(relied), "pairs": first.pairs, "moved": first.moved,
        "usual": first.usual[0] / max(1, first.usual[1]), "unusual": first.unusual[0] / max(1, first.unusual[1]),
    }  # fmt: skip
    text = " ".join(row.text for row in relied)
    return Finding("spurious", first.split, text, tuple(dict.fromkeys(moving)), numbers=numbers)


def describe_unused(rows: Sequence[Reliance]) -> str:
    """Say of nuisances that confound that labels do not follow them."""
    parts = []
    for row in rows:
        if row.kind == "nuisance" and not row.relied_on:
            moves = f"they move in {share_of(row.moved, row.pairs)} pairs that differ in it alone" if row.pairs else ""
            rights = f"right in {share_of(*row.usual)} where it goes with them, in {share_of(*row.unusual)} elsewhere"
            parts.append(f"Labels do not clearly follow {row.name}: {'; '.join(x for x in (moves, rights) if x)}.")
    return " ".join(parts)


def reliance_table(rows: Sequence[Reliance]) -> list[list[str]]:
    """Return the rows as texts: what changes, the pairs, how often labels move with an interval, and should."""
    return [
        [row.name, row.kind, f"{row.pairs:,}", share_of(row.moved, row.pairs) if row.pairs else "",
         percent(row.should / row.pairs) if row.pairs else "", "yes" if row.relied_on else ""]
        for row in rows
    ]  # fmt: skip


RELIANCE_HEAD = ["what changes", "kind", "pairs", "the label moves", "it should", "spurious"]
