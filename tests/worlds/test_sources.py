"""Laws of all sources: worlds of the split and no others, at any place, and the same for a seed in every version."""

import hashlib
from collections import Counter

import numpy as np
import pytest

from assay.logic import ABSENT, Concept, ConceptSpace, Constraint, Knowledge, Slot, bits, digits, evaluate, parse
from assay.prolog import rule_of
from assay.worlds import HardSource, ProgramSource, Quota, Split, WorldSource, object_count_source


def objects(most, colours, sizes, rule):
    """Return knowledge of objects, all of which may be absent."""
    slots = tuple(Slot(f"object{i + 1}", "objects", ("colour", "size")) for i in range(most))
    values = {"colour": (*colours, ABSENT), "size": (*range(sizes), ABSENT)}
    concepts = tuple(Concept(slot.concept(name), values[name]) for slot in slots for name in slot.attributes)
    return Knowledge.of(ConceptSpace(concepts, slots), {"y": rule})


DIGITS = digits(["a", "b"])
SUM = Knowledge.of(digits(["a", "b", "c"]), {"y": "a + b > c", "z": "a < 3"}, [Constraint("differ", parse("a != b"))])
PROGRAM = Knowledge.of(DIGITS, {"big": rule_of("big(W) :- a(W, A), b(W, B), A + B > 12.", DIGITS)})
AND = Knowledge.of(bits(list("abcdef")), {"y": "a and b or c and not d"})
WIDE = Knowledge.of(bits([f"b{i}" for i in range(64)]), {"y": "b1 and b2"})
LARGE = Knowledge.of(digits([*"abcdefgh"]), {"y": "a == 0 and b == 1 and c == 2 and d == 3"})
TWO_RED = objects(3, ("red", "green", "blue"), 2, "count(o.colour == 'red' for o in objects) >= 2")
TWINS = objects(
    7, [*"pqrstuvw"], 7, "any(x.colour == y.colour and x.size == y.size for x, y in pairs(objects))"
)  # of which no diagram is small enough


def hard(knowledge, split, seed, **quota):
    return HardSource(WorldSource(knowledge, split, seed, "test"), Quota(**quota))


def counted(knowledge, split, seed):
    return object_count_source(
        knowledge, split, seed, "test", numbers=(2, 3), style=lambda rng, *_: {"drawn": int(rng.integers(10**9))}
    )


STAGES = (parse("a > 4"), parse("b > 4"))
SOURCES = {  # what makes the source, of which knowledge, and facts of the split
    "by label": (WorldSource, SUM, {}),
    "by world": (WorldSource, SUM, {"balance": "world", "where": parse("c > 1")}),
    "a share": (WorldSource, SUM, {"share": (0.2, 0.55)}),
    "a stage": (WorldSource, SUM, {"stages": STAGES, "stage": 1, "share": (0.1, 0.9)}),
    "too many to list": (WorldSource, WIDE, {"share": (0.3, 1.0)}),
    "too many, by world": (WorldSource, WIDE, {"balance": "world"}),
    "a program": (ProgramSource, PROGRAM, {"where": parse("a != 3")}),
    "a program by world": (ProgramSource, PROGRAM, {"balance": "world", "share": (0.3, 0.8)}),
    "objects counted": (counted, TWO_RED, {}),
    "objects counted, a share": (counted, TWO_RED, {"share": (0.0, 0.6)}),
    "objects drawn": (counted, TWINS, {"share": (0.1, 0.7)}),
    "objects drawn by world": (counted, TWINS, {"balance": "world"}),
    "hard": (hard, AND, {}),
    "hard by quota": (lambda *given: hard(*given, per_variant=2, per_type=3), AND, {}),
    "hard of many": (hard, LARGE, {"share": (0.0, 0.9)}),
}
FIRST = {  # the hash of the first 64 worlds at seed 3: others change every dataset, and so the tasks' versions
    "by label": "bccd0f17bee0d3f9",
    "by world": "3b04887422a277f0",
    "a share": "bb6612bdc44277e5",
    "a stage": "bb65c1a6f810b606",
    "too many to list": "b059be0f38dc4a60",
    "too many, by world": "8b162ddb41089713",
    "a program": "3b45978d97460cdd",
    "a program by world": "a4705b5d43b6534c",
    "objects counted": "6ffd382548e3b2fa",
    "objects counted, a share": "c887c1409480b3f1",
    "objects drawn": "9063b535211d1b69",
    "objects drawn by world": "600e361f9c434995",
    "hard": "d29455975aa73a70",
    "hard by quota": "fbe97359e5ad75ff",
    "hard of many": "9c7bee63861d7ee3",
}


