"""The specimens of the zoo: one function for each planted fault; variants differ in a number or in what is said."""

from dataclasses import replace

import numpy as np

from assay.base import Codes
from assay.metrics import Evidence
from assay.testing.planted import (
    NoRoom,
    Planted,
    ZooTask,
    all_but,
    answers,
    by_inference,
    by_tables,
    draw_shortcut,
    everywhere,
    exchange,
    find_exchangeable,
    find_exchangeable_values,
    first_rows,
    misread,
    names,
    need,
    on_each,
    one_of,
    other_labels,
    pick,
    rows_in_training,
    silence,
    specimen,
    true_labels,
    varying_columns,
    with_value,
)

Random = np.random.Generator
SOUND, SHORTCUT, NOISY, OPAQUE = one_of("sound"), one_of("shortcut"), one_of("noisy"), one_of("opaque")
MISREADS = all_but("shortcut", "noisy", "underfit", "boundary")
"""What must not be reported of a model that only misreads."""
NOISE = all_but("noisy", "underfit", "boundary")
"""What must not be reported of a model whose misreadings are noise."""
BLIND = "labels mostly wrong near the boundary of a rule."


@specimen("oracle")
def oracle(home: ZooTask, rng: Random) -> Planted:
    """Everything right, with certainty."""
    return Planted(everywhere(home, lambda worlds: worlds), (SOUND,), all_but("sound"))


@specimen("honest")
def honest(home: ZooTask, rng: Random) -> Planted:
    """Everything right, with probabilities that vary by chance."""

    def answer(split: str, worlds: Codes) -> Evidence:
        confidence = [rng.uniform(0.9, 1.0, len(worlds)) for _ in range(worlds.shape[1])]
        return answers(home, split, worlds, confidence=confidence)

    return Planted(on_each(home, answer), (SOUND,), all_but("sound"))


@specimen("nearly right")
def nearly_right(home: ZooTask, rng: Random) -> Planted:
    """One answer in five hundred is wrong."""
    return Planted(everywhere(home, lambda worlds: misread(home, worlds, 0.002, rng)), (SOUND,), all_but("sound"))


@specimen("drawn shortcut")
def drawn_shortcut(home: ZooTask, rng: Random) -> Planted:
    """A reading drawn from those that keep every training label."""
    return Planted(everywhere(home, draw_shortcut(home, rng)), (SHORTCUT,), MISREADS)


@specimen("calibrated shortcut")
def calibrated_shortcut(home: ZooTask, rng: Random) -> Planted:
    """A reading that keeps every training label, with probabilities that look calibrated."""
    read, sizes = draw_shortcut(home, rng), home.knowledge.space.sizes

    def answer(split: str, worlds: Codes) -> Evidence:
        accuracies = (read(worlds) == worlds).mean(axis=0).tolist()
        confidence = [max(1 / size, accuracy) for size, accuracy in zip(sizes, accuracies, strict=True)]
        return answers(home, split, read(worlds), confidence=confidence)

    return Planted(on_each(home, answer), (SHORTCUT,), MISREADS)


@specimen("shortcut with noisy labels")
def noisy_shortcut(home: ZooTask, rng: Random) -> Planted:
    """A reading that keeps every training label, and three labels in a hundred wrong."""
    read = draw_shortcut(home, rng)

    def answer(split: str, worlds: Codes) -> Evidence:
        labels = home.knowledge.labels_of(read(worlds))
        return answers(home, split, read(worlds), other_labels(home, labels, rng.random(len(worlds)) < 0.03, rng))

    return Planted(on_each(home, answer), (SHORTCUT,), MISREADS - {"inconsistent"})


@specimen("exchanged concepts")
def exchanged_concepts(home: ZooTask, rng: Random) -> Planted:
    """Two concepts of the rule are said for each other."""
    pair = find_exchangeable(home, rng)
    return Planted(everywhere(home, exchange(*pair)), (SHORTCUT,), MISREADS, names(home, pair), "exchanges")


