"""What can be had without the concepts: nuisances that tell the label, and the best accuracy that anything allows.

A nuisance is what the rule does not speak of: the style that was drawn, the number of an example, the size of its file,
its mean colour. Size and colour depend on what is in the picture, so what the concepts explain of them is taken away
first. A small forest then learns the label from nuisances on one part of the data and is asked about another.
"""

import importlib.util

import numpy as np

from assay.arrays import Array, Codes
from assay.audit.examined import Examined, Part
from assay.audit.finding import Finding
from assay.audit.pictures import invisible_concepts
from assay.errors import MissingExtra
from assay.metrics.metric import mean
from assay.seeds import rng_for

TREES = 60
DEPTH = 6
MARGIN = 0.05
ERRORS = 4.0
MOST_ROWS = 4000
FEWEST_ROWS = 100


def picture_facts(part: Part) -> dict[str, Array]:
    """Return the size of each file and the mean of each colour."""
    if not len(part.pictures):
        return {}
    sizes = np.array([len(data) for data in part.pictures], dtype=np.float64)
    means = np.stack([image.reshape(-1, image.shape[2]).mean(axis=0) for image in part.images])
    return {"file size": sizes, **{f"colour {channel}": means[:, channel] for channel in range(means.shape[1])}}


def unexplained(facts: Array, concepts: Codes, sizes: tuple[int, ...]) -> Array:
    """Return what is left of facts about pictures once each concept's value has had its say, by least squares."""
    columns = [np.ones((len(concepts), 1))]
    columns += [np.eye(size)[concepts[:, place]][:, 1:] for place, size in enumerate(sizes) if size > 1]
    known = np.concatenate(columns, axis=1)
    weights = np.linalg.lstsq(known, facts, rcond=None)[0]
    return np.asarray(facts - known @ weights)


def nuisance_columns(part: Part, data: Examined) -> tuple[list[str], Array]:
    """Return the names and values of all nuisances of a split."""
    facts = picture_facts(part)
    rows = len(next(iter(part.nuisances.values()))) if part.nuisances else len(part)
    rows = min([rows, *(len(values) for values in facts.values())])
    names = [*part.nuisances]
    columns = [np.nan_to_num(values[:rows], nan=-1.0)[:, None] for values in part.nuisances.values()]
    if facts and rows > sum(data.space.sizes):
        plain = np.stack([values[:rows] for values in facts.values()], axis=1)
        columns.append(unexplained(plain, part.concepts[:rows], data.space.sizes))
        names += facts
    return names, np.concatenate(columns, axis=1) if columns else np.zeros((rows, 0))


def _probe(inputs: Array, labels: Codes, asked: Array, seed: int) -> tuple[Array, Array]:
    """Return what a forest says that learned labels from nuisances, and how much it used each."""
    if importlib.util.find_spec("sklearn") is None:
        raise MissingExtra("the audit's probes need: pip install scikit-learn")
    from sklearn.ensemble import ExtraTreesClassifier

    forest = ExtraTreesClassifier(
        TREES, max_depth=DEPTH, min_samples_leaf=5, random_state=seed, n_jobs=1, class_weight="balanced"
    )
    forest.fit(inputs, labels)
    return np.asarray(forest.predict(asked)), np.asarray(forest.feature_importances_)


def nuisances(data: Examined) -> Finding:
    """Nothing but the concepts tells the label."""
    if "nuisances" not in data.memo:
        data.memo["nuisances"] = _probed(data)
    found: Finding = data.memo["nuisances"]
    return found


