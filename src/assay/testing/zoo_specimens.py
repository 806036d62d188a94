"""The specimens of the zoo: one function for each planted fault."""

import numpy as np

from assay.arrays import Codes
from assay.testing.zoo import (
    Habitat,
    Planted,
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
SOUND = one_of("sound")
PERCEPTION = all_but("shortcut", "noisy", "underfit", "boundary")
"""What must not be told of a model that only misreads."""


def _labels(home: Habitat, split: str) -> Codes:
    return home.knowledge.labels_of(home.splits[split])


def _other_labels(home: Habitat, labels: Codes, rows: np.ndarray, rng: Random) -> Codes:
    """Return labels with another value in these rows."""
    made = labels.copy()
    for place, label in enumerate(home.knowledge.labels):
        shift = rng.integers(1, len(label.values), size=len(labels))
        made[:, place] = np.where(rows, (labels[:, place] + shift) % len(label.values), labels[:, place])
    return made


@specimen("oracle")
def oracle(home: Habitat, rng: Random) -> Planted:
    """Everything right, with certainty."""
    return Planted(everywhere(home, lambda worlds: worlds), (SOUND,), all_but("sound"))


@specimen("honest")
def honest(home: Habitat, rng: Random) -> Planted:
    """Everything right, with probabilities that vary by chance."""
    evidence = {}
    for split, worlds in home.splits.items():
        sure = [rng.uniform(0.9, 1.0, len(worlds)) for _ in range(worlds.shape[1])]
        evidence[split] = answers(home, split, worlds, confidence=sure)
    return Planted(evidence, (SOUND,), all_but("sound"))


@specimen("nearly right")
def nearly(home: Habitat, rng: Random) -> Planted:
    """One answer in five hundred is wrong."""
    sizes = home.knowledge.space.sizes
    evidence = everywhere(home, lambda worlds: misread(worlds, range(len(sizes)), 0.002, sizes, rng))
    return Planted(evidence, (SOUND,), all_but("sound"))


@specimen("drawn shortcut")
def drawn(home: Habitat, rng: Random) -> Planted | None:
    """A reading drawn from those that keep every training label."""
    read = draw_shortcut(home, rng)
    return None if read is None else Planted(everywhere(home, read), (one_of("shortcut"),), PERCEPTION)


@specimen("calibrated shortcut")
def calibrated_shortcut(home: Habitat, rng: Random) -> Planted | None:
    """A reading that keeps every training label, with probabilities that look calibrated."""
    read = draw_shortcut(home, rng)
    if read is None:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        said = read(worlds)
        sure = [
            max(1 / size, float((said[:, i] == worlds[:, i]).mean()))
            for i, size in enumerate(home.knowledge.space.sizes)
        ]
        evidence[split] = answers(home, split, said, confidence=sure)
    return Planted(evidence, (one_of("shortcut"),), PERCEPTION)


@specimen("shortcut with noisy labels")
def noisy_shortcut(home: Habitat, rng: Random) -> Planted | None:
    """A reading that keeps every training label, and three labels in a hundred wrong."""
    read = draw_shortcut(home, rng)
    if read is None:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        said = read(worlds)
        labels = _other_labels(home, home.knowledge.labels_of(said), rng.random(len(worlds)) < 0.03, rng)
        evidence[split] = answers(home, split, said, labels)
    return Planted(
        evidence, (one_of("shortcut"),), all_but("shortcut", "noisy", "underfit", "boundary", "inconsistent")
    )


@specimen("exchanged concepts")
def exchanged(home: Habitat, rng: Random) -> Planted | None:
    """Two concepts of the rule are said for each other."""
    pair = find_exchangeable(home, rng)
    if pair is None:
        return None
    return Planted(everywhere(home, exchange(*pair)), (one_of("shortcut"),), PERCEPTION, names(home, pair), "exchanges")


@specimen("one concept")
def one_concept(home: Habitat, rng: Random) -> Planted | None:
    """Two values of one concept of the rule are exchanged."""
    found = find_exchangeable_values(home, rng)
    if found is None:
        return None
    column, read = found
    return Planted(everywhere(home, read), (one_of("shortcut"),), PERCEPTION, names(home, [column]))


@specimen("shortcut elsewhere")
def elsewhere(home: Habitat, rng: Random) -> Planted | None:
    """Two concepts are exchanged on ood only."""
    if "ood" not in home.splits:
        return None
    pair = find_exchangeable(home, rng, ["ood"])
    if pair is None:
        return None
    evidence = everywhere(home, lambda worlds: worlds)
    evidence["ood"] = answers(home, "ood", exchange(*pair)(home.splits["ood"]))
    return Planted(evidence, (one_of("shortcut"),), PERCEPTION, names(home, pair))


def _mixture(home: Habitat, rng: Random, share: float) -> Planted | None:
    read = draw_shortcut(home, rng)
    if read is None:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        rows = rng.random(len(worlds)) < share
        evidence[split] = answers(home, split, np.where(rows[:, None], read(worlds), worlds))
    return Planted(evidence, (one_of("shortcut", "noisy"),), PERCEPTION)


def wrong_share(home: Habitat, planted: Planted) -> float:
    """Return how often the concept of the rule that is wrong most often is wrong on test."""
    evidence = planted.evidence["test"]
    return float((evidence.concepts != evidence.predicted_concepts)[:, home.used].mean(axis=0).max())


@specimen("mixture 50 %")
def mixture_50(home: Habitat, rng: Random) -> Planted | None:
    """Half of the examples are read by a shortcut, the others right."""
    return _mixture(home, rng, 0.5)


@specimen("mixture 30 %")
def mixture_30(home: Habitat, rng: Random) -> Planted | None:
    """Three examples in ten are read by a shortcut."""
    return _mixture(home, rng, 0.3)


@specimen("mixture 10 %")
def mixture_10(home: Habitat, rng: Random) -> Planted | None:
    """One example in ten is read by a shortcut: sound must not be told."""
    planted = _mixture(home, rng, 0.1)
    if planted is None or wrong_share(home, planted) < 0.08:
        return None  # fewer wrong answers than are tolerated of a sound model
    return Planted(
        planted.evidence,
        (one_of("shortcut", "noisy", "too few", "boundary"),),
        all_but("shortcut", "noisy", "underfit", "boundary", "unidentified"),
    )


@specimen("noise 12 %")
def noise_12(home: Habitat, rng: Random) -> Planted:
    """Every concept is wrong in 12 %, labels by the rule."""
    sizes = home.knowledge.space.sizes
    evidence = everywhere(home, lambda worlds: misread(worlds, range(len(sizes)), 0.12, sizes, rng))
    return Planted(evidence, (one_of("noisy"),), all_but("noisy", "underfit", "boundary"))


@specimen("noise 30 %")
def noise_30(home: Habitat, rng: Random) -> Planted:
    """Every concept is wrong in 30 %, labels by the rule."""
    sizes = home.knowledge.space.sizes
    evidence = everywhere(home, lambda worlds: misread(worlds, range(len(sizes)), 0.3, sizes, rng))
    return Planted(evidence, (one_of("noisy"),), all_but("noisy", "underfit", "boundary"))


def _one_noisy(home: Habitat, rng: Random, share: float) -> Planted | None:
    columns = varying_columns(home, home.used)
    if not columns:
        return None
    column = columns[int(rng.integers(len(columns)))]
    sizes = home.knowledge.space.sizes
    evidence = everywhere(home, lambda worlds: misread(worlds, [column], share, sizes, rng))
    return Planted(evidence, (one_of("noisy"),), all_but("noisy", "underfit", "boundary"), names(home, [column]))


@specimen("one noisy concept")
def one_noisy(home: Habitat, rng: Random) -> Planted | None:
    """One concept of the rule is wrong in 20 %."""
    return _one_noisy(home, rng, 0.2)


@specimen("one concept by chance")
def one_random(home: Habitat, rng: Random) -> Planted | None:
    """One concept of the rule is wrong in 45 %."""
    return _one_noisy(home, rng, 0.45)


@specimen("one value missed")
def value_missed(home: Habitat, rng: Random) -> Planted | None:
    """One value of a concept of the rule is read as another in 40 %."""
    columns = varying_columns(home, home.used, 0.15)
    if not columns:
        return None
    column = columns[int(rng.integers(len(columns)))]
    counts = np.bincount(home.splits["test"][:, column])
    value, other = np.argsort(counts)[::-1][[1, 0]]

    def read(worlds: Codes) -> Codes:
        made = worlds.copy()
        rows = (worlds[:, column] == value) & (rng.random(len(worlds)) < 0.4)
        made[rows, column] = other
        return made

    return Planted(
        everywhere(home, read), (one_of("noisy"),), all_but("noisy", "underfit", "boundary"), names(home, [column])
    )


@specimen("unused noise")
def unused_noise(home: Habitat, rng: Random) -> Planted | None:
    """Only concepts that the rule does not use are noisy, 30 %."""
    columns = varying_columns(home, home.unused)
    if not columns:
        return None
    sizes = home.knowledge.space.sizes
    evidence = everywhere(home, lambda worlds: misread(worlds, columns, 0.3, sizes, rng))
    return Planted(evidence, (one_of("unidentified"),), all_but("unidentified"), names(home, columns))


@specimen("unused collapsed")
def unused_collapsed(home: Habitat, rng: Random) -> Planted | None:
    """A concept that the rule does not use always has the same value."""
    columns = varying_columns(home, home.unused)
    if not columns:
        return None
    column = columns[int(rng.integers(len(columns)))]
    table = np.zeros(home.knowledge.space.sizes[column], dtype=np.int64)
    return Planted(
        everywhere(home, by_tables({column: table})),
        (one_of("unidentified"),),
        all_but("unidentified"),
        names(home, [column]),
    )


@specimen("collapsed concept")
def collapsed(home: Habitat, rng: Random) -> Planted | None:
    """A concept of the rule always has the same value."""
    columns = varying_columns(home, home.used)
    if not columns:
        return None
    column = columns[int(rng.integers(len(columns)))]
    table = np.full(home.knowledge.space.sizes[column], int(np.bincount(home.splits["test"][:, column]).argmax()))
    return Planted(
        everywhere(home, by_tables({column: table})), (one_of("shortcut", "noisy"),), PERCEPTION, names(home, [column])
    )


@specimen("random labels")
def random_labels(home: Habitat, rng: Random) -> Planted:
    """All concepts right, one label in five wrong at random."""
    evidence = {}
    for split, worlds in home.splits.items():
        evidence[split] = answers(
            home, split, worlds, _other_labels(home, _labels(home, split), rng.random(len(worlds)) < 0.2, rng)
        )
    return Planted(evidence, (one_of("wrong rule"),), all_but("wrong rule", "boundary"))


@specimen("wrong rule")
def wrong_rule(home: Habitat, rng: Random) -> Planted | None:
    """All concepts right, but the rule takes one of them for constant."""
    worlds, sizes = home.splits["test"], home.knowledge.space.sizes
    for column in rng.permutation(home.used):
        for code in range(sizes[column]):
            ignore = by_tables({int(column): np.full(sizes[column], code)})
            labels = home.knowledge.labels_of(ignore(worlds))
            if (labels != _labels(home, "test")).any(axis=1).mean() >= 0.15:
                evidence = {
                    split: answers(home, split, codes, home.knowledge.labels_of(ignore(codes)))
                    for split, codes in home.splits.items()
                }
                return Planted(evidence, (one_of("wrong rule"),), all_but("wrong rule", "boundary", "memorised"))
    return None


def _memorised(home: Habitat, rng: Random, speaks: bool) -> Planted | None:
    known = {split: rows_in_training(home, split) for split in home.splits if split != "hard"}
    seen = sum(int(rows.sum()) for rows in known.values())
    fresh = sum(int((~rows).sum()) for rows in known.values())
    if min(seen, fresh) < 60:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        guess = ~rows_in_training(home, split) & (rng.random(len(worlds)) < 0.5)
        labels = _other_labels(home, _labels(home, split), guess, rng)
        said = worlds if speaks else np.full_like(worlds, -1)
        evidence[split] = answers(home, split, said, labels)
    silent = () if speaks else (one_of("opaque"),)
    allowed = all_but("memorised", "wrong rule", "boundary", "opaque" if not speaks else "memorised", "underfit")
    return Planted(evidence, (one_of("memorised"), *silent), allowed)


@specimen("memorised head")
def memorised_head(home: Habitat, rng: Random) -> Planted | None:
    """All concepts right, labels right on worlds of training only."""
    return _memorised(home, rng, True)


@specimen("memorised black box")
def memorised_box(home: Habitat, rng: Random) -> Planted | None:
    """No concepts, labels right on worlds of training only."""
    return _memorised(home, rng, False)


@specimen("fails on ood")
def fails_elsewhere(home: Habitat, rng: Random) -> Planted | None:
    """Right on test; on ood labels and concepts of other examples."""
    if "ood" not in home.splits:
        return None
    evidence = everywhere(home, lambda worlds: worlds)
    order = rng.permutation(len(home.splits["ood"]))
    evidence["ood"] = answers(home, "ood", home.splits["ood"][order])
    return Planted(
        evidence, (one_of("memorised", "noisy"),), all_but("memorised", "noisy", "underfit", "unidentified", "boundary")
    )


@specimen("black box")
def black_box(home: Habitat, rng: Random) -> Planted:
    """Labels right, no concept said."""
    evidence = {s: answers(home, s, np.full_like(w, -1), _labels(home, s)) for s, w in home.splits.items()}
    return Planted(evidence, (one_of("opaque"),), all_but("opaque"))


@specimen("half silent")
def half_silent(home: Habitat, rng: Random) -> Planted:
    """Labels right, half of the concepts of the rule are not said."""
    silent = rng.permutation(home.used)[: (len(home.used) + 1) // 2]
    evidence = {}
    for split, worlds in home.splits.items():
        said = worlds.copy()
        said[:, silent] = -1
        evidence[split] = answers(home, split, said, _labels(home, split))
    return Planted(evidence, (one_of("opaque"),), all_but("opaque"), names(home, silent.tolist()))


@specimen("sometimes silent")
def sometimes_silent(home: Habitat, rng: Random) -> Planted:
    """One concept of the rule is not said in 30 % of examples."""
    column = int(rng.permutation(home.used)[0])
    evidence = {}
    for split, worlds in home.splits.items():
        said = worlds.copy()
        said[rng.random(len(worlds)) < 0.3, column] = -1
        evidence[split] = answers(home, split, said, _labels(home, split))
    return Planted(evidence, (one_of("opaque"),), all_but("opaque"), names(home, [column]))


@specimen("constant")
def constant(home: Habitat, rng: Random) -> Planted:
    """Always the same answer."""
    evidence = {}
    for split, worlds in home.splits.items():
        evidence[split] = answers(home, split, np.repeat(home.training[:1], len(worlds), axis=0))
    return Planted(evidence, (one_of("underfit"),), all_but("underfit", "noisy", "boundary"))


@specimen("shuffled")
def shuffled(home: Habitat, rng: Random) -> Planted:
    """The answers of another example."""
    evidence = {s: answers(home, s, w[rng.permutation(len(w))]) for s, w in home.splits.items()}
    return Planted(evidence, (one_of("underfit"),), all_but("underfit", "noisy", "boundary"))


@specimen("soft leakage")
def soft_leakage(home: Habitat, rng: Random) -> Planted | None:
    """All right, but how sure it is of a concept tells the label."""
    columns = varying_columns(home, home.used)
    if not columns:
        return None
    column = columns[int(rng.integers(len(columns)))]
    evidence = {}
    for split, worlds in home.splits.items():
        labels = _labels(home, split)[:, 0]
        sure: list[object] = [rng.uniform(0.95, 1.0, len(worlds)) for _ in range(worlds.shape[1])]
        leaked = labels / max(1, len(home.knowledge.labels[0].values) - 1)
        sure[column] = 0.7 + 0.2 * leaked + rng.uniform(0, 0.1, len(worlds))
        evidence[split] = answers(home, split, worlds, confidence=sure)  # type: ignore[arg-type]
    return Planted(evidence, (one_of("leaking"),), all_but("leaking"), names(home, [column]))


@specimen("bypass")
def bypass(home: Habitat, rng: Random) -> Planted:
    """Every concept wrong in 30 %, all labels right."""
    sizes = home.knowledge.space.sizes
    evidence = {}
    for split, worlds in home.splits.items():
        said = misread(worlds, range(len(sizes)), 0.3, sizes, rng)
        evidence[split] = answers(home, split, said, _labels(home, split))
    return Planted(evidence, (one_of("leaking"), one_of("noisy")), all_but("leaking", "noisy", "inconsistent"))


@specimen("random concepts")
def random_concepts(home: Habitat, rng: Random) -> Planted:
    """Concepts at random, all labels right."""
    sizes = np.array(home.knowledge.space.sizes)
    evidence = {
        s: answers(home, s, rng.integers(sizes, size=w.shape), _labels(home, s)) for s, w in home.splits.items()
    }
    return Planted(evidence, (one_of("leaking"), one_of("noisy")), all_but("leaking", "noisy", "inconsistent"))


def _boundary_blind(home: Habitat, rng: Random, speaks: bool) -> Planted | None:
    place = None
    for number in range(len(home.knowledge.labels)):
        side = answers(home, "test", home.splits["test"]).sides[number]
        if min(side.in_types.any(axis=1).sum(), side.far.sum()) >= 40:
            place = number
    if place is None:
        return None
    evidence = {}
    for split, worlds in home.splits.items():
        near = answers(home, split, worlds).sides[place].in_types.any(axis=1)
        labels = _labels(home, split)
        flipped = _other_labels(home, labels, near & (rng.random(len(worlds)) < 0.6), rng)
        labels = np.where(np.arange(labels.shape[1]) == place, flipped, labels)
        evidence[split] = answers(home, split, worlds if speaks else np.full_like(worlds, -1), labels)
    others = (one_of("wrong rule"),) if speaks else (one_of("opaque"),)
    return Planted(
        evidence,
        (one_of("boundary", "underfit"), *others),
        all_but("boundary", "underfit", "wrong rule" if speaks else "opaque"),
    )


@specimen("blind at the boundary")
def boundary_blind(home: Habitat, rng: Random) -> Planted | None:
    """All concepts right, labels mostly wrong near the boundary of a rule."""
    return _boundary_blind(home, rng, True)


@specimen("black box, blind at the boundary")
def boundary_box(home: Habitat, rng: Random) -> Planted | None:
    """No concept said, labels mostly wrong near the boundary of a rule."""
    return _boundary_blind(home, rng, False)


@specimen("overconfident")
def overconfident(home: Habitat, rng: Random) -> Planted:
    """Every concept wrong in 20 %, each said with 99 %."""
    sizes = home.knowledge.space.sizes
    evidence = {}
    for split, worlds in home.splits.items():
        said = misread(worlds, range(len(sizes)), 0.2, sizes, rng)
        evidence[split] = answers(home, split, said, confidence=[0.99] * len(sizes))
    return Planted(evidence, (one_of("noisy"),), all_but("noisy", "underfit", "boundary"), note="overconfident")


@specimen("tiny split")
def tiny(home: Habitat, rng: Random) -> Planted:
    """Everything right on twelve examples."""
    worlds = home.splits["test"][:12]
    small = Habitat(home.task, home.seed, home.knowledge, {"test": worlds}, home.training)
    return Planted(
        everywhere(small, lambda codes: codes),
        (one_of("too few"),),
        frozenset(all_but("too few")),
        note="Fewer than 30",
    )


@specimen("forty examples, 82 %")
def forty(home: Habitat, rng: Random) -> Planted:
    """All concepts right, 33 of 40 labels right."""
    worlds = home.splits["test"][:40]
    small = Habitat(home.task, home.seed, home.knowledge, {"test": worlds}, home.training)
    labels = _other_labels(home, _labels(small, "test"), np.arange(40) % 6 == 5, rng)
    labels = np.where(np.arange(40)[:, None] < 38, labels, _labels(small, "test"))
    return Planted(
        {"test": answers(small, "test", worlds, labels)},
        (one_of("too few", "wrong rule"),),
        all_but("too few", "wrong rule"),
    )


@specimen("compensated")
def compensated(home: Habitat, rng: Random) -> Planted | None:
    """Two values of a concept are exchanged, and the labels are right all the same."""
    for column in rng.permutation(varying_columns(home, home.used, 0.2)):
        counts = np.argsort(np.bincount(home.splits["test"][:, column], minlength=home.knowledge.space.sizes[column]))[
            ::-1
        ]
        table = np.arange(home.knowledge.space.sizes[column])
        table[counts[:2]] = counts[1::-1]
        read = by_tables({int(column): table})
        lost = (home.knowledge.labels_of(read(home.splits["test"])) != _labels(home, "test")).any(axis=1).mean()
        if lost >= 0.3:
            evidence = {s: answers(home, s, read(w), _labels(home, s)) for s, w in home.splits.items()}
            required = (one_of("inconsistent", "leaking"),)
            return Planted(
                evidence, required, all_but("inconsistent", "leaking", "noisy", "shortcut"), names(home, [int(column)])
            )
    return None


@specimen("read from another")
def read_from_another(home: Habitat, rng: Random) -> Planted | None:
    """One concept of the rule is said as another concept is."""
    space, worlds = home.knowledge.space, home.splits["test"]
    pairs = [
        (i, j)
        for i in varying_columns(home, home.used)
        for j in varying_columns(home, range(len(space)))
        if i != j
        and space.concepts[i].values == space.concepts[j].values
        and (worlds[:, i] != worlds[:, j]).mean() > 0.35
    ]
    if not pairs:
        return None
    i, j = pairs[int(rng.integers(len(pairs)))]

    def read(codes: Codes) -> Codes:
        made = codes.copy()
        made[:, i] = codes[:, j]
        return made

    return Planted(everywhere(home, read), (one_of("shortcut", "noisy"),), PERCEPTION, names(home, [i]))


@specimen("shuffled, thirty examples")
def few_shuffled(home: Habitat, rng: Random) -> Planted:
    """The answers of another example, few of them."""
    worlds = home.splits["test"][:30]
    small = Habitat(home.task, home.seed, home.knowledge, {"test": worlds}, home.training)
    said = worlds[np.roll(np.arange(30), 7)]
    return Planted(
        {"test": answers(small, "test", said)},
        (one_of("underfit", "noisy", "too few", "boundary"),),
        all_but("underfit", "noisy", "too few", "boundary", "shortcut", "unidentified"),
    )
