"""The specimens of the zoo: one function for each planted fault; variants differ in a number or in what is said."""

from dataclasses import replace
from functools import partial

import numpy as np

from assay.base import Array, Codes
from assay.contracts import rule_head
from assay.metrics import Evidence
from assay.testing.zoo import (
    FAULTY_PREDICTORS,
    Planted,
    ZooTask,
    all_but,
    answers,
    by_tables,
    draw_shortcut,
    everywhere,
    exchange,
    find_exchangeable,
    find_exchangeable_values,
    misread,
    names,
    one_of,
    rows_in_training,
    specimen,
    varying_columns,
)

Random = np.random.Generator
SOUND, SHORTCUT, NOISY, OPAQUE = one_of("sound"), one_of("shortcut"), one_of("noisy"), one_of("opaque")
MISREADS = all_but("shortcut", "noisy", "underfit", "boundary")
"""What must not be reported of a model that only misreads."""
NOISE = all_but("noisy", "underfit", "boundary")
"""What must not be reported of a model whose misreadings are noise."""


def _true_labels(home: ZooTask, split: str) -> Codes:
    return home.knowledge.labels_of(home.splits[split])


def _other_labels(home: ZooTask, labels: Codes, rows: Array, rng: Random) -> Codes:
    """Return labels with another value in these rows."""
    changed = labels.copy()
    for place, label in enumerate(home.knowledge.labels):
        shift = rng.integers(1, len(label.values), size=len(labels))
        changed[:, place] = np.where(rows, (labels[:, place] + shift) % len(label.values), labels[:, place])
    return changed


def _pick(columns: list[int], rng: Random) -> int | None:
    return columns[int(rng.integers(len(columns)))] if columns else None


def _silence(worlds: Codes) -> Codes:
    return np.full_like(worlds, -1)


def _smaller(home: ZooTask, rows: int) -> ZooTask:
    """Return the habitat with the first rows of the test split alone."""
    return replace(home, splits={"test": home.splits["test"][:rows]})


def _noise(home: ZooTask, rng: Random, share: float) -> dict[str, Evidence]:
    return everywhere(home, lambda worlds: misread(home, worlds, share, rng))


@specimen("oracle")
def oracle(home: ZooTask, rng: Random) -> Planted:
    """Everything right, with certainty."""
    return Planted(everywhere(home, lambda worlds: worlds), (SOUND,), all_but("sound"))


@specimen("honest")
def honest(home: ZooTask, rng: Random) -> Planted:
    """Everything right, with probabilities that vary by chance."""
    evidence = {}
    for split, worlds in home.splits.items():
        confidence = [rng.uniform(0.9, 1.0, len(worlds)) for _ in range(worlds.shape[1])]
        evidence[split] = answers(home, split, worlds, confidence=confidence)
    return Planted(evidence, (SOUND,), all_but("sound"))


@specimen("nearly right")
def nearly_right(home: ZooTask, rng: Random) -> Planted:
    """One answer in five hundred is wrong."""
    return Planted(_noise(home, rng, 0.002), (SOUND,), all_but("sound"))


@specimen("drawn shortcut")
def drawn_shortcut(home: ZooTask, rng: Random) -> Planted | None:
    """A reading drawn from those that keep every training label."""
    read = draw_shortcut(home, rng)
    return None if read is None else Planted(everywhere(home, read), (SHORTCUT,), MISREADS)


@specimen("calibrated shortcut")
def calibrated_shortcut(home: ZooTask, rng: Random) -> Planted | None:
    """A reading that keeps every training label, with probabilities that look calibrated."""
    read = draw_shortcut(home, rng)
    if read is None:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        concepts = read(worlds)
        accuracies = (concepts == worlds).mean(axis=0).tolist()
        sizes = home.knowledge.space.sizes
        confidence = [max(1 / size, accuracy) for size, accuracy in zip(sizes, accuracies, strict=True)]
        evidence[split] = answers(home, split, concepts, confidence=confidence)
    return Planted(evidence, (SHORTCUT,), MISREADS)


@specimen("shortcut with noisy labels")
def noisy_shortcut(home: ZooTask, rng: Random) -> Planted | None:
    """A reading that keeps every training label, and three labels in a hundred wrong."""
    read = draw_shortcut(home, rng)
    if read is None:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        concepts = read(worlds)
        labels = _other_labels(home, home.knowledge.labels_of(concepts), rng.random(len(worlds)) < 0.03, rng)
        evidence[split] = answers(home, split, concepts, labels)
    return Planted(evidence, (SHORTCUT,), MISREADS - {"inconsistent"})