def _probed(data: Examined) -> Finding:
    learn, ask = _learn_and_ask(data)
    if learn is None or ask is None:
        return Finding("nuisances", "skip", "too few examples to learn from")
    names, inputs = nuisance_columns(learn, data)
    others, asked = nuisance_columns(ask, data)
    shared = [name for name in names if name in others]
    inputs, asked = inputs[:, [names.index(n) for n in shared]], asked[:, [others.index(n) for n in shared]]
    found: dict[str, float] = {}
    for place, (name, values) in enumerate(data.labels.items()):
        labels, truth = learn.labels[: len(inputs), place], ask.labels[: len(asked), place]
        if len(np.unique(labels)) < 2 or len(np.unique(truth)) < 2:
            continue
        said, used = _probe(inputs[:MOST_ROWS], labels[:MOST_ROWS], asked, place)
        present = [value for value in range(len(values)) if (truth == value).sum() > 0]
        recalls = np.array([(said[truth == value] == value).mean() for value in present])
        spread = np.sqrt(sum(0.25 / (truth == value).sum() for value in present)) / len(present)
        found[name] = float(recalls.mean())
        if recalls.mean() > 1 / len(present) + max(MARGIN, ERRORS * spread):
            worst = [shared[number] for number in np.argsort(-used)[:3]]
            text = f"{name!r} is told with balanced accuracy {recalls.mean():.2f} (chance {1 / len(present):.2f})"
            return Finding("nuisances", "fail", f"{text} by {', '.join(worst)}", {"balanced_accuracy": found})
    if not found:
        return Finding("nuisances", "skip", "no label takes two values where it is learned and asked for")
    best = max(found, key=lambda name: found[name])
    text = f"{len(shared)} nuisances tell no label (at most {found[best]:.2f} balanced accuracy, {best!r})"
    return Finding("nuisances", "pass", text, {"balanced_accuracy": found})


def _learn_and_ask(data: Examined) -> tuple[Part | None, Part | None]:
    learn = next((part for part in data.training if len(part) >= FEWEST_ROWS), None)
    others = [part for part in data.held_out if len(part) >= FEWEST_ROWS and part.name in ("test", "valid", "test_1")]
    ask = max(others, key=len, default=None)
    return learn, ask


def ceilings(data: Examined) -> Finding:
    """The best accuracy that concepts, and visible concepts, allow, averaged over labels, beside always saying one."""
    if not data.held_out:
        return Finding("ceilings", "skip", "no held-out split")
    codes = np.concatenate([part.concepts for part in data.held_out])
    labels = np.concatenate([part.labels for part in data.held_out])
    hidden = invisible_concepts(data) or []
    seen = [place for place, name in enumerate(data.space.names) if name not in hidden]
    numbers: dict[str, float] = {
        "concepts": reachable(codes, labels),
        "visible concepts": reachable(codes[:, seen], labels),
        "nuisances": _from_nuisances(data),
        "majority": float(np.mean([np.bincount(column).max() / len(labels) for column in labels.T])),
    }
    shown = ", ".join(f"{name} {value:.3f}" for name, value in numbers.items() if not np.isnan(value))
    return Finding("ceilings", "note" if hidden else "pass", f"best label accuracy from {shown}", numbers)


def _from_nuisances(data: Examined) -> float:
    """Return the balanced accuracy of the labels from nuisances alone, averaged over labels."""
    found = nuisances(data).numbers.get("balanced_accuracy", {})
    return mean(np.array([*found.values()], dtype=np.float64))


def reachable(codes: Codes, labels: Codes) -> float:
    """Return the accuracy of the best guess for each combination of codes, averaged over labels; held out by halves.

    >>> reachable(np.array([[0], [0], [1], [1]] * 50), np.array([[0], [0], [1], [1]] * 50))
    1.0
    """
    _, which = np.unique(codes, axis=0, return_inverse=True)
    half = rng_for(0, "audit", "halves").permutation(len(codes)) % 2
    rates = []
    for column in labels.T:
        right = [_guessed(which.ravel(), column, half == side) for side in (0, 1)]
        rates.append(mean(np.array(right)))
    return mean(np.array(rates))


def _guessed(groups: Array, labels: Array, learned: Array) -> float:
    """Return how often the most frequent label of a group where it was learned is right elsewhere, groups met there."""
    counts = np.zeros((groups.max() + 1, labels.max() + 1), dtype=np.int64)
    np.add.at(counts, (groups[learned], labels[learned]), 1)
    asked, truth = groups[~learned], labels[~learned]
    known = counts.sum(axis=1)[asked] > 0
    return float((counts.argmax(axis=1)[asked] == truth)[known].mean()) if known.any() else float("nan")
