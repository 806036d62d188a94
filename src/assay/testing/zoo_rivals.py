"""Specimens whose fault looks like another one: wrong annotations, other pictures, missed regions, gaps, no rule."""

from dataclasses import replace

import numpy as np

from assay.base import Array, Codes
from assay.contracts import rule_head
from assay.logic import NO_RULE, Knowledge
from assay.metrics import Evidence
from assay.testing.zoo import (
    Planted,
    ZooTask,
    all_but,
    answers,
    everywhere,
    misread,
    one_of,
    specimen,
    varying_columns,
)

Random = np.random.Generator
FEW, ROWS = 100, 40


def _true_labels(home: ZooTask, split: str) -> Codes:
    return home.knowledge.labels_of(home.splits[split])


def _other_values(labels: Codes, place: int, size: int, rows: Array, rng: Random) -> Codes:
    """Return labels with another value of one of them in these rows."""
    changed = labels.copy()
    shift = rng.integers(1, size, size=len(labels))
    changed[rows, place] = (labels[rows, place] + shift[rows]) % size
    return changed


@specimen("wrong annotations")
def wrong_annotations(home: ZooTask, rng: Random) -> Planted | None:
    """Everything right; the table has 12 % of the concepts of the rule wrong, and its labels right."""
    if home.knowledge.stochastic:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        table = misread(home, worlds, 0.12, rng, home.used)
        evidence[split] = replace(answers(home, split, worlds), concepts=table)
    test = evidence["test"]
    contradicts = (home.knowledge.labels_of(test.concepts) != test.labels).any(axis=1)
    differs = (test.concepts != test.predicted_concepts)[:, home.used].any(axis=1)
    if contradicts.mean() < 0.05 or (contradicts & differs).sum() < 0.2 * differs.sum():
        return None  # the rule does not tell most of them
    false = all_but("annotations", "unidentified", "boundary")
    return Planted(evidence, (one_of("annotations"),), false, first=one_of("annotations"))


@specimen("wrong label annotations")
def wrong_label_annotations(home: ZooTask, rng: Random) -> Planted | None:
    """Everything right; the table has a tenth of the labels wrong."""
    if home.knowledge.stochastic:
        return None
    evidence = {}
    for split in home.splits:
        right = answers(home, split, home.splits[split])
        rows = rng.random(len(right)) < 0.1
        size = len(home.knowledge.labels[0].values)
        evidence[split] = replace(right, labels=_other_values(right.labels, 0, size, rows, rng))
    false = all_but("annotations", "unidentified", "boundary")
    return Planted(evidence, (one_of("annotations"),), false, first=one_of("annotations"))


@specimen("confidence by another concept")
def confidence_by_another(home: ZooTask, rng: Random) -> Planted | None:
    """Everything right; how sure it is of one concept depends on another one."""
    columns = varying_columns(home, home.used)
    if len(columns) < 2:
        return None
    one, other = rng.permutation(columns)[:2].tolist()
    evidence = {}
    for split, worlds in home.splits.items():
        confidence = [rng.uniform(0.95, 1.0, len(worlds)) for _ in range(worlds.shape[1])]
        common = np.bincount(home.splits["test"][:, other]).argmax()
        confidence[one] = np.where(worlds[:, other] == common, 0.8, 0.95) + rng.uniform(-0.03, 0.03, len(worlds))
        evidence[split] = answers(home, split, worlds, confidence=confidence)
    return Planted(evidence, (one_of("sound"),), all_but("sound"), first=one_of("sound"))


@specimen("exact inference")
def exact_inference(home: ZooTask, rng: Random) -> Planted | None:
    """Uncertain concepts, calibrated; the labels that the rule makes most probable for them."""
    if home.knowledge.stochastic:
        return None
    head, evidence = rule_head(home.knowledge), {}
    for split, worlds in home.splits.items():
        sure = [rng.uniform(0.6, 1.0, len(worlds)) for _ in range(worlds.shape[1])]
        concepts = worlds.copy()
        for column, size in enumerate(home.knowledge.space.sizes):
            wrong = rng.random(len(worlds)) > sure[column]
            shift = rng.integers(1, size, len(worlds)) if size > 1 else np.zeros(len(worlds), dtype=np.int64)
            concepts[:, column] = np.where(wrong, (worlds[:, column] + shift) % size, worlds[:, column])
        spoken = answers(home, split, concepts, confidence=sure)
        probabilities = [p for p in spoken.concept_probabilities if p is not None]
        labels = np.stack([p.argmax(axis=1) for p in head(probabilities)], axis=1)
        evidence[split] = replace(spoken, predicted_labels=labels)
    return Planted(
        evidence,
        (one_of("noisy", "shortcut", "underfit"),),
        frozenset({"leaking", "inconsistent", "wrong rule", "sound"}),
    )


