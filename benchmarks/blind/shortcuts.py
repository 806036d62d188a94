"""Reasoning shortcuts of the kinds that rsbench describes: concepts with unintended meaning, labels right."""

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from assay.base import Array, Codes, rng_for
from assay.logic import Concept, ConceptSpace, EncoderGroup, Knowledge, bits, digits
from benchmarks.blind.case import Answers, Draft, case
from benchmarks.blind.perception import Camera, draw, exact, misread, quietly, sharp, space_of, top, widen

FALSE = "sound|annotations|wrong rule|inconsistent|unidentified|underfit|memorised|missed region|no rule|leaking"


@case("shortcut", "a shared encoder reads each digit two higher, which keeps the parity of the sum", FALSE)
def parity_of_permuted_digits(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "parity_of_permuted_digits")
    space = digits(["first", "second"])
    knowledge = Knowledge.of(space, {"odd": "(first + second) % 2 == 1"})
    train, test = draw(rng, space, 1500), draw(rng, space, 1000)
    one = ConceptSpace((Concept("digit", tuple(range(10))),))
    camera = Camera.of(rng, one, 0.2)
    values = np.concatenate(train.T)[:, None]
    encoder = quietly(LogisticRegression(max_iter=200), camera(rng, values), (values[:, 0] + 2) % 10)
    seen = tuple(widen(encoder, camera(rng, column[:, None]), 10) for column in test.T)
    odds = exact(knowledge, seen)
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(top(odds), top(seen), odds, seen))
    draft.between("test.label", 0.96, 1)
    draft.between("test.used", 0, 0.02)
    return draft


def _half_worlds(rng: np.random.Generator, pairs: Codes, n: int) -> Codes:
    return np.asarray(pairs)[rng.integers(0, len(pairs), n)].astype(np.int64)


def _trained_by_sums(pictures: tuple[Array, Array], sums: Array, values: int, seed: int) -> torch.nn.Module:
    """Train one encoder for both digits by the probability of the right sum, digits never being supervised."""
    torch.manual_seed(seed)
    encoder = torch.nn.Linear(pictures[0].shape[1], values)
    steps = torch.optim.Adam(encoder.parameters(), lr=0.1)
    views, target = [torch.tensor(view, dtype=torch.float32) for view in pictures], torch.tensor(sums)
    worlds = torch.cartesian_prod(torch.arange(values), torch.arange(values))
    for _ in range(120):
        left, right = (torch.softmax(encoder(view), dim=1) for view in views)
        joint = left[:, worlds[:, 0]] * right[:, worlds[:, 1]]
        hit = (worlds.sum(dim=1)[None, :] == target[:, None]).float()
        loss = -torch.log((joint * hit).sum(dim=1) + 1e-9).mean()
        steps.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        steps.step()
    return encoder


@case(
    "shortcut",
    "an encoder trained by sums of few pairs of digits alone ends in an unintended solution",
    FALSE.replace("memorised|", ""),
)
def half_of_the_sums_trained(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "half_of_the_sums_trained")
    space = digits(["left", "right"], range(5))
    knowledge = Knowledge.of(space, {"sum": "left + right"})
    pairs = np.array([[0, 0], [0, 1], [1, 0], [2, 3], [3, 2], [2, 4], [4, 2]])
    train, test = _half_worlds(rng, pairs, 800), _half_worlds(rng, pairs, 800)
    strange = _half_worlds(rng, np.array([[1, 2], [3, 3], [4, 4], [1, 3], [0, 3]]), 400)
    camera = Camera.of(rng, ConceptSpace((Concept("digit", tuple(range(5))),)), 0.15)
    views = camera(rng, train[:, :1]), camera(rng, train[:, 1:])
    for start in range(40):  # a run with the shortcut is wanted
        encoder = _trained_by_sums(views, train.sum(axis=1), 5, 1000 * seed + start)
        draft = Draft(knowledge, train)
        for split, worlds in {"test": test, "ood": strange}.items():
            with torch.no_grad():
                faces = [torch.tensor(camera(rng, column[:, None]), dtype=torch.float32) for column in worlds.T]
                seen = tuple(torch.softmax(encoder(face), dim=1).double().numpy() for face in faces)
            odds = exact(knowledge, seen)
            draft.add(split, worlds, knowledge.labels_of(worlds), Answers(top(odds), top(seen), odds, seen))
        if draft.facts["test.label"] > 0.95 and draft.facts["test.used"] < 0.8:
            return draft
    draft.need(False, "training ends in a shortcut")
    return draft


