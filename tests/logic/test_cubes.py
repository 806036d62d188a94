"""Cubes of profiles: the ways in which a rule holds and is missed, worked out by hand on few classes."""

from types import SimpleNamespace

import numpy as np
import pytest

from assay.concepts import bits
from assay.errors import TooLarge
from assay.logic import Not, conjunction, parse, variants
from assay.logic.features import Feature
from assay.logic.profiles import Move, Profiles


def cube(*allowed):
    return tuple(frozenset(classes) for classes in allowed)


def told_apart(sizes, rows, holds=(), moves=(), names=None):
    """Return profiles of features with so many classes."""
    names = names or [(f"c{place}",) for place in range(len(sizes))]
    features = tuple(SimpleNamespace(size=size, names=own) for size, own in zip(sizes, names, strict=True))
    return Profiles(features, np.array(rows), np.array(holds, dtype=bool), tuple(moves))


def move(name, *pairs):
    before, after = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Move(name, before, after)


@pytest.mark.parametrize(
    ("allowed", "inside"),
    [
        (cube([0, 2], [1, 3]), [False, False, True, True, False]),
        (cube([0, 1, 2, 3], [3]), [False, False, False, True, True]),
        (cube([1], [0, 1, 2, 3]), [False, True, False, False, False]),
        (cube([], [0, 1, 2, 3]), [False] * 5),
        (cube([0, 1, 2, 3], [0, 1, 2, 3]), [True] * 5),
    ],
)
def test_a_profile_lies_in_a_cube_if_each_of_its_classes_is_allowed(allowed, inside):
    rows = np.array([[0, 0], [1, 2], [2, 1], [0, 3], [3, 3]])
    assert variants._inside(allowed, rows).tolist() == inside


@pytest.mark.parametrize(
    ("sizes", "false", "start", "grown"),
    [
        ((3, 2), [[2, 0], [1, 1]], cube([0], [0]), cube([0], [0, 1])),  # all of a feature before some of another
        ((3, 2), [[0, 1], [2, 0]], cube([1], [0]), cube([1], [0, 1])),
        ((3, 3), [[2, 0], [0, 2]], cube([1], [1]), cube([0, 1, 2], [1])),  # the first feature that can be left open is
        ((2, 3), [[1, 1]], cube([0], [0]), cube([0, 1], [0, 2])),
        ((4,), [[3]], cube([1]), cube([0, 1, 2])),
        ((2, 2), np.zeros((0, 2), dtype=int), cube([1], [0]), cube([0, 1], [0, 1])),
    ],
)
def test_a_cube_grows_as_far_as_false_profiles_stay_out(sizes, false, start, grown):
    assert variants._grown(start, np.array(false), sizes) == grown


def test_true_profiles_are_covered_from_the_first_on_and_those_with_large_classes_come_first():
    either = told_apart((2, 2), [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1])
    assert variants._cover(either) == [cube([1], [0, 1]), cube([0, 1], [1])]
    odd = told_apart((2, 3), [[1, 2], [0, 0], [1, 0], [0, 1]], [1, 1, 0, 0])  # others do not occur
    assert variants._cover(odd) == [cube([0, 1], [2]), cube([0], [0, 2])]
    assert variants._cover(told_apart((2,), [[0], [1]], [0, 0])) == []


def test_what_takes_too_many_cubes_or_features_is_refused(monkeypatch):
    parity = told_apart((2, 2), [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    for most, fits in ((2, True), (1, False)):
        for limit in ("MOST_VARIANTS", "MOST_FEATURES"):
            with monkeypatch.context() as patched:
                patched.setattr(variants, limit, most)
                if fits:
                    assert variants._cover(parity) == [cube([1], [0]), cube([0], [1])]
                    continue
                with pytest.raises(TooLarge):
                    variants._cover(parity)


def test_small_cubes_are_spared_first():
    true = np.arange(6)[:, None]
    large, middle, small, last = cube([0, 1, 2, 3]), cube([2, 3, 4]), cube([0, 1]), cube([4, 5])
    for given in ([large, middle, small, last], [small, last, middle, large], [large, large, middle, last]):
        assert variants._without_spares(given, true) == [last, large]
    assert variants._without_spares([small], true) == [small]
    assert variants._without_spares([small, middle, last], true) == [last, middle, small]  # none to spare


def test_a_cube_is_missed_by_what_changes_of_one_concept_lead_out_of():
    rows = [[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 0]]
    moves = [move("a", (2, 3), (0, 1), (1, 2), (0, 3)), move("b"), move("c", (3, 1), (2, 2))]
    profiles = told_apart((2, 2, 2), rows, [0, 1, 0, 1], moves, [("a",), ("b", "a"), ("c",)])
    assert list(variants._misses(cube([1], [0, 1], [0, 1]), profiles)) == [
        cube([0], [0], [0, 1]),
        cube([0], [1], [0, 1]),
        cube([1], [0, 1], [0]),
    ]
    assert list(variants._misses(cube([1], [0], [0]), profiles)) == [cube([0], [0], [0]), cube([0], [1], [0])]


def test_cubes_are_cut_to_what_occurs_in_them_and_to_what_two_share():
    profiles = told_apart((3, 2), [[0, 1], [2, 1], [2, 0]])
    assert variants._tight(cube([0, 1, 2], [1]), profiles) == cube([0, 2], [1])
    assert variants._tight(cube([1, 2], [0, 1]), profiles) == cube([2], [0, 1])
    assert variants._both(cube([0, 1], [1, 2], [0]), cube([1, 3], [1, 2, 4], [2])) == cube([1], [1, 2], [])


def test_relations_that_the_rest_implies_are_dropped_and_nothing_else():
    rows = [[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 2, 1]]
    profiles = told_apart((2, 3, 2), rows, names=[("a",), ("a", "b"), ("b",)])
    assert variants._plainer(cube([0], [1], [0]), profiles) == cube([0], [0, 1, 2], [0])
    assert variants._plainer(cube([1], [0], [0, 1]), profiles) == cube([1], [0], [0, 1])  # else the last one were in it
    assert variants._plainer(cube([1], [0, 2], [0, 1]), profiles) == cube([1], [0, 1, 2], [0, 1])


def test_regions_name_what_is_not_left_open():
    features = [
        Feature(("a", "b"), (parse("a == b"), parse("a != b")), ("alike", "unlike")),
        Feature(("c",), (parse("c"), parse("not c")), ("c", "not c")),
        Feature(("a", "c"), (parse("a and c"), parse("a and not c"), parse("not a")), ("both", "one", "none")),
    ]
    region = variants._region(cube([1], [0, 1], [2, 0]), features, (Not(parse("b")),))
    assert region.name == "unlike and (both or none)"
    assert region.formula == conjunction(parse("a != b"), parse("a and c or not a"), Not(parse("b")))
    assert variants._region(cube([0], [1], [0, 1, 2]), features).name == "alike and not c"
    every = variants._region(cube([0, 1], [0, 1], [0, 1, 2]), features)
    assert (every.name, every.formula) == ("always", parse("True"))


def test_types_with_the_same_false_profiles_are_one():
    found = variants.boundary_of(parse("a and b or a and c"), bits(["a", "b", "c"]))
    assert [region.name for region in found.variants] == ["a and b", "a and c"]
    assert [region.name for region in found.types] == ["not a and b", "a and not b and not c", "not a and c"]
    codes = bits(["a", "b", "c"]).all_codes()
    near = [[not a and b == 1, a == 1 and not b and not c, not a and c == 1] for a, b, c in codes.tolist()]
    assert found.in_types(codes).tolist() == near
