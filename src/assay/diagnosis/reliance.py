"""Reliance: how often labels move when only one nuisance or one concept changes, beside how often they should.

Nuisances that confound are judged by the split `reversed`, which shows the worlds of the test split again with one of
them changed. Each pair has a side where the nuisance goes with the label as in training, and one where it does not: a
model that relies on it is right on the first and wrong on the second. A confounder that is a formula over concepts has
no such pairs; there the two kinds of examples of `unconfounded` are compared, for equal labels. In both cases answers
must be better than a constant one on the test split, the world of training: a model that has learned nothing may go by
a nuisance too, and is right by that as often as wrong.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from assay.base import Array, Codes, distinct_rows, find_rows, join_first, join_words
from assay.contracts import PAIRS, Predictions
from assay.dataset import (
    NUISANCES,
    REVERSED,
    UNCONFOUNDED,
    Coupling,
    Dataset,
    SplitData,
    confounders_of,
    pairs_split,
)
from assay.diagnosis.concepts import used_concepts
from assay.diagnosis.counterfactual import align_pairs
from assay.diagnosis.thresholds import DEFAULTS, Spurious, Thresholds
from assay.diagnosis.within import rises
from assay.metrics import Evidence, at_least, gather, gather_from, percent, share_of, wilson

MOST_NAMED = 3
MOST, LEAST = 0.9, 0.1
"""Between these shares of moved labels, it is said that only a part of the examples relies on a nuisance."""


@dataclass(frozen=True)
class FallTest:
    """A test whether answers are clearly worse on one side: its level, and the thresholds."""

    level: float
    settings: Spurious

    def falls(self, usual: Array, unusual: Array) -> bool:
        """Return whether clearly fewer are right on the other side."""
        return rises(~usual, ~unusual, self.level, self.settings.drop, self.settings.examples)

    def among(self, count: int) -> "FallTest":
        """Return the test for one of several comparisons."""
        return replace(self, level=self.level / count)


@dataclass(frozen=True)
class Rights:
    """How many answers are right where a nuisance goes with the label as in training, and where it does not."""

    usual: int = 0
    usual_of: int = 0
    unusual: int = 0
    unusual_of: int = 0
    falls: bool = False
    """Whether answers are clearly worse where it does not."""

    @classmethod
    def of(cls, usual: Array, unusual: Array, test: FallTest) -> "Rights":
        """Compare which answers are right on one side and on the other."""
        counts = int(usual.sum()), len(usual), int(unusual.sum()), len(unusual)
        return cls(*counts, test.falls(usual, unusual))

    @property
    def text(self) -> str:
        """The two shares in words."""
        usual, unusual = share_of(self.usual, self.usual_of), share_of(self.unusual, self.unusual_of)
        return f"right in {usual} examples where it goes with the label as in training, and in {unusual} where not"

    @property
    def shares(self) -> tuple[float, float]:
        """The two shares."""
        return self.usual / max(1, self.usual_of), self.unusual / max(1, self.unusual_of)


@dataclass(frozen=True)
class Reliance:
    """What becomes of labels and concepts when one thing changes and all else stays.

    `pairs`     how many pairs of examples differ in this alone; 0 where groups of examples are compared
    `moved`     in how many of them a predicted label moves
    `should`    in how many a true label does
    `labels`    how right the labels are with the nuisance as in training, and otherwise
    `concepts`  the same for each predicted concept that is clearly worse otherwise
    """

    name: str
    kind: Literal["nuisance", "concept"]
    split: str
    pairs: int
    moved: int
    should: int
    labels: Rights = Rights()
    concepts: Mapping[str, Rights] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    """The predicted concepts that the nuisance does not spoil."""

    @property
    def relied_on(self) -> bool:
        """Whether labels, or a concept, are clearly worse where the nuisance does not go with the label."""
        return self.labels.falls or bool(self.concepts)

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
        texts = []
        if self.pairs:
            moved = share_of(self.moved, self.pairs)
            texts.append(f"When only {self.name} changes, the label moves in {moved} pairs, and should in none.")
        texts.append(f"Labels are {self.labels.text}." if self.labels.falls or not self.concepts else "Labels hold.")
        if self.pairs and self.labels.falls and LEAST < self.share < MOST:
            texts.append(f"It is a part of the examples: in {percent(1 - self.share)} of the pairs the label stays.")
        texts += [f"What is predicted of {name} is {rights.text}." for name, rights in self._worst]
        if self.concepts and self.others:
            texts.append(f"It does not spoil {join_first(list(self.others))}.")
        return " ".join(texts)

    @property
    def _worst(self) -> list[tuple[str, Rights]]:
        """The concepts that fall most."""
        order = sorted(self.concepts.items(), key=lambda item: item[1].shares[1] - item[1].shares[0])
        return order[:MOST_NAMED]


def reliance_of(
    dataset: Dataset, predictions: Mapping[str, Predictions], level: float, thresholds: Thresholds = DEFAULTS
) -> tuple[tuple[Reliance, ...], str]:
    """Return what labels rely on, nuisances first, and what could not be judged for want of predictions."""
    rows, couplings, test = list[Reliance](), confounders_of(dataset), FallTest(level, thresholds.of(Spurious))
    origin = pairs_split(dataset.split_names)
    marks = [coupling for coupling in couplings if not coupling.is_formula]
    formulas = [coupling for coupling in couplings if coupling.is_formula]
    missing = list[str]()
    if marks and origin in predictions and REVERSED in predictions and origin is not None:
        rows += _by_pairs(dataset, predictions[origin], predictions[REVERSED], couplings, test)
    elif marks:
        missing.append(REVERSED)
    if formulas and UNCONFOUNDED in predictions:
        evidence = gather_from(dataset, predictions[UNCONFOUNDED])
        found = [_by_groups(evidence, coupling, test) for coupling in formulas]
        if origin in predictions and origin is not None:
            usual = gather_from(dataset, predictions[origin])
            found = [_only_learned(row, usual, one, test) for row, one in zip(found, formulas, strict=True)]
        rows += found
    elif formulas:
        missing.append(UNCONFOUNDED)
    changed = str(dataset.manifest.pairs.split)
    if PAIRS in predictions and dataset.pairs is not None and changed in predictions:
        rows += _of_concepts(dataset, predictions[changed], predictions[PAIRS])
    names = join_words([coupling.name for coupling in couplings])
    why = f"Whether labels follow {names} is not judged: there are no predictions for {join_words(missing)}."
    return tuple(rows), why if missing else ""


def _by_pairs(
    dataset: Dataset, before: Predictions, after: Predictions, couplings: Sequence[Coupling], test: FallTest
) -> list[Reliance]:
    """Compare the same worlds with one nuisance changed."""
    data, other = dataset.symbols(before.split), dataset.symbols(after.split)
    common = np.intersect1d(before.index, after.index)
    whole = gather(data, before)
    first = whole.take(find_rows(common, before.index))
    second = gather(other, after).take(find_rows(common, after.index))
    codes, changed = _codes(data, common), _codes(other, common)
    rows, used = [], sorted(used_concepts(dataset.knowledge))
    for coupling in couplings:
        if not coupling.is_formula:
            mine = np.flatnonzero(codes[coupling.name] != changed[coupling.name])
            partner = coupling.partner(first.concepts, first.labels)
            usual = [np.asarray(shown[coupling.name] == partner)[mine] for shown in (codes, changed)]
            found = _pairs_of(coupling, first.take(mine), second.take(mine), usual, used, test)
            rows.append(_only_learned(found, whole, coupling, test))
    return rows


def _only_learned(row: Reliance, usual: Evidence, coupling: Coupling, test: FallTest) -> Reliance:
    """Return the row without falls of what is no better than a constant answer in the world of training."""
    names, labels = usual.knowledge.space.names, _labels_right(usual, coupling)
    kept = {
        name: rights
        for name, rights in row.concepts.items()
        if _beats_constant(usual.predicted_concepts[:, (place := names.index(name))] == usual.concepts[:, place],
                           usual.concepts[:, [place]], test)
    }  # fmt: skip
    falls = row.labels.falls and _beats_constant(labels, _labels_of(usual.labels, coupling), test)
    spoilt = [name for name in row.concepts if name not in kept]
    return replace(row, labels=replace(row.labels, falls=falls), concepts=kept, others=(*row.others, *spoilt))


def _beats_constant(right: Array, truth: Codes, test: FallTest) -> bool:
    """Return whether answers are right clearly more often than the most frequent truth would be."""
    most = int(distinct_rows(truth).counts.max())
    return at_least(int(right.sum()), len(right), most / len(right)) <= test.level


def _codes(data: SplitData, index: Array) -> dict[str, Array]:
    """Return the codes of the nuisances of examples by their numbers."""
    styles = data.table["style"].to_pylist()
    chosen = [json.loads(styles[row])[NUISANCES] for row in find_rows(index, data.index)]
    return {name: np.array([codes[name] for codes in chosen]) for name in (chosen[0] if chosen else {})}


def _pairs_of(
    coupling: Coupling, before: Evidence, after: Evidence, usual: Sequence[Array], used: Sequence[int], test: FallTest
) -> Reliance:
    """Return what becomes of answers in pairs; `usual` says of each side whether the nuisance goes with the label."""
    told = usual[0] != usual[1]
    first = usual[0][told]

    def sides(right: Array, other: Array) -> tuple[Array, Array]:
        right, other = right[told], other[told]
        return np.where(first, right, other), np.where(first, other, right)

    labels = [_labels_right(evidence, coupling) for evidence in (before, after)]
    spoken = np.asarray(((before.judged_concepts >= 0) & (after.judged_concepts >= 0)).all(axis=0))
    columns = [place for place in used if spoken[place]]
    names = before.knowledge.space.names
    concepts = {
        names[place]: Rights.of(
            *sides(*(x.predicted_concepts[:, place] == x.concepts[:, place] for x in (before, after))),
            test.among(len(columns)),
        )
        for place in columns
    }
    moved = int((before.predicted_labels != after.predicted_labels).any(axis=1).sum())
    spoilt = {name: rights for name, rights in concepts.items() if rights.falls}
    others = tuple(name for name in concepts if name not in spoilt)
    rights = Rights.of(*sides(*labels), test)
    return Reliance(coupling.name, "nuisance", REVERSED, len(before), moved, 0, rights, spoilt, others)


def _labels_right(evidence: Evidence, coupling: Coupling) -> Array:
    """Return whether the label that a nuisance goes with is right, or all labels where it goes with none of them."""
    said, true = (_labels_of(codes, coupling) for codes in (evidence.predicted_labels, evidence.labels))
    return np.asarray((said == true).all(axis=1))


def _labels_of(codes: Codes, coupling: Coupling) -> Codes:
    """Return the column of the label that a nuisance goes with, or all."""
    names, wanted = coupling.knowledge.label_names, coupling.confounder.goes_with
    return codes[:, [names.index(wanted)]] if wanted in names else codes


def _by_groups(evidence: Evidence, coupling: Coupling, test: FallTest) -> Reliance:
    """Compare examples in which a formula over concepts goes with the label as in training with the others."""
    partner = coupling.partner(evidence.concepts, evidence.labels)
    usual = coupling.code_shown(evidence.concepts) == partner
    right = _labels_right(evidence, coupling)
    gaps, clear = [], False
    for value in range(coupling.count):
        groups = [right[(partner == value) & side] for side in (usual, ~usual)]
        if min(map(len, groups)) >= test.settings.examples:
            gaps.append(float(groups[0].mean() - groups[1].mean()))
            clear |= test.falls(groups[0], groups[1])
    told = clear and float(np.mean(gaps)) >= test.settings.drop / 2
    rights = replace(Rights.of(right[usual], right[~usual], test), falls=told)
    return Reliance(f"'{coupling.name}'", "nuisance", UNCONFOUNDED, 0, 0, 0, rights)


def _of_concepts(dataset: Dataset, before: Predictions, after: Predictions) -> list[Reliance]:
    """Return how often labels move with each concept, and how often they should."""
    pairs = align_pairs(dataset, before, after)
    moved = (pairs.before.predicted_labels != pairs.after.predicted_labels).any(axis=1)
    should = (pairs.before.labels != pairs.after.labels).any(axis=1)
    names = np.array(pairs.concepts)
    space = dataset.knowledge.space
    return [
        Reliance(name, "concept", PAIRS, int(mine.sum()), int(moved[mine].sum()), int(should[mine].sum()))
        for name in sorted(set(names.tolist()), key=space.place)
        if (mine := names == name).any()
    ]


def describe_unused(rows: Sequence[Reliance]) -> str:
    """Say of nuisances that confound that labels do not follow them."""
    parts = []
    for row in rows:
        if row.kind == "nuisance" and not row.relied_on:
            moves = f"they move in {share_of(row.moved, row.pairs)} pairs that differ in it alone" if row.pairs else ""
            parts.append(
                f"Labels do not clearly follow {row.name}: {'; '.join(x for x in (moves, row.labels.text) if x)}."
            )
    return " ".join(parts)