@specimen("exchanged concepts")
def exchanged_concepts(home: ZooTask, rng: Random) -> Planted | None:
    """Two concepts of the rule are said for each other."""
    pair = find_exchangeable(home, rng)
    if pair is None:
        return None
    return Planted(everywhere(home, exchange(*pair)), (SHORTCUT,), MISREADS, names(home, pair), "exchanges")


@specimen("one concept")
def one_concept(home: ZooTask, rng: Random) -> Planted | None:
    """Two values of one concept of the rule are exchanged."""
    choice = find_exchangeable_values(home, rng)
    if choice is None:
        return None
    column, read = choice
    return Planted(everywhere(home, read), (SHORTCUT,), MISREADS, names(home, [column]))


@specimen("shortcut elsewhere")
def shortcut_elsewhere(home: ZooTask, rng: Random) -> Planted | None:
    """Two concepts are exchanged on ood only."""
    pair = find_exchangeable(home, rng, ["ood"]) if "ood" in home.splits else None
    if pair is None:
        return None
    evidence = everywhere(home, lambda worlds: worlds)
    evidence["ood"] = answers(home, "ood", exchange(*pair)(home.splits["ood"]))
    return Planted(evidence, (SHORTCUT,), MISREADS, names(home, pair))


def _mixture(home: ZooTask, rng: Random, share: float) -> Planted | None:
    read = draw_shortcut(home, rng)
    if read is None:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        rows = rng.random(len(worlds)) < share
        evidence[split] = answers(home, split, np.where(rows[:, None], read(worlds), worlds))
    return Planted(evidence, (one_of("shortcut", "noisy"),), MISREADS)


FAULTY_PREDICTORS["mixture 50 %"] = (
    "Half of the examples are read by a shortcut, the others right.",
    partial(_mixture, share=0.5),
)
FAULTY_PREDICTORS["mixture 30 %"] = "Three examples in ten are read by a shortcut.", partial(_mixture, share=0.3)


@specimen("mixture 10 %")
def mixture_10(home: ZooTask, rng: Random) -> Planted | None:
    """One example in ten is read by a shortcut: sound must not be told."""
    planted = _mixture(home, rng, 0.1)
    if planted is None:
        return None
    evidence = planted.evidence["test"]
    wrong = (evidence.concepts != evidence.predicted_concepts)[:, home.used].mean(axis=0)
    if wrong.max() < 0.08:
        return None  # fewer wrong answers than are tolerated of a sound model
    required = one_of("shortcut", "noisy", "too few", "boundary")
    return replace(planted, required=(required,), forbidden=MISREADS - {"unidentified"})


def _all_noisy(home: ZooTask, rng: Random, share: float) -> Planted:
    return Planted(_noise(home, rng, share), (NOISY,), NOISE)


FAULTY_PREDICTORS["noise 12 %"] = "Every concept is wrong in 12 %, labels by the rule.", partial(_all_noisy, share=0.12)
FAULTY_PREDICTORS["noise 30 %"] = "Every concept is wrong in 30 %, labels by the rule.", partial(_all_noisy, share=0.3)


def _one_noisy(home: ZooTask, rng: Random, share: float) -> Planted | None:
    column = _pick(varying_columns(home, home.used), rng)
    if column is None:
        return None
    evidence = everywhere(home, lambda worlds: misread(home, worlds, share, rng, [column]))
    return Planted(evidence, (NOISY,), NOISE, names(home, [column]))


FAULTY_PREDICTORS["one noisy concept"] = "One concept of the rule is wrong in 20 %.", partial(_one_noisy, share=0.2)
FAULTY_PREDICTORS["one concept by chance"] = (
    "One concept of the rule is wrong in 45 %.",
    partial(_one_noisy, share=0.45),
)


@specimen("one value missed")
def one_value_missed(home: ZooTask, rng: Random) -> Planted | None:
    """One value of a concept of the rule is read as another in 40 %."""
    column = _pick(varying_columns(home, home.used, 0.15), rng)
    if column is None:
        return None
    counts = np.bincount(home.splits["test"][:, column])
    value, other = np.argsort(counts)[::-1][[1, 0]]

    def read(worlds: Codes) -> Codes:
        concepts = worlds.copy()
        concepts[(worlds[:, column] == value) & (rng.random(len(worlds)) < 0.4), column] = other
        return concepts

    return Planted(everywhere(home, read), (NOISY,), NOISE, names(home, [column]))