def source(kind, seed=3, size=64, **facts):
    make, knowledge, own = SOURCES[kind]
    split = Split(**{"name": "train", "size": size, **own, **facts})
    return (
        make(knowledge, split, seed, "test") if make in (WorldSource, ProgramSource) else make(knowledge, split, seed)
    )


@pytest.mark.parametrize("kind", SOURCES)
def test_any_place_can_be_asked_for_alone_and_again(kind):
    held, places = source(kind), np.array([49, 7, 7, 0, 31])
    together, worlds = held.codes(np.arange(64)), held.worlds(np.arange(64))
    assert [list(world.codes) for world in worlds] == together.tolist()
    assert (held.codes(places) == together[places]).all() and held.worlds(places) == [worlds[i] for i in places]
    assert source(kind).worlds(np.array([12])) == [worlds[12]]
    assert held.codes(np.arange(0)).shape == (0, together.shape[1]) and held.worlds(np.arange(0)) == []


@pytest.mark.parametrize("kind", SOURCES)
def test_a_source_deals_worlds_that_can_be_and_are_of_the_split(kind):
    held, (_, knowledge, _) = source(kind, size=300), SOURCES[kind]
    codes = held.codes(np.arange(300))
    assert held.contains(codes).all() and knowledge.can_be(codes).all()
    assert evaluate(held.split.formula, knowledge.space, codes).all()
    if kind.startswith("objects"):
        absent = codes == [len(concept.values) - 1 for concept in knowledge.space.concepts]
        assert (absent[:, ::2] == absent[:, 1::2]).all() and (np.diff(absent[:, ::2].astype(int)) >= 0).all()
        assert Counter((~absent[:, ::2]).sum(axis=1).tolist()) == {2: 150, 3: 150}


HARD = [kind for kind in SOURCES if kind.startswith("hard")]


@pytest.mark.parametrize("kind", [k for k in SOURCES if k not in HARD and SOURCES[k][1].space.worlds < 10_000])
def test_worlds_are_counted(kind):
    held = source(kind)
    assert held.total == held.contains(SOURCES[kind][1].space.all_codes()).sum()


@pytest.mark.parametrize("kind", HARD)
def test_a_hard_split_counts_the_worlds_that_it_deals(kind):
    assert source(kind).total == len(np.unique(source(kind).codes(np.arange(64)), axis=0))


@pytest.mark.parametrize("kind", ["by world", "too many, by world", "a program by world"])
def test_by_world_every_world_is_dealt_once_before_any_is_dealt_twice(kind):
    held = source(kind)
    count = min(held.total, 800)
    first, again = (held.codes(np.arange(start, start + count)) for start in (0, count))
    assert len(np.unique(first, axis=0)) == count
    assert held.total > count or (np.unique(first, axis=0) == np.unique(again, axis=0)).all()


@pytest.mark.parametrize("kind", SOURCES)
def test_other_seeds_splits_and_purposes_draw_others(kind):
    codes = source(kind).codes(np.arange(64))
    for other in (source(kind, seed=4), source(kind, name="valid")):
        assert (other.codes(np.arange(64)) != codes).any(axis=1).mean() > 0.3


@pytest.mark.parametrize("kind", [kind for kind in SOURCES if "world" not in kind and "hard" not in kind])
def test_labels_come_equally_often(kind):
    held = source(kind)
    labels = Counter(map(tuple, SOURCES[kind][1].labels_of(held.codes(np.arange(240))).tolist()))
    assert set(labels.values()) == {240 // len(labels)} and len(labels) >= 2


@pytest.mark.parametrize("kind", ["by label", "a program", "objects counted", "objects drawn"])
def test_shares_part_the_worlds(kind):
    shares = (0.0, 0.3), (0.3, 0.8), (0.8, 1.0)
    parts = [source(kind, share=share, name=name) for share, name in zip(shares, "abc", strict=True)]
    drawn = [part.codes(np.arange(80)) for part in parts]
    for place, codes in enumerate(drawn):
        assert [part.contains(codes).mean() for part in parts] == [float(other == place) for other in range(3)]


@pytest.mark.parametrize("kind", SOURCES)
def test_the_first_worlds_are_those_of_every_version(kind):
    worlds = source(kind).worlds(np.arange(64))
    text = "\n".join(world.text for world in worlds)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == FIRST[kind]
