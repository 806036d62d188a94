"""What is true of a kept case, counted from its arrays and from nothing else; no diagnosis is asked.

A count is a list `[how many, of how many]`. A model is judged by the truth (`right`), and beside that by the table
(`table_right`), which may have wrong annotations.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from assay.base import Array, Codes
from benchmarks.trained.judged import Count, Judged, count, judged, numbered, used_columns
from benchmarks.trained.kept import Case
from benchmarks.trained.rule_measures import SMALLEST, boundary_facts, pair_facts, rule_facts

FOLDS = 5


def facts_of(case: Case) -> dict[str, Any]:
    """Return what can be counted of a case from what is kept."""
    used = used_columns(case)
    test = judged(case, "test", used)
    evidence, names = test.evidence, case.knowledge.space.names
    hits = evidence.predicted_concepts == test.concepts
    facts: dict[str, Any] = {
        "n": len(evidence),
        "right": count(test.right),
        "table_right": count((evidence.predicted_labels == evidence.labels).all(axis=1)),
        "most_frequent": int(np.bincount(numbered(test.labels)).max()),
        "recalled": recalled(test),
        "used": [names[i] for i in used],
        "unspoken": [names[i] for i in used if i not in evidence.answered],
        "concept_right": {names[i]: count(hits[:, i]) for i in evidence.answered},
        "gaps": round(float((evidence.concepts < 0).mean()), 4),
        "cells": accuracy_within_cells(test.concepts[:, list(used)], test.labels),
        "splits": {split: split_facts(case, judged(case, split, used)) for split in case.header["splits"]},
        "new": new_facts(case, used),
        "region": region_facts(test),
    }
    if test.complete:
        facts["from_predicted"] = accuracy_from(evidence.predicted_concepts[:, list(used)], test.labels)
    if case.knowledge.has_rule:
        facts |= {**rule_facts(test), **boundary_facts(case, test), **pair_facts(case)}
    return facts


def recalled(test: Judged) -> dict[str, list[Count]]:
    """Return for each label how often each of its values is recalled."""
    said = test.evidence.predicted_labels
    return {
        label.name: [
            count(said[:, place] == value, test.labels[:, place] == value) for value in range(len(label.values))
        ]
        for place, label in enumerate(test.knowledge.labels)
    }


def accuracy_within_cells(cells: Codes, labels: Codes) -> float:
    """Return the accuracy of the most frequent labels of each cell."""
    table = np.zeros((numbered(cells).max() + 1, numbered(labels).max() + 1), dtype=np.int64)
    np.add.at(table, (numbered(cells), numbered(labels)), 1)
    return round(float(table.max(axis=1).sum() / len(cells)), 4)


def accuracy_from(cells: Codes, labels: Codes) -> float:
    """Return the accuracy of the most frequent labels of each cell, which other examples give."""
    cell, label = numbered(cells), numbered(labels)
    fold = np.arange(len(cell)) % FOLDS
    right = 0
    for part in range(FOLDS):
        table = np.zeros((cell.max() + 1, label.max() + 1), dtype=np.int64)
        np.add.at(table, (cell[fold != part], label[fold != part]), 1)
        usual = np.bincount(label[fold != part]).argmax()
        guess = np.where(table.sum(axis=1) > 0, table.argmax(axis=1), usual)
        right += int((guess[cell[fold == part]] == label[fold == part]).sum())
    return round(right / len(cell), 4)


def known_rows(case: Case, concepts: Codes) -> Array:
    """Return which worlds are among those of training, by all concepts of the table."""
    numbers = numbered(np.concatenate([case.training, concepts]))
    return np.isin(numbers[len(case.training) :], numbers[: len(case.training)])


def split_facts(case: Case, part: Judged) -> dict[str, Any]:
    """Return how good a model is on a split, and on its worlds that training has."""
    known = known_rows(case, part.concepts)
    facts: dict[str, Any] = {"right": count(part.right), "known_right": count(part.right, known)}
    if part.complete:
        facts["read"] = count(part.read)
    return facts


def new_facts(case: Case, used: Sequence[int]) -> dict[str, Any]:
    """Return how good a model is on known and on new worlds, among pictures that look as in training.

    `equal_known` and `equal_new` are of the rows whose cell of used concepts has both: there only the other concepts
    differ. `cells_new` are of the rows whose cell of used concepts training lacks.
    """
    alike = [split for split in case.header["splits"] if split not in case.header["other_pictures"]]
    parts = [judged(case, split, used) for split in alike]
    concepts, right = np.concatenate([p.concepts for p in parts]), np.concatenate([p.right for p in parts])
    known = known_rows(case, concepts)
    numbers = numbered(np.concatenate([concepts, case.training])[:, list(used)])
    cell, trained = numbers[: len(concepts)], numbers[len(concepts) :]
    both = np.isin(cell, cell[known]) & np.isin(cell, cell[~known])
    return {
        "known_right": count(right, known),
        "new_right": count(right, ~known),
        "equal_known": count(right, known & both),
        "equal_new": count(right, ~known & both),
        "cells_new": count(right, ~np.isin(cell, trained)),
    }


def region_facts(test: Judged) -> dict[str, Any]:
    """Return the region of one or two values of used concepts in which the excess of wrong labels is largest."""
    columns, wrong = list(test.used), ~test.right
    literals = [(c, v) for c in columns for v in np.unique(test.concepts[:, c]).tolist()]
    masks = {literal: test.concepts[:, literal[0]] == literal[1] for literal in literals}
    regions = {(first,): masks[first] for first in literals}
    regions |= {(a, b): masks[a] & masks[b] for a, b in combinations(literals, 2) if a[0] != b[0]}
    usual = float(wrong.mean())
    large = {k: m for k, m in regions.items() if SMALLEST <= m.sum() <= len(wrong) - SMALLEST}
    if not large or not wrong.any():
        return {}
    best = max(large, key=lambda k: float(wrong[large[k]].sum() - usual * large[k].sum()))
    space, inside = test.knowledge.space, large[best]
    text = " and ".join(f"{space.names[c]} == {space.concepts[c].values[v]}" for c, v in best)
    return {"where": text, "inside": count(test.right, inside), "outside": count(test.right, ~inside)}
