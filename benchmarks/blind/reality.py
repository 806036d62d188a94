"""The table is wrong, not the model: annotations of concepts and of labels, at random and by class."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from assay.base import rng_for
from assay.logic import Knowledge, bits, digits
from benchmarks.blind.case import Answers, Draft, case
from benchmarks.blind.perception import (
    Camera,
    Detectors,
    draw,
    exact,
    heads,
    hot,
    misread,
    percept,
    predicted,
    sharp,
    space_of,
    top,
)

FALSE = "sound|shortcut|leaking|wrong rule|noisy|inconsistent|underfit|memorised|missed region|unidentified"


@case("annotations", "an eighth of the concept annotations is wrong at random; labels and model are right", FALSE)
def digits_annotated_wrong(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "digits_annotated_wrong")
    space = digits(["left", "right"], range(7))
    knowledge = Knowledge.of(space, {"sum": "left + right"})
    test = draw(rng, space, 1400)
    seen = percept(rng, test, space.sizes, 5.2)
    table = misread(rng, test, space.sizes, 0.12)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", table, knowledge.labels_of(test), Answers(knowledge.labels_of(top(seen)), top(seen), None, seen))
    draft.between("test.contradicts", 0.15, 0.27)
    draft.between("test.label", 0.97, 1)
    draft.between("test.used", 0.84, 0.91)
    draft.between("test.contradicts_disputed", 0.85, 1)
    return draft


@case("annotations", "annotators call two fifths of the cats dogs; the label, of another source, is right", FALSE)
def cats_annotated_as_dogs(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "cats_annotated_as_dogs")
    space = space_of(animal=["cat", "dog", "bird"], collar=[], indoors=[])
    others = "'walk' if animal == 'dog' else 'cage' if animal == 'bird' else 'leave'"
    rule = f"'vet' if (animal == 'cat' and collar) else {others}"
    knowledge = Knowledge.of(space, {"action": rule})
    camera = Camera.of(rng, space, 0.2)
    train, test = draw(rng, space, 2000), draw(rng, space, 1200, animal=[0.5, 0.25, 0.25])
    detect = Detectors.fit(camera(rng, train), train, space.sizes)
    tree = heads(DecisionTreeClassifier, hot(train, space.sizes), knowledge.labels_of(train))
    seen = detect(camera(rng, test))
    table = test.copy()
    table[(test[:, 0] == 0) & (rng.random(len(test)) < 0.4), 0] = 1
    draft = Draft(knowledge, train)
    said = predicted(tree, hot(top(seen), space.sizes))
    draft.add("test", table, knowledge.labels_of(test), Answers(said, top(seen), None, seen))
    draft.between("test.label", 0.96, 1)
    draft.between("test.used_least", 0.75, 0.85)
    draft.between("test.contradicts_disputed", 0.85, 1)
    return draft


@case("annotations", "a fifth of the labels in the table is wrong at random; the concepts give the right ones", FALSE)
def labels_annotated_wrong(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "labels_annotated_wrong")
    space = space_of(a=[], b=[], c=[], d=[])
    knowledge = Knowledge.of(space, {"y": "(a or b) and (c or d)"})
    test = draw(rng, space, 1500)
    seen = percept(rng, test, space.sizes, 4.4)
    odds = exact(knowledge, seen)
    labels = knowledge.labels_of(test)
    table = np.where(rng.random(labels.shape) < 0.2, 1 - labels, labels)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, table, Answers(top(odds), top(seen), odds, seen))
    draft.between("test.contradicts", 0.17, 0.23)
    draft.between("test.used_least", 0.98, 1)
    draft.between("test.contradicts_disputed", 0.9, 1)
    return draft


@case("annotations", "a third of the positives is recorded as negative; the model finds them", FALSE)
def positives_not_recorded(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "positives_not_recorded")
    names = ["cough", "fever", "rash", "travel", "fatigue"]
    space = bits(names)
    knowledge = Knowledge.of(space, {"case": "fever and (rash or travel)", "rest": "count(cough, fever, fatigue) >= 2"})
    test = draw(rng, space, 1600, fever=0.7)
    read = misread(rng, test, space.sizes, 0.006)
    labels = knowledge.labels_of(test)
    table = labels.copy()
    table[(labels[:, 0] == 1) & (rng.random(len(test)) < 0.35), 0] = 0
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, table, Answers(knowledge.labels_of(read), read, None, sharp(rng, read, space.sizes)))
    draft.between("test.contradicts", 0.13, 0.24)
    draft.between("test.label", 0.74, 0.87)
    draft.between("test.contradicts_disputed", 0.8, 1)
    return draft
