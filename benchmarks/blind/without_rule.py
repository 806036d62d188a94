"""No rule is known: concepts that determine the labels, or do not, and models at the ceiling and below."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from assay.base import Array, Codes, rng_for
from benchmarks.blind.case import Answers, Draft, case
from benchmarks.blind.perception import (
    Camera,
    Detectors,
    draw,
    heads,
    hot,
    misread,
    predicted,
    quietly,
    sharp,
    space_of,
    top,
    without_rule,
)

FALSE = "shortcut|leaking|annotations|memorised|missed region|shifted|opaque|inconsistent|unidentified|sound"


def _ceiling(concepts: Codes, labels: Array) -> float:
    """Return the share of rows that have the most frequent label of their concept vector."""
    _, groups = np.unique(concepts, axis=0, return_inverse=True)
    groups = groups.ravel()
    return sum(int(np.bincount(labels[groups == group]).max()) for group in range(groups.max() + 1)) / len(labels)


@case(
    "no rule",
    "concepts determine the label, both are right, and no rule is given",
    FALSE.replace("|sound", "") + "|incomplete|noisy|underfit|wrong rule",
)
def complete_without_rule(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "complete_without_rule")
    space = space_of(legs=[2, 4], fur=[], flies=[], size=["small", "large"])
    knowledge = without_rule(space, ("bat", "bird", "beast"), "kind")
    worlds = {"train": draw(rng, space, 2000), "test": draw(rng, space, 1200)}
    labels = {
        k: np.where(w[:, 2] == 1, np.where(w[:, 1] == 1, 0, 1), np.where(w[:, 0] == 1, 2, w[:, 3]))[:, None]
        for k, w in worlds.items()
    }
    camera = Camera.of(rng, space, 0.22)
    detect = Detectors.fit(camera(rng, worlds["train"]), worlds["train"], space.sizes)
    tree = heads(DecisionTreeClassifier, worlds["train"], labels["train"])
    seen = detect(camera(rng, worlds["test"]))
    draft = Draft(knowledge, worlds["train"])
    draft.add("test", worlds["test"], labels["test"], Answers(predicted(tree, top(seen)), top(seen), None, seen))
    draft.between("test.label", 0.96, 1)
    draft.between("test.used_least", 0.98, 1)
    return draft


def _hidden(rng: np.random.Generator, concepts: Codes, swing: float) -> Array:
    """Draw labels by concepts and by what no concept tells; the swing is how far concepts decide."""
    score = swing * np.where((concepts[:, 0] == 1) != (concepts[:, 1] == 1), 1, -1)
    return (rng.random(len(concepts)) < 1 / (1 + np.exp(-score))).astype(int)


@case(
    "incomplete",
    "an important concept has no annotation: even the best head reaches about 80 %, and this one does",
    FALSE + "|noisy|underfit|wrong rule|no rule",
)
def concept_left_out(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "concept_left_out")
    space = space_of(scales=[], fins=[], teeth=["few", "many"])
    knowledge = without_rule(space)
    train, test = draw(rng, space, 3000), draw(rng, space, 2000)
    camera = Camera.of(rng, space, 0.22)
    detect = Detectors.fit(camera(rng, train), train, space.sizes)
    forest = quietly(
        RandomForestClassifier(40, min_samples_leaf=20, random_state=seed), train, _hidden(rng, train, 1.4)
    )
    seen = detect(camera(rng, test))
    labels = _hidden(rng, test, 1.4)
    draft = Draft(knowledge, train)
    draft.add("test", test, labels[:, None], Answers(forest.predict(top(seen))[:, None], top(seen), None, seen))
    draft.facts["ceiling"] = _ceiling(test, labels)
    draft.between("ceiling", 0.76, 0.84)
    draft.need(draft.facts["test.label"] > draft.facts["ceiling"] - 0.02, "the model is at the ceiling")
    return draft


@case(
    "incomplete",
    "three classes by concepts and chance: all concepts right, labels at the ceiling of about 70 %",
    FALSE + "|noisy|wrong rule|no rule",
)
def three_classes_by_chance(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "three_classes_by_chance")
    space = space_of(tone=[0, 1, 2], width=["thin", "wide"], gloss=[])
    knowledge = without_rule(space, ("oak", "elm", "ash"), "tree")
    train, test = draw(rng, space, 3000), draw(rng, space, 1800)
    mode, taught = (
        np.where(rng.random(len(worlds)) < 0.55, (worlds[:, 0] + worlds[:, 1]) % 3, rng.integers(0, 3, len(worlds)))
        for worlds in (test, train)
    )
    tree = quietly(DecisionTreeClassifier(min_samples_leaf=30), hot(train, space.sizes), taught)
    read = misread(rng, test, space.sizes, 0.005)
    said = tree.predict(hot(read, space.sizes))[:, None]
    draft = Draft(knowledge, train)
    draft.add("test", test, mode[:, None], Answers(said, read, None, sharp(rng, read, space.sizes)))
    draft.facts["ceiling"] = _ceiling(test, mode)
    draft.between("ceiling", 0.65, 0.76)
    draft.need(draft.facts["test.label"] > draft.facts["ceiling"] - 0.03, "the model is at the ceiling")
    return draft


@case(
    "underfit|wrong rule",
    "no rule; concepts are right and allow 90 %, the linear head reaches little more than half",
    FALSE + "|noisy|no rule|incomplete",
)
def below_the_ceiling(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "below_the_ceiling")
    space = space_of(salt=[], sweet=[], hot=[])
    knowledge = without_rule(space)
    train, test = draw(rng, space, 2000), draw(rng, space, 1500)
    head = quietly(LogisticRegression(), train, _hidden(rng, train, 2.4))
    read = misread(rng, test, space.sizes, 0.006)
    labels = _hidden(rng, test, 2.4)
    draft = Draft(knowledge, train)
    draft.add(
        "test", test, labels[:, None], Answers(head.predict(read)[:, None], read, None, sharp(rng, read, space.sizes))
    )
    draft.facts["ceiling"] = _ceiling(test, labels)
    draft.between("ceiling", 0.87, 0.95)
    draft.between("test.label", 0.3, 0.7)
    return draft


@case(
    "noisy",
    "no rule; the concepts would determine the label, but are read wrong at random, and labels suffer",
    "sound|shortcut|leaking|annotations|memorised|missed region|shifted|opaque|incomplete|no rule|unidentified",
)
def noise_without_rule(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "noise_without_rule")
    space = space_of(edge=[], core=[], mass=[0, 1, 2])
    knowledge = without_rule(space)
    train, test = draw(rng, space, 2000), draw(rng, space, 1500)
    truth = [((w[:, 0] + w[:, 1]) % 2 | (w[:, 2] == 2)).astype(int) for w in (train, test)]
    tree = quietly(DecisionTreeClassifier(), hot(train, space.sizes), truth[0])
    seen = sharp(rng, misread(rng, test, space.sizes, 0.17), space.sizes, 0.5)
    said = tree.predict(hot(top(seen), space.sizes))[:, None]
    draft = Draft(knowledge, train)
    draft.add("test", test, truth[1][:, None], Answers(said, top(seen), None, seen))
    draft.between("test.label_read", 1, 1)
    draft.between("test.label", 0.65, 0.85)
    return draft


@case(
    "opaque|no rule",
    "no rule and no concepts, labels right",
    "shortcut|leaking|annotations|memorised|missed region|shifted|inconsistent|"
    "unidentified|noisy|underfit|wrong rule|incomplete",
)
def forest_without_anything(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "forest_without_anything")
    space = space_of(sharp=[], wooden=[], long=[])
    knowledge = without_rule(space)
    train, test = draw(rng, space, 2500), draw(rng, space, 1000)
    truth = [((w[:, 0] & w[:, 2]) | w[:, 1])[:, None] for w in (train, test)]
    camera = Camera.of(rng, space, 0.2)
    forest = heads(lambda: RandomForestClassifier(40, random_state=seed), camera(rng, train), truth[0])
    draft = Draft(knowledge, train)
    draft.add("test", test, truth[1], Answers(predicted(forest, camera(rng, test))))
    draft.between("test.label", 0.95, 1)
    return draft