@specimen("unused noise")
def unused_noise(home: ZooTask, rng: Random) -> Planted | None:
    """Only concepts that the rule does not use are noisy, 30 %."""
    columns = varying_columns(home, home.unused)
    if not columns:
        return None
    evidence = everywhere(home, lambda worlds: misread(home, worlds, 0.3, rng, columns))
    return Planted(evidence, (one_of("unidentified"),), all_but("unidentified"), names(home, columns))


@specimen("unused collapsed")
def unused_collapsed(home: ZooTask, rng: Random) -> Planted | None:
    """A concept that the rule does not use always has the same value."""
    column = _pick(varying_columns(home, home.unused), rng)
    if column is None:
        return None
    read = by_tables({column: np.zeros(home.knowledge.space.sizes[column], dtype=np.int64)})
    return Planted(everywhere(home, read), (one_of("unidentified"),), all_but("unidentified"), names(home, [column]))


@specimen("collapsed concept")
def collapsed_concept(home: ZooTask, rng: Random) -> Planted | None:
    """A concept of the rule always has the same value."""
    column = _pick(varying_columns(home, home.used), rng)
    if column is None:
        return None
    commonest = int(np.bincount(home.splits["test"][:, column]).argmax())
    read = by_tables({column: np.full(home.knowledge.space.sizes[column], commonest)})
    return Planted(everywhere(home, read), (one_of("shortcut", "noisy"),), MISREADS, names(home, [column]))


@specimen("random labels")
def random_labels(home: ZooTask, rng: Random) -> Planted:
    """All concepts right, one label in five wrong at random."""
    evidence = {}
    for split, worlds in home.splits.items():
        labels = _other_labels(home, _true_labels(home, split), rng.random(len(worlds)) < 0.2, rng)
        evidence[split] = answers(home, split, worlds, labels)
    return Planted(evidence, (one_of("wrong rule"),), all_but("wrong rule", "boundary"))


@specimen("wrong rule")
def wrong_rule(home: ZooTask, rng: Random) -> Planted | None:
    """All concepts right, but the rule takes one of them for constant."""
    sizes, labels_of = home.knowledge.space.sizes, home.knowledge.labels_of
    for column in rng.permutation(home.used):
        for code in range(sizes[column]):
            ignore = by_tables({int(column): np.full(sizes[column], code)})
            wrong = labels_of(ignore(home.splits["test"])) != _true_labels(home, "test")
            if wrong.any(axis=1).mean() >= 0.15:
                evidence = {s: answers(home, s, w, labels_of(ignore(w))) for s, w in home.splits.items()}
                return Planted(evidence, (one_of("wrong rule"),), all_but("wrong rule", "boundary", "memorised"))
    return None


def _memorised(home: ZooTask, rng: Random, speaks: bool) -> Planted | None:
    known = np.concatenate([rows_in_training(home, split) for split in home.splits if split != "hard"])
    if min(known.sum(), (~known).sum()) < 60:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        guess = ~rows_in_training(home, split) & (rng.random(len(worlds)) < 0.5)
        labels = _other_labels(home, _true_labels(home, split), guess, rng)
        evidence[split] = answers(home, split, worlds if speaks else _silence(worlds), labels)
    forbidden = all_but("memorised", "wrong rule", "boundary", "underfit")
    if speaks:
        return Planted(evidence, (one_of("memorised"),), forbidden)
    return Planted(evidence, (one_of("memorised"), OPAQUE), forbidden - OPAQUE)


FAULTY_PREDICTORS["memorised head"] = (
    "All concepts right, labels right on worlds of training only.",
    partial(_memorised, speaks=True),
)
FAULTY_PREDICTORS["memorised black box"] = (
    "No concepts, labels right on worlds of training only.",
    partial(_memorised, speaks=False),
)


@specimen("fails on ood")
def fails_on_ood(home: ZooTask, rng: Random) -> Planted | None:
    """Right on test; on ood labels and concepts of other examples."""
    if "ood" not in home.splits:
        return None
    evidence = everywhere(home, lambda worlds: worlds)
    order = rng.permutation(len(home.splits["ood"]))
    evidence["ood"] = answers(home, "ood", home.splits["ood"][order])
    return Planted(
        evidence, (one_of("memorised", "noisy", "shifted"),), NOISE - {"memorised", "unidentified", "shifted"}
    )


@specimen("black box")
def black_box(home: ZooTask, rng: Random) -> Planted:
    """Labels right, no concept said."""
    evidence = {s: answers(home, s, _silence(w), _true_labels(home, s)) for s, w in home.splits.items()}
    return Planted(evidence, (OPAQUE,), all_but("opaque"))


