"""Specimens whose fault looks like another one: wrong annotations, other pictures, missed regions, gaps, no rule."""

from dataclasses import replace

import numpy as np

from assay.base import Array, Codes
from assay.logic import NO_RULE, Knowledge
from assay.metrics import Evidence
from assay.testing.planted import (
    NoRoom,
    Planted,
    ZooTask,
    all_but,
    answers,
    by_inference,
    everywhere,
    leading,
    misread,
    need,
    on_each,
    one_of,
    silence,
    specimen,
    true_labels,
    varying_columns,
)

Random = np.random.Generator
FEW, ROWS = 100, 40


def _other_values(home: ZooTask, labels: Codes, rows: Array, rng: Random) -> Codes:
    """Return labels with another value of the first of them in these rows."""
    changed, size = labels.copy(), len(home.knowledge.labels[0].values)
    shift = rng.integers(1, size, size=len(labels))
    changed[rows, 0] = (labels[rows, 0] + shift[rows]) % size
    return changed


@specimen("wrong annotations")
def wrong_annotations(home: ZooTask, rng: Random) -> Planted:
    """Everything right; the table has 12 % of the concepts of the rule wrong, and its labels right."""
    need(not home.knowledge.stochastic)
    evidence = on_each(
        home, lambda split, w: replace(answers(home, split, w), concepts=misread(home, w, 0.12, rng, home.used))
    )
    test = evidence["test"]
    contradicts = (home.knowledge.labels_of(test.concepts) != test.labels).any(axis=1)
    differs = (test.concepts != test.predicted_concepts)[:, home.used].any(axis=1)
    need(contradicts.mean() >= 0.05 and (contradicts & differs).sum() >= 0.2 * differs.sum())  # the rule tells most
    return leading(evidence, one_of("annotations"), all_but("annotations", "unidentified", "boundary"))


@specimen("wrong label annotations")
def wrong_label_annotations(home: ZooTask, rng: Random) -> Planted:
    """Everything right; the table has a tenth of the labels wrong."""
    need(not home.knowledge.stochastic)

    def answer(split: str, worlds: Codes) -> Evidence:
        right, rows = answers(home, split, worlds), rng.random(len(worlds)) < 0.1
        return replace(right, labels=_other_values(home, right.labels, rows, rng))

    return leading(on_each(home, answer), one_of("annotations"), all_but("annotations", "unidentified", "boundary"))


@specimen("confidence by another concept")
def confidence_by_another(home: ZooTask, rng: Random) -> Planted:
    """Everything right; how sure it is of one concept depends on another one."""
    columns = varying_columns(home, home.used)
    need(len(columns) >= 2)
    one, other = rng.permutation(columns)[:2].tolist()
    common = np.bincount(home.splits["test"][:, other]).argmax()

    def answer(split: str, worlds: Codes) -> Evidence:
        confidence = [rng.uniform(0.95, 1.0, len(worlds)) for _ in range(worlds.shape[1])]
        confidence[one] = np.where(worlds[:, other] == common, 0.8, 0.95) + rng.uniform(-0.03, 0.03, len(worlds))
        return answers(home, split, worlds, confidence=confidence)

    return leading(on_each(home, answer), one_of("sound"), all_but("sound"))


@specimen("exact inference")
def exact_inference(home: ZooTask, rng: Random) -> Planted:
    """Uncertain concepts, calibrated; the labels that the rule makes most probable for them."""
    need(not home.knowledge.stochastic)

    def answer(split: str, worlds: Codes) -> Evidence:
        sure = [rng.uniform(0.6, 1.0, len(worlds)) for _ in range(worlds.shape[1])]
        concepts = worlds.copy()
        for column, size in enumerate(home.knowledge.space.sizes):
            wrong = rng.random(len(worlds)) > sure[column]
            shift = rng.integers(1, size, len(worlds)) if size > 1 else 0
            concepts[:, column] = np.where(wrong, (worlds[:, column] + shift) % size, worlds[:, column])
        return by_inference(answers(home, split, concepts, confidence=sure))

    forbidden = frozenset({"leaking", "inconsistent", "wrong rule", "sound"})
    return Planted(on_each(home, answer), (one_of("noisy", "shortcut", "underfit"),), forbidden)


