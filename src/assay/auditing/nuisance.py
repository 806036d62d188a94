"""What can be had without the concepts: nuisances that predict the label, and the best accuracy that anything allows.

A nuisance is what the rule does not speak of. Some are drawn: the style, the place of an example in its split. These
must not predict the label at all. Others are measured: the size of a picture's file, its mean colour, and the pixels of
each small region. They depend on what is in the picture; `assay.auditing.regions` finds those that follow a label and
no concept. In a small region that is a leak. The whole picture can also follow what goes with what (beaches with
surfboards), so that only a clear leak fails there, and a faint one is noted.

What is drawn is judged by a small forest, what is measured by a line through it and its squares. Both learn on one
split and predict another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.auditing.audited import NOT_CHECKED, AuditedDataset, AuditedSplit, CheckResult, first_few
from assay.auditing.pictures import invisible_concepts
from assay.auditing.regions import leaking_regions
from assay.auditing.symbols import completeness_of, equal_examples
from assay.base import Array, Codes, import_extra, rng_for
from assay.metrics import balanced_accuracy, mean

PURPOSE = "the audit of nuisances"
TREES = 60
DEPTH = 6
MARGIN = 0.05
"""How far above chance a drawn nuisance may be, or a measured one before it is noted."""
CLEAR = 0.6
"""How much of the way from chance to certainty a measured nuisance may be."""
ERRORS = 4.0
MOST_ROWS = 4000
FEWEST_ROWS = 100
FOLDS = 5
LEAST_EQUAL = 0.2
"""The share of examples that must share all concepts with another one for ceilings to be estimated."""
FARTHEST = 4.0
"""How many standard deviations from the middle a measured nuisance can count as."""


@dataclass(frozen=True)
class Columns:
    """Nuisances of a split: their names, and their values, a row an example."""

    names: tuple[str, ...]
    values: Array

    def only(self, names: Sequence[str]) -> Array:
        """Return the columns of these names."""
        return self.values[:, [self.names.index(name) for name in names]]


def sampled_nuisances(part: AuditedSplit) -> Columns:
    """Return what was drawn, or comes with the order of the examples."""
    columns = [np.nan_to_num(values, nan=-1.0) for values in part.nuisances.values()]
    return Columns(tuple(part.nuisances), np.stack(columns, axis=1) if columns else np.zeros((len(part), 0)))


@dataclass(frozen=True)
class Guess:
    """The labels predicted for the queries, and the importance of each nuisance."""

    labels: Array
    importance: Array


def forest(inputs: Array, labels: Array, queries: Array) -> Guess:
    """Learn labels from nuisances by trees."""
    trees = import_extra("sklearn.ensemble", PURPOSE).ExtraTreesClassifier(
        TREES, max_depth=DEPTH, min_samples_leaf=5, random_state=0, n_jobs=1, class_weight="balanced"
    )
    trees.fit(inputs, labels)
    return Guess(np.asarray(trees.predict(queries)), np.asarray(trees.feature_importances_))


def line(inputs: Array, labels: Array, queries: Array) -> Guess:
    """Learn labels from nuisances and their squares by logistic regression."""
    middle, scale = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), 1e-9)
    known, wanted = (np.clip((values - middle) / scale, -FARTHEST, FARTHEST) for values in (inputs, queries))
    model = import_extra("sklearn.linear_model", PURPOSE).LogisticRegression(class_weight="balanced", max_iter=1000)
    model.fit(np.concatenate([known, known**2], axis=1), labels)
    weights = np.abs(np.asarray(model.coef_)).sum(axis=0).reshape(2, -1).sum(axis=0)
    return Guess(np.asarray(model.predict(np.concatenate([wanted, wanted**2], axis=1))), weights)


@dataclass(frozen=True)
class Leak:
    """How well some nuisances predict a label, balanced over its values, and which do most."""

    label: str
    accuracy: float
    chance: float
    error: float
    by: tuple[str, ...]
    local: bool = False
    """Whether a small region of the pictures leaks it."""

    def above(self, margin: float) -> bool:
        """Return whether that is above chance by more than a margin and by more than luck."""
        return self.accuracy > self.chance + max(margin, ERRORS * self.error)

    @property
    def clear(self) -> bool:
        """Whether it is most of the way to certainty."""
        return self.above(CLEAR * (1 - self.chance))

    @property
    def text(self) -> str:
        """The leak in words."""
        accuracy = f"balanced accuracy {self.accuracy:.2f} (chance {self.chance:.2f})"
        return f"{self.label!r} is predicted with {accuracy} by {', '.join(self.by)}"


def _leak(label: str, truth: Array, guess: Guess, names: Sequence[str]) -> Leak:
    """Return how well labels are predicted, and the three nuisances that do most."""
    present = np.unique(truth)
    error = np.sqrt(sum(0.25 / (truth == value).sum() for value in present)) / len(present)
    best = tuple(names[number] for number in np.argsort(-guess.importance, kind="stable")[:3])
    return Leak(label, balanced_accuracy(truth, guess.labels), 1 / len(present), float(error), best)


def _several(labels: Codes) -> Array:
    """Return for each label whether it takes several values."""
    return np.asarray((labels != labels[:1]).any(axis=0))


def sampled_leaks(data: AuditedDataset, learn: AuditedSplit, ask: AuditedSplit) -> list[Leak]:
    """Return how well what was drawn in both splits predicts each label."""
    known, wanted = sampled_nuisances(learn), sampled_nuisances(ask)
    names = [name for name in known.names if name in wanted.names]
    inputs, queries = known.only(names)[:MOST_ROWS], wanted.only(names)
    taught, truth = learn.labels[: len(inputs)], ask.labels[: len(queries)]
    leaks = []
    for place, label in enumerate(data.labels):
        if names and _several(taught)[place] and _several(truth)[place]:
            leaks.append(_leak(label, truth[:, place], forest(inputs, taught[:, place], queries), names))
    return leaks


def picture_leaks(data: AuditedDataset, learn: AuditedSplit, ask: AuditedSplit) -> list[Leak]:
    """Return how well each region of the pictures that leaks a label predicts it."""
    taught, truth = learn.labels[: len(learn.pictures)], ask.labels[: len(ask.pictures)]
    leaks = []
    for place, label in enumerate(data.labels):
        if _several(taught)[place] and _several(truth)[place]:
            for known, wanted in leaking_regions(data, learn, ask, place):
                guess = line(known.values, taught[:, place], wanted.values)
                leak = _leak(label, truth[:, place], guess, [known.name] * known.values.shape[1])
                leaks.append(replace(leak, by=leak.by[:1], local=known.local))
    return leaks


def nuisances(data: AuditedDataset) -> CheckResult:
    """Nothing but the concepts predicts the label: no spurious feature leaks it."""
    return data.remember("nuisances", lambda: _probe(data))


def _probe(data: AuditedDataset) -> CheckResult:
    learn, ask = _learn_and_ask(data)
    if learn is None or ask is None:
        return CheckResult("nuisances", NOT_CHECKED, f"no training and other split of {FEWEST_ROWS} examples or more")
    drawn, found = sampled_leaks(data, learn, ask), picture_leaks(data, learn, ask)
    seen, content = _by_completeness(found, data)
    leaks, whole = drawn + seen, [leak for leak in seen if not leak.local]
    if not leaks and not content:
        return CheckResult("nuisances", NOT_CHECKED, "no label takes two values where it is learned and asked for")
    best = {label: max(t.accuracy for t in leaks if t.label == label) for label in {t.label: None for t in leaks}}
    numbers = {"balanced_accuracy": best}
    by_chance = [*(t for t in drawn if t.above(MARGIN)), *(t for t in whole if t.clear)]
    tested = _one_each([t for t in seen if t.local and t.accuracy > t.chance + MARGIN])  # more than luck: it was tested
    if by_chance or tested:
        return CheckResult("nuisances", "fail", first_few([leak.text for leak in by_chance + tested]), numbers)
    if content:
        text = "; the concepts do not determine it, so that pixels may show content that no concept names"
        return CheckResult("nuisances", NOT_CHECKED, f"{first_few([leak.text for leak in content], 1)}{text}", numbers)
    faint = [leak.text for leak in whole if leak.above(MARGIN)]
    if faint:
        return CheckResult("nuisances", "note", f"{first_few(faint, 1)}; the concepts may bring that along", numbers)
    highest = max(best, key=lambda label: best[label])
    text = f"nuisances predict no label (at most {best[highest]:.2f} balanced accuracy, {highest!r})"
    return CheckResult("nuisances", "pass", text, numbers)


def _by_completeness(leaks: Sequence[Leak], data: AuditedDataset) -> tuple[list[Leak], list[Leak]]:
    """Return leaks in pixels, and those of labels that concepts do not determine: these must show somewhere."""
    names = list(data.labels)
    open_labels = {names[place] for place in completeness_of(data).incomplete}
    kept = [leak for leak in leaks if leak.label not in open_labels]
    return kept, [leak for leak in _one_each([x for x in leaks if x.label in open_labels]) if leak.above(MARGIN)]


def _one_each(leaks: list[Leak]) -> list[Leak]:
    """Return the strongest leak of each label."""
    strongest: dict[str, Leak] = {}
    for leak in sorted(leaks, key=lambda leak: -leak.accuracy):
        strongest.setdefault(leak.label, leak)
    return list(strongest.values())


def _learn_and_ask(data: AuditedDataset) -> tuple[AuditedSplit | None, AuditedSplit | None]:
    """Return the first training split and the largest test split, or another if there is none."""
    learn = next((part for part in data.training if len(part) >= FEWEST_ROWS), None)
    others = [part for part in data.held_out if len(part) >= FEWEST_ROWS]
    ask = max(others, key=lambda part: (part.name.lower().startswith(("test", "val")), len(part)), default=None)
    return learn, ask


def ceilings(data: AuditedDataset) -> CheckResult:
    """The best accuracy that concepts, and visible concepts, allow, averaged over labels, beside always saying one."""
    if not data.held_out:
        return CheckResult("ceilings", NOT_CHECKED, "no held-out split")
    codes = np.concatenate([part.concepts for part in data.held_out])
    labels = np.concatenate([part.labels for part in data.held_out])
    equal = equal_examples(codes)
    if data.knowledge is None and equal < LEAST_EQUAL * len(codes):
        text = f"no rule is given, and only {equal:,} of {len(codes):,} examples share all concepts with another one"
        return CheckResult("ceilings", NOT_CHECKED, text)
    hidden = invisible_concepts(data)
    visible = [place for place, name in enumerate(data.space.names) if name not in (hidden or [])]
    all_told = float(np.fmax(reachable(codes, labels), _by_rule(data, codes, labels)))
    numbers: dict[str, float] = {
        "concepts": all_told,
        "visible concepts": reachable(codes[:, visible], labels) if hidden else all_told,
        "nuisances": _from_nuisances(data),
        "majority": float(np.mean([np.bincount(column).max() / len(labels) for column in labels.T])),
    }
    if hidden is None:  # nobody knows which are visible
        del numbers["visible concepts"]
    numbers = {name: value for name, value in numbers.items() if not np.isnan(value)}
    texts = ", ".join(f"{name} {value:.3f}" for name, value in numbers.items())
    return CheckResult("ceilings", "note" if hidden else "pass", f"best label accuracy from {texts}", numbers)


def _by_rule(data: AuditedDataset, codes: Codes, labels: Codes) -> float:
    """Return how often the rule is right: what can be had where worlds are too many to be met twice."""
    known = (codes >= 0).all(axis=1)
    if data.knowledge is None or not known.any():
        return float("nan")
    return float((data.knowledge.labels_of(codes[known]) == labels[known]).mean())


def _from_nuisances(data: AuditedDataset) -> float:
    """Return the balanced accuracy of the labels from nuisances alone, averaged over labels."""
    accuracies = nuisances(data).numbers.get("balanced_accuracy", {})
    return mean(np.array([*accuracies.values()], dtype=np.float64))


def reachable(codes: Codes, labels: Codes) -> float:
    """Return the accuracy of the best guess for each combination of codes, averaged over labels; held out by fifths.

    >>> reachable(np.array([[0], [0], [1], [1]] * 50), np.array([[0], [0], [1], [1]] * 50))
    1.0
    """
    _, which = np.unique(codes, axis=0, return_inverse=True)
    fold = rng_for(0, "audit", "folds").permutation(len(codes)) % FOLDS
    rates = []
    for column in labels.T:
        right = [_guess_accuracy(which.ravel(), column, fold != number) for number in range(FOLDS)]
        rates.append(mean(np.array(right)))
    return mean(np.array(rates))


def _guess_accuracy(groups: Array, labels: Array, learned: Array) -> float:
    """Return how often the most frequent label of a group where it was learned is right elsewhere, groups met there."""
    counts = np.zeros((groups.max() + 1, labels.max() + 1), dtype=np.int64)
    np.add.at(counts, (groups[learned], labels[learned]), 1)
    queries, truth = groups[~learned], labels[~learned]
    known = counts.sum(axis=1)[queries] > 0
    return float((counts.argmax(axis=1)[queries] == truth)[known].mean()) if known.any() else float("nan")
