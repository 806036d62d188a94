"""The first worlds of every kind of source, as they were drawn before; others change every dataset of every task."""

import numpy as np
import pytest

from assay.concepts import ABSENT, Concept, ConceptSpace, Slot, bits, digits
from assay.errors import ConfigError
from assay.logic import TRUE, Constraint, Knowledge, Odds, parse
from assay.prolog import oracle
from assay.worlds import (
    HardSource,
    ProgramSource,
    Quota,
    Split,
    WorldSource,
    labels_of,
    object_count_source,
    object_counts,
)
from assay.worlds.object_counts import RejectionSource
from assay.worlds.source import _cut

SUM = Knowledge.of(digits(["a", "b", "c"]), {"y": "a + b > c", "z": "a < 3"}, [Constraint("differ", parse("a != b"))])
DIGITS = digits(["a", "b"])
PROGRAM = Knowledge.of(DIGITS, {"big": oracle("big(W) :- a(W, A), b(W, B), A + B > 12.", DIGITS)})
AND = Knowledge.of(bits(list("abcdef")), {"y": "a and b or c and not d"})
LARGE = Knowledge.of(digits([*"abcdefgh"]), {"y": "a == 0 and b == 1 and c == 2 and d == 3"})
WIDE = Knowledge.of(bits([f"b{i}" for i in range(64)]), {"y": "b1 and b2"})
SLOTS = tuple(Slot(f"o{i}", "things", ("hue", "size")) for i in range(3))
THINGS = Knowledge.of(
    ConceptSpace(
        tuple(
            Concept(slot.concept(name), values)
            for slot in SLOTS
            for name, values in (("hue", ("red", "green", "blue", ABSENT)), ("size", (1, 2, ABSENT)))
        ),
        SLOTS,
    ),
    {"y": "count(o.hue == 'red' for o in things) >= 2"},
)


def split(**facts):
    return Split(**{"name": "train", "size": 12, **facts})


def things(exact, monkeypatch, **facts):
    object_counts._is_small.cache_clear()
    monkeypatch.setattr(object_counts, "NODES", 20_000 if exact else 1)
    try:
        return object_count_source(THINGS, split(**facts), 3, "test", numbers=(2, 3), style=lambda *_: {})
    finally:
        object_counts._is_small.cache_clear()


def hard(**quota):
    return HardSource(WorldSource(AND, split(size=30), 3, "test"), Quota(**quota))


SOURCES = {
    "by label": lambda _: WorldSource(SUM, split(), 3, "test"),
    "by world": lambda _: WorldSource(SUM, split(balance="world", where=parse("c > 1")), 3, "test"),
    "a share": lambda _: WorldSource(SUM, split(share=(0.2, 0.55)), 3, "test", 1),
    "a stage": lambda _: WorldSource(SUM, split(stages=(parse("a > 4"), parse("b > 4")), stage=1), 3, "test"),
    "too many to list": lambda _: WorldSource(WIDE, split(share=(0.3, 1.0)), 3, "test"),
    "too many, by world": lambda _: WorldSource(WIDE, split(balance="world"), 3, "test"),
    "a program": lambda _: ProgramSource(PROGRAM, split(where=parse("a != 3")), 3, "test"),
    "drawn": lambda _: RejectionSource(THINGS, split(share=(0.1, 0.7)), 3, "test", 2),
    "drawn by world": lambda _: RejectionSource(THINGS, split(balance="world"), 3, "test", 3),
    "counted objects": lambda patch: things(True, patch),
    "drawn objects": lambda patch: things(False, patch, share=(0.0, 0.6)),
    "hard": lambda _: hard(),
    "hard by variant": lambda _: hard(per_variant=3),
    "hard by type": lambda _: hard(per_type=3, per_variant=2),
    "hard of digits": lambda _: HardSource(WorldSource(LARGE, split(share=(0.0, 0.9)), 3, "test"), Quota()),
}
DRAWN = {
    "by label": ("084 528 037 946 617 456 243 206 305 013 913 186", 900, 900),
    "by world": ("643 436 549 855 382 439 469 814 486 209 506 857", 720, 720),
    "a share": ("278 852 259 308 608 123 462 122 292 845 629 099", 314, 314),
    "a stage": ("096 369 169 498 359 476 292 057 358 257 691 263", 450, 450),
    "too many to list": ("29 37 35 37 27 30 28 23 27 31 34 37", 12912720851596686592, 50),
    "too many, by world": ("23 26 33 32 24 26 29 27 26 25 23 21", 18446744073709551616, 50),
    "a program": ("51 59 64 87 51 77 67 42 21 98 55 67", 90, 90),
    "drawn": ("112032 010132 011132 000132 201132 010132 010132 212132 100132 000132 202032 010032", 36, 25),
    "drawn by world": ("202101 111100 110021 110110 102001 102110 011101 002110 111110 012020 011010 001010", 216, 216),
    "counted objects": (
        "100011 000132 212132 100001 010132 211011 110032 000010 000032 210100 100132 102101",
        252,
        252,
    ),
    "drawn objects": ("000021 112032 010132 012021 011132 002000 010132 110110 201132 102001 010132 010121", 252, 154),
    "hard": ("101100 111111 000101 010010 001000 011111 001101 100010 111000 111010 010101 000100", 27, 64),
    "hard by variant": ("000101 100101 101101 111001 011001 110100 001111 010001 011110 100010 000000 000111", 17, 64),
    "hard of digits": (
        "01736280 01231013 01250782 61230412 07235337 17132431 01432489 51236005 01237711 09236468 86086650 01222489",
        12,
        50,
    ),
    "hard by type": ("101101 000000 010100 011001 110100 000100 011110 100010 100101 001111 000101 000111", 16, 64),
}