@specimen("other pictures")
def other_pictures(home: ZooTask, rng: Random) -> Planted:
    """No concepts; labels right on test, a quarter wrong on another split of the same worlds."""
    worlds = home.splits["test"]
    other = replace(home, splits={"test": worlds, "ood": worlds[rng.permutation(len(worlds))]})

    def answer(split: str, worlds: Codes) -> Evidence:
        rows = rng.random(len(worlds)) < (0.25 if split == "ood" else 0.0)
        return answers(other, split, silence(worlds), _other_values(home, true_labels(other, split), rows, rng))

    return leading(on_each(other, answer), one_of("shifted"), all_but("shifted", "opaque"))


@specimen("missed region")
def missed_region(home: ZooTask, rng: Random) -> Planted:
    """No concepts; labels wrong wherever a concept of the rule has one value and another one has another."""
    test = home.splits["test"]
    for one, other in [rng.permutation(home.used)[:2].tolist() for _ in range(20) if len(home.used) > 1]:
        values = test[rng.integers(len(test))][[one, other]]
        if 0.08 <= float((test[:, [one, other]] == values).all(axis=1).mean()) <= 0.2:
            break
    else:
        raise NoRoom

    def answer(split: str, worlds: Codes) -> Evidence:
        rows = (worlds[:, [one, other]] == values).all(axis=1)
        return answers(home, split, silence(worlds), _other_values(home, true_labels(home, split), rows, rng))

    return leading(on_each(home, answer), one_of("missed region"), all_but("missed region", "opaque"))


@specimen("ten of a hundred labels wrong")
def ten_of_a_hundred(home: ZooTask, rng: Random) -> Planted:
    """All concepts right, ten of a hundred labels wrong."""
    small = replace(home, splits={"test": home.splits["test"][:FEW]})
    wrong = np.isin(np.arange(FEW), rng.permutation(FEW)[:10])
    labels = _other_values(home, true_labels(small, "test"), wrong, rng)
    evidence = {"test": answers(small, "test", small.splits["test"], labels)}
    return Planted(evidence, (one_of("too few", "wrong rule"),), all_but("too few", "wrong rule", "boundary"))


@specimen("one label value missed")
def one_label_missed(home: ZooTask, rng: Random) -> Planted:
    """All concepts right; the rarest value of a label is missed in two examples of three."""
    labels = true_labels(home, "test")[:, 0]
    counts = np.bincount(labels[labels >= 0], minlength=len(home.knowledge.labels[0].values))
    frequent = [code for code in np.argsort(counts).tolist() if counts[code] >= ROWS]
    need(len(frequent) >= 2)

    def answer(split: str, worlds: Codes) -> Evidence:
        said = true_labels(home, split)
        said[(said[:, 0] == frequent[0]) & (rng.random(len(worlds)) < 2 / 3), 0] = frequent[-1]
        return answers(home, split, worlds, said)

    return leading(on_each(home, answer), one_of("wrong rule"), all_but("wrong rule", "boundary", "memorised"))


@specimen("gaps")
def gaps(home: ZooTask, rng: Random) -> Planted:
    """Everything right, and a fifth of the true concepts not known."""

    def answer(split: str, worlds: Codes) -> Evidence:
        return replace(answers(home, split, worlds), concepts=np.where(rng.random(worlds.shape) < 0.2, -1, worlds))

    return Planted(on_each(home, answer), (one_of("sound", "too few"),), all_but("sound"))


def _without_rule(home: ZooTask) -> Knowledge:
    need(not home.knowledge.stochastic)
    labels = tuple(replace(label, formula=NO_RULE, types=()) for label in home.knowledge.labels)
    return Knowledge(home.knowledge.space, labels)


@specimen("no rule")
def no_rule(home: ZooTask, rng: Random) -> Planted:
    """Everything right, and no rule is known."""
    bare, right = _without_rule(home), everywhere(home, lambda worlds: worlds)
    evidence = {split: replace(found, knowledge=bare) for split, found in right.items()}
    return leading(evidence, one_of("no rule"), all_but("no rule"))


@specimen("incomplete concepts")
def incomplete(home: ZooTask, rng: Random) -> Planted:
    """No rule; labels are those that true concepts allow, where label noise of 30 % lies beyond the concepts."""
    bare, test = _without_rule(home), home.splits["test"]
    need(varying_columns(home, home.used) and len(np.unique(test, axis=0)) <= len(test) / 4)  # several examples a cell

    def answer(split: str, worlds: Codes) -> Evidence:
        right, rows = answers(home, split, worlds), rng.random(len(worlds)) < 0.3
        return replace(right, knowledge=bare, labels=_other_values(home, right.labels, rows, rng))

    return leading(on_each(home, answer), one_of("incomplete"), all_but("incomplete"))