@specimen("half silent")
def half_silent(home: ZooTask, rng: Random) -> Planted:
    """Labels right, half of the concepts of the rule are not said."""
    silent = rng.permutation(home.used)[: (len(home.used) + 1) // 2]
    evidence = {}
    for split, worlds in home.splits.items():
        concepts = worlds.copy()
        concepts[:, silent] = -1
        evidence[split] = answers(home, split, concepts, _true_labels(home, split))
    return Planted(evidence, (OPAQUE,), all_but("opaque"), names(home, silent.tolist()))


@specimen("sometimes silent")
def sometimes_silent(home: ZooTask, rng: Random) -> Planted:
    """One concept of the rule is not said in 30 % of examples."""
    column = int(rng.permutation(home.used)[0])
    evidence = {}
    for split, worlds in home.splits.items():
        concepts = worlds.copy()
        concepts[rng.random(len(worlds)) < 0.3, column] = -1
        evidence[split] = answers(home, split, concepts, _true_labels(home, split))
    return Planted(evidence, (OPAQUE,), all_but("opaque"), names(home, [column]))


@specimen("constant")
def constant(home: ZooTask, rng: Random) -> Planted:
    """Always the same answer."""
    evidence = everywhere(home, lambda worlds: np.repeat(home.training[:1], len(worlds), axis=0))
    return Planted(evidence, (one_of("underfit"),), NOISE)


@specimen("shuffled")
def shuffled(home: ZooTask, rng: Random) -> Planted:
    """The answers of another example."""
    evidence = everywhere(home, lambda worlds: worlds[rng.permutation(len(worlds))])
    return Planted(evidence, (one_of("underfit"),), NOISE)


@specimen("soft leakage")
def soft_leakage(home: ZooTask, rng: Random) -> Planted | None:
    """All right, and how sure it is of a concept depends on the label: no fault, as labels are no better for it."""
    column = _pick(varying_columns(home, home.used), rng)
    if column is None:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        labels = _true_labels(home, split)[:, 0]
        confidence = [rng.uniform(0.95, 1.0, len(worlds)) for _ in range(worlds.shape[1])]
        leaked = labels / max(1, len(home.knowledge.labels[0].values) - 1)
        confidence[column] = 0.7 + 0.2 * leaked + rng.uniform(0, 0.1, len(worlds))
        evidence[split] = answers(home, split, worlds, confidence=confidence)
    return Planted(evidence, (SOUND,), all_but("sound"))


def _bypassing(home: ZooTask, concepts: dict[str, Codes]) -> Planted:
    """Return a predictor whose labels are right, whatever concepts it says."""
    evidence = {split: answers(home, split, codes, _true_labels(home, split)) for split, codes in concepts.items()}
    return Planted(evidence, (one_of("leaking"), NOISY), all_but("leaking", "noisy", "inconsistent"))


@specimen("bypass")
def bypass(home: ZooTask, rng: Random) -> Planted:
    """Every concept wrong in 30 %, all labels right."""
    return _bypassing(home, {split: misread(home, worlds, 0.3, rng) for split, worlds in home.splits.items()})


@specimen("random concepts")
def random_concepts(home: ZooTask, rng: Random) -> Planted:
    """Concepts at random, all labels right."""
    sizes = np.array(home.knowledge.space.sizes)
    return _bypassing(home, {s: rng.integers(sizes, size=w.shape) for s, w in home.splits.items()})


def _boundary_blind(home: ZooTask, rng: Random, speaks: bool) -> Planted | None:
    sides = answers(home, "test", home.splits["test"]).sides
    far_and_near = [min(side.in_types.any(axis=1).sum(), side.far.sum()) for side in sides]
    places = [place for place, rows in enumerate(far_and_near) if rows >= 40]
    if not places:
        return None
    place, evidence = places[-1], {}
    for split, worlds in home.splits.items():
        near = answers(home, split, worlds).sides[place].in_types.any(axis=1)
        labels = _true_labels(home, split)
        changed = _other_labels(home, labels, near & (rng.random(len(worlds)) < 0.6), rng)
        labels = np.where(np.arange(labels.shape[1]) == place, changed, labels)
        evidence[split] = answers(home, split, worlds if speaks else _silence(worlds), labels)
    blind, other = one_of("boundary", "underfit"), one_of("wrong rule") if speaks else OPAQUE
    return Planted(evidence, (blind, other), all_but(*blind, *other))


FAULTY_PREDICTORS["blind at the boundary"] = (
    "All concepts right, labels mostly wrong near the boundary of a rule.",
    partial(_boundary_blind, speaks=True),
)
FAULTY_PREDICTORS["black box, blind at the boundary"] = (
    "No concept said, labels mostly wrong near the boundary of a rule.",
    partial(_boundary_blind, speaks=False),
)


@specimen("overconfident")
def overconfident(home: ZooTask, rng: Random) -> Planted:
    """Every concept wrong in 20 %, each said with 99 %."""
    confidence = [0.99] * len(home.knowledge.space)
    evidence = {
        split: answers(home, split, misread(home, worlds, 0.2, rng), confidence=confidence)
        for split, worlds in home.splits.items()
    }
    return Planted(evidence, (NOISY,), NOISE, note="overconfident")


@specimen("tiny split")
def tiny_split(home: ZooTask, rng: Random) -> Planted:
    """Everything right on twelve examples."""
    evidence = everywhere(_smaller(home, 12), lambda codes: codes)
    return Planted(evidence, (one_of("too few"),), all_but("too few"), note="Fewer than 30")


@specimen("forty examples, 82 %")
def forty_examples(home: ZooTask, rng: Random) -> Planted:
    """All concepts right, 33 of 40 labels right."""
    small = _smaller(home, 40)
    true = _true_labels(small, "test")
    labels = _other_labels(home, true, np.arange(40) % 5 == 4, rng)
    labels = np.where(np.arange(40)[:, None] < 38, labels, true)
    evidence = {"test": answers(small, "test", small.splits["test"], labels)}
    return Planted(evidence, (one_of("too few", "wrong rule"),), all_but("too few", "wrong rule"))


@specimen("compensated")
def compensated(home: ZooTask, rng: Random) -> Planted | None:
    """Two values of a concept are exchanged, and the labels are right all the same."""
    test, sizes = home.splits["test"], home.knowledge.space.sizes
    for column in rng.permutation(varying_columns(home, home.used, 0.2)).tolist():
        commonest = np.argsort(np.bincount(test[:, column], minlength=sizes[column]))[::-1][:2]
        table = np.arange(sizes[column])
        table[commonest] = commonest[::-1]
        read = by_tables({column: table})
        if (home.knowledge.labels_of(read(test)) != _true_labels(home, "test")).any(axis=1).mean() >= 0.3:
            evidence = {s: answers(home, s, read(w), _true_labels(home, s)) for s, w in home.splits.items()}
            forbidden = all_but("inconsistent", "leaking", "noisy", "shortcut")
            return Planted(evidence, (one_of("inconsistent", "leaking"),), forbidden, names(home, [column]))
    return None


@specimen("read from another")
def read_from_another(home: ZooTask, rng: Random) -> Planted | None:
    """One concept of the rule is said as another concept is."""
    concepts, worlds = home.knowledge.space.concepts, home.splits["test"]
    pairs = [
        (i, j)
        for i in varying_columns(home, home.used)
        for j in varying_columns(home, range(len(concepts)))
        if i != j and concepts[i].values == concepts[j].values and (worlds[:, i] != worlds[:, j]).mean() > 0.35
    ]
    if not pairs:
        return None
    i, j = pairs[int(rng.integers(len(pairs)))]

    def read(worlds: Codes) -> Codes:
        codes = worlds.copy()
        codes[:, i] = worlds[:, j]
        return codes

    return Planted(everywhere(home, read), (one_of("shortcut", "noisy"),), MISREADS, names(home, [i]))


@specimen("shuffled, thirty examples")
def few_shuffled(home: ZooTask, rng: Random) -> Planted:
    """The answers of another example, few of them."""
    small = _smaller(home, 30)
    allowed = one_of("underfit", "noisy", "too few", "boundary")
    evidence = everywhere(small, lambda worlds: worlds[np.roll(np.arange(30), 7)])
    return Planted(evidence, (allowed,), all_but(*allowed, "shortcut", "unidentified"))


@specimen("uncertain")
def uncertain(home: ZooTask, rng: Random) -> Planted | None:
    """All concepts right, but so uncertain that the true rule makes other labels more probable."""
    if home.knowledge.stochastic:
        return None
    head = rule_head(home.knowledge)
    for confidence in (0.9, 0.8, 0.7, 0.6):
        evidence = {}
        for split, worlds in home.splits.items():
            spoken = answers(home, split, worlds, confidence=[confidence] * worlds.shape[1])
            concepts = [p for p in spoken.concept_probabilities if p is not None]
            labels = np.stack([p.argmax(axis=1) for p in head(concepts)], axis=1)
            evidence[split] = replace(spoken, predicted_labels=labels)
        if (evidence["test"].predicted_labels != evidence["test"].labels).any(axis=1).mean() >= 0.15:
            allowed = one_of("underfit", "inconsistent")
            return Planted(evidence, (allowed,), all_but(*allowed, "boundary"))
    return None