@case("shortcut", "two colours that the rule treats alike are read as one of them", FALSE)
def merged_colours(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "merged_colours")
    space = space_of(colour=["red", "orange", "blue", "green"], size=["small", "large"], metal=[])
    knowledge = Knowledge.of(space, {"warm": "colour in ('red', 'orange') and (size == 'large' or metal)"})
    test = draw(rng, space, 1200)
    merged = test.copy()
    merged[test[:, 0] == 1, 0] = 0
    seen = sharp(rng, misread(rng, merged, space.sizes, 0.006), space.sizes)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(knowledge.labels_of(top(seen)), top(seen), None, seen))
    draft.between("test.used_least", 0.7, 0.8)
    draft.between("test.label", 0.97, 1)
    return draft


@case("shortcut", "the attributes of the two objects are swapped, and the rule is symmetric in the objects", FALSE)
def swapped_objects(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "swapped_objects")
    shapes, colours = ("cube", "cone", "ring"), ("pink", "grey", "teal")
    concepts = tuple(
        Concept(f"{kind}{i}", values) for i in (1, 2) for kind, values in (("shape", shapes), ("colour", colours))
    )
    groups = tuple(EncoderGroup(kind, (f"{kind}1", f"{kind}2")) for kind in ("shape", "colour"))
    space = ConceptSpace(concepts, encoders=groups)
    knowledge = Knowledge.of(space, {"twins": "shape1 == shape2 and colour1 == colour2", "alike": "shape1 == shape2"})
    train, test = draw(rng, space, 1500), draw(rng, space, 900)
    seen = sharp(rng, misread(rng, test[:, [2, 3, 0, 1]], space.sizes, 0.01), space.sizes)
    odds = exact(knowledge, seen)
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(top(odds), top(seen), odds, seen))
    draft.between("test.used", 0.25, 0.45)
    draft.between("test.label", 0.95, 1)
    return draft


@case("shortcut", "people are taken for red lights, since both mean to stop; other labels are right as well", FALSE)
def people_as_red_lights(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "people_as_red_lights")
    space = space_of(person=[], red_light=[], lane_left=[], lane_right=[], fog=[])
    knowledge = Knowledge.of(
        space, {"stop": "person or red_light", "left": "lane_left", "right": "lane_right and not lane_left"}
    )
    odds = {"person": 0.35, "red_light": 0.35}
    train, test = draw(rng, space, 2000, **odds), draw(rng, space, 1000, **odds)
    read = test.copy()
    read[:, 1] = test[:, 0] | test[:, 1]
    read[:, 0] = 0
    read = misread(rng, read, space.sizes, 0.008)
    draft = Draft(knowledge, train)
    draft.add("test", test, knowledge.labels_of(test), Answers(knowledge.labels_of(read), read))
    draft.between("test.label", 0.95, 1)
    draft.between("test.read", 0.5, 0.75)
    return draft


@case("shortcut", "two bits are read jointly: only their exclusive-or is known, and put into the first", FALSE)
def jointly_read_xor(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "jointly_read_xor")
    space = bits(["a", "b", "c"])
    knowledge = Knowledge.of(space, {"y": "(a != b) or c"})
    test = draw(rng, space, 800, c=0.4)
    read = np.stack([test[:, 0] ^ test[:, 1], np.zeros(len(test), dtype=np.int64), test[:, 2]], axis=1)
    seen = sharp(rng, misread(rng, read, space.sizes, 0.01), space.sizes, 0.9)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(knowledge.labels_of(top(seen)), top(seen), None, seen))
    draft.between("test.label", 0.96, 1)
    draft.between("test.used_least", 0.4, 0.6)
    return draft


@case("shortcut", "a map of dice that keeps the sum modulo three, with 3 % of random errors on top", FALSE)
def dice_modulo_three(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "dice_modulo_three")
    space = digits(["one", "two", "three"], range(1, 7))
    knowledge = Knowledge.of(space, {"rest": "(one + two + three) % 3"})
    test = draw(rng, space, 600)
    seen = sharp(rng, misread(rng, (test + 3) % 6, space.sizes, 0.02), space.sizes)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(knowledge.labels_of(top(seen)), top(seen), None, seen))
    draft.between("test.label", 0.9, 0.98)
    draft.between("test.used", 0, 0.03)
    return draft
