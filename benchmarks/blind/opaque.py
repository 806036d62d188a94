"""Black boxes: right throughout, wrong in a region of the concepts, or on worlds that were not trained on."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from assay.base import Codes, rng_for
from assay.logic import Knowledge, bits
from benchmarks.blind.case import Answers, Draft, case, known_worlds
from benchmarks.blind.perception import (
    Camera,
    draw,
    heads,
    misread,
    quietly,
    space_of,
    top,
    widen,
)

SILENT = "shortcut|leaking|noisy|inconsistent|annotations|unidentified|incomplete|no rule|spurious"


@case(
    "opaque",
    "a network from pictures to two labels, right nearly always, without concepts",
    SILENT + "|memorised|missed region|underfit|shifted",
)
def network_without_concepts(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "network_without_concepts")
    space = space_of(green=[], clear=[], person=[], left_lane=[])
    knowledge = Knowledge.of(space, {"forward": "green and clear and not person", "left": "left_lane and not person"})
    camera = Camera.of(rng, space, 0.22)
    train, test = draw(rng, space, 4000), draw(rng, space, 1500)
    network = heads(
        lambda: MLPClassifier((24,), max_iter=40, random_state=seed), camera(rng, train), knowledge.labels_of(train)
    )
    odds = tuple(widen(model, view, 2) for model, view in zip(network, [camera(rng, test)] * 2, strict=True))
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(top(odds), None, odds))
    draft.between("test.label", 0.95, 1)
    draft.between("test.recall", 0.92, 1)
    return draft


@case(
    "opaque",
    "half of the used concepts is predicted, and right; so are the labels",
    SILENT + "|memorised|missed region|underfit|wrong rule|shifted",
)
def half_of_the_concepts(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "half_of_the_concepts")
    space = space_of(bishop=[], pinned=[], check=[], turn=["white", "black"])
    knowledge = Knowledge.of(space, {"legal": "(bishop and not pinned) or (check and turn == 'white')"})
    test = draw(rng, space, 1200)
    read = misread(rng, test, space.sizes, 0.006)
    said = knowledge.labels_of(misread(rng, test, space.sizes, 0.006))
    read[:, 2:] = -1
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(said, read))
    draft.between("test.label", 0.97, 1)
    return draft


@case(
    "missed region",
    "a network whose training labels were false where there are knees and no mouth",
    SILENT + "|sound|memorised|shifted",
)
def region_mislabelled(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "region_mislabelled")
    space = space_of(knees=[], mouth=[], antenna=[], ears=[], elbows=[])
    knowledge = Knowledge.of(space, {"glorp": "(knees or antenna or mouth) and not (ears and elbows)"})
    camera = Camera.of(rng, space, 0.2)
    train, test = draw(rng, space, 4000), draw(rng, space, 1600)
    inside = [(worlds[:, 0] == 1) & (worlds[:, 1] == 0) for worlds in (train, test)]
    taught = np.where(inside[0], 0, knowledge.labels_of(train)[:, 0])
    network = MLPClassifier((32,), max_iter=40, random_state=seed)
    said = quietly(network, camera(rng, train), taught).predict(camera(rng, test))[:, None]
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(said))
    right = said == knowledge.labels_of(test)
    draft.facts |= {"inside": float(right[inside[1]].mean()), "outside": float(right[~inside[1]].mean())}
    draft.between("inside", 0, 0.35)
    draft.between("outside", 0.95, 1)
    return draft


@case(
    "missed region",
    "a forest that saw hardly any round load on a flat roof in training",
    SILENT + "|sound|memorised|shifted",
)
def region_hardly_seen(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "region_hardly_seen")
    space = space_of(load=["none", "round", "square"], roof=["flat", "arc"], axles=[2, 3])
    knowledge = Knowledge.of(
        space, {"east": "(load == 'round' and roof == 'flat') or (load == 'square' and axles == 3)"}
    )
    camera = Camera.of(rng, space, 0.2)
    pool, test = draw(rng, space, 2500), draw(rng, space, 1500)
    inside = [(worlds[:, 0] == 1) & (worlds[:, 1] == 0) for worlds in (pool, test)]
    train = pool[~inside[0] | (rng.random(len(pool)) < 0.03)]
    model = RandomForestClassifier(40, min_samples_leaf=8, random_state=seed)
    said = quietly(model, camera(rng, train), knowledge.labels_of(train)[:, 0]).predict(camera(rng, test))[:, None]
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(said))
    right = said == knowledge.labels_of(test)
    draft.facts |= {"inside": float(right[inside[1]].mean()), "outside": float(right[~inside[1]].mean())}
    draft.between("inside", 0, 0.3)
    draft.between("outside", 0.93, 1)
    draft.between("test.known", 1, 1)
    return draft


def _few_worlds(rng: np.random.Generator, worlds: Codes, share: float) -> tuple[Codes, Codes]:
    """Divide worlds in those of training and others."""
    order = rng.permutation(len(worlds))
    cut = int(share * len(worlds))
    return worlds[order[:cut]], worlds[order[cut:]]


@case(
    "memorised",
    "nearest neighbours over few worlds: unused concepts decide which is near",
    SILENT + "|sound|missed region|shifted",
)
def nearest_neighbours(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "nearest_neighbours")
    space = bits(["a", "b", "u", "v", "w", "x", "y", "z"])
    knowledge = Knowledge.of(space, {"t": "a != b"})
    old, new = _few_worlds(rng, space.all_codes().astype(np.int64), 0.2)
    camera = Camera.of(rng, space, 0.12)
    train = old[rng.integers(0, len(old), 1200)]
    test = np.concatenate([old[rng.integers(0, len(old), 700)], new[rng.integers(0, len(new), 700)]])
    model = quietly(KNeighborsClassifier(3), camera(rng, train), knowledge.labels_of(train)[:, 0])
    draft = Draft(knowledge, train)
    for split, worlds in {"test": test, "ood": new[rng.integers(0, len(new), 500)]}.items():
        draft.add(split, worlds, knowledge.labels_of(worlds), Answers(model.predict(camera(rng, worlds))[:, None]))
    draft.between("test.label_known", 0.97, 1)
    draft.between("test.label_new", 0.3, 0.75)
    return draft


@case(
    "memorised",
    "test repeats the worlds of training and is right; worlds out of distribution are new, and wrong",
    SILENT + "|sound|shifted",
)
def forest_on_new_worlds(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "forest_on_new_worlds")
    space = space_of(first=[0, 1, 2, 3], second=[0, 1, 2, 3], font=[0, 1, 2, 3, 4], ink=[0, 1, 2, 3])
    knowledge = Knowledge.of(space, {"odd": "(first + second) % 2 == 1"})
    old, new = _few_worlds(rng, space.all_codes().astype(np.int64), 0.14)
    train, test, strange = (
        old[rng.integers(0, len(old), 2000)],
        old[rng.integers(0, len(old), 1000)],
        new[rng.integers(0, len(new), 800)],
    )
    camera = Camera.of(rng, space, 0.1)
    model = quietly(RandomForestClassifier(50, random_state=seed), camera(rng, train), knowledge.labels_of(train)[:, 0])
    draft = Draft(knowledge, train)
    for split, worlds in {"test": test, "ood": strange}.items():
        draft.add(split, worlds, knowledge.labels_of(worlds), Answers(model.predict(camera(rng, worlds))[:, None]))
    draft.between("test.label", 0.95, 1)
    draft.between("test.known", 1, 1)
    draft.between("ood.label", 0.3, 0.75)
    taught = known_worlds(strange[:, :2], train[:, :2])
    right = draft.evidence["ood"].predicted_labels == draft.evidence["ood"].labels
    draft.facts["ood.in_known_cells"] = float(right[taught].mean())
    draft.between("ood.in_known_cells", 0.3, 0.8)
    return draft


@case(
    "memorised|wrong rule",
    "concepts are right; the head is a deep tree that tells training worlds apart by unused concepts",
    "sound|shortcut|leaking|noisy|annotations|unidentified|opaque|incomplete|no rule|shifted",
)
def head_of_training_worlds(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "head_of_training_worlds")
    space = bits(["p", "q", "r", *(f"extra{i}" for i in range(6))])
    knowledge = Knowledge.of(space, {"y": "(p != q) != r"})
    old, new = _few_worlds(rng, space.all_codes().astype(np.int64), 0.1)
    train = old[rng.integers(0, len(old), 1500)]
    test = np.concatenate([old[rng.integers(0, len(old), 700)], new[rng.integers(0, len(new), 700)]])
    tree = DecisionTreeClassifier(max_features=2, random_state=seed)
    quietly(tree, train, knowledge.labels_of(train)[:, 0])
    read = misread(rng, test, space.sizes, 0.002)
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(tree.predict(read)[:, None], read))
    draft.between("test.label_known", 0.97, 1)
    draft.between("test.label_new", 0.3, 0.75)
    draft.between("test.used_least", 0.98, 1)
    return draft