def rows(codes):
    return " ".join("".join(map(str, row)) for row in np.asarray(codes).tolist())


@pytest.mark.parametrize("kind", SOURCES)
def test_the_first_worlds_are_those_drawn_before(kind, monkeypatch):
    source = SOURCES[kind](monkeypatch)
    codes, space = source.codes(np.arange(12)), getattr(source, "base", source).knowledge.space
    inside = source.contains(space.all_codes() if len(space) < 8 else source.codes(np.arange(50)))
    shown = codes if len(space) < 20 else codes.sum(axis=1, keepdims=True)
    assert (rows(shown), source.total, int(inside.sum())) == DRAWN[kind]
    assert rows(source.codes(np.array([7, 2]))) == rows(codes[[7, 2]])


def test_the_pool_of_hard_worlds_is_the_first_ones_and_these_with_one_concept_changed():
    source = SOURCES["hard of digits"](None)
    found = {(group.kind, group.name.removeprefix("y: ")): len(group.members) for group in source.groups}
    assert found == {
        ("variant", "a == 0 and b == 1 and c == 2 and d == 3"): 3287,
        ("type", "a != 0 and b == 1 and c == 2 and d == 3"): 452,
        ("type", "a == 0 and b != 1 and c == 2 and d == 3"): 448,
        ("type", "a == 0 and b == 1 and c != 2 and d == 3"): 452,
        ("type", "a == 0 and b == 1 and c == 2 and d != 3"): 452,
        ("far", "far"): 5618,
    }


def test_labels_left_to_chance_fall_as_the_luck_of_their_worlds_says():
    known = Knowledge.of(
        bits(["a", "b"]), {"y": "a and b", "first": "a"}, odds={"y": Odds(parse("2 * (a + b) - 2"), 1.0)}
    )
    worlds = WorldSource(known, split(balance="world"), 3, "test", style=lambda rng, codes, pool: {"of": pool}).worlds(
        np.arange(8)
    )
    codes = np.array([world.codes for world in worlds])
    luck = np.array([world.style["luck"] for world in worlds])
    assert luck.shape == (8, 2) and ((luck > 0) & (luck < 1)).all() and worlds[0].style["of"] == "train"
    labels = labels_of(known, codes, worlds)
    likely = 1 / (1 + np.exp(-(2 * codes.sum(axis=1) - 2.0)))
    assert (labels[:, 0] == (luck[:, 0] < likely)).all() and (labels[:, 1] == codes[:, 0]).all()
    assert (labels[:, 0] != codes.all(axis=1)).any()
    fixed = Knowledge.of(bits(["a", "b"]), {"y": "a and b"})
    assert labels_of(fixed, codes, worlds)[:, 0].tolist() == codes.all(axis=1).astype(int).tolist()


def test_shares_are_cut_down_to_whole_worlds_and_never_to_none():
    assert [_cut(10, part) for part in (0.0, 0.04, 0.25, 0.39, 1.0)] == [0, 1, 2, 3, 10]


def test_quotas_stand_in_for_each_other():
    assert (Quota(3).of_variants, Quota(3).of_types, Quota(None, 2).of_variants, Quota(None, 2).of_types) == (
        3,
        3,
        2,
        2,
    )
    assert (Quota(3, 2).of_variants, Quota(3, 2).of_types) == (3, 2)
    assert (Quota().of_variants, Quota().of_types) == (0, 0)
    assert Quota(None, 1).is_set and Quota(1).is_set and not Quota().is_set


def test_names_and_shares_of_splits_have_limits():
    assert Split("a-b_2", 1, share=(0.0, 1.0)).formula == TRUE and Split("a", 1).pool == "train"
    assert str(Split("a", 1, parse("a < b"), stages=(parse("a"), parse("b > 2")), stage=1).formula) == "a < b and b > 2"
    for share in ((-0.1, 0.5), (0.5, 0.4), (0.2, 1.01), (0.3, 0.3)):
        with pytest.raises(ConfigError, match="a share runs"):
            Split("a", 1, share=share)


def test_many_objects_are_counted_from_a_diagram_only_where_it_is_small(monkeypatch):
    monkeypatch.setattr(object_counts, "NODES", 20_000)
    small, large = things(True, monkeypatch), things(False, monkeypatch)
    assert [type(part) for part in small.parts] == [WorldSource] * 2
    assert [type(part) for part in large.parts] == [RejectionSource] * 2
    assert (object_counts.PROBE, object_counts.TRIES, object_counts.ROWS) == (20_000, 32, 32_768)
    one = THINGS.space.all_codes()
    three = (one[:, 4] != 3) & (one[:, 5] != 2)
    assert (small.contains(one)[three]).sum() == 216 and (large.contains(one)[~three]).sum() == 36
