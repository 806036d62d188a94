"""Comparisons of examples: training worlds with new ones, regions of the rule, counterfactual pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from assay.arrays import Array, Codes, distinct_rows, number_rows
from assay.diagnosis.counterfactual import Counterfactuals
from assay.diagnosis.findings import DROP, FEWEST, KEPT, Finding
from assay.diagnosis.views import SplitView
from assay.diagnosis.wording import join_first, share_of
from assay.metrics.boundary import accuracy_by_region
from assay.metrics.evidence import Evidence
from assay.metrics.interval import at_most, wilson
from assay.worlds.split import HARD

Region = Literal["variant", "type", "far"]
FEWEST_SEEN = 50
"""How many examples of training worlds a comparison with new worlds needs: fewer are special ones."""
FOLLOWS = 0.9
"""The counterfactual sensitivity and invariance that a sound model has at least."""


def find_memorised(views: Mapping[str, SplitView], new: Mapping[str, Array | None]) -> Finding | None:
    """Compare worlds of the training set with new ones, or where it has hardly any the first split with others."""
    easy = {name: view for name, view in views.items() if name != HARD}
    masks = [new[name] for name in easy]
    known = [mask for mask in masks if mask is not None]
    if len(known) == len(masks) and known and int((~np.concatenate(known)).sum()) >= FEWEST_SEEN:
        finding = _find_memorised(easy, new, "whose world is in the training set", "of other worlds")
        if finding is not None:
            return finding
    for other in list(easy)[1:]:
        first = next(iter(easy))
        pair = {first: easy[first], other: easy[other]}
        sides = {name: np.full(len(view.right), name == other) for name, view in pair.items()}
        finding = _find_memorised(pair, sides, f"of {first}", f"of {other}")
        if finding is not None:
            return finding
    return None


@dataclass(frozen=True)
class _Group:
    """Examples of one kind, over all splits."""

    right: Array
    head_wrong: Array
    """Whether labels are wrong although the predicted concepts imply the right ones, or are not all there."""
    misread: Array
    near: Array

    @classmethod
    def of(cls, parts: Sequence[tuple[SplitView, Array]]) -> "_Group":
        """Return these rows of these splits."""
        head_wrong = [~view.right & (~view.complete | view.implied_right) for view, _ in parts]
        misread = [~view.concepts_right & view.complete for view, _ in parts]
        columns = ([view.right for view, _ in parts], head_wrong, misread, [view.near for view, _ in parts])
        masks = [mask for _, mask in parts]
        return cls(*(np.concatenate([x[mask] for x, mask in zip(column, masks, strict=True)]) for column in columns))

    @property
    def hits(self) -> int:
        """How many examples have right labels."""
        return int(self.right.sum())


def _find_memorised(
    views: Mapping[str, SplitView], new: Mapping[str, Array | None], seen_is: str, new_is: str
) -> Finding | None:
    """Find a model that is right on worlds of training and wrong on others, beyond what misread concepts explain."""
    parts = {name: (view, mask) for name, view in views.items() if (mask := new.get(name)) is not None}
    if not parts:
        return None
    fresh, old = _Group.of(list(parts.values())), _Group.of([(view, ~mask) for view, mask in parts.values()])
    if min(len(fresh.right), len(old.right)) < FEWEST or wilson(old.hits, len(old.right))[0] < KEPT:
        return None
    level = min(view.level for view in views.values())
    causes = [(old.head_wrong, fresh.head_wrong)]
    if old.misread.mean() <= DROP:  # where training worlds are misread too, that is no memory
        causes.append((old.misread, fresh.misread))
    falls = any(  # at equal distance: new worlds may lie nearer to the boundary
        rises(before[old.near == near], after[fresh.near == near], level)
        for before, after in causes
        for near in (True, False)
    )
    if not falls or not rises(~old.right, ~fresh.right, level):
        return None
    text = (
        f"Labels are right in {share_of(old.hits, len(old.right))} examples {seen_is}, and in "
        f"{share_of(fresh.hits, len(fresh.right))} {new_is}."
    )
    seen = {"seen": len(old.right), "seen_right": old.hits}
    numbers = {**seen, "new": len(fresh.right), "new_right": fresh.hits}
    return Finding("memorised", ", ".join(parts), text, numbers=numbers)


def rises(before: Array, after: Array, level: float) -> bool:
    """Return whether a share is clearly higher after than before, by `DROP` or more."""
    if min(len(before), len(after)) < FEWEST or after.mean() - before.mean() < DROP:
        return False
    both = np.concatenate([before, after])
    from scipy.stats import hypergeom

    chance = hypergeom.sf(int(after.sum()) - 1, len(both), int(both.sum()), len(after))
    low, high = wilson(int(after.sum()), len(after))[0], wilson(int(before.sum()), len(before))[1]
    return bool(chance <= level and low > high)


def find_boundary(view: SplitView) -> Finding | None:
    """Find labels that are right where the rule is clear and wrong near its boundary."""
    texts, names = [], []
    for place, (label, side) in enumerate(zip(view.evidence.knowledge.labels, view.evidence.sides, strict=True)):
        right = view.evidence.predicted_labels[:, place] == view.truth[:, place]
        near, clear = side.in_types.any(axis=1) & ~side.in_variants.any(axis=1), side.far
        if min(near.sum(), clear.sum()) < FEWEST or not rises(~right[clear], ~right[near], view.level):
            continue
        hits = int(right[clear].sum())
        if (
            wilson(hits, int(clear.sum()))[0] < KEPT
            or at_most(int(right[near].sum()), int(near.sum()), 0.9) > view.level
        ):
            continue
        worst_types = _worst_types(side.types, side.in_types, right, view.level)
        named = f"; clearly wrong: {join_first(worst_types, 3)}" if worst_types else ""
        texts.append(
            f"{label.name} is right in {share_of(int(right[near].sum()), int(near.sum()))} examples that one change "
            f"brings across the boundary, and in {share_of(int(right[clear].sum()), int(clear.sum()))} far from it"
            f"{named}"
        )
        names.append(label.name)
    if not texts:
        return None
    return Finding("boundary", view.name, f"On {view.name}, {'; '.join(texts)}.", labels=tuple(names))


def _worst_types(names: Sequence[str], inside: Array, right: Array, level: float) -> list[str]:
    """Return the near-boundary types that are clearly wrong more often than not, the worst first."""
    types = []
    for name, rows in zip(names, inside.T, strict=True):
        total, hits = int(rows.sum()), int(right[rows].sum())
        if total and at_most(hits, total, 0.5) <= level / len(names):
            types.append((hits / total, f"'{name}' ({hits:,} of {total:,} right)"))
    return [text for _, text in sorted(types)]


def new_worlds(evidence: Evidence, training: Codes | None) -> Array | None:
    """Return which examples have a world that the training set has not; None if that is not known."""
    if training is None or not len(training):
        return None
    if not evidence.known.all():
        return None
    worlds = distinct_rows(evidence.concepts)
    numbers = number_rows(np.concatenate([training, evidence.concepts[worlds.first]]))
    return np.asarray(~np.isin(numbers[len(training) :], numbers[: len(training)])[worlds.which])


def find_insensitive(effects: Counterfactuals | None) -> Finding | None:
    """Find labels that do not change where the change of one concept should change them, or change where not."""
    if effects is None:
        return None
    clearly = [part for part in (effects.all.follows, effects.all.stays) if part.applies and part.high < FOLLOWS]
    if not clearly:
        return None
    numbers = {part.metric: part.value for part in clearly}
    return Finding("boundary", effects.split, effects.text, numbers=numbers)


@dataclass(frozen=True)
class RegionScore:
    """The accuracy of a label on the worlds of one variant or near-boundary type, or on those that are far."""

    label: str
    kind: Region
    name: str
    examples: int
    accuracy: float

    def to_dict(self) -> dict[str, Any]:
        """Return the score as plain data."""
        return asdict(self)


def region_scores(evidence: Evidence) -> tuple[RegionScore, ...]:
    """Return the accuracy on every variant and type of every label that occurs, and on what is far."""
    scores: list[RegionScore] = []
    rows = evidence.distinct
    for place, (label, side) in enumerate(zip(rows.knowledge.labels, rows.sides, strict=True)):
        right = rows.labels[:, place] == rows.predicted_labels[:, place]
        regions: list[tuple[Region, Sequence[str], Any]] = [
            ("variant", side.variants, side.in_variants),
            ("type", side.types, side.in_types),
            ("far", ["far"], side.far[:, None]),
        ]
        for kind, names, inside in regions:
            accuracies, sizes = accuracy_by_region(right, inside, rows.weights), rows.weights @ inside
            for name, accuracy, size in zip(names, accuracies.tolist(), sizes.tolist(), strict=True):
                if size:
                    scores.append(RegionScore(label.name, kind, name, size, accuracy))
    return tuple(scores)