@specimen("one concept")
def one_concept(home: ZooTask, rng: Random) -> Planted:
    """Two values of one concept of the rule are exchanged."""
    column, read = find_exchangeable_values(home, rng)
    return Planted(everywhere(home, read), (SHORTCUT,), MISREADS, names(home, [column]))


@specimen("shortcut elsewhere")
def shortcut_elsewhere(home: ZooTask, rng: Random) -> Planted:
    """Two concepts are exchanged on ood only."""
    need("ood" in home.splits)
    pair = find_exchangeable(home, rng, ["ood"])
    evidence = everywhere(home, lambda worlds: worlds)
    evidence["ood"] = answers(home, "ood", exchange(*pair)(home.splits["ood"]))
    return Planted(evidence, (SHORTCUT,), MISREADS, names(home, pair))


@specimen("mixture 30 %", "Three examples in ten are read by a shortcut.", share=0.3)
@specimen("mixture 50 %", "Half of the examples are read by a shortcut, the others right.", share=0.5)
def mixture(home: ZooTask, rng: Random, share: float) -> Planted:
    """Some examples are read by a shortcut."""
    read = draw_shortcut(home, rng)
    mixed = everywhere(home, lambda worlds: np.where(rng.random((len(worlds), 1)) < share, read(worlds), worlds))
    return Planted(mixed, (one_of("shortcut", "noisy"),), MISREADS)


@specimen("mixture 10 %")
def mixture_10(home: ZooTask, rng: Random) -> Planted:
    """One example in ten is read by a shortcut: sound must not be told."""
    planted = mixture(home, rng, 0.1)
    evidence = planted.evidence["test"]
    wrong = (evidence.concepts != evidence.predicted_concepts)[:, home.used].mean(axis=0)
    need(wrong.max() >= 0.08)  # not fewer wrong answers than are tolerated of a sound model
    required = one_of("shortcut", "noisy", "too few", "boundary")
    return replace(planted, required=(required,), forbidden=MISREADS - {"unidentified"})


@specimen("noise 30 %", "Every concept is wrong in 30 %, labels by the rule.", share=0.3)
@specimen("noise 12 %", "Every concept is wrong in 12 %, labels by the rule.", share=0.12)
def all_noisy(home: ZooTask, rng: Random, share: float) -> Planted:
    """Every concept is noisy."""
    return Planted(everywhere(home, lambda worlds: misread(home, worlds, share, rng)), (NOISY,), NOISE)


@specimen("one concept by chance", "One concept of the rule is wrong in 45 %.", share=0.45)
@specimen("one noisy concept", "One concept of the rule is wrong in 20 %.", share=0.2)
def one_noisy(home: ZooTask, rng: Random, share: float) -> Planted:
    """One concept of the rule is noisy."""
    column = pick(varying_columns(home, home.used), rng)
    evidence = everywhere(home, lambda worlds: misread(home, worlds, share, rng, [column]))
    return Planted(evidence, (NOISY,), NOISE, names(home, [column]))


@specimen("one value missed")
def one_value_missed(home: ZooTask, rng: Random) -> Planted:
    """One value of a concept of the rule is read as another in 40 %."""
    column = pick(varying_columns(home, home.used, 0.15), rng)
    value, other = np.argsort(np.bincount(home.splits["test"][:, column]))[::-1][[1, 0]]

    def read(worlds: Codes) -> Codes:
        return with_value(worlds, (worlds[:, column] == value) & (rng.random(len(worlds)) < 0.4), column, other)

    return Planted(everywhere(home, read), (NOISY,), NOISE, names(home, [column]))


@specimen("unused noise")
def unused_noise(home: ZooTask, rng: Random) -> Planted:
    """Only concepts that the rule does not use are noisy, 30 %."""
    columns = varying_columns(home, home.unused)
    need(columns)
    evidence = everywhere(home, lambda worlds: misread(home, worlds, 0.3, rng, columns))
    return Planted(evidence, (one_of("unidentified"),), all_but("unidentified"), names(home, columns))


