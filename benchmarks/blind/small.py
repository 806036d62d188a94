"""Few examples: what can be said of 60 to 150, and what cannot."""

import numpy as np

from assay.base import rng_for
from assay.logic import Knowledge, bits, digits
from benchmarks.blind.case import Answers, Draft, case
from benchmarks.blind.perception import draw, misread, sharp, space_of, top


@case(
    "too few|sound",
    "80 examples, a handful of errors: right in most, and not surely in more",
    "shortcut|leaking|annotations|memorised|underfit|opaque|inconsistent|wrong rule",
)
def eighty_nearly_right(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "eighty_nearly_right")
    space = space_of(a=[], b=[], c=[])
    knowledge = Knowledge.of(space, {"y": "(a and b) or c"})
    test = draw(rng, space, 80)
    read = test.copy()
    slips = rng.permutation(80)[:4]
    read[slips, rng.integers(0, 3, 4)] ^= 1
    draft = Draft(knowledge, space.all_codes())
    draft.add(
        "test",
        test,
        knowledge.labels_of(test),
        Answers(knowledge.labels_of(read), read, None, sharp(rng, read, space.sizes)),
    )
    draft.between("test.label", 0.93, 1)
    return draft


@case(
    "sound|too few",
    "60 examples, all right",
    "shortcut|leaking|annotations|memorised|underfit|opaque|inconsistent|wrong rule|noisy",
)
def sixty_all_right(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "sixty_all_right")
    space = digits(["u", "v"], range(4))
    knowledge = Knowledge.of(space, {"least": "min(u, v)"})
    test = draw(rng, space, 60)
    seen = sharp(rng, test, space.sizes)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(knowledge.labels_of(top(seen)), top(seen), None, seen))
    draft.between("test.label", 1, 1)
    return draft


@case(
    "shortcut|too few",
    "120 examples of a flagrant shortcut: all bits are flipped under an exclusive-or",
    "sound|annotations|memorised|underfit|opaque|inconsistent|wrong rule|unidentified|leaking",
)
def flipped_bits_of_120(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "flipped_bits_of_120")
    space = bits(["a", "b", "c", "d"], shared=True)
    knowledge = Knowledge.of(space, {"y": "a != b", "z": "c != d"})
    test = draw(rng, space, 120)
    seen = sharp(rng, misread(rng, 1 - test, space.sizes, 0.005), space.sizes)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(knowledge.labels_of(top(seen)), top(seen), None, seen))
    draft.between("test.used", 0, 0.04)
    draft.between("test.label", 0.92, 1)
    return draft


@case(
    "noisy|too few",
    "100 examples, a fifth of the digits read wrong at random",
    "sound|annotations|memorised|opaque|wrong rule|unidentified|leaking|shortcut|inconsistent",
)
def noise_of_100(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "noise_of_100")
    space = digits(["m", "n"], range(6))
    knowledge = Knowledge.of(space, {"sum": "m + n"})
    test = draw(rng, space, 100)
    seen = sharp(rng, misread(rng, test, space.sizes, 0.2), space.sizes, 0.5)
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(knowledge.labels_of(top(seen)), top(seen), None, seen))
    draft.between("test.label", 0.5, 0.78)
    return draft


@case("too few", "14 examples: nothing is sure", "sound|shortcut|leaking|annotations|memorised|opaque|inconsistent")
def fourteen(seed: int) -> Draft:
    rng = rng_for(seed, "blind", "fourteen")
    space = space_of(hat=[], scarf=[])
    knowledge = Knowledge.of(space, {"cold": "hat or scarf"})
    test = draw(rng, space, 14)
    read = test.copy()
    read[np.flatnonzero(test.sum(axis=1) == 1)[0]] ^= 1
    draft = Draft(knowledge, space.all_codes())
    draft.add("test", test, knowledge.labels_of(test), Answers(knowledge.labels_of(read), read))
    draft.between("test.n", 14, 14)
    return draft
