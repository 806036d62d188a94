"""Sound models: nothing is wrong, whatever the bottleneck, the rule, noise of labels or gaps of the table."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from assay.base import rng_for
from assay.logic import ConceptSpace, Knowledge, bits, digits
from benchmarks.blind.case import Answers, Draft, case
from benchmarks.blind.perception import (
    Camera,
    Detectors,
    draw,
    exact,
    heads,
    hot,
    joined,
    misread,
    percept,
    predicted,
    quietly,
    sharp,
    space_of,
    top,
    widen,
)

FAULTS = "shortcut|leaking|wrong rule|inconsistent|noisy|underfit|memorised|missed region|spurious|incomplete"


@case("sound", "a hard bottleneck: logistic detectors, and a tree that learned the rule from true concepts", FAULTS)
def robots_hard_tree(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "robots_hard_tree")
    space = space_of(knees=[], mouth=[], antenna=[], ears=[], round_body=[], wheels=[])
    knowledge = Knowledge.of(space, {"glorp": "(knees and not mouth) or (antenna and wheels)"})
    camera = Camera.of(rng, space, 0.24)
    train, test = draw(rng, space, 2500), draw(rng, space, 1000)
    detect = Detectors.fit(camera(rng, train), train, space.sizes)
    tree = heads(DecisionTreeClassifier, train, knowledge.labels_of(train))
    draft = Draft(knowledge, train)
    for split, worlds in {"test": test, "valid": draw(rng, space, 400)}.items():
        seen = detect(camera(rng, worlds))
        draft.add(
            split, worlds, knowledge.labels_of(worlds), Answers(predicted(tree, top(seen)), top(seen), None, seen)
        )
    draft.between("test.label", 0.97, 1)
    draft.between("test.used_least", 0.98, 1)
    return draft


@case("sound", "a soft bottleneck: the head is trained on the detectors' probabilities", FAULTS)
def berries_soft_network(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "berries_soft_network")
    space = space_of(red=[], soft=[], thorns=[], bitter=[])
    knowledge = Knowledge.of(space, {"edible": "red and soft and not bitter"})
    camera = Camera.of(rng, space, 0.25)
    train, test = draw(rng, space, 3000), draw(rng, space, 1500)
    detect = Detectors.fit(camera(rng, train), train, space.sizes)
    network = MLPClassifier((16,), max_iter=60, random_state=seed)
    quietly(network, joined(detect(camera(rng, train))), knowledge.labels_of(train)[:, 0])
    seen = detect(camera(rng, test))
    odds = widen(network, joined(seen), 2)
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(top([odds]), top(seen), (odds,), seen))
    draft.between("test.label", 0.97, 1)
    draft.between("test.used_least", 0.97, 1)
    draft.between("test.follows", 0.97, 1)
    return draft


@case("sound", "calibrated digits, and the label by exact inference over their probabilities", FAULTS)
def weighted_sum_exact(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "weighted_sum_exact")
    space = digits(["tens", "ones"], range(6))
    knowledge = Knowledge.of(space, {"value": "2 * tens + ones"})
    test = draw(rng, space, 2000)
    seen = percept(rng, test, space.sizes, 4.4)
    odds = exact(knowledge, seen)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(top(odds), top(seen), odds, seen))
    draft.between("test.label", 0.96, 1)
    draft.between("test.used_least", 0.97, 1)
    return draft


@case("sound", "the model follows the rule; 1.5 % of the table's labels do not", FAULTS)
def noisy_labels_of_a_sound_model(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "noisy_labels_of_a_sound_model")
    space = space_of(speed=["slow", "fast"], wet=[], light=["red", "amber", "green"], clear=[])
    knowledge = Knowledge.of(space, {"go": "light == 'green' and clear and not (wet and speed == 'fast')"})
    test = draw(rng, space, 2400)
    seen = sharp(rng, misread(rng, test, space.sizes, 0.004), space.sizes)
    labels = knowledge.labels_of(test)
    flipped = rng.random(len(test)) < 0.015
    draft = Draft(knowledge, space.all_codes())
    draft.add(
        "test",
        test,
        np.where(flipped[:, None], 1 - labels, labels),
        Answers(knowledge.labels_of(top(seen)), top(seen), None, seen),
    )
    draft.between("test.contradicts", 0.008, 0.025)
    draft.between("test.label", 0.96, 0.995)
    return draft


@case("sound", "300 examples, two labels, almost no error", FAULTS)
def two_labels_of_300(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "two_labels_of_300")
    space = space_of(person=[], car=[], sign=[], night=[])
    knowledge = Knowledge.of(space, {"stop": "person or sign", "overtake": "not car and not person and not night"})
    train, test = draw(rng, space, 1500, person=0.3, sign=0.4), draw(rng, space, 300, person=0.3, sign=0.4)
    camera = Camera.of(rng, space, 0.22)
    detect = Detectors.fit(camera(rng, train), train, space.sizes)
    tree = heads(DecisionTreeClassifier, train, knowledge.labels_of(train))
    seen = detect(camera(rng, test))
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(predicted(tree, top(seen)), top(seen), None, seen))
    draft.between("test.label", 0.97, 1)
    draft.between("test.used_least", 0.98, 1)
    return draft


@case("sound", "a label of three symbols by naive Bayes and a tree, one concept that the rule does not use", FAULTS)
def triage_naive_bayes(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "triage_naive_bayes")
    space = space_of(pulse=["low", "normal", "high"], fever=[], pain=[0, 1, 2, 3], awake=[], ward=["a", "b", "c"])
    rule = "'urgent' if (not awake or (fever and pulse == 'high')) else 'soon' if pain >= 2 else 'later'"
    knowledge = Knowledge.of(space, {"triage": rule})
    camera = Camera.of(rng, space, 0.22)
    train, test = draw(rng, space, 3000, awake=0.8), draw(rng, space, 3000, awake=0.8)
    views = camera(rng, train), camera(rng, test)
    bayes = [
        quietly(LogisticRegression(max_iter=200) if size > 2 else GaussianNB(), views[0], column)
        for column, size in zip(train.T, space.sizes, strict=True)
    ]
    seen = tuple(widen(model, views[1], size) for model, size in zip(bayes, space.sizes, strict=True))
    tree = heads(DecisionTreeClassifier, hot(train, space.sizes), knowledge.labels_of(train))
    said = predicted(tree, hot(top(seen), space.sizes))
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(said, top(seen), None, seen))
    draft.between("test.label", 0.95, 1)
    draft.between("test.used_least", 0.97, 1)
    return draft


@case("sound", "ten concepts are counted; test, new worlds and near-boundary worlds are all right", FAULTS)
def votes_with_all_splits(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "votes_with_all_splits")
    names = [f"vote{i}" for i in range(10)]
    space = bits(names)
    knowledge = Knowledge.of(space, {"passed": f"count({', '.join(names)}) >= 5"})
    train = draw(rng, space, 400)
    pool = space.all_codes().astype(np.int64)
    strange = pool[~np.isin(pool @ 2 ** np.arange(10), train @ 2 ** np.arange(10))]
    close = pool[np.isin(pool.sum(axis=1), (4, 5))]
    splits = {
        "test": train[rng.integers(0, len(train), 1200)],
        "ood": strange[rng.integers(0, len(strange), 600)],
        "hard": close[rng.integers(0, len(close), 600)],
    }
    draft = Draft(knowledge, train)
    for split, worlds in splits.items():
        seen = sharp(rng, misread(rng, worlds, space.sizes, 0.004), space.sizes)
        draft.add(
            split, worlds, knowledge.labels_of(worlds), Answers(knowledge.labels_of(top(seen)), top(seen), None, seen)
        )
        draft.between(f"{split}.label", 0.95, 1)
    draft.between("ood.known", 0, 0)
    return draft


@case("sound", "a sixth of the true concepts is not known, at random; what is known is read right", FAULTS)
def gaps_in_the_table(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "gaps_in_the_table")
    space = ConceptSpace(digits(["left", "right"], range(5)).concepts)
    knowledge = Knowledge.of(space, {"difference": "abs(left - right)"})
    test = draw(rng, space, 1500)
    seen = percept(rng, test, space.sizes, 5.0)
    table = np.where(rng.random(test.shape) < 1 / 6, -1, test)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", table, knowledge.labels_of(test), Answers(knowledge.labels_of(top(seen)), top(seen), None, seen))
    draft.between("test.label", 0.96, 1)
    draft.between("test.used_least", 0.97, 1)
    return draft


@case("sound", "5 % of the examples are positive, and these are found", FAULTS)
def rare_disease_found(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "rare_disease_found")
    space = space_of(lesion=[], streaks=[], dots=[], itching=[], age=["young", "old"])
    knowledge = Knowledge.of(space, {"melanoma": "lesion and streaks and age == 'old'"})
    rare: dict[str, float | list[float]] = {"lesion": 0.35, "streaks": 0.3, "age": [0.5, 0.5]}
    test = draw(rng, space, 2500, **rare)
    seen = percept(rng, test, space.sizes, 3.9)
    odds = exact(knowledge, seen)
    draft = Draft(knowledge, draw(rng, space, 2500, **rare))
    draft.add("test", test, knowledge.labels_of(test), Answers(top(odds), top(seen), odds, seen))
    draft.between("test.majority", 0.93, 0.97)
    draft.between("test.recall", 0.93, 1)
    return draft


@case("sound", "one concept is read less confidently where another is true, yet right", FAULTS)
def occluded_yet_right(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "occluded_yet_right")
    space = space_of(tree=[], cyclist=[], crossing=[])
    knowledge = Knowledge.of(space, {"brake": "cyclist and crossing", "mirror": "cyclist or tree"})
    test = draw(rng, space, 1800)
    clarity = np.full(test.shape, 4.5)
    clarity[:, 1] = np.where(test[:, 0] == 1, 2.9, 5.5)  # a tree hides the cyclist in part
    seen = percept(rng, test, space.sizes, clarity)
    odds = exact(knowledge, seen)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(top(odds), top(seen), odds, seen))
    doubt = [1 - seen[1].max(axis=1)[test[:, 0] == flag].mean() for flag in (0, 1)]
    draft.facts |= {"doubt_open": float(doubt[0]), "doubt_hidden": float(doubt[1])}
    draft.need(doubt[1] > 10 * doubt[0], "the confidence depends on another concept")
    draft.between("test.label", 0.97, 1)
    draft.between("test.used_least", 0.975, 1)
    return draft