@specimen("unused collapsed")
def unused_collapsed(home: ZooTask, rng: Random) -> Planted:
    """A concept that the rule does not use always has the same value."""
    column = pick(varying_columns(home, home.unused), rng)
    read = by_tables({column: np.zeros(home.knowledge.space.sizes[column], dtype=np.int64)})
    return Planted(everywhere(home, read), (one_of("unidentified"),), all_but("unidentified"), names(home, [column]))


@specimen("collapsed concept")
def collapsed_concept(home: ZooTask, rng: Random) -> Planted:
    """A concept of the rule always has the same value."""
    column = pick(varying_columns(home, home.used), rng)
    commonest = int(np.bincount(home.splits["test"][:, column]).argmax())
    read = by_tables({column: np.full(home.knowledge.space.sizes[column], commonest)})
    return Planted(everywhere(home, read), (one_of("shortcut", "noisy"),), MISREADS, names(home, [column]))


@specimen("random labels")
def random_labels(home: ZooTask, rng: Random) -> Planted:
    """All concepts right, one label in five wrong at random."""

    def answer(split: str, worlds: Codes) -> Evidence:
        wrong = rng.random(len(worlds)) < 0.2
        return answers(home, split, worlds, other_labels(home, true_labels(home, split), wrong, rng))

    return Planted(on_each(home, answer), (one_of("wrong rule"),), all_but("wrong rule", "boundary"))


@specimen("wrong rule")
def wrong_rule(home: ZooTask, rng: Random) -> Planted:
    """All concepts right, but the rule takes one of them for constant."""
    sizes, labels_of = home.knowledge.space.sizes, home.knowledge.labels_of
    for column in rng.permutation(home.used).tolist():
        for code in range(sizes[column]):
            ignore = by_tables({column: np.full(sizes[column], code)})
            wrong = labels_of(ignore(home.splits["test"])) != true_labels(home, "test")
            if wrong.any(axis=1).mean() >= 0.15:
                evidence = {s: answers(home, s, w, labels_of(ignore(w))) for s, w in home.splits.items()}
                return Planted(evidence, (one_of("wrong rule"),), all_but("wrong rule", "boundary", "memorised"))
    raise NoRoom


@specimen("memorised black box", "No concepts, labels right on worlds of training only.", speaks=False)
@specimen("memorised head", "All concepts right, labels right on worlds of training only.", speaks=True)
def memorised(home: ZooTask, rng: Random, speaks: bool) -> Planted:
    """Labels are right on worlds of training only."""
    known = np.concatenate([rows_in_training(home, split) for split in home.splits if split != "hard"])
    need(min(known.sum(), (~known).sum()) >= 60)

    def answer(split: str, worlds: Codes) -> Evidence:
        guess = ~rows_in_training(home, split) & (rng.random(len(worlds)) < 0.5)
        labels = other_labels(home, true_labels(home, split), guess, rng)
        return answers(home, split, worlds if speaks else silence(worlds), labels)

    forbidden = all_but("memorised", "wrong rule", "boundary", "underfit")
    if speaks:
        return Planted(on_each(home, answer), (one_of("memorised"),), forbidden)
    return Planted(on_each(home, answer), (one_of("memorised"), OPAQUE), forbidden - OPAQUE)


@specimen("fails on ood")
def fails_on_ood(home: ZooTask, rng: Random) -> Planted:
    """Right on test; on ood labels and concepts of other examples."""
    need("ood" in home.splits)
    evidence = everywhere(home, lambda worlds: worlds)
    evidence["ood"] = answers(home, "ood", home.splits["ood"][rng.permutation(len(home.splits["ood"]))])
    forbidden = NOISE - {"memorised", "unidentified", "shifted"}
    return Planted(evidence, (one_of("memorised", "noisy", "shifted"),), forbidden)


