"""How labels, concepts, table and counterfactual pairs of a kept case stand to its rule."""

from typing import Any

import numpy as np

from assay.base import Array, rng_for
from benchmarks.trained.judged import Count, Judged, count, moves
from benchmarks.trained.kept import PAIRS, Case

REPEATS, SMALLEST = 40, 15


def rule_facts(test: Judged) -> dict[str, Any]:
    """Return how labels, concepts and the table stand to the rule."""
    evidence, columns = test.evidence, list(test.used)
    known = (evidence.concepts[:, columns] >= 0).all(axis=1)
    against = known & (test.knowledge.labels_of(np.maximum(evidence.concepts, 0)) != evidence.labels).any(axis=1)
    facts: dict[str, Any] = {"contradictions": count(against, known)}
    if not test.complete:
        return facts
    by_values, by_shares = ((codes == test.labels).all(axis=1) for codes in (test.implied, test.marginal))
    follows = by_rule(test)
    differs = known & (evidence.predicted_concepts != evidence.concepts)[:, columns].any(axis=1)
    best = by_values if by_values.sum() >= by_shares.sum() else by_shares
    return {
        **facts,
        "disagreements": count(against, differs),
        "by_values": count(by_values),
        "by_probabilities": count(by_shares),
        "beyond": [int((test.right & ~best).sum()), int((best & ~test.right).sum())],
        "follows": count(follows),
        "follows_misread": count(follows, ~test.read),
        "right_where_read": count(test.right | by_rule(test), test.read),
        "recalled_where_read": _worst_recall(test),
        "kept": count(by_values, ~test.read),
        "kept_by_chance": kept_by_chance(test),
    }


def by_rule(test: Judged) -> Array:
    """Where the labels are what the rule gives for the predicted values, or for the probabilities."""
    said = test.evidence.predicted_labels
    return np.asarray((said == test.implied).all(axis=1) | (said == test.marginal).all(axis=1))


def _worst_recall(test: Judged) -> Count:
    """Return the recall of the value that is recalled worst where used concepts are right; what follows counts too."""
    said, counts = test.evidence.predicted_labels, []
    for place, label in enumerate(test.knowledge.labels):
        for value in range(len(label.values)):
            rows = test.read & (test.labels[:, place] == value)
            if rows.sum() >= SMALLEST:
                counts.append(count((said[:, place] == value) | by_rule(test), rows))
    return min(counts, key=lambda c: c[0] / c[1], default=[0, 0])


def kept_by_chance(test: Judged) -> float:
    """Return how many labels random errors of the used concepts would keep, as frequent as the model's, at most half.

    Each concept errs on its own, in random rows, and takes any other value; counted where one at least errs.
    """
    rng, columns = rng_for(0, "kept by chance"), list(test.used)
    rates = (test.evidence.predicted_concepts != test.concepts)[:, columns].mean(axis=0).clip(0, 0.5)
    sizes, kept, wrong = np.array(test.knowledge.space.sizes)[columns], 0, 0
    for _ in range(REPEATS):
        codes, errs = test.concepts.copy(), rng.random((len(test.concepts), len(columns))) < rates
        shift = np.stack([rng.integers(1, size, size=len(codes)) for size in sizes], axis=1)
        codes[:, columns] = np.where(errs, (codes[:, columns] + shift) % sizes, codes[:, columns])
        rows = errs.any(axis=1)
        kept += int((test.knowledge.labels_of(codes) == test.labels).all(axis=1)[rows].sum())
        wrong += int(rows.sum())
    return round(kept / wrong, 4) if wrong else 1.0


def boundary_facts(case: Case, test: Judged) -> dict[str, Any]:
    """Return how good labels are near the boundary, where one change gives others, and far from it."""
    near = moves(case.knowledge, test.concepts).any(axis=1)
    return {"near": count(test.right, near), "far": count(test.right, ~near)}


def pair_facts(case: Case) -> dict[str, Any]:
    """Return in how many pairs the label follows where it should, and stays where it should."""
    changes = case.pairs
    if changes is None:
        return {}
    before, after = changes.before, changes.after
    first, second = case.true_labels("test")[case.arrays[f"{PAIRS}.rows"]], after.labels
    moved = (first != second).any(axis=1)
    follows = (before.predicted_labels == first).all(axis=1) & (after.predicted_labels == second).all(axis=1)
    stays = (before.predicted_labels == after.predicted_labels).all(axis=1)
    return {"pairs_follow": count(follows, moved), "pairs_stay": count(stays, ~moved)}