@specimen("other pictures")
def other_pictures(home: ZooTask, rng: Random) -> Planted | None:
    """No concepts; labels right on test, a quarter wrong on another split of the same worlds."""
    worlds = home.splits["test"]
    other = replace(home, splits={"test": worlds, "ood": worlds[rng.permutation(len(worlds))]})
    evidence = {}
    for split, shown in other.splits.items():
        rows = rng.random(len(shown)) < (0.25 if split == "ood" else 0.0)
        size = len(home.knowledge.labels[0].values)
        labels = _other_values(_true_labels(other, split), 0, size, rows, rng)
        evidence[split] = answers(other, split, np.full_like(shown, -1), labels)
    return Planted(evidence, (one_of("shifted"),), all_but("shifted", "opaque"), first=one_of("shifted"))


@specimen("missed region")
def missed_region(home: ZooTask, rng: Random) -> Planted | None:
    """No concepts; labels wrong wherever a concept of the rule has one value and another one has another."""
    worlds = home.splits["test"]
    for one, other in [rng.permutation(home.used)[:2].tolist() for _ in range(20) if len(home.used) > 1]:
        values = worlds[rng.integers(len(worlds))][[one, other]]
        share = float((worlds[:, [one, other]] == values).all(axis=1).mean())
        if not 0.08 <= share <= 0.2:
            continue
        evidence = {}
        for split, shown in home.splits.items():
            rows = (shown[:, [one, other]] == values).all(axis=1)
            size = len(home.knowledge.labels[0].values)
            labels = _other_values(_true_labels(home, split), 0, size, rows, rng)
            evidence[split] = answers(home, split, np.full_like(shown, -1), labels)
        first = one_of("missed region")
        return Planted(evidence, (first,), all_but("missed region", "opaque"), first=first)
    return None


@specimen("ten of a hundred labels wrong")
def ten_of_a_hundred(home: ZooTask, rng: Random) -> Planted:
    """All concepts right, ten of a hundred labels wrong."""
    small = replace(home, splits={"test": home.splits["test"][:FEW]})
    wrong = np.isin(np.arange(FEW), rng.permutation(FEW)[:10])
    size = len(home.knowledge.labels[0].values)
    labels = _other_values(_true_labels(small, "test"), 0, size, wrong, rng)
    evidence = {"test": answers(small, "test", small.splits["test"], labels)}
    return Planted(evidence, (one_of("too few", "wrong rule"),), all_but("too few", "wrong rule", "boundary"))


@specimen("one label value missed")
def one_label_missed(home: ZooTask, rng: Random) -> Planted | None:
    """All concepts right; the rarest value of a label is missed in two examples of three."""
    size = len(home.knowledge.labels[0].values)
    labels = _true_labels(home, "test")[:, 0]
    counts = np.bincount(labels[labels >= 0], minlength=size)
    frequent = [code for code in np.argsort(counts).tolist() if counts[code] >= ROWS]
    if len(frequent) < 2:
        return None
    rare, common = frequent[0], frequent[-1]
    evidence = {}
    for split, worlds in home.splits.items():
        said = _true_labels(home, split)
        rows = (said[:, 0] == rare) & (rng.random(len(worlds)) < 2 / 3)
        said[rows, 0] = common
        evidence[split] = answers(home, split, worlds, said)
    first = one_of("wrong rule")
    return Planted(evidence, (first,), all_but("wrong rule", "boundary", "memorised"), first=first)


@specimen("gaps")
def gaps(home: ZooTask, rng: Random) -> Planted:
    """Everything right, and a fifth of the true concepts not known."""
    evidence = {}
    for split, worlds in home.splits.items():
        table = np.where(rng.random(worlds.shape) < 0.2, -1, worlds)
        evidence[split] = replace(answers(home, split, worlds), concepts=table)
    return Planted(evidence, (one_of("sound", "too few"),), all_but("sound"))


def _without_rule(knowledge: Knowledge) -> Knowledge:
    labels = tuple(replace(label, formula=NO_RULE, types=()) for label in knowledge.labels)
    return Knowledge(knowledge.space, labels)


@specimen("no rule")
def no_rule(home: ZooTask, rng: Random) -> Planted | None:
    """Everything right, and no rule is known."""
    if home.knowledge.stochastic:
        return None
    bare = _without_rule(home.knowledge)
    evidence = {split: replace(e, knowledge=bare) for split, e in everywhere(home, lambda worlds: worlds).items()}
    return Planted(evidence, (one_of("no rule"),), all_but("no rule"), first=one_of("no rule"))


@specimen("incomplete concepts")
def incomplete(home: ZooTask, rng: Random) -> Planted | None:
    """No rule; labels are those that true concepts allow, where label noise of 30 % lies beyond the concepts."""
    if home.knowledge.stochastic:
        return None
    bare, evidence = _without_rule(home.knowledge), dict[str, Evidence]()
    columns = varying_columns(home, home.used)
    if not columns or len(np.unique(home.splits["test"], axis=0)) > len(home.splits["test"]) / 4:
        return None  # cells must hold several examples
    for split, worlds in home.splits.items():
        right = answers(home, split, worlds)
        rows = rng.random(len(worlds)) < 0.3
        labels = _other_values(right.labels, 0, len(home.knowledge.labels[0].values), rows, rng)
        evidence[split] = replace(right, knowledge=bare, labels=labels)
    first = one_of("incomplete")
    return Planted(evidence, (first,), all_but("incomplete"), first=first)