@specimen("black box")
def black_box(home: ZooTask, rng: Random) -> Planted:
    """Labels right, no concept said."""
    evidence = {s: answers(home, s, silence(w), true_labels(home, s)) for s, w in home.splits.items()}
    return Planted(evidence, (OPAQUE,), all_but("opaque"))


@specimen("half silent")
def half_silent(home: ZooTask, rng: Random) -> Planted:
    """Labels right, half of the concepts of the rule are not said."""
    silent = rng.permutation(home.used)[: (len(home.used) + 1) // 2]

    def answer(split: str, worlds: Codes) -> Evidence:
        every = np.arange(len(worlds))[:, None]
        return answers(home, split, with_value(worlds, every, silent, -1), true_labels(home, split))

    return Planted(on_each(home, answer), (OPAQUE,), all_but("opaque"), names(home, silent.tolist()))


@specimen("sometimes silent")
def sometimes_silent(home: ZooTask, rng: Random) -> Planted:
    """One concept of the rule is not said in 30 % of examples."""
    column = int(rng.permutation(home.used)[0])

    def answer(split: str, worlds: Codes) -> Evidence:
        said = with_value(worlds, rng.random(len(worlds)) < 0.3, column, -1)
        return answers(home, split, said, true_labels(home, split))

    return Planted(on_each(home, answer), (OPAQUE,), all_but("opaque"), names(home, [column]))


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
def soft_leakage(home: ZooTask, rng: Random) -> Planted:
    """All right, and how sure it is of a concept depends on the label: no fault, as labels are no better for it."""
    column = pick(varying_columns(home, home.used), rng)

    def answer(split: str, worlds: Codes) -> Evidence:
        confidence = [rng.uniform(0.95, 1.0, len(worlds)) for _ in range(worlds.shape[1])]
        leaked = true_labels(home, split)[:, 0] / max(1, len(home.knowledge.labels[0].values) - 1)
        confidence[column] = 0.7 + 0.2 * leaked + rng.uniform(0, 0.1, len(worlds))
        return answers(home, split, worlds, confidence=confidence)

    return Planted(on_each(home, answer), (SOUND,), all_but("sound"))


def _bypassing(home: ZooTask, concepts: dict[str, Codes]) -> Planted:
    """Return a predictor whose labels are right, whatever concepts it says."""
    evidence = {split: answers(home, split, codes, true_labels(home, split)) for split, codes in concepts.items()}
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


@specimen("black box, blind at the boundary", f"No concept said, {BLIND}", speaks=False)
@specimen("blind at the boundary", f"All concepts right, {BLIND}", speaks=True)
def boundary_blind(home: ZooTask, rng: Random, speaks: bool) -> Planted:
    """Labels are mostly wrong near the boundary of a rule."""
    sides = answers(home, "test", home.splits["test"]).sides
    far_and_near = [min(side.in_types.any(axis=1).sum(), side.far.sum()) for side in sides]
    places = [place for place, rows in enumerate(far_and_near) if rows >= 40]
    need(places)

    def answer(split: str, worlds: Codes) -> Evidence:
        near = answers(home, split, worlds).sides[places[-1]].in_types.any(axis=1)
        labels = true_labels(home, split)
        changed = other_labels(home, labels, near & (rng.random(len(worlds)) < 0.6), rng)
        labels = np.where(np.arange(labels.shape[1]) == places[-1], changed, labels)
        return answers(home, split, worlds if speaks else silence(worlds), labels)

    blind, other = one_of("boundary", "underfit"), one_of("wrong rule") if speaks else OPAQUE
    return Planted(on_each(home, answer), (blind, other), all_but(*blind, *other))


@specimen("overconfident")
def overconfident(home: ZooTask, rng: Random) -> Planted:
    """Every concept wrong in 20 %, each said with 99 %."""
    sure = [0.99] * len(home.knowledge.space)
    said = on_each(home, lambda split, w: answers(home, split, misread(home, w, 0.2, rng), confidence=sure))
    return Planted(said, (NOISY,), NOISE, note="overconfident")


@specimen("tiny split")
def tiny_split(home: ZooTask, rng: Random) -> Planted:
    """Everything right on twelve examples."""
    evidence = everywhere(first_rows(home, 12), lambda codes: codes)
    return Planted(evidence, (one_of("too few"),), all_but("too few"), note="Fewer than 30")


@specimen("forty examples, 82 %")
def forty_examples(home: ZooTask, rng: Random) -> Planted:
    """All concepts right, 33 of 40 labels right."""
    small = first_rows(home, 40)
    true = true_labels(small, "test")
    labels = other_labels(home, true, np.arange(40) % 5 == 4, rng)
    labels = np.where(np.arange(40)[:, None] < 38, labels, true)
    evidence = {"test": answers(small, "test", small.splits["test"], labels)}
    return Planted(evidence, (one_of("too few", "wrong rule"),), all_but("too few", "wrong rule"))


@specimen("compensated")
def compensated(home: ZooTask, rng: Random) -> Planted:
    """Two values of a concept are exchanged, and the labels are right all the same."""
    test, sizes = home.splits["test"], home.knowledge.space.sizes
    for column in rng.permutation(varying_columns(home, home.used, 0.2)).tolist():
        commonest = np.argsort(np.bincount(test[:, column], minlength=sizes[column]))[::-1][:2]
        table = np.arange(sizes[column])
        table[commonest] = commonest[::-1]
        read = by_tables({column: table})
        if (home.knowledge.labels_of(read(test)) != true_labels(home, "test")).any(axis=1).mean() >= 0.3:
            evidence = {s: answers(home, s, read(w), true_labels(home, s)) for s, w in home.splits.items()}
            forbidden = all_but("inconsistent", "leaking", "noisy", "shortcut")
            return Planted(evidence, (one_of("inconsistent", "leaking"),), forbidden, names(home, [column]))
    raise NoRoom


@specimen("read from another")
def read_from_another(home: ZooTask, rng: Random) -> Planted:
    """One concept of the rule is said as another concept is."""
    concepts, worlds = home.knowledge.space.concepts, home.splits["test"]
    pairs = [
        (i, j)
        for i in varying_columns(home, home.used)
        for j in varying_columns(home, range(len(concepts)))
        if i != j and concepts[i].values == concepts[j].values and (worlds[:, i] != worlds[:, j]).mean() > 0.35
    ]
    i, j = pick(pairs, rng)
    evidence = everywhere(home, lambda worlds: with_value(worlds, np.arange(len(worlds)), i, worlds[:, j]))
    return Planted(evidence, (one_of("shortcut", "noisy"),), MISREADS, names(home, [i]))


@specimen("shuffled, thirty examples")
def few_shuffled(home: ZooTask, rng: Random) -> Planted:
    """The answers of another example, few of them."""
    allowed = one_of("underfit", "noisy", "too few", "boundary")
    evidence = everywhere(first_rows(home, 30), lambda worlds: worlds[np.roll(np.arange(30), 7)])
    return Planted(evidence, (allowed,), all_but(*allowed, "shortcut", "unidentified"))


@specimen("uncertain")
def uncertain(home: ZooTask, rng: Random) -> Planted:
    """All concepts right, but so uncertain that the true rule makes other labels more probable."""
    need(not home.knowledge.stochastic)
    for confidence in (0.9, 0.8, 0.7, 0.6):
        sure = [confidence] * len(home.knowledge.space)
        evidence = {s: by_inference(answers(home, s, w, confidence=sure)) for s, w in home.splits.items()}
        if (evidence["test"].predicted_labels != evidence["test"].labels).any(axis=1).mean() >= 0.15:
            allowed = one_of("underfit", "inconsistent")
            return Planted(evidence, (allowed,), all_but(*allowed, "boundary"))
    raise NoRoom
